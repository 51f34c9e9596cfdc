//! `import --from`: the files of another agent, taken in as entries.

use std::path::Path;

use saddlebag::entries::{ExchangeState, ExchangedEntry};
use saddlebag::exchange::{
    Detected, ExchangeReply, ExchangeVerb, Format, ImportFrom, ImportFromReply, RejectedPart, detect,
};
use saddlebag::trust::Provenance;
use serde_json::{Value, json};

use super::known::{self, Kind, Known};
use super::sources::{self, Source};
use crate::entries::{FormatName, ImportArgs};
use crate::failure::{Exit, Failure, wrong_reply};
use crate::global::Global;
use crate::output::{self, Output, progress, shown};
use crate::store::{Store, run_exchange};

/// Imports what is no Markdown of our own. `None` where a folder turns out to be just that.
pub(crate) fn run(args: &ImportArgs, global: &Global, output: &mut Output) -> Result<Option<Exit>, Failure> {
    match (args.format, &args.from) {
        (FormatName::Auto, None) => of_machine(args, global, output).map(Some),
        (FormatName::Auto, Some(from)) => match detected(from)? {
            Detected::Format(format) => {
                output.note(&format!("{} looks like {}", from.display(), format.name()));
                one(format, from, args, global, output).map(Some)
            }
            Detected::Markdown => Ok(None),
            _ => Err(in_place(from)),
        },
        (name, from) => {
            let Some(format) = name.foreign() else { return Ok(None) };
            let Some(from) = from else {
                let message = format!("--from {} needs the folder or the file to import", format.name());
                return Err(Failure::usage(message, "`--from auto` finds what is on this machine"));
            };
            one(format, from, args, global, output).map(Some)
        }
    }
}

/// What a folder or a file looks like.
fn detected(from: &Path) -> Result<Detected, Failure> {
    let paths = if from.is_dir() {
        sources::listing(from)?
    } else {
        from.file_name().map(|name| name.to_string_lossy().into_owned()).into_iter().collect()
    };
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    detect(&paths).ok_or_else(|| {
        let message = format!("`{}` looks like no format that is known", from.display());
        Failure::usage(message, "name the format with --from; nothing was imported")
    })
}

fn in_place(from: &Path) -> Failure {
    let message = format!("`{}` is opened in place, and not imported", from.display());
    Failure::usage(message, format!("run saddlebag with --root {}", from.display()))
}

fn one(format: Format, from: &Path, args: &ImportArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let source = Source::open(from, format)?;
    let reply = take_in(format, &source, args.dry_run, args.trust, &mut Store::open(global)?, output)?;
    let summary = Summary::of(&reply);
    if output.is_json() {
        let mut object = summary.json();
        object["format"] = format.name().into();
        object["dry_run"] = args.dry_run.into();
        output.object(&object)?;
    } else {
        summary.print(args.dry_run, output)?;
        if summary.has_news() && !args.trust && !args.dry_run {
            crate::trust::note_pending(output)?;
        }
    }
    Ok(summary.exit())
}

/// Finds what is on this machine, shows it, and imports it if that is wanted.
fn of_machine(args: &ImportArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let mut store = Store::open(global)?;
    let mut planned: Vec<(Known, Format, Source)> = Vec::new();
    let mut objects: Vec<Value> = Vec::new();
    let mut failures = false;
    for known in known::find(global) {
        let place = sources::origin(&known.place);
        let format = match known.kind {
            Kind::Files(format) => format,
            Kind::InPlace => {
                tell(&format!("{}: {place}: opened in place with --root, and not imported", known.agent));
                objects.push(json!({ "agent": known.agent, "place": place, "in_place": true }));
                continue;
            }
        };
        let source = match Source::open(&known.place, format) {
            Ok(source) => source,
            Err(failure) => {
                tell(&format!("{}: {place}: {}", known.agent, failure.message));
                failures = true;
                continue;
            }
        };
        let reply = take_in(format, &source, true, args.trust, &mut store, output)?;
        let summary = Summary::of(&reply);
        tell(&format!("{}: {place}: {}, {}", known.agent, files(source.len()), summary.line()));
        let mut object = summary.json();
        object["agent"] = known.agent.into();
        object["format"] = format.name().into();
        object["place"] = place.into();
        objects.push(object);
        if summary.has_news() {
            planned.push((known, format, source));
        }
    }
    if objects.is_empty() && !failures {
        return Err(Failure::nothing("no memory of another agent was found on this machine"));
    }
    let is_done = !args.dry_run && !planned.is_empty();
    if is_done {
        confirm(args, planned.len(), output)?;
        objects.clear();
    }
    let mut exit = if failures { Exit::Failed } else { Exit::Done };
    let mut has_news = false;
    for (known, format, source) in planned.iter().filter(|_| is_done) {
        let reply = take_in(*format, source, false, args.trust, &mut store, output)?;
        let summary = Summary::of(&reply);
        if summary.exit() != Exit::Done {
            exit = summary.exit();
        }
        let mut object = summary.json();
        object["agent"] = known.agent.into();
        object["format"] = format.name().into();
        object["place"] = source.origin.as_str().into();
        objects.push(object);
        if !output.is_json() {
            output.line(&format!("{}:", known.agent))?;
            summary.print(false, output)?;
            has_news |= summary.has_news();
        }
    }
    if has_news && !args.trust {
        crate::trust::note_pending(output)?;
    }
    if output.is_json() {
        output.object(&json!({ "dry_run": args.dry_run, "sources": objects }))?;
    } else if !is_done {
        output.line(if args.dry_run { "Nothing was imported: this was a dry run" } else { "There is nothing new" })?;
    }
    Ok(exit)
}

/// What a person is shown before anything is done, on standard error: standard output has the summary.
fn tell(line: &str) {
    output::tell(&shown(line));
}

fn confirm(args: &ImportArgs, sources: usize, output: &mut Output) -> Result<(), Failure> {
    if args.yes {
        return Ok(());
    }
    let sources = if sources == 1 { "1 source".to_string() } else { format!("{sources} sources") };
    let help = "`--yes` goes on, `--dry-run` only shows";
    output.confirm(&format!("Import {sources}?"), &format!("{sources} would be imported"), help, false)
}

/// Hands all files in, in parts that are within the limits.
fn take_in(
    format: Format,
    source: &Source,
    dry_run: bool,
    trust: bool,
    store: &mut Store,
    output: &mut Output,
) -> Result<ImportFromReply, Failure> {
    let bar = progress(source.len() as u64);
    let mut done = ImportFromReply::default();
    source.each_part(format, |files, others| {
        let count = files.len() as u64;
        let origin = source.origin.clone();
        let earlier = done.entries.clone();
        let provenance = trust.then_some(Provenance::User);
        let request = ImportFrom { format, origin, files, others, dry_run, earlier, provenance };
        let ExchangeReply::ImportFrom(reply) = run_exchange(store, ExchangeVerb::ImportFrom(request), output)? else {
            return Err(wrong_reply());
        };
        bar.inc(count);
        done.entries.extend(reply.entries);
        done.rejected.extend(reply.rejected);
        Ok(())
    })?;
    bar.finish_and_clear();
    Ok(done)
}

/// What an import came to.
#[derive(Default)]
struct Summary<'a> {
    stored: usize,
    updated: usize,
    unchanged: usize,
    renamed: Vec<(&'a ExchangedEntry, &'a str)>,
    kept: Vec<(&'a ExchangedEntry, &'a str)>,
    rejected: Vec<(&'a str, u32, &'a str)>,
}

impl<'a> Summary<'a> {
    fn of(reply: &'a ImportFromReply) -> Self {
        let mut summary = Self::default();
        for RejectedPart { path, line, reason } in &reply.rejected {
            summary.rejected.push((path, *line, reason));
        }
        for entry in &reply.entries {
            match &entry.state {
                ExchangeState::Stored => summary.stored += 1,
                ExchangeState::Updated => summary.updated += 1,
                ExchangeState::Renamed(key) => summary.renamed.push((entry, key)),
                ExchangeState::Kept(reason) => summary.kept.push((entry, reason)),
                ExchangeState::Rejected(reason) => summary.rejected.push((&entry.path, entry.line, reason)),
                _ => summary.unchanged += 1,
            }
        }
        summary
    }

    fn exit(&self) -> Exit {
        if self.rejected.is_empty() { Exit::Done } else { Exit::Failed }
    }

    fn has_news(&self) -> bool {
        self.stored + self.updated + self.renamed.len() > 0
    }

    fn line(&self) -> String {
        let upserted = self.stored + self.updated;
        let (unchanged, conflicts, kept) = (self.unchanged, self.renamed.len(), self.kept.len());
        let rejected = self.rejected.len();
        format!("{upserted} upserted, {unchanged} unchanged, {conflicts} conflicts, {kept} kept, {rejected} rejected")
    }

    fn print(&self, dry_run: bool, output: &mut Output) -> Result<(), Failure> {
        for (entry, key) in &self.renamed {
            let (key, stored) = (shown(key), shown(&entry.key));
            output.line(&format!("conflict: {key} says something else here, which stays: stored as {stored}"))?;
        }
        for (entry, reason) in &self.kept {
            output.line(&format!("kept {}: {}", shown(&entry.key), shown(reason)))?;
        }
        for (path, line, reason) in &self.rejected {
            output.line(&format!("rejected {}:{line}: {}", shown(path), shown(reason)))?;
        }
        let done = if dry_run { "Would import" } else { "Imported" };
        output.line(&format!("{done}: {}", self.line()))?;
        Ok(())
    }

    fn json(&self) -> Value {
        let renamed = self
            .renamed
            .iter()
            .map(|(entry, key)| json!({ "path": entry.path, "line": entry.line, "key": key, "stored_as": entry.key }));
        let kept = self.kept.iter().map(|(entry, reason)| json!({ "key": entry.key, "reason": reason }));
        let rejected =
            self.rejected.iter().map(|(path, line, reason)| json!({ "path": path, "line": line, "reason": reason }));
        json!({
            "upserted": self.stored + self.updated,
            "stored": self.stored,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "conflicts": renamed.collect::<Vec<_>>(),
            "kept": kept.collect::<Vec<_>>(),
            "rejected": rejected.collect::<Vec<_>>(),
        })
    }
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".into() } else { format!("{count} files") }
}
