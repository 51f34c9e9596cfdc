//! git: [`mod@run`] runs it, [`repository`] is the work tree in which the files of the store are, and [`contents`] are theirs.

mod contents;
pub(crate) mod repository;
mod run;

pub(crate) use run::{Ended, said};
