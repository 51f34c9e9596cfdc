//! Tests of every format with its own files, and round trips.

use proptest::prelude::*;

use super::export_to::page;
use super::*;
use crate::entries::{ForeignEntry, MAX_IMPORT_BYTES};
use crate::store::utc_text;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::ErrorCode;

/// 2026-05-25T12:00:00Z, in nanoseconds.
const NOON: u64 = 1_779_710_400_000_000_000;

fn files(texts: &[(&str, &str)]) -> Vec<ForeignFile> {
    let file = |(path, text): &(&str, &str)| ForeignFile {
        path: (*path).into(),
        first_line: 1,
        content: Ok(text.as_bytes().to_vec()),
    };
    texts.iter().map(file).collect()
}

fn read(format: Format, texts: &[(&str, &str)]) -> Vec<ForeignEntry> {
    let (entries, rejected) = read_files(format, &files(texts), &[]);
    assert_eq!(rejected, []);
    entries
}

fn rejected(format: Format, texts: &[(&str, &str)]) -> Vec<(u32, String)> {
    let (_, rejected) = read_files(format, &files(texts), &[]);
    rejected.into_iter().map(|part| (part.line, part.reason)).collect()
}

fn said(entries: &[ForeignEntry]) -> Vec<(&str, &str, &str)> {
    entries.iter().map(|entry| (entry.key.as_str(), entry.category.as_str(), entry.content.as_str())).collect()
}

fn entry(key: &str, content: &str) -> ForeignEntry {
    ForeignEntry {
        key: key.into(),
        category: "core".into(),
        content: content.into(),
        created: Some(NOON),
        updated: Some(NOON + 1_000_000_000),
        ..ForeignEntry::default()
    }
}

/// Returns the entries after an export and import, and the losses that the export reported.
fn there_and_back(format: Format, entries: &[ForeignEntry]) -> (Vec<ForeignEntry>, Vec<Loss>) {
    let (written, losses) = write_files(format, entries).expect("written");
    let texts: Vec<(&str, &str)> = written.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    (read_files(format, &files(&texts), &[]).0, losses)
}

fn fields(losses: &[Loss]) -> Vec<(&str, &str)> {
    losses.iter().map(|loss| (loss.key.as_str(), loss.field.as_str())).collect()
}

#[test]
fn claude_code_has_topics_and_an_index() {
    let entries = read(
        Format::ClaudeCode,
        &[
            (
                "MEMORY.md",
                "# Memory\n- [Role](role.md) — senior engineer\n- [Deploy Target](gone.md) — staging first\n\nUse tabs.\n",
            ),
            (
                "role.md",
                "---\nname: user-role\ndescription: who the user is\ntype: user\n---\n\nEngineer.\n\n**Why:** asked\n",
            ),
            ("build.md", "---\nname: build\nmetadata:\n  type: project\n---\nUse `cargo xtask`.\n"),
            ("plain.md", "No frontmatter.\n"),
        ],
    );
    assert_eq!(
        said(&entries),
        [
            ("claude_code_deploy_target", "core", "staging first"),
            ("claude_code_memory", "core", "Use tabs."),
            ("user-role", "core", "Engineer.\n\n**Why:** asked"),
            ("build", "core", "Use `cargo xtask`."),
            ("plain", "core", "No frontmatter."),
        ]
    );
    assert_eq!(entries[2].tags, ["claude-code", "type:user"]);
    assert_eq!(entries[2].summary.as_deref(), Some("who the user is"));
    assert_eq!((entries[0].line, entries[1].line), (3, 5));
}

#[test]
fn an_index_line_whose_file_comes_later_is_not_an_entry() {
    let index = files(&[("MEMORY.md", "- [Role](role.md) — x\n")]);
    assert_eq!(read_files(Format::ClaudeCode, &index, &["role.md".to_string()]).0, []);
}

#[test]
fn the_index_of_claude_code_is_never_cut_silently() {
    let entries: Vec<ForeignEntry> = (0..300).map(|i| entry(&format!("k{i:03}"), &"word ".repeat(40))).collect();
    let (written, losses) = write_files(Format::ClaudeCode, &entries).unwrap();
    let (_, index) = written.iter().find(|(path, _)| path == "MEMORY.md").unwrap();
    assert!(index.lines().count() <= 200 && index.len() <= 25_000, "{} {}", index.lines().count(), index.len());
    let listed = index.lines().filter(|line| line.starts_with("- [")).count();
    assert!(
        index.ends_with(&format!("<!-- {} more memories are in this folder and not listed here -->\n", 300 - listed))
    );
    assert_eq!((written.len(), losses), (301, vec![]));
}

#[test]
fn openclaw_has_keys_headings_days_and_long_items() {
    let entries = read(
        Format::OpenClaw,
        &[
            (
                "MEMORY.md",
                "# Memory\n\n## People\n- **bob**: likes tea\n  - and cake\n\n  on Sundays\n- no key\n\n### Work\nA paragraph\nof two lines\n\n\
                 ```\ncode\n\n- not an item\n```\n## Rules\n* star\n",
            ),
            ("memory/2026-05-20.md", "# 2026-05-20\n- deployed\n"),
        ],
    );
    assert_eq!(
        said(&entries),
        [
            ("bob", "core", "likes tea\n- and cake\n\non Sundays"),
            ("openclaw_core_8", "core", "no key"),
            ("openclaw_core_11", "core", "A paragraph\nof two lines"),
            ("openclaw_core_14", "core", "```\ncode\n\n- not an item\n```"),
            ("openclaw_core_20", "core", "star"),
            ("openclaw_2026-05-20_2", "daily", "deployed"),
        ]
    );
    assert_eq!(entries[2].tags, ["People", "Work"]);
    assert_eq!(entries[4].tags, ["Rules"]);
    assert_eq!(entries[5].created.map(utc_text).as_deref(), Some("2026-05-20T00:00:00Z"));
    assert!(entries[1].is_positional && !entries[0].is_positional);
}

/// Returns the text of a snapshot of ZeroClaw.
fn zeroclaw(memories: &[(&str, &str)]) -> String {
    let total = memories.len();
    let mut text = format!(
        "# 🧠 ZeroClaw Memory Snapshot\n\n**Last exported:** 2026-05-20 10:00:00\n**Total core memories:** {total}\n\n"
    );
    for (key, content) in memories {
        let dates = "*Created: 2026-01-02T03:04:05+00:00 | Updated: 2026-01-03T03:04:05+00:00*";
        text.push_str(&format!("### 🔑 `{key}`\n\n{content}\n\n{dates}\n\n---\n\n"));
    }
    text
}

#[test]
fn a_snapshot_of_zeroclaw_is_read_with_the_lines_that_its_own_reader_drops() {
    let guarded = "before\n\\---\n\\*Created: by hand*\n\\### 🔑 `no key`\n\\\\---\n";
    let text = zeroclaw(&[("a%60b%2541", guarded), ("z", "\n\n\\---\n\n")]);
    let entries = read(Format::ZeroClaw, &[("MEMORY_SNAPSHOT.md", &text)]);
    let content = "before\n---\n*Created: by hand*\n### 🔑 `no key`\n\\---\n";
    assert_eq!(said(&entries), [("a`b%41", "core", content), ("z", "core", "\n\n---\n\n")]);
    // ZeroClaw itself writes such a content like this.
    let theirs = zeroclaw(&[("k", "first\n---\n*Created: x*\nlast")]);
    let entries = read(Format::ZeroClaw, &[("MEMORY_SNAPSHOT.md", &theirs)]);
    assert_eq!(said(&entries), [("k", "core", "first\n---\n*Created: x*\nlast")]);
    assert_eq!(entries[0].updated.map(utc_text).as_deref(), Some("2026-01-03T03:04:05Z"));
    // A heading without a key does not begin an entry, so it does not end one either.
    let odd = theirs.replace("\nlast\n", "\n### 🔑 `\nlast\n");
    let entries = read(Format::ZeroClaw, &[("MEMORY_SNAPSHOT.md", &odd)]);
    assert_eq!(said(&entries), [("k", "core", "first\n---\n*Created: x*\n### 🔑 `\nlast")]);
}

#[test]
fn snapshots_that_are_cut_short_or_unknown_are_rejected() {
    let whole = zeroclaw(&[("a", "x"), ("b", "y")]);
    let cut = whole.get(..whole.find("y\n").unwrap()).unwrap();
    let reasons = rejected(Format::ZeroClaw, &[("MEMORY_SNAPSHOT.md", cut)]);
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert!(reasons[0].1.contains("`b` has no line of dates") && reasons[1].1.contains("2 memories but has 1"));
    let unknown = rejected(Format::ZeroClaw, &[("MEMORY_SNAPSHOT.md", "# ZeroClaw Snapshot v9\n")]);
    assert!(unknown[0].1.contains("not a known snapshot: its first line is `# ZeroClaw Snapshot v9`"));
    for (text, reason) in [
        ("[{\"key\": \"a\"", "incomplete"),
        ("{\"version\": 2, \"memories\": []}", "an array of memories is expected"),
        ("[{\"key\": 1, \"content\": \"x\"}]", "memory 1: `key` must be a string"),
    ] {
        let reasons = rejected(Format::NullClaw, &[("MEMORY_SNAPSHOT.json", text)]);
        assert!(reasons[0].1.contains(reason), "{reasons:?}");
    }
    let lines = "{\"version\":2,\"key\":\"a\",\"content\":\"x\"}\n{\"key\":\"b\",\"content\":\"x\",\"colour\":1}\n{\"key\"\n[]\n{\"key\":\"c\"}\n";
    let reasons = rejected(Format::JsonLines, &[("x.jsonl", lines)]);
    assert_eq!(reasons.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(reasons[0].1.contains("version is 2") && reasons[1].1.contains("unknown field `colour`"), "{reasons:?}");
    let codex = [("memory_summary.md", "v2\n"), ("MEMORY.md", "## User preferences\n- tabs\n")];
    assert!(rejected(Format::Codex, &codex)[0].1.contains("its version is `v2`, the supported version is `v1`"));
}

#[test]
fn nullclaw_has_seconds_or_milliseconds() {
    let text = r#"[{"key":"a","content":"x","category":"core","timestamp":"1779710400"},
                   {"key":"b","content":"y","category":"daily","timestamp":1779710400000},
                   {"key":"c","content":"z","timestamp":"2026-05-25T12:00:00Z"}]"#;
    let entries = read(Format::NullClaw, &[("MEMORY_SNAPSHOT.json", text)]);
    assert_eq!(said(&entries), [("a", "core", "x"), ("b", "daily", "y"), ("c", "core", "z")]);
    assert!(entries.iter().all(|entry| entry.updated == Some(NOON)));
}

#[test]
fn hermes_has_texts_between_lines_of_a_mark() {
    let entries = read(Format::Hermes, &[("MEMORY.md", "one\n§\ntwo\nlines"), ("USER.md", "likes tea\n")]);
    assert_eq!(
        entries.iter().map(|entry| entry.content.as_str()).collect::<Vec<_>>(),
        ["one", "two\nlines", "likes tea"]
    );
    assert_eq!((entries[1].line, entries[2].tags.as_slice()), (3, &["user-profile".to_string()][..]));
    assert!(entries[0].key.starts_with("hermes_memory_"));
}

#[test]
fn gemini_has_a_section() {
    let text =
        "# Context\n- not this\n\n## Gemini Added Memories\n- first fact\n- second fact\n\n## Other\n- nor this\n";
    let entries = read(Format::Gemini, &[("GEMINI.md", text), ("MEMORY.md", "- [A](a.md) — of a project\n")]);
    assert_eq!(
        entries.iter().map(|entry| entry.content.as_str()).collect::<Vec<_>>(),
        ["of a project", "first fact", "second fact"]
    );
    assert_eq!(entries[0].key, "gemini_a");
}

#[test]
fn everything_in_the_section_of_gemini_is_read() {
    let text = "## Gemini Added Memories\n- wrapped\n  by a formatter\n* star\n+ plus\n- outer\n  - inner\n\nA paragraph\nof two lines.\n\n\
                ### More\n- below it\n-\n\n# Other\n- not this\n";
    let entries = read(Format::Gemini, &[("GEMINI.md", text)]);
    let texts: Vec<&str> = entries.iter().map(|entry| entry.content.as_str()).collect();
    let wanted =
        ["wrapped\nby a formatter", "star", "plus", "outer\n- inner", "A paragraph\nof two lines.", "below it"];
    assert_eq!(texts, wanted);
    assert_eq!(entries[4].line, 9);
    let code = "- run it:\n  ~~~sh\n  # a comment\n  ```\n\n  - x\n  ~~~\n- second\n";
    let entries = read(Format::Gemini, &[("GEMINI.md", &format!("## Gemini Added Memories\n{code}"))]);
    let texts: Vec<&str> = entries.iter().map(|entry| entry.content.as_str()).collect();
    assert_eq!(texts, ["run it:\n~~~sh\n# a comment\n```\n\n- x\n~~~", "second"]);
}

#[test]
fn windows_line_ends_separate_the_texts_of_hermes() {
    let entries = read(Format::Hermes, &[("USER.md", "\u{feff}one\r\n§\r\ntwo\r\nlines\r\n")]);
    let texts: Vec<&str> = entries.iter().map(|entry| entry.content.as_str()).collect();
    assert_eq!(texts, ["one", "two\nlines"]);
    let entries = read(Format::Hermes, &[("MEMORY.md", "First\n§\n\n§\nSecond\n§\n")]);
    let texts: Vec<(u32, &str)> = entries.iter().map(|entry| (entry.line, entry.content.as_str())).collect();
    assert_eq!(texts, [(1, "First"), (5, "Second")]);
}

#[test]
fn a_byte_order_mark_changes_nothing() {
    for (format, path, text) in [
        (Format::Gemini, "GEMINI.md", "## Gemini Added Memories\n- I like tea\n"),
        (Format::OpenClaw, "MEMORY.md", "- **editor**: helix\n"),
        (
            Format::McpMemory,
            "memory.jsonl",
            r#"{"type":"entity","name":"Kiln","entityType":"m","observations":["hot"]}"#,
        ),
        (Format::NullClaw, "MEMORY_SNAPSHOT.json", r#"[{"key":"k","content":"c"}]"#),
        (Format::Codex, "MEMORY.md", "## Reusable knowledge\n- one\n"),
        (Format::Letta, "system/persona.md", "---\ndescription: d\n---\nHelpful.\n"),
        (Format::BasicMemory, "a.md", "---\ntitle: A\n---\n- [fact] b\n"),
    ] {
        let marked = format!("\u{feff}{text}");
        assert_eq!(read(format, &[(path, &marked)]), read(format, &[(path, text)]), "{format:?}");
    }
}

#[test]
fn the_file_of_a_session_of_openclaw_is_a_log_of_its_day() {
    let text =
        "---\ntitle: x\n---\n# Session: 2026-11-26\n\n- **Session Key**: agent:main\n\n## Summary\n\nuser: about it\n";
    for name in ["2026-11-26-kit", "2026-11-26-1514", "2026-11-26T10", "journal-2026-11-26"] {
        let entries = read(Format::OpenClaw, &[(&format!("memory/{name}.md"), text)]);
        let wanted = [(6, "daily", "**Session Key**: agent:main"), (10, "daily", "user: about it")];
        let found: Vec<_> = entries.iter().map(|entry| (entry.line, &*entry.category, &*entry.content)).collect();
        assert_eq!(found, wanted, "{name}");
        assert!(entries.iter().all(|entry| entry.is_positional && entry.created.is_some()), "{name}");
    }
    let entries = read(Format::OpenClaw, &[("memory/1202026-11-26.md", "- a\n")]);
    assert_eq!(entries[0].category, "core");
}

#[test]
fn paragraphs_and_code_of_codex_stay_in_their_section() {
    let text = "# Task Group: Build\n## User preferences\n- prefers tabs\n## Reusable knowledge\n\nThe build needs node 22.\nAnd npm.\n\n\
                - run it:\n\n  ```sh\n  # a comment\n  make\n  ```\n- second\n";
    let codex = read(Format::Codex, &[("MEMORY.md", text)]);
    let read: Vec<(&str, &str)> = codex.iter().map(|entry| (entry.category.as_str(), entry.content.as_str())).collect();
    let code = "run it:\n```sh\n# a comment\nmake\n```";
    let wanted = [
        ("core", "prefers tabs"),
        ("codex", "The build needs node 22.\nAnd npm."),
        ("codex", code),
        ("codex", "second"),
    ];
    assert_eq!(read, wanted);
    assert!(codex.iter().all(|entry| entry.tags == ["codex", "build"]), "{codex:?}");
    let text = "## Tips\n\n1. rule one\n2. rule two\n\n| Tip | Why |\n|---|---|\n| a | b |\n";
    let texts: Vec<String> =
        self::read(Format::Codex, &[("MEMORY.md", text)]).into_iter().map(|entry| entry.content).collect();
    assert_eq!(texts, ["rule one", "rule two", "| Tip | Why |\n|---|---|\n| a | b |"]);
    let text = "## Reusable knowledge\n- run it:\n  ~~~sh\n  ```\n  # a comment\n  ~~~\n";
    let codex = self::read(Format::Codex, &[("MEMORY.md", text)]);
    assert_eq!(codex.len(), 1, "{codex:?}");
    assert_eq!(codex[0].content, "run it:\n~~~sh\n```\n# a comment\n~~~");
}

#[test]
fn letta_and_codex_have_files_and_sections() {
    let letta = read(
        Format::Letta,
        &[("system/persona.md", "---\ndescription: who I am\nlimit: 5000\n---\nHelpful.\n"), ("notes/x.md", "y\n")],
    );
    assert_eq!(said(&letta), [("system/persona", "core", "Helpful."), ("notes/x", "memfs", "y")]);
    assert_eq!(letta[0].summary.as_deref(), Some("who I am"));
    let codex = read(
        Format::Codex,
        &[(
            "MEMORY.md",
            "# Task Group: Build System\nscope: all\napplies_to: cwd=/home/x; reuse_rule=same repo\n\n## Task 1\n### keywords\n- cargo, xtask\n\n\
             ## User preferences\n- Prefers tabs\n  in all files\n\n## Reusable knowledge\n- `cargo xtask test` runs all\n\n## Other\n- no\n",
        )],
    );
    let [preference, knowledge, other] = codex.as_slice() else { panic!("{codex:?}") };
    assert_eq!((preference.category.as_str(), preference.content.as_str()), ("core", "Prefers tabs\nin all files"));
    assert_eq!(knowledge.tags, ["codex", "build_system", "cargo", "xtask"]);
    assert_eq!(other.content, "no");
    assert!(knowledge.key.starts_with("codex_build_system_knowledge_"), "{}", knowledge.key);
    assert_eq!(knowledge.summary.as_deref(), Some("cwd=/home/x; reuse_rule=same repo"));
}

#[test]
fn a_format_without_a_writer_is_not_exported() {
    let written: Vec<Format> = Format::ALL.into_iter().filter(|format| format.is_written()).collect();
    assert_eq!(written, [Format::JsonLines, Format::ClaudeCode, Format::BasicMemory, Format::McpMemory]);
    for format in Format::ALL.into_iter().filter(|format| !format.is_written()) {
        assert!(write_files(format, &[]).unwrap_err().message.contains("can only be imported"));
    }
}

#[test]
fn a_note_of_basic_memory_is_an_entry_for_each_observation() {
    let note = "---\ntitle: Search\npermalink: specs/search\ntags: [design]\ncreated: 2026-05-20\n---\n\n# Search\n\nProse stays.\n\n\
                - [decision] Use BM25 #search (measured)\n- implements [[Design]]\n";
    let entries = read(Format::BasicMemory, &[("specs/search.md", note)]);
    let [observation, rest] = entries.as_slice() else { panic!("{entries:?}") };
    assert!(observation.key.starts_with("bm_specs/search#"), "{}", observation.key);
    assert_eq!(observation.content, "Use BM25 #search (measured)");
    assert_eq!(observation.tags, ["obs:decision", "search", "design"]);
    assert_eq!(observation.line, 12);
    assert_eq!((rest.key.as_str(), rest.content.as_str()), ("bm_specs/search", "# Search\n\nProse stays."));
    assert_eq!(rest.tags, ["design", "rel:implements:Design"]);
    let (back, losses) = there_and_back(Format::BasicMemory, &entries);
    assert_eq!(said(&back).len(), 2);
    assert_eq!(fields(&losses), [("*", "created"), ("*", "updated")].get(..0).unwrap());
}

#[test]
fn an_entity_is_an_entry_for_each_observation() {
    let text = "{\"type\":\"entity\",\"name\":\"Bob\",\"entityType\":\"person\",\"observations\":[\"likes tea\",\"new fact\"]}\n\
                {\"type\":\"relation\",\"from\":\"Bob\",\"to\":\"Nobody\",\"relationType\":\"knows\"}\n\
                {\"type\":\"relation\",\"from\":\"Ghost\",\"to\":\"Bob\",\"relationType\":\"haunts\"}";
    let entries = read(Format::McpMemory, &[("memory.jsonl", text)]);
    assert_eq!(entries.len(), 3);
    assert_eq!(entries[0].tags, ["entity:Bob", "type:person", "rel:knows:Nobody"]);
    assert_eq!(entries[1].tags, ["entity:Bob", "type:person"]);
    assert_eq!(entries[2].key, "mcp_Ghost");
    let (written, losses) = write_files(Format::McpMemory, &entries).unwrap();
    assert_eq!(written, [("memory.jsonl".to_string(), text.to_string())]);
    assert_eq!(losses, []);
    let reasons = rejected(
        Format::McpMemory,
        &[("memory.jsonl", "{\"type\":\"note\"}\n{\"type\":\"entity\",\"name\":\"x\"}\n{")],
    );
    assert!(reasons[0].1.contains("unknown type `note`"), "{reasons:?}");
    assert_eq!(reasons.len(), 3);
}

/// Returns the files of a memory that was imported, and exported again in the same format.
fn round_trip(format: Format, given: &[(&str, &str)]) -> (Vec<(String, String)>, Vec<Loss>) {
    let mut entries = read(format, given);
    for (entry, line) in entries.iter_mut().zip(1_u64..) {
        let count = entry.tags.len().to_string();
        let summary = entry.summary.as_deref().unwrap_or_default();
        let mut parts: Vec<&str> = vec![&entry.category, &entry.content, summary, &count];
        parts.extend(entry.tags.iter().map(String::as_str));
        let digest = crate::entries::hash(&parts, 8);
        entry.source = Some(format!("import:{} ~/x/{}:{line} #{digest}", format.as_str(), entry.path));
        (entry.created, entry.updated) = (entry.created.or(Some(NOON)), entry.updated.or(Some(NOON)));
    }
    write_files(format, &entries).expect("written")
}

#[test]
fn topics_links_and_the_index_of_claude_code_come_back() {
    let index = "# Memory\n\n- [Who I am](user_role.md) — senior engineer\n\n## Feedback\n\n\
                 - [Tests](feedback_testing.md) — run them first\n- [Gone](gone.md) — staging first\n\n## Rules\nUse tabs.\n";
    let role = "---\nname: User role\ndescription: who the user is\ntype: user\ncolour: red\n---\n\nSee [tests](feedback_testing.md) and [[testing-feedback]].\n";
    let tests = "---\nname: testing-feedback\ndescription: how to test\nmetadata:\n  node_type: memory\n  type: feedback\n  originSessionId: 8c1f\n---\n\nSee [[User role]].\n";
    let given = [("MEMORY.md", index), ("user_role.md", role), ("feedback_testing.md", tests)];
    let (written, losses) = round_trip(Format::ClaudeCode, &given);
    let text = |path: &str| written.iter().find(|(known, _)| known == path).map(|(_, text)| text.as_str());
    let back = text("MEMORY.md").expect("an index");
    for line in index.lines().filter(|line| !line.is_empty() && !line.contains("senior")) {
        assert!(back.contains(line), "{line} is not in {back}");
    }
    assert!(back.contains("- [Who I am](user_role.md) — "), "{back}");
    let role = text("user_role.md").expect("the file that links lead to");
    assert!(role.contains("name: \"User role\"\n") && role.contains("\ncolour: red\n"), "{role}");
    let tests = text("feedback_testing.md").expect("the file that links lead to");
    assert!(tests.contains("  node_type: memory\n") && tests.contains("  originSessionId: 8c1f\n"), "{tests}");
    assert_eq!(text("gone.md").map(|text| text.ends_with("\nstaging first\n")), Some(true));
    // Only the text of the index has no place for dates.
    assert_eq!(fields(&losses), [("*", "created"), ("*", "updated")]);
}

#[test]
fn a_field_of_another_format_is_kept_or_reported() {
    let role = "---\nname: role\ndescription: who\ncolour: red\n---\n\nEngineer.\n";
    let entries = read(Format::ClaudeCode, &[("MEMORY.md", "- [Me](a.md) — short\n"), ("a.md", role)]);
    let (_, losses) = write_files(Format::BasicMemory, &entries).expect("written");
    let wanted = ["from_index_title", "from_index_text", "from_file", "from_frontmatter"];
    assert_eq!(fields(&losses), wanted.map(|field| ("role", field)));
    // The index says what the entry said when it was imported; the entry says something else now.
    let changed: Vec<ForeignEntry> =
        entries.iter().map(|entry| ForeignEntry { content: "Retired.".into(), ..entry.clone() }).collect();
    let (written, losses) = write_files(Format::ClaudeCode, &changed).expect("written");
    assert!(written.iter().all(|(_, text)| !text.contains("short")), "{written:?}");
    assert_eq!(fields(&losses), [("role", "from_index_text")]);
}

#[test]
fn notes_links_and_categories_of_basic_memory_come_back() {
    let search = "---\ntitle: Search Engine\ntype: spec\npermalink: shop/specs/search\ntags: [design]\nstatus: done\n---\n\n# Search Engine\n\n\
                  Prose with [[Mail Queue]].\n\n## Observations\n- [decision] Use BM25 #ranking (measured)\n- [limit] 64 words\n\n\
                  ## Relations\n- implements [[Design]]\n- \"depends on\" [[Mail Queue]] (since May)\n";
    let queue = "---\ntitle: Mail Queue\ntype: note\npermalink: shop/mail-queue\n---\n\n- [limit] Four attempts\n";
    let (written, losses) = round_trip(Format::BasicMemory, &[("specs/Search.md", search), ("mail-queue.md", queue)]);
    let paths: Vec<&str> = written.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["mail-queue.md", "specs/Search.md"]);
    assert_eq!(losses, []);
    for (written, given) in [(&written[1].1, search), (&written[0].1, queue)] {
        assert_eq!(parse_basic_memory(written).0.len(), parse_basic_memory(given).0.len());
        for line in given.lines().filter(|line| !line.is_empty() && !line.starts_with(['t', 'p'])) {
            assert!(written.contains(line), "{line} is not in {written}");
        }
    }
    assert!(written[1].1.contains("title: \"Search Engine\"\ntype: \"spec\"\npermalink: \"shop/specs/search\"\n"));
}

#[test]
fn an_observation_that_was_changed_here_becomes_a_note_and_is_named() {
    let note = "---\ntitle: Search\npermalink: search\n---\n\n- [decision] Use BM25\n- [limit] 64 words\n";
    let mut entries = read(Format::BasicMemory, &[("search.md", note)]);
    for entry in &mut entries {
        entry.source = Some("import:basic-memory ~/x/search.md:5 #0".into());
    }
    entries[0].content = "Use BM25F".into();
    let (written, losses) = write_files(Format::BasicMemory, &entries).expect("written");
    assert_eq!(written.len(), 2, "{written:?}");
    assert!(written.iter().any(|(path, text)| path == "search.md" && text.contains("- [limit] 64 words\n")));
    assert_eq!(fields(&losses)[0], (entries[0].key.as_str(), "note"));
}

#[test]
fn a_plain_list_of_codex_is_read() {
    let codex = read(Format::Codex, &[("MEMORY.md", "# Memory\n\n- prefers tabs\n- staging is on port 8443\n")]);
    let texts: Vec<&str> = codex.iter().map(|entry| entry.content.as_str()).collect();
    assert_eq!(texts, ["prefers tabs", "staging is on port 8443"]);
    let codex = read(Format::Codex, &[("MEMORY.md", "- one\n## Deploy notes\n- two\n## Task 1\n- rollout.jsonl\n")]);
    let keys: Vec<&str> = codex.iter().map(|entry| entry.key.rsplit_once('_').expect("a digest").0).collect();
    assert_eq!(keys, ["codex_general_notes", "codex_general_deploy_notes"]);
}

#[test]
fn a_page_of_markdown_is_not_taken_for_a_note_of_basic_memory() {
    for (path, text) in
        [("a.md", "# A\n\nText with [a](b.md), [[X]] and - [ ] a task.\n"), ("AGENTS.md", "- [rule] Use tabs\n")]
    {
        assert!(!is_basic_memory(path, text), "{path}");
    }
    for text in ["---\npermalink: a\n---\n", "- [rule] Use tabs\n", "- depends_on [[B]]\n"] {
        assert!(is_basic_memory("a.md", text), "{text}");
    }
}

#[test]
fn a_text_that_is_too_large_is_split_without_loss() {
    let section = format!("## Part\n\n{}\n\n", "words and more words\n".repeat(300));
    let whole = section.repeat(5);
    let entries = read(Format::ClaudeCode, &[("big.md", &whole)]);
    assert!(entries.len() >= 2 && entries.iter().all(|entry| entry.content.len() <= 16_384));
    assert_eq!(entries[1].key, "big#2");
    assert!(entries[1].content.starts_with("## Part"));
    let joined: String = entries.iter().map(|entry| entry.content.as_str()).collect();
    assert_eq!(joined, whole.strip_suffix('\n').unwrap());
    let dense = read(Format::ClaudeCode, &[("big.md", &"日".repeat(10_000))]);
    assert_eq!(dense.iter().map(|entry| entry.content.len()).sum::<usize>(), 30_000);
}

#[test]
fn bytes_that_are_not_text_and_too_many_tags_are_rejected_and_the_rest_is_imported() {
    let mut given = files(&[("good.md", "fine\n"), ("empty.md", "")]);
    given.push(ForeignFile { path: "bad.md".into(), first_line: 1, content: Ok(vec![b'a', 0xff]) });
    given.push(ForeignFile { path: "link.md".into(), first_line: 1, content: Err("it is a link".into()) });
    let (entries, rejected) = read_files(Format::ClaudeCode, &given, &[]);
    assert_eq!(said(&entries), [("good", "core", "fine")]);
    let reasons: Vec<&str> = rejected.iter().map(|part| part.reason.as_str()).collect();
    assert_eq!(reasons, ["it is not UTF-8 text: at byte 1", "it is a link", "`empty` says nothing"]);
    let long = format!(
        "{{\"type\":\"entity\",\"name\":\"{}\",\"entityType\":\"x\",\"observations\":[\"o\"]}}",
        "n".repeat(80)
    );
    let (entries, rejected) = read_files(Format::McpMemory, &files(&[("memory.jsonl", &long)]), &[]);
    assert_eq!((entries.len(), rejected.len()), (1, 1));
    assert!(rejected[0].reason.contains("has 87 bytes, the limit is 64"), "{rejected:?}");
}

#[test]
fn each_export_reports_its_losses() {
    let full = ForeignEntry {
        tags: vec!["a b".into(), "x\ny".into()],
        category: "incidents".into(),
        summary: Some("in short".into()),
        source: Some("slack".into()),
        supersedes: Some("old".into()),
        others: vec!["colour".into()],
        ..entry("k", "text")
    };
    for (format, expected) in [
        (Format::JsonLines, &[("k", "colour")][..]),
        (Format::ClaudeCode, &[("k", "source"), ("k", "colour")]),
        (Format::BasicMemory, &[("k", "source"), ("k", "colour")]),
        (
            Format::McpMemory,
            &[
                ("k", "summary"),
                ("k", "source"),
                ("k", "supersedes"),
                ("k", "colour"),
                ("*", "created"),
                ("*", "updated"),
            ],
        ),
    ] {
        let (_, losses) = write_files(format, core::slice::from_ref(&full)).unwrap();
        assert_eq!(fields(&losses), expected, "{format:?}");
    }
    let marked = ForeignEntry { source: Some("import:x y:1 #0123".into()), ..entry("k", "text") };
    assert_eq!(write_files(Format::ClaudeCode, &[marked]).unwrap().1, []);
}

#[test]
fn large_exports_are_pages_that_belong_together() {
    let files = [("a".to_string(), "x".repeat(MAX_IMPORT_BYTES + 10)), ("b".to_string(), "y".to_string())];
    let first = page(&files, None).unwrap();
    let second = page(&files, first.next.as_deref()).unwrap();
    assert_eq!((first.parts.len(), second.parts.len(), second.next.as_deref()), (1, 2, None));
    assert_eq!((second.parts[0].offset, second.parts[0].content.len()), (MAX_IMPORT_BYTES as u64, 10));
    let others = [("a".to_string(), "x".to_string())];
    assert_eq!(page(&others, first.next.as_deref()).unwrap_err().code, ErrorCode::ExpiredCursor);
    for cursor in ["", "x", "x:1", "x:1:2:3", "x:a:b"] {
        assert!(page(&files, Some(cursor)).is_err(), "{cursor}");
    }
    let digest = first.next.unwrap();
    let digest = digest.split(':').next().unwrap();
    for place in ["2:0", "0:99999999", "18446744073709551615:0", "0:18446744073709551615"] {
        assert!(page(&files, Some(&format!("{digest}:{place}"))).is_err(), "{place}");
    }
}

fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "fact", " ", "\n", "\n\n", "---", "---\n", "# h\n", "## Observations\n", "- item\n", "- **k**: x\n", "§\n", "  ",
            "*Created: x*\n", "### 🔑 `k`\n", "```\n", "[[X]]", "#tag", "(ctx)", "\r\n", "\t", "\\", "\"", ": ", "<!--", "日本",
            "<!-- the memory ends here; what follows is generated -->\n", "\u{2028}", "\u{feff}",
        ]).prop_map(String::from),
        2 => "\\PC{0,8}",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 1..10)
        .prop_map(|pieces| pieces.concat())
        .prop_filter("says something", |text| !text.trim().is_empty())
}

fn any_entry() -> impl Strategy<Value = ForeignEntry> {
    let key = prop_oneof![3 => "[a-z_]{1,12}", 1 => "\\PC{1,20}", 1 => any_text().prop_map(|text| text.chars().take(40).collect())];
    let tag = prop_oneof![2 => "[a-zA-Z:/ ]{1,10}", 1 => "\\PC{1,12}"].prop_map(|tag| tag.trim().to_string());
    let category = prop::sample::select(vec!["core", "core", "daily", "incidents", "CORE"]);
    let moment = || prop::option::of((0_u64..4_000_000_000_000_000_000).prop_map(|ns| ns));
    let text = || prop::option::of(any_text());
    (key, any_text(), category, prop::collection::vec(tag, 0..4), (moment(), moment()), (text(), text())).prop_map(
        |(key, content, category, mut tags, (created, updated), (summary, source))| {
            tags.retain(|tag| !tag.is_empty());
            tags.dedup();
            ForeignEntry {
                key,
                content,
                category: category.into(),
                tags,
                created,
                updated,
                summary,
                source,
                ..ForeignEntry::default()
            }
        },
    )
}

fn any_entries() -> impl Strategy<Value = Vec<ForeignEntry>> {
    prop::collection::vec(any_entry(), 0..6).prop_map(|mut entries| {
        let mut known: Vec<String> = Vec::new();
        entries.retain(|entry| {
            !known.contains(&entry.key) && {
                known.push(entry.key.clone());
                true
            }
        });
        entries
    })
}

/// Returns the entry with the fields that formats carry, without its position.
fn bare(entry: &ForeignEntry) -> ForeignEntry {
    ForeignEntry {
        path: String::new(),
        line: 0,
        is_exact: false,
        is_positional: false,
        others: Vec::new(),
        ..entry.clone()
    }
}

proptest! {
    #[test]
    fn json_lines_lose_nothing(entries in any_entries()) {
        let (back, losses) = there_and_back(Format::JsonLines, &entries);
        prop_assert_eq!(losses, vec![]);
        let mut expected: Vec<ForeignEntry> = entries.iter().map(bare).collect();
        expected.sort_by_key(|entry| (entry.created, entry.created.map(|_| entry.key.clone())));
        prop_assert_eq!(back.iter().map(bare).collect::<Vec<_>>(), expected);
    }

    /// What an export does not name as lost comes back.
    #[test]
    fn what_is_not_lost_comes_back(entries in any_entries()) {
        for format in Format::ALL.into_iter().filter(|format| format.is_written()) {
            let (back, losses) = there_and_back(format, &entries);
            for entry in &entries {
                let lost = |field: &str| losses.iter().any(|loss| {
                    (loss.key == entry.key || loss.key == "*") && (loss.field == field || loss.field == "entry")
                });
                if lost("content") || lost("key") {
                    continue;
                }
                let found = back.iter().find(|found| found.key == entry.key && found.content == entry.content);
                prop_assert!(found.is_some(), "{:?}: {:?} is not in {:?}", format, entry, back);
                let found = found.unwrap();
                prop_assert!(lost("tags") || found.tags == entry.tags, "{:?}: {:?}", format, found);
                prop_assert!(lost("category") || found.category == entry.category, "{:?}: {:?}", format, found);
            }
        }
    }

    #[test]
    fn formats_with_a_place_for_it_lose_no_text(entries in any_entries()) {
        for format in [Format::ClaudeCode, Format::BasicMemory, Format::McpMemory] {
            let (_, losses) = there_and_back(format, &entries);
            let lost: Vec<&Loss> = losses.iter().filter(|loss| matches!(loss.field.as_str(), "content" | "key")).collect();
            prop_assert!(lost.is_empty(), "{:?}: {:?}", format, lost);
        }
    }

    #[test]
    fn no_file_is_too_strange_to_be_read(texts in prop::collection::vec(any_text(), 1..4)) {
        for format in Format::ALL {
            let name = format.single_file().unwrap_or("MEMORY.md");
            let given: Vec<(&str, &str)> = texts.iter().zip([name, "memory/2026-05-20.md", "x.md"]).map(|(text, name)| (name, text.as_str())).collect();
            let (entries, _) = read_files(format, &files(&given), &[]);
            prop_assert!(entries.iter().all(|entry| !entry.content.is_empty() && entry.line > 0));
        }
    }
}
