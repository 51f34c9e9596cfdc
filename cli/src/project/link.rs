//! `project NAME`: lets this folder open the memory of another project, take it over, or open its own again.

use std::path::Path;

use saddlebag::protocol::RenameOutcome;
use saddlebag_host::{ProjectRecord, Projects, project_root, project_slug, recorded_folder};

use super::list::{self, Listed};
use super::shared::{folder, named, storage};
use crate::failure::ProgramCode;
use crate::output::single_line;
use crate::prelude::*;
use crate::store::without_engine;

/// List the projects, or open the memory of another one in this folder
///
/// The other folder keeps it too, unless it is moved.
#[derive(Debug, Args)]
#[command(after_help = example("project api-0db23a34"))]
pub(crate) struct ProjectArgs {
    /// Name or folder of the project whose memory this folder opens [default: list the projects]
    #[arg(value_name = "NAME|PATH")]
    name: Option<String>,
    /// Open the memory of this folder again
    #[arg(long, conflicts_with_all = ["name", "yes"])]
    undo: bool,
    /// Move the memory to this folder instead, for example after the project moved; the other folder loses it
    #[arg(long = "move", requires = "name")]
    moved: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

/// Memory that a folder opens.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Linked {
    /// Folder of the project.
    folder: String,
    /// Name of the project whose memory it opens.
    opens: String,
}

/// Memory that was moved.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Moved {
    /// Folder that has the memory now.
    folder: String,
    /// Name of the project before.
    from: String,
    /// Name of the project now.
    name: String,
}

/// Projects of the store, memory that a folder opens, or memory that was moved to it.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is the schema of what is printed")]
pub(crate) enum Projected {
    Listed(Listed),
    Linked(Linked),
    Moved(Moved),
}

impl Subcommand for ProjectArgs {
    type Json = Projected;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        if self.name.is_none() && !self.undo {
            return list::run(global, output);
        }
        global.require_person("change which memory a folder opens")?;
        let folder = project_root(&folder(global)?);
        let mut disk = without_engine(global)?;
        let mut projects = Projects::new(&mut disk);
        let own = project_slug(&folder).to_string();
        let Some(name) = self.name else { return unlink(&folder, own, &mut projects, output) };
        let other = named(&mut projects, &name)?;
        if other.name == own {
            let message = format!("`{own}` is the project of this folder");
            return Err(Failure::usage(message, "name another project"));
        }
        match self.moved {
            true => take(&other, &folder, own, self.yes, &mut projects, output)?,
            false => link(&other, &folder, &own, self.yes, &mut projects, output)?,
        }
        Ok(Exit::Done)
    }
}

/// Lets a folder open the memory of another project.
fn link(
    other: &ProjectRecord,
    folder: &Path,
    own: &str,
    yes: bool,
    projects: &mut Projects<'_>,
    output: &mut Output,
) -> Result<(), Failure> {
    if !yes {
        if projects.has_notes(own).map_err(|error| storage(&error))? {
            output.note(&format!("this folder has its own memory, which stays in `projects/{own}` and is not read"));
        }
        let place = other.path.as_deref().unwrap_or("a folder that is not recorded");
        let would =
            format!("{} would read and change the memory of `{}`, made in {place}", folder.display(), other.name);
        let would = single_line(&would);
        output.confirm(&format!("{would}. Link it?"), &would, "add --yes to link it without asking", false)?;
    }
    projects.link(folder, Some(&other.name)).map_err(|error| storage(&error))?;
    let opens = projects.opened(folder).map_err(|error| storage(&error))?;
    let linked = Linked { folder: folder.display().to_string(), opens };
    let text = format!("{} opens the memory of {}; `project --undo` undoes it", linked.folder, linked.opens);
    output.object_or_line(&linked, &single_line(&text))?;
    Ok(())
}

/// Gives the memory of another project to a folder.
fn take(
    other: &ProjectRecord,
    folder: &Path,
    own: String,
    yes: bool,
    projects: &mut Projects<'_>,
    output: &mut Output,
) -> Result<(), Failure> {
    if !yes {
        let still = if recorded_folder(other).is_some() { ", and its present folder would have no memory" } else { "" };
        let would = format!("the memory of `{}` would become the memory of {}{still}", other.name, folder.display());
        let would = single_line(&would);
        output.confirm(&format!("{would}. Move it?"), &would, "add --yes to move it without asking", false)?;
    }
    match projects.take(folder, &other.name).map_err(|error| storage(&error))? {
        RenameOutcome::Done => {}
        RenameOutcome::Exists => {
            let message = format!("this folder has its own memory, in `projects/{own}`");
            let help = "leave --move out to open the other memory; or move that folder of the store away first";
            return Err(Failure::new(ProgramCode::NotEmpty, message, help));
        }
        _ => return Err(Failure::nothing(format!("`{}` has no memory to move", other.name))),
    }
    let moved = Moved { folder: folder.display().to_string(), from: other.name.clone(), name: own };
    let text = format!("{} now has the memory of {}: projects/{}", moved.folder, moved.from, moved.name);
    output.object_or_line(&moved, &single_line(&text))?;
    Ok(())
}

/// Lets a folder open its own memory again.
fn unlink(folder: &Path, own: String, projects: &mut Projects<'_>, output: &mut Output) -> Result<Exit, Failure> {
    let before = projects.opened(folder).map_err(|error| storage(&error))?;
    if before == own {
        return Err(Failure::nothing("this folder is not linked to the memory of another project"));
    }
    projects.link(folder, None).map_err(|error| storage(&error))?;
    let unlinked = Linked { folder: folder.display().to_string(), opens: own };
    let text = format!("{} opens its own memory; the memory of {before} is unchanged", unlinked.folder);
    output.object_or_line(&unlinked, &single_line(&text))?;
    Ok(Exit::Done)
}
