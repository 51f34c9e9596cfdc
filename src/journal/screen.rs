//! What a journal command brings in, held against the policy of the memory.
//!
//! Files of the journal have no frontmatter that could say where their text comes from, so they take none of
//! tools and imports.

use alloc::string::String;

use super::{EditChange, JournalCommand, JournalReply, SlashCommand};
use crate::engine::Call;
use crate::protocol::Error;
use crate::trust::Screen;

/// The command as it may be run.
pub(super) fn screened(call: &Call, command: JournalCommand) -> Result<JournalCommand, Error> {
    let screen = &call.screen;
    Ok(match command {
        JournalCommand::Write { target, mode, content, truncate } => {
            JournalCommand::Write { target, mode, content: text(screen, "content", content)?, truncate }
        }
        JournalCommand::AppendDaily { heading, body } => {
            screen.name("heading", &heading)?;
            JournalCommand::AppendDaily { heading, body: text(screen, "body", body)? }
        }
        JournalCommand::Edit { target, change } => JournalCommand::Edit { target, change: changed(screen, change)? },
        JournalCommand::FlushSummary { summary, messages } => {
            screen.needs_trust(JOURNAL)?;
            JournalCommand::FlushSummary { summary: screen.summary("summary", summary)?, messages }
        }
        other => other,
    })
}

/// The command of a line, as it may be run.
pub(super) fn screened_line(call: &Call, command: SlashCommand) -> Result<SlashCommand, Error> {
    let screen = &call.screen;
    Ok(match command {
        SlashCommand::Write(target, content) => SlashCommand::Write(target, text(screen, "text", content)?),
        SlashCommand::Edit(target, change) => SlashCommand::Edit(target, changed(screen, change)?),
        other => other,
    })
}

const JOURNAL: &str = "a file of the journal";

fn text(screen: &Screen, what: &str, text: String) -> Result<String, Error> {
    screen.needs_trust(JOURNAL)?;
    screen.text(what, text)
}

fn changed(screen: &Screen, change: EditChange) -> Result<EditChange, Error> {
    Ok(match change {
        EditChange::Replace { old, new } if !new.is_empty() => {
            EditChange::Replace { old, new: text(screen, "new text", new)? }
        }
        other => other,
    })
}

/// Says in the reply what was changed of the text.
pub(super) fn tell(screen: &Screen, reply: &mut JournalReply) {
    match reply {
        JournalReply::Written(reply) => screen.tell(&mut reply.message),
        JournalReply::Edited(reply) => screen.tell(&mut reply.message),
        JournalReply::Text(text) => text.push_str(&screen.told()),
        _ => {}
    }
}
