//! `search`: the literal search over everything the scope holds.

use alloc::format;
use alloc::sync::Arc;
use atomic_refcell::AtomicRefCell;

use super::{MAX_QUERY_BYTES, SearchRequest};
use crate::engine::Call;
use crate::protocol::{Error, ErrorCode};
use crate::search::{Corpus, FolderScope, Purpose, SearchResults, Terms, read_all, refresh};

/// Searches; brings the corpus up to date first, unless the host vouches that nothing changed.
pub(super) async fn search(
    call: &Call,
    corpus: &Arc<AtomicRefCell<Corpus>>,
    request: &SearchRequest,
) -> Result<SearchResults, Error> {
    if request.query.len() > MAX_QUERY_BYTES {
        let message = format!("query has {} bytes, the limit is {MAX_QUERY_BYTES}", request.query.len());
        return Err(Error::new(ErrorCode::TooLarge, message, "search for a few distinctive words"));
    }
    let terms = Terms::of(&request.query);
    if terms.as_slice().is_empty() {
        return Err(Error::invalid_argument("the query has no words", "give one or more words to look for"));
    }
    let vouched = request.vouched_unchanged && corpus.borrow().is_loaded();
    if !vouched {
        refresh(call, corpus, FolderScope::all(&call.scope.layout), Purpose::Literal).await?;
    }
    // What is known from an index file alone has no text.
    read_all(call, corpus).await;
    let page = (request.offset as usize, request.limit as usize);
    let shown = |path: &_| call.scope.shown(path);
    Ok(corpus.borrow_mut().search(&terms, shown, page, request.max_bytes as usize))
}
