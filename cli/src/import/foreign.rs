//! `memory import --from`: imports files of another agent as entries.

use std::path::Path;

use saddlebag::Origin;
use saddlebag::entries::{ExchangeState, ExchangedEntry};
use saddlebag::exchange::{Detected, Format, ImportFrom, ImportFromReply, RejectedPart, detect, is_basic_memory};
use saddlebag::protocol::Error;
use saddlebag::trust::Provenance;
use saddlebag_host::{Project, Projects, recorded_folder};

use super::args::ImportArgs;
use super::known::{self, Kind, Known, Owner};
use super::sources::{self, Source};
use crate::formats::{ImportFormat, converted};
use crate::global::{Global, Scope};
use crate::output::{self, progress, single_line};
use crate::prelude::*;
use crate::store::{Store, without_engine};

/// Result of an import.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Imported {
    /// True if nothing was changed.
    dry_run: bool,
    #[serde(flatten)]
    source: Imports,
}

/// Results of the imports from all agents on this machine.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OfMachine {
    /// True if nothing was changed.
    dry_run: bool,
    /// Memories that were found.
    sources: Vec<OfAgent>,
}

/// Memory of an agent on this machine.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum OfAgent {
    Files {
        /// Name of the agent.
        agent: &'static str,
        /// Folder or file of the agent's memory.
        place: String,
        #[serde(flatten)]
        source: Imports,
    },
    InPlace {
        /// Name of the agent.
        agent: &'static str,
        /// Folder of the agent's memory.
        place: String,
        /// Always true: `--root` opens this memory, so it is not imported.
        in_place: bool,
    },
}

/// Result of the import of one source.
#[derive(Serialize, JsonSchema)]
struct Imports {
    /// Format, as `--from` names it.
    format: Format,
    #[serde(flatten)]
    summary: Summary,
}

/// Imports files of another agent. Returns `None` if the folder holds our own entries.
pub(crate) fn run(args: &ImportArgs, global: &Global, output: &mut Output) -> Result<Option<Exit>, Failure> {
    match (args.format, &args.from) {
        (ImportFormat::Auto, None) => of_machine(args, global, output).map(Some),
        (ImportFormat::Auto, Some(from)) => match detected(from)? {
            Detected::Format(format) => {
                output.note(&format!("{} looks like {}", from.display(), format.as_str()));
                one(format, from, args, global, output).map(Some)
            }
            Detected::Markdown => Ok(None),
            Detected::ZkNotebook => Err(in_place(from, " --notebook")),
            _ => Err(in_place(from, "")),
        },
        (name, from) => {
            let Some(format) = converted(&name) else { return Ok(None) };
            let Some(from) = from else {
                let message = format!("--from {} needs the folder or the file to import", format.as_str());
                return Err(Failure::usage(message, "`--from auto` finds what is on this machine"));
            };
            one(format, from, args, global, output).map(Some)
        }
    }
}

/// Detects the format of a folder or a file.
pub(super) fn detected(from: &Path) -> Result<Detected, Failure> {
    let paths = if from.is_dir() {
        sources::listing(from)?
    } else {
        from.file_name().map(|name| name.to_string_lossy().into_owned()).into_iter().collect()
    };
    let names: Vec<&str> = paths.iter().map(String::as_str).collect();
    let detected = detect(&names).filter(|detected| match detected {
        // Any folder has Markdown, so the content decides.
        Detected::Format(Format::BasicMemory) => {
            sources::beginnings(from, &paths).any(|(path, text)| is_basic_memory(path, &text))
        }
        _ => true,
    });
    detected.ok_or_else(|| {
        let message = format!("`{}` has no known format", from.display());
        let is_instructions =
            |path: &&str| matches!(Path::new(path).file_name().and_then(|name| name.to_str()), Some("AGENTS.md"));
        let help = match names.iter().any(is_instructions) {
            true => "`agents-md sync` writes facts into AGENTS.md, and nothing reads it back; for memory, name the format with --from",
            false => "name the format with --from",
        };
        Failure::usage(message, help)
    })
}

fn in_place(from: &Path, options: &str) -> Failure {
    let message = format!("`{}` is opened in place, and not imported", from.display());
    Failure::usage(message, format!("run saddlebag with --root {}{options}", from.display()))
}

fn one(format: Format, from: &Path, args: &ImportArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let source = Source::open(from, Some(format))?;
    let (mut store, of_project) = store_for(from, format, global)?;
    let options = Options { dry_run: args.dry_run, trust: args.trust, of_project };
    let reply = take_in(format, &source, options, &mut store, output)?;
    if reply.entries.is_empty() && reply.rejected.is_empty() {
        let message =
            format!("{} in `{}` have no memory in the format {}", files(source.len()), from.display(), format.as_str());
        return Err(Failure::nothing(&message));
    }
    let summary = Summary::from_reply(reply);
    let exit = summary.exit();
    if output.is_json() {
        output.object(&Imported { dry_run: args.dry_run, source: Imports { format, summary } })?;
    } else {
        summary.print(args.dry_run, output)?;
        if summary.has_news() && !args.trust && !args.dry_run {
            crate::trust::note_pending(output)?;
        }
    }
    Ok(exit)
}

/// Opens the store for the memory in this place, and returns true if it goes into the project of the store.
fn store_for(from: &Path, format: Format, global: &Global) -> Result<(Store, bool), Failure> {
    let owner = match (format, global.scope) {
        (_, Some(Scope::All)) => Owner::All,
        (Format::ClaudeCode | Format::Gemini, _) => known::project_of(from, global),
        _ => Owner::All,
    };
    if owner == Owner::Project && format == Format::ClaudeCode {
        warn_of_another_project(from, global);
    }
    let Owner::Other(folder) = owner else { return Ok((Store::open(global)?, owner == Owner::Project)) };
    let mut disk = without_engine(global)?;
    let records = Projects::new(&mut disk).all().map_err(|error| Error::storage(None, &error))?;
    let recorded = records.iter().filter_map(recorded_folder);
    match recorded.into_iter().find(|recorded| known::names_of(recorded).contains(&folder)) {
        Some(folder) => Ok((Store::for_project(Project::Path(folder), global)?, true)),
        None => {
            let message = format!("`{}` is the memory of another project", from.display());
            let help = "name the folder of that project with --project, or import it for all projects with --scope all";
            Err(Failure::usage(message, help))
        }
    }
}

/// Says so if Claude Code's folder is that of another project, too.
fn warn_of_another_project(from: &Path, global: &Global) {
    if let Some(other) = known::other_project_of(from, global) {
        tell(&format!(
            "warning: sessions in this folder of Claude Code were in `{}`, whose name has the same signs: the memory may be of that project",
            other.display()
        ));
    }
}

/// Finds the memories on this machine, lists them, and imports them if the user agrees.
fn of_machine(args: &ImportArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let mut store = Store::open(global)?;
    let mut planned: Vec<(Known, Format, Source)> = Vec::new();
    let mut found: Vec<OfAgent> = Vec::new();
    let mut failures = false;
    for mut known in known::find(global) {
        known.is_of_project &= global.scope != Some(Scope::All);
        if known.is_of_project && matches!(known.kind, Kind::Files(Format::ClaudeCode)) {
            warn_of_another_project(&known.place, global);
        }
        let place = sources::place(&known.place);
        let format = match known.kind {
            Kind::Files(format) => format,
            Kind::InPlace => {
                tell(&format!("{}: {place}: opened in place with --root, and not imported", known.agent));
                found.push(OfAgent::InPlace { agent: known.agent, place, in_place: true });
                continue;
            }
        };
        let source = match Source::open(&known.place, Some(format)) {
            Ok(source) => source,
            Err(failure) => {
                tell(&format!("{}: {place}: {}", known.agent, failure.message));
                failures = true;
                continue;
            }
        };
        let options = Options { dry_run: true, trust: args.trust, of_project: known.is_of_project };
        let reply = take_in(format, &source, options, &mut store, output)?;
        let summary = Summary::from_reply(reply);
        tell(&format!("{}: {place}: {}, {}", known.agent, files(source.len()), summary.line()));
        let has_news = summary.has_news();
        found.push(OfAgent::Files { agent: known.agent, place, source: Imports { format, summary } });
        if has_news {
            planned.push((known, format, source));
        }
    }
    if found.is_empty() && !failures {
        return Err(Failure::nothing("no memory of another agent was found on this machine"));
    }
    let is_done = !args.dry_run && !planned.is_empty();
    if is_done {
        confirm(args, planned.len(), output)?;
        found.clear();
    }
    let mut exit = if failures { Exit::Failed } else { Exit::Done };
    let mut has_news = false;
    for (known, format, source) in planned.iter().filter(|_| is_done) {
        let options = Options { dry_run: false, trust: args.trust, of_project: known.is_of_project };
        let reply = take_in(*format, source, options, &mut store, output)?;
        let summary = Summary::from_reply(reply);
        if summary.exit() != Exit::Done {
            exit = summary.exit();
        }
        if !output.is_json() {
            output.line(&format!("{}:", known.agent))?;
            summary.print(false, output)?;
            has_news |= summary.has_news();
        }
        let (place, format) = (source.place.clone(), *format);
        found.push(OfAgent::Files { agent: known.agent, place, source: Imports { format, summary } });
    }
    if has_news && !args.trust {
        crate::trust::note_pending(output)?;
    }
    if output.is_json() {
        output.object(&OfMachine { dry_run: args.dry_run, sources: found })?;
    } else if !is_done {
        output.line(if args.dry_run { "Nothing was imported: this was a dry run" } else { "There is nothing new" })?;
    }
    Ok(exit)
}

/// Prints a line on standard error before anything is changed, because standard output gets the summary.
fn tell(line: &str) {
    output::tell(&single_line(line));
}

fn confirm(args: &ImportArgs, sources: usize, output: &mut Output) -> Result<(), Failure> {
    if args.yes {
        return Ok(());
    }
    let sources = if sources == 1 { "1 source".to_string() } else { format!("{sources} sources") };
    let help = "`--yes` imports them, `--dry-run` only lists them";
    output.confirm(&format!("Import {sources}?"), &format!("{sources} would be imported"), help, false)
}

/// How files are imported.
#[derive(Clone, Copy)]
struct Options {
    dry_run: bool,
    trust: bool,
    of_project: bool,
}

/// Imports all files, in parts that are within the limits.
fn take_in(
    format: Format,
    source: &Source,
    Options { dry_run, trust, of_project }: Options,
    store: &mut Store,
    output: &mut Output,
) -> Result<ImportFromReply, Failure> {
    let bar = progress(source.len() as u64);
    let mut done = ImportFromReply::default();
    source.each_part(|files, others| {
        let count = files.len() as u64;
        let place = source.place.clone();
        let earlier = done.entries.clone();
        let provenance = trust.then_some(Provenance::User);
        let request = ImportFrom { format, place, files, others, dry_run, earlier, of_project };
        let reply = store.call(Origin { provenance, ..Origin::default() }.with(request), output)?;
        bar.inc(count);
        done.entries.extend(reply.entries);
        done.rejected.extend(reply.rejected);
        Ok(())
    })?;
    bar.finish_and_clear();
    Ok(done)
}

/// Counts of an import, with its conflicts, kept entries and rejected parts.
#[derive(Default, Serialize, JsonSchema)]
struct Summary {
    /// Number of entries that were stored.
    upserted: usize,
    /// Number of new keys among them.
    stored: usize,
    /// Number of keys whose content changed.
    updated: usize,
    /// Number of entries that were already stored with the same content.
    unchanged: usize,
    /// Entries that are stored under another key, because their own key has other content here.
    conflicts: Vec<Conflict>,
    /// Entries that the import left unchanged.
    kept: Vec<Kept>,
    /// Parts of files that cannot be entries.
    rejected: Vec<RejectedPart>,
}

/// Entry that is stored under another key.
#[derive(Serialize, JsonSchema)]
struct Conflict {
    /// File that the entry comes from.
    path: String,
    /// Line of the entry in the file.
    line: u32,
    /// Key of the entry in the file.
    key: String,
    /// Key that the entry is stored under.
    stored_as: String,
}

/// Entry that the import left unchanged.
#[derive(Serialize, JsonSchema)]
struct Kept {
    /// Key of the entry.
    key: String,
    /// Reason why it was left unchanged.
    reason: String,
}

impl Summary {
    fn from_reply(reply: ImportFromReply) -> Self {
        let mut summary = Self { rejected: reply.rejected, ..Self::default() };
        for ExchangedEntry { path, line, key, state, .. } in reply.entries {
            match state {
                ExchangeState::Stored => summary.stored += 1,
                ExchangeState::Updated => summary.updated += 1,
                ExchangeState::Renamed(from) => {
                    summary.conflicts.push(Conflict { path, line, key: from, stored_as: key });
                }
                ExchangeState::Kept(reason) => summary.kept.push(Kept { key, reason }),
                ExchangeState::Rejected(reason) => summary.rejected.push(RejectedPart { path, line, reason }),
                _ => summary.unchanged += 1,
            }
        }
        summary.upserted = summary.stored + summary.updated;
        summary
    }

    fn exit(&self) -> Exit {
        if self.rejected.is_empty() { Exit::Done } else { Exit::Failed }
    }

    fn has_news(&self) -> bool {
        self.upserted + self.conflicts.len() > 0
    }

    fn line(&self) -> String {
        let (upserted, unchanged) = (self.upserted, self.unchanged);
        let (conflicts, kept) = (self.conflicts.len(), self.kept.len());
        let rejected = self.rejected.len();
        format!("{upserted} upserted, {unchanged} unchanged, {conflicts} conflicts, {kept} kept, {rejected} rejected")
    }

    fn print(&self, dry_run: bool, output: &mut Output) -> Result<(), Failure> {
        for Conflict { key, stored_as, .. } in &self.conflicts {
            let (key, stored) = (single_line(key), single_line(stored_as));
            output.line(&format!(
                "conflict: {key} has different content here; the imported content is stored as {stored}"
            ))?;
        }
        for Kept { key, reason } in &self.kept {
            output.line(&format!("kept {}: {}", single_line(key), single_line(reason)))?;
        }
        for RejectedPart { path, line, reason } in &self.rejected {
            output.line(&format!("rejected {}:{line}: {}", single_line(path), single_line(reason)))?;
        }
        let done = if dry_run { "Would import" } else { "Imported" };
        output.line(&format!("{done}: {}", self.line()))?;
        Ok(())
    }
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".into() } else { format!("{count} files") }
}
