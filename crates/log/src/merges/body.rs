//! [`merge_bodies`]: the three-way merge of texts by blocks.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};
use core::ops::Range;

use hashbrown::{HashMap, HashSet};

use crate::merges::blocks::{Body, Class};
use crate::merges::keys::{Keys, Time};
use crate::merges::matching::matching;
use crate::merges::similar::Words;
use crate::merges::spacing::{Element, Sides};
use crate::merges::types::{Conflict, Kind, Part};

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
    if let Some([one, other]) = base.and_then(|_| merge.with_added_lines()) {
        let merge = Merge::new(kind, base.unwrap_or_default(), &one, &other);
        return merge.merged(base.is_some(), [&one, &other], conflicts);
    }
    merge.merged(base.is_some(), [one, other], conflicts)
}

struct Merge<'a> {
    kind: Kind,
    sides: Sides<'a>,
    keys: Keys,
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

/// A block that a side inserted below an item or a heading which the other side moved.
struct Orphan<'a> {
    element: Element<'a>,
    /// Text of the item or the heading.
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
        let keys = Keys::new(kind, &sides);
        let [base, one, other] = &keys.texts;
        let of_base = [one, other].map(|side| {
            let mut places = vec![None; base.len()];
            for (in_base, place) in matching(base, side) {
                if let Some(known) = places.get_mut(in_base) {
                    *known = Some(place);
                }
            }
            places
        });
        let base_texts = sides[BASE].texts().collect();
        Self { kind, sides: Sides(sides), keys, of_base, base_texts }
    }

    /// Returns the place of a block of the base in one of the changed sides, 1 or 2.
    fn place(&self, side: usize, in_base: usize) -> Option<usize> {
        self.of_base.get(side.checked_sub(1)?)?.get(in_base).copied().flatten()
    }

    fn merged(&self, has_base: bool, texts: [&'a str; 2], conflicts: &mut Vec<Conflict>) -> String {
        let mut found = Vec::new();
        let elements = self.run(has_base, &mut found);
        if let Some(merged) = self.is_merged(&elements, texts) {
            return merged.into();
        }
        conflicts.append(&mut found);
        self.sides.render(&elements)
    }

    /// Returns both sides with the lines that each added to a paragraph of the base which the other side only added lines to; `None` if no
    /// paragraph is. Long-term memory is one paragraph: its lines have no empty one between them.
    fn with_added_lines(&self) -> Option<[String; 2]> {
        let mut united: [HashMap<usize, String>; 2] = Default::default();
        let places_of = [1, 2].map(|side| self.places_of_lines(side));
        for (in_base, block) in self.sides.0.get(BASE)?.blocks.iter().enumerate() {
            if block.class != Class::Paragraph || self.place(1, in_base).is_some() || self.place(2, in_base).is_some() {
                continue;
            }
            let base: Vec<&str> = block.text.split('\n').collect();
            let version = |side: usize| {
                let places = places_of.get(side - 1)?.get(base.first()?)?;
                let united = united.get(side - 1)?;
                let mut free = places.iter().filter(|place| !united.contains_key(*place));
                free.find_map(|&place| Some((place, added_lines(&base, self.sides.block(side, place)?.text)?)))
            };
            let (Some((in_one, one)), Some((in_other, other))) = (version(1), version(2)) else { continue };
            if one == other || ["```", "~~~"].iter().any(|fence| block.text.trim_start().starts_with(fence)) {
                continue;
            }
            let mut lines: Vec<&str> = Vec::new();
            for (gap, (one, other)) in one.iter().zip(&other).enumerate() {
                unite_lines(one, other, &mut lines);
                lines.extend(base.get(gap));
            }
            united[0].insert(in_one, lines.join("\n"));
            united[1].insert(in_other, lines.join("\n"));
        }
        let whole = |side: usize, united: &HashMap<usize, String>| {
            let body = self.sides.0.get(side)?;
            let blocks = body.blocks.iter().enumerate();
            let parts =
                blocks.flat_map(|(place, block)| [united.get(&place).map_or(block.text, String::as_str), block.gap]);
            Some([body.start].into_iter().chain(parts).collect::<String>())
        };
        if united[0].is_empty() { None } else { Some([whole(1, &united[0])?, whole(2, &united[1])?]) }
    }

    /// Returns the paragraphs of a side that the base does not have, by each of their lines.
    fn places_of_lines(&self, side: usize) -> HashMap<&'a str, Vec<usize>> {
        let known: HashSet<usize> = self.of_base.get(side - 1).into_iter().flatten().flatten().copied().collect();
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, block) in self.sides.0.get(side).into_iter().flat_map(|body| body.blocks.iter().enumerate()) {
            if block.class == Class::Paragraph && !known.contains(&place) {
                for line in block.text.split('\n') {
                    places.entry(line).or_default().push(place);
                }
            }
        }
        places
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
        if !has_base && self.kind == Kind::Note {
            self.without_base(&elements, conflicts);
        }
        for orphan in orphans {
            adopt(orphan, true, &mut elements);
        }
        self.limit(&mut elements);
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
            // Only the order differs, and nobody knows which one is newer.
            (true, true) if self.is_new() => (1, texts[0]),
            _ => return None,
        };
        let has = self.sides.0.get(side)?.blocks.iter().map(|block| block.text);
        (!has.eq(elements.iter().map(|element| element.text))).then_some(text)
    }

    /// Returns true if the base has no blocks: both sides added all that they have, and no order is a change.
    fn is_new(&self) -> bool {
        self.sides.length(BASE) == 0
    }

    /// Returns how often each number is in the sides.
    fn counts(numbers: &[Vec<usize>; 3]) -> HashMap<usize, [usize; 3]> {
        let mut counts: HashMap<usize, [usize; 3]> = HashMap::new();
        for (side, numbers) in numbers.iter().enumerate() {
            for &number in numbers {
                if let Some(count) = counts.entry(number).or_default().get_mut(side) {
                    *count += 1;
                }
            }
        }
        counts
    }

    /// Returns true if a side has the changes of another that added something: what it added, not what it removed, and in the
    /// same order, if that says something.
    fn includes(&self, side: usize, of: usize) -> bool {
        let of = [side, of];
        Self::has_changes(&self.keys.texts, of, true)
            || (self.is_new() && Self::has_changes(&self.keys.places, of, false))
    }

    fn has_changes(numbers: &[Vec<usize>; 3], [side, of]: [usize; 2], in_order: bool) -> bool {
        let (mut common, mut added) = (0, 0);
        for count in Self::counts(numbers).values() {
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
        let rising = || numbers.get(side).zip(numbers.get(of)).map(|(one, other)| matching(one, other).len());
        added > 0 && (!in_order || rising() == Some(common))
    }

    fn element(&self, places: [Option<usize>; 3]) -> Option<Element<'a>> {
        let block = places.iter().enumerate().find_map(|(side, place)| self.sides.block(side, (*place)?))?;
        Some(Element { text: block.text, class: block.class, places: places.map(|place| place.map(|place| place + 1)) })
    }

    /// Returns a block that only one side has.
    fn inserted(&self, side: usize, place: usize) -> Option<Element<'a>> {
        let mut places = [None; 3];
        *places.get_mut(side)? = Some(place);
        self.element(places)
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
        self.opposite_deletions(base.clone(), conflicts);
        self.settle_edits(base, &mut chunks, orphans, conflicts);
        self.unite(&chunks, elements);
    }

    /// Finds versions of one paragraph that stand one after the other, as a merge leaves them, and of which each side deleted the one
    /// that the other kept. All of them are deleted, so a person must hear of it.
    fn opposite_deletions(&self, base: Range<usize>, conflicts: &mut Vec<Conflict>) {
        let only = |in_base: usize| match (self.place(1, in_base), self.place(2, in_base)) {
            (Some(_), None) => Some(1),
            (None, Some(_)) => Some(2),
            _ => None,
        };
        for (first, second) in base.clone().zip(base.skip(1)) {
            let (Some(of_first), Some(of_second)) = (only(first), only(second)) else { continue };
            let [Some(one), Some(other)] = [first, second].map(|in_base| self.sides.block(BASE, in_base)) else {
                continue;
            };
            let are_texts = [one, other].iter().all(|block| matches!(block.class, Class::Paragraph | Class::Item));
            let are_versions = are_texts && Words::of(one.text).similarity(&Words::of(other.text)).is_some();
            if of_first == of_second || !are_versions {
                continue;
            }
            let (ours, theirs) = if of_first == 1 { (one, other) } else { (other, one) };
            conflicts.push(Conflict {
                part: Part::Paragraph,
                base: Some(format!("{}\n\n{}", one.text, other.text)),
                ours: Some(ours.text.into()),
                theirs: Some(theirs.text.into()),
            });
        }
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
            let elements = inserted.iter().filter_map(|&place| self.inserted(side, place));
            orphans.extend(elements.map(|element| Orphan { element, parent: item.text }));
        } else {
            let blocks = inserted.iter().filter_map(|&place| self.sides.block(side, place));
            let texts: Vec<&str> = [item.text].into_iter().chain(blocks.map(|block| block.text)).collect();
            let text = Some(texts.join("\n"));
            let (ours, theirs) = if side == 1 { (text, None) } else { (None, text) };
            conflicts.push(Conflict { part: Part::Paragraph, base: Some(item.text.into()), ours, theirs });
        }
        inserted.into_iter().map(|place| (side, place)).collect()
    }

    /// Takes out what is there more often than a side has it, because both moved it, or have it in another order: the first
    /// places stay. What a side added below it goes with it.
    fn limit(&self, elements: &mut Vec<Element<'a>>) {
        let by_place = self.is_new() || self.kind == Kind::Log;
        let numbers = if by_place { &self.keys.places } else { &self.keys.texts };
        let limit = |(number, [base, one, other]): (usize, [usize; 3])| {
            let most = one.max(other);
            (most <= base || self.is_new()).then_some((number, most))
        };
        let mut left: HashMap<usize, usize> = Self::counts(numbers).into_iter().filter_map(limit).collect();
        let mut take = |element: &Element<'_>| {
            let mut places = element.places.iter().zip(numbers);
            let number = places.find_map(|(place, numbers)| numbers.get((*place)?.checked_sub(1)?));
            let Some(left) = number.and_then(|number| left.get_mut(number)) else { return true };
            let is_left = *left > 0;
            *left = left.saturating_sub(1);
            is_left
        };
        let is_in_base = |element: &Element<'_>| element.places[BASE].is_some();
        for element in elements.iter().filter(|element| is_in_base(element)) {
            take(element);
        }
        let (mut was_repeated, mut orphans) = (false, Vec::new());
        let mut repeated: Vec<Element<'a>> = Vec::new();
        elements.retain(|element| {
            let mut starts = element.places.iter().zip(&self.keys.starts);
            let is_entry = starts.any(|(place, starts)| {
                let start = place.and_then(|place| starts.get(place.checked_sub(1)?).copied().flatten());
                start.is_some()
            });
            while repeated.pop_if(|above| is_entry || above.depth() >= element.depth()).is_some() {}
            let is_known = is_in_base(element) || take(element);
            // A line of a table without letters belongs to the rows before it.
            was_repeated = !is_known && (was_repeated || element.text.contains(char::is_alphanumeric));
            if was_repeated {
                repeated.push(*element);
                return false;
            }
            let is_of = |above: &&Element<'_>| {
                above.places.iter().zip(element.places).all(|(above, place)| above.is_some() || place.is_none())
            };
            let above = repeated.last().filter(is_of);
            orphans.extend(above.map(|above| Orphan { element: *element, parent: above.text }));
            above.is_none()
        });
        for orphan in orphans {
            adopt(orphan, !self.is_new(), elements);
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
        let numbers = |inserted: &[Inserted], side: usize| -> Vec<usize> {
            let numbers = self.keys.places.get(side).map(Vec::as_slice).unwrap_or_default();
            inserted.iter().filter_map(|inserted| numbers.get(inserted.place).copied()).collect()
        };
        let (mut from_one, mut from_other) = (0, 0);
        let common = matching(&numbers(&one, 1), &numbers(&other, 2));
        let between = |list: &'_ [Inserted], part: Range<usize>| list.get(part).unwrap_or_default().to_vec();
        for (in_one, in_other) in common {
            self.interleave(&between(&one, from_one..in_one), &between(&other, from_other..in_other), elements);
            let place = |list: &[Inserted], index: usize| list.get(index).map(|inserted| inserted.place);
            elements.extend(self.element([None, place(&one, in_one), place(&other, in_other)]));
            (from_one, from_other) = (in_one + 1, in_other + 1);
        }
        self.interleave(&between(&one, from_one..one.len()), &between(&other, from_other..other.len()), elements);
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
                elements.extend(self.inserted(inserted.side, inserted.place));
            }
        }
    }

    /// Returns insertions in groups that stay together: all of one place below one block, or the entries of a log.
    fn groups(&self, side: &[Inserted]) -> Vec<Group<'a>> {
        let mut groups: Vec<Group<'a>> = Vec::new();
        for inserted in side {
            let Some(block) = self.sides.block(inserted.side, inserted.place) else { continue };
            let starts = self.keys.starts.get(inserted.side);
            let begins = starts.and_then(|starts| starts.get(inserted.place).copied().flatten());
            let is_below = |group: &Group<'_>| self.kind == Kind::Log || group.depth <= block.depth();
            match groups.last_mut() {
                Some(group) if group.replaced == inserted.replaced && begins.is_none() && is_below(group) => {
                    group.inserted.push(inserted.clone());
                }
                last => {
                    let earlier = last.filter(|_| begins.is_some()).and_then(|group| group.time);
                    groups.push(Group {
                        replaced: inserted.replaced.clone(),
                        depth: block.depth(),
                        // An entry without a time stays after the entry before it.
                        time: begins.flatten().max(earlier),
                        text: if begins.is_some() { block.text } else { "" },
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
            // What is deeper belongs to what is there already, not to what the other side adds.
            Kind::Note => order.then(other.depth.cmp(&one.depth)),
            Kind::Log => order.then_with(|| one.time.cmp(&other.time)).then_with(|| one.text.cmp(other.text)),
        }
    }

    /// Adds a conflict for two texts that have no common base, if both have paragraphs at one place that the other one lacks.
    /// Lists are united.
    fn without_base(&self, elements: &[Element<'a>], conflicts: &mut Vec<Conflict>) {
        let [_, one, other] = &self.sides.0;
        let known: [HashSet<&str>; 2] = [other, one].map(|side| side.texts().collect());
        let (mut is_lacking, mut differs) = ([false; 2], false);
        for element in elements {
            let [_, in_one, in_other] = element.places.map(|place| place.is_some());
            if in_one && in_other {
                is_lacking = [false; 2];
            }
            for ((is_lacking, known), is_there) in is_lacking.iter_mut().zip(&known).zip([in_one, in_other]) {
                *is_lacking |= is_there && element.class == Class::Paragraph && !known.contains(element.text);
            }
            differs |= is_lacking == [true; 2];
        }
        if differs {
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

/// Returns the lines that a text has before each line of the base and after the last; `None` if it lacks one of them.
fn added_lines<'a>(base: &[&str], text: &'a str) -> Option<Vec<Vec<&'a str>>> {
    let mut added = Vec::from([Vec::new()]);
    for line in text.split('\n') {
        match base.get(added.len() - 1) {
            Some(next) if *next == line => added.push(Vec::new()),
            _ => added.last_mut()?.push(line),
        }
    }
    (added.len() == base.len() + 1).then_some(added)
}

/// Adds the lines that two sides added at one place, each line of both once.
fn unite_lines<'a>(one: &[&'a str], other: &[&'a str], lines: &mut Vec<&'a str>) {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut numbered = |side: &[&'a str]| -> Vec<usize> {
        let mut number = |line: &&'a str| {
            let next = numbers.len();
            *numbers.entry(*line).or_insert(next)
        };
        side.iter().map(&mut number).collect()
    };
    let common = matching(&numbered(one), &numbered(other));
    let of_one: HashSet<&str> = one.iter().copied().collect();
    let (mut from_one, mut from_other) = (0, 0);
    for (in_one, in_other) in common.into_iter().chain([(one.len(), other.len())]) {
        lines.extend(one.get(from_one..in_one).into_iter().flatten());
        let of_other = other.get(from_other..in_other).into_iter().flatten();
        lines.extend(of_other.filter(|line| !of_one.contains(**line)));
        lines.extend(one.get(in_one));
        (from_one, from_other) = (in_one + 1, in_other + 1);
    }
}

/// Adds a block below its item or heading. With `once`, not if the other side has it there.
fn adopt<'a>(Orphan { element, parent }: Orphan<'a>, once: bool, elements: &mut Vec<Element<'a>>) {
    let parent = elements.iter().position(|element| element.text == parent);
    let first = parent.map_or(elements.len(), |parent| parent + 1);
    let outer = parent.and_then(|parent| elements.get(parent)).map_or(0, Element::depth);
    let below = elements.iter().skip(first).take_while(|element| element.depth() > outer);
    let is_of_other = |known: &Element<'_>| {
        known.places.iter().zip(element.places).all(|(known, place)| known.is_none() || place.is_none())
    };
    if once && below.clone().any(|known| known.text == element.text && is_of_other(known)) {
        return;
    }
    let end = first + below.count();
    elements.insert(end, element);
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
    /// Depth of its first block, which is less than that of the others.
    depth: usize,
    time: Option<Time>,
    text: &'a str,
    inserted: Vec<Inserted>,
}
