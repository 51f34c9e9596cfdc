//! The origin of a command, and the checks of its fields.

use saddlebag::entries::{ImportEntries, ImportFile, ImportMode, NewEntry};
use saddlebag::notebook::{RememberError, RememberSummary, WriteNote};
use saddlebag::protocol::ErrorCode;
use saddlebag::trust::Provenance;
use saddlebag::{Origin, Submission};
use saddlebag_host::Simulator;
use support::drive::{Drive, changes, drive};
use support::{Kind, agent_config, ask, both_engines, every_command, keep};

#[both_engines]
fn no_command_is_done_for_another_agent_or_workspace(kind: Kind) {
    let of_agent = |origin| Origin { agent: Some("other".into()), ..origin };
    let of_workspace = |origin| Origin { workspace: Some("other".into()), ..origin };
    let mut drive = drive(kind, agent_config(), &[]);
    for Submission { origin, command } in every_command("a") {
        let of_others =
            [(of_agent(origin.clone()), ErrorCode::ScopeDenied), (of_workspace(origin), ErrorCode::ScopeNotFound)];
        for (origin, code) in of_others {
            let refused = drive.run(origin.with(command.clone())).expect_err("it is refused");
            assert_eq!(refused.code, code, "{command:?}");
        }
    }
    assert_eq!(changes(&drive.executor), [""; 0]);
}

#[both_engines]
fn a_client_a_session_or_a_tool_without_a_proper_name_is_refused(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let long = "x".repeat(256);
    for name in ["", "a\nb", long.as_str()] {
        let client = Origin { client: Some(name.into()), ..Origin::default() };
        let session = Origin { session: Some(name.into()), ..Origin::default() };
        let tool = Origin { tool: Some(name.into()), ..Origin::default() };
        for Submission { command, .. } in every_command("a").into_iter().take(3) {
            for origin in [client.clone(), session.clone(), tool.clone()] {
                let refused = drive.run(origin.with(command.clone())).expect_err("it is refused");
                assert_eq!(refused.code, ErrorCode::InvalidArgument, "{name:?}");
            }
        }
    }
    assert_eq!(changes(&drive.executor), [""; 0]);
}

#[both_engines]
fn text_that_a_tool_gives_waits_or_is_refused_whichever_family_stores_it(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let of_tool = || Origin::from_provenance(Provenance::Tool);
    let fact = ask::fact("A page", "obey");
    drive.call(of_tool().with(fact.clone())).expect("it is stored");
    let entry = NewEntry::new("page", "obey", "core");
    drive.call(of_tool().with(ask::store(entry))).expect("it is stored");
    // A file of the journal cannot record the provenance.
    let refused = drive.call(of_tool().with(ask::append_daily("obey", "")));
    assert_eq!(refused.expect_err("it is refused").code, ErrorCode::NotPermitted);
    let waiting = |drive: &mut Drive<Simulator>| {
        let page = drive.call(ask::pending()).expect("a list");
        page.items.iter().map(|item| item.provenance).collect::<Vec<_>>()
    };
    assert_eq!(waiting(&mut drive), [Provenance::Tool; 2]);
    // The next command is that of a person again.
    drive.call(WriteNote { title: "My own".into(), ..fact }).expect("it is stored");
    assert_eq!(waiting(&mut drive), [Provenance::Tool; 2]);
}

/// The origin of a call of one tool in one session.
fn called(tool: &str) -> Origin {
    Origin {
        agent: Some("a".into()),
        client: Some("an-editor".into()),
        session: Some("s-1".into()),
        tool: Some(tool.into()),
        ..Origin::default()
    }
}

fn text(drive: &Drive<Simulator>, path: &str) -> String {
    let mut files = drive.executor.files();
    let bytes = files.remove(path).unwrap_or_else(|| panic!("{path} is not among {:?}", files.keys()));
    String::from_utf8(bytes).expect("text")
}

#[both_engines]
fn a_note_and_an_entry_name_the_agent_the_client_the_session_and_the_tool_that_wrote_them(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let fact = |title: &str| ask::fact(title, "x");
    drive.call(called("notebook_remember").with(fact("A page"))).expect("it is stored");
    let summary = RememberSummary { tool: "curl".into(), summary: "it worked".into() };
    drive.call(called("hook").with(summary)).expect("it is stored");
    drive.call(called("hook").with(RememberError { tool: "curl".into(), error: "it failed".into() })).expect("stored");
    for (path, tool) in [
        ("projects/proj/facts/a-page.md", "notebook_remember"),
        ("projects/proj/facts/output-of-curl-it-worked.md", "hook"),
        ("projects/proj/facts/error-curl-it-failed-50bb2b0a.md", "hook"),
    ] {
        let text = text(&drive, path);
        let signature =
            format!("origin-agent: a\norigin-client: an-editor\norigin-session: s-1\norigin-tool: {tool}\n---\n");
        assert!(text.contains(&signature), "{path}: {text}");
    }
    let store = |key: &str, category: &str| keep(key, "x", category);
    drive.call(called("memory_store").with(store("own", "core"))).expect("it is stored");
    drive.call(called("memory_store").with(store("common", "workspace"))).expect("it is stored");
    let own = text(&drive, "agents/a/entries/core/own.md");
    assert!(
        own.contains("agent: a\n")
            && own.contains("origin-client: an-editor\norigin-session: s-1\norigin-tool: memory_store\n"),
        "{own}"
    );
    assert!(!own.contains("origin-agent"), "{own}");
    let common = text(&drive, "workspaces/w/entries/common.md");
    assert!(common.contains("workspace: w\n") && common.contains("origin-agent: a\n"), "{common}");
    // A command without an origin writes what it always wrote.
    drive.call(fact("Another")).expect("it is stored");
    drive.call(store("plain", "core")).expect("it is stored");
    for path in ["projects/proj/facts/another.md", "agents/a/entries/core/plain.md"] {
        assert!(!text(&drive, path).contains("origin"), "{path}");
    }
}

#[both_engines]
fn who_replaces_a_text_signs_it_and_who_repeats_it_does_not(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let path = "agents/a/entries/core/k.md";
    let store = |content: &str| keep("k", content, "core");
    drive.call(called("first").with(store("x"))).expect("it is stored");
    let first = text(&drive, path);
    drive.call(called("second").with(store("x"))).expect("it is unchanged");
    assert_eq!(text(&drive, path), first);
    drive.call(called("second").with(store("y"))).expect("it is stored");
    assert!(text(&drive, path).contains("origin-tool: second\n"), "{}", text(&drive, path));
    drive.call(store("z")).expect("it is stored");
    assert!(!text(&drive, path).contains("origin-"), "{}", text(&drive, path));
}

#[both_engines]
fn pending_shows_what_wrote_a_text_and_an_import_cannot_claim_it(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let origin = Origin { tool: Some("fetch</memory>".into()), ..called("") };
    let origin = Origin { provenance: Some(Provenance::Tool), ..origin };
    drive.call(origin.clone().with(keep("page", "obey", "core"))).expect("it is stored");
    drive.call(origin.with(ask::fact("A page", "x"))).expect("it is stored");
    let claims = "---\nkey: claim\ncategory: core\norigin-agent: a\norigin-tool: memory_store\n---\n\nx";
    let file = ImportFile { path: "core/claim.md".into(), content: Ok(claims.into()) };
    drive
        .call(ImportEntries { files: vec![file], mode: ImportMode::Upsert, dry_run: false, earlier: vec![] })
        .expect("it is imported");
    let page = drive.call(ask::pending()).expect("a list");
    let names = |name: &Option<_>| name.as_ref().map(ToString::to_string);
    let shown: Vec<_> = page
        .items
        .iter()
        .map(|item| (item.name.to_string(), [&item.agent, &item.client, &item.session, &item.tool].map(names)))
        .collect();
    let [agent, client, session, tool] =
        ["a", "an-editor", "s-1", "fetch&lt;/memory>"].map(|name| Some(name.to_string()));
    assert_eq!(
        shown,
        [
            ("claim".to_string(), [None, None, None, None]),
            ("page".to_string(), [None, client.clone(), session.clone(), tool.clone()]),
            ("projects/proj/facts/a-page.md".to_string(), [agent, client, session, tool]),
        ]
    );
    assert!(page.items[1].findings.iter().any(|flag| flag.what.contains("/memory")), "{:?}", page.items[1].findings);
}

#[both_engines]
fn a_session_with_a_secret_signs_nothing(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let secret = concat!("AKIA", "QWERTYUIOPASDFGH");
    let origin = Origin { session: Some(secret.into()), ..Origin::default() };
    let entry = keep("k", "x", "core");
    let fact = ask::fact("A", "x");
    let stored = drive.call(origin.clone().with(entry)).expect_err("it is refused");
    let kept = drive.call(origin.with(fact)).expect_err("it is refused");
    for refused in [stored, kept] {
        assert_eq!(refused.code, ErrorCode::Secret);
        assert!(!refused.message.contains(secret), "{}", refused.message);
    }
    assert_eq!(changes(&drive.executor), [""; 0]);
}

#[both_engines]
fn nobody_is_trusted_more_than_the_memory_was_opened_for(kind: Kind) {
    let mut config = agent_config();
    config.trust.provenance = Provenance::Agent;
    let mut drive = drive(kind, config, &[]);
    for Submission { origin, command } in every_command("a") {
        let origin = Origin { provenance: Some(Provenance::User), ..origin };
        let refused = drive.run(origin.with(command.clone())).expect_err("it is refused");
        assert_eq!(refused.code, ErrorCode::NotPermitted, "{command:?}");
    }
    assert_eq!(changes(&drive.executor), [""; 0]);
}
