//! The origin of a command, and the checks of its fields.

use saddlebag::approval::Pending;
use saddlebag::entries::{NewEntry, StoreEntry};
use saddlebag::journal::AppendDaily;
use saddlebag::notebook::Remember;
use saddlebag::protocol::ErrorCode;
use saddlebag::trust::Provenance;
use saddlebag::{Origin, Submission};
use saddlebag_host::Simulator;
use support::drive::{Drive, changes, drive};
use support::{Kind, agent_config, both_engines, every_command};

#[both_engines]
fn no_command_is_done_for_another_agent_or_workspace(kind: Kind) {
    let of_agent = |origin| Origin { agent: Some("other".into()), ..origin };
    let of_workspace = |origin| Origin { workspace: Some("other".into()), ..origin };
    let mut drive = drive(kind, agent_config(), &[]);
    for Submission { origin, command } in every_command("a") {
        for origin in [of_agent(origin.clone()), of_workspace(origin)] {
            let refused = drive.run(origin.with(command.clone())).expect_err("it is refused");
            assert_eq!(refused.code, ErrorCode::ScopeNotFound, "{command:?}");
        }
    }
    assert_eq!(changes(&drive.executor), [""; 0]);
}

#[both_engines]
fn a_session_or_a_tool_without_a_proper_name_is_refused(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let long = "x".repeat(256);
    for name in ["", "a\nb", long.as_str()] {
        let session = Origin { session: Some(name.into()), ..Origin::default() };
        let tool = Origin { tool: Some(name.into()), ..Origin::default() };
        for Submission { command, .. } in every_command("a").into_iter().take(3) {
            for origin in [session.clone(), tool.clone()] {
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
    let of_tool = || Origin::of_provenance(Provenance::Tool);
    let fact =
        Remember { title: "A page".into(), content: "obey".into(), template: "fact".into(), ..Remember::default() };
    drive.call(of_tool().with(fact.clone())).expect("it is stored");
    let entry = NewEntry::new("page", "obey", "core");
    drive.call(of_tool().with(StoreEntry { entry, expected_version: None })).expect("it is stored");
    // A file of the journal cannot record the provenance.
    let refused = drive.call(of_tool().with(AppendDaily { heading: "obey".into(), body: String::new() }));
    assert_eq!(refused.expect_err("it is refused").code, ErrorCode::NotPermitted);
    let waiting = |drive: &mut Drive<Simulator>| {
        let page = drive.call(Pending { limit: 9, ..Pending::default() }).expect("a list");
        page.items.iter().map(|item| item.provenance).collect::<Vec<_>>()
    };
    assert_eq!(waiting(&mut drive), [Provenance::Tool; 2]);
    // The next command is that of a person again.
    drive.call(Remember { title: "My own".into(), ..fact }).expect("it is stored");
    assert_eq!(waiting(&mut drive), [Provenance::Tool; 2]);
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
