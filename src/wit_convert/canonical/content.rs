//! [`Content`]: the amount of text that is shown, and the list of fields that stay if content is left out.

use saddlebag_words::words;

use super::types::Place;
use crate::store::{
    AGENTS_FOLDER, DAILY_FOLDER, DECISIONS_FOLDER, ENTRIES_FOLDER, FACTS_FOLDER, NOTES_FOLDER, PROJECTS_FOLDER,
    TEMPLATES_FOLDER, WORKSPACES_FOLDER, ZK_FOLDER,
};

/// Amount of text and bytes that canonical JSON shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Everything.
    Whole,
    /// Everything except secrets. Text with secrets is `{"redacted": text}`, with the names of the rules in place of
    /// the secrets. Bytes that are not text are `{"left-out": length}` if they have a secret. So are parts of the
    /// index, which has the words of every file.
    WithoutSecrets,
    /// No content. Text is `{"left-out": length}`, unless its field is listed as kept, or as a name, whose segments are
    /// replaced by numbers.
    Redacted,
}

words!(Content, "content of a trace" {
    Whole = "whole",
    WithoutSecrets = "without-secrets",
    Redacted = "redacted",
});

/// Treatment of the text if content is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// Shown: it is one of a fixed set of words, or made by the engine.
    Kept,
    /// Each segment is replaced by a number; equal segments have equal numbers.
    Name,
    /// Only its length is shown.
    LeftOut,
}

/// Fields that are never written, whatever is shown: keys that the host keeps.
const NEVER_WRITTEN: [(&str, &str, &str); 1] = [("config", "Config", "secret")];

/// Text without content: operations, codes and kinds.
const KEPT: &[&str] = &[
    "fs.request.key",
    "fs.reply.key",
    "types.error.code",
    "types.flag.kind",
    "journal.skipped.kind",
    "prompt.left-out.kind",
    "engine.result-error.unknown-key",
    "engine.result-error.foreign-key",
    "engine.result-error.used-key",
    "engine.invalid-result.key",
    "engine.config-error.limit-too-small",
];

/// Text that identifies something: paths, keys, versions, names of scopes.
const NAMES: &[&str] = &[
    "fs.read-op.path",
    "fs.write-op.path",
    "fs.write-op.keep-as",
    "fs.write-op.like",
    "fs.append-op.path",
    "fs.list-directory-op.folder",
    "fs.list-directory-op.after",
    "fs.list-directory-op.unless",
    "fs.remove-op.path",
    "fs.remove-op.keep-as",
    "fs.rename-op.path",
    "fs.rename-op.to",
    "fs.make-directory-op.path",
    "fs.remove-directory-op.path",
    "fs.precondition.matches",
    "fs.file-content.version",
    "fs.write-outcome.written",
    "fs.write-outcome.stale",
    "fs.append-outcome.written",
    "fs.append-outcome.stale",
    "fs.remove-outcome.stale",
    "fs.rename-outcome.stale",
    "fs.listing.next",
    "fs.listing.version",
    "fs.entry.path",
    "fs.entry.version",
    "config.config.project",
    "config.entries-config.agent",
    "config.entries-config.workspace",
    "types.origin.agent",
    "types.origin.workspace",
    "types.origin.run",
    "types.origin.session",
    "journal.target.note",
    "journal.target.page",
    "journal.write-reply.path",
    "journal.write-reply.backup",
    "journal.read-reply.path",
    "journal.listed-file.path",
    "journal.changed-file.path",
    "journal.search-hit.path",
    "journal.skipped.path",
    "files.list-files.after",
    "files.read-file.path",
    "files.file-page.next",
    "files.recall-hit.path",
    "files.item.path",
    "notebook.remember-reply.path",
    "notebook.today-reply.path",
    "notebook.journal-entry-reply.path",
    "notebook.note-info.path",
    "notebook.graph-link.source",
    "notebook.graph-link.target",
    "notebook.related-note.path",
    "notebook.dead-link.path",
    "notebook.mention.path",
    "notebook.rename-reply.old-path",
    "notebook.rename-reply.path",
    "notebook.forget-reply.path",
    "notebook.forget-reply.backup",
    "notebook.error-reply.path",
    "notebook.warning.path",
    "entries.new-entry.key",
    "entries.edit-entry.key",
    "entries.get-entry.key",
    "entries.store-entry.expected-version",
    "entries.forget-entry.key",
    "entries.forget-entry.expected-version",
    "entries.restore-entry.key",
    "entries.purge-entries.key",
    "entries.explain.key",
    "entries.store-reply.key",
    "entries.store-reply.version",
    "entries.store-reply.path",
    "entries.entry-info.key",
    "entries.entry-info.version",
    "entries.entry-info.path",
    "entries.entry-problem.key",
    "entries.entry-problem.path",
    "entries.forget-entry-reply.key",
    "entries.forget-entry-reply.path",
    "entries.forget-entry-reply.version",
    "entries.entry-file.path",
    "entries.imported-file.path",
    "entries.imported-file.key",
    "entries.import-file.path",
    "entries.deleted-entry.key",
    "entries.deleted-entry.path",
    "entries.explanation.key",
    "entries.explanation.path",
    "entries.skipped-entry.key",
    "entries.run-reply.run",
    "exchange.foreign-file.path",
    "exchange.exchanged-entry.path",
    "exchange.exchanged-entry.key",
    "exchange.file-part.path",
    "exchange.loss.key",
    "exchange.rejected-part.path",
    "prompt.flagged.path",
    "prompt.flagged.key",
    "prompt.left-out.path",
    "prompt.left-out.key",
    "prompt.preamble-file.path",
    "session.begin-session-reply.hand-off",
    "session.recall-for-prompt-reply.sources",
    "session.recall-for-tool-reply.sources",
    "session.not-shown.source",
    "session.record-tool-use-reply.error-note",
    "session.end-session-reply.note",
    "session.end-session-reply.kept",
    "trust.pending-item.path",
    "trust.pending-item.version",
    "trust.approve-item.version",
];

/// Names that every store has. They reveal nothing about a store.
const LAYOUT: [&str; 17] = [
    "MEMORY",
    "SCRATCHPAD",
    ".saddlebag",
    "index",
    AGENTS_FOLDER,
    DAILY_FOLDER,
    DECISIONS_FOLDER,
    ENTRIES_FOLDER,
    FACTS_FOLDER,
    NOTES_FOLDER,
    PROJECTS_FOLDER,
    TEMPLATES_FOLDER,
    WORKSPACES_FOLDER,
    ZK_FOLDER,
    "core",
    ".",
    "..",
];

/// Returns the treatment of the text in this place. A field that is in no list is left out.
pub(super) fn treatment(place: Option<Place>) -> Treatment {
    let Some(place) = place else { return Treatment::LeftOut };
    let name = place.in_wit();
    match name.as_str() {
        name if KEPT.contains(&name) => Treatment::Kept,
        name if NAMES.contains(&name) => Treatment::Name,
        _ => Treatment::LeftOut,
    }
}

/// Returns true for a field whose value is never written.
pub(super) fn is_never_written(place: &Place) -> bool {
    NEVER_WRITTEN.contains(&(place.interface, place.owner, place.member))
}

/// Returns true for a segment that every store has.
pub(super) fn is_layout(segment: &str) -> bool {
    LAYOUT.contains(&segment)
}

/// Returns the fields and cases whose text is kept or replaced, such as `fs.read-op.path`.
pub fn listed() -> impl Iterator<Item = &'static str> {
    KEPT.iter().chain(NAMES).copied()
}
