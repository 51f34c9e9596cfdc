//! The note of the day: created from its template, once.
//!
//! It is the same file as the daily log of the journal.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::config::NotebookConfig;
use super::files::{FoundTemplate, below_notebook, find_template};
use super::template::{Variable, Variables};
use super::types::Warning;
use crate::changes::{Call, File};
use crate::protocol::Error;
use crate::store::RelPath;

/// Template of a day, if the notebook has none.
pub(super) const DAILY_TEMPLATE: &str = "# {{format-date now '%Y-%m-%d'}}\n\n";

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
    let group = config.group_of(path);
    let mut variables = Variables::default();
    let date = call.now.date().to_string();
    variables.set("now", Variable::Moment(call.now));
    variables.set("extra", Variable::Map(group.map_or(&config.extra, |group| &group.extra).clone()));
    for (name, text) in [("title", date.as_str()), ("filename-stem", &date), ("id", &date), ("content", "")] {
        variables.set_text(name, text);
    }
    variables.set_text("filename", path.rsplit('/').next().unwrap_or(path));
    variables.set_text("dir", path.rsplit_once('/').map_or("", |(dir, _)| dir));
    variables
}
