//! The runs whose JSON is kept.

/// One run of the program.
pub(super) struct Case {
    /// The name of its golden file.
    pub(super) name: &'static str,
    pub(super) arguments: &'static [&'static str],
    /// Runs that come before it, which must succeed.
    pub(super) before: &'static [&'static [&'static str]],
    pub(super) input: &'static str,
    /// Its trace is kept as well.
    pub(super) traced: bool,
}

impl Case {
    const fn new(name: &'static str, arguments: &'static [&'static str]) -> Self {
        Self { name, arguments, before: &[], input: "", traced: false }
    }

    const fn after(self, before: &'static [&'static [&'static str]]) -> Self {
        Self { before, ..self }
    }

    const fn input(self, input: &'static str) -> Self {
        Self { input, ..self }
    }

    const fn traced(self) -> Self {
        Self { traced: true, ..self }
    }

    /// The subcommand, with spaces between its words: the first arguments that are not global options.
    pub(super) fn command(&self) -> String {
        let mut words = self.arguments;
        while let [option, _, rest @ ..] = words
            && option.starts_with("--")
        {
            words = rest;
        }
        match words {
            ["entry" | "memory" | "agents-md", verb, ..] => {
                format!("{} {verb}", words[0])
            }
            [word, ..] => (*word).to_string(),
            [] => String::new(),
        }
    }
}

pub(super) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend(history());
    cases.extend(journal());
    cases.extend(prompts());
    cases.extend(notebook());
    cases.extend(entries());
    cases.extend(exchange());
    cases.extend(program());
    cases.extend(errors());
    cases
}

/// Two changes of a note.
const TWO_CHANGES: &[&[&str]] =
    &[&["write", "note:new", "one"], &["write", "note:new", "two", "--mode", "overwrite", "--reason", "it moved"]];

fn history() -> Vec<Case> {
    vec![
        Case::new("history", &["history"]).after(TWO_CHANGES),
        Case::new("history-of-note", &["history", "note:new", "-p"]).after(TWO_CHANGES),
        Case::new("history-policy", &["history", "--policy"]).after(TWO_CHANGES),
        Case::new("show-version", &["show", "notes/new.md@2"]).after(TWO_CHANGES),
        Case::new("diff", &["diff", "note:new"]).after(TWO_CHANGES),
        Case::new("undo", &["undo"]).after(TWO_CHANGES),
        Case::new("undo-error-nothing", &["undo"]),
        Case::new("redo", &["redo"]).after(&[&["write", "note:new", "one"], &["undo"]]),
        Case::new("op-log", &["op"]).after(TWO_CHANGES),
        Case::new("op-show", &["op", "show"]).after(TWO_CHANGES),
        Case::new("op-diff", &["op", "diff"]).after(TWO_CHANGES),
        Case::new("snapshot", &["snapshot", "-m", "before the import"]).after(TWO_CHANGES),
        Case::new("recall-at", &["recall", "two", "--at", crate::support::NOW]).after(TWO_CHANGES),
        Case::new("recall-at-error-too-early", &["recall", "two", "--at", "2020-01-01"]).after(TWO_CHANGES),
        Case::new("sync", &["sync"]).after(TWO_CHANGES),
        Case::new("sync-error-provenance", &["--provenance", "agent", "sync"]),
        Case::new("merge", &["merge", "merge/base.md", "merge/ours.md", "merge/theirs.md", "--stdout"]),
        Case::new("merge-error-missing", &["merge", "merge/base.md", "none.md", "merge/theirs.md"]),
        Case::new("copy", &["copy", "foreign", "copied", "--dry-run"]),
        Case::new("commit-error-no-work-tree", &["commit"]).after(TWO_CHANGES),
        Case::new("expunge-dry-run", &["expunge", "two three", "--text"]).after(&[&[
            "write",
            "note:new",
            "one two three",
        ]]),
        Case::new("expunge", &["expunge", "two three", "--text", "--yes"]).after(&[&[
            "write",
            "note:new",
            "one two three",
        ]]),
        Case::new("restore-version", &["restore", "note:new", "--at", "2"]).after(TWO_CHANGES),
    ]
}

fn journal() -> Vec<Case> {
    vec![
        Case::new("write", &["write", "long_term", "a fact\na fact\nanother"]),
        Case::new("write-overwrite", &["write", "note:new", "text", "--mode", "overwrite"])
            .after(&[&["write", "note:new", "before"]]),
        Case::new("write-repeated", &["write", "long_term", "- Releases are cut on Thursdays.\n- a new fact"]),
        Case::new("show-file", &["show", "long_term"]),
        Case::new("show-file-page", &["show", "facts/the-database.md", "--offset", "10", "--max-bytes", "20"]),
        Case::new("show-file-missing", &["show", "note:missing"]),
        Case::new("show-file-empty", &["show", "note:empty"]).after(&[&[
            "write",
            "note:empty",
            "",
            "--mode",
            "overwrite",
        ]]),
        Case::new("list-file", &["list", "--kind", "file"]),
        Case::new("edit-file", &["edit", "long_term", "--old", "8443", "--new", "9443"]),
        Case::new("forget-file", &["forget", "note:new"]).after(&[&["write", "note:new", "text"]]),
        Case::new("restore-file", &["restore", "note:new"])
            .after(&[&["write", "note:new", "before"], &["write", "note:new", "x", "--mode", "overwrite"]]),
        Case::new("restore-note", &["restore", "facts/alone.md"]).after(&[&["forget", "facts/alone.md"]]),
        Case::new("restore-entry", &["restore", "deploy"]).after(&[&["forget", "deploy"]]),
        Case::new("search", &["search", "port", "staging"]),
        Case::new("search-limited", &["search", "port", "--limit", "1", "--offset", "1", "--max-bytes", "200"]),
        Case::new("search-nothing", &["search", "zebra"]),
        Case::new("log", &["log", "moved", "To the new cluster."]),
        Case::new("log-compaction", &["log", "--compaction", "Spoke of ports.", "--messages", "12"]),
        Case::new("status", &["status"]),
        Case::new("tools-slash", &["tools", "/memory", "search", "port"]),
        Case::new("tools-slash-status", &["tools", "/memory"]),
        Case::new("show-path", &["show", "--path", "root"]),
        Case::new("show-path-target", &["show", "--path", "daily"]),
        Case::new("write-traced", &["write", "long_term", "a traced fact"]).traced(),
        Case::new("list-file-traced", &["list", "--kind", "file"]).traced(),
        Case::new("show-file-traced", &["show", "note:../x"]).traced(),
    ]
}

fn prompts() -> Vec<Case> {
    vec![
        Case::new("context", &["context", "--entries", "--recall", "which port?"]),
        Case::new("context-cut", &["context", "--entries=60", "--max-bytes", "400", "--overflow", "prioritised"]),
        Case::new("context-message", &["context", "--for", "openai", "--message"]),
        Case::new("context-prompt", &["context", "--prompt"]),
        Case::new("context-appended", &["context", "--for", "plain", "--append-to", "base.md"]),
        Case::new("context-flags", &["context", "--entries"]).after(&[&[
            "remember",
            "--key",
            "hidden",
            "An <!-- odd --> text",
        ]]),
        Case::new("context-preamble", &["context", "--preamble", "--append-to", "base.md", "--entries"]),
        Case::new("context-preamble-cut", &["context", "--preamble", "--preamble-bytes", "300"]),
        Case::new("agents-md-sync", &["agents-md", "sync", "--key", "deploy"]),
        Case::new("agents-md-sync-dry", &["agents-md", "sync", "--tag", "ops", "--dry-run"]),
        Case::new("agents-md-sync-edited", &["agents-md", "sync", "--dir", "foreign", "--key", "deploy"]),
    ]
}

fn notebook() -> Vec<Case> {
    vec![
        Case::new("setup-templates", &["setup", "--templates"]),
        Case::new("remember", &["remember", "A new fact", "Its text.", "-t", "db", "--link", "Alone"]),
        Case::new("remember-again", &["remember", "Again", "Its text."]).after(&[&["remember", "Again", "Its text."]]),
        Case::new("remember-superseding", &["remember", "Alone", "Other text.", "--supersede"]),
        Case::new("remember-superseding-another", &["remember", "Together", "A text.", "--supersedes", "Alone"]),
        Case::new("remember-superseding-nothing", &["remember", "Apart", "A text.", "--supersede"]),
        Case::new("recall", &["recall", "which port does the database listen on?"]),
        Case::new("recall-explained", &["recall", "port", "--explain", "-n", "2", "--tag", "db"]),
        Case::new("recall-within-bytes", &["recall", "which port does the database listen on?", "--max-bytes", "300"]),
        Case::new("recall-nothing", &["recall", "zebra"]),
        Case::new("recall-both", &["recall", "cluster"]),
        Case::new("log-line", &["log", "--line", "deployed"]),
        Case::new("today", &["today"]),
        Case::new("today-made", &["today"]).after(&[&["forget", "daily/2026-05-30.md"]]),
        Case::new("list-note-tag", &["list", "--kind", "note", "--tag", "db"]),
        Case::new("list-note-tag-nothing", &["list", "--kind", "note", "--tag", "nope"]),
        Case::new("list-note-recent", &["list", "--kind", "note", "--sort", "modified", "--limit", "3"]),
        Case::new("list", &["list"]),
        Case::new("list-recent", &["list", "--tag", "ops", "--since", "2026-05-28", "--limit", "2"]),
        Case::new("list-forgotten", &["list", "--forgotten"]).after(&[&["forget", "deploy"]]),
        Case::new("list-error-usage", &["list", "--kind", "entry", "--links"]),
        Case::new("list-note", &["list", "--kind", "note", "--sort", "path"]),
        Case::new(
            "list-note-filtered",
            &["list", "--kind", "note", "--link-to", "facts/the-database.md", "--created", "2026-05-21"],
        ),
        Case::new("related", &["related", "facts/the-database.md"]),
        Case::new("link", &["link", "Alone", "facts/port-2.md", "the port"]),
        Case::new("show-note", &["show", "The database", "--max-bytes", "20"]),
        Case::new("show-note-error-not-found", &["show", "Nowhere"]),
        Case::new("edit-note", &["edit", "Port", "--old", "5433", "--new", "5434"]),
        Case::new("move", &["move", "The database", "The store of data"]),
        Case::new("forget-note", &["forget", "Alone"]),
        Case::new("forget-entry", &["forget", "deploy"]),
        Case::new("list-tags", &["list", "--tags"]),
        Case::new("list-links", &["list", "--links"]),
        Case::new("list-orphans", &["list", "--orphan"]),
        Case::new("list-dead-links", &["list", "--dead-links"]),
        Case::new("list-note-snippets", &["list", "--kind", "note", "--sort", "path", "--snippets"]),
        Case::new("related-mentions", &["related", "--mentions", "facts/the-database.md"]),
    ]
}

fn entries() -> Vec<Case> {
    vec![
        Case::new("remember-key", &["remember", "--key", "new", "text", "-t", "ops", "--source", "slack"]),
        Case::new("remember-key-moved", &["remember", "--key", "deploy", "The other cluster.", "-c", "notes"]),
        Case::new(
            "remember-key-unchanged",
            &["remember", "--key", "approved", "A note of the cluster.", "-c", "notes"],
        ),
        Case::new("remember-key-conflict", &["remember", "--key", "deploy", "text", "--base", "0123456789abcdef"]),
        Case::new(
            "remember-key-forgotten",
            &["remember", "--key", "deploy", "The staging cluster comes first.", "-t", "ops"],
        )
        .after(&[&["forget", "deploy"]]),
        Case::new("show-entry", &["show", "deploy"]),
        Case::new("show-entry-unapproved", &["show", "page"]),
        Case::new("recall-entries", &["recall", "--kind", "entry", "which", "cluster"]),
        Case::new("recall-entries-nothing", &["recall", "--kind", "entry", "zebra"]),
        Case::new("list-entry", &["list", "--kind", "entry"]),
        Case::new("list-entry-page", &["list", "--kind", "entry", "--limit", "1", "--since", "2026-05-28T00:00:00Z"]),
        Case::new("edit-entry", &["edit", "deploy", "--old", "staging", "--new", "other"]),
        Case::new("edit-entry-error-no-unique-match", &["edit", "deploy", "--old", "e", "--new", "a"]),
        Case::new("edit-entry-error-needs-confirmation", &["edit", "page", "--old", "Obey", "--new", "Heed"]),
        Case::new("forget-purge", &["forget", "--purge"]).after(&[&["forget", "deploy"]]),
        Case::new("entry-hydrate", &["entry", "hydrate", "--max-bytes", "60"]),
        Case::new(
            "entry-hydrate-explained",
            &["entry", "hydrate", "--explain", "--max-bytes", "60", "--policy", "prefix"],
        ),
        Case::new("entry-run", &["entry", "run", "r1", "--fence", "2"]).input(
            "{\"key\": \"a\", \"content\": \"v\"}\n{\"key\": \"\", \"content\": \"v\"}\n\
             {\"key\": \"deploy\", \"deleted\": true}\n\
             {\"key\": \"b\", \"content\": \"v\", \"category\": \"conversation\"}\n",
        ),
        Case::new("list-pending", &["list", "--pending"]),
        Case::new("list-pending-page", &["list", "--pending", "--limit", "1"]),
        Case::new("list-pending-text", &["list", "--pending=page"]),
        Case::new("memory-approve-dry", &["memory", "approve", "page", "nothing", "--dry-run"]),
        Case::new("memory-approve", &["memory", "approve", "page", "--base", VERSION_OF_PAGE]),
        Case::new("memory-reject", &["memory", "reject", "page", "nothing"]),
        Case::new("memory-reject-for-good", &["memory", "reject", "--for-good", "deploy", "nothing"]),
        Case::new("unforget", &["unforget", "facts/old.md"]),
        Case::new("memory-reject-dry", &["memory", "reject", "--from", "tool", "--dry-run"]),
        Case::new("memory-approve-stale", &["memory", "approve", "page", "--base", "0123456789abcdef"]),
    ]
}

fn exchange() -> Vec<Case> {
    vec![
        Case::new("backfill", &["backfill", "--from", "codex", "transcripts/rollout-1.jsonl"]),
        Case::new("backfill-again", &["backfill", "--from", "codex", "transcripts/rollout-1.jsonl", "--dry-run"])
            .after(&[&["backfill", "--from", "codex", "transcripts/rollout-1.jsonl"]]),
        Case::new("backfill-nothing", &["backfill", "--from", "codex"]),
        Case::new("memory-export", &["memory", "export", "--out", "out"]),
        Case::new("memory-export-to", &["memory", "export", "--to", "claude-code", "--out", "out"]),
        Case::new("memory-import", &["memory", "import", "entries"]),
        Case::new("memory-import-replacing", &["memory", "import", "entries", "--mode", "replace", "--yes"]),
        Case::new("memory-import-from", &["memory", "import", "home/claude", "--from", "claude-code"]),
        Case::new("memory-import-found", &["memory", "import", "--from", "auto", "--yes"]),
        Case::new("memory-import-found-dry", &["memory", "import", "--from", "auto", "--dry-run"]),
    ]
}

fn program() -> Vec<Case> {
    let mut cases = vec![
        Case::new("tools", &["tools"]),
        Case::new("tools-for-anthropic", &["tools", "--tools", "anthropic,journal", "--for", "anthropic"]),
        Case::new("tools-for-openai", &["tools", "--tools", "notebook", "--for", "openai"]),
        Case::new("tools-for-mcp", &["tools", "--tools", "entries", "--for", "mcp"]),
        Case::new("tag", &["tag", "add", "a", "ops", "db"]),
        Case::new("tag-entry", &["tag", "remove", "deploy", "ops"]),
        Case::new("sessions", &["sessions"]),
        Case::new("open-error-not-found", &["open", "nowhere"]),
        Case::new("tools-call", &["tools", "memory_recall", "{\"key\": \"deploy\"}"]),
        Case::new("tools-call-error", &["tools", "memory_recall", "{\"key\": \"nope\"}"]),
        Case::new("project", &["project"]),
        Case::new("project-link-error-not-found", &["project", "api-0db23a34", "--yes"]),
        Case::new("project-link-undo-error-not-found", &["project", "--undo"]),
        Case::new("project-link-move-error-not-found", &["project", "--move", "api-0db23a34", "--yes"]),
        Case::new("demo", &["demo"]),
        Case::new("hook-log", &["hook", "log"]).after(&[&["hook", "stop", "--max-byts", "7"]]),
        Case::new("hook-log-empty", &["hook", "log"]),
        Case::new("completions", &["completions", "bash"]),
        Case::new("completions-man", &["completions", "man"]),
        Case::new("setup", &["setup", "codex", "--command", "/opt/saddlebag", "--yes"]),
        Case::new("setup-dry", &["setup", "zed", "--command", "/opt/saddlebag", "--scope", "project", "--dry-run"]),
        Case::new("setup-remove", &["setup", "gemini", "--remove", "--yes"]).after(&[&[
            "setup",
            "gemini",
            "--command",
            "/opt/saddlebag",
            "--without-hooks",
            "--yes",
        ]]),
        Case::new("setup-uninstall", &["setup", "--uninstall", "--dry-run"]).after(&[&[
            "setup",
            "zed",
            "--command",
            "/opt/saddlebag",
            "--yes",
        ]]),
        Case::new("review-error-needs-confirmation", &["review"]),
        Case::new("setup-error-needs-confirmation", &["setup", "cursor", "--command", "/opt/saddlebag"]),
    ];
    if cfg!(feature = "server") {
        cases.push(Case::new("mcp-refused", &["mcp", "--http", "192.0.2.1:80"]));
        cases.push(Case::new("ui-error-usage", &["ui", "--out", "memory.html", "--read-only"]));
    }
    cases
}

/// One run for each code of an error that a person can cause.
fn errors() -> Vec<Case> {
    vec![
        Case::new("write-error-usage", &["write", "long_term"]),
        Case::new("write-error-value", &["write", "long_term", "x", "--mode", "nope"]),
        Case::new("write-error-invalid-name", &["write", "note:../x", "text"]),
        Case::new("show-file-error-invalid-date", &["show", "daily:2026-02-30"]),
        Case::new("list-note-error-invalid-argument", &["list", "--kind", "note", "--created", "someday"]),
        Case::new("remember-key-error-too-large", &["remember", "--key", "k", "x", "-c", TOO_LONG]),
        Case::new("forget-note-error-not-found", &["forget", "nowhere"]),
        Case::new("edit-file-error-no-unique-match", &["edit", "long_term", "--old", "a", "--new", "b"]),
        Case::new("show-file-error-not-text", &["show", "facts/latin.md"]),
        Case::new("show-entry-error-entry-not-found", &["show", "nope", "--kind", "entry"]),
        Case::new("forget-entry-error-not-forgotten", &["forget", "nope", "--kind", "entry"]),
        Case::new("entry-run-error-stale-fence", &["entry", "run", "r1", "--fence", "1"])
            .after(&[&["entry", "run", "r2", "--fence", "2"]])
            .input("{\"key\": \"a\", \"content\": \"v\"}\n"),
        Case::new("write-error-secret", &["write", "long_term", SECRET]),
        Case::new("status-error-trace", &["--trace", "nowhere/trace", "status"]),
        Case::new("write-error-not-permitted", &["--provenance", "tool", "write", "long_term", "x"]),
        Case::new("context-preamble-error-storage", &["context", "--preamble", "--dir", "nowhere"]),
        Case::new("memory-import-error-input", &["memory", "import", "nowhere", "--from", "openclaw"]),
        Case::new("memory-export-error-inside-store", &["memory", "export", "--out", INSIDE_STORE]),
        Case::new("memory-export-error-not-empty", &["memory", "export", "--out", "home"]),
    ]
}

/// The root of the store of a case, in its arguments.
pub(super) const STORE: &str = "<store>";

const INSIDE_STORE: &str = "<store>/out";

const TOO_LONG: &str = "0123456789012345678901234567890123456789012345678901234567890123456789";

/// In two parts, so that no scanner finds a token here.
pub(super) const SECRET: &str = concat!("ghp_", "q7Zt2LmX9vRk4WcB8nYs1DfGh6JpQa3Eu5To");

/// The version of the entry `page` of the prepared store: the hash of its text.
const VERSION_OF_PAGE: &str = "8e76062201bf2886efc3ed93cac3434ce848ea2c7d8c62d420dab6bfc50db1ee";
