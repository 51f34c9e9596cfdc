//! `record-tool-use`: records that a tool has run, and keeps its error.

use saddlebag_log::Record;

use super::known_errors::known_words;
use super::note::MAX_COMMAND_CHARS;
use super::run_end::RunEnd;
use super::screened::{Excluded, Screening, first_chars, is_name_of_file, shown_path};
use super::shell::on_one_line;
use super::state::{Event, Line, Recorded, State, record};
use super::types::{SessionCall, SessionName, StoredItem};
use crate::changes::Texts;
use crate::notebook::{ErrorReply, NotebookCall, RememberError, remember_error_of};
use crate::request::{Run, request};
use crate::store::{HistoryFolder, is_below_entries};
use crate::trust::{head_without_divided_secret, without_private};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::one_line;
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum number of files of one use.
const MAX_FILES: usize = 32;
/// Maximum size of the name of a tool in bytes.
const MAX_TOOL_BYTES: usize = 60;

/// Records that a tool has run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordToolUse {
    /// Name of the session.
    pub session: String,
    /// Name of the tool.
    pub tool: String,
    /// Paths of the files that the tool has used, which exist. Their content is never read. A path of more than
    /// 120 bytes or with more than three spaces is not recorded.
    pub files: Vec<String>,
    /// Command that the tool has run. The first line is recorded, at most 200 characters.
    pub command: Option<String>,
    /// If set, the tool has failed.
    pub failed: bool,
    /// Text that the tool printed. If it has failed, the text is kept as by [`RememberError`]. Otherwise it only says if tests whose
    /// exit code the command hides have passed.
    pub output: Option<String>,
    /// Text that the tool has stored in memory.
    pub stored: Option<StoredItem>,
    /// Globs of paths that are not recorded.
    pub exclude: Vec<String>,
}

/// Result of recording the use of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordToolUseReply {
    /// True if the use was recorded.
    pub recorded: bool,
    /// Path of the note about the error.
    pub error_note: Option<String>,
    /// Parts that were not recorded, with the reasons.
    pub unrecorded: Vec<String>,
}

request!(RecordToolUse "record-tool-use" => RecordToolUseReply, Replaces, |name| {
    let failed = Self {
        session: name.into(),
        tool: "bash".into(),
        command: Some("cargo test".into()),
        failed: true,
        output: Some("error: it failed".into()),
        ..Self::default()
    };
    let edited = Self {
        session: name.into(),
        tool: "edit".into(),
        files: vec![name.into()],
        stored: Some(StoredItem::Entry(name.into())),
        ..Self::default()
    };
    vec![failed, edited]
});

impl Run<SessionCall<'_>> for RecordToolUse {
    async fn run(self, with: &SessionCall<'_>) -> Result<RecordToolUseReply, Error> {
        let call = with.call;
        let session = SessionName::new(self.session)?;
        let excluded = Excluded::from_globs(&self.exclude)?;
        let mut screening = Screening::new(call).await?;
        let mut line = Line::new(call, Event::Tool);
        let output = self.output.as_deref().map(without_private);
        line.end = RunEnd::of(self.command.as_deref().unwrap_or_default(), self.failed, output.as_deref());
        let tool = one_line(head_without_divided_secret(&self.tool, MAX_TOOL_BYTES));
        line.tool = screening.text("tool", tool)?.filter(|tool| !tool.is_empty());
        let mut is_excluded = false;
        for file in &self.files {
            if excluded.has(file) {
                is_excluded = true;
                screening.leave_out("an excluded path");
                continue;
            }
            let shown = shown_path(file);
            if shown.is_empty() || line.files.contains(&shown) {
                continue;
            }
            if !is_name_of_file(&shown) {
                screening.leave_out("a path that is longer than names of files are, or has more spaces");
            } else if line.files.len() >= MAX_FILES {
                screening.leave_out(format!("files after the first {MAX_FILES}"));
            } else if let Some(file) = screening.text("path", shown)? {
                line.files.push(file);
            }
        }
        let mut kept = |what: &str, text: Option<String>| {
            let Some(text) = text else { return Ok(None) };
            let text = without_private(&text);
            if excluded.is_named_in(&text) {
                is_excluded = true;
                screening.leave_out(format!("a {what} with an excluded path"));
                return Ok(None);
            }
            let first = text.lines().map(one_line).find(|line| !line.is_empty()).unwrap_or_default();
            let text = screening.text(what, first_chars(&first, MAX_COMMAND_CHARS).to_string())?;
            Ok::<_, Error>(text.filter(|text| !text.is_empty()))
        };
        line.command = kept("command", self.command.map(|command| on_one_line(&command)))?;
        line.kept = match self.stored {
            Some(StoredItem::Entry(key)) => Some(kept("key", Some(key))?.map_or(StoredItem::Other, StoredItem::Entry)),
            Some(StoredItem::Note(name)) => Some(kept("name", Some(name))?.map_or(StoredItem::Other, StoredItem::Note)),
            other => other,
        };
        let error = output.as_deref().filter(|_| line.has_failed() && line.command.is_some()).map(known_words);
        line.error = error.filter(|error| !error.is_empty());
        let has_effect = line.has_failed() || !line.files.is_empty() || line.command.is_some() || line.kept.is_some();
        if !has_effect {
            // One line is enough to know that there was work in this turn.
            if State::load(call, &session).await?.has_worked() {
                return Ok(RecordToolUseReply { recorded: true, unrecorded: screening.unrecorded, error_note: None });
            }
            line = Line::new(call, Event::Read);
        }
        let (tool, command, failed) = (line.tool.clone(), line.command.clone(), line.has_failed());
        if let Some(item) = line.kept.as_ref().filter(|_| !failed) {
            tie(with, &self.tool, item).await?;
        }
        let recorded = record(call, &session, line).await?;
        match recorded {
            Recorded::Whole => {}
            Recorded::WithoutTexts => screening.leave_out("texts that contain a secret when they are joined"),
            Recorded::Full => screening.leave_out("the use of the tool: the state of the session is full"),
        }
        let mut error_note = None;
        if let (true, Some(tool), Some(_)) = (failed, tool, &self.output) {
            let error = output.unwrap_or_default().into_owned();
            if is_excluded || excluded.is_named_in(&error) {
                screening.leave_out("the error of a tool that used an excluded path");
            } else {
                error_note =
                    keep_error(with, &mut screening, RememberError { tool, error }, command.as_deref()).await?;
            }
        }
        let recorded = recorded != Recorded::Full;
        Ok(RecordToolUseReply { recorded, error_note, unrecorded: screening.unrecorded })
    }
}

/// Records that this session made the change of one of our own tools, which another program has recorded for its own session.
async fn tie(with: &SessionCall<'_>, tool: &str, item: &StoredItem) -> Result<(), Error> {
    let call = with.call;
    // A client puts the name of the server before that of the tool.
    let start = ["mem_", "memory_", "notebook_"].iter().filter_map(|start| tool.rfind(start)).max();
    let Some(tool) = start.and_then(|start| tool.get(start..)) else { return Ok(()) };
    let is_entry = matches!(item, StoredItem::Entry(_));
    let mut found: Option<((bool, i64), HistoryFolder, Record)> = None;
    for folder in with.entries.history_folders(&call.scope.layout)? {
        let Some(made) = call.last_of_tool(&folder, tool).await? else { continue };
        let is_of_entries =
            made.changes.iter().any(|change| folder.absolute(&change.path).is_some_and(|path| is_below_entries(&path)));
        let rank = (is_of_entries == is_entry, made.time_ns);
        if found.as_ref().is_none_or(|(known, ..)| rank > *known) {
            found = Some((rank, folder, made));
        }
    }
    match found {
        Some((_, folder, made)) => call.record_session_of(&folder, &made).await,
        None => Ok(()),
    }
}

/// Keeps the error of a tool. Text that cannot be kept is reported.
async fn keep_error(
    with: &SessionCall<'_>,
    screening: &mut Screening<'_>,
    mut error: RememberError,
    command: Option<&str>,
) -> Result<Option<String>, Error> {
    let notebook = NotebookCall { call: with.call, notebook: with.notebook };
    let kept = match error.screen(&with.call.screen) {
        Ok(()) => remember_error_of(&notebook, &error, command).await,
        Err(error) => Err(error),
    };
    match kept {
        Ok(ErrorReply { path, .. }) if !path.is_empty() => Ok(Some(path)),
        Ok(ErrorReply { message, .. }) => {
            screening.leave_out(message.into_string());
            Ok(None)
        }
        Err(error) if matches!(error.code, ErrorCode::Secret | ErrorCode::Rejected | ErrorCode::InvalidArgument) => {
            screening.leave_out(error.into_message());
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
