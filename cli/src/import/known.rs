//! Finds the folders in which agents keep their memory on this machine.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use saddlebag::exchange::Format;
use saddlebag_host::project_root;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::global::Global;

/// Memory of an agent that was found.
pub(super) struct Known {
    /// Name of the agent that owns it.
    pub(super) agent: &'static str,
    pub(super) place: PathBuf,
    pub(super) kind: Kind,
    /// True if it is the memory of the project, false if it is the user's.
    pub(super) is_of_project: bool,
}

pub(super) enum Kind {
    /// Files that can be imported in this format.
    Files(Format),
    /// Folder that a store can open in place.
    InPlace,
}

/// Returns the existing folders and files of the user and of the project.
pub(super) fn find(global: &Global) -> Vec<Known> {
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let at_home = |path: &str| home.as_ref().map(|home| home.join(path));
    let project = project(global);
    let mut places: Vec<(&'static str, Option<PathBuf>, Kind)> = Vec::new();
    let mut add = |agent, place, kind| places.push((agent, place, kind));

    let claude = variable("CLAUDE_CONFIG_DIR").or_else(|| at_home(".claude"));
    let of_project = project.as_ref().map(|project| claude_folder(project));
    let claude = claude.zip(of_project).map(|(claude, project)| claude.join("projects").join(project).join("memory"));
    add("Claude Code", claude, Kind::Files(Format::ClaudeCode));
    for folder in [".openclaw/workspace", ".clawdbot/workspace", ".moltbot/workspace"] {
        add("OpenClaw", at_home(folder), Kind::Files(Format::OpenClaw));
    }
    add("ZeroClaw", at_home(".zeroclaw/workspace/MEMORY_SNAPSHOT.md"), Kind::Files(Format::ZeroClaw));
    add("NullClaw", at_home(".nullclaw/workspace/MEMORY_SNAPSHOT.json"), Kind::Files(Format::NullClaw));
    let hermes = variable("HERMES_HOME").or_else(|| at_home(".hermes"));
    add("Hermes", hermes.map(|home| home.join("memories")), Kind::Files(Format::Hermes));
    add("basic-memory", at_home("basic-memory"), Kind::Files(Format::BasicMemory));
    add("MCP memory server", variable("MEMORY_FILE_PATH"), Kind::Files(Format::McpMemory));
    add("Gemini CLI", at_home(".gemini/GEMINI.md"), Kind::Files(Format::Gemini));
    add("Gemini CLI", project.as_ref().map(|project| project.join("GEMINI.md")), Kind::Files(Format::Gemini));
    add("Codex", at_home(".codex/memories"), Kind::Files(Format::Codex));
    for folder in below(at_home(".letta/agents").as_deref()) {
        add("Letta", Some(folder.join("memory")), Kind::Files(Format::Letta));
    }
    let zerostack = variable("ZS_CONFIG_DIR").or_else(|| variable("ZS_DATA_DIR"));
    let zerostack = zerostack.or_else(|| at_home(".local/share/zerostack"));
    add("zerostack", zerostack.map(|folder| folder.join("agent/memory")), Kind::InPlace);
    let notebook = variable("ZK_NOTEBOOK_DIR").or(project);
    add("zk", notebook.filter(|folder| folder.join(".zk").is_dir()), Kind::InPlace);

    let found = places.into_iter().filter_map(|(agent, place, kind)| {
        let place = place?;
        let is_of_project = project_of(&place, global) == Owner::Project;
        Some(Known { agent, place, kind, is_of_project })
    });
    found.filter(|known| known.place.exists()).collect()
}

/// Owner of the memory of another agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The user, or unknown.
    All,
    /// The project of the global options.
    Project,
    /// Another project, by the client's name for its folder.
    Other(String),
}

/// Returns the owner of the memory in this place: Claude Code has a folder of memory for each project, and Gemini CLI that
/// and a file in the project's folder.
pub(super) fn project_of(place: &Path, global: &Global) -> Owner {
    let Some(project) = project(global).filter(|_| !global.notebook) else { return Owner::All };
    let place = std::path::absolute(place).unwrap_or_else(|_| place.to_path_buf());
    if place == project.join("GEMINI.md") {
        return Owner::Project;
    }
    let names: Vec<&str> = place.iter().filter_map(|name| name.to_str()).collect();
    let folder = names.windows(3).find_map(|names| match names {
        // The names of an absolute path begin with the sign for `/` or for a drive.
        ["projects", folder, "memory"] if folder.contains('-') => Some(*folder),
        ["tmp", folder, "memory"] if names.contains(&".gemini") => Some(*folder),
        _ => None,
    });
    match folder {
        None => Owner::All,
        Some(folder) if names_of(&project).iter().any(|name| name == folder) || global.project.is_some() => {
            Owner::Project
        }
        Some(folder) => Owner::Other(folder.to_string()),
    }
}

/// Returns another project whose sessions are in Claude Code's folder of this one. Its names for two projects may be equal,
/// because it writes `-` for each letter that is not ASCII.
pub(super) fn other_project_of(memory: &Path, global: &Global) -> Option<PathBuf> {
    other_project(memory, &project(global)?)
}

fn other_project(memory: &Path, project: &Path) -> Option<PathBuf> {
    let listed = std::fs::read_dir(memory.parent()?).ok()?.flatten().map(|entry| entry.path());
    let mut transcripts: Vec<PathBuf> =
        listed.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    transcripts.sort();
    let folder_of = |transcript: &PathBuf| {
        let lines = BufReader::new(File::open(transcript).ok()?).lines().take(MAX_LINES).map_while(Result::ok);
        let mut values = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        values.find_map(|value| value.get("cwd")?.as_str().map(PathBuf::from))
    };
    let mut folders = transcripts.iter().take(MAX_FOLDERS).filter_map(folder_of);
    folders.find(|folder| claude_folder(folder) == claude_folder(project) && project_root(folder) != project)
}

/// Returns the names that clients give to the folder of a project: Claude Code's, and the digest of Gemini CLI.
pub(super) fn names_of(project: &Path) -> [String; 2] {
    [claude_folder(project), gemini_digest(project)]
}

fn project(global: &Global) -> Option<PathBuf> {
    global.project.clone().or_else(|| std::env::current_dir().ok()).map(|path| project_root(&path))
}

/// Returns Claude Code's name for the folder of a project: its path with `-` for each character except letters and digits.
pub(crate) fn claude_folder(project: &Path) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric();
    project.to_string_lossy().chars().map(|c| if is_plain(c) { c } else { '-' }).collect()
}

/// Returns the digest by which Gemini CLI names a project.
pub(crate) fn gemini_digest(project: &Path) -> String {
    Sha256::digest(project.to_string_lossy().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Maximum number of lines of a transcript in which its folder is looked for.
const MAX_LINES: usize = 32;
/// Maximum number of folders of one agent.
const MAX_FOLDERS: usize = 64;

/// Returns the first folders in a folder by name, at most [`MAX_FOLDERS`].
fn below(folder: Option<&Path>) -> Vec<PathBuf> {
    let listed = folder.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut folders: Vec<PathBuf> = listed.filter(is_folder).map(|entry| entry.path()).collect();
    // The order of a listing is arbitrary, so it is sorted before it is cut.
    folders.sort();
    folders.truncate(MAX_FOLDERS);
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_folders_by_name_are_taken_whatever_the_order_of_the_listing() {
        let folder = tempfile::tempdir().expect("a folder");
        for number in (0..70).rev() {
            std::fs::create_dir(folder.path().join(format!("{number:02}"))).expect("made");
        }
        std::fs::write(folder.path().join("00-file"), "").expect("written");
        let names: Vec<String> = below(Some(folder.path()))
            .iter()
            .map(|path| path.file_name().expect("a name").to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, (0..MAX_FOLDERS).map(|number| format!("{number:02}")).collect::<Vec<_>>());
    }

    #[test]
    fn a_project_is_called_as_claude_code_calls_it() {
        assert_eq!(claude_folder(Path::new("/home/user/my_project")), "-home-user-my-project");
    }

    #[test]
    fn sessions_of_another_project_under_the_same_name_are_found() {
        let top = tempfile::tempdir().unwrap();
        let root = top.path().canonicalize().unwrap();
        let [own, other] = ["新聞", "暫存"].map(|name| root.join(name));
        for folder in [&own, &other] {
            std::fs::create_dir(folder).unwrap();
        }
        let memory = root.join("claude").join(claude_folder(&own)).join("memory");
        std::fs::create_dir_all(&memory).unwrap();
        let transcript = memory.parent().unwrap().join("a.jsonl");
        for (folder, expected) in [(&own, None), (&other, Some(other.clone()))] {
            std::fs::write(&transcript, format!("{{}}\n{}\n", serde_json::json!({ "cwd": folder }))).unwrap();
            assert_eq!(other_project(&memory, &own), expected);
        }
    }
}
