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
use crate::sync::write_review;

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
        let root = root.folder()?;
        let place = Place::of(root, self.path.as_deref().unwrap_or(&self.ours));
        let ancestor = Some(read(&self.base)?).filter(|bytes| !bytes.is_empty());
        let sides = MergeSides { ancestor, ours: Some(read(&self.ours)?), theirs: Some(read(&self.theirs)?) };
        let merged = merge(&place.path, &sides)?;
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

/// The places of a file and of its review.
struct Place {
    /// Folder of the store, or of a file of no store.
    top: PathBuf,
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
        let path = parts.join("/");
        Self { top: if is_in_store { root } else { folder }, is_in_store, path }
    }

    /// Writes a review to its place, or beside a file of no store. A review that is there already is the same.
    fn keep(&self, review: &MergeReview) -> Result<PathBuf, Failure> {
        let failed = |cause: String| {
            let message = format!("cannot write a review in `{}`: {cause}", self.top.display());
            Failure::new(ProgramCode::Output, message, "check the permissions of the folder")
        };
        if self.is_in_store {
            let opened = LocalDir::open(&self.top, LocalDirOptions::default());
            let opened = opened.map_err(|error| failed(error.to_string()))?;
            write_review(opened, review)?;
            return Ok(self.top.join(&review.path));
        }
        let file = self.top.join(review.path.rsplit('/').next().unwrap_or(&review.path));
        match fs::OpenOptions::new().write(true).create_new(true).open(&file) {
            Ok(mut new) => new
                .write_all(review.text.as_bytes())
                .and_then(|()| new.sync_all())
                .map(|()| set_changes(true, true))
                .map_err(|error| failed(saddlebag_host::io_cause(&error)))?,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(saddlebag_host::io_cause(&error))),
        }
        Ok(file)
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
        Failure::new(ProgramCode::Output, message, "check the permissions of its folder")
    })
}
