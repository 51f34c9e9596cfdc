//! Creating a notebook and its notes: a known fact is recognised, and a new one gets a free name.

use saddlebag::notebook::{ConditionKind, InitNotebook, NoteFilter, RememberError, RememberState, WriteNote};
use saddlebag::protocol::ErrorCode;
use saddlebag::store::Timestamp;
use support::drive::changes;
use support::{Kind, ask, both_engines, fact};

use super::{call, found, list, names, open, refused, run, text, words};

#[both_engines]
fn init_makes_what_is_missing_and_overwrites_nothing(kind: Kind) {
    let mut drive = open(kind, &[("templates/fact.md", "mine"), ("facts/a.md", "a")]);
    let made = call(&mut drive, InitNotebook);
    assert!(made.kept.contains(&"templates/fact.md".to_string()), "{made:?}");
    assert!(made.made.contains(&".zk/config.toml".to_string()), "{made:?}");
    assert_eq!(text(&drive, "templates/fact.md"), "mine");
    let before = (drive.executor.files(), changes(&drive.executor));
    let again = call(&mut drive, InitNotebook);
    assert_eq!(again.made, [""; 0]);
    assert_eq!(drive.executor.files(), before.0);
    assert!(call(&mut drive, fact("Port", "5432")).warnings.is_empty());
}

/// Initialising a folder as a notebook does not overwrite anything in it.
#[both_engines]
fn init_leaves_a_notebook_of_zk_as_it_is(kind: Kind) {
    let config = "[note]\nfilename = \"{{id}}\" # mine\nunknown = 1\n";
    let mut drive = open(kind, &[(".zk/config.toml", config), (".zk/notebook.db", "\u{1}db")]);
    run(&mut drive, InitNotebook);
    assert_eq!(text(&drive, ".zk/config.toml"), config);
    assert_eq!(text(&drive, ".zk/notebook.db"), "\u{1}db");
    run(&mut drive, fact("a", "b"));
    assert_eq!(text(&drive, ".zk/notebook.db"), "\u{1}db");
    assert_eq!(list(&mut drive, NoteFilter::default()).len(), 1, "no template is a note: {:?}", names(&drive));
}

#[both_engines]
fn what_is_known_is_recognised_and_what_is_new_gets_a_free_name(kind: Kind) {
    let mut drive = open(kind, &[]);
    let first = call(&mut drive, fact("Port", "The port is 5432."));
    assert_eq!((first.path.as_str(), &first.state), ("facts/port.md", &RememberState::Created));
    assert!(std::mem::take(&mut drive.has_changed));
    let same = call(&mut drive, fact(" Port ", "The port is 5432.\r\n"));
    assert_eq!((same.path.as_str(), &same.state), ("facts/port.md", &RememberState::AlreadyThere));
    assert_eq!(same.message, "Already remembered in facts/port.md");
    assert!(!drive.has_changed);
    let other = call(&mut drive, fact("Port", "The port is 5433."));
    assert_eq!((other.path.as_str(), &other.state), ("facts/port-2.md", &RememberState::Created));
    let decision = call(&mut drive, WriteNote { template: "decision".into(), ..fact("Port", "x") });
    assert_eq!(decision.path, "decisions/port.md");
    assert_eq!(names(&drive), ["decisions/port.md", "facts/port-2.md", "facts/port.md"]);
}

#[both_engines]
fn a_note_that_supersedes_another_is_recalled_first_and_the_old_one_says_so(kind: Kind) {
    let mut drive = open(kind, &[]);
    call(&mut drive, fact("Port", "The port is 5432 port port port."));
    let new = call(&mut drive, WriteNote { supersede: true, ..fact("Port", "It is 5433 now.") });
    assert_eq!(new.state, RememberState::Superseded("facts/port.md".into()));
    let reply = call(&mut drive, ask::recall("which port"));
    assert_eq!(found(&reply), ["facts/port-2.md", "facts/port.md"]);
    assert_eq!(reply.hits[0].marks.superseded_by, None);
    assert_eq!(reply.hits[1].marks.superseded_by.as_deref(), Some("facts/port-2.md"));
    assert!(reply.rendered.as_str().contains("(superseded by facts/port-2.md since 2026-05-25)"), "{}", reply.rendered);
    let text = text(&drive, "facts/port-2.md");
    assert!(text.contains("facts/port"), "it links to the old one: {text}");
    assert_eq!(call(&mut drive, ask::dead_links()).links, []);
}

#[both_engines]
fn the_newest_of_several_notes_is_superseded(kind: Kind) {
    let mut drive = open(kind, &[]);
    for i in 0..11 {
        call(&mut drive, fact("Port", format!("content {i}")));
    }
    let new = call(&mut drive, WriteNote { supersede: true, ..fact("Port", "newer") });
    assert_eq!(new.state, RememberState::Superseded("facts/port-11.md".into()), "{new:?}");
    let again = call(&mut drive, WriteNote { supersede: true, ..fact("Port", "newest") });
    assert_eq!(again.state, RememberState::Superseded(new.path.clone()));
    let known = call(&mut drive, WriteNote { supersede: true, ..fact("Port", "newest") });
    assert_eq!((known.state, known.path), (RememberState::AlreadyThere, again.path));
    let back = call(&mut drive, WriteNote { supersede: true, ..fact("Port", "newer") });
    assert!(matches!(back.state, RememberState::Superseded(_)), "what was superseded is new again: {back:?}");
}

#[both_engines]
fn a_superseded_note_stays_below_after_it_is_renamed(kind: Kind) {
    let mut drive = open(kind, &[]);
    call(&mut drive, fact("Port", "The port is 5432 port port port."));
    call(&mut drive, WriteNote { supersede: true, ..fact("Port", "The port is 5433 now.") });
    run(&mut drive, ask::rename("facts/port", "Old port"));
    let reply = call(&mut drive, ask::recall("port"));
    assert_eq!(found(&reply), ["facts/port-2.md", "facts/old-port.md"]);
    assert_eq!(reply.hits[1].marks.superseded_by.as_deref(), Some("facts/port-2.md"));
    assert_eq!(call(&mut drive, ask::dead_links()).links, []);
}

#[both_engines]
fn any_title_makes_a_visible_file_and_comes_back(kind: Kind) {
    let long = "Ein langer Titel ".repeat(20).chars().take(300).collect::<String>();
    let word = "x".repeat(300);
    let titles = [
        "Error: it's [broken] #1",
        "!!!",
        "日本語",
        long.trim(),
        "- x",
        "---",
        "\"quoted\" \\ 'single'",
        "a: b #c",
        "null",
        "2026-05-25",
        "{{sh \"date\"}}",
        "../../etc/passwd",
        "CON",
        ".hidden",
        "a\u{301}e",
        "|",
        "🎉",
        "[[x]]",
        "</memory>",
        "@x",
        &word,
    ];
    let mut drive = open(kind, &[]);
    for title in titles {
        let kept = call(&mut drive, fact(title, "content"));
        assert_eq!((kept.title.as_str(), &kept.state), (title, &RememberState::Created));
        let name = kept.path.strip_prefix("facts/").unwrap_or_else(|| panic!("{title}: {kept:?}"));
        assert!(!name.contains('/') && !name.starts_with('.') && name.len() <= 255 && name.len() > 3, "{kept:?}");
        assert_eq!(call(&mut drive, fact(title, "content")).state, RememberState::AlreadyThere, "{title}");
    }
    let listed = call(&mut drive, ask::list_notes());
    let mut expected: Vec<&str> = titles.to_vec();
    let mut got: Vec<&str> = listed.items.iter().map(|note| note.name.as_str()).collect();
    expected.sort_unstable();
    got.sort_unstable();
    assert_eq!(got, expected);
    assert_eq!(listed.warnings, []);
    for title in titles {
        let error = drive.run(ask::related(title));
        assert!(error.is_ok(), "a note answers to its title {title}: {error:?}");
    }
}

#[both_engines]
fn remembered_links_lead_where_they_were_meant_to(kind: Kind) {
    let mut drive =
        open(kind, &[("facts/db.md", "# The database\n"), ("notes/x.md", "---\naliases: [ex]\n---\n# X [1]\n")]);
    let request = WriteNote { links: words(&["The database", "ex"]), ..fact("Port", "5432") };
    let kept = call(&mut drive, request.clone());
    let filter = NoteFilter::default().with(ConditionKind::LinkedBy, [kept.path.clone()]);
    assert_eq!(list(&mut drive, filter), ["facts/db.md", "notes/x.md"]);
    assert_eq!(call(&mut drive, ask::dead_links()).links, []);
    assert_eq!(call(&mut drive, request).state, RememberState::AlreadyThere);
    for unknown in ["nowhere", "", "../x", "facts"] {
        let request = WriteNote { links: words(&["ex", unknown]), ..fact("New", "x") };
        let error = refused(&mut drive, request);
        assert_eq!(error.code, ErrorCode::NotFound, "{error:?}");
    }
}

#[both_engines]
fn a_name_that_could_mean_several_notes_is_refused_with_them(kind: Kind) {
    let mut drive = open(kind, &[("a/x.md", "# Same\n"), ("b/x.md", "# Same\n"), ("c.md", "# C\n")]);
    for name in ["x", "Same"] {
        let error = refused(&mut drive, ask::link("c", name));
        assert_eq!(error.code, ErrorCode::AmbiguousName);
        assert!(error.message.contains("a/x.md") && error.message.contains("b/x.md"), "{error:?}");
    }
    run(&mut drive, ask::link("c", "a/x"));
    run(&mut drive, ask::link("c", "b/x.md"));
    assert_eq!(call(&mut drive, ask::dead_links()).links, []);
}

/// An hour before midnight at +02:00, and an hour after midnight at -08:00.
#[both_engines]
fn a_note_is_created_at_the_time_of_its_command_in_any_time_zone(kind: Kind) {
    for (seconds, utc_offset_seconds, day) in
        [(1_780_174_800, 7_200, "2026-05-30"), (1_780_131_600, -28_800, "2026-05-30")]
    {
        let mut drive = open(kind, &[]);
        drive.now = Timestamp { seconds, nanoseconds: 0, utc_offset_seconds };
        call(&mut drive, fact("Port", "5432"));
        let error = RememberError { tool: "sh".into(), error: "no such file".into() };
        call(&mut drive, error);
        let on = |day: &str| NoteFilter::default().with(ConditionKind::Created, [day]);
        assert_eq!(list(&mut drive, on(day)).len(), 2, "{}", text(&drive, "facts/port.md"));
        assert_eq!(list(&mut drive, on("today")).len(), 2);
        assert_eq!(list(&mut drive, on("2026-05-31")).len(), 0);
        assert_eq!(list(&mut drive, on("2026-05-29")).len(), 0);
    }
}

#[both_engines]
fn a_note_may_be_of_any_group_and_in_the_root(kind: Kind) {
    let config = "[note]\nfilename = '{{slug title}}'\n[group.logs]\npaths = ['a/b']\n\
        [group.logs.note]\nfilename = 'log-{{slug title}}'\ntemplate = 'log.md'\n[group.logs.extra]\nby = 'Ada'\n";
    let files =
        [(".zk/config.toml", config), (".zk/templates/log.md", "# {{title}}\n\nBy {{extra.by}}: {{content}}\n")];
    let mut drive = open(kind, &files);
    let mut keep = |template: &str, group: Option<&str>| {
        let request = WriteNote { template: template.into(), group: group.map(Into::into), ..fact("T", "x") };
        call(&mut drive, request)
    };
    assert_eq!(keep(".", None).path, "t.md");
    assert_eq!(keep(".", None).state, RememberState::AlreadyThere);
    assert_eq!(keep("fact", None).path, "facts/t.md", "the root is another place");
    assert_eq!(keep(".", Some("logs")).path, "t.md", "it says the same");
    assert_eq!(keep("a/b", None).path, "a/b/log-t.md");
    assert_eq!(keep("decision", Some("logs")).path, "decisions/log-t.md");
    assert_eq!(text(&drive, "decisions/log-t.md"), "# T\n\nBy Ada: x\n");
    let request = WriteNote { group: Some("nope".into()), ..fact("T", "x") };
    let error = refused(&mut drive, request);
    assert_eq!((error.code, error.help.as_str()), (ErrorCode::InvalidArgument, "one of logs"), "{error:?}");
}
