//! The requests that commands send to a bucket, counted on one in memory.

#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex};

use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, Result,
};
use saddlebag::journal::AppendDaily;
use saddlebag::notebook::{Recall, WriteNote};
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
    let note = WriteNote { title: "A new fact".into(), content: "Port 1.".into(), ..WriteNote::default() };
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

/// Reads, listings and writes.
fn numbers(requests: &Requests) -> [u64; 3] {
    ["read", "list", "write"].map(|kind| total(requests, kind))
}

#[test]
fn a_new_process_sends_few_requests_however_many_notes_there_are() {
    for (notes, most) in [(1_000, [30, 10, 1]), (10_000, [40, 20, 1])] {
        let server = bucket(notes);
        for (name, command) in [("recall", recall as Work), ("log", log), ("remember", remember)] {
            let sent = numbers(&requests_of(&server, "large", command));
            assert!(
                sent.iter().zip(most).all(|(sent, most)| *sent <= most),
                "`{name}` among {notes} notes sent {sent:?} reads, listings and writes, at most {most:?} are expected"
            );
        }
    }
}

#[test]
fn projects_of_one_bucket_write_no_key_together() {
    let server = bucket(10);
    let mut writers: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for project in ["one", "two", "three"] {
        for command in [recall as Work, log, remember] {
            let written = requests_of(&server, project, command).into_keys().filter(|(kind, _)| *kind == "write");
            written.for_each(|(_, key)| _ = writers.entry(key).or_default().insert(project));
        }
    }
    assert!(writers.len() >= 3, "each project writes: {writers:?}");
    let shared: Vec<_> = writers.iter().filter(|(_, projects)| projects.len() > 1).collect();
    assert!(shared.is_empty(), "a key that all write limits all: {shared:?}");
}
