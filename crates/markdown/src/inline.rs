//! Links, tags and code in the text of a block, and the text without its markup.
//!
//! The text is read once from left to right. Every look ahead continues after its result, stops at the next thing of
//! its kind, or remembers that there is none, so that the time is linear in the size of the text.

use alloc::collections::VecDeque;
use core::ops::Range;

use memchr::memchr_iter;

use super::content::Content;
use super::html::{self, Missing};
use super::plain::Markup;
use super::references::{self, Definition};
use super::scanner::Blocks;
use super::tags::{self, Names};
use super::text::{at, looked_at, searched};
use super::types::{Counted, Link, LinkKind, MAX_LINKS, TagSyntax};
use super::urls;
use super::wiki::{self, Wiki};
use crate::percent;
use saddlebag_collections::SortedMap;
use saddlebag_collections::prelude::*;
use saddlebag_collections::{SlicePart, TextPart};

/// Minimum number of bytes that references to definitions may add to a file. A file may refer to one long destination
/// thousands of times.
const MIN_REFERENCE_BUDGET: usize = 100_000;
/// Maximum number of open brackets in a block; further ones make the first ones text.
const MAX_BRACKETS: usize = 1024;
/// Maximum length of the text whose markup is stripped, in bytes; nobody reads a longer heading.
const MAX_MARKUP: usize = 64 * 1024;

/// Links and tags in the blocks of a file.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) links: Vec<Link>,
    pub(super) tags: Names,
    /// Pictures from other sites, which lead to no note.
    pub(super) pictures: Counted,
    syntax: TagSyntax,
    reference_budget: usize,
}

impl Found {
    pub(super) fn new(text: &str, syntax: TagSyntax, tags: Names) -> Self {
        Self {
            links: Vec::new(),
            tags,
            pictures: Counted::default(),
            syntax,
            reference_budget: text.len().max(MIN_REFERENCE_BUDGET),
        }
    }

    /// Adds a link, unless there are too many. A link takes some twenty times as much memory as its text.
    fn add(&mut self, link: Link) {
        if self.links.len() < MAX_LINKS {
            self.links.push(link);
        }
    }

    /// Adds the links and tags of a block.
    pub(super) fn read(&mut self, blocks: &Blocks, content: &Content<'_>) {
        let text = content.text.as_ref();
        Scan::new(text, blocks, Some((content, self)), None).run();
    }

    /// Adds the links and tags of a heading. Returns its text without markup.
    pub(super) fn read_heading(&mut self, blocks: &Blocks, content: &Content<'_>) -> String {
        let text = content.text.as_ref();
        if text.len() > MAX_MARKUP {
            self.read(blocks, content);
            return text.into();
        }
        let mut markup = Markup::default();
        Scan::new(text, blocks, Some((content, self)), Some(&mut markup)).run();
        markup.apply(text)
    }
}

/// Returns the text without its markup.
pub(super) fn plain(text: &str, blocks: &Blocks) -> String {
    if text.len() > MAX_MARKUP || !text.bytes().any(|byte| kind(byte) & MARKUP != 0) {
        return text.trim().into();
    }
    let mut markup = Markup::default();
    Scan::new(text, blocks, None, Some(&mut markup)).run();
    markup.apply(text)
}

/// Flag of a byte that may start something anywhere.
const SPECIAL: u8 = 1;
/// Flag of a byte that may start markup.
const MARKUP: u8 = 2;

const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    kinds[b'\\' as usize] = SPECIAL | MARKUP;
    kinds[b'`' as usize] = SPECIAL | MARKUP;
    kinds[b'[' as usize] = SPECIAL | MARKUP;
    kinds[b']' as usize] = SPECIAL | MARKUP;
    kinds[b'!' as usize] = SPECIAL | MARKUP;
    kinds[b'<' as usize] = SPECIAL | MARKUP;
    kinds[b'#' as usize] = SPECIAL;
    kinds[b':' as usize] = SPECIAL;
    kinds[b'*' as usize] = MARKUP;
    kinds[b'_' as usize] = MARKUP;
    kinds[b'&' as usize] = MARKUP;
    kinds[b'\n' as usize] = MARKUP;
    kinds
};

fn kind(byte: u8) -> u8 {
    KINDS.get(usize::from(byte)).copied().unwrap_or(0)
}

/// A `[` that may open a link.
#[derive(Clone, Copy, Debug)]
struct Bracket {
    /// Start of its text.
    inner: usize,
    image: bool,
    /// True if there are brackets in its text, so that it is not a label.
    nested: bool,
    /// Number of links and marks before it.
    links: usize,
    marks: usize,
}

struct Scan<'s> {
    text: &'s str,
    bytes: &'s [u8],
    blocks: &'s Blocks,
    found: Option<(&'s Content<'s>, &'s mut Found)>,
    markup: Option<&'s mut Markup>,
    brackets: VecDeque<Bracket>,
    /// Brackets below this index are before a link. The text of a link cannot contain a link.
    floor: usize,
    /// Start of the last run of backticks of each length, computed when needed.
    backticks: Option<SortedMap<usize, usize>>,
    missing: Missing,
    /// End of the last thing that was found.
    consumed: usize,
}

impl<'s> Scan<'s> {
    fn new(
        text: &'s str,
        blocks: &'s Blocks,
        found: Option<(&'s Content<'s>, &'s mut Found)>,
        markup: Option<&'s mut Markup>,
    ) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            blocks,
            found,
            markup,
            brackets: VecDeque::new(),
            floor: 0,
            backticks: None,
            missing: Missing::default(),
            consumed: 0,
        }
    }

    fn run(mut self) {
        let mask = if self.markup.is_some() { SPECIAL | MARKUP } else { SPECIAL };
        let mut next = 0;
        while let Some(skipped) =
            self.bytes.get(next..).and_then(|rest| searched(rest, rest.iter().position(|&byte| kind(byte) & mask != 0)))
        {
            let start = next + skipped;
            let end = match at(self.bytes, start) {
                b'\\' => Some(self.escape(start)),
                b'`' => Some(self.code(start)),
                b'[' => Some(self.open(start)),
                b']' => self.close(start),
                b'!' => self.image(start),
                b'<' => self.angle(start),
                b'#' => self.hash(start),
                b':' => self.colon(start),
                b'*' | b'_' => Some(self.emphasis(start)),
                b'&' => self.entity(start),
                _ => None,
            };
            if let Some(end) = end {
                self.consumed = end;
            }
            next = end.unwrap_or(start + 1).max(start + 1);
        }
    }

    fn slice(&self, range: Range<usize>) -> &'s str {
        self.text.part(range)
    }

    fn cut(&mut self, range: Range<usize>) {
        if let Some(markup) = &mut self.markup {
            markup.cut(range);
        }
    }

    fn escape(&mut self, start: usize) -> usize {
        let next = at(self.bytes, start + 1);
        if next.is_ascii_punctuation() {
            self.cut(start..start + 1);
            return start + 2;
        }
        if next == b'\n' {
            self.cut(start..start + 1);
        }
        start + 1
    }

    fn emphasis(&mut self, start: usize) -> usize {
        let mark = at(self.bytes, start);
        let length = looked_at(self.bytes.iter().skip(start).take_while(|&&byte| byte == mark).count());
        if let Some(markup) = &mut self.markup {
            markup.mark(self.text, start, length);
        }
        start + length
    }

    fn entity(&mut self, start: usize) -> Option<usize> {
        let (character, length) = references::entity(self.text.get(start..)?)?;
        if let Some(markup) = &mut self.markup {
            markup.replace(start..start + length, character);
        }
        Some(start + length)
    }

    /// Returns the end of the code span whose first backtick is at `start`, or of the backticks alone.
    fn code(&mut self, start: usize) -> usize {
        let run = |start: usize| looked_at(self.bytes.iter().skip(start).take_while(|&&byte| byte == b'`').count());
        let length = run(start);
        let bytes = self.bytes;
        let inner = start + length;
        let last = self.backticks.get_or_insert_with(|| {
            let mut last = SortedMap::default();
            last.extend(backtick_runs(bytes, 0));
            last
        });
        // Searched only if there is a closing run, so everything that is read is consumed.
        let closes = last.get(&length).is_some_and(|&last| last >= inner);
        let Some((_, close)) = closes.then(|| backtick_runs(bytes, inner).find(|run| run.0 == length)).flatten() else {
            return inner;
        };
        // One space on both sides belongs to the marks.
        let is_space = |byte: u8| matches!(byte, b' ' | b'\n');
        let code = self.slice(inner..close);
        let padded = close >= inner + 2
            && is_space(at(self.bytes, inner))
            && is_space(at(self.bytes, close - 1))
            && !code.bytes().all(is_space);
        let padding = usize::from(padded);
        self.cut(start..inner + padding);
        self.cut(close - padding..close + length);
        close + length
    }

    fn open(&mut self, start: usize) -> usize {
        if at(self.bytes, start + 1) == b'[' {
            let three = at(self.bytes, start + 2) == b'[';
            let opening = if three { 3 } else { 2 };
            if !(three && at(self.bytes, start + 3) == b'[')
                && let Some(wiki) = Wiki::read(self.text, start, opening)
            {
                let relation = (opening == 3).then_some("down");
                return self.wiki_link(LinkKind::Wiki, start, wiki, relation);
            }
        }
        self.push(start + 1, false);
        start + 1
    }

    fn image(&mut self, start: usize) -> Option<usize> {
        if at(self.bytes, start + 1) != b'[' {
            return None;
        }
        if at(self.bytes, start + 2) == b'['
            && at(self.bytes, start + 3) != b'['
            && let Some(wiki) = Wiki::read(self.text, start + 1, 2)
        {
            return Some(self.wiki_link(LinkKind::Embed, start, wiki, None));
        }
        self.push(start + 2, true);
        Some(start + 2)
    }

    fn push(&mut self, inner: usize, image: bool) {
        self.mark_nested();
        let links = self.found.as_ref().map_or(0, |(_, found)| found.links.len());
        let marks = self.markup.as_ref().map_or(0, |markup| markup.marks());
        if self.brackets.len() == MAX_BRACKETS {
            self.brackets.pop_front();
            self.floor = self.floor.saturating_sub(1);
        }
        self.brackets.push_back(Bracket { inner, image, nested: false, links, marks });
    }

    fn mark_nested(&mut self) {
        if let Some(bracket) = self.brackets.back_mut() {
            bracket.nested = true;
        }
    }

    fn wiki_link(&mut self, kind: LinkKind, start: usize, wiki: Wiki, relation: Option<&str>) -> usize {
        self.mark_nested();
        let mut end = wiki.end;
        let mut relation = relation;
        if kind == LinkKind::Wiki
            && relation.is_none()
            && at(self.bytes, end) == b'#'
            && !tags::continues(self.text, end + 1)
        {
            relation = Some("down");
            end += 1;
        }
        let shown = wiki.label.clone().unwrap_or_else(|| wiki.target.clone());
        self.cut(start..shown.start);
        self.cut(shown.end..end);
        let (target, anchor, is_external) = wiki::destination(self.slice(wiki.target.clone()));
        let text = wiki::unescape(self.slice(shown));
        if let Some((content, found)) = &mut self.found {
            found.add(Link {
                kind,
                target,
                anchor,
                text,
                relations: relation.map(String::from).into_iter().collect(),
                is_external,
                span: content.source_range(start..end),
                target_span: content.source_range(wiki.target),
                context: content.source_range(0..self.text.len()),
            });
        }
        end
    }

    /// Creates a link from the bracket that the `]` at `close` closes, if it is one.
    fn close(&mut self, close: usize) -> Option<usize> {
        let opener = self.brackets.pop_back()?;
        let active = opener.image || self.brackets.len() >= self.floor;
        self.floor = self.floor.min(self.brackets.len());
        if !active {
            return None;
        }
        if at(self.bytes, close + 1) == b'('
            && let Some(inline) = references::inline(self.bytes, close + 2)
        {
            let destination = self.slice(inline.destination.clone());
            let title = self.slice(inline.title);
            let span = self.found.as_ref().map(|(content, _)| content.source_range(inline.destination));
            self.link(&opener, close, inline.end, (destination, title, span.unwrap_or_default()));
            return Some(inline.end);
        }
        if self.blocks.definitions.is_empty() {
            return None;
        }
        let (definition, end) = self.reference(&opener, close)?;
        if let Some((_, found)) = &mut self.found {
            let cost = definition.destination.len() + definition.title.len();
            found.reference_budget = found.reference_budget.checked_sub(cost)?;
        }
        self.link(&opener, close, end, (&definition.destination, &definition.title, definition.span.clone()));
        Some(end)
    }

    /// Returns the definition for `[text][label]`, `[label][]` or `[label]`, and its end.
    fn reference(&self, opener: &Bracket, close: usize) -> Option<(&'s Definition, usize)> {
        let find = |label: &str| self.blocks.definitions.get(&references::normalize(label));
        let mut end = close + 1;
        if at(self.bytes, close + 1) == b'['
            && let Some((label, after)) = references::label(self.text, close + 1)
        {
            let label = self.slice(label);
            if !label.is_empty() {
                return Some((find(label)?, after));
            }
            end = after;
        }
        if opener.nested {
            return None;
        }
        Some((find(self.slice(opener.inner..close))?, end))
    }

    fn link(
        &mut self,
        opener: &Bracket,
        close: usize,
        end: usize,
        (destination, title, target_span): (&str, &str, Range<usize>),
    ) {
        let start = opener.inner - if opener.image { 2 } else { 1 };
        if let Some(markup) = &mut self.markup {
            markup.pair(opener.marks);
            markup.cut(start..opener.inner);
            markup.cut(close..end);
        }
        if !opener.image {
            self.floor = self.brackets.len();
        }
        let Some((content, found)) = &mut self.found else { return };
        // A bare URL in the text of a link is text: the link leads to its own target.
        if !opener.image {
            let inside = found.links.split_off(opener.links.min(found.links.len()));
            looked_at(inside.len());
            found
                .links
                .extend(inside.into_iter().filter(|link| link.kind != LinkKind::Url || link.span != link.target_span));
        }
        let destination = references::unescape(destination);
        if destination.is_empty() {
            return;
        }
        let is_external = references::has_scheme(&destination) || destination.starts_with("//");
        // A picture from another site leads to no note, and may be megabytes of `data:`.
        if opener.image && is_external {
            found.pictures.add(&destination);
            return;
        }
        let (target, anchor) = if is_external {
            (destination.into_owned(), None)
        } else {
            let (path, anchor) = match destination.split_once('#') {
                Some((path, anchor)) => (path, Some(anchor)),
                None => (destination.as_ref(), None),
            };
            (percent::decode(path).into_owned(), anchor.map(|anchor| percent::decode(anchor).into_owned()))
        };
        found.add(Link {
            kind: if opener.image { LinkKind::Image } else { LinkKind::Markdown },
            target,
            anchor,
            text: plain(self.text.part(opener.inner..close), self.blocks),
            relations: references::unescape(title).split_whitespace().map(String::from).collect(),
            is_external,
            span: content.source_range(start..end),
            target_span,
            context: content.source_range(0..self.text.len()),
        });
    }

    fn angle(&mut self, start: usize) -> Option<usize> {
        if let Some((inner, is_address)) = urls::autolink(self.bytes, start) {
            self.cut(start..inner.start);
            self.cut(inner.end..inner.end + 1);
            let end = inner.end + 1;
            self.url(start..end, inner, is_address);
            return Some(end);
        }
        let end = html::inline(self.bytes, start, &mut self.missing)?;
        self.cut(start..end);
        Some(end)
    }

    fn hash(&mut self, start: usize) -> Option<usize> {
        if at(self.bytes, start + 1) == b'[' && at(self.bytes, start + 2) == b'[' {
            let opening = if at(self.bytes, start + 3) == b'[' { 3 } else { 2 };
            let wiki = Wiki::read(self.text, start + 1, opening)?;
            return Some(self.wiki_link(LinkKind::Wiki, start, wiki, Some("up")));
        }
        let (_, found) = self.found.as_mut()?;
        if !found.syntax.hashtags || !tags::may_start(self.text, start) {
            return None;
        }
        let (tag, end) = tags::hashtag(self.text, start, found.syntax.multiword_tags)?;
        found.tags.push(tag);
        Some(end)
    }

    fn colon(&mut self, start: usize) -> Option<usize> {
        if at(self.bytes, start + 1) == b'/' && at(self.bytes, start + 2) == b'/' {
            return self.bare_url(start);
        }
        let (_, found) = self.found.as_mut()?;
        if !found.syntax.colon_tags || !tags::may_start(self.text, start) {
            return None;
        }
        tags::colon_tags(self.text, start, |tag| found.tags.push(tag))
    }

    /// Reads the URL whose `://` is at `colon`.
    fn bare_url(&mut self, colon: usize) -> Option<usize> {
        let range = urls::bare(self.text, self.consumed, colon)?;
        self.url(range.clone(), range.clone(), false);
        Some(range.end)
    }

    fn url(&mut self, span: Range<usize>, inner: Range<usize>, is_address: bool) {
        let url = self.slice(inner.clone());
        let Some((content, found)) = &mut self.found else { return };
        let mut target = String::with_capacity(url.len() + if is_address { 7 } else { 0 });
        if is_address {
            target.push_str("mailto:");
        }
        target.push_str(url);
        found.add(Link {
            kind: LinkKind::Url,
            target,
            anchor: None,
            text: url.into(),
            relations: Vec::new(),
            is_external: true,
            span: content.source_range(span),
            target_span: content.source_range(inner),
            context: content.source_range(0..self.text.len()),
        });
    }
}

/// Returns the length and the start of each run of backticks from `start` on.
fn backtick_runs(bytes: &[u8], start: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut end = start;
    let ticks = memchr_iter(b'`', bytes.part(start..));
    ticks.map(move |tick| start + tick).filter_map(move |tick| {
        if tick < end {
            return None;
        }
        looked_at(tick - end);
        let length = bytes.iter().skip(tick).take_while(|&&byte| byte == b'`').count();
        end = tick + looked_at(length);
        Some((length, tick))
    })
}
