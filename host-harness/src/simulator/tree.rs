//! The files of a simulated store, with what is needed to take changes back.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Bound;

use saddlebag::protocol::{FsError, Version};
use sha2::{Digest, Sha256};

/// One thing in the tree. Folders are kept as nodes of their own, so that empty ones exist.
#[derive(Clone, Debug)]
pub(super) enum Node {
    File(File),
    Directory,
    Link,
}

#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) bytes: Vec<u8>,
    /// Never given twice, so it stands for the bytes.
    pub(super) number: u64,
    /// Nanoseconds since 1970.
    pub(super) modified: u64,
}

/// How the versions of files are made.
#[derive(Clone, Debug)]
pub(super) enum Versions {
    /// Of the number, so that no version is given twice.
    Numbered { prefix: String },
    /// Of the bytes: a file that changes back has its old version.
    Hashed { prefix: String },
}

impl Versions {
    pub(super) fn of(&self, file: &File) -> Version {
        Version(match self {
            Self::Numbered { prefix } => format!("{prefix}{}", file.number),
            Self::Hashed { prefix } => {
                let hash = Sha256::digest(&file.bytes);
                hash.iter().fold(prefix.clone(), |text, byte| text + &format!("{byte:02x}"))
            }
        })
    }
}

/// What one operation changed: each path with what was there before.
pub(super) type Change = Vec<(String, Option<Node>)>;

#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    nodes: BTreeMap<String, Node>,
    /// What a crash can still take back, oldest first.
    unsynced: Vec<Change>,
    /// Spellings that differ in case, or in what Windows drops, name one thing. The first spelling is kept.
    pub(super) folds_names: bool,
}

impl Tree {
    /// The path by which what is at `path` is kept; as it is where there is nothing.
    pub(super) fn kept_path<'p>(&self, path: &'p str) -> Cow<'p, str> {
        if !self.folds_names || self.nodes.contains_key(path) {
            return Cow::Borrowed(path);
        }
        let mut kept = String::new();
        for segment in path.split('/') {
            let prefix = if kept.is_empty() { String::new() } else { format!("{kept}/") };
            let named = folded(segment);
            let found = self.below(&prefix, "").find_map(|(path, _)| {
                let name = path[prefix.len()..].split('/').next().filter(|name| folded(name) == named)?;
                Some(format!("{prefix}{name}"))
            });
            kept = found.unwrap_or_else(|| format!("{prefix}{segment}"));
        }
        Cow::Owned(kept)
    }

    /// Begins a change that is done or lost as a whole.
    pub(super) fn begin(&mut self) {
        self.unsynced.push(Change::new());
    }

    /// Makes everything so far survive a crash.
    pub(super) fn sync(&mut self) {
        self.unsynced.clear();
    }

    /// How many changes a crash could take back.
    pub(super) fn unsynced(&self) -> usize {
        self.unsynced.len()
    }

    /// The paths that the last change changed, with what was there before.
    pub(super) fn last_change(&self) -> Change {
        self.unsynced.last().cloned().unwrap_or_default()
    }

    /// Takes the last change back.
    pub(super) fn undo(&mut self) {
        for (path, node) in self.unsynced.pop().unwrap_or_default().into_iter().rev() {
            match node {
                Some(node) => self.nodes.insert(path, node),
                None => self.nodes.remove(&path),
            };
        }
    }

    /// Puts `node` at `path`, or removes what is there.
    pub(super) fn set(&mut self, path: &str, node: Option<Node>) {
        let path = &*self.kept_path(path).into_owned();
        let before = match node {
            Some(node) => self.nodes.insert(path.to_owned(), node),
            None => self.nodes.remove(path),
        };
        if let Some(change) = self.unsynced.last_mut() {
            change.push((path.to_owned(), before));
        }
    }

    /// Makes the folder `path` and those above it.
    pub(super) fn make_folders(&mut self, path: &str) -> Result<(), FsError> {
        let path = &*self.kept_path(path).into_owned();
        for folder in ancestors(path).chain([path]).filter(|folder| !folder.is_empty()) {
            if !self.is_folder(folder)? {
                self.set(folder, Some(Node::Directory));
            }
        }
        Ok(())
    }

    /// The file at `path`; refuses what is not one, and paths that do not lead to one.
    pub(super) fn file(&self, path: &str) -> Result<Option<&File>, FsError> {
        let path = &*self.kept_path(path);
        for folder in ancestors(path) {
            if !self.is_folder(folder)? {
                return Ok(None);
            }
        }
        match self.nodes.get(path) {
            None => Ok(None),
            Some(Node::File(file)) => Ok(Some(file)),
            Some(Node::Directory) => Err(FsError::IsDirectory),
            Some(Node::Link) => Err(FsError::SymbolicLink),
        }
    }

    /// Whether `path` is a folder; refuses what is there and is none.
    pub(super) fn is_folder(&self, path: &str) -> Result<bool, FsError> {
        let path = &*self.kept_path(path);
        for folder in ancestors(path).chain([path]) {
            match self.nodes.get(folder) {
                Some(Node::Directory) => {}
                Some(Node::Link) => return Err(FsError::SymbolicLink),
                Some(Node::File(_)) => return Err(FsError::NotDirectory),
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Whether anything is at `path`.
    pub(super) fn is_taken(&self, path: &str) -> bool {
        self.nodes.contains_key(&*self.kept_path(path))
    }

    /// Everything whose path begins with `prefix` and sorts behind `after`, in order.
    pub(super) fn below<'t>(&'t self, prefix: &'t str, after: &str) -> impl Iterator<Item = (&'t str, &'t Node)> {
        let start = if after < prefix { Bound::Included(prefix) } else { Bound::Excluded(after) };
        self.nodes
            .range::<str, _>((start, Bound::Unbounded))
            .map(|(path, node)| (path.as_str(), node))
            .take_while(move |(path, _)| path.starts_with(prefix))
    }
}

/// A name as APFS and NTFS compare it: without its case, and without what Windows drops at its end.
fn folded(name: &str) -> String {
    let name = name.split(':').next().unwrap_or(name).trim_end_matches(['.', ' ']);
    name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// The folders above `path`, outermost first.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}
