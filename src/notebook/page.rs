//! Pages for the commands of the journal. A page is named by its path or its title, which only the index of the
//! notebook knows.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::files::notebook_file;
use super::index::{Notebook, catch_up, look, look_checked};
use super::rename::settle;
use super::restore_note::lost_page;
use super::snapshot::Snapshot;
use super::types::NoteView;
use crate::changes::Call;
use crate::engine::{Loaded, load};
use crate::journal::{Edit, JournalCommand, Read, Restore, Target, page_path};
use crate::protocol::{Error, ErrorCode};
use crate::search::FolderScope;

/// Maximum number of pages that an error suggests.
const NAMED_PAGES: usize = 5;

/// Replaces the page that a command names by its path.
pub(crate) async fn locate_page(
    call: &Call,
    notebook: &Arc<Notebook>,
    command: JournalCommand,
) -> Result<JournalCommand, Error> {
    Ok(match command {
        JournalCommand::Read(Read { target: Target::Page(name), offset, max_bytes }) => {
            JournalCommand::Read(Read { target: page(call, notebook, &name).await?, offset, max_bytes })
        }
        JournalCommand::Edit(Edit { target: Target::Page(name), change }) => {
            settle(call, notebook).await;
            JournalCommand::Edit(Edit { target: page(call, notebook, &name).await?, change })
        }
        JournalCommand::Restore(Restore { target: Target::Page(name) }) => {
            settle(call, notebook).await;
            // An invalid path is unchanged, so that the command reports it.
            let name = lost_page(call, &name).await?.map_or(name, |path| call.scope.display_path(&path));
            JournalCommand::Restore(Restore { target: Target::Page(name) })
        }
        other => other,
    })
}

async fn page(call: &Call, notebook: &Arc<Notebook>, name: &str) -> Result<Target, Error> {
    // Shared long-term memory is outside of a project's notebook, and none of these files is a page.
    if call.scope.kept_file(name).is_some() {
        return Ok(Target::Page(name.to_string()));
    }
    catch_up(call, notebook).await?;
    let path = |snapshot: &Snapshot<'_>| Ok(snapshot.path(snapshot.find(name)?)?.to_string());
    let found = look_checked(call, notebook, path).await;
    let mut error = match found.and_then(|below| notebook_file(call, &below)) {
        // The whole path, because `MEMORY.md` below a project is another file.
        Ok(path) => return Ok(Target::Page(call.scope.display_path(&path))),
        Err(error) => error,
    };
    if error.code != ErrorCode::NotFound {
        return Err(error);
    }
    if is_left_out(call, name).await? {
        return Ok(Target::Page(name.to_string()));
    }
    error.help = look(notebook, call, |snapshot| others(call, snapshot, name))?;
    Err(error)
}

/// Returns true if the path is a file that the configuration leaves out of the notebook.
async fn is_left_out(call: &Call, name: &str) -> Result<bool, Error> {
    let notebook = FolderScope { folder: call.scope.layout.project_folder().cloned(), tree: true };
    let Some(path) = page_path(call, name).ok().filter(|path| notebook.reaches(path)) else { return Ok(false) };
    Ok(!matches!(load(&call.fs, &path, call.scope.limits.max_file_bytes).await?, Loaded::Absent))
}

/// Suggests pages that share a word with a name, else the first ones.
fn others(call: &Call, snapshot: &Snapshot<'_>, name: &str) -> Result<String, Error> {
    let words: Vec<String> =
        name.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2).map(str::to_lowercase).collect();
    let shares_a_word = |text: &str| words.iter().any(|word| text.to_lowercase().contains(word));
    let is_alike = |page: &&NoteView<'_>| shares_a_word(page.path) || shares_a_word(&page.note.title);
    let shown = |page: &NoteView<'_>| notebook_file(call, page.path).map(|file| call.scope.display_path(&file));
    let alike =
        snapshot.views.iter().filter(is_alike).take(NAMED_PAGES).map(shown).collect::<Result<Vec<_>, Error>>()?;
    if !alike.is_empty() {
        return Ok(format!("pages like it: {}", alike.join(", ")));
    }
    let first = snapshot.views.iter().take(NAMED_PAGES).map(shown).collect::<Result<Vec<_>, Error>>()?;
    Ok(match snapshot.views.len() {
        0 => "the notebook has no pages".to_string(),
        count => format!("give the path or title of one of the {count} pages, such as {}", first.join(", ")),
    })
}
