//! Record of the new section, which the store writes before the host writes the section.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::item::Item;
use super::layout::Fitted;
use super::sides::Sides;
use super::written::{Facts, Ledger, Written};
use crate::changes::Call;
use crate::context::LeftOut;
use crate::order;
use crate::protocol::{Error, ErrorCode};
use crate::sorted::SortedMap;

/// Maximum number of attempts to choose a generation when other programs take it meanwhile.
const MAX_RACES: u32 = 64;

/// Builds the record of the new section. Its generation is chosen later.
pub(super) fn record(sides: &Sides<'_>, fitted: &Fitted, kept: Facts, not_approved: &[LeftOut]) -> Written {
    let (_, digest) = sides.render(&fitted.taken, fitted.left_out.len(), 0);
    let listed = fitted.taken.iter().filter_map(|listed| Some((listed.key.clone(), listed.fact.clone()?)));
    let mut facts: Facts = listed.chain(kept).collect();
    order::sort_slice(&mut facts, |a, b| a.0.cmp(&b.0));
    let mut left_out: Vec<String> =
        fitted.left_out.iter().chain(not_approved).filter_map(|left_out| left_out.key.clone()).collect();
    order::sort_slice(&mut left_out, Ord::cmp);
    Written { generation: 0, digest, facts, left_out }
}

/// Builds the record of a foreign section that a person confirmed. If the host fails to write the new section, the
/// confirmed one is known next time.
pub(super) fn accepted(sides: &Sides<'_>, new: &Written, items: &SortedMap<String, Item>) -> Option<Written> {
    let section = sides.section.filter(|_| sides.is_foreign())?;
    let mut facts = new.facts.clone();
    facts.retain(|(key, fact)| items.get(key).is_some_and(|item| fact.says(&item.content)));
    Some(Written { generation: 0, digest: section.digest.clone(), facts, left_out: Vec::new() })
}

/// Returns the generation of the new section, and true if it is recorded already.
pub(super) fn generation(sides: &Sides<'_>, written: &[Written], new: &Written) -> (u64, bool) {
    let oldest = sides.seen.map_or(0, |seen| seen.generation).max(1);
    let is_it = |written: &&Written| written.generation >= oldest && written.is_same(new);
    match written.iter().find(is_it) {
        Some(known) => (known.generation, true),
        None => (written.iter().map(|written| written.generation).max().unwrap_or(0).saturating_add(1), false),
    }
}

/// Records the new section before the host writes it. Returns its generation.
pub(super) async fn remember(
    call: &Call,
    ledger: &Ledger,
    sides: &Sides<'_>,
    written: &[Written],
    new: &Written,
    accepted: Option<Written>,
) -> Result<u64, Error> {
    let mut written = written.to_vec();
    for _ in 0..MAX_RACES {
        let (generation, is_known) = generation(sides, &written, new);
        let mut records: Vec<Written> = accepted.iter().cloned().collect();
        records.extend((!is_known).then(|| Written { generation, ..new.clone() }));
        if records.is_empty() || ledger.remember(call, sides.seen, &records).await? {
            return Ok(generation);
        }
        written = ledger.sections(call).await?;
    }
    let message = format!("the section of {} was written by others {MAX_RACES} times in a row", sides.request.name);
    Err(Error::new(ErrorCode::Contention, message, "try again when fewer programs write it"))
}
