//! Export and import through both engines, with stores that crash in between.

use saddlebag::entries::{
    EntriesConfig, ExportEntries, ImportEntries, ImportFile, ImportMode, ImportState, ImportedFile, NewEntry,
    RetainEntries,
};
use saddlebag::trust::Provenance;
use saddlebag::{Config, Origin};
use saddlebag_host::{Scheduler, Simulator};
use support::drive::Drive;
use support::{Kind, ask, both_engines, each};

fn config(epoch: u64) -> Config {
    let entries = EntriesConfig { workspace: Some("w".into()), ..EntriesConfig::for_agent("a") };
    Config { epoch, entries: Some(entries), ..Config::default() }
}

fn keep(drive: &mut Drive<Simulator>, key: &str, content: &str, category: &str) {
    let entry = NewEntry { tags: vec!["x, y".into()], ..NewEntry::new(key, content, category) };
    drive.call(ask::store(entry)).expect("stored");
}

fn export(drive: &mut Drive<Simulator>) -> Vec<ImportFile> {
    let page = drive.call(ExportEntries { forgotten: true, cursor: None }).unwrap();
    assert_eq!((page.next, page.problems.len()), (None, 0));
    page.files.into_iter().map(|file| ImportFile { path: file.path, content: Ok(file.content) }).collect()
}

/// Replaces all entries by those of the files, which are believed; `None` if a crash interrupted it.
fn replace(drive: &mut Drive<Simulator>, files: &[ImportFile]) -> Option<Vec<ImportedFile>> {
    let mode = ImportMode::Replace;
    let request = ImportEntries { files: files.to_vec(), mode, dry_run: false, earlier: Vec::new() };
    let imported = drive.call(Origin::from_provenance(Provenance::User).with(request)).ok()?.files;
    drive.call(RetainEntries { imported: imported.clone(), dry_run: false }).ok()?;
    Some(imported)
}

fn content(drive: &mut Drive<Simulator>, key: &str) -> Option<String> {
    drive.call(ask::entry(key)).ok()?.entry.map(|entry| entry.content)
}

#[both_engines]
fn an_export_comes_back_in_both_engines(kind: Kind) {
    let mut drive = Drive::new(kind, config(1), Simulator::new(1));
    for (key, content, category) in
        [("a", "---\n", "core"), ("Ö 🦀/..", "\r\n", "CORE"), ("a", "of all", "workspace"), ("gone", "v", "notes")]
    {
        keep(&mut drive, key, content, category);
    }
    drive.run(ask::forget_entry("gone")).unwrap();
    let files = export(&mut drive);
    let imported = replace(&mut drive, &files).unwrap();
    assert!(imported.iter().all(|file| file.state == ImportState::Unchanged), "{kind:?}: {imported:?}");
    let mut fresh = Drive::new(kind, config(1), Simulator::new(2));
    replace(&mut fresh, &files).unwrap();
    assert_eq!(fresh.executor.files(), drive.executor.files(), "{kind:?}");
    assert_eq!(export(&mut fresh), files, "{kind:?}");
    // Files that are not believed are marked as imports, and stored only once.
    let mut fresh = Drive::new(kind, config(1), Simulator::new(2));
    let request =
        ImportEntries { files: files.clone(), mode: ImportMode::Replace, dry_run: false, earlier: Vec::new() };
    fresh.run(request.clone()).unwrap();
    let marked = export(&mut fresh);
    assert!(marked.iter().zip(&files).all(|(marked, file)| marked != file), "{kind:?}");
    let before = fresh.executor.files();
    fresh.run(request).unwrap();
    replace(&mut fresh, &marked).unwrap();
    assert_eq!(fresh.executor.files(), before, "{kind:?}");
}

#[both_engines]
fn an_import_that_crashes_leaves_each_entry_old_or_new_and_is_finished_by_another(kind: Kind) {
    let old = |drive: &mut Drive<Simulator>| {
        for (key, category) in [("a", "core"), ("b", "core"), ("c", "workspace")] {
            keep(drive, key, "old", category);
        }
    };
    let new = {
        let mut drive = Drive::new(Kind::Native, config(1), Simulator::new(1));
        for (key, category) in [("a", "core"), ("b", "notes"), ("d", "workspace")] {
            keep(&mut drive, key, "new", category);
        }
        export(&mut drive)
    };
    let mut calm = Drive::new(Kind::Native, config(1), Simulator::new(1));
    old(&mut calm);
    let begin = calm.executor.operations();
    replace(&mut calm, &new).unwrap();
    let (end, whole) = (calm.executor.operations(), export(&mut calm));
    assert!(end - begin > 10);

    for seed in each("seed", 0..3) {
        for crash in each("crash", begin..end) {
            let mut drive = Drive::new(kind, config(1), Simulator::new(seed));
            old(&mut drive);
            drive.executor.crash_at(crash);
            let _ = replace(&mut drive, &new);
            drive.executor.restart();

            let mut again = Drive::new(kind, config(2), drive.executor);
            let at = format!("{kind:?}, crash at {crash}, seed {seed}");
            for (key, states) in [
                ("a", &[Some("old"), Some("new")][..]),
                ("b", &[Some("old"), Some("new")]),
                ("c", &[Some("old"), None]),
                ("d", &[None, Some("new")]),
            ] {
                let found = content(&mut again, key);
                assert!(states.contains(&found.as_deref()), "{at}: {key} is {found:?}");
            }
            replace(&mut again, &new).unwrap();
            let finished = export(&mut again);
            let paths = |files: &[ImportFile]| files.iter().map(|file| file.path.clone()).collect::<Vec<_>>();
            assert_eq!(paths(&finished), paths(&whole), "{at}");
            for file in &new {
                assert!(finished.contains(file), "{at}: {} is not what was imported", file.path);
            }
        }
    }
}

#[both_engines]
fn imports_that_race_with_writers_lose_nothing_of_either(kind: Kind) {
    for seed in each("seed", 0..20) {
        let mut drive = Drive::new(kind, config(1), Simulator::new(seed));
        keep(&mut drive, "a", "old", "core");
        let file = |key: &str| ImportFile { path: format!("core/{key}.md"), content: Ok(b"imported".to_vec()) };
        let files = vec![file("a"), file("b")];
        let request = ImportEntries { files, mode: ImportMode::Upsert, dry_run: false, earlier: Vec::new() };
        drive.submit(request);
        for key in ["a", "c"] {
            let entry = NewEntry::new(key, "stored", "core");
            drive.submit(ask::store(entry));
        }
        drive.settle_in_any_order(&mut Scheduler::new(seed));
        assert!(drive.finished.values().all(Result::is_ok), "{kind:?} {seed}: {:?}", drive.finished);
        let a = content(&mut drive, "a");
        assert!(matches!(a.as_deref(), Some("imported" | "stored")), "{kind:?} {seed}: {a:?}");
        assert_eq!(content(&mut drive, "b").as_deref(), Some("imported"));
        assert_eq!(content(&mut drive, "c").as_deref(), Some("stored"));
    }
}
