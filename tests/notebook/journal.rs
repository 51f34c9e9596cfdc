//! The journal of a day: one note, in which no entry is lost or doubled.

use saddlebag::notebook::{NotebookReply, Today};
use saddlebag::protocol::ErrorCode;
use saddlebag_host::Scheduler;
use support::drive::changes;
use support::{Kind, ask, both_engines, each};

use super::{call, notebook, open, refused, run, text};

#[both_engines]
fn an_entry_is_one_append(kind: Kind) {
    let mut drive = open(kind, &[("daily/2026-05-25.md", "# Day\n\ntext")]);
    let added = call(&mut drive, ask::log("deployed\nv2"));
    assert_eq!((added.path.as_str(), added.created), ("daily/2026-05-25.md", false));
    assert_eq!(text(&drive, "daily/2026-05-25.md"), "# Day\n\ntext\n- 12:00 deployed\n  v2\n");
    assert_eq!(changes(&drive.executor), ["append daily/2026-05-25.md"]);
    for empty in ["", " \n\t", "\u{1b}"] {
        assert_eq!(refused(&mut drive, ask::log(empty)).code, ErrorCode::InvalidArgument);
    }
    assert_eq!(refused(&mut drive, ask::log("x".repeat(70_000))).code, ErrorCode::TooLarge);
}

#[both_engines]
fn today_is_made_once_and_no_entry_is_lost_however_many_race(kind: Kind) {
    const DAY: &str = "daily/2026-05-25.md";
    for seed in each("seed", 0..48) {
        let mut drive = open(kind, &[("templates/daily.md", "# {{title}}\n\nfrom the template\n")]);
        let ids: Vec<u64> = (0..8)
            .map(|i| match i % 2 {
                0 => drive.submit(Today),
                _ => drive.submit(ask::log(format!("entry {i}"))),
            })
            .collect();
        drive.settle_in_any_order(&mut Scheduler::new(seed));
        let created = ids.iter().filter(|id| match notebook(drive.finished[id].clone().unwrap()) {
            NotebookReply::Today(reply) => reply.created,
            NotebookReply::Journal(reply) => reply.created,
            other => panic!("{other:?}"),
        });
        assert_eq!(created.count(), 1, "seed {seed}");
        let text = text(&drive, DAY);
        assert_eq!(text.matches("from the template").count(), 1, "seed {seed}: {text}");
        assert!(text.starts_with("# 2026-05-25\n\nfrom the template\n"), "seed {seed}: {text}");
        for i in [1, 3, 5, 7] {
            assert_eq!(text.matches(&format!("- 12:00 entry {i}\n")).count(), 1, "seed {seed}: {text}");
        }
    }
}

#[both_engines]
fn an_entry_whose_outcome_is_unknown_is_not_doubled(kind: Kind) {
    for committed in [true, false] {
        for operation in each("operation", 0..8) {
            let mut drive = open(kind, &[]);
            drive.executor.unknown_at(operation, committed);
            run(&mut drive, ask::log("once"));
            assert_eq!(text(&drive, "daily/2026-05-25.md").matches("once").count(), 1, "at {operation}");
        }
    }
}
