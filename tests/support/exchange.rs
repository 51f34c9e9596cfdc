//! Recordings of basic-memory's parser and of the memory server of the Model Context Protocol.

use saddlebag::exchange::{ForeignFile, Format, parse_basic_memory, read_files, write_files};
use serde_json::{Value, json};

/// Returns the number of cases of basic-memory, and the differences: after reading, and after writing and reading
/// again.
pub fn basic_memory(recorded: &Value) -> (usize, Vec<String>) {
    let cases = recorded["cases"].as_array().expect("cases");
    let failures = cases.iter().filter_map(|case| {
        let input = case["input"].as_str().expect("a text");
        let (observations, relations) = parse_basic_memory(input);
        let written =
            observations.iter().map(|found| found.render()).chain(relations.iter().map(|found| found.render()));
        let again: Vec<_> = written.map(|line| parse_basic_memory(&line)).collect();
        let read = as_json((&observations, &relations));
        let observed: Vec<_> = again.iter().take(observations.len()).flat_map(|(found, _)| found.clone()).collect();
        let related: Vec<_> = again.iter().skip(observations.len()).flat_map(|(_, found)| found.clone()).collect();
        let expected = (case["observations"].clone(), case["relations"].clone());
        let is_same = read == expected && as_json((&observed, &related)) == expected;
        (!is_same).then(|| format!("basic-memory: {input:?}: {read:?}, written: {again:?}"))
    });
    (cases.len(), failures.collect())
}

fn as_json(
    (observations, relations): (&Vec<saddlebag::exchange::Observation>, &Vec<saddlebag::exchange::Relation>),
) -> (Value, Value) {
    let observations = observations.iter().map(
        |found| json!({ "category": found.category, "content": found.content, "tags": found.tags, "context": found.context }),
    );
    let relations =
        relations.iter().map(|found| json!({ "type": found.kind, "target": found.target, "context": found.context }));
    (observations.collect(), relations.collect())
}

/// Reads each recorded file of the memory server and writes it again. Returns the number of files and the differences.
/// Lines in `once` are expected without their repetitions.
pub fn mcp_memory(recorded: &Value, once: &[String]) -> (usize, Vec<String>) {
    let steps = recorded["steps"].as_array().expect("steps");
    let failures = steps.iter().filter_map(|step| {
        let text = step["file_after"].as_str().expect("a text");
        let mut lines: Vec<&str> = Vec::new();
        for line in text.split('\n') {
            if !(once.iter().any(|once| once == line) && lines.contains(&line)) {
                lines.push(line);
            }
        }
        let file = ForeignFile { path: "memory.jsonl".into(), first_line: 1, content: Ok(text.as_bytes().to_vec()) };
        let (entries, rejected) = read_files(Format::McpMemory, &[file], &[]);
        let (files, _) = write_files(Format::McpMemory, &entries).expect("written");
        let written = files.first().map(|(_, text)| text.as_str());
        let is_same = rejected.is_empty() && written == Some(&lines.join("\n"));
        (!is_same).then(|| format!("mcp-memory after {}: {written:?}, {rejected:?}", step["tool"]))
    });
    (steps.len(), failures.collect())
}
