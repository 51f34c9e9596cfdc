//! [`merge_sides`]: merges two versions of any file of a store. Of a file that cannot be merged, both versions are kept.

use saddlebag::history::{MergeSides, merge};
use saddlebag::store::NOTE_SUFFIX;
use saddlebag::trust::unite_rejections;
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::setup::sharing;
use crate::sync::digests::unite;

/// Maximum length of a file name in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Maximum length of the end of a name that is kept as its suffix, in bytes.
const MAX_SUFFIX_BYTES: usize = 32;

/// A file after a merge, and what lies beside it.
#[derive(Default)]
pub(super) struct MergedSides {
    /// Bytes of the file; `None` if it is deleted.
    pub(super) content: Option<Vec<u8>>,
    /// Number of parts that both sides changed.
    pub(super) conflicts: usize,
    /// Path of the review of these parts.
    pub(super) review: Option<String>,
    /// New files with their paths: the review, and a version that does not have the file's path.
    pub(super) beside: Vec<(String, Vec<u8>)>,
    /// What is reported of a file that could not be merged.
    pub(super) both_kept: Option<BothKept>,
}

/// A file that both sides changed and that cannot be merged.
#[derive(Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct BothKept {
    /// Path of the file.
    pub(crate) path: String,
    /// Path of the other version; `null` if the other side deleted the file.
    pub(crate) other: Option<String>,
}

/// Merges two versions of a file, with its path relative to the root of the store. Both sides get the same result.
pub(super) fn merge_sides(path: &str, sides: MergeSides) -> MergedSides {
    let both = sides.ours.is_some() && sides.theirs.is_some();
    let text = |side: &Option<Vec<u8>>| String::from_utf8_lossy(side.as_deref().unwrap_or_default()).into_owned();
    match path {
        ".gitignore" if both => whole(Some(sharing::merge_ignored(&sides))),
        ".gitattributes" if both => whole(Some(sharing::merge_attributes(&sides))),
        sharing::REJECTIONS if both => {
            whole(Some(unite_rejections(&text(&sides.ours), &text(&sides.theirs), |_| true).into_bytes()))
        }
        sharing::EXPUNGED if both => whole(Some(unite(&text(&sides.ours), &text(&sides.theirs)).into_bytes())),
        path if !path.ends_with(NOTE_SUFFIX) => keep_both(path, sides),
        path => match merge(path, &sides) {
            Ok(merged) => MergedSides {
                conflicts: merged.conflicts.len(),
                review: merged.review.as_ref().map(|review| review.path.clone()),
                beside: merged.review.map(|review| (review.path, review.text.into_bytes())).into_iter().collect(),
                ..whole(merged.content)
            },
            Err(_) => keep_both(path, sides),
        },
    }
}

fn whole(content: Option<Vec<u8>>) -> MergedSides {
    MergedSides { content, ..MergedSides::default() }
}

/// Keeps both versions: one under the path, the other beside it. A file that one side deleted and the other changed stays.
fn keep_both(path: &str, sides: MergeSides) -> MergedSides {
    let (content, beside) = match (sides.ours, sides.theirs) {
        (Some(ours), Some(theirs)) => {
            let (content, other) = if ours > theirs { (ours, theirs) } else { (theirs, ours) };
            (Some(content), Some((beside(path, &other), other)))
        }
        (ours, theirs) => (ours.or(theirs), None),
    };
    let both_kept = BothKept { path: path.into(), other: beside.as_ref().map(|(path, _)| path.clone()) };
    MergedSides { beside: beside.into_iter().collect(), both_kept: Some(both_kept), ..whole(content) }
}

/// Returns a path beside a file for a version of it, such as `a/plan (1f8ac10f2b6d09c3).pdf`. Only this version has it.
fn beside(path: &str, version: &[u8]) -> String {
    let digest: String = Sha256::digest(version).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let (folder, name) = path.split_at(path.rfind('/').map_or(0, |place| place + 1));
    let is_suffix = |place: &usize| *place > 0 && name.len() - place <= MAX_SUFFIX_BYTES;
    let (stem, suffix) = name.split_at(name.rfind('.').filter(is_suffix).unwrap_or(name.len()));
    let mark = format!(" ({digest})");
    let room = MAX_NAME_BYTES.saturating_sub(mark.len() + suffix.len());
    let stem = stem.get(..stem.floor_char_boundary(room)).unwrap_or(stem);
    format!("{folder}{stem}{mark}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_version_lies_beside_the_file_under_a_name_that_fits() {
        let sides = |ours: &[u8], theirs: &[u8]| MergeSides {
            ancestor: None,
            ours: Some(ours.to_vec()),
            theirs: Some(theirs.to_vec()),
        };
        let long = format!("a.b/{}é.pdf", "n".repeat(249));
        for (path, expected) in
            [("a/plan.pdf", "a/plan ("), ("plan", "plan ("), ("a.b/.env", "a.b/.env ("), (long.as_str(), "a.b/nnn")]
        {
            let [one, other] = [merge_sides(path, sides(b"1", b"2")), merge_sides(path, sides(b"2", b"1"))];
            let [(beside, version)] = one.beside.as_slice() else { panic!("{path}") };
            assert_eq!((one.content.as_deref(), version.as_slice()), (Some(&b"2"[..]), &b"1"[..]), "{path}");
            assert_eq!(other.beside.first().map(|(path, _)| path), Some(beside), "{path}");
            assert!(beside.starts_with(expected), "{beside}");
            assert!(beside.rsplit('/').next().is_some_and(|name| name.len() <= MAX_NAME_BYTES), "{beside}");
        }
        let deleted =
            merge_sides("a.pdf", MergeSides { ancestor: Some(b"1".to_vec()), ours: None, theirs: Some(b"2".to_vec()) });
        assert_eq!((deleted.content.as_deref(), deleted.beside.len()), (Some(&b"2"[..]), 0));
        assert!(deleted.both_kept.is_some_and(|kept| kept.other.is_none()));
    }
}
