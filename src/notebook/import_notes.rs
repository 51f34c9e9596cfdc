//! The part of `import-items` that creates a note for each item from elsewhere, and never changes what a person has touched.
//!
//! The field `source` of an imported note has the id of the text and two digests: `import:codex 019a
//! #0f1e2d3c4b5a69780f1e2d3c4b5a6978`. The first digest is of title and text, the second of the other fields. They tell
//! if a person has edited the note since, and if the same text came under another id.

use super::checks::{checked_content, checked_tags, checked_title};
use super::config::NotebookConfig;
use super::draft::safe_name;
use super::files::{below_notebook, check_new_note, create_note, normalized_lines, notebook_file};
use super::index::{Notebook, NotebookCall, catch_up, look};
use super::rename::settle;
use super::slug::slug;
use crate::changes::{Backups, Call, File, history_of};
use crate::engine::{Loaded, load_all};
use crate::json::word_and_value;
use crate::request::{Run, at_most, request};
use crate::store::{Layout, NOTE_SUFFIX, RelPath, utc_text};
use crate::trust::{ForModel, Provenance, TrustState, mark, sha256};
use saddlebag_collections::{
    part::TextPart,
    prelude::*,
    sorted::{SortedMap, SortedSet},
};
use saddlebag_markdown::{Frontmatter, Value, head, parse_date, set_field, yaml_string};
use saddlebag_protocol::{EntryKind, Error, ErrorCode};

/// Maximum number of notes in one command.
pub const MAX_IMPORTED_NOTES: usize = 256;

/// Maximum size of the content of one command, in bytes.
pub const MAX_IMPORTED_NOTES_BYTES: usize = 4 << 20;

/// Maximum size of an id, in bytes.
pub const MAX_IMPORT_ID_BYTES: usize = 512;

/// Field of a note with its origin.
const SOURCE: &str = "source";

/// Prefixes of the lines of frontmatter that are not part of a digest.
const NOT_DIGESTED: [&str; 2] = ["source:", "origin-"];

/// Length of one digest in hexadecimal digits.
const DIGEST_DIGITS: usize = 16;

/// Length of the part of the file name that the id gives, in hexadecimal digits.
const NAME_DIGITS: usize = 8;

/// Maximum length of the part of the file name that the title gives, in bytes.
const MAX_NAME_BYTES: usize = 60;

/// Creates a note for each item from elsewhere. The notes wait for approval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportNotes {
    /// Folder of the notebook for new notes.
    pub folder: String,
    /// Notes, at most [`MAX_IMPORTED_NOTES`] with [`MAX_IMPORTED_NOTES_BYTES`] in total.
    pub notes: Vec<ImportedNote>,
    /// If set, only reports what the import would do.
    pub dry_run: bool,
}

/// A note to import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedNote {
    /// Format and place of the text, such as `codex 019a`; one line of 1 to [`MAX_IMPORT_ID_BYTES`] bytes.
    /// Content with the same id is the same note.
    pub id: String,
    /// Title: one line.
    pub title: String,
    /// Content in Markdown.
    pub content: String,
    /// Tags, with or without `#`.
    pub tags: Vec<String>,
    /// Time of the text, in RFC 3339.
    pub date: String,
}

/// Reply of [`ImportNotes`].
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportNotesReply {
    /// Results, one per note, in order.
    pub notes: Vec<NoteImport>,
}

/// Result for one note of an import.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoteImport {
    /// Id of the text.
    pub id: String,
    /// Path of the note; empty if there is none.
    pub path: String,
    /// Result of the import.
    #[serde(flatten)]
    pub state: NoteImportState,
}

/// Result of importing one note.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "StateView")]
#[non_exhaustive]
pub enum NoteImportState {
    /// Created: the note is new.
    Created,
    /// Updated: the text changed at its origin, and nobody edited or approved the note.
    Updated,
    /// Unchanged: the note has this text, or another note of an import has it.
    Unchanged,
    /// Not imported: the note stays as it is, or stays forgotten. The value is the reason.
    Kept(ForModel),
    /// Not imported: the text cannot be a note. The value is the reason.
    Rejected(ForModel),
}

word_and_value! {
    NoteImportState as StateView;
    /// Result of the import.
    state {
        Created = "created",
        Updated = "updated",
        Unchanged = "unchanged",
        Kept(reason) = "kept",
        Rejected(reason) = "rejected",
    }
    /// For `kept` and `rejected`, the reason.
    reason: ForModel
}

request!(ImportNotes "import-items" => ImportNotesReply, Replaces, |name| {
    let note = ImportedNote {
        id: format!("git there {name}"),
        title: format!("Choose {name}"),
        content: "Because it is simpler.".into(),
        tags: vec!["commit".into()],
        date: "2026-05-25T12:00:00Z".into(),
    };
    let request = Self { folder: "commits".into(), notes: vec![note], dry_run: false };
    vec![Self { dry_run: true, ..request.clone() }, request]
});

impl Run<NotebookCall<'_>> for ImportNotes {
    async fn run(self, with: &NotebookCall<'_>) -> Result<ImportNotesReply, Error> {
        check_sizes(&self)?;
        let call = &with.call.of_provenance(Some(Provenance::Imported))?;
        check_folder(call, &self.folder)?;
        if !self.dry_run {
            settle(call, with.notebook).await;
        }
        let mut work = Work::new(call, with.notebook, &self).await?;
        let mut notes = Vec::with_capacity(self.notes.len());
        for note in &self.notes {
            let (path, state) = match work.import(note).await {
                Ok((path, state)) => (call.scope.display_path(&path), state),
                Err(error) if error.code == ErrorCode::Storage => return Err(error),
                Err(error) => (String::new(), NoteImportState::Rejected(ForModel::escaped(&error.message))),
            };
            notes.push(NoteImport { id: note.id.clone(), path, state });
        }
        Ok(ImportNotesReply { notes })
    }
}

fn check_sizes(request: &ImportNotes) -> Result<(), Error> {
    let size =
        |note: &ImportedNote| note.title.len() + note.content.len() + note.tags.iter().map(String::len).sum::<usize>();
    let bytes = request.notes.iter().map(size).sum();
    at_most("notes of one command", request.notes.len(), MAX_IMPORTED_NOTES)?;
    at_most("bytes of one command", bytes, MAX_IMPORTED_NOTES_BYTES)
}

/// Refuses a folder whose notes would not be found, or that belongs to another memory.
fn check_folder(call: &Call, folder: &str) -> Result<(), Error> {
    let path = notebook_file(call, &format!("{folder}/x{NOTE_SUFFIX}"))?;
    if folder.contains('/') || safe_name(folder) != folder {
        let message = format!("`{}` is not the name of a folder for notes", folder.escape_debug());
        return Err(Error::invalid_argument(message, "give one visible folder, such as commits"));
    }
    check_new_note(call, &path)
}

/// Imported notes that the notebook has or had, by id and by the digest of their text.
struct Work<'a> {
    call: &'a Call,
    request: &'a ImportNotes,
    config: Arc<NotebookConfig>,
    by_id: SortedMap<String, RelPath>,
    by_text: SortedMap<String, RelPath>,
    /// Forgotten notes, by id and by digest: the backup, or the path of the note if the history keeps its text.
    forgotten: SortedMap<String, RelPath>,
    /// Paths that this command has planned. A dry run creates none of them.
    planned: SortedSet<RelPath>,
}

/// Parsed `source` of an imported note.
struct Mark {
    id: String,
    text: String,
    fields: String,
}

impl Mark {
    fn from_frontmatter(frontmatter: &Frontmatter) -> Option<Self> {
        let source = frontmatter.value(SOURCE).and_then(Value::text)?;
        let (place, digests) = source.strip_prefix("import:")?.rsplit_once(" #")?;
        let id = place.strip_suffix(":1")?;
        let (text, fields) = digests.split_at_checked(DIGEST_DIGITS)?;
        (fields.len() == DIGEST_DIGITS).then(|| Self { id: id.into(), text: text.into(), fields: fields.into() })
    }

    fn of_text(id: &str, text: &str) -> Self {
        let frontmatter = Frontmatter::parse(text);
        let title = frontmatter.value("title").and_then(Value::text).unwrap_or_default();
        let body = normalized_lines(text.part(frontmatter.span.end..)).join("\n");
        let is_digested = |line: &&str| !NOT_DIGESTED.iter().any(|prefix| line.starts_with(prefix));
        let fields: Vec<&str> =
            text.part(frontmatter.span.clone()).lines().map(str::trim_end).filter(is_digested).collect();
        let digest = |text: &str| head(&sha256(text), DIGEST_DIGITS).to_string();
        Self { id: id.into(), text: digest(&format!("{title}\n{body}")), fields: digest(&fields.join("\n")) }
    }

    fn source(&self) -> String {
        format!("import:{}:1 #{}{}", self.id, self.text, self.fields)
    }

    fn is_same_text(&self, other: &Self) -> bool {
        self.text == other.text && self.fields == other.fields
    }
}

impl<'a> Work<'a> {
    async fn new(call: &'a Call, notebook: &Arc<Notebook>, request: &'a ImportNotes) -> Result<Self, Error> {
        let config = catch_up(call, notebook).await?;
        let mut work = Self {
            call,
            request,
            config,
            by_id: SortedMap::default(),
            by_text: SortedMap::default(),
            forgotten: SortedMap::default(),
            planned: SortedSet::default(),
        };
        let marks = look(notebook, call, |snapshot| {
            let marks = snapshot
                .views
                .iter()
                .filter_map(|view| Some((view.path, Mark::from_frontmatter(&view.note.frontmatter)?)));
            marks.map(|(path, mark)| Ok((notebook_file(call, path)?, mark))).collect::<Result<Vec<_>, Error>>()
        })?;
        for (path, mark) in marks {
            work.by_id.insert(mark.id, path.clone());
            work.by_text.insert(mark.text, path);
        }
        work.find_forgotten().await?;
        Ok(work)
    }

    /// Finds the notes of the folder that are gone and whose text is kept.
    async fn find_forgotten(&mut self) -> Result<(), Error> {
        let call = self.call;
        let folder = notebook_file(call, &self.request.folder)?;
        let mut entries = call.list(Some(&folder)).await?;
        // Backups are beside the notes or in their own folder.
        let note = notebook_file(call, &format!("{}/x{NOTE_SUFFIX}", self.request.folder))?;
        if let Some(backups) = Layout::backup_of(&note).parent().filter(|backups| *backups != folder) {
            entries.extend(call.list(Some(&backups)).await?);
        }
        let files = entries.iter().filter(|entry| entry.kind == EntryKind::File).map(|entry| &entry.path);
        let (notes, others): (Vec<&RelPath>, Vec<&RelPath>) =
            files.partition(|path| call.scope.layout.reserved_for(path).is_none());
        let kept: SortedSet<RelPath> = notes.into_iter().map(Layout::backup_of).collect();
        let lost: Vec<&RelPath> = others.into_iter().filter(|path| !kept.contains(*path)).collect();
        let texts = load_all(&call.fs, &lost, call.scope.limits.max_file_bytes).await;
        for (path, loaded) in lost.iter().zip(texts) {
            let loaded = loaded.map_err(|error| Error::storage(Some(path), &error))?;
            let Loaded::Whole { bytes, .. } = loaded else { continue };
            let Ok(text) = core::str::from_utf8(&bytes) else { continue };
            self.add_forgotten(text, path);
        }
        // A backup is newer than the text in the history.
        let is_there = |path: &RelPath| {
            let backup = Layout::backup_of(path);
            entries.iter().any(|entry| entry.path == *path || entry.path == backup)
        };
        let is_wanted = |path: &RelPath| {
            path.parent().as_ref() == Some(&folder) && call.scope.layout.reserved_for(path).is_none() && !is_there(path)
        };
        for removed in call.removed_and_kept(&history_of(&note)?, is_wanted).await? {
            if let Ok(text) = core::str::from_utf8(&removed.bytes) {
                self.add_forgotten(text, &removed.path);
            }
        }
        Ok(())
    }

    /// Adds a forgotten note. `path` is that of its backup, or its own if the history keeps its text.
    fn add_forgotten(&mut self, text: &str, path: &RelPath) {
        let Some(mark) = Mark::from_frontmatter(&Frontmatter::parse(text)) else { return };
        self.forgotten.insert(mark.id, path.clone());
        self.forgotten.insert(mark.text, path.clone());
    }

    /// Imports one note. Returns its path with the result.
    async fn import(&mut self, note: &ImportedNote) -> Result<(RelPath, NoteImportState), Error> {
        let (text, mark) = self.rendered(note)?;
        if let Some(path) = self.by_id.get(&mark.id).cloned() {
            let state = self.change(&path, text, &mark).await?;
            return Ok((path, state));
        }
        if let Some(path) = self.by_text.get(&mark.text).cloned() {
            return Ok((path, NoteImportState::Unchanged));
        }
        if let Some(backup) = self.forgotten.get(&mark.id).or_else(|| self.forgotten.get(&mark.text)).cloned() {
            let shown = self.call.scope.display_path(&backup);
            let reason = match Layout::is_backup(&backup) {
                true => format!("it was forgotten; its text is in {shown}, and `restore` brings it back"),
                false => format!("{shown} was forgotten, and `restore` brings it back"),
            };
            return Ok((backup, NoteImportState::Kept(ForModel::escaped(&reason))));
        }
        let path = self.new_path(note)?;
        let new = self.call.screen.write(&File::absent(&path), text)?;
        self.call.check_rejected(&new).await?;
        let is_free = if self.request.dry_run {
            !self.planned.contains(&path) && load_all(&self.call.fs, &[&path], 0).await == [Ok(Loaded::Absent)]
        } else {
            create_note(self.call, &new).await?
        };
        if !is_free {
            let reason = "there is a note at its path that does not name this origin, or no longer does";
            return Ok((path, NoteImportState::Kept(ForModel::escaped(reason))));
        }
        self.planned.insert(path.clone());
        self.by_id.insert(mark.id, path.clone());
        self.by_text.insert(mark.text, path.clone());
        Ok((path, NoteImportState::Created))
    }

    /// Replaces the text of a note that is as it was imported.
    async fn change(&self, path: &RelPath, text: String, new: &Mark) -> Result<NoteImportState, Error> {
        let call = self.call;
        if self.planned.contains(path) {
            return Ok(NoteImportState::Unchanged);
        }
        let changed = call.update(path, Backups::Keep, |file| {
            let kept = |reason: &str| Ok((None, NoteImportState::Kept(ForModel::escaped(reason))));
            let Some(before) = file.text()? else { return kept("it was removed meanwhile; import again") };
            let Some(mark) = Mark::from_frontmatter(&Frontmatter::parse(before)) else {
                return kept("it was edited here");
            };
            if mark.is_same_text(new) {
                return Ok((None, NoteImportState::Unchanged));
            }
            if TrustState::from_text(before).unapproved().is_none() {
                return kept("it was approved here, and its origin has different text now");
            }
            if !mark.is_same_text(&Mark::of_text(&mark.id, before)) {
                return kept("it was edited here, and its origin has different text now");
            }
            let change = call.screen.write(file, text.as_str())?;
            Ok((Some(change).filter(|_| !self.request.dry_run), NoteImportState::Updated))
        });
        Ok(changed.await?.0)
    }

    /// Returns the text of the file, and its mark.
    fn rendered(&self, note: &ImportedNote) -> Result<(String, Mark), Error> {
        let screen = &self.call.screen;
        let is_line = !note.id.trim().is_empty() && note.id == note.id.trim() && !note.id.chars().any(char::is_control);
        if !is_line || note.id.len() > MAX_IMPORT_ID_BYTES {
            let shown = head(&note.id, 60).escape_debug();
            let help = format!("an id is one line of 1 to {MAX_IMPORT_ID_BYTES} bytes");
            return Err(Error::invalid_argument(format!("`{shown}` is not an id"), help));
        }
        screen.name("the id", &note.id)?;
        let title = checked_title(&note.title)?;
        screen.name("title", title)?;
        let tags = checked_tags(&note.tags)?;
        tags.iter().try_for_each(|tag| screen.name("tag", tag))?;
        let content = screen.summary("content", checked_content(&note.content)?)?;
        if content.trim().is_empty() {
            return Err(Error::invalid_argument("the content is empty", "leave the note out"));
        }
        let date = parse_date(&note.date).ok_or_else(|| {
            let message = format!("`{}` is not a date", head(&note.date, 60).escape_debug());
            Error::invalid_argument(message, "give it as in 2026-05-25T12:00:00Z")
        })?;
        let tags: Vec<String> = tags.iter().map(|tag| yaml_string(tag)).collect();
        let (title, tags, date) = (yaml_string(title), tags.join(", "), utc_text(date));
        let text = format!("---\ntitle: {title}\ndate: {date}\ntags: [{tags}]\n---\n\n{}\n", content.trim());
        let unreadable = || Error::internal(format!("the metadata of `{}` cannot be written", note.id.escape_debug()));
        let text = mark(&text, Provenance::Imported).ok_or_else(unreadable)?;
        let mark = Mark::of_text(&note.id, &text);
        let text = set_field(&text, SOURCE, &yaml_string(&mark.source()));
        let text = self.call.signature()?.sign(&text).ok_or_else(unreadable)?;
        match Mark::from_frontmatter(&Frontmatter::parse(&text)) {
            Some(read) if read.id == mark.id && read.is_same_text(&mark) => Ok((text, mark)),
            _ => Err(unreadable()),
        }
    }

    /// Returns the path of a new note. It depends only on title and id, so that two programs that import at once create
    /// one note.
    fn new_path(&self, note: &ImportedNote) -> Result<RelPath, Error> {
        let words = slug(&note.title);
        let (words, id) = (head(&words, MAX_NAME_BYTES).trim_end_matches('-'), sha256(&note.id));
        let folder = &self.request.folder;
        let extension = &self.config.note_at(&format!("{folder}/x")).extension;
        let path = notebook_file(self.call, &format!("{folder}/{words}-{}.{extension}", head(&id, NAME_DIGITS)))?;
        check_new_note(self.call, &path)?;
        if self.config.is_indexed(below_notebook(self.call, &path)) {
            return Ok(path);
        }
        let message = format!("`{}` is excluded by the configuration", self.request.folder.escape_debug());
        Err(Error::invalid_argument(message, "include the folder in .zk/config.toml"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::rename::Rename;
    use super::super::testing::{Store, run_alone, run_items, run_part};
    use super::*;
    use crate::items::Forget;
    use crate::trust::approve;

    const ID: &str = "git ~/shop 1f0c9d";
    const PATH: &str = "commits/park-mail-after-four-attempts-12d622fe.md";

    fn note(id: &str, title: &str, content: &str) -> ImportedNote {
        ImportedNote {
            id: id.into(),
            title: title.into(),
            content: content.into(),
            tags: vec!["commit".into(), "feat".into()],
            date: "2026-05-20T10:00:00+02:00".into(),
        }
    }

    fn parked(content: &str) -> ImportedNote {
        note(ID, "Park mail after four attempts", content)
    }

    fn import_with(store: &mut Store, notes: &[ImportedNote], dry_run: bool) -> Vec<NoteImport> {
        let request = ImportNotes { folder: "commits".into(), notes: notes.to_vec(), dry_run };
        store.run(|fs| run_part(fs, request)).expect("imported").notes
    }

    fn import(store: &mut Store, note: ImportedNote) -> NoteImportState {
        import_with(store, &[note], false).pop().expect("one result").state
    }

    fn kept(state: NoteImportState, words: &str) {
        assert!(matches!(&state, NoteImportState::Kept(reason) if reason.as_str().contains(words)), "{state:?}");
    }

    #[test]
    fn an_imported_note_waits_for_approval_and_names_its_source() {
        let mut store = Store::default();
        let done = import_with(&mut store, &[parked("Because the server blocks us after five.\r\n\r\n")], false);
        assert_eq!((done[0].path.as_str(), &done[0].state), (PATH, &NoteImportState::Created));
        let text = store.text(PATH);
        let start = "---\ntitle: \"Park mail after four attempts\"\ndate: 2026-05-20T08:00:00Z\n\
                     tags: [\"commit\", \"feat\"]\nprovenance: import\nsource: \"import:git ~/shop 1f0c9d:1 #";
        assert!(text.starts_with(start), "{text}");
        assert!(text.ends_with("\"\n---\n\nBecause the server blocks us after five.\n"), "{text}");
        assert_eq!(TrustState::from_text(&text), TrustState::new(Provenance::Imported));
    }

    #[test]
    fn repeating_an_import_changes_nothing() {
        let mut store = Store::default();
        assert_eq!(import(&mut store, parked("one")), NoteImportState::Created);
        let (text, writes) = (store.text(PATH), store.writes.len());
        assert_eq!(import(&mut store, parked("one")), NoteImportState::Unchanged);
        assert_eq!((store.text(PATH), store.writes.len()), (text, writes));
        let both = import_with(&mut store, &[parked("one"), parked("one")], false);
        assert!(both.iter().all(|note| note.state == NoteImportState::Unchanged && note.path == PATH));
    }

    #[test]
    fn the_same_text_under_another_id_makes_no_second_note() {
        let mut store = Store::default();
        import(&mut store, parked("one"));
        let done = import_with(&mut store, &[note("git ~/shop 77aa", "Park mail after four attempts", "one")], false);
        assert_eq!((done[0].path.as_str(), &done[0].state), (PATH, &NoteImportState::Unchanged));
        let twice = [note("a 1", "Two", "same"), note("a 2", "Two", "same")];
        let states: Vec<_> = import_with(&mut store, &twice, false).into_iter().map(|note| note.state).collect();
        assert_eq!(states, [NoteImportState::Created, NoteImportState::Unchanged]);
        assert_eq!(store.names().iter().filter(|name| name.ends_with(".md")).count(), 2);
    }

    #[test]
    fn a_note_that_nobody_touched_follows_its_origin() {
        let mut store = Store::default();
        import(&mut store, parked("one"));
        let before = store.text(PATH);
        assert_eq!(import(&mut store, parked("two")), NoteImportState::Updated);
        assert!(store.text(PATH).ends_with("two\n"));
        assert_eq!(store.text(Layout::backup_of(&RelPath::new(PATH).expect("a path")).as_str()), before);
        assert_eq!(import(&mut store, parked("two")), NoteImportState::Unchanged);
    }

    #[test]
    fn what_a_person_edited_or_approved_stays() {
        for edit in [
            |text: &str| text.replace("one", "edited"),
            |text: &str| text.replace("\"feat\"", "\"mine\""),
            |text: &str| text.replace("title: \"Park", "title: \"Keep"),
        ] {
            let mut store = Store::default();
            import(&mut store, parked("one"));
            store.put(PATH, edit(&store.text(PATH)).into_bytes());
            let text = store.text(PATH);
            kept(import(&mut store, parked("two")), "edited here");
            assert_eq!(store.text(PATH), text);
        }
        let mut store = Store::default();
        import(&mut store, parked("one"));
        let approved = approve(&store.text(PATH), 1_779_700_000_000_000_000).expect("approved");
        store.put(PATH, approved.clone().into_bytes());
        assert_eq!(import(&mut store, parked("one")), NoteImportState::Unchanged);
        kept(import(&mut store, parked("two")), "approved here");
        assert_eq!(store.text(PATH), approved);
        // A note without its source is not taken for an import again, and not written over.
        store.put(PATH, b"# Mine\n".to_vec());
        kept(import(&mut store, parked("one")), "its path");
        assert_eq!(store.text(PATH), "# Mine\n");
    }

    #[test]
    fn a_forgotten_note_stays_forgotten_even_after_a_rename() {
        let mut store = Store::default();
        import(&mut store, parked("one"));
        store.run(|fs| run_items(fs, Forget::new(PATH))).expect("forgotten");
        kept(import(&mut store, parked("one")), "`restore` brings it back");
        kept(import(&mut store, parked("two")), "`restore` brings it back");
        kept(
            import(&mut store, note("another id", "Park mail after four attempts", "one")),
            "`restore` brings it back",
        );
        assert!(!store.has(PATH));

        let mut store = Store::default();
        import(&mut store, parked("one"));
        let rename = Rename { note: PATH.into(), title: "Four attempts".into() };
        let renamed = store.run(|fs| run_alone(fs, rename)).expect("renamed").path;
        kept(import(&mut store, parked("two")), "edited here");
        store.run(|fs| run_items(fs, Forget::new(renamed))).expect("forgotten");
        kept(import(&mut store, parked("one")), "`restore` brings it back");
    }

    #[test]
    fn a_dry_run_says_the_same_and_writes_nothing() {
        let mut store = Store::default();
        import(&mut store, parked("one"));
        let notes = [parked("two"), note("x 1", "New", "text"), note("x 2", "New", "text"), note("x 3", "", "text")];
        let writes = store.writes.len();
        let planned = import_with(&mut store, &notes, true);
        assert_eq!(store.writes.len(), writes);
        assert_eq!(import_with(&mut store, &notes, false), planned);
    }

    #[test]
    fn a_text_that_cannot_be_a_note_is_rejected_and_the_rest_goes_on() {
        let secret = concat!("ghp_", "q7Zt2LmX9vRk4WcB8nYs1DfGh6JpQa3Eu5To");
        let mut bad = vec![
            note("a", "", "x"),
            note("b", "a\nb", "x"),
            note("c", "No text", " \n"),
            note("", "No id", "x"),
            note("a\nb", "Two lines", "x"),
            note(&"x".repeat(MAX_IMPORT_ID_BYTES + 1), "Long id", "x"),
            note("d", "Secret", &format!("the token {secret}")),
            note("e", &format!("Secret {secret}"), "x"),
            note("f", "Large", &"x".repeat(65_537)),
            ImportedNote { date: "yesterday".into(), ..note("g", "No date", "x") },
        ];
        bad.push(note("h", "Good", "x"));
        let mut store = Store::default();
        let done = import_with(&mut store, &bad, false);
        let (good, rejected) = done.split_last().expect("results");
        assert_eq!(good.state, NoteImportState::Created);
        for note in rejected {
            assert!(
                matches!(&note.state, NoteImportState::Rejected(reason) if !reason.as_str().contains(secret)),
                "{note:?}"
            );
        }
        assert_eq!(store.names().iter().filter(|name| name.ends_with(".md")).count(), 1);
    }

    #[test]
    fn a_folder_is_one_visible_name_and_limits_are_named() {
        for folder in ["", ".", "..", ".hidden", "a/b", "../x", "templates/x", "CON"] {
            let request = ImportNotes { folder: folder.into(), notes: vec![parked("x")], dry_run: false };
            let mut store = Store::default();
            assert!(store.run(|fs| run_part(fs, request)).is_err(), "{folder}");
            assert!(store.writes.is_empty(), "{folder}");
        }
        let request = ImportNotes { notes: vec![parked("x"); 257], folder: "commits".into(), dry_run: false };
        let error = Store::default().run(|fs| run_part(fs, request)).expect_err("too many");
        assert!(error.message.contains("257") && error.message.contains("256"), "{error:?}");
    }
}
