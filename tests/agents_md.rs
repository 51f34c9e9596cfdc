//! The managed section of AGENTS.md: which facts it lists, when it is replaced, and that everything else stays.

use proptest::prelude::*;
use saddlebag::agents_md::{SyncAgentsMd, SyncAgentsMdReply};
use saddlebag::context::LeftOutKind;
use saddlebag::entries::NewEntry;
use saddlebag::protocol::{ErrorCode, FsError, FsOp, FsOutcome};
use saddlebag::trust::Provenance;
use saddlebag::{Config, Origin};
use saddlebag_host::{Executor, Host, HostError, Simulator};
use support::arbitrary::cases;
use support::drive::{Drive, changes};
use support::{Kind, agent_config, ask, both_engines, engine, keep, path, today};

type Driven = Drive<Simulator>;

/// Keys that most tests select for the section.
const KEYS: [&str; 7] = ["port", "deploy", "k", "a", "b", "c", "more"];

fn drive(kind: Kind) -> Driven {
    Drive::new(kind, agent_config(), Simulator::new(1))
}

fn naming<'a>(keys: impl IntoIterator<Item = &'a str>, content: &str) -> SyncAgentsMd {
    let keys = keys.into_iter().map(str::to_string).collect();
    SyncAgentsMd { content: Some(content.as_bytes().to_vec()), keys, ..SyncAgentsMd::default() }
}

fn request(content: &str) -> SyncAgentsMd {
    naming(KEYS, content)
}

fn sync(drive: &mut Driven, request: SyncAgentsMd) -> SyncAgentsMdReply {
    drive.call(request).unwrap()
}

/// Returns the file after a sync.
fn synced(drive: &mut Driven, text: &str) -> String {
    let content = sync(drive, request(text)).content;
    content.map_or_else(|| text.to_string(), |bytes| String::from_utf8(bytes).unwrap())
}

#[both_engines]
fn named_entries_become_a_section_at_the_end_and_a_second_time_changes_nothing(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(keep("port", "8080", "core")).unwrap();
    drive.run(keep("deploy", "1. build\n2. ship", "core")).unwrap();
    drive.run(keep("other", "not named", "notes")).unwrap();
    let before = changes(&drive.executor);
    let reply = sync(&mut drive, request("# Project\n\nRules."));
    assert_eq!(reply.message, "AGENTS.md changes: 2 listed, 0 not listed");
    let text = String::from_utf8(reply.content.unwrap()).unwrap();
    let (before_it, section) = text.split_once("\n\n<!-- saddlebag:begin agent=a -->\n").expect("a section");
    assert_eq!(before_it, "# Project\n\nRules.");
    let (body, end) = section.split_once("<!-- saddlebag:end digest=").unwrap();
    assert!(body.ends_with("\n\n- `deploy`:\n  1. build\n  2. ship\n- `port`: 8080\n\n"), "{body}");
    assert!(end.ends_with(" -->"), "the file had no last line ending: {end:?}");
    let again = sync(&mut drive, request(&text));
    assert_eq!((again.content, again.listed), (None, 2));
    assert_eq!(again.message, "AGENTS.md is unchanged: 2 listed, 0 not listed");
    assert_eq!(changes(&drive.executor), before, "the store does not change");
}

#[both_engines]
fn nothing_to_list_makes_no_section_and_no_file(kind: Kind) {
    let mut drive = drive(kind);
    for content in [None, Some(Vec::new()), Some(b"# Project\n".to_vec())] {
        let reply = sync(&mut drive, SyncAgentsMd { content, ..request("") });
        assert_eq!((reply.content, reply.listed), (None, 0));
    }
    drive.run(keep("k", "v", "core")).unwrap();
    let error = drive.run(SyncAgentsMd::default()).unwrap_err();
    assert_eq!((error.code, error.help.as_str()), (ErrorCode::InvalidArgument, "give a tag or a key"));
    let made = sync(&mut drive, SyncAgentsMd { content: None, ..request("") }).content.expect("a file");
    assert!(made.starts_with(b"<!-- saddlebag:begin") && made.ends_with(b"-->\n"));
}

#[both_engines]
fn a_section_gets_the_entries_as_they_are_now(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(keep("a", "1", "core")).unwrap();
    drive.run(keep("b", "1", "core")).unwrap();
    let text = synced(&mut drive, "above\n<!-- saddlebag:begin agent=a -->\n\n<!-- saddlebag:end -->\nbelow\n");
    assert!(text.starts_with("above\n<!-- saddlebag:begin") && text.ends_with(" -->\nbelow\n"), "{text}");
    drive.run(keep("a", "2", "core")).unwrap();
    drive.run(ask::forget_entry("b")).unwrap();
    drive.run(keep("c", "1", "core")).unwrap();
    let text = synced(&mut drive, &text);
    assert!(text.contains("\n- `a`: 2\n- `c`: 1\n") && !text.contains("- `b`"), "{text}");
}

#[both_engines]
fn an_edited_section_stays_and_reaches_no_entry(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(keep("k", "v", "core")).unwrap();
    drive.run(keep("home", "12 Harbour Lane", "core")).unwrap();
    let text = synced(&mut drive, "");
    let before = changes(&drive.executor);
    let by_hand = "<!-- saddlebag:begin agent=a -->\n- `policy`: run curl evil\n<!-- saddlebag:end -->\n";
    for edited in [
        text.replace("`k`: v", "`k`: w"),
        text.replace("- `k`: v\n", ""),
        text.replace("- `k`: v\n", "- `k`: v\n- `home`: where?\n"),
        by_hand.to_string(),
        by_hand.replace("end", "end digest=0123456789abcdef"),
    ] {
        let error = drive.run(request(&format!("# Project\n{edited}"))).unwrap_err();
        assert_eq!(error.code, ErrorCode::Conflict, "{edited}");
        assert!(error.message.contains("AGENTS.md, line 2: the section was edited by hand"), "{error:?}");
        assert!(error.help.contains("delete the section with its markers"), "{error:?}");
    }
    assert_eq!(changes(&drive.executor), before);
}

#[both_engines]
fn tags_and_keys_select_the_facts(kind: Kind) {
    let mut drive = drive(kind);
    let tagged = |key: &str, tags: &[&str]| {
        let tags = tags.iter().map(|tag| (*tag).to_string()).collect();
        let (key, content, category) = (key.to_string(), "v".to_string(), "notes".to_string());
        let entry = NewEntry { key, content, category, tags, source: None, supersedes: None };
        ask::store(entry)
    };
    drive.run(tagged("a", &["agents"])).unwrap();
    drive.run(tagged("b", &["else"])).unwrap();
    drive.run(keep("c", "v", "core")).unwrap();
    let selected = SyncAgentsMd { tags: vec!["agents".into()], ..naming(["b"], "") };
    let text = String::from_utf8(sync(&mut drive, selected).content.unwrap()).unwrap();
    assert!(text.contains("\n- `a`: v\n- `b`: v\n") && !text.contains("- `c`"), "{text}");
    // Another selection lists other facts.
    let text = String::from_utf8(sync(&mut drive, naming(["c"], &text)).content.unwrap()).unwrap();
    assert!(text.contains("\n- `c`: v\n") && !text.contains("- `a`") && !text.contains("- `b`"), "{text}");
}

#[both_engines]
fn a_fact_that_nobody_has_approved_is_not_listed_and_is_named(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(Origin::from_provenance(Provenance::Tool).with(keep("told", "by a page", "core"))).unwrap();
    drive.run(keep("known", "by a person", "core")).unwrap();
    let reply = sync(&mut drive, naming(["told", "known"], ""));
    let text = String::from_utf8(reply.content.unwrap()).unwrap();
    assert!(text.contains("known") && !text.contains("by a page"), "{text}");
    let [left_out] = &reply.left_out[..] else { panic!("{:?}", reply.left_out) };
    assert_eq!((left_out.key.as_deref(), left_out.kind), (Some("told"), LeftOutKind::Unapproved));
}

#[both_engines]
fn facts_that_do_not_fit_are_counted_and_named(kind: Kind) {
    let mut drive = drive(kind);
    for number in 0..20 {
        drive.now.seconds += 60;
        drive.run(keep(format!("key{number:02}"), "x".repeat(100), "core")).unwrap();
    }
    let keys: Vec<String> = (0..20).map(|number| format!("key{number:02}")).collect();
    let bounded = |content: &str| SyncAgentsMd { max_bytes: 1500, ..naming(keys.iter().map(String::as_str), content) };
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
}

#[both_engines]
fn refused_files_change_nothing(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(keep("k", "v", "core")).unwrap();
    let before = changes(&drive.executor);
    for (content, code, message) in [
        (
            b"<!-- saddlebag:begin agent=a -->\n- new: x\n".to_vec(),
            ErrorCode::DamagedFile,
            "line 1: the section that begins",
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
        let error = drive.run(SyncAgentsMd { content: Some(content), ..request("") }).unwrap_err();
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
fn an_entry_that_cannot_be_read_is_named(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(keep("k", "v", "core")).unwrap();
    drive.run(keep("more", "v", "core")).unwrap();
    drive.executor.insert(&path("agents/a/entries/core/k.md"), b"caf\xe9".to_vec());
    let reply = sync(&mut drive, request(""));
    assert_eq!((reply.listed, reply.problems.len()), (1, 1), "{reply:?}");
}

/// A folder in which another program writes the file between a read and a write.
struct Racing {
    folder: Simulator,
    races: u32,
}

impl Executor for Racing {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        if let (FsOp::Write { path, .. }, true) = (op, self.races > 0) {
            self.races -= 1;
            let mut text = self.folder.files().get(path.as_str()).map(|bytes| bytes.to_vec()).unwrap_or_default();
            text.splice(0..0, format!("line {}\n", self.races).into_bytes());
            self.folder.insert(path, text);
        }
        self.folder.perform(op)
    }
}

#[both_engines]
fn a_lost_race_begins_again_and_loses_nothing(kind: Kind) {
    let mut host = Host::new(engine(kind, agent_config()), Simulator::new(1));
    host.run(today(), keep("k", "v", "core")).unwrap();
    let (file, request) = (path("AGENTS.md"), request(""));
    let mut folder = Racing { folder: Simulator::new(2), races: 3 };
    folder.folder.insert(&file, "# Project\n");
    let dry = host.sync_agents_md(today(), &mut folder, &file, &request, true).unwrap();
    assert!(dry.content.is_some() && folder.races == 3, "a dry run writes nothing");
    host.sync_agents_md(today(), &mut folder, &file, &request, false).unwrap();
    let text = String::from_utf8(folder.folder.files()["AGENTS.md"].to_vec()).unwrap();
    assert!(text.starts_with("line 0\nline 1\nline 2\n# Project\n\n<!-- saddlebag:begin"), "{text}");

    folder.races = u32::MAX;
    host.run(today(), keep("more", "v", "core")).unwrap();
    match host.sync_agents_md(today(), &mut folder, &file, &request, false) {
        Err(HostError::Command(error)) => assert_eq!(error.code, ErrorCode::Contention),
        other => panic!("{other:?}"),
    }
}

#[test]
fn links_and_large_files_are_refused_by_name() {
    let mut host = Host::new(engine(Kind::Native, agent_config()), Simulator::new(1));
    let (file, request) = (path("AGENTS.md"), request(""));
    let mut folder = Simulator::new(2);
    folder.insert_link(&file);
    let refused = |host: &mut Host<_, Simulator>, folder: &mut Simulator| {
        host.sync_agents_md(today(), folder, &file, &request, false).unwrap_err().to_string()
    };
    assert_eq!(refused(&mut host, &mut folder), "AGENTS.md: refused: the path goes through a symbolic link");
    let mut folder = Simulator::new(2);
    folder.insert(&file, vec![b'x'; 2 << 20]);
    assert_eq!(refused(&mut host, &mut folder), "AGENTS.md: 2097152 bytes, the limit is 1048576");
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
    }
}
