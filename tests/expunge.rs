//! Expunge: no file of the store has the text afterwards, also unpacked, and nothing else is lost.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use saddlebag::history::{Expunge, ExpungeReply, ListOperations, ListVersions, OperationInfo, PlaceKind, Undo};
use saddlebag::items::Recall;
use saddlebag::journal::{Target, WriteFile};
use saddlebag::protocol::{Error, ErrorCode};
use saddlebag::session::{EndSession, RecallForPrompt};
use saddlebag::store::BackupPlace;
use saddlebag::trust::{Provenance, TrustConfig};
use saddlebag::{Command, Config, Origin, Reply, Submission, Submit};
use saddlebag_host::Simulator;
use saddlebag_log::{Contents, Log, MAX_CONTENT, Missing, Stored};

use support::drive::{Drive, Shared, drive, simulator};
use support::{Kind, Random, agent_config, ask, both_engines, each, fact, keep, path};

/// The value that must go.
const VALUE: &str = "zebra-7741-quartz";

/// Beside the value, and must stay.
const SIBLING: &str = "sibling-line";

fn pad(content: &str) -> WriteFile {
    ask::append(Target::Scratchpad, content)
}

fn text(text: &str) -> Expunge {
    Expunge { text: text.into(), ..Expunge::default() }
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Returns the files that have a text, also in what is compressed in them. It is independent of the code that removes the text.
fn holders(files: &BTreeMap<String, Vec<u8>>, text: &str) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    found.extend(
        files.iter().filter(|(path, bytes)| has(bytes, text) || path.contains(text)).map(|(path, _)| path.clone()),
    );
    let mut contents = Contents::new(MAX_CONTENT);
    let mut named = Vec::new();
    for (path, bytes) in files.iter().filter(|(path, _)| path.contains(".saddlebag/history/")) {
        if path.contains("/blobs/") {
            contents.add_known(bytes.clone());
            continue;
        }
        let mut lines = Log::new(bytes).lines();
        for line in lines.by_ref() {
            let record = line.head.into_record().unwrap_or_else(|| panic!("{path} has a content that nobody can read"));
            for content in record.changes.iter().flat_map(|change| &change.contents) {
                if let Stored::Whole(bytes) | Stored::Delta { delta: bytes, .. } = &content.stored
                    && has(bytes, text)
                {
                    found.insert(path.clone());
                }
                contents.add_content(content.clone());
                named.push((path.clone(), content.digest));
            }
        }
        assert_eq!(lines.damaged(), 0, "{path}");
    }
    for (path, digest) in named {
        match contents.get(&digest) {
            Ok(bytes) if has(&bytes, text) => {
                found.insert(path);
            }
            Ok(_) | Err(Missing::Removed(_)) => {}
            Err(error) => panic!("{path}: {error}"),
        }
    }
    found
}

fn operations(drive: &mut Drive<Simulator>) -> Vec<OperationInfo> {
    drive.call(ListOperations { limit: 1000, ..ListOperations::default() }).unwrap().operations
}

/// Returns true if a recall or a search for a word finds a text with it. The word itself is in every reply.
fn finds(drive: &mut Drive<Simulator>, query: &str, text: &str) -> bool {
    let recalled = drive.call(Recall { limit: 0, ..ask::recall(query) }).unwrap();
    format!("{recalled:?}{:?}", drive.call(ask::search(query)).unwrap()).contains(text)
}

/// A store in which the value is everywhere: in a note, an entry, a backup, a forgotten entry, the state of a session, the index
/// and all versions of these.
fn filled(kind: Kind) -> Drive<Simulator> {
    let config = Config { index_file: true, backups: BackupPlace::Sibling, ..agent_config() };
    let mut drive = drive(kind, config, &[("MEMORY.md", format!("# All\n\nkeep\n{VALUE}\n").as_bytes())]);
    drive.run(fact("Port", format!("The port is {VALUE}.\n\n{SIBLING}"))).unwrap();
    drive.run(ask::edit("facts/port", "The port", "Our port")).unwrap();
    drive.run(ask::edit("facts/port", SIBLING, format!("{SIBLING} two"))).unwrap();
    drive.run(keep("k", format!("entry {VALUE} {SIBLING}"), "core")).unwrap();
    drive.run(keep("k", format!("entry again {VALUE} {SIBLING}"), "core")).unwrap();
    drive.run(keep("gone", format!("gone {VALUE}"), "core")).unwrap();
    drive.run(ask::forget_entry("gone")).unwrap();
    drive.run(pad(&format!("- [ ] {VALUE}"))).unwrap();
    drive.run(ask::edit("scratchpad-copy", "a", "b")).unwrap_err();
    drive.run(fact("Copy", format!("{VALUE} copied"))).unwrap();
    drive.run(ask::forget("facts/copy")).unwrap();
    let origin = Origin { reason: Some(format!("because of {VALUE}")), ..Origin::default() };
    drive.run(origin.with(pad("- [ ] reason"))).unwrap();
    let prompt = RecallForPrompt {
        session: "s".into(),
        prompt: format!("what is \"{VALUE}\"?"),
        max_bytes: 2000,
        min_score: None,
        keep_out: Vec::new(),
        dry_run: false,
        form: None,
    };
    drive.run(prompt).unwrap();
    assert!(finds(&mut drive, VALUE, &format!("port is {VALUE}")), "the value is recalled before");
    drive
}

fn places_of(reply: &ExpungeReply, kind: PlaceKind) -> usize {
    reply.places.iter().filter(|place| place.kind == kind).count()
}

/// Row "deletion, reindex and restart" and "The deletion sequence".
#[both_engines]
fn an_expunged_value_is_in_no_file_and_its_siblings_stay(kind: Kind) {
    let mut drive = filled(kind);
    let before = drive.executor.files();
    let dry = drive.call(Expunge { dry_run: true, ..text(VALUE) }).unwrap();
    assert_eq!(drive.executor.files(), before, "a dry run changes nothing");
    assert!(dry.operation.is_none() && dry.left.is_empty() && dry.message.starts_with("Dry run"), "{dry:?}");
    // The dry run names every file that has the value, and no other.
    let listed: BTreeSet<String> = dry.places.iter().map(|place| place.path.clone()).collect();
    assert_eq!(listed, holders(&before, VALUE));
    for (kind, least) in [(PlaceKind::File, 4), (PlaceKind::Backup, 2), (PlaceKind::History, 2), (PlaceKind::State, 1)]
    {
        assert!(places_of(&dry, kind) >= least, "{kind}: {dry:?}");
    }

    drive.now.seconds += 60;
    let done = drive.call(text(VALUE)).unwrap();
    assert_eq!((done.left.as_slice(), done.places == dry.places, done.unreadable), (&[][..], true, 0), "{done:?}");
    assert_eq!(holders(&drive.executor.files(), VALUE), BTreeSet::new());
    assert!(!done.message.contains(VALUE));

    // The log shows the deletion, and a keyed digest of the value.
    let operation = operations(&mut drive).remove(0);
    let digest = done.digest.clone().unwrap();
    assert_eq!((operation.command.as_str(), operation.provenance.as_str()), ("expunge", "user"));
    assert_eq!(Some(&operation.operation), done.operation.as_ref());
    let reason = operation.reason.unwrap();
    assert!(reason.contains(&digest) && reason.contains("places in"), "{reason}");
    assert_ne!(digest, saddlebag_log::Digest::of(VALUE.as_bytes()).to_string());

    // What was beside it stays, in the files and in the history.
    let note = String::from_utf8(drive.executor.files()["projects/proj/facts/port.md"].clone()).unwrap();
    assert!(note.contains("Our port is (expunged).") && note.contains("sibling-line two"), "{note}");
    assert_eq!(drive.executor.files()["MEMORY.md"], b"# All\n\nkeep\n(expunged)\n");
    let read = drive.call(ask::show_version("facts/port", 2)).unwrap_err();
    assert!(read.message.contains("expunged"), "{read}");
    let versions = drive.call(ListVersions { patch: true, ..ask::list_versions("facts/port") }).unwrap().versions;
    let by = |version: &saddlebag::history::VersionInfo| version.operation.as_ref().unwrap().command.clone();
    assert_eq!(versions.iter().map(by).collect::<Vec<_>>(), ["expunge", "edit", "edit", "remember"]);

    // After a reindex and a restart nothing brings it back.
    for index_file in [true, false] {
        let config = Config { epoch: 7, index_file, ..agent_config() };
        let mut next = Drive::new(kind, config, drive.executor);
        assert!(!finds(&mut next, VALUE, &format!("is {VALUE}")) && finds(&mut next, SIBLING, "sibling-line two"));
        next.run(EndSession { session: "s".into(), finished: true, answer: None }).unwrap();
        next.run(pad("- [ ] later")).unwrap();
        let _ = next.run(Undo::default());
        let _ = next.run(ask::redo());
        let entry = format!("{:?}", next.run(ask::entry("k")).unwrap());
        assert!(entry.contains("entry again (expunged)"), "{entry}");
        assert_eq!(holders(&next.executor.files(), VALUE), BTreeSet::new());
        drive = next;
    }
    let again = drive.call(text(VALUE)).unwrap();
    assert_eq!((again.places.len(), again.operation, again.message.as_str()), (0, None, "Nothing has the text"));
}

/// Row "deletion, copies": the second scope that this memory reads.
#[both_engines]
fn copies_in_all_scopes_that_the_memory_reads_go(kind: Kind) {
    let mut user = Drive::new(kind, Config { project: Some("user".into()), ..agent_config() }, simulator(&[]));
    user.run(fact("For all", format!("{VALUE} for all, {SIBLING}"))).unwrap();
    let mut root = Drive::new(kind, Config { project: None, ..agent_config() }, user.executor);
    let _ = root.run(keep("w", format!("{VALUE} shared"), "workspace"));
    root.run(fact("Other", format!("{VALUE} of the root"))).unwrap();
    let mut drive = Drive::new(kind, agent_config(), root.executor);
    drive.run(fact("Port", VALUE)).unwrap();
    let done = drive.call(text(VALUE)).unwrap();
    assert!(done.left.is_empty(), "{done:?}");
    let left = holders(&drive.executor.files(), VALUE);
    // Folders of the root are not read from a project.
    assert!(left.iter().all(|path| path.starts_with("facts/") || path.starts_with(".saddlebag/")), "{left:?}");
    let mut root = Drive::new(kind, Config { project: None, epoch: 3, ..agent_config() }, drive.executor);
    root.call(text(VALUE)).unwrap();
    assert_eq!(holders(&root.executor.files(), VALUE), BTreeSet::new());
    let of_user = String::from_utf8(root.executor.files()["projects/user/facts/for-all.md"].clone()).unwrap();
    assert!(of_user.contains(&format!("(expunged) for all, {SIBLING}")), "{of_user}");
}

#[both_engines]
fn a_named_item_goes_with_all_its_versions_and_what_copied_its_text(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(fact("Port", "an older text")).unwrap();
    drive.run(ask::rename("facts/port", "Gate")).unwrap();
    drive.now.seconds += 1;
    drive.run(ask::edit("facts/gate", "an older text", VALUE)).unwrap();
    // A later note with the old name is another one.
    drive.run(fact("Port", "a new note")).unwrap();
    drive.run(ask::edit("facts/port", "a new note", "a newer note")).unwrap();
    drive.run(pad(&format!("- [ ] {VALUE} copied"))).unwrap();
    drive.run(fact("Other", SIBLING)).unwrap();
    let named = |dry_run| Expunge { name: Some("Gate".into()), dry_run, ..Expunge::default() };
    let dry = drive.call(named(true)).unwrap();
    assert!(dry.places.iter().any(|place| place.path.ends_with("facts/gate.md")), "{dry:?}");
    let done = drive.call(named(false)).unwrap();
    assert!(done.left.is_empty(), "{done:?}");
    let files = drive.executor.files();
    assert!(!files.keys().any(|path| path.contains("facts/gate")), "{:?}", files.keys());
    for value in [VALUE, "an older text"] {
        assert_eq!(holders(&files, value), BTreeSet::new());
    }
    assert!(finds(&mut drive, SIBLING, SIBLING));
    let text = drive.call(ask::show_version("facts/port", 2)).unwrap().text;
    assert!(text.contains("a new note"), "{text}");
    drive.run(keep("k", format!("value {VALUE}"), "core")).unwrap();
    drive.run(keep("k", format!("new value {VALUE}"), "core")).unwrap();
    drive.call(Expunge { name: Some("k".into()), ..Expunge::default() }).unwrap();
    assert_eq!(holders(&drive.executor.files(), &format!("value {VALUE}")), BTreeSet::new());
    assert_eq!(drive.run(ask::entry("k")).unwrap_err().code, ErrorCode::EntryNotFound);
}

#[both_engines]
fn what_is_refused_changes_nothing(kind: Kind) {
    let mut drive = filled(kind);
    let before = drive.executor.files();
    let refused = |drive: &mut Drive<Simulator>, command: Submission<Expunge>| drive.call(command).unwrap_err();
    for short in ["", "abc", "  ab \n", "laptop", "(expunged)", "xpun", "user"] {
        let error = refused(&mut drive, Origin::default().with(text(short)));
        assert_eq!(error.code, ErrorCode::InvalidArgument, "{short}: {error}");
    }
    let origin = Origin { reason: Some(format!("see {VALUE}")), ..Origin::default() };
    let error = refused(&mut drive, origin.with(text(VALUE)));
    assert!(!error.to_string().contains(VALUE), "{error}");
    let both = Expunge { name: Some("Port".into()), ..text(VALUE) };
    assert_eq!(refused(&mut drive, Origin::default().with(both)).code, ErrorCode::InvalidArgument);
    for name in ["MEMORY.md", "scratchpad", "no such note"] {
        let named = Expunge { name: Some(name.into()), ..Expunge::default() };
        refused(&mut drive, Origin::default().with(named));
    }
    let trust = TrustConfig { provenance: Provenance::Agent, ..TrustConfig::default() };
    let mut agent = Drive::new(kind, Config { trust, epoch: 2, ..agent_config() }, drive.executor);
    for dry_run in [true, false] {
        assert_eq!(agent.call(Expunge { dry_run, ..text(VALUE) }).unwrap_err().code, ErrorCode::NotPermitted);
    }
    let mut silent = Drive::new(kind, Config { machine: None, epoch: 3, ..agent_config() }, agent.executor);
    assert_eq!(silent.call(text(VALUE)).unwrap_err().code, ErrorCode::NotPermitted);
    assert_eq!(silent.executor.files(), before);
}

#[both_engines]
fn the_digest_needs_the_key_of_the_host(kind: Kind) {
    let digest = |secret: Option<u8>, epoch| {
        let secret = secret.map(|byte| vec![byte; 32].into());
        let mut drive = drive(kind, Config { secret, epoch, ..agent_config() }, &[]);
        drive.run(fact("Port", VALUE)).unwrap();
        drive.call(text(VALUE)).unwrap().digest.unwrap()
    };
    assert_eq!(digest(Some(1), 1), digest(Some(1), 2), "the same value has the same digest");
    let all: BTreeSet<String> = [digest(Some(1), 1), digest(Some(2), 1), digest(None, 1), digest(None, 2)].into();
    assert_eq!(all.len(), 4);
}

#[both_engines]
fn large_versions_in_separate_files_and_differences_from_them(kind: Kind) {
    let large = format!("{}{VALUE}\n{}", "a line of a large note\n".repeat(40_000), "and more\n".repeat(40_000));
    let note = "projects/proj/notes/large.md";
    let mut drive = drive(kind, agent_config(), &[(note, large.as_bytes())]);
    drive
        .run(ask::edit(
            Target::Page("notes/large".into()),
            "a line of a large note\na line of a large note\na line of a large note",
            "short",
        ))
        .unwrap_err();
    drive
        .run(ask::edit(
            Target::Page("notes/large".into()),
            format!("{VALUE}\nand more\n"),
            format!("{VALUE}!\nand more\n"),
        ))
        .unwrap();
    // A difference from a content that is removed.
    drive.run(ask::edit("notes/large", format!("{VALUE}!\n"), format!("{SIBLING}\n"))).unwrap();
    let kept = drive.executor.files()[note].clone();
    let blobs =
        |drive: &Drive<Simulator>| drive.executor.files().into_keys().filter(|path| path.contains("/blobs/")).count();
    assert_eq!(blobs(&drive), 1);
    drive.run(ask::edit("notes/large", SIBLING, "later")).unwrap();
    assert!(holders(&drive.executor.files(), VALUE).iter().any(|path| path.contains("/blobs/")));
    let done = drive.call(text(VALUE)).unwrap();
    assert!(done.left.is_empty(), "{done:?}");
    assert_eq!(holders(&drive.executor.files(), VALUE), BTreeSet::new());
    assert_eq!(blobs(&drive), 0);
    let read = drive.call(ask::show_version("notes/large", 2)).unwrap();
    assert_eq!(read.text.into_bytes(), kept, "a version without the value can still be read");
}

#[both_engines]
fn damaged_history_is_removed_and_reported(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(fact("Port", VALUE)).unwrap();
    let log = "projects/proj/.saddlebag/history/2026-05/laptop.log";
    let mut bytes = drive.executor.files()[log].clone();
    bytes.extend_from_slice(b"{\"operation\":\"torn\n");
    drive.executor.insert(&path(log), bytes);
    drive.run(pad("- [ ] later")).unwrap();
    let done = drive.call(text(VALUE)).unwrap();
    assert_eq!((done.unreadable, done.left.len()), (1, 0), "{done:?}");
    assert_eq!(holders(&drive.executor.files(), VALUE), BTreeSet::new());
    let list = drive.call(ListOperations { limit: 9, ..ListOperations::default() }).unwrap();
    assert_eq!((list.total, list.damaged), (3, 0), "{list:?}");
}

#[both_engines]
fn a_text_that_its_replacement_makes_again_still_goes(kind: Kind) {
    for (value, content) in
        [("]aaaa", "x ]]aaaaaaaaaaaa y"), ("aa[e", "aa[eaa[exx aaaa[e"), ("two\nlines", "two\nlines\n")]
    {
        let mut drive = drive(kind, agent_config(), &[("projects/proj/notes/a.md", content.as_bytes())]);
        drive.run(ask::edit("notes/a", content.trim_end(), format!("{} end", content.trim_end()))).unwrap();
        let done = drive.call(text(value)).unwrap();
        assert!(done.left.is_empty(), "{done:?}");
        assert_eq!(holders(&drive.executor.files(), value), BTreeSet::new(), "{value}");
    }
}

#[both_engines]
fn the_name_of_a_file_is_reported_and_not_changed(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(fact(VALUE, "text")).unwrap();
    let done = drive.call(text(VALUE)).unwrap();
    let left: Vec<(&str, PlaceKind)> = done.left.iter().map(|place| (place.path.as_str(), place.kind)).collect();
    assert_eq!(left, [("projects/proj/facts/zebra-7741-quartz.md", PlaceKind::Name)], "{done:?}");
    assert!(done.message.contains("still"), "{done:?}");
    drive.run(ask::rename(format!("facts/{VALUE}"), "Other")).unwrap();
    drive.call(text(VALUE)).unwrap();
    assert_eq!(holders(&drive.executor.files(), VALUE), BTreeSet::new());
}

/// A command that changes files, chosen by a number. About every second text has the value.
fn change(random: u64) -> Submission<Command> {
    let (kind, number, has_value) = (random % 15, random / 15 % 4, (random / 60).is_multiple_of(2));
    let value = if has_value { VALUE } else { "harmless" };
    let title = format!("Note {number}");
    let note = format!("facts/note-{number}");
    let filler = "a line that is the same in all versions\n".repeat((random / 120 % 9) as usize);
    match kind {
        0 | 1 => fact(&title, format!("{filler}text {random} {value}\n{SIBLING}")).submission(),
        2 => pad(&format!("- [ ] item {random} {value}")).submission(),
        3 => ask::append_daily("work", format!("line {random} {value}")).submission(),
        4 => ask::edit(&note, "text", format!("words {value}")).submission(),
        5 => ask::edit(&note, VALUE, "words").submission(),
        6 => ask::forget(note).submission(),
        7 | 8 => keep(format!("k{number}"), format!("value {random} {value}"), "core").submission(),
        9 => ask::forget_entry(format!("k{number}")).submission(),
        10 => ask::tag(note, vec![format!("t{random}")], Vec::new()).submission(),
        11 => ask::rename(note, format!("Note {}", (number + 1) % 4)).submission(),
        12 => Undo::default().submission(),
        13 => ask::redo().submission(),
        _ => ask::link(note, format!("facts/note-{}", (number + 2) % 4)).submission(),
    }
}

fn make_changes(drive: &mut Drive<Simulator>, random: &mut Random, count: usize) {
    for _ in 0..count {
        drive.now.seconds += 1;
        let number = random.number();
        if number.is_multiple_of(7) {
            let file = path(&format!("projects/proj/facts/note-{}.md", number / 7 % 4));
            drive.executor.insert(&file, format!("by an editor {number}\n{VALUE}\n{SIBLING}\n"));
        }
        let _ = drive.run(change(number));
    }
}

/// After `expunge` no file of the store has the text, also unpacked, whatever has happened before.
#[both_engines]
fn no_file_has_an_expunged_text_whatever_happened_before(kind: Kind) {
    for seed in each("seed", 0..12) {
        let mut drive = drive(kind, Config { index_file: true, ..agent_config() }, &[]);
        let mut random = Random(seed);
        make_changes(&mut drive, &mut random, 60);
        let before = holders(&drive.executor.files(), VALUE);
        assert!(!before.is_empty());
        let texts = readable(&mut drive);
        let done = drive.call(text(VALUE)).unwrap();
        assert_eq!((done.left.len(), done.unreadable), (0, 0), "{kind:?}, {seed}: {done:?}");
        let listed: BTreeSet<String> = done.places.iter().map(|place| place.path.clone()).collect();
        assert_eq!(listed, before, "{kind:?}, {seed}");
        assert_eq!(holders(&drive.executor.files(), VALUE), BTreeSet::new(), "{kind:?}, {seed}");
        // Every version without the text can still be read.
        let after = readable(&mut drive);
        for text in texts.iter().filter(|text| !text.contains(VALUE)) {
            assert!(after.contains(text), "{kind:?}, {seed}: {text}");
        }
        make_changes(&mut drive, &mut random, 10);
        drive.call(text(VALUE)).unwrap();
        assert_eq!(holders(&drive.executor.files(), VALUE), BTreeSet::new(), "{kind:?}, {seed}");
    }
}

/// Returns the contents that the history and the files have.
fn readable(drive: &mut Drive<Simulator>) -> BTreeSet<String> {
    let files = drive.executor.files();
    let mut contents = Contents::new(MAX_CONTENT);
    let mut digests = BTreeSet::new();
    for bytes in files.iter().filter(|(path, _)| path.ends_with(".log")).map(|(_, bytes)| bytes) {
        for line in Log::new(bytes).lines() {
            for content in line.head.into_record().unwrap().changes.iter().flat_map(|change| &change.contents) {
                contents.add_content(content.clone());
                digests.insert(content.digest);
            }
        }
    }
    let texts = digests.iter().filter_map(|digest| contents.get(digest).ok());
    texts.map(|bytes| String::from_utf8(bytes).unwrap()).collect()
}

/// An `expunge` that is interrupted at any point is completed by running it again.
#[both_engines]
fn an_expunge_that_is_interrupted_is_completed_by_running_it_again(kind: Kind) {
    let prepared = || {
        let mut drive = drive(kind, agent_config(), &[]);
        drive.run(fact("Port", format!("{VALUE}\n\n{SIBLING}"))).unwrap();
        drive.run(ask::edit("facts/port", SIBLING, format!("{SIBLING} two"))).unwrap();
        drive.run(ask::edit("facts/port", VALUE, "harmless")).unwrap();
        drive.run(keep("k", VALUE, "core")).unwrap();
        drive.run(pad(&format!("- [ ] {VALUE} {SIBLING}"))).unwrap();
        drive
    };
    let mut calm = prepared();
    let begun = calm.executor.operations();
    calm.call(text(VALUE)).unwrap();
    let after = calm.executor.files();
    for operation in each("operation", begun..calm.executor.operations()) {
        let mut broken = prepared();
        broken.executor.crash_at(operation);
        let is_done = broken.call(text(VALUE)).is_ok();
        broken.executor.restart();
        let mut drive = Drive::new(kind, Config { epoch: 2, ..agent_config() }, broken.executor);
        let done = drive.call(text(VALUE)).unwrap();
        assert!(done.left.is_empty() && (done.places.is_empty() || !is_done), "{kind:?}, {operation}: {done:?}");
        assert_eq!(holders(&drive.executor.files(), VALUE), BTreeSet::new(), "{kind:?}, {operation}");
        let kept = |files: &BTreeMap<String, Vec<u8>>| -> BTreeMap<String, Vec<u8>> {
            let is_kept = |path: &&String| path.ends_with(".md");
            files.iter().filter(|(path, _)| is_kept(path)).map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
        };
        assert_eq!(kept(&drive.executor.files()), kept(&after), "{kind:?}, {operation}");
        let versions = drive.call(ask::list_versions("facts/port")).unwrap();
        assert!(versions.total >= 2 && versions.damaged == 0, "{kind:?}, {operation}: {versions:?}");
    }
}

/// Writers that work while a text is expunged lose nothing, and what they write of it is removed.
#[both_engines]
fn writers_lose_nothing_while_a_text_is_expunged(kind: Kind) {
    for seed in each("seed", 0..12) {
        let mut random = Random(seed);
        let store = Shared(Rc::new(RefCell::new(simulator(&[]))));
        let mut writer = Drive::new(kind, agent_config(), store.clone());
        for number in 0..8 {
            writer.run(pad(&format!("- [ ] {VALUE} {number}"))).unwrap();
            writer.run(fact(format!("Note {number}"), format!("{VALUE} {SIBLING}"))).unwrap();
        }
        let mut person = Drive::new(kind, Config { epoch: 2, ..agent_config() }, store.clone());
        let id = person.submit(text(VALUE));
        let mut written = 0;
        while !person.pending.is_empty() {
            if random.number().is_multiple_of(3) && written < 200 {
                if writer.pending.is_empty() {
                    let line = format!("- [ ] written {written} meanwhile");
                    let command = match random.number() % 3 {
                        0 => ask::edit(format!("facts/note-{}", written % 8), SIBLING, format!("{SIBLING} {written}"))
                            .submission(),
                        1 => keep(format!("e{written}"), &line, "core").submission(),
                        _ => pad(&line).submission(),
                    };
                    writer.submit(command);
                    written += 1;
                } else {
                    writer.answer(0);
                }
            } else {
                person.answer(0);
            }
        }
        writer.settle();
        for reply in std::mem::take(&mut writer.finished).into_values() {
            reply.unwrap_or_else(|error: Error| panic!("{kind:?}, {seed}: {error}"));
        }
        let Some(Ok(Reply::History(_))) = person.finished.remove(&id) else { panic!("{kind:?}, {seed}: no reply") };
        // A command that had begun before may have recorded what it was about to replace.
        person.call(text(VALUE)).unwrap();
        let files = store.0.borrow().files();
        assert_eq!(holders(&files, VALUE), BTreeSet::new(), "{kind:?}, {seed}");
        let all: String = files
            .iter()
            .filter(|(path, _)| path.ends_with(".md"))
            .map(|(_, bytes)| String::from_utf8_lossy(bytes))
            .collect();
        let list = person.call(ListOperations { limit: 1000, ..ListOperations::default() }).unwrap();
        assert_eq!(list.damaged, 0);
        let commands = list.operations.iter().filter(|info| info.command != "expunge").count();
        assert!(commands >= 16 + written, "{kind:?}, {seed}: {commands} of {written}");
        for number in 0..8 {
            assert!(all.contains(&format!("- [ ] (expunged) {number}")), "{kind:?}, {seed}: {number}");
        }
    }
}
