use serde_json::Value;

use super::*;
use crate::args::{Asked, ZkCommand, parse};

const NOW: Context = Context { now: 1_767_787_200_000_000_000, utc_offset_seconds: 0 };

fn recorded() -> Value {
    serde_json::from_str(include_str!("../../../../tests/vectors/zk/expected.json")).expect("valid")
}

fn frame(arguments: &[&str]) -> FrameArgs {
    match parse(["list"].iter().chain(arguments).map(Into::into)) {
        Ok(Asked::Run(zk)) => match zk.command {
            ZkCommand::List(list) => list.frame,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn nanoseconds(value: &Value) -> u64 {
    let text = value.as_str().expect("text");
    let whole = saddlebag_time(text);
    let fraction = text.trim_end_matches('Z').split_once('.').map_or("", |(_, digits)| digits);
    whole * 1_000_000_000 + format!("{fraction:0<9}").parse::<u64>().expect("digits")
}

/// Returns the seconds of an RFC 3339 time in UTC, by searching for the time that is written this way.
fn saddlebag_time(text: &str) -> u64 {
    let wanted = text.get(..19).expect("a time");
    let (mut low, mut high) = (0_u64, 4_000_000_000_u64);
    while low < high {
        let middle = u64::midpoint(low, high);
        if time::rfc3339(middle * 1_000_000_000).trim_end_matches('Z') < wanted {
            low = middle + 1
        } else {
            high = middle
        }
    }
    low
}

fn string(value: &Value) -> String {
    value.as_str().expect("text").into()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().expect("a list").iter().map(string).collect()
}

fn note(value: &Value) -> ListedNote {
    ListedNote {
        filename: string(&value["filename"]),
        filename_stem: string(&value["filenameStem"]),
        path: string(&value["path"]),
        abs_path: string(&value["absPath"]),
        title: string(&value["title"]),
        link: string(&value["link"]),
        lead: string(&value["lead"]),
        body: string(&value["body"]),
        snippets: strings(&value["snippets"]),
        raw_content: string(&value["rawContent"]),
        word_count: value["wordCount"].as_u64().and_then(|n| n.try_into().ok()).expect("a number"),
        tags: strings(&value["tags"]),
        metadata: value["metadata"].clone(),
        created: nanoseconds(&value["created"]),
        modified: nanoseconds(&value["modified"]),
        checksum: string(&value["checksum"]),
        unapproved: None,
    }
}

fn all_notes(value: &Value) -> Vec<ListedNote> {
    value.as_array().expect("notes").iter().map(note).collect()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("valid JSON")
}

#[test]
fn json_is_what_zk_recorded() {
    let recorded = recorded();
    for key in ["json_all", "json_match"] {
        let printed = notes(&all_notes(&recorded[key]), &frame(&["-f", "json"]), &NOW).expect("valid");
        assert_eq!(parsed(&printed), recorded[key], "{key}");
        assert!(printed.ends_with("}]\n") && printed.lines().count() == 1);
    }
    let printed = notes(&all_notes(&recorded["json_all"]), &frame(&["-fjsonl"]), &NOW).expect("valid");
    let lines: Vec<Value> = printed.lines().map(parsed).collect();
    assert_eq!((Value::from(lines), printed.ends_with("}\n")), (recorded["json_all"].clone(), true));
}

#[test]
fn fields_have_their_order_and_gos_escapes() {
    let mut one = note(&recorded()["json_all"][0]);
    one.title = "a <b> & c".into();
    let printed = notes(&[one], &frame(&["-f", "json"]), &NOW).expect("valid");
    let fields = [
        "filename",
        "filenameStem",
        "path",
        "absPath",
        "title",
        "link",
        "lead",
        "body",
        "snippets",
        "rawContent",
        "wordCount",
        "tags",
        "metadata",
        "created",
        "modified",
        "checksum",
    ];
    let places: Vec<usize> = fields.iter().map(|field| printed.find(&format!("\"{field}\":")).expect(field)).collect();
    assert!(places.is_sorted(), "{printed}");
    assert!(printed.contains(r#""title":"a \u003cb\u003e \u0026 c""#));
}

#[test]
fn no_notes_print_nothing() {
    for format in ["json", "jsonl", "path", "short", "oneline", "{{title}}"] {
        assert_eq!(notes(&[], &frame(&["-f", format,]), &NOW), Ok(String::new()), "{format}");
    }
    assert_eq!(notes(&[], &frame(&["-fpath", "--header", "x", "--footer", "y"]), &NOW), Ok(String::new()));
}

#[test]
fn tags_and_graph_are_what_zk_recorded() {
    let recorded = recorded();
    let tag = |value: &Value| ListedTag {
        id: value["id"].as_u64().expect("a number"),
        name: string(&value["name"]),
        note_count: value["noteCount"].as_u64().and_then(|n| n.try_into().ok()).expect("a number"),
    };
    let all: Vec<ListedTag> = recorded["tags"].as_array().expect("tags").iter().rev().map(tag).collect();
    let printed =
        |format, keys: &[(TagKey, bool)]| tags(all.clone(), keys, &frame(&["-f", format]), &NOW).expect("valid");
    assert_eq!(parsed(&printed("json", &[])), recorded["tags"]);
    assert!(
        printed("full", &[(TagKey::NoteCount, false)]).starts_with("db (2)\ndecision (2)\ninfra (2)\ndocs/style (1)\n")
    );
    assert!(printed("name", &[]).ends_with("\nsecrets\nwifi\n"));

    let link = |value: &Value| ListedLink {
        title: string(&value["title"]),
        href: string(&value["href"]),
        kind: if value["type"] == "markdown" { "markdown" } else { "wiki-link" },
        is_external: value["isExternal"].as_bool().expect("a boolean"),
        rels: strings(&value["rels"]),
        snippet: string(&value["snippet"]),
        snippet_start: value["snippetStart"].as_u64().expect("a number"),
        snippet_end: value["snippetEnd"].as_u64().expect("a number"),
        source_id: value["sourceId"].as_u64().expect("a number"),
        source_path: string(&value["sourcePath"]),
        target_id: value["targetId"].as_u64().expect("a number"),
        target_path: string(&value["targetPath"]),
    };
    let links: Vec<ListedLink> = recorded["graph"]["links"].as_array().expect("links").iter().map(link).collect();
    assert_eq!(parsed(&graph(&all_notes(&recorded["graph"]["notes"]), &links)), recorded["graph"]);
}

#[test]
fn templates_are_filled() {
    let one = [note(&recorded()["json_all"][2])];
    let fill = |template: &str| notes(&one, &frame(&["--footer", "", "-f", template]), &NOW);
    for (template, expected) in [
        (r"{{json path}}\t{{json title}}", "\"decisions/use-postgres.md\"\t\"Use Postgres\""),
        ("{{path}}", "decisions/use-postgres.md"),
        ("{{{title}}} {{! nothing }}{{ word-count }}", "Use Postgres 26"),
        ("{{format-date created '%Y'}} {{format-date modified \"long\"}}", "2026 January 05, 2026"),
        ("{{format-date created}}", "2026-01-04"),
        ("{{join tags ' + '}} {{json tags}}", "decision + db [\"decision\",\"db\"]"),
        ("{{metadata.status}} {{metadata.score}} {{metadata.none}}", "accepted 0.8 "),
        ("{{style 'bold' title}}", "Use Postgres"),
        ("{{filename-stem}} {{created}}", "use-postgres 2026-01-04T08:00:00Z"),
    ] {
        assert_eq!(fill(template).as_deref(), Ok(expected), "{template}");
    }
    for broken in ["{{nope}}", "{{sh 'ls'}}", "{{#if title}}x{{/if}}", "{{title", "{{}}", "{{json 'a}}", "{{x y}}"] {
        assert!(fill(broken).is_err(), "{broken}");
    }
    assert_eq!(parsed(&fill("{{json .}}").expect("valid")), recorded()["json_all"][2]);
}

#[test]
fn people_see_title_path_and_snippet() {
    let one = [note(&recorded()["json_all"][2])];
    let printed = |format| notes(&one, &frame(&["-f", format]), &NOW).expect("valid");
    assert_eq!(printed("oneline"), "Use Postgres decisions/use-postgres.md (3 days ago)\n");
    assert_eq!(printed("link"), "[[decisions/use-postgres]]\n");
    assert!(printed("short").contains("\n\n  We chose Postgres over MySQL."));
    assert!(printed("long").contains("\nCreated: Jan 04, 2026\nModified: Jan 05, 2026\nTags: decision, db\n"));
    assert!(printed("full").contains("  We chose"));
}

#[test]
fn frames_are_for_text() {
    let some = all_notes(&recorded()["json_all"]);
    let two = some.get(..2).expect("two");
    let printed = |arguments: &[&str]| notes(two, &frame(arguments), &NOW);
    assert_eq!(
        printed(&["-fpath", "--header=[", "-d,", "--footer=]\\n"]).as_deref(),
        Ok("[daily/2026-01-05.md,daily/2026-01-06.md]\n")
    );
    assert_eq!(printed(&["-fpath", "-0"]).as_deref(), Ok("daily/2026-01-05.md\0daily/2026-01-06.md\n"));
    assert!(printed(&["-fjson", "--header=x"]).is_err());
}
