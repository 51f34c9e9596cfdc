//! Brings the index of the notebook up to date, and answers from it.

use atomic_refcell::AtomicRefCell;

use super::config::NotebookConfig;
use super::config_file::{FoundConfig, load_config};
use super::listing::Listing;
use super::session::Session;
use super::snapshot::{ParsedNotes, Snapshot};
use super::types::Warning;
use crate::changes::Call;
use crate::engine::Scope;
use crate::search::{self, Corpus, DocId, IndexedFile, Needed, Skipped, load_texts};
use crate::store::{Layout, NOTE_SUFFIX, RelPath};
use saddlebag_collections::{order, prelude::*, sorted::SortedMap};
use saddlebag_protocol::{Error, ErrorCode, Version};

/// Maximum number of attempts to read notes that change meanwhile.
pub(super) const MAX_ATTEMPTS: u32 = 8;

/// Number of notes that are in memory with their text while a command reads many notes.
const TEXTS_AT_ONCE: usize = 1024;

/// Maximum number of further notes that a warning about frontmatter names.
const NAMED_PROBLEMS: usize = 3;

/// Parts of a memory that the commands of the notebook need.
pub(crate) struct NotebookCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) notebook: &'a Arc<Notebook>,
}

/// State that the commands of one notebook share.
#[derive(Default)]
pub(crate) struct Notebook {
    pub(crate) corpus: Arc<AtomicRefCell<Corpus>>,
    pub(super) session: AtomicRefCell<Session>,
    /// Listing whose next page may be asked for.
    pub(super) listing: AtomicRefCell<Option<Listing>>,
    config: AtomicRefCell<Option<KnownConfig>>,
    /// Notebooks of other projects that were asked, by the folder of the project.
    others: AtomicRefCell<SortedMap<String, Arc<Notebook>>>,
}

/// Maximum number of notebooks of other projects that stay in memory.
const MAX_OTHERS: usize = 32;

impl Notebook {
    /// Returns the notebook of another project, whose index stays for the next question.
    pub(crate) fn other(&self, project: &str) -> Arc<Self> {
        let mut others = self.others.borrow_mut();
        if let Some(known) = others.get(project) {
            return known.clone();
        }
        if others.len() >= MAX_OTHERS {
            others.clear();
        }
        let other = Arc::new(Self::default());
        others.insert(project.to_string(), other.clone());
        other
    }

    pub(crate) fn new(corpus: Arc<AtomicRefCell<Corpus>>) -> Self {
        Self { corpus, ..Self::default() }
    }
}

/// Configuration that the index was made with.
#[derive(Clone)]
struct KnownConfig {
    version: Option<Version>,
    config: Arc<NotebookConfig>,
    warnings: Vec<Warning>,
}

/// Takes over the current configuration, which says which files are notes.
pub(crate) async fn adopt_config(call: &Call, notebook: &Arc<Notebook>) -> Result<(), Error> {
    adopt(call, notebook, load_config(call).await?);
    Ok(())
}

/// Brings the index up to date, under the current configuration, with the parsed notes.
pub(super) async fn catch_up(call: &Call, notebook: &Arc<Notebook>) -> Result<Arc<NotebookConfig>, Error> {
    catch_up_for(call, notebook, Needed::Notes).await
}

/// Brings the index up to date, at least the part that is needed.
pub(super) async fn catch_up_for(
    call: &Call,
    notebook: &Arc<Notebook>,
    needed: Needed<'_>,
) -> Result<Arc<NotebookConfig>, Error> {
    let found = load_config(call).await?;
    let config = adopt(call, notebook, found);
    search::catch_up(call, &notebook.corpus, needed).await?;
    Ok(config)
}

/// Returns the configuration of the last update, if there was one.
pub(super) fn known_config(notebook: &Notebook) -> Option<Arc<NotebookConfig>> {
    notebook.config.borrow().as_ref().map(|known| known.config.clone())
}

/// Takes over a configuration. With another configuration, other files may be notes.
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
    corpus.read_tags(config.tags);
    *known = Some(KnownConfig { version: found.version, config: config.clone(), warnings: found.warnings });
    config
}

fn covers(scope: &Scope, config: &NotebookConfig, path: &RelPath) -> bool {
    match scope.layout.below_notebook(path) {
        Some(below) => config.is_indexed(below),
        None => path.as_str().ends_with(NOTE_SUFFIX),
    }
}

/// Returns problems of the configuration and of the notes that do not stop a command.
pub(super) fn warnings(call: &Call, notebook: &Notebook) -> Vec<Warning> {
    let known = notebook.config.borrow();
    let mut warnings: Vec<Warning> = known.iter().flat_map(|known| &known.warnings).cloned().collect();
    let corpus = notebook.corpus.borrow();
    let is_default = known.as_ref().is_some_and(|known| known.version.is_none());
    if is_default && call.scope.layout.project_folder().is_none() {
        let left_out = corpus.folders().filter(|folder| Layout::may_be_of_notes(folder));
        warnings.extend(left_out.map(|folder| {
            let message = "its notes are left out, because folders of `projects/` are the memory of projects; move it, or give \
                           `projects/` another name";
            Warning::new(&call.scope.display_path(folder), message)
        }));
    }
    // Templates alone may be many, so one warning names the first few and the number of the others.
    let mut problems = corpus.problems();
    if let Some((path, problem)) = problems.next() {
        let mut message = format!("line {}: {}", problem.line, problem.message);
        let others: Vec<String> = problems.map(|(path, _)| call.scope.display_path(path)).collect();
        match others.len() {
            0 => {}
            1..=NAMED_PROBLEMS => message.push_str(&format!("; there is a problem in {} too", others.join(", "))),
            count => {
                let named = others.get(..NAMED_PROBLEMS).unwrap_or_default().join(", ");
                message.push_str(&format!("; there are problems in {count} others, such as {named}"));
            }
        }
        warnings.push(Warning::new(&call.scope.display_path(path), message));
    }
    warnings
}

/// Returns the notes that could not be read.
pub(super) fn skipped(call: &Call, notebook: &Notebook) -> Vec<Skipped> {
    notebook.corpus.borrow().skipped(|path| call.scope.display_path(path))
}

/// Calls a function with the notes of the index.
pub(super) fn look<T>(
    notebook: &Notebook,
    call: &Call,
    answer: impl FnOnce(&Snapshot<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let corpus = notebook.corpus.borrow();
    let parsed = ParsedNotes::from_corpus(&corpus)?;
    answer(&Snapshot::from_notes(&parsed, call))
}

/// Calls a function with the notes of the index like [`look`], for an answer that finds notes by name. These notes are
/// first compared with their files, because others may have written the index.
pub(super) async fn look_checked<T>(
    call: &Call,
    notebook: &Arc<Notebook>,
    answer: impl Fn(&Snapshot<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    for _ in 0..MAX_ATTEMPTS {
        let (answered, found) = {
            let corpus = notebook.corpus.borrow();
            let parsed = ParsedNotes::from_corpus(&corpus)?;
            let snapshot = Snapshot::from_notes(&parsed, call);
            (answer(&snapshot), snapshot.into_found())
        };
        let is_unread = |id: &DocId| notebook.corpus.borrow().is_known_from_index_only(*id);
        let unread: Vec<DocId> = found.iter().copied().filter(is_unread).collect();
        if !unread.is_empty() {
            load_texts(call, &notebook.corpus, &unread).await;
        }
        let mut corpus = notebook.corpus.borrow_mut();
        corpus.index_notes();
        // Every note is compared, even after a difference.
        if found.iter().filter(|id| !corpus.is_as_its_file(**id)).count() == 0 {
            return answered;
        }
    }
    let message = format!("notes changed {MAX_ATTEMPTS} times while they were looked for");
    Err(Error::new(ErrorCode::Contention, message, "ask again"))
}

/// Calls a function with the notes of the index, as zk would see them or as they are.
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
    let parsed = ParsedNotes::from_zk_corpus(&corpus)?;
    answer(&Snapshot::from_zk_notes(&parsed, call))
}

/// Reads the notes that an answer needs. The notes are as zk would see them, or as they are.
pub(super) async fn read_texts(
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
    // Without their text, the answer would show notes as empty.
    Err(changed_meanwhile())
}

/// Calls a function with each of these notes while its text is in memory. All notes together may not fit there. Returns
/// false if one of the notes has changed since its number was known.
pub(super) async fn with_texts(
    call: &Call,
    notebook: &Arc<Notebook>,
    ids: &[DocId],
    mut answer: impl FnMut(DocId, &IndexedFile),
) -> bool {
    for batch in ids.chunks(TEXTS_AT_ONCE) {
        read_missing(call, notebook, batch.to_vec()).await;
        let is_complete = {
            let corpus = notebook.corpus.borrow();
            batch.iter().all(|&id| {
                let document = corpus.files.doc(id).filter(|document| document.text.is_some());
                document.map(|document| answer(id, document)).is_some()
            })
        };
        notebook.corpus.borrow_mut().drop_texts_of(batch);
        if !is_complete {
            return false;
        }
    }
    true
}

/// Reads the notes that are not in memory.
pub(super) async fn read_missing(call: &Call, notebook: &Arc<Notebook>, mut ids: Vec<DocId>) {
    {
        let corpus = notebook.corpus.borrow();
        ids.retain(|&id| corpus.files.doc(id).is_some_and(|document| document.text.is_none()));
    }
    order::sort_slice(&mut ids, Ord::cmp);
    ids.dedup();
    if !ids.is_empty() {
        load_texts(call, &notebook.corpus, &ids).await;
        notebook.corpus.borrow_mut().index_notes();
    }
}

/// Returns the error for notes that changed during each attempt to read them.
pub(super) fn changed_meanwhile() -> Error {
    let message = format!("notes changed {MAX_ATTEMPTS} times while they were read");
    Error::new(ErrorCode::Contention, message, "ask again")
}

#[cfg(test)]
mod tests {
    use super::super::list_notes::list_notes;
    use super::super::listing::NoteList;
    use super::super::testing::{Store, call_at, day, path};
    use super::*;
    use saddlebag_markdown::{Note, TagSyntax};

    const TEXT: &str = "# Port\n\n5433\n";

    /// Returns text and body of each note, after the parsed record of `port.md` was damaged.
    fn listed(bytes: &[u8], is_text_at_hand: bool) -> Result<Vec<(String, String)>, Error> {
        let (mut store, notebook) = (Store::with(&[("facts/port.md", TEXT)]), Arc::new(Notebook::default()));
        let list = |store: &mut Store| {
            let notebook = Arc::clone(&notebook);
            store.run(|fs| async move {
                let asked = NoteList { with_text: true, ..NoteList::default() };
                list_notes(&call_at(fs, day()), &notebook, asked).await
            })
        };
        list(&mut store)?;
        notebook.corpus.borrow_mut().files.damage_note(&path("facts/port.md"), bytes);
        if !is_text_at_hand {
            notebook.corpus.borrow_mut().files.drop_texts(0);
        }
        let reply = list(&mut store)?;
        Ok(reply.items.into_iter().map(|note| (note.text, note.body)).collect())
    }

    /// No note vanishes through the index: a note that cannot be read back from it, or does not fit
    /// its text, is parsed again, or the command fails with an error that names the note.
    #[test]
    fn a_note_that_cannot_be_read_back_from_the_index_does_not_vanish() {
        assert_eq!(listed(&[0xff; 3], true).expect("answered"), [(TEXT.into(), "5433".into())]);
        let error = listed(&[0xff; 3], false).expect_err("the text is not at hand");
        assert_eq!(error.code, ErrorCode::Storage);
        assert!(error.message.contains("facts/port.md"), "{error}");
    }

    #[test]
    fn a_note_that_is_found_by_name_has_the_title_of_its_file() {
        let (mut store, notebook) = (Store::with(&[("facts/port.md", TEXT)]), Arc::new(Notebook::default()));
        let titles = store.run(|fs| async move {
            let call = call_at(fs, day());
            catch_up(&call, &notebook).await?;
            let forged = Note::parse("# Key\n\n5433\n", TagSyntax::default()).encode().expect("encoded");
            notebook.corpus.borrow_mut().files.forge_note(&path("facts/port.md"), &forged);
            let title = |snapshot: &Snapshot<'_>| snapshot.title(snapshot.find("facts/port.md")?).map(String::from);
            let by_index = look(&notebook, &call, title)?;
            let of_other_name = look_checked(&call, &notebook, |snapshot| snapshot.find("Key")).await;
            Ok::<_, Error>((by_index, look_checked(&call, &notebook, title).await?, of_other_name.is_err()))
        });
        assert_eq!(titles, Ok(("Key".into(), "Port".into(), true)));
    }

    #[test]
    fn a_note_of_the_index_that_does_not_fit_its_text_is_parsed_again() {
        let other = Note::parse(&format!("# {}\n\nother", "x".repeat(99)), TagSyntax::default());
        let bytes = other.encode().expect("encoded");
        assert_eq!(listed(&bytes, true).expect("answered"), [(TEXT.into(), "5433".into())]);
    }
}
