//! Changes since the index file was written, for hosts that tell if anything has changed.
//!
//! Without them, a new engine would list the store after each change until the index is written again. With them, it reads the
//! notes that have changed since. The file has the token of the store that it is true for; it is not used for any other.

use atomic_refcell::AtomicRefCell;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::catalog::Listed;
use crate::changes::Call;
use crate::engine::{Loaded, load};
use crate::search::corpus::{Corpus, Pages};
use crate::search::parts;
use crate::search::scopes::FolderScope;
use crate::store::RelPath;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Entry, EntryKind, Version};

/// Length of the checksum at the start of the file.
const CHECKSUM_BYTES: usize = 8;

#[derive(Serialize, Deserialize)]
struct Recent<'a> {
    /// Number of the writing of the index file.
    index: u64,
    scheme: &'a str,
    #[serde(borrow)]
    listed: Listed<'a>,
    /// Files that were added, changed or removed, with the time of the last change.
    #[serde(borrow)]
    changed: Vec<(&'a str, u64)>,
}

/// Reads the files that have changed since the index file was written, and the pages of the folders. `None` if they are not
/// known for this token.
pub(crate) async fn read(
    call: &Call,
    corpus: &Arc<AtomicRefCell<Corpus>>,
    generation: &str,
) -> Option<(Vec<Entry>, Pages)> {
    let writing = corpus.borrow().writing().filter(|_| !corpus.borrow().was_updated())?;
    let path = path(call)?;
    let Loaded::Whole { bytes, .. } = load(&call.fs, &path, call.scope.limits.max_file_bytes).await.ok()? else {
        return None;
    };
    let (checksum, encoded) = bytes.strip_prefix(&parts::MAGIC)?.split_first_chunk::<CHECKSUM_BYTES>()?;
    if xxh3_64(encoded) != u64::from_le_bytes(*checksum) {
        return None;
    }
    let recent: Recent<'_> = postcard::from_bytes(encoded).ok()?;
    let is_of_index = recent.index == writing && recent.scheme == call.scope.version_scheme.as_str();
    let is_of_store = recent.listed.generation == Some(generation);
    let scopes = corpus.borrow().scopes(&call.scope.layout);
    if !is_of_index || !is_of_store || !FolderScope::all_hold(&scopes, recent.changed.iter().map(|(path, _)| *path)) {
        return None;
    }
    let entries = recent.changed.iter().map(|&(path, modified)| {
        let path = RelPath::new(path).ok()?;
        Some(Entry { path, kind: EntryKind::File, size: 0, version: Version(String::new()), modified })
    });
    let entries = entries.collect::<Option<_>>()?;
    let pages = recent.listed.pages_under(corpus.borrow().configuration())?;
    Some((entries, pages))
}

/// Writes the changes, if the store has another token than the file says.
pub(super) async fn save(call: &Call, corpus: &Arc<AtomicRefCell<Corpus>>) {
    let Some((generation, content)) = encode(call, &corpus.borrow()) else { return };
    let Some(path) = path(call) else { return };
    // A failed write of a cache is not an error.
    if call.write_cache(&path, content).await {
        corpus.borrow_mut().recorded(generation);
    }
}

/// Returns the content of the file, and the token that it is true for.
fn encode(call: &Call, corpus: &Corpus) -> Option<(String, Vec<u8>)> {
    let generation = corpus.unrecorded_generation()?;
    let index = corpus.writing()?;
    let changed = corpus.changed().map(|path| {
        let known = corpus.files.id(path).and_then(|id| corpus.files.doc(id));
        (path.as_str(), known.map_or(0, |document| document.modified))
    });
    let listed = Listed::of(corpus, Some(generation), |_| true);
    let recent = Recent { index, scheme: &call.scope.version_scheme, listed, changed: changed.collect() };
    let encoded = postcard::to_allocvec(&recent).ok()?;
    let mut content = parts::MAGIC.to_vec();
    content.extend_from_slice(&xxh3_64(&encoded).to_le_bytes());
    content.extend_from_slice(&encoded);
    Some((generation.into(), content))
}

fn path(call: &Call) -> Option<RelPath> {
    call.scope.layout.in_notebook(".saddlebag/index/recent").ok()
}
