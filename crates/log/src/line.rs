//! A record as one line of text, and back.
//!
//! A line is compact JSON. Its last field is the CRC-32 of everything before that field, as eight hexadecimal digits, so that a
//! line that was not written to its end is found. A field without a value is left out, and a field that is not known is ignored.
//!
//! | Field | Value |
//! | --- | --- |
//! | `operation`, `command`, `reason` | text |
//! | `time` | nanoseconds since the beginning of 1970, UTC |
//! | `offset` | offset from UTC, in seconds |
//! | `writer` | `provenance`, `agent`, `client`, `tool`, `session` |
//! | `undoes`, `redoes` | lists of operations |
//! | `changes`, `lost` | list of `path`, `before`, `after`, `before_size`, `after_size`, `moved_from`, `keeps_before`, `contents` |
//! | `contents` | list of `digest` and one form of the content |
//!
//! A state is a digest, or a size as a number; an absent file has none. The form of a content is `whole` with the bytes; `from` and
//! `delta` with the difference from another content; `"blob":true`; or `"removed":true`. Bytes are base64 without padding. They are
//! deflated if that is smaller, and the field is then `whole_deflated` or `delta_deflated`.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use miniz_oxide::DataFormat;
use miniz_oxide::deflate::core::{CompressorOxide, TDEFLFlush, TDEFLStatus, compress_to_output};
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use serde_json::value::RawValue;

use crate::digest::Digest;
use crate::record::{Change, Content, Record, State, Stored, Writer};

/// Maximum number of bytes of one content of a record, unpacked. A line that has more is not read.
pub const MAX_CONTENT: usize = 16 << 20;

/// Beginning of the last field of a line.
const SUM: &str = ",\"sum\":\"";

/// Level of compression: higher ones take longer and save nothing for notes.
const LEVEL: u8 = 6;

/// Minimum number of bytes that are worth deflating.
const MIN_DEFLATED: usize = 64;

impl Record {
    /// Returns the line of the record, with its line end.
    pub fn to_line(&self) -> String {
        let Self { operation, time_ns, utc_offset_seconds, command, writer, reason, undoes, redoes, changes, lost } =
            self;
        let Writer { provenance, agent, client, tool, session } = writer;
        let mut json = Json::default();
        json.object(|json| {
            json.text("operation", operation);
            json.plain("time", time_ns);
            json.plain("offset", utc_offset_seconds);
            json.text("command", command);
            json.name("writer");
            json.object(|json| {
                json.text("provenance", provenance);
                for (name, value) in [("agent", agent), ("client", client), ("tool", tool), ("session", session)] {
                    json.option(name, value.as_deref());
                }
            });
            json.option("reason", reason.as_deref());
            for (name, operations) in [("undoes", undoes), ("redoes", redoes)] {
                json.list(name, operations, |json, operation| json.string(operation));
            }
            json.list("changes", changes, Json::change);
            json.list("lost", lost, Json::change);
        });
        let mut line = json.out;
        // The sum is the last field of the object.
        line.pop();
        let sum = crc32fast::hash(line.as_bytes());
        line.push_str(&format!("{SUM}{sum:08x}\"}}\n"));
        line
    }

    /// Returns the record of a line, with or without its line end; `None` if the line was not written to its end, or is not a
    /// record.
    pub fn from_line(line: &str) -> Option<Self> {
        Head::from_line(line)?.into_record()
    }
}

/// Returns the JSON string for `text`. Every line spells it this way.
pub(crate) fn json_string(text: &str) -> String {
    let mut json = Json::default();
    json.string(text);
    json.out
}

/// Writes JSON.
#[derive(Default)]
struct Json {
    out: String,
    deflater: Option<Box<CompressorOxide>>,
}

impl Json {
    fn object(&mut self, fields: impl FnOnce(&mut Self)) {
        self.out.push('{');
        fields(self);
        self.out.push('}');
    }

    /// Writes the name of the next field.
    fn name(&mut self, name: &str) {
        self.separate();
        self.out.push('"');
        self.out.push_str(name);
        self.out.push_str("\":");
    }

    fn separate(&mut self) {
        if !self.out.ends_with(['{', '[']) {
            self.out.push(',');
        }
    }

    fn plain(&mut self, name: &str, value: impl Display) {
        self.name(name);
        self.out.push_str(&format!("{value}"));
    }

    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        self.string(value);
    }

    fn option(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    fn list<T>(&mut self, name: &str, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        if items.is_empty() {
            return;
        }
        self.name(name);
        self.out.push('[');
        for item in items {
            self.separate();
            write(self, item);
        }
        self.out.push(']');
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for letter in text.chars() {
            match letter {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\t' => self.out.push_str("\\t"),
                letter if letter.is_control() => self.out.push_str(&format!("\\u{:04x}", u32::from(letter))),
                letter => self.out.push(letter),
            }
        }
        self.out.push('"');
    }

    fn change(&mut self, change: &Change) {
        let Change { path, before, after, before_size, after_size, moved_from, keeps_before, contents } = change;
        self.object(|json| {
            json.text("path", path);
            for (name, state) in [("before", before), ("after", after)] {
                match state {
                    State::Absent => {}
                    State::Bytes(digest) => json.plain(name, format_args!("\"{digest}\"")),
                    State::Size(size) => json.plain(name, size),
                }
            }
            for (name, size) in [("before_size", *before_size), ("after_size", *after_size)] {
                if size != 0 {
                    json.plain(name, size);
                }
            }
            json.option("moved_from", moved_from.as_deref());
            if *keeps_before {
                json.plain("keeps_before", true);
            }
            json.list("contents", contents, Self::content);
        });
    }

    fn content(&mut self, content: &Content) {
        self.object(|json| {
            json.plain("digest", format_args!("\"{}\"", content.digest));
            match &content.stored {
                Stored::Whole(bytes) => json.bytes("whole", bytes),
                Stored::Delta { from, delta } => {
                    json.plain("from", format_args!("\"{from}\""));
                    json.bytes("delta", delta);
                }
                Stored::Blob => json.plain("blob", true),
                Stored::Removed => json.plain("removed", true),
            }
        });
    }

    fn bytes(&mut self, name: &str, bytes: &[u8]) {
        let deflated = self.deflate(bytes);
        match &deflated {
            Some(_) => self.name(&format!("{name}_deflated")),
            None => self.name(name),
        }
        self.out.push('"');
        BASE64.encode_string(deflated.as_deref().unwrap_or(bytes), &mut self.out);
        self.out.push('"');
    }

    /// Returns the bytes deflated; `None` if that is not smaller.
    fn deflate(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        if bytes.len() < MIN_DEFLATED {
            return None;
        }
        // It has hundreds of kilobytes, so all contents of a record share it.
        let deflater = self.deflater.get_or_insert_with(|| {
            let mut deflater = Box::<CompressorOxide>::default();
            deflater.set_format_and_level(DataFormat::Raw, LEVEL);
            deflater
        });
        deflater.reset();
        let mut deflated = Vec::with_capacity(bytes.len() / 2);
        let (status, _) = compress_to_output(deflater, bytes, TDEFLFlush::Finish, |part| {
            let fits = deflated.len() + part.len() < bytes.len();
            if fits {
                deflated.extend_from_slice(part);
            }
            fits
        });
        (status == TDEFLStatus::Done).then_some(deflated)
    }
}

/// A record whose contents are still text. Most readers of a log need no content.
#[derive(Debug)]
pub struct Head<'a> {
    record: Record,
    /// JSON of the contents of each change.
    contents: Vec<Option<&'a RawValue>>,
}

impl<'a> Head<'a> {
    /// Returns the head of a line, with or without its line end; `None` if the line was not written to its end, or is not a
    /// record.
    pub fn from_line(line: &'a str) -> Option<Self> {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let (summed, sum) = line.strip_suffix("\"}")?.split_at_checked(line.len().checked_sub(SUM.len() + 10)?)?;
        let sum = sum.strip_prefix(SUM)?;
        if format!("{:08x}", crc32fast::hash(summed.as_bytes())) != sum {
            return None;
        }
        let ParsedRecord { operation, time, offset, command, writer, reason, undoes, redoes, changes, lost } =
            serde_json::from_str(line).ok()?;
        let ParsedWriter { provenance, agent, client, tool, session } = writer;
        let (changes, contents) = changes.into_iter().map(ParsedChange::parts).unzip();
        Some(Self {
            record: Record {
                operation,
                time_ns: time,
                utc_offset_seconds: offset,
                command,
                writer: Writer { provenance, agent, client, tool, session },
                reason,
                undoes,
                redoes,
                changes,
                lost: lost.into_iter().map(|lost| lost.parts().0).collect(),
            },
            contents,
        })
    }

    /// Returns the record, without the contents of its changes: [`Change::contents`] is empty, so this record must not be written.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Decodes the contents of a change, which has this index in the record. `None` if there is no such change, or a content is
    /// invalid or larger than [`MAX_CONTENT`]. A content in a form of a later version is left out.
    pub fn contents(&self, change: usize) -> Option<Vec<Content>> {
        decode(*self.contents.get(change)?)
    }

    /// Decodes the contents of all changes; `None` if one of them is invalid.
    pub fn into_record(self) -> Option<Record> {
        let Self { mut record, contents } = self;
        for (change, contents) in record.changes.iter_mut().zip(contents) {
            change.contents = decode(contents)?;
        }
        Some(record)
    }
}

fn decode(contents: Option<&RawValue>) -> Option<Vec<Content>> {
    let Some(contents) = contents else { return Some(Vec::new()) };
    let contents: Vec<ParsedContent<'_>> = serde_json::from_str(contents.get()).ok()?;
    let mut decoded = Vec::new();
    for content in contents {
        decoded.extend(content.decode()?);
    }
    Some(decoded)
}

#[derive(Deserialize)]
struct ParsedRecord<'a> {
    operation: String,
    time: i64,
    #[serde(default)]
    offset: i32,
    command: String,
    writer: ParsedWriter,
    reason: Option<String>,
    #[serde(default)]
    undoes: Vec<String>,
    #[serde(default)]
    redoes: Vec<String>,
    #[serde(default, borrow)]
    changes: Vec<ParsedChange<'a>>,
    #[serde(default, borrow)]
    lost: Vec<ParsedChange<'a>>,
}

#[derive(Deserialize)]
struct ParsedWriter {
    provenance: String,
    agent: Option<String>,
    client: Option<String>,
    tool: Option<String>,
    session: Option<String>,
}

#[derive(Deserialize)]
struct ParsedChange<'a> {
    path: String,
    #[serde(default)]
    before: State,
    #[serde(default)]
    after: State,
    #[serde(default)]
    before_size: u64,
    #[serde(default)]
    after_size: u64,
    moved_from: Option<String>,
    #[serde(default)]
    keeps_before: bool,
    #[serde(borrow)]
    contents: Option<&'a RawValue>,
}

impl<'a> ParsedChange<'a> {
    fn parts(self) -> (Change, Option<&'a RawValue>) {
        let Self { path, before, after, before_size, after_size, moved_from, keeps_before, contents } = self;
        let change =
            Change { path, before, after, before_size, after_size, moved_from, keeps_before, contents: Vec::new() };
        (change, contents)
    }
}

impl<'de> Deserialize<'de> for State {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AsState;

        impl Visitor<'_> for AsState {
            type Value = State;

            fn expecting(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                out.write_str("a digest or a size")
            }

            fn visit_unit<E: Error>(self) -> Result<State, E> {
                Ok(State::Absent)
            }

            fn visit_u64<E: Error>(self, size: u64) -> Result<State, E> {
                Ok(State::Size(size))
            }

            fn visit_str<E: Error>(self, digest: &str) -> Result<State, E> {
                digest.parse().map(State::Bytes).map_err(E::custom)
            }
        }

        deserializer.deserialize_any(AsState)
    }
}

#[derive(Deserialize)]
struct ParsedContent<'a> {
    digest: Digest,
    #[serde(borrow)]
    whole: Option<Cow<'a, str>>,
    #[serde(borrow)]
    whole_deflated: Option<Cow<'a, str>>,
    from: Option<Digest>,
    #[serde(borrow)]
    delta: Option<Cow<'a, str>>,
    #[serde(borrow)]
    delta_deflated: Option<Cow<'a, str>>,
    #[serde(default)]
    blob: bool,
    #[serde(default)]
    removed: bool,
}

impl ParsedContent<'_> {
    /// Returns `None` if the bytes are invalid, and `Some(None)` if the form is not known.
    fn decode(self) -> Option<Option<Content>> {
        let stored = if let Some(bytes) = bytes(self.whole.as_deref(), self.whole_deflated.as_deref())? {
            Stored::Whole(bytes)
        } else if let Some(delta) = bytes(self.delta.as_deref(), self.delta_deflated.as_deref())? {
            Stored::Delta { from: self.from?, delta }
        } else if self.blob {
            Stored::Blob
        } else if self.removed {
            Stored::Removed
        } else {
            return Some(None);
        };
        Some(Some(Content { digest: self.digest, stored }))
    }
}

/// Returns `None` if the bytes are invalid, and `Some(None)` if there are none.
fn bytes(plain: Option<&str>, deflated: Option<&str>) -> Option<Option<Vec<u8>>> {
    let bytes = match (plain, deflated) {
        (None, None) => return Some(None),
        (Some(plain), _) => BASE64.decode(plain).ok()?,
        (None, Some(deflated)) => decompress_to_vec_with_limit(&BASE64.decode(deflated).ok()?, MAX_CONTENT).ok()?,
    };
    (bytes.len() <= MAX_CONTENT).then_some(Some(bytes))
}
