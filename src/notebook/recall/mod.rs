//! Recall: finds the notes and entries that answer a question best, and explains why.
//!
//! All recalls find items in the same way (`search.rs`): for a person or a tool, for a prompt and for a turn of a conversation.
//! Those for a prompt rank as if unapproved text did not exist, and judge the text of each hit that they show.

mod corpora;
mod hits;
mod prompt;
mod search;
mod succession;
mod texts;
mod turn;
mod types;

pub use turn::RecallForTurn;
pub use types::{DEFAULT_HITS, MAX_RECALL_BYTES, Recall, RecallHit, RecallReply, ScorePart};

pub(crate) use corpora::Reach;
pub(crate) use hits::{fitting, render, shortened};
pub(crate) use prompt::{PromptHit, PromptHits, PromptRecall, WithheldHit, recall_for_prompt};
pub(super) use succession::{is_superseded, successions};
pub(crate) use types::PASSAGE_BYTES;

use super::index::{Notebook, warnings};
use super::types::Warning;
use crate::changes::Call;
use crate::search::SearchableEntries;
use crate::search::ranked::Ranked;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;
use search::Asked;
use texts::PassageOf;

/// Finds notes and entries.
pub(crate) async fn recall(
    call: &Call,
    notebook: &Arc<Notebook>,
    entries: Option<&SearchableEntries>,
    request: &Recall,
    reach: Reach,
) -> Result<RecallReply, Error> {
    let (is_left_out, is_known) = (|_: &str| false, |_: &str, _: u64| false);
    let asked =
        Asked { call, notebook, entries, request, reach, is_left_out: &is_left_out, is_known: &is_known, known: 0 };
    let mut found = asked.find().await?;
    let corpora = asked.corpora();
    let mut texts = found.texts(&asked, &corpora);
    let is_doubtful = request.offset == 0 && found.is_doubtful(&corpora, &mut texts);
    let page: Vec<RecallHit> = match request.max_bytes {
        Some(max_bytes) => {
            let around = found.page.iter().enumerate().map(|(place, ranked)| {
                let hit = hits::hit(&asked, &corpora, &texts, (place, ranked), None)?;
                Ok(hits::around(hit, texts.item(place).map_or(0, |item| item.text.lines().count())))
            });
            let around: Vec<usize> = around.collect::<Result<_, Error>>()?;
            let filled = texts.fill(max_bytes as usize, &|place| around.get(place).copied().unwrap_or_default());
            let hits = filled.iter().filter_map(|PassageOf { place, passage, score }| {
                let ranked = found.page.get(*place)?.clone();
                // The words of an item that shows its beginning are in its names.
                let terms = if passage.terms.is_empty() { ranked.terms } else { passage.terms.clone() };
                let ranked = Ranked { score: *score, terms, ..ranked };
                Some(hits::hit(&asked, &corpora, &texts, (*place, &ranked), Some(passage)))
            });
            hits::fitting(hits.collect::<Result<_, Error>>()?, max_bytes as usize)
        }
        None => {
            let hits = found.page.iter().enumerate().map(|(place, ranked)| {
                let passage = texts.best(place, PASSAGE_BYTES);
                hits::hit(&asked, &corpora, &texts, (place, ranked), passage.as_ref())
            });
            hits.collect::<Result<_, Error>>()?
        }
    };
    let mut warnings = warnings(call, notebook);
    warnings.extend(found.remark.take().map(|remark| Warning::new("", remark)));
    let skipped = corpora.notes.skipped(|path| call.scope.display_path(path));
    Ok(RecallReply { rendered: hits::render(&page), hits: page, total: found.total, is_doubtful, warnings, skipped })
}

#[cfg(test)]
mod tests {

    use super::super::testing::{Store, call_at, day};
    use super::*;
    use crate::request::Request;
    use crate::search::SkipKind;

    async fn ask(call: Call, notebook: Arc<Notebook>) -> Result<RecallReply, Error> {
        recall(&call, &notebook, None, &Recall::samples("zebra").remove(1), Reach::All).await
    }

    #[test]
    fn a_hit_whose_file_is_not_text_any_more_is_named_and_not_shown_empty() {
        let (mut store, notebook) = (Store::with(&[("facts/port.md", "# Port\n\nzebra\n")]), Arc::default());
        let hits = |store: &mut Store| {
            let notebook = Arc::clone(&notebook);
            store.run(|fs| ask(call_at(fs, day()), notebook)).expect("answered")
        };
        assert_eq!(hits(&mut store).hits.len(), 1);
        notebook.corpus.borrow_mut().files.drop_texts(0);
        store.corrupt("facts/port.md", b"zebra \xff\n".to_vec());
        let reply = hits(&mut store);
        assert_eq!(reply.hits, [], "{reply:?}");
        let skipped: Vec<_> = reply.skipped.iter().map(|file| (file.path.as_str(), file.kind)).collect();
        assert_eq!(skipped, [("facts/port.md", SkipKind::NotText)]);
    }

    #[test]
    fn a_note_that_was_unreadable_when_the_index_was_written_is_found_by_another_process_once_it_can_be_read() {
        let mut store = Store::with(&[]);
        for number in 0..200 {
            store.put(&format!("facts/n{number:03}.md"), b"# N\n\nhorse\n".to_vec());
        }
        store.put("facts/z.md", b"\xff\n".to_vec());
        assert_eq!(hits_of_new_process(&mut store), Vec::<String>::new());
        assert!(store.names().iter().any(|name| name.starts_with(".saddlebag/index/")), "{:?}", store.names());
        store.put("facts/z.md", b"# Z\n\nzebra\n".to_vec());
        assert_eq!(hits_of_new_process(&mut store), ["facts/z.md"]);
    }

    #[test]
    fn a_file_that_is_not_a_note_is_not_found_whatever_the_index_file_says() {
        let mut store = Store::with(&[(".zk/config.toml", "[note]\n"), ("facts/z.md", "# Z\n\nzebra\n")]);
        for number in 0..200 {
            store.put(&format!("facts/n{number:03}.md"), b"# N\n\nhorse\n".to_vec());
        }
        assert_eq!(hits_of_new_process(&mut store), ["facts/z.md"]);
        // The index file claims to have been made under this configuration.
        store.corrupt(".zk/config.toml", b"[note]\nexclude = [\"facts/z.md\"]\n".to_vec());
        assert_eq!(hits_of_new_process(&mut store), Vec::<String>::new());
    }

    fn hits_of_new_process(store: &mut Store) -> Vec<String> {
        let reply = store.run(|fs| async move {
            let mut call = call_at(fs, day());
            let scope = Arc::get_mut(&mut call.scope).expect("nobody else has it");
            scope.index_file = true;
            ask(call, Arc::default()).await
        });
        reply.expect("answered").hits.into_iter().map(|hit| hit.path).collect()
    }
}
