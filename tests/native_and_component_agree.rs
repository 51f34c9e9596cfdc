//! The same commands and results give the same bytes, natively and in WebAssembly.

use proptest::prelude::*;
use saddlebag::entries::EntriesConfig;
use saddlebag::protocol::{CommandId, FsError, FsOutcome, FsRequest, FsResult, RemoveOutcome};
use saddlebag::store::LongTermScope;
use saddlebag::store::{RelPath, Timestamp};
use saddlebag::{Command, Config, Limits, Step, Submission, Submit};
use saddlebag_host::{Engine, EngineError, Executor, Scheduler, Simulator};
use support::arbitrary::{PLACES, bytes, cases, fs_error, store, submission};
use support::{Kind, ask, engine, path, paths_of, project_config, today};

#[derive(Clone, Debug)]
enum Fault {
    Fail(FsError),
    Unknown { committed: bool },
    Edit(&'static str, Option<Vec<u8>>),
}

#[derive(Clone, Debug)]
enum Action {
    Submit(Box<Submission<Command>>),
    /// A timestamp or an id that the contract forbids.
    SubmitBadly {
        bad_time: bool,
    },
    Answer,
    Cancel(u64),
    /// A result that nobody asked for.
    Rogue(String),
    /// The right key, the wrong kind of result.
    WrongKind,
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        fs_error().prop_map(Fault::Fail),
        any::<bool>().prop_map(|committed| Fault::Unknown { committed }),
        (prop::sample::select(PLACES.to_vec()), prop::option::of(bytes()))
            .prop_map(|(place, bytes)| Fault::Edit(place, bytes)),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    let keys = ["", "write/1.1.1", "write/2.1.1", "search/1.99.1", "x", "/..", "write/1.1.1.1"];
    prop_oneof![
        8 => submission().prop_map(|command| Action::Submit(Box::new(command))),
        16 => Just(Action::Answer),
        1 => any::<bool>().prop_map(|bad_time| Action::SubmitBadly { bad_time }),
        1 => (0_u64..8).prop_map(Action::Cancel),
        1 => prop::sample::select(keys.to_vec()).prop_map(|key| Action::Rogue(key.to_string())),
        1 => Just(Action::WrongKind),
    ]
}

/// One engine with its own store, which goes through the actions alone.
struct Side {
    engine: Box<dyn Engine>,
    store: Simulator,
    pending: Vec<FsRequest>,
    order: Scheduler,
    last_id: u64,
}

impl Side {
    fn new(kind: Kind, config: Config, store: Simulator, seed: u64) -> Self {
        Self { engine: engine(kind, config), store, pending: Vec::new(), order: Scheduler::new(seed), last_id: 0 }
    }

    fn act(&mut self, action: &Action) -> Result<Step, EngineError> {
        let step = match action {
            Action::Submit(command) => {
                self.last_id += 1;
                self.engine.submit(CommandId(self.last_id), today(), (**command).clone())
            }
            Action::SubmitBadly { bad_time } => {
                let now = Timestamp { nanoseconds: if *bad_time { 1_000_000_000 } else { 0 }, ..today() };
                self.engine.submit(CommandId(self.last_id), now, ask::list().submission())
            }
            Action::Answer if self.pending.is_empty() => return Ok(Step::default()),
            Action::Answer => {
                let next = self.order.reorder((0..self.pending.len()).collect())[0];
                let request = self.pending.remove(next);
                let outcome = self.store.perform(&request.op);
                self.engine.handle_memory_result(FsResult { key: request.key.into_string(), outcome })
            }
            Action::Cancel(id) => self.engine.cancel(CommandId(*id)),
            Action::Rogue(key) => {
                let outcome = Ok(FsOutcome::MakeDirectory);
                self.engine.handle_memory_result(FsResult { key: key.clone(), outcome })
            }
            Action::WrongKind => {
                let Some(request) = self.pending.first() else { return Ok(Step::default()) };
                let outcome = match request.op.name() {
                    "remove" => Ok(FsOutcome::MakeDirectory),
                    _ => Ok(FsOutcome::Remove(RemoveOutcome::Done)),
                };
                self.engine.handle_memory_result(FsResult { key: request.key.to_string(), outcome })
            }
        };
        if let Ok(step) = &step {
            self.pending.extend(step.requests.iter().cloned());
        }
        step
    }
}

proptest! {
    #![proptest_config(cases(256))]
    #[test]
    fn native_and_component_agree(
        files in store(),
        faults in prop::collection::vec((0_u64..60, fault()), 0..6),
        actions in prop::collection::vec(action(), 1..40),
        tight in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let mut simulator = Simulator::new(seed);
        for (place, bytes) in files {
            simulator.insert(&path(place), bytes);
        }
        for (operation, fault) in faults {
            match fault {
                Fault::Fail(error) => simulator.fail_at(operation, error),
                Fault::Unknown { committed } => simulator.unknown_at(operation, committed),
                Fault::Edit(place, bytes) => simulator.edit_at(operation, &path(place), bytes),
            }
        }
        let limits = match tight {
            true => Limits {
                max_file_bytes: 4096, max_list_entries: 2, max_requests: 3, max_commands: 3, max_index_bytes: 300,
            },
            false => Limits::default(),
        };
        let entries = EntriesConfig {
            workspace: Some("w".into()),
            max_entries: 3,
            max_workspace_entries: 1,
            ..EntriesConfig::for_agent("a")
        };
        let long_term = if seed % 2 == 0 { LongTermScope::Shared } else { LongTermScope::Project };
        let machine = (seed % 3 != 0).then(|| "laptop".to_string());
        let config = Config { limits, entries: Some(entries), long_term, machine, ..project_config() };
        let mut native = Side::new(Kind::Native, config.clone(), simulator.clone(), seed);
        let mut component = Side::new(Kind::Component, config, simulator, seed);
        let drain = std::iter::repeat_n(&Action::Answer, 4000);
        for (number, action) in actions.iter().chain(drain).enumerate() {
            if number >= actions.len() && native.pending.is_empty() {
                break;
            }
            let (ours, theirs) = (native.act(action), component.act(action));
            prop_assert_eq!(&ours, &theirs, "at action {} {:?}", number, action);
            for request in ours.iter().flat_map(|step| &step.requests) {
                for path in paths_of(&request.op) {
                    prop_assert!(RelPath::new(path.as_str()).is_ok());
                }
            }
        }
        prop_assert!(native.pending.is_empty() && component.pending.is_empty(), "a command never ends");
        prop_assert_eq!(native.store.files(), component.store.files());
        prop_assert_eq!(native.store.log(), component.store.log());
    }
}
