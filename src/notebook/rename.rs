//! `rename` and `forget`: a note under another title and name, and a note no more.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::config::NotebookConfig;
use super::create::checked_title;
use super::draft::safe_name;
use super::files::{below_notebook, check_new_note, create_note, load_text, no_note, notebook_file, one_line};
use super::intent::Intent;
use super::links::Renamed;
use super::slug::slug;
use super::{SUPERSEDES, Warning};
use crate::document::{Link, LinkKind, Note, Value, property_text, replace_spans, set_field, set_title, yaml_string};
use crate::engine::{Backup, Backups, Call, Change, remove_version, update, write_version};
use crate::order;
use crate::protocol::{Error, ErrorCode};
use crate::store::{Date, NOTE_SUFFIX, RelPath};
use crate::trust::{ForModel, Removal, sha256};

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
    /// The notes that may still link to the old name, and why each was not rewritten.
    pub not_rewritten: Vec<Warning>,
    /// All of this for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// What came of forgetting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetReply {
    /// The note that was removed.
    pub path: String,
    /// Where its text is kept.
    pub backup: String,
    /// All of this for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// What the index knows about the note that is renamed.
pub(crate) struct RenameSources<'a> {
    /// The notes that link to it, or say that they supersede it.
    pub(crate) linking: &'a [RelPath],
    /// The notes that could not be read, so that nobody knows whether they link to it.
    pub(crate) unread: &'a [Warning],
    /// Whether a link of the note at this path, below the root of the notebook, leads to it.
    pub(crate) leads_to_old: &'a (dyn Fn(&str, &Link) -> bool + Send + Sync),
    /// Whether no note but it answers to this name, title or alias; the one at the second path, below the
    /// root of the notebook, is it as well.
    pub(crate) is_unambiguous: &'a (dyn Fn(&str, &str) -> bool + Send + Sync),
    /// Whether notes of its folder are called by their titles, as Obsidian calls them.
    pub(crate) verbatim_names: bool,
}

/// What came of the attempt to begin a rename.
pub(crate) enum Attempt {
    Renamed(RenameReply),
    /// Another rename of this notebook is under way, and has to be finished first; nothing was changed.
    UnderWay,
}

/// Gives a note another title and the name that goes with it, and rewrites every link to it.
///
/// What is to be done is written down first, as an [`Intent`]. The new file comes next, then the links, and
/// the old file goes last, each under a precondition: after a crash at any point, any process can finish it.
pub(crate) async fn rename(
    call: &Call,
    config: &NotebookConfig,
    old_path: &RelPath,
    title: &str,
    sources: &RenameSources<'_>,
) -> Result<Attempt, Error> {
    let config = config.for_writing()?;
    let title = checked_title(title)?;
    call.screen.check_place(old_path)?;
    let text = load_text(call, old_path).await?.ok_or_else(|| no_note(old_path))?.0;
    let old = Note::parse_file(&text, config.tags, old_path.file_stem());
    let stem = new_stem(old_path, &old.title, title, sources.verbatim_names)?;
    let mut taken: Vec<RelPath> = Vec::new();
    while taken.len() < MAX_NAMES as usize {
        let to = free_name(call, config, old_path, &stem, &taken).await?;
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
                removes: None,
            },
        };
        let made = task.renamed_text(&text).text;
        let limit = call.scope.limits.max_file_bytes;
        if made.len() > limit as usize {
            return Err(Error::file_too_large(&task.intent.to, made.len() as u64, u64::from(limit)));
        }
        task.intent.made = sha256(&made);
        if !task.intent.begin(call).await? {
            let Some((pending, _)) = Intent::pending(call, config).await? else { continue };
            if pending.from != *old_path || pending.new_title != title {
                return Ok(Attempt::UnderWay);
            }
            return finish(call, config, pending, sources).await.map(Attempt::Renamed);
        }
        match task.carry_out(true).await? {
            Carried::Done(reply) => return Ok(Attempt::Renamed(reply)),
            Carried::Taken => taken.push(task.intent.to),
        }
    }
    let message = format!("no free name for `{stem}`: {MAX_NAMES} are taken");
    Err(Error::new(ErrorCode::TooLarge, message, "choose a title of its own"))
}

/// Finishes a rename that began before, in this process or another.
pub(crate) async fn finish(
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

/// Removes a note. Its text is kept beside it first, in the place of an earlier backup.
///
/// `backlinks` is how many notes link to it, for the message.
pub(crate) async fn forget(call: &Call, path: &RelPath, backlinks: u32) -> Result<ForgetReply, Error> {
    let limit = call.scope.limits.max_file_bytes;
    let forgotten = update(&call.fs, path, limit, Backups::Keep, |bytes| {
        Ok(Change::Remove(call.screen.removed(path, bytes.ok_or_else(|| no_note(path))?)?, ()))
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
    Ok(ForgetReply { path, backup, message: ForModel::escaped(&message) })
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

/// The first name for a stem that no file has and that is not among the taken ones.
async fn free_name(
    call: &Call,
    config: &NotebookConfig,
    old_path: &RelPath,
    stem: &str,
    taken: &[RelPath],
) -> Result<RelPath, Error> {
    let below = below_notebook(call, old_path);
    let folder = below.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
    let extension = old_path.file_name().strip_prefix(old_path.file_stem()).unwrap_or_default();
    for number in 1..=MAX_NAMES {
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        let name = format!("{folder}{stem}{number}{extension}");
        let path = notebook_file(call, &name)?;
        // A name that differs in case alone is that of the same file on some systems.
        if path.as_str().to_lowercase() == old_path.as_str().to_lowercase() {
            return Ok(old_path.clone());
        }
        if !config.is_indexed(&name) {
            let message = format!("{name} would not be a note: the configuration leaves files of that name out");
            return Err(Error::invalid_argument(message, "choose another title; nothing was changed"));
        }
        check_new_note(call, &path)?;
        if !taken.contains(&path) && !is_taken(call, &path).await? {
            return Ok(path);
        }
    }
    let message = format!("no free name for `{stem}`: {MAX_NAMES} are taken");
    Err(Error::new(ErrorCode::TooLarge, message, "choose a title of its own"))
}

async fn is_taken(call: &Call, path: &RelPath) -> Result<bool, Error> {
    match load_text(call, path).await {
        Ok(found) => Ok(found.is_some()),
        Err(error) if error.code == ErrorCode::Storage => Err(error),
        Err(_) => Ok(true),
    }
}

/// The name for the new title. What stands before the slug of the old one, such as an id, stays; a note that
/// is called by its title goes on being called so.
fn new_stem(path: &RelPath, old_title: &str, title: &str, verbatim_names: bool) -> Result<String, Error> {
    let stem = path.file_stem();
    if Date::parse(stem).is_some() {
        let message = format!("{path} is the note of a day, which is found by its name");
        return Err(Error::invalid_argument(message, "remember what matters in it as a note of its own"));
    }
    let new = slug(title);
    let old = slug(old_title);
    // A title such as `port` is its own slug: then the other notes of the folder decide.
    if stem == old_title && (stem != old || verbatim_names) {
        return Ok(verbatim(title));
    }
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

/// The title as a file name, without what a file name or a link cannot hold; else its slug.
fn verbatim(title: &str) -> String {
    let is_bad = |c: char| {
        c.is_control() || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '#' | '^' | '[' | ']')
    };
    let plain = one_line(&title.replace(is_bad, " "));
    let plain = plain.trim_start_matches('.').trim_end_matches(['.', ' ']).trim();
    if plain.is_empty() { slug(title) } else { safe_name(plain) }
}

/// A note's text after its links were rewritten.
struct Rewritten {
    text: String,
    links: u32,
    /// Links of the frontmatter stayed, as it could not be read afterwards.
    is_partial: bool,
}

/// How far a rename came.
enum Carried {
    Done(RenameReply),
    /// The new name was taken in between; nothing was changed.
    Taken,
}

/// Where the text of the note is.
enum Move {
    /// In both files; the old one has this text.
    Copied(String),
    /// In the new file alone.
    Done,
    Taken,
}

struct Task<'a> {
    call: &'a Call,
    config: &'a NotebookConfig,
    sources: &'a RenameSources<'a>,
    intent: Intent,
}

impl Task<'_> {
    async fn carry_out(&self, is_new: bool) -> Result<Carried, Error> {
        let carried = self.take_steps(is_new).await;
        // What cannot be done now for another reason cannot be done later: nothing is to wait for it.
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
            // The title goes last: until then the note is found by the old one, and so are the links that
            // have yet to be rewritten.
            let titled = self.update_note(to, |text| self.renamed_text(text)).await;
            titled.map_err(|error| self.unfinished(error))?;
        } else {
            let copied = self.copy(is_new).await?;
            if matches!(copied, Move::Taken) {
                self.intent.close(self.call, self.config).await?;
                return Ok(Carried::Taken);
            }
            self.rewrite_links(&mut reply).await?;
            if matches!(copied, Move::Copied(_)) {
                self.remove_old().await.map_err(|error| self.unfinished(error))?;
            }
        }
        self.intent.close(self.call, self.config).await.map_err(|error| self.unfinished(error))?;
        self.tell(&mut reply);
        Ok(Carried::Done(reply))
    }

    /// Makes the new file, and takes over what an editor saves in the old one meanwhile.
    async fn copy(&self, is_new: bool) -> Result<Move, Error> {
        let Intent { from, to, .. } = &self.intent;
        let mut made: Option<String> = None;
        for _ in 0..MAX_ATTEMPTS {
            let (old, new) = (load_text(self.call, from).await?, load_text(self.call, to).await);
            let new = match new {
                Ok(new) => new,
                Err(error) if error.code == ErrorCode::Storage => return Err(error),
                // It is not the text that the rename makes.
                Err(_) => return Ok(Move::Taken),
            };
            let Some((current, _)) = self.intent.current(self.call, self.config).await? else {
                // Others have finished it.
                return if new.is_some() { Ok(Move::Done) } else { Err(self.gone()) };
            };
            let may_take_over = current.removes.is_none();
            match (old, new) {
                (None, None) => {
                    self.intent.close(self.call, self.config).await?;
                    return Err(self.gone());
                }
                (None, Some((new, _))) => {
                    // Nobody but the rename itself removes the old file and leaves the text of the new one.
                    if current.removes.is_some() || sha256(&new) == self.intent.made {
                        return Ok(Move::Done);
                    }
                    self.intent.close(self.call, self.config).await?;
                    return Err(self.gone());
                }
                (Some((old, _)), None) => {
                    if !may_take_over {
                        self.intent.close(self.call, self.config).await?;
                        return Err(self.gone());
                    }
                    let text = self.renamed_text(&old).text;
                    let renamed = self.call.screen.moved(to, Some(old.as_bytes()), text.clone().into_bytes())?;
                    if create_note(self.call, to, renamed).await? {
                        made = Some(text);
                    }
                }
                (Some((old, _)), Some((new, version))) => {
                    let wanted = self.renamed_text(&old).text;
                    if new == wanted {
                        return Ok(Move::Copied(old));
                    }
                    let is_ours = sha256(&new) == self.intent.made || made.as_ref() == Some(&new);
                    if !is_ours && made.is_none() && is_new {
                        return Ok(Move::Taken);
                    }
                    if !is_ours || !may_take_over {
                        self.intent.close(self.call, self.config).await?;
                        return Err(self.both_changed());
                    }
                    // Somebody saved the old file in between: the new one takes that over.
                    let renamed = self.call.screen.moved(to, Some(new.as_bytes()), wanted.clone().into_bytes())?;
                    if write_version(&self.call.fs, to, &renamed, version).await? {
                        made = Some(wanted);
                    }
                }
            }
        }
        let message = format!("{from}: changed by others {MAX_ATTEMPTS} times in a row");
        Err(self.unfinished(Error::new(ErrorCode::Contention, message, "")))
    }

    /// Removes the old file, if the new one holds what it says.
    async fn remove_old(&self) -> Result<(), Error> {
        let from = &self.intent.from;
        for _ in 0..MAX_ATTEMPTS {
            let Move::Copied(text) = self.copy(false).await? else { return Ok(()) };
            let Some(removes) = self.intent.allow_removal(self.call, self.config, &text).await? else { return Ok(()) };
            let Some((text, version)) = load_text(self.call, from).await? else { return Ok(()) };
            if sha256(&text) != removes {
                // From here on it may be another note of this name: it stays.
                self.intent.close(self.call, self.config).await?;
                return Err(self.both_changed());
            }
            if remove_version(&self.call.fs, from, version, Removal::OF_COPY).await? {
                return Ok(());
            }
        }
        let message = format!("{from}: changed by others {MAX_ATTEMPTS} times in a row");
        Err(Error::new(ErrorCode::Contention, message, ""))
    }

    /// Rewrites the links of all notes. A note that cannot be rewritten does not keep the others from it.
    async fn rewrite_links(&self, reply: &mut RenameReply) -> Result<(), Error> {
        let Intent { from, to, .. } = &self.intent;
        reply.not_rewritten.extend(self.sources.unread.iter().cloned());
        for path in self.sources.linking.iter().filter(|path| *path != from && *path != to) {
            match self.update_note(path, |text| self.rewritten(text, path)).await {
                Ok(Some(done)) => {
                    reply.links += done.links;
                    reply.files += u32::from(done.links > 0);
                    if done.is_partial {
                        let problem = "its frontmatter could not be read with the new name in it";
                        reply.not_rewritten.push(Warning::new(&self.call.scope.shown(path), problem));
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    reply.not_rewritten.push(Warning::new(&self.call.scope.shown(path), error.message));
                }
            }
        }
        Ok(())
    }

    /// Changes a note while the rename is under way. `None`: there is nothing to change in it.
    ///
    /// A process that was slow must not change what others wrote after they had finished its rename, so the
    /// text that is changed is older than the last look at the intent.
    async fn update_note(
        &self,
        path: &RelPath,
        change: impl Fn(&str) -> Rewritten,
    ) -> Result<Option<Rewritten>, Error> {
        let limit = self.call.scope.limits.max_file_bytes;
        for _ in 0..MAX_ATTEMPTS {
            let Some((text, version)) = load_text(self.call, path).await? else { return Ok(None) };
            let new = change(&text);
            if new.text == text {
                return Ok(new.is_partial.then_some(new));
            }
            if new.text.len() > limit as usize {
                return Err(Error::file_too_large(path, new.text.len() as u64, u64::from(limit)));
            }
            if self.intent.current(self.call, self.config).await?.is_none() {
                return Ok(None);
            }
            let rewritten = self.call.screen.moved(path, Some(text.as_bytes()), new.text.clone().into_bytes())?;
            if write_version(&self.call.fs, path, &rewritten, version).await? {
                return Ok(Some(new));
            }
        }
        let message = format!("{path}: changed by others {MAX_ATTEMPTS} times in a row");
        Err(Error::new(ErrorCode::Contention, message, ""))
    }

    /// The text of the note with its new title, and with the links to itself.
    fn renamed_text(&self, text: &str) -> Rewritten {
        let Intent { from, to, new_title, .. } = &self.intent;
        let rewritten = self.rewritten(text, from);
        let note = Note::parse(&rewritten.text, self.config.tags);
        // A note without a title of its own is called by its file.
        let says_it = if note.title.is_empty() { to.file_stem() == new_title } else { note.title == *new_title };
        let text = if says_it { rewritten.text } else { set_title(&rewritten.text, &note, new_title) };
        Rewritten { text, ..rewritten }
    }

    /// The text of a note with its links to the old name changed.
    fn rewritten(&self, text: &str, path: &RelPath) -> Rewritten {
        let rewritten = self.rewritten_links(text, path, true);
        let has_problem = |text: &str| Note::parse(text, self.config.tags).frontmatter.problem.is_some();
        if rewritten.text == text || has_problem(text) || !has_problem(&rewritten.text) {
            return rewritten;
        }
        Rewritten { is_partial: true, ..self.rewritten_links(text, path, false) }
    }

    fn rewritten_links(&self, text: &str, path: &RelPath, properties: bool) -> Rewritten {
        let from = below_notebook(self.call, path);
        let new_below = below_notebook(self.call, &self.intent.to);
        let is_unambiguous = |name: &str| (self.sources.is_unambiguous)(name, new_below);
        let renamed = Renamed {
            old_path: below_notebook(self.call, &self.intent.from),
            new_path: new_below,
            old_title: &self.intent.old_title,
            new_title: &self.intent.new_title,
            aliases: &self.intent.aliases,
            is_unambiguous: &is_unambiguous,
        };
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        let mut count = 0;
        for link in &Note::parse(text, self.config.tags).links {
            let is_property = link.kind == LinkKind::Property;
            if is_property && !properties || !(self.sources.leads_to_old)(from, link) {
                continue;
            }
            let Some(raw) = text.get(link.target_span.clone()) else { continue };
            let Some(target) = renamed.target(self.config, from, link, raw) else { continue };
            let start = link.target_span.start;
            let target = if is_property { property_text(text, start, &target) } else { target };
            if target == raw {
                continue;
            }
            count += 1;
            edits.push((link.target_span.clone(), target));
        }
        order::sort_slice_by_key(&mut edits, |(span, _)| span.start);
        // Links by reference share the target of one definition.
        edits.dedup_by(|later, first| later.0 == first.0);
        let text = if edits.is_empty() { text.to_string() } else { replace_spans(text, &edits) };
        let text = self.superseding(text, renamed.old_path, new_below);
        Rewritten { text, links: count, is_partial: false }
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

    fn gone(&self) -> Error {
        let Intent { from, to, .. } = &self.intent;
        let message = format!("{from} was removed or renamed by others before it became {to}");
        Error::new(ErrorCode::NotFound, message, "`notes` shows what there is")
    }

    fn both_changed(&self) -> Error {
        let message = format!("{} and {} were both changed by others", self.intent.from, self.intent.to);
        let help = "both are kept: put them together by hand, and remove the old one";
        Error::new(ErrorCode::Contention, message, help)
    }

    fn unfinished(&self, error: Error) -> Error {
        let Intent { from, to, .. } = &self.intent;
        let state = if from == to {
            format!("{to} has its old title, and links may have the new one")
        } else {
            format!("{from} may be kept beside {to}")
        };
        let help = "the next command that changes the notebook finishes it; or mend this and rename it again";
        let help = if error.code == ErrorCode::NotFound { error.help } else { format!("{state}; {help}") };
        Error { help, ..error }
    }

    fn empty_reply(&self) -> RenameReply {
        RenameReply {
            old_path: self.call.scope.shown(&self.intent.from),
            path: self.call.scope.shown(&self.intent.to),
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
        let mut message = format!("Renamed {} to {}; {links}", reply.old_path, reply.path);
        if !reply.not_rewritten.is_empty() {
            let named = reply.not_rewritten.iter().map(|Warning { path, message }| format!("\n- {path}: {message}"));
            let named: String = named.collect();
            message.push_str(&format!("\nNot rewritten, and perhaps still linked to the old name:{named}"));
        }
        reply.message = ForModel::escaped(&message);
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;

    use super::super::run::Notebook;
    use super::super::testing::{Store, call_at, day, path};
    use super::super::{Journal, NotebookCall, NotebookCommand, NotebookReply, Rename, run};
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

    fn sources<'a>(
        linking: &'a [RelPath],
        leads_to_old: &'a (dyn Fn(&str, &Link) -> bool + Send + Sync),
    ) -> RenameSources<'a> {
        RenameSources { linking, unread: &[], leads_to_old, is_unambiguous: &|_, _| true, verbatim_names: false }
    }

    async fn renamed(
        call: &Call,
        title: &str,
        linking: &[RelPath],
        leads_to_old: &(dyn Fn(&str, &Link) -> bool + Send + Sync),
    ) -> Result<RenameReply, Error> {
        let sources = sources(linking, leads_to_old);
        match rename(call, &NotebookConfig::default(), &path(OLD), title, &sources).await? {
            Attempt::Renamed(reply) => Ok(reply),
            Attempt::UnderWay => panic!("another rename is under way"),
        }
    }

    fn rename_to(store: &mut Store, title: &'static str) -> Result<RenameReply, Error> {
        store.run(|fs| async move {
            let linking = [path("daily/log.md"), path("facts/other.md"), path(OLD), path("gone.md")];
            let leads_to_old: &(dyn Fn(&str, &Link) -> bool + Send + Sync) =
                &|_, link| ["port", "facts/port", "../facts/port.md"].contains(&link.target.as_str());
            renamed(&call_at(fs, day()), title, &linking, leads_to_old).await
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
        let last: Vec<&str> = store.writes.iter().rev().take(2).map(String::as_str).collect();
        assert_eq!(last, ["remove .saddlebag/rename.json", "remove facts/port.md"]);
    }

    #[test]
    fn every_way_to_write_a_link_is_rewritten() {
        let text = "[p][r], [q][r] <https://a.b/port> ![i](port)\n[s](<../facts/port.md#a b> \"up\")\n[[port|a \\| b]] [[/facts/port]]\n\n[r]: ../facts/port.md#x \"t\"\n";
        let mut store = Store::with(&[(OLD, "# Port\n"), ("daily/log.md", text)]);
        let reply = store.run(|fs| async move {
            let linking = [path("daily/log.md")];
            renamed(&call_at(fs, day()), "DB port", &linking, &|_, link| !link.is_external).await
        });
        assert_eq!(reply.expect("renamed").links, 6);
        let new = text.replace("facts/port", "facts/db-port").replace("[[port", "[[db-port");
        let new = new.replace("![i](port)", "![i](../facts/db-port)");
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
                let leads_to_old: &(dyn Fn(&str, &Link) -> bool + Send + Sync) =
                    &|_, link| ["Port", "facts/port"].contains(&link.target.as_str());
                renamed(&call_at(fs, day()), "Port!", &linking, leads_to_old).await
            })
        };
        let title = |store: &Store| Note::parse(&store.text(OLD), crate::document::TagSyntax::default()).title;
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

    #[test]
    fn the_name_follows_the_title() {
        let stem = |file: &str, old: &str, new: &str| new_stem(&path(file), old, new, false);
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
    fn a_note_that_is_called_by_its_title_goes_on_being_called_so() {
        let stem = |file: &str, old: &str, new: &str, near: bool| new_stem(&path(file), old, new, near);
        for (file, old, new, near, expected) in [
            ("Money Back Policy.md", "Money Back Policy", "Refund Policy", false, "Refund Policy"),
            ("a/Ärger.md", "Ärger", "Über: was? \"nun\"", false, "Über was nun"),
            ("A B.md", "A B", "..x/y\\z. ", false, "x y z"),
            ("A B.md", "A B", "CON", false, "note-con"),
            ("A B.md", "A B", "???", false, "note-"),
            ("port.md", "port", "DB port", false, "db-port"),
            ("port.md", "port", "DB port", true, "DB port"),
            ("2-a-b.md", "A B", "C D", true, "2-c-d"),
        ] {
            let got = stem(file, old, new, near).expect("a name");
            assert!(got == expected || expected == "note-" && got.starts_with(expected), "{file} {new}: {got}");
        }
    }

    /// As a process of its own would run it.
    async fn run_alone(fs: crate::engine::Fs, command: NotebookCommand) -> Result<NotebookReply, Error> {
        let (call, notebook) = (call_at(fs, day()), Arc::new(Notebook::default()));
        run(&NotebookCall { call: &call, notebook: &notebook }, command).await
    }

    fn rename_command(note: &str, title: &str) -> NotebookCommand {
        NotebookCommand::Rename(Rename { note: note.into(), title: title.into() })
    }

    fn renames(store: &mut Store, note: &str, title: &str) -> Result<RenameReply, Error> {
        let command = rename_command(note, title);
        match store.run(|fs| run_alone(fs, command))? {
            NotebookReply::Rename(reply) => Ok(reply),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_section_is_not_renamed_with_its_note() {
        let mut store =
            Store::with(&[("Beta Plan.md", "Beta\n\n## Risks\n"), ("a.md", "[[beta plan]] [[Beta Plan#Risks]]\n")]);
        let reply = renames(&mut store, "Beta Plan", "Gamma Plan").expect("renamed");
        assert_eq!((reply.path.as_str(), reply.links), ("Gamma Plan.md", 2));
        assert_eq!(store.text("Gamma Plan.md"), "Beta\n\n## Risks\n");
        assert_eq!(store.text("a.md"), "[[Gamma Plan]] [[Gamma Plan#Risks]]\n");
        let reply = renames(&mut store, "Gamma Plan", "Q: who?").expect("renamed");
        assert_eq!(reply.path, "Q who.md");
        assert_eq!(store.text("Q who.md"), "# Q: who?\n\nBeta\n\n## Risks\n");
    }

    #[test]
    fn embeds_tables_and_properties_follow_a_rename() {
        let text = "---\nup: \"[[Note]]\"\nrelated:\n  - '[[note|n]]'\n  - \"[[Note#A \\\"b\\\"]]\"\nx: [[Note]]\n---\n\
            ![[Note]] ![[Note#^b]] ![[Note|300]]\n\n| a |\n|---|\n| [[Note\\|text]] |\n\n![i](Note.md) `![[Note]]`\n";
        let mut store = Store::with(&[("Note.md", "b\n"), ("a.md", text)]);
        let reply = renames(&mut store, "Note", "It's new").expect("renamed");
        assert_eq!((reply.links, reply.files, reply.not_rewritten), (8, 1, Vec::new()));
        let expected = "---\nup: \"[[It's new]]\"\nrelated:\n  - '[[It''s new|n]]'\n  - \"[[It's new#A \\\"b\\\"]]\"\nx: [[Note]]\n---\n\
            ![[It's new]] ![[It's new#^b]] ![[It's new|300]]\n\n| a |\n|---|\n| [[It's new\\|text]] |\n\n\
            ![i](It's%20new.md) `![[Note]]`\n";
        assert_eq!(store.text("a.md"), expected);
    }

    #[test]
    fn a_property_that_would_break_the_frontmatter_stays_and_is_named() {
        let text = "---\nup: see [[Note]]\n---\n[[Note]]\n";
        let mut store = Store::with(&[("n.md", "# Note\n"), ("a.md", text)]);
        let reply = renames(&mut store, "Note", "A: b").expect("renamed");
        assert_eq!(store.text("a.md"), "---\nup: see [[Note]]\n---\n[[A: b]]\n");
        let named: Vec<&str> = reply.not_rewritten.iter().map(|warning| warning.path.as_str()).collect();
        assert_eq!((named.as_slice(), reply.links), (&["a.md"][..], 1), "{reply:?}");
    }

    #[test]
    fn of_two_renames_that_race_one_wins_and_leaves_one_note() {
        for seed in 0..100 {
            let mut store =
                Store::with(&[(OLD, "# Port\n"), ("daily/log.md", "[[port]]\n"), ("facts/other.md", "[[Port]]\n")]);
            let titles = ["DB port", "Web port"];
            let replies = store
                .race(2, seed, |fs, i| run_alone(fs, rename_command(OLD, titles[usize::try_from(i).expect("fits")])));
            let won: Vec<&NotebookReply> = replies.iter().filter_map(|reply| reply.as_ref().ok()).collect();
            let [NotebookReply::Rename(won)] = won.as_slice() else { panic!("seed {seed}: {replies:?}") };
            let lost = replies.iter().find_map(|reply| reply.as_ref().err()).expect("one is refused");
            assert_eq!(lost.code, ErrorCode::NotFound, "seed {seed}: {lost:?}");
            let mut names = ["daily/log.md", won.path.as_str(), "facts/other.md"];
            names.sort_unstable();
            assert_eq!(store.names(), names, "seed {seed}");
            let stem = slug(&won.title);
            assert_eq!(store.text("daily/log.md"), format!("[[{stem}]]\n"), "seed {seed}");
            assert_eq!(store.text("facts/other.md"), format!("[[{stem}]]\n").replace(&stem, &won.title), "seed {seed}");
        }
    }

    #[test]
    fn many_renames_of_many_notes_all_happen_once() {
        for seed in 0..20 {
            let mut store =
                Store::with(&[("a.md", "# A\n[[b]]\n"), ("b.md", "# B\n[[c]]\n"), ("c.md", "# C\n[[a]]\n")]);
            let replies = store.race(3, seed, |fs, i| {
                let (note, title) = [("a.md", "A2"), ("b.md", "B2"), ("c.md", "C2")][usize::try_from(i).expect("fits")];
                run_alone(fs, rename_command(note, title))
            });
            assert!(replies.iter().all(Result::is_ok), "seed {seed}: {replies:?}");
            assert_eq!(store.names(), ["a2.md", "b2.md", "c2.md"], "seed {seed}");
            let texts = ["a2.md", "b2.md", "c2.md"].map(|file| store.text(file));
            assert_eq!(texts, ["# A2\n[[b2]]\n", "# B2\n[[c2]]\n", "# C2\n[[a2]]\n"], "seed {seed}");
        }
    }

    #[test]
    fn a_rename_that_was_killed_is_finished_by_the_next_change() {
        for last in 1..7 {
            let mut store = Store::with(&[(OLD, "# Port\n[[port]]\n"), ("a.md", "[[port]]\n"), ("b.md", "[[Port]]\n")]);
            store.dies_after = Some(last);
            let error = renames(&mut store, OLD, "DB port").expect_err("it died");
            assert_eq!(error.code, ErrorCode::Storage);
            store.dies_after = None;
            let entry = NotebookCommand::Journal(Journal { entry: "on".into() });
            store.run(|fs| run_alone(fs, entry)).expect("journaled");
            assert_eq!(store.names(), ["a.md", "b.md", "daily/2026-05-25.md", "facts/db-port.md"], "{last}");
            assert_eq!(store.text("facts/db-port.md"), "# DB port\n[[db-port]]\n", "{last}");
            assert_eq!((store.text("a.md"), store.text("b.md")), ("[[db-port]]\n".into(), "[[DB port]]\n".into()));
        }
    }

    #[test]
    fn the_same_rename_again_finishes_one_that_was_killed() {
        for last in 1..7 {
            let mut store = Store::with(&[(OLD, "# Port\n"), ("a.md", "[[port]]\n"), ("b.md", "[[Port]]\n")]);
            store.dies_after = Some(last);
            renames(&mut store, "Port", "DB port").expect_err("it died");
            store.dies_after = None;
            let reply = renames(&mut store, "Port", "DB port").expect("finished");
            assert_eq!((reply.old_path.as_str(), reply.path.as_str()), (OLD, "facts/db-port.md"), "{last}");
            assert_eq!(store.names(), ["a.md", "b.md", "facts/db-port.md"], "{last}");
        }
    }

    #[test]
    fn a_note_that_cannot_be_rewritten_is_named() {
        let mut store = Store::with(&[(OLD, "# Port\n"), ("a.md", "[[port]]\n"), ("b.md", "[[port]]\n")]);
        store.put("latin.md", b"[[port]] \xe9\n".to_vec());
        store.denies = Some("a.md");
        let reply = renames(&mut store, OLD, "DB port").expect("renamed");
        let named: Vec<&str> = reply.not_rewritten.iter().map(|warning| warning.path.as_str()).collect();
        assert_eq!((named.as_slice(), reply.links), (&["latin.md", "a.md"][..], 1), "{reply:?}");
        assert!(reply.message.contains("a.md: a.md: permission denied"), "{}", reply.message);
        assert_eq!((store.text("a.md"), store.text("b.md")), ("[[port]]\n".into(), "[[db-port]]\n".into()));
        assert!(!store.has(OLD) && !store.has(".saddlebag/rename.json"));
    }

    #[test]
    fn a_forged_intent_destroys_nothing() {
        const A: &str = "# A\n\nof a\n";
        let of = |from: &str, to: &str, made: &str, removes: Option<&str>| {
            let removes = removes.map_or("null".to_string(), |text| format!("\"{}\"", sha256(text)));
            let made = sha256(made);
            format!(
                r#"{{"format":1,"from":"{from}","to":"{to}","old_title":"A","new_title":"B","aliases":[],"made":"{made}","removes":{removes}}}"#
            )
        };
        let damaged = [
            "",
            "{",
            "[]",
            "\u{0}",
            &of("../a.md", "../b.md", "", Some(A)),
            &of("/etc/a.md", "/etc/b.md", "", Some(A)),
            &of("a.md", "x/b.md", "", Some(A)),
            &of(".zk/a.md", ".zk/b.md", "", Some(A)),
            &of("a.md", "b.txt", "", Some(A)),
            &of("projects/api-0db23a34/a.md", "projects/api-0db23a34/b.md", "", Some(A)),
            &of("a.md", "b.md", "", Some(A)).replace("\"B\"", "\"B\\nC\""),
            &of("a.md", "b.md", "", Some(A)).replace(":1", ":2"),
            &of("a.md", "b.md", "", Some(A)).replace("aliases", "others"),
        ];
        let forged = [
            // The other note does not hold what would be removed.
            of("a.md", "b.md", "# B\n\nof b\n", Some(A)),
            of("a.md", "b.md", "", None),
            of("a.md", "none.md", "", Some(A)),
            of("none.md", "b.md", "", Some(A)),
            of("none.md", "none2.md", "", None),
        ];
        let files =
            [("a.md", A), ("b.md", "# B\n\nof b\n"), ("c.md", "[[a]] [[b]]\n"), ("projects/api-0db23a34/a.md", A)];
        for (text, is_damaged) in
            damaged.into_iter().map(|text| (text.to_string(), true)).chain(forged.map(|text| (text, false)))
        {
            let mut store = Store::with(&files);
            store.put(".saddlebag/rename.json", text.clone().into_bytes());
            let entry = NotebookCommand::Journal(Journal { entry: "on".into() });
            store.run(|fs| run_alone(fs, entry)).expect("journaled");
            for (file, expected) in files {
                assert_eq!(store.text(file), expected, "{text}: {:?}", store.writes);
            }
            assert_eq!(store.has(".saddlebag/rename.json"), is_damaged, "{text}");
            let renamed = renames(&mut store, "b.md", "D");
            assert_eq!(renamed.is_err(), is_damaged, "{text}: {renamed:?}");
            if let Err(error) = renamed {
                assert!(error.message.contains("rename.json is not a rename of this notebook"), "{error:?}");
                assert_eq!(store.text("b.md"), "# B\n\nof b\n");
            }
        }
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
