//! HTML in Markdown, as far as it hides text that looks like Markdown.

use memchr::memchr;
use memchr::memmem;

use super::text::{at, looked_at, searched};
use saddlebag_collections::SlicePart;

/// Condition that ends a block of HTML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HtmlEnd {
    /// `</script>`, `</pre>`, `</style>` or `</textarea>`.
    RawTag,
    /// Line with this text.
    Text(&'static str),
    /// A blank line.
    Blank,
}

impl HtmlEnd {
    /// Returns true if the line, without its indentation, ends the block.
    pub(super) fn is_in(self, line: &[u8]) -> bool {
        match self {
            Self::RawTag => memmem::find_iter(line, b"</").any(|start| {
                let name = line.part(start + 2..);
                RAW.iter().any(|raw| starts_with(name, raw) && at(name, raw.len()) == b'>')
            }),
            Self::Text(end) => memmem::find(line, end.as_bytes()).is_some(),
            Self::Blank => line.trim_ascii().is_empty(),
        }
    }
}

const RAW: [&str; 4] = ["script", "pre", "style", "textarea"];

/// Names of tags that begin a block, sorted.
const BLOCKS: [&str; 62] = [
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];

fn starts_with(text: &[u8], name: &str) -> bool {
    text.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes()))
}

/// Returns the end of the HTML block that the line starts; `None` if it starts none.
pub(super) fn block(line: &[u8], interrupts: bool) -> Option<HtmlEnd> {
    match at(line, 1) {
        b'?' => return Some(HtmlEnd::Text("?>")),
        b'!' => {
            if line.starts_with(b"<!--") {
                return Some(HtmlEnd::Text("-->"));
            }
            if line.starts_with(b"<![CDATA[") {
                return Some(HtmlEnd::Text("]]>"));
            }
            return at(line, 2).is_ascii_alphabetic().then_some(HtmlEnd::Text(">"));
        }
        _ => {}
    }
    let closing = at(line, 1) == b'/';
    let name = line.get(if closing { 2 } else { 1 }..)?;
    let length = name.iter().take(16).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let after = name.get(length..)?;
    let word = name.get(..length)?;
    let ends_name = matches!(after.first(), None | Some(b' ' | b'\t' | b'>'));
    let is_any_of = |names: &[&str]| names.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()));
    if !closing && ends_name && is_any_of(&RAW) {
        return Some(HtmlEnd::RawTag);
    }
    if (ends_name || after.starts_with(b"/>")) && is_any_of(&BLOCKS) {
        return Some(HtmlEnd::Blank);
    }
    if interrupts {
        return None;
    }
    let end = tag(line, 0)?;
    line.get(end..)?.trim_ascii().is_empty().then_some(HtmlEnd::Blank)
}

/// End markers that were searched for and are missing: each is searched only once in a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Missing {
    comment: bool,
    instruction: bool,
    declaration: bool,
    cdata: bool,
}

/// Returns the end of the HTML that starts at `start`, where a `<` is.
pub(super) fn inline(bytes: &[u8], start: usize, missing: &mut Missing) -> Option<usize> {
    let rest = bytes.get(start..)?;
    let (from, end, is_missing): (usize, &[u8], &mut bool) = if rest.starts_with(b"<!--") {
        // `<!-->` and `<!--->` are whole comments.
        if let Some(short) = [&b"<!-->"[..], b"<!--->"].iter().find(|short| rest.starts_with(short)) {
            return Some(start + short.len());
        }
        (4, b"-->", &mut missing.comment)
    } else if rest.starts_with(b"<?") {
        (2, b"?>", &mut missing.instruction)
    } else if rest.starts_with(b"<![CDATA[") {
        (9, b"]]>", &mut missing.cdata)
    } else if rest.starts_with(b"<!") && at(rest, 2).is_ascii_alphabetic() {
        (2, b">", &mut missing.declaration)
    } else {
        return tag(bytes, start);
    };
    if *is_missing {
        return None;
    }
    let found = rest.get(from..).and_then(|rest| searched(rest, memmem::find(rest, end)));
    *is_missing = found.is_none();
    found.map(|found| start + from + found + end.len())
}

fn skip_space(bytes: &[u8], start: usize) -> usize {
    start + looked_at(bytes.iter().skip(start).take_while(|byte| byte.is_ascii_whitespace()).count())
}

/// Returns the end of an opening or a closing tag.
fn tag(bytes: &[u8], start: usize) -> Option<usize> {
    let closing = at(bytes, start + 1) == b'/';
    let name = start + if closing { 2 } else { 1 };
    if !at(bytes, name).is_ascii_alphabetic() {
        return None;
    }
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'-';
    let mut at_byte = name + looked_at(bytes.iter().skip(name).take_while(is_name).count());
    if closing {
        at_byte = skip_space(bytes, at_byte);
        return (at(bytes, at_byte) == b'>').then_some(at_byte + 1);
    }
    loop {
        let next = skip_space(bytes, at_byte);
        match at(bytes, next) {
            b'>' => return Some(next + 1),
            b'/' => return (at(bytes, next + 1) == b'>').then_some(next + 2),
            byte if next > at_byte && (byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':')) => {
                at_byte = attribute(bytes, next)?;
            }
            _ => return None,
        }
    }
}

/// Returns the end of an attribute with its value.
fn attribute(bytes: &[u8], start: usize) -> Option<usize> {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'_' | b'.' | b':' | b'-');
    let name_end = start + looked_at(bytes.iter().skip(start).take_while(is_name).count());
    let equals = skip_space(bytes, name_end);
    if at(bytes, equals) != b'=' {
        return Some(name_end);
    }
    let value = skip_space(bytes, equals + 1);
    match at(bytes, value) {
        quote @ (b'"' | b'\'') => {
            let rest = bytes.get(value + 1..)?;
            let end = searched(rest, memchr(quote, rest))?;
            Some(value + 1 + end + 1)
        }
        _ => {
            let is_value =
                |byte: &&u8| !byte.is_ascii_whitespace() && !matches!(**byte, b'"' | b'\'' | b'=' | b'<' | b'>' | b'`');
            let length = looked_at(bytes.iter().skip(value).take_while(is_value).count());
            (length > 0).then_some(value + length)
        }
    }
}
