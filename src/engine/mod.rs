//! What a command has to work with: its scope, and the files that it reads through [`Fs`], which changes none.
//!
//! [`saddlebag_protocol::Engine`] runs the commands.

mod fs;
mod named;
mod scope;

pub(crate) use fs::{Fs, Loaded, load, load_all};
pub(crate) use named::{NamedFile, ambiguous, prefer_approved};
pub use scope::Limits;
pub(crate) use scope::Scope;
