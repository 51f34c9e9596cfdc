//! [`Plan`]: the commits that are to be made, and what is left out.

use std::collections::{BTreeMap, BTreeSet};

use saddlebag::history::{ListOperations, ListVersions, MAX_HISTORY_ITEMS, OperationInfo, VersionList};
use saddlebag::protocol::ErrorCode;

use crate::git::repository::Repository;
use crate::item::text_of_version;
use crate::prelude::*;

/// How often the versions of a file are read again because others changed it meanwhile.
const MAX_TRIES: usize = 8;

/// A change that is not committed.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct LeftOut {
    /// Operation that made the change; `null` if it was made by hand.
    pub(super) operation: Option<String>,
    /// Path of the file.
    pub(super) path: String,
    /// Why it is left out.
    pub(super) reason: String,
}

/// A commit that is to be made for an operation.
pub(super) struct Planned {
    pub(super) info: OperationInfo,
    /// Files, each with its path in the work tree and its content.
    pub(super) files: Vec<PlannedFile>,
}

pub(super) struct PlannedFile {
    /// Path as other commands print it.
    pub(super) shown: String,
    /// Path in the work tree.
    pub(super) path: String,
    /// Identifier of the content; `None` if the file is removed.
    pub(super) blob: Option<String>,
}

#[derive(Default)]
pub(super) struct Plan {
    /// Commits, oldest first.
    pub(super) commits: Vec<Planned>,
    pub(super) left_out: Vec<LeftOut>,
    /// Files that git ignores.
    pub(super) ignored: BTreeSet<String>,
    /// Files outside of the work tree.
    pub(super) outside: BTreeSet<String>,
    /// Number of older operations that were not looked at.
    pub(super) older: u32,
    /// Number of damaged lines of the history.
    pub(super) damaged: u32,
    /// The contents after the last commit, of the files of all commits.
    pub(super) after: BTreeMap<String, Option<String>>,
}

/// A version of a file.
struct Version {
    operation: Option<String>,
    content: Content,
}

/// Content of a version.
#[derive(Clone, PartialEq, Eq)]
enum Content {
    Absent,
    Blob(String),
    /// The history does not have it, for this reason.
    Missing(String),
}

/// The versions of a file that are newer than what git has, newest first.
struct Newer {
    path: String,
    versions: Vec<Version>,
}

impl Plan {
    /// Finds the operations that are not in git yet. If `is_kept`, their texts are stored in git.
    pub(super) fn of(
        repository: &Repository,
        is_kept: bool,
        store: &mut Store,
        output: &mut Output,
    ) -> Result<Self, Failure> {
        let request = ListOperations { limit: MAX_HISTORY_ITEMS, ..ListOperations::default() };
        let list = store.call(request, output)?;
        let listed = u32::try_from(list.operations.len()).unwrap_or(u32::MAX);
        let mut plan = Self { older: list.total.saturating_sub(listed), damaged: list.damaged, ..Self::default() };
        let committed = repository.operations()?;
        let mut operations = list.operations;
        operations.reverse();
        operations.retain(|info| !committed.contains(&info.operation));
        let places = plan.places(&operations, repository)?;
        let mut files = BTreeMap::new();
        for (shown, path) in &places {
            let file = Reader { repository, committed: &committed, is_kept, shown, path };
            files.insert(shown.as_str(), file.newer(store, output)?);
        }
        for info in operations {
            plan.add(info, &mut files, repository);
        }
        Ok(plan)
    }

    /// Returns the path in the work tree of each file that can be committed.
    fn places(
        &mut self,
        operations: &[OperationInfo],
        repository: &Repository,
    ) -> Result<BTreeMap<String, String>, Failure> {
        let mut places = BTreeMap::new();
        for file in operations.iter().flat_map(|info| &info.files) {
            match repository.path(&file.path) {
                Some(path) => drop(places.insert(file.path.clone(), path)),
                None => drop(self.outside.insert(file.path.clone())),
            }
        }
        let ignored = repository.ignored(&places.values().cloned().collect())?;
        places.retain(|shown, path| {
            let is_ignored = ignored.contains(path);
            if is_ignored {
                self.ignored.insert(shown.clone());
            }
            !is_ignored
        });
        Ok(places)
    }

    /// Adds the commit of an operation, if it changes a file.
    fn add(&mut self, info: OperationInfo, newer: &mut BTreeMap<&str, Newer>, repository: &Repository) {
        let shown: BTreeSet<&String> = info.files.iter().map(|file| &file.path).collect();
        let mut files = Vec::new();
        for shown in shown {
            let Some(Newer { path, versions }) = newer.get_mut(shown.as_str()) else { continue };
            let is_of = |version: &Version| version.operation.as_ref() == Some(&info.operation);
            let Some(place) = versions.iter().position(is_of) else { continue };
            let content = versions.get(place).map(|version| version.content.clone());
            // Operations that ran at the same time may have changed the file in turn. No commit goes back.
            versions.truncate(place);
            let blob = match content {
                Some(Content::Blob(blob)) => Some(blob),
                Some(Content::Absent) => None,
                Some(Content::Missing(reason)) => {
                    let (operation, path) = (Some(info.operation.clone()), shown.clone());
                    self.left_out.push(LeftOut { operation, path, reason });
                    continue;
                }
                None => continue,
            };
            let known = || repository.files.get(path).map(|entry| entry.blob.clone());
            if self.after.get(path).cloned().unwrap_or_else(known) != blob {
                files.push(PlannedFile { shown: shown.clone(), path: path.clone(), blob });
            }
        }
        self.after.extend(files.iter().map(|file| (file.path.clone(), file.blob.clone())));
        if !files.is_empty() {
            self.commits.push(Planned { info, files });
        }
    }
}

/// Reads the versions of one file.
struct Reader<'a> {
    repository: &'a Repository,
    /// Operations that are in git.
    committed: &'a BTreeSet<String>,
    is_kept: bool,
    shown: &'a str,
    path: &'a str,
}

impl Reader<'_> {
    /// Returns the versions that are newer than what git has. A version has a number, which changes with every change, so all
    /// are read again if others changed the file meanwhile.
    fn newer(&self, store: &mut Store, output: &mut Output) -> Result<Newer, Failure> {
        for _ in 0..MAX_TRIES {
            let before = self.list(MAX_HISTORY_ITEMS, store, output)?;
            let versions = self.read(&before, store, output)?;
            let after = self.list(1, store, output)?;
            let newest = |list: &VersionList| {
                let newest = list.versions.first();
                newest.map(|version| (version.size, version.operation.clone().map(|info| info.operation)))
            };
            if before.total == after.total && newest(&before) == newest(&after) {
                return Ok(Newer { path: self.path.to_string(), versions });
            }
        }
        let message = format!("{} is changed again and again", self.shown);
        Err(Failure::new(ErrorCode::Conflict, message, "run this again when nothing writes it"))
    }

    fn list(&self, limit: u32, store: &mut Store, output: &mut Output) -> Result<VersionList, Failure> {
        store
            .call(ListVersions { name: self.shown.to_string(), limit, patch: false, ..ListVersions::default() }, output)
    }

    /// Reads versions, newest first, until one that git has.
    ///
    /// Git has a version if a commit names its operation. If the file in git is another one, somebody has committed it in another
    /// way, and git has the newest version with this content. That also holds if no commit names an operation of the file, unless
    /// git does not have the file: nothing shows then that it was ever there.
    fn read(&self, list: &VersionList, store: &mut Store, output: &mut Output) -> Result<Vec<Version>, Failure> {
        let known = self.repository.files.get(self.path).map(|entry| entry.blob.clone());
        let operation =
            |version: &saddlebag::history::VersionInfo| version.operation.as_ref().map(|info| info.operation.clone());
        let is_committed =
            |operation: &Option<String>| operation.as_ref().is_some_and(|operation| self.committed.contains(operation));
        let is_named = list.versions.iter().any(|version| is_committed(&operation(version)));
        let known = match known {
            Some(blob) => Some(Content::Blob(blob)),
            None => is_named.then_some(Content::Absent),
        };
        let mut versions: Vec<Version> = Vec::new();
        for info in &list.versions {
            let operation = operation(info);
            let content = self.content(info, store, output)?;
            let is_known = known.as_ref() == Some(&content);
            if is_committed(&operation) {
                let is_other = !is_known && !matches!(content, Content::Missing(_));
                if let Some(place) = versions.iter().position(|version| known.as_ref() == Some(&version.content))
                    && is_other
                {
                    versions.truncate(place);
                }
                return Ok(versions);
            }
            if is_known && !is_named {
                return Ok(versions);
            }
            versions.push(Version { operation, content });
        }
        Ok(versions)
    }

    fn content(
        &self,
        info: &saddlebag::history::VersionInfo,
        store: &mut Store,
        output: &mut Output,
    ) -> Result<Content, Failure> {
        if info.unkept {
            return Ok(Content::Missing("it was too large, or had a secret in it".to_string()));
        }
        match text_of_version(self.shown, info.number, store, output) {
            Ok(None) => Ok(Content::Absent),
            // Bytes that are not text were replaced.
            Ok(Some(text)) if info.size.is_some_and(|size| size != text.len() as u64) => {
                Ok(Content::Missing("it is not UTF-8 text".to_string()))
            }
            Ok(Some(text)) => self.repository.blob(self.path, text.as_bytes(), self.is_kept).map(Content::Blob),
            Err(failure) if failure.code == ErrorCode::NotFound.into() => Ok(Content::Missing(failure.message)),
            Err(failure) => Err(failure),
        }
    }
}
