//! `saddlebag zk …`: runs the command lines that [`saddlebag_zk`] parses, and prints its output for the replies.

mod run;

pub(crate) use run::run;
