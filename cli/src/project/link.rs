//! `project link`: lets this folder open the memory of another project, or its own again.

use std::path::Path;

use clap::Args;
use saddlebag_host::{Projects, project_root, project_slug};
use schemars::JsonSchema;
use serde::Serialize;

use super::shared::{folder, named, require_person, storage};
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::output::{Output, single_line};
use crate::store::disk;
use crate::subcommand::Subcommand;

/// Open the memory of another project in this folder
///
/// The other folder keeps it too.
#[derive(Debug, Args)]
#[command(after_help = example("project link api-0db23a34"))]
pub(crate) struct LinkArgs {
    /// Name or folder of the project, as `project list` prints them
    #[arg(value_name = "NAME|PATH", required_unless_present = "undo")]
    name: Option<String>,
    /// Open the memory of this folder again
    #[arg(long, conflicts_with_all = ["name", "yes"])]
    undo: bool,
    /// Link without asking
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

impl Subcommand for LinkArgs {
    type Json = Linked;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        require_person(global)?;
        let folder = project_root(&folder(global)?);
        let mut disk = disk(global)?;
        let mut projects = Projects::new(&mut disk);
        let own = project_slug(&folder).to_string();
        let Some(name) = self.name else { return unlink(&folder, own, &mut projects, output) };
        let other = named(&mut projects, &name)?;
        if other.name == own {
            let message = format!("`{}` is the project of this folder", other.name);
            return Err(Failure::usage(message, "name another project"));
        }
        let place = other.path.as_deref().unwrap_or("a folder that is not recorded");
        let would =
            format!("{} would read and change the memory of `{}`, made in {place}", folder.display(), other.name);
        if !self.yes {
            if projects.has_notes(&own).map_err(|error| storage(&error))? {
                output
                    .note(&format!("this folder has its own memory, which stays in `projects/{own}` and is not read"));
            }
            let would = single_line(&would);
            output.confirm(&format!("{would}. Link it?"), &would, "add --yes to link it without asking", false)?;
        }
        projects.link(&folder, Some(&other.name)).map_err(|error| storage(&error))?;
        let opens = projects.opened(&folder).map_err(|error| storage(&error))?;
        let linked = Linked { folder: folder.display().to_string(), opens };
        let text = format!("{} opens the memory of {}; `project link --undo` undoes it", linked.folder, linked.opens);
        output.object_or_line(&linked, &single_line(&text))?;
        Ok(Exit::Done)
    }
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
