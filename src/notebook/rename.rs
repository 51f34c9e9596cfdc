//! `rename` and `forget`: a note under another title and name, and a note no more.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::config::NotebookConfig;
use super::create::checked_title;
use super::draft::SUPERSEDES;
use super::files::{below_notebook, create_note, load_text, no_note, notebook_file, text_of};
use super::links::Renamed;
use super::slug::slug;
use crate::document::{Link, Note, Value, replace_spans, set_field, set_title, yaml_string};
use crate::engine::{Backup, Backups, Call, Change, remove_version, update};
use crate::order;
use crate::protocol::{Error, ErrorCode};
use crate::store::{Date, NOTE_SUFFIX, RelPath};

/// How many notes may want one name.
const MAX_NAMES: u32 = 10_000;

/// How often what an editor changes in between is taken over.
const MAX_ATTEMPTS: u32 = 64;

/// What came of a rename.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenameReply {
    /// Where the note was.
    pub old_path: String,
    /// Where it is.
    pub path: String,
    /// Its new title.
    pub title: String,
    /// How many links were rewritten.
    pub links: u32,
    /// In how many notes.
    pub files: u32,
    /// All of this for a person or a model.
    pub message: String,
}

/// What came of forgetting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetReply {
    /// The note that was removed.
    pub path: String,
    /// Where its text is kept.
    pub backup: String,
    /// All of this for a person or a model.
    pub message: String,
}

/// What the index knows about the note that is renamed.
pub(crate) struct RenameSources<'a> {
    /// The notes that link to it, or say that they supersede it.
    pub(crate) linking: &'a [RelPath],
    /// Whether a link of the note at this path, below the root of the notebook, leads to it.
    pub(crate) leads_to_old: &'a dyn Fn(&str, &Link) -> bool,
    /// Whether no note but it answers to this name, title or alias; the one at the second path, below the
    /// root of the notebook, is it as well.
    pub(crate) is_unambiguous: &'a dyn Fn(&str, &str) -> bool,
}

/// Gives a note another title and the name that goes with it, and rewrites every link to it.
///
/// The new file comes first, then the links, and the old file goes last, each under a precondition: a
/// crash at any point leaves two notes at most, and doing it again finishes it.
pub(crate) async fn rename(
    call: &Call,
    config: &NotebookConfig,
    old_path: &RelPath,
    title: &str,
    sources: &RenameSources<'_>,
) -> Result<RenameReply, Error> {
    let config = config.for_writing()?;
    let title = checked_title(title)?;
    let (mut text, mut version) = load_text(call, old_path).await?.ok_or_else(|| no_note(old_path))?;
    let old = Note::parse(&text, config.tags);
    let stem = new_stem(old_path, &old.title, title)?;
    let task = Task { call, config, old_path, title, old_title: old.title, aliases: old.aliases, sources };
    if stem == old_path.file_stem() {
        return task.retitle().await;
    }
    let (new_path, mut written) = task.make(&stem, &text).await?;
    let (links, files) = task.rewrite_links(&new_path).await?;
    for _ in 0..MAX_ATTEMPTS {
        if remove_version(&call.fs, old_path, version.clone()).await? {
            return Ok(task.reply(&new_path, links, files));
        }
        // Somebody saved the old file in between: the new one takes that over.
        let Some((saved, saved_version)) = load_text(call, old_path).await? else {
            return Ok(task.reply(&new_path, links, files));
        };
        (text, version) = (saved, saved_version);
        let new = task.renamed_text(&text, &new_path).0;
        let limit = call.scope.limits.max_file_bytes;
        let taken_over = update(&call.fs, &new_path, limit, Backups::Off, |bytes| {
            if bytes.is_some_and(|bytes| bytes != written.as_bytes()) {
                let message = format!("{old_path} and {new_path} were both changed by others");
                let help = "both are kept: put them together by hand, and remove the old one";
                return Err(Error::new(ErrorCode::Contention, message, help));
            }
            Ok(Change::Write(new.clone().into_bytes(), ()))
        });
        taken_over.await?;
        written = new;
    }
    let message = format!("{old_path}: changed by others {MAX_ATTEMPTS} times in a row");
    Err(Error::new(ErrorCode::Contention, message, format!("it is kept beside {new_path}; rename it again")))
}

/// Removes a note. Its text is kept beside it first, in the place of an earlier backup.
///
/// `backlinks` is how many notes link to it, for the message.
pub(crate) async fn forget(call: &Call, path: &RelPath, backlinks: u32) -> Result<ForgetReply, Error> {
    let limit = call.scope.limits.max_file_bytes;
    let forgotten = update(&call.fs, path, limit, Backups::Keep, |bytes| {
        bytes.map(|_| Change::Remove(())).ok_or_else(|| no_note(path))
    });
    let backup = match forgotten.await?.1 {
        Backup::Kept(file) | Backup::Elsewhere(file, _) => call.scope.shown(&file),
        Backup::None => String::new(),
    };
    let path = call.scope.shown(path);
    let mut message = format!("Forgot {path}; its text is in {backup}");
    match backlinks {
        0 => {}
        1 => message.push_str("; 1 note still links to it"),
        many => message.push_str(&format!("; {many} notes still link to it")),
    }
    Ok(ForgetReply { path, backup, message })
}

/// Whether a note says that it supersedes the one at a path below the root of the notebook.
pub(super) fn supersedes(note: &Note, old: &str) -> bool {
    let names_it = |value: &Value| matches!(value, Value::String(path) if is_path(path, old));
    match note.frontmatter.value(SUPERSEDES) {
        Some(Value::List(paths)) => paths.iter().any(names_it),
        Some(path) => names_it(path),
        None => false,
    }
}

/// Whether this is the path, with its extension or without.
fn is_path(written: &str, path: &str) -> bool {
    written == path || path.strip_suffix(NOTE_SUFFIX) == Some(written)
}

/// The name for the new title. What stands before the slug of the old one, such as an id, stays.
fn new_stem(path: &RelPath, old_title: &str, title: &str) -> Result<String, Error> {
    let stem = path.file_stem();
    if Date::parse(stem).is_some() {
        let message = format!("{path} is the note of a day, which is found by its name");
        return Err(Error::invalid_argument(message, "remember what matters in it as a note of its own"));
    }
    let new = slug(title);
    let old = slug(old_title);
    // The number of a second note of the same title goes with the title.
    let unnumbered =
        stem.rsplit_once('-').filter(|(_, end)| end.parse::<u32>().is_ok()).map_or(stem, |(start, _)| start);
    if new == old && (stem.ends_with(&old) || unnumbered.ends_with(&old)) {
        return Ok(stem.to_string());
    }
    let prefix = stem.strip_suffix(&old).or_else(|| unnumbered.strip_suffix(&old));
    let prefix = prefix.filter(|prefix| !old_title.is_empty() && prefix.ends_with('-') && prefix.len() <= 64);
    Ok(format!("{}{new}", prefix.unwrap_or_default()))
}

struct Task<'a> {
    call: &'a Call,
    config: &'a NotebookConfig,
    old_path: &'a RelPath,
    title: &'a str,
    old_title: String,
    aliases: Vec<String>,
    sources: &'a RenameSources<'a>,
}

impl Task<'_> {
    /// Another title under the same name. The title itself goes last: until then the note is found by the
    /// old one, and so are the links that have yet to be rewritten.
    async fn retitle(&self) -> Result<RenameReply, Error> {
        let path = self.old_path;
        let (links, files) = self.rewrite_links(path).await?;
        let limit = self.call.scope.limits.max_file_bytes;
        let titled = update(&self.call.fs, path, limit, Backups::Off, |bytes| {
            let text = text_of(path, bytes)?;
            let (new, _) = self.renamed_text(text, path);
            Ok(if new == text { Change::Keep(()) } else { Change::Write(new.into_bytes(), ()) })
        });
        titled.await.map_err(|error| self.unfinished(error, path))?;
        Ok(self.reply(path, links, files))
    }

    /// Makes the new file under the first free name. One that is just what would be written is that of
    /// a rename which did not come to its end.
    async fn make(&self, stem: &str, text: &str) -> Result<(RelPath, String), Error> {
        let below = below_notebook(self.call, self.old_path);
        let folder = below.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
        let extension = self.old_path.file_name().strip_prefix(self.old_path.file_stem()).unwrap_or_default();
        for number in 1..=MAX_NAMES {
            let number = if number == 1 { String::new() } else { format!("-{number}") };
            let path = notebook_file(self.call, &format!("{folder}{stem}{number}{extension}"))?;
            if path == *self.old_path {
                continue;
            }
            let (new, _) = self.renamed_text(text, &path);
            if create_note(self.call, &path, &new).await? || self.holds(&path, &new).await? {
                return Ok((path, new));
            }
        }
        let message = format!("no free name for `{stem}`: {MAX_NAMES} are taken");
        Err(Error::new(ErrorCode::TooLarge, message, "choose a title of its own"))
    }

    async fn holds(&self, path: &RelPath, text: &str) -> Result<bool, Error> {
        match load_text(self.call, path).await {
            Ok(found) => Ok(found.is_some_and(|(found, _)| found == text)),
            Err(error) if error.code == ErrorCode::Storage => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// The text of the note with its new title, and with the links to itself.
    fn renamed_text(&self, text: &str, new_path: &RelPath) -> (String, u32) {
        let (text, links) = self.rewritten(text, self.old_path, new_path);
        (set_title(&text, &Note::parse(&text, self.config.tags), self.title), links)
    }

    /// Rewrites the links of all notes; gives how many, and in how many notes.
    async fn rewrite_links(&self, new_path: &RelPath) -> Result<(u32, u32), Error> {
        let (mut links, mut files) = (0, 0);
        let limit = self.call.scope.limits.max_file_bytes;
        for path in self.sources.linking.iter().filter(|path| *path != self.old_path && *path != new_path) {
            let rewritten = update(&self.call.fs, path, limit, Backups::Off, |bytes| {
                // What is gone, or is no text, has no links.
                let Some(text) = bytes.and_then(|bytes| core::str::from_utf8(bytes).ok()) else {
                    return Ok(Change::Keep(0));
                };
                let (new, count) = self.rewritten(text, path, new_path);
                Ok(if new == text { Change::Keep(0) } else { Change::Write(new.into_bytes(), count) })
            });
            let (count, _) = rewritten.await.map_err(|error| self.unfinished(error, new_path))?;
            links += count;
            files += u32::from(count > 0);
        }
        Ok((links, files))
    }

    fn unfinished(&self, error: Error, new_path: &RelPath) -> Error {
        let help = if *new_path == *self.old_path {
            format!(
                "{new_path} has its old title, and links may have the new one; when this is mended, rename it again"
            )
        } else {
            format!("{} is kept beside {new_path}; when this is mended, rename it again", self.old_path)
        };
        Error { help, ..error }
    }

    /// The text of a note with its links to the old name changed, and how many they are.
    fn rewritten(&self, text: &str, path: &RelPath, new_path: &RelPath) -> (String, u32) {
        let from = below_notebook(self.call, path);
        let new_below = below_notebook(self.call, new_path);
        let is_unambiguous = |name: &str| (self.sources.is_unambiguous)(name, new_below);
        let renamed = Renamed {
            old_path: below_notebook(self.call, self.old_path),
            new_path: new_below,
            old_title: &self.old_title,
            new_title: self.title,
            aliases: &self.aliases,
            is_unambiguous: &is_unambiguous,
        };
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        let mut count = 0;
        for link in &Note::parse(text, self.config.tags).links {
            if !(self.sources.leads_to_old)(from, link) {
                continue;
            }
            let Some(raw) = text.get(link.target_span.clone()) else { continue };
            let Some(target) = renamed.target(self.config, from, link, raw) else { continue };
            count += 1;
            // Links by reference share the target of one definition.
            if edits.iter().all(|(span, _)| *span != link.target_span) {
                edits.push((link.target_span.clone(), target));
            }
        }
        order::sort_slice_by_key(&mut edits, |(span, _)| span.start);
        let text = if edits.is_empty() { text.to_string() } else { replace_spans(text, &edits) };
        (self.superseding(text, renamed.old_path, new_below), count)
    }

    /// The text with the field that says what its note supersedes.
    fn superseding(&self, text: String, old: &str, new: &str) -> String {
        let note = Note::parse(&text, self.config.tags);
        if old == new || !supersedes(&note, old) {
            return text;
        }
        let moved = |path: &str| yaml_string(if is_path(path, old) { new } else { path });
        let value = match note.frontmatter.value(SUPERSEDES) {
            Some(Value::List(paths)) => {
                let paths = paths.iter().filter_map(|path| match path {
                    Value::String(path) => Some(moved(path)),
                    _ => None,
                });
                format!("[{}]", paths.collect::<Vec<_>>().join(", "))
            }
            _ => yaml_string(new),
        };
        set_field(&text, &note, SUPERSEDES, &value)
    }

    fn reply(&self, new_path: &RelPath, links: u32, files: u32) -> RenameReply {
        let (old_path, path) = (self.call.scope.shown(self.old_path), self.call.scope.shown(new_path));
        let links_text = match (links, files) {
            (0, _) => "no links to rewrite".to_string(),
            (1, _) => "1 link rewritten".to_string(),
            (_, 1) => format!("{links} links rewritten in 1 note"),
            _ => format!("{links} links rewritten in {files} notes"),
        };
        let message = format!("Renamed {old_path} to {path}; {links_text}");
        RenameReply { old_path, path, title: self.title.to_string(), links, files, message }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Store, call_at, day, path};
    use super::*;

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

    fn rename_to(store: &mut Store, title: &'static str) -> Result<RenameReply, Error> {
        store.run(|fs| async move {
            let linking = [path("daily/log.md"), path("facts/other.md"), path(OLD), path("gone.md")];
            let sources = RenameSources {
                linking: &linking,
                leads_to_old: &|_, link| ["port", "facts/port", "../facts/port.md"].contains(&link.target.as_str()),
                is_unambiguous: &|_, _| true,
            };
            rename(&call_at(fs, day()), &NotebookConfig::default(), &path(OLD), title, &sources).await
        })
    }

    #[test]
    fn a_rename_takes_its_links_along() {
        let mut store = notebook();
        let reply = rename_to(&mut store, "DB: port").expect("renamed");
        assert_eq!((reply.path.as_str(), reply.links, reply.files), ("facts/db-port.md", 4, 2));
        assert_eq!(store.text("daily/log.md"), LOG_AFTER);
        assert_eq!(store.text("facts/other.md"), "[[db-port]]\n");
        let text = store.text("facts/db-port.md");
        assert_eq!(Note::parse(&text, crate::document::TagSyntax::default()).title, "DB: port", "{text}");
        assert!(text.contains("tags: [db]") && text.contains("See [[db-port#Why]]."), "{text}");
        assert!(!store.has(OLD));
        assert_eq!(store.writes.last().map(String::as_str), Some("remove facts/port.md"));
    }

    #[test]
    fn every_way_to_write_a_link_is_rewritten() {
        let text = "[p][r], [q][r] <https://a.b/port> ![i](port)\n[s](<../facts/port.md#a b> \"up\")\n[[port|a \\| b]] [[/facts/port]]\n\n[r]: ../facts/port.md#x \"t\"\n";
        let mut store = Store::with(&[(OLD, "# Port\n"), ("daily/log.md", text)]);
        let reply = store.run(|fs| async move {
            let linking = [path("daily/log.md")];
            let leads_to_old: &dyn Fn(&str, &Link) -> bool = &|_, link| !link.is_external;
            let sources = RenameSources { linking: &linking, leads_to_old, is_unambiguous: &|_, _| true };
            rename(&call_at(fs, day()), &NotebookConfig::default(), &path(OLD), "DB port", &sources).await
        });
        assert_eq!(reply.expect("renamed").links, 5);
        let new = text.replace("facts/port", "facts/db-port").replace("[[port", "[[db-port");
        assert_eq!(store.text("daily/log.md"), new);
        assert_eq!(store.text("facts/db-port.md"), "# DB port\n");
    }

    #[test]
    fn a_crash_at_any_point_loses_nothing_and_can_be_finished() {
        for last in 0..4 {
            let mut store = notebook();
            store.dies_after = Some(last);
            assert!(rename_to(&mut store, "DB port").is_err(), "{last}");
            assert!(store.has(OLD), "{last}");
            store.dies_after = None;
            rename_to(&mut store, "DB port").expect("finished");
            assert_eq!(store.names(), ["daily/log.md", "facts/db-port.md", "facts/other.md"], "{last}");
            assert_eq!(store.text("daily/log.md"), LOG_AFTER, "{last}");
        }
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
    fn a_taken_name_is_left_alone() {
        let mut store = notebook();
        store.put("facts/db-port.md", b"another".to_vec());
        assert_eq!(rename_to(&mut store, "DB port").expect("renamed").path, "facts/db-port-2.md");
        assert_eq!(store.text("facts/db-port.md"), "another");
    }

    #[test]
    fn another_spelling_of_the_title_keeps_the_name() {
        let mut store = notebook();
        let reply = rename_to(&mut store, "PORT").expect("renamed");
        assert_eq!((reply.path.as_str(), reply.links), (OLD, 0));
        let text = store.text(OLD);
        assert_eq!(Note::parse(&text, crate::document::TagSyntax::default()).title, "PORT", "{text}");
    }

    /// Links by the title no longer lead to the note once it has another.
    #[test]
    fn a_title_without_a_new_name_is_finished_after_a_crash_at_any_point() {
        const LOG: &str = "[[Port]] and [[facts/port]]\n";
        let retitle = |store: &mut Store| {
            store.run(|fs| async move {
                let linking = [path("daily/log.md"), path("facts/other.md")];
                let leads_to_old: &dyn Fn(&str, &Link) -> bool =
                    &|_, link| ["Port", "facts/port"].contains(&link.target.as_str());
                let sources = RenameSources { linking: &linking, leads_to_old, is_unambiguous: &|_, _| true };
                rename(&call_at(fs, day()), &NotebookConfig::default(), &path(OLD), "Port!", &sources).await
            })
        };
        let title = |store: &Store| Note::parse(&store.text(OLD), crate::document::TagSyntax::default()).title;
        for last in 0..3 {
            let mut store = Store::with(&[(OLD, "# Port\n"), ("daily/log.md", LOG), ("facts/other.md", LOG)]);
            store.dies_after = Some(last);
            let error = retitle(&mut store).expect_err("it died");
            assert!(error.help.contains("rename it again"), "{error:?}");
            assert_eq!(title(&store), "Port", "{last}: it is found by its title until the end");
            store.dies_after = None;
            let reply = retitle(&mut store).expect("finished");
            assert_eq!((reply.path.as_str(), title(&store).as_str()), (OLD, "Port!"), "{last}");
            for file in ["daily/log.md", "facts/other.md"] {
                assert_eq!(store.text(file), "[[Port!]] and [[facts/port]]\n", "{last}");
            }
        }
    }

    #[test]
    fn the_name_follows_the_title() {
        let stem = |file: &str, old: &str, new: &str| new_stem(&path(file), old, new);
        for (file, old, new, expected) in [
            ("facts/port.md", "Port", "DB port", "db-port"),
            ("facts/port-2.md", "Port", "DB port", "db-port"),
            ("ab12-port.md", "Port", "DB port", "ab12-db-port"),
            ("auth.md", "How we log in", "Login", "login"),
            ("facts/port-2.md", "Port", "port!", "port-2"),
        ] {
            assert_eq!(stem(file, old, new).as_deref(), Ok(expected), "{file} {old} {new}");
        }
        assert!(stem("daily/2026-05-25.md", "Monday", "x").is_err());
    }

    #[test]
    fn a_forgotten_note_is_kept_beside() {
        let mut store = notebook();
        let text = store.text(OLD);
        let reply = store.run(|fs| async move { forget(&call_at(fs, day()), &path(OLD), 2).await }).expect("forgotten");
        assert_eq!(reply.message, "Forgot facts/port.md; its text is in facts/port.bak; 2 notes still link to it");
        assert_eq!(store.text("facts/port.bak"), text);
        assert!(!store.has(OLD));
        let again = store.run(|fs| async move { forget(&call_at(fs, day()), &path(OLD), 0).await });
        assert_eq!(again.expect_err("gone").code, ErrorCode::NotFound);
    }
}
