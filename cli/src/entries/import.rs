//! `import`: files of a folder or of a tar stream, taken in as entries.

use saddlebag::entries::{
    DeletedEntry, EntriesCommand, EntriesReply, EntriesVerb, ImportEntries, ImportFile, ImportMode, ImportState,
    ImportedFile, MAX_IMPORT_BYTES, MAX_IMPORT_FILES, RetainEntries, RetainReply, SkippedEntry,
};
use saddlebag::trust::Provenance;
use serde_json::json;

use super::args::ImportArgs;
use super::sources::Source;
use crate::failure::{Exit, Failure, wrong_reply};
use crate::global::Global;
use crate::output::{self, Output, progress, shown};
use crate::store::{Store, run_entries};

pub(super) fn run(args: &ImportArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let Some(from) = &args.from else {
        return Err(Failure::usage("no folder is named", "name the folder to import; nothing was changed"));
    };
    let source = Source::open(from)?;
    let mut work = Import { store: Store::open(global)?, source, mode: args.mode.into(), trust: args.trust };
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

/// An import under way.
struct Import {
    store: Store,
    source: Source,
    mode: ImportMode,
    trust: bool,
}

impl Import {
    /// Hands all files in, in parts that are within the limits.
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
                let command = EntriesCommand { provenance, ..EntriesCommand::new(EntriesVerb::ImportEntries(request)) };
                let EntriesReply::ImportEntries(reply) = run_entries(&mut self.store, command, output)? else {
                    return Err(wrong_reply());
                };
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
        let command = EntriesCommand::new(EntriesVerb::RetainEntries(RetainEntries { imported, dry_run }));
        match run_entries(&mut self.store, command, output)? {
            EntriesReply::RetainEntries(reply) => Ok(reply),
            _ => Err(wrong_reply()),
        }
    }
}

/// Names what is in none of the files, on standard error: standard output has the summary.
fn show(deleted: &[DeletedEntry]) {
    for DeletedEntry { key, path } in deleted {
        output::tell(&format!("to forget: {}  ({path})", shown(key)));
    }
}

/// Asks whether to go on. Where nobody can be asked, only `--yes` does.
fn confirm(args: &ImportArgs, deletions: usize, output: &mut Output) -> Result<(), Failure> {
    if args.yes {
        return Ok(());
    }
    let entries = if deletions == 1 { "1 entry".to_string() } else { format!("{deletions} entries") };
    let takes_input = args.from.as_deref().is_some_and(|from| from.as_os_str() == "-");
    let would = format!("{entries} would be forgotten");
    output.confirm(&format!("Forget {entries}?"), &would, "`--yes` goes on", takes_input)
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
        ImportState::Rejected(reason) => Some((file.path.as_str(), reason.as_str())),
        _ => None,
    });
    let skipped = retained.skipped.iter().map(|SkippedEntry { key, reason }| (key.as_str(), reason.as_str()));
    let rejected: Vec<(&str, &str)> = rejected.chain(skipped).collect();
    if output.is_json() {
        let reasons = rejected.iter().map(|(path, reason)| json!({ "path": path, "reason": reason }));
        let reasons: Vec<_> = reasons.collect();
        let object = json!({ "upserted": upserted, "unchanged": unchanged, "deleted": deleted, "rejected": reasons });
        output.object(&object)?;
    } else {
        for (path, reason) in &rejected {
            output.line(&format!("rejected {}: {}", shown(path), shown(reason)))?;
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
    Ok(if rejected.is_empty() { Exit::Done } else { Exit::Failed })
}
