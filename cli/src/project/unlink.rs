//! `project unlink`: lets this folder open its own memory again.

use clap::Args;
use saddlebag_host::{Projects, project_root};
use schemars::JsonSchema;
use serde::Serialize;

use super::shared::{folder, require_person, storage};
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::output::{Output, single_line};
use crate::store::disk;
use crate::subcommand::Subcommand;

/// Undo `project link`: open the memory of this folder again
#[derive(Debug, Args)]
#[command(after_help = example("project unlink"))]
pub(crate) struct UnlinkArgs;

/// Link that was removed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Unlinked {
    /// Folder of the project.
    folder: String,
    /// Name of the project whose memory the folder opens now: its own.
    opens: String,
}

impl Subcommand for UnlinkArgs {
    type Json = Unlinked;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        require_person(global)?;
        let folder = project_root(&folder(global)?);
        let mut disk = disk(global)?;
        let mut projects = Projects::new(&mut disk);
        let before = projects.opened(&folder).map_err(|error| storage(&error))?;
        let own = saddlebag_host::project_slug(&folder).to_string();
        if before == own {
            return Err(Failure::nothing("this folder is not linked to the memory of another project"));
        }
        projects.link(&folder, None).map_err(|error| storage(&error))?;
        let unlinked = Unlinked { folder: folder.display().to_string(), opens: own };
        let text = format!("{} opens its own memory; the memory of {before} is unchanged", unlinked.folder);
        output.object_or_line(&unlinked, &single_line(&text))?;
        Ok(Exit::Done)
    }
}
