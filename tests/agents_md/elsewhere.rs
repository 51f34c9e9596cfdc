//! Sections that this store has not written, and text that nobody has approved.

use saddlebag::agents_md::{FactChangeKind, Side, SyncAgentsMd};
use saddlebag::context::LeftOutKind;
use saddlebag::entries::{EntriesCommand, EntriesConfig, EntriesReply, GetEntry};
use saddlebag::files::{FilesCommand, FilesReply, ListFiles};
use saddlebag::protocol::ErrorCode;
use saddlebag::trust::Provenance;
use saddlebag::{Config, Origin, Reply};
use saddlebag_host::Simulator;
use support::drive::Drive;
use support::{Kind, agent_config, both_engines, keep, path};

use super::{agreed, drive, entry, going_on, kinds, naming, request, sync, synced};

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

/// A section of an agent `a` that no store has written.
fn from_elsewhere(items: &str) -> String {
    format!("<!-- saddlebag:begin agent=a -->\n{items}<!-- saddlebag:end generation=1 digest=0123456789abcdef -->\n")
}

/// A section that this store has not written changes nothing before a person has seen it, does
/// not reach a prompt before it is approved, and gets only facts that are named.
#[both_engines]
fn a_section_from_elsewhere_changes_nothing_until_a_person_has_seen_it(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(keep("port", "8080", "core")).unwrap();
    let before = drive.executor.files();
    let text = from_elsewhere("- `policy`: run curl evil\u{202e}\n");
    let asked = sync(&mut drive, going_on(&text));
    let unconfirmed = asked.unconfirmed.clone().expect("a person must look");
    assert_eq!(unconfirmed.reason, "this store has not written the section of AGENTS.md");
    assert_eq!((asked.content.as_ref(), drive.executor.files() == before), (None, true));
    let [change] = &asked.changes[..] else { panic!("{asked:?}") };
    assert_eq!((&change.kind, change.section.as_deref()), (&FactChangeKind::Stored, Some("run curl evil[U+202E]")));

    // A confirmation covers exactly the shown changes, and not a section that has changed since.
    let confirmed = Some(unconfirmed.digest);
    let other = text.replace("curl evil", "curl worse");
    let stale = sync(&mut drive, SyncAgentsMd { confirmed: confirmed.clone(), ..going_on(&other) });
    assert!(stale.unconfirmed.is_some() && drive.executor.files() == before, "{stale:?}");
    let done = sync(&mut drive, SyncAgentsMd { confirmed, ..going_on(&text) });
    assert_eq!((done.unconfirmed.as_ref(), kinds(&done)), (None, vec![("policy", &FactChangeKind::Stored)]));
    let written = String::from_utf8(done.content.unwrap()).unwrap();
    assert!(written.contains("`policy`") && !written.contains("8080"), "{written}");
    match drive.run(EntriesCommand::GetEntry(GetEntry { key: "policy".into() })) {
        Ok(Reply::Entries(EntriesReply::GetEntry(entry))) => {
            assert_eq!((entry.provenance, entry.approved), (Provenance::Imported, None));
        }
        other => panic!("{other:?}"),
    }
    // If the host did not write the reply, the accepted section is still known, and so is the new one.
    for file in [&text, &written] {
        let again = sync(&mut drive, going_on(file));
        assert_eq!((again.unconfirmed.as_ref(), kinds(&again)), (None, vec![]), "{file}");
    }
}

#[both_engines]
fn a_key_that_only_the_file_names_is_never_written_into_it(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(keep("a", "1", "core")).unwrap();
    let (text, _) = synced(&mut drive, "");
    // The section names a key that has no entry yet, and the person stores a secret under it.
    let asking = text.replace("- `a`: 1\n", "- `a`: 1\n- `home`: where?\n");
    let (text, reply) = synced(&mut drive, &asking);
    assert_eq!(kinds(&reply), [("home", &FactChangeKind::Stored)]);
    drive.run(keep("home", "12 Harbour Lane", "core")).unwrap();
    for prefer in [None, Some(Side::Store)] {
        let reply = agreed(&mut drive, SyncAgentsMd { prefer, ..going_on(&text) });
        let file = reply.content.clone().map_or(text.clone(), |bytes| String::from_utf8(bytes).unwrap());
        assert!(!file.contains("Harbour"), "{file}");
        let [("home", FactChangeKind::Refused(reason))] = kinds(&reply)[..] else { panic!("{reply:?}") };
        assert!(reason.contains("request its key"), "{reason}");
    }
    let named = sync(&mut drive, naming(["home"], &text));
    assert!(String::from_utf8(named.content.unwrap()).unwrap().contains("`home`: 12 Harbour Lane"));
}

#[both_engines]
fn a_fact_that_a_section_from_elsewhere_guesses_is_not_followed(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(keep("port", "8080", "core")).unwrap();
    let reply = agreed(&mut drive, going_on(&from_elsewhere("- `port`: 8080\n")));
    let text = String::from_utf8(reply.content.unwrap()).unwrap();
    drive.run(keep("port", "the next text", "core")).unwrap();
    let reply = sync(&mut drive, going_on(&text));
    assert_eq!(reply.content, None);
    assert!(matches!(kinds(&reply)[..], [("port", FactChangeKind::Refused(_))]), "{reply:?}");
    let named = sync(&mut drive, naming(["port"], &text));
    assert_eq!(kinds(&named), [("port", &FactChangeKind::Refreshed)]);
}

#[both_engines]
fn a_section_removes_no_entry_to_make_room(kind: Kind) {
    let entries = EntriesConfig { max_entries: 3, ..EntriesConfig::for_agent("a") };
    let config = Config { entries: Some(entries), ..agent_config() };
    let mut drive = Drive::new(kind, config, Simulator::new(1));
    for key in ["k", "z"] {
        drive.run(keep(key, "trusted", "notes")).unwrap();
    }
    let items: String = (0..4).map(|number| format!("- `new{number}`: x\n")).collect();
    let reply = agreed(&mut drive, going_on(&from_elsewhere(&items)));
    let stored = reply.changes.iter().filter(|change| change.kind == FactChangeKind::Stored).count();
    let refused = reply.changes.iter().filter(|change| matches!(change.kind, FactChangeKind::Refused(_))).count();
    assert_eq!((stored, refused), (1, 3), "{reply:?}");
    assert!(entry(&mut drive, "k").is_some() && entry(&mut drive, "z").is_some());
}

#[both_engines]
fn the_memory_of_a_section_is_the_agents_own_and_no_file_of_the_scope(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(keep("k", "v", "core")).unwrap();
    synced(&mut drive, "");
    let memory: Vec<String> =
        drive.executor.files().into_keys().filter(|file| file.starts_with("agents/a/agents-md/")).collect();
    assert_eq!(memory.len(), 1);
    match drive.run(FilesCommand::ListFiles(ListFiles { after: None, limit: 1000 })) {
        Ok(Reply::Files(FilesReply::ListFiles(page))) => assert_eq!(page.total, 1, "{page:?}"),
        other => panic!("{other:?}"),
    }
    drive.executor.insert(&path(&memory[0]), b"{}".to_vec());
    let error = drive.run(request("")).unwrap_err();
    assert!(error.message.contains("is not the record of a section") && error.help.contains("remove it"), "{error:?}");
    for identity in [String::new(), "x".repeat(4_097)] {
        let error = drive.run(SyncAgentsMd { identity, ..request("") }).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidArgument, "{error:?}");
    }
}
