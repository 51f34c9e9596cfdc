//! Text that nobody has approved, in the answer of an agent: the answer then is text of a tool, too.

use alloc::string::String;
use alloc::vec::Vec;

use super::question::question;
use super::types::{SessionCall, searchable};
use crate::document::{Note, TagSyntax};
use crate::notebook::{PromptRecall, Recall, recall_for_prompt};
use crate::protocol::Error;

/// Maximum number of items that are compared.
const MAX_ITEMS: u32 = 12;

/// Number of letters and digits from which on a sentence is recognised.
const MIN_LETTERS: usize = 16;

/// Returns true if an answer has a sentence or a line of an item that nobody has approved.
pub(super) async fn holds_unapproved_text(with: &SessionCall<'_>, answer: &str) -> Result<bool, Error> {
    let SessionCall { call, notebook, entries, .. } = *with;
    let Some(query) = question(answer) else { return Ok(false) };
    let searchable = searchable(call, entries).await?;
    let recall = PromptRecall {
        request: &Recall { query, limit: MAX_ITEMS, ..Recall::default() },
        passage_bytes: 0,
        excerpt: None,
        is_left_out: &|_| false,
        is_known: &|_, _| true,
        known: 0,
    };
    let found = recall_for_prompt(call, notebook, searchable.as_ref(), &recall).await?;
    let answer = letters(answer);
    for hit in found.withheld.iter().filter(|hit| !hit.is_of_other_project) {
        let Some(file) = call.scope.file(&hit.path) else { continue };
        let Some(text) = call.load_text(&file).await.ok().flatten() else { continue };
        let body = Note::parse(&text, TagSyntax::default()).body;
        let body = text.get(body).unwrap_or_default();
        let sentences: Vec<String> = body.split(['.', '!', '?', '\n']).map(letters).collect();
        if sentences.iter().any(|sentence| sentence.len() >= MIN_LETTERS && answer.contains(sentence.as_str())) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the letters and digits of text, in lower case.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
