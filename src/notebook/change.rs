//! Changes to the notebook: what the index must know first, then the change.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::config::load_config;
use super::files::notebook_file;
use super::links::LinkTarget;
use super::rename::RenameSources;
use super::run::{Notebook, catch_up, look};
use super::select::{Graph, LinkTable, Resolution, Resolver};
use super::snapshot::Snapshot;
use super::{
    ErrorReply, ForgetReply, InitReply, JournalEntryReply, LinkReply, NoteView, RememberReply, RememberRequest,
    RenameReply, TodayReply, create, daily, init, lifecycle, link, rename, screen, tool_summary_note,
};
use crate::document::{Link, Note};
use crate::engine::Call;
use crate::journal::{RestoreReply, restore_file};
use crate::protocol::Error;
use crate::store::{NOTE_SUFFIX, RelPath};

/// Adds a line to today's note.
pub(super) async fn journal(call: &Call, entry: &str) -> Result<JournalEntryReply, Error> {
    let found = load_config(call).await?;
    daily::journal(call, &found.config, entry).await
}

/// Gives today's note.
pub(super) async fn today(call: &Call) -> Result<TodayReply, Error> {
    let found = load_config(call).await?;
    daily::today(call, &found.config).await
}

/// Keeps a note. The index says where its links lead, and what has its title already.
pub(super) async fn remember(
    call: &Call,
    notebook: &Rc<Notebook>,
    request: &RememberRequest,
) -> Result<RememberReply, Error> {
    create::checked_title(&request.title)?;
    let config = catch_up(call, notebook).await?;
    let title = request.title.trim();
    let (links, known) = look(notebook, call, |snapshot: &Snapshot<'_>| {
        let links = request.links.iter().map(|link| {
            let note = snapshot.find(link)?;
            Ok((snapshot.path(note).to_string(), snapshot.title(note).to_string()))
        });
        let links: Vec<(String, String)> = links.collect::<Result<_, Error>>()?;
        // The newest last; of those made at once, the one with the highest number.
        let mut same_title: Vec<_> = snapshot.views.iter().filter(|view| view.note.title == title).collect();
        same_title.sort_by_key(|view| (view.created, view.path.len(), view.path));
        let known =
            same_title.into_iter().map(|view| notebook_file(call, view.path)).collect::<Result<Vec<_>, Error>>()?;
        Ok((links, known))
    })?;
    let links: Vec<LinkTarget<'_>> = links.iter().map(|(path, title)| LinkTarget { path, title }).collect();
    create::remember(call, &config, request, &links, &known).await
}

/// Makes what a notebook needs and has not.
pub(super) async fn init(call: &Call) -> Result<InitReply, Error> {
    init::init(call).await
}

/// Writes a link at the end of a note, unless it links there.
pub(super) async fn link(
    call: &Call,
    notebook: &Rc<Notebook>,
    from: &str,
    to: &str,
    text: Option<&str>,
) -> Result<LinkReply, Error> {
    let config = catch_up(call, notebook).await?;
    let (from, to, title) = look(notebook, call, |snapshot| {
        let (from, to) = (snapshot.find(from)?, snapshot.find(to)?);
        let file = |note: usize| notebook_file(call, snapshot.path(note));
        Ok((file(from)?, file(to)?, snapshot.title(to).to_string()))
    })?;
    // The text of the note is read by then, and may have other links than the index knows.
    let names = Names::of(notebook, call)?;
    let views = names.views();
    let resolver = Resolver::new(&views);
    let place = |path| views.iter().position(|view| call.scope.layout.below_notebook(path) == Some(view.path));
    let ends = place(&from).zip(place(&to));
    let leads_to = |link: &Link| ends.is_some_and(|(from, to)| resolver.resolve(from, link) == Resolution::To(to));
    link::link(call, &config, &from, &to, &title, text, leads_to).await
}

/// Gives a note another title and name.
pub(super) async fn rename(
    call: &Call,
    notebook: &Rc<Notebook>,
    note: &str,
    title: &str,
) -> Result<RenameReply, Error> {
    let config = catch_up(call, notebook).await?;
    let (old, linking) = look(notebook, call, |snapshot| {
        let note = snapshot.find(note)?;
        let mut naming = backlinks(snapshot, note);
        let old = snapshot.path(note);
        let superseding = snapshot.views.iter().enumerate().filter(|(_, view)| rename::supersedes(view.note, old));
        naming.extend(superseding.map(|(place, _)| place));
        naming.sort_unstable();
        naming.dedup();
        let paths = naming.into_iter().map(|from| notebook_file(call, snapshot.path(from)));
        Ok((notebook_file(call, snapshot.path(note))?, paths.collect::<Result<Vec<_>, Error>>()?))
    })?;
    // What links meant before the change decides, whatever is written meanwhile.
    let names = Names::of(notebook, call)?;
    let views = names.views();
    let resolver = Resolver::new(&views);
    let old_place = views.iter().position(|view| call.scope.layout.below_notebook(&old) == Some(view.path));
    let leads_to_old = |from: &str, link: &Link| {
        let from = views.iter().position(|view| view.path == from);
        from.zip(old_place).is_some_and(|(from, old)| resolver.resolve(from, link) == Resolution::To(old))
    };
    // A rename that did not come to its end left the note in both places.
    let is_the_note =
        |note: usize, new: &str| Some(note) == old_place || views.get(note).is_some_and(|view| view.path == new);
    let is_unambiguous = |name: &str, new: &str| match resolver.find(name) {
        Resolution::To(note) => is_the_note(note, new),
        Resolution::Ambiguous(notes) => notes.iter().all(|&note| is_the_note(note, new)),
        Resolution::Dead => true,
        Resolution::External => false,
    };
    let sources = RenameSources { linking: &linking, leads_to_old: &leads_to_old, is_unambiguous: &is_unambiguous };
    rename::rename(call, &config, &old, title, &sources).await
}

/// Removes a note.
pub(super) async fn forget(call: &Call, notebook: &Rc<Notebook>, note: &str) -> Result<ForgetReply, Error> {
    catch_up(call, notebook).await?;
    let (path, backlinks) = look(notebook, call, |snapshot| {
        let note = snapshot.find(note)?;
        Ok((notebook_file(call, snapshot.path(note))?, backlinks(snapshot, note).len()))
    })?;
    rename::forget(call, &path, u32::try_from(backlinks).unwrap_or(u32::MAX)).await
}

/// Puts the backup of a note back, by the path that the note has or had: a note that was forgotten has no name.
pub(super) async fn restore(call: &Call, note: &str) -> Result<RestoreReply, Error> {
    let found = load_config(call).await?;
    let text = note.strip_prefix(call.scope.path_prefix.as_str()).unwrap_or(note);
    let layout = &call.scope.layout;
    let with_extension = format!("{text}{NOTE_SUFFIX}");
    let mut files = Vec::new();
    for path in [text, with_extension.as_str()] {
        // As `forget` has shown it, or below the notebook.
        files.extend(RelPath::parse(path).ok().filter(|path| layout.below_notebook(path).is_some()));
        files.extend(layout.in_notebook(path).ok());
        files.extend(RelPath::parse(path).ok().filter(|path| path == layout.long_term()));
    }
    let is_note = |path: &RelPath| match layout.below_notebook(path) {
        Some(below) => found.config.is_indexed(below),
        None => true,
    };
    match files.into_iter().find(is_note) {
        Some(path) => restore_file(call, path).await,
        None => {
            let message = format!("`{}` is not the path of a note", note.escape_debug());
            Err(Error::invalid_argument(message, "give the path that `forget` has shown, such as facts/port.md"))
        }
    }
}

/// Keeps an error of a tool.
pub(super) async fn remember_error(call: &Call, tool: &str, error: &str) -> Result<ErrorReply, Error> {
    let found = load_config(call).await?;
    lifecycle::remember_error(call, &found.config, tool, error).await
}

/// Keeps the summary of a tool's output.
pub(super) async fn remember_summary(
    call: &Call,
    notebook: &Rc<Notebook>,
    tool: &str,
    summary: &str,
) -> Result<RememberReply, Error> {
    let request = RememberRequest { provenance: Some(screen::of_tool(call)), ..tool_summary_note(tool, summary) };
    remember(call, notebook, &request).await
}

/// The notes that link to a note.
fn backlinks(snapshot: &Snapshot<'_>, note: usize) -> Vec<usize> {
    let graph = Graph::new(snapshot.views.len(), &LinkTable::new(&snapshot.views));
    graph.backlinks(note).to_vec()
}

/// What links can go by, while files change.
struct Names(Vec<(String, Note)>);

impl Names {
    fn of(notebook: &Notebook, call: &Call) -> Result<Self, Error> {
        look(notebook, call, |snapshot| {
            let names = snapshot.views.iter().map(|view| {
                let (title, aliases) = (view.note.title.clone(), view.note.aliases.clone());
                (view.path.to_string(), Note { title, aliases, ..Note::default() })
            });
            Ok(Self(names.collect()))
        })
    }

    fn views(&self) -> Vec<NoteView<'_>> {
        let views = self.0.iter();
        views.map(|(path, note)| NoteView { path, text: "", note, modified: 0, created: 0 }).collect()
    }
}
