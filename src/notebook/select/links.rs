//! The targets of links, by Saddlebag's rule ([`Resolver`]) or by zk's ([`ZkResolver`]).

use hashbrown::HashMap;
use unicode_normalization::UnicodeNormalization;

use saddlebag_markdown::{
    Link, LinkKind,
    paths::{file_name, folder, join, normalize, stem, without_extension},
    percent,
};

use super::zk_links::ZkResolver;
use crate::notebook::note_filter::NoteFilter;
use crate::notebook::types::{NoteView, SUPERSEDES};
use saddlebag_collections::{order, part::SlicePart, prelude::*};

/// The targets of the links of every note.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkTable {
    /// Index of the first link of each note, and one more for the end.
    starts: Vec<usize>,
    targets: Vec<Option<usize>>,
}

impl LinkTable {
    /// Resolves every link, by Saddlebag's rule.
    pub(crate) fn new(notes: &[NoteView<'_>]) -> Self {
        let resolver = Resolver::new(notes);
        Self::resolve(notes, |from, link| resolver.resolve(from, link).only())
    }

    /// Resolves every link as zk does.
    pub(crate) fn zk(notes: &[NoteView<'_>]) -> Self {
        let mut resolver = ZkResolver::new(notes.iter().map(|view| view.path).collect());
        Self::resolve(notes, |from, link| resolver.resolve(from, link))
    }

    fn resolve(notes: &[NoteView<'_>], mut target: impl FnMut(usize, &Link) -> Option<usize>) -> Self {
        let mut table = Self { starts: vec![0], targets: Vec::new() };
        for (from, view) in notes.iter().enumerate() {
            table.targets.extend(view.note.links.iter().map(|link| target(from, link)));
            table.starts.push(table.targets.len());
        }
        table
    }

    /// Returns for each link of the note, in order, the note that it leads to.
    pub(super) fn targets(&self, note: usize) -> &[Option<usize>] {
        match self.starts.part(note..) {
            [start, end, ..] => self.targets.part(*start..*end),
            _ => &[],
        }
    }
}

/// Resolves the links of all notes, by Saddlebag's rule or by zk's, if a filter follows them or they are `shown`. Else no
/// link leads anywhere.
pub(crate) fn link_table(notes: &[NoteView<'_>], filter: &NoteFilter, shown: bool, as_zk: bool) -> LinkTable {
    match (shown || filter.needs_links(), as_zk) {
        (false, _) => LinkTable::default(),
        (true, true) => LinkTable::zk(notes),
        (true, false) => LinkTable::new(notes),
    }
}

/// Target of one link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resolution {
    To(usize),
    /// To any of these notes, ascending.
    Ambiguous(Vec<usize>),
    /// To no note; perhaps to another file.
    Dead,
    /// Out of the notebook.
    External,
}

impl Resolution {
    /// Returns the note, if the link leads to one.
    pub(crate) fn only(self) -> Option<usize> {
        match self {
            Self::To(note) => Some(note),
            _ => None,
        }
    }
}

/// Resolves links by exact path, else a unique file name, else a unique title or alias.
#[derive(Debug)]
pub(crate) struct Resolver<'a> {
    paths: Vec<&'a str>,
    by_path: HashMap<&'a str, usize>,
    /// By path without the extension.
    by_place: HashMap<&'a str, Vec<usize>>,
    /// By file name without the extension, folded.
    by_stem: HashMap<String, Vec<usize>>,
    /// By title and alias, folded.
    by_name: HashMap<String, Vec<usize>>,
    /// By the path that trusted notes say they supersede, with its extension or without, those notes.
    superseding: HashMap<&'a str, Vec<usize>>,
    /// Notes that wait for approval, ascending.
    unapproved: Vec<usize>,
}

impl<'a> Resolver<'a> {
    /// Learns the names of all notes.
    pub(crate) fn new(notes: &[NoteView<'a>]) -> Self {
        let mut resolver = Self {
            paths: notes.iter().map(|view| view.path).collect(),
            by_path: HashMap::with_capacity(notes.len()),
            by_place: HashMap::with_capacity(notes.len()),
            by_stem: HashMap::with_capacity(notes.len()),
            by_name: HashMap::with_capacity(notes.len()),
            superseding: HashMap::new(),
            unapproved: Vec::new(),
        };
        for (number, view) in notes.iter().enumerate() {
            resolver.by_path.insert(view.path, number);
            resolver.by_place.entry(without_extension(view.path)).or_default().push(number);
            resolver.by_stem.entry(fold(stem(view.path))).or_default().push(number);
            if view.unapproved.is_some() {
                resolver.unapproved.push(number);
            } else {
                for old in view.note.frontmatter.texts(SUPERSEDES) {
                    resolver.superseding.entry(old).or_default().push(number);
                }
            }
            for name in names(view) {
                let notes = resolver.by_name.entry(fold(name)).or_default();
                // A note may have its title as an alias too.
                if notes.last() != Some(&number) {
                    notes.push(number);
                }
            }
        }
        resolver
    }

    /// The note at a path.
    pub(crate) fn place(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// Returns the target of a link of the note `from`.
    pub(crate) fn resolve(&self, from: usize, link: &Link) -> Resolution {
        if link.is_external || link.kind == LinkKind::Url {
            return Resolution::External;
        }
        let target = link.target.trim();
        if target.is_empty() {
            return Resolution::To(from);
        }
        let found = self.look_up(from, link.kind, target);
        if found != Resolution::Dead {
            return found;
        }
        if let Cow::Owned(decoded) = percent::decode(target) {
            let found = self.look_up(from, link.kind, &decoded);
            if found != Resolution::Dead {
                return found;
            }
        }
        found
    }

    /// The note that a person names: by its path, file name, title or alias.
    pub(crate) fn find(&self, name: &str) -> Resolution {
        self.look_up(usize::MAX, LinkKind::Wiki, name.trim())
    }

    /// Returns the notes that a person may mean by a name. A link prefers a file name to a title. Here a word that is the file
    /// name of one note and the title of another is ambiguous, because a wrong guess changes the wrong note.
    pub(crate) fn find_exactly(&self, name: &str) -> Vec<usize> {
        let name = name.trim();
        let note = match self.find(name) {
            Resolution::To(note) => note,
            Resolution::Ambiguous(notes) => return notes,
            Resolution::Dead | Resolution::External => return Vec::new(),
        };
        if name.contains('/') || self.by_path.contains_key(name) {
            return vec![note];
        }
        let mut notes = self.by_name.get(&fold(name)).cloned().unwrap_or_default();
        if let Err(place) = notes.binary_search(&note) {
            notes.insert(place, note);
        }
        if self.newest(&notes).is_some() { vec![note] } else { notes }
    }

    /// Looks a target up. If a trusted note says a name without a folder, a note that waits for approval does not take the
    /// place of a trusted one.
    fn look_up(&self, from: usize, kind: LinkKind, target: &str) -> Resolution {
        if !self.unapproved.is_empty() && from < self.paths.len() && !self.is_unapproved(from) && !target.contains('/')
        {
            let found = self.look_up_among(from, kind, target, &|note| !self.is_unapproved(note));
            if found != Resolution::Dead {
                return found;
            }
        }
        self.look_up_among(from, kind, target, &|_| true)
    }

    fn is_unapproved(&self, note: usize) -> bool {
        self.unapproved.binary_search(&note).is_ok()
    }

    /// Looks a target up among the notes that `may` permits.
    pub(super) fn look_up_among(
        &self,
        from: usize,
        kind: LinkKind,
        target: &str,
        may: &dyn Fn(usize) -> bool,
    ) -> Resolution {
        let permitted = |notes: Option<&Vec<usize>>| -> Vec<usize> {
            notes.into_iter().flatten().copied().filter(|&note| may(note)).collect()
        };
        let from_folder = self.paths.get(from).map_or("", |path| folder(path));
        let of_root = normalize(target);
        let of_folder = if target.starts_with('/') { None } else { join(from_folder, target) };
        let is_relative = target.starts_with("./") || target.starts_with("../");
        let places = match kind {
            _ if kind.is_wiki() && !is_relative => [&of_root, &of_folder],
            _ => [&of_folder, &of_root],
        };
        let mut candidates = Vec::new();
        for place in places.into_iter().flatten().filter(|place| !place.is_empty()) {
            if let Some(&note) = self.by_path.get(place.as_str()).filter(|&&note| may(note)) {
                return Resolution::To(note);
            }
            match permitted(self.by_place.get(place.as_str())).as_slice() {
                [note] => return Resolution::To(*note),
                notes => candidates.extend_from_slice(notes),
            }
        }
        if let Some(place) = if is_relative { &of_folder } else { &of_root } {
            match permitted(Some(&self.of_stem(place))).as_slice() {
                [note] => return Resolution::To(self.newest_of_title(*note, target)),
                notes => candidates.extend_from_slice(notes),
            }
        }
        match permitted(self.by_name.get(&fold(target))).as_slice() {
            [note] => return Resolution::To(*note),
            notes => match self.newest(notes) {
                Some(note) if candidates.is_empty() => return Resolution::To(note),
                _ => candidates.extend_from_slice(notes),
            },
        }
        order::sort_slice(&mut candidates, Ord::cmp);
        candidates.dedup();
        if candidates.is_empty() { Resolution::Dead } else { Resolution::Ambiguous(candidates) }
    }

    /// The note of a file name, unless the name is also its title, in other letters, and newer notes of this
    /// title supersede it: then the newest of those.
    fn newest_of_title(&self, note: usize, target: &str) -> usize {
        let path = self.paths.get(note).copied().unwrap_or_default();
        if self.superseding.is_empty() || target == stem(path) {
            return note;
        }
        let named = self.by_name.get(&fold(target)).filter(|notes| notes.binary_search(&note).is_ok());
        named.and_then(|notes| self.newest(notes)).unwrap_or(note)
    }

    /// The note that no other note of the same name supersedes.
    fn newest(&self, notes: &[usize]) -> Option<usize> {
        if self.superseding.is_empty() {
            return None;
        }
        let is_superseded = |&note: &usize| {
            // Through notes of other names, too: a decision may be reversed, and then taken again.
            let mut chain = vec![note];
            let mut at = 0;
            while let Some(path) = chain.get(at).and_then(|note| self.paths.get(*note)) {
                let names = [*path, without_extension(path)];
                let newer = names.iter().filter_map(|name| self.superseding.get(name)).flatten();
                let unseen: Vec<usize> = newer.copied().filter(|newer| !chain.contains(newer)).collect();
                chain.extend(unseen);
                at += 1;
            }
            chain.iter().skip(1).any(|newer| notes.binary_search(newer).is_ok())
        };
        let mut newest = notes.iter().copied().filter(|note| !is_superseded(note));
        newest.next().filter(|_| newest.next().is_none())
    }

    /// The notes of a file name, of which the path has to end in the folders that the place names.
    fn of_stem(&self, place: &str) -> Vec<usize> {
        let name = file_name(place);
        let folded = fold(place);
        let bare = without_extension(name);
        let whole = self.by_stem.get(&fold(name)).into_iter().flatten().map(|&note| (note, name));
        // `port.md` names the file, `v1.2` is not a file of the type `2`.
        let of_file = self.by_stem.get(&fold(bare)).into_iter().flatten().map(|&note| (note, bare));
        let of_file = of_file.filter(|_| bare.len() < name.len());
        let fits = |&(note, _): &(usize, &str)| {
            let path = self.paths.get(note).copied().unwrap_or_default();
            let (path, place) = (fold(path), folded.as_str());
            [path.as_str(), without_extension(&path)]
                .iter()
                .any(|path| path.strip_suffix(place).is_some_and(|before| before.is_empty() || before.ends_with('/')))
        };
        let found: Vec<(usize, &str)> = whole.chain(of_file).filter(fits).collect();
        let same_case =
            found.iter().filter(|&&(note, name)| self.paths.get(note).is_some_and(|path| stem(path) == name));
        let same_case: Vec<usize> = same_case.map(|&(note, _)| note).collect();
        if same_case.len() == 1 { same_case } else { found.into_iter().map(|(note, _)| note).collect() }
    }
}

/// The title and the aliases of a note.
pub(super) fn names<'a>(view: &NoteView<'a>) -> impl Iterator<Item = &'a str> {
    let title = core::iter::once(view.note.title.as_str());
    title.chain(view.note.aliases.iter().map(String::as_str)).filter(|name| !name.trim().is_empty())
}

/// A name as names are compared: whatever its case, its white space and its way to write accents.
pub(crate) fn fold(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for word in name.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        if word.is_ascii() {
            let start = folded.len();
            folded.push_str(word);
            if let Some(word) = folded.get_mut(start..) {
                word.make_ascii_lowercase();
            }
        } else {
            folded.extend(word.chars().flat_map(char::to_lowercase).nfc());
        }
    }
    folded
}

/// Resolves a path relative to a note. Returns `None` if it leaves the root.
pub(crate) fn resolve_path(from: &str, path: &str) -> Option<String> {
    if path.starts_with('/') { normalize(path) } else { join(folder(from), path) }
}
