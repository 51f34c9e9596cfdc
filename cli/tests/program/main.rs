//! The program from end to end: arguments in; text, exit code and files out.

#![allow(clippy::expect_used, clippy::panic, clippy::print_stderr, clippy::unwrap_used)]

mod acceptance;
mod asked;
mod backfill;
mod bad_input;
mod commit;
mod concurrency;
mod disk;
mod entries;
mod exchange;
mod expunge;
mod forms;
mod golden;
mod hook;
mod instructions;
mod journal;
mod machines;
mod manual;
#[cfg(feature = "server")]
mod mcp;
mod merge;
mod missing;
mod names;
mod notebook;
mod paths;
mod projects;
mod questions;
#[cfg(feature = "remote")]
mod remote;
mod replay;
#[cfg(unix)]
mod review;
mod scopes;
mod sessions;
mod setup;
mod support;
mod sync;
mod sync_bars;
mod sync_begin;
mod sync_copies;
mod sync_expunge;
mod sync_refusals;
mod sync_remote;
mod sync_syncthing;
mod tasks;
#[cfg(unix)]
mod terminal;
mod tools;
mod trust;
#[cfg(feature = "server")]
mod ui;
#[cfg(unix)]
mod unreadable;
mod vault;
mod verbs;
