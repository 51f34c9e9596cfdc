//! Whatever a client puts into a prompt has no word of an unapproved file, whatever is in the index file.

use std::collections::BTreeMap;
use std::fmt::Debug;

use proptest::prelude::*;
use saddlebag::agents_md::SyncAgentsMd;
use saddlebag::context::{BlockForm, Context, ContextEntries, Overflow, Preamble};
use saddlebag::entries::{Hydrate, HydrationPolicy};
use saddlebag::items::Recall;
use saddlebag::notebook::{LoadMemories, MemoryContext, RecallForTurn};
use saddlebag::session::{
    BeginSession, BeginSource, EndSession, RecallForPrompt, RecallForTool, RecordToolUse, StoredItem,
};
use saddlebag::trust::ForModel;
use saddlebag_host::Simulator;
use support::arbitrary::cases;

use super::*;
use crate::index_file::{Damage, damage, damaged};
use support::{ask, index_blocks, path};

const BYTES: u32 = 200_000;
const QUESTION: &str = "Which port does the harbor of staging have?";

/// What commands gave for a prompt, each with its name.
pub(super) type Shown = Vec<(String, Result<String, Error>)>;

/// Returns everything that a client may put into a prompt.
///
/// A session begins, asks, stores `items`, and ends. Another session begins after it.
pub(super) fn prompts(drive: &mut Drive<Simulator>, turn: u64, items: &[StoredItem]) -> Shown {
    let mut shown = Vec::new();
    let mut add = |command: String, text: Result<String, Error>| shown.push((command, text));
    let (max_bytes, policy) = (u64::from(BYTES), HydrationPolicy::Greedy);
    let loaded = drive.call(LoadMemories { limit: 90 });
    add("load-memories".into(), loaded.map(|reply| format!("{reply:?}")));
    let recalled = drive.call(RecallForTurn { turn, query: QUESTION.into(), limit: 9 });
    add("recall-for-turn".into(), recalled.map(|reply| format!("{reply:?}")));
    add(
        "memory-context".into(),
        drive.call(MemoryContext { turn, max_bytes: BYTES }).map(|reply| reply.text.to_string()),
    );
    let all = Context {
        max_bytes: BYTES,
        turn: Some(turn),
        entries: Some(ContextEntries { max_bytes, policy }),
        ..Context::default()
    };
    for overflow in [Overflow::Documented, Overflow::Prioritised, Overflow::Balanced] {
        for (form, max_bytes) in [(BlockForm::Claude, BYTES), (BlockForm::Openai, BYTES), (BlockForm::Plain, 900)] {
            let reply = drive.call(Context { overflow, form, max_bytes, ..all.clone() });
            add(format!("context {overflow} {form} {max_bytes}"), reply.map(|reply| text_of(reply.block)));
        }
    }
    for max_bytes in [BYTES, 900] {
        let reply = drive.call(Preamble { memory: all.clone(), max_bytes, ..Preamble::default() });
        add(format!("preamble {max_bytes}"), reply.map(|reply| reply.text.to_string()));
    }
    for policy in [HydrationPolicy::Greedy, HydrationPolicy::Prefix] {
        let reply = drive.call(Hydrate { max_bytes, policy });
        add(format!("hydrate {policy}"), reply.map(|reply| format!("{:?}", reply.entries)));
    }
    // The key of a planted entry is one of its tags.
    let keys = items.iter().filter_map(|item| if let StoredItem::Entry(key) = item { Some(key.clone()) } else { None });
    let keys: Vec<String> = keys.chain(["a", "b", "c"].map(String::from)).collect();
    let request = SyncAgentsMd { tags: keys.clone(), keys, max_bytes: BYTES, ..SyncAgentsMd::default() };
    let section = drive.call(request).map(|reply| String::from_utf8(reply.content.unwrap_or_default()).unwrap());
    add("sync-agents-md".into(), section);

    let ask = |drive: &mut Drive<Simulator>, session: String, min_score| {
        let (prompt, form) = (QUESTION.into(), None);
        let keep_out = Vec::new();
        let reply = drive.call(RecallForPrompt {
            session,
            prompt,
            max_bytes: BYTES,
            min_score,
            keep_out,
            dry_run: false,
            form,
        })?;
        Ok(format!("{:?}\n{}", reply.sources, text_of(reply.text)))
    };
    let begin = |drive: &mut Drive<Simulator>, session: String| {
        let request =
            BeginSession { session, source: BeginSource::Startup, max_bytes: BYTES, form: None, dry_run: false };
        Ok(text_of(drive.call(request)?.text))
    };
    // The session itself does not get again what its block has.
    for (session, min_score) in [("lenient", Some(0)), ("strict", None)] {
        add(format!("recall-for-prompt {session}"), ask(drive, format!("{session}-{turn}"), min_score));
    }
    // The words are in every text, as those of a command.
    let command = Some("harbor of staging".to_string());
    let session = format!("tool-{turn}");
    let before = RecallForTool { session, command, max_bytes: BYTES, ..RecallForTool::default() };
    let said = drive.call(before).map(|reply| format!("{:?}\n{}", reply.sources, text_of(reply.text)));
    add("recall-for-tool".into(), said);
    let session = format!("session-{turn}");
    add("begin-session".into(), begin(drive, session.clone()));
    add("recall-for-prompt".into(), ask(drive, session.clone(), None));
    for item in items {
        let (session, stored) = (session.clone(), Some(item.clone()));
        drive.call(RecordToolUse { session, tool: "store".into(), stored, ..RecordToolUse::default() }).unwrap();
    }
    let ended = drive.call(EndSession { session, finished: true, answer: None });
    add("end-session".into(), ended.map(|_| String::new()));
    add("begin-session after another".into(), begin(drive, format!("after-{turn}")));
    shown
}

fn text_of(text: Option<ForModel>) -> String {
    text.map(|text| text.to_string()).unwrap_or_default()
}

/// What a file says about its origin, and whether its text may go into prompts.
const ORIGINS: [(&str, bool); 11] = [
    ("", true),
    ("provenance: user\n", true),
    ("provenance: agent\n", true),
    ("provenance: tool\napproved: 2026-05-20T00:00:00Z\n", true),
    ("provenance: import\napproved: 2026-05-20T00:00:00Z\n", true),
    ("provenance: tool\n", false),
    ("provenance: import\n", false),
    ("provenance: a-page\n", false),
    ("provenance: user\nprovenance: tool\n", false),
    ("provenance: user\nx: [\n", false),
    ("approved: soon\nprovenance: tool\n", false),
];

/// Folders of notes and entries, and the files of the journal, which have one text each.
const PLACES: [&str; 11] = [
    "projects/proj/facts/",
    "projects/proj/notes/",
    "projects/proj/sessions/",
    "agents/a/entries/core/",
    "agents/a/entries/notes/",
    "workspaces/w/entries/",
    "MEMORY.md",
    "projects/proj/MEMORY.md",
    "projects/proj/SCRATCHPAD.md",
    "projects/proj/daily/2026-05-24.md",
    "projects/proj/daily/2026-05-25.md",
];

/// A file with a word of its own in its path, its title, its tags and its text.
#[derive(Clone, Debug)]
struct Planted {
    path: String,
    word: String,
    origin: &'static str,
    is_approved: bool,
}

/// All texts have this size, so that the index of one can pose as that of another.
const SIZE: usize = 600;

impl Planted {
    fn new(number: usize, place: &str, (origin, is_approved): (&'static str, bool)) -> Self {
        let letters: String = number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'b')).collect();
        let word = format!("{}{letters}q", if is_approved { "open" } else { "hush" });
        let path = if place.ends_with('/') { format!("{place}{word}.md") } else { place.to_string() };
        Self { path, word, origin, is_approved }
    }

    fn text(&self, origin: &str) -> String {
        let word = &self.word;
        let replaced = if self.is_approved { "" } else { "supersedes: quays/filler001.md\n" };
        let session = if self.path.contains("/sessions/") {
            format!("session: {word}\nfinished: true\nworked: true\nlast: 2026-05-25T10:00:00Z\n")
        } else {
            String::new()
        };
        let text = format!(
            "---\ntitle: Harbor {word}\nkey: {word}\naliases: [{word}alias]\ntags: [{word}, harbor]\n\
             {replaced}{session}{origin}---\n\n# Harbor {word}\n\n- [ ] The harbor of staging has the port {word}.\n"
        );
        assert!(text.len() < SIZE, "{text}");
        format!("{text}{}\n", " and so on".repeat(SIZE)[..SIZE - 1 - text.len()].trim_end_matches("\n"))
    }

    /// Returns the name under which a session has stored it.
    fn item(&self) -> StoredItem {
        if self.path.contains("/entries/") {
            StoredItem::Entry(self.word.clone())
        } else {
            StoredItem::Note(self.path.trim_start_matches("projects/proj/").to_string())
        }
    }
}

/// Returns the files of a store, each in its own place.
fn planted() -> impl Strategy<Value = Vec<Planted>> {
    let file = (prop::sample::select(PLACES.to_vec()), prop::sample::select(ORIGINS.to_vec()));
    prop::collection::vec(file, 1..24).prop_map(|files| {
        let files = files.into_iter().enumerate().map(|(number, (place, origin))| Planted::new(number, place, origin));
        let by_path: BTreeMap<String, Planted> = files.map(|file| (file.path.clone(), file)).collect();
        by_path.into_values().collect()
    })
}

/// Index file that an engine finds in the store.
#[derive(Clone, Debug)]
enum Index {
    Missing,
    Whole,
    /// Of a store in which every file is trusted.
    Trusting,
    /// Of a store in which each file has the text of the next one.
    Rotated,
    Damaged(Damage),
    /// Damaged, with the checksums corrected.
    Forged(Damage),
}

fn index() -> impl Strategy<Value = Index> {
    prop_oneof![
        1 => Just(Index::Missing),
        1 => Just(Index::Whole),
        3 => Just(Index::Trusting),
        3 => Just(Index::Rotated),
        2 => damage().prop_map(Index::Damaged),
        4 => damage().prop_map(Index::Forged),
    ]
}

/// An index is worth a file from this many notes on.
const FILLERS: usize = 128;

/// Returns a store with trusted notes that make it worth an index, and then these texts.
fn store<'a>(texts: impl IntoIterator<Item = (&'a str, String)>) -> Simulator {
    let mut store = Simulator::new(1);
    for number in 0..FILLERS {
        let text = format!("# Filler {number}\n\nThe port of quay {number} in another harbor.\n");
        store.insert(&path(&format!("projects/proj/quays/filler{number:03}.md")), text);
    }
    for (file, text) in texts {
        store.insert(&path(file), text);
    }
    store
}

fn with_index(epoch: u64, index_file: bool) -> Config {
    Config { epoch, index_file, ..config(Provenance::User, SecretPolicy::Refuse) }
}

fn index_files(store: &Simulator) -> BTreeMap<String, Vec<u8>> {
    store.files().into_iter().filter(|(path, _)| path.contains(".saddlebag/index/")).collect()
}

/// Returns the index that an engine writes for a store.
fn written(store: Simulator) -> BTreeMap<String, Vec<u8>> {
    let mut drive = Drive::new(Kind::Native, with_index(1, true), store);
    drive.call(ask::tags()).unwrap();
    drive.call(ask::recall_entries(QUESTION)).unwrap();
    let files = index_files(&drive.executor);
    assert!(!files.is_empty(), "no index was written");
    files
}

/// Returns the files in a store that has this index.
fn with(files: &[Planted], index: &Index) -> Simulator {
    let honest = || files.iter().map(|file| (file.path.as_str(), file.text(file.origin)));
    let index = match index {
        Index::Missing => return store(honest()),
        Index::Whole => written(store(honest())),
        Index::Trusting => {
            // The field has the length of the one that it replaces.
            let trusting = |file: &Planted| file.text(&format!("x: {}\n", "y".repeat(file.origin.len().max(4) - 4)));
            written(store(files.iter().map(|file| (file.path.as_str(), trusting(file)))))
        }
        Index::Rotated => {
            let next = files.iter().cycle().skip(1);
            written(store(files.iter().zip(next).map(|(file, next)| (file.path.as_str(), next.text("")))))
        }
        Index::Damaged(damage) | Index::Forged(damage) => {
            let is_forged = matches!(index, Index::Forged(_));
            let damaged = |bytes: Vec<u8>| {
                let bytes = damaged(bytes, damage)?;
                Some(if is_forged { index_blocks::sealed(bytes) } else { bytes })
            };
            let index = written(store(honest())).into_iter();
            index.filter_map(|(path, bytes)| Some((path, damaged(bytes)?))).collect()
        }
    };
    let mut store = store(honest());
    for (file, bytes) in index {
        store.insert(&path(&file), bytes);
    }
    store
}

/// Returns the first lines that differ. The whole texts are too long to be read.
fn first_difference(expected: &impl Debug, shown: &impl Debug) -> String {
    let (expected, shown) = (format!("{expected:#?}").replace("\\n", "\n"), format!("{shown:#?}").replace("\\n", "\n"));
    let both = expected.lines().zip(shown.lines()).find(|(expected, shown)| expected != shown);
    format!("{} {both:?}", expected.lines().nth(1).unwrap_or_default())
}

fn items_of(files: &[Planted]) -> Vec<StoredItem> {
    files.iter().map(Planted::item).collect()
}

proptest! {
    #![proptest_config(cases(32))]

    /// The index decides nothing about what is trusted.
    #[test]
    fn an_index_that_somebody_else_wrote_lets_no_unapproved_note_into_a_prompt(files in planted(), index in index()) {
        let outcome = [Kind::Native, Kind::Component].map(|kind| {
            let mut drive = Drive::new(kind, with_index(2, true), with(&files, &index));
            let shown = prompts(&mut drive, 1, &items_of(&files));
            let recall = Recall { limit: 200, ..ask::recall(QUESTION) };
            (shown, drive.call(recall))
        });
        let (shown, found) = &outcome[0];
        prop_assert_eq!(shown, &outcome[1].0, "the engines differ");
        prop_assert_eq!(found, &outcome[1].1, "the engines differ");
        for (command, text) in shown {
            // A forged index may end a command in an error, which is in no prompt.
            let text = text.as_deref().unwrap_or_default();
            prop_assert!(!text.contains("hush"), "{command}: {text}");
        }
        // Where text is found, it is marked, and its title is that of the file.
        for hit in found.iter().flat_map(|reply| &reply.hits) {
            let is_hidden = hit.path.contains("hush") || hit.passage.contains("hush") || hit.title.contains("hush");
            prop_assert!(!is_hidden || hit.marks.unapproved.is_some(), "{hit:?}");
        }
    }

    /// Unapproved text has no influence on what else a prompt gets.
    #[test]
    fn unapproved_notes_change_nothing_of_what_a_prompt_gets(
        files in planted(),
        is_indexed in any::<bool>(),
        crowd in 0_usize..40,
    ) {
        let approved: Vec<Planted> = files.iter().filter(|file| file.is_approved).cloned().collect();
        // What no one has approved is newest, and answers the question best.
        let mut all = approved.clone();
        // A block says of each file of the journal that it was left out, so these have an influence.
        let is_waiting = |file: &&Planted| !file.is_approved && PLACES[..6].iter().any(|place| file.path.starts_with(place));
        all.extend(files.iter().filter(is_waiting).cloned());
        all.extend((0..crowd).map(|number| Planted::new(100 + number, PLACES[0], ORIGINS[5])));
        let index = if is_indexed { Index::Whole } else { Index::Missing };
        let given = |files: &[Planted]| {
            let mut drive = Drive::new(Kind::Native, with_index(2, is_indexed), with(files, &index));
            prompts(&mut drive, 1, &items_of(&approved))
        };
        let (expected, shown) = (given(&approved), given(&all));
        for (expected, shown) in expected.iter().zip(&shown) {
            prop_assert!(expected == shown, "{}", first_difference(expected, shown));
        }
        // The block has every approved file but the notes that are not among the memories.
        let block = &shown.iter().find(|(command, _)| command == "context balanced claude 200000").unwrap().1;
        let block = block.as_ref().unwrap();
        for file in approved.iter().filter(|file| !file.path.contains("/notes/") && !file.path.contains("/sessions/")) {
            prop_assert!(block.contains(&file.word), "{} is not in {block}", file.path);
        }
    }
}
