//! [`RejectedValues`]: the values that a person rejected for good, and the search for them in text.
//!
//! A value is compared by its words, whatever their spelling: compatibility forms are resolved, case and accents folded,
//! letters that look alike have one form, invisible characters and punctuation at the edges of words are dropped, and so are
//! the marks of Markdown lists, headings and quotes. White space makes no difference, not even inside a word, but a value
//! begins and ends where words do. A value of fewer than [`MIN_WORDS`] words is found only as a whole line or as a whole text,
//! because it may be a common word.
//!
//! Other words for the same fact are another value: only the spelling is compared.
//!
//! The log has digests and never the text of a value. A line is JSON that ends in a checksum of the rest, so that a torn line
//! is noticed. A later line lifts the rejection of an earlier one.

use saddlebag_sanitize::{fold, is_hidden, is_ignorable, is_line_break};
use sha2::{Digest as _, Sha256};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

use super::pending_approval::sha256;
use crate::store::SCOPE_FOLDERS;
use saddlebag_collections::{
    order,
    part::{SlicePart, TextPart},
    prelude::*,
};
use saddlebag_markdown::{Frontmatter, head};

/// Minimum number of words of a value that is found inside of a longer line.
const MIN_WORDS: u32 = 4;

/// Number of hexadecimal digits of the digest of a value.
const DIGEST_DIGITS: usize = 32;

/// Base of the rolling hash. It is odd, so that no factor is lost.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// A value, by its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    /// First half of the SHA-256 of the normalised text, in hexadecimal.
    digest: String,
    /// Number of words.
    words: u32,
    /// Size of the normalised text in bytes.
    bytes: u64,
    /// Highest bits of the rolling hash, which rule out most other texts of the same size.
    check: u16,
}

impl Value {
    /// Returns the value of text; `None` if it has no words.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let words = Words::new(text);
        let last = words.bounds.last()?;
        let count = words.bounds.len() - 1;
        (count > 0).then(|| Self {
            digest: digest_of(&words.text),
            words: u32::try_from(count).unwrap_or(u32::MAX),
            bytes: last.at as u64,
            check: check_of(last.hash),
        })
    }
}

/// A value that was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) value: Value,
    /// Path that the file with the value had.
    pub(crate) path: String,
    /// Time of the rejection, in seconds since 1970-01-01T00:00:00Z.
    pub(crate) time: i64,
    /// True if another machine rejected it. It counts in the scope of the path alone: whoever shares one project must not forbid text in
    /// others.
    pub(crate) is_received: bool,
}

impl Rejection {
    /// Returns the line of the log.
    pub(crate) fn line(&self) -> String {
        let Self { value: Value { digest, words, bytes, check }, path, time, .. } = self;
        let path = serde_json::to_string(path).unwrap_or_default();
        summed(&format!(
            "{{\"rejected\":\"{digest}\",\"words\":{words},\"bytes\":{bytes},\"check\":{check},\"path\":{path},\"time\":{time}"
        ))
    }

    /// Returns the line of the log that lifts the rejection.
    pub(crate) fn lifting_line(&self, time: i64) -> String {
        summed(&format!("{{\"lifted\":\"{}\",\"time\":{time}", self.value.digest))
    }
}

/// A line of the log: it rejects a value, or lifts a rejection.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Line {
    rejected: Option<String>,
    lifted: Option<String>,
    words: u32,
    bytes: u64,
    check: u16,
    path: String,
    time: i64,
    received: bool,
}

/// Last field of the line of a rejection that another machine made, and of one that it lifted.
const RECEIVED: &str = ",\"received\":true";

/// Beginning of the last field of a line.
const SUM: &str = ",\"sum\":\"";

/// Number of hexadecimal digits of the checksum of a line.
const SUM_DIGITS: usize = 8;

/// Ends a line with the checksum of its fields.
fn summed(fields: &str) -> String {
    format!("{fields}{SUM}{}\"}}\n", head(&sha256(fields), SUM_DIGITS))
}

/// Reads a line; `None` if it is damaged.
fn checked(line: &str) -> Option<Line> {
    let (fields, sum) = line.strip_suffix("\"}")?.rsplit_once(SUM)?;
    (sum == head(&sha256(fields), SUM_DIGITS)).then(|| serde_json::from_str(line).ok()).flatten()
}

/// Returns a log with the lines of two, each once, in the order of time. Damaged lines are left out.
///
/// `is_wanted` gets the path that a rejected value had. A line that lifts a rejection is kept if a line of this rejection is.
pub fn unite_rejections(one: &str, other: &str, is_wanted: impl Fn(&str) -> bool) -> String {
    let mut lines: Vec<(i64, &str, Line)> = Vec::new();
    for text in one.lines().chain(other.lines()) {
        if let Some(line) = checked(text).filter(|_| !lines.iter().any(|(_, known, _)| *known == text)) {
            lines.push((line.time, text, line));
        }
    }
    order::sort_slice(&mut lines, |one, other| one.0.cmp(&other.0));
    let mut wanted: Vec<&str> = Vec::new();
    let mut united = String::new();
    for (_, text, line) in &lines {
        match (&line.rejected, &line.lifted) {
            (Some(digest), None) if is_wanted(&line.path) => wanted.push(digest),
            (None, Some(digest)) if wanted.contains(&digest.as_str()) => {}
            _ => continue,
        }
        united.push_str(text);
        united.push('\n');
    }
    united
}

/// Returns the wanted lines of a log of another machine, as rejections that were received; `is_wanted` gets the path.
pub fn received_rejections(log: &str, is_wanted: impl Fn(&str) -> bool) -> String {
    let received = |line: &str| {
        let (fields, _) = line.rsplit_once(SUM)?;
        Some(summed(&format!("{}{RECEIVED}", fields.strip_suffix(RECEIVED).unwrap_or(fields))))
    };
    unite_rejections(log, "", is_wanted).lines().filter_map(received).collect()
}

/// Returns the lines of a log that this machine has made.
pub fn own_rejections(log: &str) -> String {
    let own = log.lines().filter(|line| checked(line).is_some_and(|line| !line.received));
    own.map(|line| format!("{line}\n")).collect()
}

/// Returns the scope of a path: the folder of a project, an agent or a workspace, or nothing for the root.
fn scope_of(path: &str) -> &str {
    match path.splitn(3, '/').collect::<Vec<_>>().as_slice() {
        [first, owner, _] if SCOPE_FOLDERS.contains(first) => path.part(..first.len() + 1 + owner.len()),
        _ => "",
    }
}

/// Returns the text of a file without the lines that have rejected values, given the log of the rejections. A value that the text before
/// has stays. `None` if that leaves a rejected value in.
pub fn without_rejected(log: &[u8], path: &str, text: &str, before: &str) -> Option<String> {
    let values = RejectedValues::from_log(log);
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_rejected = |lines: &[&str]| values.new_in(path, &lines.concat(), before).is_some();
    while is_rejected(&lines) {
        let ends: Vec<usize> = (0..=lines.len()).collect();
        let end = ends.partition_point(|end| !is_rejected(lines.get(..*end).unwrap_or_default()));
        let starts: Vec<usize> = (0..end).collect();
        let after = starts.partition_point(|start| is_rejected(lines.get(*start..end).unwrap_or_default()));
        let start = after.checked_sub(1)?;
        lines.drain(start..end.min(lines.len()));
    }
    Some(lines.concat())
}

/// The values that are rejected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RejectedValues {
    /// Rejections, the smallest values first, each value once.
    rejections: Vec<Rejection>,
    /// Number of lines of the log that could not be read.
    pub(crate) damaged_lines: u32,
}

impl RejectedValues {
    /// Reads the log. A damaged line is counted and has no effect.
    pub(crate) fn from_log(log: &[u8]) -> Self {
        let mut values = Self::default();
        let log = String::from_utf8_lossy(log);
        for line in log.split('\n').map(str::trim_end).filter(|line| !line.is_empty()) {
            let line = checked(line).unwrap_or_default();
            match (line.rejected, line.lifted) {
                (Some(digest), None) => {
                    let new = (line.received, scope_of(&line.path).to_string());
                    values.rejections.retain(|other| {
                        let is_same = !new.0 || (other.is_received && scope_of(&other.path) == new.1);
                        other.value.digest != digest || !is_same
                    });
                    let value = Value { digest, words: line.words, bytes: line.bytes, check: line.check };
                    let (path, time, is_received) = (line.path, line.time, line.received);
                    values.rejections.push(Rejection { value, path, time, is_received });
                }
                // Another machine lifts what it could reject.
                (None, Some(digest)) => {
                    let of_digest = |other: &&Rejection| other.is_received && other.value.digest == digest;
                    let scopes =
                        values.rejections.iter().filter(of_digest).map(|other| scope_of(&other.path).to_string());
                    let scopes: Vec<String> = scopes.collect();
                    values.rejections.retain(|other| {
                        let is_lifted = !line.received
                            || other.is_received
                            || scopes.iter().any(|scope| *scope == scope_of(&other.path));
                        other.value.digest != digest || !is_lifted
                    });
                }
                _ => values.damaged_lines = values.damaged_lines.saturating_add(1),
            }
        }
        order::sort_slice(&mut values.rejections, |a, b| a.value.bytes.cmp(&b.value.bytes));
        values
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rejections.is_empty()
    }

    /// Returns the rejections of a value, or of a file with this path.
    pub(crate) fn of<'a>(&'a self, value: Option<&'a Value>, path: &'a str) -> impl Iterator<Item = &'a Rejection> {
        let is_of = move |other: &&Rejection| other.path == path || Some(&other.value) == value;
        self.rejections.iter().filter(is_of)
    }

    /// Returns the paths that the files with the rejected values had.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.rejections.iter().map(|rejection| rejection.path.as_str())
    }

    /// Returns a rejected value that the text of a file has, and that the text before does not have.
    pub(crate) fn new_in(&self, path: &str, text: &str, before: &str) -> Option<&Rejection> {
        if self.is_empty() {
            return None;
        }
        let mut found = self.find(text);
        found.retain(|found| !found.is_received || scope_of(&found.path) == scope_of(path));
        if found.is_empty() {
            return None;
        }
        let known = self.find(before);
        found.into_iter().find(|rejection| !known.contains(rejection))
    }

    /// Returns the rejected values that a text has.
    fn find(&self, text: &str) -> Vec<&Rejection> {
        let words = Words::new(text);
        let of_size = self.rejections.chunk_by(|a, b| a.value.bytes == b.value.bytes);
        of_size.flat_map(|rejections| words.find(rejections)).collect()
    }
}

/// Text without all that a disguise may change.
#[derive(Default)]
struct Words {
    /// The words, one directly after the other.
    text: Vec<u8>,
    /// The start of the text, and the end of each word.
    bounds: Vec<Bound>,
    /// The bounds around each line, and around the text after the frontmatter.
    wholes: Vec<(usize, usize)>,
}

/// A place where one word ends and the next one begins.
#[derive(Clone, Copy, Default)]
struct Bound {
    /// Size of the text up to here.
    at: usize,
    /// Rolling hash of the text up to here.
    hash: u64,
}

impl Words {
    fn new(text: &str) -> Self {
        let body_start = Frontmatter::parse(text).span.end;
        let mut words = Self { bounds: vec![Bound::default()], ..Self::default() };
        let mut body = None;
        let mut at = 0;
        for line in text.split_inclusive(is_line_break) {
            let start = words.bounds.len() - 1;
            if at >= body_start {
                body.get_or_insert(start);
            }
            at += line.len();
            without_marks(line).split(is_between).for_each(|word| words.push(word));
            words.end(start);
        }
        body.into_iter().for_each(|body| words.end(body));
        words
    }

    /// Ends a line or a text.
    fn end(&mut self, start: usize) {
        let end = self.bounds.len() - 1;
        if start < end && self.wholes.last() != Some(&(start, end)) {
            self.wholes.push((start, end));
        }
    }

    fn push(&mut self, word: &str) {
        let letters = word.chars().filter(|&c| !is_ignorable(c) && !is_hidden(c)).nfkd();
        let letters = letters.filter(|&c| !c.is_whitespace() && canonical_combining_class(c) == 0);
        let mut plain = String::with_capacity(word.len());
        letters.for_each(|c| push_plain(c, &mut plain));
        let trimmed = plain.trim_end_matches(is_edge);
        let rest = trimmed.trim_start_matches(is_edge);
        // The sign of a number is not punctuation.
        let is_negative = rest.starts_with(|c: char| c.is_ascii_digit())
            && trimmed.strip_suffix(rest).is_some_and(|before| before.ends_with('-'));
        let rest = if is_negative { trimmed.part(trimmed.len() - rest.len() - 1..) } else { rest };
        if rest.is_empty() {
            return;
        }
        let Bound { at, hash } = self.bounds.last().copied().unwrap_or_default();
        let hash = rest.bytes().fold(hash, roll);
        self.text.extend_from_slice(rest.as_bytes());
        self.bounds.push(Bound { at: at + rest.len(), hash });
    }

    /// Returns those of the rejected values that the text has. They have one size.
    fn find<'a>(&self, rejections: &'a [Rejection]) -> Vec<&'a Rejection> {
        let mut found: Vec<&Rejection> = Vec::new();
        let Some(size) = rejections.first().and_then(|first| usize::try_from(first.value.bytes).ok()) else {
            return found;
        };
        let factor = power(size);
        let mut end = 0;
        for (start, from) in self.bounds.iter().enumerate() {
            while self.bounds.get(end).is_some_and(|bound| bound.at < from.at + size) {
                end += 1;
            }
            let Some(to) = self.bounds.get(end) else { break };
            if to.at != from.at + size {
                continue;
            }
            let check = check_of(to.hash.wrapping_sub(from.hash.wrapping_mul(factor)));
            for rejection in rejections.iter().filter(|rejection| rejection.value.check == check) {
                let may_be_part = rejection.value.words >= MIN_WORDS;
                if (may_be_part || self.wholes.contains(&(start, end)))
                    && !found.contains(&rejection)
                    && digest_of(self.text.part(from.at..to.at)) == rejection.value.digest
                {
                    found.push(rejection);
                }
            }
        }
        found
    }
}

fn roll(hash: u64, byte: u8) -> u64 {
    hash.wrapping_mul(BASE).wrapping_add(u64::from(byte) + 1)
}

/// Returns the factor of the rolling hash for this number of bytes.
fn power(size: usize) -> u64 {
    let (mut factor, mut base, mut rest) = (1_u64, BASE, size);
    while rest > 0 {
        if rest % 2 == 1 {
            factor = factor.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        rest /= 2;
    }
    factor
}

/// Returns the highest bits of a rolling hash, to which all bytes have contributed.
fn check_of(hash: u64) -> u16 {
    u16::try_from(hash >> 48).unwrap_or_default()
}

fn digest_of(text: &[u8]) -> String {
    Sha256::digest(text).iter().take(DIGEST_DIGITS / 2).map(|byte| format!("{byte:02x}")).collect()
}

/// Adds the form that all letters share which look like this one.
fn push_plain(c: char, plain: &mut String) {
    let direct = fold(c);
    if direct.is_ascii() {
        plain.push(direct);
        return;
    }
    match c {
        '‘' | '’' | 'ʼ' => plain.push('\''),
        '‐'..='―' | '−' => plain.push('-'),
        // The table has some letters in upper case only.
        _ => c.to_uppercase().for_each(|upper| match fold(upper) {
            direct if direct.is_ascii() => plain.push(direct),
            _ => plain.extend(upper.to_lowercase().map(fold)),
        }),
    }
}

/// Returns true for a character between words: white space, quotes, brackets, and what Markdown marks words with.
fn is_between(c: char) -> bool {
    c.is_whitespace() || matches!(c, '|' | '[' | ']' | '(' | ')' | '{' | '}' | '"' | '*' | '`' | '~')
}

/// Returns true for punctuation that says nothing at the beginning or the end of a word.
fn is_edge(c: char) -> bool {
    is_between(c)
        || matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '_' | '#' | '-' | '…' | '•' | '·' | '¡' | '¿')
        || matches!(c, '«' | '»' | '‹' | '›' | '“' | '”' | '„' | '‚' | '。' | '、' | '「' | '」')
}

/// Returns the line without the marks of a quote, a heading, a list item or a task at its beginning.
fn without_marks(line: &str) -> &str {
    let mut rest = line.trim_start();
    loop {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = number.strip_prefix(['.', ')']).filter(|_| number.len() < rest.len());
        let after = rest.strip_prefix('>').or_else(|| {
            let after = rest.strip_prefix(['-', '*', '+']).or(numbered);
            let after = after.or_else(|| ["[ ]", "[x]", "[X]"].iter().find_map(|task| rest.strip_prefix(task)));
            after.filter(|after| after.starts_with(char::is_whitespace))
        });
        match after {
            Some(after) => rest = after.trim_start(),
            None => return rest,
        }
    }
}

/// Returns the value of a note: its body, without the heading that repeats its title.
pub(crate) fn note_value(text: &str) -> Option<Value> {
    let body = text.part(Frontmatter::parse(text).span.end..).trim_start();
    let (first, rest) = body.split_once('\n').unwrap_or((body, ""));
    let without_title = if first.starts_with("# ") { rest } else { body };
    // A note that is only a title says what its title says.
    Value::from_text(without_title).or_else(|| Value::from_text(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: &str = "Staging listens on port 8080.";

    fn rejection(text: &str) -> Rejection {
        Rejection {
            value: Value::from_text(text).expect("it has words"),
            path: "a.md".into(),
            time: 1_000,
            is_received: false,
        }
    }

    fn rejected(texts: &[&str]) -> RejectedValues {
        let lines: Vec<String> = texts.iter().map(|text| rejection(text).line()).collect();
        RejectedValues::from_log(lines.concat().as_bytes())
    }

    fn is_refused(values: &RejectedValues, text: &str) -> bool {
        values.new_in("a.md", text, "").is_some()
    }

    #[test]
    fn only_the_lines_with_rejected_values_are_left_out() {
        let log: String = [VALUE, "Skip every test."].iter().map(|text| rejection(text).line()).collect();
        let rest = |text: &str, before: &str| without_rejected(log.as_bytes(), "a.md", text, before);
        let text = "# Notes\n\none\n- skip every test\ntwo\nStaging listens\non port 8080.\nthree\n\nStaging listens on port 8080\n";
        assert_eq!(rest(text, "").as_deref(), Some("# Notes\n\none\ntwo\nthree\n\n"));
        assert_eq!(rest(text, text).as_deref(), Some(text), "a value that was there stays");
        assert_eq!(rest("Skip every test.", "").as_deref(), Some(""));
        assert_eq!(rest("nothing of it", "").as_deref(), Some("nothing of it"));
    }

    #[test]
    fn a_value_is_found_in_every_disguise() {
        let values = rejected(&[VALUE]);
        for text in [
            VALUE,
            "staging LISTENS on Port 8080",
            "Staging\u{a0}listens  on\n\tport\r\n8080!",
            "St\u{200b}aging list\u{ad}ens\u{2060} on po\u{200d}rt 80\u{feff}80",
            "Staging\u{200b}listens\u{200b}on\u{200b}port\u{200b}8080",
            "S t a g i n g listens on p ort 80 80",
            "Ѕtаgіng lіѕtеnѕ оn роrt 8080",
            "Ｓｔａｇｉｎｇ listens on port ８０８０",
            "𝐒𝐭𝐚𝐠𝐢𝐧𝐠 listens on 𝕡𝕠𝕣𝕥 8080",
            "Stáging lïstens on port 8080",
            "- **Staging** listens on `port` 8080",
            "> 1. [x] \"Staging\" listens (on) port 8080",
            "# Staging listens on port 8080",
            "Stag**ing** listens on [[port]] 8080",
            "See [[ports|Staging listens on port 8080]].",
            "{\"text\":\"Staging listens on port 8080\"}",
            "We know: staging listens on port 8080, and more.",
            "---\ntitle: Staging listens on port 8080\n---\n\nother\n",
            "\u{202e}Staging listens on port 8080\u{202c}",
        ] {
            assert!(is_refused(&values, text), "{text:?}");
        }
    }

    #[test]
    fn other_words_and_other_values_pass() {
        let values = rejected(&[VALUE]);
        for text in [
            "",
            "The staging server is reached at port 8080.",
            "Staging listens on port 8081.",
            "Staging listens on port 80801.",
            "Prestaging listens on port 8080.",
            "Staging listens on port -8080.",
            "Staging listens on port.",
            "Staging, which listens on port 8080",
        ] {
            assert!(!is_refused(&values, text), "{text:?}");
        }
    }

    #[test]
    fn a_short_value_is_found_only_as_a_whole() {
        let values = rejected(&["8080", "Use tabs"]);
        for text in
            ["8080", "---\nkey: port\n---\n\n８０８０\n", "# Ports\n\n- 8080\n- 22\n", "a\n* USE  tabs!\n", "use\ntabs"]
        {
            assert!(is_refused(&values, text), "{text:?}");
        }
        for text in ["port 8080", "8080 8080", "Use tabs there", "a use\ntabs", "---\nport: 8080\n---\n\nx"] {
            assert!(!is_refused(&values, text), "{text:?}");
        }
    }

    #[test]
    fn letters_of_other_scripts_have_one_form_in_each_case() {
        for (value, text) in [
            ("Вова живёт в Москве", "ВОВА ЖИВЁТ В МОСКВЕ"),
            ("die Straße ist lang", "DIE STRASSE IST LANG"),
            ("ο λόγος έχει σοφία", "Ο ΛΌΓΟΣ ΈΧΕΙ ΣΟΦΊΑ"),
            ("東京で動く", "- 東京で動く。\n"),
        ] {
            assert!(is_refused(&rejected(&[value]), text), "{text}");
        }
    }

    #[test]
    fn only_what_a_text_adds_is_refused() {
        let values = rejected(&[VALUE]);
        assert_eq!(values.new_in("a.md", &format!("{VALUE} And more."), VALUE), None);
        assert!(values.new_in("a.md", &format!("{VALUE} And more."), "And more.").is_some());
    }

    #[test]
    fn a_lifted_value_is_free_again_and_can_be_rejected_again() {
        let (line, lifted) = (rejection(VALUE).line(), rejection(VALUE).lifting_line(2_000));
        let is_refused = |lines: &[&str]| is_refused(&RejectedValues::from_log(lines.concat().as_bytes()), VALUE);
        assert!(is_refused(&[&line]));
        assert!(!is_refused(&[&line, &lifted]));
        assert!(is_refused(&[&line, &lifted, &line]));
    }

    #[test]
    fn a_damaged_line_is_counted_and_the_others_hold() {
        let line = rejection(VALUE).line();
        let torn = String::from(head(&line, line.len() - 9));
        let changed = line.replace("\"words\":5", "\"words\":4");
        for damaged in [&torn, &changed, "x", "{\"other\":1}"] {
            let values = RejectedValues::from_log(format!("{damaged}\n{line}").as_bytes());
            assert_eq!(values.damaged_lines, 1, "{damaged}");
            assert!(is_refused(&values, VALUE));
            assert!(!is_refused(&RejectedValues::from_log(damaged.as_bytes()), VALUE));
        }
    }

    #[test]
    fn the_log_has_no_text_of_a_value() {
        let line = rejection(VALUE).line();
        for word in ["staging", "listens", "8080"] {
            assert!(!line.to_lowercase().contains(word), "{line}");
        }
    }

    #[test]
    fn the_value_of_a_note_is_its_body() {
        let note = format!("---\ntitle: Port\n---\n\n# Port\n\n{VALUE}\n");
        assert_eq!(note_value(&note), Value::from_text(VALUE));
        assert_eq!(note_value(VALUE), Value::from_text(VALUE));
        assert_eq!(note_value("# Use tabs\n"), Value::from_text("Use tabs"));
        assert_eq!(note_value("---\ntitle: x\n---\n\n...\n"), None);
    }

    #[test]
    fn logs_of_two_machines_are_united_in_the_order_of_time() {
        let line = |text: &str, path: &str, time| {
            Rejection { value: Value::from_text(text).unwrap(), path: path.into(), time, is_received: false }.line()
        };
        let rejection = |text: &str| Rejection {
            value: Value::from_text(text).unwrap(),
            path: "a.md".into(),
            time: 1,
            is_received: false,
        };
        let first = line("the port is 5432", "projects/a/x.md", 10);
        let lifted = rejection("the port is 5432").lifting_line(20);
        let second = line("the host is grey", "projects/b/y.md", 15);
        let united = unite_rejections(&[&lifted, &first[..]].concat(), &format!("{second}{first}damaged\n"), |_| true);
        assert_eq!(united, [&first[..], &second, &lifted].concat());
        assert_eq!(
            unite_rejections(&united, "", |path| path.starts_with("projects/a/")),
            [&first[..], &lifted].concat()
        );
        assert_eq!(unite_rejections(&united, "", |_| false), "");
    }

    #[test]
    fn what_another_machine_rejects_counts_in_its_scope() {
        let of = |path: &str| Rejection {
            value: Value::from_text(VALUE).unwrap(),
            path: path.into(),
            time: 1,
            is_received: false,
        };
        let theirs = of("projects/a/facts/x.md");
        let lifted = theirs.lifting_line(2);
        let received = |log: &str| received_rejections(log, |path| path.starts_with("projects/a/"));
        let log = received(&format!("{}{}", theirs.line(), of("agents/main/entries/core/x.md").line()));
        assert_eq!((log.lines().count(), own_rejections(&log)), (1, String::new()));
        let refuses =
            |log: &str, path: &str| RejectedValues::from_log(log.as_bytes()).new_in(path, VALUE, "").is_some();
        assert!(refuses(&log, "projects/a/facts/y.md"));
        for path in ["projects/b/facts/y.md", "MEMORY.md", "agents/main/entries/core/y.md", "projects/a.md"] {
            assert!(!refuses(&log, path), "{path}");
        }
        // What this machine rejects counts everywhere, also after the same line came back, and only its own scope can lift it.
        let (own, private) = (theirs.line(), of("MEMORY.md").line());
        let log = format!("{own}{}", received(&own));
        assert!(refuses(&log, "MEMORY.md"));
        assert!(!refuses(&format!("{log}{}", received(&format!("{own}{lifted}"))), "MEMORY.md"));
        let log = format!("{private}{}", received(&format!("{own}{lifted}")));
        assert!(refuses(&log, "MEMORY.md") && !refuses(&received(&format!("{own}{lifted}")), "projects/a/facts/y.md"));
    }
}
