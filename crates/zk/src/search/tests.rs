//! The recorded answers of zk to `--match` and mentions. The other filters are the memory's.

use chrono::DateTime;
use proptest::prelude::*;
use saddlebag::document::{Note, TagSyntax};
use saddlebag::notebook::SortBy;
use serde_json::Value;

use super::*;

fn note(path: &str, text: &str) -> NoteInfo {
    // As the notebook of the recorded answers is configured.
    let syntax = TagSyntax { hashtags: true, colon_tags: true, multiword_tags: true };
    let note = Note::parse(text, syntax).into_zk();
    NoteInfo {
        path: path.into(),
        title: note.title.clone(),
        body: text[note.body.clone()].into(),
        text: text.into(),
        word_count: note.word_count,
        aliases: note.aliases.clone(),
        ..NoteInfo::default()
    }
}

/// The notes as the memory lists them: by title.
fn recorded(all: &Value) -> Vec<NoteInfo> {
    let text = |value: &Value| value.as_str().expect("text").to_string();
    let nanoseconds = |value: &Value| {
        let time = DateTime::parse_from_rfc3339(&text(value)).expect("a date");
        u64::try_from(time.timestamp_nanos_opt().expect("in range")).expect("after 1970")
    };
    let notes = all.as_array().expect("notes").iter().map(|recorded| NoteInfo {
        created: nanoseconds(&recorded["created"]),
        modified: nanoseconds(&recorded["modified"]),
        ..note(&text(&recorded["path"]), &text(&recorded["rawContent"]))
    });
    let mut notes: Vec<NoteInfo> = notes.collect();
    notes.sort_by(|a, b| (&a.title, &a.path).cmp(&(&b.title, &b.path)));
    notes
}

fn expected() -> Value {
    serde_json::from_str(include_str!("../../../../tests/vectors/zk/expected.json")).expect("valid")
}

/// The search of a recorded case, as its shell gave the arguments. `None` if the memory has to filter, or if the case is
/// about the command line.
fn search(args: &[&str]) -> Option<TextSearch> {
    let (mut search, mut strategy, mut queries) = (TextSearch::default(), "fts", Vec::new());
    for arg in args {
        let (flag, value) = arg.split_once('=').unwrap_or((arg, ""));
        match flag {
            "-Me" => strategy = "e",
            "-Mr" => strategy = "r",
            "--match" => queries.extend(value.split(',').map(|part| part.replace('\\', ""))),
            "--mention" => search.mention.push(value.into()),
            "--mentioned-by" => search.mentioned_by.push(value.into()),
            _ => return None,
        }
    }
    search.queries = Queries::new(strategy, queries).expect("valid");
    Some(search)
}

fn paths(notes: &[NoteInfo]) -> Vec<&str> {
    notes.iter().map(|note| note.path.as_str()).collect()
}

#[test]
fn notes_are_found_as_zk_finds_them() {
    let expected = expected();
    let all = recorded(&expected["json_all"]);
    let mut run = 0;
    for case in expected["cases"].as_array().expect("cases") {
        let args: Vec<&str> = case["args"].as_array().expect("args").iter().filter_map(Value::as_str).collect();
        let Some(search) = search(&args) else { continue };
        let mut notes = all.clone();
        let found = search.keep(&mut notes, &all);
        let recorded: Vec<&str> = case["paths"].as_array().expect("paths").iter().filter_map(Value::as_str).collect();
        assert_eq!(case["rc"], 0, "{args:?}");
        // zk says nothing about a query that it cannot read.
        match found {
            Ok(()) => assert_eq!(paths(&notes), recorded, "{args:?}"),
            Err(error) => assert_eq!(recorded, [""; 0], "{args:?}: {error}"),
        }
        run += 1;
    }
    assert!(run >= 36, "only {run} cases ran");
}

#[test]
fn snippets_of_matches_are_those_that_zk_records() {
    let expected = expected();
    let all = recorded(&expected["json_all"]);
    let mut notes = all.clone();
    search(&["--match=database port"]).expect("a search").keep(&mut notes, &all).expect("valid");
    let found: Vec<Value> =
        notes.iter().map(|note| serde_json::json!({ "path": note.path, "snippets": note.snippets })).collect();
    let recorded: Vec<Value> = expected["json_match"]
        .as_array()
        .expect("notes")
        .iter()
        .map(|note| serde_json::json!({ "path": note["path"], "snippets": note["snippets"] }))
        .collect();
    assert_eq!(found, recorded);
}

#[test]
fn keys_come_before_the_score_and_the_limit_counts_what_is_found() {
    let all = [note("b.md", "# B\n\nport"), note("a.md", "# A\n\nport port"), note("c.md", "# C\n\nfar from it")];
    let mut search =
        TextSearch { queries: Queries::new("fts", vec!["port".into()]).expect("valid"), ..TextSearch::default() };
    let found = |search: &TextSearch| {
        let mut notes = all.to_vec();
        search.keep(&mut notes, &all).expect("valid");
        notes.into_iter().map(|note| note.path).collect::<Vec<_>>()
    };
    assert_eq!(found(&search), ["a.md", "b.md"]);
    search.sort = vec![SortKey { by: SortBy::Path, ascending: false }];
    assert_eq!(found(&search), ["b.md", "a.md"]);
    search.limit = Some(1);
    assert_eq!(found(&search), ["b.md"]);
}

#[test]
fn a_filtered_listing_is_scored_among_all_notes() {
    let all = [note("a.md", "# A\n\nport"), note("b.md", "# B\n\nport port port"), note("c.md", "# C\n\nnothing")];
    let search =
        TextSearch { queries: Queries::new("fts", vec!["port".into()]).expect("valid"), ..TextSearch::default() };
    let mut notes = vec![all[0].clone(), all[2].clone(), note("new.md", "# New\n\nport, since the listing")];
    search.keep(&mut notes, &all).expect("valid");
    assert_eq!(paths(&notes), ["a.md"]);
}

#[test]
fn a_mistake_is_named() {
    let all = [note("a.md", "# A")];
    let refused = |args: &[&str]| {
        let search = search(args).expect("a search");
        search.keep(&mut all.to_vec(), &all).expect_err("refused").to_string()
    };
    assert_eq!(refused(&["--match=port OR"]), "not a query: `port OR`: the query ends where a term is due");
    assert_eq!(refused(&["--mention=nope"]), "could not find notes at: nope");
    assert_eq!(refused(&["--mentioned-by=nope"]), "could not find notes at: nope");
}

#[test]
fn a_hostile_expression_is_refused() {
    for pattern in [r"(\w{1000}){1000}", "(a{1000}){1000}", &"(".repeat(10_000), "(", "[z-a]"] {
        assert!(Queries::new("re", vec![pattern.to_string()]).is_err(), "{}", &pattern[..20.min(pattern.len())]);
    }
    let refused = Queries::new("re", vec!["(".into()]).expect_err("refused");
    assert!(refused.starts_with("not a regular expression: `(`: unclosed group\n"), "{refused}");
}

#[test]
fn the_limit_counts_what_matches() {
    let note = |text: &str| NoteInfo { text: text.into(), ..NoteInfo::default() };
    let mut notes = vec![note("Postgres 5432"), note("port"), note("postgres\n# 42"), note("postgres 1")];
    let patterns = vec!["(?i)postgres".into(), " ".into(), r"\d\d$".into()];
    let queries = Queries::new("re", patterns).expect("valid");
    TextSearch { queries, limit: Some(1), ..TextSearch::default() }.keep(&mut notes, &[]).expect("valid");
    assert_eq!(notes, [note("Postgres 5432")]);
}

proptest! {
    #[test]
    fn no_query_stops_the_search(query in "(fact|port|OR|NOT|\\(|\\)|\"|\\*|:|title|-|\\^|NEAR| |\\PC){0,12}", text in "\\PC{0,40}") {
        let all = [note("facts/fact.md", &text), note("port.md", "# Port\n\nfact port")];
        let queries = Queries::new("fts", vec![query]).expect("valid");
        let mut notes = all.to_vec();
        let found = TextSearch { queries, ..TextSearch::default() }.keep(&mut notes, &all);
        prop_assert!(found.is_err() || notes.len() <= all.len());
    }
}

#[test]
fn a_damaged_query_is_answered_or_refused_and_finds_only_notes_that_there_are() {
    let samples: [&[u8]; 8] = [
        b"fact port",
        b"\"exact phrase\" | fact -port",
        b"title: (fact OR port) NOT body: zebra*",
        b"^fact NEAR(port fact, 3)",
        b"((a b) OR (c AND d)) -\"e f\"",
        b"p\\(o\\)rt (?i)F.CT [a-z]+$",
        b"path: facts* title: \xc3\xa9",
        b"-- \"\" '' : ^ * + { } fact",
    ];
    let all = [note("facts/fact.md", "# Fact\n\nfact port \u{e9}"), note("port.md", "# Port\n\nfact \"exact phrase\"")];
    saddlebag_tests_shared::mutations::each_mutation(2, &samples, 4_000, |bytes| {
        let query = String::from_utf8_lossy(bytes).into_owned();
        for strategy in ["fts", "exact", "re"] {
            let Ok(queries) = Queries::new(strategy, vec![query.clone()]) else { continue };
            let answer = || {
                let mut notes = all.to_vec();
                let found = TextSearch { queries: queries.clone(), ..TextSearch::default() }.keep(&mut notes, &all);
                found.map(|()| notes)
            };
            let found = answer();
            assert_eq!(found, answer(), "{strategy}");
            let paths: Vec<String> = found.iter().flatten().map(|note| note.path.clone()).collect();
            assert!(
                paths.len() <= 2 && paths.iter().all(|path| all.iter().any(|note| note.path == *path)),
                "{paths:?}"
            );
        }
    });
}
