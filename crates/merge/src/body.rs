//! [`merge_bodies`]: the three-way merge of texts by blocks.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};
use core::ops::Range;

use hashbrown::{HashMap, HashSet};

use crate::blocks::{Block, Body, Class};
use crate::matching::matching;
use crate::similar::Words;
use crate::spacing::{Element, Sides};
use crate::types::{Conflict, Kind, Part};

/// Most pairs of blocks in one place that are compared to find edits. Beyond it, all count as new.
const MOST_COMPARED: usize = 1 << 16;

/// Index of the base in a list of sides.
const BASE: usize = 0;

/// Merges two texts with the base of both. The result does not depend on which is `one` and which `other`, except for the order
/// of what both inserted at the same place.
pub(crate) fn merge_bodies(
    kind: Kind,
    base: Option<&str>,
    one: &str,
    other: &str,
    conflicts: &mut Vec<Conflict>,
) -> String {
    let merge = Merge::new(kind, base.unwrap_or_default(), one, other);
    let mut found = Vec::new();
    let elements = merge.run(base.is_some(), &mut found);
    if let Some(merged) = merge.is_merged(&elements, [one, other]) {
        return merged.into();
    }
    conflicts.append(&mut found);
    merge.sides.render(&elements)
}

struct Merge<'a> {
    kind: Kind,
    sides: Sides<'a>,
    /// For each block of the base, its place in one, and in other.
    of_base: [Vec<Option<usize>>; 2],
    /// Texts of the base.
    base_texts: HashSet<&'a str>,
}

/// A block that a side made of a block of the base.
struct Edit<'a> {
    side: usize,
    in_base: usize,
    place: usize,
    text: &'a str,
}

/// A block that a side inserted below an item which the other side moved.
struct Orphan<'a> {
    side: usize,
    place: usize,
    /// Text of the item.
    parent: &'a str,
}

/// Blocks that one side inserted between two blocks of the base that it kept.
struct Chunk {
    /// Blocks of the base that they replace; empty if they are inserted between two.
    replaced: Range<usize>,
    /// Places in the side.
    blocks: Range<usize>,
}

impl<'a> Merge<'a> {
    fn new(kind: Kind, base: &'a str, one: &'a str, other: &'a str) -> Self {
        let sides = [base, one, other].map(Body::parse);
        let [base, one, other] = &sides;
        let of_base = [one, other].map(|side| {
            let mut places = alloc::vec![None; base.blocks.len()];
            for (in_base, place) in matching(base.texts(), side.texts()) {
                if let Some(known) = places.get_mut(in_base) {
                    *known = Some(place);
                }
            }
            places
        });
        let base_texts = base.texts().collect();
        Self { kind, sides: Sides(sides), of_base, base_texts }
    }

    /// Returns the place of a block of the base in one of the changed sides, 1 or 2.
    fn place(&self, side: usize, in_base: usize) -> Option<usize> {
        self.of_base.get(side.checked_sub(1)?)?.get(in_base).copied().flatten()
    }

    fn run(&self, has_base: bool, conflicts: &mut Vec<Conflict>) -> Vec<Element<'a>> {
        let (mut elements, mut orphans) = (Vec::new(), Vec::new());
        let mut from = [0; 3];
        for in_base in 0..self.sides.length(BASE) {
            if let (Some(in_one), Some(in_other)) = (self.place(1, in_base), self.place(2, in_base)) {
                let to = [in_base, in_one, in_other];
                self.region(from, to, &mut elements, &mut orphans, conflicts);
                elements.extend(self.element(to.map(Some)));
                from = to.map(|place| place + 1);
            }
        }
        let to = [0, 1, 2].map(|side| self.sides.length(side));
        self.region(from, to, &mut elements, &mut orphans, conflicts);
        for orphan in orphans {
            self.adopt(&orphan, &mut elements);
        }
        if !has_base && self.kind == Kind::Note {
            self.without_base(conflicts);
        }
        elements
    }

    /// Returns the side that has all changes of the other one already, if only one has: it was merged before.
    ///
    /// Blocks that occur several times can be matched in several ways, and a version that both changed stands beside the other
    /// one, so the merge would change such a side again.
    fn is_merged(&self, elements: &[Element<'_>], texts: [&'a str; 2]) -> Option<&'a str> {
        let [one, other] = [(1, 2), (2, 1)].map(|(side, of)| self.includes(side, of));
        let (side, text) = match (one, other) {
            (true, false) => (1, texts[0]),
            (false, true) => (2, texts[1]),
            _ => return None,
        };
        let has = self.sides.0.get(side)?.blocks.iter().map(|block| block.text);
        (!has.eq(elements.iter().map(|element| element.text))).then_some(text)
    }

    /// Returns true if a side has the changes of another that added something: what it added, not what it removed, and in the
    /// same order.
    fn includes(&self, side: usize, of: usize) -> bool {
        let mut counts: HashMap<&str, [usize; 3]> = HashMap::new();
        for (place, body) in self.sides.0.iter().enumerate() {
            for block in &body.blocks {
                if let Some(count) = counts.entry(block.text).or_default().get_mut(place) {
                    *count += 1;
                }
            }
        }
        let (mut common, mut added) = (0, 0);
        for count in counts.values() {
            let [in_base, in_side, in_other] = [BASE, side, of].map(|place| count.get(place).copied().unwrap_or(0));
            let has_changes = match in_other.cmp(&in_base) {
                Ordering::Greater => in_side >= in_other,
                Ordering::Less => in_side <= in_other,
                Ordering::Equal => true,
            };
            if !has_changes {
                return false;
            }
            added += in_other.saturating_sub(in_base);
            common += in_side.min(in_other);
        }
        let common_of = |one: &Body<'_>, other: &Body<'_>| matching(one.texts(), other.texts()).len();
        let in_order = self.sides.0.get(side).zip(self.sides.0.get(of)).map(|(one, other)| common_of(one, other));
        added > 0 && in_order == Some(common)
    }

    fn element(&self, places: [Option<usize>; 3]) -> Option<Element<'a>> {
        let block = places.iter().enumerate().find_map(|(side, place)| self.sides.block(side, (*place)?))?;
        Some(Element { text: block.text, class: block.class, places: places.map(|place| place.map(|place| place + 1)) })
    }

    /// Merges the parts between two blocks that all sides have.
    fn region(
        &self,
        from: [usize; 3],
        to: [usize; 3],
        elements: &mut Vec<Element<'a>>,
        orphans: &mut Vec<Orphan<'a>>,
        conflicts: &mut Vec<Conflict>,
    ) {
        let [base, one, other] =
            [0, 1, 2].map(|side| from.get(side).copied().unwrap_or(0)..to.get(side).copied().unwrap_or(0));
        let mut chunks = [self.chunks(1, base.clone(), one), self.chunks(2, base.clone(), other)];
        self.settle_edits(base, &mut chunks, orphans, conflicts);
        self.unite(&chunks, elements);
    }

    /// Returns what a side inserted in a part of it.
    fn chunks(&self, side: usize, base: Range<usize>, part: Range<usize>) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let (mut from_base, mut from) = (base.start, part.start);
        let kept = base.clone().filter_map(|in_base| Some((in_base, self.place(side, in_base)?)));
        for (in_base, place) in kept.chain([(base.end, part.end)]) {
            if from < place {
                chunks.push(Chunk { replaced: from_base..in_base, blocks: from..place });
            }
            (from_base, from) = (in_base + 1, place + 1);
        }
        chunks
    }

    /// Returns the blocks that a side edited, each with the block of the base that it comes from.
    fn edits(&self, side: usize, chunks: &[Chunk]) -> Vec<Edit<'a>> {
        let mut edits = Vec::new();
        for chunk in
            chunks.iter().filter(|chunk| (1..=MOST_COMPARED).contains(&(chunk.replaced.len() * chunk.blocks.len())))
        {
            let replaced = |in_base: usize| Some((in_base, Words::of(self.sides.block(BASE, in_base)?.text)));
            let replaced: Vec<_> = chunk.replaced.clone().filter_map(replaced).collect();
            for place in chunk.blocks.clone() {
                let Some(block) = self.sides.block(side, place) else { continue };
                // A text of the base that is at another place was moved.
                if self.base_texts.contains(block.text) {
                    continue;
                }
                let words = Words::of(block.text);
                let similar =
                    replaced.iter().filter_map(|(in_base, of_base)| Some((of_base.similarity(&words)?, *in_base)));
                let best = similar.max_by_key(|&(similarity, in_base)| (similarity, Reverse(in_base)));
                edits.extend(best.map(|(_, in_base)| Edit { side, in_base, place, text: block.text }));
            }
        }
        edits
    }

    /// Finds paragraphs that both sides changed. An edit of a paragraph that the other side deleted is taken out of the chunks.
    fn settle_edits(
        &self,
        base: Range<usize>,
        chunks: &mut [Vec<Chunk>; 2],
        orphans: &mut Vec<Orphan<'a>>,
        conflicts: &mut Vec<Conflict>,
    ) {
        let mut edits = [self.edits(1, &chunks[0]), self.edits(2, &chunks[1])];
        if let ([one], [other]) = (chunks[0].as_slice(), chunks[1].as_slice())
            && [base.len(), one.blocks.len(), other.blocks.len()] == [1; 3]
        {
            // Both put another text in the place of one, whatever it says.
            edits = [(1, one), (2, other)].map(|(side, chunk)| {
                let text = self.sides.block(side, chunk.blocks.start).map(|block| block.text);
                text.map(|text| Edit { side, in_base: base.start, place: chunk.blocks.start, text })
                    .into_iter()
                    .collect()
            });
        }
        let mut edits_of_deleted: HashSet<(usize, usize)> = HashSet::new();
        let by_origin = edits.each_ref().map(|edits| {
            let mut by_origin: HashMap<usize, Vec<&Edit<'_>>> = HashMap::new();
            for edit in edits {
                by_origin.entry(edit.in_base).or_default().push(edit);
            }
            by_origin
        });
        for in_base in base {
            match (self.place(1, in_base), self.place(2, in_base)) {
                (Some(place), None) if !by_origin[1].contains_key(&in_base) => {
                    edits_of_deleted.extend(self.orphans([1, 2], place, &chunks[0], orphans, conflicts));
                    continue;
                }
                (None, Some(place)) if !by_origin[0].contains_key(&in_base) => {
                    edits_of_deleted.extend(self.orphans([2, 1], place, &chunks[1], orphans, conflicts));
                    continue;
                }
                (None, None) => {}
                _ => continue,
            }
            let Some(block) = self.sides.block(BASE, in_base) else { continue };
            let [of_one, of_other] =
                by_origin.each_ref().map(|edits| edits.get(&in_base).map(Vec::as_slice).unwrap_or_default());
            let text = |edits: &[&Edit<'_>]| -> Option<String> {
                let texts: Vec<&str> = edits.iter().map(|edit| edit.text).collect();
                (!texts.is_empty()).then(|| texts.join("\n\n"))
            };
            let is_part = |part: &[&Edit<'_>], whole: &[&Edit<'_>]| {
                part.iter().all(|edit| whole.iter().any(|other| other.text == edit.text))
            };
            match (of_one.is_empty(), of_other.is_empty()) {
                (true, true) => continue,
                (false, false) if is_part(of_one, of_other) || is_part(of_other, of_one) => continue,
                (false, false) => {}
                _ => edits_of_deleted.extend(of_one.iter().chain(of_other).map(|edit| (edit.side, edit.place))),
            }
            conflicts.push(Conflict {
                part: Part::Paragraph,
                base: Some(block.text.into()),
                ours: text(of_one),
                theirs: text(of_other),
            });
        }
        for (side, chunks) in (1..).zip(chunks.iter_mut()) {
            let edits = edits.get(side - 1).map(Vec::as_slice).unwrap_or_default();
            let origins: HashMap<usize, usize> = edits.iter().map(|edit| (edit.place, edit.in_base)).collect();
            let whole = core::mem::take(chunks);
            for Chunk { replaced, blocks } in whole {
                let origin = |place: usize| origins.get(&place).copied();
                let is_edited = blocks.clone().any(|place| origin(place).is_some());
                let mut next = replaced.start;
                for place in blocks {
                    // An edited block stands where it was, and a new one after the block before it.
                    let replaced = match origin(place).filter(|in_base| *in_base >= next) {
                        _ if !is_edited => replaced.clone(),
                        Some(in_base) => in_base..in_base + 1,
                        None => next..next,
                    };
                    next = replaced.end;
                    if !edits_of_deleted.contains(&(side, place)) {
                        chunks.push(Chunk { replaced, blocks: place..place + 1 });
                    }
                }
            }
        }
    }

    /// Returns what a side inserted below an item that the other one deleted or moved. If it was moved, they go with it; otherwise they
    /// stay deleted too, with a conflict.
    fn orphans(
        &self,
        [side, other]: [usize; 2],
        parent: usize,
        chunks: &[Chunk],
        orphans: &mut Vec<Orphan<'a>>,
        conflicts: &mut Vec<Conflict>,
    ) -> Vec<(usize, usize)> {
        let Some(item) = self.sides.block(side, parent).filter(|block| block.class == Class::Item) else {
            return Vec::new();
        };
        let below = (parent + 1..self.sides.length(side)).take_while(|place| {
            self.sides
                .block(side, *place)
                .is_some_and(|block| block.class != Class::Heading && block.indent() > item.indent())
        });
        let is_inserted = |place: &usize| chunks.iter().any(|chunk| chunk.blocks.contains(place));
        let is_new =
            |place: &usize| self.sides.block(side, *place).is_some_and(|block| !self.base_texts.contains(block.text));
        let inserted: Vec<usize> = below.filter(|place| is_inserted(place) && is_new(place)).collect();
        if inserted.is_empty() {
            return Vec::new();
        }
        if self.sides.0.get(other).is_some_and(|body| body.texts().any(|text| text == item.text)) {
            orphans.extend(inserted.iter().map(|&place| Orphan { side, place, parent: item.text }));
        } else {
            let blocks = inserted.iter().filter_map(|&place| self.sides.block(side, place));
            let texts: Vec<&str> = [item.text].into_iter().chain(blocks.map(|block| block.text)).collect();
            let text = Some(texts.join("\n"));
            let (ours, theirs) = if side == 1 { (text, None) } else { (None, text) };
            conflicts.push(Conflict { part: Part::Paragraph, base: Some(item.text.into()), ours, theirs });
        }
        inserted.into_iter().map(|place| (side, place)).collect()
    }

    /// Adds a block below its item, unless it is there.
    fn adopt(&self, orphan: &Orphan<'a>, elements: &mut Vec<Element<'a>>) {
        let Some(block) = self.sides.block(orphan.side, orphan.place) else { return };
        let indent = |element: &Element<'_>| element.text.len() - element.text.trim_start().len();
        let parent = elements.iter().position(|element| element.text == orphan.parent);
        let first = parent.map_or(elements.len(), |parent| parent + 1);
        let outer = parent.and_then(|parent| elements.get(parent)).map_or(0, indent);
        let below = elements.iter().skip(first).take_while(|element| indent(element) > outer);
        if below.clone().any(|element| element.text == block.text) {
            return;
        }
        let end = first + below.count();
        let mut places = [None; 3];
        if let Some(place) = places.get_mut(orphan.side) {
            *place = Some(orphan.place);
        }
        if let Some(element) = self.element(places) {
            elements.insert(end, element);
        }
    }

    /// Adds the insertions of both sides: each once if both made it, and otherwise in the order of the base.
    fn unite(&self, chunks: &[Vec<Chunk>; 2], elements: &mut Vec<Element<'a>>) {
        let [one, other] = [(1, &chunks[0]), (2, &chunks[1])].map(|(side, chunks)| {
            let place = |chunk: &Chunk| {
                let replaced = chunk.replaced.clone();
                chunk.blocks.clone().map(move |place| Inserted { side, place, replaced: replaced.clone() })
            };
            chunks.iter().flat_map(place).collect::<Vec<_>>()
        });
        // The same text below another heading, or in another entry of a log, is another text.
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut texts = |inserted: &[Inserted], side: usize| -> Vec<String> {
            let sections = self.sections(side, &mut numbers);
            let text = |inserted: &Inserted| {
                let section = sections.get(inserted.place).copied().unwrap_or_default();
                let block = self.sides.block(side, inserted.place);
                format!("{section}\n{}", block.map_or("", |block| block.text))
            };
            inserted.iter().map(text).collect()
        };
        let (mut from_one, mut from_other) = (0, 0);
        let (texts_one, texts_other) = if one.is_empty() || other.is_empty() {
            (Vec::new(), Vec::new())
        } else {
            (texts(&one, 1), texts(&other, 2))
        };
        let common = matching(texts_one.iter().map(String::as_str), texts_other.iter().map(String::as_str));
        let between = |list: &'_ [Inserted], part: Range<usize>| list.get(part).unwrap_or_default().to_vec();
        for (in_one, in_other) in common {
            self.interleave(&between(&one, from_one..in_one), &between(&other, from_other..in_other), elements);
            let place = |list: &[Inserted], index: usize| list.get(index).map(|inserted| inserted.place);
            elements.extend(self.element([None, place(&one, in_one), place(&other, in_other)]));
            (from_one, from_other) = (in_one + 1, in_other + 1);
        }
        self.interleave(&between(&one, from_one..one.len()), &between(&other, from_other..other.len()), elements);
    }

    /// Returns for each block of a side the number of its heading, or in a log of its whole entry. Equal ones have one number.
    fn sections(&self, side: usize, numbers: &mut HashMap<String, usize>) -> Vec<usize> {
        let blocks = self.sides.0.get(side).map(|side| side.blocks.as_slice()).unwrap_or_default();
        let mut sections = Vec::with_capacity(blocks.len());
        let is_heading = |block: &Block<'_>| block.class == Class::Heading;
        let mut rest = blocks;
        while !rest.is_empty() {
            let after_first = rest.get(1..).unwrap_or_default();
            let length = after_first.iter().position(is_heading).map_or(rest.len(), |length| length + 1);
            let (section, later) = rest.split_at_checked(length).unwrap_or((rest, &[]));
            rest = later;
            let heading = section.first().filter(|first| is_heading(first));
            let name = match (self.kind, heading) {
                (_, None) => String::new(),
                (Kind::Note, Some(heading)) => heading.text.into(),
                (Kind::Log, Some(_)) => section.iter().flat_map(|block| [block.text, "\n"]).collect(),
            };
            let next = numbers.len();
            let number = *numbers.entry(name).or_insert(next);
            for block in section {
                // A heading of a note is compared by its text alone.
                let is_alone = self.kind == Kind::Note && is_heading(block);
                sections.push(if is_alone { usize::MAX } else { number });
            }
        }
        sections
    }

    /// Adds insertions that have nothing in common.
    fn interleave(&self, one: &[Inserted], other: &[Inserted], elements: &mut Vec<Element<'a>>) {
        let [mut one, mut other] = [one, other].map(|side| self.groups(side).into_iter().peekable());
        loop {
            let next = match (one.peek(), other.peek()) {
                (None, None) => break,
                (Some(_), None) => one.next(),
                (None, Some(_)) => other.next(),
                (Some(of_one), Some(of_other)) if self.order(of_one, of_other) == Ordering::Greater => other.next(),
                _ => one.next(),
            };
            for inserted in next.iter().flat_map(|group| &group.inserted) {
                let mut places = [None; 3];
                if let Some(place) = places.get_mut(inserted.side) {
                    *place = Some(inserted.place);
                }
                elements.extend(self.element(places));
            }
        }
    }

    /// Returns insertions in groups that stay together: all of one place, or the entries of a log.
    fn groups(&self, side: &[Inserted]) -> Vec<Group<'a>> {
        let mut groups: Vec<Group<'a>> = Vec::new();
        for inserted in side {
            let block = self.sides.block(inserted.side, inserted.place);
            let begins = block.filter(|block| self.kind == Kind::Log && block.class == Class::Heading);
            match groups.last_mut() {
                Some(group) if group.replaced == inserted.replaced && begins.is_none() => {
                    group.inserted.push(inserted.clone());
                }
                last => {
                    let earlier = last.filter(|_| begins.is_some()).and_then(|group| group.time);
                    let time = begins.and_then(|block| time_of(block.text));
                    groups.push(Group {
                        replaced: inserted.replaced.clone(),
                        // An entry without a time stays after the entry before it.
                        time: time.max(earlier),
                        text: begins.map_or("", |block| block.text),
                        inserted: Vec::from([inserted.clone()]),
                    });
                }
            }
        }
        groups
    }

    fn order(&self, one: &Group<'_>, other: &Group<'_>) -> Ordering {
        let place = |group: &Group<'_>| (group.replaced.start, group.replaced.end);
        let order = place(one).cmp(&place(other));
        match self.kind {
            Kind::Note => order,
            Kind::Log => order.then_with(|| one.time.cmp(&other.time)).then_with(|| one.text.cmp(other.text)),
        }
    }

    /// Adds a conflict for two texts that have no common base, if both have paragraphs that the other one lacks. Lists are united.
    fn without_base(&self, conflicts: &mut Vec<Conflict>) {
        let [_, one, other] = &self.sides.0;
        let lacks = |side: &Body<'_>, of: &Body<'_>| {
            let known: HashSet<&str> = side.texts().collect();
            of.blocks.iter().any(|block| block.class == Class::Paragraph && !known.contains(block.text))
        };
        if lacks(one, other) && lacks(other, one) {
            let text = |body: &Body<'_>| {
                let mut text = String::new();
                for block in &body.blocks {
                    text.push_str(block.text);
                    text.push_str(block.gap);
                }
                Some(text.trim_end().into())
            };
            conflicts.push(Conflict { part: Part::File, base: None, ours: text(one), theirs: text(other) });
        }
    }
}

/// A block that a side inserted.
#[derive(Clone)]
struct Inserted {
    side: usize,
    place: usize,
    /// Blocks of the base that its chunk replaces.
    replaced: Range<usize>,
}

/// Inserted blocks that stay together.
struct Group<'a> {
    replaced: Range<usize>,
    time: Option<(u8, u8)>,
    text: &'a str,
    inserted: Vec<Inserted>,
}

/// Returns the time of an entry of a log, such as `### 14:05 — heading`.
fn time_of(heading: &str) -> Option<(u8, u8)> {
    let text = heading.trim_start_matches('#').trim_start();
    let (hour, rest) = text.split_once(':')?;
    let minute = rest.get(..2)?;
    let number = |digits: &str| digits.parse::<u8>().ok().filter(|_| digits.len() == 2);
    Some((number(hour)?, number(minute)?))
}
