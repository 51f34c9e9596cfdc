//! What only a database does: it tells of changes, has roles, and keeps names of operations.
//!
//! `SADDLEBAG_TEST_POSTGRES` is the address of a store; without it, the tests say that they are left out.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod support;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use saddlebag::protocol::{FsOp, FsOutcome, Precondition};
use saddlebag_host::{EngineKind, Executor, Options, Remote, Saddlebag};
use saddlebag_remote::{AttachError, AttachOptions, GRACE, attach, maintain};
use support::{Ask, address, sql};

type Store = Arc<Mutex<dyn Executor + Send>>;

fn open_at(address: &str) -> Store {
    attach(&address.parse().unwrap(), &AttachOptions { create: true, cache: None }).unwrap().store
}

/// Waits until something holds, for at most ten seconds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < end, "not within ten seconds: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A store of a database that listens, its requests, and the number of changes that it told of.
fn listening(address: &str) -> (Remote, Arc<AtomicU64>) {
    let remote = attach(&address.parse().unwrap(), &AttachOptions { create: true, cache: None }).unwrap();
    let told = Arc::new(AtomicU64::new(0));
    let count = told.clone();
    let listen = remote.listen.clone().unwrap();
    listen(Box::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
    }))
    .unwrap();
    (remote, told)
}

fn token(store: &mut Store) -> String {
    match store.perform(&FsOp::Generation).unwrap() {
        FsOutcome::Generation(token) => token,
        other => panic!("{other:?}"),
    }
}

/// Returns the token once it is told without a request.
fn token_without_a_request(remote: &mut Remote) -> String {
    let mut told = String::new();
    until("a token without a request", || {
        let before = remote.requests.load(Ordering::SeqCst);
        told = token(&mut remote.store);
        remote.requests.load(Ordering::SeqCst) == before
    });
    told
}

#[test]
fn a_database_that_tells_of_changes_is_not_asked_for_them() {
    let Some(address) = address("SADDLEBAG_TEST_POSTGRES", "listening") else { return };
    let (mut remote, told) = listening(&address);
    let mut other = open_at(&address);
    let mut last = token_without_a_request(&mut remote);
    let sent = remote.requests.load(Ordering::SeqCst);
    assert!((0..100).all(|_| token(&mut remote.store) == last));
    assert_eq!(remote.requests.load(Ordering::SeqCst), sent, "nothing has changed");
    let mut seen = BTreeSet::from([last.clone()]);
    let changes: [fn(&mut Store); 4] = [
        |store| drop(store.write("a.md", "a", Precondition::Any).unwrap()),
        |store| drop(store.append("a.md", "b").unwrap()),
        |store| drop(store.rename("a.md", "b.md").unwrap()),
        |store| drop(store.remove("b.md").unwrap()),
    ];
    for change in changes {
        let before = told.load(Ordering::SeqCst);
        change(&mut other);
        until("another token", || token(&mut remote.store) != last);
        until("a call", || told.load(Ordering::SeqCst) > before);
        last = token_without_a_request(&mut remote);
        assert!(seen.insert(last.clone()), "{last} was told before");
        remote.store.append("own.md", "a").unwrap();
        assert_ne!(token(&mut remote.store), last, "its own change counts at once");
        until("a call for its own change", || told.load(Ordering::SeqCst) > before + 1);
        last = token_without_a_request(&mut remote);
        assert!(seen.insert(last.clone()), "{last} was told before");
    }
    // Other spaces, and what the program keeps for itself, do not count.
    open_at(&format!("{address}-other")).write("a.md", "a", Precondition::Any).unwrap();
    other.write(".saddlebag/index", "a", Precondition::Any).unwrap();
    other.write("notes/.saddlebag/index", "a", Precondition::Any).unwrap();
    let before = told.load(Ordering::SeqCst);
    remote.store.write("last.md", "a", Precondition::Any).unwrap();
    until("a call, which comes after those of earlier changes", || told.load(Ordering::SeqCst) > before);
    let number = |token: &str| token.rsplit_once('-').unwrap().1.parse::<u64>().unwrap();
    assert_eq!(number(&token(&mut remote.store)), number(&last) + 1);
}

#[test]
fn a_database_that_no_longer_tells_of_changes_is_asked() {
    let Some(address) = address("SADDLEBAG_TEST_POSTGRES", "deaf") else { return };
    let (mut remote, _) = listening(&address);
    let mut other = open_at(&address);
    let heard = token_without_a_request(&mut remote);
    sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'saddlebag\\_%'");
    until("the database is asked", || !token(&mut remote.store).starts_with("heard-"));
    let asked = token(&mut remote.store);
    other.write("a.md", "a", Precondition::Any).unwrap();
    assert_ne!(token(&mut remote.store), asked, "an answer of the database counts at once");
    let again = token_without_a_request(&mut remote);
    assert!(again.starts_with("heard-") && again != heard, "{again}");
}

#[test]
fn a_question_with_nothing_changed_sends_no_request_for_it() {
    let Some(address) = address("SADDLEBAG_TEST_POSTGRES", "question") else { return };
    let (mut remote, _) = listening(&address);
    let requests = remote.requests.clone();
    for note in 0..20 {
        remote.store.write(&format!("note-{note}.md"), &format!("Port {note}\n"), Precondition::Absent).unwrap();
    }
    token_without_a_request(&mut remote);
    let options = Options { no_index_file: true, ..Options::new(EngineKind::Native) };
    let mut memory = Saddlebag::attach(remote, options).unwrap();
    let mut hits = |words: &str| {
        let before = requests.load(Ordering::SeqCst);
        let hits = memory.search(words).unwrap().hits.len();
        (hits, requests.load(Ordering::SeqCst) - before)
    };
    let (first, read) = hits("port");
    assert!(first > 0 && read >= 20, "{first} {read}");
    assert_eq!(hits("port"), (first, 0));
    open_at(&address).write("another.md", "Harbour", Precondition::Absent).unwrap();
    until("the note of another machine is found", || hits("harbour").0 == 1);
}

#[test]
fn a_role_that_can_only_read_reads_and_is_told_how_to_write() {
    let Some(address) = address("SADDLEBAG_TEST_POSTGRES", "reader") else { return };
    open_at(&address).write("a.md", "a", Precondition::Absent).unwrap();
    let role = format!("reader_{}", saddlebag_host::new_operation());
    sql(&format!("CREATE ROLE {role} LOGIN"));
    let as_reader = address.replace("saddlebag@", &format!("{role}@"));
    let open = || attach(&as_reader.parse().unwrap(), &AttachOptions::default()).map(|remote| remote.store);
    let refused = open().map(|_| ()).unwrap_err();
    assert!(matches!(refused, AttachError::Privilege(_)) && refused.help().contains("SELECT on"), "{refused}");
    sql(&format!("GRANT SELECT ON saddlebag_file, saddlebag_layout, saddlebag_operation TO {role}"));
    let mut reader = open().unwrap();
    assert_eq!(reader.text("a.md").as_deref(), Some("a"));
    let refused = reader.write("a.md", "b", Precondition::Any).unwrap_err().to_string();
    assert!(refused.contains("GRANT SELECT, INSERT, UPDATE, DELETE"), "{refused}");
    assert_eq!(open_at(&address).text("a.md").as_deref(), Some("a"));
    sql(&format!(
        "GRANT INSERT, UPDATE, DELETE ON saddlebag_file, saddlebag_operation TO {role};
        GRANT USAGE ON SEQUENCE saddlebag_version TO {role}"
    ));
    let (mut remote, _) = listening(&address);
    let last = token_without_a_request(&mut remote);
    reader.write("a.md", "b", Precondition::Any).unwrap();
    until("a change of another role is told", || token(&mut remote.store) != last);
    sql(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

#[test]
fn maintain_of_a_large_database_goes_on_after_the_time_of_a_statement() {
    const NAMES: u64 = 4_000;
    let Ok(server) = std::env::var("SADDLEBAG_TEST_POSTGRES") else { return };
    let schema = format!("large_{}", saddlebag_host::new_operation().replace('-', "_"));
    let address = format!("{server}&options=-c%20search_path%3D{schema}");
    sql(&format!("CREATE SCHEMA {schema}"));
    drop(open_at(&address));
    // A hundred removals take 0.3 seconds, so one statement would take 12.
    sql(&format!(
        "SET search_path = {schema};
        CREATE SEQUENCE removed;
        CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN IF nextval('removed') % 100 = 0 THEN PERFORM pg_sleep(0.3); END IF; RETURN OLD; END $$;
        CREATE TRIGGER slow BEFORE DELETE ON saddlebag_operation FOR EACH ROW EXECUTE FUNCTION slow();
        INSERT INTO saddlebag_operation SELECT gen_random_uuid(), now() - interval '10 days' FROM generate_series(1, {NAMES})"
    ));
    let counted = maintain(&address.parse().unwrap(), GRACE, true).unwrap();
    assert_eq!((counted.removed, counted.old, counted.left), (0, NAMES, 0));
    let done = maintain(&address.parse().unwrap(), GRACE, false).unwrap();
    assert_eq!((done.removed, done.old, done.left), (NAMES, 0, 0));
    sql(&format!("DROP SCHEMA {schema} CASCADE"));
}

/// A transaction that did not see the connection that listens is waited for.
#[test]
fn a_change_that_began_before_somebody_listened_is_not_missed() {
    let Some(address) = address("SADDLEBAG_TEST_POSTGRES", "begun") else { return };
    drop(open_at(&address));
    let space = address.rsplit_once('=').unwrap().1.to_string();
    let writer = thread::spawn(move || {
        sql(&format!(
            "BEGIN;
            INSERT INTO saddlebag_file VALUES ('{space}', 'a.md', '', nextval('saddlebag_version'), now(), '');
            SELECT pg_sleep(2); COMMIT"
        ))
    });
    until("the writer waits", || {
        sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'").is_some_and(|waiting| waiting != "0")
    });
    let (mut remote, _) = listening(&address);
    let asked = token(&mut remote.store);
    assert!(!asked.starts_with("heard-"), "the writer is under way");
    let heard = token_without_a_request(&mut remote);
    assert_eq!(remote.store.text("a.md").as_deref(), Some(""), "{heard} vouches for what is there");
    writer.join().unwrap();
}
