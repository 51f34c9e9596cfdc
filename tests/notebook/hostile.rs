//! Bad names, broken configurations and hostile notes: readers go on, and nothing changes that should not.

use saddlebag::items::ListItems;
use saddlebag::notebook::{ConditionKind, InitNotebook, Link, LoadMemories, NoteFilter, Today, WriteNote};
use saddlebag::protocol::{ErrorCode, FsOp};
use saddlebag::{Config, Limits};
use support::drive::{Drive, drive, simulator};
use support::{Kind, ask, both_engines, commands, fact, path, project_config};

use super::{call, config, found, library, list, open, refused, text, words};

#[both_engines]
fn bad_names_and_templates_are_refused_and_change_nothing(kind: Kind) {
    let mut drive = library(kind);
    for template in ["unknown", "../x", "/etc", ".zk", "daily", "templates", "a\0b", "projects"] {
        let request = WriteNote { template: template.into(), ..fact("T", "x") };
        let error = refused(&mut drive, request);
        assert_eq!(error.code, ErrorCode::InvalidArgument, "{error:?}");
        assert!(!error.help.is_empty(), "{error:?}");
    }
    for title in ["", " ", "a\nb", "a\0", "a\u{2028}b", &"x".repeat(1_001)] {
        refused(&mut drive, fact(title, "x"));
        refused(&mut drive, ask::rename("Port", title));
    }
    for tag in ["", "#", "a\nb"] {
        let request = WriteNote { tags: words(&[tag]), ..fact("T", "x") };
        refused(&mut drive, request);
    }
    for name in ["", "nope", "../x", "/etc/passwd", "a\0b", "facts"] {
        for command in commands![
            ask::rename(name, "T"),
            ask::forget(name),
            ask::related(name),
            ask::link("Port", name),
            ask::link(name, "Port"),
        ] {
            assert_eq!(refused(&mut drive, command).code, ErrorCode::NotFound);
        }
    }
    refused(&mut drive, Link { text: Some("a\nb".into()), ..ask::link("Port", "Alone") });
    refused(&mut drive, ask::rename("daily/2026-05-24", "T"));
}

#[both_engines]
fn a_template_that_could_run_something_or_has_no_end_is_refused_by_name(kind: Kind) {
    let templates = [
        ("{{sh \"date\"}}", "`{{sh \\\"date\\\"}}`"),
        ("{{{sh \"date\"}}}", "`{{sh \\\"date\\\"}}`"),
        ("{{> templates/fact.md }}", "`{{> templates/fact.md}}`"),
        ("{{#> layout}}x{{/layout}}", "`{{#> layout}}`"),
        ("{{#if content}}{{> fact}}{{/if}}", "`{{#if content}}`"),
        ("{{env.HOME}}", "`{{env.HOME}}`"),
        ("{{title", "without its end"),
    ];
    for (template, named) in templates {
        let mut drive = open(kind, &[("templates/fact.md", template), ("templates/daily.md", template)]);
        for command in commands![fact("T", "x"), Today, ask::log("x")] {
            let error = refused(&mut drive, command);
            assert!(error.message.contains(named), "{template}: {error:?}");
            assert!(error.message.contains("templates/") && error.message.contains("line 1"), "{error:?}");
        }
    }
}

#[both_engines]
fn a_broken_configuration_lets_readers_go_on_and_stops_writers_at_the_place(kind: Kind) {
    let mut drive = library(kind);
    drive.executor.insert(&path(".zk/config.toml"), "[note]\nfilename = \n");
    let reply = call(&mut drive, ask::recall("database"));
    assert!(!reply.hits.is_empty());
    assert!(reply.warnings.iter().any(|warning| warning.message.contains("line 2, column")), "{reply:?}");
    let listed = call(&mut drive, ask::list_notes());
    assert_eq!(listed.warnings.len(), 1);
    for command in commands![fact("T", "x"), ask::link("Port", "Alone"), ask::rename("Port", "T"), Today] {
        let error = refused(&mut drive, command.clone());
        assert!(error.message.contains(".zk/config.toml: line 2, column"), "{command:?}: {error:?}");
    }
    drive.executor.insert(&path(".zk/config.toml"), "[note]\n");
    assert_eq!(call(&mut drive, ask::recall("database")).warnings, []);
    call(&mut drive, fact("T", "x"));
}

#[both_engines]
fn a_configuration_that_is_odd_never_stops_a_reader(kind: Kind) {
    let huge = format!("x = \"{}\"", "y".repeat(300 << 10));
    let deep = format!("a = {}1{}", "[".repeat(50_000), "]".repeat(50_000));
    let many: String = (0..2_000).map(|i| format!("[group.g{i}]\npaths=['g{i}']\n")).collect();
    let configs: [&[u8]; 7] = [
        b"\xff\xfe",
        huge.as_bytes(),
        deep.as_bytes(),
        many.as_bytes(),
        b"[note]\nexclude = ['[', '**/**/**/**/**/x']\nextension = 7\n[group]\n[group.'']\n",
        b"note = 3\n[format]\nmarkdown = []\n",
        b"[note]\nextension = '../x'\nfilename = '../{{title}}'\n",
    ];
    for bytes in configs {
        let mut drive = library(kind);
        drive.executor.insert(&path(".zk/config.toml"), bytes.to_vec());
        let outcome = drive.run(ask::recall("database"));
        assert!(outcome.is_ok(), "{:?}: {outcome:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(40)]));
        let _ = drive.run(fact("T", "x"));
    }
}

#[both_engines]
fn ten_thousand_links_in_a_note_are_links(kind: Kind) {
    let links: String = (0..10_000).map(|i| format!("[[n{}]] [[missing{i}]]\n", i % 50)).collect();
    let mut files: Vec<(String, String)> = (0..50).map(|i| (format!("n{i}.md"), format!("# N{i}\n"))).collect();
    files.push(("hub.md".into(), format!("# Hub\n\n{links}")));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let mut drive = open(kind, &files);
    assert_eq!(list(&mut drive, NoteFilter::default().with(ConditionKind::LinkedBy, ["hub.md"])).len(), 50);
    assert_eq!(call(&mut drive, ask::dead_links()).links.len(), 10_000);
    let renamed = call(&mut drive, ask::rename("n7", "Seven"));
    assert_eq!((renamed.links, renamed.files), (200, 1));
    assert!(!text(&drive, "hub.md").contains("[[n7]]"));
}

#[both_engines]
fn a_table_of_links_is_not_copied_for_each_of_them(kind: Kind) {
    let table = format!("| Größe | [[b]] |\n|---|---|\n{}", "| Größe | [[b]] |\n".repeat(4_000));
    let mut drive = open(kind, &[("b.md", "# B\n"), ("log.md", &format!("# Log\n\n{table}"))]);
    let reply = call(&mut drive, ListItems { with_links: true, with_text: true, ..ask::list_notes() });
    assert_eq!(reply.links.len(), 4_001);
    for link in &reply.links {
        assert!(link.snippet.len() < 300 && link.snippet.contains("[[b]]"), "{link:?}");
        assert_eq!((link.snippet_end - link.snippet_start) as usize, link.snippet.len());
    }
}

/// The first 65,536 links, headings and tags of a note are known, and at most 2,000,000 of all
/// notes are looked at together.
#[both_engines(nightly)]
fn a_note_of_nothing_but_links_is_named_and_the_first_of_them_are_known(kind: Kind) {
    let links = "[[a]]".repeat(3_000_000);
    let files = [("a.md", "# A\n"), ("b.md", &links), ("c.md", &links), ("d.md", &links)];
    let mut drive = open(kind, &files);
    let listed = call(&mut drive, ask::list_notes());
    assert_eq!(listed.items.len(), 4);
    let [warning] = &listed.warnings[..] else { panic!("{:?}", listed.warnings) };
    assert_eq!(warning.path, "b.md");
    assert!(warning.message.starts_with("line 1: only the first 65536 links of the note are used"), "{warning:?}");
    assert!(warning.message.ends_with("; there is a problem in c.md, d.md too"), "{warning:?}");
    let renamed = call(&mut drive, ask::rename("a", "Another"));
    let left: Vec<&str> = renamed.not_rewritten.iter().map(|warning| warning.path.as_str()).collect();
    assert_eq!(left, ["b.md", "c.md", "d.md"]);
}

#[both_engines(nightly)]
fn notes_with_more_links_than_fit_into_memory_end_in_a_typed_error(kind: Kind) {
    let links = "[[a]]".repeat(60_000);
    let names: Vec<String> = (0..40).map(|number| format!("n{number:03}.md")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), links.as_str())).collect();
    let mut drive = open(kind, &files);
    let error = refused(&mut drive, ask::dead_links());
    assert_eq!(error.code, ErrorCode::TooLarge);
    assert!(error.message.starts_with("the notes have more than 2000000 links"), "{error:?}");
    // Commands that need no graph still work.
    assert_eq!(found(&call(&mut drive, ask::recall("n007"))).first(), Some(&"n007.md"));
}

#[both_engines]
fn a_frontmatter_bomb_is_a_warning_and_the_note_is_still_found(kind: Kind) {
    let mut bomb = String::from("---\na: &a [x, x, x, x, x, x, x, x, x]\n");
    for (name, before) in ('b'..='p').zip('a'..) {
        bomb.push_str(&format!("{name}: &{name} [{}]\n", vec![format!("*{before}"); 9].join(", ")));
    }
    bomb.push_str("tags: *p\n---\n\nzebra\n");
    let deep = format!("---\nx: {}\n---\n\nzebra\n", "[".repeat(20_000));
    let deep_map =
        format!("---\n{}---\n\nzebra\n", (0..3_000).map(|i| format!("{}a:\n", " ".repeat(i))).collect::<String>());
    let merge = "---\na: &a\n  <<: *a\n  b: 1\n---\n\nzebra\n".to_string();
    for text in [&bomb, &deep, &deep_map, &merge] {
        let mut drive = open(kind, &[("bomb.md", text), ("other.md", "# Other\n")]);
        let reply = call(&mut drive, ask::recall("zebra"));
        assert_eq!(found(&reply), ["bomb.md"], "{}", &text[..40]);
        assert!(reply.warnings.len() <= 1);
        for warning in &reply.warnings {
            assert!(warning.path == "bomb.md" && warning.message.len() < 1_000, "{warning:?}");
        }
        let _ = drive.run(ask::link("bomb.md", "other.md"));
        let _ = drive.run(ask::rename("bomb.md", "Defused"));
        assert!(drive.run(ask::tags()).is_ok());
    }
}

#[both_engines]
fn a_note_over_the_limit_is_skipped_by_name_and_never_changed(kind: Kind) {
    let size = 50 << 20;
    let mut drive = open(kind, &[("a.md", "# A\n\nzebra [[large]]\n")]);
    drive.executor.insert(&path("large.md"), vec![b'x'; size]);
    let reply = call(&mut drive, ask::recall("zebra"));
    assert_eq!(found(&reply), ["a.md"]);
    assert_eq!(reply.skipped.len(), 1);
    assert_eq!(reply.skipped[0].path, "large.md");
    assert_eq!(reply.skipped[0].kind, saddlebag::search::SkipKind::TooLarge);
    assert!(reply.skipped[0].reason.contains(&size.to_string()), "{:?}", reply.skipped);
    for command in commands![ask::link("large.md", "a.md"), ask::rename("large.md", "Small"), ask::forget("large.md"),]
    {
        let error = refused(&mut drive, command.clone());
        assert_eq!(error.code, ErrorCode::TooLarge, "{command:?}: {error:?}");
    }
    assert_eq!(drive.executor.files()["large.md"].len(), size);
}

#[both_engines]
fn no_note_is_made_that_could_not_be_read_again(kind: Kind) {
    let limits = Limits { max_file_bytes: 4_096, ..Limits::default() };
    let large = format!("# B\n\n{}", "b".repeat(4_085));
    let files: [(&str, &[u8]); 2] = [("a.md", b"# A\n"), ("b.md", large.as_bytes())];
    let mut drive = drive(kind, Config { limits, ..config() }, &files);
    let error = refused(&mut drive, fact("Large", "x ".repeat(3_000)));
    assert_eq!(error.code, ErrorCode::TooLarge, "{error:?}");
    let error = refused(&mut drive, ask::link("b.md", "a.md"));
    assert_eq!(error.code, ErrorCode::TooLarge, "{error:?}");
    let error = refused(&mut drive, ask::rename("b.md", "A longer title than there is room for"));
    assert_eq!(error.code, ErrorCode::TooLarge, "{error:?}");
    assert_eq!(list(&mut drive, NoteFilter::default()).len(), 2);
}

#[both_engines]
fn a_large_note_within_raised_limits_is_found(kind: Kind) {
    let limits = Limits { max_file_bytes: 64 << 20, ..Limits::default() };
    let mut text = "# Large\n\n".to_string();
    for i in 0..8 {
        text.push_str(&format!("## Section {i}\n\n"));
        text.push_str(&"filler line about nothing much\n".repeat(16_000));
    }
    text.push_str("## Last\n\nthe zebra is here\n");
    let mut drive = Drive::new(kind, Config { limits, ..config() }, simulator(&[("large.md", text.as_bytes())]));
    let reply = call(&mut drive, ask::recall("zebra"));
    assert_eq!(found(&reply), ["large.md"]);
    assert!(reply.hits[0].passage.contains("the zebra is here") && reply.hits[0].passage.len() <= 2_000);
}

#[both_engines]
fn no_command_asks_for_what_is_hidden_or_outside_of_its_scope(kind: Kind) {
    let mut drive = drive(
        kind,
        project_config(),
        &[("projects/other/facts/secret.md", b"# Secret\n"), ("projects/proj/.zk/notebook.db", b"db")],
    );
    let commands =
        commands![InitNotebook, fact("T", "x"), ask::recall("secret"), Today, ask::tags(), LoadMemories { limit: 3 },];
    for command in commands {
        let id = drive.submit(command.clone());
        while let Some(request) = drive.pending.first() {
            for path in support::paths_of(&request.op) {
                assert!(
                    !path.as_str().starts_with("projects/other") && !path.as_str().ends_with(".db"),
                    "{command:?}: {request:?}"
                );
            }
            let is_removal = matches!(request.op, FsOp::Remove { .. } | FsOp::Rename { .. });
            assert!(!is_removal, "{command:?}: {request:?}");
            drive.answer(0);
        }
        let outcome = format!("{:?}", drive.finished.remove(&id).unwrap().unwrap());
        assert!(!outcome.contains("Secret"), "{command:?}: {outcome}");
    }
}
