//! The start of a conversation as one text: base prompt, AGENTS.md, ARCHITECTURE.md, memory.
//!
//! The order is zerostack's. The files are outside of the store, so the host passes their bytes. This module decides
//! which files are included, and how much of each.

use super::form::BlockForm;
use super::gather::{Gathered, gather};
use super::overflow::{self, MIN_SHARE_BYTES, Wanted, first_lines};
use super::section::PromptCall;
use super::types::{Context, ContextReply, LeftOut, LeftOutReason, Overflow, RULE};
use crate::journal::{MEMORY_PROMPT, whole_characters};
use crate::request::{Run, request};
use crate::search::TRUNCATED;
use crate::trust::{ForModel, estimate_tokens};
use saddlebag_collections::{order, prelude::*};
use saddlebag_markdown::FenceTracker;
use saddlebag_protocol::{Error, ErrorCode};

/// Default size limit of a preamble in bytes.
pub const DEFAULT_PREAMBLE_BYTES: u32 = 131_072;

/// Builds the start of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preamble {
    /// Files, in any order. Files of the same role keep their order.
    pub files: Vec<PreambleFile>,
    /// Block of memory. Its budget is a maximum; if not everything fits, it gets a share.
    pub memory: Context,
    /// If set, the text ends with the explanation of the memory tools for the model.
    pub memory_prompt: bool,
    /// Size limit of the whole text in bytes.
    pub max_bytes: u32,
}

request!(Preamble "preamble" => PreambleReply, Reads, |name| {
    Context::samples(name).into_iter().map(|memory| Self { memory, max_bytes: 9000, ..Self::default() }).collect()
});

/// A file from outside of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreambleFile {
    /// Role of the file.
    pub role: PreambleRole,
    /// Path of the file in the report.
    pub path: String,
    /// Bytes from the beginning of the file, not necessarily all; or the reason why it could not be read.
    pub content: Result<Vec<u8>, String>,
    /// Size of the whole file in bytes.
    pub size: u64,
}

/// Role of a file, in the order of the preamble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PreambleRole {
    /// Base prompt. It is included whole, or there is no preamble.
    BasePrompt,
    /// Instructions of a project for its agents: AGENTS.md.
    Instructions,
    /// Description of a project's structure: ARCHITECTURE.md. It is left out first.
    Architecture,
}

/// A preamble, and a report of what it leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PreambleReply {
    /// The text; empty if there is nothing to include.
    pub text: ForModel,
    /// Estimated number of tokens; 0 if the text is empty.
    pub tokens: u64,
    /// Parts, in order.
    pub parts: Vec<PreamblePart>,
    /// Report of what was left out: files first, then memory.
    pub left_out: Vec<LeftOut>,
}

/// A part of a preamble.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PreamblePart {
    /// Path of the file; `memory` for the block, `memory prompt` for the explanation of the memory tools.
    pub name: String,
    /// Size of the part in bytes.
    pub bytes: u64,
}

/// A part whose size depends on the room.
enum Flexible<'a> {
    File { file: &'a PreambleFile, text: ForModel },
    Memory { whole: ContextReply },
}

impl Run<PromptCall<'_>> for Preamble {
    async fn run(self, with: &PromptCall<'_>) -> Result<PreambleReply, Error> {
        preamble(with, self).await
    }
}

/// Reads memory and builds the preamble.
async fn preamble(with: &PromptCall<'_>, request: Preamble) -> Result<PreambleReply, Error> {
    let (bases, files) = sorted(&request.files);
    let mut fixed = Vec::new();
    for base in bases {
        let text = readable(base).map_err(|reason| {
            let message = format!("the base prompt {} cannot be used: {reason}", base.path);
            Error::invalid_argument(message, "give a file that can be read completely")
        })?;
        fixed.extend(Some((base.path.as_str(), closed(text.trim()))).filter(|(_, text)| !text.is_empty()));
    }
    let prompt = request.memory_prompt.then(|| MEMORY_PROMPT.trim_end());
    // A rule comes before every part except the first.
    let needed = |text: &str| text.len() + RULE.len();
    let needed_by_fixed = fixed.iter().map(|(_, text)| needed(text)).sum::<usize>() + prompt.map_or(0, needed);
    let budget = request.max_bytes as usize + RULE.len();
    let Some(room) = budget.checked_sub(needed_by_fixed) else {
        let message = format!(
            "the base prompt and its separators have {} bytes, the budget is {}",
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
            // In a checkout, others may have written these files.
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
    let base = |(name, text): (&str, String)| (name.to_string(), ForModel::from_host(text));
    let mut texts: Vec<(String, ForModel)> = fixed.into_iter().map(base).collect();
    for (part, share) in flexible.iter().zip(shares) {
        let room = share.saturating_sub(RULE.len());
        match part {
            Flexible::File { file, text } => {
                let (text, kept) = cut(file, text.as_str(), room);
                if kept < file.size {
                    left_out.extend(cut_report(file, text.len(), kept));
                }
                let text = ForModel::escaped(&text);
                let text = text.part(0..text.as_str().floor_char_boundary(room));
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
    let tokens = if text.is_empty() { 0 } else { estimate_tokens(text.as_str()) };
    Ok(PreambleReply { text, tokens, parts, left_out })
}

/// Returns the base prompts, and the other files in order.
fn sorted(files: &[PreambleFile]) -> (Vec<&PreambleFile>, Vec<&PreambleFile>) {
    let mut sorted: Vec<&PreambleFile> = files.iter().collect();
    order::sort_slice_by_key(&mut sorted, |file| file.role);
    sorted.into_iter().partition(|file| file.role == PreambleRole::BasePrompt)
}

/// Returns the report on a file without usable text.
fn unread(file: &PreambleFile) -> Option<LeftOut> {
    let read = file.content.as_ref().map_or(0, Vec::len) as u64;
    (read < file.size).then(|| part_left_out(file, LeftOutReason::TooLarge, 0, file.size))
}

/// Returns the text of a file without a byte order mark.
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

/// Builds the block within this many bytes, whatever its policy counts.
fn memory(gathered: &Gathered, form: BlockForm, overflow: Overflow, room: usize) -> ContextReply {
    if overflow == Overflow::Balanced {
        return gathered.block(form, overflow, room);
    }
    let around = form.start().len() + form.end().len() + TRUNCATED.len();
    let mut reply = gathered.block(form, overflow, room.saturating_sub(around));
    // Only the frame would fit, without any memory.
    if reply.block.as_ref().is_some_and(|block| block.len() > room) {
        reply.block = None;
        reply.tokens = 0;
    }
    reply
}

/// Returns the size of each part with the rule before it, in bytes; 0 if it is left out.
///
/// Small parts are whole, the others get equal shares. If a share would be too small to be useful, the last file is
/// left out first, and memory before the first file.
fn shares(parts: &[Flexible<'_>], room: usize) -> Vec<usize> {
    let wanted = |part: &Flexible<'_>| match part {
        Flexible::File { file, text } => Wanted {
            whole: closed(text.as_str()).len() + unread_marker(file, text.as_str()).len() + RULE.len(),
            least: marker(file, u64::MAX).len() + MIN_SHARE_BYTES + RULE.len(),
        },
        Flexible::Memory { whole } => Wanted {
            whole: whole.block.as_ref().map_or(0, |block| block.len()) + RULE.len(),
            least: 3 * MIN_SHARE_BYTES + RULE.len(),
        },
    };
    let importance = |part: &Flexible<'_>| match part {
        Flexible::File { file, .. } if file.role == PreambleRole::Architecture => 0,
        Flexible::Memory { .. } => 1,
        Flexible::File { .. } => 2,
    };
    let wanted: Vec<Wanted> = parts.iter().map(wanted).collect();
    let mut included = vec![true; parts.len()];
    loop {
        if let Some(shares) = overflow::shares(&wanted, &included, room) {
            return shares;
        }
        // Of equal parts, the last one given is left out.
        let left = parts.iter().zip(included.iter_mut()).enumerate().filter(|(_, (_, included))| **included);
        let goes = left.min_by_key(|(place, (part, _))| (importance(part), core::cmp::Reverse(*place)));
        if let Some((_, (_, included))) = goes {
            *included = false;
        }
    }
}

/// Cuts a file to the available room. Also returns the number of bytes kept.
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
    LeftOut { kept_bytes, ..LeftOut::whole(&*file.path, section, reason, left_out_bytes) }
}

/// Returns the line that replaces the part of a file that the host did not read.
fn unread_marker(file: &PreambleFile, text: &str) -> String {
    let read = file.content.as_ref().map_or(0, Vec::len) as u64;
    if read < file.size { marker(file, file.size.saturating_sub(text.len() as u64)) } else { String::new() }
}

fn marker(file: &PreambleFile, bytes: u64) -> String {
    format!("\n\n…[section truncated: {}, {bytes} bytes left out]", file.path)
}

/// Closes a code block that is open at the end of the text. Otherwise the next part would be code.
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
