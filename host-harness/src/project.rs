//! Assignment of paths to projects.
//!
//! Memory belongs to a repository rather than to the folder in which a program runs: a subfolder, and every worktree
//! of one repository, share it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use saddlebag::store::ProjectSlug;
use sha2::{Digest, Sha256};

/// Folders that mark the root of a working copy, besides `.git`, which can also be a file.
const OTHER_MARKERS: [&str; 3] = [".hg", ".jj", ".svn"];

/// Maximum size of a pointer file in bytes, larger than any of git's.
const MAX_POINTER_BYTES: u64 = 16 * 1024;

/// Returns the root of the project that contains `path`: the root of its version control, else the path itself,
/// absolute and without symbolic links.
///
/// - The nearest folder upwards with `.git`, `.hg`, `.jj` or `.svn` is the root.
/// - A worktree of git belongs to the main working copy of its repository. If there is none, it belongs to
///   the bare repository.
/// - A submodule is a separate project.
/// - A `.git` file that leads nowhere marks its own folder, and so does one that claims to be the worktree of a repository
///   whose record of that worktree does not name this very file: a folder from elsewhere must not get access to the memory
///   of another project. After moving a worktree by hand, `git worktree repair` corrects the record.
pub fn project_root(path: &Path) -> PathBuf {
    let start = canonical(path).or_else(|| std::path::absolute(path).ok()).unwrap_or_else(|| path.to_path_buf());
    start.ancestors().find_map(marked_root).unwrap_or(start)
}

/// Returns the slug of the project at `root`, which [`project_root`] returned.
///
/// On Unix it is computed from the raw bytes of the path, elsewhere from its UTF-8 form with `/` between the
/// components.
pub fn project_slug(root: &Path) -> ProjectSlug {
    #[cfg(unix)]
    {
        ProjectSlug::from_path(std::os::unix::ffi::OsStrExt::as_bytes(root.as_os_str()))
    }
    #[cfg(not(unix))]
    {
        ProjectSlug::from_path(root.to_string_lossy().replace('\\', "/").as_bytes())
    }
}

/// Traits that clones and copies of a project have in common. Anyone can give a folder the same traits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectTraits {
    /// Digest of the first remote of the repository, however it is spelled.
    pub remote: Option<String>,
    /// First commit of the working copy.
    pub first_commit: Option<String>,
}

/// Returns the traits of the project at `root`. Only files of git are read: running git in a folder from elsewhere could
/// run what its configuration names.
pub fn project_traits(root: &Path) -> ProjectTraits {
    let git = root.join(".git");
    let folder = if git.is_dir() { Some(git) } else { git_dir_of(&git) };
    let Some(folder) = folder else { return ProjectTraits::default() };
    let remote = small_file(&folder.join("config")).and_then(|config| first_remote(&config));
    ProjectTraits {
        remote: remote.map(|url| digest(&plain_remote(&url))),
        first_commit: start_of_file(&folder.join("logs/HEAD")).and_then(|log| first_commit(&log)),
    }
}

/// Returns the address of `origin`, or of the first remote if there is none, in the configuration of a repository.
fn first_remote(config: &str) -> Option<String> {
    let (mut name, mut first) = (None, None);
    for line in config.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            name = section.strip_prefix("remote \"").and_then(|rest| rest.split('"').next());
        } else if let Some(name) = name
            && let Some(url) = line.strip_prefix("url").and_then(|rest| rest.trim_start().strip_prefix('='))
        {
            if name == "origin" {
                return Some(url.trim().to_string());
            }
            first.get_or_insert_with(|| url.trim().to_string());
        }
    }
    first
}

/// Returns the host and the path of a remote: `git@host:a/b.git` and `https://user@HOST/a/b` are the same.
fn plain_remote(url: &str) -> String {
    let (host, path) = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/').unwrap_or((rest, "")),
        None => match url.split_once(':') {
            Some((host, path)) if !host.contains('/') => (host, path),
            _ => ("", url),
        },
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host).to_ascii_lowercase();
    let path = path.trim_matches('/');
    format!("{host}/{}", path.strip_suffix(".git").unwrap_or(path))
}

/// Returns the digest by which remotes are compared. A remote may contain a password, so it is not recorded itself.
fn digest(text: &str) -> String {
    Sha256::digest(text).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the first commit that a log of `HEAD` records, if the working copy began with it.
fn first_commit(log: &str) -> Option<String> {
    let mut words = log.lines().next()?.split(' ');
    let (before, after) = (words.next()?, words.next()?);
    let is_commit = |text: &str| text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (before.bytes().all(|byte| byte == b'0') && is_commit(after)).then(|| after.to_string())
}

/// Returns the absolute path without symbolic links; `None` if it does not exist.
pub(crate) fn canonical(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().map(without_verbatim_prefix)
}

/// Windows returns canonical paths as `\\?\C:\x`, which nobody types and few programs accept.
fn without_verbatim_prefix(path: PathBuf) -> PathBuf {
    let plain = path.to_str().and_then(|text| text.strip_prefix(r"\\?\"));
    match plain {
        Some(plain) if cfg!(windows) && !plain.starts_with("UNC\\") => PathBuf::from(plain),
        _ => path,
    }
}

/// Returns the root that `folder` marks, if it marks one.
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

/// Returns the main working copy of the repository whose worktree a `.git` file marks; `None` if it marks none.
fn main_working_copy(git_file: &Path) -> Option<PathBuf> {
    let git_dir = git_dir_of(git_file)?;
    let common = pointer(&git_dir.join("commondir"), "")?;
    if git_dir.parent()? != common.join("worktrees") {
        return None;
    }
    // The repository records the place of its worktree. Any folder can claim to be a worktree that was removed or moved, also
    // by a link to the file of a real one.
    let place = git_file.parent().and_then(canonical)?.join(git_file.file_name()?);
    let is_known = pointer(&git_dir.join("gitdir"), "").is_some_and(|known| known == place);
    is_known.then(|| working_copy_of(common))
}

/// Returns the folder with the main files of a repository, if it is not the repository itself.
fn working_copy_of(common: PathBuf) -> PathBuf {
    let parent = common.parent().map(Path::to_path_buf);
    if let Some(parent) = parent
        && (common.file_name().is_some_and(|name| name == ".git")
            // A bare repository beside the worktrees, with a `.git` file that leads to it.
            || git_dir_of(&parent.join(".git")).is_some_and(|dir| dir == common))
    {
        return parent;
    }
    // A submodule is stored in the repository above it, whose configuration has the place of its files.
    let stated = small_file(&common.join("config")).and_then(|config| {
        let value = config.lines().find_map(|line| line.trim().strip_prefix("worktree")?.trim().strip_prefix('='))?;
        canonical(&common.join(value.trim()))
    });
    stated.filter(|folder| git_dir_of(&folder.join(".git")).is_some_and(|dir| dir == common)).unwrap_or(common)
}

/// Returns the repository that a `.git` file leads to.
fn git_dir_of(git_file: &Path) -> Option<PathBuf> {
    pointer(git_file, "gitdir:")
}

/// Returns the path in a file of one line, relative to the folder of the file; `None` if it does not exist.
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

/// Returns the first line of a file, or its beginning.
fn start_of_file(path: &Path) -> Option<String> {
    let file = fs::metadata(path).ok().filter(fs::Metadata::is_file).and_then(|_| fs::File::open(path).ok())?;
    let mut start = Vec::new();
    file.take(MAX_POINTER_BYTES).read_to_end(&mut start).ok()?;
    Some(String::from_utf8_lossy(&start).into_owned())
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests;
