//! Which project a path belongs to.
//!
//! Memory belongs to a repository rather than to the folder that a program happens to run in: a
//! subfolder, and every worktree of one repository, share theirs.

use std::fs;
use std::path::{Path, PathBuf};

use saddlebag::store::ProjectSlug;

/// Folders that mark the root of a working copy, beside `.git`, which can be a file too.
const OTHER_MARKERS: [&str; 3] = [".hg", ".jj", ".svn"];

/// More bytes than any pointer file of git has.
const MAX_POINTER_BYTES: u64 = 16 * 1024;

/// The root of the project that `path` is in: that of its version control, else the path itself,
/// absolute and without symbolic links.
///
/// - The nearest folder upwards with `.git`, `.hg`, `.jj` or `.svn` is the root.
/// - A worktree of git belongs to the main working copy of its repository; where there is none, to
///   the bare repository.
/// - A submodule is a project of its own.
/// - A `.git` file that leads nowhere marks the folder that holds it, and so does one that claims to
///   be the worktree of a repository that does not know it: a folder from elsewhere must not get at
///   the memory of another project.
#[must_use]
pub fn project_root(path: &Path) -> PathBuf {
    let start = canonical(path).or_else(|| std::path::absolute(path).ok()).unwrap_or_else(|| path.to_path_buf());
    start.ancestors().find_map(marked_root).unwrap_or(start)
}

/// The slug of the project at `root`, as [`project_root`] gives it.
///
/// On Unix it is made of the raw bytes of the path, elsewhere of its UTF-8 form with `/` between the
/// components.
#[must_use]
pub fn project_slug(root: &Path) -> ProjectSlug {
    #[cfg(unix)]
    {
        ProjectSlug::of_path(std::os::unix::ffi::OsStrExt::as_bytes(root.as_os_str()))
    }
    #[cfg(not(unix))]
    {
        ProjectSlug::of_path(root.to_string_lossy().replace('\\', "/").as_bytes())
    }
}

/// The absolute path without symbolic links; `None` if there is nothing at it.
pub(crate) fn canonical(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().map(without_verbatim_prefix)
}

/// Windows gives canonical paths as `\\?\C:\x`, which nobody types and few programs take.
fn without_verbatim_prefix(path: PathBuf) -> PathBuf {
    let plain = path.to_str().and_then(|text| text.strip_prefix(r"\\?\"));
    match plain {
        Some(plain) if cfg!(windows) && !plain.starts_with("UNC\\") => PathBuf::from(plain),
        _ => path,
    }
}

/// The root that `folder` marks, if it does.
fn marked_root(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    match fs::metadata(&git) {
        Ok(found) if found.is_dir() => return Some(folder.to_path_buf()),
        Ok(found) if found.is_file() => {
            return Some(main_working_copy(&git).unwrap_or_else(|| folder.to_path_buf()));
        }
        _ => {}
    }
    OTHER_MARKERS.iter().any(|marker| folder.join(marker).is_dir()).then(|| folder.to_path_buf())
}

/// The main working copy of the repository that a `.git` file makes a worktree of; `None` if it makes
/// none.
fn main_working_copy(git_file: &Path) -> Option<PathBuf> {
    let git_dir = git_dir_of(git_file)?;
    let common = pointer(&git_dir.join("commondir"), "")?;
    if git_dir.parent()? != common.join("worktrees") {
        return None;
    }
    // The repository says where its worktree is. If that is still a worktree, it is not this one.
    if let Some(known) = pointer(&git_dir.join("gitdir"), "")
        && Some(known) != canonical(git_file)
    {
        return None;
    }
    Some(working_copy_of(common))
}

/// Where the main files of a repository are, if not in the repository itself.
fn working_copy_of(common: PathBuf) -> PathBuf {
    let parent = common.parent().map(Path::to_path_buf);
    if let Some(parent) = parent
        && (common.file_name().is_some_and(|name| name == ".git")
            // A bare repository beside the worktrees, with a `.git` file that leads to it.
            || git_dir_of(&parent.join(".git")).is_some_and(|dir| dir == common))
    {
        return parent;
    }
    // That of a submodule is in the repository above it, and says where its files are.
    let stated = small_file(&common.join("config")).and_then(|config| {
        let value = config.lines().find_map(|line| line.trim().strip_prefix("worktree")?.trim().strip_prefix('='))?;
        canonical(&common.join(value.trim()))
    });
    stated.filter(|folder| git_dir_of(&folder.join(".git")).is_some_and(|dir| dir == common)).unwrap_or(common)
}

/// The repository that a `.git` file leads to.
fn git_dir_of(git_file: &Path) -> Option<PathBuf> {
    pointer(git_file, "gitdir:")
}

/// The path in a file of one line, relative to the folder of the file; `None` unless it exists.
fn pointer(file: &Path, label: &str) -> Option<PathBuf> {
    let text = small_file(file)?;
    let target = text.strip_prefix(label)?.trim();
    if target.is_empty() {
        return None;
    }
    let target = Path::new(target);
    canonical(&file.parent()?.join(target))
}

fn small_file(path: &Path) -> Option<String> {
    let found = fs::metadata(path).ok()?;
    if !found.is_file() || found.len() > MAX_POINTER_BYTES {
        return None;
    }
    fs::read_to_string(path).ok()
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests;
