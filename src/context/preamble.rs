//! What a conversation begins with, as one text: base prompt, AGENTS.md, ARCHITECTURE.md, memory.
//!
//! The order is zerostack's. The host reads the files, which lie outside of the store, and hands their bytes over; which
//! of them are in, and how much of each, is decided here.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::form::BlockForm;
use super::gather::{Gathered, gather};
use super::overflow::first_lines;
use super::tokens::estimate_tokens;
use super::types::{Context, ContextReply, LeftOut, LeftOutReason, Overflow, PromptCall, RULE};
use crate::document::FenceTracker;
use crate::journal::{MEMORY_PROMPT, whole_characters};
use crate::order;
use crate::protocol::{Error, ErrorCode, FsError};
use crate::request::{Effect, Request, Run};
use crate::search::TRUNCATED;
use crate::trust::ForModel;

/// How large a preamble may be unless told otherwise, in bytes.
pub const DEFAULT_PREAMBLE_BYTES: u32 = 131_072;

/// The least of a file that is worth a part of its own, in bytes.
const MIN_PART_BYTES: usize = 48;

/// Makes the text that a conversation begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preamble {
    /// The files, in any order. Of one role, in the order given.
    pub files: Vec<PreambleFile>,
    /// The block of memory. Its budget is what it has at most; when not everything fits, it has a share.
    pub memory: Context,
    /// End with what a model is told about the tools of its memory.
    pub memory_prompt: bool,
    /// Of the whole text, in bytes.
    pub max_bytes: u32,
}

impl Request for Preamble {
    type Reply = PreambleReply;
    const NAME: &'static str = "preamble";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        Context::samples(name).into_iter().map(|memory| Self { memory, max_bytes: 9000, ..Self::default() }).collect()
    }
}

/// A file from outside of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreambleFile {
    /// What it is for.
    pub role: PreambleRole,
    /// What it is called in the report.
    pub path: String,
    /// Its bytes from the beginning, not necessarily all; or why it was not read.
    pub content: Result<Vec<u8>, FsError>,
    /// How many bytes it has.
    pub size: u64,
}

/// What a file is for, in the order of the preamble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PreambleRole {
    /// The base prompt: whole, or there is no preamble.
    BasePrompt,
    /// What a project tells its agents: AGENTS.md.
    Instructions,
    /// How a project is made: ARCHITECTURE.md. The first to be left out.
    Architecture,
}

/// A preamble, and what it does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PreambleReply {
    /// The text; empty where there is nothing to say.
    pub text: ForModel,
    /// About how many tokens it is; 0 if it is empty.
    pub tokens: u64,
    /// What is in it, in its order.
    pub parts: Vec<PreamblePart>,
    /// What was left out: of the files, then of memory.
    pub left_out: Vec<LeftOut>,
}

/// A part of a preamble.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PreamblePart {
    /// The path of the file; `memory` for the block, `memory prompt` for what a model is told about its tools.
    pub name: String,
    /// How many bytes of the preamble it is.
    pub bytes: u64,
}

/// A part that takes what room there is.
enum Flexible<'a> {
    File { file: &'a PreambleFile, text: ForModel },
    Memory { whole: ContextReply },
}

impl Run<PromptCall<'_>> for Preamble {
    async fn run(self, with: &PromptCall<'_>) -> Result<PreambleReply, Error> {
        preamble(with, self).await
    }
}

/// Reads memory and makes the preamble.
async fn preamble(with: &PromptCall<'_>, request: Preamble) -> Result<PreambleReply, Error> {
    let (bases, files) = sorted(&request.files);
    let mut fixed = Vec::new();
    for base in bases {
        let text = readable(base).map_err(|reason| {
            let message = format!("the base prompt {} cannot be used: {reason}", base.path);
            Error::invalid_argument(message, "give a text that can be read as a whole; nothing was made")
        })?;
        fixed.extend(Some((base.path.as_str(), closed(text.trim()))).filter(|(_, text)| !text.is_empty()));
    }
    let prompt = request.memory_prompt.then(|| MEMORY_PROMPT.trim_end());
    // A rule stands before every part but the first.
    let needed = |text: &str| text.len() + RULE.len();
    let needed_by_fixed = fixed.iter().map(|(_, text)| needed(text)).sum::<usize>() + prompt.map_or(0, needed);
    let budget = request.max_bytes as usize + RULE.len();
    let Some(room) = budget.checked_sub(needed_by_fixed) else {
        let message = format!(
            "the base prompt has {} bytes with what belongs to it, the budget is {}",
            needed_by_fixed - RULE.len(),
            request.max_bytes
        );
        return Err(Error::new(ErrorCode::TooLarge, message, "raise the budget, or shorten the base prompt"));
    };

    let mut left_out = Vec::new();
    let mut flexible = Vec::new();
    for file in files {
        match readable(file) {
            Ok(text) if text.trim().is_empty() => left_out.extend(unread(file)),
            // A checkout has these files from others.
            Ok(text) => flexible.push(Flexible::File { file, text: ForModel::escaped(text.trim()) }),
            Err(reason) => left_out.push(part_left_out(file, reason, 0, file.size)),
        }
    }
    let Context { form, overflow, max_bytes, .. } = request.memory;
    let gathered = gather(with, request.memory).await?;
    let block = |room: usize| memory(&gathered, form, overflow, room.min(max_bytes as usize));
    let whole = block(room.saturating_sub(RULE.len()));
    let has_memory = whole.block.is_some();
    let whole_left_out = whole.left_out.clone();
    if has_memory {
        flexible.push(Flexible::Memory { whole });
    }

    let shares = shares(&flexible, room);
    let mut memory_left_out = if has_memory { Vec::new() } else { whole_left_out };
    let base = |(name, text): (&str, String)| (name.to_string(), ForModel::of_host(text));
    let mut texts: Vec<(String, ForModel)> = fixed.into_iter().map(base).collect();
    for (part, share) in flexible.iter().zip(shares) {
        let room = share.saturating_sub(RULE.len());
        match part {
            Flexible::File { file, text } => {
                let (text, kept) = cut(file, text, room);
                if kept < file.size {
                    left_out.extend(cut_report(file, text.len(), kept));
                }
                let text = ForModel::escaped(&text);
                let text = text.part(0..text.floor_char_boundary(room));
                texts.extend(Some((file.path.clone(), text)).filter(|(_, text)| !text.is_empty()));
            }
            Flexible::Memory { whole } => {
                let fits = whole.block.as_ref().is_some_and(|block| block.len() <= room);
                let reply = if fits { whole.clone() } else { block(room) };
                memory_left_out = reply.left_out;
                texts.extend(reply.block.map(|block| ("memory".to_string(), block)));
            }
        }
    }
    texts.extend(prompt.map(|prompt| ("memory prompt".to_string(), ForModel::ours(prompt))));
    left_out.extend(memory_left_out);
    let parts =
        texts.iter().map(|(name, text)| PreamblePart { name: name.clone(), bytes: text.len() as u64 }).collect();
    let mut text = ForModel::default();
    for (number, (_, part)) in texts.iter().enumerate() {
        if number > 0 {
            text.push_ours(RULE);
        }
        text.push(part);
    }
    let tokens = if text.is_empty() { 0 } else { estimate_tokens(&text) };
    Ok(PreambleReply { text, tokens, parts, left_out })
}

/// The base prompts, and the other files in their order.
fn sorted(files: &[PreambleFile]) -> (Vec<&PreambleFile>, Vec<&PreambleFile>) {
    let mut sorted: Vec<&PreambleFile> = files.iter().collect();
    order::sort_slice_by_key(&mut sorted, |file| file.role);
    sorted.into_iter().partition(|file| file.role == PreambleRole::BasePrompt)
}

/// The report on a file of which nothing that was read says anything.
fn unread(file: &PreambleFile) -> Option<LeftOut> {
    let read = file.content.as_ref().map_or(0, Vec::len) as u64;
    (read < file.size).then(|| part_left_out(file, LeftOutReason::TooLarge, 0, file.size))
}

/// The text that was read of a file, without a byte order mark.
fn readable(file: &PreambleFile) -> Result<&str, LeftOutReason> {
    let bytes = file.content.as_ref().map_err(|error| LeftOutReason::Unreadable(error.clone()))?;
    let is_whole = bytes.len() as u64 >= file.size;
    if file.role == PreambleRole::BasePrompt && !is_whole {
        return Err(LeftOutReason::TooLarge);
    }
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    match whole_characters(bytes, is_whole) {
        Some((0, text)) => Ok(text),
        _ => Err(LeftOutReason::NotText),
    }
}

/// The block in so many bytes, whatever its policy counts.
fn memory(gathered: &Gathered, form: BlockForm, overflow: Overflow, room: usize) -> ContextReply {
    if overflow == Overflow::Balanced {
        return gathered.block(form, overflow, room);
    }
    let around = form.start().len() + form.end().len() + TRUNCATED.len();
    let mut reply = gathered.block(form, overflow, room.saturating_sub(around));
    // Nothing of memory fits: what is left is a frame.
    if reply.block.as_ref().is_some_and(|block| block.len() > room) {
        reply.block = None;
        reply.tokens = 0;
    }
    reply
}

/// How many bytes each part may have with the rule before it; 0 for one that is left out.
///
/// Small parts are in whole, the others have the same. Where a share would be too small to be of use, the last file goes,
/// and memory before the first of them.
fn shares(parts: &[Flexible<'_>], room: usize) -> Vec<usize> {
    let needed = |part: &Flexible<'_>| match part {
        Flexible::File { file, text } => closed(text).len() + unread_marker(file, text).len() + RULE.len(),
        Flexible::Memory { whole } => whole.block.as_ref().map_or(0, |block| block.len()) + RULE.len(),
    };
    let least = |part: &Flexible<'_>| match part {
        Flexible::File { file, .. } => marker(file, u64::MAX).len() + MIN_PART_BYTES + RULE.len(),
        Flexible::Memory { .. } => 3 * MIN_PART_BYTES + RULE.len(),
    };
    let importance = |part: &Flexible<'_>| match part {
        Flexible::File { file, .. } if file.role == PreambleRole::Architecture => 0,
        Flexible::Memory { .. } => 1,
        Flexible::File { .. } => 2,
    };
    let mut by_size: Vec<(usize, &Flexible<'_>, usize)> =
        parts.iter().enumerate().map(|(place, part)| (place, part, needed(part))).collect();
    order::sort_slice_by_key(&mut by_size, |&(_, _, needed)| needed);
    loop {
        let mut shares = alloc::vec![0; parts.len()];
        let mut rest = room;
        let mut is_useful = true;
        for (taken, &(place, part, needed)) in by_size.iter().enumerate() {
            let share = needed.min(rest / (by_size.len() - taken));
            is_useful &= share == needed || share >= least(part);
            if let Some(place) = shares.get_mut(place) {
                *place = share;
            }
            rest -= share;
        }
        if is_useful {
            return shares;
        }
        // Of equals the last one given.
        let goes = by_size.iter().min_by_key(|(place, part, _)| (importance(part), core::cmp::Reverse(*place)));
        let goes = goes.map(|&(place, ..)| place);
        by_size.retain(|&(place, ..)| Some(place) != goes);
    }
}

/// As much of a file as there is room for, and how many bytes of it that is.
fn cut(file: &PreambleFile, text: &str, room: usize) -> (String, u64) {
    let read = file.content.as_ref().map_or(0, Vec::len) as u64;
    let whole = closed(text) + &unread_marker(file, text);
    if whole.len() <= room {
        return (whole, if read < file.size { text.len() as u64 } else { file.size });
    }
    let mut limit = room;
    while limit > 0 {
        let kept = first_lines(text, limit).trim_end();
        let cut = closed(kept) + &marker(file, file.size.saturating_sub(kept.len() as u64));
        if cut.len() <= room {
            return if kept.is_empty() { (String::new(), 0) } else { (cut, kept.len() as u64) };
        }
        limit = limit.min(kept.len()).saturating_sub(cut.len() - room);
    }
    (String::new(), 0)
}

fn cut_report(file: &PreambleFile, bytes: usize, kept: u64) -> Option<LeftOut> {
    let kept = if bytes == 0 { 0 } else { kept };
    let left_out = file.size.saturating_sub(kept);
    (left_out > 0).then(|| part_left_out(file, LeftOutReason::Budget, kept, left_out))
}

fn part_left_out(file: &PreambleFile, reason: LeftOutReason, kept_bytes: u64, left_out_bytes: u64) -> LeftOut {
    let section = match file.role {
        PreambleRole::BasePrompt => "base prompt",
        PreambleRole::Instructions => "instructions",
        PreambleRole::Architecture => "architecture",
    };
    LeftOut { path: file.path.clone(), key: None, section: section.into(), reason, kept_bytes, left_out_bytes }
}

/// The line that stands for what the host has not read of a file.
fn unread_marker(file: &PreambleFile, text: &str) -> String {
    let read = file.content.as_ref().map_or(0, Vec::len) as u64;
    if read < file.size { marker(file, file.size.saturating_sub(text.len() as u64)) } else { String::new() }
}

fn marker(file: &PreambleFile, bytes: u64) -> String {
    format!("\n\n…[section truncated: {}, {bytes} bytes left out]", file.path)
}

/// The text with the code block closed that is open at its end, as what follows would be code.
fn closed(text: &str) -> String {
    let mut fences = FenceTracker::default();
    for line in text.lines() {
        fences.is_code(line);
    }
    match fences.closing() {
        Some(fence) => format!("{text}\n{fence}"),
        None => text.into(),
    }
}
