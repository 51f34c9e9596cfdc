//! Recall for a prompt: items that may go into it, and the names of those that may not.

use super::super::index::Notebook;
use super::super::superseded::without_older;
use super::corpora::Reach;
use super::hits::hit;
use super::search::Asked;
use super::types::{Recall, RecallHit};
use crate::changes::Call;
use crate::search::SearchableEntries;
use crate::search::ranked::{Fit, Ranked};
use crate::store::{LONG_TERM_FILE, is_name};
use crate::trust::Approved;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::Note;
use saddlebag_protocol::Error;

/// An item that may go into a prompt.
pub(crate) struct PromptHit {
    pub(crate) path: String,
    /// Title of the note, or key of the entry.
    pub(crate) name: Approved,
    /// Category of the entry; `None` for a note.
    pub(crate) category: Option<String>,
    /// Passage that matches best; empty for an item that is known.
    pub(crate) passage: Approved,
    /// How well it fits the whole prompt, if the caller asked for that.
    pub(crate) fit: Fit,
    /// Its [time](Corpora::time_of); 0 if unknown.
    pub(crate) date: u64,
    /// True if the best that it has is the question itself.
    pub(crate) only_asks: bool,
    /// True if the session has seen the item before.
    pub(crate) is_known: bool,
    /// True if the passage is all that it says.
    pub(crate) is_whole: bool,
    /// Size of its text in bytes; 0 if it was not read.
    pub(crate) bytes: usize,
}

/// Items that a prompt is about.
pub(crate) struct PromptHits {
    /// Approved items, best first.
    pub(crate) shown: Vec<PromptHit>,
    /// Items that may not go into the prompt, best first. They have no influence on the others.
    pub(crate) withheld: Vec<WithheldHit>,
}

/// An item that may not go into a prompt, without any of its text.
pub(crate) struct WithheldHit {
    pub(crate) path: String,
    /// Key of the entry; `None` for a note.
    pub(crate) key: Option<String>,
    /// How well its words fit the whole prompt, if the caller asked for that.
    pub(crate) fit: Fit,
    /// True if it is withheld only because it is for the prompts of other projects.
    pub(crate) is_of_other_project: bool,
}

/// Function that chooses the passage of an item.
pub(crate) type Excerpt<'a> = &'a (dyn Fn(&str, &Note, &str) -> Option<String> + Sync);

/// A question about a prompt.
pub(crate) struct PromptRecall<'a> {
    pub(crate) request: &'a Recall,
    /// Maximum size of a passage in bytes.
    pub(crate) passage_bytes: usize,
    /// If given, returns the passage of an item by its title, its note and the text below that may be shown. Items without
    /// one are not hits, and neither are those that may not go into a prompt or that are known. How well an item fits is not asked
    /// then, and no word is taken for misspelled.
    pub(crate) excerpt: Option<Excerpt<'a>>,
    /// Predicate for paths of notes, relative to the notebook, that are not looked for.
    pub(crate) is_left_out: &'a (dyn Fn(&str) -> bool + Sync),
    /// Predicate for paths that the session has seen before.
    pub(crate) is_known: &'a (dyn Fn(&str, u64) -> bool + Sync),
    /// Number of paths that it has seen.
    pub(crate) known: usize,
}

/// Finds items for a prompt. Known items take no place from others.
pub(crate) async fn recall_for_prompt(
    call: &Call,
    notebook: &Arc<Notebook>,
    entries: Option<&SearchableEntries>,
    recall: &PromptRecall<'_>,
) -> Result<PromptHits, Error> {
    let PromptRecall { request, passage_bytes, excerpt, is_left_out, is_known, known } = *recall;
    let asked = Asked { call, notebook, entries, request, reach: Reach::Prompt, is_left_out, is_known, known };
    let mut found = asked.find().await?;
    let near = if excerpt.is_none() { found.near_words(&asked) } else { Vec::new() };
    let mut respelled = request.clone();
    for (word, near) in near {
        let query = respell(&respelled.query, &word, &near);
        // The index was brought up to date for the first question.
        let request = Recall { query, assume_unchanged: true, ..request.clone() };
        let of_near = Asked { request: &request, ..asked }.find().await?;
        if of_near.is_in_a_name(&asked.corpora(), &near) {
            (found, respelled) = (of_near, request);
        }
    }
    let asked = Asked { request: &respelled, ..asked };
    // Beside the items that may be shown, and not among them, which they must not influence.
    let all = Asked { reach: Reach::Current, ..asked };
    let all =
        if excerpt.is_none() && has_withheld(&asked) { all.find_in_index(&found.query).await? } else { Vec::new() };
    let corpora = asked.corpora();
    let mut texts = found.texts(&asked, &corpora);
    let fits = excerpt.is_none().then(|| texts.weighed());
    let mut shown = Vec::new();
    for (place, ranked) in found.page.iter().enumerate() {
        let is_known = asked.is_known_hit(&corpora, ranked);
        let (document, entry) = corpora.document(ranked)?;
        // Text of a known item is not shown again, and may not have been read.
        let text = document.text.as_deref().filter(|_| !is_known).unwrap_or_default();
        let Ok(judged) = Approved::judge(text.into()) else { continue };
        if document.text.is_none() && !is_known {
            continue;
        }
        let found_passage = texts.best(place, passage_bytes);
        let fit = fits.as_ref().map_or_else(Fit::default, |fits| {
            let of_terms = texts.fit_of_terms(fits, &ranked.terms);
            // Long-term memory is about everything: neither its title nor the name of its file says what.
            let has_title = !is_name(document.path.file_name(), LONG_TERM_FILE);
            let of_text = texts.fit(fits, place, entry.map(|entry| entry.key.as_str()), has_title).unwrap_or(of_terms);
            // A note that supersedes another one answers what that one answered.
            let is_heir = ranked.inherited > 0.0 && of_terms.evidence > of_text.evidence;
            if is_heir { of_terms } else { of_text }
        });
        let RecallHit { path, title, category, mut passage, .. } =
            hit(&asked, &corpora, &texts, (place, ranked), found_passage.as_ref())?;
        let mut is_whole = false;
        if let Some(excerpt) = excerpt {
            let Some(note) = corpora.note_of_text(ranked, document).filter(|_| !is_known) else { continue };
            let shown = without_older(text, &note);
            let body = shown.get(note.body.clone()).unwrap_or_default();
            let Some(found) = excerpt(&title, &note, body) else { continue };
            is_whole = found.trim() == body.trim();
            passage = found;
        }
        shown.push(PromptHit {
            path,
            name: judged.map(|_| title),
            category,
            passage: judged.map(|_| if is_known { String::new() } else { passage }),
            fit,
            date: corpora.time_of(call, ranked).unwrap_or_default(),
            only_asks: texts.only_asks(place),
            is_known,
            is_whole,
            bytes: text.len(),
        });
    }
    let is_withheld = |ranked: &Ranked| {
        let found = corpora.document(ranked).ok();
        found.is_some_and(|(document, entry)| {
            entry.map_or(document.unapproved.is_some(), |entry| entry.marks.is_withheld())
        })
    };
    let withheld = all.iter().filter(|ranked| is_withheld(ranked)).map(|ranked| {
        let (document, entry) = corpora.document(ranked)?;
        Ok(WithheldHit {
            path: call.scope.display_path(&document.path),
            key: entry.map(|entry| entry.key.clone()),
            fit: fits.as_ref().map_or_else(Fit::default, |fits| texts.fit_of_terms(fits, &ranked.terms)),
            is_of_other_project: entry.is_some_and(|entry| entry.marks.unapproved.is_none()),
        })
    });
    let withheld = withheld.collect::<Result<_, Error>>()?;
    Ok(PromptHits { shown, withheld })
}

/// Returns true if any item may not go into a prompt.
fn has_withheld(asked: &Asked<'_>) -> bool {
    let files = &asked.corpora().notes.files;
    let of_entries =
        asked.entries.is_some_and(|entries| entries.entries.values().any(|entry| entry.marks.is_withheld()));
    of_entries || files.approved().len() < files.len()
}

/// Returns a question of words with another word in the place of one.
fn respell(words: &str, word: &str, near: &str) -> String {
    let respelled: Vec<&str> = words.split(' ').map(|other| if other == word { near } else { other }).collect();
    respelled.join(" ")
}
