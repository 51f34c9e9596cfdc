//! What a million notes and ten thousand agents cost in requests: counted on a bucket in memory, and computed from that.
//!
//! The tables of `docs/scale.md` are made here. `SADDLEBAG_REWRITE=docs` writes them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::fmt;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, Result,
};
use saddlebag::journal::AppendDaily;
use saddlebag::notebook::{Recall, Remember};
use saddlebag_host::{EngineKind, Options, Project, Saddlebag};
use saddlebag_remote::{attach_objects, in_memory};

/// Number of objects that one request lists.
const PAGE: usize = 1_000;

/// What a process does.
type Work = fn(&mut Saddlebag);

/// Requests to a server, by kind and key.
type Requests = BTreeMap<(&'static str, String), u64>;

/// A server that counts.
#[derive(Debug)]
struct Counting {
    server: Arc<dyn ObjectStore>,
    requests: Mutex<Requests>,
}

impl Counting {
    fn count(&self, kind: &'static str, key: &Path, requests: usize) {
        *self.requests.lock().unwrap().entry((kind, key.to_string())).or_default() += requests as u64;
    }
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("counting")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Counting {
    async fn put_opts(&self, key: &Path, bytes: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.count("write", key, 1);
        self.server.put_opts(key, bytes, options).await
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        panic!("a store writes each object at once")
    }

    async fn get_opts(&self, key: &Path, options: GetOptions) -> Result<GetResult> {
        self.count("read", key, 1);
        self.server.get_opts(key, options).await
    }

    fn delete_stream(&self, keys: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.count("write", &Path::from("deleted"), 1);
        self.server.delete_stream(keys)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.count("list", prefix.unwrap_or(&Path::default()), 1);
        self.server.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let listed = self.server.list_with_delimiter(prefix).await?;
        let pages = (listed.objects.len() + listed.common_prefixes.len()).div_ceil(PAGE).max(1);
        self.count("list", prefix.unwrap_or(&Path::default()), pages);
        Ok(listed)
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        panic!("a store copies no objects on the server")
    }
}

/// Runs a command in a new process, and returns its requests.
fn requests_of(server: &Arc<dyn ObjectStore>, project: &str, command: impl FnOnce(&mut Saddlebag)) -> Requests {
    let counting = Arc::new(Counting { server: server.clone(), requests: Mutex::default() });
    let remote = attach_objects(counting.clone(), "memory").unwrap();
    let options = Options { project: Project::Slug(project.into()), ..Options::new(EngineKind::Native) };
    command(&mut Saddlebag::attach(remote, options).unwrap());
    let requests = counting.requests.lock().unwrap();
    requests.clone()
}

fn recall(memory: &mut Saddlebag) {
    memory.execute(Recall { query: "which port".into(), limit: 5, ..Recall::default() }).unwrap();
}

fn log(memory: &mut Saddlebag) {
    memory.execute(AppendDaily { heading: "Deploy".into(), body: "went well".into() }).unwrap();
}

fn remember(memory: &mut Saddlebag) {
    let note = Remember { title: "A new fact".into(), content: "Port 1.".into(), ..Remember::default() };
    memory.execute(note).unwrap();
}

/// Returns a bucket with a project of so many notes and its index, and three small projects.
fn bucket(notes: usize) -> Arc<dyn ObjectStore> {
    let server = in_memory();
    drop(attach_objects(server.clone(), "memory").unwrap());
    let project = |name: &str, notes: usize| {
        let mut files = BTreeMap::new();
        for note in 0..notes {
            files.insert(format!("memory/files/projects/{name}/facts/note-{note:07}.md"), format!("Port {note}\n"));
        }
        let put = async |(key, text): (String, String)| {
            server.put_opts(&Path::from(key), text.into(), PutOptions::default()).await.map(|_| ())
        };
        futures::executor::block_on(async {
            for file in files {
                put(file).await.unwrap();
            }
        });
        requests_of(&server, name, recall);
    };
    project("large", notes);
    for small in ["one", "two", "three"] {
        project(small, 10);
    }
    server
}

fn total(requests: &Requests, kind: &str) -> u64 {
    requests.iter().filter(|((found, _), _)| *found == kind).map(|(_, number)| number).sum()
}

/// Requests of each command in projects of several sizes.
fn counted() -> String {
    let mut table = "| Command, new process | Notes of the project | Reads | Listings | Writes |\n| --- | --- | --- | --- | --- |\n".to_string();
    let commands: [(&str, Work); 3] = [("`recall`", recall), ("`log`", log), ("`remember`", remember)];
    for notes in [100, 1_000, 10_000] {
        let server = bucket(notes);
        for (name, command) in commands {
            let sent = requests_of(&server, "large", command);
            let (reads, lists, writes) = (total(&sent, "read"), total(&sent, "list"), total(&sent, "write"));
            writeln!(table, "| {name} | {} | {reads} | {lists} | {writes} |", thousands(notes)).unwrap();
        }
    }
    table
}

/// Keys that commands in each of three projects use: reads and writes by all commands together.
fn shared_keys() -> Vec<(String, u64, u64)> {
    let server = bucket(10);
    let mut keys: BTreeMap<String, (BTreeSet<&str>, u64, u64)> = BTreeMap::new();
    for project in ["one", "two", "three"] {
        for command in [recall, log, remember] {
            for ((kind, key), number) in requests_of(&server, project, command) {
                let found = keys.entry(key).or_default();
                found.0.insert(project);
                if kind == "write" { found.2 += number } else { found.1 += number }
            }
        }
    }
    let shared = keys.into_iter().filter(|(_, (projects, ..))| projects.len() == 3);
    shared.map(|(key, (_, reads, writes))| (key, reads, writes)).collect()
}

/// Milliseconds between a request and its answer, in the simulation.
const ROUND_TRIP: u64 = 30;

/// What becomes of appends to one file that arrive at random, so many a second.
struct Contention {
    /// Requests for each append, in hundredths.
    requests: u64,
    /// Appends that end with an error, in a thousand.
    failed: u64,
}

/// Simulates an hour of appends to one log. An append reads the object and replaces it under a condition. If another was faster, it
/// begins again after a random part of a pause, which doubles from 10 ms to a second, for 20 seconds.
fn contend(per_second: u64) -> Contention {
    const LENGTH: u64 = 3_600_000;
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) as f64 / (1_u64 << 53) as f64
    };
    /// Attempt of an append: when the server gets its write; the version that it read; when the append began; its pause.
    type Attempt = Reverse<(u64, u64, u64, u64)>;
    let mut writes: BinaryHeap<Attempt> = BinaryHeap::new();
    let mut reads: BinaryHeap<Reverse<(u64, u64, u64)>> = BinaryHeap::new();
    let (mut version, mut sent, mut failed, mut all, mut arrival) = (0, 0, 0, 0_u64, 0.0);
    loop {
        let arrives = arrival as u64;
        let next_read = reads.peek().map_or(u64::MAX, |Reverse((at, ..))| *at);
        let next_write = writes.peek().map_or(u64::MAX, |Reverse((at, ..))| *at);
        if arrives < LENGTH && arrives <= next_read.min(next_write) {
            reads.push(Reverse((arrives + ROUND_TRIP / 2, arrives, 10)));
            all += 1;
            arrival -= (1.0 - random()).ln() * 1_000.0 / per_second as f64;
        } else if let Some(Reverse((at, began, pause))) = (next_read <= next_write).then(|| reads.pop()).flatten() {
            // A read, and the listing of bytes to keep at the same time.
            sent += 2;
            writes.push(Reverse((at + ROUND_TRIP, version, began, pause)));
        } else if let Some(Reverse((at, read, began, pause))) = writes.pop() {
            sent += 1;
            if read == version {
                version += 1;
                continue;
            }
            let again = at + ROUND_TRIP + (pause as f64 * random()) as u64;
            if again > began + 20_000 {
                failed += 1;
            } else {
                reads.push(Reverse((again, began, (pause * 2).min(1_000))));
            }
        } else {
            return Contention { requests: sent * 100 / all.max(1), failed: failed * 1_000 / all.max(1) };
        }
    }
}

fn contention() -> String {
    let mut table =
        "| Appends a second to one file | Requests for each | Errors in 1,000 |\n| --- | --- | --- |\n".to_string();
    for per_second in [1, 5, 10, 15, 20, 30, 40] {
        let Contention { requests, failed } = contend(per_second);
        writeln!(table, "| {per_second} | {}.{} | {failed} |", requests / 100, requests / 10 % 10).unwrap();
    }
    table
}

/// Agents, of which each asks 60 questions and makes 12 changes an hour.
const AGENTS: u64 = 10_000;
const QUESTIONS: u64 = 60;
const CHANGES: u64 = 12;

/// A million notes and ten thousand agents, in projects of several sizes.
fn agents() -> String {
    let mut table =
        "| Notes of a project | Projects | Requests of a question | Requests of a change | Requests a second, all agents |\n| --- | --- | --- | --- | --- |\n"
            .to_string();
    let sum = |requests: &Requests| requests.values().sum::<u64>();
    for notes in [100, 1_000, 10_000, 1_000_000] {
        let pages = |notes: usize| notes.div_ceil(PAGE) as u64;
        // A folder of more notes has more pages of its listing, and nothing else differs.
        let known = notes.min(10_000);
        let server = bucket(known);
        let more = pages(notes) - pages(known);
        let (question, change) =
            (sum(&requests_of(&server, "large", recall)) + more, sum(&requests_of(&server, "large", log)));
        let second = AGENTS * (QUESTIONS * question + CHANGES * change) / 3_600;
        let (size, projects, second) = (thousands(notes), thousands(1_000_000 / notes), thousands(second as usize));
        let question = thousands(question as usize);
        writeln!(table, "| {size} | {projects} | {question} | {change} | {second} |").unwrap();
    }
    table
}

fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}

#[test]
fn the_tables_of_the_page_are_computed_from_counted_requests() {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/scale.md");
    let old = std::fs::read_to_string(&page).unwrap();
    let mut hot = "| Key | Reads and listings | Writes |\n| --- | --- | --- |\n".to_string();
    for (key, reads, writes) in shared_keys() {
        writeln!(hot, "| `{}` | {reads} | {writes} |", key.trim_start_matches("memory/")).unwrap();
    }
    let mut new = old.clone();
    for (name, table) in [("requests", counted()), ("keys", hot), ("agents", agents()), ("contention", contention())] {
        let (begin, end) = (format!("<!-- {name} -->\n\n"), format!("\n<!-- end of {name} -->"));
        let from = new.find(&begin).expect(name) + begin.len();
        let to = from + new[from..].find(&end).expect(name);
        new.replace_range(from..to, &table);
    }
    if std::env::var("SADDLEBAG_REWRITE").is_ok_and(|kinds| kinds.split(',').any(|kind| ["docs", "1"].contains(&kind)))
    {
        std::fs::write(&page, new).unwrap();
    } else {
        assert_eq!(old, new, "SADDLEBAG_REWRITE=docs writes the tables");
    }
}
