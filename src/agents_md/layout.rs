//! The new section: the facts that its budget has room for, and the file with it.

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

/// The facts that the budget has room for, in the order of their keys, and the others.
pub(super) struct Fitted {
    pub(super) taken: Vec<Listed>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Chooses the facts that the budget has room for.
pub(super) fn fit(sides: &Sides<'_>, listed: Vec<Listed>) -> Fitted {
    let request = sides.request;
    let line_ending = sides.line_ending().len();
    let empty = sides.render(&[], listed.len(), u64::MAX).0.len();
    let mut room = (request.max_bytes as usize).saturating_sub(empty);
    // The last changed first, as they are chosen. What was stored together was stored in the order of the keys.
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

/// Checks that the budget is more than a section without items.
pub(super) fn check_budget(request: &SyncAgentsMd, agent: &str, section: Option<&Section>) -> Result<(), Error> {
    let preface = section.map_or("", |section| &section.preface);
    let contents = Contents { agent, preface, items: &[], not_listed: usize::MAX, generation: u64::MAX };
    let (text, _) = contents.render();
    // With the longer line endings.
    let bytes = text.len() + text.matches('\n').count();
    if bytes <= request.max_bytes as usize {
        return Ok(());
    }
    let message = format!("a section without facts takes up to {bytes} bytes, the budget is {}", request.max_bytes);
    Err(Error::new(ErrorCode::TooLarge, message, "raise the budget; nothing was changed"))
}

/// Checks that a section behind the text would be one: not in a code block or a comment that nothing closes.
pub(super) fn check_end(text: &str, name: &str, agent: &str) -> Result<(), Error> {
    let section = Contents { agent, preface: "", items: &[], not_listed: 0, generation: 1 }.render().0;
    match section::find(&replaced(text, None, &section), name) {
        Ok(Some(_)) => Ok(()),
        // The text alone has no marker that is wrong.
        Ok(None) | Err(_) => {
            let message = format!("{name} ends in a code block or a comment that nothing closes");
            Err(Error::invalid_argument(message, "close it; nothing was changed"))
        }
    }
}

/// The file with a section in the place of the one it has, else at its end.
pub(super) fn replaced(text: &str, section: Option<&Section>, new: &str) -> String {
    if let Some(section) = section {
        let before = text.get(..section.range.start).unwrap_or_default();
        let behind = text.get(section.range.end..).unwrap_or_default();
        return [before, new, behind].concat();
    }
    let line_ending = section::line_ending(text);
    let said = text.trim_start_matches('\u{feff}');
    if said.is_empty() {
        return format!("{text}{new}{line_ending}");
    }
    let blank = if said.ends_with('\n') { line_ending.to_string() } else { line_ending.repeat(2) };
    let end = if said.ends_with('\n') { line_ending } else { "" };
    [text, &blank, new, end].concat()
}
