//! `export`: the files of the entries, in a folder or as a tar stream.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use saddlebag::entries::{EntriesCommand, EntriesReply, EntriesVerb, EntryFile, EntryProblem};
use serde_json::json;

use super::args::ExportArgs;
use super::{execute, progress};
use crate::args::Global;
use crate::commands::wrong_reply;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::store::{Root, Store};

/// What an export has come to.
#[derive(Default)]
struct Exported {
    paths: Vec<String>,
    bytes: usize,
    problems: Vec<EntryProblem>,
}

pub(super) fn run(args: &ExportArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let mut store = Store::open(global)?;
    if args.out.as_os_str() == "-" {
        return to_stream(args, &mut store, output);
    }
    let target = Target::of(&args.out, global, false)?;
    let made = target.folder()?;
    let exported = each_file(args, &mut store, output, |file| {
        write_file(made.path(), &file.path, &file.content).map_err(|error| target.failure(&error))
    })?;
    target.take(made)?;
    report(&exported, output);
    let Exported { paths, bytes, problems } = &exported;
    let files = if paths.len() == 1 { "1 file".to_string() } else { format!("{} files", paths.len()) };
    let object =
        || json!({ "count": paths.len(), "bytes": bytes, "files": paths, "problems": super::json::problems(problems) });
    output.object_or_line(object, &format!("Exported {files}, {bytes} bytes, to {}", args.out.display()))?;
    Ok(Exit::Done)
}

fn to_stream(args: &ExportArgs, store: &mut Store, output: &mut Output) -> Result<Exit, Failure> {
    let stdout = io::stdout();
    if stdout.is_terminal() {
        return Err(Failure::usage("a terminal cannot show a tar stream", "send it to a file, or name a folder"));
    }
    let mut tar = tar::Builder::new(io::BufWriter::new(stdout.lock()));
    let exported = each_file(args, store, output, |file| {
        let mut header = tar::Header::new_gnu();
        header.set_size(file.content.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(file.updated / 1_000_000_000);
        tar.append_data(&mut header, &file.path, file.content.as_slice()).map_err(Failure::from)
    })?;
    tar.into_inner()?.flush()?;
    report(&exported, output);
    Ok(Exit::Done)
}

/// Hands every file of the entries on, page by page.
fn each_file(
    args: &ExportArgs,
    store: &mut Store,
    output: &mut Output,
    mut take: impl FnMut(&EntryFile) -> Result<(), Failure>,
) -> Result<Exported, Failure> {
    let mut exported = Exported::default();
    let bar = progress(0);
    let mut cursor = None;
    loop {
        let verb = EntriesVerb::Export { forgotten: args.forgotten, cursor };
        let EntriesReply::Exported(page) = execute(store, EntriesCommand::new(verb), output)? else {
            return Err(wrong_reply());
        };
        bar.set_length(u64::from(page.total));
        for file in &page.files {
            take(file)?;
            bar.inc(1);
            exported.bytes += file.content.len();
            exported.paths.push(file.path.clone());
        }
        exported.problems = page.problems;
        cursor = page.next;
        if cursor.is_none() {
            bar.finish_and_clear();
            return Ok(exported);
        }
    }
}

fn report(exported: &Exported, output: &mut Output) {
    for EntryProblem { path, message, .. } in &exported.problems {
        output.warning(&format!("{path} is not exported: {message}"));
    }
}

/// Writes a new file below a folder.
pub(crate) fn write_file(folder: &Path, file: &str, content: &[u8]) -> io::Result<()> {
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

/// The folder or the file that an export makes.
pub(crate) struct Target {
    folder: PathBuf,
    /// What it is in.
    parent: PathBuf,
    /// As it was typed.
    shown: String,
}

impl Target {
    /// Refuses what is not empty, as the old files would be imported as well, and what is in the store.
    pub(crate) fn of(out: &Path, global: &Global, is_file: bool) -> Result<Self, Failure> {
        let shown = out.display().to_string();
        let unusable = |error: io::Error| failure(&shown, &error);
        if is_file && out.symlink_metadata().is_ok() {
            let help = "name a file that does not exist; nothing was written";
            return Err(Failure::new("not-empty", format!("`{shown}` is there already"), help));
        }
        match fs::read_dir(out).map(|mut entries| entries.next().is_some()) {
            Ok(false) => {}
            Ok(true) => {
                let help = "name a folder that does not exist, or empty it; nothing was written";
                return Err(Failure::new("not-empty", format!("`{shown}` is not empty"), help));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unusable(error)),
        }
        let absolute = std::path::absolute(out).map_err(unusable)?;
        let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else {
            return Err(Failure::usage(format!("`{shown}` is no folder to make"), "name a new folder"));
        };
        fs::create_dir_all(parent).map_err(unusable)?;
        let parent = fs::canonicalize(parent).map_err(unusable)?;
        let root = fs::canonicalize(Root::of(global)?.path()).map_err(unusable)?;
        let folder = parent.join(name);
        if folder.starts_with(&root) {
            let help = "its files would be read as memory; name a folder elsewhere";
            return Err(Failure::new("inside-store", format!("`{shown}` is in the store"), help));
        }
        Ok(Self { folder, parent, shown })
    }

    /// A folder beside its place, so that what is made is there as a whole or not at all.
    pub(crate) fn folder(&self) -> Result<tempfile::TempDir, Failure> {
        let made = tempfile::Builder::new().prefix(".saddlebag-export-").tempdir_in(&self.parent);
        made.map_err(|error| self.failure(&error))
    }

    /// Puts a file in its place, as a whole or not at all.
    pub(crate) fn take_file(&self, content: &[u8]) -> Result<(), Failure> {
        let made = tempfile::Builder::new().prefix(".saddlebag-export-").tempfile_in(&self.parent);
        let mut made = made.map_err(|error| self.failure(&error))?;
        made.write_all(content).map_err(|error| self.failure(&error))?;
        made.persist_noclobber(&self.folder).map_err(|error| self.failure(&error.error))?;
        Ok(())
    }

    /// Puts the folder in its place.
    pub(crate) fn take(&self, made: tempfile::TempDir) -> Result<(), Failure> {
        // One that is there is empty, and a rename does not replace it everywhere.
        match fs::remove_dir(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(self.failure(&error)),
            _ => {}
        }
        fs::rename(made.path(), &self.folder).map_err(|error| self.failure(&error))?;
        // It is there no longer under this name.
        let _ = made.keep();
        Ok(())
    }

    pub(crate) fn failure(&self, error: &io::Error) -> Failure {
        failure(&self.shown, error)
    }
}

fn failure(shown: &str, error: &io::Error) -> Failure {
    Failure::new(
        "output",
        format!("`{shown}` cannot be written: {}", saddlebag_host::io_cause(error)),
        "nothing is left of the export",
    )
}
