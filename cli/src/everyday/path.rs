//! `show --path`: prints the path of a file or folder.

use std::path::{MAIN_SEPARATOR, MAIN_SEPARATOR_STR, Path, PathBuf};

use saddlebag::items::Show;
use saddlebag::store::PROJECTS_FOLDER;
use saddlebag_host::OpenError;

use crate::item::ItemName;
use crate::prelude::*;
use crate::store::{Root, Store, named_project};

/// Path of a file or folder of memory.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Place {
    /// Absolute path.
    path: String,
    /// Absolute path of the store's root.
    root: String,
    /// Slug of the project; `null` for the notebook.
    project: Option<String>,
    /// Path below the root; `null` for the root.
    relative: Option<String>,
}

impl Place {
    /// Returns true if the file or folder exists.
    pub(super) fn exists(&self) -> bool {
        Path::new(&self.path).exists()
    }

    /// Returns the absolute path.
    pub(super) fn shown(&self) -> &str {
        &self.path
    }
}

/// Prints the absolute path of an item, of `root` or of `project`, without creating it.
pub(super) fn show_path(item: &ItemName, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let place = place(item, global, output)?;
    output.object_or_line(&place, &place.path)?;
    Ok(Exit::Done)
}

pub(super) fn place(item: &ItemName, global: &Global, output: &mut Output) -> Result<Place, Failure> {
    let root = Root::from_options(global)?;
    let typed = root.folder()?;
    let folder = match std::fs::canonicalize(typed) {
        Ok(_) if !typed.is_dir() => return Err(root.failure(&OpenError::NotDirectory(typed.into()))),
        Ok(folder) => plain(folder),
        Err(_) if root.is_made() => typed.to_path_buf(),
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => {
            return Err(root.failure(&OpenError::Missing(typed.into())));
        }
        Err(source) => return Err(root.failure(&OpenError::Unusable { path: typed.into(), source })),
    };
    let slug = crate::project::opened(global, &named_project(global));
    let below = match item.without_lines() {
        name if name == "root" => None,
        name if name == "project" => slug.as_ref().map(|slug| format!("{PROJECTS_FOLDER}/{slug}")),
        name => {
            let mut store = Store::for_project(named_project(global), global)?;
            Some(store.call(Show::item(name, item.kind), output)?.path)
        }
    };
    let path = match &below {
        Some(below) => folder.join(below.replace('/', MAIN_SEPARATOR_STR)),
        None => folder.clone(),
    };
    Ok(Place { path: path.display().to_string(), root: folder.display().to_string(), project: slug, relative: below })
}

/// Removes the prefix of a canonical Windows path such as `\\?\C:\x`, which few programs accept.
fn plain(path: PathBuf) -> PathBuf {
    let stripped = path.to_str().and_then(|text| text.strip_prefix(r"\\?\")).filter(|rest| !rest.starts_with("UNC"));
    match stripped {
        Some(stripped) if MAIN_SEPARATOR == '\\' => PathBuf::from(stripped),
        _ => path,
    }
}
