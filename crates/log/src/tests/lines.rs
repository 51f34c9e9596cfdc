use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;

use super::{Numbers, bytes};
use crate::{Change, Content, Digest, Head, Log, MAX_CONTENT, Record, State, Stored, Writer};

/// Returns a record with every field.
fn full() -> Record {
    Record {
        operation: "k7x".into(),
        time_ns: 1_790_000_000_123,
        utc_offset_seconds: -12_600,
        command: "note add \"Plan\"".into(),
        writer: Writer {
            provenance: "tool".into(),
            agent: Some("claude".into()),
            client: Some("desktop".into()),
            tool: Some("remember".into()),
            session: Some("s1".into()),
        },
        reason: Some("asked for\nit".into()),
        undoes: vec!["a".into(), "b".into()],
        redoes: vec!["c".into()],
        changes: vec![
            Change { moved_from: Some("old.md".into()), ..Change::of("a.md", Some(b"old"), Some(b"new"), false, 100) },
            Change::append("log.md", 20_000_000, b"\n- more"),
            Change {
                path: "b.md".into(),
                contents: vec![
                    Content { digest: Digest::of(b"1"), stored: Stored::Blob },
                    Content { digest: Digest::of(b"2"), stored: Stored::Removed },
                    Content {
                        digest: Digest::of(b"3"),
                        stored: Stored::Delta { from: Digest::of(b"4"), delta: vec![0; 200] },
                    },
                ],
                ..Change::default()
            },
        ],
        lost: vec![Change { after: State::Size(7), path: "c.md".into(), ..Change::default() }],
    }
}

fn with_sum(json: &str) -> String {
    format!("{json},\"sum\":\"{:08x}\"}}\n", crc32fast::hash(json.as_bytes()))
}

#[test]
fn a_digest_has_one_spelling() {
    let digest = Digest::of(b"");
    assert_eq!(digest.to_string(), "e3b0c44298fc1c149afbf4c8996fb924");
    assert_eq!(digest.to_string().parse(), Ok(digest));
    for wrong in [
        "",
        "e3",
        "E3B0C44298FC1C149AFBF4C8996FB924",
        "e3b0c44298fc1c149afbf4c8996fb9240",
        "g3b0c44298fc1c149afbf4c8996fb924",
    ] {
        assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
    }
}

/// A line of the log of changes has the same fields in every release.
#[test]
fn the_line_of_a_record_stays_what_it_is() {
    let line = full().to_line();
    let fields = [
        r#"{"operation":"k7x","time":1790000000123,"offset":-12600,"command":"note add \"Plan\"","#,
        r#""writer":{"provenance":"tool","agent":"claude","client":"desktop","tool":"remember","session":"s1"},"#,
        r#""reason":"asked for\nit","undoes":["a","b"],"redoes":["c"],"changes":["#,
        r#"{"path":"a.md","before":"cba06b5736faf67e54b07b561eae9439","after":"11507a0e2f5e69d5dfa40a62a1bd7b6e","#,
        r#""before_size":3,"after_size":3,"moved_from":"old.md","contents":["#,
        r#"{"digest":"cba06b5736faf67e54b07b561eae9439","whole":"b2xk"},"#,
        r#"{"digest":"11507a0e2f5e69d5dfa40a62a1bd7b6e","whole":"bmV3"}]},"#,
        r#"{"path":"log.md","before":20000000,"after":20000007,"before_size":20000000,"after_size":20000007,"contents":["#,
        r#"{"digest":"f008ec9579033ef8acf6d03ad3896f3d","whole":"Ci0gbW9yZQ"}]},"#,
        r#"{"path":"b.md","contents":[{"digest":"6b86b273ff34fce19d6b804eff5a3f57","blob":true},"#,
        r#"{"digest":"d4735e3a265e16eee03f59718b9b5d03","removed":true},"#,
        r#"{"digest":"4e07408562bedb8b60ce05c1decfe3ad","from":"4b227777d4dd1fc61c6f884f48641d02","delta_deflated":""#,
    ]
    .concat();
    assert_eq!(&line[..fields.len()], fields);
    // As zlib deflates it: another deflater may write other bytes.
    let json = fields + "Y2AYHgAA\"}]}],\"lost\":[{\"path\":\"c.md\",\"after\":7}]";
    assert_eq!(Record::from_line(&with_sum(&json)), Some(full()));
}

#[test]
fn fields_without_a_value_are_left_out() {
    let record = Record { operation: "k".into(), command: "undo".into(), ..Record::default() };
    let json = r#"{"operation":"k","time":0,"offset":0,"command":"undo","writer":{"provenance":""}"#;
    assert_eq!(record.to_line(), with_sum(json));
    assert_eq!(Record::from_line(&record.to_line()), Some(record));
}

#[test]
fn a_record_is_read_as_it_was_written() {
    let record = full();
    let line = record.to_line();
    assert_eq!(line.matches('\n').count(), 1);
    assert_eq!(Record::from_line(&line).as_ref(), Some(&record));
    assert_eq!(Record::from_line(line.trim_end()), Some(record));
}

#[test]
fn an_incomplete_or_changed_line_is_not_a_record() {
    let line = full().to_line();
    for cut in 0..line.len() - 1 {
        assert!(Record::from_line(&line[..cut]).is_none(), "cut to {cut} bytes");
    }
    assert!(Record::from_line(&line.replace("k7x", "k8x")).is_none());
    assert!(Record::from_line(&format!("{line}{line}")).is_none());
    assert!(Record::from_line(&line[1..]).is_none());
}

#[test]
fn text_with_a_right_sum_that_is_not_a_record_is_refused() {
    assert!(Record::from_line(&with_sum("{\"a\":1")).is_none());
    assert!(Record::from_line(&with_sum("[1")).is_none());
    assert!(Record::from_line(&with_sum("")).is_none());
    let nested = format!("{{\"x\":{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(Record::from_line(&with_sum(&nested)).is_none());
}

#[test]
fn fields_and_forms_of_later_versions_are_ignored() {
    let json = format!(
        "{{\"operation\":\"k\",\"time\":1,\"command\":\"c\",\"new\":{{\"a\":[1]}},\"writer\":{{\"provenance\":\"user\",\"new\":1}},\
         \"changes\":[{{\"path\":\"a.md\",\"new\":[],\"before\":null,\"contents\":[{{\"digest\":\"{0}\",\"new\":1}},\
         {{\"digest\":\"{0}\",\"blob\":true,\"new\":1}}]}}]",
        Digest::of(b"1")
    );
    let record = Record::from_line(&with_sum(&json)).unwrap();
    assert_eq!(record.writer.provenance, "user");
    assert_eq!(record.changes[0].contents, [Content { digest: Digest::of(b"1"), stored: Stored::Blob }]);
}

#[test]
fn a_head_leaves_invalid_contents_to_whoever_asks_for_them() {
    let json = "{\"operation\":\"k\",\"time\":1,\"command\":\"c\",\"writer\":{\"provenance\":\"user\"},\
                \"changes\":[{\"path\":\"a.md\",\"contents\":[{\"digest\":1}]},{\"path\":\"b.md\"}]";
    let line = with_sum(json);
    let head = Head::from_line(&line).unwrap();
    assert_eq!(head.record().changes[0].path, "a.md");
    assert_eq!(head.contents(0), None);
    assert_eq!(head.contents(1), Some(Vec::new()));
    assert_eq!(head.contents(2), None);
    assert_eq!(head.into_record(), None);
}

#[test]
fn a_content_that_unpacks_to_more_than_the_limit_is_refused() {
    let line = |size: usize| {
        let stored = Stored::Whole(vec![b'a'; size]);
        let contents = vec![Content { digest: Digest::of(b"1"), stored }];
        Record { changes: vec![Change { contents, ..Change::default() }], ..Record::default() }.to_line()
    };
    assert!(Record::from_line(&line(MAX_CONTENT)).is_some());
    let bomb = line(MAX_CONTENT + 1);
    assert!(bomb.len() < 100_000, "{}", bomb.len());
    assert!(Record::from_line(&bomb).is_none());
    assert!(Head::from_line(&bomb).is_some());
    // Bytes that cannot be deflated.
    let mut numbers = Numbers(5);
    let line = |bytes: Vec<u8>| {
        let contents = vec![Content { digest: Digest::of(b"1"), stored: Stored::Whole(bytes) }];
        Record { changes: vec![Change { contents, ..Change::default() }], ..Record::default() }.to_line()
    };
    let bytes: Vec<u8> = (0..=MAX_CONTENT).map(|_| numbers.next(256) as u8).collect();
    let large = line(bytes);
    assert!(large.contains("\"whole\":"));
    assert!(Head::from_line(&large).is_some() && Record::from_line(&large).is_none());
}

#[test]
fn each_content_is_deflated_if_that_is_smaller() {
    let change = |path: &str| Change::of(path, None, Some("line of a note\n".repeat(20).as_bytes()), false, 1000);
    let record = Record { changes: vec![change("a.md"), change("b.md")], ..Record::default() };
    let line = record.to_line();
    assert_eq!((line.matches("whole_deflated").count(), line.matches("\"whole\"").count()), (2, 0));
    assert_eq!(Record::from_line(&line), Some(record));
    let mut numbers = Numbers(5);
    let random: Vec<u8> = (0..1000).map(|_| numbers.next(256) as u8).collect();
    let record = Record { changes: vec![Change::of("a", None, Some(&random), false, 1000)], ..Record::default() };
    assert_eq!(record.to_line().matches("\"whole\"").count(), 1);
}

#[test]
fn a_change_keeps_what_no_other_record_has() {
    let text = "line of a note\n".repeat(20);
    let longer = format!("{text}one more\n");
    let forms = |change: &Change| -> Vec<(Digest, &'static str)> {
        let form = |content: &Content| match content.stored {
            Stored::Whole(_) => "whole",
            Stored::Delta { .. } => "delta",
            Stored::Blob => "blob",
            Stored::Removed => "removed",
        };
        change.contents.iter().map(|content| (content.digest, form(content))).collect()
    };
    let of = |before: Option<&str>, after: Option<&str>, is_known, max| {
        Change::of("a.md", before.map(str::as_bytes), after.map(str::as_bytes), is_known, max)
    };
    let (old, new) = (Digest::of(text.as_bytes()), Digest::of(longer.as_bytes()));

    let created = of(None, Some(&text), false, 1000);
    assert_eq!((created.before, created.after), (State::Absent, State::Bytes(old)));
    assert_eq!((created.before_size, created.after_size), (0, 300));
    assert_eq!(forms(&created), [(old, "whole")]);

    assert_eq!(forms(&of(Some(&text), Some(&longer), true, 1000)), [(new, "delta")]);
    assert_eq!(forms(&of(Some(&text), Some(&longer), false, 1000)), [(old, "whole"), (new, "delta")]);
    assert_eq!(forms(&of(Some(&text), None, true, 1000)), []);
    assert_eq!(forms(&of(Some(&text), None, false, 1000)), [(old, "whole")]);
    // Nothing in common: the difference is larger than 3/4.
    assert_eq!(forms(&of(Some("a\n"), Some(&text), true, 1000)), [(old, "whole")]);
    // What would be whole is too large; a difference is not.
    assert_eq!(forms(&of(Some(&text), Some(&longer), false, 299)), [(old, "blob"), (new, "delta")]);
    assert_eq!(forms(&of(None, Some(&text), false, 300)), [(old, "whole")]);
    // Nothing changes.
    assert_eq!(forms(&of(Some(&text), Some(&text), true, 1000)), []);
    assert_eq!(forms(&of(Some(&text), Some(&text), false, 1000)), [(old, "whole")]);
    // An empty file has a digest and no content.
    let emptied = of(Some(&text), Some(""), true, 1000);
    assert_eq!((emptied.after, forms(&emptied)), (State::Bytes(Digest::of(b"")), vec![]));
    assert_eq!(forms(&of(Some(""), Some(&text), false, 1000)), [(old, "whole")]);
}

#[test]
fn a_delta_has_at_most_three_quarters_of_the_content() {
    let before = "a".repeat(100);
    for (inserted, is_delta) in [(296, true), (297, false)] {
        let after = format!("{before}{}", "b".repeat(inserted));
        let change = Change::of("a.md", Some(before.as_bytes()), Some(after.as_bytes()), true, 1000);
        let Content { stored, .. } = &change.contents[0];
        let size = match stored {
            Stored::Delta { delta, .. } => delta.len(),
            _ => 0,
        };
        assert_eq!(
            size != 0,
            is_delta && (inserted + 4) * 4 <= after.len() * 3,
            "{inserted}: {size} of {}",
            after.len()
        );
    }
}

#[test]
fn an_append_to_a_large_file_keeps_what_was_added() {
    let change = Change::append("log.md", 20_000_000, b"\nmore");
    assert_eq!((change.before, change.after), (State::Size(20_000_000), State::Size(20_000_005)));
    assert_eq!(change.contents, [Content { digest: Digest::of(b"\nmore"), stored: Stored::Whole(b"\nmore".to_vec()) }]);
    assert_eq!(Change::append("log.md", u64::MAX, b"more").after, State::Size(u64::MAX));
}

/// Returns a record of one change without contents.
fn record(operation: usize, path: &str) -> Record {
    Record {
        operation: operation.to_string(),
        changes: vec![Change { path: path.into(), ..Change::default() }],
        ..Record::default()
    }
}

fn operations<'a>(lines: impl Iterator<Item = crate::Line<'a>>) -> Vec<String> {
    lines.map(|line| line.head.record().operation.clone()).collect()
}

#[test]
fn a_log_goes_on_after_damaged_lines() {
    let torn = &record(2, "a.md").to_line()[..50];
    let log = format!("{}{torn}\n\n{}foreign\n{}", record(1, "a.md").to_line(), record(3, "b.md").to_line(), torn);
    let log = [log.as_bytes(), b"\xff\n"].concat();
    let mut lines = Log::new(&log).lines();
    assert_eq!(operations(lines.by_ref()), ["1", "3"]);
    assert_eq!(lines.damaged(), 3);
    for line in Log::new(&log).lines() {
        let text = core::str::from_utf8(&log[line.range]).unwrap();
        assert_eq!(Head::from_line(text).unwrap().record(), line.head.record());
    }
    assert!(Log::new(b"").lines().next().is_none());
}

#[test]
fn a_last_line_without_its_end_counts_if_nothing_else_is_missing() {
    let log = format!("{}{}", record(1, "a").to_line(), record(2, "a").to_line());
    assert_eq!(operations(Log::new(log.trim_end().as_bytes()).lines()), ["1", "2"]);
    let mut lines = Log::new(&log.as_bytes()[..log.len() - 2]).lines();
    assert_eq!(operations(lines.by_ref()), ["1"]);
    assert_eq!(lines.damaged(), 1);
}

#[test]
fn lines_without_a_path_are_passed_over() {
    let paths = ["a.md", "b.md", "notes/a.md", "say \"a\".md", "a.md", "ä\u{1}.md"];
    let log: String = paths.iter().enumerate().map(|(number, path)| record(number, path).to_line()).collect();
    let log = format!("damaged\n{log}damaged \"a.md\"\n");
    let with = |path| {
        let mut lines = Log::new(log.as_bytes()).lines_with(path);
        (operations(lines.by_ref()), lines.damaged())
    };
    assert_eq!(with("a.md"), (vec!["0".into(), "4".into()], 1));
    assert_eq!(with("say \"a\".md"), (vec!["3".into()], 0));
    assert_eq!(with("ä\u{1}.md"), (vec!["5".into()], 0));
    assert_eq!(with("c.md"), (vec![], 0));
}

fn states() -> impl Strategy<Value = State> {
    prop_oneof![
        Just(State::Absent),
        any::<[u8; 16]>().prop_map(|digest| State::Bytes(Digest(digest))),
        any::<u64>().prop_map(State::Size),
    ]
}

fn contents() -> impl Strategy<Value = Content> {
    let stored = prop_oneof![
        bytes().prop_map(Stored::Whole),
        (any::<[u8; 16]>(), bytes()).prop_map(|(from, delta)| Stored::Delta { from: Digest(from), delta }),
        Just(Stored::Blob),
        Just(Stored::Removed),
    ];
    (any::<[u8; 16]>(), stored).prop_map(|(digest, stored)| Content { digest: Digest(digest), stored })
}

fn changes() -> impl Strategy<Value = Change> {
    let moved_from = proptest::option::of(any::<String>());
    let from = (moved_from, any::<bool>());
    (any::<String>(), states(), states(), any::<[u64; 2]>(), from, proptest::collection::vec(contents(), 0..3))
        .prop_map(|(path, before, after, [before_size, after_size], (moved_from, keeps_before), contents)| Change {
            path,
            before,
            after,
            before_size,
            after_size,
            moved_from,
            keeps_before,
            contents,
        })
}

fn records() -> impl Strategy<Value = Record> {
    let options = proptest::collection::vec(proptest::option::of(any::<String>()), 5);
    let lists = proptest::collection::vec(proptest::collection::vec(any::<String>(), 0..3), 2);
    (any::<[String; 3]>(), any::<i64>(), any::<i32>(), options, lists, proptest::collection::vec(changes(), 0..3))
        .prop_map(|([operation, command, provenance], time_ns, utc_offset_seconds, mut options, mut lists, changes)| {
            let mut option = || options.pop().unwrap();
            let writer = Writer { provenance, agent: option(), client: option(), tool: option(), session: option() };
            let (undoes, redoes) = (lists.pop().unwrap(), lists.pop().unwrap());
            let lost = changes.iter().map(Change::without_contents).collect();
            let reason = option();
            Record { operation, time_ns, utc_offset_seconds, command, writer, reason, undoes, redoes, changes, lost }
        })
}

proptest! {
    #[test]
    fn any_record_is_read_as_it_was_written(record in records()) {
        let line = record.to_line();
        prop_assert!(line.ends_with('\n') && line.matches('\n').count() == 1);
        for change in &record.changes {
            prop_assert_eq!(Log::new(line.as_bytes()).lines_with(&change.path).count(), 1);
        }
        prop_assert_eq!(Record::from_line(&line), Some(record));
    }

    #[test]
    fn a_changed_line_is_refused_or_read_as_before(
        record in records(),
        place in any::<proptest::sample::Index>(),
        byte in any::<u8>(),
        end in any::<proptest::sample::Index>(),
    ) {
        let line = record.to_line().into_bytes();
        let mut changed = line.clone();
        let place = place.index(line.len());
        changed[place] = byte;
        if let Ok(text) = core::str::from_utf8(&changed) {
            prop_assert!(Record::from_line(text).is_none_or(|read| changed == line || place == line.len() - 1 || read == record));
        }
        let lines = Log::new(&changed[..end.index(line.len())]).lines();
        prop_assert!(lines.count() <= 1);
    }

    /// The sum is right, so that what comes after it is tested.
    #[test]
    fn a_line_of_changed_json_ends_in_an_answer(
        record in records(),
        place in any::<proptest::sample::Index>(),
        text in proptest::sample::select(vec!["", "\"", "{", "}", "[", "]", ",", "null", "-1", "1e99", "\\u0000", "\\", "a"]),
    ) {
        let line = record.to_line();
        let (json, _) = line.rsplit_once(",\"sum\":").unwrap();
        let mut place = place.index(json.len() + 1);
        while !json.is_char_boundary(place) {
            place -= 1;
        }
        let mut changed = String::from(json);
        changed.insert_str(place, text);
        let _ = Record::from_line(&with_sum(&changed));
        changed.truncate(place);
        let _ = Record::from_line(&with_sum(&changed));
    }

    #[test]
    fn any_bytes_as_a_log_end_in_an_answer(bytes in bytes()) {
        let mut lines = Log::new(&bytes).lines();
        prop_assert_eq!(lines.by_ref().count(), 0);
        prop_assert!(lines.damaged() <= bytes.len());
    }
}
