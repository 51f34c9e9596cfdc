//! The files that other agents take their instructions from.

use super::{RelPath, is_name};

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
/// Names are compared as the least careful file system does, by [`is_name`].
#[must_use]
pub fn is_instructions(path: &RelPath) -> bool {
    let is_any_of = |name: &str, kept: &[&str]| kept.iter().any(|kept| is_name(name, kept));
    is_any_of(path.file_name(), &INSTRUCTION_FILES)
        || path.segments().any(|segment| is_any_of(segment, &INSTRUCTION_FOLDERS))
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
            "CURSOR~1/rules/x.md",
            "CLAUDE.md::$DATA",
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
}
