//! Random commands, text and stores.

use proptest::prelude::*;
use saddlebag::agents_md::SyncAgentsMd;
use saddlebag::approval::{Approve, ApproveItem, Pending, Reject, TrustCommand};
use saddlebag::context::{BlockForm, Context, ContextEntries, Overflow, Preamble, PreambleFile, PreambleRole};
use saddlebag::entries::{
    Checkpoint, CloseRun, EntriesCommand, ExchangeState, ExchangedEntry, ExportEntries, Hydrate, HydrationPolicy,
    ImportEntries, ImportFile, ImportMode, ImportState, ImportedFile, NewEntry, OpenRun, PurgeEntries, RetainEntries,
    WriteEntry,
};
use saddlebag::exchange::{ExchangeCommand, ExportTo, ForeignFile, Format, ImportFrom};
use saddlebag::history::{
    CompareVersions, Expunge, HistoryCommand, ListOperations, ListVersions, ReplaceFile, SetHistoryPolicy, Snapshot,
    Undo,
};
use saddlebag::items::{Edit, Forget, ItemKind, ItemsCommand, ListFiles, ListItems, Recall, Restore, Show, Tag};
use saddlebag::journal::{
    AppendDaily, FlushSummary, JournalCommand, Search, Slash, Status, Target, WriteFile, WriteMode,
};
use saddlebag::notebook::{
    ConditionKind, DeadLinks, ImportNotes, ImportedNote, InitNotebook, Journal, Link, LoadMemories, MemoryContext,
    NoteFilter, NotebookCommand, RecallForTurn, Related, RememberError, RememberSummary, Rename, SortBy, SortKey, Tags,
    Today, UnlinkedMentions, WriteNote,
};
use saddlebag::protocol::FsError;
use saddlebag::session::{
    BeginSession, BeginSource, ChooseHandOff, EndSession, HandOffChoice, RecallForPrompt, RecallForTool, RecordToolUse,
    SessionCommand, StoredItem,
};
use saddlebag::tools::{CallTool, Dialect, ToolOptions, ToolSet, tools};
use saddlebag::trust::Provenance;
use saddlebag::{Command, Moment, Origin, Submission};

/// Generates text of these pieces, or sometimes any text.
pub fn made_of(pieces: Vec<&'static str>) -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::collection::vec(prop::sample::select(pieces), 0..14).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
    ]
}

/// Generates text that commands and stores have in common, so that searches hit, edits match and lines repeat.
pub fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "fact one\n", "fact two", "- [ ] open item\n", "- [x] done\n", "## Rules\n", "```\n", "---\n", "port 5432 ",
            "記憶 ", "café\n", "</memory>", "\r\n", "\n\n", "\t", "e\u{301}", "### 09:00 — x\n", "Fact ONE\n",
        ])
        .prop_map(str::to_string),
        1 => "\\PC{0,12}",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// Generates the content of a file: mostly text, sometimes other bytes.
pub fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => text().prop_map(String::into_bytes),
        1 => (text(), 1_usize..400).prop_map(|(text, times)| text.repeat(times).into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..24),
    ]
}

pub const NAMES: [&str; 16] = [
    "a",
    "b",
    "記憶",
    "two words",
    "a.md",
    " a ",
    "MEMORY",
    "",
    "../x",
    "a/b",
    "a\\b",
    "CON",
    "x\ny",
    ".hidden",
    "a\u{202e}b",
    "..",
];

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(NAMES.to_vec()).prop_map(str::to_string),
        1 => (200_usize..260).prop_map(|length| "n".repeat(length)),
        1 => "\\PC{0,8}",
        1 => any::<String>(),
    ]
}

fn date() -> impl Strategy<Value = Option<String>> {
    let dates = ["2026-05-25", "2026-05-24", "2026-05-24.md", "9999-99-99", "---", "../2026-05-25", ""];
    prop::option::of(prop::sample::select(dates.to_vec()).prop_map(str::to_string))
}

pub fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        Just(Target::LongTerm),
        Just(Target::Scratchpad),
        date().prop_map(Target::Daily),
        name().prop_map(Target::Note),
        name().prop_map(Target::Page),
        Just(Target::Page("MEMORY.md".into())),
    ]
}

pub fn overflow() -> impl Strategy<Value = Overflow> {
    prop::sample::select(vec![Overflow::Documented, Overflow::Prioritised, Overflow::Balanced])
}

fn query() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec!["fact", "ONE port", "記", "md", "café", "a", "  ", "open 5432 open", "K ß σ"])
            .prop_map(str::to_string),
        1 => text(),
        1 => (4000_usize..4200).prop_map(|length| "q".repeat(length)),
    ]
}

fn slash() -> impl Strategy<Value = String> {
    let words = ["long_term", "long", "scratchpad", "daily", "note:a", "note a", "note:\"two words\"", "bogus", ""];
    let verbs = ["status", "search", "read", "write", "edit", "clear", "restore", "editor", "read list", "nope", ""];
    let tails = ["", "fact one", "fact => truth", "2026-05-24", "=>", "a b => c"];
    (
        any::<bool>(),
        prop::sample::select(verbs.to_vec()),
        prop::sample::select(words.to_vec()),
        prop::sample::select(tails.to_vec()),
    )
        .prop_map(|(named, verb, word, tail)| format!("{}{verb} {word} {tail}", if named { "/memory " } else { "" }))
}

/// Generates a name of a note, valid or invalid.
fn note() -> impl Strategy<Value = String> {
    let names =
        ["a", "notes/a.md", "two words", "記憶", "facts/fact-one", "Fact one", "daily", "", "../x", "nope", "README"];
    prop::sample::select(names.to_vec()).prop_map(str::to_string)
}

fn title() -> impl Strategy<Value = String> {
    let titles = ["Fact one", "Error: it's [broken] #1", "!!!", "日本語", "a", "two words", "", "CON", "x\ny", "../x"];
    prop_oneof![
        8 => prop::sample::select(titles.to_vec()).prop_map(str::to_string),
        1 => Just("long ".repeat(60)),
        1 => "\\PC{0,12}",
    ]
}

fn filter() -> impl Strategy<Value = NoteFilter> {
    let dates = vec!["2026-05-25", "2026", "yesterday", "3 days ago", "nonsense", "2026-05-25T10:00:00Z"];
    let (tags, paths) =
        (vec!["x", "a OR b", "NOT x", "lang/*", "NOT a OR b"], vec!["notes", "notes/a.md", "daily/2026", "nope"]);
    let some =
        |words: Vec<&'static str>| prop::collection::vec(prop::sample::select(words).prop_map(str::to_string), 0..2);
    (
        (some(paths.clone()), some(paths.clone()), some(tags), any::<bool>()),
        (some(paths.clone()), some(paths.clone()), some(paths.clone()), some(paths), any::<bool>()),
        (prop::option::of(prop::sample::select(dates.clone())), prop::option::of(prop::sample::select(dates))),
        (any::<bool>(), any::<bool>()),
    )
        .prop_map(
            |((mentioned_by, paths, tags, rare), (by, to, related, mention, recursive), dates, (orphan, missing))| {
                NoteFilter {
                    tagless: rare && orphan,
                    recursive,
                    orphan: orphan && !rare,
                    missing_backlink: missing && rare,
                    ..NoteFilter::default()
                }
                .with(ConditionKind::Path, paths)
                .with(ConditionKind::Tag, tags)
                .with(ConditionKind::LinkedBy, if rare { by } else { Vec::new() })
                .with(ConditionKind::LinkTo, if rare { Vec::new() } else { to })
                .with(ConditionKind::Related, if rare && recursive { related } else { Vec::new() })
                .with(ConditionKind::Mention, if rare && !recursive { mention } else { Vec::new() })
                .with(ConditionKind::MentionedBy, if rare { Vec::new() } else { mentioned_by })
                .with(ConditionKind::CreatedAfter, dates.0)
                .with(ConditionKind::ModifiedBefore, dates.1)
            },
        )
}

fn list() -> impl Strategy<Value = ListItems> {
    let keys = vec![SortBy::Created, SortBy::Modified, SortBy::Path, SortBy::Title, SortBy::WordCount];
    let key = (prop::sample::select(keys), any::<bool>()).prop_map(|(by, ascending)| SortKey { by, ascending });
    let kinds = prop::collection::vec(prop::sample::select(ItemKind::ALL.to_vec()), 0..2);
    let after = prop::sample::select(vec!["0", "2", "0:a", "9999999999999999999:", "x"]).prop_map(str::to_string);
    let page = (prop::option::of(0_u32..4), prop::option::weighted(0.3, after));
    let only = (prop::option::weighted(0.2, name()), prop::option::weighted(0.2, category()));
    let filter = prop_oneof![Just(NoteFilter::default()), filter()];
    (kinds, filter, prop::collection::vec(key, 0..3), page, only, any::<[bool; 4]>()).prop_map(
        |(kinds, filter, sort, (limit, after), (name, category), [forgotten, zk_links, with_text, with_links])| {
            let name = name.filter(|_| forgotten);
            ListItems { forgotten, name, kinds, category, filter, sort, limit, after, zk_links, with_text, with_links }
        },
    )
}

fn notebook() -> impl Strategy<Value = NotebookCommand> {
    prop_oneof![
        1 => Just(NotebookCommand::InitNotebook(InitNotebook)),
        2 => text().prop_map(|entry| NotebookCommand::Journal(Journal { entry })),
        1 => Just(NotebookCommand::Today(Today)),
        1 => Just(NotebookCommand::Tags(Tags)),
        1 => any::<bool>().prop_map(|only_notes| NotebookCommand::DeadLinks(DeadLinks { only_notes })),
        1 => (0_u32..4).prop_map(|limit| NotebookCommand::LoadMemories(LoadMemories { limit })),
        2 => (0_u64..4, query(), 0_u32..4)
            .prop_map(|(turn, query, limit)| NotebookCommand::RecallForTurn(RecallForTurn { turn, query, limit })),
        1 => (0_u64..4, 0_u32..2000)
            .prop_map(|(turn, max_bytes)| NotebookCommand::MemoryContext(MemoryContext { turn, max_bytes })),
        2 => (name(), text()).prop_map(|(tool, error)| NotebookCommand::RememberError(RememberError { tool, error })),
        1 => (name(), text()).prop_map(|(tool, summary)| NotebookCommand::RememberSummary(RememberSummary { tool, summary })),
    ]
}

/// A note of an import, of few ids, so that the same comes again.
fn imported_note() -> impl Strategy<Value = ImportedNote> {
    let id = prop::sample::select(vec!["git a 1", "git a 2", "codex b", "", "a\nb"]);
    let date = prop::sample::select(vec!["2026-05-25T12:00:00Z", "2026-05-25T12:00:00+02:00", "never"]);
    (id, text(), text(), prop::collection::vec(name(), 0..3), date).prop_map(|(id, title, content, tags, date)| {
        ImportedNote { id: id.into(), title, content, tags, date: date.into() }
    })
}

/// A command of any kind with its origin, with arguments that are good or bad.
pub fn submission() -> impl Strategy<Value = Submission<Command>> {
    (origin(), command()).prop_map(|(origin, command)| origin.with(command))
}

/// An origin, which rarely names another agent or workspace.
fn origin() -> impl Strategy<Value = Origin> {
    let scope = || prop::option::weighted(0.05, prop::sample::select(vec!["a", "b", "w"]).prop_map(str::to_string));
    let client = || prop::option::weighted(0.1, prop::sample::select(vec!["s", "", "a\nb"]).prop_map(str::to_string));
    let at = prop::option::weighted(0.03, moment());
    (scope(), scope(), run(), client(), client(), client(), provenance(), at).prop_map(
        |(agent, workspace, run, client, session, tool, provenance, at)| Origin {
            agent,
            workspace,
            run,
            client,
            session,
            tool,
            provenance,
            operation: None,
            reason: None,
            at,
        },
    )
}

fn moment() -> impl Strategy<Value = Moment> {
    prop_oneof![
        (1_779_000_000_i64..1_780_000_000).prop_map(Moment::Second),
        "[0-9a-f]{0,3}".prop_map(Moment::Operation),
    ]
}

/// A command of any kind, with arguments that are good or bad.
fn command() -> impl Strategy<Value = Command> {
    let journal = prop_oneof![
        2 => (text(), text()).prop_map(|(heading, body)| JournalCommand::AppendDaily(AppendDaily { heading, body })),
        3 => (query(), 0_u32..3, prop::option::of(0_u32..4), 0_u32..2000, any::<(bool, bool)>()).prop_map(
            |(query, offset, limit, max_bytes, (assume_unchanged, all_files))| {
                JournalCommand::Search(Search { query, offset, limit, max_bytes, assume_unchanged, all_files })
            }
        ),
        1 => Just(JournalCommand::Status(Status)),
        1 => (text(), prop::option::of(any::<u32>()))
            .prop_map(|(summary, messages)| JournalCommand::FlushSummary(FlushSummary { summary, messages })),
        3 => slash().prop_map(|line| JournalCommand::Slash(Slash { line })),
    ];
    // Boxed, as the value of a strategy with all of them takes more stack than a thread of a test has.
    prop_oneof![
        6 => journal.prop_map(Command::Journal).boxed(),
        5 => notebook().prop_map(Command::Notebook).boxed(),
        5 => entries().prop_map(Command::Entries).boxed(),
        2 => files().prop_map(Command::Items).boxed(),
        5 => tool_call().prop_map(Command::from).boxed(),
        2 => trust().prop_map(Command::Trust).boxed(),
        2 => history().prop_map(Command::History).boxed(),
        3 => session().prop_map(Command::Session).boxed(),
        3 => exchange().prop_map(Command::Exchange).boxed(),
        2 => (overflow(), 0_u32..6000, prop::option::of(0_u64..4), prop::option::of(hydrate_request()))
            .prop_map(|(overflow, max_bytes, turn, entries)| {
                let entries = entries.map(ContextEntries::from);
                Context { overflow, max_bytes, turn, entries, ..Context::default() }.into()
            }),
        1 => preamble().prop_map(Command::from),
        2 => agents_md().prop_map(Command::from),
    ]
}

/// A call of a tool: with arguments that fit it, with those of another one, or with no arguments at all.
pub fn tool_call() -> impl Strategy<Value = CallTool> {
    let names: Vec<String> = tools(&ToolSet::ALL).into_iter().map(|tool| tool.name).chain(["nope".into()]).collect();
    let sets = prop_oneof![
        9 => Just(ToolSet::ALL.to_vec()),
        1 => prop::sample::subsequence(ToolSet::ALL.to_vec(), 0..=4),
    ];
    let dialect = prop::sample::select(vec![Dialect::Docs, Dialect::Sdk]);
    let arguments = prop_oneof![
        12 => prop::collection::vec(argument(), 0..6).prop_map(|fields| {
            let fields: Vec<String> = fields.into_iter().map(|(name, value)| format!("{name:?}: {value}")).collect();
            format!("{{{}}}", fields.join(", "))
        }),
        4 => memory_arguments(),
        1 => json(),
        1 => text(),
        1 => (1_usize..400).prop_map(|depth| format!("{{\"key\": {}", "[".repeat(depth))),
    ];
    (prop::sample::select(names), arguments, sets, dialect).prop_map(|(name, arguments, sets, dialect)| CallTool {
        tool: name,
        input: arguments,
        options: ToolOptions { sets, dialect },
    })
}

fn argument() -> impl Strategy<Value = (String, String)> {
    let specs: Vec<serde_json::Value> =
        tools(&ToolSet::ALL).iter().map(|tool| serde_json::from_str(&tool.input_schema).expect("JSON")).collect();
    let mut fields: Vec<String> = specs
        .iter()
        .filter_map(|schema| schema["properties"].as_object())
        .flat_map(|properties| properties.keys().cloned())
        .collect();
    fields.sort();
    fields.dedup();
    fields.push("bogus".into());
    let words: Vec<String> = specs
        .iter()
        .filter_map(|schema| schema["properties"].as_object())
        .flat_map(|properties| properties.values())
        .filter_map(|property| property["enum"].as_array())
        .flatten()
        .map(ToString::to_string)
        .collect();
    let quoted = |text: String| serde_json::Value::String(text).to_string();
    let value = prop_oneof![
        4 => name().prop_map(quoted),
        4 => text().prop_map(quoted),
        3 => prop::sample::select(words),
        2 => memory_path().prop_map(quoted),
        2 => json(),
    ];
    (prop::sample::select(fields), value)
}

/// A command of Anthropic's tool, with the fields that it has.
fn memory_arguments() -> impl Strategy<Value = String> {
    (memory_path(), memory_path(), text(), text(), -1_i64..4, 0_usize..7).prop_map(
        |(path, other, one, two, line, command)| {
            match command {
                0 => serde_json::json!({ "command": "view", "path": path }),
                1 => serde_json::json!({ "command": "view", "path": path, "view_range": [line, -line] }),
                2 => serde_json::json!({ "command": "create", "path": path, "file_text": one }),
                3 => serde_json::json!({ "command": "str_replace", "path": path, "old_str": one, "new_str": two }),
                4 => serde_json::json!({ "command": "insert", "path": path, "insert_line": line, "insert_text": one }),
                5 => serde_json::json!({ "command": "delete", "path": path }),
                _ => serde_json::json!({ "command": "rename", "old_path": path, "new_path": other }),
            }
            .to_string()
        },
    )
}

fn memory_path() -> impl Strategy<Value = String> {
    let paths = [
        "",
        "/",
        "/a",
        "/a/b.txt",
        "/MEMORY.md",
        "/SCRATCHPAD.md",
        "/notes",
        "/notes/a.md",
        "/notes/記憶.md",
        "/daily",
        "/daily/2026-05-25.md",
        "/facts/fact-one.md",
        "/entries",
        "/entries/core",
        "/entries/core/a.md",
        "/entries/core/b.md",
        "/entries/workspace/a.md",
        "/entries/daily/two words.md",
        "/../x",
        "/%2e%2e/x",
        "/..\\x",
        "/.saddlebag/index/0000",
        "/projects/other-0db23a34/notes/secret.md",
        "/agents/b/entries/core/a.md",
        "/templates/fact.md",
        "/memories/a",
        "/x\n",
        "/.",
        "//",
        "Z/q",
    ];
    prop_oneof![
        12 => prop::sample::select(paths.to_vec()).prop_map(|path| format!("/memories{path}")),
        1 => any::<String>(),
    ]
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_string()),
        any::<bool>().prop_map(|flag| flag.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        (-3_i64..8).prop_map(|number| number.to_string()),
        Just("5.0".to_string()),
        Just("1e999".to_string()),
        any::<String>().prop_map(|text| serde_json::Value::String(text).to_string()),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((text(), inner), 0..4).prop_map(|fields| {
                let quoted = |name: String| serde_json::Value::String(name).to_string();
                let fields: Vec<String> =
                    fields.into_iter().map(|(name, value)| format!("{}:{value}", quoted(name))).collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

fn preamble() -> impl Strategy<Value = Preamble> {
    let roles = vec![PreambleRole::BasePrompt, PreambleRole::Instructions, PreambleRole::Architecture];
    let content = prop_oneof![4 => bytes().prop_map(Ok), 1 => fs_error().prop_map(|error| Err(error.to_string()))];
    let file = (prop::sample::select(roles), name(), content, 0_u64..3).prop_map(|(role, path, content, unread)| {
        let size = content.as_ref().map_or(0, Vec::len) as u64 + unread;
        PreambleFile { role, path, content, size }
    });
    let forms = prop::sample::select(vec![BlockForm::Claude, BlockForm::Openai, BlockForm::Plain]);
    let memory = (overflow(), 0_u32..6000, prop::option::of(hydrate_request()), forms).prop_map(
        |(overflow, max_bytes, entries, form)| {
            let entries = entries.map(ContextEntries::from);
            Context { overflow, max_bytes, turn: None, entries, form }
        },
    );
    (prop::collection::vec(file, 0..4), memory, any::<bool>(), 0_u32..9000)
        .prop_map(|(files, memory, memory_prompt, max_bytes)| Preamble { files, memory, memory_prompt, max_bytes })
}

fn agents_md() -> impl Strategy<Value = SyncAgentsMd> {
    let inside = prop::sample::select(vec!["", "\n", "- `b`: x\n  y\n"]);
    let ends = [
        "<!-- saddlebag:end -->",
        "<!-- saddlebag:end 0123456789abcdef0123 -->",
        "<!-- saddlebag:end digest=0123456789abcdef -->",
        "<!-- saddlebag:begin agent=a -->",
        "",
    ];
    let section =
        (text(), inside, prop::sample::select(ends.to_vec()), text()).prop_map(|(before, inside, end, after)| {
            format!("{before}\n<!-- saddlebag:begin agent=a -->\n{inside}{end}\n{after}").into_bytes()
        });
    let content = prop::option::of(prop_oneof![3 => section, 1 => bytes()]);
    (content, prop::option::of(name()), any::<bool>(), 300_u32..900).prop_map(|(content, key, by_tag, max_bytes)| {
        SyncAgentsMd {
            name: "AGENTS.md".into(),
            content,
            tags: if by_tag { vec!["x".into()] } else { Vec::new() },
            keys: key.into_iter().collect(),
            max_bytes,
        }
    })
}

fn hydrate_request() -> impl Strategy<Value = Hydrate> + Clone {
    let policy = prop::sample::select(vec![HydrationPolicy::Greedy, HydrationPolicy::Prefix]);
    (0_u64..300, policy).prop_map(|(max_bytes, policy)| Hydrate { max_bytes, policy })
}

fn run() -> impl Strategy<Value = Option<String>> {
    prop::option::of(prop::sample::select(vec!["r", "s"]).prop_map(str::to_string))
}

fn category() -> impl Strategy<Value = String> {
    let names = ["core", "core", "daily", "conversation", "workspace", "notes", "CORE", "", "../x"];
    prop::sample::select(names.to_vec()).prop_map(str::to_string)
}

fn write() -> impl Strategy<Value = ItemsCommand> {
    let mode = prop::sample::select(vec![WriteMode::Append, WriteMode::Overwrite]);
    let content = prop_oneof![
        8 => text(),
        1 => (65_530_usize..65_545).prop_map(|length| "記".repeat(length / 3 + 1)),
    ];
    let template = prop::sample::select(vec!["fact", "decision", "notes", ".", "", "../x", "a/b"]);
    let names = || prop::collection::vec(note(), 0..2);
    let group = prop::option::of(prop::sample::select(vec!["facts", "nope"]));
    let supersede = (any::<bool>(), prop::option::of(note()));
    let note = (title(), text(), template, group, names(), names(), supersede).prop_map(
        |(title, content, template, group, tags, links, (supersede, supersedes))| {
            let template = template.to_string();
            let group = group.map(str::to_string);
            WriteNote { title, content, template, group, tags, links, supersede, supersedes }.into()
        },
    );
    let tags = || prop::collection::vec(prop::sample::select(vec!["x", "y", ""]).prop_map(str::to_string), 0..3);
    let base = || prop::option::weighted(0.2, Just("0123456789abcdef".to_string()));
    let entry = (name(), text(), category(), tags(), prop::option::of(name()), prop::option::of(name())).prop_map(
        |(key, content, category, tags, source, supersedes)| NewEntry {
            key,
            content,
            category,
            tags,
            source,
            supersedes,
        },
    );
    prop_oneof![
        4 => (entry, base()).prop_map(|(entry, expected_version)| WriteEntry { entry, expected_version }.into()),
        3 => (target(), mode, content, any::<bool>())
            .prop_map(|(target, mode, content, truncate)| WriteFile { target, mode, content, truncate }.into()),
        3 => note,
    ]
}

fn entries() -> impl Strategy<Value = EntriesCommand> {
    let request = hydrate_request();
    prop_oneof![
        1 => prop::option::of(name()).prop_map(|key| EntriesCommand::PurgeEntries(PurgeEntries { key })),
        2 => request.clone().prop_map(EntriesCommand::Hydrate),
        3 => (0_u64..3).prop_map(|fence| EntriesCommand::OpenRun(OpenRun { fence })),
        1 => Just(EntriesCommand::Checkpoint(Checkpoint)),
        1 => Just(EntriesCommand::CloseRun(CloseRun)),
    ]
}

fn import() -> impl Strategy<Value = ImportEntries> {
    let folder = prop::sample::select(vec!["core/", "notes/", "workspace/", "../", ""]);
    let head = prop::sample::select(vec!["", "---\nkey: a\n---\n", "---\nkey: [\n---\n", "---\nagent: b\n---\n\n"]);
    let content = prop_oneof![
        6 => (head, text()).prop_map(|(head, text)| Ok(format!("{head}{text}").into_bytes())),
        1 => prop::collection::vec(any::<u8>(), 0..4).prop_map(Ok),
        1 => name().prop_map(Err),
    ];
    let file = (folder, name(), content)
        .prop_map(|(folder, name, content)| ImportFile { path: format!("{folder}{name}.md"), content });
    let mode = prop::sample::select(vec![ImportMode::Upsert, ImportMode::Replace]);
    (prop::collection::vec(file, 0..4), mode, any::<bool>(), prop::collection::vec(imported(), 0..3))
        .prop_map(|(files, mode, dry_run, earlier)| ImportEntries { files, mode, dry_run, earlier })
}

fn imported() -> impl Strategy<Value = ImportedFile> {
    let state = prop_oneof![
        Just(ImportState::Upserted),
        Just(ImportState::Unchanged),
        Just(ImportState::Deleted),
        name().prop_map(ImportState::Rejected),
    ];
    (name(), prop::option::of(name()), any::<bool>(), state).prop_map(|(path, key, shared, state)| ImportedFile {
        path,
        key,
        shared,
        replaces: false,
        state,
    })
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof![4 => prop::sample::select(PLACES.to_vec()).prop_map(str::to_string), 1 => name()]
}

fn files() -> impl Strategy<Value = ItemsCommand> {
    let old = prop::sample::select(vec!["fact one", "fact", "記", "", "port 5432 ", "nowhere"]);
    let kinds = prop::sample::select(vec![vec![], vec![ItemKind::Note], vec![ItemKind::Entry]]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let budget = || prop::option::weighted(0.3, 0_u32..2000);
    let recall = (query(), kinds, 0_u32..4, 0_u32..2, budget(), prop::option::of(filter()), flags).prop_map(
        |(query, kinds, limit, offset, max_bytes, filter, (explain, everywhere, assume_unchanged))| {
            let filter = filter.unwrap_or_default();
            let sort = if explain { Vec::new() } else { vec![SortKey { by: SortBy::Title, ascending: limit > 1 }] };
            ItemsCommand::Recall(Recall {
                query,
                kinds,
                limit,
                offset,
                max_bytes,
                filter,
                sort,
                explain,
                everywhere,
                assume_unchanged,
            })
        },
    );
    prop_oneof![
        10 => write(),
        2 => recall,
        1 => (note(), 0_u32..4).prop_map(|(note, limit)| Related { note, limit }.into()),
        3 => (note(), note(), prop::option::of(title()))
            .prop_map(|(source, target, text)| Link { source, target, text }.into()),
        2 => (note(), title()).prop_map(|(note, title)| Rename { note, title }.into()),
        1 => note().prop_map(|note| UnlinkedMentions { note }.into()),
        4 => list().prop_map(ItemsCommand::ListItems),
        1 => (prop::option::of(path()), 0_u32..4)
            .prop_map(|(after, limit)| ItemsCommand::ListFiles(ListFiles { after, limit })),
        3 => (item(), item_kind(), prop::option::weighted(0.2, "[0-9a-f]{4}"))
            .prop_map(|(name, kind, expected_version)| Forget { name, kind, expected_version }.into()),
        3 => (item(), item_kind(), prop::option::weighted(0.3, 0_u32..4), prop::option::weighted(0.2, moment()), prop::bool::weighted(0.1))
            .prop_map(|(name, kind, version, at, lift_rejection)| {
                let dry_run = version.is_some_and(|version| version > 2);
                Restore { name, kind, version, at, dry_run, lift_rejection }.into()
            }),
        3 => (item(), item_kind(), old, text())
            .prop_map(|(name, kind, old, new_text)| Edit { name, kind, old_text: old.to_string(), new_text }.into()),
        1 => (item(), item_kind(), prop::collection::vec(name(), 0..3), prop::collection::vec(name(), 0..3))
            .prop_map(|(name, kind, add, remove)| ItemsCommand::Tag(Tag { name, kind, add, remove })),
        3 => (item(), item_kind(), prop::option::weighted(0.3, 0_u32..4), 0_u64..64, 0_u32..4000)
            .prop_map(|(name, kind, version, offset, max_bytes)| Show { name, kind, version, offset, max_bytes }.into()),
    ]
}

/// A name of every form.
fn item() -> impl Strategy<Value = String> {
    prop_oneof![path(), note(), name(), target().prop_map(|target| target.to_string())]
}

fn item_kind() -> impl Strategy<Value = Option<ItemKind>> {
    prop::option::of(prop::sample::select(ItemKind::ALL.to_vec()))
}

fn provenance() -> impl Strategy<Value = Option<Provenance>> {
    prop::option::weighted(0.3, prop::sample::select(Provenance::ALL.to_vec()))
}

fn trust() -> impl Strategy<Value = TrustCommand> {
    let item = prop_oneof![name(), Just("a".to_string())]
        .prop_map(|name| ApproveItem { name, version: "0123456789abcdef".repeat(4) });
    let any_version = prop::collection::vec(name().prop_map(|name| ApproveItem { name, version: String::new() }), 0..3);
    let items = prop::collection::vec(item, 0..3);
    let from = prop::option::weighted(0.3, prop::sample::select(vec!["tool", "import", "x"]).prop_map(str::to_string));
    let one = prop::option::weighted(0.3, prop_oneof![name(), Just("a".to_string())]);
    prop_oneof![
        2 => (0_u32..3, prop::option::weighted(0.3, name()), one, from).prop_map(|(limit, cursor, name, from)| {
            TrustCommand::Pending(Pending { limit, cursor, name, source: from })
        }),
        1 => (items.clone(), any::<bool>())
            .prop_map(|(items, dry_run)| TrustCommand::Approve(Approve { items, dry_run })),
        1 => (items, any::<bool>(), any::<bool>())
            .prop_map(|(items, dry_run, for_good)| TrustCommand::Reject(Reject { items, dry_run, for_good })),
        1 => (any_version, prop::bool::weighted(0.2))
            .prop_map(|(items, dry_run)| TrustCommand::Reject(Reject { items, dry_run, for_good: true })),
    ]
}

fn history() -> impl Strategy<Value = HistoryCommand> {
    let name = || prop_oneof![name(), Just("notes/a.md".to_string())];
    let operation = || prop_oneof![Just("0".to_string()), Just("f".to_string()), text()];
    let time = || prop::option::weighted(0.3, -1_i64..2_000_000_000);
    let some = || prop::option::weighted(0.3, prop_oneof![Just("a".to_string()), text()]);
    let number = 0_u32..4;
    prop_oneof![
        (0_u32..9, prop::option::weighted(0.2, operation()), time(), some())
            .prop_map(|(limit, operation, since, by)| ListOperations { limit, operation, since, by }.into()),
        (name(), 0_u32..9, some(), prop::option::weighted(0.2, operation()), any::<bool>()).prop_map(
            |(name, limit, by, operation, patch)| {
                ListVersions { name, limit, since: None, by, operation, patch }.into()
            }
        ),
        (name(), number.clone(), number.clone()).prop_map(|(name, before, after)| CompareVersions {
            name,
            before,
            after
        }
        .into()),
        (
            prop::collection::vec(operation(), 0..2),
            some(),
            some(),
            time(),
            prop::option::weighted(0.2, operation()),
            any::<bool>(),
            any::<bool>(),
            any::<bool>()
        )
            .prop_map(|(operations, session, by, since, after, only_own, skip_conflicts, dry_run)| {
                Undo { operations, session, by, since, after, only_own, skip_conflicts, dry_run, redo: false }.into()
            }),
        any::<bool>().prop_map(|dry_run| Undo { dry_run, redo: true, ..Undo::default() }.into()),
        text().prop_map(|message| Snapshot { message }.into()),
        (name(), prop::option::of("[0-9]{1,3}"), prop::option::of(text())).prop_map(|(path, version, content)| {
            ReplaceFile { path, version, content: content.map(String::into_bytes) }.into()
        }),
        (prop::option::weighted(0.2, any::<bool>()), prop::option::weighted(0.2, 0_u32..99)).prop_map(
            |(record, max_age_days)| SetHistoryPolicy { recording: record, max_age_days, max_log_bytes: None }.into()
        ),
        (text(), prop::option::weighted(0.3, name()), any::<bool>()).prop_map(|(text, name, dry_run)| {
            let text = if name.is_some() { String::new() } else { text };
            Expunge { text, name, dry_run }.into()
        }),
    ]
}

fn session() -> impl Strategy<Value = SessionCommand> {
    let id = || prop::sample::select(vec!["one", "two", "", "../x"]).prop_map(str::to_string);
    let form = || prop::option::of(prop::sample::select(vec![BlockForm::Claude, BlockForm::Plain]));
    let begin = (id(), prop::sample::select(BeginSource::ALL.to_vec()), 0_u32..4000, form(), any::<bool>()).prop_map(
        |(session, source, max_bytes, form, dry_run)| BeginSession { session, source, max_bytes, form, dry_run }.into(),
    );
    let keep_out =
        prop::collection::vec(prop::sample::select(vec!["facts/**", "[", "*.md"]).prop_map(String::from), 0..2);
    let recall =
        (id(), prop_oneof![query(), text()], 0_u32..2000, prop::option::of(0_u32..90), keep_out, any::<bool>(), form())
            .prop_map(|(session, prompt, max_bytes, min_score, keep_out, dry_run, form)| {
                RecallForPrompt { session, prompt, max_bytes, min_score, keep_out, dry_run, form }.into()
            });
    let before = (
        id(),
        prop::collection::vec(prop::sample::select(vec!["src/a.rs", "notes/a.md", ".env", ""]), 0..3),
        prop::option::of(prop_oneof![Just("cd x && cargo test -p a 2>&1 | tail".to_string()), text()]),
        0_u32..900,
        form(),
    )
        .prop_map(|(session, files, command, max_bytes, form)| {
            let files = files.into_iter().map(str::to_string).collect();
            RecallForTool { session, files, command, max_bytes, form }.into()
        });
    let tool = prop::sample::select(vec!["Edit", "Bash", "記", ""]).prop_map(str::to_string);
    let files = prop::collection::vec(prop::sample::select(vec!["src/a.rs", "/tmp/x", "notes/a.md", ""]), 0..3);
    let stored = prop_oneof![
        2 => Just(None),
        1 => name().prop_map(|key| Some(StoredItem::Entry(key))),
        1 => note().prop_map(|name| Some(StoredItem::Note(name))),
        1 => Just(Some(StoredItem::Other)),
    ];
    let command = (prop::option::of(text()), any::<bool>(), prop::option::of(text()));
    let exclude = prop::option::of(prop::sample::select(vec!["src/**", "[", "*.rs"]));
    let record = (id(), tool, files, command, stored, exclude).prop_map(
        |(session, tool, files, (command, failed, output), stored, exclude)| {
            let files = files.into_iter().map(str::to_string).collect();
            let exclude = exclude.map(str::to_string).into_iter().collect();
            RecordToolUse { session, tool, files, command, failed, output, stored, exclude }.into()
        },
    );
    let end = (id(), any::<bool>(), prop::option::of(text()))
        .prop_map(|(session, finished, answer)| EndSession { session, finished, answer }.into());
    let choose = (id(), prop::sample::select(HandOffChoice::ALL.to_vec()))
        .prop_map(|(session, choice)| ChooseHandOff { session, choice }.into());
    prop_oneof![2 => begin, 3 => recall, 3 => before, 4 => record, 3 => end, 1 => choose]
}

fn exchange() -> impl Strategy<Value = ExchangeCommand> {
    let format = || prop::sample::select(Format::ALL.to_vec());
    let texts = vec![
        "- **a**: fact one\n- fact two\n",
        "---\nname: b\n---\nfact\n",
        "{\"key\":\"a\",\"content\":\"x\"}\n{",
        "{\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"t\",\"observations\":[\"x\"]}",
        "[{\"key\":\"a\",\"content\":\"x\"}]",
        "## Gemini Added Memories\n- fact\n",
    ];
    let content = prop_oneof![
        4 => prop::sample::select(texts).prop_map(|text| Ok(text.as_bytes().to_vec())),
        2 => bytes().prop_map(Ok),
        1 => name().prop_map(Err),
    ];
    let path = prop::sample::select(vec!["MEMORY.md", "memory/2026-05-24.md", "a.md", "GEMINI.md", "../x.md", ""]);
    let file = (path, 0_u32..3, content).prop_map(|(path, first_line, content)| ForeignFile {
        path: path.into(),
        first_line,
        content,
    });
    let state = prop_oneof![
        Just(ExchangeState::Stored),
        Just(ExchangeState::Unchanged),
        name().prop_map(ExchangeState::Renamed),
        name().prop_map(ExchangeState::Rejected),
    ];
    let earlier = (name(), any::<bool>(), state).prop_map(|(key, shared, state)| ExchangedEntry {
        path: String::new(),
        line: 1,
        key,
        shared,
        digest: String::new(),
        state,
    });
    let files = prop::collection::vec(file, 0..4);
    let import = (
        format(),
        name(),
        files,
        prop::collection::vec(name(), 0..2),
        any::<bool>(),
        prop::collection::vec(earlier, 0..2),
        any::<bool>(),
    )
        .prop_map(|(format, place, files, others, dry_run, earlier, of_project)| {
            ImportFrom { format, place, files, others, dry_run, earlier, of_project }.into()
        });
    let export = (format(), any::<bool>(), any::<bool>(), prop::option::weighted(0.2, name()))
        .prop_map(|(format, forgotten, unapproved, cursor)| ExportTo { format, forgotten, unapproved, cursor }.into());
    prop_oneof![
        3 => import,
        2 => export,
        1 => (prop::sample::select(vec!["commits", "sessions", "facts", "..", ""]), prop::collection::vec(imported_note(), 0..4), any::<bool>())
            .prop_map(|(folder, notes, dry_run)| {
                ImportNotes { folder: folder.into(), notes, dry_run }.into()
            }),
        2 => (any::<bool>(), prop::option::weighted(0.3, name()))
            .prop_map(|(forgotten, cursor)| ExportEntries { forgotten, cursor }.into()),
        3 => self::import().prop_map(ExchangeCommand::from),
        1 => (prop::collection::vec(imported(), 0..3), any::<bool>())
            .prop_map(|(imported, dry_run)| RetainEntries { imported, dry_run }.into()),
    ]
}

pub const PLACES: [&str; 21] = [
    "MEMORY.md",
    "MEMORY.bak",
    "README.md",
    "projects/proj/MEMORY.md",
    "projects/proj/MEMORY.bak",
    "projects/proj/SCRATCHPAD.md",
    "projects/proj/SCRATCHPAD.bak",
    "projects/proj/OTHER.md",
    "projects/proj/notes/a.md",
    "projects/proj/notes/a.bak",
    "projects/proj/notes/two words.md",
    "projects/proj/notes/記憶.md",
    "projects/proj/daily/2026-05-25.md",
    "projects/proj/daily/2026-05-24.md",
    "projects/proj/daily/9999-99-99.md",
    "projects/proj/daily/scratch.md",
    "agents/a/entries/core/a.md",
    "agents/a/entries/notes/b.md",
    "agents/a/entries/x.md",
    "agents/a/fence",
    "workspaces/w/entries/a.md",
];

/// Generates a small store: paths of the layout with their content.
pub fn store() -> impl Strategy<Value = Vec<(&'static str, Vec<u8>)>> {
    prop::collection::vec((prop::sample::select(PLACES.to_vec()), bytes()), 0..8)
}

pub fn fs_error() -> impl Strategy<Value = FsError> {
    prop::sample::select(every_fs_error())
}

pub fn every_fs_error() -> Vec<FsError> {
    vec![
        FsError::Denied,
        FsError::TimedOut,
        FsError::Cancelled,
        FsError::InvalidPath("why".into()),
        FsError::SymbolicLink,
        FsError::IsDirectory,
        FsError::NotDirectory,
        FsError::NotRegular,
        FsError::TooLarge(1000),
        FsError::NoSpace,
        FsError::ReadOnly,
        FsError::Unsupported,
        FsError::NotDurable("the disk failed".into()),
        FsError::Locked("process 7 has held the lock".into()),
        FsError::Other("what \"the\" host says".into()),
    ]
}

/// Configures proptest without files for failures: a failure prints its input, which becomes a test. Runs `cases` cases
/// unless `PROPTEST_CASES` sets another number.
pub fn cases(cases: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    let cases = asked.unwrap_or(cases);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}
