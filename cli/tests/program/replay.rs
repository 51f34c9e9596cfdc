//! `--trace`: what the program records is replayed.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use saddlebag_host::{NativeEngine, ReplayError, Replayed};

use crate::support::{Store, run};

/// The engines of this program.
const ENGINES: &[&str] = if cfg!(feature = "component") { &["native", "component"] } else { &["native"] };

/// Runs that write, ask, conflict and fail, in every family that people use.
const SESSION: &[(&[&str], i32)] = &[
    (&["write", "long_term", "staging listens on 8443"], 0),
    (&["write", "note:deploy", "# Deploy\n\nsee [[port]]"], 0),
    (&["log", "yesterday", "the server moved"], 0),
    (&["write", "note:../x", "x"], 3),
    (&["edit", "long_term", "--old", "8443", "--new", "8444"], 0),
    (&["edit", "long_term", "--old", "nowhere", "--new", "x"], 3),
    (&["remember", "--key", "deploy", "staging first", "--tag", "ops"], 0),
    (&["remember", "--key", "deploy", "production first", "--base", "another"], 3),
    (&["recall", "--kind", "entry", "staging"], 0),
    (&["forget", "deploy", "--kind", "entry"], 0),
    (&["show", "deploy", "--kind", "entry"], 1),
    (&["setup", "--templates"], 0),
    (&["remember", "Port", "it is 5432", "--link", "deploy"], 0),
    (&["recall", "which port is it?"], 0),
    (&["move", "port", "Database port"], 0),
    (&["search", "staging"], 0),
    (&["context", "--entries"], 0),
    (&["tools", "memory_read", "{\"source\": \"long_term\"}"], 0),
    (&["--provenance", "tool", "remember", "--key", "page", "from a page"], 0),
    (&["list", "--pending"], 0),
    (&["memory", "export", "--out", "own"], 0),
    (&["recall", "port"], 0),
];

/// Records the session in one file, with the engine of this name.
fn record(store: &Store, engine: &str) {
    for (arguments, code) in SESSION {
        let options = ["--trace", "trace", "--engine", engine];
        let mut command = store.command_of(&options, arguments);
        let done = run(&mut command, None);
        assert_eq!(done.code, *code, "{arguments:?}: {done:?}");
    }
}

/// Replays a trace with the native engine.
fn replay(file: &Path) -> Result<Replayed, ReplayError> {
    saddlebag_host::replay(BufReader::new(File::open(file).unwrap()), NativeEngine::open)
}

/// Checks that a trace has the answers of the native engine.
#[track_caller]
pub(crate) fn replays(file: &Path) -> Replayed {
    let found = replay(file).unwrap();
    assert!(found.difference.is_none(), "{found:?}");
    found
}

/// A run that either engine recorded is replayed natively with the same answers.
#[test]
fn a_session_over_several_families_is_replayed_whichever_engine_recorded_it() {
    for recorder in ENGINES {
        let store = Store::new();
        record(&store, recorder);
        let trace = fs::read_to_string(store.here.join("trace")).unwrap();
        let found = replays(&store.here.join("trace"));
        assert_eq!(found.memories, SESSION.len() as u64);
        let calls = trace.lines().count() - SESSION.len();
        assert_eq!(found.calls, calls as u64);
        for wanted in ["\"conflict\"", "\"code\":\"no-unique-match\"", "\"absent\"", "\"interface\":\"trust\""] {
            assert!(trace.contains(wanted), "{wanted}");
        }
    }
}

#[test]
fn a_changed_byte_in_the_trace_is_found() {
    let store = Store::new();
    store.run(&["--trace", "trace", "write", "long_term", "a fact"]).exits(0);
    store.run(&["--trace", "trace", "show", "long_term"]).exits(0);
    let file = store.here.join("trace");
    replays(&file);
    let bytes = fs::read(&file).unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    // Damages what the engine returned, and what connects it to the calls.
    let mut found = 0;
    for (start, line) in text.match_indices("\"returned\":") {
        let end = start + text[start..].find('\n').unwrap();
        for at in (start + line.len()..end).step_by(17) {
            let mut changed = bytes.clone();
            changed[at] = if changed[at] == b'1' { b'2' } else { b'1' };
            fs::write(&file, changed).unwrap();
            let number = text[..at].matches('\n').count() + 1;
            let done = replay(&file);
            let names_line = match &done {
                Ok(done) => done.difference.as_ref().is_some_and(|difference| difference.line == number as u64),
                Err(error) => error.to_string().contains(&format!("line {number} ")),
            };
            assert!(names_line, "byte {at} in line {number}, of {line}: {done:?}");
            found += 1;
        }
    }
    assert!(found > 30, "{found}");
}

#[test]
fn a_trace_that_was_cut_off_is_replayed_up_to_there_and_can_be_appended_to() {
    let store = Store::new();
    store.run(&["--trace", "trace", "write", "long_term", "a fact"]).exits(0);
    let file = store.here.join("trace");
    let text = fs::read_to_string(&file).unwrap();
    let lines = text.lines().count();
    fs::write(&file, &text[..text.len() - 9]).unwrap();
    assert_eq!(replays(&file).cut, [lines as u64]);
    store.run(&["--trace", "trace", "show", "long_term"]).exits(0);
    let both = replays(&file);
    assert_eq!((both.cut, both.memories), (vec![lines as u64], 2));
}

#[test]
fn a_default_trace_in_a_store_with_an_index_is_replayed_to_its_end() {
    let store = Store::new();
    for number in 0..150 {
        store.put(&format!("notes/n{number}.md"), format!("# Note {number}\n\nword{number}\n"));
    }
    store.put("notes/latin.md", b"# Latin\n\nword7 \xe9\n");
    store.run(&["recall", "word7"]).exits(0);
    let index = store.bytes(".saddlebag/index/0000");
    for question in ["word7", "word8"] {
        store.run(&["--trace", "trace", "recall", question]).exits(0);
        store.run(&["--trace", "trace", "search", question]).exits(0);
    }
    assert_eq!(replays(&store.here.join("trace")).memories, 4);
    assert_eq!(store.bytes(".saddlebag/index/0000"), index);
    assert!(!fs::read_to_string(store.here.join("trace")).unwrap().contains("{\"left-out\":"));
}
