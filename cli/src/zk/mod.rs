//! `saddlebag zk …`: runs the command lines that [`saddlebag_zk`] reads, and prints what it makes of the replies.

mod run;

pub(crate) use run::run;
