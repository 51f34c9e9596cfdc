//! Recall over the projects of a store: each is searched on its own, and their hits are merged by rank.

use alloc::format;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::changes::Call;
use crate::engine::Scope;
use crate::notebook::{Notebook, Reach, Recall, RecallHit, RecallReply, Warning, recall};
use crate::order;
use crate::protocol::{EntryKind, Error};
use crate::store::{Layout, PROJECTS_FOLDER, ProjectSlug, RelPath};

/// Adds the hits in the notes of all other projects to the reply of this memory to the same request. Scores of two projects cannot
/// be compared, so the best hits of all come first, those of this memory before the others, then the second hits.
pub(super) async fn add_other_projects(
    call: &Call,
    mut reply: RecallReply,
    asked: &Recall,
) -> Result<RecallReply, Error> {
    let mut ranked: Vec<(usize, RecallHit)> = reply.hits.drain(..).enumerate().collect();
    for slug in other_projects(call).await? {
        let layout = Layout::new(Some(&slug)).map_err(|_| Error::internal("a project without a path"))?;
        let other = call.of_scope(Scope { layout, ..Scope::clone(&call.scope) })?;
        let asked = Recall { filter: asked.filter.clone().below_notebook(&other.scope), ..asked.clone() };
        let index = Arc::new(Notebook::default());
        // Files of the root belong to every project, and this memory has found them.
        match recall(&other, &index, None, &asked, Reach::Project).await {
            Ok(found) => {
                ranked.extend(found.hits.into_iter().enumerate());
                reply.total = reply.total.saturating_add(found.total);
                reply.warnings.extend(found.warnings);
                reply.skipped.extend(found.skipped);
            }
            Err(error) => {
                let path = format!("{PROJECTS_FOLDER}/{slug}");
                reply.warnings.push(Warning::new(&path, format!("it was not searched: {error}")));
            }
        }
    }
    order::sort_slice(&mut ranked, |(a, _), (b, _)| a.cmp(b));
    reply.hits = ranked.into_iter().map(|(_, hit)| hit).collect();
    Ok(reply)
}

/// Returns the projects that have memory in the store, without that of this memory, by name.
async fn other_projects(call: &Call) -> Result<Vec<ProjectSlug>, Error> {
    let folder = RelPath::new(PROJECTS_FOLDER).map_err(|_| Error::internal("no folder of projects"))?;
    let own = call.scope.layout.project_name();
    // This memory has searched them.
    let user = call.scope.layout.user_folder().map(RelPath::file_name);
    let entries = call.list(Some(&folder)).await?.into_iter().filter(|entry| entry.kind == EntryKind::Directory);
    let names = entries
        .map(|entry| entry.path.file_name().to_string())
        .filter(|name| ![own, user].contains(&Some(name.as_str())));
    Ok(names.filter_map(|name| name.parse().ok()).collect())
}
