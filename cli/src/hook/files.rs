//! The files of hooks in a folder of states.

use std::path::{Path, PathBuf};

use super::log::Log;
use super::notice;
use super::once::Once;

/// Returns the files of hooks in a folder of states, and their folders. Files that somebody else put there are left out.
pub(crate) fn files_in(state: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let once = Once::in_folder(state);
    let files = Log::in_folder(state).files().into_iter().chain(notice::files_in(state)).chain(once.files());
    (files.collect(), vec![once.folder().to_path_buf()])
}
