//! What the changes of a memory cost on a disk, and what they keep: the native engine on a folder.

use std::path::Path;

use saddlebag::entries::{EntriesConfig, NewEntry, WriteEntry};
use saddlebag::items::{Edit, Forget, Restore};
use saddlebag::journal::{Target, WriteMode};
use saddlebag::notebook::{Link, Rename, WriteNote};
use saddlebag::store::BackupPlace;

use super::*;
use crate::{EngineKind, Options, Project, Saddlebag};

fn memory(root: &Path, project: Project) -> Saddlebag {
    let entries = Some(EntriesConfig::for_agent("a"));
    Saddlebag::open(root, Options { project, entries, ..Options::new(EngineKind::Native) }).unwrap()
}

fn settings() -> [Project; 2] {
    [Project::Notebook, Project::Slug("api-0db23a34".into())]
}

fn edit(target: Target, old: &str, new: &str) -> Edit {
    Edit { name: target.to_string(), kind: None, old_text: old.into(), new_text: new.into() }
}

fn restore(name: &str) -> Restore {
    Restore { name: name.into(), ..Restore::default() }
}

fn store(content: &str, category: &str) -> WriteEntry {
    WriteEntry { entry: NewEntry::new("k", content, category), expected_version: None }
}

/// Returns the number of syncs of a change.
fn syncs<T: fmt::Debug, E: fmt::Debug>(change: impl FnOnce() -> Result<T, E>) -> u32 {
    SYNCED.set(0);
    change().unwrap();
    SYNCED.take()
}

/// A change costs few syncs.
#[cfg(unix)]
#[test]
fn a_change_costs_few_syncs() {
    for project in settings() {
        let folder = tempfile::tempdir().unwrap();
        let mut memory = memory(folder.path(), project);
        // The first changes create the folders.
        memory.write(Target::LongTerm, WriteMode::Append, "fact one").unwrap();
        memory.write(Target::LongTerm, WriteMode::Append, "fact two").unwrap();
        for category in ["core", "notes", "core"] {
            memory.execute(store(category, category)).unwrap();
        }
        memory.execute(WriteNote { title: "Port".into(), content: "5432".into(), ..WriteNote::default() }).unwrap();
        memory.execute(Rename { note: "Port".into(), title: "Ports".into() }).unwrap();

        let append = syncs(|| memory.write(Target::LongTerm, WriteMode::Append, "fact three"));
        let edited = syncs(|| memory.execute(edit(Target::LongTerm, "fact one", "fact 1")));
        let overwrite = syncs(|| memory.write(Target::LongTerm, WriteMode::Overwrite, "all new"));
        let moved = syncs(|| memory.execute(store("new", "notes")));
        let renamed = syncs(|| memory.execute(Rename { note: "Ports".into(), title: "Port two".into() }));

        assert_eq!((append, edited, overwrite, moved, renamed), (1, 3, 3, 6, 6));
    }
}

/// A change whose replaced text the history keeps costs no more syncs than one that writes a backup and no record.
#[cfg(unix)]
#[test]
fn a_recorded_change_costs_few_syncs() {
    for backups in BackupPlace::ALL {
        for project in settings() {
            let expected = match (backups, &project) {
                (BackupPlace::History, _) => [1, 3, 3, 3, 3, 2],
                // The backup of a note of the root is in another folder.
                (BackupPlace::Sibling, Project::Notebook) => [1, 4, 4, 4, 4, 4],
                (BackupPlace::Sibling, _) => [1, 4, 4, 4, 4, 3],
            };
            let folder = tempfile::tempdir().unwrap();
            let (entries, machine) = (Some(EntriesConfig::for_agent("a")), Some("laptop".into()));
            let options = Options { project, entries, machine, backups, ..Options::new(EngineKind::Native) };
            let mut memory = Saddlebag::open(folder.path(), options).unwrap();
            // The first changes create the folders.
            memory.write(Target::LongTerm, WriteMode::Append, "fact one").unwrap();
            memory.write(Target::LongTerm, WriteMode::Overwrite, "fact two").unwrap();
            memory.execute(store("one", "core")).unwrap();
            memory.execute(store("two", "core")).unwrap();
            for note in ["Port", "Other"] {
                memory
                    .execute(WriteNote { title: note.into(), content: "5432".into(), ..WriteNote::default() })
                    .unwrap();
            }
            memory.execute(Forget::new("Other")).unwrap();

            let found = [
                syncs(|| memory.write(Target::LongTerm, WriteMode::Append, "fact three")),
                syncs(|| memory.execute(edit(Target::LongTerm, "fact two", "fact 2"))),
                syncs(|| memory.write(Target::LongTerm, WriteMode::Overwrite, "all new")),
                syncs(|| memory.execute(restore("long_term"))),
                syncs(|| memory.execute(store("three", "core"))),
                syncs(|| memory.execute(Forget::new("Port"))),
            ];
            assert_eq!(found, expected, "{backups}");

            // The folders of both categories are there.
            memory.execute(store("three", "notes")).unwrap();
            let moved = syncs(|| memory.execute(store("four", "core")));
            memory.execute(WriteNote { title: "Port".into(), content: "5432".into(), ..WriteNote::default() }).unwrap();
            memory.execute(Rename { note: "Port".into(), title: "Ports".into() }).unwrap();
            let renamed = syncs(|| memory.execute(Rename { note: "Ports".into(), title: "Port two".into() }));
            let most = if backups == BackupPlace::History { 6 } else { 8 };
            assert_eq!((moved, renamed), (most, 6), "{backups}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_note_keeps_its_mode_through_every_change() {
    use std::os::unix::fs::PermissionsExt as _;

    for project in settings() {
        for mode in [0o644, 0o600] {
            let folder = tempfile::tempdir().unwrap();
            let mut memory = memory(folder.path(), project.clone());
            let root =
                project.slug().map_or(folder.path().to_owned(), |slug| folder.path().join("projects").join(slug));
            let mode_of = |file: &str| fs::metadata(root.join(file)).unwrap().permissions().mode() & 0o777;
            for title in ["Port", "Other"] {
                memory
                    .execute(WriteNote { title: title.into(), content: "5432".into(), ..WriteNote::default() })
                    .unwrap();
            }
            let hidden = if project == Project::Notebook { ".saddlebag/backups/" } else { "" };
            let backup_of = |name: &str| format!("{hidden}facts/{name}.bak");
            let set = |file: &str| fs::set_permissions(root.join(file), fs::Permissions::from_mode(mode)).unwrap();
            set("facts/port.md");
            set("facts/other.md");
            memory.execute(Link { source: "facts/other".into(), target: "facts/port".into(), text: None }).unwrap();
            memory.execute(edit(Target::Page("facts/port.md".into()), "5432", "5433")).unwrap();
            assert_eq!(
                (mode_of("facts/port.md"), mode_of(&backup_of("port")), mode_of("facts/other.md")),
                (mode, mode, mode)
            );

            memory.execute(Rename { note: "Port".into(), title: "Ports".into() }).unwrap();
            assert_eq!((mode_of("facts/ports.md"), mode_of("facts/other.md")), (mode, mode));

            for _ in 0..2 {
                memory.execute(Forget::new("facts/ports.md")).unwrap();
                assert_eq!(mode_of(&backup_of("ports")), mode);
                memory.execute(restore("facts/ports.md")).unwrap();
                assert_eq!(mode_of("facts/ports.md"), mode);
            }
            memory.execute(edit(Target::Page("facts/ports.md".into()), "5433", "5434")).unwrap();
            for text in ["5433", "5434"] {
                memory.execute(restore("facts/ports.md")).unwrap();
                assert!(fs::read_to_string(root.join("facts/ports.md")).unwrap().contains(text));
                assert_eq!((mode_of("facts/ports.md"), mode_of(&backup_of("ports"))), (mode, mode));
            }
        }
    }
}
