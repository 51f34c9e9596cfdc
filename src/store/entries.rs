//! [`EntryFolder`]: paths of the entries of an agent or a workspace.
//!
//! ```text
//! agents/<agent>/entries/<category>/<key>.md
//! workspaces/<workspace>/entries/<key>.md
//! ```
//!
//! Keys, categories and names of agents can be any text; [`file_stem`] turns them into file names.

use percent_encoding::percent_encode_byte;
use sha2::{Digest as _, Sha256};

use super::folded::{folded_name, is_hidden, is_name};
use super::names::is_device_name;
use super::{NOTE_SUFFIX, PathError, RelPath};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::percent;

/// Folder of the agents.
pub const AGENTS_FOLDER: &str = "agents";
/// Folder of the workspaces.
pub const WORKSPACES_FOLDER: &str = "workspaces";
/// Folder of the entries, in the folder of an agent or a workspace.
pub const ENTRIES_FOLDER: &str = "entries";

/// Returns true if a path lies in the folder of entries of some agent or workspace, in any spelling.
pub fn is_of_entries(path: &RelPath) -> bool {
    let mut segments = path.segments().filter(|segment| !folded_name(segment).is_empty());
    match (segments.next(), segments.next(), segments.next()) {
        (Some(owners), Some(_), Some(entries)) => {
            (is_name(owners, AGENTS_FOLDER) || is_name(owners, WORKSPACES_FOLDER)) && is_name(entries, ENTRIES_FOLDER)
        }
        _ => false,
    }
}

/// Maximum length of a file name that is not cut, in bytes, without its extension.
const MAX_STEM_BYTES: usize = 200;
/// Number of bytes kept of a longer name, before the digest.
const KEPT_STEM_BYTES: usize = 180;
/// Number of bytes of the SHA-256 at the end of a cut name, written in hexadecimal.
const DIGEST_BYTES: usize = 8;

/// Folder of the entries of one agent, or of one workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryFolder {
    root: RelPath,
    has_categories: bool,
}

impl EntryFolder {
    /// Returns the folder of an agent, which has a subfolder per category.
    ///
    /// # Errors
    ///
    /// The name is empty.
    pub fn for_agent(agent: &str) -> Result<Self, PathError> {
        let root = RelPath::new(format!("{AGENTS_FOLDER}/{}/{ENTRIES_FOLDER}", file_stem(agent)))?;
        Ok(Self { root, has_categories: true })
    }

    /// Returns the folder of a workspace, whose entries all have one category.
    ///
    /// # Errors
    ///
    /// The name is empty.
    pub fn for_workspace(workspace: &str) -> Result<Self, PathError> {
        let root = RelPath::new(format!("{WORKSPACES_FOLDER}/{}/{ENTRIES_FOLDER}", file_stem(workspace)))?;
        Ok(Self { root, has_categories: false })
    }

    /// Returns the path of the folder.
    pub fn root(&self) -> &RelPath {
        &self.root
    }

    /// Returns the file of a key. `category` selects the subfolder, if there are subfolders.
    ///
    /// # Errors
    ///
    /// The key or the category is empty.
    pub fn file(&self, category: &str, key: &str) -> Result<RelPath, PathError> {
        let name = format!("{}{NOTE_SUFFIX}", file_stem(key));
        match self.has_categories {
            true => self.root.join(&file_stem(category))?.join(&name),
            false => self.root.join(&name),
        }
    }

    /// Returns the category and the key that the path of a file gives, which its frontmatter may omit. `None` for a
    /// part that was cut, or that [`file_stem`] would write differently.
    pub fn names_of(&self, path: &RelPath) -> (Option<String>, Option<String>) {
        let category = if self.has_categories {
            path.parent()
                .filter(|folder| folder.is_child_of(Some(&self.root)))
                .map(|folder| text_of(folder.file_name()))
        } else {
            None
        };
        (category.flatten(), path.file_name().strip_suffix(NOTE_SUFFIX).and_then(text_of))
    }

    /// Returns the path that a file from elsewhere would have here, judged by its name and its folder.
    ///
    /// # Errors
    ///
    /// The names are too long for a path.
    pub fn place_of(&self, file: &RelPath) -> Result<RelPath, PathError> {
        match file.parent().filter(|_| self.has_categories) {
            Some(folder) => self.root.join(folder.file_name())?.join(file.file_name()),
            None => self.root.join(file.file_name()),
        }
    }

    /// Returns true if a file can hold an entry.
    pub fn has(&self, path: &RelPath) -> bool {
        let below = path.as_str().strip_prefix(self.root.as_str()).and_then(|below| below.strip_prefix('/'));
        below.is_some_and(|below| {
            let folders = below.bytes().filter(|byte| *byte == b'/').count();
            folders == usize::from(self.has_categories)
                && below.ends_with(NOTE_SUFFIX)
                && !below.split('/').any(is_hidden)
        })
    }
}

/// Returns the path of an entry outside of any store. Its folder is its category, for entries of the workspace too.
///
/// # Errors
///
/// The key or the category is empty.
pub fn portable_path(category: &str, key: &str) -> Result<RelPath, PathError> {
    RelPath::new(file_stem(category))?.join(&format!("{}{NOTE_SUFFIX}", file_stem(key)))
}

/// Returns the name of the file or folder for text, without extension: all bytes except `a-z`, `0-9`, `.`, `_` and `-`
/// are percent-encoded.
///
/// Upper case is encoded so that two keys never get one name on a file system that ignores case. A dot at the start or
/// the end, and the first letter of a device name, are encoded because Windows changes such names. A name of more than
/// 200 bytes is cut at 180, and `~` with 16 hexadecimal digits of the SHA-256 of the text follows. The rule is section
/// 1.9 of zombie's export format.
///
/// ```
/// use saddlebag::store::file_stem;
///
/// assert_eq!(file_stem("lead_acme_corp"), "lead_acme_corp");
/// assert_eq!(file_stem("steering:Tone"), "steering%3A%54one");
/// assert_eq!(file_stem("../nul"), "%2E.%2Fnul");
/// assert_eq!(file_stem("nul"), "%6Eul");
/// assert_eq!(file_stem(&"k".repeat(300)).len(), 180 + 17);
/// ```
pub fn file_stem(text: &str) -> String {
    let is_plain = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '.' | '_' | '-');
    let mut stem = percent::encode(text, |c| !is_plain(c));
    if stem.starts_with('.') || is_device(&stem) {
        stem = encode_at(&stem, 0);
    }
    if stem.ends_with('.') {
        stem = encode_at(&stem, stem.len() - 1);
    }
    if stem.len() <= MAX_STEM_BYTES {
        return stem;
    }
    // An escape must not be cut in two.
    let kept = stem.get(..KEPT_STEM_BYTES).unwrap_or(&stem);
    let kept = match kept.rfind('%') {
        Some(escape) if kept.len() - escape < 3 => kept.get(..escape).unwrap_or(kept),
        _ => kept,
    };
    let digest = Sha256::digest(text.as_bytes());
    let digits: String = digest.iter().take(DIGEST_BYTES).map(|byte| format!("{byte:02x}")).collect();
    format!("{kept}~{digits}")
}

/// Returns the text whose file has this name; `None` if it is unknown.
fn text_of(stem: &str) -> Option<String> {
    let text = percent::decode(stem);
    (file_stem(&text) == stem && !stem.contains('~')).then(|| text.into_owned())
}

/// Returns the text of a file or folder name. A name that [`file_stem`] would write differently is returned unchanged.
pub fn text_of_name(stem: &str) -> String {
    text_of(stem).unwrap_or_else(|| stem.into())
}

/// Windows compares the part before the first dot.
fn is_device(stem: &str) -> bool {
    is_device_name(stem.split('.').next().unwrap_or(stem))
}

/// Encodes one ASCII character of a stem.
fn encode_at(stem: &str, at: usize) -> String {
    let (before, rest) = stem.split_at_checked(at).unwrap_or((stem, ""));
    let mut rest = rest.chars();
    let encoded = rest.next().and_then(|c| u8::try_from(c).ok()).map(percent_encode_byte).unwrap_or_default();
    format!("{before}{encoded}{}", rest.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_safe_on_windows_and_where_case_does_not_count() {
        let pairs = [
            (".", "%2E"),
            ("..", "%2E%2E"),
            ("a.", "a%2E"),
            ("con", "%63on"),
            ("con.x", "%63on.x"),
            ("CON", "%43%4F%4E"),
            ("lpt1", "%6Cpt1"),
            ("a\0b\n", "a%00b%0A"),
            ("a/b\\c", "a%2Fb%5Cc"),
            ("🦀", "%F0%9F%A6%80"),
            ("100%", "100%25"),
            ("a b", "a%20b"),
        ];
        for (text, stem) in pairs {
            assert_eq!(file_stem(text), stem, "{text:?}");
            assert_eq!(text_of(stem).as_deref(), Some(text));
        }
    }

    #[test]
    fn long_names_are_cut_after_a_whole_escape_and_stay_different() {
        let long = format!("{}é{}", "k".repeat(178), "x".repeat(40));
        let stem = file_stem(&long);
        assert!(stem.starts_with(&format!("{}~", "k".repeat(178))), "{stem}");
        assert_eq!(stem.len(), 178 + 17);
        assert_ne!(stem, file_stem(&format!("{long}y")));
        assert_eq!(text_of(&stem), None);
        // The digits come from `sha256sum`.
        assert!(file_stem(&"k".repeat(300)).ends_with("~17b16d8ef494060f"));
    }

    #[test]
    fn a_path_gives_the_names_back() {
        let folder = EntryFolder::for_agent("Ops 1").unwrap();
        assert_eq!(folder.root().as_str(), "agents/%4Fps%201/entries");
        let path = folder.file("CORE", "a:b").unwrap();
        assert_eq!(path.as_str(), "agents/%4Fps%201/entries/%43%4F%52%45/a%3Ab.md");
        assert_eq!(folder.names_of(&path), (Some("CORE".to_string()), Some("a:b".to_string())));
        assert!(folder.has(&path));
        assert!(!folder.has(&folder.root().join("a.md").unwrap()));
        for hidden in ["core/.a.md", ".core/a.md"] {
            assert!(!folder.has(&RelPath::new(format!("{}/{hidden}", folder.root())).unwrap()), "{hidden}");
        }

        let shared = EntryFolder::for_workspace("ws").unwrap();
        let path = shared.file("workspace", "k").unwrap();
        assert_eq!(path.as_str(), "workspaces/ws/entries/k.md");
        assert_eq!(shared.names_of(&path), (None, Some("k".to_string())));
    }

    #[test]
    fn a_name_in_another_spelling_gives_no_key() {
        for stem in ["Key", "a%2eb", "a b", "%61", "%zz"] {
            assert_eq!(text_of(stem), None, "{stem}");
        }
    }

    proptest! {
        #[test]
        fn every_key_has_a_file_of_its_own(a in "\\PC{1,70}|[a-cA-C./~%]{1,12}", b in "[a-cA-C./~%]{1,12}") {
            let (stem, other) = (file_stem(&a), file_stem(&b));
            let name = format!("{stem}{NOTE_SUFFIX}");
            prop_assert!(RelPath::new(name).is_ok());
            prop_assert!(stem.len() <= MAX_STEM_BYTES);
            prop_assert_eq!(a == b, stem.eq_ignore_ascii_case(&other));
            if !stem.contains('~') {
                prop_assert_eq!(text_of(&stem), Some(a));
            }
        }
    }
}
