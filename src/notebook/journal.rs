//! `journal`: adds one line to the note of the day.

use super::config::NotebookConfig;
use super::config_file::load_config;
use super::index::NotebookCall;
use super::rename::settle;
use super::today::make_day;
use super::types::Warning;
use crate::changes::Call;
use crate::journal::{MAX_WRITE_BYTES, file_size};
use crate::request::{Run, request};
use crate::trust::ForModel;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Adds one line with the time of day to today's note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    /// Text of the line.
    pub entry: String,
}

/// Reply of [`Journal`].
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JournalEntryReply {
    /// Path of today's note.
    pub path: String,
    /// Text that was added, without the newline at its end.
    pub entry: String,
    /// True if the note was created.
    pub created: bool,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
    /// Problems of the configuration or of the template.
    pub warnings: Vec<Warning>,
}

request!(Journal "journal" => JournalEntryReply, Appends, |name| vec![Self { entry: format!("about {name}") }]);

impl Run<NotebookCall<'_>> for Journal {
    async fn run(self, with: &NotebookCall<'_>) -> Result<JournalEntryReply, Error> {
        let call = with.call;
        call.screen.needs_trust("the log of a day")?;
        settle(call, with.notebook).await;
        let found = load_config(call).await?;
        let mut reply = journal(call, &found.config, &self.entry).await?;
        call.screen.tell(&mut reply.message);
        Ok(reply)
    }
}

/// Adds one line with the time of day to today's note. If the note is missing, creates it from its template first.
///
/// An entry of several lines becomes one item of the list: further lines are indented.
async fn journal(call: &Call, config: &NotebookConfig, entry: &str) -> Result<JournalEntryReply, Error> {
    let text = item(&call.now.hour_minute(), entry)?;
    let path = call.scope.layout.daily(call.now.date());
    // Before the note of the day is made.
    for added in [entry, text.as_str()] {
        call.check_text(&call.scope.display_path(&path), added).await?;
    }
    let mut warnings = Vec::new();
    let mut created = false;
    if file_size(call, &path).await?.is_none() {
        created = make_day(call, config, &path, &mut warnings).await?;
    }
    call.apply(&call.screen.add(&path, format!("{text}\n"))?).await?;
    let path = call.scope.display_path(&path);
    let message = format!("Added to {path}: {}", text.lines().next().unwrap_or_default());
    Ok(JournalEntryReply { path, entry: text, created, message: ForModel::escaped(&message), warnings })
}

/// Returns `- HH:MM entry`. Further lines are indented by two spaces.
fn item(time: &str, entry: &str) -> Result<String, Error> {
    if entry.len() > MAX_WRITE_BYTES {
        let message = format!("the entry has {} bytes, the limit is {MAX_WRITE_BYTES}", entry.len());
        return Err(Error::new(ErrorCode::TooLarge, message, "write it as a note, and add a short entry about it"));
    }
    let is_break = |c: char| matches!(c, '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let entry = entry.replace("\r\n", "\n").replace('\r', "\n");
    let mut text = format!("- {time}");
    let mut lines = 0;
    for line in entry.trim().split(is_break) {
        let line: String = line.chars().filter(|&c| c == '\t' || !c.is_control()).collect();
        let line = line.trim_end();
        if lines == 0 {
            if line.trim().is_empty() {
                continue;
            }
            text.push(' ');
            text.push_str(line.trim_start());
        } else {
            text.push('\n');
            if !line.is_empty() {
                text.push_str("  ");
                text.push_str(line);
            }
        }
        lines += 1;
    }
    if lines == 0 {
        return Err(Error::invalid_argument("the entry is empty", "say in one line what happened"));
    }
    text.truncate(text.trim_end().len());
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Store, call_at, day};
    use super::super::today::today;
    use super::*;

    const DAY: &str = "daily/2026-05-25.md";

    #[test]
    fn an_entry_is_one_item() {
        assert_eq!(item("12:00", " deployed \u{1b}[1m v2 \n").as_deref(), Ok("- 12:00 deployed [1m v2"));
        assert_eq!(item("12:00", "a\r\nb\n\n  c\u{2028}d").as_deref(), Ok("- 12:00 a\n  b\n\n    c\n  d"));
        assert_eq!(item("12:00", "\u{1b}\n\u{7}x").as_deref(), Ok("- 12:00 x"));
        for empty in ["", " \n ", "\u{1b}"] {
            assert!(item("12:00", empty).is_err());
        }
        assert_eq!(item("12:00", &"x".repeat(70_000)).expect_err("too large").code, ErrorCode::TooLarge);
    }

    #[test]
    fn the_first_entry_makes_the_day_from_its_template() {
        let mut store = Store::with(&[("templates/daily.md", "# {{title}}\n{{extra.mood}}")]);
        let reply = store.run(|fs| async move { journal(&call_at(fs, day()), &NotebookConfig::default(), "x").await });
        assert!(reply.expect("added").created);
        assert_eq!(store.text(DAY), "# 2026-05-25\n- 12:34 x\n");
        let again = store.run(|fs| async move { today(&call_at(fs, day()), &NotebookConfig::default()).await });
        let again = again.expect("there");
        assert_eq!((again.created, again.text.as_str()), (false, "# 2026-05-25\n- 12:34 x\n"));
    }

    #[test]
    fn a_broken_configuration_stops_what_would_make_a_day_alone() {
        let broken = || NotebookConfig::parse("[").0;
        let mut store = Store::default();
        let refused = store.run(|fs| async move { today(&call_at(fs, day()), &broken()).await });
        assert!(refused.is_err() && store.writes.is_empty());
        let mut store = Store::with(&[(DAY, "x\n")]);
        let added = store.run(|fs| async move { journal(&call_at(fs, day()), &broken(), "y").await });
        assert!(added.is_ok());
    }
}
