//! `saddlebag ui --out`: the page as one file, with the answers to the calls that its views make.

use std::io::{self, Write};
use std::path::Path;

use saddlebag::store::utc_text;
use serde_json::{Map, Value, json};

use super::api::Api;
use super::assets::one_file;
use super::render::render;
use crate::export::{ExportPlaces, digest};
use crate::failure::{Exit, Failure, ProgramCode};
use crate::global::Global;
use crate::output::{Output, single_line};
use crate::store::Root;

/// Maximum number of notes that the file has with their text.
const MAX_ITEMS: u32 = 5_000;
/// Maximum number of entries in the file.
const MAX_ENTRIES: usize = 1_000;
/// Number of operations in the file.
const MAX_OPERATIONS: u32 = 200;

/// Writes the file.
pub(super) async fn write(
    api: &Api,
    name: &str,
    global: &Global,
    file: &Path,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let now = global.now.unwrap_or_else(saddlebag_host::now);
    let now = now.seconds.unsigned_abs().saturating_mul(1_000_000_000);
    let page = one_file(&data(api, name, now, output).await?.to_string());
    if let Ok(root) = Root::from_options(global).and_then(|root| Ok(root.folder()?.to_path_buf())) {
        ExportPlaces::note(&root, file, vec![digest(page.as_bytes())], output);
    }
    written(file, page.as_bytes()).map_err(|error| {
        let message = format!("cannot write {}: {}", file.display(), saddlebag_host::io_cause(&error));
        Failure::new(ProgramCode::Output, message, "name a file in a folder that exists")
    })?;
    output.line(&single_line(&format!("Wrote {}, {} bytes", file.display(), page.len())))?;
    output.flush()?;
    Ok(Exit::Done)
}

/// Writes a file that only its owner may read. One that is there is replaced when the new one is whole.
fn written(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut made = tempfile::NamedTempFile::new_in(folder)?;
    made.write_all(bytes)?;
    made.persist(file).map_err(|error| error.error)?;
    Ok(())
}

/// Returns the answers, by the name of the call and its arguments as the page writes them.
async fn data(api: &Api, name: &str, nanoseconds: u64, output: &mut Output) -> Result<Value, Failure> {
    let mut answers = Map::new();
    for (key, interface, command) in [
        (
            "context",
            "session",
            json!({ "begin-session": { "session": "preview", "source": "startup", "max-bytes": null, "form": "claude",
            "dry-run": true } }),
        ),
        (
            "notes",
            "items",
            json!({ "list-items": { "forgotten": false, "kinds": ["note"], "filter": null, "limit": MAX_ITEMS,
            "sort": [{ "by": "modified", "ascending": false }], "after": null, "zk-links": false, "with-text": false,
            "with-links": true } }),
        ),
        ("pending", "trust", json!({ "pending": { "limit": 1_000, "cursor": null, "name": null, "source": null } })),
        (
            "operations",
            "history",
            json!({ "list-operations": { "limit": MAX_OPERATIONS, "operation": null, "since": null,
            "by": null } }),
        ),
        ("dead-links", "notebook", json!({ "dead-links": { "only-notes": true } })),
    ] {
        let call = json!({ "interface": interface, "command": command });
        answers.insert(key.into(), api.answer("call", call, None).await?);
    }
    answers.insert("entries".into(), entries(api, output).await?);
    for name in ["status", "sessions"] {
        answers.insert(name.into(), api.answer(name, json!({}), None).await?);
    }
    let (mut texts, mut rendered) = (Map::new(), Map::new());
    let notes = answers.get("notes").and_then(|reply| reply.get("items")?.as_array()).cloned().unwrap_or_default();
    for path in notes.iter().filter_map(|note| note.get("path")?.as_str()) {
        let text = match whole_text(api, path).await {
            Ok(text) => text,
            Err(failure) => {
                output.warning(&format!("left out {}: {}", single_line(path), single_line(&failure.message)));
                continue;
            }
        };
        rendered.insert(path.into(), json!(render(&text)));
        texts.insert(path.into(), json!(text));
    }
    answers.insert("texts".into(), Value::Object(texts));
    answers.insert("rendered".into(), Value::Object(rendered));
    answers.insert("name".into(), json!(name));
    answers.insert("time".into(), json!(utc_text(nanoseconds)));
    Ok(Value::Object(answers))
}

/// Returns the entries, as one page.
async fn entries(api: &Api, output: &mut Output) -> Result<Value, Failure> {
    let mut all = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let command = json!({ "list-items": { "forgotten": false, "kinds": ["entry"], "filter": null, "limit": 1_000,
            "sort": [], "after": cursor, "zk-links": false, "with-text": false, "with-links": false } });
        let mut page = api.answer("call", json!({ "interface": "items", "command": command }), None).await?;
        let found = page.get_mut("items").and_then(Value::as_array_mut).map(std::mem::take);
        all.extend(found.unwrap_or_default());
        cursor = page.get_mut("next").map(Value::take).unwrap_or_default();
        if cursor.is_null() || all.len() >= MAX_ENTRIES {
            if !cursor.is_null() {
                output.warning(&format!("left out the entries after the first {}", all.len()));
            }
            return Ok(json!({ "items": all, "next": null, "total": all.len() }));
        }
    }
}

/// Returns the whole text of a file.
async fn whole_text(api: &Api, path: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let mut offset = 0;
    loop {
        let command =
            json!({ "show": { "name": path, "kind": null, "offset": offset.to_string(), "max-bytes": null } });
        let call = json!({ "interface": "items", "command": command });
        let part = api.answer("call", call, None).await?;
        text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default());
        match part.get("next_offset").and_then(Value::as_u64) {
            Some(next) => offset = next,
            None => return Ok(text),
        }
    }
}
