//! [`merge`]: the changes that two machines made to one file, together.

use core::fmt::Write as _;

use saddlebag_log::merges::{Conflict, Kind, Merged, Part, Sides};

use crate::store::{
    DAILY_FOLDER, Date, Layout, NOTE_SUFFIX, PathError, RelPath, file_stem, is_of_entries, text_of_name,
};
use crate::trust::{Provenance, TrustState, mark, sha256};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{head, yaml_scalar};
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum size of each version of a file, in bytes.
pub const MAX_MERGED_BYTES: usize = 4 << 20;

/// Maximum number of versions among which a common one is looked for.
const MAX_VERSIONS: usize = 10_000;

/// Folder of the reviews of a scope, except of those of entries.
const REVIEWS_FOLDER: &str = "merges";

/// Beginning of the field `source` of a review. The path of the file follows.
pub const REVIEW_SOURCE: &str = "merge:";

/// The three versions of a file. `None` is a version in which the file does not exist; for the ancestor also that none is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeSides {
    /// A version that both sides had.
    pub ancestor: Option<Vec<u8>>,
    /// One version that came from the ancestor.
    pub ours: Option<Vec<u8>>,
    /// The other version.
    pub theirs: Option<Vec<u8>>,
}

/// Result of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MergedFile {
    /// Bytes of the file; `None` if it is deleted.
    #[serde(skip)]
    pub content: Option<Vec<u8>>,
    /// Parts that both sides changed.
    pub conflicts: Vec<MergeConflict>,
    /// File that shows the conflicts to a person; `None` if there are none. It is the same whichever side merges.
    pub review: Option<MergeReview>,
}

/// A part that both sides changed in different ways.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MergeConflict {
    /// The part.
    pub part: MergePart,
    /// Its text in the ancestor; `None` if both sides added it.
    pub ancestor: Option<String>,
    /// Its text on our side; `None` if it was deleted.
    pub ours: Option<String>,
    /// Its text on their side; `None` if it was deleted.
    pub theirs: Option<String>,
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MergePart {
    /// All of the file.
    File,
    /// The frontmatter, which cannot be read as fields.
    Frontmatter,
    /// A field of the frontmatter, by its key.
    Field(String),
    /// A paragraph, an item of a list, a row of a table, a heading, or code.
    Paragraph,
}

/// A file that shows conflicts to a person. It waits for approval like any text that nobody has approved, and no prompt has it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MergeReview {
    /// Path relative to the root.
    pub path: String,
    /// Text of the file.
    pub text: String,
}

/// Makes the changes of both sides together. `path` is that of the file, relative to the root.
///
/// See [`saddlebag_log::merges::merge`] for the rules.
///
/// # Errors
///
/// The path is invalid, or a version is not UTF-8, or larger than [`MAX_MERGED_BYTES`].
pub fn merge(path: &str, sides: &MergeSides) -> Result<MergedFile, Error> {
    let path = path_of(path)?;
    let base = text_of("the common ancestor", sides.ancestor.as_deref())?;
    let ours = text_of("our version", sides.ours.as_deref())?;
    let theirs = text_of("their version", sides.theirs.as_deref())?;
    let Merged { text, conflicts } = saddlebag_log::merges::merge(kind_of(&path), Sides { base, ours, theirs });
    let text = text.map(|text| untrusted(text, ours, theirs));
    let review = if conflicts.is_empty() { None } else { Some(review(&path, &conflicts)?) };
    Ok(MergedFile {
        content: text.map(String::into_bytes),
        conflicts: conflicts.into_iter().map(MergeConflict::from).collect(),
        review,
    })
}

/// Returns the newest of some versions that both texts probably come from, as its position; `None` if none is known.
///
/// `versions` are those that one machine saw, the oldest first. See [`saddlebag_log::merges::common_version`].
///
/// # Errors
///
/// A version is not UTF-8, or larger than [`MAX_MERGED_BYTES`], or there are more than 10,000.
pub fn common_version(versions: &[Vec<u8>], ours: &[u8], theirs: &[u8]) -> Result<Option<u32>, Error> {
    if versions.len() > MAX_VERSIONS {
        let message = format!("{} versions are given; the limit is {MAX_VERSIONS}", versions.len());
        return Err(Error::new(ErrorCode::TooLarge, message, "give the newest ones"));
    }
    let read =
        |what: &str, bytes: &'_ [u8]| text_of(what, Some(bytes)).map(|text| text.unwrap_or_default().to_string());
    let texts = versions.iter().map(|version| read("a version", version)).collect::<Result<Vec<_>, _>>()?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (ours, theirs) = (read("our version", ours)?, read("their version", theirs)?);
    Ok(saddlebag_log::merges::common_version(&texts, &ours, &theirs).and_then(|place| u32::try_from(place).ok()))
}

/// Returns a merged text with the provenance that it must have: if the text of one side waits for approval, the result
/// waits too, unless it is the text of a side.
fn untrusted(text: String, ours: Option<&str>, theirs: Option<&str>) -> String {
    let sides = [ours, theirs];
    let waiting = sides.into_iter().flatten().filter_map(|side| TrustState::from_text(side).unapproved());
    let Some(provenance) = waiting.max_by_key(|provenance| *provenance == Provenance::Imported) else { return text };
    if sides.contains(&Some(text.as_str())) || TrustState::from_text(&text).unapproved().is_some() {
        return text;
    }
    let marked = mark(&text, provenance).filter(|text| TrustState::from_text(text).unapproved().is_some());
    marked.unwrap_or_else(|| format!("---\nprovenance: {}\n---\n\n{text}", provenance.as_str()))
}

fn path_of(path: &str) -> Result<RelPath, Error> {
    RelPath::new(path).map_err(|error| {
        Error::new(
            ErrorCode::InvalidName,
            format!("the path {path:?} is invalid: {error}"),
            "give a path relative to the root",
        )
    })
}

fn text_of<'a>(what: &str, bytes: Option<&'a [u8]>) -> Result<Option<&'a str>, Error> {
    let Some(bytes) = bytes else { return Ok(None) };
    if bytes.len() > MAX_MERGED_BYTES {
        let message = format!("{what} has {} bytes; the limit is {MAX_MERGED_BYTES}", bytes.len());
        return Err(Error::new(ErrorCode::TooLarge, message, "merge it by hand, or split the file"));
    }
    let text = core::str::from_utf8(bytes).map_err(|error| {
        let message = format!("{what} is not UTF-8: byte {}", error.valid_up_to());
        Error::new(ErrorCode::NotText, message, "only text is merged; keep one of the versions, or both as files")
    })?;
    Ok(Some(text))
}

/// Returns what a file is for a merge.
fn kind_of(path: &RelPath) -> Kind {
    let is_in_logs = path.parent().is_some_and(|folder| folder.file_name() == DAILY_FOLDER);
    let is_day = path.file_name().strip_suffix(NOTE_SUFFIX).and_then(Date::parse).is_some();
    if is_in_logs && is_day { Kind::Log } else { Kind::Note }
}

impl From<Conflict> for MergeConflict {
    fn from(conflict: Conflict) -> Self {
        let part = match conflict.part {
            Part::File => MergePart::File,
            Part::Frontmatter => MergePart::Frontmatter,
            Part::Field(key) => MergePart::Field(key),
            Part::Paragraph => MergePart::Paragraph,
        };
        Self { part, ancestor: conflict.base, ours: conflict.ours, theirs: conflict.theirs }
    }
}

/// Returns the file that shows conflicts to a person.
fn review(path: &RelPath, conflicts: &[Conflict]) -> Result<MergeReview, Error> {
    let mut parts = String::new();
    for Conflict { part, base, ours, theirs } in conflicts {
        let title = match part {
            Part::File => "The file".into(),
            Part::Frontmatter => "The frontmatter".into(),
            Part::Field(key) => format!("The field {key}"),
            Part::Paragraph => "A paragraph".into(),
        };
        let (first, second) = if ours <= theirs { (ours, theirs) } else { (theirs, ours) };
        let _ = writeln!(parts, "\n## {title}");
        for (version, text) in [("Before", base), ("One version", first), ("The other version", second)] {
            let missing = if version == "Before" { "(nothing, or not known)" } else { "(deleted)" };
            let _ = writeln!(parts, "\n{version}:\n");
            for line in text.as_deref().unwrap_or(missing).lines() {
                let _ = writeln!(parts, "{}", format!("> {line}").trim_end());
            }
        }
    }
    let source = yaml_scalar(&format!("{REVIEW_SOURCE}{path}")).into_owned();
    let digest = sha256(&format!("{path}\n{parts}"));
    let digest = digest.get(..8).unwrap_or_default();
    let title = format!("Merge of {path}");
    let stem = path.file_name().strip_suffix(NOTE_SUFFIX).unwrap_or(path.file_name());
    let invalid = |error: PathError| Error::internal(format!("the path of a review: {error}"));
    let (review, fields) = if is_of_entries(path) {
        let folder = path.parent().ok_or_else(|| Error::internal("an entry without a folder"))?;
        let key = format!("{}-merge-{digest}", text_of_name(stem));
        let file = folder.join(&format!("{}{NOTE_SUFFIX}", file_stem(&key))).map_err(invalid)?;
        (file, format!("key: {}\n", yaml_scalar(&key)))
    } else {
        let name = format!("{REVIEWS_FOLDER}/{}-{digest}{NOTE_SUFFIX}", head(stem, MAX_STEM_BYTES));
        let scope = Layout::history_of(path).map_err(invalid)?;
        let file = scope.absolute(&name).ok_or_else(|| Error::internal("a review outside of its scope"))?;
        (file, format!("title: {}\n", yaml_scalar(&title)))
    };
    let text = format!(
        "---\n{fields}provenance: import\nsource: {source}\n---\n\n# {title}\n\nTwo machines changed the same part of \
         `{path}`. Look at that file, and change it if it should read differently. Then reject this review: it is removed.\n{parts}"
    );
    Ok(MergeReview { path: review.to_string(), text })
}

/// Longest part of a file's name that is in the name of its review, in bytes.
const MAX_STEM_BYTES: usize = 100;

#[cfg(test)]
mod tests {

    use super::*;

    fn sides(ancestor: &str, ours: &str, theirs: &str) -> MergeSides {
        let bytes = |text: &str| (!text.is_empty()).then(|| text.as_bytes().to_vec());
        MergeSides { ancestor: bytes(ancestor), ours: bytes(ours), theirs: bytes(theirs) }
    }

    #[test]
    fn a_review_is_in_the_scope_of_its_file_and_the_same_for_both_sides() {
        for (path, expected) in [
            ("MEMORY.md", "merges/MEMORY-"),
            ("projects/api-0db23a34/notes/plan.md", "projects/api-0db23a34/merges/plan-"),
            ("agents/main/entries/core/a%3Ab.md", "agents/main/entries/core/a%3Ab-merge-"),
            ("workspaces/w/entries/port.md", "workspaces/w/entries/port-merge-"),
        ] {
            let there = merge(path, &sides("The port is 1.\n", "The port is 2.\n", "The port is 3.\n")).unwrap();
            let back = merge(path, &sides("The port is 1.\n", "The port is 3.\n", "The port is 2.\n")).unwrap();
            assert_eq!(there.content, back.content);
            let review = there.review.unwrap();
            assert_eq!(Some(&review), back.review.as_ref());
            assert!(review.path.starts_with(expected) && review.path.ends_with(".md"), "{}", review.path);
            let frontmatter = saddlebag_markdown::Frontmatter::parse(&review.text);
            assert_eq!(frontmatter.problem, None, "{}", review.text);
            assert!(TrustState::from_parsed(&frontmatter, &review.text).unapproved().is_some(), "{}", review.text);
        }
    }

    #[test]
    fn no_text_that_waits_becomes_trusted() {
        for theirs in [
            "---\nprovenance: [tool]\n---\n\nA.\n\nTheirs.\n",
            "---\nprovenance: agent\nProvenance: tool\n---\n\nA.\n\nTheirs.\n",
            "---\nprovenance: tool\n\nA.\n\nTheirs.\n",
            "---\n\"prov\\u0065nance\": tool\nx: [\n---\n\nA.\n\nTheirs.\n",
        ] {
            assert!(TrustState::from_text(theirs).unapproved().is_some(), "{theirs}");
            for ours in ["Mine.\n\nA.\n", "---\ntitle: Mine\n---\n\nMine.\n\nA.\n"] {
                for (ours, theirs) in [(ours, theirs), (theirs, ours)] {
                    let merged = merge("notes/a.md", &sides("A.\n", ours, theirs)).unwrap().content.unwrap();
                    let merged = String::from_utf8(merged).unwrap();
                    assert!(TrustState::from_text(&merged).unapproved().is_some(), "{ours:?} {theirs:?} {merged:?}");
                }
            }
        }
    }

    #[test]
    fn the_folder_and_the_name_make_a_log() {
        let sides = sides("", "### 12:00 — b\nB\n", "### 09:00 — a\nA\n");
        let is_log = |path: &str| merge(path, &sides).unwrap().conflicts.is_empty();
        assert!(is_log("daily/2026-05-30.md") && is_log("projects/api-0db23a34/daily/2026-05-30.md"));
        assert!(!is_log("notes/2026-05-30.md") && !is_log("daily/plan.md"));
    }

    #[test]
    fn what_is_no_text_is_refused_with_its_place() {
        let bytes = MergeSides { ours: Some(b"ab\xff".to_vec()), ..MergeSides::default() };
        let error = merge("a.md", &bytes).unwrap_err();
        assert_eq!(error.code, ErrorCode::NotText);
        assert!(error.to_string().contains("byte 2"), "{error}");
        let large = MergeSides { theirs: Some(vec![b'a'; MAX_MERGED_BYTES + 1]), ..MergeSides::default() };
        assert_eq!(merge("a.md", &large).unwrap_err().code, ErrorCode::TooLarge);
        assert_eq!(merge("../a.md", &MergeSides::default()).unwrap_err().code, ErrorCode::InvalidName);
    }
}
