//! `--trace` and `conform --replay`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Run, Store, run};

/// In two parts, so that no scanner finds a token here.
const SECRET: &str = concat!("ghp_", "q7Zt2LmX9vRk4WcB8nYs1DfGh6JpQa3Eu5To");

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
        let options = ["--trace", "trace", "--engine", engine, "--secrets", "allow"];
        let mut command = store.command_of(&options, arguments);
        let done = run(&mut command, None);
        assert_eq!(done.code, *code, "{arguments:?}: {done:?}");
    }
}

fn replay(store: &Store, engine: &str, file: &Path) -> Run {
    let mut command = store.bare(&["--json", "--engine", engine, "conform", "--replay"]);
    // A replay neither needs nor creates a store.
    let home = store.here.join("no home");
    command.env("HOME", &home).env("USERPROFILE", &home).env_remove("XDG_DATA_HOME").arg(file);
    let done = run(&mut command, None);
    assert!(!home.exists());
    done
}

/// Checks that every engine gives the recorded answers, and returns the output of one of them.
#[track_caller]
pub(crate) fn replays(store: &Store, file: &Path) -> Value {
    let said: Vec<Value> = ENGINES.iter().map(|engine| replay(store, engine, file).exits(0).json()).collect();
    assert!(said.iter().all(|other| *other == said[0]), "{said:?}");
    assert_eq!(said[0]["difference"], Value::Null);
    said[0].clone()
}

/// Replaying a recorded run gives the same in either engine.
#[test]
fn a_session_over_several_families_is_replayed_by_every_engine_whichever_recorded_it() {
    let mut said = Vec::new();
    for recorder in ENGINES {
        let store = Store::new();
        record(&store, recorder);
        let trace = fs::read_to_string(store.here.join("trace")).unwrap();
        let found = replays(&store, &store.here.join("trace"));
        assert_eq!(found["memories"], SESSION.len());
        let calls = trace.lines().count() - SESSION.len();
        assert_eq!(found["calls"], calls);
        for wanted in [
            "\"conflict\"",
            "\"code\":\"no-unique-match\"",
            "\"absent\"",
            "\"interface\":\"trust\"",
            ".saddlebag/index/",
        ] {
            assert!(trace.contains(wanted), "{wanted}");
        }
        said.push(found);
    }
    assert!(said.iter().all(|found| found["calls"] == said[0]["calls"]), "{said:?}");
}

#[test]
fn a_changed_byte_in_the_trace_is_found() {
    let store = Store::new();
    store.run(&["--trace", "trace", "write", "long_term", "a fact"]).exits(0);
    store.run(&["--trace", "trace", "show", "long_term"]).exits(0);
    let file = store.here.join("trace");
    replays(&store, &file);
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
            let done = replay(&store, "native", &file);
            assert!(done.code == 1 || done.code == 3, "byte {at} of {line}: {done:?}");
            let number = text[..at].matches('\n').count() + 1;
            let names_line = match done.code {
                1 => done.json()["difference"]["line"] == number,
                _ => done.stderr.contains(&format!("line {number} ")),
            };
            assert!(names_line, "byte {at} in line {number}: {done:?}");
            found += 1;
        }
    }
    assert!(found > 30, "{found}");
}

#[test]
fn a_difference_is_shown_with_its_line_its_place_and_both_values() {
    let store = Store::new();
    store.run(&["--trace", "trace", "log", "heading", "body"]).exits(0);
    let file = store.here.join("trace");
    let text = fs::read_to_string(&file).unwrap();
    let other = text.replace("\"newline-first\":true", "\"newline-first\":false");
    assert_ne!(other, text);
    fs::write(&file, other).unwrap();
    let shown = store.run(&["conform", "--replay", "trace"]).exits(1);
    let (head, values) = shown.stdout.split_once('\n').unwrap();
    assert!(head.starts_with("Line ") && head.contains("newline-first`; "), "{head}");
    assert_eq!(values, "  recorded: false\n  actual:   true\n");
    let object = store.run(&["--json", "conform", "--replay", "trace"]).exits(1).json();
    assert_eq!((&object["difference"]["recorded"], &object["difference"]["actual"]), (&json!(false), &json!(true)));
    fs::write(&file, text).unwrap();
    let agreed = store.run(&["conform", "--replay", "trace"]).exits(0).stdout;
    assert!(agreed.starts_with("All ") && agreed.ends_with(" requests agree\n"), "{agreed}");
}

#[test]
fn a_trace_that_was_cut_off_is_replayed_up_to_there_and_can_be_appended_to() {
    let store = Store::new();
    store.run(&["--trace", "trace", "write", "long_term", "a fact"]).exits(0);
    let file = store.here.join("trace");
    let text = fs::read_to_string(&file).unwrap();
    let lines = text.lines().count();
    fs::write(&file, &text[..text.len() - 9]).unwrap();
    let cut = store.run(&["conform", "--replay", "trace"]).exits(0);
    assert!(cut.stderr.contains(&format!("line {lines} was cut off when its program ended")), "{cut:?}");
    assert_eq!(replays(&store, &file)["cut"], json!([lines]));
    store.run(&["--trace", "trace", "show", "long_term"]).exits(0);
    let both = replays(&store, &file);
    assert_eq!((&both["cut"], &both["memories"]), (&json!([lines]), &json!(2)));
}

#[test]
fn text_that_was_left_out_for_a_secret_ends_the_replay_by_name() {
    let store = Store::new();
    store.run(&["--trace", "trace", "write", "long_term", "harmless"]).exits(0);
    replays(&store, &store.here.join("trace"));
    store.run(&["--trace", "trace", "write", "long_term", SECRET]).exits(3);
    store
        .run(&["conform", "--replay", "trace"])
        .exits(3)
        .complains("lacks the value at `submit.command.write.content`, which was a secret")
        .complains("--secrets allow");
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
    let found = replays(&store, &store.here.join("trace"));
    assert_eq!(found["memories"], 4);
    assert_eq!(store.bytes(".saddlebag/index/0000"), index);
    assert!(!fs::read_to_string(store.here.join("trace")).unwrap().contains("{\"left-out\":"));
}

#[test]
fn a_file_that_is_not_a_trace_is_refused_with_its_line() {
    let store = Store::new();
    let refused = |text: &str, message: &str| {
        fs::write(store.here.join("trace"), text).unwrap();
        store.run(&["conform", "--replay", "trace"]).exits(3).prints("").complains(message);
    };
    store.run(&["conform", "--replay", "nowhere"]).exits(3).complains("cannot open the trace `nowhere`");
    refused("", "the trace is empty");
    refused("a text\n", "line 1 is not JSON");
    refused("{}\n", "line 1 has a call, but no header comes before it");
    refused("{\"saddlebag-trace\":7}\n", "line 1 begins a trace of version 7 of a package without a name");
}
