//! Random commands, texts and stores.

use proptest::prelude::*;
use saddlebag::Command;
use saddlebag::context::{ContextRequest, Overflow};
use saddlebag::journal::{EditChange, JournalCommand, SearchRequest, Target, WriteMode};
use saddlebag::protocol::FsError;

/// Text that commands and stores have in common, so that searches hit, edits match and lines repeat.
pub fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "fact one\n", "fact two", "- [ ] open item\n", "- [x] done\n", "## Rules\n", "```\n", "---\n", "port 5432 ",
            "記憶 ", "café\n", "</memory>", "\r\n", "\n\n", "\t", "e\u{301}", "### 09:00 — x\n", "Fact ONE\n",
        ])
        .prop_map(str::to_string),
        1 => "\\PC{0,12}",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// What goes into a store: mostly text, sometimes other bytes.
pub fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => text().prop_map(String::into_bytes),
        1 => (text(), 1_usize..400).prop_map(|(text, times)| text.repeat(times).into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..24),
    ]
}

pub const NAMES: [&str; 16] = [
    "a",
    "b",
    "記憶",
    "two words",
    "a.md",
    " a ",
    "MEMORY",
    "",
    "../x",
    "a/b",
    "a\\b",
    "CON",
    "x\ny",
    ".hidden",
    "a\u{202e}b",
    "..",
];

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(NAMES.to_vec()).prop_map(str::to_string),
        1 => (200_usize..260).prop_map(|length| "n".repeat(length)),
        1 => "\\PC{0,8}",
        1 => any::<String>(),
    ]
}

fn date() -> impl Strategy<Value = Option<String>> {
    let dates = ["2026-05-25", "2026-05-24", "2026-05-24.md", "9999-99-99", "---", "../2026-05-25", ""];
    prop::option::of(prop::sample::select(dates.to_vec()).prop_map(str::to_string))
}

pub fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        Just(Target::LongTerm),
        Just(Target::Scratchpad),
        date().prop_map(Target::Daily),
        name().prop_map(Target::Note),
    ]
}

pub fn overflow() -> impl Strategy<Value = Overflow> {
    prop::sample::select(vec![Overflow::Documented, Overflow::Prioritised, Overflow::Balanced])
}

fn query() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec!["fact", "ONE port", "記", "md", "café", "a", "  ", "open 5432 open", "K ß σ"])
            .prop_map(str::to_string),
        1 => text(),
        1 => (4000_usize..4200).prop_map(|length| "q".repeat(length)),
    ]
}

fn slash() -> impl Strategy<Value = String> {
    let words = ["long_term", "long", "scratchpad", "daily", "note:a", "note a", "note:\"two words\"", "bogus", ""];
    let verbs = ["status", "search", "read", "write", "edit", "clear", "restore", "editor", "read list", "nope", ""];
    let tails = ["", "fact one", "fact => truth", "2026-05-24", "=>", "a b => c"];
    (
        any::<bool>(),
        prop::sample::select(verbs.to_vec()),
        prop::sample::select(words.to_vec()),
        prop::sample::select(tails.to_vec()),
    )
        .prop_map(|(named, verb, word, tail)| format!("{}{verb} {word} {tail}", if named { "/memory " } else { "" }))
}

/// A command of any kind, with arguments that are good or bad.
pub fn command() -> impl Strategy<Value = Command> {
    let mode = prop::sample::select(vec![WriteMode::Append, WriteMode::Overwrite]);
    let content = prop_oneof![
        8 => text(),
        1 => (65_530_usize..65_545).prop_map(|length| "記".repeat(length / 3 + 1)),
    ];
    let old = prop::sample::select(vec!["fact one", "fact", "記", "", "port 5432 ", "nowhere"]);
    let change = prop_oneof![
        4 => (old, text()).prop_map(|(old, new)| EditChange::Replace { old: old.to_string(), new }),
        1 => Just(EditChange::Delete),
    ];
    let journal = prop_oneof![
        4 => (target(), mode, content).prop_map(|(target, mode, content)| JournalCommand::Write { target, mode, content }),
        2 => (text(), text()).prop_map(|(heading, body)| JournalCommand::AppendDaily { heading, body }),
        3 => (target(), 0_u64..64, 0_u32..4000)
            .prop_map(|(target, offset, max_bytes)| JournalCommand::Read { target, offset, max_bytes }),
        1 => Just(JournalCommand::List),
        3 => (target(), change).prop_map(|(target, change)| JournalCommand::Edit { target, change }),
        2 => target().prop_map(|target| JournalCommand::Restore { target }),
        3 => (query(), 0_u32..3, 0_u32..4, 0_u32..2000, any::<bool>()).prop_map(
            |(query, offset, limit, max_bytes, vouched_unchanged)| {
                JournalCommand::Search(SearchRequest { query, offset, limit, max_bytes, vouched_unchanged })
            }
        ),
        1 => Just(JournalCommand::Status),
        1 => (text(), prop::option::of(any::<u32>()))
            .prop_map(|(summary, messages)| JournalCommand::FlushSummary { summary, messages }),
        3 => slash().prop_map(|line| JournalCommand::Slash { line }),
    ];
    prop_oneof![
        6 => journal.prop_map(Command::Journal),
        1 => (overflow(), 0_u32..6000).prop_map(|(overflow, max_bytes)| Command::Context(ContextRequest { overflow, max_bytes })),
    ]
}

pub const PLACES: [&str; 14] = [
    "MEMORY.md",
    "MEMORY.bak",
    "README.md",
    "projects/proj/SCRATCHPAD.md",
    "projects/proj/SCRATCHPAD.bak",
    "projects/proj/OTHER.md",
    "projects/proj/notes/a.md",
    "projects/proj/notes/a.bak",
    "projects/proj/notes/two words.md",
    "projects/proj/notes/記憶.md",
    "projects/proj/daily/2026-05-25.md",
    "projects/proj/daily/2026-05-24.md",
    "projects/proj/daily/9999-99-99.md",
    "projects/proj/daily/scratch.md",
];

/// A small store: paths of the layout and what is in them.
pub fn store() -> impl Strategy<Value = Vec<(&'static str, Vec<u8>)>> {
    prop::collection::vec((prop::sample::select(PLACES.to_vec()), bytes()), 0..8)
}

pub fn fs_error() -> impl Strategy<Value = FsError> {
    prop::sample::select(every_fs_error())
}

pub fn every_fs_error() -> Vec<FsError> {
    vec![
        FsError::Denied,
        FsError::TimedOut,
        FsError::Cancelled,
        FsError::InvalidPath("why".into()),
        FsError::SymbolicLink,
        FsError::IsDirectory,
        FsError::NotDirectory,
        FsError::NotRegular,
        FsError::TooLarge(1000),
        FsError::NoSpace,
        FsError::ReadOnly,
        FsError::Unsupported,
        FsError::Other("what \"the\" host says".into()),
    ]
}

/// Proptest without files for what failed: a failure prints its input, which becomes a test.
pub fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}
