//! New section: the facts that fit the budget, and the file that contains it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::section::{self, Contents, Section};
use super::sides::{Listed, Sides, left_out_of};
use super::types::SyncAgentsMd;
use crate::context::{LeftOut, LeftOutReason};
use crate::order;
use crate::protocol::{Error, ErrorCode};

/// Facts that fit the budget, sorted by key, and the others.
pub(super) struct Fitted {
    pub(super) taken: Vec<Listed>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Selects the facts that fit the budget.
pub(super) fn fit(sides: &Sides<'_>, listed: Vec<Listed>) -> Fitted {
    let request = sides.request;
    let line_ending = sides.line_ending().len();
    let empty = sides.render(&[], listed.len(), u64::MAX).0.len();
    let mut room = (request.max_bytes as usize).saturating_sub(empty);
    // The last changed facts come first. Facts that were stored together were stored in the order of their keys.
    let mut by_age: Vec<Listed> = listed;
    order::sort_slice(&mut by_age, |a, b| {
        let rank = |listed: &Listed| (!listed.pinned, Reverse(listed.updated));
        rank(a).cmp(&rank(b)).then_with(|| b.key.cmp(&a.key))
    });
    let (mut taken, mut left_out) = (Vec::new(), Vec::new());
    for fact in by_age {
        let breaks = fact.item.matches('\n').count() * (line_ending - 1);
        let needed = fact.item.len() + breaks + line_ending;
        if needed <= room || fact.pinned {
            room = room.saturating_sub(needed);
            taken.push(fact);
        } else {
            let bytes = fact.item.len();
            left_out.push(left_out_of(request, &fact.path, &fact.key, LeftOutReason::Budget, bytes));
        }
    }
    order::sort_slice(&mut taken, |a, b| a.key.cmp(&b.key));
    order::sort_slice(&mut left_out, |a, b| a.key.cmp(&b.key));
    Fitted { taken, left_out }
}

/// Checks that the budget has room for more than a section without items.
pub(super) fn check_budget(request: &SyncAgentsMd, agent: &str, section: Option<&Section>) -> Result<(), Error> {
    let preface = section.map_or("", |section| &section.preface);
    let contents = Contents { agent, preface, items: &[], not_listed: usize::MAX, generation: u64::MAX };
    let (text, _) = contents.render();
    // Counts the longer of the two line endings.
    let bytes = text.len() + text.matches('\n').count();
    if bytes <= request.max_bytes as usize {
        return Ok(());
    }
    let message = format!("a section without facts takes up to {bytes} bytes, the budget is {}", request.max_bytes);
    Err(Error::new(ErrorCode::TooLarge, message, "raise the budget"))
}

/// Checks that a section after this text would be read as one: no code block or comment is left open.
pub(super) fn check_end(text: &str, name: &str, agent: &str) -> Result<(), Error> {
    let section = Contents { agent, preface: "", items: &[], not_listed: 0, generation: 1 }.render().0;
    match section::find(&replaced(text, None, &section)?, name) {
        Ok(Some(_)) => Ok(()),
        // The text itself has no wrong marker.
        Ok(None) | Err(_) => {
            let message = format!("{name} ends inside a code block or a comment that is not closed");
            Err(Error::damaged_file(message, "close it"))
        }
    }
}

/// Returns the file with the new section in place of the old one, or at the end.
pub(super) fn replaced(text: &str, section: Option<&Section>, new: &str) -> Result<String, Error> {
    if let Some(section) = section {
        let around = text.get(..section.range.start).zip(text.get(section.range.end..));
        // Without this check, everything except the section would be lost.
        let (before, after) = around.ok_or_else(|| Error::internal("the section is not in the file"))?;
        return Ok([before, new, after].concat());
    }
    let line_ending = section::line_ending(text);
    let said = text.trim_start_matches('\u{feff}');
    if said.is_empty() {
        return Ok(format!("{text}{new}{line_ending}"));
    }
    let blank = if said.ends_with('\n') { line_ending.to_string() } else { line_ending.repeat(2) };
    let end = if said.ends_with('\n') { line_ending } else { "" };
    Ok([text, &blank, new, end].concat())
}
