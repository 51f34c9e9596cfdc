//! The local disk and the simulator give the same answers to the same operations.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use saddlebag::protocol::{FsError, FsOp, FsOutcome, Precondition, ReadOutcome, Version};
use saddlebag::store::RelPath;
use saddlebag_host::{Executor, Simulator};

use crate::support::{anonymous, open, path};

/// A precondition whose version depends on the executor.
#[derive(Clone, Copy, Debug)]
enum Expect {
    Any,
    Absent,
    /// Version that a read directly before the operation returns.
    Current,
    /// A version that no file ever has. An old version of the file would not do: on disk the same bytes may have the
    /// same version again.
    Never,
}

#[derive(Clone, Debug)]
enum Action {
    Read(RelPath, u64, u32),
    Write(RelPath, Vec<u8>, Expect, Option<RelPath>),
    Append(RelPath, Vec<u8>, bool, Expect),
    List(Option<RelPath>, Option<RelPath>, u32),
    Remove(RelPath, Expect, Option<RelPath>),
    Rename(RelPath, RelPath, Expect),
    MakeDirectory(RelPath),
    RemoveDirectory(RelPath),
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn local_dir_and_simulator_agree(actions in prop::collection::vec(action(), 1..40)) {
        let folder = tempfile::tempdir().unwrap();
        let mut disk = Run { executor: open(folder.path()) };
        let mut memory = Run { executor: Simulator::new(1) };
        for (step, action) in actions.iter().enumerate() {
            prop_assert_eq!(disk.perform(action), memory.perform(action), "step {}: {:?}", step, action);
        }
        prop_assert_eq!(files(folder.path()), memory.executor.files());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn many_at_once_on_disk_come_to_the_same_as_one_by_one_in_the_simulator(
        actions in prop::collection::vec(action(), 1..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut disk = Run { executor: open(folder.path()) };
        let mut memory = Run { executor: Simulator::new(1) };
        let mut ops = Vec::new();
        for action in actions {
            // Versions of files that are changed meanwhile differ between the two.
            ops.push(memory.operation(&without_versions(action)));
            ops.extend(PATHS.iter().cycle().take(5 * PATHS.len()).map(|at| {
                FsOp::Read { path: path(at), offset: 0, max_bytes: 10 }
            }));
        }
        let ops: Vec<&FsOp> = ops.iter().collect();
        let together = disk.executor.perform_all(&ops);
        prop_assert_eq!(together.len(), ops.len());
        for (op, together) in ops.iter().zip(together) {
            prop_assert_eq!(together.map(anonymous), memory.executor.perform(op).map(anonymous), "{:?}", op);
        }
        prop_assert_eq!(files(folder.path()), memory.executor.files());
    }
}

fn without_versions(mut action: Action) -> Action {
    if let Action::Write(_, _, expect, _)
    | Action::Append(.., expect)
    | Action::Remove(_, expect, _)
    | Action::Rename(.., expect) = &mut action
        && matches!(expect, Expect::Current)
    {
        *expect = Expect::Any;
    }
    action
}

struct Run<E> {
    executor: E,
}

impl<E: Executor> Run<E> {
    fn perform(&mut self, action: &Action) -> Result<FsOutcome, FsError> {
        let op = self.operation(action);
        let outcome = self.executor.perform(&op);
        // On disk the version of an unchanged file takes another form once, 20 ms after the last change. If that happens
        // between the two reads, the file is read in full; the next time it must be unchanged.
        outcome.map(anonymous)
    }

    fn operation(&mut self, action: &Action) -> FsOp {
        match action.clone() {
            Action::Read(path, offset, max_bytes) => FsOp::Read { path, offset, max_bytes },
            Action::Write(path, content, expect, keep_as) => {
                let precondition = self.precondition(&path, expect);
                FsOp::Write { path, content, precondition, keep_as, like: None }
            }
            Action::Append(path, content, newline_first, expect) => {
                let precondition = self.precondition(&path, expect);
                FsOp::append(path, content, newline_first, precondition)
            }
            Action::List(folder, after, limit) => FsOp::ListDirectory { folder, after, limit, unless: None },
            Action::Remove(path, expect, keep_as) => {
                let precondition = self.precondition(&path, expect);
                FsOp::Remove { path, precondition, keep_as, may_return: false }
            }
            Action::Rename(from, to, expect) => {
                let precondition = self.precondition(&from, expect);
                FsOp::Rename { path: from, to, precondition }
            }
            Action::MakeDirectory(path) => FsOp::MakeDirectory { path },
            Action::RemoveDirectory(path) => FsOp::RemoveDirectory { path },
        }
    }

    fn precondition(&mut self, path: &RelPath, expect: Expect) -> Precondition {
        match expect {
            Expect::Any => Precondition::Any,
            Expect::Absent => Precondition::Absent,
            Expect::Never => Precondition::Matches(Version("none".into())),
            Expect::Current => {
                let op = FsOp::Read { path: path.clone(), offset: 0, max_bytes: 0 };
                match self.executor.perform(&op) {
                    Ok(FsOutcome::Read(ReadOutcome::Content(content))) => Precondition::Matches(content.version),
                    _ => Precondition::Any,
                }
            }
        }
    }
}

/// The regular files on disk, without the locks.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                if entry.file_name() != ".saddlebag" {
                    folders.push(path);
                }
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                files.insert(name, fs::read(path).unwrap());
            }
        }
    }
    files
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        (any_path(), 0..12_u64, 0..12_u32).prop_map(|(p, offset, max)| Action::Read(p, offset, max)),
        (any_path(), content(), expect(), any_kept()).prop_map(|(p, c, e, k)| Action::Write(p, c, e, k)),
        (any_path(), content(), any::<bool>(), expect()).prop_map(|(p, c, n, e)| Action::Append(p, c, n, e)),
        // Folders only: the root also holds the locks, which the simulator does not have.
        (any_path(), prop::option::of(any_path()), 0..5_u32).prop_map(|(f, after, limit)| Action::List(
            Some(f),
            after,
            limit
        )),
        (any_path(), expect(), any_kept()).prop_map(|(p, e, k)| Action::Remove(p, e, k)),
        (any_path(), any_path(), expect()).prop_map(|(f, t, e)| Action::Rename(f, t, e)),
        any_path().prop_map(Action::MakeDirectory),
        any_path().prop_map(Action::RemoveDirectory),
    ]
}

const PATHS: [&str; 9] =
    ["a", "a/b", "a/b/c.md", "a-b/x.md", "a/x.md", "d/e.md", "d", "d/é/f.md", ".saddlebag/locks/1"];

/// Few names, so that operations meet, and some that are files as well as folders.
fn any_path() -> impl Strategy<Value = RelPath> {
    prop::sample::select(&PATHS[..]).prop_map(path)
}

/// Path under which the replaced bytes are kept, which may be the path of the file itself.
fn any_kept() -> impl Strategy<Value = Option<RelPath>> {
    prop::option::of(any_path())
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    prop::sample::select(vec!["", "one", "two", "line\n", "\n"]).prop_map(|text| text.as_bytes().to_vec())
}

fn expect() -> impl Strategy<Value = Expect> {
    prop::sample::select(vec![
        Expect::Any,
        Expect::Any,
        Expect::Absent,
        Expect::Current,
        Expect::Current,
        Expect::Never,
    ])
}
