//! The files of a scope, each by its path: for those who show memory as files, whatever wrote it.
//!
//! The Markdown files of the scope are those directly in the root, all of the project, none of them hidden, and
//! those of the entries that the memory was opened for. Nothing else can be named.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::engine::Call;
use crate::entries::Entries;
use crate::journal::{ListedFile, ReadReply, read_file};
use crate::order;
use crate::protocol::{EntryKind, Error, ErrorCode};
use crate::request::{Effect, Request, Run, family};
use crate::search::{FolderScope, list_markdown};
use crate::store::RelPath;

/// How many files one page lists at most.
pub const MAX_LISTED_FILES: u32 = 1000;

/// Lists the files of the scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListFiles {
    /// List what comes after this path, which need not exist any more; `None`: from the start.
    pub after: Option<String>,
    /// The most files to list, from 1 to [`MAX_LISTED_FILES`].
    pub limit: u32,
}

/// Reads a part of a file. The path of the reply is below the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFile {
    /// The file, by its path below the root, with the path prefix or without it.
    pub path: String,
    /// Where to start, in bytes.
    pub offset: u64,
    /// The most bytes to give.
    pub max_bytes: u32,
}

/// A page of the files of a scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePage {
    /// Sorted by path, each below the root, whatever the path prefix.
    pub files: Vec<ListedFile>,
    /// What the next page comes behind; `None` at the end.
    pub next: Option<String>,
    /// How many files the scope has.
    pub total: u64,
}

impl Request for ListFiles {
    type Reply = FilePage;
    const NAME: &'static str = "list-files";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self { after: None, limit: 1000 }, Self { after: Some(format!("{name}.md")), limit: 1 }]
    }
}

impl Request for ReadFile {
    type Reply = ReadReply;
    const NAME: &'static str = "read-file";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        let paths = [format!("projects/proj/notes/{name}.md"), format!("agents/a/entries/core/{name}.md")];
        paths.map(|path| Self { path, offset: 0, max_bytes: 4000 }).to_vec()
    }
}

/// The parts of a memory that the commands about files share.
pub(crate) struct FilesCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) entries: &'a Entries,
}

family! {
    "files" in Files, run with FilesCall<'_>;
    /// A command about files. None of them changes any.
    FilesCommand =>
    /// The reply of a [`FilesCommand`].
    FilesReply {
        ListFiles,
        ReadFile,
    }
}

/// Runs a command.
pub(crate) async fn run(with: &FilesCall<'_>, command: FilesCommand) -> Result<FilesReply, Error> {
    command.run(with).await
}

impl Run<FilesCall<'_>> for ListFiles {
    async fn run(self, with: &FilesCall<'_>) -> Result<FilePage, Error> {
        list(with.call, with.entries, self.after.as_deref(), self.limit).await
    }
}

impl Run<FilesCall<'_>> for ReadFile {
    async fn run(self, with: &FilesCall<'_>) -> Result<ReadReply, Error> {
        read(with.call, with.entries, &self.path, self.offset, self.max_bytes).await
    }
}

async fn list(call: &Call, entries: &Entries, after: Option<&str>, limit: u32) -> Result<FilePage, Error> {
    if limit == 0 || limit > MAX_LISTED_FILES {
        let message = format!("cannot list {limit} files at once, the limits are 1 and {MAX_LISTED_FILES}");
        return Err(Error::invalid_argument(message, "list in pages: each reply says what the next comes behind"));
    }
    let after = after.map(parse).transpose()?;
    let mut found = Vec::new();
    for entry in list_markdown(&call.fs, scopes(call, entries), &call.scope.limits).await? {
        if entry.kind == EntryKind::File && is_listed(call, entries, &entry.path) {
            found.push(entry);
        }
    }
    order::sort_slice(&mut found, |a, b| a.path.cmp(&b.path));
    let total = found.len() as u64;
    let mut rest = found.into_iter().filter(|entry| after.as_ref().is_none_or(|after| entry.path > *after));
    let files: Vec<ListedFile> = rest
        .by_ref()
        .take(limit as usize)
        .map(|entry| ListedFile { path: entry.path.into_string(), size: entry.size, modified: entry.modified })
        .collect();
    let next = rest.next().and_then(|_| files.last()).map(|last| last.path.clone());
    Ok(FilePage { files, next, total })
}

async fn read(call: &Call, entries: &Entries, path: &str, offset: u64, max_bytes: u32) -> Result<ReadReply, Error> {
    // Replies show paths with the prefix of the configuration.
    let path = parse(path.strip_prefix(call.scope.path_prefix.as_str()).unwrap_or(path))?;
    if !is_listed(call, entries, &path) {
        // Whether there is such a file elsewhere is not this scope's to know.
        let message = format!("`{path}` is no file of this memory");
        return Err(Error::new(ErrorCode::NotFound, message, "list the files to see which there are"));
    }
    let reply = read_file(call, &path, offset, max_bytes).await?;
    Ok(ReadReply { path: path.into_string(), ..reply })
}

/// Where the files of the scope are.
fn scopes(call: &Call, entries: &Entries) -> Vec<FolderScope> {
    let mut scopes = FolderScope::all(&call.scope.layout);
    scopes.extend(entries.folders().map(|folder| FolderScope { folder: Some(folder.root().clone()), tree: true }));
    scopes
}

fn is_listed(call: &Call, entries: &Entries, path: &RelPath) -> bool {
    entries.folders().any(|folder| folder.has(path))
        || FolderScope::all(&call.scope.layout).iter().any(|scope| scope.reaches(path))
}

fn parse(path: &str) -> Result<RelPath, Error> {
    RelPath::parse(path).map_err(|error| {
        let message = format!("`{}` is no path of a file: {error}", path.escape_debug());
        let help = "give a path below the root, as the list of files has it".to_string();
        Error::new(ErrorCode::InvalidName, message, help)
    })
}
