//! Detection of a folder's format from the names of its files.

use super::format::Format;
use super::readers::day_of;
use super::text::{base_name, stem};
use saddlebag_markdown::Frontmatter;

/// Result of a detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detected {
    /// Files of this format.
    Format(Format),
    /// Files of entries, as Saddlebag exports them.
    Markdown,
    /// Notebook of zk. A store can be opened on it in place, without an import.
    ZkNotebook,
    /// Memory folder of zerostack. A store can be opened on it in place, without an import.
    ZerostackStore,
}

/// Detects the format of a folder from the paths of its files, relative to it and with `/` between names. `None` if no
/// format matches.
pub fn detect(paths: &[&str]) -> Option<Detected> {
    let has = |path: &str| paths.contains(&path);
    let has_name = |name: &str| paths.iter().any(|path| base_name(path) == name);
    let has_below = |folder: &str| paths.iter().any(|path| path.strip_prefix(folder).is_some_and(|p| p.len() > 1));
    let is_day = |path: &&str| day_of(stem(path)).is_some();
    let format = if has(".zk/config.toml") {
        return Some(Detected::ZkNotebook);
    } else if has_name("MEMORY_SNAPSHOT.md") {
        Format::ZeroClaw
    } else if has_name("MEMORY_SNAPSHOT.json") {
        Format::NullClaw
    } else if has_name("memory.jsonl") {
        Format::McpMemory
    } else if paths.iter().any(|path| path.ends_with(".jsonl")) {
        Format::JsonLines
    } else if has("memory_summary.md") || has("raw_memories.md") || has_below("rollout_summaries/") {
        Format::Codex
    } else if has("system/persona.md") || has("system/human.md") {
        Format::Letta
    } else if has_below("projects/") || has("SCRATCHPAD.md") {
        return Some(Detected::ZerostackStore);
    } else if has("SOUL.md") || paths.iter().filter(|path| path.starts_with("memory/")).any(is_day) {
        Format::OpenClaw
    } else if paths.iter().any(|path| path.starts_with("core/") || path.starts_with("daily/")) {
        return Some(Detected::Markdown);
    } else if has_name("GEMINI.md") {
        Format::Gemini
    } else if has("USER.md") {
        Format::Hermes
    } else if has("MEMORY.md") {
        Format::ClaudeCode
    } else if has("memory.md") {
        Format::OpenClaw
    } else if paths.iter().any(|path| is_note(path)) {
        Format::BasicMemory
    } else {
        return None;
    };
    Some(Detected::Format(format))
}

/// Files that clients of models read as instructions, and pages about a project.
const NO_NOTES: [&str; 8] = [
    "agents.md",
    "claude.md",
    "claude.local.md",
    "gemini.md",
    "copilot-instructions.md",
    "readme.md",
    "changelog.md",
    "contributing.md",
];

/// Returns true if a file may be a note of basic-memory, by its name.
fn is_note(path: &str) -> bool {
    let name = base_name(path).to_lowercase();
    name.ends_with(".md") && !NO_NOTES.contains(&name.as_str())
}

/// Returns true if the text has what only notes of basic-memory have: a permalink, an observation with a category, or a
/// relation with a type. A name that ends with `.md` says too little.
pub fn is_basic_memory(path: &str, text: &str) -> bool {
    if !is_note(path) {
        return false;
    }
    let frontmatter = Frontmatter::parse(text);
    if frontmatter.problem.is_none() && frontmatter.value("permalink").is_some() {
        return true;
    }
    let (observations, relations) = super::basic_memory::parse(text);
    observations.iter().any(|found| found.category.is_some())
        || relations.iter().any(|found| found.is_alone && found.kind != super::basic_memory::LINKS_TO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_detected_by_their_files() {
        for (paths, expected) in [
            (&["MEMORY.md", "role.md"][..], Some(Detected::Format(Format::ClaudeCode))),
            (&["MEMORY.md", "memory/2026-01-02.md"], Some(Detected::Format(Format::OpenClaw))),
            (&["MEMORY.md", "SOUL.md", "USER.md"], Some(Detected::Format(Format::OpenClaw))),
            (&["MEMORY.md", "USER.md"], Some(Detected::Format(Format::Hermes))),
            (&["MEMORY.md", "memory_summary.md"], Some(Detected::Format(Format::Codex))),
            (&["system/persona.md"], Some(Detected::Format(Format::Letta))),
            (&["GEMINI.md"], Some(Detected::Format(Format::Gemini))),
            (&["memory.jsonl"], Some(Detected::Format(Format::McpMemory))),
            (&["dump.jsonl"], Some(Detected::Format(Format::JsonLines))),
            (&["MEMORY_SNAPSHOT.md"], Some(Detected::Format(Format::ZeroClaw))),
            (&["MEMORY_SNAPSHOT.json"], Some(Detected::Format(Format::NullClaw))),
            (&["specs/search.md"], Some(Detected::Format(Format::BasicMemory))),
            (&["AGENTS.md"], None),
            (&["AGENTS.md", "docs/README.md", "CLAUDE.md"], None),
            (&["core/a.md"], Some(Detected::Markdown)),
            (&[".zk/config.toml", "a.md"], Some(Detected::ZkNotebook)),
            (&["MEMORY.md", "projects/x-1/SCRATCHPAD.md"], Some(Detected::ZerostackStore)),
            (&["a.txt"], None),
            (&[], None),
        ] {
            assert_eq!(detect(paths), expected, "{paths:?}");
        }
    }
}
