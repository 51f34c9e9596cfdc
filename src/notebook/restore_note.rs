//! `restore-note`: the backup of a note is put back.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::config_file::load_config;
use super::index::NotebookCall;
use super::rename::settle;
use crate::engine::Call;
use crate::journal::{RestoreReply, restore_file};
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};
use crate::search::FolderScope;
use crate::store::{NOTE_SUFFIX, RelPath};

/// Puts the backup of a note back, such as that of a note that was forgotten. What it replaces becomes the
/// backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreNote {
    /// The path that the note has or had.
    pub note: String,
}

impl Request for RestoreNote {
    type Reply = RestoreReply;
    const NAME: &'static str = "restore-note";
    const EFFECT: Effect = Effect::Replaces;

    fn samples(name: &str) -> Vec<Self> {
        [format!("notes/{name}.md"), name.into()].map(|note| Self { note }).to_vec()
    }
}

impl Run<NotebookCall<'_>> for RestoreNote {
    async fn run(self, with: &NotebookCall<'_>) -> Result<RestoreReply, Error> {
        settle(with.call, with.notebook).await;
        restore(with.call, &self.note).await
    }
}

/// Puts the backup of a note back, by the path that the note has or had: a note that was forgotten has no name.
async fn restore(call: &Call, note: &str) -> Result<RestoreReply, Error> {
    let found = load_config(call).await?;
    let text = note.strip_prefix(call.scope.path_prefix.as_str()).unwrap_or(note);
    let layout = &call.scope.layout;
    let with_extension = format!("{text}{NOTE_SUFFIX}");
    // As it is shown, `MEMORY.md` is the file that all projects share.
    let mut files: Vec<RelPath> = call.scope.kept_file(note).cloned().into_iter().collect();
    for path in [text, with_extension.as_str()] {
        // As `forget` has shown it, or below the notebook.
        files.extend(RelPath::parse(path).ok().filter(|path| layout.below_notebook(path).is_some()));
        files.extend(layout.in_notebook(path).ok());
    }
    // What belongs to another memory is not a note of this one, though its path may be below the root.
    let notebook = FolderScope { folder: layout.project_folder().cloned(), tree: true };
    let is_note = |path: &RelPath| match layout.below_notebook(path) {
        Some(below) => found.config.is_indexed(below) && notebook.holds(path),
        None => true,
    };
    match files.into_iter().find(is_note) {
        Some(path) => {
            call.screen.check_place(&path)?;
            restore_file(call, path).await
        }
        None => {
            let message = format!("`{}` is not the path of a note", note.escape_debug());
            Err(Error::invalid_argument(message, "give the path that `forget` has shown, such as facts/port.md"))
        }
    }
}
