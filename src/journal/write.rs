//! Adding text to a file, or replacing its text: the journal's part of `write`.

use super::dedup::{Novelty, novelty};
use super::read::file_size;
use super::target::Target;
use super::types::{JOURNAL, MAX_WRITE_BYTES, WriteMode, WriteReply};
use crate::changes::{Backups, Call, Texts};
use crate::request::request;
use crate::store::RelPath;
use crate::trust::{ForModel, Provenance};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{head, underlines};
use saddlebag_protocol::{Error, ErrorCode};

/// Writes text to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteFile {
    /// File to write. A daily log is always today's.
    pub target: Target,
    /// If the text is added, or replaces the existing text.
    pub mode: WriteMode,
    /// The text, at most [`MAX_WRITE_BYTES`].
    pub content: String,
    /// If set, cuts longer text at the limit instead of refusing it. The reply reports the cut.
    pub truncate: bool,
}

request!(WriteFile "write" => WriteReply, Replaces, |name| {
    let write = |target: &Target, mode| Self {
        target: target.clone(),
        mode,
        content: "- a new line".into(),
        truncate: false,
    };
    let today = |target| if matches!(target, Target::Daily(_)) { Target::Daily(None) } else { target };
    let modes = |target| [write(&target, WriteMode::Append), write(&target, WriteMode::Overwrite)];
    Target::samples(name).into_iter().map(today).flat_map(modes).collect()
});

/// Writes text to a file.
pub(crate) async fn write_file(call: &Call, mut request: WriteFile) -> Result<WriteReply, Error> {
    request.screen(&call.screen)?;
    call.screen.needs_trust(JOURNAL)?;
    let mut reply =
        write(call, &request.target, request.mode, &request.content, request.truncate, Backups::Keep).await?;
    call.screen.tell(&mut reply.message);
    Ok(reply)
}

/// Writes `content` to a target.
///
/// Content over [`MAX_WRITE_BYTES`] is refused, or cut there at a character boundary; the reply reports the cut. A
/// daily log is always today's. An overwrite keeps the replaced text.
pub(super) async fn write(
    call: &Call,
    target: &Target,
    mode: WriteMode,
    content: &str,
    truncate: bool,
    backups: Backups<'_>,
) -> Result<WriteReply, Error> {
    if let Target::Daily(Some(date)) = target {
        let message = format!("write takes no date, but got `{}`: a log entry is today's", date.escape_debug());
        return Err(Error::invalid_argument(message, "leave the date out, or use edit to change an older log"));
    }
    let path = target.written_path(call)?;
    let text = head(content, MAX_WRITE_BYTES);
    if text.len() < content.len() && !truncate {
        let message = format!("the text has {} bytes, the limit is {MAX_WRITE_BYTES}", content.len());
        let help = "write it in parts, or set `truncate` (`--truncate`) to keep its beginning";
        return Err(Error::new(ErrorCode::TooLarge, message, help));
    }
    let mut written = Written { bytes: text.len(), skipped_lines: 0, nothing_new: false, backup: None };
    match mode {
        WriteMode::Overwrite => {
            let (_, kept) = call.update(&path, backups, |file| Ok((Some(call.screen.write(file, text)?), ()))).await?;
            written.backup = kept.file().map(|backup| call.scope.display_path(&backup));
        }
        WriteMode::Append if call.scope.layout.is_long_term(&path) => {
            written = append_new_lines(call, &path, text).await?;
        }
        WriteMode::Append => append_text(call, &path, text).await?,
    }
    let truncated_from = (text.len() < content.len()).then_some(content.len() as u64);
    Ok(written.reply(&call.scope.display_path(&path), truncated_from))
}

/// Result of a write.
struct Written {
    bytes: usize,
    skipped_lines: u32,
    nothing_new: bool,
    backup: Option<String>,
}

impl Written {
    /// Builds the reply. The message has the words of zerostack v1.7.2.
    fn reply(self, path: &str, truncated_from: Option<u64>) -> WriteReply {
        let skipped = self.skipped_lines;
        let mut message = if self.nothing_new {
            format!("Nothing written to {path}: all {skipped} line(s) were duplicates")
        } else {
            format!("Wrote {} bytes to {path}", self.bytes)
        };
        if skipped > 0 && !self.nothing_new {
            message.push_str(&format!(" (skipped {skipped} duplicate line(s))"));
        }
        if let Some(original) = truncated_from {
            message.push_str(&format!(" (truncated from {original} bytes to {MAX_WRITE_BYTES} byte cap)"));
        }
        WriteReply {
            path: path.to_string(),
            bytes: self.bytes as u64,
            skipped_lines: skipped,
            truncated_from,
            backup: self.backup,
            message: ForModel::escaped(&message),
        }
    }
}

/// Appends on a separate line. The file ends in a newline afterwards.
async fn append_text(call: &Call, path: &RelPath, text: &str) -> Result<(), Error> {
    if !text.is_empty() && takes_approval_away(call, path).await? {
        // An append cannot change the frontmatter.
        let appended = call.update(path, Backups::Off, |file| {
            let before = file.text()?.unwrap_or_default();
            let added = ended_line(text.to_string(), before);
            let newline = match before.is_empty() || before.ends_with('\n') {
                true if !underlines(before, text) => "",
                false if underlines(before, text) => "\n\n",
                _ => "\n",
            };
            Ok((Some(call.edit(file, format!("{before}{newline}{added}"))?), ()))
        });
        return appended.await.map(|_| ());
    }
    let mut line = text.to_string();
    if text.is_empty() {
        // Appending an empty text still ends the last line, and gives a new file an empty line.
        let has_text = file_size(call, path).await?.is_some_and(|size| size > 0);
        line = if has_text { String::new() } else { "\n".to_string() };
    } else if !text.ends_with('\n') {
        line.push('\n');
    }
    // Only text that may be an underline needs what is before it.
    if underlines("text", text) && call.load_text(path).await?.is_some_and(|before| underlines(&before, text)) {
        line.insert(0, '\n');
    }
    call.apply(&call.screen.add(path, line)?).await.map(|_| ())
}

/// Returns true if more text in a file takes its approval away. Text of a person never does, so nothing is read for it.
async fn takes_approval_away(call: &Call, path: &RelPath) -> Result<bool, Error> {
    if call.scope.trust.provenance == Provenance::User {
        return Ok(false);
    }
    match call.load(path).await {
        // Text that cannot be read whole is in no prompt.
        Err(error) if error.code == ErrorCode::TooLarge => Ok(false),
        file => Ok(call.screen.takes_approval_away(&file?)),
    }
}

/// Appends the lines that long-term memory does not have yet.
async fn append_new_lines(call: &Call, path: &RelPath, text: &str) -> Result<Written, Error> {
    let appended = call.update(path, Backups::Off, |file| {
        // Bytes that are not text cannot equal a line of text, so lossy conversion is safe here.
        let before = String::from_utf8_lossy(file.bytes().unwrap_or_default());
        let (content, skipped_lines) = match novelty(&before, text) {
            Novelty::Nothing { skipped } => (None, skipped),
            Novelty::New { content, skipped } => (Some(content), skipped),
        };
        let written = Written {
            bytes: content.as_ref().map_or(0, String::len),
            skipped_lines,
            nothing_new: content.is_none(),
            backup: None,
        };
        let apart = |content: String| if underlines(&before, &content) { format!("\n{content}") } else { content };
        let added = content.map(|content| call.screen.add_to(file, ended_line(apart(content), &before)));
        Ok((added.transpose()?, written))
    });
    Ok(appended.await?.0)
}

/// Returns the content, with a newline before it if the last line of the file has none.
fn ended_line(mut content: String, before: &str) -> String {
    let adds_nothing = content.is_empty() && !before.is_empty();
    if !content.ends_with('\n') && !adds_nothing {
        content.push('\n');
    }
    content
}
