//! `project move`: gives the memory of a project to this folder, for example after the folder was moved.

use clap::Args;
use saddlebag::protocol::RenameOutcome;
use saddlebag_host::{Projects, project_root, project_slug, recorded_folder};
use schemars::JsonSchema;
use serde::Serialize;

use super::shared::{folder, named, require_person, storage};
use crate::failure::{Exit, Failure, ProgramCode};
use crate::global::Global;
use crate::help::example;
use crate::output::{Output, single_line};
use crate::store::disk;
use crate::subcommand::Subcommand;

/// Give a project's memory to this folder, after the project moved
#[derive(Debug, Args)]
#[command(after_help = example("project move api-0db23a34"))]
pub(crate) struct MoveArgs {
    /// Name or folder of the project, as `project list` prints them
    #[arg(value_name = "NAME|PATH")]
    name: String,
    /// Move without asking
    #[arg(long)]
    yes: bool,
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

impl Subcommand for MoveArgs {
    type Json = Moved;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        require_person(global)?;
        let folder = project_root(&folder(global)?);
        let mut disk = disk(global)?;
        let mut projects = Projects::new(&mut disk);
        let other = named(&mut projects, &self.name)?;
        let own = project_slug(&folder).to_string();
        if other.name == own {
            let message = format!("`{own}` is the project of this folder");
            return Err(Failure::usage(message, "name another project"));
        }
        if !self.yes {
            let still =
                if recorded_folder(&other).is_some() { ", and its present folder would have no memory" } else { "" };
            let would =
                format!("the memory of `{}` would become the memory of {}{still}", other.name, folder.display());
            let would = single_line(&would);
            output.confirm(&format!("{would}. Move it?"), &would, "add --yes to move it without asking", false)?;
        }
        match projects.take(&folder, &other.name).map_err(|error| storage(&error))? {
            RenameOutcome::Done => {}
            RenameOutcome::Exists => {
                let message = format!("this folder has its own memory, in `projects/{own}`");
                let help = "`project link` opens the other memory instead; or move that folder of the store away first";
                return Err(Failure::new(ProgramCode::NotEmpty, message, help));
            }
            _ => return Err(Failure::nothing(format!("`{}` has no memory to move", other.name))),
        }
        let moved = Moved { folder: folder.display().to_string(), from: other.name, name: own };
        let text = format!("{} now has the memory of {}: projects/{}", moved.folder, moved.from, moved.name);
        output.object_or_line(&moved, &single_line(&text))?;
        Ok(Exit::Done)
    }
}
