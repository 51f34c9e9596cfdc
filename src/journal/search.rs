//! `search`: literal search over all files of the scope.

use atomic_refcell::AtomicRefCell;

use super::types::{DEFAULT_READ_BYTES, JournalCall, MAX_QUERY_BYTES};
use crate::changes::Call;
use crate::request::{Run, SAMPLE_TEXT, request};
use crate::search::{Corpus, Extent, Purpose, SearchResults, Terms, read_all, refresh};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Searches the files of the journal, see [`Layout::is_journal`](crate::store::Layout::is_journal), or all that
/// [`Recall`](crate::notebook::Recall) covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// Words separated by white space, at most [`MAX_QUERY_BYTES`].
    pub query: String,
    /// Number of matching files to skip, to get the next page.
    pub offset: u32,
    /// Maximum number of hits. Without it, the reply lists 50 hits, and its text has as many as fit into
    /// [`Self::max_bytes`].
    pub limit: Option<u32>,
    /// Size limit of the rendered text in bytes, without its truncation marker.
    pub max_bytes: u32,
    /// If set, the host guarantees, by a watch or a generation number, that nothing changed since the last search. The
    /// store is then not listed. Has no effect on the first search.
    pub assume_unchanged: bool,
    /// If set, all files that [`Recall`](crate::notebook::Recall) covers are searched, also those of other folders.
    pub all_files: bool,
}

impl Search {
    /// Creates a search with the default limits: 50 hits, [`DEFAULT_READ_BYTES`] of text.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            offset: 0,
            limit: None,
            max_bytes: DEFAULT_READ_BYTES,
            assume_unchanged: false,
            all_files: false,
        }
    }
}

request!(Search "search" => SearchResults, Reads, |name| [SAMPLE_TEXT, name].map(Self::new).to_vec());

impl Run<JournalCall<'_>> for Search {
    async fn run(self, with: &JournalCall<'_>) -> Result<SearchResults, Error> {
        search(with.call, with.corpus, &self).await
    }
}

/// Searches. Brings the corpus up to date first, unless the host guarantees that nothing changed.
pub(super) async fn search(
    call: &Call,
    corpus: &Arc<AtomicRefCell<Corpus>>,
    request: &Search,
) -> Result<SearchResults, Error> {
    if request.query.len() > MAX_QUERY_BYTES {
        let message = format!("query has {} bytes, the limit is {MAX_QUERY_BYTES}", request.query.len());
        return Err(Error::new(ErrorCode::TooLarge, message, "search for a few distinctive words"));
    }
    let terms = Terms::from_query(&request.query);
    if terms.as_slice().is_empty() {
        return Err(Error::invalid_argument("the query has no words", "give one or more words to look for"));
    }
    let vouched = request.assume_unchanged && corpus.borrow().is_loaded();
    if !vouched {
        refresh(call, corpus, Purpose::Literal).await?;
    }
    // Files that are known only from an index file have no text yet.
    read_all(call, corpus).await;
    let page = (request.offset as usize, request.limit.map(|limit| limit as usize));
    let shown = |path: &_| call.scope.display_path(path);
    let extent = if request.all_files { Extent::All } else { Extent::Journal };
    Ok(corpus.borrow_mut().search(&terms, extent, shown, page, request.max_bytes as usize))
}
