//! [`Keys`]: which blocks of the three versions are the same.

use alloc::vec::Vec;

use hashbrown::HashMap;
use saddlebag_markdown::list_item;

use crate::merges::blocks::{Block, Body, Class};
use crate::merges::types::Kind;

/// A time of day: hour and minute.
pub(crate) type Time = (u8, u8);

/// Parent of a block at the top of a body.
const TOP: usize = 0;
/// Parent of the first block of an entry.
const ENTRY: usize = 1;
/// Parent of a block when only texts are compared.
const TEXT: usize = 2;

/// Numbers of the blocks of the sides.
pub(crate) struct Keys {
    /// Numbers that are equal if the texts are.
    pub(crate) texts: [Vec<usize>; 3],
    /// Numbers that are equal if the texts and the items and headings above them are. A block of an entry of a log that begins
    /// with a heading has the number of one in an entry that is the same as a whole.
    pub(crate) places: [Vec<usize>; 3],
    /// For each block that begins an entry of a log, the time of the entry, if it has one.
    pub(crate) starts: [Vec<Option<Option<Time>>>; 3],
}

impl Keys {
    pub(crate) fn new(kind: Kind, sides: &[Body<'_>; 3]) -> Self {
        let mut numbers: HashMap<(usize, &str), usize> = HashMap::new();
        let mut number = |above: usize, text| {
            let next = TEXT + 1 + numbers.len();
            *numbers.entry((above, text)).or_insert(next)
        };
        let starts = sides.each_ref().map(|side| match kind {
            Kind::Log => starts(&side.blocks),
            Kind::Note => vec![None; side.blocks.len()],
        });
        let texts = sides.each_ref().map(|side| side.texts().map(|text| number(TEXT, text)).collect());
        let mut places = [const { Vec::new() }; 3];
        for ((side, starts), places) in sides.iter().zip(&starts).zip(&mut places) {
            let mut entry = None;
            let mut above: Vec<(usize, usize)> = Vec::new();
            for (place, (block, start)) in side.blocks.iter().zip(starts).enumerate() {
                if let Some(time) = start {
                    above.clear();
                    entry = None;
                    if block.class == Class::Heading && time.is_some() {
                        let later = starts.iter().skip(place + 1).take_while(|start| start.is_none()).count();
                        let blocks = side.texts().skip(place).take(later + 1);
                        entry = Some(blocks.fold(ENTRY, &mut number));
                    }
                }
                let depth = block.depth();
                while above.pop_if(|(known, _)| *known >= depth).is_some() {}
                let parent = entry.or(above.last().map(|(_, number)| *number));
                let number = number(parent.unwrap_or(TOP), block.text);
                above.push((depth, number));
                places.push(number);
            }
        }
        Self { texts, places, starts }
    }
}

/// Returns for each block of a log that begins an entry the time of the entry. A heading begins one, and an item that is later than
/// the last heading: it was added after the entry of that heading.
fn starts(blocks: &[Block<'_>]) -> Vec<Option<Option<Time>>> {
    let mut of_heading = None;
    let start = |block: &Block<'_>| match block.class {
        Class::Heading => {
            of_heading = time_of(block.text);
            Some(of_heading)
        }
        Class::Item if block.indent() == 0 => Some(time_of(block.text)).filter(|time| *time > of_heading),
        _ => None,
    };
    blocks.iter().map(start).collect()
}

/// Returns the time of an entry of a log, such as `### 14:05 — heading` or `- 14:05 text`.
fn time_of(text: &str) -> Option<Time> {
    let text = list_item(text).map_or_else(|| text.trim_start_matches('#').trim_start(), |item| item.text);
    let (hour, rest) = text.split_once(':')?;
    let minute = rest.get(..2)?;
    let number = |digits: &str| digits.parse::<u8>().ok().filter(|_| digits.len() == 2);
    Some((number(hour)?, number(minute)?))
}
