//! The library of the end-to-end tests: both engines over the simulator, and shorthands.
//!
//! # How is it tested?
//!
//! `cargo xtask test` runs all tests; CONTRIBUTING.md says how to run one. Most tests end to end exist twice, as
//! `native` and as `component`: [`macro@both_engines`] gives them the engine to run. They use the simulator, whose
//! clock is its own and whose random choices come from a seed.
//!
//! | Place | Content |
//! | --- | --- |
//! | `tests/failures_say_where.rs` | The message of a failed test: the engine, and the seed or case |
//! | `tests/imports_nothing.rs`, `component_faults.rs` | The built component: imports, size, traps, files that are not a component |
//! | `tests/native_and_component_agree.rs`, `result_order.rs` | Determinism |
//! | `tests/durability.rs` | Crashes, unknown outcomes, writers at the same time |
//! | `tests/hostile_host.rs`, `refused_input_changes_nothing.rs`, `nothing_escapes_the_root.rs` | Both sides of distrust |
//! | `tests/vectors.rs` | Recorded input and output of the originals, zerostack, zk and zombie; exceptions in `vectors-not-followed.toml`, and `what_is_not_followed_differs` checks that each still differs |
//! | `tests/context_block.rs`, `journal.rs`, `unlike_zerostack.rs` | The block; the journal beyond the vectors; where it differs from zerostack so that no text is lost, leaked or hidden |
//! | `tests/notebook/` | Every command of the notebook, races, crashes and editors between the operations, hostile notes and configurations |
//! | `tests/preamble.rs`, `agents_md.rs` | The forms of the block, the preamble; the section of AGENTS.md, with races |
//! | `tests/exchange.rs` | Memory from and for other agents, from store to store; the converters have their tests and round trips beside the code |
//! | `tests/hydration.rs` | The inputs of hydration, through the commands |
//! | `tests/scopes.rs` | Long-term memory of one project and of all |
//! | `tests/session.rs` | The session of an agent; races, crashes and bounds are beside the code |
//! | `tests/files.rs` | The files of a scope by their paths |
//! | `cli/tests/program/mcp/`, `cli/tests/clients/` | The server, by clients that can be wrong, and by two that this project did not write |
//! | `tests/trust/` | Provenance, approval, secrets, echoes and flags, through the commands |
//! | `tests/agents_are_isolated.rs` | Every command of every family, across two agents and two workspaces |
//! | `tests/tools.rs`, `anthropic_memory_tool.rs` | The tools: tokens, schemas, arguments of every kind, pages; Anthropic's tool against the recorded SDK |
//! | `tests/empty_folders.rs` | Folders that a command has emptied, and those of others |
//! | `tests/left_out_names.rs` | Files with names that no path may have |
//! | `tests/index_schemes.rs` | The index file between hosts that make versions in different ways |
//! | `tests/index_file.rs` | The index file: the reads that it saves, answers that it must not change, damage of every kind |
//! | `tests/retrieval.rs` | 144 questions about 102 notes, literal search beside recall; fails if recall gets worse |
//! | `tests/commonmark.rs` | The scanner of Markdown against `pulldown-cmark`, on our own examples and on random text; stems are held to `rust-stemmers` beside the code |
//! | `tests/support/` | Both engines, a loop that the test drives, the commands of most tests, random commands and stores |
//! | `tests/generated/`, `tests/mutations/` | Files that tests compare or write; damaged inputs for parsers |
//! | `conformance/tests/`, `remote/tests/` | The conformance kit on every executor, and on drivers with faults; hosts that are killed and that race |
//! | `host-harness/tests/executors/` | What only the disk and the simulator do: random operations on both at once (`local_dir_and_simulator_agree`), limits, modes, full disks; races within one operation in `src/local_dir/tests.rs` |
//! | `cli/tests/program/` | The program as a person runs it: exit codes, JSON, traces, bad input, processes at the same time |
//! | In the files | Unit tests, properties of the index and the block, examples in the docs and in the README |

#![allow(missing_docs, reason = "only the tests use it")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may stop at the unexpected")]

pub mod arbitrary;
pub mod ask;
pub mod drive;
mod each;
pub mod entries;
pub mod exchange;
pub mod index_blocks;
pub mod zk;

use std::sync::LazyLock;

pub use ask::{fact, keep};
pub use each::each;
use std::collections::BTreeMap;

use saddlebag::catalogue::catalogue;
use saddlebag::entries::EntriesConfig;
use saddlebag::protocol::FsOp;
use saddlebag::session::{DEFAULT_PROMPT_BYTES, RecallForPrompt};
use saddlebag::store::{RelPath, Timestamp};
use saddlebag::{Command, Config, Effect, Memory, Reply, Submission};
pub use saddlebag_component::COMPONENT;
use saddlebag_host::{
    ComponentCode, ComponentOptions, ComponentRuntime, Engine, EngineError, Host, HostError, NativeEngine, Simulator,
};
use saddlebag_log::{Contents, Log, MAX_CONTENT};
pub use saddlebag_tests_attributes::{both_engines, nightly};

/// The compiled component, once for all tests of a process.
static RUNTIME: LazyLock<ComponentRuntime> =
    LazyLock::new(|| ComponentRuntime::new(component()).expect("the embedded component loads"));

/// Engine that a test runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Native,
    Component,
}

/// For tests that compare the engines. What must hold in each of them is a test with [`macro@both_engines`].
pub const BOTH: [Kind; 2] = [Kind::Native, Kind::Component];

pub fn engine(kind: Kind, config: Config) -> Box<dyn Engine> {
    try_engine(kind, config).expect("a valid configuration")
}

pub fn try_engine(kind: Kind, config: Config) -> Result<Box<dyn Engine>, EngineError> {
    Ok(match kind {
        Kind::Native => Box::new(NativeEngine::new(Memory::open(config)?)),
        Kind::Component => Box::new(RUNTIME.open(config)?),
    })
}

/// The embedded component.
pub fn component() -> ComponentOptions {
    ComponentOptions::new(ComponentCode::Embedded)
}

/// The examples of the page for hosts, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/writing-a-host.md")]
struct HostDoctests;

pub fn runtime() -> &'static ComponentRuntime {
    &RUNTIME
}

/// Numbers that a seed decides: splitmix64.
pub struct Random(pub u64);

impl Random {
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// Returns the files without the history.
pub fn without_history(files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    files.into_iter().filter(|(path, _)| !path.contains(".saddlebag/history/")).collect()
}

/// Returns the texts of all files, and those that the history can make.
pub fn texts_of(files: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let mut contents = Contents::new(MAX_CONTENT);
    let mut digests = Vec::new();
    for (_, log) in files.iter().filter(|(path, _)| path.contains("/history/") && path.ends_with(".log")) {
        for line in Log::new(log).lines() {
            for change in 0..line.head.record().changes.len() {
                for content in line.head.contents(change).expect("the contents can be read") {
                    digests.push(content.digest);
                    contents.add_content(content);
                }
            }
        }
    }
    let in_history = digests.iter().filter_map(|digest| contents.get(digest).ok());
    let texts = files.values().cloned().chain(in_history);
    texts.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
}

/// Returns the configuration of a project named `proj`, as in the recorded vectors.
pub fn project_config() -> Config {
    Config { epoch: 1, project: Some("proj".into()), ..Config::default() }
}

/// [`project_config`] with the entries of agent `a` in workspace `w`.
pub fn agent_config() -> Config {
    let entries = EntriesConfig { workspace: Some("w".into()), ..EntriesConfig::for_agent("a") };
    Config { entries: Some(entries), machine: Some("laptop".into()), ..project_config() }
}

/// Returns the samples of every command, for this name.
pub fn every_command(name: &str) -> Vec<Submission<Command>> {
    catalogue().iter().flat_map(|info| (info.samples)(name)).collect()
}

/// Returns the samples of every command that changes no file, for this name.
pub fn every_question(name: &str) -> Vec<Submission<Command>> {
    catalogue().iter().filter(|info| info.effect == Effect::Reads).flat_map(|info| (info.samples)(name)).collect()
}

/// Returns the command that finds what memory knows about a prompt.
pub fn prompt(session: &str, prompt: &str) -> RecallForPrompt {
    let (session, prompt) = (session.into(), prompt.into());
    RecallForPrompt {
        session,
        prompt,
        max_bytes: DEFAULT_PROMPT_BYTES,
        min_score: None,
        keep_out: Vec::new(),
        dry_run: false,
        form: None,
    }
}

pub type SimulatedHost = Host<Box<dyn Engine>, Simulator>;

/// Returns a host over a simulator that holds `files`.
pub fn host(kind: Kind, config: Config, files: &[(&str, &[u8])]) -> SimulatedHost {
    let mut simulator = Simulator::new(1);
    for (file, bytes) in files {
        simulator.insert(&path(file), *bytes);
    }
    Host::new(engine(kind, config), simulator)
}

pub fn path(text: &str) -> RelPath {
    RelPath::new(text).expect("a valid path")
}

/// Returns noon of a day in UTC.
pub fn noon(date: &str) -> Timestamp {
    let date: chrono::NaiveDate = date.parse().expect("a date");
    let seconds = date.and_hms_opt(12, 0, 0).expect("noon").and_utc().timestamp();
    Timestamp { seconds, nanoseconds: 0, utc_offset_seconds: 0 }
}

/// Returns the day of most tests.
pub fn today() -> Timestamp {
    noon("2026-05-25")
}

/// Runs a command that must succeed.
pub fn run(host: &mut SimulatedHost, command: impl Into<Command>) -> Reply {
    host.run(today(), command).expect("the command is done")
}

/// Runs a command that must be refused.
pub fn refused(host: &mut SimulatedHost, command: impl Into<Command>) -> saddlebag::protocol::Error {
    match host.run(today(), command) {
        Err(HostError::Command(error)) => error,
        other => panic!("expected a refusal, got {other:?}"),
    }
}

/// Returns the paths of an operation.
pub fn paths_of(op: &FsOp) -> Vec<&RelPath> {
    match op {
        FsOp::Write { path, keep_as, like, .. } => [path].into_iter().chain(keep_as).chain(like).collect(),
        FsOp::Remove { path, keep_as, .. } => [path].into_iter().chain(keep_as).collect(),
        FsOp::Read { path, .. }
        | FsOp::Append { path, .. }
        | FsOp::MakeDirectory { path }
        | FsOp::RemoveDirectory { path } => vec![path],
        FsOp::ListDirectory { folder, after, .. } => folder.iter().chain(after).collect(),
        FsOp::Rename { path: from, to, .. } => vec![from, to],
        FsOp::Generation => Vec::new(),
    }
}
