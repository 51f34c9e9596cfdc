//! What the commands of one scope share, and what one command is given.

use alloc::rc::Rc;
use alloc::string::String;

use super::{Fs, Limits};
use crate::store::{Layout, LocalTime, RelPath};
use crate::trust::TrustConfig;

/// The scope that an engine was opened for.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) layout: Layout,
    /// Put before every path that is shown.
    pub(crate) path_prefix: String,
    pub(crate) limits: Limits,
    /// Whether a copy of the index is kept in the store.
    pub(crate) index_file: bool,
    /// Whose text is taken, and what of it.
    pub(crate) trust: TrustConfig,
}

impl Scope {
    /// A path as replies and messages show it.
    pub(crate) fn shown(&self, path: &RelPath) -> String {
        alloc::format!("{}{path}", self.path_prefix)
    }
}

/// What a command has to work with.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) fs: Fs,
    pub(crate) scope: Rc<Scope>,
    pub(crate) now: LocalTime,
}
