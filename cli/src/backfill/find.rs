//! Finds the transcripts of a client. Folders are not trusted: links are not followed, and only regular files are opened.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use saddlebag_host::io_cause;

use super::args::SourceName;
use super::note::LeftOut;
use crate::failure::{Failure, ProgramCode};

/// Maximum number of files and folders to visit, and maximum depth.
const MAX_VISITED: usize = 1 << 16;
const MAX_DEPTH: usize = 8;

/// A transcript.
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) size: u64,
    pub(super) modified: SystemTime,
    /// True if the person named this very file.
    pub(super) is_named: bool,
}

/// Transcripts of a client, and the folders and files that cannot be read.
#[derive(Default)]
pub(super) struct Listing {
    /// Transcripts, the last changed first.
    pub(super) files: Vec<Found>,
    pub(super) unreadable: Vec<(String, String)>,
}

/// Returns the folder in which a client keeps its transcripts.
pub(super) fn folder_of(source: SourceName) -> Option<PathBuf> {
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let at_home = |path: &str| home.as_ref().map(|home| home.join(path));
    match source {
        SourceName::ClaudeCode => {
            variable("CLAUDE_CONFIG_DIR").or_else(|| at_home(".claude")).map(|folder| folder.join("projects"))
        }
        SourceName::Codex => variable("CODEX_HOME").or_else(|| at_home(".codex")).map(|folder| folder.join("sessions")),
        SourceName::Gemini => at_home(".gemini").map(|folder| folder.join("tmp")),
    }
}

/// Returns true if a transcript is compressed, as Codex does with older ones.
pub(super) fn is_compressed(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.ends_with(".jsonl.zst"))
}

/// Returns true if a client writes its transcripts under such a name.
fn is_transcript(source: SourceName, path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let above = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    let is_jsonl = name.ends_with(".jsonl");
    match source {
        SourceName::ClaudeCode => is_jsonl && above != "subagents" && !name.starts_with("agent-"),
        SourceName::Codex => (is_jsonl || is_compressed(path)) && name.starts_with("rollout-"),
        SourceName::Gemini => name.starts_with("session-") && (is_jsonl || name.ends_with(".json")),
    }
}

/// Lists the transcripts in a folder, or a single file. `wants` decides which folders directly in it are visited.
pub(super) fn list(
    source: SourceName,
    from: &Path,
    wants: &dyn Fn(&str) -> bool,
    left_out: &mut LeftOut,
) -> Result<Listing, Failure> {
    let refused = |error: &io::Error| {
        let message = format!("`{}` cannot be read: {}", from.display(), io_cause(error));
        Failure::new(ProgramCode::Input, message, "name a folder or a file of transcripts")
    };
    let kind = fs::metadata(from).map_err(|error| refused(&error))?;
    let mut listing = Listing::default();
    if !kind.is_dir() {
        if !kind.is_file() {
            let message = format!("`{}` is neither a folder nor a regular file", from.display());
            return Err(Failure::new(ProgramCode::Input, message, ""));
        }
        let modified = kind.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        listing.files.push(Found { path: from.to_path_buf(), size: kind.len(), modified, is_named: true });
        return Ok(listing);
    }
    let mut visited = 0;
    let mut folders = vec![(from.to_path_buf(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if depth == 0 => return Err(refused(&error)),
            Err(error) => {
                listing.unreadable.push((folder.display().to_string(), io_cause(&error)));
                continue;
            }
        };
        for entry in entries {
            visited += 1;
            if visited > MAX_VISITED {
                left_out.add(&format!("beyond the first {MAX_VISITED} files and folders"), &folder.to_string_lossy());
                folders.clear();
                break;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    listing.unreadable.push((folder.display().to_string(), io_cause(&error)));
                    continue;
                }
            };
            let path = entry.path();
            let name = entry.file_name();
            match entry.metadata() {
                Err(error) => listing.unreadable.push((path.display().to_string(), io_cause(&error))),
                Ok(kind) if kind.is_dir() => {
                    let is_wanted = depth > 0 || name.to_str().is_none_or(wants);
                    if is_wanted && depth < MAX_DEPTH {
                        folders.push((path, depth + 1));
                    }
                }
                Ok(kind) if kind.is_file() && is_transcript(source, &path) => {
                    let modified = kind.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                    listing.files.push(Found { path, size: kind.len(), modified, is_named: false });
                }
                Ok(kind) if kind.is_file() && is_compressed(&path) => {
                    left_out.add("compressed; `zstd -d FILE` unpacks it", &path.to_string_lossy());
                }
                Ok(kind) if kind.is_symlink() && is_transcript(source, &path) => {
                    left_out.add("a link, and links are not followed", &path.to_string_lossy());
                }
                Ok(_) => {}
            }
        }
    }
    listing.files.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    Ok(listing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_its_own_names_of_transcripts() {
        for (source, path, is_one) in [
            (SourceName::ClaudeCode, "p/8c1f.jsonl", true),
            (SourceName::ClaudeCode, "p/8c1f/subagents/agent-1.jsonl", false),
            (SourceName::ClaudeCode, "p/agent-1.jsonl", false),
            (SourceName::ClaudeCode, "p/memory/MEMORY.md", false),
            (SourceName::Codex, "2026/11/02/rollout-x.jsonl", true),
            (SourceName::Codex, "2026/11/02/rollout-x.jsonl.zst", true),
            (SourceName::Codex, "2026/11/02/rollout-x.zst", false),
            (SourceName::Gemini, "h/chats/session-x.json", true),
            (SourceName::Gemini, "h/chats/session-x.jsonl", true),
            (SourceName::Gemini, "h/logs.json", false),
        ] {
            assert_eq!(is_transcript(source, Path::new(path)), is_one, "{path}");
        }
    }
}
