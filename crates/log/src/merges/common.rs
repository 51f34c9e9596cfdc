//! [`common_version`]: a version that two texts have in common.

use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::{HashMap, HashSet};

use crate::merges::blocks::{Body, Class};
use crate::merges::head::Head;

/// Most versions that are looked at, counted from the newest.
const MOST_VERSIONS: usize = 500;

/// Returns the newest of some versions that both texts probably come from, as its position; `None` if none is known.
///
/// `versions` are those that one machine saw, the oldest first. A text comes from a version if it has a paragraph of the oldest one,
/// and all paragraphs that each later version up to this one added, as far as they are still there. So what only one
/// machine added is never taken for something that the other one deleted. A version that is too old loses nothing, only a deletion
/// may not be seen. A version that equals one of the texts is not looked at, because both were changed since. Texts of one paragraph
/// come from the oldest version if it has one too and was made at the same time. If one is the newest version, and an older one has the
/// paragraph of the other, they come from that; if versions have both paragraphs otherwise, no version is known.
pub fn common_version(versions: &[&str], ours: &str, theirs: &str) -> Option<usize> {
    let skipped = versions.len().saturating_sub(MOST_VERSIONS);
    let paragraphs_of: Vec<HashSet<String>> = versions.iter().skip(skipped).map(|text| paragraphs(text)).collect();
    let mut added_in: HashMap<&str, usize> = HashMap::new();
    for (position, version) in paragraphs_of.iter().enumerate() {
        for paragraph in version {
            added_in.entry(paragraph).or_insert(position);
        }
    }
    let sides = [paragraphs(ours), paragraphs(theirs)];
    let is_common = |(position, version): &(usize, &HashSet<String>)| {
        let is_changed = !versions.get(skipped + position).is_some_and(|text| [ours, theirs].contains(text));
        is_changed
            && sides.iter().all(|side| {
                // For each version, what it added and this version still has, and how much of it the side has.
                let mut counts = vec![(0_usize, 0_usize); position + 1];
                for paragraph in *version {
                    let added = added_in.get(paragraph.as_str()).and_then(|added| counts.get_mut(*added));
                    if let Some((all, kept)) = added {
                        *all += 1;
                        *kept += usize::from(side.contains(paragraph));
                    }
                }
                let has_oldest = counts.first().is_some_and(|(all, kept)| *all == 0 || *kept > 0);
                let has_something = version.is_empty() || counts.iter().any(|(_, kept)| *kept > 0);
                has_oldest && has_something && counts.iter().skip(1).all(|(all, kept)| kept == all)
            })
    };
    let newest = paragraphs_of.iter().enumerate().rev().find(is_common);
    let position = newest.map(|(position, _)| position);
    let versions = versions.get(skipped..).unwrap_or_default();
    position.or_else(|| of_one_paragraph(versions, &paragraphs_of, [ours, theirs], &sides)).map(|place| skipped + place)
}

/// Returns the version that two different texts of one paragraph come from. An edit of the only paragraph leaves none of the oldest
/// version, so the lines that say when it was made lead to that.
fn of_one_paragraph(
    versions: &[&str],
    paragraphs_of: &[HashSet<String>],
    texts: [&str; 2],
    sides: &[HashSet<String>; 2],
) -> Option<usize> {
    let last = versions.last()?;
    let place = |side: &HashSet<String>| paragraphs_of.iter().rposition(|version| version == side);
    let [ours, theirs] = texts;
    let [one, other] = sides;
    let known = [place(one), place(other)];
    // What equals the newest version is of this machine. The other one is older if this machine has changed its paragraph.
    let older = match known {
        [Some(_), Some(place)] if last == &ours && !versions.contains(&theirs) => Some(place),
        [Some(place), Some(_)] if last == &theirs && !versions.contains(&ours) => Some(place),
        [Some(_), Some(_)] => None,
        _ => Some(0),
    }?;
    let is_same = |version: &&HashSet<String>| Some(*version) == paragraphs_of.get(older);
    let run = paragraphs_of.get(..older)?.iter().rev().take_while(is_same).count();
    let version = versions.get(older - run)?;
    let has_one = |text: &HashSet<String>| text.len() == 1;
    let is_common = one != other
        && has_one(one)
        && has_one(other)
        && has_one(paragraphs_of.get(older)?)
        && !texts.contains(version)
        && made(version).next().is_some()
        && texts.iter().all(|text| made(text).eq(made(version)));
    is_common.then_some(older - run)
}

/// Returns the lines of a version that say when it was made.
fn made(text: &str) -> impl Iterator<Item = &str> {
    let head = text.lines().skip(1).take_while(|line| !line.starts_with("---"));
    head.filter(|line| line.starts_with("created:") || line.starts_with("date:")).map(str::trim_end)
}

fn paragraphs(text: &str) -> HashSet<String> {
    let text = text.replace("\r\n", "\n");
    let body = Body::parse(Head::parse(&text).body);
    // Many texts have the same headings.
    body.blocks.iter().filter(|block| block.class != Class::Heading).map(|block| block.text.into()).collect()
}
