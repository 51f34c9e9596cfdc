//! Table of tools: the one place that has their names, descriptions, arguments and answers.
//!
//! The table is sent with every request of a model, so each word costs tokens. A description says when to use the
//! tool. It does not repeat what a name or an enumeration says.

use super::spec::{Field, Id, Kind, Spec, needed, optional};
use super::types::ToolSet;
use crate::entries::WriteEntry;
use crate::history::Undo;
use crate::items::{Edit, Forget, ListItems, Show};
use crate::journal::{Search, WriteMode};
use crate::notebook::{ItemKind, Journal, Link, Recall, Related};
use crate::request::{Effect, Request, SAMPLE_TEXT};
use crate::trust::Provenance;
use saddlebag_collections::prelude::*;

/// Beginning of the names of the everyday tools. The rest is the verb of the program that does the same.
pub(super) const EVERYDAY_PREFIX: &str = "mem_";

/// Returns arguments with which the tool succeeds in a store that has a note and an entry of this name.
pub(super) fn sample_arguments(id: Id, name: &str) -> String {
    let name = serde_json::Value::from(name);
    match id {
        Id::Write => format!(r#"{{"target": "note", "name": {name}, "content": "mine"}}"#),
        Id::Read => format!(r#"{{"source": "note", "name": {name}}}"#),
        Id::Edit => format!(r#"{{"target": "note", "name": {name}, "old_str": "{SAMPLE_TEXT}", "new_str": "gone"}}"#),
        Id::Show | Id::Drop => format!(r#"{{"name": {name}}}"#),
        Id::Keep => format!(r#"{{"key": {name}, "content": "mine"}}"#),
        Id::Change => format!(r#"{{"name": {name}, "old_str": "{SAMPLE_TEXT}", "new_str": "gone"}}"#),
        Id::Search | Id::RecallNotes | Id::Ask => format!(r#"{{"query": "{SAMPLE_TEXT}"}}"#),
        Id::Store => format!(r#"{{"key": {name}, "content": "mine"}}"#),
        Id::Recall | Id::Forget => format!(r#"{{"key": {name}}}"#),
        Id::List | Id::ListItems | Id::Undo => "{}".to_string(),
        Id::Remember => format!(r#"{{"title": "mine", "content": "mine", "links": [{name}]}}"#),
        Id::Journal => format!(r#"{{"entry": {name}}}"#),
        Id::Link => format!(r#"{{"source": {name}, "target": "b"}}"#),
        Id::Related => format!(r#"{{"note": {name}}}"#),
        Id::Memory => r#"{"command": "view", "path": "/memories"}"#.to_string(),
    }
}

/// Returns true if a second call of the tool with the same arguments changes nothing.
pub(super) fn is_idempotent(spec: &Spec) -> bool {
    spec.effect == Effect::Reads || matches!(spec.id, Id::Store | Id::Forget | Id::Remember | Id::Link)
}

/// Kinds of items that a recall can be restricted to.
const KINDS: Kind = Kind::Word(&ItemKind::WORDS);
/// Kinds of items that a list shows.
const LISTED: Kind = Kind::Word(&[ItemKind::Note.as_str(), DECISION, ItemKind::Entry.as_str(), CHANGE]);
/// Kind of the notes in the folder of decisions.
pub(super) const DECISION: &str = "decision";
/// Word for a change in the history.
pub(super) const CHANGE: &str = "change";
/// Kinds of notes.
const NOTE_KINDS: Kind = Kind::Word(&["fact", "decision"]);
const COUNT: Kind = Kind::Integer { least: 0, most: i64::MAX };
const TARGETS: Kind = Kind::Word(&["long_term", "scratchpad", "daily", "note"]);
const EDITED: Kind = Kind::Word(&["long_term", "scratchpad", "daily", "note", "page"]);
/// Maximum number of hits in an answer.
pub(super) const MAX_LIMIT: i64 = 100;
const LIMIT: Field = optional("limit", Kind::Integer { least: 1, most: MAX_LIMIT });
/// Cursor of a list or a search.
const CURSOR: Field = optional("cursor", Kind::Text);
const TOTAL: Field = needed("total", COUNT);
const NEXT: Field = optional("next", Kind::Text).about("the cursor of the next page");
const PATH: Field = needed("path", Kind::Text);
/// Maximum number of tags or links, equal to the maximum number of tags of an entry.
const MAX_TEXTS: usize = 32;
const TAGS: Field = optional("tags", Kind::Texts(MAX_TEXTS));

/// Provenance that an agent can give for text that it did not write.
const PROVENANCE: Field = optional("provenance", Kind::Word(&[Provenance::Agent.as_str(), Provenance::Tool.as_str()]))
    .about("tool: what a tool or page said; kept out of prompts until approved");

/// Returns the rows of these sets, in the order in which a model is shown them.
pub(super) fn rows(sets: &[ToolSet]) -> impl Iterator<Item = &'static Spec> {
    TABLE.iter().filter(|spec| sets.contains(&spec.set))
}

/// Every tool.
const TABLE: &[Spec] = &[
    Spec {
        id: Id::Ask,
        name: "mem_recall",
        set: ToolSet::Everyday,
        description: "Ask memory a question before you ask the user: notes, decisions, logs, facts.",
        fields: &[
            needed("query", Kind::Text),
            optional("kind", KINDS),
            TAGS,
            optional("everywhere", Kind::Flag).about("all projects"),
            LIMIT,
            CURSOR,
        ],
        answer: &[],
        effect: Recall::EFFECT,
    },
    Spec {
        id: Id::Show,
        name: "mem_show",
        set: ToolSet::Everyday,
        description: "Read one item: path, title or key, or long_term, scratchpad (tasks), daily \
                      (today's log), daily:YYYY-MM-DD. NAME@2: the version before.",
        fields: &[needed("name", Kind::Text), CURSOR],
        answer: &[],
        effect: Show::EFFECT,
    },
    Spec {
        id: Id::Keep,
        name: "mem_remember",
        set: ToolSet::Everyday,
        description: "Keep something. Give one: title = a note or a decision with its reasons; \
                      key = one fact, replacing what the key said; to = a line of long_term (in every prompt) or a \
                      `- [ ]` task in the scratchpad. Choose names that colleagues \
                      understand. supersedes: the note that it replaces.",
        fields: &[
            needed("content", Kind::Text),
            optional("title", Kind::Text),
            optional("key", Kind::Text),
            optional("to", Kind::Word(&["long_term", "scratchpad"])),
            optional("kind", NOTE_KINDS),
            optional("category", Kind::Text).about("core (default), daily (3 days), workspace (all agents)"),
            TAGS,
            optional("links", Kind::Texts(MAX_TEXTS)).about("notes"),
            optional("supersedes", Kind::Text),
            PROVENANCE,
        ],
        answer: &[],
        effect: WriteEntry::EFFECT,
    },
    Spec {
        id: Id::Change,
        name: "mem_edit",
        set: ToolSet::Everyday,
        description: "Correct an item: old_str, which must occur once, becomes new_str; an empty one removes it.",
        fields: &[needed("name", Kind::Text), needed("old_str", Kind::Text), needed("new_str", Kind::Text)],
        answer: &[],
        effect: Edit::EFFECT,
    },
    Spec {
        id: Id::Drop,
        name: "mem_forget",
        set: ToolSet::Everyday,
        description: "Remove a wrong note or fact.",
        fields: &[needed("name", Kind::Text)],
        answer: &[],
        effect: Forget::EFFECT,
    },
    Spec {
        id: Id::Journal,
        name: "mem_log",
        set: ToolSet::Everyday,
        description: "Add a line to today's log: what was done, failed or is open.",
        fields: &[needed("entry", Kind::Text)],
        answer: &[],
        effect: Journal::EFFECT,
    },
    Spec {
        id: Id::Link,
        name: "mem_link",
        set: ToolSet::Everyday,
        description: "Link one note at the end of another; text says why.",
        fields: &[needed("source", Kind::Text), needed("target", Kind::Text), optional("text", Kind::Text)],
        answer: &[],
        effect: Link::EFFECT,
    },
    Spec {
        id: Id::Related,
        name: "mem_related",
        set: ToolSet::Everyday,
        description: "Notes that are linked with a note, and why.",
        fields: &[needed("note", Kind::Text), LIMIT, CURSOR],
        answer: &[],
        effect: Related::EFFECT,
    },
    Spec {
        id: Id::ListItems,
        name: "mem_list",
        set: ToolSet::Everyday,
        description: "List notes and facts, last changed first, or changes.",
        fields: &[optional("kind", LISTED), optional("category", Kind::Text), TAGS, LIMIT, CURSOR],
        answer: &[],
        effect: ListItems::EFFECT,
    },
    Spec {
        id: Id::Undo,
        name: "mem_undo",
        set: ToolSet::Everyday,
        description: "Undo your last change.",
        fields: &[],
        answer: &[],
        effect: Undo::EFFECT,
    },
    Spec {
        id: Id::Write,
        name: "memory_write",
        set: ToolSet::Journal,
        description: "Save free text. long_term = lasting facts and preferences, always in your context; scratchpad = \
                      `- [ ]` tasks; daily = today's log; note = longer reference, under name. mode: append (default).",
        fields: &[
            needed("target", TARGETS),
            optional("name", Kind::Text),
            needed("content", Kind::Text),
            optional("mode", Kind::Word(&WriteMode::WORDS)),
        ],
        answer: &[PATH, needed("bytes", COUNT), optional("truncated_from", COUNT)],
        effect: Effect::Replaces,
    },
    Spec {
        id: Id::Read,
        name: "memory_read",
        set: ToolSet::Journal,
        description: "Read one of these files; source list names them all.",
        fields: &[
            needed("source", Kind::Word(&["long_term", "scratchpad", "daily", "note", "page", "list"])),
            optional("name", Kind::Text).about("of a note, path or title of a page, or YYYY-MM-DD"),
            CURSOR,
        ],
        answer: &[
            optional("path", Kind::Text),
            optional("exists", Kind::Flag),
            optional("text", Kind::Text),
            optional("files", Kind::Objects),
            TOTAL,
            NEXT,
        ],
        effect: Show::EFFECT,
    },
    Spec {
        id: Id::Edit,
        name: "memory_edit",
        set: ToolSet::Journal,
        description: "Correct or remove text: old_str, which must occur once, becomes new_str. Without both, deletes the \
                      note.",
        fields: &[
            needed("target", EDITED),
            optional("name", Kind::Text),
            optional("old_str", Kind::Text),
            optional("new_str", Kind::Text),
        ],
        answer: &[PATH],
        effect: Edit::EFFECT,
    },
    Spec {
        id: Id::Search,
        name: "memory_search",
        set: ToolSet::Journal,
        description: "Find literal words in these files and old logs. No match: try fewer words or synonyms.",
        fields: &[needed("query", Kind::Text), CURSOR],
        answer: &[needed("hits", Kind::Objects), TOTAL, NEXT],
        effect: Search::EFFECT,
    },
    Spec {
        id: Id::Store,
        name: "memory_store",
        set: ToolSet::Entries,
        description: "Keep one fact under a key, replacing what the key said. category: core (default, durable), daily \
                      (3 days), workspace (shared with other agents), or your own.",
        fields: &[
            needed("key", Kind::Text),
            needed("content", Kind::Text),
            optional("category", Kind::Text),
            TAGS,
            PROVENANCE,
        ],
        answer: &[
            needed("key", Kind::Text),
            needed("category", Kind::Text),
            needed("state", Kind::Text),
            needed("evicted", Kind::Texts(usize::MAX)),
        ],
        effect: WriteEntry::EFFECT,
    },
    Spec {
        id: Id::Recall,
        name: "memory_recall",
        set: ToolSet::Entries,
        description: "Get facts by exact key, or by a query in plain words.",
        fields: &[optional("key", Kind::Text), optional("query", Kind::Text), LIMIT, CURSOR],
        answer: &[needed("entries", Kind::Objects), TOTAL, NEXT],
        effect: Recall::EFFECT,
    },
    Spec {
        id: Id::List,
        name: "memory_list",
        set: ToolSet::Entries,
        description: "List keys with previews, newest first; memory_recall has the whole.",
        fields: &[optional("category", Kind::Text), TAGS, LIMIT, CURSOR],
        answer: &[needed("entries", Kind::Objects), TOTAL, NEXT],
        effect: ListItems::EFFECT,
    },
    Spec {
        id: Id::Forget,
        name: "memory_forget",
        set: ToolSet::Entries,
        description: "Forget a key that is wrong or no longer wanted.",
        fields: &[needed("key", Kind::Text)],
        answer: &[needed("key", Kind::Text), needed("already_forgotten", Kind::Flag)],
        effect: Forget::EFFECT,
    },
    Spec {
        id: Id::Remember,
        name: "notebook_remember",
        set: ToolSet::Notebook,
        description: "Write a linked note: knowledge worth a page, or a decision with its reasons. supersedes names \
                      the note that it replaces, supersede: the one of this title.",
        fields: &[
            needed("title", Kind::Text),
            needed("content", Kind::Text),
            optional("kind", NOTE_KINDS),
            TAGS,
            optional("links", Kind::Texts(MAX_TEXTS)).about("notes"),
            optional("supersede", Kind::Flag),
            optional("supersedes", Kind::Text),
            PROVENANCE,
        ],
        answer: &[PATH, needed("title", Kind::Text), needed("state", Kind::Text)],
        effect: Effect::Appends,
    },
    Spec {
        id: Id::RecallNotes,
        name: "notebook_recall",
        set: ToolSet::Notebook,
        description: "Ask notes and entries a question; answers with passages, best first. For exact words: memory_search.",
        fields: &[needed("query", Kind::Text), TAGS, LIMIT, CURSOR],
        answer: &[needed("hits", Kind::Objects), TOTAL, NEXT],
        effect: Recall::EFFECT,
    },
    Spec {
        id: Id::Journal,
        name: "notebook_journal",
        set: ToolSet::Notebook,
        description: "Add one timed line to today's log.",
        fields: &[needed("entry", Kind::Text)],
        answer: &[PATH, needed("entry", Kind::Text)],
        effect: Journal::EFFECT,
    },
    Spec {
        id: Id::Link,
        name: "notebook_link",
        set: ToolSet::Notebook,
        description: "Link two notes that belong together, by title or path.",
        fields: &[needed("source", Kind::Text), needed("target", Kind::Text), optional("text", Kind::Text)],
        answer: &[needed("source", Kind::Text), needed("target", Kind::Text), needed("already_linked", Kind::Flag)],
        effect: Link::EFFECT,
    },
    Spec {
        id: Id::Related,
        name: "notebook_related",
        set: ToolSet::Notebook,
        description: "Notes that are linked with a note, and why.",
        fields: &[needed("note", Kind::Text), LIMIT, CURSOR],
        answer: &[needed("notes", Kind::Objects), NEXT],
        effect: Related::EFFECT,
    },
    Spec {
        id: Id::Memory,
        name: "memory",
        set: ToolSet::Anthropic,
        description: "View and change the files under /memories: view (a file, or a folder), create, str_replace, \
                      insert, delete, rename.",
        fields: &[
            needed("command", Kind::Word(&["view", "create", "str_replace", "insert", "delete", "rename"])),
            optional("path", Kind::Text),
            optional("view_range", Kind::Range).about("first and last line; -1: to the end"),
            optional("file_text", Kind::Text),
            optional("old_str", Kind::Text),
            optional("new_str", Kind::Text),
            optional("insert_line", Kind::Integer { least: i64::MIN, most: i64::MAX })
                .about("insert after it; 0: at the top"),
            optional("insert_text", Kind::Text),
            optional("old_path", Kind::Text),
            optional("new_path", Kind::Text),
        ],
        answer: &[],
        effect: Effect::Removes,
    },
];
