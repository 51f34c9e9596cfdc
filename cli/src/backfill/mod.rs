//! `backfill`: makes notes of the past of a project, so that a new memory is not empty.
//!
//! The sources are the transcripts of agents ([`find`], [`transcripts`], [`claude_code`], [`codex`], [`gemini`]). They are
//! read here and not by the component: transcripts are large and must be streamed, and their formats are internals of the
//! clients that change with any release. [`session`] and the readers of lines are pure functions. The component decides what
//! a note looks like, what is already there and what a person has touched: `import-items`.

mod args;
mod claude_code;
mod codex;
mod find;
mod gemini;
mod lines;
mod local_paths;
mod note;
mod session;
mod summary;
mod transcripts;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use saddlebag::Origin;
use saddlebag::items::{ItemKind, ListItems, ListedItem};
use saddlebag::notebook::{ImportNotes, ImportedNote, NoteImport};
use saddlebag_host::project_root;

use self::args::SourceName;
use self::note::{Candidate, LeftOut};
use self::summary::Backfilled;
use self::transcripts::{Sessions, Wanted};
use crate::failure::set_changes;
use crate::import::{claude_folder, place};
use crate::output::progress;
use crate::prelude::*;

pub(crate) use args::BackfillArgs;

/// Folder of the notes.
const NOTES_FOLDER: &str = "transcripts";

/// Number of notes in one command.
const NOTES_OF_COMMAND: usize = 64;

/// Notes that a source gives, and what was left out of it.
struct Taken {
    place: String,
    notes: Vec<Candidate>,
    unreadable: Vec<(String, String)>,
    left_out: LeftOut,
}

impl Subcommand for BackfillArgs {
    type Json = Backfilled;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        set_changes(true, false);
        let mut store = Store::open(global)?;
        let taken = sessions_of(&self, global, &mut store, output)?;
        let done = import(&self, &taken.notes, &mut store, output)?;
        let Taken { place, notes, unreadable, left_out } = taken;
        let backfilled = Backfilled::new(self.dry_run, self.from.as_str(), place, &notes, done, unreadable, &left_out);
        backfilled.show(output)
    }
}

/// Returns the root of the project whose memory is used.
fn project(global: &Global) -> Result<PathBuf, Failure> {
    let path = match &global.project {
        Some(path) => path.clone(),
        None => std::env::current_dir().map_err(|error| {
            Failure::usage(format!("there is no current folder: {error}"), "name one with --project")
        })?,
    };
    Ok(project_root(&path))
}

fn sessions_of(args: &BackfillArgs, global: &Global, store: &mut Store, output: &mut Output) -> Result<Taken, Failure> {
    let project = project(global)?;
    let mut left_out = LeftOut::default();
    let default = find::folder_of(args.from);
    let Some(folder) = args.path.clone().or(default) else {
        return Err(Failure::usage("there is no home folder to look for transcripts in", "name a folder as PATH"));
    };
    let nothing = |folder: &Path| {
        let message = format!("there is no transcript of {} in `{}`", args.from.as_str(), folder.display());
        Err(Failure::nothing(message))
    };
    if args.path.is_none() && !folder.exists() {
        return nothing(&folder);
    }
    // Claude Code has a folder for each folder in which it ran. Others need not be read.
    let name = claude_folder(&project);
    let is_default = args.path.is_none() && args.from == SourceName::ClaudeCode && !args.all_projects;
    let wants = |found: &str| !is_default || found.starts_with(&name) || found.len() >= MAX_CLAUDE_FOLDER;
    let listing = find::list(args.from, &folder, &wants, &mut left_out)?;
    if listing.files.is_empty() && listing.unreadable.is_empty() && left_out.iter().next().is_none() {
        return nothing(&folder);
    }
    let wanted = Wanted {
        source: args.from,
        project: &project,
        all_projects: args.all_projects,
        since: args.since.as_ref().map(|since| since.nanoseconds(store.now())),
        limit: args.limit as usize,
    };
    let Sessions { mut notes, unreadable } = wanted.read(listing, &mut left_out);
    let recorded = recorded_sessions(store, output)?;
    notes.retain(|note| {
        let is_recorded = note.id.split_once(' ').is_some_and(|(_, id)| recorded.contains(id));
        if is_recorded {
            left_out.add("recorded by hooks", &note.title);
        }
        !is_recorded
    });
    Ok(Taken { place: place(&folder), notes, unreadable, left_out })
}

/// Returns the ids of the sessions that hooks have recorded: each has a note in `sessions/` already.
fn recorded_sessions(store: &mut Store, output: &mut Output) -> Result<BTreeSet<String>, Failure> {
    let request = ListItems { kinds: vec![ItemKind::Session], ..ListItems::default() };
    let notes = store.call(Origin::default().with(request), output)?.items;
    let session = |note: ListedItem| {
        let metadata: serde_json::Value = serde_json::from_str(&note.metadata).ok()?;
        Some(metadata.get("session")?.as_str()?.to_string())
    };
    Ok(notes.into_iter().filter_map(session).collect())
}

/// Length from which Claude Code cuts the name of a folder and adds a digest.
const MAX_CLAUDE_FOLDER: usize = 200;

/// Imports the notes, in parts that are within the limits.
fn import(
    args: &BackfillArgs,
    notes: &[Candidate],
    store: &mut Store,
    output: &mut Output,
) -> Result<Vec<NoteImport>, Failure> {
    let bar = progress(notes.len() as u64);
    let mut done = Vec::with_capacity(notes.len());
    for part in notes.chunks(NOTES_OF_COMMAND) {
        let notes: Vec<ImportedNote> = part.iter().map(ImportedNote::from).collect();
        let request = ImportNotes { folder: NOTES_FOLDER.into(), notes, dry_run: args.dry_run };
        done.extend(store.call(Origin::default().with(request), output)?.notes);
        bar.inc(part.len() as u64);
    }
    bar.finish_and_clear();
    Ok(done)
}
