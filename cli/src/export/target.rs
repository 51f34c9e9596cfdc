//! [`Target`]: the folder or the file that an export writes.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::places::ExportPlaces;
use crate::failure::{Failure, ProgramCode};
use crate::global::{Durability, Global};
use crate::output::{self, Output};
use crate::store::Root;

/// Writes a new file below a folder.
pub(super) fn write_file(folder: &Path, file: &str, content: &[u8]) -> io::Result<()> {
    let mut path = folder.to_path_buf();
    path.extend(file.split('/'));
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(content)
}

/// Returns the failure of a stream whose reader stopped early: the export is incomplete.
pub(super) fn cut_short(error: &io::Error, file: &str, left: usize) -> Failure {
    let more = if left == 0 { String::new() } else { format!(" and {left} more after it") };
    let message = format!("standard output was closed too early: {}; `{file}`{more} may be missing", error.kind());
    Failure::new(ProgramCode::Output, message, "export again, and read the stream to its end")
}

/// Syncs standard output if it is a file, so that it survives a power cut.
pub(super) fn sync_stream(global: &Global) -> io::Result<()> {
    #[cfg(unix)]
    if global.durability == Durability::Full {
        return output::sync();
    }
    let _ = global;
    Ok(())
}

/// Folder or file that an export creates.
pub(super) struct Target {
    folder: PathBuf,
    /// Folder that contains it.
    parent: PathBuf,
    /// Path as the user typed it, for messages.
    shown: String,
    /// Folders above it that this export created, the outermost first.
    made_above: Vec<PathBuf>,
    durability: Durability,
    /// Folder of the store.
    store: PathBuf,
}

/// Prefix of the name of an unfinished export.
const UNFINISHED: &str = ".saddlebag-export-";

impl Target {
    /// Resolves the path of an export. A folder that is not empty is refused, because an import would read its old
    /// files too. A path inside the store is refused.
    pub(super) fn from_path(out: &Path, global: &Global, is_file: bool) -> Result<Self, Failure> {
        let shown = out.display().to_string();
        let unusable = |error: io::Error| failure(&shown, &error);
        if is_file && out.symlink_metadata().is_ok() {
            let help = "name a file that does not exist";
            return Err(Failure::new(ProgramCode::NotEmpty, format!("`{shown}` already exists"), help));
        }
        match fs::read_dir(out).map(|mut entries| entries.next().is_some()) {
            Ok(false) => {}
            Ok(true) => {
                let help = "name a folder that does not exist, or empty it";
                return Err(Failure::new(ProgramCode::NotEmpty, format!("`{shown}` is not empty"), help));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unusable(error)),
        }
        let absolute = std::path::absolute(out).map_err(unusable)?;
        let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else {
            return Err(Failure::usage(format!("`{shown}` cannot be created as a folder"), "name a new folder"));
        };
        let mut made_above: Vec<PathBuf> =
            parent.ancestors().take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect();
        made_above.reverse();
        fs::create_dir_all(parent).map_err(unusable)?;
        let parent = fs::canonicalize(parent).map_err(unusable)?;
        let root = fs::canonicalize(Root::from_options(global)?.folder()?).map_err(unusable)?;
        let folder = parent.join(name);
        if folder.starts_with(&root) {
            let help = "its files would be read as memory; name a folder elsewhere";
            return Err(Failure::new(ProgramCode::InsideStore, format!("`{shown}` is in the store"), help));
        }
        Ok(Self { folder, parent, shown, made_above, durability: global.durability, store: root })
    }

    /// Notes the files for `expunge`, by their digests.
    pub(super) fn note(&self, files: Vec<String>, output: &mut Output) {
        ExportPlaces::note(&self.store, &self.folder, files, output);
    }

    /// Warns about unfinished exports in the same folder. They are not removed, because one of them may still be
    /// running.
    pub(super) fn name_leftovers(&self, output: &mut Output) {
        let Ok(found) = fs::read_dir(&self.parent) else { return };
        let names = found.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut left: Vec<String> = names.filter(|name| name.starts_with(UNFINISHED)).collect();
        left.sort();
        for name in left {
            let place = if self.parent.file_name().is_some() { "beside the export" } else { "there" };
            output.warning(&format!(
                "{name} {place} is left over from an interrupted export; remove it unless that export is still running"
            ));
        }
    }

    /// Creates a temporary folder beside the final one, so that the export appears as a whole or not at all.
    pub(super) fn folder(&self) -> Result<tempfile::TempDir, Failure> {
        let made = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&self.parent);
        made.map_err(|error| self.failure(&error))
    }

    /// Writes a file to its final path, as a whole or not at all.
    pub(super) fn take_file(&self, content: &[u8]) -> Result<(), Failure> {
        let made = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.parent);
        let mut made = made.map_err(|error| self.failure(&error))?;
        made.write_all(content).map_err(|error| self.failure(&error))?;
        if self.durability == Durability::Full {
            made.as_file().sync_all().map_err(|error| self.failure(&error))?;
        }
        made.persist_noclobber(&self.folder).map_err(|error| self.failure(&error.error))?;
        self.sync_place(&mut sync_path)
    }

    /// Moves the temporary folder to its final path.
    pub(super) fn take(&self, made: tempfile::TempDir) -> Result<(), Failure> {
        self.take_with(made, &mut sync_path)
    }

    fn take_with(&self, made: tempfile::TempDir, sync: Sync<'_>) -> Result<(), Failure> {
        if self.durability == Durability::Full {
            sync_tree(made.path(), sync).map_err(|error| self.failure(&error))?;
        }
        // An existing folder is empty here. A rename does not replace it on every platform.
        match fs::remove_dir(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(self.failure(&error)),
            _ => {}
        }
        fs::rename(made.path(), &self.folder).map_err(|error| self.failure(&error))?;
        // The temporary folder has been renamed, so there is nothing to remove under its old name.
        let _ = made.keep();
        self.sync_place(sync)
    }

    /// Syncs the name of the export, and the names of the folders that were created for it.
    fn sync_place(&self, sync: Sync<'_>) -> Result<(), Failure> {
        if self.durability == Durability::Fast {
            return Ok(());
        }
        let above = self.made_above.iter().filter_map(|folder| folder.parent());
        for folder in std::iter::once(self.parent.as_path()).chain(above) {
            sync(folder).map_err(|error| {
                let message = format!("`{}` was written but cannot be synced: {}", self.shown, error.kind());
                Failure::new(ProgramCode::Output, message, "check the disk; a power cut may undo the export")
            })?;
        }
        Ok(())
    }

    pub(super) fn failure(&self, error: &io::Error) -> Failure {
        failure(&self.shown, error)
    }
}

/// Function that makes a file, or the names in a folder, survive a power cut.
type Sync<'a> = &'a mut dyn FnMut(&Path) -> io::Result<()>;

/// Syncs all files of a folder, then the folders, the innermost first.
fn sync_tree(folder: &Path, sync: Sync<'_>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => sync_tree(&entry.path(), sync)?,
            false => sync(&entry.path())?,
        }
    }
    sync(folder)
}

fn sync_path(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        // Only Unix can sync a folder.
        return if cfg!(unix) { fs::File::open(path)?.sync_all() } else { Ok(()) };
    }
    OpenOptions::new().write(true).open(path)?.sync_all()
}

fn failure(shown: &str, error: &io::Error) -> Failure {
    Failure::new(
        ProgramCode::Output,
        format!("`{shown}` cannot be written: {}", saddlebag_host::io_cause(error)),
        "nothing is left of the export",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Exit;

    fn target(folder: &Path, durability: Durability) -> Target {
        let parent = folder.join("made");
        fs::create_dir(&parent).expect("made");
        let made_above = vec![parent.clone()];
        Target {
            folder: parent.join("out"),
            parent,
            shown: "out".into(),
            made_above,
            durability,
            store: PathBuf::new(),
        }
    }

    #[test]
    fn an_export_is_synced_before_it_has_its_name_and_the_name_after_that() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = target(folder.path(), Durability::Full);
        let made = target.folder().expect("made");
        for file in ["core/a.md", "notes/b.md"] {
            write_file(made.path(), file, b"text").expect("written");
        }
        let temporary = made.path().to_path_buf();
        let mut synced = Vec::new();
        target
            .take_with(made, &mut |path: &Path| {
                let name = path.strip_prefix(&temporary).or_else(|_| path.strip_prefix(folder.path())).expect("below");
                synced.push((name.display().to_string(), target.folder.exists()));
                Ok(())
            })
            .expect("taken");
        let (before, after) = synced.split_at(5);
        assert!(before.iter().all(|(_, is_there)| !is_there) && after.iter().all(|(_, is_there)| *is_there));
        let place = |name: &str| before.iter().position(|(path, _)| path == name).expect(name);
        assert!(place("core/a.md") < place("core") && place("notes/b.md") < place("notes"));
        assert_eq!(place(""), 4);
        assert_eq!(after, [("made".to_string(), true), (String::new(), true)]);
    }

    #[test]
    fn an_export_that_cannot_be_synced_fails_and_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = target(folder.path(), Durability::Full);
        let made = target.folder().expect("made");
        write_file(made.path(), "core/a.md", b"text").expect("written");
        let failure = target.take_with(made, &mut |_: &Path| Err(io::Error::other("the disk is gone")));
        assert_eq!(failure.expect_err("it fails").exit(), Exit::Failed);
        assert_eq!(fs::read_dir(&target.parent).expect("a folder").count(), 0);
    }

    #[test]
    fn a_fast_export_syncs_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = target(folder.path(), Durability::Fast);
        let made = target.folder().expect("made");
        target.take_with(made, &mut |path: &Path| panic!("{path:?} is synced")).expect("taken");
    }
}
