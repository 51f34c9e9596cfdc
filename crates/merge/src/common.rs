//! [`common_version`]: a version that two texts have in common.

use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::HashMap;

use crate::blocks::Body;
use crate::head::Head;

/// Returns the newest of some versions that both texts certainly had, as its position; `None` if this is not known.
///
/// `versions` are those of one machine, the oldest first. A text that has a paragraph which first appeared in a version
/// came from this version or a later one. A version that is too old loses nothing, so this is the base of a merge: the newest
/// version that holds for both.
#[must_use]
pub fn common_version(versions: &[&str], ours: &str, theirs: &str) -> Option<usize> {
    let mut first_in: HashMap<String, usize> = HashMap::new();
    for (position, version) in versions.iter().enumerate() {
        for block in paragraphs(version) {
            first_in.entry(block).or_insert(position);
        }
    }
    let newest = |text: &str| paragraphs(text).iter().filter_map(|block| first_in.get(block).copied()).max();
    Some(newest(ours)?.min(newest(theirs)?))
}

fn paragraphs(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n");
    let body = Body::parse(Head::parse(&text).body);
    body.blocks.iter().map(|block| block.text.into()).collect()
}
