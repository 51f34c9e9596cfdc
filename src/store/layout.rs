//! [`Layout`]: where the tree keeps what.
//!
//! ```text
//! <root>/
//! ├── MEMORY.md                  long-term memory, shared by every project
//! └── projects/<slug>/           one project; the root itself where there is no project scope
//!     ├── SCRATCHPAD.md
//!     ├── daily/2026-05-30.md
//!     ├── notes/<name>.md
//!     ├── facts/<slug>.md, decisions/<slug>.md
//!     └── templates/, .zk/config.toml
//! ```

use alloc::format;
use alloc::string::{String, ToString};

use super::{Date, NOTE_SUFFIX, NoteName, PathError, ProjectSlug, RelPath};

/// The file of long-term memory.
pub const LONG_TERM_FILE: &str = "MEMORY.md";
/// The file of the scratchpad.
pub const SCRATCHPAD_FILE: &str = "SCRATCHPAD.md";
/// The folder of the daily logs.
pub const DAILY_FOLDER: &str = "daily";
/// The folder of the notes.
pub const NOTES_FOLDER: &str = "notes";
/// The folder of the facts.
pub const FACTS_FOLDER: &str = "facts";
/// The folder of the decisions.
pub const DECISIONS_FOLDER: &str = "decisions";
/// The folder of the templates of new notes.
pub const TEMPLATES_FOLDER: &str = "templates";
/// The folder that makes a notebook of the folder it is in, as zk has it.
pub const ZK_FOLDER: &str = ".zk";
/// The folders of other scopes, which a notebook in the root does not take for its own.
pub const SCOPE_FOLDERS: [&str; 3] = [PROJECTS_FOLDER, "agents", "workspaces"];
/// The folder of the projects.
pub const PROJECTS_FOLDER: &str = "projects";
/// The extension of a backup, in place of `md`.
const BACKUP_SUFFIX: &str = ".bak";
/// What stands in place of `.md` in the name of what a change replaces.
const BEFORE_CHANGE_SUFFIX: &str = ".pre";
/// The extension of what a restore replaces, until it is the backup.
const REPLACED_SUFFIX: &str = ".old";

/// The files that agents read as their instructions, in whatever folder they are; in lower case.
const INSTRUCTION_FILES: [&str; 22] = [
    ".aider.conf.yml",
    ".clinerules",
    ".cursorrules",
    ".goosehints",
    ".mcp.json",
    ".roomodes",
    ".roorules",
    ".rules",
    ".windsurfrules",
    "agent.md",
    "agents.local.md",
    "agents.md",
    "agents.override.md",
    "claude.local.md",
    "claude.md",
    "copilot-instructions.md",
    "crush.md",
    "gemini.md",
    "opencode.json",
    "opencode.jsonc",
    "qwen.md",
    "warp.md",
];

/// The folders in which agents have instructions, hooks and settings; in lower case.
const INSTRUCTION_FOLDERS: [&str; 26] = [
    ".agent",
    ".agents",
    ".amazonq",
    ".augment",
    ".claude",
    ".clinerules",
    ".codex",
    ".continue",
    ".copilot",
    ".cursor",
    ".factory",
    ".gemini",
    ".git",
    ".github",
    ".goose",
    ".junie",
    ".kilocode",
    ".kiro",
    ".openclaw",
    ".opencode",
    ".qwen",
    ".roo",
    ".trae",
    ".vscode",
    ".windsurf",
    ".zed",
];

/// Returns true for a file that agents read as their instructions, or that is among their settings: what stands there
/// is obeyed, not remembered.
///
/// Names are compared as the least careful file system does: without case, without characters that nobody sees, and
/// without dots and blanks at the end.
#[must_use]
pub fn is_instructions(path: &RelPath) -> bool {
    let mut folders = path.segments().map(folded);
    let file = folders.next_back().unwrap_or_default();
    INSTRUCTION_FILES.contains(&file.as_str())
        || INSTRUCTION_FOLDERS.contains(&file.as_str())
        || folders.any(|folder| INSTRUCTION_FOLDERS.contains(&folder.as_str()))
}

fn folded(name: &str) -> String {
    let is_ignored = |c: &char| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    // By way of upper case, as some letters have no lower case but another letter's: the Kelvin sign, the long s.
    let letters = name.chars().filter(is_ignored).flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    letters.collect::<String>().trim_end_matches(['.', ' ']).to_string()
}

/// The paths of one scope. Every rule about where a file lives is here.
#[derive(Clone, Debug)]
pub struct Layout {
    long_term: RelPath,
    scratchpad: RelPath,
    daily: RelPath,
    notes: RelPath,
    project: Option<RelPath>,
}

impl Layout {
    /// The layout of a project, or of the root as one notebook.
    ///
    /// # Errors
    ///
    /// None for a slug that [`ProjectSlug`] accepts; the paths are checked all the same.
    pub fn new(project: Option<&ProjectSlug>) -> Result<Self, PathError> {
        let folder = project.map(|slug| RelPath::parse(format!("{PROJECTS_FOLDER}/{slug}"))).transpose()?;
        let below = |name: &str| folder.as_ref().map_or_else(|| RelPath::parse(name), |folder| folder.join(name));
        Ok(Self {
            long_term: RelPath::parse(LONG_TERM_FILE)?,
            scratchpad: below(SCRATCHPAD_FILE)?,
            daily: below(DAILY_FOLDER)?,
            notes: below(NOTES_FOLDER)?,
            project: folder,
        })
    }

    /// Whether a folder belongs to another scope: of a project under `projects/`, which a slug with its
    /// eight hexadecimal digits tells from a folder of notes, or the entries of an agent or a workspace.
    #[must_use]
    pub fn is_other_memory(folder: &RelPath) -> bool {
        let segments: alloc::vec::Vec<&str> = folder.segments().take(4).collect();
        match segments.as_slice() {
            [PROJECTS_FOLDER, slug] => slug.rsplit_once('-').is_some_and(|(_, hash)| {
                hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
            }),
            ["agents" | "workspaces", _, "entries"] => true,
            _ => false,
        }
    }

    /// Whether a file is the journal's: Markdown directly in the root, the scratchpad, a log, or Markdown
    /// directly in a folder of notes, facts or decisions. What else the tree has is the notebook's alone.
    #[must_use]
    pub fn is_journal(&self, path: &RelPath) -> bool {
        if !path.as_str().ends_with(NOTE_SUFFIX) {
            return false;
        }
        let Some(folder) = path.parent() else { return true };
        let is_folder = |name: &str| self.below_notebook(&folder) == Some(name);
        *path == self.scratchpad
            || [NOTES_FOLDER, DAILY_FOLDER, FACTS_FOLDER, DECISIONS_FOLDER].into_iter().any(is_folder)
    }

    /// Long-term memory: `MEMORY.md`.
    #[must_use]
    pub fn long_term(&self) -> &RelPath {
        &self.long_term
    }

    /// The scratchpad of the project.
    #[must_use]
    pub fn scratchpad(&self) -> &RelPath {
        &self.scratchpad
    }

    /// The folder of the daily logs.
    #[must_use]
    pub fn daily_folder(&self) -> &RelPath {
        &self.daily
    }

    /// The folder of the notes.
    #[must_use]
    pub fn notes_folder(&self) -> &RelPath {
        &self.notes
    }

    /// The folder of the project; `None` where the root is the notebook.
    #[must_use]
    pub fn project_folder(&self) -> Option<&RelPath> {
        self.project.as_ref()
    }

    /// A file or folder of the notebook, by its path below the notebook's own root.
    ///
    /// # Errors
    ///
    /// As [`RelPath::parse`].
    pub fn in_notebook(&self, path: &str) -> Result<RelPath, PathError> {
        match &self.project {
            Some(folder) => RelPath::parse(format!("{folder}/{path}")),
            None => RelPath::parse(path),
        }
    }

    /// The path below the notebook's own root; `None` for a file outside the notebook.
    #[must_use]
    pub fn below_notebook<'a>(&self, path: &'a RelPath) -> Option<&'a str> {
        match &self.project {
            Some(folder) => path.as_str().strip_prefix(folder.as_str())?.strip_prefix('/'),
            None => Some(path.as_str()),
        }
    }

    /// The log of one day.
    #[must_use]
    pub fn daily(&self, date: Date) -> RelPath {
        child(&self.daily, &date.to_string(), NOTE_SUFFIX)
    }

    /// The file of a note.
    #[must_use]
    pub fn note(&self, name: &NoteName) -> RelPath {
        child(&self.notes, name.as_str(), NOTE_SUFFIX)
    }

    /// Where the one-step backup of a memory file goes: `MEMORY.bak` beside `MEMORY.md`.
    #[must_use]
    pub fn backup_of(path: &RelPath) -> RelPath {
        beside(path, BACKUP_SUFFIX)
    }

    /// Where a change keeps what it replaces until that is the backup: `MEMORY.pre`.
    #[must_use]
    pub fn before_change_of(path: &RelPath) -> RelPath {
        beside(path, BEFORE_CHANGE_SUFFIX)
    }

    /// Where a restore keeps what it replaces until that is the backup: `MEMORY.old`.
    #[must_use]
    pub fn replaced_of(path: &RelPath) -> RelPath {
        beside(path, REPLACED_SUFFIX)
    }
}

/// The same name with another extension in place of `md`. A note name leaves room for it.
fn beside(path: &RelPath, suffix: &str) -> RelPath {
    let stem = path.as_str().strip_suffix(NOTE_SUFFIX).unwrap_or(path.as_str());
    RelPath::parse(format!("{stem}{suffix}")).unwrap_or_else(|_| path.clone())
}

/// A date or a note name is one safe segment with room for a suffix, so this cannot fail; should
/// that ever change, the folder itself is the answer and the operation on it is refused.
fn child(folder: &RelPath, stem: &str, suffix: &str) -> RelPath {
    let name: String = format!("{stem}{suffix}");
    folder.join(&name).unwrap_or_else(|_| folder.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_has_its_own_folder_and_shares_long_term_memory() {
        let slug = ProjectSlug::parse("api-0db23a34").expect("valid");
        let layout = Layout::new(Some(&slug)).expect("valid");
        let date = Date::parse("2026-05-30").expect("valid");
        assert_eq!(layout.long_term().as_str(), "MEMORY.md");
        assert_eq!(layout.scratchpad().as_str(), "projects/api-0db23a34/SCRATCHPAD.md");
        assert_eq!(layout.daily(date).as_str(), "projects/api-0db23a34/daily/2026-05-30.md");
        let note = layout.note(&NoteName::parse("auth").expect("valid"));
        assert_eq!(Layout::backup_of(&note).as_str(), "projects/api-0db23a34/notes/auth.bak");
        assert_eq!(layout.in_notebook("facts/a.md").as_ref().map(|p| layout.below_notebook(p)), Ok(Some("facts/a.md")));
        assert_eq!(layout.below_notebook(layout.long_term()), None);
        assert!(layout.in_notebook("../b").is_err());
    }

    #[test]
    fn what_agents_obey_is_known_in_every_folder_and_spelling() {
        for path in [
            "CLAUDE.md",
            "notes/Claude.MD",
            "AGENTS.md",
            "a/b/gemini.md",
            ".cursorrules",
            ".CursorRules",
            ".cur\u{17f}orrules",
            ".cursor/rules/x.md",
            ".github/copilot-instructions.md",
            "x/.claude/commands/y.md",
            "CLAUDE.md.",
            "CLA\u{200c}UDE.md",
            ".clinerules/x.md",
            ".clinerules",
            "wor\u{212a}/.windsurfrules",
        ] {
            assert!(is_instructions(&RelPath::parse(path).expect("valid")), "{path}");
        }
        for path in [
            "MEMORY.md",
            "notes/claude-code.md",
            "claude/x.md",
            "notes/agents-overview.md",
            "cursor/a.md",
            "x.claude/a.md",
        ] {
            assert!(!is_instructions(&RelPath::parse(path).expect("valid")), "{path}");
        }
    }

    #[test]
    fn without_a_project_the_root_is_the_notebook() {
        let layout = Layout::new(None).expect("valid");
        assert_eq!(layout.scratchpad().as_str(), "SCRATCHPAD.md");
        assert_eq!(layout.notes_folder().as_str(), "notes");
    }

    #[test]
    fn the_longest_name_still_has_a_path_and_a_backup() {
        let layout = Layout::new(None).expect("valid");
        let note = layout.note(&NoteName::parse(&"x".repeat(251)).expect("valid"));
        assert!(note.as_str().ends_with(".md"));
        assert!(Layout::backup_of(&note).as_str().ends_with(".bak"));
    }
}
