//! [`Task`]: a rename, and the text that notes have after it.

use core::ops::Range;

use super::intent::Intent;
use super::plan::Meaning;
use crate::changes::Call;
use crate::notebook::config::NotebookConfig;
use crate::notebook::files::below_notebook;
use crate::notebook::links::Renamed;
use crate::notebook::listed_item::json;
use crate::notebook::superseded::{is_path, supersedes};
use crate::notebook::types::{SUPERSEDES, Warning};
use crate::store::RelPath;
use saddlebag_collections::{order, prelude::*};
use saddlebag_markdown::{
    LinkKind, Note, Value, paths::folder, property_text, replace_spans, set_field, set_title, yaml_string,
};

/// Facts of the index about the note to rename.
pub(super) struct RenameSources<'a> {
    /// Notes that link to it, or say that they supersede it.
    pub(super) linking: &'a [RelPath],
    /// Notes that could not be read, so that their links are unknown.
    pub(super) unread: &'a [Warning],
    /// Files of other types that name its file, which a rename does not change.
    pub(super) naming: &'a [Warning],
    /// Other notes that have the new title: the path, as replies show it, and what is the same.
    pub(super) same_title: &'a [String],
    pub(super) meaning: &'a Meaning<'a>,
    /// True if notes of its folder are named by their titles, as in Obsidian.
    pub(super) verbatim_names: bool,
}

/// A rename, and the facts that it needs.
pub(super) struct Task<'a> {
    pub(super) call: &'a Call,
    pub(super) config: &'a NotebookConfig,
    pub(super) sources: &'a RenameSources<'a>,
    pub(super) intent: Intent,
}

/// Text of a note after its links were rewritten.
pub(super) struct Rewritten {
    pub(super) text: String,
    pub(super) links: u32,
    /// True if links of the frontmatter stayed, because it would not have been valid afterwards.
    pub(super) is_partial: bool,
}

impl Task<'_> {
    /// Returns the text of the note with its new title, and with the links to itself.
    pub(super) fn renamed_text(&self, text: &str) -> Rewritten {
        let Intent { from, to, new_title, .. } = &self.intent;
        let moved = self.moved(text);
        let rewritten = self.rewritten(&moved, from);
        let note = Note::parse(&rewritten.text, self.config.tags);
        // A note without its own title is named by its file.
        let says_it = if note.title.is_empty() { to.file_stem() == new_title } else { note.title == *new_title };
        let text = if says_it { rewritten.text } else { set_title(&rewritten.text, &note, new_title) };
        Rewritten { text, ..rewritten }
    }

    /// Returns the text of the note with its relative links to others as they are from its new folder.
    fn moved(&self, text: &str) -> String {
        let [from, to] = [&self.intent.from, &self.intent.to].map(|path| below_notebook(self.call, path));
        if folder(from) == folder(to) {
            return text.to_string();
        }
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for link in &Note::parse(text, self.config.tags).links {
            let raw = text.get(link.target_span.clone()).unwrap_or_default();
            if !self.sources.meaning.leads_to_old(from, link)
                && let Some(target) = self.sources.meaning.moved(link, raw, (from, to))
            {
                edits.push((link.target_span.clone(), target));
            }
        }
        order::sort_slice_by_key(&mut edits, |(span, _)| span.start);
        edits.dedup_by(|later, first| later.0 == first.0);
        replace_spans(text, &edits)
    }

    /// Returns the text of a note with its links to the old name changed.
    pub(super) fn rewritten(&self, text: &str, path: &RelPath) -> Rewritten {
        let rewritten = self.rewritten_links(text, path, true);
        let has_problem = |text: &str| Note::parse(text, self.config.tags).frontmatter.problem.is_some();
        if rewritten.text == text || has_problem(text) || !has_problem(&rewritten.text) {
            return rewritten;
        }
        Rewritten { is_partial: true, ..self.rewritten_links(text, path, false) }
    }

    fn rewritten_links(&self, text: &str, path: &RelPath, properties: bool) -> Rewritten {
        let from = below_notebook(self.call, path);
        let new_below = below_notebook(self.call, &self.intent.to);
        let is_unambiguous = |name: &str| self.sources.meaning.is_unambiguous(name, new_below);
        let renamed = Renamed {
            old_path: below_notebook(self.call, &self.intent.from),
            new_path: new_below,
            old_title: &self.intent.old_title,
            new_title: &self.intent.new_title,
            aliases: &self.intent.aliases,
            is_unambiguous: &is_unambiguous,
        };
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        let mut count = 0;
        for link in &Note::parse(text, self.config.tags).links {
            let is_property = link.kind == LinkKind::Property;
            if is_property && !properties || !self.sources.meaning.leads_to_old(from, link) {
                continue;
            }
            let Some(raw) = text.get(link.target_span.clone()) else {
                // This function cannot return an error. Keeping a link is better than losing text.
                debug_assert!(false, "a broken invariant: {:?} of text of {} bytes", link.target_span, text.len());
                continue;
            };
            let Some(target) = renamed.target(self.config, from, link, raw) else { continue };
            let start = link.target_span.start;
            let target = if is_property { property_text(text, start, &target) } else { target };
            if target == raw {
                continue;
            }
            count += 1;
            edits.push((link.target_span.clone(), target));
        }
        order::sort_slice_by_key(&mut edits, |(span, _)| span.start);
        // Links by reference share the target of one definition.
        edits.dedup_by(|later, first| later.0 == first.0);
        let text = if edits.is_empty() { text.to_string() } else { replace_spans(text, &edits) };
        let text = self.superseding(text, renamed.old_path, new_below);
        Rewritten { text, links: count, is_partial: false }
    }

    /// Returns the text with the field that names the superseded note changed.
    fn superseding(&self, text: String, old: &str, new: &str) -> String {
        let note = Note::parse(&text, self.config.tags);
        if old == new || !supersedes(&note, old) {
            return text;
        }
        let moved = |path: &str| yaml_string(if is_path(path, old) { new } else { path });
        let value = match note.frontmatter.value(SUPERSEDES) {
            Some(Value::List(paths)) => {
                let paths = paths.iter().map(|path| match path {
                    Value::String(path) => moved(path),
                    // JSON is valid YAML, so everything else that a person wrote there stays.
                    other => json(other),
                });
                format!("[{}]", paths.collect::<Vec<_>>().join(", "))
            }
            _ => yaml_string(new),
        };
        set_field(&text, SUPERSEDES, &value)
    }
}
