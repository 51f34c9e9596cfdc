//! git: [`mod@run`] runs it, and [`repository`] is the work tree in which the files of the store are.

pub(crate) mod repository;
mod run;

pub(crate) use run::{Ended, LIMIT, MAX_OUTPUT, command, run, said};
