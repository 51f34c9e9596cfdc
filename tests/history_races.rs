//! Changes of one item by several processes at once: each is undone in its turn, down to the first byte.

use std::cell::RefCell;
use std::rc::Rc;

use saddlebag::history::{Expunge, ListOperations, ListVersions, Undo};
use saddlebag::protocol::{Error, ErrorCode};
use saddlebag::store::LongTermScope;
use saddlebag::tools::{CallTool, DEFAULT_SETS, Dialect, ToolOptions};
use saddlebag::trust::{Provenance, TrustConfig};
use saddlebag::{Command, Config, Origin, Submission, Submit};
use saddlebag_host::Simulator;
use serde_json::{Value, json};
use support::drive::{Drive, Shared};
use support::{Kind, Random, agent_config, ask, both_engines, each, fact, keep};

use crate::history::kept;

const PROCESSES: u64 = 3;
const ROUNDS: u64 = 4;
/// Log of the entries.
const LOG: &str = "entries/.saddlebag/history/2026-05/laptop.log";

/// Returns a change of the entry `k` or of the note `Port`, or the making of one of them.
fn change(random: &mut Random, number: u64) -> Submission<Command> {
    let entry = |category: &str, content: String| keep("k", content, category).submission();
    match random.number() % 8 {
        0 | 1 => entry("core", format!("text {number}")),
        2 => entry("custom", format!("text {number}")),
        3 => entry("daily", "text".into()),
        4 => entry("custom", "text".into()),
        5 => ask::edit_entry("k", "text", format!("text of {number},")).submission(),
        6 => ask::forget_entry("k").submission(),
        _ if random.number().is_multiple_of(2) => fact("Port", "5432").submission(),
        _ => ask::rename("Port", format!("Port {number}")).submission(),
    }
}

/// Runs commands at once, a command in each process, in an order of requests that the random numbers decide.
fn run_at_once(
    processes: &mut [Drive<Shared>],
    random: &mut Random,
    mut command: impl FnMut(&mut Random) -> Submission<Command>,
) -> Vec<Result<(), Error>> {
    let ids: Vec<u64> = processes.iter_mut().map(|process| process.submit(command(random))).collect();
    while processes.iter().any(|process| !process.pending.is_empty()) {
        let next = usize::try_from(random.number() % PROCESSES).unwrap();
        // A process makes several steps in a row, so that all orders occur.
        for _ in 0..=random.number() % 4 {
            if !processes[next].pending.is_empty() {
                processes[next].answer(0);
            }
        }
    }
    let outcome = |(process, id): (&mut Drive<Shared>, u64)| process.finished.remove(&id).unwrap().map(|_| ());
    processes.iter_mut().zip(ids).map(outcome).collect()
}

/// What several processes did to one item at once is undone in turns, and made again. Of two operations
/// that each changed what the other had changed before, none can be undone alone: the undo is refused, and few are.
#[both_engines]
fn changes_of_one_item_at_once_are_undone_one_after_the_other(kind: Kind) {
    let seeds = if kind == Kind::Native { 120 } else { 4 };
    let mut refused = 0;
    'seeds: for seed in each("seed", 0..seeds) {
        let store = Shared(Rc::new(RefCell::new(Simulator::new(seed))));
        let mut random = Random(seed);
        let mut processes: Vec<Drive<Shared>> =
            (1..=PROCESSES).map(|epoch| Drive::new(kind, config(epoch), store.clone())).collect();
        let mut number = 0;
        for _ in 0..ROUNDS {
            processes.iter_mut().for_each(|process| process.now.seconds += 10);
            let outcomes = run_at_once(&mut processes, &mut random, |random| {
                number += 1;
                change(random, number)
            });
            for error in outcomes.into_iter().filter_map(Result::err) {
                let is_expected = matches!(
                    error.code,
                    ErrorCode::NotFound | ErrorCode::EntryNotFound | ErrorCode::NoUniqueMatch | ErrorCode::Contention
                );
                assert!(is_expected, "seed {seed}: {error}");
            }
        }
        let last = kept(&store.0.borrow());
        let mut person = Drive::new(kind, config(99), store.clone());
        person.now.seconds += 1000;
        let mut undone = 0;
        loop {
            match person.call(Undo::default()) {
                Ok(_) => undone += 1,
                Err(error) if error.code == ErrorCode::NotFound => break,
                Err(error) => {
                    let log = person.executor.0.borrow().files().into_iter().find(|(path, _)| path.ends_with(LOG));
                    let is_refused = error.code == ErrorCode::Conflict && is_mixed(&log.unwrap().1, &error.message);
                    assert!(is_refused, "seed {seed}, after {undone}: {error}\n{}", told(&mut person));
                    refused += 1;
                    continue 'seeds;
                }
            }
        }
        let first = kept(&store.0.borrow());
        assert!(first.is_empty(), "seed {seed}: {first:?}\n{}", told(&mut person));
        // An operation that left nothing is undone without a change, and is not made again.
        for _ in 0..undone {
            match person.call(ask::redo()) {
                Ok(_) => {}
                Err(error) if error.code == ErrorCode::NotFound => break,
                Err(error) => panic!("seed {seed}: {error}"),
            }
        }
        let again = kept(&store.0.borrow());
        assert_eq!(again, last, "seed {seed}");
    }
    assert!(refused <= seeds / 10, "{refused} of {seeds}");
}

/// Returns a call of a tool by an agent with a client and a session.
fn tool(agent: u64, name: &str, input: &Value) -> Submission<Command> {
    let options = ToolOptions { sets: DEFAULT_SETS.to_vec(), dialect: Dialect::default() };
    let call = CallTool { tool: name.into(), input: input.to_string(), options };
    let (client, session) = (Some("mcp".into()), Some(format!("s{agent}")));
    Origin { client, session, tool: Some(name.into()), ..Origin::default() }.with(call).submission()
}

/// Agents that work beside a person's rename may finish it. They take only their own changes back, and the person takes back the rename.
#[both_engines]
fn agents_take_back_no_rename_of_a_person_that_they_have_finished(kind: Kind) {
    let seeds = if kind == Kind::Native { 100 } else { 3 };
    for seed in each("seed", 0..seeds) {
        let store = Shared(Rc::new(RefCell::new(Simulator::new(seed))));
        let mut person = Drive::new(kind, config(90), store.clone());
        person.call(fact("Port", "5432")).unwrap();
        for number in 0..5 {
            person.call(fact(format!("Link {number}"), "See [[Port]].")).unwrap();
        }
        let agent = |epoch: u64| {
            let trust = TrustConfig { provenance: Provenance::Agent, ..TrustConfig::default() };
            Drive::new(kind, Config { trust, long_term: LongTermScope::Project, ..config(epoch) }, store.clone())
        };
        let mut processes = vec![Drive::new(kind, config(1), store.clone()), agent(2), agent(3)];
        let mut random = Random(seed);
        for round in 0..3 {
            let mut number = 0;
            let (old, new) =
                (if round == 0 { "Port".into() } else { format!("Quay {round}") }, format!("Quay {}", round + 1));
            let outcomes = run_at_once(&mut processes, &mut random, |random| {
                number += 1;
                match number {
                    1 => ask::rename(old.clone(), new.clone()).submission(),
                    _ if random.number().is_multiple_of(2) => tool(number, "mem_undo", &json!({})),
                    _ => tool(number, "mem_log", &json!({ "entry": format!("entry {round} {number}") })),
                }
            });
            outcomes[0].as_ref().unwrap_or_else(|error| panic!("seed {seed}: the rename: {error}"));
            for agent in [2, 3] {
                let process = &mut processes[agent as usize - 1];
                process.run(tool(agent, "mem_undo", &json!({}))).unwrap();
            }
            let list = person.call(ListOperations { limit: 100, ..ListOperations::default() }).unwrap();
            let renames: Vec<_> = list.operations.iter().filter(|info| info.command == "rename").collect();
            let is_right =
                renames.iter().all(|info| info.provenance == "user" && info.client.is_none() && !info.undone);
            assert!(is_right && renames.len() == round + 1, "seed {seed}: {}", told(&mut person));
            let files = kept(&store.0.borrow());
            let text = |path: &str| files.iter().find(|(known, _)| known.ends_with(path)).map(|(_, text)| text.clone());
            let slug = format!("facts/quay-{}.md", round + 1);
            assert!(text(&slug).is_some(), "seed {seed}: {:?}", files.keys().collect::<Vec<_>>());
            for link in 0..5 {
                let text = text(&format!("facts/link-{link}.md")).unwrap();
                assert!(String::from_utf8_lossy(&text).contains(&format!("[[{new}]]")), "seed {seed}: {text:?}");
            }
        }
        person.now.seconds += 1000;
        let list = person.call(ListOperations { limit: 100, ..ListOperations::default() }).unwrap();
        for rename in list.operations.iter().filter(|info| info.command == "rename") {
            let undo = Undo { operations: vec![rename.operation.clone()], ..Undo::default() };
            person.call(undo).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", told(&mut person)));
        }
        let files = kept(&store.0.borrow());
        assert!(files.iter().any(|(path, _)| path.ends_with("facts/port.md")), "seed {seed}");
    }
}

#[both_engines]
fn expunge_removes_a_name_from_the_record_of_a_change_that_was_not_made(kind: Kind) {
    let is_lost = |store: &Shared| {
        let files = store.0.borrow().files();
        files.iter().any(|(path, text)| path.ends_with(".log") && String::from_utf8_lossy(text).contains("\"lost\""))
    };
    let found = (0..50).find_map(|seed| {
        let store = Shared(Rc::new(RefCell::new(Simulator::new(seed))));
        let mut processes: Vec<Drive<Shared>> =
            (1..=PROCESSES).map(|epoch| Drive::new(kind, config(epoch), store.clone())).collect();
        run_at_once(&mut processes, &mut Random(seed), |_| fact("Acmeworks", "a customer").submission());
        is_lost(&store).then_some(store)
    });
    let store = found.expect("a race that is lost");
    let mut person = Drive::new(kind, config(99), store.clone());
    for name in ["acmeworks", "acmeworks-2", "acmeworks-3"] {
        let _ = person.call(Expunge { name: Some(format!("facts/{name}.md")), ..Expunge::default() });
    }
    for text in ["acmeworks", "Acmeworks"] {
        let _ = person.call(Expunge { text: text.into(), ..Expunge::default() });
    }
    assert!(is_lost(&store));
    for (path, text) in store.0.borrow().files() {
        let text = String::from_utf8_lossy(&text).to_lowercase();
        assert!(!text.contains("acmeworks") && !path.contains("acmeworks"), "{path}: {text}");
    }
}

fn config(epoch: u64) -> Config {
    Config { epoch, ..agent_config() }
}

/// Returns true if the operation that an error names has records before and after those of another one.
fn is_mixed(log: &[u8], message: &str) -> bool {
    let refused = message.split_whitespace().nth(1).unwrap();
    let log = String::from_utf8_lossy(log);
    let is_of = |line: &str| line.contains(&format!("\"operation\":\"{refused}\""));
    let lines: Vec<&str> = log.lines().collect();
    let (first, last) = (lines.iter().position(|line| is_of(line)), lines.iter().rposition(|line| is_of(line)));
    lines[first.unwrap()..=last.unwrap()].iter().any(|line| !is_of(line))
}

/// Returns the lines of a log without contents, or the text of another file.
fn shortened(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let short = |line: &str| -> Option<String> {
        let record: Value = serde_json::from_str(line).ok()?;
        let state = |state: &Value| state.as_str().unwrap_or("-").chars().take(4).collect::<String>();
        let changes = record["changes"].as_array().cloned().unwrap_or_default();
        let changes = changes
            .iter()
            .map(|change| format!("{} {}>{}", change["path"], state(&change["before"]), state(&change["after"])));
        Some(format!("{} {} {}", record["operation"], changes.collect::<Vec<_>>().join(", "), record["lost"]))
    };
    text.lines().map(|line| short(line).unwrap_or_else(|| line.into())).collect::<Vec<_>>().join("\n")
}

/// Returns the operations and the versions of the entry, for the message of a test that fails.
fn told(person: &mut Drive<Shared>) -> String {
    let list = person.call(ListOperations { limit: 100, ..ListOperations::default() }).unwrap();
    let versions = person.call(ListVersions { name: "k".into(), ..ListVersions::default() });
    let files = person.executor.0.borrow().files().into_iter().filter(|(path, _)| !path.contains("index"));
    let files: Vec<String> = files.map(|(path, text)| format!("{path}\n{}", shortened(&text))).collect();
    let told = |operation: &saddlebag::history::OperationInfo| {
        let files: Vec<String> = operation.files.iter().map(|file| format!("{:?} {}", file.kind, file.path)).collect();
        let undone = if operation.undone { " undone" } else { "" };
        format!("{} {}{undone}: {}", operation.operation, operation.command, files.join(", "))
    };
    let operations: Vec<String> = list.operations.iter().map(told).collect();
    format!("{}\n{:?}\n{}", operations.join("\n"), versions.map(|list| list.versions.len()), files.join("\n"))
}
