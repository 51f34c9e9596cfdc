//! `--trace`: every command, request and result, one JSON object a line.
//!
//! Secrets stay out of a trace, as they stay out of memory: unless the policy allows them, every text of a command and
//! of the files that it reads passes [`secrets_in`], also if the command is refused.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use saddlebag::protocol::{
    AppendOutcome, CommandId, EntryKind, Error, FsError, FsOp, FsOutcome, FsRequest, ListOutcome, Precondition,
    ReadOutcome, RemoveDirectoryOutcome, RemoveOutcome, RenameOutcome, Version, WriteOutcome,
};
use saddlebag::store::{RelPath, Timestamp, utc_text};
use saddlebag::trust::{FoundSecret, secrets_in};
use saddlebag::{Command, Origin, Reply, Submission};
use saddlebag_host::Observer;
use serde_json::{Map, Value, json};

use crate::failure::{Failure, ProgramCode};
use crate::output::JsonLine;

/// The file that a trace goes to.
pub(crate) struct Trace {
    sink: Shared,
}

/// Who opened the trace and who writes it share the file.
#[derive(Clone)]
struct Shared(Arc<Mutex<Sink>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Sink> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Sink {
    file: File,
    /// Secrets are replaced by the names of their rules.
    redacts: bool,
    failure: Option<io::ErrorKind>,
}

impl Trace {
    /// Opens the file to append to. It holds what memory holds, so a new one is for its owner alone.
    pub(crate) fn open(path: &Path, redacts: bool) -> Result<Self, Failure> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|error| {
            let message =
                format!("cannot open the trace file `{}`: {}", path.display(), saddlebag_host::io_cause(&error));
            Failure::new(ProgramCode::Trace, message, "name a file in a folder that exists")
        })?;
        Ok(Self { sink: Shared(Arc::new(Mutex::new(Sink { file, redacts, failure: None }))) })
    }

    pub(crate) fn observer(&self) -> impl Observer + Send + 'static {
        Tracer { sink: self.sink.clone() }
    }

    /// Why the trace is not whole, if it is not.
    pub(crate) fn failure(&self) -> Option<String> {
        self.sink.lock().failure.map(|kind| format!("the trace is not whole: {kind}"))
    }
}

struct Tracer {
    sink: Shared,
}

impl Tracer {
    fn put(&self, event: &str, mut object: Map<String, Value>) {
        let mut sink = self.sink.lock();
        if sink.redacts {
            object.values_mut().for_each(redact);
        }
        object.insert("event".to_string(), event.into());
        let line = format!("{}\n", JsonLine::new(&Value::Object(object)));
        if sink.failure.is_none()
            && let Err(error) = sink.file.write_all(line.as_bytes())
        {
            sink.failure = Some(error.kind());
        }
    }
}

impl Observer for Tracer {
    fn command(&mut self, id: CommandId, now: Timestamp, submission: &Submission<Command>) {
        let Submission { origin, command } = submission;
        let time = json!({
            "seconds": now.seconds,
            "nanoseconds": now.nanoseconds,
            "utc_offset_seconds": now.utc_offset_seconds,
        });
        let mut shown = match *origin == Origin::default() {
            true => format!("{command:?}"),
            false => format!("{submission:?}"),
        };
        if self.sink.lock().redacts {
            shown = without_secrets_in_debug(&shown);
        }
        let object = json!({ "id": id.0, "name": command.name(), "now": time, "command": shown });
        self.put("command", fields(object));
    }

    fn request(&mut self, request: &FsRequest) {
        let mut object = operation(&request.op, self.sink.lock().redacts);
        object.insert("key".to_string(), request.key.as_str().into());
        object.insert("op".to_string(), request.op.name().into());
        self.put("request", object);
    }

    fn result(&mut self, request: &FsRequest, outcome: &Result<FsOutcome, FsError>) {
        let mut object = match outcome {
            Ok(outcome) => answer(outcome, self.sink.lock().redacts),
            Err(error) => fields(json!({ "outcome": "error", "error": error.to_string() })),
        };
        object.insert("key".to_string(), request.key.as_str().into());
        object.insert("op".to_string(), request.op.name().into());
        self.put("result", object);
    }

    fn finished(&mut self, id: CommandId, outcome: &Result<Reply, Error>) {
        let mut object = match outcome {
            Ok(reply) => fields(json!({ "reply": reply })),
            Err(error) => fields(
                json!({ "error": { "code": error.code.as_str(), "message": error.message, "help": error.help } }),
            ),
        };
        object.insert("id".to_string(), id.0.into());
        self.put("finished", object);
    }
}

fn operation(op: &FsOp, redacts: bool) -> Map<String, Value> {
    let mut object = match op {
        FsOp::Read { path, offset, max_bytes, unless } => fields(json!({
            "path": path.as_str(), "offset": offset, "max_bytes": max_bytes, "unless": unless.as_ref().map(text),
        })),
        FsOp::Write { path, precondition, .. } => {
            fields(json!({ "path": path.as_str(), "precondition": condition(precondition) }))
        }
        FsOp::Append { path, newline_first, precondition, .. } => fields(json!({
            "path": path.as_str(), "newline_first": newline_first, "precondition": condition(precondition),
        })),
        FsOp::ListDirectory { folder, after, limit, unless } => fields(json!({
            "folder": folder.as_ref().map(RelPath::as_str),
            "after": after.as_ref().map(RelPath::as_str),
            "limit": limit,
            "unless": unless.as_ref().map(|version| &version.0),
        })),
        FsOp::Remove { path, precondition } => {
            fields(json!({ "path": path.as_str(), "precondition": condition(precondition) }))
        }
        FsOp::Rename { path: from, to, precondition } => fields(json!({
            "path": from.as_str(), "to": to.as_str(), "precondition": condition(precondition),
        })),
        FsOp::Score { query, texts } => fields(json!({ "query": query, "texts": texts })),
        FsOp::MakeDirectory { path } | FsOp::RemoveDirectory { path } => fields(json!({ "path": path.as_str() })),
    };
    if let FsOp::Write { content, .. } | FsOp::Append { content, .. } = op {
        put_bytes(&mut object, content, redacts);
    }
    object
}

fn answer(outcome: &FsOutcome, redacts: bool) -> Map<String, Value> {
    let outcome_only = |word: &str| fields(json!({ "outcome": word }));
    let changed =
        |word: &str, version: Option<&Version>| fields(json!({ "outcome": word, "version": version.map(text) }));
    match outcome {
        FsOutcome::Read(ReadOutcome::Content(content)) => {
            let mut object =
                fields(json!({ "outcome": "content", "version": content.version.0, "file_size": content.size }));
            put_bytes(&mut object, &content.bytes, redacts);
            object
        }
        FsOutcome::Read(ReadOutcome::Unchanged) => outcome_only("unchanged"),
        FsOutcome::Read(ReadOutcome::Absent) | FsOutcome::Rename(RenameOutcome::Absent) => outcome_only("absent"),
        FsOutcome::Write(WriteOutcome::Written(version)) | FsOutcome::Append(AppendOutcome::Written(version)) => {
            changed("written", Some(version))
        }
        FsOutcome::Write(WriteOutcome::Stale(version)) | FsOutcome::Append(AppendOutcome::Stale(version)) => {
            changed("stale", version.as_ref())
        }
        FsOutcome::Remove(RemoveOutcome::Stale(version)) | FsOutcome::Rename(RenameOutcome::Stale(version)) => {
            changed("stale", Some(version))
        }
        FsOutcome::Write(WriteOutcome::Unknown) => outcome_only("unknown"),
        FsOutcome::Append(AppendOutcome::Unknown(offset)) => fields(json!({ "outcome": "unknown", "offset": offset })),
        FsOutcome::Rename(RenameOutcome::Exists) => outcome_only("exists"),
        FsOutcome::Remove(RemoveOutcome::Done) | FsOutcome::Rename(RenameOutcome::Done) | FsOutcome::MakeDirectory => {
            outcome_only("done")
        }
        FsOutcome::Score(scores) => fields(json!({ "outcome": "scores", "scores": scores.0 })),
        FsOutcome::RemoveDirectory(RemoveDirectoryOutcome::Removed) => outcome_only("removed"),
        FsOutcome::RemoveDirectory(RemoveDirectoryOutcome::NotEmpty) => outcome_only("not-empty"),
        FsOutcome::RemoveDirectory(RemoveDirectoryOutcome::Absent) => outcome_only("absent"),
        FsOutcome::ListDirectory(ListOutcome::Unchanged) => outcome_only("unchanged"),
        FsOutcome::ListDirectory(ListOutcome::Page(page)) => {
            let entries = page.entries.iter().map(|entry| {
                let kind = match entry.kind {
                    EntryKind::File => "file",
                    EntryKind::Directory => "directory",
                    EntryKind::Other => "other",
                };
                json!({
                    "path": entry.path.as_str(),
                    "kind": kind,
                    "size": entry.size,
                    "version": entry.version.0,
                    "modified": (entry.modified > 0).then(|| utc_text(entry.modified)),
                })
            });
            let entries: Vec<Value> = entries.collect();
            let next = page.next.as_ref().map(RelPath::as_str);
            let version = page.version.as_ref().map(|version| &version.0);
            fields(json!({ "outcome": "page", "entries": entries, "next": next, "version": version }))
        }
    }
}

/// Replaces the secrets in every text of a value.
fn redact(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(redacted) = redacted(text) {
                *text = redacted;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact),
        Value::Object(fields) => fields.values_mut().for_each(redact),
        _ => {}
    }
}

/// The text without its secrets; `None` if it has none.
fn redacted(text: &str) -> Option<String> {
    let found = secrets_in(text);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for FoundSecret { rule, range } in &found {
        out.push_str(text.get(from..range.start).unwrap_or_default());
        out.push_str(&format!("[redacted: {rule}]"));
        from = range.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    (!found.is_empty()).then_some(out)
}

/// A command as it is shown, without the secrets in its texts and in its bytes. A text that has some loses the escapes of
/// its quotes and line ends, between which the rules could not find them.
fn without_secrets_in_debug(shown: &str) -> String {
    let mut out = String::with_capacity(shown.len());
    let mut rest = shown;
    while let Some(end) = rest.find(']') {
        let (list, after) = rest.split_at(end + 1);
        // Of lists in a list the innermost is looked at.
        let (before, list) = list.split_at(list.rfind('[').unwrap_or(list.len()));
        out.push_str(before);
        let bytes: Option<Vec<u8>> = list.trim_matches(['[', ']']).split(", ").map(|byte| byte.parse().ok()).collect();
        match bytes.and_then(|bytes| redacted(&String::from_utf8_lossy(&bytes))) {
            Some(redacted) => out.push_str(&format!("{redacted:?}")),
            None => out.push_str(list),
        }
        rest = after;
    }
    out.push_str(rest);
    let plain = out.replace("\\n", "\n").replace("\\\"", "\"");
    redacted(&plain).unwrap_or(out)
}

/// Bytes as text where they are text, else in base64. Nobody finds the secrets in base64, so there only the number is
/// shown where secrets are redacted: the index has the words of every file.
fn put_bytes(object: &mut Map<String, Value>, bytes: &[u8], redacts: bool) {
    object.insert("bytes".to_string(), bytes.len().into());
    match std::str::from_utf8(bytes) {
        Ok(text) => object.insert("content".to_string(), text.into()),
        Err(_) if redacts => object.insert("content_left_out".to_string(), "it is not text".into()),
        Err(_) => object.insert("content_base64".to_string(), BASE64_STANDARD.encode(bytes).into()),
    };
}

fn condition(precondition: &Precondition) -> Value {
    match precondition {
        Precondition::Any => "any".into(),
        Precondition::Absent => "absent".into(),
        Precondition::Matches(version) => json!({ "matches": version.0 }),
    }
}

fn text(version: &Version) -> &str {
    &version.0
}

fn fields(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In two parts, so that no scanner finds a token here.
    const SECRET: &str = concat!("ghp_", "q7Zt2LmX9vRk4WcB8nYs1DfGh6JpQa3Eu5To");

    #[test]
    fn a_command_is_shown_without_the_secrets_in_its_texts_and_bytes() {
        let key = format!(
            "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----",
            "MIIEvQIBADANBgkqhkiG9w0B\n".repeat(8)
        );
        for shown in [
            format!("{:?}", ("write", format!("a \"token\": \"{SECRET}\"\nb"))),
            format!("{:?}", ("import", [("a.md", SECRET.as_bytes())], [1, 2])),
            format!("{:?}", ("store", &key)),
        ] {
            let without = without_secrets_in_debug(&shown);
            assert!(!without.contains(SECRET) && !without.contains("MIIE"), "{without}");
            assert!(!without.contains("113, 55, 90"), "{without}");
            assert!(without.contains("[redacted: "), "{without}");
        }
        let harmless = format!("{:?}", ("[a] \"b\"\n", [1_u8, 2], vec!["x"], Some("[")));
        assert_eq!(without_secrets_in_debug(&harmless), harmless);
    }
}
