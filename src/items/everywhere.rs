//! Recall over the projects of a store: each is searched on its own, and their hits are merged by rank.

use core::ops::Range;

use super::timeline::{Dated, timeline};
use crate::changes::Call;
use crate::engine::Scope;
use crate::notebook::{Notebook, Reach, Recall, RecallHit, RecallReply, Warning, recall};
use crate::store::{Layout, PROJECTS_FOLDER, ProjectSlug, RelPath};
use saddlebag_collections::{order, prelude::*};
use saddlebag_protocol::{EntryKind, Error};

/// Adds the hits in the notes of all other projects to the reply of this memory to the same request. Scores of two projects cannot
/// be compared, so the best hits of all come first, those of this memory before the others, then the second hits.
pub(super) async fn add_other_projects(
    call: &Call,
    notebook: &Notebook,
    mut reply: RecallReply,
    asked: &Recall,
) -> Result<RecallReply, Error> {
    let mut ranked: Vec<(usize, RecallHit)> = reply.hits.drain(..).enumerate().collect();
    for slug in other_projects(call).await? {
        let (other, asked) = asked_in(call, &slug, asked)?;
        // Files of the root belong to every project, and this memory has found them.
        let found = recall(&other, &notebook.other(slug.as_str()), None, &asked, Reach::Project).await;
        ranked.extend(add(&mut reply, &slug, found).into_iter().enumerate());
    }
    order::sort_slice(&mut ranked, |(a, _), (b, _)| a.cmp(b));
    reply.hits = ranked.into_iter().map(|(_, hit)| hit).collect();
    Ok(reply)
}

/// Adds the notes of a time to those of this memory, in their order: the notes for all projects, and if it is asked everywhere,
/// those of all other projects.
pub(super) async fn add_timelines(
    call: &Call,
    notebook: &Notebook,
    (mut reply, times): (RecallReply, Vec<u64>),
    asked: &Recall,
    time: &Range<u64>,
    dated: Dated,
) -> Result<RecallReply, Error> {
    let mut timed: Vec<(u64, RecallHit)> = times.into_iter().zip(reply.hits.drain(..)).collect();
    let user = call.scope.layout.user_folder().and_then(|folder| folder.file_name().parse().ok());
    let others = if asked.everywhere { other_projects(call).await? } else { Vec::new() };
    for slug in user.into_iter().chain(others) {
        let (other, asked) = asked_in(call, &slug, asked)?;
        let found = timeline(&other, &notebook.other(slug.as_str()), &asked, time.clone(), dated).await;
        let (found, times) = match found {
            Ok((found, times)) => (Ok(found), times),
            Err(error) => (Err(error), Vec::new()),
        };
        timed.extend(times.into_iter().zip(add(&mut reply, &slug, found)));
    }
    order::sort_slice(&mut timed, |(a, one), (b, other)| {
        let by_time = if dated.is_newest_first { b.cmp(a) } else { a.cmp(b) };
        by_time.then_with(|| one.path.cmp(&other.path))
    });
    reply.hits = timed.into_iter().map(|(_, hit)| hit).collect();
    Ok(reply)
}

/// Returns the call in another project of the store, and the request there.
fn asked_in(call: &Call, slug: &ProjectSlug, asked: &Recall) -> Result<(Call, Recall), Error> {
    let layout = Layout::new(Some(slug)).map_err(|_| Error::internal("a project without a path"))?;
    let other = call.of_scope(Scope { layout, ..Scope::clone(&call.scope) })?;
    let asked = Recall { filter: asked.filter.clone().below_notebook(&other.scope), ..asked.clone() };
    Ok((other, asked))
}

/// Adds what was found in another project to a reply, except the hits, which are returned.
fn add(reply: &mut RecallReply, slug: &ProjectSlug, found: Result<RecallReply, Error>) -> Vec<RecallHit> {
    match found {
        Ok(found) => {
            reply.total = reply.total.saturating_add(found.total);
            reply.is_doubtful &= found.is_doubtful || found.hits.is_empty();
            reply.warnings.extend(found.warnings);
            reply.skipped.extend(found.skipped);
            found.hits
        }
        Err(error) => {
            let path = format!("{PROJECTS_FOLDER}/{slug}");
            reply.warnings.push(Warning::new(&path, format!("it was not searched: {error}")));
            Vec::new()
        }
    }
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
