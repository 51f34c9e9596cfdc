//! [`NotebookConfig`]: how a notebook is kept.
//!
//! # How does an existing zk notebook fare?
//!
//! It is opened in place. `.zk/config.toml` is read anew by each command, leniently: what has the wrong type is as if it
//! were missing, with a warning. A file that is no TOML lets readers go on with the defaults and stops writers at the line
//! and column. Nothing of it is ever written but by `init`, where it is missing. `.zk/notebook.db` is neither read nor
//! written; hidden files are no notes. What is added to such a notebook is what a command was asked for, and the index
//! file, which is hidden from zk. What is honoured stands in docs/notebook.md.
//!
//! `saddlebag zk …` answers as zk 0.15.2 does, from the same index: zk's link rule, zk's order, zk's snippets, and its
//! full-text search, which `select/fts/` does in one pass over the texts, with FTS5's tokens, stems and BM25. Recall ranks
//! otherwise; this is for scripts. Where zk answers a mistake with silence, there is an error, or a warning beside the
//! silence.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::glob::Glob;
use crate::document::TagSyntax;
use crate::protocol::{Error, ErrorCode};
use crate::store::{SCOPE_FOLDERS, TEMPLATES_FOLDER, is_hidden};

/// The configuration, below the root of the notebook.
pub const CONFIG_FILE: &str = ".zk/config.toml";

/// The way in which a notebook is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotebookConfig {
    /// New notes outside of every group.
    pub note: NoteConfig,
    /// Variables of every template.
    pub extra: BTreeMap<String, String>,
    /// In the order of their names.
    pub groups: Vec<Group>,
    /// The tags that count.
    pub tags: TagSyntax,
    /// The way in which a link is written.
    pub link_format: LinkFormat,
    /// True if the path of a link is percent-encoded.
    pub link_encode_path: bool,
    /// True if the path of a link goes without `.md`.
    pub link_drop_extension: bool,
    /// Named filters: the arguments of `zk list` by name.
    pub filters: BTreeMap<String, String>,
    /// Paths that are no notes.
    pub exclude: Vec<Glob>,
    /// Why the file could not be read as TOML, with the place; the rest are defaults then.
    pub problem: Option<String>,
}

/// The names and templates of new notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteConfig {
    /// The title of a note that has none.
    pub default_title: String,
    /// The template of its file name; `None`: the slug of its title.
    pub filename: Option<String>,
    /// Without the dot.
    pub extension: String,
    /// The file of its template, below a folder of templates.
    pub template: Option<String>,
    /// The characters of an `id`.
    pub id_charset: Vec<char>,
    /// The number of characters of an `id`.
    pub id_length: u32,
    /// The case of an `id`.
    pub id_case: IdCase,
}

/// The case of an `id`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdCase {
    /// Small letters.
    #[default]
    Lower,
    /// Capital letters.
    Upper,
    /// Both.
    Mixed,
}

/// The way in which a link is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkFormat {
    /// `[text](path)`.
    Markdown,
    /// `[[path|text]]`.
    Wiki,
    /// By a template with `path`, `title` and `filename`.
    Template(String),
}

/// Notes that are kept in another way than the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Folders, or globs of folders and notes.
    pub paths: Vec<String>,
    /// New notes of it, with what it inherits.
    pub note: NoteConfig,
    /// True if the group itself names the template.
    pub has_own_template: bool,
    /// Variables of its templates, with those that it inherits.
    pub extra: BTreeMap<String, String>,
    /// Paths that are no notes, below one of `paths`.
    pub exclude: Vec<Glob>,
    pub(super) path_globs: Vec<Glob>,
}

impl Default for NoteConfig {
    /// As zk has it, but for the file name: the slug of the title says more than an id.
    fn default() -> Self {
        Self {
            default_title: "Untitled".into(),
            filename: None,
            extension: "md".into(),
            template: None,
            id_charset: ALPHANUMERIC.chars().collect(),
            id_length: 4,
            id_case: IdCase::Lower,
        }
    }
}

impl Default for NotebookConfig {
    /// The rules of a notebook without a configuration: wiki-links, and no notes in folders of templates and of other
    /// scopes.
    fn default() -> Self {
        let folders = SCOPE_FOLDERS.into_iter().chain([TEMPLATES_FOLDER]);
        // A default cannot fail; without one of these globs, notes of other memories would be listed.
        let glob = |folder| {
            let glob = Glob::parse(&format!("{folder}/**"));
            debug_assert!(glob.is_ok(), "a broken invariant: {folder}: {glob:?}");
            glob.ok()
        };
        let exclude = folders.filter_map(glob).collect();
        Self { link_format: LinkFormat::Wiki, link_encode_path: false, exclude, ..Self::of_zk() }
    }
}

pub(super) const ALPHANUMERIC: &str = "0123456789abcdefghijklmnopqrstuvwxyz";

impl NotebookConfig {
    /// The defaults of zk.
    pub(super) fn of_zk() -> Self {
        Self {
            note: NoteConfig::default(),
            extra: BTreeMap::new(),
            groups: Vec::new(),
            tags: TagSyntax::default(),
            link_format: LinkFormat::Markdown,
            link_encode_path: true,
            link_drop_extension: true,
            filters: BTreeMap::new(),
            exclude: Vec::new(),
            problem: None,
        }
    }

    /// Refuses to write by a configuration that could not be read: what is written would stay in the
    /// wrong place or style.
    ///
    /// # Errors
    ///
    /// Where it is broken.
    pub fn for_writing(&self) -> Result<&Self, Error> {
        match &self.problem {
            None => Ok(self),
            Some(problem) => Err(Error::new(
                ErrorCode::InvalidArgument,
                format!("{CONFIG_FILE}: {problem}"),
                "mend the file, or move it away to go on with the defaults; nothing was written",
            )),
        }
    }

    /// The group of a path: the one that fits exactly, else the one with the longest folder above it.
    #[must_use]
    pub fn group_of(&self, path: &str) -> Option<&Group> {
        let exact = self.groups.iter().find(|group| group.path_globs.iter().any(|glob| glob.matches(path)));
        exact.or_else(|| {
            let above = |group: &&Group| group.folders_above(path).map(str::len).max();
            // The first of those that are equally near, as the order is that of the names.
            self.groups.iter().rev().filter(|group| above(group).is_some()).max_by_key(above)
        })
    }

    /// The rules for a note at this path.
    #[must_use]
    pub fn note_at(&self, path: &str) -> &NoteConfig {
        self.group_of(path).map_or(&self.note, |group| &group.note)
    }

    /// Returns true if a file is a note of the notebook: not hidden, with the extension of its group, and not excluded.
    /// The path is below the root of the notebook.
    #[must_use]
    pub fn is_indexed(&self, path: &str) -> bool {
        if path.split('/').any(is_hidden) {
            return false;
        }
        let group = self.group_of(path);
        let extension = &group.map_or(&self.note, |group| &group.note).extension;
        let name = path.rsplit('/').next().unwrap_or(path);
        let has_extension = name.rsplit_once('.').is_some_and(|(_, end)| end == extension);
        has_extension
            && !self.exclude.iter().any(|glob| glob.matches(path))
            && !group.is_some_and(|group| {
                group.folders_above(path).any(|folder| {
                    let below = path.get(folder.len() + 1..).unwrap_or_default();
                    group.exclude.iter().any(|glob| glob.matches(below))
                })
            })
    }

    /// The tags that count.
    #[must_use]
    pub fn tag_syntax(&self) -> TagSyntax {
        self.tags
    }
}

impl Group {
    /// Those of its paths that are folders above this one.
    fn folders_above<'a>(&'a self, path: &str) -> impl Iterator<Item = &'a str> {
        self.paths.iter().map(String::as_str).filter(move |folder| {
            path.strip_prefix(*folder).is_some_and(|rest| rest.starts_with('/') && !folder.is_empty())
        })
    }
}
