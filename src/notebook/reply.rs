//! What comes of a notebook command.

use alloc::string::String;
use alloc::vec::Vec;

use super::Warning;
use crate::search::Skipped;
use crate::trust::{ForModel, Provenance};

/// What a recall found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecallReply {
    /// Best first.
    pub hits: Vec<RecallHit>,
    /// How many notes match; `hits` is a page of them.
    pub total: u32,
    /// The hits as text for a person or a model, made harmless.
    pub rendered: ForModel,
    /// What was not as it should be, and is no reason to stop: a configuration that cannot be read,
    /// frontmatter that is no YAML.
    pub warnings: Vec<Warning>,
    /// Files that could not be searched.
    pub skipped: Vec<Skipped>,
}

/// A note that answers a query, and why.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecallHit {
    /// The file.
    pub path: String,
    /// Its title.
    pub title: String,
    /// How well it fits; only the order means anything.
    pub score: f64,
    /// The words of the query that it has.
    pub terms: Vec<String>,
    /// Where it has them: `title`, `aliases`, `headings`, `tags`, `path`, `body`.
    pub fields: Vec<String>,
    /// The first and the last line of the passage, counted from 1; none if the text is not at hand.
    pub lines: Vec<u32>,
    /// The passage that fits best.
    pub passage: String,
    /// The newer note that supersedes this one.
    pub superseded_by: Option<String>,
    /// The parts of the score, where they were asked for.
    pub parts: Vec<ScorePart>,
    /// Where its text comes from, if that keeps it out of prompts until it is approved.
    pub unapproved: Option<Provenance>,
}

/// A part of a score.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScorePart {
    /// The word of the query, or what else counts: `phrase`, `proximity`, `coverage`, `superseded`.
    pub reason: String,
    /// The field that has it; empty where that means nothing.
    pub field: String,
    /// What it adds; a factor for `superseded`.
    pub amount: f64,
}

/// Notes that fit a filter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListNotesReply {
    /// In the order that was asked for.
    pub notes: Vec<NoteInfo>,
    /// What was not as it should be, and is no reason to stop.
    pub warnings: Vec<Warning>,
    /// Files that could not be read.
    pub skipped: Vec<Skipped>,
}

/// A note.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NoteInfo {
    /// The file.
    pub path: String,
    /// Its title.
    pub title: String,
    /// Its body up to the first blank line.
    pub lead: String,
    /// Its text without frontmatter and title; empty unless asked for.
    pub body: String,
    /// The whole file; empty unless asked for.
    pub text: String,
    /// What of it fits the filter: a part of the text, or the blocks that have the links.
    pub snippets: Vec<String>,
    /// How many words the file has.
    pub word_count: u32,
    /// Of frontmatter and text.
    pub tags: Vec<String>,
    /// Other names.
    pub aliases: Vec<String>,
    /// The frontmatter as JSON, as far as it could be read.
    pub metadata: String,
    /// A link to it, as the configuration writes links.
    pub link: String,
    /// In nanoseconds since 1970-01-01T00:00:00Z.
    pub created: u64,
    /// In nanoseconds since 1970-01-01T00:00:00Z; 0 where unknown.
    pub modified: u64,
    /// Where its text comes from, if that keeps it out of prompts until a person approves it.
    pub unapproved: Option<Provenance>,
}

/// Notes and the links between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphReply {
    /// The notes.
    pub notes: Vec<NoteInfo>,
    /// Links from one of them to one of them.
    pub links: Vec<GraphLink>,
}

/// A link between two notes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphLink {
    /// The file that has the link.
    pub source: String,
    /// The file that it leads to.
    pub target: String,
    /// What the link shows.
    pub title: String,
    /// Where it goes, as it is written.
    pub href: String,
    /// `wiki-link`, `markdown`, `embed`, or `property` for a link of the frontmatter.
    pub kind: String,
    /// `up`, `down`, or the words of its title.
    pub relations: Vec<String>,
    /// The block that it stands in.
    pub snippet: String,
    /// Where the block starts in the file, in bytes.
    pub snippet_start: u64,
    /// Where it ends.
    pub snippet_end: u64,
}

/// A note that has to do with another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelatedNote {
    /// The file.
    pub path: String,
    /// Its title.
    pub title: String,
    /// How many links away: 1 for a link between the two, 2 where both are linked with a third note.
    pub distance: u32,
    /// Why: `links both ways`, `links here`, `linked from here`, `both linked with PATH, …`.
    pub reason: String,
}

/// A tag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagCount {
    /// Its name, without marks.
    pub name: String,
    /// How many notes have it.
    pub notes: u32,
    /// As zk numbers tags: from 1, in the order in which it meets them.
    pub number: u64,
}

/// A link that leads to no note, or to no single one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadLink {
    /// The file that has it.
    pub path: String,
    /// The line that it stands on, counted from 1.
    pub line: u32,
    /// Where it goes, as it is written.
    pub target: String,
    /// The notes that it could mean; none if there is no such note.
    pub candidates: Vec<String>,
}

/// A note that names another without linking to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mention {
    /// The file.
    pub path: String,
    /// Its title.
    pub title: String,
    /// The lines that name it, counted from 1.
    pub lines: Vec<u32>,
}
