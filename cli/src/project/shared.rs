//! Code that the subcommands of projects share, and the hint at memory that a folder does not open.

use std::path::{Path, PathBuf};

use saddlebag::protocol::{ErrorCode, FsError};
use saddlebag::store::USER_FOLDER;
use saddlebag_host::{ProjectRecord, Projects, SimilarProject, Similarity, recorded_folder};

use crate::output::single_line;
use crate::prelude::*;
use crate::store::{project, without_engine};

/// Word for the memory of a folder above.
const ABOVE: &str = "above";

/// Memory of another project that may be the same as this one.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Other {
    /// Name of the project, as `project` takes it.
    pub(crate) name: String,
    /// Folder of the project; `null` if it is not recorded.
    pub(crate) path: Option<String>,
    /// True if that folder does not exist any more, so that it may have been moved.
    pub(crate) is_gone: bool,
    /// Trait that both have in common: `remote`, `first-commit`, `name`, or `above` for the memory of a folder above.
    pub(crate) same: &'static str,
}

impl Other {
    /// Returns the sentence for a person that says how to read the memory.
    pub(crate) fn hint(&self) -> String {
        let place = self.path.as_deref().unwrap_or("in a folder that is not recorded");
        let (gone, command) =
            if self.is_gone { (", which does not exist any more", "project --move") } else { ("", "project") };
        let (reason, name) = (self.reason(), &self.name);
        single_line(&format!(
            "memory that is not read here: {name}, {place}{gone}, with {reason}; if it is this project, run `saddlebag \
             {command} {name}`"
        ))
    }

    /// Returns the words for what both have in common.
    pub(crate) fn reason(&self) -> &'static str {
        match self.same {
            "remote" => "the same git remote",
            "first-commit" => "the same first commit",
            ABOVE => "this folder inside of it",
            _ => "a folder of the same name",
        }
    }
}

/// Returns the folder of the project that the options name.
pub(super) fn folder(global: &Global) -> Result<PathBuf, Failure> {
    match project(global)? {
        saddlebag_host::Project::Path(folder) => Ok(folder),
        _ => Err(Failure::usage("there is no project", "run it in the folder of a project, without --notebook")),
    }
}

/// Returns the project of a name, or of a recorded folder.
pub(super) fn named(projects: &mut Projects<'_>, name: &str) -> Result<ProjectRecord, Failure> {
    let all = projects.all().map_err(|error| storage(&error))?;
    if name == USER_FOLDER {
        let message = format!("`{name}` has the notes for all projects, and is not the memory of one");
        return Err(Failure::usage(message, "every project reads them; `--user` changes them"));
    }
    let is_meant = |record: &ProjectRecord| record.name == name || record.path.as_deref() == Some(name);
    all.into_iter().find(is_meant).ok_or_else(|| {
        let mut failure = Failure::nothing(format!("there is no project `{name}` in this store"));
        failure.help = "`project` lists all projects".into();
        failure
    })
}

pub(super) fn storage(error: &FsError) -> Failure {
    Failure::new(ErrorCode::Storage, format!("the records of the projects: {error}"), "")
}

/// Returns the name of the project whose memory is opened; `None` for a notebook.
pub(crate) fn opened(global: &Global, project: &saddlebag_host::Project) -> Option<String> {
    let name = project.slug();
    let saddlebag_host::Project::Path(folder) = project else { return name };
    let found = without_engine(global).ok().and_then(|mut disk| Projects::new(&mut disk).opened(folder).ok());
    found.or(name)
}

/// Returns the projects whose memory may belong to this folder, although the folder does not open it: all of them while
/// the folder has no memory yet, otherwise only projects whose folder no longer exists.
pub(crate) fn others(global: &Global) -> Vec<Other> {
    let Ok(folder) = folder(global) else { return Vec::new() };
    let found = without_engine(global).ok().and_then(|mut disk| {
        let mut projects = Projects::new(&mut disk);
        let similar = projects.similar(&folder).ok()?;
        let root = saddlebag_host::project_root(&folder);
        let above = if root.join(".git").exists() { None } else { above(&mut projects, &root) };
        if similar.is_empty() && above.is_none() {
            return Some(Vec::new());
        }
        let own = saddlebag_host::project_slug(&root).to_string();
        let has_own = projects.has_notes_besides_sessions(&own).ok()?;
        let others = similar.into_iter().map(other).chain(above);
        Some(others.filter(|other| !has_own || other.is_gone && other.same != "name").collect())
    });
    found.unwrap_or_default()
}

/// Returns the project of the nearest folder above that has memory, for a folder that nothing marks as a project.
fn above(projects: &mut Projects<'_>, root: &Path) -> Option<Other> {
    let mut all = projects.all().ok()?;
    all.retain(|record| record.path.as_deref().is_some_and(|path| Path::new(path) != root && root.starts_with(path)));
    let ProjectRecord { name, path, .. } =
        all.into_iter().max_by_key(|record| record.path.as_ref().map(String::len))?;
    Some(Other { name, path, is_gone: false, same: ABOVE })
}

fn other(similar: SimilarProject) -> Other {
    let SimilarProject { record, similarity } = similar;
    let same = match similarity {
        Similarity::Remote => "remote",
        Similarity::FirstCommit => "first-commit",
        Similarity::Name => "name",
    };
    let is_gone = record.path.is_some() && recorded_folder(&record).is_none();
    Other { name: record.name, path: record.path, is_gone, same }
}

/// Returns the sentence for a model at the start of a session. The names have only letters, digits, `-` and `_`; a path
/// could contain any text.
pub(crate) fn told(others: &[Other]) -> Option<String> {
    let first = others.first()?;
    let (name, reason) = (&first.name, first.reason());
    let (gone, command) =
        if first.is_gone { (" and whose folder does not exist any more", "project --move") } else { ("", "project") };
    Some(format!(
        "Saddlebag has memory of the project `{name}`, which has {reason}{gone}, and does not read it in this folder. If it \
         is the same project, a person can run `saddlebag {command} {name}`."
    ))
}
