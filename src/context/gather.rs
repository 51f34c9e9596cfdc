//! Reads the sections of the block.

use super::form::BlockForm;
use super::map::Map;
use super::overflow::block_in;
use super::section::{PromptCall, Section, SectionContent, SectionItem, SectionKind, TurnMemories};
use super::types::{Context, ContextEntries, ContextReply, LeftOut, LeftOutReason, Overflow};
use super::user_notes::user_notes;
use crate::changes::Call;
use crate::engine::{Loaded, load_all};
use crate::entries::{self, Entries, EntryInfo, Hydrate, HydrateReply};
use crate::journal::whole_characters;
use crate::request::Run;
use crate::search::{FolderScope, Skipped, is_markdown, list_markdown, skipped_names};
use crate::store::{Date, FACTS_FOLDER, RelPath};
use crate::trust::{Approved, ForModel, Provenance, titles};
use saddlebag_collections::{order, prelude::*};
use saddlebag_markdown::breaks_one_line;
use saddlebag_protocol::{Entry, EntryKind, Error, ErrorCode, FileContent, FsError, ReadOutcome};

/// Number of bytes at the start of a large file that are read for its frontmatter.
const HEAD_BYTES: u32 = 65_536;

/// Maximum size of long-term memory in zerostack, which leaves out larger files.
const MAX_LONG_TERM_BYTES: u32 = 131_072;

/// Maximum number of attempts to read start and end of a file that changes meanwhile.
const MAX_ATTEMPTS: u32 = 4;

/// Number of logs in the block.
const LOGS: usize = 2;

/// Sections of a block.
pub(super) struct Gathered {
    sections: Vec<Section>,
    /// Recalled notes, best first.
    recalled: Vec<SectionItem>,
    /// Files and entries that are in no section.
    left_out: Vec<LeftOut>,
    /// Time of the last change of what the map was made of, in nanoseconds since 1970-01-01T00:00:00Z.
    newest: u64,
}

impl Gathered {
    /// Makes the block. A passage that another section shows is not repeated among the recalled notes.
    pub(super) fn block(&self, form: BlockForm, overflow: Overflow, max_bytes: usize) -> ContextReply {
        if self.recalled.is_empty() {
            return self.reported(block_in(form, &self.sections, overflow, max_bytes));
        }
        let is_read = |item: &SectionItem| self.sections.iter().any(|section| section.has_file(&item.path));
        let mut is_repeated: Vec<bool> = self.recalled.iter().map(is_read).collect();
        loop {
            let items = self.recalled.iter().zip(&is_repeated).filter(|(_, is_repeated)| !**is_repeated);
            let items: Vec<SectionItem> = items.map(|(item, _)| item.clone()).collect();
            let content = SectionContent::Items(items);
            let recalled = Section { kind: SectionKind::Memories, path: RECALLED.into(), content };
            let sections: Vec<Section> = self.sections.iter().cloned().chain([recalled]).collect();
            let reply = block_in(form, &sections, overflow, max_bytes);
            // The budget may cut the passage off its section.
            let is_shown = |item: &SectionItem| is_shown(form, &reply, item);
            let is_still = self.recalled.iter().zip(&is_repeated).map(|(item, repeated)| *repeated && is_shown(item));
            let is_still: Vec<bool> = is_still.collect();
            if is_still == is_repeated {
                return self.reported(reply);
            }
            is_repeated = is_still;
        }
    }

    /// Adds what is in no section to the report of a block.
    fn reported(&self, mut reply: ContextReply) -> ContextReply {
        for out in &self.left_out {
            // What two sections cannot read is reported once.
            let is_known = out.section == titles::MAP && reply.left_out.iter().any(|known| known.path == out.path);
            reply.left_out.extend(Some(out).filter(|_| !is_known).cloned());
        }
        reply
    }
}

/// Returns true if the block has the text of an item, in lines of the same file.
fn is_shown(form: BlockForm, ContextReply { block, sources, .. }: &ContextReply, item: &SectionItem) -> bool {
    let lines: Vec<&str> = block.as_ref().map_or("", ForModel::as_str).split('\n').collect();
    let of_file = sources.iter().filter(|source| source.path == item.path).flat_map(|source| {
        let lines = lines.get((source.first_line as usize).saturating_sub(1)..source.last_line as usize);
        lines.unwrap_or_default().iter().copied()
    });
    let (wanted, _) = form.text(&item.text);
    words_of(form, of_file).contains(&words_of(form, wanted.as_str().split('\n')))
}

/// Returns the words of lines of a block.
fn words_of<'a>(form: BlockForm, lines: impl Iterator<Item = &'a str>) -> String {
    let mut words = String::from(" ");
    for word in lines.flat_map(|line| form.unmarked(line).split_whitespace()) {
        words.push_str(word);
        words.push(' ');
    }
    words
}

/// Source of the memories of a turn, as reports name it.
const RECALLED: &str = "recalled notes";

impl Run<PromptCall<'_>> for Context {
    async fn run(self, with: &PromptCall<'_>) -> Result<ContextReply, Error> {
        let Context { overflow, max_bytes, form, .. } = self;
        Ok(gather(with, self).await?.block(form, overflow, max_bytes as usize))
    }
}

/// Builds the block for the start of a session, with the note of an earlier one as a separate section. Also returns the time of
/// the last change of what its map was made of, in nanoseconds since 1970-01-01T00:00:00Z.
pub(crate) async fn session_block(
    with: &PromptCall<'_>,
    request: Context,
    hand_off: Option<Section>,
) -> Result<(ContextReply, u64), Error> {
    let Context { overflow, max_bytes, form, .. } = request;
    let mut gathered = gather(with, request).await?;
    gathered.sections.extend(hand_off);
    Ok((gathered.block(form, overflow, max_bytes as usize), gathered.newest))
}

/// Builds a block of the map alone.
pub(crate) async fn map_block(with: &PromptCall<'_>, form: BlockForm, max_bytes: u32) -> Result<ContextReply, Error> {
    let room = (max_bytes as usize).saturating_sub(form.start().len() + form.end().len());
    let MapSection { section, left_out, .. } = map(with, form, room, true).await?;
    let mut reply = block_in(form, section.as_slice(), Overflow::Balanced, max_bytes as usize);
    reply.left_out.extend(left_out);
    Ok(reply)
}

/// Section of the map.
#[derive(Default)]
struct MapSection {
    section: Option<Section>,
    left_out: Vec<LeftOut>,
    newest: u64,
}

/// Makes the section of the map, with the entries or without.
async fn map(with: &PromptCall<'_>, form: BlockForm, room: usize, with_entries: bool) -> Result<MapSection, Error> {
    let PromptCall { call, entries, .. } = *with;
    let max_bytes = room.min(call.scope.map_bytes as usize);
    if max_bytes == 0 {
        return Ok(MapSection::default());
    }
    let mut map = Map::load(call, Some(entries).filter(|_| with_entries)).await?;
    let (mut left_out, newest) = (core::mem::take(&mut map.left_out), map.newest);
    let has_names = map.has_names();
    let section = map.section(call, form, max_bytes).await;
    if has_names && section.is_none() {
        left_out.push(LeftOut::whole(FACTS_FOLDER, SectionKind::Map.title(), LeftOutReason::Budget, 0));
    }
    Ok(MapSection { section, left_out, newest })
}

/// Reads the sections.
pub(super) async fn gather(with: &PromptCall<'_>, request: Context) -> Result<Gathered, Error> {
    let PromptCall { call, entries, run, memories } = *with;
    let Context { overflow, max_bytes, turn, form, .. } = request;
    let memories = turn.map(memories);
    let layout = &call.scope.layout;
    let today = call.now.date();
    let mut files = vec![
        (SectionKind::LongTerm, layout.shared_long_term().clone()),
        (SectionKind::Scratchpad, layout.scratchpad().clone()),
    ];
    files.extend(layout.project_long_term().map(|path| (SectionKind::ProjectLongTerm, path.clone())));
    let mut sections = Vec::new();
    let mut not_dates = Vec::new();
    if overflow == Overflow::Prioritised {
        let (dates, others) = dated_logs(call).await?;
        not_dates = others;
        sections.extend(newest_logs(call, &dates, today).await);
    } else {
        let days = today.yesterday().into_iter().chain([today]);
        files.extend(days.map(|date| (SectionKind::Log { date, today: date == today }, layout.daily(date))));
    }
    sections.extend(read_sections(call, &files, overflow, max_bytes).await);
    let user_notes = user_notes(call).await?;
    sections.extend(user_notes.section);
    let not_hydrated = match request.entries {
        Some(request) => {
            let (section, left_out) = hydrated(call, entries, request, run).await?;
            sections.push(section);
            left_out
        }
        None => Vec::new(),
    };
    // The policies of zerostack have its sections alone.
    let MapSection { section, left_out: not_mapped, newest } = match overflow {
        Overflow::Balanced => map(with, form, max_bytes as usize / 2, request.entries.is_some()).await?,
        Overflow::Documented | Overflow::Prioritised => MapSection::default(),
    };
    sections.extend(section);
    let TurnMemories { items: recalled, unapproved } = memories.unwrap_or_default();
    let section = SectionKind::Memories.title();
    let mut left_out: Vec<LeftOut> = unapproved
        .into_iter()
        .map(|path| LeftOut::whole(path, section.as_str(), LeftOutReason::Unapproved, 0))
        .collect();
    left_out.extend(user_notes.left_out);
    left_out.extend(not_dates);
    left_out.extend(not_hydrated);
    left_out.extend(not_mapped);
    Ok(Gathered { sections, recalled, left_out, newest })
}

/// Hydrates the entries of the section, and reports those that are left out. If they cannot be read, the block is made
/// without them.
async fn hydrated(
    call: &Call,
    entries: &Entries,
    request: ContextEntries,
    run: Option<&str>,
) -> Result<(Section, Vec<LeftOut>), Error> {
    let ContextEntries { max_bytes, policy } = request;
    let request = Hydrate { max_bytes, policy };
    let section = |content| Section { kind: SectionKind::Entries, path: "entries".into(), content };
    match entries::hydrate(call, entries, request, run).await {
        Ok(HydrateReply { entries, explanations, problems, .. }) => {
            let unread =
                problems.into_iter().map(|problem| not_hydrated(problem.path, problem.key, problem.message, 0));
            let left_out = explanations.into_iter().filter_map(|entry| {
                let reason = entry.left_out?;
                Some(not_hydrated(entry.path, Some(entry.key), reason, entry.size))
            });
            let left_out = left_out.chain(unread).collect();
            let items = entries.into_iter().map(item).collect::<Result<_, Error>>()?;
            Ok((section(SectionContent::Items(items)), left_out))
        }
        Err(error) if error.code == ErrorCode::Storage => Ok((
            section(unusable(LeftOutReason::NotHydrated(entries::unavailable(error).for_model().into_message()), 0)),
            Vec::new(),
        )),
        Err(error) => Err(error),
    }
}

fn item(entry: EntryInfo) -> Result<SectionItem, Error> {
    let unapproved = |_| Error::internal(format!("entry `{}` is hydrated although it is unapproved", entry.key));
    let text = entry.text_for_prompt().map_err(unapproved)?;
    let heading = text.map(|_| format!("{} ({})", on_one_line(&entry.key), on_one_line(&entry.category)));
    Ok(SectionItem { path: entry.path, key: Some(entry.key), heading, text })
}

/// Returns a key unchanged, or quoted if it is not a single line. A key can be any text.
fn on_one_line(text: &str) -> String {
    if text.contains(breaks_one_line) { format!("{text:?}") } else { text.into() }
}

fn not_hydrated(path: String, key: Option<String>, reason: String, size: u64) -> LeftOut {
    LeftOut { key, ..LeftOut::whole(path, SectionKind::Entries.title(), LeftOutReason::NotHydrated(reason), size) }
}

/// Reads the files together. A file that does not exist has no section.
async fn read_sections(
    call: &Call,
    files: &[(SectionKind, RelPath)],
    overflow: Overflow,
    max_bytes: u32,
) -> Vec<Section> {
    let limit = call.scope.limits.max_file_bytes.min(max_bytes.saturating_mul(2).max(MAX_LONG_TERM_BYTES));
    let paths: Vec<&RelPath> = files.iter().map(|(_, path)| path).collect();
    let answers = load_all(&call.fs, &paths, limit).await;
    let mut sections = Vec::new();
    for ((kind, path), answer) in files.iter().zip(answers) {
        let content = match answer {
            Ok(Loaded::Absent) => None,
            Ok(Loaded::Whole { bytes, .. }) => Some(whole(bytes, *kind, overflow)),
            Ok(Loaded::TooLarge(size)) => Some(large(call, path, *kind, overflow, size, max_bytes).await),
            Err(error) => Some(unusable(LeftOutReason::Unreadable(error.to_string()), 0)),
        };
        sections.extend(content.map(|content| Section { kind: *kind, path: call.scope.display_path(path), content }));
    }
    sections
}

fn whole(bytes: Vec<u8>, kind: SectionKind, overflow: Overflow) -> SectionContent {
    let size = bytes.len() as u64;
    let too_large = size > u64::from(MAX_LONG_TERM_BYTES);
    if too_large && kind.is_long_term() && overflow != Overflow::Balanced {
        return unusable(LeftOutReason::TooLarge, size);
    }
    match String::from_utf8(bytes) {
        Ok(text) => judged(Approved::judge(text), 0, size),
        Err(_) => unusable(LeftOutReason::NotText, size),
    }
}

/// Reads a part of a file that is larger than the block. For logs and long-term memory the end is enough; in a
/// scratchpad an open item can be anywhere.
async fn large(
    call: &Call,
    path: &RelPath,
    kind: SectionKind,
    overflow: Overflow,
    size: u64,
    max_bytes: u32,
) -> SectionContent {
    let limit = call.scope.limits.max_file_bytes;
    let (offset, length) = match (overflow, kind) {
        (Overflow::Balanced, SectionKind::LongTerm | SectionKind::ProjectLongTerm | SectionKind::Log { .. }) => {
            let length = max_bytes.min(limit);
            (size.saturating_sub(u64::from(length)), length)
        }
        (_, SectionKind::LongTerm | SectionKind::ProjectLongTerm) => return unusable(LeftOutReason::TooLarge, size),
        _ if size > u64::from(limit) => return unusable(LeftOutReason::TooLarge, size),
        _ => (0, limit),
    };
    // The frontmatter at the start gives the provenance. Start and end must be of one version, because text that
    // replaces the file between the two reads would go into the prompt with the provenance of the other.
    let mut head = None;
    for _ in 0..MAX_ATTEMPTS {
        if offset > 0 {
            head = match call.fs.read(path, 0, HEAD_BYTES.min(limit)).await {
                Ok(ReadOutcome::Content(head)) => Some(head),
                Ok(_) => None,
                Err(error) => return unusable(LeftOutReason::Unreadable(error.to_string()), size),
            };
        }
        match call.fs.read(path, offset, length).await {
            Ok(ReadOutcome::Content(content)) => {
                let start = if offset > 0 { head.as_ref() } else { Some(&content) };
                if let Some(start) = start.filter(|start| start.version == content.version) {
                    return part(&start.bytes, &content, offset, size);
                }
            }
            Ok(ReadOutcome::Absent) => {
                return SectionContent::Text { text: Approved::default(), unread_bytes: 0 };
            }
            Err(error) => return unusable(LeftOutReason::Unreadable(error.to_string()), size),
        }
    }
    let message = format!("it changed {MAX_ATTEMPTS} times while it was read");
    unusable(LeftOutReason::Unreadable(message), size)
}

/// Returns the part of a file that was read from an offset on, if the start of the file permits it in a prompt.
fn part(start: &[u8], content: &FileContent, offset: u64, size: u64) -> SectionContent {
    let is_end = offset + content.bytes.len() as u64 >= content.size;
    match whole_characters(&content.bytes, is_end) {
        Some((skipped, text)) => judged(Approved::judge_part(start, text.into()), offset + skipped as u64, size),
        None => unusable(LeftOutReason::NotText, size),
    }
}

fn judged(text: Result<Approved, Provenance>, unread_bytes: u64, size: u64) -> SectionContent {
    match text {
        Ok(text) => SectionContent::Text { text, unread_bytes },
        Err(_) => unusable(LeftOutReason::Unapproved, size),
    }
}

fn unusable(reason: LeftOutReason, size: u64) -> SectionContent {
    SectionContent::Unusable { reason, size }
}

/// Returns the logs, newest first, and files that only look like logs.
async fn dated_logs(call: &Call) -> Result<(Vec<(Date, RelPath)>, Vec<LeftOut>), Error> {
    let folder = FolderScope { folder: Some(call.scope.layout.daily_folder().clone()), tree: false };
    let listed = list_markdown(&call.fs, vec![folder], &call.scope.limits).await?;
    let mut dates = Vec::new();
    let mut others: Vec<LeftOut> = Vec::new();
    for (folder, names) in &listed.left_out {
        let skipped = skipped_names(folder.as_ref(), names, &is_markdown, &|path| call.scope.display_path(path));
        others.extend(skipped.into_iter().map(|Skipped { path, reason, .. }| {
            LeftOut::whole(path, "Daily log", LeftOutReason::NotListed(reason), 0)
        }));
    }
    for Entry { path, kind, size, .. } in listed.entries {
        match Date::parse(path.file_stem()) {
            Some(date) if kind == EntryKind::File => dates.push((date, path)),
            Some(_) => {
                others.push(left_out(call, &path, LeftOutReason::Unreadable(FsError::NotRegular.to_string()), size))
            }
            None if is_date_shaped(path.file_stem()) => {
                others.push(left_out(call, &path, LeftOutReason::NotADate, size))
            }
            None => {}
        }
    }
    order::sort_slice(&mut dates, |a, b| b.cmp(a));
    Ok((dates, others))
}

fn left_out(call: &Call, path: &RelPath, reason: LeftOutReason, size: u64) -> LeftOut {
    LeftOut::whole(call.scope.display_path(path), format!("Daily log {}", path.file_stem()), reason, size)
}

fn is_date_shaped(stem: &str) -> bool {
    let shape = |(i, byte): (usize, u8)| if i == 4 || i == 7 { byte == b'-' } else { byte.is_ascii_digit() };
    stem.len() == 10 && stem.bytes().enumerate().all(shape)
}

/// Returns the newest logs that have text, and the newer ones that could not be read.
async fn newest_logs(call: &Call, dates: &[(Date, RelPath)], today: Date) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut found = 0;
    for candidates in dates.chunks(LOGS) {
        let files: Vec<(SectionKind, RelPath)> = candidates
            .iter()
            .map(|(date, path)| (SectionKind::Log { date: *date, today: *date == today }, path.clone()))
            .collect();
        for section in read_sections(call, &files, Overflow::Prioritised, 0).await {
            let has_text =
                matches!(&section.content, SectionContent::Text { text, .. } if !text.as_str().trim().is_empty());
            if found < LOGS && (has_text || matches!(section.content, SectionContent::Unusable { .. })) {
                found += usize::from(has_text);
                sections.push(section);
            }
        }
        if found == LOGS {
            break;
        }
    }
    sections
}
