//! [`Digests`]: text that a person expunged, by digests that other machines can find it with, and from which it cannot be read.
//!
//! A digest of a short secret is soon guessed, so this one is slow to make: PBKDF2 with a salt. It could not be compared with all
//! parts of all files. So a line also says where the text was: a fast hash of the bytes before it, which say nothing about the text
//! and stay in the file. Only what follows the same bytes is compared.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;

use fnv::FnvHasher;
use memchr::memmem;
use pbkdf2::pbkdf2_hmac_array;
use saddlebag::history::EXPUNGED;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::renames::is_made;

/// Rounds of PBKDF2 with HMAC-SHA-256. Each guess of the text costs as many.
const ROUNDS: u32 = 100_000;

/// Size of a digest in bytes.
const DIGEST_BYTES: usize = 32;

/// Number of bytes before text that say where it was.
const CONTEXT_BYTES: usize = 32;

/// Number of bytes before an expunged place that another version of the file has too.
const NEAR_BYTES: usize = 12;

/// Minimum size of text in bytes, as `expunge` has it.
const MIN_BYTES: usize = 4;

/// Maximum number of places that a line names.
const MAX_PLACES: usize = 32;

/// Maximum number of digests that one run makes. A log could name places that every file has.
const MAX_COMPARED: usize = 200;

/// A text, by its digest: a line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExpungedLine {
    /// Digest of the text with the salt, in hexadecimal.
    expunged: String,
    salt: String,
    /// Size of the text in bytes.
    bytes: usize,
    places: Vec<ExpungedPlace>,
    /// Time of the expunge, in seconds since 1970-01-01T00:00:00Z.
    time: i64,
    /// Note or entry that was expunged as a whole; `None` if a person named text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<ExpungedNote>,
}

/// A note or an entry that was expunged as a whole. Another machine may have it with other text, which no digest finds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExpungedNote {
    /// Path of its file relative to the root of the store.
    pub(super) path: String,
    /// Hash of the lines that say when it was made, in hexadecimal. A later note may get the same path.
    made: String,
}

impl ExpungedNote {
    /// Returns true if a content can be a version of the note.
    pub(super) fn is_in(&self, content: &[u8]) -> bool {
        self.made == hash_made(content)
    }

    /// Returns true if the note says when it was made, so that its file is recognised under another path.
    pub(super) fn is_dated(&self) -> bool {
        self.made != hash_made(b"")
    }
}

/// A place where the text was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct ExpungedPlace {
    /// Path of the file relative to the root of the store; `None` if it has words of the text.
    path: Option<String>,
    /// Hash of the bytes before the text, in hexadecimal.
    before: String,
}

impl ExpungedPlace {
    /// Returns the first place of the text in a file; `None` if the file begins with it.
    pub(crate) fn of(path: &str, content: &[u8], text: &str) -> Option<Self> {
        // A later place could have the text itself before it.
        let place = memmem::find(content, text.as_bytes()).filter(|place| *place > 0)?;
        let path = (!says(path, text)).then(|| path.into());
        Some(Self { path, before: format!("{:016x}", hash_before(content, place)) })
    }
}

impl ExpungedLine {
    /// Returns the line for text that was at these places; `None` if there are none.
    pub(crate) fn new(text: &str, places: BTreeSet<ExpungedPlace>, time: i64) -> Option<Self> {
        if places.is_empty() {
            return None;
        }
        let salt = saddlebag_host::new_operation();
        let places = places.into_iter().take(MAX_PLACES).collect();
        Some(Self { expunged: slow_digest(text, &salt), salt, bytes: text.len(), places, time, note: None })
    }

    /// Adds that the text is a whole note with this path and content.
    pub(crate) fn of_note(mut self, path: &str, content: &str, text: &str) -> Self {
        let note = || ExpungedNote { path: path.into(), made: hash_made(content.as_bytes()) };
        self.note = (!says(path, text)).then(note);
        self
    }

    /// Returns the note, if one was expunged as a whole.
    pub(super) fn note(&self) -> Option<&ExpungedNote> {
        self.note.as_ref()
    }

    pub(crate) fn line(&self) -> String {
        serde_json::to_string(self).map(|line| format!("{line}\n")).unwrap_or_default()
    }

    /// Returns where the text was, for a person: a path, or that it is not named.
    pub(super) fn place(&self) -> String {
        self.paths().next().unwrap_or("a file whose name has the text").to_string()
    }

    /// Returns what may be the text at a place of a content.
    fn candidate<'a>(&self, content: &'a [u8], place: usize) -> Option<&'a str> {
        std::str::from_utf8(content.get(place..place.checked_add(self.bytes)?)?).ok()
    }

    /// Returns the paths of the files that had the text.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.places.iter().filter_map(|place| place.path.as_deref())
    }

    /// Returns true if a file that had the text is not named, because its path says the text.
    pub(super) fn hides_path(&self) -> bool {
        self.places.iter().any(|place| place.path.is_none())
    }
}

/// Returns a log with the lines of two, each once, in the order of time. Damaged lines are left out.
pub(super) fn unite(one: &str, other: &str) -> String {
    let mut lines: Vec<(i64, &str)> =
        one.lines().chain(other.lines()).filter_map(|line| Some((read(line)?.time, line))).collect();
    lines.sort_unstable();
    lines.dedup();
    lines.into_iter().map(|(_, line)| format!("{line}\n")).collect()
}

fn read(line: &str) -> Option<ExpungedLine> {
    serde_json::from_str(line).ok().filter(|line: &ExpungedLine| line.bytes >= MIN_BYTES)
}

/// Expunged texts, and a search for them.
#[derive(Default)]
pub(crate) struct Digests {
    lines: Vec<ExpungedLine>,
    /// Lines by the hashes of what is before their texts.
    before: BTreeMap<u64, Vec<usize>>,
    /// Texts that were compared, with the results.
    compared: BTreeMap<(usize, String), bool>,
}

impl Digests {
    /// Adds the lines of a log.
    pub(super) fn add(&mut self, log: &str) {
        for line in log.lines().filter_map(read) {
            if self.lines.contains(&line) {
                continue;
            }
            for place in &line.places {
                if let Ok(hash) = u64::from_str_radix(&place.before, 16) {
                    self.before.entry(hash).or_default().push(self.lines.len());
                }
            }
            self.lines.push(line);
        }
    }

    /// Returns the lines.
    pub(super) fn lines(&self) -> &[ExpungedLine] {
        &self.lines
    }

    /// Returns the texts that were found, with their lines.
    pub(super) fn found(&self) -> impl Iterator<Item = (&ExpungedLine, &str)> {
        let found = self.compared.iter().filter(|(_, is_it)| **is_it);
        found.filter_map(|((line, text), _)| Some((self.lines.get(*line)?, text.as_str())))
    }

    /// Returns true if a content has one of the texts.
    pub(super) fn is_in(&mut self, content: &[u8]) -> bool {
        self.look(content);
        self.found().any(|(_, text)| memmem::find(content, text.as_bytes()).is_some())
    }

    /// Returns a content with the texts replaced.
    pub(super) fn without(&mut self, content: Vec<u8>) -> Vec<u8> {
        self.look(&content);
        let mut text = match String::from_utf8(content) {
            Ok(text) => text,
            Err(error) => return error.into_bytes(),
        };
        for (_, found) in self.found() {
            text = text.replace(found, EXPUNGED);
        }
        text.into_bytes()
    }

    /// Searches a content for the texts.
    pub(super) fn look(&mut self, content: &[u8]) {
        self.search(content, |_, _| true);
    }

    /// Searches a file that no line names, for texts that its path says.
    pub(super) fn look_named(&mut self, path: &str, content: &[u8]) {
        self.search(content, |line, text| line.hides_path() && says(path, text));
    }

    fn search(&mut self, content: &[u8], is_wanted: impl Fn(&ExpungedLine, &str) -> bool) {
        if self.lines.is_empty() {
            return;
        }
        for place in 1..content.len() {
            let lines = self.before.get(&hash_before(content, place)).into_iter().flatten();
            for (number, line) in lines.filter_map(|number| Some((*number, self.lines.get(*number)?))) {
                if let Some(text) = line.candidate(content, place).filter(|text| is_wanted(line, text)) {
                    compare(&mut self.compared, (number, line), text);
                }
            }
        }
    }

    /// Looks for expunged texts in a version of a file, at the places that another version names. What is before the text may have been
    /// changed, so that the log does not lead there.
    pub(super) fn look_beside(&mut self, expunged: &[u8], content: &[u8]) {
        for place in memmem::find_iter(expunged, EXPUNGED) {
            let near = expunged.get(place.saturating_sub(NEAR_BYTES)..place).unwrap_or_default();
            for start in memmem::find_iter(content, near).filter(|_| near.len() >= MIN_BYTES) {
                for (number, line) in self.lines.iter().enumerate() {
                    if let Some(text) = line.candidate(content, start + near.len()) {
                        compare(&mut self.compared, (number, line), text);
                    }
                }
            }
        }
    }
}

/// Compares what may be the text of a line, once.
fn compare(compared: &mut BTreeMap<(usize, String), bool>, (number, line): (usize, &ExpungedLine), text: &str) {
    let key = (number, text.to_string());
    if compared.len() < MAX_COMPARED && !compared.contains_key(&key) {
        let is_it = slow_digest(text, &line.salt) == line.expunged;
        compared.insert(key, is_it);
    }
}

/// Returns true if a path has the words of text.
fn says(path: &str, text: &str) -> bool {
    let plain = |text: &str| -> String {
        text.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    plain(path).contains(&plain(text))
}

/// Returns a hash of the lines of a note that say when it was made, in hexadecimal.
fn hash_made(content: &[u8]) -> String {
    let mut hasher = FnvHasher::default();
    for line in String::from_utf8_lossy(content).lines().filter(|line| is_made(line)) {
        hasher.write(line.trim_end().as_bytes());
        hasher.write_u8(b'\n');
    }
    format!("{:016x}", hasher.finish())
}

/// Returns a hash of the bytes before a place.
fn hash_before(content: &[u8], place: usize) -> u64 {
    let before = content.get(place.saturating_sub(CONTEXT_BYTES)..place).unwrap_or_default();
    let mut hasher = FnvHasher::default();
    hasher.write(before);
    hasher.finish()
}

/// Returns the PBKDF2-HMAC-SHA-256 of text in hexadecimal.
fn slow_digest(text: &str, salt: &str) -> String {
    let digest = pbkdf2_hmac_array::<Sha256, DIGEST_BYTES>(text.as_bytes(), salt.as_bytes(), ROUNDS);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compared with `hashlib.pbkdf2_hmac("sha256", b"tango-9914", b"salt", 100000)` of Python.
    #[test]
    fn the_digest_is_that_of_pbkdf2() {
        assert_eq!(
            slow_digest("tango-9914", "salt"),
            "d1389844d094ce2033041539a595c67446b35f1581858d76d49b16084d2991e2"
        );
        assert_eq!(
            slow_digest(&"long ".repeat(20), "salt"),
            "c35f5fd2360acc1e4c6159ce6eb7551046b654e48dc95c61a637fcb7e6ac1535"
        );
    }

    #[test]
    fn a_text_is_found_where_it_was_and_the_log_does_not_have_it() {
        let (text, path) = ("tango-9914", "projects/demo/facts/port.md");
        let content = format!("# Port\n\nThe password of the port is {text}.\n");
        let place = ExpungedPlace::of(path, content.as_bytes(), text).expect("a place");
        assert_eq!(ExpungedPlace::of(path, text.as_bytes(), text), None);
        let hidden = ExpungedPlace::of("facts/Tango 9914.md", content.as_bytes(), text).expect("a place");
        assert_eq!(hidden.path, None);
        let line = ExpungedLine::new(text, [place, hidden].into(), 7).expect("a line").line();
        assert!(!line.contains("tango") && line.contains(path), "{line}");

        let mut digests = Digests::default();
        digests.add(&format!("damaged\n{line}{line}"));
        assert_eq!(digests.lines().len(), 1);
        assert!(!digests.is_in(b"# Port\n\nThe password of the port is another-1.\n"));
        assert!(!digests.is_in(text.as_bytes()), "other bytes are before it");
        assert!(digests.is_in(content.as_bytes()));
        assert!(digests.is_in(text.as_bytes()), "now it is known");
        assert_eq!(digests.without(content.into_bytes()), b"# Port\n\nThe password of the port is (expunged).\n");
        assert_eq!(digests.found().map(|(_, text)| text).collect::<Vec<_>>(), [text]);
    }

    #[test]
    fn logs_are_united_in_the_same_order_whichever_comes_first() {
        let line = |time: i64| {
            let place = ExpungedPlace { path: None, before: "0".into() };
            ExpungedLine {
                expunged: time.to_string(),
                salt: String::new(),
                bytes: 9,
                places: vec![place],
                time,
                note: None,
            }
            .line()
        };
        let (one, other) = ([line(3), line(1)].concat(), [line(2), line(3)].concat());
        let united = unite(&one, &other);
        assert_eq!(united, [line(1), line(2), line(3)].concat());
        assert_eq!((united.clone(), united.clone()), (unite(&other, &one), unite(&united, &one)));
    }
}
