//! Requests may be answered in any order: the results of commands do not depend on it.

use saddlebag::entries::{OpenRun, PurgeEntries};
use saddlebag::journal::Target;
use saddlebag::tools::{CallTool, Dialect, ToolOptions, ToolSet};
use saddlebag::{Command, Origin, Submission, Submit};
use saddlebag_host::Scheduler;
use support::drive::drive;
use support::{
    Kind, agent_config, ask, both_engines, commands, each, every_question, keep, project_config, without_history,
};

const FILES: [(&str, &[u8]); 8] = [
    ("README.md", b"fact of the readme"),
    ("projects/proj/SCRATCHPAD.md", b"- [ ] a\n"),
    ("projects/proj/notes/a.md", b"fact a"),
    ("projects/proj/notes/b.md", b"fact b"),
    ("projects/proj/daily/2026-05-24.md", b"log fact"),
    ("agents/a/entries/core/k.md", b"---\nkey: k\ncategory: core\nupdated: 2026-05-01T00:00:00Z\n---\n\nfact k"),
    ("agents/a/entries/notes/l.md", b"---\nkey: l\ncategory: notes\nupdated: 2026-05-02T00:00:00Z\n---\n\nfact l"),
    ("workspaces/w/entries/s.md", b"---\nkey: s\ncategory: workspace\nupdated: 2026-05-03T00:00:00Z\n---\n\nfact s"),
];

/// Commands that are about different files.
fn commutative() -> Vec<Submission<Command>> {
    let note = |name: &str| Target::Note(name.into());
    commands![
        ask::append(Target::LongTerm, "x\ny\nx"),
        ask::append_daily("h", "b"),
        ask::edit(note("a"), "fact", "truth"),
        ask::forget(note("b")),
        ask::overwrite(note("c"), "new"),
        ask::show(Target::Daily(Some("2026-05-24".into()))),
        ask::restore(note("none")),
        keep("new", "an entry", "core"),
        PurgeEntries { key: None },
        Origin::from_run("r").with(OpenRun { fence: 1 }),
    ]
}

fn tool(name: &str, arguments: &str) -> Command {
    let (sets, dialect) = (ToolSet::ALL.to_vec(), Dialect::Docs);
    CallTool { tool: name.into(), input: arguments.into(), options: ToolOptions { sets, dialect } }.into()
}

/// Commands that only look.
fn looking() -> Vec<Submission<Command>> {
    let tools = [
        tool("memory_recall", r#"{"query": "fact"}"#),
        tool("notebook_recall", r#"{"query": "fact"}"#),
        tool("memory", r#"{"command": "view", "path": "/memories"}"#),
    ];
    // Both are commands of a session, in which a turn that is over takes no more.
    let is_of_session =
        |given: &Submission<Command>| matches!(given.command.name(), "recall-for-turn" | "load-memories");
    // A policy is not a file that people keep, but it decides what others see of the history.
    let sets = |given: &Submission<Command>| given.command.name() == "set-history-policy";
    every_question("a")
        .into_iter()
        .filter(|given| !is_of_session(given) && !sets(given))
        .chain(tools.map(Submit::submission))
        .collect()
}

/// The order of results decides nothing within a command, and nothing between commands about
/// different files.
#[both_engines(every_change)]
fn result_order_changes_nothing(kind: Kind) {
    for (commands, changes) in [(commutative(), true), (looking(), false)] {
        let mut expected = None;
        for seed in each("seed", 0..120) {
            let mut drive = drive(kind, agent_config(), &FILES);
            for command in &commands {
                drive.submit(command.clone());
            }
            drive.settle_in_any_order(&mut Scheduler::new(seed));
            // The lines of a log are in the order of the changes.
            let outcome = (drive.finished, without_history(drive.executor.files()));
            assert_eq!(&outcome, expected.get_or_insert_with(|| outcome.clone()), "{kind:?}, seed {seed}");
            assert_eq!(outcome.1.len() > FILES.len(), changes);
        }
    }
}

/// Appends in flight to one file all land, in the order in which the host performs them.
#[both_engines(every_change)]
fn appends_in_flight_all_land_whatever_the_order(kind: Kind) {
    for seed in each("seed", 0..20) {
        let mut drive = drive(kind, project_config(), &[]);
        for number in 0..8 {
            let content = format!("line {number}");
            let target = if number % 2 == 0 { Target::LongTerm } else { Target::Daily(None) };
            drive.submit(ask::append(target, content));
        }
        drive.settle_in_any_order(&mut Scheduler::new(seed));
        assert!(drive.finished.values().all(Result::is_ok));
        let files = drive.executor.files();
        for file in ["MEMORY.md", "projects/proj/daily/2026-05-25.md"] {
            let mut lines: Vec<&str> = std::str::from_utf8(&files[file]).unwrap().lines().collect();
            lines.sort_unstable();
            lines.dedup();
            assert_eq!(lines.len(), 4, "{kind:?}, seed {seed}");
        }
    }
}
