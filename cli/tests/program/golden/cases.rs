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
            ["agents-md", verb, ..] => format!("agents-md {verb}"),
            [word, ..] => (*word).to_string(),
            [] => String::new(),
        }
    }
}

pub(super) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend(journal());
    cases.extend(prompts());
    cases.extend(notebook());
    cases.extend(entries());
    cases.extend(exchange());
    cases.extend(program());
    cases.extend(errors());
    cases
}

fn journal() -> Vec<Case> {
    vec![
        Case::new("write", &["write", "long_term", "a fact\na fact\nanother"]),
        Case::new("write-overwrite", &["write", "note:new", "text", "--mode", "overwrite"])
            .after(&[&["write", "note:new", "before"]]),
        Case::new("write-repeated", &["write", "long_term", "- Releases are cut on Thursdays.\n- a new fact"]),
        Case::new("read", &["read", "long_term"]),
        Case::new("read-page", &["read", "facts/the-database.md", "--offset", "10", "--limit", "20"]),
        Case::new("read-missing", &["read", "note:missing"]),
        Case::new("read-empty", &["read", "note:empty"]).after(&[&["write", "note:empty", "", "--mode", "overwrite"]]),
        Case::new("list", &["list"]),
        Case::new("edit", &["edit", "long_term", "--old", "8443", "--new", "9443"]),
        Case::new("edit-delete", &["edit", "note:new", "--delete"]).after(&[&["write", "note:new", "text"]]),
        Case::new("restore", &["restore", "note:new"])
            .after(&[&["write", "note:new", "before"], &["write", "note:new", "x", "--mode", "overwrite"]]),
        Case::new("restore-note", &["restore", "facts/alone.md"]).after(&[&["forget", "facts/alone.md"]]),
        Case::new("restore-entry", &["restore", "--key", "deploy"]).after(&[&["forget", "--key", "deploy"]]),
        Case::new("search", &["search", "port", "staging"]),
        Case::new("search-limited", &["search", "port", "--limit", "1", "--offset", "1", "--max-bytes", "200"]),
        Case::new("search-nothing", &["search", "zebra"]),
        Case::new("log", &["log", "moved", "To the new cluster."]),
        Case::new("log-compaction", &["log", "--compaction", "Spoke of ports.", "--messages", "12"]),
        Case::new("status", &["status"]),
        Case::new("slash", &["slash", "search", "port"]),
        Case::new("slash-status", &["slash"]),
        Case::new("path", &["path"]),
        Case::new("path-target", &["path", "daily"]),
        Case::new("write-traced", &["write", "long_term", "a traced fact"]).traced(),
        Case::new("list-traced", &["list"]).traced(),
        Case::new("read-traced", &["read", "note:../x"]).traced(),
    ]
}

fn prompts() -> Vec<Case> {
    vec![
        Case::new("context", &["context", "--entries", "--recall", "which port?"]),
        Case::new("context-cut", &["context", "--entries=60", "--max-bytes", "400", "--overflow", "prioritised"]),
        Case::new("context-message", &["context", "--for", "openai", "--message"]),
        Case::new("context-prompt", &["context", "--prompt"]),
        Case::new("context-appended", &["context", "--for", "plain", "--append-to", "base.md"]),
        Case::new("context-flags", &["context", "--entries"]).after(&[&["store", "hidden", "An <!-- odd --> text"]]),
        Case::new("preamble", &["preamble", "--base", "base.md", "--entries"]),
        Case::new("preamble-cut", &["preamble", "--max-bytes", "300"]),
        Case::new("agents-md-sync", &["agents-md", "sync", "--key", "deploy"]),
        Case::new("agents-md-sync-dry", &["agents-md", "sync", "--tag", "ops", "--dry-run"]),
        Case::new("agents-md-sync-unconfirmed", &["agents-md", "sync", "--dir", "foreign"]),
        Case::new("agents-md-sync-confirmed", &["agents-md", "sync", "--dir", "foreign", "--yes"]),
    ]
}

fn notebook() -> Vec<Case> {
    vec![
        Case::new("init", &["init"]),
        Case::new("remember", &["remember", "A new fact", "Its text.", "-t", "db", "--link", "Alone"]),
        Case::new("remember-again", &["remember", "Again", "Its text."]).after(&[&["remember", "Again", "Its text."]]),
        Case::new("remember-superseding", &["remember", "Alone", "Other text.", "--supersede"]),
        Case::new("recall", &["recall", "which port does the database listen on?"]),
        Case::new("recall-explained", &["recall", "port", "--explain", "-n", "2", "--tag", "db"]),
        Case::new("recall-nothing", &["recall", "zebra"]),
        Case::new("journal", &["journal", "deployed"]),
        Case::new("today", &["today"]),
        Case::new("today-made", &["today"]).after(&[&["forget", "daily/2026-05-30.md"]]),
        Case::new("by-tag", &["by-tag", "db"]),
        Case::new("by-tag-nothing", &["by-tag", "nope"]),
        Case::new("recent", &["recent", "3"]),
        Case::new("notes", &["notes", "--sort", "path"]),
        Case::new("notes-filtered", &["notes", "--link-to", "facts/the-database.md", "--created", "2026-05-21"]),
        Case::new("related", &["related", "facts/the-database.md"]),
        Case::new("link", &["link", "Alone", "facts/port-2.md", "the port"]),
        Case::new("rename", &["rename", "The database", "The store of data"]),
        Case::new("forget", &["forget", "Alone"]),
        Case::new("forget-entry", &["forget", "--key", "deploy"]),
        Case::new("tags", &["tags"]),
        Case::new("graph", &["graph"]),
        Case::new("orphans", &["orphans"]),
        Case::new("dead-links", &["dead-links"]),
        Case::new("unlinked-mentions", &["unlinked-mentions", "facts/the-database.md"]),
        Case::new("zk", &["zk", "list", "--quiet", "--notebook-dir", STORE, "--format", "json"]),
    ]
}

fn entries() -> Vec<Case> {
    vec![
        Case::new("store", &["store", "new", "text", "-t", "ops", "--source", "slack"]),
        Case::new("store-moved", &["store", "deploy", "The other cluster.", "-c", "notes"]),
        Case::new("store-unchanged", &["store", "approved", "A note of the cluster.", "-c", "notes"]),
        Case::new("store-conflict", &["store", "deploy", "text", "--base", "0123456789abcdef"]),
        Case::new("store-forgotten", &["store", "deploy", "The staging cluster comes first.", "-t", "ops"])
            .after(&[&["forget", "--key", "deploy"]]),
        Case::new("get", &["get", "deploy"]),
        Case::new("get-unapproved", &["get", "page"]),
        Case::new("find", &["find", "which", "cluster"]),
        Case::new("find-nothing", &["find", "zebra"]),
        Case::new("entries", &["entries"]),
        Case::new("entries-page", &["entries", "--limit", "1", "--since", "2026-05-28T00:00:00Z"]),
        Case::new("purge", &["purge"]).after(&[&["forget", "--key", "deploy"]]),
        Case::new("hydrate", &["hydrate", "--max-bytes", "60"]),
        Case::new("explain", &["explain", "--max-bytes", "60", "--policy", "prefix"]),
        Case::new("run", &["run", "r1", "--fence", "2"]).input(
            "{\"key\": \"a\", \"content\": \"v\"}\n{\"key\": \"\", \"content\": \"v\"}\n\
             {\"key\": \"deploy\", \"deleted\": true}\n\
             {\"key\": \"b\", \"content\": \"v\", \"category\": \"conversation\"}\n",
        ),
        Case::new("pending", &["pending"]),
        Case::new("pending-page", &["pending", "--limit", "1"]),
        Case::new("pending-text", &["pending", "page"]),
        Case::new("approve-dry", &["approve", "page", "nothing", "--dry-run"]),
        Case::new("approve", &["approve", "page", "--base", VERSION_OF_PAGE]),
        Case::new("approve-stale", &["approve", "page", "--base", "0123456789abcdef"]),
    ]
}

fn exchange() -> Vec<Case> {
    vec![
        Case::new("export", &["export", "--out", "out"]),
        Case::new("export-to", &["export", "--to", "openclaw", "--out", "out"]),
        Case::new("import", &["import", "entries"]),
        Case::new("import-replacing", &["import", "entries", "--mode", "replace", "--yes"]),
        Case::new("import-from", &["import", "home/claude", "--from", "claude-code"]),
        Case::new("import-found", &["import", "--from", "auto", "--yes"]),
        Case::new("import-found-dry", &["import", "--from", "auto", "--dry-run"]),
    ]
}

fn program() -> Vec<Case> {
    let mut cases = vec![
        Case::new("tools", &["tools"]),
        Case::new("tools-anthropic", &["tools", "--tools", "anthropic,journal", "--for", "anthropic"]),
        Case::new("tools-openai", &["tools", "--tools", "notebook", "--for", "openai"]),
        Case::new("tools-mcp", &["tools", "--tools", "entries", "--for", "mcp"]),
        Case::new("call", &["call", "memory_recall", "{\"key\": \"deploy\"}"]),
        Case::new("call-error", &["call", "memory_recall", "{\"key\": \"nope\"}"]),
        Case::new("demo", &["demo"]),
        Case::new("replay", &["replay", "trace"]).after(&[&["--trace", "trace", "log", "a heading", "the body"]]),
        Case::new("completions", &["completions", "bash"]),
    ];
    if cfg!(feature = "mcp") {
        cases.push(Case::new("mcp-refused", &["mcp", "--http", "192.0.2.1:80"]));
    }
    cases
}

/// One run for each code of an error that a person can cause.
fn errors() -> Vec<Case> {
    vec![
        Case::new("write-error-usage", &["write", "long_term"]),
        Case::new("write-error-value", &["write", "long_term", "x", "--mode", "nope"]),
        Case::new("write-error-invalid-name", &["write", "note:../x", "text"]),
        Case::new("read-error-invalid-date", &["read", "daily", "2026-02-30"]),
        Case::new("notes-error-invalid-argument", &["notes", "--created", "someday"]),
        Case::new("store-error-too-large", &["store", "k", "x", "-c", TOO_LONG]),
        Case::new("forget-error-not-found", &["forget", "nowhere"]),
        Case::new("edit-error-no-unique-match", &["edit", "long_term", "--old", "a", "--new", "b"]),
        Case::new("read-error-not-text", &["read", "facts/latin.md"]),
        Case::new("get-error-entry-not-found", &["get", "nope"]),
        Case::new("forget-error-entry-not-forgotten", &["forget", "--key", "nope"]),
        Case::new("run-error-stale-fence", &["run", "r1", "--fence", "1"])
            .after(&[&["run", "r2", "--fence", "2"]])
            .input("{\"key\": \"a\", \"content\": \"v\"}\n"),
        Case::new("write-error-secret", &["write", "long_term", SECRET]),
        Case::new("replay-error-trace", &["replay", "nowhere"]),
        Case::new("status-error-trace", &["--trace", "nowhere/trace", "status"]),
        Case::new("write-error-not-permitted", &["--provenance", "tool", "write", "long_term", "x"]),
        Case::new("preamble-error-storage", &["preamble", "--dir", "nowhere"]),
        Case::new("import-error-input", &["import", "nowhere", "--from", "openclaw"]),
        Case::new("export-error-inside-store", &["export", "--out", INSIDE_STORE]),
        Case::new("export-error-not-empty", &["export", "--out", "home"]),
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
