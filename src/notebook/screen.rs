//! What a notebook command brings in, held against the policy of the memory.

use super::{NotebookCommand, NotebookReply};
use crate::engine::Call;
use crate::protocol::{Error, ErrorCode};
use crate::trust::{Provenance, Screen};

/// The command as it may be run.
pub(super) fn screened(call: &Call, command: NotebookCommand) -> Result<NotebookCommand, Error> {
    let config = call.scope.trust;
    let screen = &call.screen;
    Ok(match command {
        NotebookCommand::Remember(mut request) => {
            let provenance = config.provenance_of(request.provenance)?;
            if request.supersede && !provenance.is_trusted() {
                let message = alloc::format!("text of `{provenance}` cannot supersede a note");
                let help = "keep it beside the note, and supersede that once it is approved; nothing was written";
                return Err(Error::new(ErrorCode::NotPermitted, message, help));
            }
            screen.name("title", &request.title)?;
            request.tags.iter().try_for_each(|tag| screen.name("tag", tag))?;
            request.content = screen.text("content", request.content)?;
            request.provenance = Some(provenance);
            NotebookCommand::Remember(request)
        }
        NotebookCommand::Journal { entry } => {
            screen.needs_trust("the log of a day")?;
            NotebookCommand::Journal { entry: screen.text("entry", entry)? }
        }
        NotebookCommand::Link { from, to, text } => {
            screen.needs_trust("a note that is there")?;
            text.iter().try_for_each(|text| screen.name("text", text))?;
            NotebookCommand::Link { from, to, text }
        }
        NotebookCommand::Rename { note, title } => {
            screen.needs_trust("the name of a note")?;
            screen.name("title", &title)?;
            NotebookCommand::Rename { note, title }
        }
        NotebookCommand::RememberError { tool, error } => {
            screen.name("tool", &tool)?;
            NotebookCommand::RememberError { tool, error: screen.without_secrets("error", error)? }
        }
        NotebookCommand::RememberSummary { tool, summary } => {
            screen.name("tool", &tool)?;
            NotebookCommand::RememberSummary { tool, summary: screen.summary("summary", summary)? }
        }
        other => other,
    })
}

/// Where the text of a tool comes from: at best from the tool.
pub(super) fn of_tool(call: &Call) -> Provenance {
    call.scope.trust.provenance.max(Provenance::Tool)
}

/// Says in the reply what was changed of the text.
pub(super) fn tell(screen: &Screen, reply: &mut NotebookReply) {
    match reply {
        NotebookReply::Remembered(reply) => screen.tell(&mut reply.message),
        NotebookReply::Journaled(reply) => screen.tell(&mut reply.message),
        NotebookReply::ErrorKept(reply) => screen.tell(&mut reply.message),
        _ => {}
    }
}
