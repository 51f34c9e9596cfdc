//! The `<memory>` block that is injected into a prompt.
//!
//! `gather` reads the sections and asks for the entries. `block` turns them into the block under an [`Overflow`] policy: it is
//! a pure function of sections, policy and budget. Everything that is left out is in the report, with the reason. Stored text
//! is escaped by [`for_model`](crate::trust::for_model), so it can neither close nor forge the block.
//!
//! # How is the context block made?
//!
//! `gather.rs` reads the sections together: long-term memory of the project and of all projects, the open items of the
//! scratchpad, two daily logs. A request with `entries` adds the hydrated entries under their own budget. A request
//! with a `turn` adds what the session has in memory for that turn, as the last section. Then `overflow.rs` builds the
//! block as a pure function of sections, policy and budget. `map.rs` lists `decisions/`, `facts/` and the entries, and reads
//! what has changed and what it names. No other file of the store is read.
//!
//! | Policy | Order | When it is too much | Budget holds for |
//! | --- | --- | --- | --- |
//! | `documented` | Long-term memory of the project, long-term memory of all projects, scratchpad, yesterday, today | The end is cut off, with a marker | The text, without wrapper and marker |
//! | `prioritised` | Scratchpad, newest log, long-term memory of the project, long-term memory of all projects, second-newest log | One section is cut, those after it are only named | The same |
//! | `balanced`, the default | As `documented`, and the same block when everything fits | Small sections stay whole, the others share evenly; logs and long-term memory keep their newest text, the scratchpad its first items; entries are whole or left out; each cut is marked. Recalled notes have half of the block, the best first. If a share would be useless, a section is left out: the older log, then the scratchpad, then the log of today, then the hand-off, then the entries, then the map, then the memory of all projects | The whole block |
//!
//! The first two come from zerostack v1.5 to v1.7 and leave out long-term memory over 131,072 bytes. `prioritised`
//! lists the folder of the logs and takes the two newest that have text, whatever their day.
//!
//! **Escaping** comes before the cuts of the policies. A `<`, or a character that looks like it, before the name of our
//! tag becomes `&lt;`, whatever the case, white space or invisible characters in between; so does one before the tag of
//! a role or a tool. Invisible characters become visible, unless the script or the emoji around them needs them. A line
//! that reads like one of our titles or markers gets a `\` in front. All other text is unchanged. Where a cut takes the
//! `\` off a line, the marks that made it a title are removed as well. Every line of an entry or a recalled note is
//! indented below its heading, so that it cannot look like another one (`escaped_item`).
//!
//! **Forms.** `form.rs` has the differences between Claude, OpenAI and plain text: start, end, titles, and a mark
//! before every line of stored text. Lines that the block adds never begin with that mark. The escapes come first in
//! all forms, and the marks come before the cuts; a cut that takes the mark off a line puts it back.
//!
//! **The report** (`left-out`) names each file that is missing or cut: the reason, the number of bytes in the block,
//! and the number left out. The reasons are the budget, the size, bytes that are not UTF-8, a log whose name is not a
//! date, and the host's error. Each entry is named by its key, with hydration's reason if hydration left it out. Each
//! recalled note that nobody approved is also named. `findings` counts by section what the text hides or imitates.
//!
//! **The memories of a session** are in the component's memory and nowhere else. `load-memories` loads the newest facts,
//! `recall-for-turn` what a turn asks for. `memory-context` returns both as a section of Markdown: each note whole, with its
//! source, its lines indented and escaped, under a budget.

mod form;
mod gather;
mod map;
mod overflow;
mod preamble;
mod section;
mod sources;
mod types;
mod user_notes;

#[cfg(test)]
mod tests;

pub use form::BlockForm;
pub use map::DEFAULT_MAP_BYTES;
pub use preamble::{DEFAULT_PREAMBLE_BYTES, Preamble, PreambleFile, PreamblePart, PreambleReply, PreambleRole};
pub use saddlebag_sanitize::{BLOCK_END, BLOCK_START, estimate_tokens};
pub use sources::{LineSource, SourceFamily};
pub use types::{
    Context, ContextEntries, ContextReply, DEFAULT_BLOCK_BYTES, Flagged, LeftOut, LeftOutKind, LeftOutReason, Overflow,
    append_memory_block, effective_reserve,
};

pub(crate) use gather::{map_block, session_block};
pub(crate) use overflow::block_in;
pub(crate) use section::{PromptCall, Section, SectionContent, SectionItem, SectionKind, TurnMemories};
pub(crate) use sources::JoinedFile;
pub(crate) use user_notes::SUPERSEDES;

use crate::family::family;

family! {
    "prompt", run with PromptCall<'_>;
    /// A command that builds text for a prompt.
    PromptCommand =>
    /// Reply of a [`PromptCommand`].
    PromptReply {
        Context,
        Preamble,
    }
}
