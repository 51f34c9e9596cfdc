//! [`Source`]: an index that is searched together with others, with the documents of it that count.

use super::bits::Bits;
use super::index::{Counts, Form, RankedIndex};
use super::succession::Succession;
use super::types::Tie;
use saddlebag_collections::prelude::*;

/// An index that is searched together with others. Their documents are ranked as if they were in one index.
pub struct Source<'a> {
    /// The index.
    pub index: &'a RankedIndex,
    /// Predicate for the documents that count; `None` for all. The others influence no score, as if they were not in the
    /// index.
    pub counted: Option<&'a dyn Fn(u32) -> bool>,
    /// Predicate for the documents that may be hits. The others influence scores all the same.
    pub accepted: &'a dyn Fn(u32) -> bool,
    /// Superseded documents, sorted. A superseded document keeps a part of its score. The document that supersedes it has
    /// at least its whole score. If the query has no operators, it is found even if only the superseded one matches.
    pub superseded: &'a [Succession],
    /// Order of documents with equal scores.
    pub tie: &'a dyn Fn(u32) -> Tie<'a>,
}

impl<'a> Source<'a> {
    /// Creates the source with all documents of an index.
    pub fn new(index: &'a RankedIndex, tie: &'a dyn Fn(u32) -> Tie<'a>) -> Self {
        Self { index, counted: None, accepted: &|_| true, superseded: &[], tie }
    }
}

/// Numbers of documents that have a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frequencies {
    /// As the index has stored them, for documents that do not count and removed ones too.
    Stored,
    /// Counted in the postings, which must be in memory, where some documents do not count.
    Counted,
}

/// Documents of an index that count.
pub(super) struct View<'a> {
    pub(super) index: &'a RankedIndex,
    counts: Counts,
    /// Documents that do not count, by slot; `None` if all live ones do.
    hidden: Option<Bits>,
}

impl<'a> View<'a> {
    pub(super) fn of_all(sources: &[Source<'a>]) -> Vec<Self> {
        sources.iter().map(Self::new).collect()
    }

    fn new(source: &Source<'a>) -> Self {
        let index = source.index;
        let Some(counted) = source.counted else { return Self { index, counts: index.counts().clone(), hidden: None } };
        let (mut counts, mut hidden) = (Counts::default(), Bits::new(index.docs().len()));
        for (slot, doc) in (0..).zip(index.docs()).filter(|(_, doc)| doc.is_live) {
            if counted(doc.id) {
                counts.add(&doc.lengths);
            } else {
                hidden.insert(slot);
            }
        }
        let is_whole = counts.docs == index.counts().docs;
        Self { index, counts, hidden: Some(hidden).filter(|_| !is_whole) }
    }

    /// Returns the counts of all documents that count.
    pub(super) fn counts(views: &[Self]) -> Counts {
        Counts::sum(views.iter().map(|view| &view.counts))
    }

    /// Returns true if every document counts.
    pub(super) fn is_whole(&self) -> bool {
        self.hidden.is_none()
    }

    /// Returns true if the document at a slot is live and counts.
    pub(super) fn has(&self, slot: u32) -> bool {
        let is_live = self.index.docs().get(slot as usize).is_some_and(|doc| doc.is_live);
        is_live && self.hidden.as_ref().is_none_or(|hidden| !hidden.contains(slot))
    }

    /// Returns the number of documents with a word, as the index has stored it.
    pub(super) fn docs_with(&self, word: &[u8]) -> u32 {
        self.index.exact(word).map_or(0, |form| self.index.rough_doc_frequency(&form))
    }

    /// Returns the number of documents with a term.
    pub(super) fn frequency(&self, form: &Form, frequencies: Frequencies) -> u32 {
        if self.is_whole() || frequencies == Frequencies::Stored {
            return self.index.rough_doc_frequency(form);
        }
        let postings = self.index.postings(form).into_iter().flatten();
        postings.fold(0, |docs, posting| docs + u32::from(self.has(posting.slot)))
    }
}
