//! Files of a simulated store, with a record for undoing changes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Bound;

use saddlebag::protocol::{FsError, Version};
use sha2::{Digest, Sha256};

/// An entry of the tree. Folders are separate nodes, so that empty ones exist.
#[derive(Clone, Debug)]
pub(super) enum Node {
    File(File),
    Directory,
    Link,
}

#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) bytes: Vec<u8>,
    /// Number that is never used twice, so it identifies the bytes.
    pub(super) number: u64,
    /// Time in nanoseconds since 1970.
    pub(super) modified: u64,
}

/// Way in which versions of files are made.
#[derive(Clone, Debug)]
pub(super) enum Versions {
    /// From the number, so that no version is used twice.
    Numbered { prefix: String },
    /// From the bytes: a file that changes back has its old version.
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

/// Change of one operation: each path with its content before.
pub(super) type Change = Vec<(String, Option<Node>)>;

#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    nodes: BTreeMap<String, Node>,
    /// Changes that a crash can still undo, oldest first.
    unsynced: Vec<Change>,
    /// True if spellings that differ in case, or in what Windows drops, are equal. The first spelling is kept.
    pub(super) folds_names: bool,
}

impl Tree {
    /// Returns the spelling under which the entry at `path` is kept. Returns `path` itself if nothing is there.
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

    /// Returns the number of changes that a crash could undo.
    pub(super) fn unsynced(&self) -> usize {
        self.unsynced.len()
    }

    /// Returns the paths of the last change, with their content before.
    pub(super) fn last_change(&self) -> Change {
        self.unsynced.last().cloned().unwrap_or_default()
    }

    /// Undoes the last change.
    pub(super) fn undo(&mut self) {
        for (path, node) in self.unsynced.pop().unwrap_or_default().into_iter().rev() {
            match node {
                Some(node) => self.nodes.insert(path, node),
                None => self.nodes.remove(&path),
            };
        }
    }

    /// Puts `node` at `path`, or removes the entry.
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

    /// Creates the folder `path` and its parents.
    pub(super) fn make_folders(&mut self, path: &str) -> Result<(), FsError> {
        let path = &*self.kept_path(path).into_owned();
        for folder in ancestors(path).chain([path]).filter(|folder| !folder.is_empty()) {
            if !self.is_folder(folder)? {
                self.set(folder, Some(Node::Directory));
            }
        }
        Ok(())
    }

    /// Returns the file at `path`. Refuses other entries, and paths through a file.
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

    /// Returns true if `path` is a folder. Refuses other entries.
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

    /// Returns true if there is an entry at `path`.
    pub(super) fn is_taken(&self, path: &str) -> bool {
        self.nodes.contains_key(&*self.kept_path(path))
    }

    /// Returns all entries whose path begins with `prefix` and sorts after `after`, in order.
    pub(super) fn below<'t>(&'t self, prefix: &'t str, after: &str) -> impl Iterator<Item = (&'t str, &'t Node)> {
        let start = if after < prefix { Bound::Included(prefix) } else { Bound::Excluded(after) };
        self.nodes
            .range::<str, _>((start, Bound::Unbounded))
            .map(|(path, node)| (path.as_str(), node))
            .take_while(move |(path, _)| path.starts_with(prefix))
    }
}

/// Returns a name as APFS and NTFS compare it: without its case, and without what Windows drops at its end.
fn folded(name: &str) -> String {
    let name = name.split(':').next().unwrap_or(name).trim_end_matches(['.', ' ']);
    name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Returns the folders above `path`, outermost first.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}
