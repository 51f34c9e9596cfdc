//! Notes by name, for commands of other families: their names are known to the index of the notebook alone.

use super::config_file::load_config;
use super::index::{Notebook, adopt_config, catch_up, look, look_checked};
use super::rename::settle;
use crate::changes::Call;
use crate::engine::NamedFile;
use crate::journal::{JournalCommand, Restore, Target, file_size, page_path};
use crate::search::FolderScope;
use crate::store::{Layout, NOTE_SUFFIX, RelPath, is_below_entries};
use crate::trust::TrustState;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Note, TagSyntax};
use saddlebag_protocol::{Error, ErrorCode};

/// Replaces the page that a command names by its path.
pub(crate) async fn locate_page(
    call: &Call,
    notebook: &Arc<Notebook>,
    mut command: JournalCommand,
) -> Result<JournalCommand, Error> {
    match &mut command {
        JournalCommand::Restore(Restore { target: Target::Page(name) }) => {
            settle(call, notebook).await;
            // The whole path, because `MEMORY.md` below a project is another file.
            *name = call.scope.display_path(&lost_page(call, notebook, name).await?);
        }
        JournalCommand::Search(search) if search.all_files => adopt_config(call, notebook).await?,
        _ => {}
    }
    Ok(command)
}

/// Returns the file that a name means: a note, or the path of a file that the notebook leaves out.
async fn located(call: &Call, notebook: &Arc<Notebook>, name: &str) -> Result<RelPath, Error> {
    if let Some(path) = existing_page(call, name).await? {
        return Ok(path);
    }
    catch_up(call, notebook).await?;
    look_checked(call, notebook, |snapshot| Ok(snapshot.whole_path(snapshot.find(name)?)?.clone())).await
}

/// Returns the page with this path, if there is one. That needs no index.
pub(crate) async fn existing_page(call: &Call, name: &str) -> Result<Option<RelPath>, Error> {
    if let Some(path) = call.scope.kept_file(name) {
        return Ok(Some(path.clone()));
    }
    let layout = &call.scope.layout;
    let notebook = FolderScope { folder: layout.project_folder().cloned(), tree: true };
    // Without a project, files of others may lie beside it, so only a listing says what it is.
    let is_page = |path: &RelPath| notebook.reaches(path) && (notebook.folder.is_some() || !Layout::is_of_scopes(path));
    let Some(path) = page_path(call, name).ok().filter(is_page) else { return Ok(None) };
    Ok(file_size(call, &path).await?.map(|_| path))
}

/// Returns the note at a path, with the title of its file.
pub(crate) async fn note_at(call: &Call, path: RelPath) -> Result<NamedFile, Error> {
    // The path stays valid, whatever the bytes are.
    let text = call.load_text(&path).await.ok().flatten().unwrap_or_default();
    let name = Note::parse_file(&text, TagSyntax::default(), path.file_stem()).title;
    Ok(NamedFile { name, unapproved: TrustState::from_text(&text).unapproved(), path })
}

/// Returns the rule of the configuration by which a file is a note.
pub(crate) async fn note_rule(call: &Call) -> Result<impl Fn(&RelPath) -> bool, Error> {
    let config = load_config(call).await?.config;
    Ok(move |path: &RelPath| call.scope.layout.below_notebook(path).is_some_and(|below| config.is_indexed(below)))
}

/// Suggests notes with a similar name.
pub(crate) fn similar_notes(call: &Call, notebook: &Notebook, name: &str) -> Result<String, Error> {
    look(notebook, call, |snapshot| Ok(snapshot.similar(name)))
}

/// Returns the page to restore, by the path of its backup or its former path. A note that exists can be named otherwise too. A
/// note of the configuration can be named without its extension, and comes first.
async fn lost_page(call: &Call, notebook: &Arc<Notebook>, name: &str) -> Result<RelPath, Error> {
    let original = call.scope.original(name);
    if let Some(entry) = original.as_ref().filter(|path| is_below_entries(path)) {
        return Err(call.scope.is_backup(name, entry));
    }
    let original = original.map(|path| call.scope.display_path(&path));
    let name = original.as_deref().unwrap_or(name);
    if !name.contains('/') && !name.ends_with(NOTE_SUFFIX) {
        match located(call, notebook, name).await {
            Err(error) if error.code == ErrorCode::NotFound => {}
            found => return found,
        }
    }
    let config = load_config(call).await?.config;
    let page = page_path(call, name);
    // Shared long-term memory is outside of the notebook of a project.
    let is_note = |path: &RelPath| call.scope.layout.below_notebook(path).is_none_or(|below| config.is_indexed(below));
    let with_extension = || page_path(call, &format!("{name}{NOTE_SUFFIX}")).ok();
    let note = page.iter().find(|path| is_note(path)).cloned().or_else(|| with_extension().filter(is_note));
    note.map_or(page, Ok)
}

#[cfg(test)]
mod tests {

    use super::super::Forget;
    use super::super::testing::{Store, restore_page, run_alone};
    use super::*;
    use crate::journal::ChangedFile;

    fn restored(name: &str) -> (Store, Result<ChangedFile, Error>) {
        let mut store = Store::with(&[
            (".saddlebag/backups/facts/port.bak", "forgotten\n"),
            ("facts/db.md", "new\n"),
            (".saddlebag/backups/facts/db.bak", "old\n"),
            ("templates/fact.md", "new\n"),
            (".saddlebag/backups/templates/fact.bak", "old\n"),
            ("MEMORY.md", "new\n"),
            ("MEMORY.bak", "old\n"),
        ]);
        let reply = store.run(|fs| restore_page(fs, name.to_string()));
        (store, reply)
    }

    #[test]
    fn a_page_is_restored_by_every_name_that_it_has_or_had() {
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
            let (store, page) = restored(name);
            assert_eq!((page.expect(name).path.as_str(), store.text(path)), (path, text.to_string()), "{name}");
        }
    }

    #[test]
    fn the_path_of_a_backup_names_no_page_to_forget() {
        let (mut store, _) = restored("db");
        store.writes.clear();
        let name = ".saddlebag/backups/facts/db.bak";
        let forgotten = store.run(|fs| run_alone(fs, Forget { note: name.into() })).map(|_| ());
        let error = forgotten.unwrap_err();
        let message = "`.saddlebag/backups/facts/db.bak` is the backup of facts/db.md";
        assert_eq!((error.code, error.message.as_str()), (ErrorCode::InvalidArgument, message));
        assert!(error.help.starts_with("`restore` puts it back"), "{}", error.help);
        assert!(store.writes.is_empty());
    }

    #[test]
    fn what_is_not_the_path_of_a_page_is_refused() {
        for name in [
            "../facts/port.md",
            ".zk/config.toml",
            "workspaces/w/entries/core/k.md",
            "agents/main/entries/core/k.md",
            "projects/x-0db23a34/a.md",
            "",
        ] {
            let (store, page) = restored(name);
            assert!(page.is_err_and(|error| error.message.contains("is not the path of a page")), "{name}");
            assert!(store.writes.is_empty(), "{name}");
        }
    }
}
