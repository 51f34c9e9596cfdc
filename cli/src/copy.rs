//! `copy`: copies every file of a store to another place.

use std::collections::BTreeMap;
use std::path::PathBuf;

use saddlebag::protocol::{
    Entry, EntryKind, Error, ErrorCode, FsError, FsOp, FsOutcome, ListOutcome, Precondition, ReadOutcome, WriteOutcome,
};
use saddlebag::store::{Layout, RelPath};
use saddlebag_host::{Executor, OpenStore};
use sha2::{Digest, Sha256};

use crate::failure::set_changes;
use crate::output::{progress, single_line};
use crate::prelude::*;
use crate::store::{Root, opened};

/// Number of files that are read at the same time.
const AT_ONCE: usize = 32;

/// Number of entries that one listing returns.
const LISTED: u32 = 10_000;

/// Number of paths that a message names.
const NAMED: usize = 5;

/// Copy a store to another place: a folder, a bucket or a database
///
/// Each is the path of a folder, s3://BUCKET/FOLDER or postgres://HOST/DATABASE?space=NAME. What is at TO already must be a part of
/// the same store, so a copy that was interrupted goes on when it is run again. Each file is read back and compared. Nothing
/// is removed from FROM. The search index is not copied, because it is made again, and neither are the times of files. A bucket
/// takes files of at most 5,000,000 bytes.
#[derive(Debug, Args)]
#[command(after_help = example("copy ~/memory s3://notes/team"))]
pub(crate) struct CopyArgs {
    /// Place of the store
    #[arg(value_name = "FROM")]
    from: PathBuf,
    /// Place of the copy; a missing folder is created
    #[arg(value_name = "TO")]
    to: PathBuf,
    /// Compare, and print what would be copied
    #[arg(long)]
    dry_run: bool,
}

/// What a copy did.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct Copied {
    /// True if nothing was changed because of --dry-run.
    dry_run: bool,
    /// Number of files that were copied.
    copied: u64,
    /// Size of these files, in bytes.
    bytes: u64,
    /// Number of files that were there already.
    already_there: u64,
    /// Files that changed while they were copied. The copy has their earlier text.
    changed: Vec<String>,
    /// What cannot be copied: links, devices, and names that a path cannot have.
    left_out: Vec<String>,
}

impl Subcommand for CopyArgs {
    type Json = Copied;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        global.require_person("copy a store")?;
        let mut copied = Copied { dry_run: self.dry_run, ..Copied::default() };
        let (from, to) = (Root::typed(&self.from)?, Root::typed(&self.to)?);
        refuse_nested(&from, &to)?;
        set_changes(true, false);
        let mut from = existing(&from, global)?.ok_or_else(|| {
            Failure::new(ErrorCode::Storage, "there is no store at FROM", "check the path or the address")
        })?;
        let found = files(&mut from, Some(&mut copied.left_out))?;
        let mut there = existing(&to, global)?;
        let known = there.as_mut().map(|there| files(there, None)).transpose()?.unwrap_or_default();
        let mut texts = BTreeMap::new();
        let missing = match &mut there {
            Some(there) => differing(&mut from, there, &found, &known, &mut texts)?,
            None => found.keys().collect(),
        };
        copied.already_there = (found.len() - missing.len()) as u64;
        if self.dry_run {
            copied.copied = missing.len() as u64;
            copied.bytes = missing.iter().filter_map(|path| found.get(*path)).map(|entry| entry.size).sum();
        } else {
            let mut to = match there {
                Some(there) => there,
                None => create(&to, global)?,
            };
            copy(&mut from, &mut to, &missing, &mut texts, &mut copied)?;
            copied.changed = changed(&mut from, &found, &texts)?;
        }
        output.object_or_line(&copied, &copied.text())?;
        Ok(if copied.changed.is_empty() { Exit::Done } else { Exit::Left })
    }
}

impl Copied {
    fn text(&self) -> String {
        let (verb, plural) =
            (if self.dry_run { "Would copy" } else { "Copied" }, if self.copied == 1 { "" } else { "s" });
        let mut lines = vec![format!("{verb} {} file{plural}, {} bytes", self.copied, self.bytes)];
        if self.already_there > 0 {
            lines.push(format!("{} were there already", self.already_there));
        }
        let lists = [("changed while it was copied", &self.changed), ("left out", &self.left_out)];
        for (what, paths) in lists {
            lines.extend(paths.iter().map(|path| format!("  {what}: {}", single_line(path))));
        }
        if !self.changed.is_empty() {
            lines.push("Copy to another place once nobody uses the store".into());
        }
        lines.join("\n")
    }
}

/// Refuses to copy a store into itself.
fn refuse_nested(from: &Root, to: &Root) -> Result<(), Failure> {
    let place = |root: &Root| match root.local() {
        Some(folder) => {
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
            // A folder that does not exist yet is in one that does.
            let exists = folder.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
            exists.map_or(folder.clone(), |(above, real)| {
                folder.strip_prefix(above).map_or(real.clone(), |rest| real.join(rest))
            })
        }
        None => root.place(),
    };
    let (from, to) = (place(from), place(to));
    if from.starts_with(&to) || to.starts_with(&from) {
        let message = "FROM and TO are the same place, or one is in the other";
        return Err(Failure::usage(message, "name a place outside of the store"));
    }
    Ok(())
}

/// Opens a store that exists, without an engine; `None` if there is none.
fn existing(root: &Root, global: &Global) -> Result<Option<OpenStore>, Failure> {
    match root {
        Root::Remote(address) => Ok(address.existing()?.map(OpenStore::Remote)),
        root if root.local().is_some_and(|folder| !folder.exists()) => Ok(None),
        root => opened(root, global).map(Some),
    }
}

/// Makes an empty store.
fn create(root: &Root, global: &Global) -> Result<OpenStore, Failure> {
    if let Some(folder) = root.local() {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::new(ErrorCode::Storage, format!("the copy cannot be created: {error}"), ""))?;
    }
    opened(root, global)
}

/// Returns the files that have another text than was copied.
fn changed(
    from: &mut OpenStore,
    found: &BTreeMap<RelPath, Entry>,
    texts: &BTreeMap<RelPath, Option<Vec<u8>>>,
) -> Result<Vec<String>, Failure> {
    let after = files(from, None)?;
    let version = |entries: &BTreeMap<RelPath, Entry>, path| entries.get(path).map(|entry| entry.version.clone());
    let paths = found.keys().chain(after.keys().filter(|path| !found.contains_key(*path)));
    // A version may change although the text does not.
    let suspect: Vec<&RelPath> = paths.filter(|path| version(found, *path) != version(&after, *path)).collect();
    let mut changed = Vec::new();
    for some in suspect.chunks(AT_ONCE) {
        for (path, text) in some.iter().zip(read(from, some)?) {
            if texts.get(*path) != Some(&digest(&text)) {
                changed.push(path.to_string());
            }
        }
    }
    Ok(changed)
}

/// Returns the files of a store that belong into a copy, by path.
fn files(store: &mut OpenStore, mut left_out: Option<&mut Vec<String>>) -> Result<BTreeMap<RelPath, Entry>, Failure> {
    let mut files = BTreeMap::new();
    let mut folders: Vec<Option<RelPath>> = vec![None];
    while let Some(folder) = folders.pop() {
        let mut after = None;
        loop {
            let op = FsOp::ListDirectory { folder: folder.clone(), after, limit: LISTED, unless: None };
            let outcome = store.perform(&op).map_err(|error| Error::storage(folder.as_ref(), &error))?;
            let FsOutcome::ListDirectory(ListOutcome::Page(page)) = outcome else {
                return Err(Failure::wrong_reply("list-directory"));
            };
            if let Some(left_out) = &mut left_out {
                left_out.extend(page.left_out.names.iter().map(|name| name.path.to_string()));
            }
            for entry in page.entries {
                match entry.kind {
                    _ if Layout::is_index(&entry.path) => {}
                    EntryKind::Directory => folders.push(Some(entry.path)),
                    EntryKind::File => drop(files.insert(entry.path.clone(), entry)),
                    EntryKind::Other => left_out.iter_mut().for_each(|left_out| left_out.push(entry.path.to_string())),
                }
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
    }
    Ok(files)
}

/// Returns the files that the copy lacks.
///
/// # Errors
///
/// The copy has a file that the store does not have, or has with another text.
fn differing<'f>(
    from: &mut OpenStore,
    to: &mut OpenStore,
    found: &'f BTreeMap<RelPath, Entry>,
    existing: &BTreeMap<RelPath, Entry>,
    texts: &mut BTreeMap<RelPath, Option<Vec<u8>>>,
) -> Result<Vec<&'f RelPath>, Failure> {
    let (there, missing): (Vec<&RelPath>, Vec<&RelPath>) = found.keys().partition(|path| existing.contains_key(*path));
    let mut other: Vec<&RelPath> = existing.keys().filter(|path| !found.contains_key(*path)).collect();
    for some in there.chunks(AT_ONCE) {
        let (ours, theirs) = (read(from, some)?, read(to, some)?);
        texts.extend(some.iter().zip(&ours).map(|(path, text)| ((*path).clone(), digest(text))));
        let pairs = some.iter().zip(ours.iter().zip(&theirs));
        other.extend(pairs.filter(|(_, (ours, theirs))| digest(ours) != digest(theirs)).map(|(path, _)| *path));
    }
    if other.is_empty() {
        return Ok(missing);
    }
    let named: Vec<String> = other.iter().take(NAMED).map(|path| format!("`{path}`")).collect();
    let more = if other.len() > NAMED { format!(" and {} more", other.len() - NAMED) } else { String::new() };
    let message = format!("TO has files that FROM does not have, or has with another text: {}{more}", named.join(", "));
    Err(Failure::new(ErrorCode::Conflict, message, "copy to an empty folder, bucket or space"))
}

/// A file as it was read; `None` if it is gone.
type Text = Option<Vec<u8>>;

fn digest(text: &Text) -> Option<Vec<u8>> {
    text.as_ref().map(|bytes| Sha256::digest(bytes).to_vec())
}

fn read(store: &mut OpenStore, paths: &[&RelPath]) -> Result<Vec<Text>, Failure> {
    let ops: Vec<FsOp> =
        paths.iter().map(|path| FsOp::Read { path: (*path).clone(), offset: 0, max_bytes: u32::MAX }).collect();
    let results = store.perform_all(&ops.iter().collect::<Vec<_>>());
    let read = paths.iter().zip(results).map(|(path, result)| match result {
        Ok(FsOutcome::Read(ReadOutcome::Content(content))) => Ok(Some(content.bytes)),
        Ok(FsOutcome::Read(ReadOutcome::Absent)) => Ok(None),
        Ok(_) => Err(Failure::wrong_reply("read")),
        Err(error) => Err(Error::storage(Some(path), &error).into()),
    });
    read.collect()
}

/// Copies files that the copy lacks, and reads each back.
fn copy(
    from: &mut OpenStore,
    to: &mut OpenStore,
    paths: &[&RelPath],
    seen: &mut BTreeMap<RelPath, Option<Vec<u8>>>,
    copied: &mut Copied,
) -> Result<(), Failure> {
    let bar = progress(paths.len() as u64);
    for some in paths.chunks(AT_ONCE) {
        let texts = read(from, some)?;
        seen.extend(some.iter().zip(&texts).map(|(path, text)| ((*path).clone(), digest(text))));
        for (path, text) in some.iter().zip(&texts) {
            // A file that is gone is reported as changed in the end.
            let Some(bytes) = text else { continue };
            write(to, path, bytes)?;
            set_changes(true, true);
            copied.copied += 1;
            copied.bytes += bytes.len() as u64;
            bar.inc(1);
        }
        let copies = read(to, some)?;
        if let Some((path, _)) =
            some.iter().zip(texts.iter().zip(&copies)).find(|(_, (text, copy))| digest(text) != digest(copy))
        {
            let message = format!("`{path}` has another text at TO than was written");
            return Err(Failure::new(
                ErrorCode::Conflict,
                message,
                "somebody else writes there; copy to another place",
            ));
        }
    }
    bar.finish_and_clear();
    Ok(())
}

fn write(store: &mut OpenStore, path: &RelPath, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error: &FsError| Failure::from(Error::storage(Some(path), error));
    match store
        .perform(&FsOp::write(path.clone(), bytes.to_vec(), Precondition::Absent))
        .map_err(|error| failed(&error))?
    {
        // What is there then is compared afterwards.
        FsOutcome::Write(WriteOutcome::Written(_) | WriteOutcome::Stale(_) | WriteOutcome::Unknown) => Ok(()),
        _ => Err(Failure::wrong_reply("write")),
    }
}
