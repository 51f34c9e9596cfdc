//! Tests of changes that keep the bytes that they replace.

use super::*;

const BACKUPS: [&str; 2] = ["a.bak", "kept/a.bak"];

impl Store {
    fn with_durability(durability: Durability) -> Self {
        if durability == Durability::Full { durable() } else { Self::new() }
    }

    fn at(&self, path: &str) -> String {
        fs::read_to_string(self.folder.path().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn put(&self, path: &str, text: &str) {
        let file = self.folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn keep(&mut self, precondition: Precondition, keep_as: &str) -> Result<FsOutcome, FsError> {
        let keep_as = Some(RelPath::new(keep_as).unwrap());
        let content = b"agent".to_vec();
        self.dir.perform(&FsOp::Write { path: path(), content, precondition, keep_as, like: None })
    }

    fn remove(&mut self, precondition: Precondition, keep_as: &str) -> Result<FsOutcome, FsError> {
        let keep_as = Some(RelPath::new(keep_as).unwrap());
        self.dir.perform(&FsOp::Remove { path: path(), precondition, keep_as, may_return: false })
    }

    fn assert_tidy_everywhere(&self) {
        self.assert_tidy();
        let kept = self.folder.path().join("kept");
        let names = fs::read_dir(kept).into_iter().flatten().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.filter(|name| name.to_string_lossy().ends_with(".tmp")).count(), 0);
    }
}

#[test]
fn the_replaced_bytes_are_kept_and_replace_what_was_there() {
    for durability in [Durability::Fast, Durability::Full] {
        for keep_as in BACKUPS {
            for is_there in [false, true] {
                for is_conditional in [false, true] {
                    let mut store = Store::with_durability(durability);
                    store.put("a.md", "before");
                    if is_there {
                        store.put(keep_as, "older");
                    }
                    let precondition =
                        if is_conditional { Precondition::Matches(store.version()) } else { Precondition::Any };
                    let outcome = store.keep(precondition.clone(), keep_as);
                    assert!(matches!(outcome, Ok(FsOutcome::Write(WriteOutcome::Written(_)))), "{outcome:?}");
                    assert_eq!((store.text().as_str(), store.at(keep_as).as_str()), ("agent", "before"));
                    store.assert_tidy_everywhere();

                    let precondition =
                        if is_conditional { Precondition::Matches(store.version()) } else { Precondition::Any };
                    let outcome = store.remove(precondition, keep_as);
                    assert!(matches!(outcome, Ok(FsOutcome::Remove(RemoveOutcome::Done))), "{outcome:?}");
                    assert!(!store.file().exists());
                    assert_eq!(store.at(keep_as), "agent");
                    store.assert_tidy_everywhere();

                    // What does not exist replaces nothing.
                    store.remove(Precondition::Any, keep_as).unwrap();
                    store.keep(Precondition::Absent, keep_as).unwrap();
                    assert_eq!((store.text().as_str(), store.at(keep_as).as_str()), ("agent", "agent"));
                }
            }
        }
    }
}

#[test]
fn a_change_that_is_stale_keeps_nothing() {
    for durability in [Durability::Fast, Durability::Full] {
        for (how, edit) in EDITS {
            let mut store = Store::with_durability(durability);
            store.put("a.md", "before");
            store.put("a.bak", "older");
            store.put_in_doubt();
            let (version, file) = (store.version(), store.file());
            let never = Precondition::Matches(Version("none".into()));
            assert!(matches!(store.keep(never.clone(), "a.bak"), Ok(FsOutcome::Write(WriteOutcome::Stale(Some(_))))));
            assert!(matches!(store.remove(never, "a.bak"), Ok(FsOutcome::Remove(RemoveOutcome::Stale(_)))));
            store.dir.before_placing.set(move || edit(&file));

            let outcome = store.keep(Precondition::Matches(version), "a.bak").unwrap();

            assert!(matches!(outcome, FsOutcome::Write(WriteOutcome::Stale(Some(_)))), "{how}: {outcome:?}");
            assert!(store.text().starts_with("PERSON"), "{how}: {}", store.text());
            assert_eq!(store.at("a.bak"), "older", "{how}");
            store.assert_tidy();
        }
    }
}

#[test]
fn a_change_whose_replaced_bytes_cannot_be_kept_is_not_made() {
    for durability in [Durability::Fast, Durability::Full] {
        let mut store = Store::with_durability(durability);
        store.put("a.md", "before");
        fs::create_dir(store.folder.path().join("a.bak")).unwrap();
        let precondition = Precondition::Matches(store.version());
        assert_eq!(store.keep(precondition.clone(), "a.bak"), Err(FsError::IsDirectory));
        assert_eq!(store.remove(precondition.clone(), "a.bak"), Err(FsError::IsDirectory));
        assert!(matches!(store.keep(precondition.clone(), "a.md"), Err(FsError::InvalidPath(_))));
        assert!(matches!(store.keep(precondition.clone(), ".saddlebag/locks-3/x"), Err(FsError::InvalidPath(_))));
        // The place is taken between the checks and the change.
        let place = store.folder.path().join("b.bak");
        store.dir.after_placing.set(move || fs::create_dir(place).unwrap());
        assert!(store.keep(precondition, "b.bak").is_err());
        assert_eq!(store.text(), "before");
        store.assert_tidy();
    }
}

#[test]
fn a_change_that_fails_to_sync_leaves_the_older_backup_unless_it_was_made() {
    for good in 0..4 {
        let mut store = durable();
        store.put("a.md", "before");
        store.put("kept/a.bak", "older");
        let precondition = Precondition::Matches(store.version());
        plan_syncs(good, 1);
        let outcome = store.keep(precondition, "kept/a.bak");
        plan_syncs(0, 0);
        let expected = if good < 2 { ("before", "older") } else { ("agent", "before") };
        assert_eq!((store.text().as_str(), store.at("kept/a.bak").as_str()), expected, "{good}: {outcome:?}");
        assert_eq!(matches!(outcome, Err(FsError::NotDurable(_))), good >= 2, "{good}: {outcome:?}");
        assert!(outcome.is_err(), "{good}");
        store.assert_tidy_everywhere();
    }
}

#[cfg(unix)]
#[test]
fn what_was_not_synced_stays_so_where_it_is_kept() {
    let mut store = durable();
    store.append("one\n").unwrap();
    plan_syncs(0, 1);
    store.append("two\n").unwrap_err();
    store.keep(Precondition::Any, "a.bak").unwrap();
    assert!(!store.dir.unsynced().is_known(&path()));
    assert!(store.dir.unsynced().is_known(&RelPath::new("a.bak").unwrap()));
    // What replaces it there is synced.
    store.keep(Precondition::Any, "a.bak").unwrap();
    assert!(store.own("locks-3/unsynced").is_empty());
}

#[cfg(unix)]
#[test]
fn a_text_with_a_name_outside_of_the_store_is_kept_as_a_copy() {
    for durability in [Durability::Fast, Durability::Full] {
        let mut store = Store::with_durability(durability);
        let other = store.folder.path().join("other");
        fs::write(&other, "before").unwrap();
        fs::hard_link(&other, store.file()).unwrap();
        let precondition = Precondition::Matches(store.version());
        store.keep(precondition, "a.bak").unwrap();
        fs::write(&other, "changed outside").unwrap();
        assert_eq!((store.text().as_str(), store.at("a.bak").as_str()), ("agent", "before"));
        // Two names of one file, as a crash may leave them.
        fs::remove_file(store.folder.path().join("a.bak")).unwrap();
        fs::hard_link(store.file(), store.folder.path().join("a.bak")).unwrap();
        store.remove(Precondition::Any, "a.bak").unwrap();
        assert!(!store.file().exists());
        assert_eq!(store.at("a.bak"), "agent");
        store.assert_tidy();
    }
}

#[cfg(unix)]
#[test]
fn what_a_killed_writer_had_to_keep_is_kept_by_the_next_process() {
    for (durability, at, expected) in [
        (Durability::Full, "staged", ("before", "older")),
        (Durability::Full, "placing", ("agent", "before")),
        (Durability::Fast, "staged", ("before", "older")),
        (Durability::Fast, "placing", ("agent", "before")),
    ] {
        // The next change may be of another file, of the file, or of the one where the bytes are kept.
        for next in ["b.md", "a.md", "a.bak"] {
            let mut store = Store::with_durability(durability);
            store.put("a.bak", "older");
            leave_behind_keeping(&mut store, at, None, Some(RelPath::new("a.bak").unwrap()));
            assert_eq!((store.text().as_str(), store.at("a.bak").as_str()), (expected.0, "older"));
            let never = Precondition::Matches(Version("none".into()));
            store.try_write(next, never).unwrap();
            assert_eq!((store.text().as_str(), store.at("a.bak").as_str()), expected, "{durability:?} {at} {next}");
            store.assert_tidy();
            assert!(store.own("recovered").is_empty());
            store.dir = LocalDir::open(store.folder.path(), LocalDirOptions::default()).unwrap();
            store.try_write("c.md", Precondition::Any).unwrap();
            assert!(store.locks_are_free());
        }
    }
}

#[cfg(unix)]
#[test]
fn a_process_that_is_open_finishes_what_another_one_had_to_keep_before_it_changes_either_file() {
    for next in ["a.md", "a.bak"] {
        let mut store = durable();
        let mut open = LocalDir::open(store.folder.path(), LocalDirOptions::default()).unwrap();
        open.clear_leftovers();
        leave_behind_keeping(&mut store, "placing", None, Some(RelPath::new("a.bak").unwrap()));
        let append = FsOp::append(RelPath::new(next).unwrap(), b"later\n".into(), true, Precondition::Any);
        open.perform(&append).unwrap();
        let expected = if next == "a.md" { ("agent\nlater\n", "before") } else { ("agent", "before\nlater\n") };
        assert_eq!((store.text().as_str(), store.at("a.bak").as_str()), expected);
        store.assert_tidy();
    }
}

#[cfg(unix)]
#[test]
fn a_text_of_somebody_else_is_recovered_and_not_kept_as_the_old_one() {
    let mut store = durable();
    store.put("a.bak", "older");
    leave_behind_keeping(&mut store, "placing", Some("PERSON"), Some(RelPath::new("a.bak").unwrap()));
    store.try_write("b.md", Precondition::Any).unwrap();
    assert_eq!((store.text().as_str(), store.at("a.bak").as_str()), ("agent", "older"));
    let [kept] = &store.own("recovered")[..] else { panic!("{:?}", store.own("recovered")) };
    assert_eq!(fs::read_to_string(kept).unwrap(), "PERSON");
}

#[test]
fn a_note_of_what_to_keep_moves_nothing_but_temporary_files_and_only_into_the_store() {
    let mut store = durable();
    store.append("one\n").unwrap();
    let [lock] = &store.own("locks-3")[..] else { panic!("one lock") };
    for (record, is_moved) in [
        ("keeping\t.saddlebag-x.tmp\ta.md\ta.bak\n", true),
        ("keeping\t.saddlebag-x.tmp\ta.md\t../a.bak\n", false),
        ("keeping\t.saddlebag-x.tmp\ta.md\t.saddlebag/locks-3/07\n", false),
        ("keeping\ta.md\ta.md\ta.bak\n", false),
        ("keeping\t.saddlebag-x.tmp\ta.md\n", false),
    ] {
        let second = store.folder.path().join(".saddlebag-x-old.tmp");
        store.put("a.bak", "older");
        fs::write(&second, "old").unwrap();
        fs::write(lock, format!("1\tp\t0\n{record}")).unwrap();
        store.append("two\n").unwrap();
        assert!(store.text().starts_with("one\n"), "{record}");
        assert_eq!(store.at("a.bak"), if is_moved { "old" } else { "older" }, "{record}");
        let recovered = store.own("recovered").len();
        assert!(is_moved || second.exists() || recovered > 0, "{record}");
        let _ = fs::remove_file(second);
    }
    // As long as the new file is not in place, the old one is.
    for name in [".saddlebag-x.tmp", ".saddlebag-x-old.tmp"] {
        store.put(name, "temporary");
    }
    fs::write(lock, "1\tp\t0\nkeeping\t.saddlebag-x.tmp\ta.md\ta.bak\n").unwrap();
    store.append("three\n").unwrap();
    assert_eq!(store.at("a.bak"), "older");
    store.assert_tidy();
}

#[cfg(unix)]
#[test]
fn a_new_file_gets_the_permissions_of_the_file_that_it_is_like() {
    use std::os::unix::fs::PermissionsExt as _;

    let mut store = durable();
    store.put("model.md", "x");
    fs::set_permissions(store.folder.path().join("model.md"), fs::Permissions::from_mode(0o640)).unwrap();
    for (like, mode) in
        [(None, 0o600), (Some("model.md"), 0o640), (Some("none.md"), 0o600), (Some(".saddlebag"), 0o600)]
    {
        let _ = fs::remove_file(store.file());
        let like = like.map(|like| RelPath::new(like).unwrap());
        let (content, precondition) = (b"new".to_vec(), Precondition::Absent);
        store.dir.perform(&FsOp::Write { path: path(), content, precondition, keep_as: None, like }).unwrap();
        assert_eq!(fs::metadata(store.file()).unwrap().permissions().mode() & 0o777, mode);
    }
}
