//! [`Note`]: one Markdown file, parsed.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;

use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use chrono::format::{Fixed, Item, Numeric, Pad, Parsed, parse};
use chrono::{DateTime, NaiveTime};

use super::frontmatter::{Frontmatter, FrontmatterProblem};
use super::inline::Found;
use super::properties;
use super::scanner::Blocks;
use super::tags::{MAX_TAGS, Names};
use super::text::line_of;
use super::types::{Link, LinkKind, MAX_LINKS, TagSyntax, Value};
use saddlebag_collections::order;
use saddlebag_collections::prelude::*;
use saddlebag_collections::{SlicePart, TextPart};

/// Beginning of the [`Note::problem`] of a note with too many links.
const LINKS_LEFT_OUT: &str = "only the first 65536 links";

/// A parsed Markdown file. Ranges are bytes of the text that it was parsed from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Metadata at the head of the file.
    pub frontmatter: Frontmatter,
    /// The `title` of the frontmatter, else the first heading of level 1; markup is stripped. Empty if there is
    /// neither: then the name of the file is the title, see [`Note::parse_file`].
    pub title: String,
    /// Text after the frontmatter, or after the heading that is the title; trimmed.
    pub body: Range<usize>,
    /// Body up to its first blank line.
    pub lead: Range<usize>,
    /// Other names, from `aliases` (or `alias`) of the frontmatter.
    pub aliases: Vec<String>,
    /// Tags of frontmatter and text, in the order of their first occurrence, without duplicates.
    pub tags: Vec<String>,
    /// Headings, in the order of the text.
    pub headings: Vec<Heading>,
    /// Links, in the order of the text.
    pub links: Vec<Link>,
    /// Number of words of the whole file, separated by white space.
    pub word_count: u32,
    /// Title and body as zk reads them, if different: see [`Note::into_zk`].
    pub zk: Option<ZkTitle>,
}

/// Title and body of a note by zk's rule: a heading of any level can be the title.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZkTitle {
    /// First heading of the smallest level; empty if there is no heading.
    pub title: String,
    /// Text after it, or the whole file.
    pub body: Range<usize>,
    /// Body up to its first blank line.
    pub lead: Range<usize>,
}

/// A heading of a note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// Level, from 1 to 6.
    pub level: u8,
    /// Text without markup.
    pub text: String,
    /// Range of its lines, without the last line ending.
    pub span: Range<usize>,
    /// Range of its text as it is written.
    pub content: Range<usize>,
}

impl Note {
    /// Returns a compact form of the note, for an index. It is never `None`, unless the code is wrong.
    pub fn encode(&self) -> Option<Vec<u8>> {
        postcard::to_allocvec(self).ok()
    }

    /// Reads the form that [`encode`](Self::encode) returns; `None` if the bytes are not an encoded note.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }

    /// Reads the frontmatter of the same form, which is its first part.
    pub fn decode_frontmatter(bytes: &[u8]) -> Option<Frontmatter> {
        postcard::take_from_bytes(bytes).ok().map(|(frontmatter, _)| frontmatter)
    }

    /// Reads the same form without the parts that only a single note needs: its headings, and the text, anchors and
    /// relations of its links are left out. Many notes at once then take less than half the memory.
    pub fn decode_outline(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok().map(|Outline(note)| note)
    }
}

/// A note without the parts that [`Note::decode_outline`] leaves out. They are read and dropped one by one.
struct Outline(Note);

impl<'de> Deserialize<'de> for Outline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// The fields of [`Note`], in their order.
        #[derive(Deserialize)]
        struct Fields<'a> {
            frontmatter: Frontmatter,
            title: String,
            body: Range<usize>,
            lead: Range<usize>,
            aliases: Vec<String>,
            tags: Vec<String>,
            #[serde(borrow)]
            headings: List<HeadingFields<'a>, ()>,
            #[serde(borrow)]
            links: List<LinkFields<'a>, Link>,
            word_count: u32,
            zk: Option<ZkTitle>,
        }
        let Fields { frontmatter, title, body, lead, aliases, tags, headings, links, word_count, zk } =
            Fields::deserialize(deserializer)?;
        let (List(_, _), List(links, _)) = (headings, links);
        Ok(Self(Note { frontmatter, title, body, lead, aliases, tags, headings: Vec::new(), links, word_count, zk }))
    }
}

/// The fields of [`Heading`], in their order.
#[derive(Deserialize)]
#[expect(dead_code, reason = "the fields are read to get to what follows them")]
struct HeadingFields<'a> {
    level: u8,
    text: &'a str,
    span: Range<usize>,
    content: Range<usize>,
}

impl From<HeadingFields<'_>> for () {
    fn from(_: HeadingFields<'_>) {}
}

/// The fields of [`Link`], in their order.
#[derive(Deserialize)]
#[expect(dead_code, reason = "some fields are read to get to what follows them")]
struct LinkFields<'a> {
    kind: LinkKind,
    target: String,
    anchor: Option<&'a str>,
    text: &'a str,
    #[serde(borrow)]
    relations: Vec<&'a str>,
    is_external: bool,
    span: Range<usize>,
    target_span: Range<usize>,
    context: Range<usize>,
}

impl From<LinkFields<'_>> for Link {
    fn from(link: LinkFields<'_>) -> Self {
        let LinkFields { kind, target, is_external, span, target_span, context, .. } = link;
        let (anchor, text, relations) = (None, String::new(), Vec::new());
        Self { kind, target, anchor, text, relations, is_external, span, target_span, context }
    }
}

/// A list of `F`, each converted into `T` as soon as it is read.
struct List<F, T>(Vec<T>, PhantomData<F>);

impl<'de, F: Deserialize<'de>, T: From<F>> Deserialize<'de> for List<F, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Items(PhantomData))
    }
}

/// Reader of a [`List`].
struct Items<F, T>(PhantomData<(F, T)>);

impl<'de, F: Deserialize<'de>, T: From<F>> Visitor<'de> for Items<F, T> {
    type Value = List<F, T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<F>()? {
            list.push(T::from(item));
        }
        Ok(List(list, PhantomData))
    }
}

impl FrontmatterProblem {
    /// Returns true if the note has more links than were read.
    pub fn leaves_out_links(&self) -> bool {
        self.message.starts_with(LINKS_LEFT_OUT)
    }
}

impl Note {
    /// Parses a file. Every text is a note; problems of its frontmatter are in [`Frontmatter::problem`].
    ///
    /// The rules are zk's (`reference/notebook.md`, section 2.2), except for the title, embeds and links in the
    /// frontmatter. The time is linear in the size of the text.
    pub fn parse(text: &str, syntax: TagSyntax) -> Self {
        let frontmatter = Frontmatter::parse(text);
        let blocks = Blocks::scan(text, frontmatter.span.end);
        let mut tags = Names::default();
        frontmatter.tags().into_iter().for_each(|tag| tags.push(tag));
        let mut found = Found::new(text, syntax, tags);
        let mut headings = Vec::new();
        for block in &blocks.list {
            let content = blocks.content(text, block);
            match &block.heading {
                None => found.read(&blocks, &content),
                Some(_) if headings.len() == MAX_LINKS => {}
                Some((level, span)) => headings.push(Heading {
                    level: *level,
                    text: found.read_heading(&blocks, &content),
                    span: span.clone(),
                    content: content.source_range(0..content.text.len()),
                }),
            }
        }
        let Found { mut links, tags, .. } = found;
        links.extend(properties::links(text, &frontmatter));
        // A link is found at its end, after those in its text.
        order::sort_slice_by_key(&mut links, |link| link.span.start);
        let (title, body_start) = match (frontmatter.title(), title_heading(&headings)) {
            (Some(title), _) => (String::from(title), frontmatter.span.end),
            (None, Some(heading)) => (heading.text.clone(), heading.span.end),
            (None, None) => (String::new(), frontmatter.span.end),
        };
        let zk = title.is_empty().then(|| {
            let heading = first_heading(&headings);
            let start = heading.map_or(frontmatter.span.start, |heading| heading.span.end);
            let body = trim(text, start..text.len());
            let title = heading.map(|heading| heading.text.clone()).unwrap_or_default();
            ZkTitle { title, lead: lead(text, body.clone()), body }
        });
        let body = trim(text, body_start..text.len());
        Self {
            zk,
            title,
            lead: lead(text, body.clone()),
            body,
            aliases: frontmatter.aliases(),
            tags: tags.into_list(),
            headings,
            links,
            word_count: word_count(text),
            frontmatter,
        }
    }

    /// Parses a file whose name, without its extension, is the title if the text has none.
    pub fn parse_file(text: &str, syntax: TagSyntax, stem: &str) -> Self {
        let mut note = Self::parse(text, syntax);
        if note.title.is_empty() {
            note.title = stem.into();
        }
        note
    }

    /// Returns true if every range of the note is a part of the text. This holds for the text that it was parsed from.
    pub fn fits(&self, text: &str) -> bool {
        let fits = |range| is_part(text, range);
        fits(&self.frontmatter.span)
            && fits(&self.body)
            && fits(&self.lead)
            && self.zk.as_ref().is_none_or(|zk| fits(&zk.body) && fits(&zk.lead))
            && self.headings.iter().all(|heading| fits(&heading.span) && fits(&heading.content))
            && self.links.iter().all(|link| fits(&link.span) && fits(&link.target_span) && fits(&link.context))
    }

    /// Returns the part of the file that was not read: invalid frontmatter, or text after too many links, headings or
    /// tags.
    pub fn problem(&self, text: &str) -> Option<FrontmatterProblem> {
        if let Some(FrontmatterProblem { line, message }) = &self.frontmatter.problem {
            return Some(FrontmatterProblem { line: *line, message: format!("frontmatter cannot be read: {message}") });
        }
        let cut = |line: u32, what: &str| {
            let message = format!("{what} of the note are used; split the note to use all of them");
            Some(FrontmatterProblem { line, message })
        };
        if self.links.len() >= MAX_LINKS {
            return cut(self.links.last().map_or(1, |link| line_of(text, link.span.end)), LINKS_LEFT_OUT);
        }
        if self.headings.len() >= MAX_LINKS {
            return cut(
                self.headings.last().map_or(1, |heading| line_of(text, heading.span.end)),
                "only the first 65536 headings",
            );
        }
        if self.tags.len() >= MAX_TAGS { cut(1, "only the first 65536 tags") } else { None }
    }

    /// Returns the note with title and body as zk reads them.
    pub fn into_zk(mut self) -> Self {
        if let Some(ZkTitle { title, body, lead }) = self.zk.take() {
            (self.title, self.body, self.lead) = (title, body, lead);
        }
        self
    }

    /// Returns the `date` of the frontmatter, as it is written.
    pub fn date(&self) -> Option<&str> {
        match self.frontmatter.value("date") {
            Some(Value::String(date)) => Some(date),
            _ => None,
        }
    }

    /// Returns the time that the `date` of the frontmatter states.
    pub fn stated(&self) -> Option<Stated> {
        self.date().and_then(Stated::parse)
    }

    /// Returns the heading that is the title.
    pub(super) fn title_heading(&self) -> Option<&Heading> {
        if self.frontmatter.title().is_some() { None } else { title_heading(&self.headings) }
    }
}

/// Returns the time that a value gives, in nanoseconds since 1970: a number is in milliseconds, text is a date as in
/// [`parse_date`].
pub fn moment(value: &Value) -> Option<u64> {
    match value {
        Value::Integer(milliseconds) => u64::try_from(*milliseconds).ok()?.checked_mul(1_000_000),
        other => parse_date(&other.text()?),
    }
}

/// Parses a date of a frontmatter as [`Stated::parse`] does, to nanoseconds since 1970-01-01T00:00:00Z; 0 for an earlier date. A date
/// without an offset is UTC, as in zk.
pub fn parse_date(date: &str) -> Option<u64> {
    Some(Stated::parse(date)?.moment(0))
}

/// A time as text states it: with an offset from UTC, or the time of the clock where the reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated {
    /// What the clock there showed, in nanoseconds since 1970-01-01T00:00:00. It says the calendar day.
    clock: i128,
    utc_offset_seconds: Option<i32>,
}

impl Stated {
    /// Parses a date: RFC 3339, ISO 8601 with an offset such as `+0200`, `2026-01-05`, `2026-01-05 09:00` or `2026-01-05
    /// 09:00:00`, with a space or a `T`. A date without a time is the start of the day.
    pub fn parse(date: &str) -> Option<Self> {
        let date = date.trim();
        let with_offset =
            || read_date(date, &[DAY, &[Item::Literal("T")], MINUTE, SECOND, FRACTION, OFFSET])?.to_datetime().ok();
        let (clock, utc_offset_seconds) = match DateTime::parse_from_rfc3339(date).ok().or_else(with_offset) {
            Some(moment) => (moment.naive_local(), Some(moment.offset().local_minus_utc())),
            None => {
                let local = [Item::Space(" "), Item::Literal("T")].into_iter().find_map(|between| {
                    let between = &[between][..];
                    let time = read_date(date, &[DAY, between, MINUTE, SECOND, FRACTION]);
                    time.or_else(|| read_date(date, &[DAY, between, MINUTE]))?.to_naive_datetime_with_offset(0).ok()
                });
                let day = || read_date(date, &[DAY])?.to_naive_date().ok().map(|day| day.and_time(NaiveTime::MIN));
                (local.or_else(day)?, None)
            }
        };
        let clock = clock.and_utc();
        let clock = i128::from(clock.timestamp()) * SECOND_NANOSECONDS + i128::from(clock.timestamp_subsec_nanos());
        Some(Self { clock, utc_offset_seconds })
    }

    /// Returns the moment in nanoseconds since 1970-01-01T00:00:00Z, 0 for an earlier one, for a reader at an offset from UTC.
    pub fn moment(self, utc_offset_seconds: i32) -> u64 {
        self.clock_at(self.utc_offset_seconds.unwrap_or(utc_offset_seconds))
    }

    /// Returns the moment when a clock at this offset shows what the text says. Of all moments at this offset, it alone has the
    /// calendar day of the text.
    pub fn clock_at(self, utc_offset_seconds: i32) -> u64 {
        let moment = self.clock - i128::from(utc_offset_seconds) * SECOND_NANOSECONDS;
        u64::try_from(moment.max(0)).unwrap_or_default()
    }
}

const SECOND_NANOSECONDS: i128 = 1_000_000_000;

// Parts of a date as lists: parsing a pattern such as `%Y-%m-%d` takes more code than all dates do.
const DAY: &[Item<'static>] =
    &[number(Numeric::Year), Item::Literal("-"), number(Numeric::Month), Item::Literal("-"), number(Numeric::Day)];
const MINUTE: &[Item<'static>] = &[number(Numeric::Hour), Item::Literal(":"), number(Numeric::Minute)];
const SECOND: &[Item<'static>] = &[Item::Literal(":"), number(Numeric::Second)];
const FRACTION: &[Item<'static>] = &[Item::Fixed(Fixed::Nanosecond)];
const OFFSET: &[Item<'static>] = &[Item::Fixed(Fixed::TimezoneOffset)];

const fn number(number: Numeric) -> Item<'static> {
    Item::Numeric(number, Pad::Zero)
}

/// Parses a date that has exactly these parts.
fn read_date(date: &str, parts: &[&[Item<'static>]]) -> Option<Parsed> {
    let mut parsed = Parsed::new();
    let items: Vec<&Item<'static>> = parts.iter().copied().flatten().collect();
    parse(&mut parsed, date, items.into_iter()).ok()?;
    Some(parsed)
}

/// Returns the first heading of level 1. Headings of other levels are sections, which a rename must not touch.
fn title_heading(headings: &[Heading]) -> Option<&Heading> {
    headings.iter().find(|heading| heading.level == 1 && !heading.text.is_empty())
}

/// Returns the first heading of the smallest level, which is zk's title.
fn first_heading(headings: &[Heading]) -> Option<&Heading> {
    headings.iter().filter(|heading| !heading.text.is_empty()).min_by_key(|heading| heading.level)
}

// Not inlined, to keep the component small.
#[inline(never)]
fn is_part(text: &str, range: &Range<usize>) -> bool {
    text.get(range.clone()).is_some()
}

fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let slice = text.part(range.clone());
    let start = range.start + (slice.len() - slice.trim_start().len());
    start..start + slice.trim().len()
}

/// Returns the body up to its first blank line.
fn lead(text: &str, body: Range<usize>) -> Range<usize> {
    let slice = text.part(body.clone());
    let end = memchr::memchr_iter(b'\n', slice.as_bytes()).find(|&end| {
        let rest = slice.as_bytes().part(end + 1..);
        let line = rest.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
        line == Some(&b'\n')
    });
    trim(text, body.start..end.map_or(body.end, |end| body.start + end))
}

fn word_count(text: &str) -> u32 {
    if !text.is_ascii() {
        return u32::try_from(text.split_whitespace().count()).unwrap_or(u32::MAX);
    }
    // Without branches, because every byte of every note passes here.
    let mut count = 0_usize;
    let mut was_space = true;
    for &byte in text.as_bytes() {
        let is_space = matches!(byte, b' ' | b'\t'..=b'\r');
        count += usize::from(was_space & !is_space);
        was_space = is_space;
    }
    u32::try_from(count).unwrap_or(u32::MAX)
}
