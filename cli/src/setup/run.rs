//! The program that entries run: this one, under a path that outlives updates.

use std::path::{Path, PathBuf};

use saddlebag::trust::SecretPolicy;

use super::clients::{Run, Scope};
use super::places::Places;
use crate::failure::{Failure, ProgramCode};
use crate::global::Global;
use crate::store::Root;

/// Name of the program on the search path.
pub(super) const NAME: &str = "saddlebag";

/// This program.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Path for entries. It is absolute, and a link on the search path is kept.
    pub(crate) path: PathBuf,
    /// Path without links.
    pub(crate) file: PathBuf,
}

impl Program {
    /// Finds this program. A link on the search path that leads to it is preferred to the file, because package managers
    /// keep the link and replace the file.
    pub(crate) fn find(places: &Places) -> Result<Self, Failure> {
        let path = std::env::current_exe().map_err(|error| {
            let why = saddlebag_host::io_cause(&error);
            Failure::new(ProgramCode::Input, format!("the path of this program is unknown: {why}"), "use --command")
        })?;
        let file = path.canonicalize().unwrap_or_else(|_| path.clone());
        let name = path.file_name().map_or_else(|| NAME.into(), std::ffi::OsStr::to_os_string);
        let found = places.search_path().into_iter().map(|folder| folder.join(&name));
        let linked = found.into_iter().find(|found| found.canonicalize().is_ok_and(|found| found == file));
        Ok(Self { path: linked.unwrap_or(path), file })
    }

    /// Returns the name of the launcher in whose cache this program is, and which may delete it at any time.
    pub(crate) fn launcher(&self) -> Option<&'static str> {
        let path = self.file.to_string_lossy().replace('\\', "/");
        let launchers =
            [("/_npx/", "npx"), ("/uv/archive-v0/", "uvx"), ("/uv/builds-v0/", "uvx"), ("/pnpm/dlx", "pnpm")];
        launchers.into_iter().find(|(part, _)| path.contains(part)).map(|(_, name)| name)
    }
}

/// Returns the command for the entries of a client.
pub(super) fn command(scope: Scope, named: Option<&Path>, program: &Program, global: &Global) -> Result<Run, Failure> {
    let command = match named {
        Some(named) if named.components().count() > 1 => absolute(named)?,
        Some(named) => text(named)?,
        // A project's file is shared with people whose program is elsewhere.
        None if scope == Scope::Project => NAME.to_string(),
        None => text(&program.path)?,
    };
    let mut options = Vec::new();
    let environment = std::env::var_os("SADDLEBAG_ROOT").filter(|root| !root.is_empty()).map(PathBuf::from);
    if let Some(root) = global.root.clone().or(environment) {
        let root = match Root::typed(&root)? {
            Root::Remote(address) => address.to_string(),
            _ => absolute(&root)?,
        };
        options.extend(["--root".to_string(), root]);
    }
    if global.notebook {
        options.push("--notebook".to_string());
    }
    let project = global.project.as_deref().filter(|_| scope == Scope::User);
    if let Some(project) = project {
        options.extend(["--project".to_string(), absolute(project)?]);
    }
    if global.agent != "main" {
        options.extend(["--agent".to_string(), global.agent.clone()]);
    }
    if let Some(workspace) = &global.workspace {
        options.extend(["--workspace".to_string(), workspace.clone()]);
    }
    if let Some(provenance) = global.provenance {
        options.extend(["--provenance".to_string(), provenance.as_str().to_string()]);
    }
    if global.secrets != SecretPolicy::default() {
        options.extend(["--secrets".to_string(), global.secrets.as_str().to_string()]);
    }
    let has_project = global.notebook || project.is_some();
    Ok(Run { command, options, has_project, ..Run::default() })
}

fn absolute(path: &Path) -> Result<String, Failure> {
    let absolute = std::path::absolute(path).map_err(|error| {
        let why = saddlebag_host::io_cause(&error);
        Failure::new(ProgramCode::Input, format!("`{}` cannot be used: {why}", path.display()), "give an absolute path")
    })?;
    text(&absolute)
}

fn text(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_string).ok_or_else(|| {
        let message = format!("`{}` is not UTF-8, so it cannot be written into a configuration", path.display());
        Failure::new(ProgramCode::Input, message, "give another path with --command")
    })
}
