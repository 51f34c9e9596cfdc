//! Steps of a rename. Any process can finish it after a crash at any point.

use super::intent::{Intent, Steps};
use super::plan::{MAX_NAMES, NewPath, check_not_day, named_by_file, new_path, new_stem, no_free_name};
use super::rewrite::{RenameSources, Rewritten, Task};
use crate::changes::{Backups, Call, File};
use crate::notebook::checks::checked_title;
use crate::notebook::config::NotebookConfig;
use crate::notebook::files::{below_notebook, create_note, no_note};
use crate::notebook::types::{Warning, title_problem};
use crate::store::RelPath;
use crate::trust::{ForModel, sha256};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Note, paths::folder};
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum number of attempts if an editor changes the note meanwhile.
const MAX_ATTEMPTS: u32 = 64;

/// Maximum number of other notes of the new title that the message names.
const MAX_NAMED: usize = 3;

/// Reply of [`Rename`](super::Rename).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RenameReply {
    /// Old path of the note.
    pub old_path: String,
    /// New path of the note.
    pub path: String,
    /// New title.
    pub title: String,
    /// Number of links that were rewritten.
    pub links: u32,
    /// Number of notes with rewritten links.
    pub files: u32,
    /// Notes that may still link to the old name, each with the reason.
    pub not_rewritten: Vec<Warning>,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// Result of an attempt to begin a rename.
pub(super) enum Attempt {
    Renamed(RenameReply),
    /// Another rename of this notebook is in progress and must be finished first. Nothing was changed.
    UnderWay,
    /// The name differs only in case and is the same file here. The note must get another name first. Nothing was changed.
    SameFile,
}

/// Gives a note another title and the name that follows from it, and rewrites every link to it.
///
/// The work to do is written down first, as an [`Intent`]. Then the new file is created, the links are rewritten, and
/// the old file is removed last, each under a precondition. After a crash at any point, any process can finish the
/// rename.
pub(super) async fn rename(
    call: &Call,
    config: &NotebookConfig,
    old_path: &RelPath,
    title: &str,
    sources: &RenameSources<'_>,
) -> Result<Attempt, Error> {
    let config = config.for_writing()?;
    let title = checked_title(title)?;
    call.screen.check_place(old_path)?;
    let text = call.load_text(old_path).await?.ok_or_else(|| no_note(old_path))?;
    check_not_day(old_path)?;
    let is_named_by_file = Note::parse(&text, config.tags).title.is_empty();
    let old = Note::parse_file(&text, config.tags, old_path.file_stem());
    let own_folder = folder(below_notebook(call, old_path));
    let (folder, title) = sources.meaning.folder_of(title, &old.title, old_path).unwrap_or((own_folder, title));
    let stem = match is_named_by_file {
        true => named_by_file(title)?,
        false => new_stem(old_path, &old.title, title, sources.verbatim_names),
    };
    let mut taken: Vec<RelPath> = Vec::new();
    while taken.len() < MAX_NAMES as usize {
        let to = match new_path(call, config, old_path, (folder, &stem), &taken, is_named_by_file).await? {
            NewPath::Free(to) => to,
            NewPath::SameFile => return Ok(Attempt::SameFile),
        };
        call.screen.check_place(&to)?;
        let mut task = Task {
            call,
            config,
            sources,
            intent: Intent {
                from: old_path.clone(),
                to,
                old_title: old.title.clone(),
                new_title: title.to_string(),
                aliases: old.aliases.clone(),
                made: String::new(),
                operation: call.operation_of(old_path).await?,
                writer: call.recorder.as_ref().map(|_| call.recorded_writer()),
                steps: Steps::default(),
            },
        };
        if task.intent.from == task.intent.to && task.intent.old_title == task.intent.new_title {
            let mut reply = task.empty_reply();
            reply.message = ForModel::escaped(&format!("{} has this title already; nothing is changed", reply.path));
            return Ok(Attempt::Renamed(reply));
        }
        let made = task.renamed_text(&text).text;
        let limit = call.scope.limits.max_file_bytes;
        if made.len() > limit as usize {
            return Err(Error::file_too_large(&task.intent.to, made.len() as u64, u64::from(limit)));
        }
        task.intent.made = sha256(&made);
        if !task.intent.begin(call).await? {
            return Ok(Attempt::UnderWay);
        }
        match task.carry_out(true).await? {
            Carried::Done(reply) => return Ok(Attempt::Renamed(reply)),
            Carried::Taken => taken.push(task.intent.to),
        }
    }
    Err(no_free_name(&stem))
}

/// Finishes a rename that was begun earlier, by this process or another.
pub(super) async fn finish(
    call: &Call,
    config: &NotebookConfig,
    intent: Intent,
    sources: &RenameSources<'_>,
) -> Result<RenameReply, Error> {
    let task = Task { call, config, sources, intent };
    match task.carry_out(false).await? {
        Carried::Done(reply) => Ok(reply),
        Carried::Taken => Err(task.both_changed()),
    }
}

/// Result of the steps.
enum Carried {
    Done(RenameReply),
    /// Someone else took the new name. Nothing was changed.
    Taken,
}

/// Place of the note's text.
enum Move {
    /// In both files, the old one and the new one.
    Copied(File, File),
    /// Only in the new file.
    Done,
    /// The new name belongs to another file.
    Taken,
    /// Both files have text that the other one does not have.
    BothChanged,
}

impl Task<'_> {
    async fn carry_out(&self, is_new: bool) -> Result<Carried, Error> {
        let carried = self.take_steps(is_new).await;
        // An error of another kind would occur again, so nothing should wait for this rename.
        if carried.as_ref().is_err_and(|error| !matches!(error.code, ErrorCode::Storage | ErrorCode::Contention)) {
            self.intent.close(self.call, self.config).await?;
        }
        carried
    }

    async fn take_steps(&self, is_new: bool) -> Result<Carried, Error> {
        let Intent { from, to, .. } = &self.intent;
        let mut reply = self.empty_reply();
        if from == to {
            self.rewrite_links(&mut reply).await?;
            // The title changes last. Until then, the note and the links that are not rewritten yet are found by the
            // old one.
            let titled = self.update_note(to, |text| self.renamed_text(text)).await;
            titled.map_err(|error| self.unfinished(error))?;
        } else {
            let copied = self.copy(is_new).await?;
            reply.not_rewritten.extend(self.sources.naming.iter().cloned());
            if matches!(copied, Move::Copied(..) | Move::Done) {
                self.rewrite_links(&mut reply).await?;
            }
            let moved = match copied {
                Move::Copied(..) => self.remove_old().await.map_err(|error| self.unfinished(error))?,
                other => other,
            };
            if matches!(moved, Move::Taken | Move::BothChanged) {
                self.intent.close(self.call, self.config).await?;
                return if matches!(moved, Move::Taken) { Ok(Carried::Taken) } else { Err(self.both_changed()) };
            }
        }
        self.intent.close(self.call, self.config).await.map_err(|error| self.unfinished(error))?;
        self.tell(&mut reply);
        Ok(Carried::Done(reply))
    }

    /// Creates the new file, and takes over changes that others make in the old one meanwhile.
    async fn copy(&self, is_new: bool) -> Result<Move, Error> {
        let Intent { from, to, .. } = &self.intent;
        // True once the new file has been seen with text of this rename. Then its name was not taken before.
        let mut is_begun = !is_new;
        for _ in 0..MAX_ATTEMPTS {
            let (old, new) = (self.call.load(from).await?, self.call.load(to).await);
            let new = match new {
                Ok(new) if new.text().is_ok() => new,
                Err(error) if error.code == ErrorCode::Storage => return Err(error),
                // The text is not one that the rename makes.
                _ => return Ok(Move::Taken),
            };
            // Text is recorded before it is written, so the record is read after the files.
            let Some((current, _)) = self.intent.current(self.call, self.config).await? else {
                // Others have finished the rename, perhaps after both files were read here.
                let is_made = new.bytes().is_some()
                    || (self.call.load_text(from).await?.is_none() && self.call.load_text(to).await?.is_some());
                return if is_made { Ok(Move::Done) } else { Err(self.gone()) };
            };
            match (old.text()?, new.text()?) {
                (None, None) => {
                    self.intent.close(self.call, self.config).await?;
                    return Err(self.gone());
                }
                (None, Some(new)) => {
                    // Only the rename itself removes the old file and leaves the text of the new one.
                    if current.steps.removes.is_some() || current.has_recorded(new) {
                        return Ok(Move::Done);
                    }
                    self.intent.close(self.call, self.config).await?;
                    return Err(self.gone());
                }
                (Some(text), None) => {
                    if current.steps.removes.is_some() {
                        self.intent.close(self.call, self.config).await?;
                        return Err(self.gone());
                    }
                    let text = self.renamed_text(text).text;
                    let renamed = self.call.screen.copy(&old, &new, text.as_str())?;
                    if self.intent.record(self.call, self.config, &text).await? {
                        is_begun |= create_note(self.call, &renamed).await?;
                    }
                }
                (Some(old_text), Some(new_text)) => {
                    let wanted = self.renamed_text(old_text).text;
                    if new_text == wanted {
                        return Ok(Move::Copied(old, new));
                    }
                    let is_ours = current.has_recorded(new_text);
                    if !is_ours && !is_begun {
                        return Ok(Move::Taken);
                    }
                    is_begun = true;
                    if !is_ours || !current.is_old_file(self.call) {
                        return Ok(Move::BothChanged);
                    }
                    self.take_over(&new, &old, wanted).await?;
                }
            }
        }
        let message = format!("{from}: changed by others {MAX_ATTEMPTS} times in a row");
        Err(self.unfinished(Error::new(ErrorCode::Contention, message, "")))
    }

    /// Writes the changed text of the old file into the new one, if that still has the text `before`. Its previous text
    /// is kept as its backup: the old file may be another note, if somebody made one at this very moment.
    async fn take_over(&self, before: &File, old: &File, wanted: String) -> Result<(), Error> {
        if !self.intent.record(self.call, self.config, &wanted).await? {
            return Ok(());
        }
        let change = |file: &File| {
            let is_same = file.bytes() == before.bytes();
            Ok((is_same.then(|| self.call.screen.copy(old, file, wanted.as_str())).transpose()?, ()))
        };
        self.call.update(&self.intent.to, Backups::Keep, change).await.map(|_| ())
    }

    /// Removes the old file, if the new one has its text.
    async fn remove_old(&self) -> Result<Move, Error> {
        let from = &self.intent.from;
        for _ in 0..MAX_ATTEMPTS {
            let (old, new) = match self.copy(false).await? {
                Move::Copied(old, new) => (old, new),
                other => return Ok(other),
            };
            let text = old.text()?.unwrap_or_default();
            if !self.intent.allow_removal(self.call, self.config, text).await? {
                return Ok(Move::Done);
            }
            let removal = self.call.screen.remove_copied(&old, &new, |_| self.renamed_text(text).text.into_bytes());
            // It may have been changed since. Then the change is taken over first.
            if let Some(removal) = removal
                && self.call.apply(&removal).await?
            {
                return Ok(Move::Done);
            }
        }
        let message = format!("{from}: changed by others {MAX_ATTEMPTS} times in a row");
        Err(Error::new(ErrorCode::Contention, message, ""))
    }

    /// Rewrites the links of all notes. A note that cannot be rewritten does not stop the others.
    async fn rewrite_links(&self, reply: &mut RenameReply) -> Result<(), Error> {
        let Intent { from, to, .. } = &self.intent;
        reply.not_rewritten.extend(self.sources.unread.iter().cloned());
        for path in self.sources.linking.iter().filter(|path| *path != from && *path != to) {
            match self.update_note(path, |text| self.rewritten(text, path)).await {
                Ok(Some(done)) => {
                    reply.links += done.links;
                    reply.files += u32::from(done.links > 0);
                    if done.is_partial {
                        let problem = "its frontmatter would not be valid with the new name";
                        reply.not_rewritten.push(Warning::new(&self.call.scope.display_path(path), problem));
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    reply.not_rewritten.push(Warning::new(&self.call.scope.display_path(path), error.into_message()));
                }
            }
        }
        Ok(())
    }

    /// Changes a note during the rename. `None` if there is nothing to change.
    ///
    /// A slow process must not change what others wrote after they finished its rename, so the text is read before the
    /// intent is checked.
    async fn update_note(
        &self,
        path: &RelPath,
        change: impl Fn(&str) -> Rewritten,
    ) -> Result<Option<Rewritten>, Error> {
        for _ in 0..MAX_ATTEMPTS {
            let file = self.call.load(path).await?;
            let Some(text) = file.text()? else { return Ok(None) };
            let new = change(text);
            if new.text == text {
                return Ok(new.is_partial.then_some(new));
            }
            if self.intent.current(self.call, self.config).await?.is_none() {
                return Ok(None);
            }
            if self.call.apply(&self.call.screen.rewrite(&file, new.text.as_str())?).await? {
                return Ok(Some(new));
            }
        }
        let message = format!("{path}: changed by others {MAX_ATTEMPTS} times in a row");
        Err(Error::new(ErrorCode::Contention, message, ""))
    }

    fn gone(&self) -> Error {
        let Intent { from, to, .. } = &self.intent;
        let message = format!("{from} was removed or renamed by others before it became {to}");
        Error::new(ErrorCode::NotFound, message, "`list --kind note` lists all notes")
    }

    fn both_changed(&self) -> Error {
        let message = format!("{} and {} were both changed by others", self.intent.from, self.intent.to);
        let help = "both are kept; merge them by hand, and remove the old one";
        Error::new(ErrorCode::Contention, message, help)
    }

    fn unfinished(&self, mut error: Error) -> Error {
        let Intent { from, to, .. } = &self.intent;
        let state = if from == to {
            format!("{to} still has its old title, but links may have the new one")
        } else {
            format!("{from} may still exist beside {to}")
        };
        let help = "the next command that changes the notebook finishes it; or correct the problem and rename it again";
        if error.code != ErrorCode::NotFound {
            error.help = format!("{state}; {help}");
        }
        error
    }

    fn empty_reply(&self) -> RenameReply {
        RenameReply {
            old_path: self.call.scope.display_path(&self.intent.from),
            path: self.call.scope.display_path(&self.intent.to),
            title: self.intent.new_title.clone(),
            links: 0,
            files: 0,
            not_rewritten: Vec::new(),
            message: ForModel::default(),
        }
    }

    fn tell(&self, reply: &mut RenameReply) {
        let links = match (reply.links, reply.files) {
            (0, _) => "no links to rewrite".to_string(),
            (1, _) => "1 link rewritten".to_string(),
            (links, 1) => format!("{links} links rewritten in 1 note"),
            (links, files) => format!("{links} links rewritten in {files} notes"),
        };
        let mut message = match reply.old_path == reply.path {
            true => format!("Gave {} the title `{}`; {links}", reply.path, reply.title),
            false => format!("Renamed {} to {}; {links}", reply.old_path, reply.path),
        };
        if !reply.not_rewritten.is_empty() {
            let named = reply.not_rewritten.iter().map(|Warning { path, message }| format!("\n- {path}: {message}"));
            let named: String = named.collect();
            message.push_str(&format!("\nNot rewritten, and may still link to the old name:{named}"));
        }
        let problem = title_problem(&reply.title).map(|problem| format!("\n{}: {problem}", reply.path));
        message.push_str(&problem.unwrap_or_default());
        for other in self.sources.same_title.iter().take(MAX_NAMED) {
            message.push_str(&format!("\n{other}: use their paths, or give one of them another title"));
        }
        reply.message = ForModel::escaped(&message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::super::plan::Meaning;
    use crate::notebook::index::{catch_up, look};
    use crate::notebook::snapshot::Names;
    use crate::notebook::testing::{Store, call_at, day, path};
    use saddlebag_protocol::Fs;

    const OLD: &str = "facts/port.md";

    const LOG: &str =
        "# Log\r\n\r\n- [[port]], [[facts/port#Why|the port]] and `[[port]]`\r\n- [p](../facts/port.md)\r\n";
    const LOG_AFTER: &str =
        "# Log\r\n\r\n- [[db-port]], [[facts/db-port#Why|the port]] and `[[port]]`\r\n- [p](../facts/db-port.md)\r\n";

    fn notebook() -> Store {
        Store::with(&[
            (OLD, "---\ntitle: Port\ntags: [db]\n---\n\nSee [[port#Why]].\n\n## Why\n"),
            ("daily/log.md", LOG),
            ("facts/other.md", "[[port]]\n"),
        ])
    }

    async fn renamed(fs: Fs, title: &str, linking: &[&str]) -> Result<RenameReply, Error> {
        let (call, notebook) = (call_at(fs, day()), Arc::default());
        catch_up(&call, &notebook).await?;
        let names = look(&notebook, &call, |snapshot| Ok(Names::from_snapshot(snapshot)))?;
        let views = names.views();
        let meaning = Meaning::new(&call, &views, &path(OLD))?;
        let linking: Vec<RelPath> = linking.iter().map(|name| path(name)).collect();
        let sources = RenameSources {
            linking: &linking,
            unread: &[],
            naming: &[],
            same_title: &[],
            meaning: &meaning,
            verbatim_names: false,
        };
        let config = NotebookConfig::default();
        match rename(&call, &config, &path(OLD), title, &sources).await? {
            Attempt::Renamed(reply) => Ok(reply),
            Attempt::UnderWay => {
                let (intent, _) = Intent::pending(&call, &config).await?.expect("a rename is under way");
                finish(&call, &config, intent, &sources).await
            }
            Attempt::SameFile => panic!("it was not renamed"),
        }
    }

    fn rename_to(store: &mut Store, title: &'static str) -> Result<RenameReply, Error> {
        store.run(|fs| renamed(fs, title, &["daily/log.md", "facts/other.md", OLD, "gone.md"]))
    }

    #[test]
    fn a_rename_takes_its_links_along() {
        let mut store = notebook();
        let reply = rename_to(&mut store, "DB: port").expect("renamed");
        assert_eq!((reply.path.as_str(), reply.links, reply.files), ("facts/db-port.md", 4, 2));
        assert_eq!(store.text("daily/log.md"), LOG_AFTER);
        assert_eq!(store.text("facts/other.md"), "[[db-port]]\n");
        let text = store.text("facts/db-port.md");
        assert_eq!(Note::parse(&text, saddlebag_markdown::TagSyntax::default()).title, "DB: port", "{text}");
        assert!(text.contains("tags: [db]") && text.contains("See [[db-port#Why]]."), "{text}");
        assert!(!store.has(OLD));
        let last: Vec<&str> = store.writes.iter().rev().take(2).map(String::as_str).collect();
        assert_eq!(last, ["remove .saddlebag/rename.json", "remove facts/port.md"]);
    }

    #[test]
    fn every_way_to_write_a_link_is_rewritten() {
        let text = "[p][r], [q][r] <https://a.b/port> ![i](port)\n[s](<../facts/port.md#a b> \"up\")\n[[port|a \\| b]] [[/facts/port]]\n\n[r]: ../facts/port.md#x \"t\"\n";
        let mut store = Store::with(&[(OLD, "# Port\n"), ("daily/log.md", text)]);
        let reply = store.run(|fs| renamed(fs, "DB port", &["daily/log.md"]));
        assert_eq!(reply.expect("renamed").links, 6);
        let new = text.replace("facts/port", "facts/db-port").replace("[[port", "[[db-port");
        let new = new.replace("![i](port)", "![i](../facts/db-port)");
        assert_eq!(store.text("daily/log.md"), new);
        assert_eq!(store.text("facts/db-port.md"), "# DB port\n");
    }

    #[test]
    fn what_an_editor_saves_in_between_is_taken_over() {
        for before in 0..4 {
            let mut store = notebook();
            store.editor = Some((before, OLD, "# Port\n\nsaved\n"));
            rename_to(&mut store, "DB port").expect("renamed");
            let text = store.text("facts/db-port.md");
            assert!(text.contains("saved"), "{before}: {text}");
            assert!(!store.has(OLD), "{before}");
        }
        let mut store = notebook();
        store.editor = Some((1, "daily/log.md", "[[port]] saved\n"));
        rename_to(&mut store, "DB port").expect("renamed");
        assert_eq!(store.text("daily/log.md"), "[[db-port]] saved\n");
    }

    #[test]
    fn another_spelling_of_the_title_keeps_the_name() {
        let mut store = notebook();
        let reply = rename_to(&mut store, "PORT").expect("renamed");
        assert_eq!((reply.path.as_str(), reply.links), (OLD, 0));
        let text = store.text(OLD);
        assert_eq!(Note::parse(&text, saddlebag_markdown::TagSyntax::default()).title, "PORT", "{text}");
    }

    /// Links by the title no longer lead to the note once it has another.
    #[test]
    fn a_title_without_a_new_name_is_finished_after_a_crash_at_any_point() {
        const LOG: &str = "[[Port]] and [[facts/port]]\n";
        let retitle = |store: &mut Store| store.run(|fs| renamed(fs, "Port!", &["daily/log.md", "facts/other.md"]));
        let title = |store: &Store| Note::parse(&store.text(OLD), saddlebag_markdown::TagSyntax::default()).title;
        for last in 0..4 {
            let mut store = Store::with(&[(OLD, "# Port\n"), ("daily/log.md", LOG), ("facts/other.md", LOG)]);
            store.dies_after = Some(last);
            let error = retitle(&mut store).expect_err("it died");
            let has_begun = store.has(".saddlebag/rename.json");
            assert_eq!(error.help.contains("rename it again"), has_begun, "{error:?}");
            assert_eq!(title(&store), "Port", "{last}: it is found by its title until the end");
            store.dies_after = None;
            let reply = retitle(&mut store).expect("finished");
            assert_eq!((reply.path.as_str(), title(&store).as_str()), (OLD, "Port!"), "{last}");
            for file in ["daily/log.md", "facts/other.md"] {
                assert_eq!(store.text(file), "[[Port!]] and [[facts/port]]\n", "{last}");
            }
        }
    }
}
