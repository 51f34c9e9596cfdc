//! `memory import`: imports the files of a folder or of a tar stream as entries.

use saddlebag::Origin;
use saddlebag::entries::{
    DeletedEntry, ImportEntries, ImportFile, ImportMode, ImportState, ImportedFile, MAX_IMPORT_BYTES, MAX_IMPORT_FILES,
    RetainEntries, RetainReply, SkippedEntry,
};
use saddlebag::trust::Provenance;
use schemars::JsonSchema;
use serde::Serialize;

use super::args::ImportArgs;
use super::sources::Source;
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::output::{self, Output, progress, single_line};
use crate::store::Store;

/// Result of an import.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Imported {
    /// Number of files that were stored.
    upserted: usize,
    /// Number of files that were already stored with the same content.
    unchanged: usize,
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
        return Err(Failure::usage("no folder was given", "name the folder to import; nothing was changed"));
    };
    let source = Source::open(from)?;
    let mut work = Import { store: Store::open(global)?, source, mode: args.mode, trust: args.trust };
    let is_replace = work.mode == ImportMode::Replace;
    let (imported, retained) = if is_replace && !args.dry_run {
        let planned = work.import(true, output)?;
        let to_delete = work.retain(planned, true, output)?;
        if !to_delete.deleted.is_empty() {
            show(&to_delete.deleted);
            confirm(args, to_delete.deleted.len(), output)?;
        }
        let imported = work.import(false, output)?;
        let retained = work.retain(imported.clone(), false, output)?;
        (imported, retained)
    } else {
        let imported = work.import(args.dry_run, output)?;
        let retained = if is_replace { work.retain(imported.clone(), true, output)? } else { RetainReply::default() };
        show(&retained.deleted);
        (imported, retained)
    };
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
        let (mut files, mut bytes): (Vec<ImportFile>, usize) = (Vec::new(), 0);
        for number in 0..=self.source.len() {
            let next = self.source.file(number);
            let size = next.as_ref().and_then(|file| Some(file.content.as_ref().ok()?.len())).unwrap_or_default();
            if next.is_none() || files.len() == MAX_IMPORT_FILES || bytes + size > MAX_IMPORT_BYTES {
                let part = std::mem::take(&mut files);
                let request = ImportEntries { files: part, mode: self.mode, dry_run, earlier: imported.clone() };
                let provenance = self.trust.then_some(Provenance::User);
                let command = Origin { provenance, ..Origin::default() }.with(request);
                let reply = self.store.call(command, output)?;
                bar.inc(reply.files.len() as u64);
                imported.extend(reply.files);
                bytes = 0;
            }
            bytes += size;
            files.extend(next);
        }
        bar.finish_and_clear();
        Ok(imported)
    }

    fn retain(
        &mut self,
        imported: Vec<ImportedFile>,
        dry_run: bool,
        output: &mut Output,
    ) -> Result<RetainReply, Failure> {
        self.store.call(RetainEntries { imported, dry_run }, output)
    }
}

/// Prints the entries that are in none of the files on standard error, because standard output gets the summary.
fn show(deleted: &[DeletedEntry]) {
    for DeletedEntry { key, path } in deleted {
        output::tell(&format!("to forget: {}  ({path})", single_line(key)));
    }
}

/// Asks for confirmation. If nobody can be asked, only `--yes` confirms.
fn confirm(args: &ImportArgs, deletions: usize, output: &mut Output) -> Result<(), Failure> {
    if args.yes {
        return Ok(());
    }
    let entries = if deletions == 1 { "1 entry".to_string() } else { format!("{deletions} entries") };
    let takes_input = args.from.as_deref().is_some_and(|from| from.as_os_str() == "-");
    let would = format!("{entries} would be forgotten");
    output.confirm(&format!("Forget {entries}?"), &would, "`--yes` confirms this", takes_input)
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
    let imported = Imported { upserted, unchanged, deleted, rejected: rejected.collect() };
    let rejected = &imported.rejected;
    if output.is_json() {
        output.object(&imported)?;
    } else {
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
    Ok(if imported.rejected.is_empty() { Exit::Done } else { Exit::Failed })
}
