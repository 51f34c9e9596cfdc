//! Every command of the catalogue has samples that succeed, and does what its effect says and no more.

use std::collections::BTreeMap;

use saddlebag::catalogue::{SAMPLE_NAME, SAMPLE_RUN, catalogue, sample_config, sample_files};
use saddlebag::entries::OpenRun;
use saddlebag::protocol::FsError;
use saddlebag::{Effect, Origin};
use saddlebag_host::Simulator;
use support::drive::{Drive, drive};
use support::{Kind, ask, both_engines, each, every_question, texts_of};

/// Commands that change nothing that people keep: a run without entries has nothing to store, its number and the state
/// of a session are in their own files, and a snapshot is a record of the history.
const CHANGES_NOTHING_ALONE: [&str; 6] =
    ["open-run", "checkpoint", "close-run", "recall-for-prompt", "recall-for-tool", "snapshot"];

type Files = BTreeMap<String, Vec<u8>>;

/// The sample store, with the run open that some samples need.
pub(crate) fn sample_drive(kind: Kind) -> Drive<Simulator> {
    let mut drive = drive(kind, sample_config(), &sample_files());
    drive.call(Origin::from_run(SAMPLE_RUN).with(OpenRun { fence: 1 })).unwrap();
    drive
}

/// Returns the files that people keep: no backups, and none of the component's own files.
fn kept(drive: &Drive<Simulator>) -> Files {
    let is_kept = |path: &str| {
        let is_own = path.split('/').any(|segment| segment.starts_with(".saddlebag") || segment.starts_with('.'));
        !is_own && path.ends_with(".md")
    };
    drive.executor.files().into_iter().filter(|(path, _)| is_kept(path)).collect()
}

/// Returns the strongest effect on any file.
fn observed(before: &Files, after: &Files) -> Effect {
    let effect = |(path, old): (&String, &Vec<u8>)| match after.get(path) {
        None => Effect::Removes,
        Some(new) if new == old => Effect::Reads,
        Some(new) if has_lines_of(new, old) => Effect::Appends,
        Some(_) => Effect::Replaces,
    };
    let made = if after.keys().any(|path| !before.contains_key(path)) { Effect::Appends } else { Effect::Reads };
    before.iter().map(effect).chain([made]).max().unwrap_or(Effect::Reads)
}

/// Returns true if every line of the old text is in the new one, in order.
fn has_lines_of(new: &[u8], old: &[u8]) -> bool {
    let (new, old) = (String::from_utf8_lossy(new), String::from_utf8_lossy(old));
    let mut new = new.lines();
    old.lines().all(|line| new.by_ref().any(|other| other == line))
}

/// Each sample of a command succeeds in the sample store, and does no more than the effect of its
/// command says.
#[both_engines(every_change)]
fn every_sample_succeeds_and_does_no_more_than_its_command_says(kind: Kind) {
    let mut wrong = Vec::new();
    for info in catalogue() {
        let mut most = Effect::Reads;
        for command in (info.samples)(SAMPLE_NAME) {
            let mut drive = sample_drive(kind);
            drive.has_changed = false;
            let before = kept(&drive);
            if let Err(error) = drive.run(command.clone()) {
                wrong.push(format!("{kind:?}: {command:?}: {error}"));
            }
            let effect = observed(&before, &kept(&drive));
            if effect > info.effect {
                wrong.push(format!("{kind:?}: {command:?} has the effect {effect:?}, and says {:?}", info.effect));
            }
            let (may_change, is_changed) = (info.effect > Effect::Reads, effect > Effect::Reads);
            if (drive.has_changed && !may_change) || (is_changed && !drive.has_changed) {
                wrong.push(format!("{kind:?}: {command:?} has the effect {effect:?}, changed: {}", drive.has_changed));
            }
            most = most.max(effect);
        }
        if most == Effect::Reads && info.effect > most && !CHANGES_NOTHING_ALONE.contains(&info.name) {
            wrong.push(format!("{kind:?}: no sample of `{}` changes a file, and it says {:?}", info.name, info.effect));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_of_commands_are_unique() {
    let mut names: Vec<&str> = catalogue().iter().map(|info| info.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// Whichever operation fails, there is an answer, no trap, and no lost text.
#[both_engines]
fn a_host_that_fails_once_loses_no_text(kind: Kind) {
    // A sample may replace the text of a core entry, which is then kept nowhere.
    let texts: [&[&str]; 5] = [
        &["of a, see"],
        &["the text of b"],
        &["the text of a tool"],
        &["the text of a", "another text", "imported", "mine"],
        &["in MEMORY"],
    ];
    for info in catalogue().into_iter().filter(|info| info.effect > Effect::Reads) {
        for command in (info.samples)(SAMPLE_NAME) {
            let begun = sample_drive(kind).executor.operations();
            let mut calm = sample_drive(kind);
            assert!(calm.run(command.clone()).is_ok(), "{kind:?}: {command:?}");
            for operation in each("operation", begun..calm.executor.operations()) {
                let mut drive = sample_drive(kind);
                drive.executor.fail_at(operation, FsError::TimedOut);
                let outcome = drive.run(command.clone());
                let kept = texts_of(&drive.executor.files());
                for wanted in texts {
                    let has = |text: &&str| kept.iter().any(|kept| kept.contains(*text));
                    let shown = wanted[0];
                    assert!(
                        wanted.iter().any(has),
                        "{kind:?}: {command:?}, failing at {operation}, gave {outcome:?} and lost `{shown}`"
                    );
                }
                let again = drive.run(ask::list());
                assert!(again.is_ok(), "{kind:?}: {command:?}, failing at {operation}: {again:?}");
            }
        }
    }
}

#[both_engines(every_change)]
fn questions_change_nothing_whatever_they_ask_for(kind: Kind) {
    for name in [SAMPLE_NAME, "../x", "nope", "MEMORY", "a/b", ""] {
        for question in every_question(name) {
            let mut drive = sample_drive(kind);
            let before = kept(&drive);
            let _ = drive.run(question.clone());
            assert_eq!(kept(&drive), before, "{kind:?}: {question:?}");
        }
    }
}
