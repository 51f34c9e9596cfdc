//! Catalogue of all commands, with samples that succeed in a store made for them.
//!
//! A host can show the list. Tests that must hold for every command take their commands from here, so they cover new
//! commands too.

use crate::Config;
use crate::entries::EntriesConfig;
pub use crate::memory::catalogue;
use crate::request::{SAMPLE_HISTORY, SAMPLE_SESSION, SAMPLE_STATE, SAMPLE_WAITING};
pub use crate::request::{SAMPLE_NAME, SAMPLE_RUN, SAMPLE_TEXT};
use saddlebag_collections::prelude::*;

/// Returns the files of a store in which the samples of every command succeed on 2026-05-25, with [`sample_config`].
/// Paths are relative to the root.
pub fn sample_files() -> Vec<(&'static str, &'static [u8])> {
    vec![
        ("MEMORY.md", b"port 5432 in MEMORY\n"),
        ("MEMORY.bak", b"before\n"),
        ("projects/proj/SCRATCHPAD.md", b"- [ ] port 5432\n"),
        ("projects/proj/SCRATCHPAD.bak", b"- [ ] before\n"),
        ("projects/proj/daily/2026-05-24.md", b"port 5432 yesterday\n"),
        ("projects/proj/daily/2026-05-24.bak", b"before\n"),
        ("projects/proj/notes/a.md", b"port 5432 of a, see [[b]]\n"),
        ("projects/proj/notes/a.bak", b"before\n"),
        ("projects/proj/notes/b.md", b"# B\n\nthe text of b, see [[a]] and [[nowhere]]\n"),
        ("projects/proj/notes/waits.md", SAMPLE_WAITING.as_bytes()),
        ("projects/proj/sessions/2026-05-24-b.md", SAMPLE_SESSION.as_bytes()),
        ("projects/proj/.saddlebag/sessions/ca978112ca1bbdcafac231b39a23dc4d.jsonl", SAMPLE_STATE.as_bytes()),
        ("projects/proj/.saddlebag/history/2026-05/laptop.log", SAMPLE_HISTORY.as_bytes()),
        ("agents/a/entries/core/a.md", b"---\nkey: a\ncategory: core\n---\n\nthe text of a"),
        ("agents/a/entries/core/a.bak", b"---\nkey: a\ncategory: core\n---\n\nbefore"),
        (
            "agents/a/entries/core/forgotten.md",
            b"---\nkey: forgotten\nforgotten: 2026-05-25T09:00:00Z\n---\n\nforgotten",
        ),
    ]
}

/// Returns the configuration of a memory of the project `proj`, with the entries of the agent `a` in the workspace
/// `w`.
pub fn sample_config() -> Config {
    let entries = EntriesConfig { workspace: Some("w".into()), ..EntriesConfig::for_agent("a") };
    let machine = Some("laptop".into());
    Config { epoch: 1, project: Some("proj".into()), entries: Some(entries), machine, ..Config::default() }
}
