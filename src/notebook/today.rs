//! `today`: returns the note of the day, which is the same file as the daily log of the journal.

use super::config::NotebookConfig;
use super::config_file::load_config;
use super::files::{FoundTemplate, below_notebook, find_template};
use super::index::NotebookCall;
use super::rename::settle;
use super::template::Variables;
use super::types::Warning;
use crate::changes::{Call, File};
use crate::request::{Run, request};
use crate::store::RelPath;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::paths::{file_name, folder};
use saddlebag_protocol::{Error, ErrorCode};

/// Template of a day, if the notebook has none.
pub(super) const DAILY_TEMPLATE: &str = "# {{format-date now '%Y-%m-%d'}}\n\n";

/// Maximum number of attempts to create today's note again if others delete it meanwhile.
const MAX_ATTEMPTS: u32 = 16;

/// Returns today's note. If it is missing, creates it from its template first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Today;

/// Today's note.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodayReply {
    /// Path of the file.
    pub path: String,
    /// Whole text.
    pub text: String,
    /// True if it was created by this command.
    pub created: bool,
    /// Problems of the configuration or of the template.
    pub warnings: Vec<Warning>,
}

request!(Today "today" => TodayReply, Appends, |_| vec![Self]);

impl Run<NotebookCall<'_>> for Today {
    async fn run(self, with: &NotebookCall<'_>) -> Result<TodayReply, Error> {
        settle(with.call, with.notebook).await;
        let found = load_config(with.call).await?;
        today(with.call, &found.config).await
    }
}

/// Returns today's note. If it is missing, creates it from its template: once, however many commands ask for it.
pub(super) async fn today(call: &Call, config: &NotebookConfig) -> Result<TodayReply, Error> {
    let path = call.scope.layout.daily(call.now.date());
    let mut warnings = Vec::new();
    let mut created = false;
    for _ in 0..MAX_ATTEMPTS {
        if let Some(text) = call.load_text(&path).await? {
            return Ok(TodayReply { path: call.scope.display_path(&path), text, created, warnings });
        }
        warnings.clear();
        created = make_day(call, config, &path, &mut warnings).await?;
    }
    let message = format!("{path}: removed by others {MAX_ATTEMPTS} times in a row");
    Err(Error::new(ErrorCode::Contention, message, "try again when no other program removes files of the folder"))
}

/// Creates the note of the day. Returns `false` if someone else created it.
pub(super) async fn make_day(
    call: &Call,
    config: &NotebookConfig,
    path: &RelPath,
    warnings: &mut Vec<Warning>,
) -> Result<bool, Error> {
    let config = config.for_writing()?;
    let below = below_notebook(call, path);
    let found = match find_template(call, config, config.group_of(below), "daily", warnings).await? {
        Some(found) => found,
        None => FoundTemplate::built_in("the built-in template of a day", DAILY_TEMPLATE)?,
    };
    let mut text = found.template.render(&variables(call, config, below)).map_err(|problem| found.error(&problem))?;
    if !text.ends_with('\n') && !text.is_empty() {
        text.push('\n');
    }
    // The template may have a secret. Its text is the notebook's own, whoever asks for the day.
    call.apply(&call.screen.rewrite(&File::absent(path), text)?).await
}

fn variables(call: &Call, config: &NotebookConfig, path: &str) -> Variables {
    let extra = config.group_of(path).map_or(&config.extra, |group| &group.extra);
    let mut variables = Variables::of_note(call.now, extra, &[]);
    let date = call.now.date().to_string();
    for name in ["title", "filename-stem", "id"] {
        variables.set(name, &date);
    }
    variables.set("filename", file_name(path));
    variables.set("dir", folder(path));
    variables
}
