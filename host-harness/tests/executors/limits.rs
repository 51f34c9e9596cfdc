//! Limits of the bytes that an executor reads or writes at once. `saddlebag-conformance` checks its other promises.

use saddlebag::protocol::{FsError, ReadOutcome};
use saddlebag_host::{LocalDir, LocalDirOptions, Simulator};

use crate::support::{Any, Ask, fast};

const LIMIT: u64 = 1000;

#[test]
fn sizes_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let limits = LocalDirOptions { max_read_bytes: LIMIT, max_write_bytes: LIMIT, ..fast() };
    bounded(LocalDir::open(folder.path(), limits).unwrap());
    bounded(Simulator::new(1).with_limits(LIMIT, LIMIT));
}

fn bounded(mut store: impl Ask) {
    let (fits, too_large) = ("x".repeat(LIMIT as usize), "x".repeat(LIMIT as usize + 1));
    assert_eq!(store.write("new/a.md", &too_large, Any), Err(FsError::TooLarge(LIMIT)));
    assert_eq!(store.append("new/a.md", &too_large), Err(FsError::TooLarge(LIMIT)));
    assert_eq!(store.list("", true), Ok(vec![]));
    store.put("a.md", &fits);
    store.append("a.md", "y").unwrap();
    assert_eq!(store.read_part("a.md", 0, u32::MAX), Err(FsError::TooLarge(LIMIT)));
    assert!(matches!(store.read_part("a.md", 2, u32::MAX), Ok(ReadOutcome::Content(_))));
}
