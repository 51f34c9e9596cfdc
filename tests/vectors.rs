//! Recorded input and output pairs, each in both engines.
//!
//! The runner of its family runs every `*.json` under `tests/vectors/` and under the folder in `SADDLEBAG_VECTORS`.
//! Deliberate differences are in `vectors-not-followed.toml`, with the reason; a case that no runner can interpret
//! fails.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use core::str::FromStr;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use saddlebag::context::{Context, Overflow, PromptReply, estimate_tokens};
use saddlebag::document::normalize_line;
use saddlebag::items::{ItemsReply, Written};
use saddlebag::journal::{
    DEFAULT_READ_BYTES, FileState, JournalReply, Search, Target, TargetRole, WriteFile, WriteMode,
};
use saddlebag::protocol::Error;
use saddlebag::search::{SearchResults, TRUNCATED};
use saddlebag::store::{BackupPlace, NoteName, ProjectSlug};
use saddlebag::tools::{CallTool, Dialect, ToolOptions, ToolSet, ToolsReply};
use saddlebag::{Command, Config, Reply};
use saddlebag_host::{Engine, Host, HostError, Simulator};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use support::{Kind, ask, both_engines, engine, entries, exchange, noon, path, project_config, zk};

/// Replacement for the recorded root. It has the same number of bytes, because limits count them.
const ROOT: &str = "/recorded/root-17/";

/// A listing selects and sorts the notes, resolves the links and cuts the snippets that zk recorded.
#[both_engines(every_change)]
fn recorded_vectors_hold(kind: Kind) {
    let not_followed = NotFollowed::load();
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![manifest.join("vectors")];
    // A relative path is relative to the root of the repository, where a person types it.
    let root = manifest.parent().unwrap();
    folders.extend(std::env::var_os("SADDLEBAG_VECTORS").map(|folder| root.join(PathBuf::from(folder))));
    let mut failures = Vec::new();
    let mut run = 0;
    for folder in folders {
        let files = json_files(&folder);
        assert!(!files.is_empty(), "no vectors in {}", folder.display());
        for file in files {
            let name = file.strip_prefix(&folder).unwrap().to_string_lossy().replace('\\', "/");
            if not_followed.has_file(&name) {
                continue;
            }
            let text = std::fs::read_to_string(&file).unwrap();
            // The memory tool's own tests run these.
            if name == "anthropic-memory-tool.json" {
                continue;
            }
            if name == "zk/expected.json" {
                let recorded: zk::Recorded =
                    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
                run += recorded.cases.len();
                let mut notebook = zk::Notebook::recorded(kind);
                failures.extend(notebook.failures(&recorded, |case| not_followed.has_zk_case(case)));
                failures.extend(notebook.differences(&recorded));
                continue;
            }
            if name == "entries.json" {
                let recorded: entries::Recorded =
                    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
                run += recorded.count();
                failures.extend(recorded.failures(kind, |case| !not_followed.has_entries_case(case)));
                continue;
            }
            if let "basic-memory.json" | "mcp-memory.json" = name.as_str() {
                let recorded: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
                let (cases, failed) = match name.as_str() {
                    "basic-memory.json" => exchange::basic_memory(&recorded),
                    _ => exchange::mcp_memory(&recorded, &not_followed.lines_that_are_kept_once()),
                };
                run += cases;
                failures.extend(failed);
                continue;
            }
            let recorded: Recorded = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(name, "journal.json", "no runner for the family of {name}");
            for case in &recorded.vectors {
                if not_followed.has_case(case) {
                    continue;
                }
                run += 1;
                if let Err(failure) = check(kind, case) {
                    failures.push(format!("{name}: {} {}: {failure}", text_of(case, "id"), text_of(case, "version")));
                }
            }
        }
    }
    assert!(run > 0, "no case was run");
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

/// Every deliberate difference from zk is listed with its reason, and is still one.
#[both_engines(every_change)]
fn what_is_not_followed_differs(kind: Kind) {
    let not_followed = NotFollowed::load();
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/journal.json")).unwrap();
    let recorded: Recorded = serde_json::from_str(&text).unwrap();
    for case in recorded.vectors.iter().filter(|case| not_followed.has_case(case)) {
        assert!(check(kind, case).is_err(), "{} is followed: take it off the list", text_of(case, "id"));
    }
    let text = include_str!("vectors/entries.json");
    let recorded: entries::Recorded = serde_json::from_str(text).unwrap();
    let differing = recorded.failures(kind, |case| not_followed.has_entries_case(case));
    assert_eq!(differing.len(), not_followed.entries.len(), "take what is followed off the list: {differing:?}");
    let recorded: Value = serde_json::from_str(include_str!("vectors/mcp-memory.json")).unwrap();
    let (_, differing) = exchange::mcp_memory(&recorded, &[]);
    assert!(!differing.is_empty() || not_followed.mcp.is_empty(), "every line is followed: take it off the list");
    let recorded: zk::Recorded = serde_json::from_str(include_str!("vectors/zk/expected.json")).unwrap();
    let mut notebook = zk::Notebook::recorded(kind);
    for call in &not_followed.zk {
        let case = recorded.cases.iter().find(|case| case.name() == call.args);
        let case = case.unwrap_or_else(|| panic!("zk list {} is not recorded", call.args));
        assert!(notebook.check(case).is_err(), "zk list {} is followed: take it off the list", call.args);
    }
}

#[derive(Deserialize)]
struct Recorded {
    vectors: Vec<Value>,
}

#[derive(Deserialize)]
struct NotFollowed {
    #[serde(default)]
    file: Vec<NotFollowedFile>,
    case: Vec<NotFollowedCase>,
    #[serde(default)]
    zk: Vec<NotFollowedCall>,
    #[serde(default)]
    zk_option: Vec<NotFollowedOption>,
    #[serde(default)]
    entries: Vec<NotFollowedEntries>,
    #[serde(default)]
    mcp: Vec<NotFollowedLine>,
}

/// A line that occurs twice and is kept once.
#[derive(Deserialize)]
struct NotFollowedLine {
    line: String,
    reason: String,
}

#[derive(Deserialize)]
struct NotFollowedEntries {
    name: String,
    reason: String,
}

#[derive(Deserialize)]
struct NotFollowedCall {
    args: String,
    reason: String,
}

/// An option of `zk list` that no filter of notes has. Another folder may have calls with it.
#[derive(Deserialize)]
struct NotFollowedOption {
    option: String,
    reason: String,
}

#[derive(Deserialize)]
struct NotFollowedFile {
    path: String,
    reason: String,
}

#[derive(Deserialize)]
struct NotFollowedCase {
    id: String,
    input: Option<String>,
    input_bytes: Option<usize>,
    version: Option<String>,
    reason: String,
}

impl NotFollowed {
    fn load() -> Self {
        let list: Self = toml::from_str(include_str!("vectors-not-followed.toml")).unwrap();
        assert!(
            list.case.iter().all(|case| !case.reason.is_empty())
                && list.file.iter().all(|file| !file.reason.is_empty())
                && list.zk.iter().all(|call| !call.reason.is_empty())
                && list.zk_option.iter().all(|option| !option.reason.is_empty())
                && list.entries.iter().all(|case| !case.reason.is_empty())
                && list.mcp.iter().all(|line| !line.reason.is_empty())
        );
        list
    }

    fn has_file(&self, name: &str) -> bool {
        self.file.iter().any(|file| file.path == name)
    }

    fn has_entries_case(&self, name: &str) -> bool {
        self.entries.iter().any(|case| case.name == name)
    }

    fn lines_that_are_kept_once(&self) -> Vec<String> {
        self.mcp.iter().map(|listed| listed.line.clone()).collect()
    }

    fn has_zk_case(&self, case: &zk::Case) -> bool {
        self.zk.iter().any(|call| call.args == case.name())
            || self.zk_option.iter().any(|listed| case.has_option(&listed.option))
    }

    fn has_case(&self, case: &Value) -> bool {
        let input = case.get("input").and_then(Value::as_str);
        self.case.iter().any(|listed| {
            listed.id == text_of(case, "id")
                && listed.input.as_deref().is_none_or(|text| Some(text) == input)
                && listed.input_bytes.is_none_or(|bytes| input.is_some_and(|input| input.len() == bytes))
                && listed.version.as_deref().is_none_or(|version| version == text_of(case, "version"))
        })
    }
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(json_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn text_of<'a>(case: &'a Value, field: &str) -> &'a str {
    case.get(field).and_then(Value::as_str).unwrap_or("")
}

fn check(kind: Kind, case: &Value) -> Result<(), String> {
    match case.get("input") {
        Some(input) => {
            let input = input.as_str().ok_or("an input that is not text")?;
            expect(&function(text_of(case, "id"), input)?, &case["output"])
        }
        None => scenario(kind, case),
    }
}

/// A pure function of the crate, by the name under which it was recorded.
fn function(id: &str, input: &str) -> Result<Value, String> {
    Ok(match id {
        "slug" => json!(ProjectSlug::from_path(input.as_bytes()).as_str()),
        "normalize_line" => json!(normalize_line(input)),
        "estimate_tokens" => json!(estimate_tokens(input)),
        "note_path" => match NoteName::from_str(input) {
            Ok(name) => json!(format!("Some(\"{ROOT}projects/proj/notes/{name}.md\")")),
            Err(_) => json!("None"),
        },
        _ => return Err(format!("unknown function {id}")),
    })
}

fn scenario(kind: Kind, case: &Value) -> Result<(), String> {
    let mut simulator = Simulator::new(7);
    for (file, content) in case["setup"].as_object().ok_or("no setup")? {
        match bytes_of(content)? {
            Some(bytes) => simulator.insert(&path(file), bytes),
            None => simulator.insert_directory(&path(file)),
        }
    }
    // The original keeps a backup beside each file.
    let config = Config { path_prefix: ROOT.into(), backups: BackupPlace::Sibling, ..project_config() };
    let mut host = Host::new(engine(kind, config), simulator);
    let ops = case["ops"].as_array().ok_or("no ops")?;
    let outputs = case["outputs"].as_array().ok_or("no outputs")?;
    if ops.len() != outputs.len() {
        return Err("ops and outputs differ in number".into());
    }
    for (op, expected) in ops.iter().zip(outputs) {
        let output = perform(&mut host, case, op)?;
        expect(&output, expected).map_err(|difference| format!("{op}: {difference}"))?;
    }
    let after = host.executor().files();
    let mut expected_files = BTreeMap::new();
    for (file, content) in case["files_after"].as_object().ok_or("no files_after")? {
        expected_files.insert(file.clone(), bytes_of(content)?.ok_or("a file that is a directory")?);
    }
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    if names(&after) != names(&expected_files) {
        return Err(format!("files are {:?}, not {:?}", names(&after), names(&expected_files)));
    }
    match after.iter().find(|(name, bytes)| expected_files.get(*name) != Some(bytes)) {
        Some((name, bytes)) => Err(format!("{name} is {:?}", shorten(&String::from_utf8_lossy(bytes)))),
        None => Ok(()),
    }
}

/// Performs one recorded operation, and returns its output in the form of the recording.
fn perform(host: &mut Host<Box<dyn Engine>, Simulator>, case: &Value, op: &Value) -> Result<Value, String> {
    let mut words = Vec::new();
    for word in op.as_array().ok_or("an op that is not an array")? {
        let bytes = bytes_of(word)?.ok_or("an op with null")?;
        words.push(String::from_utf8(bytes).map_err(|_| "an op that is not text")?);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let today = noon(text_of(case, "today"));
    let mut run = |command: Command| host.run(today, command);
    let search =
        |query: &str, max_bytes: u32| Command::from(Search { max_bytes, limit: Some(u32::MAX), ..ask::search(query) });
    Ok(match words[..] {
        ["write", target, mode, name, content] => {
            let name = Some(name).filter(|&name| name != "-" && target == "note");
            let command = Target::parse(target, name, TargetRole::Target).and_then(|target| {
                let mode: WriteMode = mode.parse()?;
                Ok(WriteFile { target, mode, content: content.into(), truncate: true })
            });
            message(command, &mut run, |reply| match reply {
                Reply::Items(ItemsReply::Write(Written::File(written))) => Some(written.message.into_string()),
                _ => None,
            })?
        }
        ["edit", target, name, old, new] => {
            let name = Some(name).filter(|&name| name != "-" && matches!(target, "note" | "daily"));
            edited_by_tool(target, name, (old != "-").then_some([old, new]), &mut run)?
        }
        ["context"] => {
            let overflow = match text_of(case, "version") {
                version if version.starts_with("v1.6") => Overflow::Documented,
                version if version.starts_with("v1.7") => Overflow::Prioritised,
                other => return Err(format!("unknown version {other:?}")),
            };
            match run(Context { overflow, ..Context::default() }.into()) {
                Ok(Reply::Prompt(PromptReply::Context(reply))) => json!(reply.block),
                other => return Err(format!("context gave {other:?}")),
            }
        }
        ["hits-json", query] => match run(search(query, DEFAULT_READ_BYTES)) {
            Ok(Reply::Journal(JournalReply::Search(results))) => hits(&results),
            other => return Err(format!("search gave {other:?}")),
        },
        ["search", query] => rendered(run(search(query, DEFAULT_READ_BYTES)))?,
        ["search", query, max] => rendered(run(search(query, max.parse().map_err(|_| "a cap that is no number")?)))?,
        ["list"] => match run(ask::list_by_path().into()) {
            Ok(Reply::Items(ItemsReply::ListItems(list))) => {
                json!(list.items.into_iter().map(|item| item.path).collect::<Vec<_>>().join("\n"))
            }
            other => return Err(format!("list gave {other:?}")),
        },
        ["read", file] => {
            let target = read_target(file).ok_or("a file that is not a target")?;
            match run(ask::show_part(target, 0, DEFAULT_READ_BYTES).into()) {
                Ok(Reply::Items(ItemsReply::Show(read))) if read.state != FileState::Text => json!("(empty)"),
                Ok(Reply::Items(ItemsReply::Show(read))) => json!(match read.next_offset {
                    Some(_) => read.text + TRUNCATED,
                    None => read.text,
                }),
                other => return Err(format!("read gave {other:?}")),
            }
        }
        _ => return Err(format!("an op that this runner does not know: {op}")),
    })
}

/// Edits a file, or deletes a note, by the tool. Only the tool says errors in the recorded words.
fn edited_by_tool(
    target: &str,
    name: Option<&str>,
    texts: Option<[&str; 2]>,
    run: &mut impl FnMut(Command) -> Result<Reply, HostError>,
) -> Result<Value, String> {
    let mut input = json!({ "target": target });
    let [old, new] = texts.map_or([None, None], |texts| texts.map(Some));
    for (field, value) in [("name", name), ("old_str", old), ("new_str", new)] {
        if let Some(value) = value {
            input[field] = json!(value);
        }
    }
    let options = ToolOptions { sets: vec![ToolSet::Journal], dialect: Dialect::Docs };
    match run(CallTool { tool: "memory_edit".into(), input: input.to_string(), options }.into()) {
        Ok(Reply::Tools(ToolsReply::CallTool(answer))) => {
            let message = answer.text.as_str().lines().next().unwrap_or_default();
            Ok(json!(format!("{} {message}", if answer.is_error { "ERR" } else { "OK" })))
        }
        other => Err(format!("the tool gave {other:?}")),
    }
}

/// Returns the target of a recorded path. `/dev/null` is replaced by an empty MEMORY.md, because nothing outside the
/// root can be read here.
fn read_target(file: &str) -> Option<Target> {
    let file = file.strip_prefix("$ROOT/").unwrap_or(file);
    let file = file.strip_prefix("projects/proj/").unwrap_or(file);
    Some(match file {
        "/dev/null" | "MEMORY.md" => Target::LongTerm,
        "SCRATCHPAD.md" => Target::Scratchpad,
        _ => {
            let stem = file.strip_suffix(".md")?;
            match (stem.strip_prefix("daily/"), stem.strip_prefix("notes/")) {
                (Some(date), _) => Target::Daily(Some(date.into())),
                (_, Some(name)) => Target::Note(name.into()),
                _ => return None,
            }
        }
    })
}

fn message(
    command: Result<impl Into<Command>, Error>,
    run: &mut impl FnMut(Command) -> Result<Reply, HostError>,
    pick: fn(Reply) -> Option<String>,
) -> Result<Value, String> {
    let error = |error: Error| json!(format!("ERR {error}"));
    match command.map(|command| run(command.into())) {
        Err(refusal) | Ok(Err(HostError::Command(refusal))) => Ok(error(refusal)),
        Ok(Ok(reply)) => {
            let text = pick(reply).ok_or("a reply of another kind")?;
            Ok(json!(format!("OK {text}")))
        }
        Ok(Err(other)) => Err(format!("{other:?}")),
    }
}

fn rendered(reply: Result<Reply, HostError>) -> Result<Value, String> {
    match reply {
        Ok(Reply::Journal(JournalReply::Search(results))) => Ok(json!(results.rendered)),
        other => Err(format!("search gave {other:?}")),
    }
}

fn hits(results: &SearchResults) -> Value {
    let hits: Vec<Value> = results
        .hits
        .iter()
        .map(|hit| {
            json!({
                "path": hit.path,
                "matched_terms": hit.terms,
                "total_hits": hit.total_lines,
                "filename_only": hit.filename_only,
                "date": hit.date,
                "is_memory_md": hit.long_term,
                "body": hit.body,
            })
        })
        .collect();
    let terms: Vec<Value> = results.terms.iter().map(|term| json!([term.term, term.lines])).collect();
    json!({ "terms": terms, "hits": hits })
}

/// Compares after dropping the root from both sides.
fn expect(output: &Value, expected: &Value) -> Result<(), String> {
    let (output, expected) = (plain(output, ROOT)?, plain(expected, "$ROOT/")?);
    if output == expected {
        return Ok(());
    }
    Err(format!("got {}\n  expected {}", shorten(&output.to_string()), shorten(&expected.to_string())))
}

/// The value with long texts unfolded and `root` dropped.
fn plain(value: &Value, root: &str) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => json!(text.replace(root, "")),
        Value::Array(items) => json!(items.iter().map(|item| plain(item, root)).collect::<Result<Vec<_>, _>>()?),
        Value::Object(fields) if fields.contains_key("rle") || fields.contains_key("base64") => {
            let bytes = bytes_of(value)?.unwrap_or_default();
            let text = String::from_utf8(bytes).map_err(|_| "an output that is not text")?;
            json!(text.replace(root, ""))
        }
        Value::Object(fields) => {
            let mut out = serde_json::Map::new();
            for (name, value) in fields {
                out.insert(name.clone(), plain(value, root)?);
            }
            Value::Object(out)
        }
        other => other.clone(),
    })
}

/// Returns the bytes of a recorded value; `None` for a directory.
fn bytes_of(value: &Value) -> Result<Option<Vec<u8>>, String> {
    if value.is_null() {
        return Ok(None);
    }
    if let Some(text) = value.as_str() {
        return Ok(Some(text.as_bytes().to_vec()));
    }
    if let Some(text) = value.get("base64").and_then(Value::as_str) {
        let bytes = base64::engine::general_purpose::STANDARD.decode(text);
        return bytes.map(Some).map_err(|error| error.to_string());
    }
    let pieces = value.get("rle").and_then(Value::as_array).ok_or(format!("a value of an unknown form: {value}"))?;
    let mut text = String::new();
    for piece in pieces {
        let (piece, count) = (piece[0].as_str().ok_or("no piece")?, piece[1].as_u64().ok_or("no count")?);
        text.push_str(&piece.repeat(usize::try_from(count).map_err(|_| "a huge count")?));
    }
    let digest: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    if Some(text.len() as u64) != value["len_bytes"].as_u64() || Some(digest.as_str()) != value["sha256"].as_str() {
        return Err("a run-length text that does not fit its digest".into());
    }
    Ok(Some(text.into_bytes()))
}

fn shorten(text: &str) -> String {
    if text.len() <= 600 {
        return text.to_string();
    }
    let head = &text[..text.floor_char_boundary(300)];
    let tail = &text[text.ceil_char_boundary(text.len() - 300)..];
    format!("{head} [{} bytes] {tail}", text.len())
}
