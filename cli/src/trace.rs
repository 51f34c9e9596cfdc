//! `--trace`: every command, request and result, one JSON object a line.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use saddlebag::protocol::{
    AppendOutcome, CommandId, EntryKind, Error, FsError, FsOp, FsOutcome, FsRequest, ListOutcome, Precondition,
    ReadOutcome, RemoveOutcome, RenameOutcome, Version, WriteOutcome,
};
use saddlebag::store::{RelPath, Timestamp};
use saddlebag::{Command, Reply};
use saddlebag_host::Observer;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::json;
use crate::output::JsonLine;

/// The file that a trace goes to.
pub(crate) struct Trace {
    sink: Rc<RefCell<Sink>>,
}

struct Sink {
    file: File,
    failure: Option<io::ErrorKind>,
}

impl Trace {
    /// Opens the file to append to. It holds what memory holds, so a new one is for its owner alone.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|error| {
            let message =
                format!("cannot open the trace file `{}`: {}", path.display(), saddlebag_host::io_cause(&error));
            Failure::new("trace", message, "name a file in a folder that exists")
        })?;
        Ok(Self { sink: Rc::new(RefCell::new(Sink { file, failure: None })) })
    }

    pub(crate) fn observer(&self) -> impl Observer + 'static {
        Tracer { sink: self.sink.clone() }
    }

    /// Why the trace is not whole, if it is not.
    pub(crate) fn failure(&self) -> Option<String> {
        self.sink.borrow().failure.map(|kind| format!("the trace is not whole: {kind}"))
    }
}

struct Tracer {
    sink: Rc<RefCell<Sink>>,
}

impl Tracer {
    fn put(&self, event: &str, mut object: Map<String, Value>) {
        object.insert("event".to_string(), event.into());
        let line = format!("{}\n", JsonLine::new(&Value::Object(object)));
        let mut sink = self.sink.borrow_mut();
        if sink.failure.is_none()
            && let Err(error) = sink.file.write_all(line.as_bytes())
        {
            sink.failure = Some(error.kind());
        }
    }
}

impl Observer for Tracer {
    fn command(&mut self, id: CommandId, now: Timestamp, command: &Command) {
        let time = json!({
            "seconds": now.seconds,
            "nanoseconds": now.nanoseconds,
            "utc_offset_seconds": now.utc_offset_seconds,
        });
        let object = json!({ "id": id.0, "name": command.name(), "now": time, "command": format!("{command:?}") });
        self.put("command", fields(object));
    }

    fn request(&mut self, request: &FsRequest) {
        let mut object = operation(&request.op);
        object.insert("key".to_string(), request.key.as_str().into());
        object.insert("op".to_string(), request.op.name().into());
        self.put("request", object);
    }

    fn result(&mut self, request: &FsRequest, outcome: &Result<FsOutcome, FsError>) {
        let mut object = match outcome {
            Ok(outcome) => answer(outcome),
            Err(error) => fields(json!({ "outcome": "error", "error": error.to_string() })),
        };
        object.insert("key".to_string(), request.key.as_str().into());
        object.insert("op".to_string(), request.op.name().into());
        self.put("result", object);
    }

    fn finished(&mut self, id: CommandId, outcome: &Result<Reply, Error>) {
        let mut object = match outcome {
            Ok(reply) => fields(json!({ "reply": json::reply(reply) })),
            Err(error) => {
                let code = Failure::from(error.clone()).code;
                fields(json!({ "error": { "code": code, "message": error.message, "help": error.help } }))
            }
        };
        object.insert("id".to_string(), id.0.into());
        self.put("finished", object);
    }
}

fn operation(op: &FsOp) -> Map<String, Value> {
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
        FsOp::List { folder, recursive, after, limit, unless } => fields(json!({
            "folder": folder.as_ref().map(RelPath::as_str),
            "recursive": recursive,
            "after": after.as_ref().map(RelPath::as_str),
            "limit": limit,
            "unless": unless.as_ref().map(|version| &version.0),
        })),
        FsOp::Remove { path, precondition } => {
            fields(json!({ "path": path.as_str(), "precondition": condition(precondition) }))
        }
        FsOp::Rename { from, to, precondition } => fields(json!({
            "path": from.as_str(), "to": to.as_str(), "precondition": condition(precondition),
        })),
        FsOp::MakeDirectory { path } => fields(json!({ "path": path.as_str() })),
        _ => Map::new(),
    };
    if let FsOp::Write { content, .. } | FsOp::Append { content, .. } = op {
        put_bytes(&mut object, content);
    }
    object
}

fn answer(outcome: &FsOutcome) -> Map<String, Value> {
    let outcome_only = |word: &str| fields(json!({ "outcome": word }));
    let changed =
        |word: &str, version: Option<&Version>| fields(json!({ "outcome": word, "version": version.map(text) }));
    match outcome {
        FsOutcome::Read(ReadOutcome::Content(content)) => {
            let mut object =
                fields(json!({ "outcome": "content", "version": content.version.0, "file_size": content.size }));
            put_bytes(&mut object, &content.bytes);
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
        FsOutcome::List(ListOutcome::Unchanged) => outcome_only("unchanged"),
        FsOutcome::List(ListOutcome::Page(page)) => {
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
                    "modified": entry.modified,
                })
            });
            let entries: Vec<Value> = entries.collect();
            let next = page.next.as_ref().map(RelPath::as_str);
            let version = page.version.as_ref().map(|version| &version.0);
            fields(json!({ "outcome": "page", "entries": entries, "next": next, "version": version }))
        }
        _ => Map::new(),
    }
}

/// Bytes as text where they are, else in base64.
fn put_bytes(object: &mut Map<String, Value>, bytes: &[u8]) {
    object.insert("bytes".to_string(), bytes.len().into());
    match std::str::from_utf8(bytes) {
        Ok(text) => object.insert("content".to_string(), text.into()),
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
