//! The session of an agent: what hosts call at the events of a client.
//!
//! `begin-session` builds the block for the start, `recall-for-prompt` finds what memory knows about a prompt,
//! `recall-for-tool` finds what it says about a file or a command before a tool uses it, `record-tool-use` records what
//! the tool did, and `end-session` writes the note of the session. Each event of a client is a separate process, and
//! several may run at once, so nothing is kept in memory.
//!
//! # What is kept?
//!
//! `state.rs` has the file of a session, `.saddlebag/sessions/<digest>.jsonl` in the scope: one JSON object per line,
//! and is only appended to. A line that does not parse is counted and ignored, so a torn line costs only itself.
//! `screened.rs` decides what may be recorded: `<private>` text, excluded paths and secrets are left out, long text is
//! cut. The state never holds the content of a file or the output of a tool. A line names the provenance of its text;
//! the note of the session has only text that is trusted at least as much as the note.
//!
//! `note.rs` makes the note `sessions/<date>-<digits>.md` of the state, as a pure function. Before a note is written,
//! the state gets a line with the digest of its text. So the command recognises its own text, whatever process wrote
//! it, and replaces no other: if a person has changed the note, it stays, and the session goes on in a new note.
//!
//! # What is said before a tool runs?
//!
//! `subject.rs` has the rule: a text must name exactly the file or the command, which `shell.rs` reads as a shell does. The search only
//! finds candidates. What was said is in the state, with the subject, so that each is said once.
//!
//! # How is a session handed on?
//!
//! `hand_off.rs` finds the newest note of another session that nobody has claimed, and claims it by the field
//! `claimed-by` of its frontmatter. The write is conditional on the version that was read, so one of several sessions
//! gets it. A note with new text loses the field, because no session has got the new text. `outcomes.rs` knows what all sessions
//! say about a command, so that nothing is said to fail that has passed since. `run_end.rs` reads the result of tests whose exit code a
//! pipe hides.

mod begin;
mod choose_hand_off;
mod client_text;
mod end;
mod hand_off;
mod known_errors;
mod news;
mod note;
mod outcomes;
mod prompt;
mod question;
mod record;
mod run_end;
mod screened;
mod shell;
mod state;
mod subject;
#[cfg(test)]
mod tests;
mod tool;
mod types;
mod unapproved;

pub use begin::{BeginSession, BeginSessionReply, BeginSource, DEFAULT_SESSION_BYTES};
pub use choose_hand_off::{ChooseHandOff, ChooseHandOffReply};
pub use client_text::prompt_of;
pub use end::{EndSession, EndSessionReply};
pub use note::{CommandOutcome, SessionSummary, Turn};
pub use prompt::{
    DEFAULT_MIN_SCORE, DEFAULT_PROMPT_BYTES, NotShown, NotShownReason, RecallForPrompt, RecallForPromptReply,
};
pub use question::{asks, question};
pub use record::{RecordToolUse, RecordToolUseReply};
pub use run_end::RunEnd;
pub use screened::{is_name_of_file, possible_paths};
pub use tool::{DEFAULT_TOOL_BYTES, RecallForTool, RecallForToolReply};
pub use types::{HandOffChoice, StoredItem};

pub(crate) use types::SessionCall;

use crate::family::family;

impl SessionCommand {
    /// Returns true for a command that only shows what it would do.
    pub(crate) fn is_dry_run(&self) -> bool {
        match self {
            Self::BeginSession(command) => command.dry_run || command.source == BeginSource::Subagent,
            Self::RecallForPrompt(command) => command.dry_run,
            _ => false,
        }
    }
}

family! {
    "session", run with SessionCall<'_>;
    /// A command about the session of an agent.
    SessionCommand =>
    /// Reply of a [`SessionCommand`].
    SessionReply {
        BeginSession { session: name "session", source, max_bytes, form, dry_run },
        RecallForPrompt { session: name "session", prompt: parts "prompt", max_bytes, min_score, keep_out, dry_run, form },
        RecallForTool { session: name "session", files: parts "files", command: parts "command", max_bytes, form },
        RecordToolUse {
            session: name "session", tool: parts "tool", files: parts "files", command: parts "command", failed,
            output: parts "output", stored: parts "stored", exclude,
        },
        ChooseHandOff { session, choice },
        EndSession { session: name "session", finished, answer: parts "answer" },
    }
}
