//! [`index_bytes`]: the size of the index, of which no command of the contract tells anything: an index changes no reply.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use saddlebag::store::Layout;
use saddlebag_host::{Project, Projects};

use crate::failure::{Failure, ProgramCode};
use crate::global::Global;
use crate::store::{Root, project, without_engine};

/// Folder of the index, in the notebook.
const FOLDER: &str = ".saddlebag/index";

/// Returns the size of the files of the index in bytes; `None` for a store that is not on this machine.
pub(super) fn index_bytes(global: &Global) -> Result<Option<u64>, Failure> {
    let root = Root::from_options(global)?;
    let Some(root) = root.local() else { return Ok(None) };
    let slug = match project(global)? {
        // A person may have linked the folder to another project.
        Project::Path(path) => {
            Projects::new(&mut without_engine(global)?).opened(&path).map(Some).map_err(|error| {
                Failure::new(ProgramCode::Input, format!("the folders of the projects cannot be read: {error}"), "")
            })?
        }
        project => project.slug(),
    };
    let slug = slug.and_then(|slug| slug.parse().ok());
    let Ok(folder) = Layout::new(slug.as_ref()).and_then(|layout| layout.in_notebook(FOLDER)) else { return Ok(None) };
    size_of_files(&root.join(folder.as_str())).map(Some).map_err(|error| {
        let message = format!("the index cannot be read: {}", saddlebag_host::io_cause(&error));
        Failure::new(ProgramCode::Input, message, "the index may be removed; the next search makes it again")
    })
}

/// Returns the size of the files in a folder; 0 if there is no such folder.
fn size_of_files(folder: &Path) -> std::io::Result<u64> {
    let found = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        found => found?,
    };
    let mut bytes = 0;
    for file in found {
        // Another process may replace a part of the index at this moment.
        bytes += match file?.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            found => found.map(|found| if found.is_file() { found.len() } else { 0 })?,
        };
    }
    Ok(bytes)
}
