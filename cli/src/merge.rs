//! `merge`: makes the changes of two versions of a file together. It is also the merge driver of git.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use saddlebag::files::{MAX_MERGED_BYTES, MergeReview, MergeSides, MergedFile, merge};
use saddlebag::protocol::ErrorCode;
use saddlebag_host::{LocalDir, LocalDirOptions};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::{Exit, Failure, ProgramCode, set_changes};
use crate::global::Global;
use crate::help::example;
use crate::output::{Output, single_line};
use crate::store::Root;
use crate::subcommand::Subcommand;
use crate::sync::{Disk, write_review};

/// Merge two versions of a file, without conflict marks
///
/// The result replaces OURS. It has the changes of both: by paragraph, by field of the frontmatter, and by entry of a log. A paragraph
/// that both changed stands there in both versions, and a review in the folder `merges` shows what was before: it waits in the inbox.
#[derive(Debug, Args)]
#[command(after_help = example("merge base.md mine.md theirs.md --stdout"))]
pub(crate) struct MergeArgs {
    /// Version that both had; an empty file if there is none
    base: PathBuf,
    /// Our version, which the result replaces
    ours: PathBuf,
    /// Their version
    theirs: PathBuf,
    /// Path of the file in the store or the work tree: its name makes it a log [default: OURS]
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
}

impl Subcommand for MergeArgs {
    type Json = MergedFiles;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        set_changes(true, false);
        let root = Root::from_options(global)?;
        let place = Place::of(root.path(), self.path.as_deref().unwrap_or(&self.ours));
        let ancestor = Some(read(&self.base)?).filter(|bytes| !bytes.is_empty());
        let sides = MergeSides { ancestor, ours: Some(read(&self.ours)?), theirs: Some(read(&self.theirs)?) };
        let merged = merge(&place.in_store, &sides)?;
        let content = merged.content.clone().unwrap_or_default();
        let (mut text, mut written) = (None, None);
        if self.stdout {
            text = Some(String::from_utf8_lossy(&content).into_owned());
        } else {
            // The review first: the result alone would lose what was edited in a part that is deleted.
            written = merged.review.as_ref().map(|review| place.keep(review)).transpose()?;
            replace(&self.ours, &content)?;
            set_changes(true, true);
        }
        if output.is_json() {
            output.object(&MergedFiles { merged, text, written })?;
            return Ok(Exit::Done);
        }
        if let Some(text) = &text {
            output.text(text)?;
            output.flush()?;
        }
        if !merged.conflicts.is_empty() {
            let parts = merged.conflicts.len();
            let parts = format!("{parts} part{}", if parts == 1 { "" } else { "s" });
            let review = written.map(|path| format!("; see {}", single_line(&path.display().to_string())));
            output.note(&format!("both sides changed {parts} of it{}", review.unwrap_or_default()));
        }
        Ok(Exit::Done)
    }
}

/// Where a file and its review are.
struct Place {
    /// Folder that the path of a review is relative to.
    top: PathBuf,
    /// Path of the file in the store, or its name with that of its folder.
    in_store: String,
}

impl Place {
    fn of(root: &Path, path: &Path) -> Self {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        // The file may not exist; its folder does.
        let folder = absolute.parent().map_or_else(|| absolute.clone(), canonical);
        let file = absolute.file_name().map_or_else(|| folder.clone(), |name| folder.join(name));
        let root = canonical(root);
        let (top, below) = match file.strip_prefix(&root) {
            Ok(below) => (root, below),
            // A file of no store. The name of its folder may say that it is a log.
            Err(_) => {
                let above = folder.parent().unwrap_or(&folder);
                let below = file.strip_prefix(above).unwrap_or(&file);
                (folder.clone(), below)
            }
        };
        let parts: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        Self { top, in_store: parts.join("/") }
    }

    /// Writes a review to its place. A review that is there already is the same.
    fn keep(&self, review: &MergeReview) -> Result<PathBuf, Failure> {
        let opened = LocalDir::open(&self.top, LocalDirOptions::default()).map_err(|error| {
            let message = format!("cannot open `{}`: {error}", self.top.display());
            Failure::new(ProgramCode::Output, message, "check the permissions of the folder")
        })?;
        write_review(&mut Disk::new(opened), &review.path, &review.text)?;
        Ok(self.top.join(&review.path))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: &std::io::Error| {
        let message = format!("cannot read `{}`: {}", path.display(), saddlebag_host::io_cause(error));
        Failure::new(ProgramCode::Input, message, "name three files: the version that both had, ours, and theirs")
    };
    let size = fs::metadata(path).map_err(|error| failed(&error))?.len();
    if size > MAX_MERGED_BYTES as u64 {
        let message = format!("`{}` has {size} bytes; the limit is {MAX_MERGED_BYTES}", path.display());
        return Err(Failure::new(ErrorCode::TooLarge, message, "merge it by hand, or split the file"));
    }
    fs::read(path).map_err(|error| failed(&error))
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
        Failure::new(ProgramCode::Output, message, "nothing was changed; check the permissions of its folder")
    })
}
