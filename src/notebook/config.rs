//! [`NotebookConfig`]: configuration of a notebook.
//!
//! # How does an existing zk notebook fare?
//!
//! It is opened in place. Each command reads `.zk/config.toml` again, leniently: a value of the wrong type counts as missing,
//! with a warning. If the file is not valid TOML, readers use the defaults, and writers stop with line and column. The file is
//! never written, except by `init` if it is missing. `.zk/notebook.db` is neither read nor written; hidden files are not notes.
//! Such a notebook gets only the notes that commands are asked for, and the index file, which is hidden from zk.
//! docs/notebook.md lists the fields that are honoured.
//!
//! Listings select and sort notes as `zk list` 0.15.2 does, except for its full-text search; with `zk-links` they also
//! resolve links as zk does. Where zk ignores a mistake silently, there is an error or a warning.

use core::str::FromStr;

use super::glob::Glob;
use super::template::Template;
use crate::store::{SCOPE_PATTERNS, is_hidden};
use saddlebag_collections::{prelude::*, sorted::SortedMap};
use saddlebag_markdown::{TagSyntax, paths::file_name};
use saddlebag_protocol::Error;

/// Path of the configuration, relative to the notebook.
pub const CONFIG_FILE: &str = ".zk/config.toml";

/// Globs of the folder of templates, also as Obsidian writes it.
pub(super) const TEMPLATES_PATTERNS: [&str; 2] = ["templates/**", "Templates/**"];

/// Configuration of a notebook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotebookConfig {
    /// Rules for new notes that belong to no group.
    pub note: NoteConfig,
    /// Variables of all templates.
    pub extra: SortedMap<String, String>,
    /// Groups, sorted by name.
    pub groups: Vec<Group>,
    /// Syntax of tags.
    pub tags: TagSyntax,
    /// Format of links.
    pub link_format: LinkFormat,
    /// True if the path of a link is percent-encoded.
    pub link_encode_path: bool,
    /// True if the path of a link is written without `.md`.
    pub link_drop_extension: bool,
    /// Globs of files that are not notes.
    pub exclude: Vec<Glob>,
    /// Reason why the file is not valid TOML, with the place. The other fields are defaults then.
    pub problem: Option<String>,
}

/// Names and templates of new notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteConfig {
    /// Template of the file name; `None` for the slug of the title.
    pub filename: Option<String>,
    /// Extension without the dot.
    pub extension: String,
    /// File of the note's template, relative to a folder of templates.
    pub template: Option<String>,
    /// Number of characters of an `id`.
    pub id_length: u32,
}

/// Format of links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkFormat {
    /// `[text](path)`.
    Markdown,
    /// `[[path|text]]`.
    Wiki,
    /// A template with `path`, `title` and `filename`.
    Template(Template),
}

/// A group of notes with their own rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Name of the group.
    pub name: String,
    /// Folders, or globs of folders and notes.
    pub paths: Vec<String>,
    /// Rules for new notes, inherited ones included.
    pub note: NoteConfig,
    /// True if the group itself names the template.
    pub has_own_template: bool,
    /// Variables of its templates, inherited ones included.
    pub extra: SortedMap<String, String>,
    /// Globs of files that are not notes, relative to one of `paths`.
    pub exclude: Vec<Glob>,
    pub(super) path_globs: Vec<Glob>,
}

impl Default for NoteConfig {
    /// Returns zk's defaults, except for the file name: the slug of the title says more than an id.
    fn default() -> Self {
        Self { filename: None, extension: "md".into(), template: None, id_length: 4 }
    }
}

impl Default for NotebookConfig {
    /// Returns the rules of a notebook without a configuration: wiki links, and no notes in the folder of templates and
    /// in those of other scopes.
    fn default() -> Self {
        // A default cannot fail. Without one of these globs, notes of other memories would be listed.
        let glob = |pattern: &str| {
            let glob = Glob::from_str(pattern);
            debug_assert!(glob.is_ok(), "a broken invariant: {pattern}: {glob:?}");
            glob.ok()
        };
        let exclude = TEMPLATES_PATTERNS.into_iter().chain(SCOPE_PATTERNS).filter_map(glob).collect();
        Self { link_format: LinkFormat::Wiki, link_encode_path: false, exclude, ..Self::for_zk() }
    }
}

impl NotebookConfig {
    /// Returns the defaults of zk.
    pub(super) fn for_zk() -> Self {
        Self {
            note: NoteConfig::default(),
            extra: SortedMap::default(),
            groups: Vec::new(),
            tags: TagSyntax::default(),
            link_format: LinkFormat::Markdown,
            link_encode_path: true,
            link_drop_extension: true,
            exclude: Vec::new(),
            problem: None,
        }
    }

    /// Refuses to write under an invalid configuration, because the new text would have the wrong place or style.
    ///
    /// # Errors
    ///
    /// The problem of the configuration, with its place.
    pub fn for_writing(&self) -> Result<&Self, Error> {
        match &self.problem {
            None => Ok(self),
            Some(problem) => Err(Error::damaged_file(
                format!("{CONFIG_FILE}: {problem}"),
                "correct the file, or move it away to use the defaults",
            )),
        }
    }

    /// Returns the group of a path: the one that matches exactly, else the one with the nearest folder above it.
    pub fn group_of(&self, path: &str) -> Option<&Group> {
        let exact = self.groups.iter().find(|group| group.path_globs.iter().any(|glob| glob.matches(path)));
        exact.or_else(|| {
            let above = |group: &&Group| group.folders_above(path).map(str::len).max();
            // If several are equally near, the first by name wins.
            self.groups.iter().rev().filter(|group| above(group).is_some()).max_by_key(above)
        })
    }

    /// Returns the rules for a note at this path.
    pub fn note_at(&self, path: &str) -> &NoteConfig {
        self.group_of(path).map_or(&self.note, |group| &group.note)
    }

    /// Returns true if a file is a note of the notebook: not hidden, with the extension of its group, and not
    /// excluded. The path is relative to the notebook.
    pub fn is_indexed(&self, path: &str) -> bool {
        if path.split('/').any(is_hidden) {
            return false;
        }
        let group = self.group_of(path);
        let extension = &group.map_or(&self.note, |group| &group.note).extension;
        file_name(path).rsplit_once('.').is_some_and(|(_, end)| end == extension)
            && !self.exclude.iter().any(|glob| glob.matches(path))
            && !group.is_some_and(|group| {
                group.folders_above(path).any(|folder| {
                    let below = path.get(folder.len() + 1..).unwrap_or_default();
                    group.exclude.iter().any(|glob| glob.matches(below))
                })
            })
    }
}

impl Group {
    /// Returns the paths of the group that are folders above this path.
    fn folders_above<'a>(&'a self, path: &str) -> impl Iterator<Item = &'a str> {
        self.paths.iter().map(String::as_str).filter(move |folder| {
            path.strip_prefix(*folder).is_some_and(|rest| rest.starts_with('/') && !folder.is_empty())
        })
    }
}
