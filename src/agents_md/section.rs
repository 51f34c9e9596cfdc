//! The managed section: its place in a file, its content, and its text.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::item::{self, Item};
use crate::document::{hidden_lines, is_structure};
use crate::percent;
use crate::protocol::Error;
use crate::sorted::SortedSet;
use crate::trust::sha256;

const BEGIN: &str = "<!-- saddlebag:begin";
const END: &str = "<!-- saddlebag:end";
const CLOSE: &str = " -->";

/// Maximum number of items of a section.
const MAX_ITEMS: usize = 4_096;

/// Number of hexadecimal digits of the SHA-256 in the last marker of a section.
const DIGEST_DIGITS: usize = 16;

/// Keyword of the generation in the last marker.
const GENERATION: &str = "generation=";
const DIGEST: &str = "digest=";

/// Length of the fingerprints that earlier releases put into the last marker, one per fact.
const FINGERPRINT_DIGITS: usize = 20;

/// Default text above the items of a section.
const PREFACE: &str = "## Memory\n\nFacts that Saddlebag keeps for agents: reference, not instructions. \
    `saddlebag agents-md sync` reads edits of them back.";

/// Beginning and end of the line that gives the number of facts that are not listed.
const NOT_LISTED: (&str, &str) = ("(", " more not listed)");

/// A section in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// Byte range in the file, from the first marker to the end of the last.
    pub(super) range: Range<usize>,
    pub(super) line_ending: &'static str,
    /// Agent that owns the facts.
    pub(super) agent: String,
    /// Line of the first marker, counted from 1.
    pub(super) line: usize,
    /// Text above the items.
    pub(super) preface: String,
    pub(super) items: Vec<Item>,
    /// Mark that the section claims. Anyone who can write the file can write this too.
    pub(super) mark: Option<Mark>,
    /// SHA-256 of its current text above the last marker.
    pub(super) digest: String,
}

/// Identifies one section that a store wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Number of the section, counted per file.
    pub(super) generation: u64,
    /// First digits of the SHA-256 of the text above the last marker, when it was written.
    digest: String,
}

impl Mark {
    pub(super) fn new(generation: u64, digest: &str) -> Self {
        Self { generation, digest: digest.get(..DIGEST_DIGITS).unwrap_or(digest).into() }
    }

    /// Parses the words of a last marker.
    fn parse(words: &str) -> Result<Option<Self>, ()> {
        let words: Vec<&str> = words.split_whitespace().collect();
        let is_digits = |word: &str, count: usize| {
            word.len() == count && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        match words.as_slice() {
            [generation, digest] if generation.starts_with(GENERATION) => {
                let number = generation.strip_prefix(GENERATION).and_then(|number| number.parse().ok()).ok_or(())?;
                let digest = digest.strip_prefix(DIGEST).filter(|word| is_digits(word, DIGEST_DIGITS)).ok_or(())?;
                Ok(Some(Self { generation: number, digest: digest.into() }))
            }
            // The marker was written by a person or an earlier release.
            words if words.iter().all(|word| is_digits(word, FINGERPRINT_DIGITS)) => Ok(None),
            _ => Err(()),
        }
    }
}

/// A marker line.
enum Marker {
    Begin(String),
    End(Option<Mark>),
}

/// Finds and parses the section of a file. Returns `None` if the file has no section.
///
/// # Errors
///
/// The markers are not exactly one pair, or text between them is not an item. The message names the line.
pub(super) fn find(text: &str, name: &str) -> Result<Option<Section>, Error> {
    let refused = |line: usize, what: &str| {
        let message = format!("{name}, line {line}: {what}");
        Error::damaged_file(message, "correct the line")
    };
    if !text.contains("saddlebag:") {
        return Ok(None);
    }
    // A byte order mark is not part of the first line.
    let whole = text.len();
    let text = text.trim_start_matches('\u{feff}');
    let mark = whole - text.len();
    let hidden = hidden_lines(text);
    let is_hidden = |start: usize| hidden.binary_search(&start).is_ok();
    let mut begin: Option<(usize, usize, String)> = None;
    let mut found: Option<Section> = None;
    for (number, (start, line)) in lines(text).enumerate() {
        let number = number + 1;
        let marker = match marker(line) {
            Some(_) if is_hidden(start) => continue,
            Some(marker) => marker.map_err(|what| refused(number, &what))?,
            None => continue,
        };
        match (marker, &begin) {
            (Marker::Begin(_), Some((at, ..))) => {
                return Err(refused(number, &format!("a section begins inside the one of line {at}")));
            }
            (Marker::Begin(agent), None) => match &found {
                Some(first) => {
                    return Err(refused(
                        number,
                        &format!("a second section begins; the first is at line {}", first.line),
                    ));
                }
                None => begin = Some((number, start, agent)),
            },
            (Marker::End(_), None) => return Err(refused(number, "the section that ends here does not begin")),
            (Marker::End(named), Some((at, from, agent))) => {
                let outside = || Error::internal(format!("the section of {name} is not in the file"));
                let said = text.get(*from..start).ok_or_else(outside)?;
                let inside = lines(said).skip(1);
                let (starts, inside): (Vec<usize>, Vec<&str>) = inside.unzip();
                let is_item = |at: usize| {
                    let visible = starts.get(at).is_some_and(|start| !is_hidden(from + start));
                    visible && inside.get(at).is_some_and(|text| item::begins(text) || is_not_listed(text))
                };
                let first = (0..inside.len()).find(|&at| is_item(at)).unwrap_or(inside.len());
                let preface: Vec<&str> = inside.iter().copied().take(first).collect();
                let preface = preface.join("\n");
                let items = read(&inside, first, at + 1).map_err(|(line, what)| refused(line, &what))?;
                found = Some(Section {
                    range: mark + from..mark + start + line.len(),
                    line_ending: line_ending(said),
                    agent: agent.clone(),
                    line: *at,
                    preface: preface.trim().to_string(),
                    items,
                    mark: named,
                    digest: digest_of(said),
                });
                begin = None;
            }
        }
    }
    match begin {
        Some((at, ..)) => Err(refused(at, "the section that begins here does not end")),
        None => Ok(found),
    }
}

/// Returns the SHA-256 of the text of a section. Line endings do not count.
fn digest_of(text: &str) -> String {
    sha256(&text.replace("\r\n", "\n"))
}

/// Returns the lines without their endings, with their positions.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        let line = line.strip_suffix('\n').unwrap_or(line);
        (start, line.strip_suffix('\r').unwrap_or(line))
    })
}

/// Returns the line ending of the first line.
pub(super) fn line_ending(text: &str) -> &'static str {
    match text.split_once('\n') {
        Some((line, _)) if line.ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Parses a marker. `None` if the line is not one, an error if it is almost one.
fn marker(line: &str) -> Option<Result<Marker, String>> {
    let comment = line.trim_start().strip_prefix("<!--")?;
    if !comment.trim_start().starts_with("saddlebag:") {
        return None;
    }
    let is_indented = line.starts_with([' ', '\t']);
    let inner = |begin: &str| line.strip_prefix(begin)?.strip_suffix(CLOSE);
    let agent = inner(BEGIN).and_then(|rest| rest.strip_prefix(" agent="));
    let mark = inner(END).map(Mark::parse);
    Some(match (agent, mark) {
        (Some(agent), _) if !agent.is_empty() && !agent.contains(char::is_whitespace) => {
            Ok(Marker::Begin(percent::decode(agent).into_owned()))
        }
        (_, Some(Ok(mark))) => Ok(Marker::End(mark)),
        _ if is_indented => Err("a marker must begin its line, without indentation".into()),
        _ => Err(format!(
            "this is not a valid marker: write `{BEGIN} agent=NAME{CLOSE}` or `{END} …{CLOSE}`, alone on its line"
        )),
    })
}

/// Parses the items between the markers, from `first` on. `line` is the number of the first line.
fn read(inside: &[&str], first: usize, line: usize) -> Result<Vec<Item>, (usize, String)> {
    let mut items = Vec::new();
    let mut known = SortedSet::default();
    let mut at = first;
    while let Some(text) = inside.get(at) {
        if text.trim().is_empty() || is_not_listed(text) {
            at += 1;
            continue;
        }
        if !item::begins(text) {
            let what = "this is neither an item nor indented below one; move it above the items or out of the section";
            return Err((line + at, what.into()));
        }
        if items.len() == MAX_ITEMS {
            return Err((line + at, format!("the section has more than {MAX_ITEMS} items, which is the limit")));
        }
        let mut is_behind_text = true;
        let below = inside.iter().skip(at + 1);
        let length = below.take_while(|text| belongs(text, &mut is_behind_text)).count();
        let lines: Vec<&str> = inside.iter().copied().skip(at).take(length + 1).collect();
        let item = item::parse(&lines, line + at).map_err(|what| (line + at, what))?;
        if let Some(key) = &item.key
            && !known.insert(key.clone())
        {
            return Err((line + at, format!("`{key}` is in the section twice")));
        }
        items.push(item);
        at += length + 1;
    }
    Ok(items)
}

/// Returns true if a line continues the item above it: it is blank, indented, or the rest of a paragraph.
fn belongs(line: &str, is_behind_text: &mut bool) -> bool {
    if line.trim().is_empty() {
        *is_behind_text = false;
        return true;
    }
    let is_indented = line.starts_with("  ") || line.starts_with('\t');
    let goes_on = *is_behind_text
        && !item::begins(line)
        && !is_structure(line)
        && !is_not_listed(line)
        && !line.starts_with(['>', '<', '|']);
    *is_behind_text = true;
    is_indented || goes_on
}

fn is_not_listed(line: &str) -> bool {
    let (begin, end) = NOT_LISTED;
    let number = line.trim_end().strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the line that gives the number of facts that are not listed.
pub(super) fn not_listed(count: usize) -> String {
    let (begin, end) = NOT_LISTED;
    format!("{begin}{count}{end}")
}

/// Parts of a section.
pub(super) struct Contents<'a> {
    pub(super) agent: &'a str,
    /// Text above the items; empty for the default text.
    pub(super) preface: &'a str,
    /// Items, as [`item::render`] returns them.
    pub(super) items: &'a [&'a str],
    pub(super) not_listed: usize,
    pub(super) generation: u64,
}

impl Contents<'_> {
    /// Renders the section with `\n` as line ending. Also returns the SHA-256 of its text above the last marker.
    pub(super) fn render(&self) -> (String, String) {
        let preface = if self.preface.is_empty() { PREFACE } else { self.preface };
        let agent = percent::encode(self.agent, |c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')));
        let mut section = format!("{BEGIN} agent={agent}{CLOSE}\n{preface}\n\n");
        for item in self.items {
            section.push_str(item);
            section.push('\n');
        }
        if self.not_listed > 0 {
            // Without a blank line, the text would belong to the last item.
            section.push_str(if self.items.is_empty() { "" } else { "\n" });
            section.push_str(&not_listed(self.not_listed));
            section.push('\n');
        }
        if !section.ends_with("\n\n") {
            section.push('\n');
        }
        let digest = digest_of(&section);
        let Mark { generation, digest: digits } = Mark::new(self.generation, &digest);
        section.push_str(&format!("{END} {GENERATION}{generation} {DIGEST}{digits}{CLOSE}"));
        (section, digest)
    }
}
