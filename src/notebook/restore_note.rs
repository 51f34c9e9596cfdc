//! `restore-note`: puts back the backup of a note.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::index::NotebookCall;
use super::page::lost_page;
use super::rename::settle;
use crate::journal::{ChangedFile, restore_file};
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};

/// Restores the backup of a note, such as a note that was forgotten. The replaced text becomes the backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreNote {
    /// Path of the backup, or the one that the note has or had; any name of a note that exists.
    pub note: String,
}

impl Request for RestoreNote {
    type Reply = ChangedFile;
    const NAME: &'static str = "restore-note";
    const EFFECT: Effect = Effect::Replaces;

    fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self { note: format!("notes/{name}.md") }]
    }
}

impl Run<NotebookCall<'_>> for RestoreNote {
    async fn run(self, with: &NotebookCall<'_>) -> Result<ChangedFile, Error> {
        let call = with.call;
        settle(call, with.notebook).await;
        let path = lost_page(call, with.notebook, &self.note).await?;
        call.screen.check_place(&path)?;
        restore_file(call, path).await
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::sync::Arc;

    use super::super::index::Notebook;
    use super::super::page::locate_page;
    use super::super::testing::{Store, call_at, day, run_alone};
    use super::*;
    use crate::journal::{JournalCall, JournalReply, Restore, Target};
    use crate::protocol::Fs;

    fn store() -> Store {
        Store::with(&[
            (".saddlebag/backups/facts/port.bak", "forgotten\n"),
            ("facts/db.md", "new\n"),
            (".saddlebag/backups/facts/db.bak", "old\n"),
            ("templates/fact.md", "new\n"),
            (".saddlebag/backups/templates/fact.bak", "old\n"),
            ("MEMORY.md", "new\n"),
            ("MEMORY.bak", "old\n"),
        ])
    }

    fn as_note(name: &str) -> (Store, Result<ChangedFile, Error>) {
        let (mut store, command) = (store(), RestoreNote { note: name.into() });
        let reply = store.run(|fs| run_alone(fs, command));
        (store, reply)
    }

    fn as_page(name: &str) -> (Store, Result<ChangedFile, Error>) {
        async fn restore(fs: Fs, name: String) -> Result<ChangedFile, Error> {
            let (call, notebook) = (call_at(fs, day()), Arc::new(Notebook::default()));
            let command = Restore { target: Target::Page(name) }.into();
            let command = locate_page(&call, &notebook, command).await?;
            match command.run(&JournalCall { call: &call, corpus: &notebook.corpus }).await? {
                JournalReply::Edit(reply) => Ok(reply),
                other => panic!("{other:?}"),
            }
        }
        let mut store = store();
        let reply = store.run(|fs| restore(fs, name.to_string()));
        (store, reply)
    }

    #[test]
    fn a_page_is_restored_alike_by_both_commands() {
        for (name, path, text) in [
            ("facts/port.md", "facts/port.md", "forgotten\n"),
            ("facts/port", "facts/port.md", "forgotten\n"),
            (".saddlebag/backups/facts/port.bak", "facts/port.md", "forgotten\n"),
            ("facts/db.md", "facts/db.md", "old\n"),
            ("db", "facts/db.md", "old\n"),
            // The file is left out of the notebook, but can be edited as a page, and so restored.
            ("templates/fact.md", "templates/fact.md", "old\n"),
            ("MEMORY.md", "MEMORY.md", "old\n"),
        ] {
            let ((notes, note), (pages, page)) = (as_note(name), as_page(name));
            assert_eq!(note, page, "{name}");
            assert_eq!(note.expect(name).path, path);
            assert_eq!((notes.text(path), pages.text(path)), (text.to_string(), text.to_string()), "{name}");
        }
    }

    #[test]
    fn a_path_that_is_not_a_page_is_refused_by_both_commands() {
        for name in [
            "../facts/port.md",
            ".zk/config.toml",
            "workspaces/w/entries",
            "agents/main/entries",
            "agents/main/entries/core/k.md",
            "projects/x-0db23a34/a.md",
            "",
        ] {
            let ((notes, note), (pages, page)) = (as_note(name), as_page(name));
            assert_eq!(note, page, "{name}");
            assert!(page.is_err_and(|error| error.message.contains("is not the path of a page")), "{name}");
            assert!(notes.writes.is_empty() && pages.writes.is_empty(), "{name}");
        }
    }
}
