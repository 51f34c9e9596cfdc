//! End to end: commands in; requests, replies and files out. Most tests run in both engines.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod acceptance;
mod agents_are_isolated;
mod agents_md;
mod anthropic_memory_tool;
mod catalogue;
mod commonmark;
mod component_faults;
mod conformance;
mod context_block;
mod durability;
mod empty_folders;
mod entries_move;
mod exchange;
mod expunge;
mod failures_say_where;
mod files;
mod history;
mod history_crashes;
mod history_races;
mod hostile_host;
mod hydration;
mod imports_nothing;
mod index_file;
mod index_schemes;
mod journal;
mod kept_text;
mod left_out_names;
mod lists;
mod map;
mod native_and_component_agree;
mod notebook;
mod nothing_escapes_the_root;
mod origin;
mod past;
mod preamble;
mod refused_input_changes_nothing;
mod result_order;
#[allow(clippy::print_stdout, reason = "it prints a table")]
mod retrieval;
mod scopes;
mod session;
mod tools;
mod trust;
mod unlike_zerostack;
