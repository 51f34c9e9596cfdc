//! Changes to the notebook: what the index must know first, then the change.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::config::load_config;
use super::files::{below_notebook, notebook_file};
use super::intent::Intent;
use super::links::LinkTarget;
use super::rename::{Attempt, RenameSources};
use super::run::{Notebook, catch_up, look};
use super::select::{Graph, LinkTable, Resolution, Resolver};
use super::snapshot::Snapshot;
use super::{
    ErrorReply, ForgetReply, JournalEntryReply, LinkReply, NoteView, Remember, RememberReply, RenameReply, SUPERSEDES,
    TodayReply, Warning, create, daily, lifecycle, link, rename, slug, tool_summary_note,
};
use crate::document::{Frontmatter, Link, Note};
use crate::engine::Call;
use crate::journal::{RestoreReply, restore_file};
use crate::protocol::{Error, ErrorCode};
use crate::search::FolderScope;
use crate::store::{NOTE_SUFFIX, RelPath};

/// How many renames of others are finished before the one that was asked for.
const MAX_RENAMES: u32 = 64;

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
    notebook: &Arc<Notebook>,
    request: &Remember,
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

/// Writes a link at the end of a note, unless it links there.
pub(super) async fn link(
    call: &Call,
    notebook: &Arc<Notebook>,
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
    notebook: &Arc<Notebook>,
    note: &str,
    title: &str,
) -> Result<RenameReply, Error> {
    for _ in 0..MAX_RENAMES {
        // One that was cut short, or that others are at, comes first: it may be this one.
        if let Some(finished) = finish_rename(call, notebook, Some((note, title))).await? {
            return Ok(finished);
        }
        let config = catch_up(call, notebook).await?;
        let (old, linking, verbatim_names) = look(notebook, call, |snapshot| {
            let note = snapshot.find(note)?;
            let resolver = Resolver::new(&snapshot.views);
            let naming = naming(call, snapshot, &resolver, note)?;
            Ok((notebook_file(call, snapshot.path(note))?, naming, has_verbatim_names(snapshot, note)))
        })?;
        // What links meant before the change decides, whatever is written meanwhile.
        let names = Names::of(notebook, call)?;
        let views = names.views();
        let meaning = Meaning::new(call, &views, &old);
        let unread = unread(call, notebook);
        let sources = RenameSources {
            linking: &linking,
            unread: &unread,
            leads_to_old: &|from, link| meaning.leads_to_old(from, link),
            is_unambiguous: &|name, new| meaning.is_unambiguous(name, new),
            verbatim_names,
        };
        match rename::rename(call, &config, &old, title, &sources).await? {
            Attempt::Renamed(reply) => return Ok(reply),
            Attempt::UnderWay => {}
        }
    }
    let message = format!("others began {MAX_RENAMES} renames of notes in a row");
    Err(Error::new(ErrorCode::Contention, message, "try again when fewer are at work; nothing was changed"))
}

/// Finishes the rename that is under way, if there is one.
///
/// Commands that change the notebook begin with it. What keeps it from being finished is no reason to refuse
/// them: the next rename says it.
pub(super) async fn settle(call: &Call, notebook: &Arc<Notebook>) {
    // Its result is that of the process that began it, which is told.
    let _ = finish_rename(call, notebook, None).await;
}

/// Finishes the rename that is under way; gives what came of it if it is the one that was asked for, as a
/// name of a note and its new title.
async fn finish_rename(
    call: &Call,
    notebook: &Arc<Notebook>,
    asked: Option<(&str, &str)>,
) -> Result<Option<RenameReply>, Error> {
    if !Intent::is_there(call).await? {
        return Ok(None);
    }
    let config = catch_up(call, notebook).await?;
    let Some((intent, _)) = Intent::pending(call, &config).await? else { return Ok(None) };
    let unread = unread(call, notebook);
    let (linking, names, is_asked) = look(notebook, call, |snapshot| {
        // As it was before: the new file is not there, and the old one has its title.
        let before = Note {
            title: intent.old_title.clone(),
            aliases: intent.aliases.clone(),
            links: Vec::new(),
            ..Note::default()
        };
        let snapshot = snapshot.before(call, &intent.from, &intent.to, &before);
        let resolver = Resolver::new(&snapshot.views);
        let Some(old) = resolver.place(below_notebook(call, &intent.from)) else {
            return Ok((Vec::new(), Names(Vec::new()), false));
        };
        let is_asked = asked.is_some_and(|(note, title)| {
            snapshot.resolve(&resolver, note) == Resolution::To(old) && title.trim() == intent.new_title
        });
        Ok((naming(call, &snapshot, &resolver, old)?, Names::of_snapshot(&snapshot), is_asked))
    })?;
    let views = names.views();
    let meaning = Meaning::new(call, &views, &intent.from);
    let sources = RenameSources {
        linking: &linking,
        unread: &unread,
        leads_to_old: &|from, link| meaning.leads_to_old(from, link),
        is_unambiguous: &|name, new| meaning.is_unambiguous(name, new),
        verbatim_names: false,
    };
    match rename::finish(call, &config, intent, &sources).await {
        Ok(reply) => Ok(Some(reply).filter(|_| is_asked)),
        // The note of that rename is not what it was; there is nothing to wait for.
        Err(error) if !is_asked && error.code != ErrorCode::Storage => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes a note.
pub(super) async fn forget(call: &Call, notebook: &Arc<Notebook>, note: &str) -> Result<ForgetReply, Error> {
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

/// Keeps an error of a tool.
pub(super) async fn remember_error(call: &Call, tool: &str, error: &str) -> Result<ErrorReply, Error> {
    let found = load_config(call).await?;
    lifecycle::remember_error(call, &found.config, tool, error).await
}

/// Keeps the summary of a tool's output.
pub(super) async fn remember_summary(
    call: &Call,
    notebook: &Arc<Notebook>,
    tool: &str,
    summary: &str,
) -> Result<RememberReply, Error> {
    let request = Remember { provenance: Some(call.scope.trust.of_tool()), ..tool_summary_note(tool, summary) };
    remember(call, notebook, &request).await
}

/// The notes that link to a note.
fn backlinks(snapshot: &Snapshot<'_>, note: usize) -> Vec<usize> {
    let graph = Graph::new(snapshot.views.len(), &LinkTable::new(&snapshot.views));
    graph.backlinks(note).to_vec()
}

/// The files that link to a note, or say that they supersede it.
fn naming(call: &Call, snapshot: &Snapshot<'_>, resolver: &Resolver<'_>, note: usize) -> Result<Vec<RelPath>, Error> {
    let old = snapshot.path(note);
    let names_it = |from: usize, view: &NoteView<'_>| {
        let leads_there = |link: &Link| resolver.resolve(from, link) == Resolution::To(note);
        view.note.links.iter().any(leads_there) || rename::supersedes(view.note, old)
    };
    let naming = snapshot.views.iter().enumerate().filter(|(from, view)| names_it(*from, view));
    naming.map(|(_, view)| notebook_file(call, view.path)).collect()
}

/// Whether the other notes of the folder of a note are called by their titles rather than by slugs.
fn has_verbatim_names(snapshot: &Snapshot<'_>, note: usize) -> bool {
    let folder = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder).len();
    let own = snapshot.path(note);
    let is_near = |path: &str| path.get(..folder(path)) == own.get(..folder(own));
    let (mut verbatim, mut slugs) = (0_usize, 0_usize);
    for view in snapshot.views.iter().filter(|view| is_near(view.path)) {
        let name = view.path.rsplit('/').next().unwrap_or(view.path);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let title = view.note.title.as_str();
        if stem == slug(stem) {
            slugs += usize::from(stem != title);
        } else {
            verbatim += usize::from(stem == title);
        }
    }
    verbatim > slugs
}

/// The notes that the index could not read, or of which it does not know all links.
fn unread(call: &Call, notebook: &Notebook) -> Vec<Warning> {
    let corpus = notebook.corpus.borrow();
    let skipped = corpus.skipped(|path| call.scope.shown(path)).into_iter();
    let skipped = skipped.map(|skipped| Warning::new(&skipped.path, format!("{}", skipped.reason)));
    let cut = corpus.problems().filter(|(_, problem)| problem.leaves_out_links());
    skipped.chain(cut.map(|(path, problem)| Warning::new(&call.scope.shown(path), problem.message.clone()))).collect()
}

/// What links meant before a note was renamed.
struct Meaning<'a> {
    resolver: Resolver<'a>,
    paths: Vec<&'a str>,
    old: Option<usize>,
}

impl<'a> Meaning<'a> {
    fn new(call: &Call, views: &[NoteView<'a>], old: &RelPath) -> Self {
        let resolver = Resolver::new(views);
        let old = resolver.place(below_notebook(call, old));
        Self { resolver, paths: views.iter().map(|view| view.path).collect(), old }
    }

    fn leads_to_old(&self, from: &str, link: &Link) -> bool {
        let from = self.resolver.place(from);
        from.zip(self.old).is_some_and(|(from, old)| self.resolver.resolve(from, link) == Resolution::To(old))
    }

    fn is_unambiguous(&self, name: &str, new: &str) -> bool {
        let is_the_note = |note: usize| Some(note) == self.old || self.paths.get(note) == Some(&new);
        match self.resolver.find(name) {
            Resolution::To(note) => is_the_note(note),
            Resolution::Ambiguous(notes) => notes.into_iter().all(is_the_note),
            Resolution::Dead => true,
            Resolution::External => false,
        }
    }
}

/// What links can go by, while files change.
struct Names(Vec<(String, Note)>);

impl Names {
    fn of(notebook: &Notebook, call: &Call) -> Result<Self, Error> {
        look(notebook, call, |snapshot| Ok(Self::of_snapshot(snapshot)))
    }

    fn of_snapshot(snapshot: &Snapshot<'_>) -> Self {
        let names = snapshot.views.iter().map(|view| {
            let (title, aliases) = (view.note.title.clone(), view.note.aliases.clone());
            let frontmatter = superseding(view.note);
            (view.path.to_string(), Note { title, aliases, frontmatter, ..Note::default() })
        });
        Self(names.collect())
    }

    fn views(&self) -> Vec<NoteView<'_>> {
        let views = self.0.iter();
        views.map(|(path, note)| NoteView { path, text: "", note, modified: 0, created: 0 }).collect()
    }
}

/// The frontmatter as far as it says which of several notes of one title is meant.
fn superseding(note: &Note) -> Frontmatter {
    let entries = note.frontmatter.entries.iter().filter(|(key, _)| key == SUPERSEDES);
    Frontmatter { entries: entries.cloned().collect(), ..Frontmatter::default() }
}
