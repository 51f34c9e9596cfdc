//! `rename`: a note gets another title and name, and every link to it follows.
//!
//! [`command`] asks the index, [`plan`] decides the name and the notes to rewrite, [`rewrite`] makes the new texts,
//! [`apply`] writes them, and [`intent`] is the file that lets any process finish a rename; [`finish`] does.

mod apply;
mod command;
mod finish;
mod intent;
mod plan;
mod rewrite;
mod types;

pub use command::Rename;
pub use types::RenameReply;

pub(super) use finish::settle;
