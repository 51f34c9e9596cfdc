//! Many clients of one store on a real server, some of which are killed.
//!
//! `SADDLEBAG_TEST_S3` and `SADDLEBAG_TEST_POSTGRES` are addresses of stores; a test whose server is not named says that it is
//! left out. `cargo xtask test --remote` starts the servers. `SADDLEBAG_TEST_ROUNDS` and `SADDLEBAG_TEST_KILLS` make the tests longer.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use object_store::RetryConfig;
use object_store::aws::AmazonS3Builder;
use saddlebag::protocol::{AppendOutcome, FsError, Precondition, WriteOutcome};
use saddlebag_conformance::{StoreKind, check_executor};
use saddlebag_host::Executor;
use saddlebag_remote::{Address, AttachError, AttachOptions, GRACE, Maintained, attach, attach_objects, maintain};
use support::{Ask, Server, address};

const CLIENTS: u32 = 8;
const EDITS: u32 = 50;
const APPENDS: u32 = 200;

type Store = Box<dyn Executor + Send>;

/// Opens one store again and again.
type Open = Arc<dyn Fn() -> Store + Send + Sync>;

fn number(variable: &str, otherwise: u32) -> u32 {
    std::env::var(variable).ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
}

fn open_at(address: &str) -> Store {
    open_with(address, None)
}

fn open_with(address: &str, cache: Option<PathBuf>) -> Store {
    Box::new(attach(&address.parse().unwrap(), &AttachOptions { create: true, cache }).unwrap().store)
}

fn maintained(address: &str, grace: Duration) -> Maintained {
    maintain(&address.parse().unwrap(), grace, false).unwrap()
}

fn opening(address: &str) -> Open {
    let address = address.to_string();
    Arc::new(move || open_at(&address))
}

/// Lets all clients do something at the same time.
fn at_once(open: &Open, work: impl Fn(u32, &mut Store) + Send + Sync) {
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (open, work) = (open.clone(), &work);
            scope.spawn(move || work(client, &mut open()));
        }
    });
}

/// Eight clients edit one note, each fifty times, and append to one log, each two hundred times.
fn nothing_is_lost_or_doubled(open: &Open) {
    for round in 0..number("SADDLEBAG_TEST_ROUNDS", 1) {
        let (note, log) = (format!("{round}/note.md"), format!("{round}/log.md"));
        open().write(&note, "", Precondition::Absent).unwrap();
        at_once(open, |client, store| {
            for edit in 0..EDITS {
                let line = format!("{client}-{edit}\n");
                edit_note(store, &note, &line);
            }
        });
        assert_lines(&open().text(&note).unwrap(), EDITS);
        at_once(open, |client, store| {
            for append in 0..APPENDS {
                let line = format!("{client}-{append}\n");
                loop {
                    match store.append(&log, &line).unwrap() {
                        AppendOutcome::Written(_) => break,
                        // What the component does: it reads, and appends again if the line is not there.
                        AppendOutcome::Unknown(_) if store.text(&log).unwrap_or_default().contains(&line) => break,
                        AppendOutcome::Unknown(_) => {}
                        AppendOutcome::Stale(_) => panic!("without a condition"),
                    }
                }
            }
        });
        assert_lines(&open().text(&log).unwrap(), APPENDS);
    }
}

fn edit_note(store: &mut Store, note: &str, line: &str) {
    loop {
        let (text, version) = store.read(note).unwrap();
        match store.write(note, &(text + line), Precondition::Matches(version)).unwrap() {
            WriteOutcome::Written(_) => return,
            WriteOutcome::Unknown if store.text(note).unwrap().contains(line) => return,
            WriteOutcome::Unknown | WriteOutcome::Stale(_) => {}
        }
    }
}

/// Checks that each client's lines are there once and in order.
fn assert_lines(text: &str, each: u32) {
    let mut next: BTreeMap<&str, u32> = BTreeMap::new();
    for line in text.lines() {
        let (client, number) = line.split_once('-').unwrap_or_else(|| panic!("a torn line: {line:?}"));
        let next = next.entry(client).or_default();
        assert_eq!(number.parse(), Ok(*next), "of client {client}");
        *next += 1;
    }
    assert_eq!(next.len(), CLIENTS as usize);
    assert!(next.values().all(|lines| *lines == each), "{next:?}");
}

#[test]
fn a_bucket_conforms() {
    conforms("SADDLEBAG_TEST_S3");
}

#[test]
fn a_database_conforms() {
    conforms("SADDLEBAG_TEST_POSTGRES");
}

/// Checks the store of a server with the conformance kit.
fn conforms(variable: &str) {
    let Some(address) = address(variable, "kit") else { return };
    let copies = tempfile::tempdir().unwrap();
    // A database has no use for it.
    let cache = copies.path().to_path_buf();
    let open = move |store: &str| open_with(&format!("{address}-{store}"), Some(cache.clone()));
    check_executor(StoreKind::Flat, open).unwrap();
}

#[test]
fn many_clients_of_a_bucket_lose_and_double_nothing() {
    let Some(address) = address("SADDLEBAG_TEST_S3", "clients") else { return };
    nothing_is_lost_or_doubled(&opening(&address));
}

#[test]
fn what_others_wrote_is_read_through_a_cache() {
    let Some(address) = address("SADDLEBAG_TEST_S3", "cache") else { return };
    let folder = tempfile::tempdir().unwrap();
    let cached = || open_with(&address, Some(folder.path().to_path_buf()));
    let (mut one, mut other) = (cached(), open_at(&address));
    let large = |letter: &str| letter.repeat(100_000);
    one.write("a.md", &large("a"), Precondition::Absent).unwrap();
    assert_eq!(cached().text("a.md"), Some(large("a")));
    // A copy with other bytes than it was made of is as none.
    let copies = || fs::read_dir(fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path()).unwrap();
    let copy = copies().map(|copy| copy.unwrap().path());
    let copy = copy.into_iter().find(|copy| fs::read_to_string(copy).unwrap().contains("aaa")).unwrap();
    let spoiled = fs::read_to_string(&copy).unwrap().replacen("aaaa", "bbbb", 1);
    fs::write(&copy, spoiled).unwrap();
    assert_eq!(cached().text("a.md"), Some(large("a")));
    for letter in ["c", "d"] {
        other.write("a.md", &large(letter), Precondition::Any).unwrap();
        assert_eq!([one.text("a.md"), cached().text("a.md")], [Some(large(letter)), Some(large(letter))]);
    }
    other.write("a.md", "small", Precondition::Any).unwrap();
    assert_eq!(one.text("a.md").as_deref(), Some("small"));
    one.write("a.md", &large("e"), Precondition::Any).unwrap();
    fs::remove_dir_all(folder.path()).unwrap();
    assert_eq!(one.text("a.md"), Some(large("e")), "the copies can be deleted at any time");
}

#[test]
fn tombstones_are_removed_beside_writers_and_nothing_else() {
    let Some(address) = address("SADDLEBAG_TEST_S3", "tombstones") else { return };
    let open = opening(&address);
    open().write("kept.md", "kept", Precondition::Absent).unwrap();
    let is_over = AtomicBool::new(false);
    let removed = thread::scope(|scope| {
        let maintainer = scope.spawn(|| {
            let mut removed = 0;
            while !is_over.load(Ordering::Relaxed) {
                let done = maintained(&address, Duration::ZERO);
                assert!(done.can_remove, "the server deletes under a condition");
                removed += done.removed;
            }
            removed
        });
        at_once(&open, |client, store| {
            for round in 0..20 {
                for file in 0..5 {
                    let (path, text) = (format!("shared/{file}.md"), format!("{client} {round}"));
                    let own = format!("{client}/{file}.md");
                    for path in [&path, &own] {
                        store.write(path, &text, Precondition::Any).unwrap();
                        store.remove(path).unwrap();
                    }
                    store.write(&own, &text, Precondition::Any).unwrap();
                    assert_eq!(store.text(&own), Some(text), "{own}");
                }
            }
        });
        is_over.store(true, Ordering::Relaxed);
        maintainer.join().unwrap()
    });
    assert!(removed > 0, "{removed}");
    let mut store = open();
    assert_eq!(store.text("kept.md").as_deref(), Some("kept"));
    for client in 0..CLIENTS {
        for file in 0..5 {
            assert_eq!(store.text(&format!("{client}/{file}.md")), Some(format!("{client} 19")));
        }
    }
    let done = maintained(&address, Duration::ZERO);
    assert_eq!((done.old, done.left), (0, 0), "{done:?}");
    store.remove("kept.md").unwrap();
    let young = maintained(&address, GRACE);
    assert_eq!((young.removed, young.left), (0, 1), "{young:?}");
}

#[test]
fn a_dry_run_of_maintain_writes_nothing() {
    let Some(address) = address("SADDLEBAG_TEST_S3", "dry") else { return };
    let mut store = open_at(&address);
    store.write("a.md", "a", Precondition::Absent).unwrap();
    store.remove("a.md").unwrap();
    let server = std::env::var("AWS_ENDPOINT_URL").unwrap();
    let (proxy, seen) = recording_proxy(server.strip_prefix("http://").unwrap());
    let bucket = address.strip_prefix("s3://").unwrap();
    let counted = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_program_counts_tombstones", "--ignored", "--nocapture"])
        .env("AWS_ENDPOINT_URL", format!("http://{proxy}"))
        .env("SADDLEBAG_TEST_CLIENT", &address)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&counted.stdout).into_owned();
    assert!(said.contains("left 1"), "{said} {}", String::from_utf8_lossy(&counted.stderr));
    let seen = seen.lock().unwrap();
    assert!(seen.iter().any(|line| line.contains(bucket.split_once('/').unwrap().0)), "{seen:?}");
    assert!(seen.iter().all(|line| line.starts_with("GET ")), "{seen:?}");
}

/// The program that [`a_dry_run_of_maintain_writes_nothing`] starts.
#[test]
#[ignore = "another test starts it"]
fn a_program_counts_tombstones() {
    let Ok(address) = std::env::var("SADDLEBAG_TEST_CLIENT") else { return };
    let counted = maintain(&address.parse().unwrap(), GRACE, true).unwrap();
    println!("left {}", counted.left);
}

#[test]
fn names_of_old_operations_leave_a_database() {
    let Some(address) = address("SADDLEBAG_TEST_POSTGRES", "maintain") else { return };
    open_at(&address).write("a.md", "a", Precondition::Absent).unwrap();
    let done = maintained(&address, Duration::ZERO);
    assert!(done.can_remove && done.left > 0, "a day is the least: {done:?}");
}

#[test]
fn many_clients_of_a_database_lose_and_double_nothing() {
    let Some(address) = address("SADDLEBAG_TEST_POSTGRES", "clients") else { return };
    nothing_is_lost_or_doubled(&opening(&address));
}

#[test]
fn killed_backends_of_a_database_lose_and_double_nothing() {
    let Some(address) = address("SADDLEBAG_TEST_POSTGRES", "backends") else { return };
    let is_over = Arc::new(AtomicBool::new(false));
    let killer = thread::spawn({
        let (is_over, server) = (is_over.clone(), std::env::var("SADDLEBAG_TEST_POSTGRES").unwrap());
        move || kill_backends(&server, &is_over)
    });
    nothing_is_lost_or_doubled(&opening(&address));
    is_over.store(true, Ordering::SeqCst);
    let killed = killer.join().unwrap();
    assert!(killed > 0, "no backend was killed");
    eprintln!("{killed} backends were killed");
}

/// Kills a connection of a client every 50 ms. Returns how many.
fn kill_backends(server: &str, is_over: &AtomicBool) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(server, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        let mut killed = 0;
        while !is_over.load(Ordering::SeqCst) {
            let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = 'saddlebag' ORDER BY random() LIMIT 1";
            killed += client.query(kill, &[]).await.unwrap().len() as u64;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        killed
    })
}

/// Opens the store of a bucket through an endpoint.
fn open_through(endpoint: &str, address: &str) -> Result<Store, AttachError> {
    let Address::Bucket { bucket, prefix } = address.parse().unwrap() else { panic!("a bucket") };
    let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    let builder = AmazonS3Builder::from_env().with_endpoint(endpoint).with_allow_http(true);
    let bucket = builder.with_bucket_name(bucket).with_retry(retry).build().unwrap();
    attach_objects(Arc::new(bucket), &prefix).map(|remote| Box::new(remote.store) as Store)
}

#[test]
fn a_database_that_is_killed_and_started_again_loses_and_doubles_nothing() {
    let Some(address) = address("SADDLEBAG_TEST_POSTGRES", "crashes") else { return };
    if std::env::var_os("SADDLEBAG_TEST_MAY_KILL_POSTGRES").is_none() {
        eprintln!("left out: SADDLEBAG_TEST_MAY_KILL_POSTGRES is not set; `cargo xtask test --remote` sets it");
        return;
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let killer = thread::spawn({
        let (is_over, server) = (is_over.clone(), Server::running());
        move || {
            let mut crashes = 0;
            while !is_over.load(Ordering::SeqCst) {
                server.kill_and_start();
                crashes += 1;
                thread::sleep(Duration::from_millis(1500));
            }
            crashes
        }
    });
    let options = AttachOptions { create: true, cache: None };
    let open: Open = Arc::new(move || {
        loop {
            match attach(&address.parse().unwrap(), &options) {
                Ok(remote) => return Box::new(remote.store),
                Err(AttachError::Unreachable(_)) => thread::sleep(Duration::from_millis(50)),
                Err(error) => panic!("{error}"),
            }
        }
    });
    nothing_is_lost_or_doubled(&open);
    is_over.store(true, Ordering::SeqCst);
    let crashes = killer.join().unwrap();
    assert!(crashes > 1, "the server was killed {crashes} times");
    eprintln!("the server was killed {crashes} times");
}

#[test]
fn answers_of_500_after_the_change_lose_and_double_nothing() {
    let Some(address) = address("SADDLEBAG_TEST_S3", "proxy") else { return };
    let server = std::env::var("AWS_ENDPOINT_URL").unwrap();
    let (proxy, broken) = proxy(server.strip_prefix("http://").unwrap());
    let endpoint = format!("http://{proxy}");
    let open: Open = Arc::new(move || {
        // The first requests may fail as well.
        loop {
            match open_through(&endpoint, &address) {
                Ok(store) => return store,
                Err(error) => assert!(error.to_string().contains("answer"), "{error}"),
            }
        }
    });
    nothing_is_lost_or_doubled(&open);
    eprintln!("{} answers were replaced by 500", broken.load(Ordering::SeqCst));
    assert!(broken.load(Ordering::SeqCst) > 0);
}

/// Starts a proxy that replaces the answer to each seventh change by 500. Returns its address, and the number of these answers.
fn proxy(server: &str) -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (changes, broken) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    thread::spawn({
        let (server, broken) = (server.to_string(), broken.clone());
        move || {
            for client in listener.incoming() {
                let (server, changes, broken) = (server.clone(), changes.clone(), broken.clone());
                thread::spawn(move || drop(relay(client.unwrap(), &server, &changes, &broken)));
            }
        }
    });
    (address, broken)
}

/// Starts a proxy that relays everything. Returns its address, and the first line of each request.
fn recording_proxy(server: &str) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (server, lines) = (server.to_string(), seen.clone());
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut upstream = TcpStream::connect(&server).unwrap();
            let (mut answers, mut back) = (upstream.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut answers, &mut back));
            let lines = lines.clone();
            thread::spawn(move || {
                let mut bytes = [0; 65_536];
                while let Ok(length @ 1..) = client.read(&mut bytes) {
                    let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
                    lines
                        .lock()
                        .unwrap()
                        .extend(text.lines().filter(|line| line.ends_with("HTTP/1.1")).map(String::from));
                    if upstream.write_all(&bytes[..length]).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, seen)
}

/// Relays one request, after which the connection is closed.
fn relay(client: TcpStream, server: &str, changes: &AtomicU64, broken: &AtomicU64) -> std::io::Result<()> {
    let mut request = BufReader::new(client.try_clone()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if request.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            head.push_str("connection: close\r\n\r\n");
            break;
        }
        if !lower.starts_with("connection:") {
            head.push_str(&line);
        }
    }
    let mut body = vec![0; length];
    request.read_exact(&mut body)?;
    let mut upstream = TcpStream::connect(server)?;
    upstream.write_all(head.as_bytes())?;
    upstream.write_all(&body)?;
    let mut answer = Vec::new();
    upstream.read_to_end(&mut answer)?;
    let mut client = client;
    if head.starts_with("PUT") && changes.fetch_add(1, Ordering::SeqCst) % 7 == 6 {
        broken.fetch_add(1, Ordering::SeqCst);
        client.write_all(b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")?;
    } else {
        client.write_all(&answer)?;
    }
    client.shutdown(Shutdown::Both)
}

#[test]
fn killed_clients_of_a_bucket_leave_every_file_whole() {
    let Some(address) = address("SADDLEBAG_TEST_S3", "killed") else { return };
    kill_clients(&address);
}

#[test]
fn killed_clients_of_a_database_leave_every_file_whole() {
    let Some(address) = address("SADDLEBAG_TEST_POSTGRES", "killed") else { return };
    kill_clients(&address);
}

/// Starts clients, kills each at a random moment, and checks what they left.
fn kill_clients(address: &str) {
    drop(open_at(address));
    let mut acknowledged = Vec::new();
    let kills = number("SADDLEBAG_TEST_KILLS", 30);
    for client in 0..kills {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_client_works_until_it_is_killed", "--ignored", "--nocapture"])
            .env("SADDLEBAG_TEST_CLIENT", format!("{client} {address}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = child.stdout.take().unwrap();
        let lines = thread::spawn(move || BufReader::new(output).lines().map_while(Result::ok).collect::<Vec<_>>());
        let moment = saddlebag_host::new_operation().bytes().fold(7, |sum: u64, byte| sum * 31 + u64::from(byte)) % 200;
        thread::sleep(Duration::from_millis(30 + moment));
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged
            .extend(lines.join().unwrap().iter().filter_map(|line| Some(line.split_once("done ")?.1.to_string())));
    }
    let mut store = open_at(address);
    let log = store.text("log.md").unwrap_or_default();
    for line in &acknowledged {
        assert_eq!(log.lines().filter(|found| found == line).count(), 1, "{line}");
    }
    let mut lines: Vec<&str> = log.lines().collect();
    let all = lines.len();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), all, "a line is doubled");
    assert!(lines.iter().all(|line| line.ends_with('.')), "a line is torn");
    for name in store.list("notes") {
        let text = store.text(&name).unwrap_or_default();
        assert!(text.is_empty() || text.ends_with("whole\n"), "{name}: {text:?}");
        store.append(&name, "works\n").unwrap();
    }
    eprintln!("{kills} clients were killed; they had acknowledged {} changes", acknowledged.len());
    assert!(!acknowledged.is_empty());
}

/// The client that [`kill_clients`] starts.
#[test]
#[ignore = "another test starts it"]
fn a_client_works_until_it_is_killed() {
    let Ok(given) = std::env::var("SADDLEBAG_TEST_CLIENT") else { return };
    let (client, address) = given.split_once(' ').unwrap();
    let mut store = open_at(address);
    for step in 0..10_000 {
        let line = format!("{client}-{step}.");
        if matches!(store.append("log.md", &format!("{line}\n")), Ok(AppendOutcome::Written(_))) {
            println!("done {line}");
        }
        let (note, moved) = (format!("notes/{}.md", step % 3), format!("notes/moved-{}.md", step % 3));
        let _ = store.replace(&note, &format!("{line} whole\n"), &format!("kept/{client}.md"));
        let _ = store.rename(&note, &moved);
        let _ = store.remove(&moved);
    }
}
