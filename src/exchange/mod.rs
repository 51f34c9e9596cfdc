//! Memory that moves between agents: the formats of other agents, read into entries and written from them.
//!
//! Each format is a file of pure functions, over files that the host has read. What they read becomes
//! [`ForeignEntry`]s, which the entries take in one by one; what they could not read is a [`RejectedPart`].
//! What a format cannot carry is found by reading back what was written: each difference is a [`Loss`].
//!
//! [`ExchangeCommand`] is what can be done, [`detect`] tells which format a folder looks like.

mod basic_memory;
mod claude_code;
mod detect;
mod flat;
mod json;
mod mcp_memory;
mod only_in;
mod openclaw;
mod prepare;
mod snapshots;
#[cfg(test)]
mod tests;
mod text;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub use basic_memory::{Observation, Relation, parse as parse_basic_memory};
pub use detect::{Detected, detect};

use crate::engine::Call;
use crate::entries::{
    self, Adoption, Entries, EntryProblem, ExchangedEntry, ForeignEntry, MAX_IMPORT_BYTES, MAX_IMPORT_FILES,
    MAX_IMPORTED, hash,
};
use crate::order;
use crate::protocol::{Error, ErrorCode};
use crate::request::{Effect, Request, Run, family, scoped};
use crate::store::utc_text;
use crate::trust::Provenance;

/// How long the name of the place that files come from may be, in bytes.
pub const MAX_ORIGIN_BYTES: usize = 4_096;

/// A format of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// Our own: a JSON object a line with all fields of an entry.
    JsonLines,
    /// Claude Code's auto memory: a file a topic, and an index.
    ClaudeCode,
    /// OpenClaw's workspace: `MEMORY.md` and `memory/<date>.md`.
    OpenClaw,
    /// ZeroClaw's `MEMORY_SNAPSHOT.md`.
    ZeroClaw,
    /// NullClaw's `MEMORY_SNAPSHOT.json`.
    NullClaw,
    /// Hermes' `MEMORY.md` and `USER.md`.
    Hermes,
    /// basic-memory's notes.
    BasicMemory,
    /// `memory.jsonl` of the reference memory server of the Model Context Protocol.
    McpMemory,
    /// The section `Gemini Added Memories` of `GEMINI.md`, and the private memory of a project.
    Gemini,
    /// Letta's MemFS; only read.
    Letta,
    /// Codex's memories; only read.
    Codex,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::JsonLines,
        Self::ClaudeCode,
        Self::OpenClaw,
        Self::ZeroClaw,
        Self::NullClaw,
        Self::Hermes,
        Self::BasicMemory,
        Self::McpMemory,
        Self::Gemini,
        Self::Letta,
        Self::Codex,
    ];

    /// The name, as the source of an entry has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::JsonLines => "jsonl",
            Self::ClaudeCode => "claude-code",
            Self::OpenClaw => "openclaw",
            Self::ZeroClaw => "zeroclaw",
            Self::NullClaw => "nullclaw",
            Self::Hermes => "hermes",
            Self::BasicMemory => "basic-memory",
            Self::McpMemory => "mcp-memory",
            Self::Gemini => "gemini",
            Self::Letta => "letta",
            Self::Codex => "codex",
        }
    }

    /// Whether it can be written.
    #[must_use]
    pub fn is_written(self) -> bool {
        !matches!(self, Self::Letta | Self::Codex)
    }

    /// The one file that it is, where it is one.
    #[must_use]
    pub fn single_file(self) -> Option<&'static str> {
        match self {
            Self::JsonLines => Some("saddlebag.jsonl"),
            Self::ZeroClaw => Some("MEMORY_SNAPSHOT.md"),
            Self::NullClaw => Some("MEMORY_SNAPSHOT.json"),
            Self::McpMemory => Some("memory.jsonl"),
            Self::Gemini => Some("GEMINI.md"),
            _ => None,
        }
    }

    /// Whether a file of a folder, by its path there, has memory of this format. Others are passed over.
    #[must_use]
    pub fn wants(self, path: &str) -> bool {
        let name = text::base_name(path);
        let is_markdown = name.ends_with(".md");
        match self {
            Self::JsonLines => name.ends_with(".jsonl"),
            Self::ZeroClaw | Self::NullClaw | Self::McpMemory => Some(name) == self.single_file(),
            Self::Hermes => matches!(name, "MEMORY.md" | "USER.md"),
            Self::OpenClaw => {
                path.eq_ignore_ascii_case("MEMORY.md")
                    || (is_markdown && path.strip_prefix("memory/").is_some_and(|path| !path.contains('/')))
            }
            Self::Codex => matches!(path, "MEMORY.md" | "memory_summary.md"),
            Self::Letta => is_markdown && !path.starts_with("skills/"),
            Self::Gemini | Self::ClaudeCode | Self::BasicMemory => is_markdown,
        }
    }

    /// The format of a name.
    ///
    /// # Errors
    ///
    /// A name that no format has.
    pub fn parse(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|format| format.name()).collect();
            let message = format!("no format is called `{}`", name.escape_debug());
            Error::invalid_argument(message, format!("there are {}", names.join(", ")))
        })
    }
}

/// A command of the exchange with its scope. Whose entries they are is decided by the configuration; what is named here can
/// only confirm it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeCommand<R = ExchangeVerb> {
    /// The agent; `None` for that of the configuration.
    pub agent: Option<String>,
    /// The workspace; `None` for that of the configuration.
    pub workspace: Option<String>,
    /// [`ImportFrom`], [`ExportTo`], or either of them.
    pub verb: R,
}

/// Takes files of another format in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportFrom {
    /// What they are.
    pub format: Format,
    /// Where they are, as the sources of the entries are to say it; at most [`MAX_ORIGIN_BYTES`]. The same place
    /// needs the same name each time.
    pub origin: String,
    /// At most 1,024, with 4 MiB together.
    pub files: Vec<ForeignFile>,
    /// The paths of the files that other commands of this import have.
    pub others: Vec<String>,
    /// Only says what would come of it.
    pub dry_run: bool,
    /// What came of the files before these, at most 65,536.
    pub earlier: Vec<ExchangedEntry>,
    /// What the entries are marked as; `None` for [`Provenance::Import`]. With [`Provenance::User`] they are the
    /// person's own words, and what a dump says of its provenance is believed: for that the memory must be opened
    /// for a person.
    pub provenance: Option<Provenance>,
}

/// A file of another format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignFile {
    /// Its path below the place that the files come from.
    pub path: String,
    /// The number of its first line: greater than 1 where lines before it came with another command.
    pub first_line: u32,
    /// Its bytes, or why it could not be read.
    pub content: Result<Vec<u8>, String>,
}

/// What came of taking files in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportFromReply {
    /// What was found in them, in order.
    pub entries: Vec<ExchangedEntry>,
    /// What could not be read.
    pub rejected: Vec<RejectedPart>,
}

/// A part of a file that could not be read, or not whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedPart {
    /// The file, as it was given.
    pub path: String,
    /// The line, counted from 1.
    pub line: u32,
    /// Why.
    pub reason: String,
}

/// What to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportTo {
    /// The format.
    pub format: Format,
    /// Entries that are forgotten, too, where the format can say so.
    pub forgotten: bool,
    /// Entries that nobody has approved, too: in all formats but [`Format::JsonLines`], which says what they are, they
    /// would be taken for trusted text. Without it they are left out and named among the losses.
    pub unapproved: bool,
    /// The `next` of the page before.
    pub cursor: Option<String>,
}

/// A page of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportToReply {
    /// At most 1,024, with 4 MiB together. A large file is several parts on several pages.
    pub parts: Vec<FilePart>,
    /// Where the next page begins; `None` on the last.
    pub next: Option<String>,
    /// How many files there are on all pages.
    pub files: u32,
    /// How many bytes they have.
    pub bytes: u64,
    /// How many entries they are of.
    pub entries: u32,
    /// How many of these nobody has approved.
    pub unapproved: u32,
    /// What the format could not carry, and what was left out; on the first page.
    pub losses: Vec<Loss>,
    /// Files that are no entries, and are not exported; on the first page.
    pub problems: Vec<EntryProblem>,
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// The path of the file.
    pub path: String,
    /// Where in the file the part belongs, in bytes.
    pub offset: u64,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// A file as it is written: its path, and its text.
pub type WrittenFile = (String, String);

/// What a format could not carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The entry; `*` for all of them.
    pub key: String,
    /// The field, or `entry` where all of it is left out.
    pub field: String,
    /// Why.
    pub reason: String,
}

impl<R> ExchangeCommand<R> {
    /// A command in the scope of the configuration.
    #[must_use]
    pub fn new(verb: R) -> Self {
        Self { agent: None, workspace: None, verb }
    }

    /// The same scope for what `change` makes of the command.
    pub(crate) fn map<S>(self, change: impl FnOnce(R) -> S) -> ExchangeCommand<S> {
        ExchangeCommand { agent: self.agent, workspace: self.workspace, verb: change(self.verb) }
    }
}

/// A file that is text.
#[derive(Clone, Copy, Debug)]
struct TextFile<'a> {
    path: &'a str,
    first_line: u32,
    text: &'a str,
}

impl TextFile<'_> {
    /// Where something is in the file; all else of it is to be said.
    fn at(&self, line: u32) -> ForeignEntry {
        let line = self.first_line.saturating_add(line).saturating_sub(1);
        ForeignEntry { path: self.path.into(), line, ..ForeignEntry::default() }
    }
}

/// What a converter has read.
#[derive(Debug, Default)]
struct Converted {
    entries: Vec<ForeignEntry>,
    rejected: Vec<RejectedPart>,
}

impl Converted {
    fn reject(&mut self, file: &TextFile<'_>, line: u32, reason: String) {
        let ForeignEntry { path, line, .. } = file.at(line);
        self.rejected.push(RejectedPart { path, line, reason });
    }
}

/// What a converter has written.
#[derive(Debug, Default)]
struct Exported {
    files: Vec<(String, String)>,
    left_out: Vec<Loss>,
}

impl Exported {
    fn file(&mut self, path: String, text: String) {
        self.files.push((path, text));
    }

    fn leave_out(&mut self, entry: &ForeignEntry, reason: &str) {
        self.left_out.push(Loss { key: entry.key.clone(), field: "entry".into(), reason: reason.into() });
    }

    /// The core entries; the others are left out.
    fn core_of<'e>(&mut self, entries: &'e [ForeignEntry], reason: &str) -> Vec<&'e ForeignEntry> {
        let (core, others): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry.category == "core");
        others.into_iter().for_each(|entry| self.leave_out(entry, reason));
        core
    }
}

/// Reads files of a format. Pure: the same files give the same entries.
///
/// `others` are the paths of files that belong to them and are not given.
#[must_use]
pub fn read_files(format: Format, files: &[ForeignFile], others: &[String]) -> (Vec<ForeignEntry>, Vec<RejectedPart>) {
    let mut rejected = Vec::new();
    let mut texts = Vec::with_capacity(files.len());
    for ForeignFile { path, first_line, content } in files {
        let text = content.as_deref().map_err(Clone::clone).and_then(|bytes| {
            core::str::from_utf8(bytes)
                .map_err(|error| format!("it is not UTF-8 text: at byte {}", error.valid_up_to()))
        });
        match text {
            Ok(text) => texts.push(TextFile { path, first_line: (*first_line).max(1), text }),
            Err(reason) => rejected.push(RejectedPart { path: path.clone(), line: 1, reason }),
        }
    }
    let mut converted = convert(format, &texts, others);
    converted.rejected.splice(0..0, rejected);
    prepare::within_limits(converted)
}

fn convert(format: Format, files: &[TextFile<'_>], others: &[String]) -> Converted {
    match format {
        Format::JsonLines => json::import(files),
        Format::ClaudeCode => claude_code::import(files, others, &claude_code::CLAUDE_CODE),
        Format::OpenClaw => openclaw::import(files),
        Format::ZeroClaw => snapshots::import_zeroclaw(files),
        Format::NullClaw => snapshots::import_nullclaw(files),
        Format::Hermes => flat::import_hermes(files),
        Format::BasicMemory => basic_memory::import(files),
        Format::McpMemory => mcp_memory::import(files),
        Format::Gemini => flat::import_gemini(files, others),
        Format::Letta => only_in::import_letta(files),
        Format::Codex => only_in::import_codex(files),
    }
}

/// Writes entries in a format: the files by path, and what it could not carry. Pure; `now` is in nanoseconds
/// since 1970-01-01T00:00:00Z.
///
/// # Errors
///
/// A format that is only read.
pub fn write_files(format: Format, entries: &[ForeignEntry], now: u64) -> Result<(Vec<WrittenFile>, Vec<Loss>), Error> {
    let (entries, mut losses) = prepare::exportable(format, entries);
    let mut exported = match format {
        Format::JsonLines => json::export(&entries),
        Format::ClaudeCode => claude_code::export(&entries),
        Format::OpenClaw => openclaw::export(&entries),
        Format::ZeroClaw => snapshots::export_zeroclaw(&entries, &utc_text(now)),
        Format::NullClaw => snapshots::export_nullclaw(&entries),
        Format::Hermes => flat::export_hermes(&entries),
        Format::BasicMemory => basic_memory::export(&entries),
        Format::McpMemory => mcp_memory::export(&entries),
        Format::Gemini => flat::export_gemini(&entries),
        Format::Letta | Format::Codex => {
            let message = format!("{} is read and not written: its own program consolidates it", format.name());
            return Err(Error::invalid_argument(message, "export to another format, such as markdown"));
        }
    };
    order::sort_slice(&mut exported.files, |a, b| a.0.cmp(&b.0));
    losses.append(&mut exported.left_out);
    prepare::find_losses(format, &entries, &exported.files, &mut losses);
    Ok((exported.files, losses))
}

impl Request for ImportFrom {
    type Reply = ImportFromReply;
    const NAME: &'static str = "import-from";
    const EFFECT: Effect = Effect::Replaces;

    fn samples(name: &str) -> Vec<Self> {
        let content = Ok(format!("- **new**: text\n- **{name}**: another text\n").into_bytes());
        alloc::vec![Self {
            format: Format::OpenClaw,
            origin: "there".into(),
            files: alloc::vec![ForeignFile { path: "MEMORY.md".into(), first_line: 1, content }],
            others: Vec::new(),
            dry_run: false,
            earlier: Vec::new(),
            provenance: None,
        }]
    }
}

impl Request for ExportTo {
    type Reply = ExportToReply;
    const NAME: &'static str = "export-to";
    const EFFECT: Effect = Effect::Reads;

    fn samples(_: &str) -> Vec<Self> {
        let export = |format| Self { format, forgotten: false, unapproved: false, cursor: None };
        [Format::JsonLines, Format::ClaudeCode].map(export).to_vec()
    }
}

/// The parts of a memory that the commands of the exchange share, and the scope that one names.
pub(crate) struct ExchangeCall<'a> {
    call: &'a Call,
    entries: &'a Entries,
    agent: Option<&'a str>,
    workspace: Option<&'a str>,
}

family! {
    "exchange" in Exchange, run with ExchangeCall<'_>;
    /// What can be done in the exchange, whatever the scope.
    ExchangeVerb =>
    /// The reply of an [`ExchangeVerb`].
    ExchangeReply {
        ImportFrom,
        ExportTo,
    }
}

scoped! { ExchangeCommand of ExchangeVerb in Exchange }

/// Runs a command.
pub(crate) async fn run(call: &Call, entries: &Entries, command: ExchangeCommand) -> Result<ExchangeReply, Error> {
    let ExchangeCommand { agent, workspace, verb } = command;
    verb.run(&ExchangeCall { call, entries, agent: agent.as_deref(), workspace: workspace.as_deref() }).await
}

impl Run<ExchangeCall<'_>> for ImportFrom {
    async fn run(self, with: &ExchangeCall<'_>) -> Result<ImportFromReply, Error> {
        check_sizes(&self)?;
        let (found, rejected) = read_files(self.format, &self.files, &self.others);
        let adoption = Adoption {
            format: self.format.name(),
            origin: &self.origin,
            entries: found,
            earlier: &self.earlier,
            dry_run: self.dry_run,
            provenance: self.provenance,
        };
        let entries = entries::adopt(with.call, with.entries, with.agent, with.workspace, adoption).await?;
        Ok(ImportFromReply { entries, rejected })
    }
}

impl Run<ExchangeCall<'_>> for ExportTo {
    async fn run(self, with: &ExchangeCall<'_>) -> Result<ExportToReply, Error> {
        let Self { format, forgotten, unapproved, cursor } = self;
        let dumped = entries::dump(with.call, with.entries, with.agent, with.workspace, forgotten).await?;
        let (mut dumped, problems) = dumped;
        let mut left_out = Vec::new();
        if !unapproved && format != Format::JsonLines {
            left_out = leave_out_unapproved(&mut dumped);
        }
        let (files, mut losses) = write_files(format, &dumped, with.call.now.epoch_nanoseconds())?;
        losses.splice(0..0, left_out);
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let unapproved = dumped.iter().filter(|entry| entry.standing.unapproved().is_some()).count();
        let first = cursor.is_none();
        let page = page(&files, cursor.as_deref())?;
        let (losses, problems) = if first { (losses, problems) } else { (Vec::new(), Vec::new()) };
        let (entries, unapproved) = (count(dumped.len()), count(unapproved));
        Ok(ExportToReply { entries, unapproved, losses, problems, ..page })
    }
}

/// Takes out what nobody has approved, and says so of each: whoever reads the files would take it for trusted text.
fn leave_out_unapproved(entries: &mut Vec<ForeignEntry>) -> Vec<Loss> {
    let mut left_out = Vec::new();
    entries.retain(|entry| match entry.standing.unapproved() {
        None => true,
        Some(provenance) => {
            let reason = format!("nobody has approved it: its text is of `{provenance}`");
            left_out.push(Loss { key: entry.key.clone(), field: "entry".into(), reason });
            false
        }
    });
    left_out
}

/// The parts of the files from a cursor on. The cursor tells the files apart as well: what changes between two
/// pages would be half old and half new.
fn page(files: &[(String, String)], cursor: Option<&str>) -> Result<ExportToReply, Error> {
    let parts: Vec<&str> = files.iter().flat_map(|(path, text)| [path.as_str(), text.as_str()]).collect();
    let digest = hash(&parts, 8);
    let (mut place, mut offset) = match cursor {
        None => (0, 0),
        Some(cursor) => place_of(cursor, &digest)?,
    };
    let mut page = ExportToReply {
        files: u32::try_from(files.len()).unwrap_or(u32::MAX),
        bytes: files.iter().map(|(_, text)| text.len() as u64).sum(),
        ..ExportToReply::default()
    };
    let mut room = MAX_IMPORT_BYTES;
    while let Some((path, text)) = files.get(place).filter(|_| room > 0 && page.parts.len() < MAX_IMPORT_FILES) {
        let rest = text.as_bytes().get(offset..).unwrap_or_default();
        let part = rest.get(..room).unwrap_or(rest);
        page.parts.push(FilePart { path: path.clone(), offset: offset as u64, content: part.to_vec() });
        room -= part.len();
        (place, offset) = if part.len() == rest.len() { (place + 1, 0) } else { (place, offset + part.len()) };
    }
    page.next = (place < files.len()).then(|| format!("{digest}:{place}:{offset}"));
    Ok(page)
}

fn place_of(cursor: &str, digest: &str) -> Result<(usize, usize), Error> {
    let mut parts = cursor.split(':');
    let (of, place, offset) = (parts.next(), parts.next(), parts.next());
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<usize>().ok());
    let (Some(of), Some(place), Some(offset), None) = (of, number(place), number(offset), parts.next()) else {
        let message = format!("`{}` is no cursor", cursor.escape_debug());
        return Err(Error::invalid_argument(message, "give the `next` of the page before, or none"));
    };
    if of != digest {
        let message = "the entries have changed since the first page of this export";
        return Err(Error::new(ErrorCode::Contention, message, "begin the export again"));
    }
    Ok((place, offset))
}

fn check_sizes(request: &ImportFrom) -> Result<(), Error> {
    let bytes = request.files.iter().filter_map(|file| Some(file.content.as_ref().ok()?.len())).sum();
    for (what, given, limit) in [
        ("files of one command", request.files.len(), MAX_IMPORT_FILES),
        ("bytes of one command", bytes, MAX_IMPORT_BYTES),
        ("files of the import", request.others.len(), MAX_IMPORTED),
        ("entries of the import", request.earlier.len(), MAX_IMPORTED),
        ("bytes of the origin", request.origin.len(), MAX_ORIGIN_BYTES),
    ] {
        if given > limit {
            let message = format!("{given} {what}, the limit is {limit}: {} too many", given - limit);
            return Err(Error::new(ErrorCode::TooLarge, message, "import in parts; nothing was changed"));
        }
    }
    Ok(())
}
