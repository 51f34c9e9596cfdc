//! The catalog: encoding and decoding what the index file says about each note.
//!
//! The head has the catalog, the table of files, and the dictionary of the ranked index. The body has the parsed notes, the
//! postings, and the columns of the schemes. Both have them in this order.

use core::ops::Range;

use saddlebag_collections::{
    Piece,
    prelude::*,
    sorted::{SortedMap, SortedSet},
};
use saddlebag_search::ranked::RankedIndex;
use serde::{Deserialize, Serialize};

use crate::search::corpus::{Corpus, Page, Pages, Restored};
use crate::search::files::{DocId, Table};
use crate::search::parts::{Body, LENGTHS_BYTES};
use crate::search::rows::{self, Row, Rows};
use crate::search::schemes::{MAX_SCHEMES, OtherScheme, OtherSchemes, Seen, SeenColumn};
use crate::store::RelPath;
use saddlebag_markdown::{FrontmatterProblem, TagSyntax};
use saddlebag_protocol::{EntryKind, LeftOut, LeftOutName, Version};

/// Length of the number that gives the length of the following catalog.
const LENGTH_BYTES: usize = 8;
/// Place of the catalog in the head.
const START: usize = LENGTHS_BYTES + LENGTH_BYTES;
/// Maximum spread of file numbers. Numbers only grow, and a rebuilt index begins at 0.
const MAX_SPREAD: usize = 64;

/// Part of the head before the table of files.
#[derive(Serialize, Deserialize)]
pub(super) struct Catalog<'a> {
    tags: TagSyntax,
    /// Version of the configuration that defines which files are notes.
    configuration: Option<&'a str>,
    /// Number of the files, and length of their table.
    files: (usize, usize),
    /// Length of the parsed notes.
    notes: usize,
    supersedes: Vec<(String, Vec<DocId>)>,
    problems: Vec<(String, FrontmatterProblem)>,
    /// Schemes; the last written one comes first.
    #[serde(borrow)]
    schemes: Vec<Scheme<'a>>,
    /// Length of the postings of the ranked index.
    postings: usize,
}

/// Records of the hosts of one scheme.
#[derive(Serialize, Deserialize)]
struct Scheme<'a> {
    name: &'a str,
    /// Time when its hosts wrote it, in seconds since 1970-01-01T00:00:00Z.
    written: i64,
    /// Length of its [`SeenColumn`].
    seen: usize,
    /// Length of [`Listed`], encoded.
    listed: usize,
}

/// Folders that the hosts of one scheme have listed.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Listed<'a> {
    /// Version of the configuration that `folders` follow.
    configuration: Option<&'a str>,
    /// Token of the store at which all of its notes are in the index.
    pub(super) generation: Option<&'a str>,
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

/// Encodes the index as a head and a body, whose pieces the corpus has too, and returns the token at which it has all files.
/// `None` if the words are not packed, or if not all of it is in memory.
pub(super) fn encode(corpus: &Corpus, scheme: &str, now: i64) -> Option<(Vec<u8>, Vec<Piece>, Option<String>)> {
    let mut files: Vec<Row<'_>> = Vec::with_capacity(corpus.files.len());
    let mut of_records = 0_usize;
    let mut body: Vec<Piece> = Vec::new();
    let mut seen: Vec<Seen<'_>> = Vec::with_capacity(corpus.files.len());
    let mut rows: Vec<Option<u32>> = Vec::with_capacity(corpus.files.len());
    let mut incomplete: SortedSet<Option<RelPath>> = SortedSet::default();
    for (id, doc) in corpus.files.since(0) {
        let record = corpus.files.shared_note(doc);
        let is_known = !doc.version.0.is_empty() && !corpus.is_skipped(&doc.path);
        match record.filter(|_| is_known) {
            Some(record) => {
                let note = of_records..of_records + record.len();
                of_records = note.end;
                let unapproved = doc.unapproved;
                files.push(Row { id, path: doc.path.as_str(), hash: doc.hash, note, unapproved });
                record.push_to(&mut body);
                seen.push(Seen { version: &doc.version.0, modified: doc.modified });
                rows.push(doc.row);
            }
            None => {
                incomplete.insert(doc.path.parent());
            }
        }
    }
    let generation = corpus.generation().filter(|_| incomplete.is_empty());
    let listed = Listed::of(corpus, generation, |folder| !incomplete.contains(folder));
    let mut columns = vec![(scheme, now, SeenColumn::encode(&seen)?, postcard::to_allocvec(&listed).ok()?)];
    drop((seen, listed));
    for other in corpus.others.iter().filter(|other| other.name != scheme).take(MAX_SCHEMES - 1) {
        // Damaged columns are dropped, so that the index is written.
        if let Some((seen, listed)) = seen_by(corpus, other, &rows, &incomplete) {
            columns.push((&other.name, other.written, seen, listed));
        }
    }
    let (dictionary, words) = corpus.ranked().packed()?;
    let postings = words.iter().map(|piece| piece.len()).sum();
    body.extend(words);
    let schemes = columns.iter();
    let schemes = schemes.map(|(name, written, seen, listed)| Scheme {
        name,
        written: *written,
        seen: seen.len(),
        listed: listed.len(),
    });
    let supersedes = corpus.supersedes().iter().map(|(path, ids)| (path.clone(), ids.clone())).collect();
    let problems = corpus.problems().map(|(path, problem)| (path.as_str().into(), problem.clone())).collect();
    let schemes = schemes.collect();
    let mut table = Vec::new();
    rows::encode(&files, &mut table)?;
    let files = (files.len(), table.len());
    let catalog = Catalog {
        tags: corpus.tags(),
        configuration: corpus.configuration().map(|version| version.0.as_str()),
        files,
        notes: of_records,
        supersedes,
        problems,
        schemes,
        postings,
    };
    let catalog = postcard::to_allocvec(&catalog).ok()?;
    body.extend(columns.into_iter().flat_map(|(.., seen, listed)| [seen, listed]).map(Piece::from));
    let mut head = Vec::new();
    head.try_reserve_exact(START + catalog.len() + table.len() + dictionary.len()).ok()?;
    head.extend_from_slice(&[0; LENGTHS_BYTES]);
    head.extend_from_slice(&(catalog.len() as u64).to_le_bytes());
    [catalog.as_slice(), table.as_slice(), dictionary].iter().for_each(|part| head.extend_from_slice(part));
    Some((head, body, generation.map(String::from)))
}

/// Returns the records of another scheme that are still valid, encoded. `rows` are the rows of the notes in the index
/// file that was read.
fn seen_by(
    corpus: &Corpus,
    other: &OtherScheme,
    rows: &[Option<u32>],
    incomplete: &SortedSet<Option<RelPath>>,
) -> Option<(Vec<u8>, Vec<u8>)> {
    let file = corpus.files.index_body();
    let before = SeenColumn::new(file.get(other.seen.clone())?, other.count)?;
    let seen = rows.iter().map(|row| row.map_or_else(|| Some(Seen::default()), |row| before.seen(row as usize)));
    let seen: Vec<Seen<'_>> = seen.collect::<Option<_>>()?;
    let mut listed: Listed<'_> = postcard::from_bytes(file.get(other.listed.clone())?).ok()?;
    // The index has other notes than at that token.
    listed.generation = None;
    listed.folders.retain(|folder| {
        let path = parse(folder.path);
        path.is_some_and(|path| corpus.others.is_unchanged(&path) && !incomplete.contains(&path))
    });
    Some((SeenColumn::encode(&seen)?, postcard::to_allocvec(&listed).ok()?))
}

impl<'a> Listed<'a> {
    /// Returns the folders of a corpus that `is_complete` permits.
    pub(super) fn of(
        corpus: &'a Corpus,
        generation: Option<&'a str>,
        is_complete: impl Fn(&Option<RelPath>) -> bool,
    ) -> Self {
        let folders = corpus.pages().iter().filter(|(folder, _)| is_complete(folder));
        let folders = folders.map(|(folder, pages)| Folder {
            path: folder.as_ref().map(RelPath::as_str),
            pages: pages.iter().map(ListedPage::from_page).collect(),
        });
        let configuration = corpus.configuration().map(|version| version.0.as_str());
        Self { configuration, generation, folders: folders.collect() }
    }

    /// Returns the pages. `None` under another configuration, where other files of a folder are notes, and if a path is invalid.
    pub(super) fn pages_under(self, configuration: Option<&Version>) -> Option<Pages> {
        let mut pages = Pages::default();
        if self.configuration != configuration.map(|version| version.0.as_str()) {
            return None;
        }
        for Folder { path, pages: listed } in self.folders {
            pages.insert(parse(path)?, listed.into_iter().map(ListedPage::page).collect::<Option<_>>()?);
        }
        Some(pages)
    }
}

impl<'a> Catalog<'a> {
    /// Parses the catalog in a head.
    pub(super) fn parse(head: &'a [u8]) -> Option<Self> {
        postcard::from_bytes(head.get(Self::range(head)?)?).ok()
    }

    fn range(head: &[u8]) -> Option<Range<usize>> {
        let length = u64::from_le_bytes(*head.get(LENGTHS_BYTES..)?.first_chunk::<LENGTH_BYTES>()?);
        Some(START..usize::try_from(length).ok()?.checked_add(START)?)
    }

    /// Returns the range of the postings in the body, which follow the parsed notes.
    fn postings(&self) -> Option<Range<usize>> {
        Some(self.notes..self.notes.checked_add(self.postings)?)
    }

    /// Returns the ranges of the columns of each scheme in the body: the versions, and the folders.
    fn columns(&self) -> Option<Vec<[Range<usize>; 2]>> {
        let mut next = self.postings()?.end;
        let mut following = |length: usize| {
            let start = next;
            next = next.checked_add(length)?;
            Some(start..next)
        };
        self.schemes.iter().map(|scheme| Some([following(scheme.seen)?, following(scheme.listed)?])).collect()
    }

    /// Returns the ranges of the body that [`restore`](Self::restore) needs for a host of this scheme.
    pub(super) fn needed_ranges(&self, scheme: &str) -> Option<Vec<Range<usize>>> {
        let named = self.schemes.iter().zip(self.columns()?).filter(|(column, _)| column.name == scheme);
        Some(named.flat_map(|(_, ranges)| ranges).collect())
    }

    /// Decodes the index for a host of this scheme.
    pub(super) fn restore(self, head: &Arc<Vec<u8>>, body: Body, corpus: &Corpus, scheme: &str) -> Option<Restored> {
        let (count, length) = self.files;
        let table = Self::range(head)?.end;
        let dictionary = table.checked_add(length)?;
        let rows = Rows::new(head.clone(), table..dictionary, count)?;
        if self.tags != corpus.tags() || rows.notes_len() != self.notes {
            return None;
        }
        let mut ranked =
            RankedIndex::decode((head.clone(), dictionary..head.len()), (body.bytes().clone(), self.postings()?))?;
        // A file that could not be read is not in the table. It is read again, under a new number.
        let mut known = rows.ids().peekable();
        let is_other = |id: &DocId| {
            while known.next_if(|known| known < id).is_some() {}
            known.next_if_eq(id).is_none()
        };
        let others: Vec<DocId> = ranked.ids().filter(is_other).collect();
        drop(known);
        others.iter().for_each(|id| ranked.remove(*id));
        if ranked.next_id() as usize / MAX_SPREAD > count || !ranked.ids().eq(rows.ids()) {
            return None;
        }
        let columns = self.columns()?;
        if columns.last().is_some_and(|[_, folders]| folders.end != body.bytes().len()) {
            return None;
        }
        let mut others = Vec::new();
        let (mut seen, mut listed, mut next_to_go) = (None, Listed::default(), None);
        for (place, (Scheme { name, written, .. }, [column, folders])) in self.schemes.iter().zip(columns).enumerate() {
            let is_named_twice = self.schemes.iter().take(place).any(|before| before.name == *name);
            if place >= MAX_SCHEMES || is_named_twice {
                return None;
            }
            if *name == scheme {
                seen = Some(column);
                next_to_go = (place + 1 == MAX_SCHEMES).then_some(*written);
                listed = postcard::from_bytes(body.bytes().get(folders)?).ok()?;
            } else {
                others.push(OtherScheme {
                    name: (*name).into(),
                    written: *written,
                    seen: column,
                    count,
                    listed: folders,
                });
            }
        }
        let mut unseen: SortedSet<Option<RelPath>> = SortedSet::default();
        // Without a column of this scheme, there are no pages of it either.
        if let Some(column) = &seen {
            let column = SeenColumn::new(body.bytes().get(column.clone())?, count)?;
            for row in 0..count {
                if column.seen(row)?.version.is_empty() {
                    unseen.insert(RelPath::new(rows.path(row)?).ok()?.parent());
                }
            }
        }
        let table = Table::new(rows, seen);
        let mut supersedes = SortedMap::default();
        supersedes.extend(self.supersedes);
        let mut problems = SortedMap::default();
        for (path, problem) in self.problems {
            problems.insert(RelPath::new(path).ok()?, problem);
        }
        let generation = listed.generation.filter(|_| unseen.is_empty()).map(String::from);
        let (generation, mut pages) = match listed.pages_under(corpus.configuration()) {
            Some(pages) => (generation, pages),
            None => (None, Pages::default()),
        };
        // An unchanged page proves nothing about a note that this scheme has not seen.
        pages.retain(|folder, _| !unseen.contains(folder));
        let others = OtherSchemes::new(others, next_to_go);
        let configuration = self.configuration.map(|version| Version(version.into()));
        Some(Restored { ranked, table, configuration, supersedes, problems, pages, generation, others, body })
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
