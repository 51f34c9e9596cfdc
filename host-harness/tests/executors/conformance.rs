//! Promises that every executor keeps.

use saddlebag::protocol::{
    AppendOutcome, EntryKind, FsError, FsOp, FsOutcome, ReadOutcome, RemoveDirectoryOutcome, RemoveOutcome,
    RenameOutcome, WriteOutcome,
};
use saddlebag_host::{Durability, Executor, LocalDir, LocalDirOptions, Simulator};

use crate::support::{Absent, Any, Ask, Matches, anonymous, fast, path, paths};

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

#[test]
fn the_folder_of_a_guest_conforms() {
    for only_hosts_write in [false, true] {
        conforms(&mut || {
            let folder = tempfile::tempdir().unwrap();
            let storage = saddlebag_guest::Folder::open(folder.path(), only_hosts_write, random).unwrap();
            let guest = saddlebag_guest::Executor::new(storage, random).with_max_bytes(LIMIT);
            Box::new(InFolder { dir: Guest(guest), _folder: folder })
        });
    }
}

#[test]
fn the_key_value_store_of_a_guest_conforms() {
    conforms_to(FILES, &mut || {
        let storage = saddlebag_guest::KeyValue::open(saddlebag_guest::InMemory::default(), "m", 1000).unwrap();
        Box::new(Guest(saddlebag_guest::Executor::new(storage, random).with_max_bytes(LIMIT)))
    });
}

fn random() -> u64 {
    std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0)
}

/// The executor of a program that is a component.
struct Guest<S>(saddlebag_guest::Executor<S>);

impl<S: saddlebag_guest::Storage> Executor for Guest<S> {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        self.0.perform(op)
    }
}

/// A store on disk together with its folder, which goes last.
struct InFolder<E> {
    dir: E,
    _folder: tempfile::TempDir,
}

impl<E: Executor> Executor for InFolder<E> {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        self.dir.perform(op)
    }

    fn perform_all(&mut self, ops: &[&FsOp]) -> Vec<Result<FsOutcome, FsError>> {
        self.dir.perform_all(ops)
    }
}

type Check = fn(&mut dyn Executor);

fn conforms(fresh: &mut dyn FnMut() -> Box<dyn Executor>) {
    conforms_to(FILES, fresh);
    conforms_to(FOLDERS, fresh);
}

fn conforms_to(checks: &[Check], fresh: &mut dyn FnMut() -> Box<dyn Executor>) {
    for check in checks {
        check(&mut *fresh());
    }
}

/// Checks of every store.
const FILES: &[Check] = &[
    absence_is_an_outcome,
    reads_give_parts,
    a_change_gives_a_new_version,
    preconditions_decide_about_writes,
    appends_add_at_the_end,
    listings_come_in_pages,
    removing_is_idempotent,
    folders_are_not_files,
    sizes_are_bounded,
    the_hosts_own_names_are_refused,
    outcomes_are_of_their_operations,
    a_read_among_many_sees_the_changes_before_it_and_no_later_ones,
];

/// Checks of a store that has folders.
const FOLDERS: &[Check] = &[
    listings_are_sorted_by_whole_paths,
    renaming_needs_a_free_name,
    an_empty_folder_is_removed_and_no_other,
    each_of_many_has_one_result_in_its_place,
];

fn absence_is_an_outcome(store: &mut dyn Executor) {
    assert_eq!(store.read_part("a.md", 0, 10), Ok(ReadOutcome::Absent));
    assert_eq!(store.read_part("no/such/a.md", 0, 10), Ok(ReadOutcome::Absent));
    assert_eq!(store.list("", true), Ok(vec![]));
    assert_eq!(store.list("no/such", false), Ok(vec![]));
    assert_eq!(store.remove("no/such/a.md", Any), Ok(RemoveOutcome::Done));
    assert_eq!(store.rename("no/such/a.md", "b.md", Any), Ok(RenameOutcome::Absent));
    let version = store.put("a.md", "x");
    assert_eq!(store.write("no/such/a.md", "x", Matches(version.clone())), Ok(WriteOutcome::Stale(None)));
    assert_eq!(store.append_with("b.md", "x", true, Matches(version)), Ok(AppendOutcome::Stale(None)));
    assert_eq!(paths(&store.list("", true).unwrap()), ["a.md"]);
}

fn reads_give_parts(store: &mut dyn Executor) {
    store.put("a.md", "0123456789");
    for (offset, max_bytes, expected) in
        [(0, 4, "0123"), (8, 4, "89"), (10, 4, ""), (u64::MAX, u32::MAX, ""), (3, 0, "")]
    {
        let Ok(ReadOutcome::Content(content)) = store.read_part("a.md", offset, max_bytes) else {
            panic!("no content")
        };
        assert_eq!((content.bytes.as_slice(), content.size), (expected.as_bytes(), 10));
    }
}

fn a_change_gives_a_new_version(store: &mut dyn Executor) {
    store.put("a.md", "one");
    let first = store.content("a.md").version;
    assert_eq!(store.content("a.md").version, first);
    store.put("a.md", "two");
    assert_ne!(store.content("a.md").version, first);
}

fn preconditions_decide_about_writes(store: &mut dyn Executor) {
    assert!(matches!(store.write("d/a.md", "1", Absent), Ok(WriteOutcome::Written(_))));
    let Ok(WriteOutcome::Stale(Some(first))) = store.write("d/a.md", "2", Absent) else { panic!("not stale") };
    assert_eq!(store.text("d/a.md"), "1");
    let Ok(WriteOutcome::Written(second)) = store.write("d/a.md", "2", Matches(first.clone())) else { panic!("stale") };
    let Ok(WriteOutcome::Stale(Some(current))) = store.write("d/a.md", "3", Matches(first)) else {
        panic!("not stale")
    };
    assert_eq!(store.text("d/a.md"), "2");
    assert!(matches!(store.write("d/a.md", "3", Matches(current)), Ok(WriteOutcome::Written(_))));
    assert!(matches!(store.write("d/a.md", "4", Matches(second)), Ok(WriteOutcome::Stale(Some(_)))));
    assert!(matches!(store.write("d/a.md", "5", Any), Ok(WriteOutcome::Written(_))));
    assert_eq!(store.text("d/a.md"), "5");
}

fn appends_add_at_the_end(store: &mut dyn Executor) {
    for (content, newline_first, expected) in [
        ("a", true, "a"),
        ("b", true, "a\nb"),
        ("c\n", false, "a\nbc\n"),
        ("d\n", true, "a\nbc\nd\n"),
        ("", true, "a\nbc\nd\n"),
    ] {
        let outcome = store.append_with("log/a.md", content, newline_first, Any);
        assert!(matches!(outcome, Ok(AppendOutcome::Written(_))), "{outcome:?}");
        assert_eq!(store.text("log/a.md"), expected);
    }
    let version = store.content("log/a.md").version;
    assert!(matches!(store.append_with("log/a.md", "e\n", true, Absent), Ok(AppendOutcome::Stale(Some(_)))));
    let outcome = store.append_with("log/a.md", "e\n", true, Matches(version.clone()));
    let Ok(AppendOutcome::Written(next)) = outcome else { panic!("{outcome:?}") };
    assert!(matches!(store.append_with("log/a.md", "f\n", true, Matches(version)), Ok(AppendOutcome::Stale(Some(_)))));
    assert!(matches!(store.write("log/a.md", "g\n", Matches(next)), Ok(WriteOutcome::Written(_))));
    assert!(matches!(store.append_with("new.md", "", true, Absent), Ok(AppendOutcome::Written(_))));
    assert_eq!(store.text("new.md"), "");
}

fn listings_are_sorted_by_whole_paths(store: &mut dyn Executor) {
    for name in ["a/b.md", "a-b.md", "a.md", "a/b/c.md", "é.md", "Z.md", "a0.md"] {
        store.put(name, "text");
    }
    store.make_directory("empty/deep").unwrap();
    let all = store.list("", true).unwrap();
    let expected = ["Z.md", "a", "a-b.md", "a.md", "a/b", "a/b.md", "a/b/c.md", "a0.md", "empty", "empty/deep", "é.md"];
    assert_eq!(paths(&all), expected);
    assert_eq!(paths(&store.list("", false).unwrap()), ["Z.md", "a", "a-b.md", "a.md", "a0.md", "empty", "é.md"]);
    assert_eq!(paths(&store.list("a", true).unwrap()), ["a/b", "a/b.md", "a/b/c.md"]);
    assert_eq!(paths(&store.list("a", false).unwrap()), ["a/b", "a/b.md"]);
    for entry in all {
        let is_file = entry.path.as_str().ends_with(".md");
        assert_eq!(entry.kind, if is_file { EntryKind::File } else { EntryKind::Directory }, "{entry:?}");
        assert_eq!(entry.size, if is_file { 4 } else { 0 }, "{entry:?}");
        assert_eq!((entry.modified > 0, !entry.version.0.is_empty()), (is_file, is_file), "{entry:?}");
    }
}

fn listings_come_in_pages(store: &mut dyn Executor) {
    for name in ["a.md", "b-c.md", "b/1.md", "b/2.md", "b0.md", "c/d/e.md"] {
        store.put(name, "text");
    }
    for folder in ["", "b", "c", "c/d"] {
        let whole = store.list_with(folder, "", u32::MAX).unwrap();
        assert_eq!(whole.next, None);
        for limit in 1..=whole.entries.len() as u32 {
            let (mut pages, mut after) = (Vec::new(), String::new());
            loop {
                let page = store.list_with(folder, &after, limit).unwrap();
                assert!(page.entries.len() <= limit as usize);
                pages.extend(page.entries);
                let Some(next) = page.next else { break };
                assert_eq!(pages.last().map(|entry| &entry.path), Some(&next));
                after = next.to_string();
            }
            assert_eq!(paths(&pages), paths(&whole.entries), "{folder} by {limit}");
        }
    }
    assert_eq!(paths(&store.list_with("b", "a.md", 10).unwrap().entries), ["b/1.md", "b/2.md"]);
    assert_eq!(paths(&store.list_with("b", "c", 10).unwrap().entries), [""; 0]);
    assert_eq!(store.list_with("", "", 0).unwrap().entries.len(), 1);
}

fn removing_is_idempotent(store: &mut dyn Executor) {
    store.put("a.md", "one");
    let version = store.content("a.md").version;
    store.put("a.md", "two");
    assert!(matches!(store.remove("a.md", Matches(version.clone())), Ok(RemoveOutcome::Stale(_))));
    assert!(matches!(store.remove("a.md", Absent), Ok(RemoveOutcome::Stale(_))));
    let version = store.content("a.md").version;
    assert_eq!(store.remove("a.md", Matches(version.clone())), Ok(RemoveOutcome::Done));
    for precondition in [Any, Absent, Matches(version)] {
        assert_eq!(store.remove("a.md", precondition), Ok(RemoveOutcome::Done));
    }
    assert_eq!(store.read_part("a.md", 0, 1), Ok(ReadOutcome::Absent));
}

fn renaming_needs_a_free_name(store: &mut dyn Executor) {
    store.put("a.md", "a");
    store.put("b.md", "b");
    store.make_directory("taken").unwrap();
    let version = store.content("a.md").version;
    for to in ["b.md", "a.md", "taken"] {
        assert_eq!(store.rename("a.md", to, Any), Ok(RenameOutcome::Exists), "{to}");
    }
    assert!(matches!(store.rename("a.md", "c.md", Absent), Ok(RenameOutcome::Stale(_))));
    assert_eq!(store.rename("a.md", "new/deep/c.md", Matches(version)), Ok(RenameOutcome::Done));
    assert_eq!(store.rename("a.md", "new/deep/c.md", Any), Ok(RenameOutcome::Absent));
    assert_eq!(store.text("new/deep/c.md"), "a");
    assert_eq!(store.rename("b.md", "new/deep/c.md/d.md", Any), Err(FsError::NotDirectory));
    assert_eq!(store.rename("taken", "free", Any), Err(FsError::IsDirectory));
}

fn folders_are_not_files(store: &mut dyn Executor) {
    store.put("d/a.md", "text");
    assert_eq!(store.read_part("d", 0, 1), Err(FsError::IsDirectory));
    assert_eq!(store.write("d", "", Any), Err(FsError::IsDirectory));
    assert_eq!(store.append("d", ""), Err(FsError::IsDirectory));
    assert_eq!(store.remove("d", Any), Err(FsError::IsDirectory));
    assert_eq!(store.read_part("d/a.md/x", 0, 1), Err(FsError::NotDirectory));
    assert_eq!(store.write("d/a.md/x", "", Any), Err(FsError::NotDirectory));
    assert_eq!(store.append("d/a.md/x", ""), Err(FsError::NotDirectory));
    assert_eq!(store.remove("d/a.md/x", Any), Err(FsError::NotDirectory));
    assert_eq!(store.list("d/a.md", false), Err(FsError::NotDirectory));
    assert_eq!(store.make_directory("d/a.md"), Err(FsError::NotDirectory));
    assert_eq!(store.make_directory("d/a.md/x"), Err(FsError::NotDirectory));
    assert_eq!(store.make_directory("d"), Ok(FsOutcome::MakeDirectory));
}

fn an_empty_folder_is_removed_and_no_other(store: &mut dyn Executor) {
    use RemoveDirectoryOutcome::{Absent, NotEmpty, Removed};

    store.put("d/e/a.md", "text");
    store.put("file", "text");
    assert_eq!(store.remove_directory("d"), Ok(NotEmpty));
    assert_eq!(store.remove_directory("d/e"), Ok(NotEmpty));
    assert_eq!(store.text("d/e/a.md"), "text");
    assert_eq!(store.remove("d/e/a.md", Any), Ok(RemoveOutcome::Done));
    // The folder above is removed only by a separate request.
    assert_eq!(store.remove_directory("d"), Ok(NotEmpty));
    assert_eq!(store.remove_directory("d/e"), Ok(Removed));
    assert_eq!(paths(&store.list("", true).unwrap()), ["d", "file"]);
    for absent in ["d/e", "d/e/f", "nothing"] {
        assert_eq!(store.remove_directory(absent), Ok(Absent), "{absent}");
    }
    for file in ["file", "file/x"] {
        assert_eq!(store.remove_directory(file), Err(FsError::NotDirectory), "{file}");
    }
    for own in [".saddlebag/locks", ".saddlebag/locks-2/x", "d/.saddlebag-x.tmp"] {
        assert!(matches!(store.remove_directory(own), Err(FsError::InvalidPath(_))), "{own}");
    }
    store.put("d/e/a.md", "again");
    assert_eq!(store.text("d/e/a.md"), "again");
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

fn the_hosts_own_names_are_refused(store: &mut dyn Executor) {
    store.put("a.md", "text");
    for own in [
        ".saddlebag/locks",
        ".saddlebag/locks-2/x",
        ".saddlebag/locks/00",
        ".saddlebag-1-2-3.tmp",
        "d/.saddlebag-x.tmp",
    ] {
        let refused = |error| matches!(error, FsError::InvalidPath(_));
        assert!(store.read_part(own, 0, 1).is_err_and(refused), "{own}");
        assert!(store.write(own, "", Any).is_err_and(refused), "{own}");
        assert!(store.append(own, "").is_err_and(refused), "{own}");
        assert!(store.remove(own, Any).is_err_and(refused), "{own}");
        assert!(store.rename("a.md", own, Any).is_err_and(refused), "{own}");
        assert!(store.list(own, false).is_err_and(refused), "{own}");
    }
    store.put(".saddlebag/index", "x");
    let listed = store.list("", true).unwrap();
    assert_eq!(paths(&listed), [".saddlebag/index", "a.md"]);
}

fn outcomes_are_of_their_operations(store: &mut dyn Executor) {
    for op in [
        FsOp::Read { path: path("a.md"), offset: 0, max_bytes: 1 },
        FsOp::write(path("a.md"), vec![0xff], Any),
        FsOp::Append { path: path("a.md"), content: vec![], newline_first: true, precondition: Any },
        FsOp::ListDirectory { folder: None, after: None, limit: 1, unless: None },
        FsOp::Rename { path: path("a.md"), to: path("b.md"), precondition: Any },
        FsOp::remove(path("b.md"), Any),
        FsOp::MakeDirectory { path: path("d") },
        FsOp::RemoveDirectory { path: path("d") },
    ] {
        assert_eq!(store.perform(&op).map(|outcome| outcome.name()), Ok(op.name()));
    }
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
    let append = FsOp::Append { path: path("a.md"), content: b"x".to_vec(), newline_first: false, precondition: Any };
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
