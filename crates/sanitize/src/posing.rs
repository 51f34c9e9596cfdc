//! Names of elements and special tokens with which text can pose as a client, a role or a tool. One table serves two purposes: what a
//! client writes is left out of a recorded prompt, and all of it is escaped in text for a model.
//!
//! Names are in lower case, and have `-` where clients write `-` or `_`. A name that ends in `-` is the beginning of several.

/// Elements that clients write into the place of a prompt. Sources: transcripts of Claude Code, Codex, Cursor and Copilot, and
/// Claude Code's documentation of hooks, channels and teams.
const OF_CLIENTS: &str = "\
    additional-context agent-notification attached-files automated-reminder- available-skills bash- channel claudemd \
    collaboration-mode command- cross-session-message environment-context environment-details extremely-important hook-context \
    hook-prompt long-conversation-reminder persisted-output scheduled-task systemreminder user-info user-input \
    ide- instructions local-command- mcp-resource-update new-diagnostics permissions-instructions post-tool-use-hook \
    pre-tool-use-hook session-start-hook skill subagent-notification system-notification system-reminder \
    task-notification teammate-message turn-aborted user-instructions user-memory user-prompt-submit-hook user-query \
    user-shell-command";

/// Elements of roles and tools. Sources: Anthropic's documentation of prompts and tools; the chat templates (`chat_template` in
/// `tokenizer_config.json`) of Gemma, Qwen, Hermes, Llama 3.1, InternLM, MiniCPM, Nemotron, Baichuan and Seed-OSS.
const OF_ROLES: &str = "\
    system system-prompt system-message assistant human function-call function-calls function-response function-results \
    invoke tool-call tool-calls tool-code tool-output tool-outputs tool-response tool-responses tool-result tool-results \
    tool-use tool-use-error user-message untrusted- start-of-turn end-of-turn start-of-image end-of-image begin-of- \
    end-of- im-start im-end im-sep endoftext extra-id- reserved- special- unused gmask sop eop eoh 用户 system-instruction \
    system-instructions system-warning bos-token eos-token pad-token fim-prefix fim-suffix fim-middle ipython longcat-";

/// Names of roles and tokens that are also words of HTML, of types or of placeholders, so that only a whole tag counts. Sources: the
/// same, and the tokens of Llama, Mistral and DeepSeek.
const COMMON: &str = "\
    ai analysis permissions message reasoning bos bot channel commentary developer eod eos final function instructions mask model pad parameter \
    parameters role s sep skill sys think thinking thought tool tools turn unk untrusted user";

/// Tokens in square brackets. Sources: the templates of Llama 2, of Mistral and Magistral, of ChatGLM, and notices of clients.
const IN_BRACKETS: &str = "\
    inst sys model-settings available-tools tool-calls tool-call tool-results tool-content system-prompt system-notification think \
    gmask sop";

/// Kind of name by which text poses as a client, a role or a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Posing {
    /// Under a name of a client, a role or a tool.
    Name,
    /// Under a common word, if it is a whole tag.
    Word,
}

/// Returns how the name of an element poses, with `_` and `-` alike.
pub(crate) fn element(name: &str) -> Option<Posing> {
    if is_among(COMMON, name) {
        return Some(Posing::Word);
    }
    [OF_CLIENTS, OF_ROLES].iter().any(|names| is_among(names, name)).then_some(Posing::Name)
}

/// Returns true if the name of an element is that of one which clients write into the place of a prompt.
///
/// ```
/// assert!(saddlebag_sanitize::is_of_client("task_notification") && !saddlebag_sanitize::is_of_client("system"));
/// ```
pub fn is_of_client(name: &str) -> bool {
    let name = name.replace('_', "-").to_ascii_lowercase();
    is_among(OF_CLIENTS, &name)
}

/// Returns true if a name in square brackets is a token.
pub(crate) fn bracketed(name: &str) -> bool {
    is_among(IN_BRACKETS, name)
}

fn is_among(names: &str, name: &str) -> bool {
    // What begins several names has more after it.
    let begins = |known: &str| {
        name.len() > known.len() && (known.ends_with('-') || known == "unused") && name.starts_with(known)
    };
    names.split(' ').any(|known| known == name || begins(known))
}
