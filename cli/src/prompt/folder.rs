//! Opens the folder of a project outside the store. It has locks, refuses links and writes atomically, like the
//! store.

use std::path::Path;

use saddlebag::protocol::ErrorCode;
use saddlebag_host::{LocalDir, LocalDirOptions, OpenError};

use crate::failure::Failure;
use crate::global::Global;
use crate::output;

/// Opens the folder of a project.
pub(super) fn open(folder: &Path, global: &Global) -> Result<LocalDir, Failure> {
    let durability = global.durability.into();
    let options = LocalDirOptions { durability, on_recovered: Some(output::recovered), ..LocalDirOptions::default() };
    LocalDir::open(folder, options).map_err(|error| {
        let shown = folder.display();
        let what = match error {
            OpenError::Missing(_) => format!("the folder `{shown}` does not exist"),
            OpenError::NotDirectory(_) => format!("`{shown}` is not a folder"),
            OpenError::Unusable { source, .. } => {
                format!("the folder `{shown}` cannot be opened: {}", saddlebag_host::io_cause(&source))
            }
            _ => format!("the folder `{shown}` cannot be opened"),
        };
        Failure::new(ErrorCode::Storage, what, "name the folder of a project with --dir")
    })
}
