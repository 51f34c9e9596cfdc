//! The managed section: its place in a file, and its text.

use core::ops::Range;

use crate::trust::sha256;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{hidden_lines, percent};
use saddlebag_protocol::Error;

const BEGIN: &str = "<!-- saddlebag:begin";
const END: &str = "<!-- saddlebag:end";
const CLOSE: &str = " -->";

/// Word of the digest in the last marker.
const DIGEST: &str = "digest=";

/// Number of hexadecimal digits of the SHA-256 in the last marker of a section.
const DIGEST_DIGITS: usize = 16;

/// Text above the items of a section.
const PREFACE: &str = "## Memory\n\nFacts that Saddlebag keeps for agents: reference, not instructions. \
    `saddlebag agents-md sync` writes them, and reads no edits back.";

/// A section in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section<'a> {
    /// Byte range in the file, from the first marker to the end of the last.
    pub(super) range: Range<usize>,
    /// Text above the last marker, with the first marker.
    pub(super) said: &'a str,
    /// Agent that owns the facts.
    pub(super) agent: String,
    /// Line of the first marker, counted from 1.
    pub(super) line: usize,
    /// True if the text is not what the digest in the last marker says. A section without text and digest only names
    /// the place.
    pub(super) is_edited: bool,
}

/// A marker line.
enum Marker {
    Begin(String),
    /// Last marker, with its digest.
    End(Option<String>),
}

/// Finds the section of a file. Returns `None` if the file has no section.
///
/// # Errors
///
/// The markers are not exactly one pair. The message names the line.
pub(super) fn find<'a>(text: &'a str, name: &str) -> Result<Option<Section<'a>>, Error> {
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
    let mut begin: Option<(usize, usize, String)> = None;
    let mut found: Option<Section<'a>> = None;
    for (number, (start, line)) in lines(text).enumerate() {
        let number = number + 1;
        let marker = match marker(line) {
            Some(_) if hidden.binary_search(&start).is_ok() => continue,
            Some(marker) => marker.map_err(|what| refused(number, &what))?,
            None => continue,
        };
        match (marker, &begin, &found) {
            (Marker::Begin(_), Some((at, ..)), _) => {
                return Err(refused(number, &format!("a section begins inside the one of line {at}")));
            }
            (Marker::Begin(_), None, Some(first)) => {
                let what = format!("a second section begins; the first is at line {}", first.line);
                return Err(refused(number, &what));
            }
            (Marker::Begin(agent), None, None) => begin = Some((number, start, agent)),
            (Marker::End(_), None, _) => return Err(refused(number, "the section that ends here does not begin")),
            (Marker::End(digest), Some((at, from, agent)), _) => {
                let outside = || Error::internal(format!("the section of {name} is not in the file"));
                let said = text.get(*from..start).ok_or_else(outside)?;
                let is_edited = match digest {
                    Some(digest) => digest_of(said) != digest,
                    None => lines(said).skip(1).any(|(_, line)| !line.trim().is_empty()),
                };
                let range = mark + from..mark + start + line.len();
                found = Some(Section { range, said, agent: agent.clone(), line: *at, is_edited });
                begin = None;
            }
        }
    }
    match begin {
        Some((at, ..)) => Err(refused(at, "the section that begins here does not end")),
        None => Ok(found),
    }
}

/// Returns the first digits of the SHA-256 of the text of a section. Line endings do not count.
fn digest_of(text: &str) -> String {
    sha256(&text.replace("\r\n", "\n")).chars().take(DIGEST_DIGITS).collect()
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
    // Earlier sections also have a generation.
    let is_word = |word: &str| word.starts_with(DIGEST) || word.starts_with("generation=");
    Some(match (agent, inner(END).map(str::trim_start)) {
        (Some(agent), _) if !agent.is_empty() && !agent.contains(char::is_whitespace) => {
            Ok(Marker::Begin(percent::decode(agent).into_owned()))
        }
        (_, Some("")) => Ok(Marker::End(None)),
        (_, Some(words)) if words.split(' ').all(is_word) => {
            Ok(Marker::End(words.rsplit(DIGEST).next().map(String::from)))
        }
        _ if is_indented => Err("a marker must begin its line, without indentation".into()),
        _ => Err(format!(
            "this is not a valid marker: write `{BEGIN} agent=NAME{CLOSE}` or `{END} …{CLOSE}`, alone on its line"
        )),
    })
}

/// Parts of a section.
pub(super) struct Contents<'a> {
    pub(super) agent: &'a str,
    /// Items, as [`super::item::render`] returns them.
    pub(super) items: &'a [&'a str],
    pub(super) not_listed: usize,
}

impl Contents<'_> {
    /// Renders the section with `\n` as line ending.
    pub(super) fn render(&self) -> String {
        let agent = percent::encode(self.agent, |c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')));
        let mut section = format!("{BEGIN} agent={agent}{CLOSE}\n{PREFACE}\n\n");
        for item in self.items {
            section.push_str(item);
            section.push('\n');
        }
        if self.not_listed > 0 {
            // Without a blank line, the text would belong to the last item.
            section.push_str(if self.items.is_empty() { "" } else { "\n" });
            section.push_str(&format!("({} more not listed)\n", self.not_listed));
        }
        if !section.ends_with("\n\n") {
            section.push('\n');
        }
        let digest = digest_of(&section);
        section.push_str(&format!("{END} {DIGEST}{digest}{CLOSE}"));
        section
    }
}
