//! [`Bench`]: a driver with a fresh store, and short spellings of what a case asks of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use saddlebag::protocol::{Entry, EntryKind, FileContent, FsOutcome, ListOutcome, Listing, ReadOutcome, Version};
use serde_json::Value;
use tempfile::TempDir;

use crate::driver::{Answer, Driver, Hello, Opening, short};
use crate::ops::{list, read, version, with, word, write};
use crate::report::{Ended, Ran, check, left_out};

/// Folder of all stores of a run, which is removed at its end.
pub(crate) struct Stores {
    folder: TempDir,
    made: AtomicU32,
}

impl Stores {
    pub(crate) fn new() -> Result<Self, String> {
        let made = tempfile::Builder::new().prefix("saddlebag-conform-").tempdir();
        let folder = made.map_err(|error| format!("cannot make a folder for the stores: {error}"))?;
        Ok(Self { folder, made: AtomicU32::new(1) })
    }

    /// Returns the name of an empty store. For a host whose stores are folders, it is made.
    pub(crate) fn fresh(&self, hello: &Hello) -> Result<String, String> {
        let name = format!("store-{}", self.made.fetch_add(1, Ordering::Relaxed));
        if !hello.folder {
            // The store of another run may still exist.
            let of_run = self.folder.path().file_name().unwrap_or_default();
            return Ok(format!("{}-{name}", of_run.display()));
        }
        let path = self.folder.path().join(name);
        fs::create_dir(&path).map_err(|error| format!("cannot make {}: {error}", path.display()))?;
        path.into_os_string().into_string().map_err(|_| "the folder for temporary files is not UTF-8".to_string())
    }
}

/// A driver with an open store.
pub(crate) struct Bench<'a> {
    pub(crate) driver: &'a mut Driver,
    store: String,
}

impl<'a> Bench<'a> {
    /// Opens a fresh store.
    pub(crate) fn open(driver: &'a mut Driver, stores: &Stores) -> Result<Self, String> {
        driver.ready()?;
        let store = stores.fresh(driver.hello())?;
        Self::on(driver, &store, 1)
    }

    /// Opens a store that exists.
    pub(crate) fn on(driver: &'a mut Driver, store: &str, epoch: u64) -> Result<Self, String> {
        let mut bench = Self { driver, store: store.into() };
        bench.reopen(epoch)?;
        Ok(bench)
    }

    /// Returns the name of the store.
    pub(crate) fn store(&self) -> &str {
        &self.store
    }

    /// Opens the store again, with a driver that was started again if it was killed.
    pub(crate) fn reopen(&mut self, epoch: u64) -> Result<(), String> {
        self.driver.open(&self.store, &Opening { epoch, ..Opening::default() })
    }

    pub(crate) fn perform(&mut self, op: &Value) -> Result<Answer, String> {
        self.driver.perform(op)
    }

    /// Checks that the result of an operation has one of these words.
    pub(crate) fn expect(&mut self, op: &Value, words: &[&str]) -> Ran {
        self.answer(op, words).map(drop)
    }

    /// Performs an operation whose result has one of these words.
    pub(crate) fn answer(&mut self, op: &Value, words: &[&str]) -> Result<Answer, Ended> {
        let answer = self.perform(op)?;
        let found = word(&answer);
        if words.contains(&&*found) {
            return Ok(answer);
        }
        let detail = answer.as_ref().err().map(|error| format!(" ({error})")).unwrap_or_default();
        Err(Ended::Failed(format!("{} gave `{found}`{detail} instead of `{}`", short(op), words.join("` or `"))))
    }

    /// Performs an operation whose result has this word and a version.
    pub(crate) fn versioned(&mut self, op: &Value, word: &str) -> Result<Version, Ended> {
        let answer = self.answer(op, &[word])?;
        version(&answer).ok_or_else(|| Ended::Failed(format!("{} gave no version", short(op))))
    }

    /// Writes a file, and returns its version.
    pub(crate) fn put(&mut self, path: &str, text: &str) -> Result<Version, Ended> {
        self.versioned(&write(path, text.as_bytes(), "any"), "written")
    }

    /// Reads a file that exists.
    pub(crate) fn content(&mut self, path: &str) -> Result<FileContent, Ended> {
        match self.answer(&read(path, 0, u32::MAX), &["content"])? {
            Ok(FsOutcome::Read(ReadOutcome::Content(content))) => Ok(content),
            other => Err(Ended::Failed(format!("`{path}` has no content: {other:?}"))),
        }
    }

    /// Checks the text of a file; `None` if it does not exist.
    pub(crate) fn holds(&mut self, path: &str, text: Option<&str>) -> Ran {
        let found = match self.answer(&read(path, 0, u32::MAX), &["content", "absent"])? {
            Ok(FsOutcome::Read(ReadOutcome::Content(content))) => Some(content.bytes),
            _ => None,
        };
        if found.as_deref() == text.map(str::as_bytes) {
            return Ok(());
        }
        let found = found.map_or("nothing".to_string(), |bytes| format!("{:?}", String::from_utf8_lossy(&bytes)));
        Err(Ended::Failed(format!("`{path}` holds {found} instead of {text:?}")))
    }

    /// Reads the text of a file that exists.
    pub(crate) fn text(&mut self, path: &str) -> Result<String, Ended> {
        Ok(String::from_utf8_lossy(&self.content(path)?.bytes).into_owned())
    }

    /// Returns one page.
    pub(crate) fn page(&mut self, op: &Value) -> Result<Listing, Ended> {
        match self.answer(op, &["page", "a page without entries"])? {
            Ok(FsOutcome::ListDirectory(ListOutcome::Page(page))) => Ok(page),
            other => Err(Ended::Failed(format!("{} gave no page: {other:?}", short(op)))),
        }
    }

    /// Returns all entries of a folder except the host's own.
    pub(crate) fn entries(&mut self, folder: Option<&str>) -> Result<Vec<Entry>, Ended> {
        self.paged(folder, 1000)
    }

    /// Returns all entries of a folder except the host's own, by pages of at most `limit`.
    pub(crate) fn paged(&mut self, folder: Option<&str>, limit: u32) -> Result<Vec<Entry>, Ended> {
        let (mut entries, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = self.page(&with(list(folder, limit), "after", after.clone()))?;
            let paths: Vec<&str> = page.entries.iter().map(|entry| entry.path.as_str()).collect();
            check!(paths.len() <= limit as usize, "a page of at most {limit} has {paths:?}");
            let is_later = |path: &&str| after.as_deref().is_none_or(|after| *path > after);
            check!(paths.iter().all(is_later), "a page after {after:?} has {paths:?}");
            let next = page.next.map(|next| next.to_string());
            let is_last = next.as_deref() == paths.last().copied();
            check!(next.is_none() || is_last, "`next` is {next:?} after {paths:?}");
            entries.extend(page.entries);
            after = next;
            if after.is_none() {
                break;
            }
        }
        entries.retain(|entry| entry.path.as_str() != ".saddlebag");
        Ok(entries)
    }

    /// Returns all files that listings show.
    pub(crate) fn files(&mut self) -> Result<BTreeMap<String, Vec<u8>>, Ended> {
        let (mut files, mut folders) = (BTreeMap::new(), vec![None::<String>, Some(".saddlebag".into())]);
        while let Some(folder) = folders.pop() {
            for entry in self.entries(folder.as_deref())? {
                let path = entry.path.to_string();
                match entry.kind {
                    EntryKind::Directory => folders.push(Some(path)),
                    _ => drop(files.insert(path.clone(), self.content(&path)?.bytes)),
                }
            }
        }
        Ok(files)
    }

    /// Returns the paths of a folder.
    pub(crate) fn paths(&mut self, folder: Option<&str>) -> Result<Vec<String>, Ended> {
        Ok(self.entries(folder)?.iter().map(|entry| entry.path.to_string()).collect())
    }

    /// Returns the folder of the store on the disk.
    pub(crate) fn on_disk(&self) -> Result<PathBuf, Ended> {
        if self.driver.hello().folder {
            return Ok(Path::new(&self.store).to_path_buf());
        }
        Err(Ended::LeftOut("the store is not a folder of the disk".into()))
    }

    /// Makes a symbolic link in the store.
    pub(crate) fn link(&self, target: &str, path: &str) -> Ran {
        let root = self.on_disk()?;
        if !self.driver.hello().links {
            return left_out("the store cannot contain links");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(target, root.join(path)).map_err(|error| on_disk(path, &error))
        }
        #[cfg(not(unix))]
        {
            let _ = (root, target, path);
            left_out("this system makes no links for every user")
        }
    }

    /// Ends a case that needs folders, for a host without them.
    pub(crate) fn needs_folders(&self) -> Ran {
        if self.driver.hello().folders { Ok(()) } else { left_out("the store has no folders") }
    }
}

/// Returns the end of a case that could not make its state on the disk.
pub(crate) fn on_disk(path: &str, error: &std::io::Error) -> Ended {
    Ended::Failed(format!("cannot make `{path}` on the disk: {error}"))
}
