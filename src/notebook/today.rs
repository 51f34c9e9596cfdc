//! `today`: returns the note of the day.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::config::NotebookConfig;
use super::config_file::load_config;
use super::daily::make_day;
use super::index::NotebookCall;
use super::rename::settle;
use super::types::Warning;
use crate::changes::Call;
use crate::protocol::{Error, ErrorCode};
use crate::request::{Effect, Request, Run};

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

impl Request for Today {
    type Reply = TodayReply;
    const NAME: &'static str = "today";
    const EFFECT: Effect = Effect::Appends;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self]
    }
}

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
