//! Runs notebook commands: brings the index up to date, then asks or changes.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use atomic_refcell::AtomicRefCell;

use super::NoteView;
use super::config::{FoundConfig, NotebookConfig, Warning, load_config};
use super::files::notebook_file;
use super::session::Session;
use super::snapshot::{ParsedNotes, Snapshot};
use crate::context::TurnMemories;
use crate::document::{Note, TagSyntax, Value};
use crate::engine::{Call, Loaded, Scope, load};
use crate::protocol::{Error, Version};
use crate::search::{Corpus, DocId, FolderScope, Purpose, load_texts, read_index_file, refresh, save_index_file};
use crate::store::{NOTE_SUFFIX, RelPath};
use crate::trust::{Standing, Waiting, version_of};

/// How often texts that change while they are read are read again.
const MAX_ATTEMPTS: u32 = 8;

/// How many more notes a warning about frontmatter names.
const NAMED_PROBLEMS: usize = 3;

/// What the commands of one notebook share.
#[derive(Default)]
pub(crate) struct Notebook {
    pub(super) corpus: Arc<AtomicRefCell<Corpus>>,
    pub(super) session: AtomicRefCell<Session>,
    config: AtomicRefCell<Option<KnownConfig>>,
}

/// The configuration that the index was made with.
#[derive(Clone)]
struct KnownConfig {
    version: Option<Version>,
    config: Arc<NotebookConfig>,
    warnings: Vec<Warning>,
}

impl Notebook {
    pub(crate) fn new(corpus: Arc<AtomicRefCell<Corpus>>) -> Self {
        Self { corpus, ..Self::default() }
    }

    /// The memories of a turn as the text of a section, without its title.
    pub(crate) fn memories(&self, turn: u64, max_bytes: usize) -> TurnMemories {
        let section = self.session.borrow().section(turn, max_bytes);
        let text = section.text.split_once('\n').map(|(_, entries)| entries.to_string()).unwrap_or_default();
        TurnMemories { text, unapproved: section.unapproved, flags: section.flags }
    }
}

/// The notes that wait to be approved.
pub(crate) async fn waiting(call: &Call, notebook: &Arc<Notebook>) -> Result<Vec<Waiting>, Error> {
    catch_up(call, notebook).await?;
    let standing = |view: &NoteView<'_>| Standing::of(&view.note.frontmatter).unapproved();
    let ids = |snapshot: &Snapshot<'_>| {
        let views = snapshot.views.iter().zip(&snapshot.ids);
        Ok(views.filter(|(view, _)| standing(view).is_some()).map(|(_, id)| *id).collect())
    };
    read_texts(call, notebook, ids).await?;
    let mut found: Vec<Waiting> = look(notebook, call, |snapshot| {
        let views = snapshot.views.iter().enumerate();
        let of_file = |view: &NoteView<'_>| Standing::of_text(view.text).unapproved();
        let waiting = views.filter_map(|(place, view)| Some((place, view, of_file(view)?)));
        let waiting = waiting.map(|(place, view, provenance)| {
            let path = notebook_file(call, view.path)?;
            let (stem, file_stem) = (view.path.rsplit_once('.').map_or(view.path, |(stem, _)| stem), path.file_stem());
            let shown = snapshot.shown(place, &call.scope);
            let names = [&shown, path.as_str(), view.path, stem, file_stem, &view.note.title];
            Ok(Waiting {
                names: names.into_iter().filter(|name| !name.is_empty()).map(ToString::to_string).collect(),
                is_entry: false,
                provenance,
                source: view.note.frontmatter.value("source").and_then(Value::text),
                version: version_of(view.text),
                size: view.text.len() as u64,
                text: view.text.get(view.note.body.clone()).unwrap_or_default().to_string(),
                path,
            })
        });
        waiting.collect::<Result<Vec<Waiting>, Error>>()
    })?;
    found.extend(waiting_in_shared(call).await?);
    Ok(found)
}

/// The shared long-term memory, if it waits. It is outside of the notebook of a project, and in its block.
async fn waiting_in_shared(call: &Call) -> Result<Option<Waiting>, Error> {
    let path = call.scope.layout.shared_long_term();
    if call.scope.layout.below_notebook(path).is_some() {
        return Ok(None);
    }
    let limit = call.scope.limits.max_file_bytes;
    let Loaded::Whole { bytes, .. } = load(&call.fs, path, limit).await? else { return Ok(None) };
    let Ok(text) = core::str::from_utf8(&bytes) else { return Ok(None) };
    let Some(provenance) = Standing::of_text(text).unapproved() else { return Ok(None) };
    let note = Note::parse(text, TagSyntax::default());
    Ok(Some(Waiting {
        names: alloc::vec![call.scope.shown(path), path.to_string()],
        is_entry: false,
        provenance,
        source: note.frontmatter.value("source").and_then(Value::text),
        version: version_of(text),
        size: text.len() as u64,
        text: text.get(note.body).unwrap_or_default().to_string(),
        path: path.clone(),
    }))
}

/// Brings the index up to date, under the configuration as it is now.
pub(super) async fn catch_up(call: &Call, notebook: &Arc<Notebook>) -> Result<Arc<NotebookConfig>, Error> {
    let found = load_config(call).await?;
    let config = adopt(call, notebook, found);
    read_index_file(call, &notebook.corpus).await;
    refresh(call, &notebook.corpus, FolderScope::all(&call.scope.layout), Purpose::Ranked).await?;
    notebook.corpus.borrow_mut().index_notes();
    save_index_file(call, &notebook.corpus).await;
    Ok(config)
}

/// The configuration of the last time, if there was one.
pub(super) fn known_config(notebook: &Notebook) -> Option<Arc<NotebookConfig>> {
    notebook.config.borrow().as_ref().map(|known| known.config.clone())
}

/// Takes a configuration over; where it is another, other files may be notes.
fn adopt(call: &Call, notebook: &Notebook, found: FoundConfig) -> Arc<NotebookConfig> {
    let mut known = notebook.config.borrow_mut();
    if let Some(known) = known.as_ref()
        && known.version == found.version
    {
        return known.config.clone();
    }
    let config = Arc::new(found.config);
    let scope = call.scope.clone();
    let rules = config.clone();
    let coverage = move |path: &RelPath| covers(&scope, &rules, path);
    let mut corpus = notebook.corpus.borrow_mut();
    corpus.cover(Arc::new(coverage), found.version.clone());
    corpus.read_tags(config.tag_syntax());
    *known = Some(KnownConfig { version: found.version, config: config.clone(), warnings: found.warnings });
    config
}

fn covers(scope: &Scope, config: &NotebookConfig, path: &RelPath) -> bool {
    match scope.layout.below_notebook(path) {
        Some(below) => config.is_indexed(below),
        None => path.as_str().ends_with(NOTE_SUFFIX),
    }
}

/// What is not as it should be with the configuration and the notes.
pub(super) fn warnings(call: &Call, notebook: &Notebook) -> Vec<Warning> {
    let known = notebook.config.borrow();
    let mut warnings: Vec<Warning> = known.iter().flat_map(|known| &known.warnings).cloned().collect();
    let corpus = notebook.corpus.borrow();
    // Templates alone may be many: one warning names the first few, and says how many there are.
    let mut problems = corpus.problems();
    if let Some((path, problem)) = problems.next() {
        let mut message = format!("line {}: {}", problem.line, problem.message);
        let others: Vec<String> = problems.map(|(path, _)| call.scope.shown(path)).collect();
        match others.len() {
            0 => {}
            1..=NAMED_PROBLEMS => message.push_str(&format!("; there is a problem in {} too", others.join(", "))),
            count => {
                let named = others.get(..NAMED_PROBLEMS).unwrap_or_default().join(", ");
                message.push_str(&format!("; there are problems in {count} others, such as {named}"));
            }
        }
        warnings.push(Warning::new(&call.scope.shown(path), message));
    }
    warnings
}

/// Answers from the index.
pub(super) fn look<T>(
    notebook: &Notebook,
    call: &Call,
    answer: impl FnOnce(&Snapshot<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let corpus = notebook.corpus.borrow();
    let parsed = ParsedNotes::of(&corpus.files)?;
    answer(&Snapshot::of(&parsed, &call.scope))
}

/// Answers from the index, as zk would see it or as it is.
pub(super) fn look_as<T>(
    notebook: &Notebook,
    call: &Call,
    as_zk: bool,
    answer: impl FnOnce(&Snapshot<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    if !as_zk {
        return look(notebook, call, answer);
    }
    let corpus = notebook.corpus.borrow();
    let parsed = ParsedNotes::of_zk(&corpus.files)?;
    answer(&Snapshot::of_zk(&parsed, &call.scope))
}

/// Reads the texts that an answer needs and that the index was not made from.
pub(super) async fn read_texts(
    call: &Call,
    notebook: &Arc<Notebook>,
    needed: impl Fn(&Snapshot<'_>) -> Result<Vec<DocId>, Error>,
) -> Result<(), Error> {
    read_texts_as(call, notebook, false, needed).await
}

/// Reads the texts that an answer needs, as zk would see the notes or as they are.
pub(super) async fn read_texts_as(
    call: &Call,
    notebook: &Arc<Notebook>,
    as_zk: bool,
    needed: impl Fn(&Snapshot<'_>) -> Result<Vec<DocId>, Error>,
) -> Result<(), Error> {
    for _ in 0..MAX_ATTEMPTS {
        let missing: Vec<DocId> = {
            let ids = look_as(notebook, call, as_zk, &needed)?;
            let corpus = notebook.corpus.borrow();
            ids.into_iter().filter(|&id| corpus.files.doc(id).is_some_and(|doc| doc.text.is_none())).collect()
        };
        if missing.is_empty() {
            return Ok(());
        }
        load_texts(call, &notebook.corpus, &missing).await;
        notebook.corpus.borrow_mut().index_notes();
    }
    Ok(())
}
