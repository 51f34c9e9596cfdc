//! `memory`: the memory tool of Anthropic's API, `memory_20250818`, over the files of the scope.
//!
//! The six commands answer in the words of the API's documentation or of its SDK. `place.rs` decides what the folder
//! shows. A write follows the rules of the family that owns the file, and fails if the file changed since it was read.

mod path;
mod place;
mod text;

use super::arguments::Arguments;
use super::types::Dialect;
use crate::changes::{Backups, Call, File};
use crate::entries::{Entries, create_file, forget_file, rename_file, replace_file};
use crate::journal::MAX_WRITE_BYTES;
use crate::search::Skipped;
use crate::store::RelPath;
use path::{MemoryPath, exactly, names_root};
use place::{Area, Child, Children, Folder, Kind, Place, Use};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};
use text::{human_size, inserted, numbered, replaced};

/// Maximum number of files and folders that one view lists.
const MAX_LISTED: usize = 1_000;
/// Maximum number of attempts to move a file that others change meanwhile.
const MAX_RACES: u32 = 64;
/// Maximum number of files in a folder that is deleted or renamed.
const MAX_TREE: usize = 1_000;

/// Commands, each with its required and its optional arguments.
const COMMANDS: [(&str, &[&str], &[&str]); 6] = [
    ("view", &["path"], &["view_range"]),
    ("create", &["path", "file_text"], &[]),
    ("str_replace", &["path", "old_str", "new_str"], &[]),
    ("insert", &["path", "insert_line", "insert_text"], &[]),
    ("delete", &["path"], &[]),
    ("rename", &["old_path", "new_path"], &[]),
];

/// Runs one command of the tool.
pub(super) async fn run(
    call: &Call,
    entries: &Entries,
    dialect: Dialect,
    arguments: &Arguments,
) -> Result<String, Error> {
    let command = arguments.needed("command")?;
    check_fields(&command, arguments)?;
    let tool = Tool { folder: Folder { call, entries }, dialect };
    // `rename` has two other paths.
    let path = || arguments.needed("path");
    match command.as_str() {
        "view" => tool.view(&path()?, arguments.range("view_range")).await,
        "create" => tool.create(&path()?, &arguments.needed("file_text")?).await,
        "str_replace" => tool.replace(&path()?, &arguments.needed("old_str")?, &arguments.needed("new_str")?).await,
        "insert" => {
            let line = arguments.integer("insert_line");
            let line = line.ok_or_else(|| Error::internal("no `insert_line` was given"))?;
            tool.insert(&path()?, line, &arguments.needed("insert_text")?).await
        }
        "delete" => tool.delete(&path()?).await,
        "rename" => tool.rename(&arguments.needed("old_path")?, &arguments.needed("new_path")?).await,
        _ => Err(unknown(&command)),
    }
}

/// Returns the error for a command that the table accepts and this module does not know.
fn unknown(command: &str) -> Error {
    Error::internal(format!("memory: no command `{command}`"))
}

fn check_fields(command: &str, arguments: &Arguments) -> Result<(), Error> {
    let known = COMMANDS.iter().find(|(name, ..)| *name == command);
    let (_, needed, optional) = known.ok_or_else(|| unknown(command))?;
    let takes = || {
        let names: Vec<&str> = needed.iter().chain(*optional).copied().collect();
        format!("{command} takes {}", names.join(", "))
    };
    if let Some(name) = needed.iter().find(|name| !arguments.has(name)) {
        return Err(Error::invalid_argument(format!("memory: `{name}` is missing"), takes()));
    }
    let is_known = |name: &str| name == "command" || needed.contains(&name) || optional.contains(&name);
    match arguments.names().find(|name| !is_known(name)) {
        Some(name) => Err(Error::invalid_argument(format!("memory: {command} has no `{name}`"), takes())),
        None => Ok(()),
    }
}

/// New text of a file, and the answer of the tool.
type Edited = Result<(String, String), Error>;

struct Tool<'a> {
    folder: Folder<'a>,
    dialect: Dialect,
}

impl Tool<'_> {
    /// Returns an error that has the prefix `Error: ` in the documentation and no prefix in the SDK.
    fn error(&self, message: String) -> Error {
        match self.dialect {
            Dialect::Docs => exactly(format!("Error: {message}")),
            Dialect::Sdk => exactly(message),
        }
    }

    fn call(&self) -> &Call {
        self.folder.call
    }

    async fn view(&self, typed: &str, range: Option<(i64, i64)>) -> Result<String, Error> {
        let path = MemoryPath::parse(typed)?;
        let place = self.folder.locate(&path).await?;
        match self.folder.kind(&place).await? {
            Kind::Absent => Err(exactly(format!("The path {typed} does not exist. Please provide a valid path."))),
            Kind::File => numbered(typed, &self.text(typed, &place).await?, range),
            Kind::Folder => self.list(typed, &place, range).await,
        }
    }

    /// Lists two levels of a folder, depth first. `range` selects the lines to show.
    async fn list(&self, typed: &str, place: &Place, range: Option<(i64, i64)>) -> Result<String, Error> {
        let mut lines: Vec<String> = Vec::new();
        let mut total = 0_u64;
        let base = typed.trim_end_matches('/');
        let Children { shown: children, left_out } = self.visible(place).await?;
        let mut not_listed = not_listed(base, &left_out);
        for child in children {
            let Children { shown: below, left_out } = match child.is_folder {
                true => self.visible(&child.place).await?,
                false => Children::default(),
            };
            not_listed.extend(self::not_listed(&format!("{base}/{}", child.name), &left_out));
            let mut shown = Vec::new();
            let mut size = child.size;
            for grandchild in below {
                let held = match grandchild.is_folder {
                    true => self.held_by(&grandchild.place).await?,
                    false => Some(grandchild.size),
                };
                let Some(held) = held else { continue };
                size += held;
                shown.push(line(&format!("{base}/{}", child.name), &grandchild, held));
            }
            if child.is_folder && shown.is_empty() {
                continue;
            }
            total += size;
            lines.push(line(base, &child, size));
            lines.extend(shown);
        }
        let excluded = match self.dialect {
            Dialect::Docs => "hidden items and node_modules",
            Dialect::Sdk => "hidden items",
        };
        let mut text =
            format!("Here're the files and directories up to 2 levels deep in {typed}, excluding {excluded}:");
        text.push_str(&format!("\n{}\t{typed}", human_size(total)));
        let count = lines.len();
        let (first, last) = range.unwrap_or((1, -1));
        let start = usize::try_from(first.max(1)).unwrap_or(usize::MAX);
        let end = usize::try_from(last).unwrap_or(count).min(count).min(start.saturating_add(MAX_LISTED - 1));
        for line in lines.iter().skip(start - 1).take((end + 1).saturating_sub(start)) {
            text.push('\n');
            text.push_str(line);
        }
        if end < count {
            text.push_str(&format!("\n(lines {start} to {end} of {count}; more: view_range [{}, -1])", end + 1));
        }
        not_listed.iter().for_each(|line| text.push_str(line));
        Ok(text)
    }

    /// Returns the total size of all files below a folder; `None` if it has no files.
    async fn held_by(&self, place: &Place) -> Result<Option<u64>, Error> {
        let mut children = self.visible(place).await?.shown;
        if children.is_empty() {
            return Ok(None);
        }
        let mut size = 0;
        while let Some(child) = children.pop() {
            size += child.size;
            if child.is_folder {
                children.extend(self.visible(&child.place).await?.shown);
            }
        }
        Ok(Some(size))
    }

    async fn visible(&self, place: &Place) -> Result<Children, Error> {
        let mut children = self.folder.children(place).await?;
        if self.dialect == Dialect::Docs {
            children.shown.retain(|child| !child.is_folder || child.name != "node_modules");
        }
        Ok(children)
    }

    /// Reads a file that must exist.
    async fn text(&self, typed: &str, place: &Place) -> Result<String, Error> {
        match place {
            Place::Stored { path, .. } => self.call().load_text(path).await?.ok_or_else(|| gone(typed)),
            _ => self.folder.entry(place).await?.map(|file| file.text).ok_or_else(|| gone(typed)),
        }
    }

    async fn create(&self, typed: &str, content: &str) -> Result<String, Error> {
        let path = MemoryPath::parse(typed)?;
        let place = self.folder.locate(&path).await?;
        let taken = || self.error(format!("File {typed} already exists"));
        if self.folder.kind(&place).await? != Kind::Absent {
            return Err(taken());
        }
        self.folder.check(typed, &place, Use::Create)?;
        self.check_change(&place)?;
        let is_made = match &place {
            Place::Root => false,
            Place::Entries { folder, name } => {
                let both = folder.as_deref().zip(name.as_deref());
                let (folder, name) = both.ok_or_else(|| Error::internal(format!("{typed} names no entry")))?;
                create_file(self.call(), self.folder.entries, folder, name, content).await?
            }
            Place::Stored { area, path } => {
                let content = self.screened(content)?;
                self.check_size(*area, path, &content)?;
                let call = self.call();
                call.apply(&call.screen.write(&File::absent(path), content)?).await?
            }
        };
        if is_made { Ok(format!("File created successfully at: {typed}")) } else { Err(taken()) }
    }

    async fn replace(&self, typed: &str, old: &str, new: &str) -> Result<String, Error> {
        let place = self
            .file(typed, self.error(format!("The path {typed} does not exist. Please provide a valid path.")))
            .await?;
        let dialect = self.dialect;
        self.edit(typed, &place, new, &|text, new| replaced(typed, text, old, new, dialect)).await
    }

    async fn insert(&self, typed: &str, line: i64, addition: &str) -> Result<String, Error> {
        let missing = match self.dialect {
            Dialect::Docs => format!("Error: The path {typed} does not exist"),
            Dialect::Sdk => format!("The path {typed} does not exist. Please provide a valid path."),
        };
        let place = self.file(typed, exactly(missing)).await?;
        let dialect = self.dialect;
        let change = |text: &str, addition: &str| {
            let edited = inserted(text, line, addition).map_err(|lines| {
                exactly(match dialect {
                    Dialect::Docs => format!(
                        "Error: Invalid `insert_line` parameter: {line}. \
                         It should be within the range of lines of the file: [0, {lines}]"
                    ),
                    Dialect::Sdk => {
                        format!("Invalid `insert_line` parameter: {line}. It should be within the range [0, {lines}].")
                    }
                })
            })?;
            Ok((edited, format!("The file {typed} has been edited.")))
        };
        self.edit(typed, &place, addition, &change).await
    }

    /// Returns the place of a file, or the error `missing` if the file does not exist.
    async fn file(&self, typed: &str, missing: Error) -> Result<Place, Error> {
        let path = MemoryPath::parse(typed)?;
        let place = self.folder.locate(&path).await?;
        match (self.folder.kind(&place).await?, self.dialect) {
            (Kind::File, _) => Ok(place),
            (Kind::Folder, Dialect::Sdk) => Err(exactly(format!("The path {typed} is not a file."))),
            (Kind::Folder, Dialect::Docs) | (Kind::Absent, _) => Err(missing),
        }
    }

    /// Checks text against the policy of the memory, for a file without frontmatter of ours.
    fn screened(&self, text: &str) -> Result<String, Error> {
        let screen = &self.call().screen;
        screen.needs_trust("a file of the memory tool")?;
        screen.text("the text", text.into())
    }

    /// Changes a file, if it still has the text that the change was computed from.
    async fn edit(
        &self,
        typed: &str,
        place: &Place,
        added: &str,
        change: &(dyn Fn(&str, &str) -> Edited + Send + Sync),
    ) -> Result<String, Error> {
        let Place::Stored { area, path } = place else {
            let before = self.folder.entry(place).await?.ok_or_else(|| gone(typed))?;
            let (edited, answer) = change(&before.text, added)?;
            replace_file(self.call(), self.folder.entries, &before, &edited).await?;
            return Ok(answer);
        };
        self.check_change(place)?;
        self.check_size(*area, path, added)?;
        let added = &self.screened(added)?;
        let layout = &self.call().scope.layout;
        let is_backed_up = *area == Area::LongTerm || path == layout.scratchpad();
        let backups = if is_backed_up { Backups::Keep } else { Backups::Off };
        let edited = self.call().update(path, backups, |file| {
            let text = file.text()?.ok_or_else(|| gone(typed))?;
            let (edited, answer) = change(text, added)?;
            Ok((Some(self.call().edit(file, edited)?), answer))
        });
        edited.await.map(|(answer, _)| answer)
    }

    /// Refuses changes to a file that other projects read, as the journal does.
    fn check_change(&self, place: &Place) -> Result<(), Error> {
        match place {
            Place::Stored { path, .. } => self.call().screen.check_place(path),
            Place::Root | Place::Entries { .. } => Ok(()),
        }
    }

    /// Refuses text over the limit that the family's own tools have.
    fn check_size(&self, area: Area, path: &RelPath, text: &str) -> Result<(), Error> {
        let limit = self.call().scope.limits.max_file_bytes as usize;
        let limit = if area == Area::Own { limit } else { limit.min(MAX_WRITE_BYTES) };
        if text.len() <= limit {
            return Ok(());
        }
        let message = format!("{path}: the text has {} bytes, the limit is {limit}", text.len());
        Err(Error::new(ErrorCode::TooLarge, message, "write it in several parts"))
    }

    async fn delete(&self, typed: &str) -> Result<String, Error> {
        if names_root(typed) {
            return Err(exactly("Cannot delete the /memories directory itself"));
        }
        let path = MemoryPath::parse(typed)?;
        let place = self.folder.locate(&path).await?;
        let missing = || self.error(format!("The path {typed} does not exist"));
        let kind = self.folder.kind(&place).await?;
        let files = match kind {
            Kind::Absent => return Err(missing()),
            Kind::File => Vec::from([place.clone()]),
            Kind::Folder => self.tree(typed, &place).await?,
        };
        for file in &files {
            self.folder.check(typed, file, Use::Remove)?;
            if let Place::Stored { path, .. } = file {
                self.call().screen.check_place(path)?;
            }
        }
        let count = files.len();
        for (file, done) in files.iter().zip(0_usize..) {
            let removed = self.remove(typed, file).await;
            removed.map_err(|error| partly(error, "deleted", done, count))?;
        }
        if let (Place::Stored { path, .. }, Kind::Folder) = (&place, kind) {
            self.remove_folder(path, &files).await;
        }
        Ok(format!("Successfully deleted {typed}"))
    }

    /// Removes a file, and keeps a backup if it is a note of the notebook. A file that no longer exists is a success.
    async fn remove(&self, typed: &str, file: &Place) -> Result<(), Error> {
        match file {
            Place::Stored { area, path } => {
                let backups = if *area == Area::Own { Backups::Off } else { Backups::Keep };
                let removed = self.call().update(path, backups, |file| {
                    let is_there = file.bytes().is_some();
                    Ok((is_there.then(|| self.call().screen.remove(file)).transpose()?, ()))
                });
                removed.await.map(|_| ())
            }
            _ => {
                let file = self.folder.entry(file).await?.ok_or_else(|| gone(typed))?;
                forget_file(self.call(), self.folder.entries, &file.path).await.map(|_| ())
            }
        }
    }

    /// Removes a folder whose files were removed, and its subfolders that held them. Everything else stays: hidden
    /// files, backups and folders that were empty before.
    async fn remove_folder(&self, folder: &RelPath, files: &[Place]) {
        let stored = files.iter().filter_map(|file| match file {
            Place::Stored { path, .. } => Some(path),
            _ => None,
        });
        self.call().remove_emptied(stored, |above| above == folder || above.is_below(folder)).await;
    }

    /// Lists all files below a folder, at most [`MAX_TREE`].
    async fn tree(&self, typed: &str, folder: &Place) -> Result<Vec<Place>, Error> {
        let mut files = Vec::new();
        let mut folders = Vec::from([folder.clone()]);
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            for child in self.folder.children(&folder).await?.shown {
                seen += 1;
                if seen > MAX_TREE {
                    let message = format!("{typed} has more than {MAX_TREE} files and folders");
                    let help = "do the same for each of its folders";
                    return Err(Error::new(ErrorCode::TooLarge, message, help));
                }
                if child.is_folder { folders.push(child.place) } else { files.push(child.place) }
            }
        }
        Ok(files)
    }

    async fn rename(&self, old: &str, new: &str) -> Result<String, Error> {
        if names_root(old) || names_root(new) {
            return Err(exactly("Cannot rename the /memories directory itself"));
        }
        let (from_path, to_path) = (MemoryPath::parse(old)?, MemoryPath::parse(new)?);
        let from = self.folder.locate(&from_path).await?;
        let kind = self.folder.kind(&from).await?;
        if kind == Kind::Absent {
            return Err(self.error(format!("The path {old} does not exist")));
        }
        let to = self.folder.locate(&to_path).await?;
        let taken = || self.error(format!("The destination {new} already exists"));
        if self.folder.kind(&to).await? != Kind::Absent {
            return Err(taken());
        }
        self.folder.check(old, &from, Use::Rename)?;
        match (&from, &to, kind) {
            (Place::Entries { .. }, Place::Entries { folder: Some(folder), name: Some(name) }, Kind::File) => {
                let file = self.folder.entry(&from).await?.ok_or_else(|| gone(old))?;
                if !rename_file(self.call(), self.folder.entries, &file.path, folder, name).await? {
                    return Err(taken());
                }
            }
            (Place::Stored { path: source, .. }, Place::Stored { path: target, .. }, Kind::File) => {
                self.folder.check(new, &to, Use::Create)?;
                self.move_file(old, source, target).await?.then_some(()).ok_or_else(taken)?;
            }
            (Place::Stored { path: source, .. }, Place::Stored { area: Area::Own, path: target }, _) => {
                self.move_folder(old, &from, source, target).await?;
            }
            _ => {
                let message =
                    format!("Cannot rename {old} to {new}: the two paths belong to different kinds of memory");
                return Err(Error::invalid_argument(message, "create the new file, then delete the old one"));
            }
        }
        Ok(format!("Successfully renamed {old} to {new}"))
    }

    /// Moves a file. Returns `false` if the new name is taken.
    async fn move_file(&self, old: &str, from: &RelPath, to: &RelPath) -> Result<bool, Error> {
        let call = self.call();
        for _ in 0..MAX_RACES {
            let file = call.load(from).await?;
            file.bytes().ok_or_else(|| gone(old))?;
            if call.apply(&call.screen.rename(&file, to)?).await? {
                return Ok(true);
            }
            if call.load(from).await? == file {
                return Ok(false);
            }
        }
        Err(gone(old))
    }

    async fn move_folder(&self, old: &str, folder: &Place, from: &RelPath, to: &RelPath) -> Result<(), Error> {
        let inside =
            |path: &RelPath, folder: &RelPath| path.as_str().strip_prefix(folder.as_str()).map(ToString::to_string);
        if inside(to, from).is_some_and(|rest| rest.starts_with('/')) {
            let message = format!("Cannot rename {old}: it would be moved into itself");
            return Err(Error::invalid_argument(message, "choose a name outside of that folder"));
        }
        let files = self.tree(old, folder).await?;
        let mut moves: Vec<(&RelPath, RelPath)> = Vec::new();
        for file in &files {
            let Place::Stored { path, .. } = file else {
                return Err(Error::internal(format!("{old} has a file that is not in the store")));
            };
            let below = inside(path, from).ok_or_else(|| Error::internal(format!("{path} is not in {old}")))?;
            let target = RelPath::new(format!("{to}{below}"));
            let target = target.map_err(|error| exactly(format!("{error}")))?;
            // Checked before the first file moves, so that no folder is moved halfway.
            self.call().screen.check_place(path)?;
            self.call().screen.check_place(&target)?;
            moves.push((path, target));
        }
        let count = moves.len();
        for ((path, target), done) in moves.iter().zip(0_usize..) {
            let moved = self.move_file(old, path, target).await.and_then(|is_done| match is_done {
                true => Ok(()),
                false => Err(exactly(format!("{target} was created by someone else meanwhile"))),
            });
            moved.map_err(|error| partly(error, "renamed", done, count))?;
        }
        self.remove_folder(from, &files).await;
        Ok(())
    }
}

/// Returns a line for each name of a folder that the listing cannot show.
fn not_listed(folder: &str, left_out: &[Skipped]) -> Vec<String> {
    let name =
        |skipped: &Skipped| if skipped.path == "." { folder.into() } else { format!("{folder}/{}", skipped.path) };
    left_out.iter().map(|skipped| format!("\n(not listed: {}: {})", name(skipped), skipped.reason)).collect()
}

fn line(folder: &str, child: &Child, size: u64) -> String {
    let slash = if child.is_folder { "/" } else { "" };
    format!("{}\t{folder}/{}{slash}", human_size(size), child.name)
}

fn gone(typed: &str) -> Error {
    exactly(format!("The file {typed} no longer exists (may have been deleted or renamed concurrently)."))
}

/// Adds to an error how many files were done before it.
fn partly(mut error: Error, verb: &str, done: usize, count: usize) -> Error {
    if done == 0 {
        return error;
    }
    let help = format!("{done} of {count} files were {verb}, the others are unchanged. {}", error.help);
    error.help = help.trim_end().to_string();
    error
}
