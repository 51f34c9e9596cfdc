//! Content of the section, edits that are read back from it, and text that it does not touch.

use proptest::prelude::*;
use saddlebag::agents_md::{FactChangeKind, Side, SyncAgentsMd};
use saddlebag::entries::{EntriesCommand, EntriesReply, ForgetEntry, GetEntry, NewEntry, StoreEntry};
use saddlebag::protocol::ErrorCode;
use saddlebag::{Config, Reply};
use saddlebag_host::Simulator;
use support::arbitrary::cases;
use support::drive::{Drive, changes};
use support::{Kind, agent_config, both_engines, keep, path};

use super::{agreed, conflict_of, drive, entry, going_on, kinds, naming, request, sync, synced};

#[both_engines]
fn named_entries_become_a_section_at_the_end_and_a_second_time_changes_nothing(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(keep("port", "8080", "core")).unwrap();
    drive.run(keep("deploy", "1. build\n2. ship", "core")).unwrap();
    drive.run(keep("other", "not core", "notes")).unwrap();
    let (text, reply) = synced(&mut drive, "# Project\n\nRules.");
    assert_eq!(reply.message, "AGENTS.md changes: 2 listed, 0 not listed");
    let (before, section) = text.split_once("\n\n<!-- saddlebag:begin agent=a -->\n").expect("a section");
    assert_eq!(before, "# Project\n\nRules.");
    let (body, end) = section.split_once("<!-- saddlebag:end ").unwrap();
    assert!(body.ends_with("\n\n- `deploy`:\n  1. build\n  2. ship\n- `port`: 8080\n\n"), "{body}");
    assert!(end.ends_with(" -->"), "the file had no last line ending: {end:?}");
    let again = sync(&mut drive, request(&text));
    assert_eq!((again.content, again.changes), (None, Vec::new()));
}

#[both_engines]
fn nothing_to_say_makes_no_section_and_no_file(kind: Kind) {
    let mut drive = drive(kind);
    for content in [None, Some(Vec::new()), Some(b"# Project\n".to_vec())] {
        let reply = sync(&mut drive, SyncAgentsMd { content, ..SyncAgentsMd::default() });
        assert_eq!((reply.content, reply.changes), (None, Vec::new()));
    }
    drive.run(keep("k", "v", "core")).unwrap();
    let unnamed = sync(&mut drive, SyncAgentsMd::default());
    assert_eq!((unnamed.content, unnamed.changes), (None, Vec::new()));
    assert!(
        unnamed
            .message
            .as_str()
            .ends_with("the request names neither tags nor keys, so no fact is written into the file")
    );
    let made = sync(&mut drive, SyncAgentsMd { content: None, ..request("") }).content.expect("a file");
    assert!(made.starts_with(b"<!-- saddlebag:begin") && made.ends_with(b"-->\n"));
}

#[both_engines]
fn edits_inside_the_markers_are_read_back(kind: Kind) {
    let mut drive = drive(kind);
    for (key, content) in [("port", "8080"), ("old", "gone soon"), ("same", "as ever")] {
        drive.run(keep(key, content, "core")).unwrap();
    }
    let (text, _) = synced(&mut drive, "");
    let edited = text
        .replace("- `port`: 8080", "- `port`: 9090\n  since May")
        .replace("- `old`: gone soon\n", "")
        .replace("- `same`", "- Never push to main\n- new_one: \"x\"\n- `same`");
    let dry = sync(&mut drive, SyncAgentsMd { dry_run: true, ..request(&edited) });
    assert_eq!(entry(&mut drive, "port").unwrap().1, "8080");
    let (text, reply) = synced(&mut drive, &edited);
    assert_eq!((&dry.changes, dry.content.as_ref()), (&reply.changes, reply.content.as_ref()));
    let expected = [
        ("never-push-to-main", &FactChangeKind::Stored),
        ("new_one", &FactChangeKind::Stored),
        ("old", &FactChangeKind::Forgotten),
        ("port", &FactChangeKind::Updated),
    ];
    assert_eq!(kinds(&reply), expected);
    assert_eq!(entry(&mut drive, "port").unwrap().1, "9090\nsince May");
    assert_eq!(entry(&mut drive, "old"), None);
    assert_eq!(entry(&mut drive, "new_one").unwrap(), ("core".into(), "x".into()));
    assert_eq!(entry(&mut drive, "never-push-to-main").unwrap().1, "Never push to main");
    assert!(text.contains("- `never-push-to-main`: Never push to main\n- `new_one`: x\n- `port`:\n  9090\n"), "{text}");
    assert_eq!(sync(&mut drive, request(&text)).content, None);
    // As after a lost write: the changes of the file are already done.
    let again = sync(&mut drive, request(&edited));
    assert_eq!(again.content.clone().map(|bytes| String::from_utf8(bytes).unwrap()), Some(text));
    assert_eq!(kinds(&again), []);
}

#[both_engines]
fn entries_that_change_are_refreshed_and_those_that_go_are_unlisted(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(keep("a", "1", "core")).unwrap();
    drive.run(keep("b", "1", "core")).unwrap();
    let (text, _) = synced(&mut drive, "");
    drive.run(keep("a", "2", "core")).unwrap();
    drive.run(EntriesCommand::ForgetEntry(ForgetEntry { key: "b".into(), expected_version: None })).unwrap();
    drive.run(keep("c", "1", "core")).unwrap();
    let (text, reply) = synced(&mut drive, &text);
    let expected =
        [("a", &FactChangeKind::Refreshed), ("b", &FactChangeKind::Unlisted), ("c", &FactChangeKind::Listed)];
    assert_eq!(kinds(&reply), expected);
    assert!(text.contains("\n- `a`: 2\n- `c`: 1\n") && !text.contains("- `b`"), "{text}");
}

/// Where both sides have changed, neither is lost.
#[both_engines]
fn a_conflict_loses_neither_side_until_one_is_preferred(kind: Kind) {
    type Edit = fn(&str) -> String;
    let edits: [(&str, &str, Edit, &str); 4] = [
        (
            "entry",
            "section",
            |text| text.replace("`k`: base", "`k`: section"),
            "both the section and the entry have changed",
        ),
        (
            "entry",
            "",
            |text| text.replace("- `k`: base\n", ""),
            "it was removed from the section, but the entry has changed",
        ),
        (
            "",
            "section",
            |text| text.replace("`k`: base", "`k`: section"),
            "it was changed in the section, but the entry is gone",
        ),
        (
            "entry",
            "section",
            |text| {
                text.replace("`k`: base", "`k`: section").replace(text.split("saddlebag:end").nth(1).unwrap(), " -->\n")
            },
            "it was added to the section, but an entry with different text exists",
        ),
    ];
    for (in_store, in_section, edit, reason) in edits {
        for prefer in [None, Some(Side::Section), Some(Side::Store)] {
            let mut drive = drive(kind);
            drive.run(keep("k", "base", "core")).unwrap();
            drive.run(keep("z", "other", "core")).unwrap();
            let (text, _) = synced(&mut drive, "");
            let edited = edit(&text);
            match in_store {
                "" => drive
                    .run(EntriesCommand::ForgetEntry(ForgetEntry { key: "k".into(), expected_version: None }))
                    .unwrap(),
                content => drive.run(keep("k", content, "core")).unwrap(),
            };
            let reply = agreed(&mut drive, SyncAgentsMd { prefer, ..request(&edited) });
            let file = reply.content.clone().map_or(edited.clone(), |bytes| String::from_utf8(bytes).unwrap());
            let stored = entry(&mut drive, "k").map(|(_, content)| content).unwrap_or_default();
            let item = |content: &str| file.contains(&format!("- `k`: {content}\n"));
            let sides = (stored.as_str(), item("section"), item("entry"));
            match prefer {
                None => {
                    assert_eq!(conflict_of(&reply), reason);
                    assert_eq!(sides, (in_store, in_section == "section", false), "{file}");
                    // The next sync reports the same conflict.
                    assert_eq!(conflict_of(&sync(&mut drive, request(&file))), reason);
                }
                Some(Side::Section) => assert_eq!(sides, (in_section, in_section == "section", false), "{file}"),
                Some(Side::Store) => assert_eq!(sides, (in_store, false, in_store == "entry"), "{file}"),
            }
            if prefer.is_some() {
                let settled = sync(&mut drive, request(&file));
                assert_eq!((settled.content.as_ref(), kinds(&settled).len()), (None, 0), "{file}");
            }
        }
    }
}

#[both_engines]
fn a_section_that_was_emptied_does_not_empty_the_store(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(keep("a", "1", "core")).unwrap();
    drive.run(keep("b", "2", "core")).unwrap();
    let (text, _) = synced(&mut drive, "");
    let emptied = text.replace("- `a`: 1\n- `b`: 2\n", "");
    let reply = sync(&mut drive, request(&emptied));
    assert!(kinds(&reply).iter().all(|(_, kind)| matches!(kind, FactChangeKind::Conflict(_))), "{reply:?}");
    assert!(entry(&mut drive, "a").is_some() && entry(&mut drive, "b").is_some());
    let back = sync(&mut drive, SyncAgentsMd { prefer: Some(Side::Store), ..request(&emptied) });
    assert_eq!(String::from_utf8(back.content.unwrap()).unwrap(), text);
    agreed(&mut drive, SyncAgentsMd { prefer: Some(Side::Section), ..request(&emptied) });
    assert!(entry(&mut drive, "a").is_none() && entry(&mut drive, "b").is_none());
}

#[both_engines]
fn tags_and_keys_choose_and_what_is_added_gets_the_tags(kind: Kind) {
    let mut drive = drive(kind);
    let tagged = |key: &str, tags: &[&str]| {
        let tags = tags.iter().map(|tag| (*tag).to_string()).collect();
        let (key, content, category) = (key.to_string(), "v".to_string(), "notes".to_string());
        let entry = NewEntry { key, content, category, tags, source: None, supersedes: None };
        EntriesCommand::StoreEntry(StoreEntry { entry, expected_version: None })
    };
    drive.run(tagged("a", &["agents"])).unwrap();
    drive.run(tagged("b", &["else"])).unwrap();
    drive.run(keep("c", "v", "core")).unwrap();
    let chosen =
        |content: &str| SyncAgentsMd { tags: vec!["agents".into()], keys: vec!["b".into()], ..request(content) };
    let text = String::from_utf8(sync(&mut drive, chosen("")).content.unwrap()).unwrap();
    assert!(text.contains("\n- `a`: v\n- `b`: v\n") && !text.contains("- `c`"), "{text}");
    let text = text.replace("- `b`: v\n", "- `b`: v\n- d: new\n");
    sync(&mut drive, chosen(&text));
    match drive.run(EntriesCommand::GetEntry(GetEntry { key: "d".into() })) {
        Ok(Reply::Entries(EntriesReply::GetEntry(entry))) => {
            assert_eq!((entry.tags, entry.source.as_deref()), (vec!["agents".to_string()], Some("AGENTS.md")));
        }
        other => panic!("{other:?}"),
    }
    // Without a selection the section keeps its facts.
    let reply = sync(&mut drive, going_on(&text));
    assert_eq!(kinds(&reply), []);
    // Another selection lists other facts, and forgets none.
    let reply = sync(&mut drive, naming(["c"], &text));
    let expected = [("a", &FactChangeKind::Unlisted), ("b", &FactChangeKind::Unlisted), ("c", &FactChangeKind::Listed)];
    assert_eq!(kinds(&reply), expected);
    assert!(entry(&mut drive, "a").is_some() && entry(&mut drive, "b").is_some());
}

#[both_engines]
fn facts_that_do_not_fit_are_counted_and_named(kind: Kind) {
    let mut drive = drive(kind);
    for number in 0..20 {
        drive.now.seconds += 60;
        drive.run(keep(&format!("key{number:02}"), &"x".repeat(100), "core")).unwrap();
    }
    let keys: Vec<String> = (0..20).map(|number| format!("key{number:02}")).collect();
    let named = |content: &str| naming(keys.iter().map(String::as_str), content);
    let bounded = |content: &str| SyncAgentsMd { max_bytes: 1500, ..named(content) };
    let reply = sync(&mut drive, bounded("# Project\r\n"));
    let text = String::from_utf8(reply.content.unwrap()).unwrap();
    assert!(text.len() - "# Project\r\n\r\n\r\n".len() <= 1500, "{}", text.len());
    assert_eq!(reply.listed as usize + reply.left_out.len(), 20);
    assert!(
        reply.listed >= 5 && text.contains(&format!("\r\n({} more not listed)\r\n", reply.left_out.len())),
        "{text}"
    );
    assert!(text.contains("key19") && !text.contains("key00"), "the newest are listed");
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
    assert_eq!(sync(&mut drive, bounded(&text)).content, None);
    assert_eq!(reply.left_out[0].key.as_deref(), Some("key00"));
    // The section still tracks them: with more room they are listed, whatever the request selects.
    let roomy = sync(&mut drive, going_on(&text));
    assert_eq!((roomy.listed, roomy.left_out.len()), (20, 0));
}

#[both_engines]
fn refused_files_change_nothing(kind: Kind) {
    let begin = "<!-- saddlebag:begin agent=a -->";
    let mut drive = drive(kind);
    drive.run(keep("k", "v", "core")).unwrap();
    let before = changes(&drive.executor);
    for (content, code, message) in [
        (format!("{begin}\n- new: x\n").into_bytes(), ErrorCode::DamagedFile, "line 1: the section that begins"),
        (
            format!("{begin}\n- new: x\n\nno item\n<!-- saddlebag:end -->").into_bytes(),
            ErrorCode::DamagedFile,
            "line 4: this is neither an item",
        ),
        (
            b"<!-- saddlebag:begin agent=b -->\n- new: x\n<!-- saddlebag:end -->".to_vec(),
            ErrorCode::InvalidArgument,
            "line 1: the section belongs to agent `b`, and this memory to agent `a`",
        ),
        (b"x\n```\nopen".to_vec(), ErrorCode::DamagedFile, "a code block or a comment that is not closed"),
        (b"x\n<!-- open".to_vec(), ErrorCode::DamagedFile, "a code block or a comment that is not closed"),
        (b"caf\xe9".to_vec(), ErrorCode::NotText, "not UTF-8 text (at byte 3)"),
        (vec![b'x'; (1 << 20) + 1], ErrorCode::TooLarge, "1048577 bytes, the limit is 1048576"),
    ] {
        let error = drive.run(SyncAgentsMd { content: Some(content), ..SyncAgentsMd::default() }).unwrap_err();
        assert_eq!(error.code, code);
        assert!(error.message.contains(message) && !error.help.is_empty(), "{error:?}");
    }
    let error = drive.run(SyncAgentsMd { max_bytes: 100, ..request("x") }).unwrap_err();
    assert_eq!(error.code, ErrorCode::TooLarge);
    assert_eq!(changes(&drive.executor), before);

    let mut nobody = Drive::new(kind, Config { entries: None, ..agent_config() }, Simulator::new(1));
    assert_eq!(nobody.run(request("x")).unwrap_err().code, ErrorCode::InvalidArgument);
}

#[both_engines]
fn text_that_the_store_refuses_stays_in_the_section(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(keep("k", "v", "core")).unwrap();
    let (text, _) = synced(&mut drive, "");
    let long = "x".repeat(16_385);
    let edited = text.replace("- `k`: v\n", &format!("- `k`: v\n- `long`: {long}\n"));
    let (text, reply) = synced(&mut drive, &edited);
    let [("long", FactChangeKind::Refused(reason))] = kinds(&reply)[..] else { panic!("{reply:?}") };
    assert!(reason.contains("16385 bytes, the limit is 16384"), "{reason}");
    assert!(text.contains(&long) && entry(&mut drive, "long").is_none());
}

#[both_engines]
fn an_entry_that_cannot_be_read_does_not_count_as_gone(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(keep("k", "v", "core")).unwrap();
    drive.run(keep("z", "v", "core")).unwrap();
    let (text, _) = synced(&mut drive, "");
    drive.executor.insert(&path("agents/a/entries/core/k.md"), b"caf\xe9".to_vec());
    for edited in [text.clone(), text.replace("- `k`: v\n", "")] {
        let (now, reply) = synced(&mut drive, &edited);
        assert!(conflict_of(&reply).starts_with("its entry cannot be parsed: "), "{reply:?}");
        let items = |text: &str| text.split("<!-- saddlebag:end").next().map(str::to_string);
        assert_eq!((items(&now), reply.problems.len()), (items(&edited), 1));
        let still = sync(&mut drive, request(&now));
        assert_eq!((still.content.as_ref(), kinds(&still).len()), (None, 1), "{still:?}");
    }
}

fn any_fact() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "b c",
        "\n",
        " ",
        "\r\n",
        "\"",
        "`",
        "- ",
        "```",
        ":",
        "<!-- saddlebag:end -->",
        "</memory>",
        "記",
        "\u{200b}",
        "> ",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 1..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(cases(96))]

    /// Bytes outside of the markers never change, and a second sync changes nothing.
    #[test]
    fn what_is_outside_of_the_markers_stays(
        facts in prop::collection::btree_map(any_fact(), any_fact(), 0..4),
        before in prop::sample::select(vec!["", "\u{feff}", "# T\n", "no end", "a\r\nb\r\n", "- list\n", "\n\n", "```\nx\n```\n", "> q"]),
        after in prop::sample::select(vec!["", "\n", "\nmore", "\r\n\r\nmore\r\n"]),
        changed in any_fact(),
        max_bytes in 400_u32..2000,
    ) {
        let mut drive = drive(Kind::Native);
        for (key, content) in &facts {
            drive.run(keep(key, content, "core")).unwrap();
        }
        let keys = || facts.keys().map(String::as_str).chain(["added"]);
        let bounded = |text: &str| SyncAgentsMd { max_bytes, ..naming(keys(), text) };
        let reply = sync(&mut drive, bounded(before));
        let Some(content) = reply.content else {
            prop_assert!(facts.is_empty());
            return Ok(());
        };
        let text = String::from_utf8(content).unwrap();
        prop_assert!(text.starts_with(before));
        let at = text.find("<!-- saddlebag:begin").unwrap();
        let end = text.rfind("-->").unwrap() + 3;
        prop_assert!(end - at <= max_bytes as usize, "{} over {max_bytes}", end - at);
        prop_assert_eq!(reply.listed as usize + reply.left_out.len(), facts.len());
        let text = format!("{}{after}", &text[..end]);
        prop_assert_eq!(sync(&mut drive, bounded(&text)).content, None, "{}", text);

        let key = facts.keys().next().unwrap();
        drive.run(keep(key, &changed, "core")).unwrap();
        drive.run(keep("added", "x", "core")).unwrap();
        let again = String::from_utf8(sync(&mut drive, bounded(&text)).content.unwrap()).unwrap();
        prop_assert_eq!(&again[..at], &text[..at]);
        let end = format!("-->{after}");
        prop_assert!(again.ends_with(&end));
        prop_assert_eq!(sync(&mut drive, bounded(&again)).content, None, "{}", again);
        for (key, content) in &facts {
            let now = entry(&mut drive, key).unwrap().1;
            prop_assert!(now == *content || now == changed);
        }
    }
}
