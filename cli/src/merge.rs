//! `merge`: makes the changes of two versions of a file together. It is also the merge driver of git.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use saddlebag::history::{MAX_MERGED_BYTES, MergeReview, MergedFile};
use saddlebag::protocol::ErrorCode;
use saddlebag::store::{NOTE_SUFFIX, RelPath};

use crate::failure::{ProgramCode, set_changes};
use crate::output::single_line;
use crate::prelude::*;
use crate::regular;
use crate::store::Root;
use crate::sync::{
    MadeOperation, MergedInStore, Refused, Versions, merge_for_git, merge_into_store, name_operations, name_refused,
};

/// Merge two versions of a file, without conflict marks
///
/// The result replaces OURS. It has the changes of both: by paragraph, by field of the frontmatter, and by entry of a log. A paragraph
/// that both changed stands there in both versions, and a review in the folder `merges` shows what was before: it waits in the inbox.
/// If OURS is a file of the store, the history has the change, and `undo` takes it back.
#[derive(Debug, Args)]
#[command(after_help = example("merge base.md mine.md theirs.md --stdout"))]
pub(crate) struct MergeArgs {
    /// Version that both had; an empty file if there is none
    base: PathBuf,
    /// Our version, a regular file, which the result replaces
    ours: PathBuf,
    /// Their version
    theirs: PathBuf,
    /// Path of the file in the store or the work tree: its name makes it a log. The review stays beside OURS [default: OURS]
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,
    /// Print the result, and change no file
    #[arg(long)]
    stdout: bool,
}

/// What a merge found.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MergedFiles {
    #[serde(flatten)]
    merged: MergedFile,
    /// The result, with --stdout; `null` if it is in OURS.
    text: Option<String>,
    /// Path of the review that was written.
    written: Option<PathBuf>,
    /// The file of the store, if its text had values that were rejected for good: it was written without their lines.
    rejected: Vec<Refused>,
    /// The file of the store, if it was written without a record in the history.
    unrecorded: Vec<Refused>,
    /// Operation of the history that this run made; empty for a file of no store.
    operations: Vec<MadeOperation>,
}

impl MergedFiles {
    fn outside(merged: MergedFile, text: Option<String>, written: Option<PathBuf>) -> Self {
        Self { merged, text, written, rejected: Vec::new(), unrecorded: Vec::new(), operations: Vec::new() }
    }
}

impl Subcommand for MergeArgs {
    type Json = MergedFiles;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        set_changes(true, false);
        let root = Root::from_options(global)?;
        let root = root.folder()?;
        let file = Place::of(root, &self.ours);
        let named = self.path.as_deref().map(|path| Place::of(root, path));
        let path = named.as_ref().map_or_else(|| file.path.clone(), |named| named.path.clone());
        let ancestor = Some(read(&self.base)?).filter(|bytes| !bytes.is_empty());
        let theirs = read(&self.theirs)?;
        let versions = Versions { ancestor, theirs };
        let done = if self.stdout {
            let merged = versions.merge_into(&path, read(&self.ours)?)?;
            let text = String::from_utf8_lossy(merged.content.as_deref().unwrap_or_default()).into_owned();
            MergedFiles::outside(merged, Some(text), None)
        } else if file.is_in_store && !self.is_driver() {
            global.require_person("merge into a file of the store")?;
            let file = file.in_store().ok_or_else(|| not_of_memory(&self.ours))?;
            let done = merge_into_store(&file, &path, &versions, global, output)?;
            let written = done.merged.review.as_ref().map(|review| root.join(&review.path));
            let MergedInStore { merged, rejected, unrecorded, operations } = done;
            MergedFiles { rejected, unrecorded, operations, ..MergedFiles::outside(merged, None, written) }
        } else {
            let ours = read_regular(&self.ours)?;
            let is_of_store = named.as_ref().is_some_and(|named| named.in_store().is_some());
            // The review first: the result alone would lose what was edited in a part that is deleted.
            let (merged, content, written) = match self.is_driver() && is_of_store {
                true => {
                    let (merged, content) = merge_for_git(&path, ours, versions, global)?;
                    let written = merged.review.as_ref().map(|review| root.join(&review.path));
                    (merged, content, written)
                }
                false => {
                    let merged = versions.merge_into(&path, ours)?;
                    let written = merged.review.as_ref().map(|review| file.keep(review)).transpose()?;
                    let content = merged.content.clone().unwrap_or_default();
                    (merged, content, written)
                }
            };
            replace(&self.ours, &content)?;
            MergedFiles::outside(merged, None, written)
        };
        if !self.stdout {
            set_changes(true, true);
        }
        done.print(output)
    }
}

impl MergedFiles {
    fn print(&self, output: &mut Output) -> Result<Exit, Failure> {
        if output.json(self)? {
            return Ok(Exit::Done);
        }
        if let Some(text) = &self.text {
            output.text(text)?;
            output.flush()?;
        }
        if !self.merged.conflicts.is_empty() {
            let parts = self.merged.conflicts.len();
            let parts = format!("{parts} part{}", if parts == 1 { "" } else { "s" });
            let review =
                self.written.as_ref().map(|path| format!("; see {}", single_line(&path.display().to_string())));
            output.note(&format!("both sides changed {parts} of it{}", review.unwrap_or_default()));
        }
        name_refused(&self.rejected, &self.unrecorded, output);
        name_operations(&self.operations, output);
        Ok(Exit::Done)
    }
}

impl MergeArgs {
    /// Returns true if git runs this as its merge driver: OURS is a temporary file of git, and the path that of the merged file.
    fn is_driver(&self) -> bool {
        let name = self.ours.file_name().map(|name| name.to_string_lossy());
        self.path.is_some() && name.is_some_and(|name| name.starts_with(OF_GIT))
    }
}

fn not_of_memory(path: &Path) -> Failure {
    let message = format!("`{}` is not a Markdown file of the memory", path.display());
    Failure::new(ErrorCode::InvalidArgument, message, "`sync` merges what else is shared")
}

/// Beginning of the names of the files that git merges.
const OF_GIT: &str = ".merge_file_";

/// The place of a file.
struct Place {
    /// Folder of the file, for a review.
    folder: PathBuf,
    is_in_store: bool,
    /// Path of the file in the store, or its name with that of its folder.
    path: String,
}

impl Place {
    fn of(root: &Path, path: &Path) -> Self {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        // The file may not exist; its folder does.
        let folder = absolute.parent().map_or_else(|| absolute.clone(), canonical);
        let file = absolute.file_name().map_or_else(|| folder.clone(), |name| folder.join(name));
        let root = canonical(root);
        let is_in_store = file.starts_with(&root);
        // The name of the folder may say that the file is a log.
        let above = if is_in_store { &root } else { folder.parent().unwrap_or(&folder) };
        let below = file.strip_prefix(above).unwrap_or(&file);
        let parts: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        Self { path: parts.join("/"), folder, is_in_store }
    }

    /// Returns the path of a file of the memory. Hidden files and other files than Markdown are not such files.
    fn in_store(&self) -> Option<RelPath> {
        let path = RelPath::new(&self.path).ok().filter(|_| self.is_in_store)?;
        let is_hidden = path.segments().any(|segment| segment.starts_with('.'));
        (!is_hidden && path.file_name().ends_with(NOTE_SUFFIX)).then_some(path)
    }

    /// Writes a review beside a file of no store. A review that is there already is the same.
    fn keep(&self, review: &MergeReview) -> Result<PathBuf, Failure> {
        let failed = |error: &std::io::Error| {
            let (folder, cause) = (self.folder.display(), saddlebag_host::io_cause(error));
            let message = format!("cannot write a review in `{folder}`: {cause}");
            Failure::new(ProgramCode::Output, message, "check the permissions of the folder")
        };
        let file = self.folder.join(review.path.rsplit('/').next().unwrap_or(&review.path));
        match fs::OpenOptions::new().write(true).create_new(true).open(&file) {
            Ok(mut new) => new
                .write_all(review.text.as_bytes())
                .and_then(|()| new.sync_all())
                .map(|()| set_changes(true, true))
                .map_err(|error| failed(&error))?,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(&error)),
        }
        Ok(file)
    }
}

/// Reads BASE or THEIRS, which may be a pipe, such as the output of another command.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    fs::File::open(path)
        .and_then(|file| file.take(MAX_MERGED_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| not_read(path, &error))?;
    if bytes.len() > MAX_MERGED_BYTES {
        return Err(too_large(path));
    }
    Ok(bytes)
}

/// Reads OURS. It is replaced, so it must be a regular file.
fn read_regular(path: &Path) -> Result<Vec<u8>, Failure> {
    if path.is_symlink() {
        let message = format!("`{}` is a link, and would be replaced by a file", path.display());
        return Err(Failure::new(ErrorCode::InvalidArgument, message, "name a regular file"));
    }
    let read = regular::read(path, MAX_MERGED_BYTES as u64).map_err(|error| not_read(path, &error))?;
    read.ok_or_else(|| too_large(path))
}

fn not_read(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("cannot read `{}`: {}", path.display(), saddlebag_host::io_cause(error));
    Failure::new(ProgramCode::Input, message, "name three files: the version that both had, ours, and theirs")
}

fn too_large(path: &Path) -> Failure {
    let message = format!("`{}` has more than {MAX_MERGED_BYTES} bytes, which is the limit", path.display());
    Failure::new(ErrorCode::TooLarge, message, "merge it by hand, or split the file")
}

/// Replaces a file as a whole: a reader sees the old text or the new one.
fn replace(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = (|| {
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(content)?;
        new.as_file().sync_all()?;
        if let Ok(known) = fs::metadata(path) {
            new.as_file().set_permissions(known.permissions())?;
        }
        new.persist(path).map_err(|error| error.error)?;
        Ok(())
    })();
    written.map_err(|error: std::io::Error| {
        let message = format!("cannot write `{}`: {}", path.display(), saddlebag_host::io_cause(&error));
        Failure::new(ProgramCode::Output, message, "check the permissions of its folder")
    })
}
