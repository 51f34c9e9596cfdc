//! [`read_files`]: parses files of a format.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::format::Format;
use super::types::{Converted, ForeignFile, RejectedPart, TextFile};
use super::{basic_memory, claude_code, flat, json, mcp_memory, only_in, openclaw, prepare, snapshots};
use crate::entries::ForeignEntry;

/// Parses files of a format. Pure: the same files give the same entries.
///
/// `others` are paths of files that belong to the same memory but are not passed here.
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
