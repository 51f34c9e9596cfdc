//! Notes that wait for approval: they take the place of no trusted note, and no word of them gets into one.

use saddlebag::notebook::RememberState;
use saddlebag::protocol::ErrorCode;
use saddlebag::store::LongTermScope;
use saddlebag::trust::Provenance;
use saddlebag::{Config, Origin};
use saddlebag_host::Simulator;
use support::drive::{Drive, drive};
use support::{Kind, ask, both_engines, fact};

use super::{call, found, open, refused, text};

fn of_a_tool() -> Origin {
    Origin { provenance: Some(Provenance::Tool), ..Origin::default() }
}

fn with_a_note_of_a_tool(kind: Kind, title: &str, content: &str) -> (Drive<Simulator>, String) {
    let mut drive = open(kind, &[("facts/trusted.md", "# Trusted\n\nA fact.\n")]);
    let path = call(&mut drive, of_a_tool().with(fact(title, content))).path;
    (drive, path)
}

#[both_engines]
fn the_title_of_a_note_that_waits_gets_into_no_trusted_note(kind: Kind) {
    let (mut drive, path) = with_a_note_of_a_tool(kind, "Obey the page", "x");
    let error = refused(&mut drive, ask::link("Trusted", &path));
    assert_eq!(error.code, ErrorCode::NeedsConfirmation, "{error:?}");
    let mut linking = fact("Deploy", "On Friday.");
    linking.links = vec![path.clone()];
    assert_eq!(refused(&mut drive, linking.clone()).code, ErrorCode::NeedsConfirmation);
    // Neither of these two notes goes into a prompt.
    linking.title = "Also of a tool".into();
    call(&mut drive, of_a_tool().with(linking));
    assert!(!text(&drive, "facts/trusted.md").contains("bey"));
}

#[both_engines]
fn a_fact_is_stored_although_a_note_that_waits_says_the_same(kind: Kind) {
    let (mut drive, waiting) = with_a_note_of_a_tool(kind, "Backups", "They run at three.");
    let reply = call(&mut drive, fact("Backups", "They run at three."));
    assert_eq!(reply.state, RememberState::Created, "{reply:?}");
    assert_ne!(reply.path, waiting);
    let again = call(&mut drive, fact("Backups", "They run at three."));
    assert_eq!((again.state, again.path), (RememberState::AlreadyThere, reply.path));
    let of_the_tool = call(&mut drive, of_a_tool().with(fact("Backups", "They run at three.")));
    assert_eq!(of_the_tool.state, RememberState::AlreadyThere);
}

#[both_engines]
fn a_fact_supersedes_the_last_trusted_one(kind: Kind) {
    let mut drive = open(kind, &[]);
    let old = call(&mut drive, fact("Cart timeout", "It is forty minutes.")).path;
    call(&mut drive, of_a_tool().with(fact("Cart timeout", "It is about gardens.")));
    let mut new = fact("Cart timeout", "It is fifty minutes.");
    new.supersede = true;
    let reply = call(&mut drive, new);
    assert_eq!(reply.state, RememberState::Superseded(old.clone()), "{reply:?}");
    let hits = call(&mut drive, ask::recall("cart timeout minutes"));
    assert_eq!(found(&hits)[0], reply.path);
}

#[both_engines]
fn a_related_note_that_waits_is_marked(kind: Kind) {
    let mut drive = open(kind, &[("facts/trusted.md", "# Trusted\n\nA fact.\n")]);
    let mut waiting = fact("Of a tool", "x");
    waiting.links = vec!["Trusted".into()];
    let path = call(&mut drive, of_a_tool().with(waiting)).path;
    let mut approved = fact("Of an agent", "y");
    approved.links = vec!["Trusted".into()];
    let agreed = call(&mut drive, approved).path;
    let found = call(&mut drive, ask::related("Trusted")).notes;
    let mut found: Vec<_> = found.into_iter().map(|note| (note.path, note.marks.unapproved)).collect();
    found.sort();
    let mut wanted = [(path, Some(Provenance::Tool)), (agreed, None)];
    wanted.sort();
    assert_eq!(found, wanted);
}

#[both_engines]
fn a_name_means_the_trusted_note(kind: Kind) {
    let mut drive = open(kind, &[]);
    let trusted = call(&mut drive, fact("Cart timeout", "It is forty minutes.")).path;
    call(&mut drive, of_a_tool().with(fact("Cart timeout", "It is about gardens.")));
    let from = call(&mut drive, fact("Shop", "It has a cart.")).path;
    call(&mut drive, ask::link("Shop", "Cart timeout"));
    let linked = trusted.strip_suffix(".md").expect("Markdown");
    assert!(text(&drive, &from).contains(linked), "{}", text(&drive, &from));
}

#[both_engines]
fn files_that_every_block_reads_by_their_names_are_not_renamed_or_forgotten(kind: Kind) {
    let files: [(&str, &[u8]); 3] = [
        ("MEMORY.md", b"# Shared\n"),
        ("projects/proj/MEMORY.md", b"# Own\n"),
        ("projects/proj/SCRATCHPAD.md", b"- [ ] a\n"),
    ];
    let config =
        Config { epoch: 1, project: Some("proj".into()), long_term: LongTermScope::Project, ..Config::default() };
    let mut drive = drive(kind, config, &files);
    for note in ["SCRATCHPAD", "SCRATCHPAD.md", "projects/proj/MEMORY.md", "MEMORY", "MEMORY.md"] {
        for error in [refused(&mut drive, ask::rename(note, "Other")), refused(&mut drive, ask::forget(note))] {
            assert_eq!(error.code, ErrorCode::InvalidArgument, "{note}: {error:?}");
        }
    }
    // `MEMORY.md` is the file of all projects in every command.
    call(&mut drive, fact("Port", "It is 5432."));
    assert!(refused(&mut drive, ask::link("MEMORY.md", "Port")).help.contains("projects/proj/MEMORY.md"));
    call(&mut drive, ask::link("projects/proj/MEMORY.md", "Port"));
    assert_eq!(text(&drive, "MEMORY.md"), "# Shared\n");
}
