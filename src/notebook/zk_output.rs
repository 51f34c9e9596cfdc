//! Parser of zk's output, for a host that runs zk itself.

use serde::{Deserialize, Deserializer};

use super::select::path_parts;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::paths::file_name;
use saddlebag_protocol::Error;

/// A note in the output of `zk list`. In a list of paths, only the path is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ZkNote {
    /// Path as zk prints it: relative to the folder in which zk ran, or absolute.
    pub path: String,
    /// Absolute path.
    pub abs_path: Option<String>,
    /// Title; empty if the note has none.
    pub title: Option<String>,
    /// First paragraph.
    pub lead: Option<String>,
    /// Text without frontmatter and title.
    pub body: Option<String>,
    /// Whole file.
    pub raw_content: Option<String>,
    /// Passages that match the query, or the first paragraph.
    #[serde(default, deserialize_with = "list")]
    pub snippets: Vec<String>,
    /// Tags, without `#`.
    #[serde(default, deserialize_with = "list")]
    pub tags: Vec<String>,
    /// Number of words of the file.
    pub word_count: Option<u64>,
    /// Time of creation, as RFC 3339 in UTC.
    pub created: Option<String>,
    /// Time of the last change, as RFC 3339 in UTC.
    pub modified: Option<String>,
    /// SHA-256 of the file, in lower-case hexadecimal digits.
    pub checksum: Option<String>,
}

/// Reason why zk's output could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ZkOutputError {
    /// The output begins like JSON but is not valid, or is not a list of notes.
    #[error("zk's output begins like JSON but cannot be read: {0}")]
    Json(String),
    /// zk reported an error.
    #[error("zk failed: {0}")]
    Failed(String),
    /// No line is the path of a note.
    #[error("zk's output names no note that ends in `{extension}`")]
    NoPath {
        /// Expected extension, with the dot.
        extension: String,
    },
    /// The note is not in the notebook.
    #[error("zk's output names a note outside of the notebook `{root}`: {path}")]
    OutsideRoot {
        /// Path of the note.
        path: String,
        /// Root of the notebook.
        root: String,
    },
}

impl From<ZkOutputError> for Error {
    fn from(error: ZkOutputError) -> Self {
        Self::invalid_argument(error.to_string(), "pass the whole standard output of zk")
    }
}

/// Reads a list. Go sometimes writes an empty one as `null`.
fn list<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    Option::deserialize(input).map(Option::unwrap_or_default)
}

/// Parses the output of `zk list`: a JSON array, JSON lines, or one path per line.
///
/// Empty output means that there are no notes. Output that begins with `[` or `{` is JSON, and an error if it is not valid; it is
/// never taken for paths.
///
/// ```
/// use saddlebag::notebook::parse_zk_list_output;
///
/// let notes = parse_zk_list_output("facts/a.md\nfacts/b c.md\n").unwrap();
/// assert_eq!(notes[1].path, "facts/b c.md");
/// assert!(parse_zk_list_output("[{\"path\":\"a.md\"").is_err());
/// ```
///
/// # Errors
///
/// [`ZkOutputError::Json`] for invalid JSON, [`ZkOutputError::Failed`] if a line is an error of zk.
pub fn parse_zk_list_output(stdout: &str) -> Result<Vec<ZkNote>, ZkOutputError> {
    let text = stdout.trim_start_matches('\u{feff}').trim();
    let json = |error: serde_json::Error| ZkOutputError::Json(error.to_string());
    match text.as_bytes().first() {
        Some(b'[') => serde_json::from_str(text).map_err(json),
        Some(b'{') => serde_json::Deserializer::from_str(text).into_iter().map(|note| note.map_err(json)).collect(),
        _ => {
            let lines = paths(text);
            lines.map(|line| line.map(|path| ZkNote { path: path.into(), ..ZkNote::default() })).collect()
        }
    }
}

/// Parses the output of `zk new --print-path`: the path of the created note.
///
/// It is the last line that ends in the extension, which is given with or without its dot. If `root` is given, the note must be
/// in it.
///
/// # Errors
///
/// [`ZkOutputError::NoPath`], [`ZkOutputError::OutsideRoot`], and [`ZkOutputError::Failed`] if a line is an error of zk.
pub fn parse_note_path(stdout: &str, extension: &str, root: Option<&str>) -> Result<String, ZkOutputError> {
    let extension = format!(".{}", extension.trim_start_matches('.'));
    let mut last = None;
    for line in paths(stdout) {
        let line = line?;
        let name = file_name(line);
        if name.ends_with(&extension) && name.len() > extension.len() {
            last = Some(line);
        }
    }
    let path = last.ok_or(ZkOutputError::NoPath { extension })?;
    match root {
        Some(root) if !is_inside(path, root) => {
            Err(ZkOutputError::OutsideRoot { path: path.into(), root: root.into() })
        }
        _ => Ok(path.into()),
    }
}

/// Returns the lines that are paths. zk writes messages to standard error, but a host may have mixed both.
fn paths(stdout: &str) -> impl Iterator<Item = Result<&str, ZkOutputError>> {
    let lines = stdout.trim_start_matches('\u{feff}').lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !is_remark(line)).map(|line| match line.strip_prefix("zk: error:") {
        Some(message) => Err(ZkOutputError::Failed(message.trim().into())),
        None => Ok(line),
    })
}

/// Returns true for messages such as `Found 3 notes` and `zk: warning: …`.
fn is_remark(line: &str) -> bool {
    let count = line.strip_prefix("Found ").and_then(|rest| rest.strip_suffix(" notes").or(rest.strip_suffix(" note")));
    line.starts_with("zk: warning:")
        || count.is_some_and(|count| !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns true if a path is below the root, judged by their spelling; a relative path is relative to the root.
fn is_inside(path: &str, root: &str) -> bool {
    let Some(parts) = path_parts(path) else { return false };
    if !path.starts_with('/') {
        return !parts.is_empty();
    }
    path_parts(root).is_some_and(|root| parts.len() > root.len() && parts.starts_with(&root))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(stdout: &str) -> Vec<String> {
        parse_zk_list_output(stdout).expect("valid").into_iter().map(|note| note.path).collect()
    }

    #[test]
    fn every_form_of_a_list_is_read() {
        assert!(listed("").is_empty());
        assert!(listed(" \r\n\n").is_empty());
        assert_eq!(listed("[{\"filename\":\"a.md\",\"path\":\"f/a.md\",\"tags\":null,\"more\":[{}]}]\n"), ["f/a.md"]);
        assert_eq!(listed("{\"path\":\"a.md\"}\n{\"path\":\"b.md\"}\n"), ["a.md", "b.md"]);
        assert_eq!(listed("facts/a.md\nfacts/b c.md\n"), ["facts/a.md", "facts/b c.md"]);
        assert_eq!(listed("/abs/x.md\n"), ["/abs/x.md"]);
        assert_eq!(listed("\u{feff}\r\n  é.md \r\n\r\nb.md"), ["é.md", "b.md"]);
        assert_eq!(listed("zk: warning: x.md: yaml\na.md\nFound 1 note\n"), ["a.md"]);
        assert_eq!(listed("Found things.md\n"), ["Found things.md"]);
    }

    #[test]
    fn the_fields_of_json_are_kept() {
        let recorded = include_str!("../../tests/vectors/zk/expected.json");
        let recorded: serde_json::Value = serde_json::from_str(recorded).expect("valid");
        let all = recorded.get("json_all").expect("recorded");
        let notes = parse_zk_list_output(&all.to_string()).expect("valid");
        assert_eq!(notes.len(), 10);
        let note = notes.iter().find(|note| note.path == "facts/deploy-key.md").expect("recorded");
        assert_eq!(note.title.as_deref(), Some("Deploy key: rotation"));
        assert_eq!((note.tags.join(" "), note.word_count), ("infra secrets".into(), Some(24)));
        assert_eq!(note.created.as_deref(), Some("2026-01-06T10:30:00Z"));
    }

    /// Broken JSON of zk is an error and never taken for a path.
    #[test]
    fn broken_json_is_never_a_path() {
        for broken in [
            "[{\"filename\":\"a.md\"",
            "[",
            "{",
            "{\"path\":1}",
            "[{}]",
            "[]x.md",
            "{\"path\":\"a\"} b.md",
            "[\"a.md\"]",
        ] {
            assert!(matches!(parse_zk_list_output(broken), Err(ZkOutputError::Json(_))), "{broken}");
        }
        assert!(parse_zk_list_output(&"[".repeat(100_000)).is_err());
        assert_eq!(parse_zk_list_output("zk: error: no\n"), Err(ZkOutputError::Failed("no".into())));
    }

    #[test]
    fn the_path_of_a_new_note_is_the_last_matching_line() {
        let path = |stdout: &str, root| parse_note_path(stdout, "md", root);
        assert_eq!(path("/n/facts/a b.md\r\n", Some("/n")), Ok("/n/facts/a b.md".into()));
        assert_eq!(path("x.md\n/n/a.md\nbye\n", Some("/n/")), Ok("/n/a.md".into()));
        assert_eq!(path("facts/a.md", Some("/n")), Ok("facts/a.md".into()));
        assert_eq!(parse_note_path("a.txt", ".txt", None), Ok("a.txt".into()));
        for outside in ["/m/a.md", "/nn/a.md", "/n/../m/a.md", "../a.md"] {
            assert!(matches!(path(outside, Some("/n")), Err(ZkOutputError::OutsideRoot { .. })), "{outside}");
        }
        for nothing in ["", "\n", "a.txt", ".md", "facts/.md"] {
            assert!(matches!(path(nothing, None), Err(ZkOutputError::NoPath { .. })), "{nothing}");
        }
        assert_eq!(path("zk: error: exists", None), Err(ZkOutputError::Failed("exists".into())));
    }
}
