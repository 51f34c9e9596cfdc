//! The index file: records that a new engine need not read and parse again.
//!
//! It is a cache and never the truth: every file in it is known by its version, and is read again if the version differs. If
//! anything is wrong with it (a missing part, a wrong checksum, another format), it is not used. It is written in parts,
//! because a host may limit the size of a write. Each part names the writing that it belongs to.
//!
//! # What is the index, and what is on disk?
//!
//! A `Corpus` is the one index of the opened `memory`, for all families. It keeps only what was needed so far:
//!
//! | Part | Made | Grows with |
//! | --- | --- | --- |
//! | `Files`: path, version | By the first command that looks at the tree | The notes |
//! | Their texts | By the first literal search, and for the hits of a recall | The text, up to `max-index-bytes` |
//! | Literal words and their lines | By the second literal search | The text |
//! | The parsed notes, as bytes (`EncodedNote`); the ranked index; which note supersedes which; invalid frontmatter | By the first command of the notebook that asks the index | The notes |
//!
//! **Which files.** The Markdown files directly in the root, those of the journal, and every file of the scope's tree that
//! is a note by the configuration of the notebook; before a notebook command has read it, every Markdown file. Literal search
//! answers from the journal's files whatever the configuration says, the notebook from its notes. Hidden files and folders are
//! left out, and so is the memory of other scopes: `projects/<slug>/`, `agents/*/entries/`, `workspaces/*/entries/`. Folders
//! are listed one after the other, at most 65,536 of them with 1,048,576 entries each.
//!
//! **Numbers.** A file has a number (`DocId`). A changed file is a new file under a new number, and numbers only grow: the
//! index entries of the old one are skipped until the index is packed. So a change costs its own size. Packing
//! (`RankedIndex::settle`) happens when most of the documents are gone, or when the new part has more than half the postings of
//! the packed part. Spread over the notes, that too costs each its own size.
//!
//! **Texts.** A notebook command indexes the notes batch by batch (`READ_BATCH`) as they are read, and then drops each text:
//! memory holds the words and not the texts. The passages of a hit are cut from its text, which is read for that and kept. Once
//! literal search was used, which needs every text, all texts are kept.
//!
//! **Versions.** A file of the index is known by the version that the host gave it, and read again when a listing shows
//! another. There is no generation and no watch: one listing is the whole check. Hosts of other version schemes have columns of
//! their own; see `schemes.rs`. A note with a new version but the same bytes is not indexed again.
//!
//! **The index file** lets a new engine begin without reading every note. It is in `.saddlebag/index/` of the scope,
//! `0000` and on. For each note it holds number, path, hash of the bytes and parsed form; for each version scheme the versions
//! and times of the notes; then the ranked index in the form in which it is used. Notes and ranked index are decoded only when
//! needed. Texts are not in it; those of the hits are read. For each scheme it also holds the versions of the pages on which
//! the notes were listed: a folder in which nothing changed is `unchanged`, and none of its entries crosses the boundary. These
//! versions are valid for the configuration that they were listed under. A folder in which a file could not be read is left out.
//!
//! - *Format.* Each part has at most 2 MiB and begins with a head of 24 bytes: `sbindex` and the number of the format, the
//!   writing, the number of parts, and the number of this part. The writing is the XXH3 checksum (64 bits) of everything after
//!   the heads, so a part of another writing, a missing part and a changed byte all invalidate the index. Entries are encoded
//!   by `postcard`.
//! - *Read* by the first command that asks the index of the notebook, in an engine that has not listed anything yet. It is
//!   not used if the configuration now reads tags in another way.
//! - *Written* if there are at least 128 notes (`MIN_NOTES`) and a tenth of them were added, removed or changed since it was
//!   read or written; reading fewer notes again is about as fast as writing. If the host refuses, the command continues.
//! - *Deleted* at any time; `index-file` of the `config` (`--no-index-file`) turns it off.
//!
//! It is never the truth: it says what a file of this path and version holds, and the listing says which files and versions
//! exist. Two concurrent writers leave parts of two writings, which is not a valid index, and the next command writes a new one.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use atomic_refcell::AtomicRefCell;

use saddlebag_search::ranked::RankedIndex;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::corpus::{Corpus, Page, Pages, Restored};
use super::files::{DocId, EncodedNote, IndexedFile};
use super::schemes::{ContentHash, MAX_SCHEMES, OtherScheme, OtherSchemes, Seen};
use super::scopes::FolderScope;
use crate::document::{FrontmatterProblem, TagSyntax};
use crate::engine::{Call, Loaded, load_all, write_cache};
use crate::protocol::{EntryKind, LeftOut, LeftOutName, Version};
use crate::sorted::{SortedMap, SortedSet};
use crate::store::RelPath;

/// First bytes of a part. The number changes with the format, and with the rules for which files are notes under the
/// same configuration.
const MAGIC: [u8; 8] = *b"sbindex\x05";
/// Length of the head of a part: magic bytes, writing, number of parts, number of this part.
const HEAD_BYTES: usize = 24;
/// Maximum size of a part in bytes, its head included. Each part is copied several times, which is faster while it
/// fits into a processor's cache; and a host may limit the size of a write.
const PART_BYTES: usize = 2 << 20;
/// Maximum number of parts.
const MAX_PARTS: u32 = 1024;
/// Number of parts that are read together.
const PARTS_AT_ONCE: u32 = 4;
/// Length of the number that gives the length of the following catalog.
const LENGTH_BYTES: usize = 8;
/// Maximum spread of file numbers. Numbers only grow, and a rebuilt index begins at 0.
const MAX_SPREAD: usize = 64;
/// Minimum number of notes for an index file. Fewer notes are read as fast as their index.
const MIN_NOTES: usize = 128;

/// Returns true if bytes begin as a part of an index file, whatever the number of its format.
#[cfg(feature = "trace")]
pub(crate) fn is_part(bytes: &[u8]) -> bool {
    bytes.starts_with(b"sbindex")
}

/// Part of the index file before the ranked index.
#[derive(Serialize, Deserialize)]
struct Catalog<'a> {
    tags: TagSyntax,
    #[serde(borrow)]
    notes: Vec<Entry<'a>>,
    supersedes: Vec<(String, Vec<DocId>)>,
    problems: Vec<(String, FrontmatterProblem)>,
    /// Schemes; the last written one comes first.
    schemes: Vec<Scheme<'a>>,
}

/// Records of the hosts of one scheme.
#[derive(Serialize, Deserialize)]
struct Scheme<'a> {
    name: &'a str,
    /// A [`Seen`] for each note, encoded.
    seen: &'a [u8],
    /// [`Listed`], encoded.
    listed: &'a [u8],
}

/// Folders that the hosts of one scheme have listed.
#[derive(Default, Serialize, Deserialize)]
struct Listed<'a> {
    /// Version of the configuration that `folders` follow.
    configuration: Option<&'a str>,
    /// Folders whose notes are all in the index.
    #[serde(borrow)]
    folders: Vec<Folder<'a>>,
}

/// A folder, as it was listed.
#[derive(Serialize, Deserialize)]
struct Folder<'a> {
    /// Path; `None` for the root.
    path: Option<&'a str>,
    #[serde(borrow)]
    pages: Vec<ListedPage<'a>>,
}

/// A page of a folder.
#[derive(Serialize, Deserialize)]
struct ListedPage<'a> {
    after: Option<&'a str>,
    next: Option<&'a str>,
    version: Option<&'a str>,
    #[serde(borrow)]
    folders: Vec<&'a str>,
    /// Names that no path can have, each with true for a folder, and the number of further ones.
    #[serde(borrow)]
    left_out: (Vec<(&'a str, bool)>, u32),
}

/// A file.
#[derive(Serialize, Deserialize)]
struct Entry<'a> {
    id: DocId,
    path: &'a str,
    hash: ContentHash,
    /// Parsed note, encoded.
    note: &'a [u8],
}

/// Loads the index from the store, if the corpus is empty and the store has one.
pub(crate) async fn read(call: &Call, corpus: &Arc<AtomicRefCell<Corpus>>) {
    if !call.scope.index_file || !corpus.borrow().is_untouched() {
        return;
    }
    let bytes = read_parts(call).await;
    let mut corpus = corpus.borrow_mut();
    if !corpus.is_untouched() {
        return;
    }
    corpus.has_looked_for_index = true;
    let index = bytes.and_then(|bytes| decode(bytes, &corpus, &call.scope.version_scheme));
    if let Some(index) = index.filter(|index| is_of_scope(call, index)) {
        corpus.restore(index);
    }
}

/// Reads the index file before it is overwritten, if the corpus began without it, to keep the records of other
/// schemes.
async fn read_others(call: &Call, corpus: &Arc<AtomicRefCell<Corpus>>) {
    if corpus.borrow().has_looked_for_index {
        return;
    }
    let bytes = read_parts(call).await;
    let mut corpus = corpus.borrow_mut();
    if corpus.has_looked_for_index {
        return;
    }
    corpus.has_looked_for_index = true;
    let index = bytes.and_then(|bytes| decode(bytes, &corpus, &call.scope.version_scheme));
    if let Some(index) = index.filter(|index| is_of_scope(call, index)) {
        corpus.adopt_others(index);
    }
}

/// Returns true if this memory may read every file of the index. Whoever wrote it may have named others.
fn is_of_scope(call: &Call, index: &Restored) -> bool {
    let folders = FolderScope::all(&call.scope.layout);
    index.documents.iter().all(|(_, document)| folders.iter().any(|folder| folder.holds(&document.path)))
}

/// Writes the index, if enough has changed.
pub(crate) async fn save(call: &Call, corpus: &Arc<AtomicRefCell<Corpus>>) {
    {
        let corpus = corpus.borrow();
        let (unsaved, notes) = (corpus.unsaved(), corpus.files.len());
        // Reading a tenth of the notes is about as fast as writing the index.
        if !call.scope.index_file || notes < MIN_NOTES || unsaved * 10 < notes {
            return;
        }
    }
    read_others(call, corpus).await;
    let Some(bytes) = encode(&corpus.borrow(), &call.scope.version_scheme) else { return };
    corpus.borrow_mut().saved();
    // One after the other, because each part is a copy.
    for (number, part) in parts(&bytes).enumerate() {
        let Some(path) = part_path(call, number) else { return };
        // A failed write of a cache is not an error.
        if !write_cache(&call.fs, &path, part).await {
            return;
        }
    }
}

fn part_path(call: &Call, number: usize) -> Option<RelPath> {
    call.scope.layout.in_notebook(&alloc::format!(".saddlebag/index/{number:04}")).ok()
}

fn encode(corpus: &Corpus, scheme: &str) -> Option<Vec<u8>> {
    let mut notes: Vec<Entry<'_>> = Vec::with_capacity(corpus.files.len());
    let mut seen: Vec<Seen<'_>> = Vec::with_capacity(corpus.files.len());
    let mut rows: Vec<Option<u32>> = Vec::with_capacity(corpus.files.len());
    let mut incomplete: SortedSet<Option<RelPath>> = SortedSet::default();
    for (id, doc) in corpus.files.since(0) {
        let note = corpus.files.encoded_note(doc);
        let is_known = !doc.version.0.is_empty() && !corpus.is_skipped(&doc.path);
        match note.filter(|_| is_known) {
            Some(note) => {
                notes.push(Entry { id, path: doc.path.as_str(), hash: doc.hash, note });
                seen.push(Seen { version: &doc.version.0, modified: doc.modified });
                rows.push(doc.row);
            }
            None => {
                incomplete.insert(doc.path.parent());
            }
        }
    }
    let folders = corpus.pages().iter().filter(|(folder, _)| !incomplete.contains(*folder));
    let folders = folders.map(|(folder, pages)| Folder {
        path: folder.as_ref().map(RelPath::as_str),
        pages: pages.iter().map(ListedPage::from_page).collect(),
    });
    let configuration = corpus.configuration().map(|version| version.0.as_str());
    let listed = Listed { configuration, folders: folders.collect() };
    let mut columns = alloc::vec![(scheme, postcard::to_allocvec(&seen).ok()?, postcard::to_allocvec(&listed).ok()?)];
    drop((seen, listed));
    for other in corpus.others.iter().filter(|other| other.name != scheme).take(MAX_SCHEMES - 1) {
        let (seen, listed) = seen_by(corpus, other, &rows, &incomplete)?;
        columns.push((&other.name, seen, listed));
    }
    let schemes = columns.iter().map(|(name, seen, listed)| Scheme { name, seen, listed });
    let supersedes = corpus.supersedes().iter().map(|(path, ids)| (path.clone(), ids.clone())).collect();
    let problems = corpus.problems().map(|(path, problem)| (path.as_str().into(), problem.clone())).collect();
    let catalog = Catalog { tags: corpus.tags(), notes, supersedes, problems, schemes: schemes.collect() };
    let of_schemes = columns.iter().map(|(_, seen, listed)| seen.len() + listed.len());
    let of_notes: usize = catalog.notes.iter().map(Entry::room).chain(of_schemes).sum();
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(LENGTH_BYTES + of_notes + corpus.ranked().room()).ok()?;
    bytes.extend_from_slice(&[0; LENGTH_BYTES]);
    let mut bytes = postcard::to_extend(&catalog, bytes).ok()?;
    drop(catalog);
    let length = (bytes.len() - LENGTH_BYTES) as u64;
    bytes.first_chunk_mut::<LENGTH_BYTES>()?.copy_from_slice(&length.to_le_bytes());
    corpus.ranked().encode(&mut bytes);
    Some(bytes)
}

/// Returns the records of another scheme that are still valid, encoded. `rows` are the rows of the notes in the index
/// file that was read.
fn seen_by(
    corpus: &Corpus,
    other: &OtherScheme,
    rows: &[Option<u32>],
    incomplete: &SortedSet<Option<RelPath>>,
) -> Option<(Vec<u8>, Vec<u8>)> {
    let file = corpus.files.index_file();
    let before: Vec<Seen<'_>> = postcard::from_bytes(file.get(other.seen.clone())?).ok()?;
    let row = |row: &Option<u32>| row.and_then(|row| before.get(row as usize)).copied().unwrap_or_default();
    let seen: Vec<Seen<'_>> = rows.iter().map(row).collect();
    let mut listed: Listed<'_> = postcard::from_bytes(file.get(other.listed.clone())?).ok()?;
    listed.folders.retain(|folder| {
        let path = parse(folder.path);
        path.is_some_and(|path| corpus.others.is_unchanged(&path) && !incomplete.contains(&path))
    });
    Some((postcard::to_allocvec(&seen).ok()?, postcard::to_allocvec(&listed).ok()?))
}

/// Returns the range of a part in the file.
fn range_in(file: &[u8], part: &[u8]) -> Option<core::ops::Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(file.as_ptr() as usize)?;
    Some(start..start + part.len())
}

/// Decodes the text after the head of the first part, for a host of this scheme.
fn decode(bytes: Vec<u8>, corpus: &Corpus, scheme: &str) -> Option<Restored> {
    const START: usize = HEAD_BYTES + LENGTH_BYTES;
    let length = bytes.get(HEAD_BYTES..)?.first_chunk::<LENGTH_BYTES>()?;
    let end = usize::try_from(u64::from_le_bytes(*length)).ok()?.checked_add(START)?;
    let file = Arc::new(bytes);
    let catalog: Catalog<'_> = postcard::from_bytes(file.get(START..end)?).ok()?;
    let last = catalog.notes.last().map_or(0, |entry| entry.id as usize);
    let is_sorted = catalog.notes.is_sorted_by(|one, next| one.id < next.id);
    if catalog.tags != corpus.tags() || !is_sorted || last / MAX_SPREAD > catalog.notes.len() {
        return None;
    }
    let mut ranked = RankedIndex::decode(file.clone(), end..file.len())?;
    let numbers: Vec<DocId> = catalog.notes.iter().map(|entry| entry.id).collect();
    // A file that could not be read is not in the catalog. It is read again, under a new number.
    let others: Vec<DocId> = ranked.ids().filter(|id| numbers.binary_search(id).is_err()).collect();
    others.iter().for_each(|id| ranked.remove(*id));
    if ranked.next_id() as usize / MAX_SPREAD > numbers.len() || !ranked.ids().eq(numbers.iter().copied()) {
        return None;
    }
    let mut others = Vec::new();
    let (mut seen, mut listed) = (Vec::new(), Listed::default());
    for (place, Scheme { name, seen: column, listed: folders }) in catalog.schemes.iter().enumerate() {
        let is_named_twice = catalog.schemes.iter().take(place).any(|before| before.name == *name);
        let of_scheme: Vec<Seen<'_>> = postcard::from_bytes(column).ok()?;
        if place >= MAX_SCHEMES || is_named_twice || of_scheme.len() != numbers.len() {
            return None;
        }
        let of_folders: Listed<'_> = postcard::from_bytes(folders).ok()?;
        if *name == scheme {
            (seen, listed) = (of_scheme, of_folders);
        } else {
            let (seen, listed) = (range_in(&file, column)?, range_in(&file, folders)?);
            others.push(OtherScheme { name: (*name).into(), seen, listed });
        }
    }
    // A host of a new scheme has seen nothing.
    seen.resize(numbers.len(), Seen::default());
    let mut documents = Vec::with_capacity(catalog.notes.len());
    let mut unseen: SortedSet<Option<RelPath>> = SortedSet::default();
    for (row, (Entry { id, path, hash, note }, seen)) in (0_u32..).zip(catalog.notes.into_iter().zip(seen)) {
        let Seen { version, modified } = seen;
        let mut document = IndexedFile::new(RelPath::new(path).ok()?, Version(version.into()), modified, None);
        document.note = EncodedNote::InFile(range_in(&file, note)?);
        (document.hash, document.row) = (hash, Some(row));
        if version.is_empty() {
            unseen.insert(document.path.parent());
        }
        documents.push((id, document));
    }
    let mut supersedes = SortedMap::default();
    supersedes.extend(catalog.supersedes);
    let mut problems = SortedMap::default();
    for (path, problem) in catalog.problems {
        problems.insert(RelPath::new(path).ok()?, problem);
    }
    let mut pages = Pages::default();
    // Under another configuration, other files of a folder are notes.
    if listed.configuration == corpus.configuration().map(|version| version.0.as_str()) {
        for Folder { path, pages: listed } in listed.folders {
            let (path, listed) = (parse(path)?, listed.into_iter().map(ListedPage::page).collect::<Option<_>>()?);
            // An unchanged page proves nothing about a note that this scheme has not seen.
            if !unseen.contains(&path) {
                pages.insert(path, listed);
            }
        }
    }
    let others = OtherSchemes::new(others);
    Some(Restored { ranked, documents, supersedes, problems, pages, others, file: file.clone() })
}

impl Entry<'_> {
    /// Estimates its size in bytes, because numbers have variable length.
    fn room(&self) -> usize {
        let numbers = size_of::<u64>() + size_of::<ContentHash>() + 4;
        numbers + self.path.len() + self.note.len()
    }
}

impl<'a> ListedPage<'a> {
    fn from_page(page: &'a Page) -> Self {
        Self {
            after: page.after.as_ref().map(RelPath::as_str),
            next: page.next.as_ref().map(RelPath::as_str),
            version: page.version.as_ref().map(|version| version.0.as_str()),
            folders: page.folders.iter().map(RelPath::as_str).collect(),
            left_out: (page.left_out.names.iter().map(named).collect(), page.left_out.count),
        }
    }

    /// Returns the page; `None` if one of its paths is invalid.
    fn page(self) -> Option<Page> {
        Some(Page {
            after: parse(self.after)?,
            next: parse(self.next)?,
            version: self.version.map(|version| Version(version.into())),
            folders: self.folders.into_iter().map(|path| RelPath::new(path).ok()).collect::<Option<_>>()?,
            left_out: LeftOut {
                names: self.left_out.0.into_iter().map(left_out_name).collect::<Option<_>>()?,
                count: self.left_out.1,
            },
        })
    }
}

fn named(name: &LeftOutName) -> (&str, bool) {
    (name.path.as_str(), name.kind == EntryKind::Directory)
}

fn left_out_name((path, is_folder): (&str, bool)) -> Option<LeftOutName> {
    let kind = if is_folder { EntryKind::Directory } else { EntryKind::File };
    Some(LeftOutName { path: RelPath::new(path).ok()?, kind })
}

/// Parses an optional path; `None` if it is invalid.
fn parse(path: Option<&str>) -> Option<Option<RelPath>> {
    match path {
        Some(path) => RelPath::new(path).ok().map(Some),
        None => Some(None),
    }
}

fn parts(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let writing = xxh3_64(bytes);
    let chunks = bytes.chunks(PART_BYTES - HEAD_BYTES);
    let count = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
    chunks.zip(0_u32..).map(move |(chunk, number)| {
        let mut part = Vec::with_capacity(HEAD_BYTES + chunk.len());
        part.extend_from_slice(&MAGIC);
        part.extend_from_slice(&writing.to_le_bytes());
        part.extend_from_slice(&count.to_le_bytes());
        part.extend_from_slice(&number.to_le_bytes());
        part.extend_from_slice(chunk);
        part
    })
}

/// Parses the head of a part, and returns its content.
fn open(part: &[u8]) -> Option<(u64, u32, u32, &[u8])> {
    let (head, content) = part.split_at_checked(HEAD_BYTES)?;
    let (magic, rest) = head.split_first_chunk::<8>()?;
    let (writing, rest) = rest.split_first_chunk::<8>()?;
    let (count, rest) = rest.split_first_chunk::<4>()?;
    let (number, _) = rest.split_first_chunk::<4>()?;
    (*magic == MAGIC).then_some(())?;
    Some((u64::from_le_bytes(*writing), u32::from_le_bytes(*count), u32::from_le_bytes(*number), content))
}

/// Returns the content of all parts, without their heads.
async fn read_parts(call: &Call) -> Option<Vec<u8>> {
    let mut bytes = load_parts(call, 0..1).await.pop()??;
    let (writing, count, number, content) = open(&bytes)?;
    if number != 0 || count == 0 || count > MAX_PARTS {
        return None;
    }
    // Reserves room for all parts at once, so that the bytes need not be moved.
    bytes.try_reserve_exact(content.len().checked_mul(count as usize - 1)?).ok()?;
    let mut next = 1;
    while next < count {
        let end = count.min(next + PARTS_AT_ONCE);
        let parts = load_parts(call, next as usize..end as usize).await;
        for (expected, part) in (next..end).zip(parts) {
            let part = part?;
            let (of, _, number, content) = open(&part)?;
            if of != writing || number != expected {
                return None;
            }
            bytes.extend_from_slice(content);
        }
        next = end;
    }
    (xxh3_64(bytes.get(HEAD_BYTES..)?) == writing).then_some(bytes)
}

async fn load_parts(call: &Call, numbers: core::ops::Range<usize>) -> Vec<Option<Vec<u8>>> {
    let paths: Option<Vec<RelPath>> = numbers.map(|number| part_path(call, number)).collect();
    debug_assert!(paths.is_some(), "a broken invariant: a part of the index without a path");
    // The index is not used if one of its parts is missing.
    let paths = paths.unwrap_or_default();
    let files: Vec<(&RelPath, Option<Version>)> = paths.iter().map(|path| (path, None)).collect();
    let limit = u32::try_from(PART_BYTES).unwrap_or(u32::MAX).min(call.scope.limits.max_file_bytes);
    let loaded = load_all(&call.fs, &files, limit).await.into_iter();
    loaded
        .map(|answer| match answer {
            Ok(Loaded::Whole { bytes, .. }) => Some(bytes),
            _ => None,
        })
        .collect()
}
