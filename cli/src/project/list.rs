//! `project` without a name: prints the projects of the store and their folders.

use saddlebag_host::{Projects, project_root, project_slug, recorded_folder};

use super::shared::{folder, storage};
use crate::output::single_line;
use crate::prelude::*;
use crate::store::without_engine;

/// Projects of the store.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Listed {
    /// Projects, by name.
    projects: Vec<Listing>,
}

/// A project.
#[derive(Serialize, JsonSchema)]
struct Listing {
    /// Name of the project, as `project NAME` takes it.
    name: String,
    /// Folder that the memory was last used in; `null` if it is not recorded.
    path: Option<String>,
    /// True if that folder does not exist any more.
    is_gone: bool,
    /// True if it is the project of the current folder.
    is_here: bool,
    /// Project whose memory the folder opens instead of its own; `null` without a link.
    opens: Option<String>,
}

/// Prints the projects that have memory, with their folders.
pub(super) fn run(global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let here = folder(global).ok().map(|folder| project_slug(&project_root(&folder)).to_string());
    let all = Projects::new(&mut without_engine(global)?).all().map_err(|error| storage(&error))?;
    let projects: Vec<Listing> = all
        .into_iter()
        .map(|record| Listing {
            is_gone: record.path.is_some() && recorded_folder(&record).is_none(),
            is_here: Some(&record.name) == here.as_ref(),
            name: record.name,
            path: record.path,
            opens: record.opens,
        })
        .collect();
    let listed = Listed { projects };
    if !output.json(&listed)? {
        for project in &listed.projects {
            output.line(&single_line(&line(project)))?;
        }
    }
    Ok(Exit::Done)
}

fn line(project: &Listing) -> String {
    let Listing { name, path, is_gone, is_here, opens } = project;
    let mut line = format!("{name}  {}", path.as_deref().unwrap_or("(folder not recorded)"));
    if let Some(opens) = opens {
        line.push_str(&format!("  opens {opens}"));
    }
    if *is_gone {
        line.push_str("  (the folder does not exist)");
    }
    if *is_here {
        line.push_str("  (this folder)");
    }
    line
}
