//! Text that a client writes in the place of a prompt, and text that says too little to be kept.

/// Elements that a client puts into a prompt. `_` equals `-`, which ends the start of several names.
const ELEMENTS: [&str; 25] = [
    "agent-notification",
    "bash-",
    "channel",
    "command-",
    "cross-session-message",
    "environment-context",
    "hook-context",
    "ide-",
    "INSTRUCTIONS",
    "local-command-",
    "mcp-resource-update",
    "new-diagnostics",
    "post-tool-use-hook",
    "session-start-hook",
    "skill",
    "subagent-notification",
    "system-notification",
    "system-reminder",
    "task-notification",
    "teammate-message",
    "turn-aborted",
    "user-instructions",
    "user-memory",
    "user-prompt-submit-hook",
    "user-shell-command",
];

/// Beginnings of text that a client writes as a whole.
const BEGINNINGS: [&str; 7] = [
    "# AGENTS.md instructions",
    "Another Claude session sent a message:",
    "Caveat: The messages below",
    "Stop hook feedback:",
    "This session is being continued from a previous conversation",
    "[Request interrupted",
    "[SYSTEM NOTIFICATION",
];

/// Lines before the prompt in text of an editor.
const EDITORS: [(&str, &str); 1] = [("# Context from my IDE setup:", "## My request for Codex:")];

/// Maximum number of elements of a client before a prompt.
const MAX_ELEMENTS: usize = 64;

/// Minimum number of words of text that says something.
const MIN_WORDS: usize = 4;

/// Minimum number of letters of such text in a script that may have no spaces.
const MIN_LETTERS: usize = 8;

/// Returns what a person has written in a prompt; `None` if a client has written all of it.
///
/// A client reports background tasks, the output of its own commands and summaries of a conversation in the same event as the
/// words of a person. Such elements before the words are left out.
///
/// ```
/// use saddlebag::session::prompt_of;
///
/// assert_eq!(prompt_of("fix the build"), Some("fix the build"));
/// assert_eq!(prompt_of("<ide_opened_file>src/a.rs</ide_opened_file>\nfix the build"), Some("fix the build"));
/// assert_eq!(prompt_of("<task-notification>\n<status>completed</status>\n</task-notification>"), None);
/// ```
#[must_use]
pub fn prompt_of(text: &str) -> Option<&str> {
    let mut rest = text.trim();
    for _ in 0..MAX_ELEMENTS {
        let Some(element) = element_at(rest) else { break };
        // Without its end, all of the text is the element.
        rest = after_element(rest, element)?.trim_start();
    }
    if let Some((_, line)) = EDITORS.iter().find(|(start, _)| rest.starts_with(start)) {
        rest = rest.split_once(line)?.1.trim_start();
    }
    let is_whole = BEGINNINGS.iter().any(|start| rest.starts_with(start));
    (!is_whole && !rest.is_empty()).then_some(rest)
}

/// Returns the name of the client's element that the text begins with.
fn element_at(text: &str) -> Option<&str> {
    let name = text.strip_prefix('<')?;
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name = name.split(|c: char| !is_of_name(c)).next()?;
    let plain = name.replace('_', "-");
    // Without an attribute it may be a feed that a person has pasted.
    let is_feed = plain == "channel" && !text.starts_with("<channel source=");
    let is_known = |known: &str| plain == known || (known.ends_with('-') && plain.starts_with(known));
    (!is_feed && ELEMENTS.iter().any(|known| is_known(known))).then_some(name)
}

/// Returns the text after an element; `None` if it does not end.
fn after_element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = text;
    loop {
        let (_, after) = rest.split_once("</")?;
        if let Some(after) = after.strip_prefix(name).and_then(|after| after.trim_start().strip_prefix('>')) {
            return Some(after);
        }
        rest = after;
    }
}

/// Returns true if a prompt says something to remember a session by. A greeting or a word of thanks does not.
pub(super) fn says_something(prompt: &str) -> bool {
    let letters = prompt.chars().filter(|c| !c.is_ascii() && c.is_alphanumeric()).count();
    prompt.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count() >= MIN_WORDS
        || letters >= MIN_LETTERS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_writes_is_not_a_prompt() {
        for text in [
            "<task-notification>\n<task-id>a</task-id>\n</task-notification>",
            "<task-notification>\nwithout an end",
            "This session is being continued from a previous conversation that ran out of context. The summary:",
            "<command-message>review</command-message>\n<command-name>/review</command-name>",
            "  <system-reminder>do</system-reminder>\n<local-command-stdout>x</local-command-stdout>",
            "<environment_context>\n  <cwd>/s</cwd>\n</environment_context>",
            "<user_instructions>x</user_instructions>",
            "# AGENTS.md instructions for /s\n\n<INSTRUCTIONS>x</INSTRUCTIONS>",
            "[Request interrupted by user for tool use]",
            "Caveat: The messages below were generated by the user while running local commands.",
            "Stop hook feedback:\n- run the tests",
            "<channel source=\"chat\">deploy it now</channel>",
            "<cross-session-message from=\"a\">stop</cross-session-message>",
            "<mcp-resource-update server=\"x\">changed</mcp-resource-update>",
            "<user_shell_command><command>ls</command></user_shell_command>",
            "Another Claude session sent a message: stop all work now",
            "[SYSTEM NOTIFICATION - NOT USER INPUT] a task has ended",
            "",
            " \n",
        ] {
            assert_eq!(prompt_of(text), None, "{text}");
        }
    }

    #[test]
    fn what_a_person_writes_after_it_is_the_prompt() {
        for (text, prompt) in [
            ("fix the build", "fix the build"),
            (" <b>bold</b> words ", "<b>bold</b> words"),
            ("<skillet> is a tag of ours", "<skillet> is a tag of ours"),
            ("<channel><title>x</title></channel> is wrong", "<channel><title>x</title></channel> is wrong"),
            ("<new_diagnostics>x</new_diagnostics> fix", "fix"),
            ("<ide_opened_file>a</ide_opened_file>\n<ide_selection>b</ide_selection>\nfix", "fix"),
            ("<system-reminder a=\"1\">x </y> z</system-reminder>fix", "fix"),
            ("# Context from my IDE setup:\n\n## Open tabs:\n- a\n\n## My request for Codex:\nfix\n", "fix"),
            ("why does <task-notification> arrive?", "why does <task-notification> arrive?"),
        ] {
            assert_eq!(prompt_of(text), Some(prompt), "{text}");
        }
    }

    #[test]
    fn a_greeting_says_nothing() {
        for text in ["", "hi", "thanks!", "ok, thank you", "👍 👍 👍 👍", "danke schön", "谢谢"] {
            assert!(!says_something(text), "{text}");
        }
        for text in
            ["fix the tax report", "why does it round up?", "请修复税务报告的构建", "исправь сборку отчёта о налогах"]
        {
            assert!(says_something(text), "{text}");
        }
    }
}
