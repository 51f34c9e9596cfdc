//! A replay of a trace gives the recorded answers, and reports any other answer.

use saddlebag::catalogue::{SAMPLE_NAME, catalogue};
use saddlebag::journal::{AppendDaily, Search, Status, Target, WriteFile, WriteMode};
use saddlebag::protocol::{CommandId, FsError, FsOutcome};
use saddlebag_host::{Engine, EngineError, HostError, ReplayError};
use serde_json::{Value, json};

use crate::support::{NOW, Recorded, replayed, sample_host};

fn append(text: &str) -> WriteFile {
    WriteFile { target: Target::Scratchpad, mode: WriteMode::Append, content: text.into(), truncate: false }
}

/// Writes, a refused result, a failed operation, an error, a cancelled command, and two commands at once.
fn session(host: &mut Recorded) {
    host.call(NOW, append("- [ ] one")).unwrap();
    host.submit(NOW, append("- [ ] two")).unwrap();
    let log = host.submit(NOW, AppendDaily { heading: "h".into(), body: "b".into() }).unwrap();
    assert!(matches!(host.answer_with(0, Ok(FsOutcome::MakeDirectory)), Err(EngineError::Result(_))));
    host.answer_with(1, Err(FsError::NoSpace)).unwrap();
    assert!(matches!(host.take_finished(log), Some(Err(_))));
    host.drive(100, |ops| ops.len()).unwrap();
    let search = host.submit(NOW, Search::new("port")).unwrap();
    host.answer(0).unwrap();
    host.cancel(search).unwrap();
    let missing = WriteFile { target: Target::Note("../x".into()), ..append("x") };
    assert!(matches!(host.call(NOW, missing), Err(HostError::Command(_))));
    host.call(NOW, Status).unwrap();
}

fn trace() -> String {
    let (mut host, written) = sample_host();
    session(&mut host);
    written.text()
}

#[test]
fn a_recorded_session_is_replayed_call_by_call() {
    let trace = trace();
    let found = replayed(&trace).unwrap();
    assert_eq!(found.difference, None);
    assert_eq!((found.memories, found.calls as usize), (1, trace.lines().count() - 1));
    let requests = trace.matches("\"op\":").count() as u64;
    assert!(found.requests == requests && requests > 8, "{found:?}");
    for call in ["\"submit\"", "\"handle-memory-result\"", "\"cancel\"", "\"take\"", "\"err\":{\"invalid-result\""] {
        assert!(trace.contains(call), "{call}");
    }
}

#[test]
fn the_same_session_gives_the_same_trace() {
    assert_eq!(trace(), trace());
}

#[test]
fn every_sample_is_replayed() {
    for info in catalogue() {
        for sample in (info.samples)(SAMPLE_NAME) {
            let (mut host, written) = sample_host();
            host.run(NOW, sample).unwrap_or_else(|error| panic!("{}: {error}", info.name));
            let found = replayed(&written.text()).unwrap_or_else(|error| panic!("{}: {error}", info.name));
            assert_eq!(found.difference, None, "{}", info.name);
        }
    }
}

#[test]
fn calls_that_the_engine_refuses_are_replayed_too() {
    let (mut host, written) = sample_host();
    session(&mut host);
    drop(host);
    let mut trace = written.text();
    for call in [r#"{"take":{"id":"9999"},"returned":RETURNED}"#, r#"{"cancel":{"id":"9999"},"returned":null}"#] {
        let mut engine = saddlebag_host::NativeEngine::open(saddlebag::catalogue::sample_config()).unwrap();
        let error = engine.take(CommandId(9999)).unwrap().unwrap_err();
        let returned = json!({ "err": { "code": error.code.as_str(), "message": error.message, "help": error.help } });
        trace += &call.replace("RETURNED", &returned.to_string());
        trace.push('\n');
    }
    assert_eq!(replayed(&trace).unwrap().difference, None);
}

/// Changes each leaf of what came back, one at a time.
#[test]
fn a_field_of_a_command_may_be_left_to_its_default() {
    let trace = trace();
    let shorter = trace.replace("\"max-bytes\":32768", "\"max-bytes\":null");
    assert_ne!(shorter, trace);
    assert_eq!(replayed(&shorter).unwrap().difference, None);
}

#[test]
fn any_other_outcome_is_found_at_its_line_and_place() {
    fn places(value: &Value, at: String, out: &mut Vec<String>) {
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                fields.iter().for_each(|(name, value)| places(value, format!("{at}/{name}"), out));
            }
            Value::Array(items) if !items.is_empty() => {
                items.iter().enumerate().for_each(|(index, value)| places(value, format!("{at}/{index}"), out));
            }
            _ => out.push(at),
        }
    }
    let trace = trace();
    let lines: Vec<&str> = trace.lines().collect();
    let mut changed = 0;
    for (index, line) in lines.iter().enumerate().skip(1) {
        let line: Value = serde_json::from_str(line).unwrap();
        let mut leaves = Vec::new();
        places(&line["returned"], "/returned".into(), &mut leaves);
        for leaf in leaves {
            let mut other = line.clone();
            let value = other.pointer_mut(&leaf).unwrap();
            *value = match value.clone() {
                Value::Bool(flag) => (!flag).into(),
                Value::Number(number) => (number.as_u64().unwrap() + 1).into(),
                Value::String(text) => format!("{text}x").into(),
                _ => json!(["other"]),
            };
            let mut lines: Vec<String> = lines[..=index].iter().map(|line| (*line).to_string()).collect();
            lines[index] = other.to_string();
            let found = replayed(&lines.join("\n")).unwrap();
            let difference = found.difference.unwrap_or_else(|| panic!("{leaf} of line {}", index + 1));
            assert_eq!(difference.line as usize, index + 1);
            let place = format!("/{}", difference.at.replace(['.', '['], "/").replace(']', ""));
            assert!(leaf.starts_with(&place) || place.starts_with(&leaf), "{leaf}: {difference:?}");
            assert_ne!(difference.recorded, difference.actual);
            assert_eq!(found.calls as usize, index - 1);
            changed += 1;
        }
    }
    assert!(changed > 60, "{changed}");
}

#[test]
fn a_call_that_is_missing_or_repeated_is_found() {
    let trace = trace();
    let lines: Vec<&str> = trace.lines().collect();
    let mut left_out = 0;
    for index in 1..lines.len() - 1 {
        let mut fewer = lines.clone();
        let removed = fewer.remove(index);
        let found = replayed(&fewer.join("\n"));
        // A run may end at any call. A missing call is found only if later calls depend on it.
        if removed.starts_with("{\"submit\"") && !removed.contains("\"requests\":[]") {
            assert!(found.as_ref().map_or(true, |found| found.difference.is_some()), "{removed}: {found:?}");
            left_out += 1;
        }
        let mut twice = lines.clone();
        twice.insert(index, lines[index]);
        let found = replayed(&twice.join("\n")).unwrap();
        let repeats = lines[index].contains("invalid-result");
        assert!(repeats || found.difference.is_some(), "{}", lines[index]);
    }
    assert!(left_out >= 5, "{left_out}");
}

#[test]
fn a_line_that_was_cut_off_is_passed_over_and_named() {
    let trace = trace();
    let count = trace.lines().count() as u64;
    let last = trace.trim_end().rfind('\n').unwrap() + 1;
    for cut in [last + 1, last + 20, trace.len() - 2] {
        let found = replayed(&trace[..cut]).unwrap();
        assert_eq!((found.cut, found.calls, found.difference), (vec![count], count - 2, None), "{cut}");
    }
    let found = replayed(&trace[..trace.len() - 1]).unwrap();
    assert_eq!((found.cut.len(), found.calls), (0, count - 1), "only the line end is missing");
    // Another run has been appended, which ended the line.
    let both = format!("{}\n{trace}", &trace[..last + 20]);
    let found = replayed(&both).unwrap();
    assert_eq!((found.cut, found.memories, found.calls), (vec![count], 2, 2 * count - 3));
    // Such a line is the end of a run, or damaged.
    let within = format!("{}\n{}", &trace[..last - 20], &trace[last..]);
    assert!(matches!(replayed(&within), Err(ReplayError::NotJson { line, .. }) if line == count - 1));
    let ended = format!("{}\n", &trace[..last + 20]);
    assert!(matches!(replayed(&ended), Err(ReplayError::NotJson { line, .. }) if line == count));
}

#[test]
fn a_file_that_is_not_a_trace_is_refused_by_name() {
    let trace = trace();
    let (header, calls) = trace.split_once('\n').unwrap();
    let with = |from: &str, to: &str| {
        assert!(header.contains(from), "{header}");
        replayed(&format!("{}\n{calls}", header.replacen(from, to, 1))).unwrap_err().to_string()
    };
    assert_eq!(replayed("").unwrap_err().to_string(), "the trace is empty");
    assert_eq!(replayed(calls).unwrap_err().to_string(), "line 1 has a call, but no header comes before it");
    let other = with("\"saddlebag-trace\":1", "\"saddlebag-trace\":2");
    assert!(other.starts_with("line 1 begins a trace of version 2 of saddlebag:memory@"), "{other}");
    let other = with("\"saddlebag:memory@", "\"saddlebag:memory@9");
    assert!(
        other.contains("of saddlebag:memory@9") && other.contains("; this program replays version 1 of"),
        "{other}"
    );
    assert!(with("\"config\":{", "\"config\":{\"more\":1,").contains("at `config`: the field `more` is unknown"));
    assert!(with("\"project\":\"proj\"", "\"project\":\"../x\"").contains("line 1: `../x` is not a project slug"));
    let unknown = format!("{header}\n{{\"open\":{{}},\"returned\":null}}\n");
    let refused = replayed(&unknown).unwrap_err().to_string();
    assert!(
        refused.starts_with("line 2 is not a line of a trace") && refused.contains("none of the calls"),
        "{refused}"
    );
    let mut lines: Vec<String> = trace.lines().map(str::to_string).collect();
    let take = lines.iter().position(|line| line.starts_with("{\"take\"")).unwrap();
    lines[take] = lines[take].replace("{\"id\"", "{\"interface\":\"entries\",\"id\"");
    let refused = replayed(&lines.join("\n")).unwrap_err().to_string();
    assert!(refused.contains("at `take`: the field `interface` is unknown"), "{refused}");
    for damaged in ["\u{0}", "[]", "{}", "\"x\"", "null"] {
        assert!(replayed(&format!("{header}\n{damaged}\n")).is_err(), "{damaged:?}");
    }
}
