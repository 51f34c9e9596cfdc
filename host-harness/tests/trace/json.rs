//! A memory whose calls are JSON text, compared with one whose calls have types.

use proptest::prelude::*;
use saddlebag::catalogue::{SAMPLE_NAME, catalogue};
use saddlebag::wit_convert::canonical::{Call, JsonMemory, read_reply};
use saddlebag::{Command, Effect};
use serde_json::{Value, json};

use crate::support::{NOW, Written, sample_host};

/// Splits a line of a trace into the name of the call, its arguments, and what it returned.
fn parts(line: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = line.strip_prefix("{\"")?.split_once("\":")?;
    let (arguments, returned) = rest.strip_suffix('}')?.split_once(",\"returned\":")?;
    Some((name, arguments, returned))
}

/// Opens a memory with the configuration of the trace, and makes its calls. Returns their number.
fn make_calls_of(written: &Written) -> usize {
    let trace = written.text();
    let (header, calls) = trace.split_once('\n').unwrap();
    let (mut memory, mut printing) = (JsonMemory::new(), JsonMemory::new());
    let config = header.split_once(",\"config\":").unwrap().1.strip_suffix('}').unwrap();
    for memory in [&mut memory, &mut printing] {
        assert_eq!(memory.open(config), r#"{"ok":null}"#);
    }
    let mut interface = String::new();
    for line in calls.lines() {
        let (name, arguments, returned) = parts(line).unwrap_or_else(|| panic!("{line}"));
        let answer = memory.call(name, arguments);
        // A result that cannot fail has no `ok` in a trace.
        let wanted = if name == "cancel" { format!("{{\"ok\":{returned}}}") } else { returned.to_string() };
        assert_eq!(answer, wanted, "{line}");
        if name != "take" {
            assert_eq!(printing.call(name, arguments), wanted, "{line}");
            if let Some(given) = parsed(arguments)["interface"].as_str() {
                interface = given.to_string();
            }
            continue;
        }
        let printed = parsed(&printing.take_printed(arguments))["ok"].take();
        let reply = read_reply(&interface, parsed(&answer)["ok"].take()).unwrap();
        assert_eq!(printed, serde_json::to_value(reply).unwrap(), "{line}");
    }
    calls.lines().count()
}

/// Returns an open memory.
fn opened() -> JsonMemory {
    let mut memory = JsonMemory::new();
    assert_eq!(memory.open(r#"{"epoch":"1","entries":{"agent":"a"}}"#), r#"{"ok":null}"#);
    memory
}

fn parsed(answer: &str) -> Value {
    serde_json::from_str(answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

/// The world of JSON text gives the bytes that the calls with types give, for the same commands and results.
#[test]
fn calls_in_json_return_what_calls_with_types_return() {
    let mut calls = 0;
    for info in catalogue() {
        for sample in (info.samples)(SAMPLE_NAME).into_iter().chain((info.samples)("../no such thing")) {
            let (mut host, written) = sample_host();
            let _ = host.run(NOW, sample.clone());
            if let Ok(id) = host.submit(NOW, sample) {
                host.cancel(id).unwrap();
                let _ = host.submit(NOW, sample_command());
            }
            calls += make_calls_of(&written);
        }
    }
    assert!(calls > 3_000, "{calls}");
}

fn sample_command() -> Command {
    let reads = catalogue().into_iter().find(|info| info.effect == Effect::Reads).unwrap();
    (reads.samples)(SAMPLE_NAME).remove(0).command
}

#[test]
fn a_configuration_may_leave_out_everything_except_the_epoch() {
    let with_defaults = |config: Value| {
        let mut memory = JsonMemory::new();
        memory.open(&config.to_string())
    };
    for config in [
        json!({ "epoch": "1" }),
        json!({ "epoch": "1", "limits": { "max-requests": 1 }, "trust": { "provenance": "agent" } }),
        json!({ "epoch": "1", "entries": { "agent": "a" }, "project": null }),
    ] {
        assert_eq!(with_defaults(config.clone()), r#"{"ok":null}"#, "{config}");
    }
    let refused = |config: Value| parsed(&with_defaults(config))["err"].clone();
    assert_eq!(refused(json!({})), json!({ "malformed": "at ``: the field `epoch` is missing" }));
    assert_eq!(
        refused(json!({ "epoch": "1", "colour": 1 })),
        json!({ "malformed": "at ``: the field `colour` is unknown" })
    );
    let nested = refused(json!({ "epoch": "1", "limits": { "most": 1 } }));
    assert_eq!(nested, json!({ "malformed": "at `limits`: the field `most` is unknown" }));
    assert_eq!(refused(json!({ "epoch": "1", "entries": {} })), json!({ "invalid-scope": "" }));
    let limit = refused(json!({ "epoch": "1", "limits": { "max-requests": 0 } }));
    assert!(limit["limit-too-small"].is_string(), "{limit}");
    assert!(parsed(&with_defaults(json!([])))["err"]["malformed"].is_string());
}

#[test]
fn options_may_be_left_out_and_a_memory_must_be_open() {
    let status = r#"{"interface":"journal","id":"1","now":{"seconds":"0","nanoseconds":0,"utc-offset-seconds":0},"origin":{},"command":"status"}"#;
    let mut memory = JsonMemory::new();
    for name in Call::NAMES {
        assert!(parsed(&memory.call(name, "{}"))["err"]["malformed"].is_string());
    }
    assert_eq!(memory.call("submit", status), r#"{"err":"not-open"}"#);
    let mut memory = opened();
    let step = parsed(&memory.call("submit", status));
    assert!(step["ok"]["requests"].as_array().is_some_and(|requests| !requests.is_empty()), "{step}");
    assert!(parsed(&memory.call("submit", status))["err"]["command-id-not-new"].is_object());
    assert_eq!(parsed(&memory.call("take", r#"{"id":"1"}"#))["err"]["code"], "not-finished");
    assert_eq!(parsed(&memory.take_printed(r#"{"id":"1"}"#))["err"]["code"], "not-finished");
    assert!(parsed(&memory.take_printed("{}"))["err"]["malformed"].is_string());
    assert_eq!(JsonMemory::new().take_printed(r#"{"id":"1"}"#), r#"{"err":"not-open"}"#);
    assert_eq!(parsed(&memory.call("cancel", r#"{"id":"7"}"#)), json!({ "ok": null }));
    let read = r#"{"interface":"items","id":"2","now":{"seconds":"0","nanoseconds":0,"utc-offset-seconds":0},"origin":{},"command":{"show":{"name":"long_term","offset":"0"}}}"#;
    assert!(parsed(&memory.call("submit", read))["ok"].is_object());
    assert!(parsed(&memory.call("submit", &read.replace(",\"offset\":\"0\"", "")))["err"]["malformed"].is_string());
    // Another opening replaces the first.
    memory.open(&json!({ "epoch": "2" }).to_string());
    assert!(parsed(&memory.call("submit", status))["ok"].is_object());
}

/// Makes the calls of the page for authors of hosts.
#[test]
fn the_example_of_the_documentation_returns_what_it_says() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/writing-a-host.md")).unwrap();
    let section = page.split_once("## Without bindings").unwrap().1;
    let example = section.split_once("```text\n").unwrap().1.split_once("```").unwrap().0;
    // Each call is the name with its argument, and the answer below; long lines go on in the next one.
    let mut calls: Vec<(String, String, String)> = Vec::new();
    for line in example.lines() {
        if let Some((name, argument)) = line.split_once(' ').filter(|(name, _)| !name.is_empty()) {
            calls.push((name.into(), argument.trim().into(), String::new()));
            continue;
        }
        let (_, argument, answer) = calls.last_mut().unwrap();
        let continues = answer.is_empty() && !line.trim().starts_with("{\"ok\"");
        if continues { argument } else { answer }.push_str(line.trim());
    }
    assert_eq!(calls.len(), 5);
    let mut memory = JsonMemory::new();
    for (name, argument, answer) in calls {
        let returned = if name == "open" { memory.open(&argument) } else { memory.call(&name, &argument) };
        assert_eq!(returned, answer, "{name} {argument}");
    }
}

#[test]
fn tools_are_described_without_a_memory() {
    let names = |arguments: &str| -> Vec<String> {
        let tools = parsed(&JsonMemory::tools(arguments));
        tools["ok"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(names(r#"{"sets":["anthropic"]}"#), ["memory"]);
    assert_eq!(names("{}").len(), saddlebag::tools::tools(&saddlebag::tools::ToolSet::ALL).len());
    assert!(parsed(&JsonMemory::tools(r#"{"sets":["x"]}"#))["err"]["malformed"].is_string());
}

#[test]
fn files_are_merged_without_a_memory() {
    // `- a`, `- a` and `- b`, `- a` and `- c`, each with a line end.
    let given = r#"{"path":"a.md","sides":{"ancestor":"LSBhCg==","ours":"LSBhCi0gYgo=","theirs":"LSBhCi0gYwo="}}"#;
    assert_eq!(parsed(&JsonMemory::merge(given))["ok"]["content"], "LSBhCi0gYgotIGMK");
    assert_eq!(parsed(&JsonMemory::merge(r#"{"path":"../a.md","sides":{}}"#))["err"]["code"], "invalid-name");
    assert!(parsed(&JsonMemory::merge("{}"))["err"]["malformed"].is_string());
}

/// A change of a JSON text.
#[derive(Clone, Debug)]
enum Damage {
    Cut(usize),
    Byte(usize, u8),
    Repeat(usize, usize),
    Replace(usize, &'static str),
}

fn damage() -> impl Strategy<Value = Damage> {
    let words =
        ["null", "{}", "[]", "\"\"", "-1", "1e999", "18446744073709551616", "\"\\ud800\"", "[[[[[[[[", "{\"a\":"];
    prop_oneof![
        any::<usize>().prop_map(Damage::Cut),
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        (any::<usize>(), 1_usize..40).prop_map(|(at, length)| Damage::Repeat(at, length)),
        (any::<usize>(), prop::sample::select(words.to_vec())).prop_map(|(at, word)| Damage::Replace(at, word)),
    ]
}

fn damaged(text: &str, damage: &Damage) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let place = |at: usize| at % (bytes.len() + 1);
    match *damage {
        Damage::Cut(at) => bytes.truncate(place(at)),
        Damage::Byte(at, byte) => {
            let at = place(at);
            bytes.splice(at..(at + 1).min(text.len()), [byte]);
        }
        Damage::Repeat(at, length) => {
            let at = place(at);
            let part = bytes[at..(at + length).min(text.len())].to_vec();
            bytes.splice(at..at, part);
        }
        Damage::Replace(at, word) => {
            // A whole value, as often as possible.
            let at = text[..floor(text, place(at))].rfind([':', '[', ',']).map_or(0, |found| found + 1);
            let end = text[at..].find([',', '}', ']']).map_or(text.len(), |found| at + found);
            bytes.splice(at..end, word.bytes());
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    /// Every text is answered with JSON, `ok` or `err`, and none ends the instance.
    #[test]
    fn any_text_is_answered_in_json(
        which in any::<prop::sample::Index>(),
        damages in prop::collection::vec((any::<prop::sample::Index>(), damage()), 1..30),
        name in prop::sample::select(vec!["submit", "call", "handle-memory-result", "cancel", "take"]),
        noise in ".*",
    ) {
        let samples: Vec<_> = catalogue().into_iter().flat_map(|info| (info.samples)(SAMPLE_NAME)).collect();
        let (mut host, written) = sample_host();
        let _ = host.run(NOW, which.get(&samples).clone());
        let trace = written.text();
        let lines: Vec<&str> = trace.lines().collect();
        let mut memory = JsonMemory::new();
        let config = lines[0].split_once(",\"config\":").unwrap().1.strip_suffix('}').unwrap();
        let check = |answer: String| {
            let answer = parsed(&answer);
            let fields = answer.as_object().unwrap();
            assert!(fields.len() == 1 && (fields.contains_key("ok") || fields.contains_key("err")), "{answer}");
        };
        for (_, damage) in &damages {
            check(memory.open(&damaged(config, damage)));
        }
        memory.open(config);
        for line in &lines[1..] {
            let (own, arguments, _) = parts(line).unwrap();
            for (chosen, damage) in &damages {
                if chosen.index(4) == 0 {
                    check(memory.call(own, &damaged(arguments, damage)));
                    check(memory.call(name, &damaged(arguments, damage)));
                }
            }
            check(memory.call(own, arguments));
        }
        check(memory.call(name, &noise));
        check(JsonMemory::tools(&noise));
        check(memory.open(&"[".repeat(100_000)));
        check(memory.call(name, &format!("{{\"id\":{}", "{\"a\":".repeat(100_000))));
    }
}
