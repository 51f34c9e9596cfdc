//! A store in a bucket whose server fails, or whose client dies, at every request.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use saddlebag::protocol::{
    AppendOutcome, FsError, FsOp, FsOutcome, Precondition, ReadOutcome, RemoveOutcome, RenameOutcome, WriteOutcome,
};
use saddlebag_conformance::{StoreKind, check_executor};
use saddlebag_host::Executor;
use saddlebag_remote::{AttachError, attach_objects, in_memory};
use support::{Ask, path};

/// What happens to one request, and to those after it.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// The server answers with an error, and has done nothing.
    Before,
    /// The server answers with an error after it has done what it was asked for.
    After,
    /// The client dies before the request.
    DiesBefore,
    /// The client dies before it has the answer.
    DiesAfter,
}

const FAULTS: [Fault; 4] = [Fault::Before, Fault::After, Fault::DiesBefore, Fault::DiesAfter];

/// A server that fails at one request.
#[derive(Debug)]
struct Faulty {
    server: Arc<dyn ObjectStore>,
    at: u64,
    fault: Fault,
    requests: AtomicU64,
}

impl Faulty {
    /// Returns the fault of the next request, with true if it happens after the request.
    fn next(&self) -> Option<(bool, Error)> {
        let request = self.requests.fetch_add(1, Ordering::SeqCst);
        let server_error = || Error::Generic { store: "test", source: "500".into() };
        // A client that is dead gets no answer; what it would do then is not looked at.
        let dead = || Error::PermissionDenied { path: String::new(), source: "dead".into() };
        match self.fault {
            Fault::Before if request == self.at => Some((false, server_error())),
            Fault::After if request == self.at => Some((true, server_error())),
            Fault::DiesAfter if request == self.at => Some((true, dead())),
            Fault::DiesBefore if request == self.at => Some((false, dead())),
            Fault::DiesBefore | Fault::DiesAfter if request > self.at => Some((false, dead())),
            _ => None,
        }
    }
}

macro_rules! faulty {
    ($self:ident, $request:expr) => {
        match $self.next() {
            Some((false, error)) => Err(error),
            Some((true, error)) => $request.await.and_then(|_| Err(error)),
            None => $request.await,
        }
    };
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("faulty")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(&self, key: &Path, bytes: PutPayload, options: PutOptions) -> Result<PutResult> {
        faulty!(self, self.server.put_opts(key, bytes, options))
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        panic!("a store writes each object at once")
    }

    async fn get_opts(&self, key: &Path, options: GetOptions) -> Result<GetResult> {
        faulty!(self, self.server.get_opts(key, options))
    }

    fn delete_stream(&self, keys: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        match self.next() {
            Some((false, error)) => futures::stream::once(async { Err(error) }).boxed(),
            Some((true, error)) => {
                let server = self.server.clone();
                futures::stream::once(async move {
                    server.delete_stream(keys).for_each(|_| async {}).await;
                    Err(error)
                })
                .boxed()
            }
            None => self.server.delete_stream(keys),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.next() {
            Some((_, error)) => futures::stream::once(async { Err(error) }).boxed(),
            None => self.server.list(prefix),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        faulty!(self, self.server.list_with_delimiter(prefix))
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        panic!("a store copies no objects on the server")
    }
}

type Store = Arc<Mutex<dyn Executor + Send>>;

fn open(server: &Arc<dyn ObjectStore>) -> Store {
    attach_objects(server.clone(), "memory").unwrap().store
}

/// Opens the store through a server that fails at request `at` after the opening.
fn open_faulty(server: &Arc<dyn ObjectStore>, at: u64, fault: Fault) -> (Store, Arc<Faulty>) {
    let faulty = Arc::new(Faulty { server: server.clone(), at: u64::MAX, fault, requests: AtomicU64::new(0) });
    drop(attach_objects(faulty.clone(), "memory").unwrap());
    let opening = faulty.requests.load(Ordering::SeqCst);
    let at = opening + at;
    let faulty = Arc::new(Faulty { server: server.clone(), at, fault, requests: AtomicU64::new(0) });
    (attach_objects(faulty.clone(), "memory").unwrap().store, faulty)
}

/// Runs `change` on a prepared store with each fault at each request. `check` gets the store, opened again, and what the
/// change returned.
fn at_every_request<T: fmt::Debug>(
    prepare: impl Fn(&mut Store),
    change: impl Fn(&mut Store) -> std::result::Result<T, FsError>,
    check: impl Fn(&mut Store, std::result::Result<T, FsError>, &str),
) {
    for fault in FAULTS {
        for at in 0.. {
            let server = in_memory();
            prepare(&mut open(&server));
            let (mut store, faulty) = open_faulty(&server, at, fault);
            let returned = change(&mut store);
            let is_over = faulty.requests.load(Ordering::SeqCst) <= faulty.at;
            let said = format!("{fault:?} at request {at}: {returned:?}");
            assert!(!matches!(fault, Fault::Before | Fault::After) || returned.is_ok(), "{said}");
            check(&mut open(&server), returned, &said);
            if is_over {
                break;
            }
        }
    }
}

#[test]
fn a_write_happens_once_or_not_at_all_and_is_acknowledged_if_it_happened() {
    at_every_request(
        |store| drop(store.write("a.md", "old", Precondition::Absent)),
        |store| store.write("a.md", "new", Precondition::Any),
        |store, returned, said| {
            let text = store.text("a.md").unwrap();
            assert!(text == "old" || text == "new", "{said}: {text}");
            assert!(text == "new" || !matches!(returned, Ok(WriteOutcome::Written(_))), "{said}");
        },
    );
}

#[test]
fn a_conflict_with_its_own_unconfirmed_write_is_no_lost_race() {
    at_every_request(
        |_| {},
        |store| store.write("a.md", "new", Precondition::Absent),
        |store, returned, said| {
            if let Ok(outcome) = returned {
                assert!(matches!(outcome, WriteOutcome::Written(_)), "{said}");
                assert_eq!(store.text("a.md").as_deref(), Some("new"), "{said}");
            }
        },
    );
}

#[test]
fn an_append_is_neither_lost_nor_doubled() {
    at_every_request(
        |store| drop(store.write("log.md", "one", Precondition::Absent)),
        |store| store.append("log.md", "two\n"),
        |store, returned, said| {
            let text = store.text("log.md").unwrap();
            assert!(text == "one" || text == "one\ntwo\n", "{said}: {text}");
            assert!(text != "one" || !matches!(returned, Ok(AppendOutcome::Written(_))), "{said}");
        },
    );
}

#[test]
fn bytes_that_are_replaced_are_kept_whenever_the_client_dies() {
    at_every_request(
        |store| {
            store.write("a.md", "old", Precondition::Absent).unwrap();
            store.write("kept.md", "older", Precondition::Absent).unwrap();
        },
        |store| store.replace("a.md", "new", "kept.md"),
        |store, returned, said| {
            let state = (store.text("a.md").unwrap(), store.text("kept.md").unwrap());
            let is_done = state == ("new".into(), "old".into());
            assert!(is_done || state == ("old".into(), "older".into()), "{said}: {state:?}");
            assert!(is_done || !matches!(returned, Ok(WriteOutcome::Written(_))), "{said}");
        },
    );
}

#[test]
fn a_removal_is_done_or_not_begun() {
    at_every_request(
        |store| drop(store.write("notes/a.md", "old", Precondition::Absent)),
        |store| store.remove("notes/a.md"),
        |store, returned, said| {
            let text = store.text("notes/a.md");
            assert!(text.is_none() || text.as_deref() == Some("old"), "{said}");
            assert_eq!(store.list("notes").is_empty(), text.is_none(), "{said}");
            assert!(text.is_none() || !matches!(returned, Ok(RemoveOutcome::Done)), "{said}");
            store.write("notes/a.md", "again", Precondition::Any).unwrap();
            assert_eq!(store.text("notes/a.md").as_deref(), Some("again"), "{said}");
        },
    );
}

#[test]
fn a_moved_file_is_under_one_path_once_it_is_read() {
    at_every_request(
        |store| drop(store.write("a.md", "text", Precondition::Absent)),
        |store| store.rename("a.md", "b.md"),
        |store, returned, said| {
            let (new, old) = (store.text("b.md"), store.text("a.md"));
            let whole = Some("text".to_string());
            assert!((new == whole) != (old == whole), "{said}: {old:?}, {new:?}");
            assert!(new == whole || !matches!(returned, Ok(RenameOutcome::Done)), "{said}");
            assert_eq!(store.list(""), [if new.is_some() { "b.md" } else { "a.md" }], "{said}");
        },
    );
}

#[test]
fn of_a_file_that_changes_while_it_is_moved_nothing_is_lost() {
    at_every_request(
        |store| drop(store.write("a.md", "text", Precondition::Absent)),
        |store| store.rename("a.md", "b.md"),
        |store, _, said| {
            // The first to meet the half-done move changes the old file.
            store.append("a.md", "more\n").unwrap();
            let (new, old) = (store.text("b.md").unwrap_or_default(), store.text("a.md").unwrap_or_default());
            assert_eq!(format!("{new}{old}").matches("text").count(), 1, "{said}: {old:?}, {new:?}");
            assert!(old.ends_with("more\n"), "{said}");
        },
    );
}

#[test]
fn an_object_store_conforms() {
    let stores: Arc<Mutex<BTreeMap<String, Arc<dyn ObjectStore>>>> = Arc::default();
    let open = move |store: &str| {
        let objects = stores.lock().unwrap().entry(store.into()).or_insert_with(in_memory).clone();
        attach_objects(objects, "memory").unwrap().store
    };
    check_executor(StoreKind::Flat, open).unwrap();
}

#[test]
fn files_of_the_size_of_a_tombstone_are_listed_with_their_own_size() {
    let mut store = open(&in_memory());
    for size in 249..255 {
        store.write(&format!("{size}.md"), &"x".repeat(size), Precondition::Absent).unwrap();
    }
    store.write("gone.md", "x", Precondition::Absent).unwrap();
    store.remove("gone.md").unwrap();
    assert_eq!(store.list(""), ["249.md", "250.md", "251.md", "252.md", "253.md", "254.md"]);
    for size in 249..255 {
        assert_eq!(store.text(&format!("{size}.md")).unwrap().len(), size);
    }
}

#[test]
fn a_bucket_with_something_else_in_it_is_refused() {
    let server = in_memory();
    let put = |key: &str, text: &str| {
        let (key, text) = (Path::from(key), PutPayload::from(text.to_string()));
        futures::executor::block_on(server.put(&key, text)).unwrap();
    };
    put("photos/1.jpg", "x");
    let refused = |prefix| attach_objects(server.clone(), prefix).map(|_| ()).unwrap_err();
    assert!(matches!(refused("photos"), AttachError::Occupied(_)));
    drop(attach_objects(server.clone(), "memory").unwrap());
    put("memory/saddlebag.json", "{\"layout\": 99}");
    assert_eq!(refused("memory"), AttachError::Newer { found: 99, known: 1 });
    put("memory/saddlebag.json", "something");
    assert!(matches!(refused("memory"), AttachError::Occupied(_)));
}

#[test]
fn a_part_of_a_file_is_what_the_whole_file_has_there() {
    let server = in_memory();
    let mut store = attach_objects(server.clone(), "memory").unwrap().store;
    let text = "0123456789".repeat(10);
    store.write("ours.md", &text, Precondition::Absent).unwrap();
    store.write("gone.md", &text, Precondition::Absent).unwrap();
    store.remove("gone.md").unwrap();
    for (key, text) in [("memory/files/foreign.md", text.as_str()), ("memory/files/empty.md", "")] {
        let key = Path::from(key);
        futures::executor::block_on(server.put(&key, PutPayload::from(text.to_string()))).unwrap();
    }
    let mut read = |at: &str, offset, max_bytes| {
        let op = FsOp::Read { path: path(at), offset, max_bytes };
        let FsOutcome::Read(outcome) = store.perform(&op).unwrap() else { panic!("of a read") };
        outcome
    };
    for (offset, max_bytes) in
        [(0, 0), (0, 5), (95, 5), (95, 9), (100, 0), (100, 9), (101, 9), (900, 9), (99, u32::MAX)]
    {
        for at in ["ours.md", "foreign.md"] {
            let ReadOutcome::Content(found) = read(at, offset, max_bytes) else { panic!("{at} is there") };
            let ReadOutcome::Content(whole) = read(at, 0, u32::MAX) else { panic!("{at} is there") };
            let part = text.bytes().skip(usize::try_from(offset).unwrap()).take(max_bytes as usize);
            assert_eq!((found.bytes, found.size), (part.collect::<Vec<u8>>(), 100), "{at} {offset} {max_bytes}");
            assert_eq!(found.version, whole.version);
        }
        assert_eq!(read("gone.md", offset, max_bytes), ReadOutcome::Absent);
        assert_eq!(read("none.md", offset, max_bytes), ReadOutcome::Absent);
        let ReadOutcome::Content(found) = read("empty.md", offset, max_bytes) else { panic!("it is there") };
        assert_eq!((found.bytes, found.size), (Vec::new(), 0), "{offset} {max_bytes}");
    }
}

/// A server that takes conditions and ignores them.
#[derive(Debug)]
struct Careless(Arc<dyn ObjectStore>);

impl fmt::Display for Careless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("careless")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Careless {
    async fn put_opts(&self, key: &Path, bytes: PutPayload, options: PutOptions) -> Result<PutResult> {
        let options = PutOptions { mode: object_store::PutMode::Overwrite, ..options };
        self.0.put_opts(key, bytes, options).await
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        panic!("a store writes each object at once")
    }

    async fn get_opts(&self, key: &Path, options: GetOptions) -> Result<GetResult> {
        self.0.get_opts(key, options).await
    }

    fn delete_stream(&self, keys: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.0.delete_stream(keys)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.0.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        panic!("a store copies no objects on the server")
    }
}

#[test]
fn a_server_that_ignores_conditions_is_refused_and_nothing_is_left_there() {
    let server = in_memory();
    let error = attach_objects(Arc::new(Careless(server.clone())), "memory").map(|_| ()).unwrap_err();
    assert_eq!(error, AttachError::Unfit("refuse to create an object that exists"));
    let left = futures::executor::block_on(server.list(None).collect::<Vec<_>>());
    assert!(left.is_empty(), "{left:?}");
}
