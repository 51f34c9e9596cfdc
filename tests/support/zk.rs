//! Recorded answers of zk, given by the notebook's own listing, tags and links on the recorded notebook.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use saddlebag::Config;
use saddlebag::items::{GraphLink, ItemList, ListItems, ListedItem};
use saddlebag::notebook::{ConditionKind, NoteCondition, SortBy, SortKey, TagCount};
use saddlebag_host::{Simulator, parse_time};
use serde::Deserialize;
use serde_json::{Value, json};

use super::drive::Drive;
use super::{Kind, ask, noon, path};

/// Recorded answers. Another folder may hold only cases, for the same notebook.
#[derive(Deserialize)]
pub struct Recorded {
    pub cases: Vec<Case>,
    #[serde(default)]
    json_all: Vec<Value>,
    #[serde(default)]
    tags: Option<Value>,
    #[serde(default)]
    graph: Option<Graph>,
}

/// A call of `zk list`.
#[derive(Deserialize)]
pub struct Case {
    pub args: Vec<String>,
    rc: i32,
    paths: Vec<String>,
    stderr: Vec<String>,
}

#[derive(Deserialize)]
struct Graph {
    notes: Vec<Value>,
    links: Vec<Value>,
}

impl Case {
    pub fn name(&self) -> String {
        self.args.join(" ")
    }

    pub fn has_option(&self, option: &str) -> bool {
        self.args.iter().any(|arg| arg.split('=').next() == Some(option))
    }

    /// Returns the request of the call.
    fn request(&self) -> Result<ListItems, String> {
        let mut request = ListItems { zk_links: true, ..ask::list_notes() };
        for arg in &self.args {
            let (flag, value) = arg.split_once('=').unwrap_or((arg, ""));
            let filter = &mut request.filter;
            let kind = match flag {
                "--recursive" => {
                    filter.recursive = true;
                    continue;
                }
                "--missing-backlink" => {
                    filter.missing_backlink = true;
                    continue;
                }
                // The last is the most important.
                "--sort" => {
                    request.sort.insert(0, sort_key(value)?);
                    continue;
                }
                "--tag" => ConditionKind::Tag,
                "--exclude" => ConditionKind::Exclude,
                "--linked-by" => ConditionKind::LinkedBy,
                "--link-to" => ConditionKind::LinkTo,
                "--mention" => ConditionKind::Mention,
                "--mentioned-by" => ConditionKind::MentionedBy,
                "--created" => ConditionKind::Created,
                "--created-before" => ConditionKind::CreatedBefore,
                "--created-after" => ConditionKind::CreatedAfter,
                folder if !folder.starts_with('-') => {
                    filter.conditions.push(NoteCondition { kind: ConditionKind::Path, value: arg.clone() });
                    continue;
                }
                unknown => return Err(format!("no filter of notes has {unknown}")),
            };
            filter.conditions.push(NoteCondition { kind, value: value.into() });
        }
        Ok(request)
    }
}

fn sort_key(text: &str) -> Result<SortKey, String> {
    let name = text.trim_end_matches(['+', '-']);
    let by: SortBy = name.parse().map_err(|_| format!("no listing is sorted by {name}"))?;
    let is_ascending = !matches!(by, SortBy::Created | SortBy::Modified);
    Ok(SortKey { by, ascending: if text == name { is_ascending } else { text.ends_with('+') } })
}

/// The recorded notebook in an engine.
pub struct Notebook(Drive<Simulator>);

impl Notebook {
    /// Opens the notebook with the times that the notes had when they were recorded.
    pub fn recorded(kind: Kind) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/zk");
        let text = fs::read_to_string(folder.join("expected.json")).unwrap();
        let recorded: Recorded = serde_json::from_str(&text).unwrap();
        let changed: BTreeMap<&str, u64> =
            recorded.json_all.iter().map(|note| (text_of(note, "path"), moment(note, "modified"))).collect();
        let mut files = Vec::new();
        files_below(&folder.join("notebook"), "", &mut files);
        // The clock of the simulator only goes on. What is not a note has no recorded time.
        files.sort_by_key(|(name, _)| changed.get(name.as_str()).copied().unwrap_or_default());
        let mut simulator = Simulator::new(1);
        for (name, bytes) in files {
            let time = changed.get(name.as_str()).copied().unwrap_or_default();
            simulator.advance(Duration::from_nanos(time.saturating_sub(simulator.now())));
            simulator.insert(&path(&name), bytes);
        }
        let mut drive = Drive::new(kind, Config { epoch: 1, ..Config::default() }, simulator);
        drive.now = noon("2026-01-07");
        Self(drive)
    }

    /// Makes the recorded calls that are followed, and returns the differences of their outcomes.
    pub fn failures(&mut self, recorded: &Recorded, is_left_out: impl Fn(&Case) -> bool) -> Vec<String> {
        let followed = recorded.cases.iter().filter(|case| !is_left_out(case));
        followed.filter_map(|case| Some(format!("zk list {}: {}", case.name(), self.check(case).err()?))).collect()
    }

    /// Makes a recorded call, and returns the difference of its outcome.
    pub fn check(&mut self, case: &Case) -> Result<(), String> {
        match (self.0.call(case.request()?), case.rc) {
            (Ok(reply), 0) => {
                let paths: Vec<&str> = reply.items.iter().map(|note| note.path.as_str()).collect();
                same(&json!(paths), &json!(case.paths))
            }
            (Err(error), 1) => same(&json!([format!("zk: error: {}", error.message)]), &json!(case.stderr)),
            (outcome, _) => Err(format!("gave {:?}", outcome.map(|reply| reply.items.len()))),
        }
    }

    /// Returns the differences of the notes, the tags and the links, each with what it is about.
    pub fn differences(&mut self, recorded: &Recorded) -> Vec<String> {
        let tags = self.0.call(ask::tags()).expect("the tags are counted").tags;
        let listed = |sort| ListItems { sort, zk_links: true, with_text: true, with_links: true, ..ask::list_notes() };
        let by_path = SortKey { by: SortBy::Path, ascending: true };
        let all = self.0.call(listed(vec![by_path])).expect("the notes are listed");
        let graph = self.0.call(listed(Vec::new())).expect("the notes are listed");
        let mut pairs = Vec::new();
        if !recorded.json_all.is_empty() {
            pairs.push(("json_all", notes(&all, &tags), recorded_notes(&recorded.json_all)));
        }
        if let Some(recorded) = &recorded.tags {
            pairs.push(("tags", tags.iter().map(tag).collect(), recorded.clone()));
        }
        if let Some(recorded) = &recorded.graph {
            pairs.push(("notes of graph", notes(&graph, &tags), recorded_notes(&recorded.notes)));
            let numbers = numbers(&graph.items);
            let links = graph.links.iter().map(|link| graph_link(link, &numbers)).collect();
            pairs.push(("links of graph", links, json!(recorded.links)));
        }
        let differences = pairs.into_iter().map(|(what, ours, recorded)| (what, same(&ours, &recorded)));
        differences.filter_map(|(what, same)| Some(format!("{what}: {}", same.err()?))).collect()
    }
}

/// What a listing knows of the fields of a note. The others are the names of the file in other forms, its digest, and the
/// time of indexing, which means the time of creation of a note without a date.
const FIELDS: [&str; 10] =
    ["path", "title", "link", "lead", "body", "snippets", "rawContent", "wordCount", "tags", "metadata"];

fn recorded_notes(recorded: &[Value]) -> Value {
    let known = |note: &Value| {
        let mut known: serde_json::Map<String, Value> =
            FIELDS.iter().map(|field| ((*field).to_string(), note[*field].clone())).collect();
        known.insert("modified".into(), moment(note, "modified").into());
        let is_dated = note["metadata"].get("date").is_some();
        known.insert("created".into(), if is_dated { moment(note, "created").into() } else { Value::Null });
        Value::Object(known)
    };
    recorded.iter().map(known).collect()
}

/// Returns the notes of a reply as zk shows them, with the tags of each in the order of their numbers.
fn notes(reply: &ItemList, tags: &[TagCount]) -> Value {
    let number = |name: &String| tags.iter().find(|tag| tag.name == *name).map_or(u64::MAX, |tag| tag.number);
    let shown = |note: &ListedItem| {
        let mut numbered = note.tags.clone();
        numbered.sort_by_key(number);
        let metadata: Value = serde_json::from_str(&note.metadata).expect("an object");
        let is_dated = metadata.get("date").is_some();
        json!({
            "path": note.path,
            "title": note.name,
            "link": note.link,
            "lead": note.lead,
            "body": note.body,
            "snippets": note.snippets,
            "rawContent": note.text,
            "wordCount": note.word_count,
            "tags": numbered,
            "metadata": metadata,
            "modified": note.modified,
            "created": if is_dated { note.created.into() } else { Value::Null },
        })
    };
    reply.items.iter().map(shown).collect()
}

fn tag(tag: &TagCount) -> Value {
    json!({ "id": tag.number, "kind": "tag", "name": tag.name, "noteCount": tag.notes })
}

/// Returns the numbers of notes: from 1 by path, where a folder comes before other paths with the same beginning.
fn numbers(notes: &[ListedItem]) -> BTreeMap<&str, u64> {
    let mut paths: Vec<&str> = notes.iter().map(|note| note.path.as_str()).collect();
    paths.sort_by_key(|path| path.replace('/', "\u{1}"));
    paths.into_iter().zip(1..).collect()
}

fn graph_link(link: &GraphLink, numbers: &BTreeMap<&str, u64>) -> Value {
    json!({
        "title": link.title,
        "href": link.href,
        "type": link.kind,
        "isExternal": false,
        "rels": link.relations,
        "snippet": link.snippet,
        "snippetStart": link.snippet_start,
        "snippetEnd": link.snippet_end,
        "sourceId": numbers[link.source.as_str()],
        "sourcePath": link.source,
        "targetId": numbers[link.target.as_str()],
        "targetPath": link.target,
    })
}

fn same(ours: &Value, recorded: &Value) -> Result<(), String> {
    if let (Value::Array(ours), Value::Array(recorded)) = (ours, recorded)
        && ours.len() == recorded.len()
    {
        let differing = ours.iter().zip(recorded).find(|(ours, recorded)| ours != recorded);
        return differing.map_or(Ok(()), |(ours, recorded)| Err(format!("gave {ours}, not {recorded}")));
    }
    if ours == recorded { Ok(()) } else { Err(format!("gave {ours}, not {recorded}")) }
}

fn text_of<'a>(note: &'a Value, field: &str) -> &'a str {
    note[field].as_str().expect("text")
}

/// Returns a recorded time in nanoseconds since 1970-01-01T00:00:00Z.
fn moment(note: &Value, field: &str) -> u64 {
    let moment = parse_time(text_of(note, field)).expect("a time");
    u64::try_from(moment.seconds).expect("after 1970") * 1_000_000_000 + u64::from(moment.nanoseconds)
}

/// Adds the files below a folder with their bytes, by their paths from the root.
fn files_below(folder: &Path, above: &str, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{above}{}", entry.file_name().to_str().expect("text"));
        if entry.file_type().unwrap().is_dir() {
            files_below(&entry.path(), &format!("{name}/"), files);
        } else {
            files.push((name, fs::read(entry.path()).unwrap()));
        }
    }
}
