//! Files that other agents take their instructions from.

use super::{AGENTS_FOLDER, ENTRIES_FOLDER, RelPath, WORKSPACES_FOLDER, is_name};

/// Names of files that agents read as instructions, in any folder; in lower case.
const INSTRUCTION_FILES: [&str; 25] = [
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
    "heartbeat.md",
    "opencode.json",
    "opencode.jsonc",
    "qwen.md",
    "skill.md",
    "soul.md",
    "warp.md",
];

/// Names of files that a client reads as instructions in its workspace only, as it spells them. Elsewhere, and in other
/// letters, they are good names of notes.
const WORKSPACE_FILES: [&str; 7] =
    ["BOOTSTRAP.md", "CONVENTIONS.md", "IDENTITY.md", "JULES.md", "RULES.md", "TOOLS.md", "USER.md"];

/// Folders that are such a workspace. `None` is the root of the store, which may be the workspace itself.
const WORKSPACES: [Option<&str>; 3] = [None, Some("memories"), Some("workspace")];

/// Names of folders in which agents have instructions, hooks and settings; in lower case.
const INSTRUCTION_FOLDERS: [&str; 31] = [
    ".agent",
    ".agents",
    ".amazonq",
    ".augment",
    ".claude",
    ".claude-plugin",
    ".clawdbot",
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
    ".hermes",
    ".junie",
    ".kilocode",
    ".kiro",
    ".letta",
    ".moltbot",
    ".openclaw",
    ".opencode",
    ".qwen",
    ".roo",
    ".trae",
    ".vscode",
    ".windsurf",
    ".zed",
];

/// Returns true for a file that agents read as instructions or settings. Its text is obeyed instead of remembered.
///
/// Names count in every spelling that some file system accepts for them. Files of entries do not count: no agent works
/// in their folders, and `claude` is a good key.
pub fn is_instructions(path: &RelPath) -> bool {
    if is_entry(path) {
        return false;
    }
    let is_of = |name: &str, names: &[&str]| names.iter().any(|known| is_name(name, known));
    let mut folders = path.segments();
    let file = folders.next_back().unwrap_or_default();
    is_of(file, &INSTRUCTION_FILES)
        || is_of(file, &INSTRUCTION_FOLDERS)
        || folders.any(|folder| is_of(folder, &INSTRUCTION_FOLDERS))
        || is_of_workspace(path)
}

/// Returns true for a file that a client reads as instructions because it is in its workspace.
fn is_of_workspace(path: &RelPath) -> bool {
    let folder = path.parent();
    let is_workspace = WORKSPACES.iter().any(|known| match (known, &folder) {
        (None, None) => true,
        (Some(known), Some(folder)) => folder.parent().is_none() && is_name(folder.as_str(), known),
        _ => false,
    });
    is_workspace && WORKSPACE_FILES.contains(&path.file_name())
}

fn is_entry(path: &RelPath) -> bool {
    let mut segments = path.segments();
    let is_owner = segments.next().is_some_and(|folder| [AGENTS_FOLDER, WORKSPACES_FOLDER].contains(&folder));
    is_owner && segments.nth(1) == Some(ENTRIES_FOLDER)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            "skills/deploy/SKILL.md",
            "Soul.md",
            "workspace/HEARTBEAT.md",
            "USER.md",
            "memories/USER.md",
            "workspace/TOOLS.md",
            "CONVENTIONS.md",
            ".claude/commands/x.md",
        ] {
            assert!(is_instructions(&RelPath::new(path).expect("valid")), "{path}");
        }
        for path in [
            "MEMORY.md",
            "notes/claude-code.md",
            "claude/x.md",
            "notes/agents-overview.md",
            "cursor/a.md",
            "x.claude/a.md",
            "agents/main/entries/core/claude.md",
            "agents/main/entries/core/soul.md",
            // Notes with these titles, and the folder of a vault.
            "tools.md",
            "User.md",
            "facts/TOOLS.md",
            "projects/x-00000000/facts/conventions.md",
            "projects/x-00000000/USER.md",
            "commands/deploy.md",
            "notes/commands/deploy.md",
        ] {
            assert!(!is_instructions(&RelPath::new(path).expect("valid")), "{path}");
        }
    }
}
