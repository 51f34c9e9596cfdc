//! `memory import`: imports the files of a folder or of a tar stream as entries.

use std::path::Path;

use saddlebag::Origin;
use saddlebag::entries::{
    DeletedEntry, ImportEntries, ImportFile, ImportMode, ImportState, ImportedFile, RetainEntries, RetainReply,
    SkippedEntry,
};
use saddlebag::exchange::Detected;
use saddlebag::protocol::ErrorCode;
use saddlebag::trust::Provenance;

use super::args::ImportArgs;
use super::sources::Source;
use crate::output::{self, progress, single_line};
use crate::prelude::*;

/// Result of an import.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Imported {
    /// Number of files that were stored.
    upserted: usize,
    /// Number of files that were already stored with the same content.
    unchanged: usize,
    /// Keys of the entries whose text, category or tags were replaced, and of those that a file forgets.
    replaced: Vec<String>,
    /// Number of entries that were forgotten.
    deleted: usize,
    /// Files that were not imported, and entries that were not forgotten.
    rejected: Vec<Rejected>,
}

/// File that was not imported, or entry that was not forgotten.
#[derive(Serialize, JsonSchema)]
struct Rejected {
    /// Path of the file, or key of the entry.
    path: String,
    /// Reason for the rejection.
    reason: String,
}

pub(super) fn run(args: &ImportArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let Some(from) = &args.from else {
        return Err(Failure::usage("no folder was given", "name the folder to import"));
    };
    if from.is_file() {
        let message = format!("`{}` is a file, and entries are imported from a folder", from.display());
        return Err(Failure::usage(message, way_of(from)));
    }
    let source = Source::open(from, None)?;
    let mut work = Import { store: Store::open(global)?, source, mode: args.mode, trust: args.trust };
    let planned = work.import(true, output)?;
    if args.mode == ImportMode::Replace && planned.iter().all(|file| matches!(file.state, ImportState::Rejected(_))) {
        let message = format!("no entry was found in {}, and a replacement would forget all entries", from.display());
        return Err(Failure::new(ErrorCode::InvalidArgument, message, "name the folder of an export"));
    }
    let to_delete = work.retain(planned.clone(), true, output)?;
    show(&planned, &to_delete.deleted);
    if args.dry_run {
        return summary(args, &planned, &to_delete, output);
    }
    confirm(args, replaced(&planned).count(), to_delete.deleted.len(), output)?;
    let imported = work.import(false, output)?;
    let retained = work.retain(imported.clone(), false, output)?;
    summary(args, &imported, &retained, output)
}

/// Import in progress.
struct Import {
    store: Store,
    source: Source,
    mode: ImportMode,
    trust: bool,
}

impl Import {
    /// Imports all files, in parts that are within the limits.
    fn import(&mut self, dry_run: bool, output: &mut Output) -> Result<Vec<ImportedFile>, Failure> {
        let bar = progress(self.source.len() as u64);
        let mut imported: Vec<ImportedFile> = Vec::with_capacity(self.source.len());
        let Self { store, source, mode, trust } = self;
        source.each_part(|files, _| {
            let files = files.into_iter().map(|file| ImportFile { path: file.path, content: file.content }).collect();
            let request = ImportEntries { files, mode: *mode, dry_run, earlier: imported.clone() };
            let provenance = trust.then_some(Provenance::User);
            let reply = store.call(Origin { provenance, ..Origin::default() }.with(request), output)?;
            bar.inc(reply.files.len() as u64);
            imported.extend(reply.files);
            Ok(())
        })?;
        bar.finish_and_clear();
        Ok(imported)
    }

    fn retain(
        &mut self,
        imported: Vec<ImportedFile>,
        dry_run: bool,
        output: &mut Output,
    ) -> Result<RetainReply, Failure> {
        if self.mode != ImportMode::Replace {
            return Ok(RetainReply::default());
        }
        self.store.call(RetainEntries { imported, dry_run }, output)
    }
}

/// Returns the files that replace or forget an entry with different text, category or tags.
fn replaced(imported: &[ImportedFile]) -> impl Iterator<Item = &ImportedFile> {
    imported.iter().filter(|file| file.replaces)
}

fn key_of(file: &ImportedFile) -> &str {
    file.key.as_deref().unwrap_or(&file.path)
}

/// Prints the entries that the import replaces, and the entries that the files do not have, on standard error, because
/// standard output gets the summary.
fn show(planned: &[ImportedFile], deleted: &[DeletedEntry]) {
    for file in replaced(planned) {
        let verb = if file.state == ImportState::Deleted { "forget" } else { "replace" };
        output::tell(&format!("to {verb}: {}  (from {})", single_line(key_of(file)), single_line(&file.path)));
    }
    for DeletedEntry { key, path } in deleted {
        output::tell(&format!("to forget: {}  ({path})", single_line(key)));
    }
}

/// Asks for confirmation if entries are lost. If the program cannot ask, only `--yes` confirms.
fn confirm(args: &ImportArgs, replaced: usize, deleted: usize, output: &mut Output) -> Result<(), Failure> {
    if args.yes || replaced + deleted == 0 {
        return Ok(());
    }
    let entries = |count: usize| if count == 1 { "1 entry".to_string() } else { format!("{count} entries") };
    let takes_input = args.from.as_deref().is_some_and(|from| from.as_os_str() == "-");
    let (question, would) = match (replaced, deleted) {
        (0, _) => {
            let entries = entries(deleted);
            (format!("Forget {entries}?"), format!("{entries} would be forgotten"))
        }
        (_, 0) => {
            let entries = entries(replaced);
            (
                format!("Replace {entries}?"),
                format!("{entries} with different text, category or tags would be replaced"),
            )
        }
        _ => {
            let (replaced, deleted) = (entries(replaced), entries(deleted));
            (
                format!("Replace {replaced} and forget {deleted}?"),
                format!(
                    "{replaced} with different text, category or tags would be replaced, {deleted} would be forgotten"
                ),
            )
        }
    };
    output.confirm(&question, &would, "`--yes` confirms this", takes_input)
}

fn summary(
    args: &ImportArgs,
    imported: &[ImportedFile],
    retained: &RetainReply,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let count = |state: ImportState| imported.iter().filter(|file| file.state == state).count();
    let (upserted, unchanged) = (count(ImportState::Upserted), count(ImportState::Unchanged));
    let deleted = count(ImportState::Deleted) + retained.deleted.len();
    let rejected = imported.iter().filter_map(|file| match &file.state {
        ImportState::Rejected(reason) => Some((&file.path, reason)),
        _ => None,
    });
    let skipped = retained.skipped.iter().map(|SkippedEntry { key, reason }| (key, reason));
    let rejected =
        rejected.chain(skipped).map(|(path, reason)| Rejected { path: path.clone(), reason: reason.clone() });
    let replaced = replaced(imported).map(|file| key_of(file).to_string()).collect();
    let imported = Imported { upserted, unchanged, replaced, deleted, rejected: rejected.collect() };
    let rejected = &imported.rejected;
    if !output.json(&imported)? {
        for Rejected { path, reason } in rejected {
            output.line(&format!("rejected {}: {}", single_line(path), single_line(reason)))?;
        }
        let done = if args.dry_run { "Would import" } else { "Imported" };
        let rejected = rejected.len();
        output.line(&format!(
            "{done}: {upserted} upserted, {unchanged} unchanged, {deleted} deleted, {rejected} rejected"
        ))?;
        if upserted > 0 && !args.trust && !args.dry_run {
            crate::trust::note_pending(output)?;
        }
    }
    let is_empty = upserted + unchanged + deleted == 0;
    if is_empty {
        tip(args, output);
    }
    Ok(match imported.rejected.is_empty() {
        false => Exit::Failed,
        true if is_empty => Exit::Nothing,
        true => Exit::Done,
    })
}

/// Prints the way to import a folder in which no entry was found.
fn tip(args: &ImportArgs, output: &mut Output) {
    if let Some(from) = args.from.as_deref().filter(|from| from.is_dir()) {
        output.note(&format!("no entry was found in {}: {}", from.display(), way_of(from)));
    }
}

/// Returns the way to import files that are not entries: the format that they have, if it is known.
fn way_of(from: &Path) -> String {
    match super::foreign::detected(from) {
        Ok(Detected::Format(format)) => {
            let name = format.as_str();
            format!("it looks like {name}, which `--from {name}` imports")
        }
        _ => {
            let found = "`--from auto` without a path finds them on this machine";
            format!("`--from FORMAT` imports the files of another agent, and {found}")
        }
    }
}
