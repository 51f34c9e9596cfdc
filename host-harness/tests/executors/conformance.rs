//! Promises that every executor keeps, and that `saddlebag conform` does not check: limits, and many operations at once.

use saddlebag::protocol::{AppendOutcome, FsError, FsOp, FsOutcome, ReadOutcome};
use saddlebag_host::{Durability, Executor, LocalDir, LocalDirOptions, Simulator};

use crate::support::{Any, Ask, anonymous, fast, path};

/// Maximum number of bytes that the tested executors read or write at once.
const LIMIT: u64 = 1000;

#[test]
fn local_dir_conforms() {
    for durability in [Durability::Full, Durability::Fast] {
        conforms(&mut || {
            let folder = tempfile::tempdir().unwrap();
            let limits = LocalDirOptions { max_read_bytes: LIMIT, max_write_bytes: LIMIT, durability, ..fast() };
            let dir = LocalDir::open(folder.path(), limits).unwrap();
            Box::new(InFolder { dir, _folder: folder })
        });
    }
}

#[test]
fn simulator_conforms() {
    conforms(&mut || Box::new(Simulator::new(1).with_limits(LIMIT, LIMIT)));
    conforms(&mut || Box::new(Simulator::new(1).with_limits(LIMIT, LIMIT).with_durability(Durability::Fast)));
}

/// A store on disk together with its folder, which goes last.
struct InFolder {
    dir: LocalDir,
    _folder: tempfile::TempDir,
}

impl Executor for InFolder {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        self.dir.perform(op)
    }

    fn perform_all(&mut self, ops: &[&FsOp]) -> Vec<Result<FsOutcome, FsError>> {
        self.dir.perform_all(ops)
    }
}

type Check = fn(&mut dyn Executor);

fn conforms(fresh: &mut dyn FnMut() -> Box<dyn Executor>) {
    let checks: [Check; 3] = [
        sizes_are_bounded,
        each_of_many_has_one_result_in_its_place,
        a_read_among_many_sees_the_changes_before_it_and_no_later_ones,
    ];
    for check in checks {
        check(&mut *fresh());
    }
}

fn sizes_are_bounded(store: &mut dyn Executor) {
    let (fits, too_large) = ("x".repeat(LIMIT as usize), "x".repeat(LIMIT as usize + 1));
    assert_eq!(store.write("new/a.md", &too_large, Any), Err(FsError::TooLarge(LIMIT)));
    assert_eq!(store.append("new/a.md", &too_large), Err(FsError::TooLarge(LIMIT)));
    assert_eq!(store.list("", true), Ok(vec![]));
    store.put("a.md", &fits);
    store.append("a.md", "y").unwrap();
    assert_eq!(store.read_part("a.md", 0, u32::MAX), Err(FsError::TooLarge(LIMIT)));
    assert!(matches!(store.read_part("a.md", 2, u32::MAX), Ok(ReadOutcome::Content(_))));
}

fn each_of_many_has_one_result_in_its_place(store: &mut dyn Executor) {
    for number in 0..120 {
        store.put(&format!("d{}/{number:03}.md", number % 3), &format!("text {number}"));
    }
    store.make_directory("folder").unwrap();
    let read = |at: &str, max_bytes| FsOp::Read { path: path(at), offset: 0, max_bytes };
    let mut ops = Vec::new();
    for number in 0..150 {
        // The last thirty are absent.
        ops.push(read(&format!("d{}/{number:03}.md", number % 3), u32::MAX));
        ops.push(match number % 5 {
            0 => read("folder", 10),
            1 => read(".saddlebag/locks/1", 10),
            2 => read("d0/000.md/below", 10),
            3 => FsOp::ListDirectory { folder: Some(path("d1")), after: None, limit: number, unless: None },
            _ => read("d2/002.md", number),
        });
    }
    let ops: Vec<&FsOp> = ops.iter().collect();
    let together = store.perform_all(&ops);
    let alone: Vec<_> = ops.iter().map(|op| store.perform(op)).collect();
    assert_eq!(together.len(), ops.len());
    for ((op, together), alone) in ops.iter().zip(together).zip(alone) {
        assert_eq!(together.map(anonymous), alone.map(anonymous), "{op:?}");
    }
    assert!(store.perform_all(&[]).is_empty());
    assert_eq!(store.perform_all(&ops[..1]).len(), 1);
}

fn a_read_among_many_sees_the_changes_before_it_and_no_later_ones(store: &mut dyn Executor) {
    let read = FsOp::Read { path: path("a.md"), offset: 0, max_bytes: u32::MAX };
    let append = FsOp::append(path("a.md"), b"x".to_vec(), false, Any);
    // Enough reads between two changes to use threads.
    let mut ops = Vec::new();
    for _ in 0..3 {
        ops.push(&append);
        ops.extend([&read; 70]);
    }
    let outcomes = store.perform_all(&ops);
    assert_eq!(outcomes.len(), ops.len());
    for (index, outcome) in outcomes.into_iter().enumerate() {
        match outcome.unwrap() {
            FsOutcome::Read(ReadOutcome::Content(content)) => {
                assert_eq!(content.bytes.len(), index / 71 + 1, "the result of operation {index}");
                assert_ne!(index % 71, 0);
            }
            FsOutcome::Append(AppendOutcome::Written(_)) => assert_eq!(index % 71, 0),
            other => panic!("{other:?}"),
        }
    }
}
