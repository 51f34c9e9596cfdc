//! The commands over a store in memory. The letters are those of the faults of the original.

use alloc::string::ToString;
use alloc::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::engine::{Engine, Limits};
use crate::notebook::testing::{Store, call_at};
use crate::protocol::CommandId;
use crate::store::{LocalTime, Timestamp};

const HOUR: i64 = 3_600;

/// A store, the entries of an agent of it, and a clock.
struct World {
    store: Store,
    entries: Arc<Entries>,
    seconds: i64,
}

impl World {
    fn with(config: EntriesConfig) -> Self {
        let entries = Arc::new(Entries::new(Some(config)).unwrap());
        Self { store: Store::default(), entries, seconds: 1_900_000_000 }
    }

    fn new() -> Self {
        Self::with(EntriesConfig { workspace: Some("w".into()), ..EntriesConfig::of_agent("a") })
    }

    fn capped(max_entries: u32) -> Self {
        Self::with(EntriesConfig { max_entries, ..EntriesConfig::of_agent("a") })
    }

    /// The same store as another process sees it.
    fn reopen(&mut self) {
        let config = EntriesConfig { workspace: Some("w".into()), ..EntriesConfig::of_agent("a") };
        self.entries = Arc::new(Entries::new(Some(config)).unwrap());
    }

    fn now(&self) -> LocalTime {
        Timestamp { seconds: self.seconds, nanoseconds: 0, utc_offset_seconds: 0 }.local().unwrap()
    }

    fn run_command(&mut self, command: EntriesCommand) -> Result<EntriesReply, Error> {
        let (entries, now) = (self.entries.clone(), self.now());
        self.store.run(move |fs| async move { run(&call_at(fs, now), &entries, command).await })
    }

    fn run(&mut self, verb: EntriesVerb) -> Result<EntriesReply, Error> {
        self.run_command(EntriesCommand::new(verb))
    }

    fn in_run(&mut self, run: &str, verb: EntriesVerb) -> Result<EntriesReply, Error> {
        self.run_command(EntriesCommand { run: Some(run.into()), ..EntriesCommand::new(verb) })
    }

    fn store_entry(&mut self, entry: NewEntry) -> StoreReply {
        stored(self.run(EntriesVerb::StoreEntry(StoreEntry { entry, base: None })))
    }

    fn keep(&mut self, key: &str, content: &str, category: &str) -> StoreReply {
        self.store_entry(entry(key, content, category))
    }

    fn hold(&mut self, run: &str, key: &str, content: &str, category: &str) -> Result<EntriesReply, Error> {
        self.in_run(run, EntriesVerb::StoreEntry(StoreEntry { entry: entry(key, content, category), base: None }))
    }

    fn get(&mut self, key: &str) -> Result<EntryInfo, Error> {
        match self.run(EntriesVerb::GetEntry(GetEntry { key: key.into() }))? {
            EntriesReply::GetEntry(entry) => Ok(entry),
            other => panic!("{other:?}"),
        }
    }

    fn list(&mut self, filter: EntryFilter) -> ListEntriesReply {
        match self.run(EntriesVerb::ListEntries(ListEntries { filter, limit: None, cursor: None })).unwrap() {
            EntriesReply::ListEntries(reply) => reply,
            other => panic!("{other:?}"),
        }
    }

    fn keys(&mut self) -> Vec<String> {
        let mut keys: Vec<String> =
            self.list(EntryFilter::default()).entries.into_iter().map(|entry| entry.key).collect();
        keys.sort();
        keys
    }

    fn find(&mut self, query: &str, run: Option<&str>) -> Vec<String> {
        let verb = EntriesVerb::FindEntries(FindEntries { query: query.into(), limit: 10 });
        match self.run_command(EntriesCommand { run: run.map(String::from), ..EntriesCommand::new(verb) }).unwrap() {
            EntriesReply::FindEntries(reply) => reply.hits.into_iter().map(|hit| hit.entry.key).collect(),
            other => panic!("{other:?}"),
        }
    }

    fn hydrate(&mut self, max_bytes: u64, run: Option<&str>) -> HydrateReply {
        let verb = EntriesVerb::Hydrate(Hydrate { max_bytes, policy: Policy::Greedy });
        match self.run_command(EntriesCommand { run: run.map(String::from), ..EntriesCommand::new(verb) }).unwrap() {
            EntriesReply::Hydrate(reply) => reply,
            other => panic!("{other:?}"),
        }
    }

    fn hydrated_keys(&mut self, max_bytes: u64) -> Vec<String> {
        self.hydrate(max_bytes, None).entries.into_iter().map(|entry| entry.key).collect()
    }

    fn forget(&mut self, key: &str) -> ForgetEntryReply {
        match self.run(EntriesVerb::ForgetEntry(ForgetEntry { key: key.into(), base: None })).unwrap() {
            EntriesReply::ForgetEntry(reply) => reply,
            other => panic!("{other:?}"),
        }
    }

    fn purge(&mut self, key: Option<&str>) -> Result<Vec<String>, Error> {
        match self.run(EntriesVerb::PurgeEntries(PurgeEntries { key: key.map(String::from) }))? {
            EntriesReply::PurgeEntries(reply) => Ok(reply.purged),
            other => panic!("{other:?}"),
        }
    }

    fn open(&mut self, run: &str, fence: u64) -> Result<EntriesReply, Error> {
        self.in_run(run, EntriesVerb::OpenRun(OpenRun { fence }))
    }

    fn save(&mut self, run: &str, verb: EntriesVerb) -> Result<CheckpointReply, Error> {
        match self.in_run(run, verb)? {
            EntriesReply::Checkpoint(reply) | EntriesReply::CloseRun(reply) => Ok(reply),
            other => panic!("{other:?}"),
        }
    }
}

impl World {
    /// Every file of the entries, as an export in pages has it.
    fn export(&mut self, forgotten: bool) -> Vec<(String, Vec<u8>)> {
        let (mut files, mut cursor) = (Vec::new(), None);
        loop {
            match self.run(EntriesVerb::ExportEntries(ExportEntries { forgotten, cursor })).unwrap() {
                EntriesReply::ExportEntries(page) => {
                    files.extend(page.files.into_iter().map(|file| (file.path, file.content)));
                    cursor = page.next;
                }
                other => panic!("{other:?}"),
            }
            if cursor.is_none() {
                return files;
            }
        }
    }

    /// So many files with each command; what they say of their provenance is believed.
    fn try_import(
        &mut self,
        files: &[(String, Vec<u8>)],
        mode: ImportMode,
        dry_run: bool,
        part: usize,
    ) -> Result<Vec<ImportedFile>, Error> {
        let mut earlier = Vec::new();
        for files in files.chunks(part) {
            let files = files.iter().map(|(path, bytes)| ImportFile { path: path.clone(), content: Ok(bytes.clone()) });
            let request = ImportEntries { files: files.collect(), mode, dry_run, earlier: earlier.clone() };
            let command = EntriesCommand::new(EntriesVerb::ImportEntries(request));
            match self.run_command(EntriesCommand { provenance: Some(Provenance::User), ..command })? {
                EntriesReply::ImportEntries(reply) => earlier.extend(reply.files),
                other => panic!("{other:?}"),
            }
        }
        Ok(earlier)
    }

    fn import_all(
        &mut self,
        files: &[(String, Vec<u8>)],
        mode: ImportMode,
        dry_run: bool,
        part: usize,
    ) -> Vec<ImportedFile> {
        self.try_import(files, mode, dry_run, part).unwrap()
    }

    fn import(&mut self, files: &[(String, Vec<u8>)], mode: ImportMode) -> Vec<ImportState> {
        self.import_all(files, mode, false, MAX_IMPORT_FILES).into_iter().map(|file| file.state).collect()
    }

    fn try_retain(&mut self, imported: Vec<ImportedFile>, dry_run: bool) -> Result<Vec<String>, Error> {
        match self.run(EntriesVerb::RetainEntries(RetainEntries { imported, dry_run }))? {
            EntriesReply::RetainEntries(reply) => Ok(reply.deleted.into_iter().map(|entry| entry.key).collect()),
            other => panic!("{other:?}"),
        }
    }

    fn retained(&mut self, imported: Vec<ImportedFile>, dry_run: bool) -> Vec<String> {
        self.try_retain(imported, dry_run).unwrap()
    }

    /// The keys that go as they are in none of the files.
    fn retain(&mut self, files: &[(String, Vec<u8>)], mode: ImportMode) -> Vec<String> {
        let imported = self.import_all(files, mode, false, MAX_IMPORT_FILES);
        self.retained(imported, false)
    }

    fn files(&self) -> Vec<(String, String)> {
        self.store.names().into_iter().map(|name| (name.to_string(), self.store.text(name))).collect()
    }
}

impl World {
    fn files_but_backups(&self) -> Vec<(String, String)> {
        self.files().into_iter().filter(|(name, _)| !name.ends_with(".bak")).collect()
    }
}

impl ImportState {
    fn times(self, count: usize) -> Vec<Self> {
        alloc::vec![self; count]
    }
}

fn given(files: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    files.iter().map(|(path, text)| (path.to_string(), text.as_bytes().to_vec())).collect()
}

fn entry(key: &str, content: &str, category: &str) -> NewEntry {
    NewEntry::new(key, content, category)
}

fn stored(reply: Result<EntriesReply, Error>) -> StoreReply {
    match reply.unwrap() {
        EntriesReply::StoreEntry(reply) | EntriesReply::RestoreEntry(reply) => reply,
        other => panic!("{other:?}"),
    }
}

const K: &str = "agents/a/entries/core/k.md";

#[test]
fn an_entry_is_a_file_that_says_all_of_it() {
    let mut world = World::new();
    let tags = ["x", "y z"].map(String::from).to_vec();
    let given = NewEntry { tags, source: Some("run 7".into()), ..entry("k", "one\ntwo", "core") };
    let reply = world.store_entry(given);
    assert_eq!((reply.state, reply.path.as_str()), (StoreState::Stored, K));
    assert_eq!(
        world.store.text(K),
        "---\nkey: k\ncategory: core\nagent: a\ntags: [x, \"y z\"]\ncreated: 2030-03-17T17:46:40Z\n\
         updated: 2030-03-17T17:46:40Z\nsource: \"run 7\"\n---\n\none\ntwo"
    );
    let info = world.get("k").unwrap();
    assert_eq!((info.content.as_str(), info.version), ("one\ntwo", reply.version));
    assert_eq!(info.size, 12);
}

#[test]
fn a_updated_changes_with_content_category_and_tags_alone() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    let first = world.get("k").unwrap();
    world.seconds += HOUR;
    let again = world.store_entry(NewEntry { source: Some("another run".into()), ..entry("k", "v", "core") });
    assert_eq!(again.state, StoreState::Unchanged);
    assert_eq!(world.get("k").unwrap(), first);
    let tagged = world.store_entry(NewEntry { tags: alloc::vec!["t".into()], ..entry("k", "v", "core") });
    assert_eq!(tagged.state, StoreState::Updated);
    let second = world.get("k").unwrap();
    assert_eq!(second.updated - first.updated, 3_600_000_000_000);
    assert_eq!(second.created, first.created);
}

#[test]
fn a_daily_entries_age_although_they_are_stored_again() {
    let mut world = World::new();
    world.keep("standup", "v", "daily");
    for _ in 0..3 {
        world.seconds += 24 * HOUR;
        assert_eq!(world.keep("standup", "v", "daily").state, StoreState::Unchanged);
    }
    assert_eq!(world.hydrated_keys(1_000), ["standup"]);
    world.seconds += 1;
    assert_eq!(world.hydrated_keys(1_000), Vec::<String>::new());
    assert_eq!(world.get("standup").unwrap_err().code, ErrorCode::EntryNotFound);
    assert_eq!(world.keep("other", "v", "daily").swept, ["standup"]);
    assert!(!world.store.has("agents/a/entries/daily/standup.md"));
}

#[test]
fn a_daily_entry_that_is_too_old_is_made_anew() {
    let mut world = World::new();
    world.keep("standup", "v", "daily");
    world.seconds += 100 * HOUR;
    assert_eq!(world.keep("standup", "v", "daily").state, StoreState::Stored);
    let info = world.get("standup").unwrap();
    assert_eq!((info.created, info.updated), (info.updated, world.now().epoch_nanoseconds()));
}

#[test]
fn b_what_was_written_last_is_the_newest_although_the_clock_stands_or_goes_back() {
    let mut world = World::new();
    world.keep("old", "v", "core");
    world.keep("new", "v", "core");
    assert_eq!(world.hydrated_keys(1_000), ["new", "old"]);
    world.seconds -= 5;
    world.keep("old", "corrected", "core");
    assert_eq!(world.hydrated_keys(1_000), ["old", "new"]);
}

#[test]
fn c_a_forget_in_a_run_is_durable() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    world.open("r", 1).unwrap();
    world.hold("r", "k", "newer", "core").unwrap();
    world.in_run("r", EntriesVerb::ForgetEntry(ForgetEntry { key: "k".into(), base: None })).unwrap();
    let saved = world.save("r", EntriesVerb::CloseRun(CloseRun)).unwrap();
    assert_eq!(saved.stored, Vec::<String>::new());
    world.reopen();
    assert_eq!(world.get("k").unwrap_err().code, ErrorCode::EntryNotFound);
}

#[test]
fn d_what_an_operator_forgets_during_a_run_stays_forgotten() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    world.open("r", 1).unwrap();
    world.hold("r", "k", "seen in the run", "core").unwrap();
    world.forget("k");
    let saved = world.save("r", EntriesVerb::Checkpoint(Checkpoint)).unwrap();
    assert_eq!(saved.stored, Vec::<String>::new());
    assert_eq!(saved.skipped[0].reason, "it was forgotten during the run");
    assert_eq!(world.keys(), Vec::<String>::new());
}

#[test]
fn what_was_forgotten_comes_back_only_with_something_else_to_say() {
    let mut world = World::new();
    let first = world.keep("k", "v", "core");
    let tombstone = world.forget("k");
    assert!(!tombstone.already_forgotten && world.forget("k").already_forgotten);
    assert_eq!(world.keep("k", "v", "core").state, StoreState::Forgotten);
    let stale = EntriesVerb::StoreEntry(StoreEntry { entry: entry("k", "w", "core"), base: Some(first.version) });
    assert_eq!(stored(world.run(stale)).state, StoreState::Forgotten);
    let help = world.get("k").unwrap_err().help;
    assert!(help.contains(&tombstone.version), "{help}");
    let knowing = EntriesVerb::StoreEntry(StoreEntry { entry: entry("k", "v", "core"), base: Some(tombstone.version) });
    assert_eq!(stored(world.run(knowing)).state, StoreState::Stored);
    world.forget("k");
    world.seconds += 1;
    assert_eq!(world.keep("k", "something else", "core").state, StoreState::Stored);
    assert!(!world.store.text(K).contains("forgotten"), "{}", world.store.text(K));
}

#[test]
fn a_purge_removes_what_is_forgotten_and_nothing_else() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    world.keep("l", "v", "workspace");
    let refused = world.purge(Some("k")).unwrap_err();
    assert_eq!(refused.message, "`k` is not forgotten");
    assert_eq!(world.purge(None).unwrap(), Vec::<String>::new());
    world.forget("k");
    world.forget("l");
    assert_eq!(world.purge(Some("k")).unwrap(), ["k"]);
    assert_eq!(world.purge(None).unwrap(), ["l"]);
    assert_eq!(world.store.names(), Vec::<&str>::new());
    assert_eq!(world.purge(Some("k")).unwrap_err().code, ErrorCode::EntryNotFound);
    assert_eq!(world.keep("k", "v", "core").state, StoreState::Stored);
}

#[test]
fn e_what_would_be_evicted_at_once_is_refused_with_numbers() {
    let mut world = World::capped(2);
    world.keep("c1", "v", "core");
    world.keep("c2", "v", "core");
    let refused =
        world.run(EntriesVerb::StoreEntry(StoreEntry { entry: entry("n", "v", "notes"), base: None })).unwrap_err();
    assert_eq!(refused.code, ErrorCode::TooLarge);
    assert_eq!(refused.message, "`n` would be evicted at once: 2 core entries hold all 2 places, notes needs 1");
    assert_eq!(world.keys(), ["c1", "c2"]);
    // A core entry that becomes one of notes leaves its place to itself.
    assert_eq!(world.keep("c2", "v", "notes").state, StoreState::Moved("core".into()));
    let third = world.keep("c3", "v", "core");
    assert_eq!(third.evicted, ["c2"]);
    let fourth = world.keep("c4", "v", "core");
    assert_eq!(fourth.evicted, ["c1"]);
    assert_eq!(world.keys(), ["c3", "c4"]);
}

#[test]
fn what_is_not_stored_evicts_nothing() {
    let mut world = World::capped(2);
    for key in ["a", "b"] {
        world.keep(key, "v", "notes");
    }
    world.forget("b");
    world.keep("c", "v", "notes");
    assert_eq!(world.keep("b", "v", "notes").state, StoreState::Forgotten);
    assert_eq!(world.keys(), ["a", "c"]);
}

#[test]
fn f_a_conversation_causes_no_operation_and_ends_with_its_run() {
    let mut world = World::new();
    world.open("r", 1).unwrap();
    let now = world.now();
    let mut engine: Engine<EntriesReply> = Engine::new(1, Limits::default());
    let verbs = [
        EntriesVerb::StoreEntry(StoreEntry { entry: entry("mood", "tired", "conversation"), base: None }),
        EntriesVerb::GetEntry(GetEntry { key: "mood".into() }),
        EntriesVerb::ForgetEntry(ForgetEntry { key: "mood".into(), base: None }),
        EntriesVerb::StoreEntry(StoreEntry { entry: entry("mood", "fresh", "conversation"), base: None }),
    ];
    for (id, verb) in (1..).zip(verbs) {
        let entries = world.entries.clone();
        let command = EntriesCommand { run: Some("r".into()), ..EntriesCommand::new(verb) };
        let start = |fs| async move { run(&call_at(fs, now), &entries, command).await };
        let step = engine.start(CommandId(id), "test", start).unwrap();
        assert_eq!(step.requests, []);
        assert!(step.finished[0].outcome.is_ok());
    }
    assert_eq!(world.hydrate(100, Some("r")).entries[0].content, "fresh");
    assert_eq!(world.find("fresh", Some("r")), ["mood"]);
    assert_eq!(world.hydrate(100, None).entries, []);
    world.save("r", EntriesVerb::CloseRun(CloseRun)).unwrap();
    assert_eq!(world.store.names(), ["agents/a/fence"]);
    let gone = world.in_run("r", EntriesVerb::GetEntry(GetEntry { key: "mood".into() })).unwrap_err();
    assert_eq!(gone.message, "no run `r` is open");
    let outside = world.run(EntriesVerb::StoreEntry(StoreEntry { entry: entry("k", "v", "conversation"), base: None }));
    assert_eq!(outside.unwrap_err().message, "entries of a conversation live in a run alone");
}

#[test]
fn g_tags_are_kept_and_asked_for() {
    let mut world = World::new();
    for (key, tags) in [("a", &["x", "y"][..]), ("b", &["x"]), ("c", &[])] {
        let tags = tags.iter().map(|tag| tag.to_string()).collect();
        world.store_entry(NewEntry { tags, ..entry(key, "v", "core") });
    }
    let all = EntryFilter { all_tags: ["x", "y"].map(String::from).to_vec(), ..EntryFilter::default() };
    assert_eq!(world.list(all).entries.len(), 1);
    let any = EntryFilter { any_tags: ["x", "y"].map(String::from).to_vec(), ..EntryFilter::default() };
    assert_eq!(world.list(any).entries.len(), 2);
}

#[test]
fn h_get_is_exact_and_find_searches() {
    let mut world = World::new();
    world.keep("deploy_target", "The staging cluster in Dublin.", "core");
    world.keep("100%", "percent", "core");
    assert_eq!(world.get("deploy_target").unwrap().content, "The staging cluster in Dublin.");
    for key in ["deploy", "Deploy_target", "deploy_target ", "%"] {
        assert_eq!(world.get(key).unwrap_err().message, format!("UZ-MEM-004: no entry `{key}`"));
    }
    assert_eq!(world.find("where is the staging cluster", None), ["deploy_target"]);
    assert_eq!(world.find("deploy target", None), ["deploy_target"]);
}

#[test]
fn j_export_and_import_are_no_difference() {
    let mut world = World::new();
    for (key, content, category) in [
        ("deploy_target", "---\nstaging\n---\n", "core"),
        ("steering:Tone", "warm\r\n", "core"),
        ("../nul", "\n\nx", "CORE"),
        ("standup", "v", "daily"),
        ("ours", "shared", "workspace"),
        ("ours", "mine", "notes"),
        ("gone", "v", "core"),
    ] {
        world.store_entry(NewEntry { tags: alloc::vec!["a, b".into()], ..entry(key, content, category) });
    }
    world.keep(&"k".repeat(255), "long", "core");
    world.forget("gone");
    let (shown, all) = (world.export(false), world.export(true));
    assert_eq!((shown.len(), all.len()), (7, 8));
    let paths: Vec<&str> = all.iter().map(|(path, _)| path.as_str()).collect();
    assert!(paths.contains(&"core/steering%3A%54one.md") && paths.contains(&"workspace/ours.md"), "{paths:?}");
    for (path, bytes) in all.iter().filter(|(path, _)| path.starts_with("core/")) {
        assert_eq!(world.store.text(&format!("agents/a/entries/{path}")).as_bytes(), bytes);
    }
    let files = world.files();
    assert_eq!(world.import(&all, ImportMode::Replace), ImportState::Unchanged.times(8));
    assert_eq!(world.retain(&all, ImportMode::Replace), Vec::<String>::new());
    assert_eq!(world.files(), files);

    let mut fresh = World::new();
    let states = fresh.import(&all, ImportMode::Upsert);
    assert_eq!(states.iter().filter(|state| **state == ImportState::Deleted).count(), 1);
    assert_eq!((fresh.files(), fresh.export(true)), (files, all));
    assert_eq!(fresh.get("deploy_target").unwrap(), world.get("deploy_target").unwrap());
}

#[test]
fn an_edited_file_is_imported_as_it_is() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    let edited = "---\n# mine\nkey: k\ncategory: core\nzombie_id: a\ntags: x, y\nupdated_at: 1700000000000\n---\n\nw";
    assert_eq!(world.import(&given(&[("core/k.md", edited)]), ImportMode::Upsert), [ImportState::Upserted]);
    assert_eq!(world.store.text(K), edited);
    let info = world.get("k").unwrap();
    assert_eq!((info.content.as_str(), info.updated), ("w", 1_700_000_000_000_000_000));
    // A category and a key are taken from the path where the file has none.
    assert_eq!(world.import(&given(&[("./x", "v")]), ImportMode::Upsert).len(), 1);
    assert_eq!(
        world.import(&given(&[("backup/notes/a%3Ab.md", "plain")]), ImportMode::Upsert),
        [ImportState::Upserted]
    );
    assert_eq!(world.get("a:b").unwrap().category, "notes");
}

#[test]
fn a_file_that_does_not_say_when_it_changed_gets_the_moment_of_the_import() {
    // The store of this test says of every file that it was modified at 0, as a host may that does not know.
    let mut world = World::new();
    let files = given(&[("daily/k.md", "---\nkey: k\n---\n\nv"), ("daily/plain.md", "text alone")]);
    assert_eq!(world.import(&files, ImportMode::Upsert), ImportState::Upserted.times(2));
    assert_eq!(world.get("k").unwrap().updated, world.now().epoch_nanoseconds());
    assert_eq!(world.hydrated_keys(1_000), ["k", "plain"]);
    world.seconds += HOUR;
    assert_eq!(world.import(&files, ImportMode::Upsert), ImportState::Unchanged.times(2));
    assert_eq!(world.keep("other", "v", "daily").swept, Vec::<String>::new());
    assert_eq!(world.keys(), ["k", "other", "plain"]);
}

#[test]
fn a_file_of_another_category_moves_the_entry() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    let text = world.store.text(K).replace("category: core", "category: notes");
    for path in ["notes/k.md", "core/k.md"] {
        assert_eq!(world.import(&given(&[(path, &text)]), ImportMode::Upsert).len(), 1);
        assert_eq!(world.files_but_backups(), [("agents/a/entries/notes/k.md".to_string(), text.clone())]);
    }
    // The folder alone says it.
    assert_eq!(world.import(&given(&[("ideas/k.md", "bare")]), ImportMode::Upsert), [ImportState::Upserted]);
    let dated = format!("---\nupdated: {}\n---\n\nbare", crate::store::utc_text(world.now().epoch_nanoseconds()));
    assert_eq!(world.files_but_backups(), [("agents/a/entries/ideas/k.md".to_string(), dated)]);
}

#[test]
fn what_cannot_be_imported_is_rejected_and_the_rest_goes_on() {
    let mut world = World::new();
    world.keep("kept", "v", "core");
    world.store.put("agents/a/entries/core/broken.md", b"---\nkey: [\n---\n".to_vec());
    let huge = "x".repeat(262_145);
    let long = format!("---\nkey: long\ncategory: core\n---\n\n{}", "x".repeat(16_385));
    let cases: [(&str, &str, &str); 16] = [
        ("../core/k.md", "v", "its path is refused"),
        ("/core/k.md", "v", "its path is refused"),
        ("core/../../k.md", "v", "its path is refused"),
        ("core\\k.md", "v", "its path is refused"),
        ("core/k.md", "---\nagent: b\n---\n\nv", "it is of the agent `b`, and these are the entries of `a`"),
        ("core/k.md", "---\nagent: a\nfleet_id: b\n---\n\nv", "it is of the agent `b`"),
        ("workspace/k.md", "---\nworkspace: x\n---\n\nv", "it is of the workspace `x`, and this one is `w`"),
        ("core/k.md", "---\nkey: [\n---\n\nv", "line 3: while parsing"),
        ("core/k.md", "---\nkey: k\n---\n", "content is empty"),
        ("core/k.md", &huge, "it has more than 262144 bytes"),
        ("core/k.md", &long, "content has 16385 bytes, the limit is 16384: 1 too many"),
        ("k.md", "v", "no category"),
        ("core/My Key.md", "v", "no key"),
        ("conversation/k.md", "v", "live in a run alone"),
        ("daily/k.md", "---\nupdated: 2020-01-01\n---\n\nv", "a daily entry lives 72 hours"),
        ("core/broken.md", "v", "agents/a/entries/core/broken.md cannot be read as an entry"),
    ];
    let before = world.files();
    for (path, text, reason) in cases {
        let states = world.import(&given(&[(path, text)]), ImportMode::Upsert);
        let [ImportState::Rejected(found)] = states.as_slice() else { panic!("{path}: {states:?}") };
        assert!(found.contains(reason), "{path}: {found}");
        assert_eq!(world.files(), before, "{path}");
    }
    let mut all: Vec<(String, Vec<u8>)> = given(&cases.map(|(path, text, _)| (path, text)));
    all.push(("core/latin.md".into(), alloc::vec![b'v', 0xff]));
    all.push(("core/fine.md".into(), b"v".to_vec()));
    let states = world.import(&all, ImportMode::Upsert);
    assert_eq!(states[16], ImportState::Rejected("it is not UTF-8 text".into()));
    assert_eq!(states[17], ImportState::Upserted);
    // What a rejected file stands for is there, if only nobody can read it.
    assert_eq!(world.retain(&given(&[("core/kept.md", "---\nkey: [\n---\n")]), ImportMode::Replace), ["fine"]);
}

#[test]
fn of_two_files_of_one_key_the_first_counts() {
    let mut world = World::new();
    let files = given(&[("core/k.md", "one"), ("notes/k.md", "two"), ("workspace/k.md", "three")]);
    let twice = ImportState::Rejected("core/k.md has the key `k` as well".into());
    for dry_run in [true, false] {
        let states = world.import_all(&files, ImportMode::Upsert, dry_run, 1).into_iter().map(|file| file.state);
        let states: Vec<ImportState> = states.collect();
        assert_eq!(states, [ImportState::Upserted, twice.clone(), ImportState::Upserted], "{dry_run}");
    }
    assert_eq!(world.get("k").unwrap().content, "one");
}

#[test]
fn what_was_forgotten_comes_back_by_a_replacement_alone() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    let backup = world.export(false);
    world.seconds += 1;
    world.forget("k");
    let states = world.import(&backup, ImportMode::Upsert);
    let [ImportState::Rejected(reason)] = states.as_slice() else { panic!("{states:?}") };
    assert!(reason.starts_with("it was forgotten at 2030-03-17T17:46:41Z"), "{reason}");
    assert_eq!(world.import(&backup, ImportMode::Replace), [ImportState::Upserted]);
    assert_eq!(world.export(true), backup);

    let tombstone =
        String::from_utf8(backup[0].1.clone()).unwrap().replace("---\n\nv", "forgotten: 2001-01-01\n---\n\nv");
    let states = world.import(&given(&[("core/k.md", &tombstone)]), ImportMode::Upsert);
    let [ImportState::Rejected(reason)] = states.as_slice() else { panic!("{states:?}") };
    assert!(reason.contains("and was changed after that"), "{reason}");
}

#[test]
fn a_replacement_forgets_what_is_in_no_file_and_says_so_first() {
    let mut world = World::new();
    for key in ["a", "b", "c"] {
        world.keep(key, "v", "core");
    }
    world.keep("d", "v", "workspace");
    let files: Vec<_> = world.export(false).into_iter().filter(|(path, _)| path == "core/b.md").collect();
    let before = world.files();
    let planned = world.import_all(&files, ImportMode::Replace, true, 1);
    assert_eq!(world.retained(planned, true), ["c", "a", "d"]);
    assert_eq!(world.files(), before);
    assert_eq!(world.retain(&files, ImportMode::Replace), ["c", "a", "d"]);
    assert_eq!(world.keys(), ["b"]);
    assert_eq!(world.retain(&files, ImportMode::Replace), Vec::<String>::new());
}

#[test]
fn an_import_evicts_nothing() {
    let mut world = World::capped(2);
    world.keep("a", "v", "notes");
    let files = given(&[("core/b.md", "v"), ("core/c.md", "v"), ("notes/a.md", "w")]);
    let full = ImportState::Rejected("there are 2 entries, the limit is 2: 1 too many".into());
    for dry_run in [true, false] {
        let states = world.import_all(&files, ImportMode::Upsert, dry_run, 1).into_iter().map(|file| file.state);
        let states: Vec<ImportState> = states.collect();
        assert_eq!(states, [ImportState::Upserted, full.clone(), ImportState::Upserted], "{dry_run}");
    }
    // What is to go leaves its place to what replaces it.
    let others = given(&[("core/d.md", "v"), ("core/e.md", "v"), ("core/f.md", "v")]);
    let states = world.import(&others, ImportMode::Replace);
    assert_eq!(states, [ImportState::Upserted, ImportState::Upserted, full]);
    world.retain(&others, ImportMode::Replace);
    assert_eq!(world.keys(), ["d", "e"]);
}

#[test]
fn an_import_that_is_cut_short_leaves_each_entry_old_or_new_and_is_finished_by_another() {
    let old = given(&[
        ("core/a.md", "---\nkey: a\ncategory: core\n---\n\nold"),
        ("core/b.md", "---\nkey: b\ncategory: core\n---\n\nold"),
        ("core/c.md", "---\nkey: c\ncategory: core\n---\n\nold"),
    ]);
    let new = given(&[
        ("core/a.md", "---\nkey: a\ncategory: core\n---\n\nnew"),
        ("notes/b.md", "---\nkey: b\ncategory: notes\nupdated: 2001-01-01\n---\n\nnew"),
        ("core/d.md", "---\nkey: d\ncategory: core\n---\n\nnew"),
    ]);
    let mut whole = World::new();
    whole.import(&old, ImportMode::Replace);
    whole.import(&new, ImportMode::Replace);
    whole.retain(&new, ImportMode::Replace);
    let mut deaths = 0;
    for effects in 0.. {
        let mut world = World::new();
        world.import(&old, ImportMode::Replace);
        world.store.dies_after = Some(world.store.writes.len() + effects);
        let imported = world.try_import(&new, ImportMode::Replace, false, 1);
        let died = imported.and_then(|imported| world.try_retain(imported, false)).is_err();
        world.store.dies_after = None;
        world.reopen();
        for key in ["a", "b", "c", "d"] {
            let text = world.get(key).map(|entry| entry.content).ok();
            let is_whole = match key {
                "c" => matches!(text.as_deref(), Some("old") | None),
                "d" => matches!(text.as_deref(), Some("new") | None),
                _ => matches!(text.as_deref(), Some("old" | "new")),
            };
            assert!(is_whole, "{key} is {text:?} after {effects} effects");
        }
        world.import(&new, ImportMode::Replace);
        world.retain(&new, ImportMode::Replace);
        assert_eq!(world.export(false), whole.export(false), "after {effects} effects");
        assert_eq!(world.list(EntryFilter::default()).problems, [], "after {effects} effects");
        deaths += usize::from(died);
        if !died {
            break;
        }
    }
    // For a and b: what is replaced waits, the file, its backup, what waited goes. Then b in its folder, b's old file,
    // d, c.
    assert_eq!(deaths, 12);
}

#[test]
fn an_export_comes_in_pages_that_neither_skip_nor_repeat() {
    let mut world = World::with(EntriesConfig { max_entries: 2_000, ..EntriesConfig::of_agent("a") });
    let files: Vec<(String, Vec<u8>)> = (0..1_030)
        .map(|i| (format!("core/k{i:04}.md"), format!("---\nupdated: 2026-05-01\n---\n\nv{i}").into_bytes()))
        .collect();
    let states = world.import(&files, ImportMode::Upsert);
    assert!(states.iter().all(|state| *state == ImportState::Upserted));
    let EntriesReply::ExportEntries(page) =
        world.run(EntriesVerb::ExportEntries(ExportEntries { forgotten: false, cursor: None })).unwrap()
    else {
        panic!()
    };
    assert_eq!((page.files.len(), page.total, page.next.as_deref()), (1_024, 1_030, Some("core/k1023.md")));
    assert_eq!(world.export(false), files);
    let refused = world
        .run(EntriesVerb::ExportEntries(ExportEntries { forgotten: false, cursor: Some("../x".into()) }))
        .unwrap_err();
    assert_eq!(refused.message, "`../x` is no cursor");
}

#[test]
fn an_import_of_too_much_is_refused_as_a_whole() {
    let mut world = World::new();
    let file = |bytes: usize| ImportFile { path: "core/k.md".into(), content: Ok(alloc::vec![b'x'; bytes]) };
    let request = |files| ImportEntries { files, mode: ImportMode::Upsert, dry_run: false, earlier: Vec::new() };
    let earlier = ImportedFile { path: "x".into(), key: None, shared: false, state: ImportState::Unchanged };
    for (request, message) in [
        (request(alloc::vec![file(1); 1_025]), "1025 files of one command, the limit is 1024: 1 too many"),
        (
            request(alloc::vec![file(262_144); 17]),
            "4456448 bytes of one command, the limit is 4194304: 262144 too many",
        ),
        (
            ImportEntries { earlier: alloc::vec![earlier; 65_536], ..request(alloc::vec![file(1)]) },
            "65537 files of the import, the limit is 65536: 1 too many",
        ),
    ] {
        let refused = world.run(EntriesVerb::ImportEntries(request)).unwrap_err();
        assert_eq!((refused.code, refused.message.as_str()), (ErrorCode::TooLarge, message));
    }
    assert_eq!(world.store.names(), Vec::<&str>::new());
}

proptest! {
    #[test]
    fn any_entry_comes_back_from_an_export(
        entries in prop::collection::vec(("\\PC{1,40}|[a-c./~%\\x00-\\x1f]{1,9}", "(?s).{1,60}", "\\PC{1,9}|core|workspace"), 1..6)
    ) {
        let mut world = World::new();
        for (key, content, category) in &entries {
            let _ = world.run(EntriesVerb::StoreEntry(StoreEntry { entry: entry(key, content, category), base: None }));
        }
        let exported = world.export(true);
        let mut fresh = World::new();
        let states = fresh.import(&exported, ImportMode::Upsert);
        prop_assert!(states.iter().all(|state| *state == ImportState::Upserted), "{:?}", states);
        // A backup is no part of an export.
        let written: Vec<_> = world.files().into_iter().filter(|(name, _)| !name.ends_with(".bak")).collect();
        prop_assert_eq!(fresh.files(), written);
        prop_assert_eq!(fresh.export(true), exported);
        let list = |world: &mut World| world.list(EntryFilter::default()).entries;
        prop_assert_eq!(list(&mut fresh), list(&mut world));
    }

    /// Whatever the bytes and the path are, they are taken or rejected, and what is taken reads back.
    #[test]
    fn any_file_is_imported_as_it_is_or_rejected(
        path in "(core/|notes/|workspace/|\\.\\./|/)?[a-b~%./]{0,6}(\\.md)?",
        head in "(key: [ab1:\\[ ]{0,3}\n)?(category: [a-bw]{0,2}\n)?(agent: [ab]\n)?(updated: (2|x|99999999999999)\n)?",
        body in "(?s).{0,12}",
    ) {
        let mut world = World::new();
        world.keep("a", "old", "core");
        let before = world.files();
        let text = format!("---\n{head}---\n\n{body}");
        let imported = world.import_all(&given(&[(&path, &text)]), ImportMode::Replace, false, 1);
        match &imported[0].state {
            ImportState::Rejected(_) => prop_assert_eq!(world.files(), before),
            _ => {
                let dated = document::dated(text, world.now().epoch_nanoseconds());
                prop_assert!(world.export(true).iter().any(|(_, bytes)| bytes == dated.as_bytes()));
            }
        }
    }
}

#[test]
fn l_a_checkpoint_names_what_it_has_left_and_the_next_one_stores_it() {
    let mut world = World::new();
    world.open("r", 1).unwrap();
    for i in 0..20 {
        world.hold("r", &format!("k{i:03}"), &"x".repeat(16_384), "c").unwrap();
    }
    let first = world.save("r", EntriesVerb::Checkpoint(Checkpoint)).unwrap();
    assert_eq!((first.stored.len(), first.truncated.len()), (15, 5));
    assert_eq!(first.truncated[0], "k015");
    assert_eq!(first.message, "15 stored, 5 left for the next checkpoint");
    let last = world.save("r", EntriesVerb::CloseRun(CloseRun)).unwrap();
    assert_eq!((last.stored.len(), last.truncated.len()), (5, 0));
    assert_eq!(world.keys().len(), 20);
}

#[test]
fn m_entries_that_were_not_hydrated_do_not_fall_behind() {
    let mut world = World::new();
    for key in ["a", "b", "c", "d"] {
        world.keep(key, "v", "notes");
    }
    let budget = 2 * 7;
    let before = world.hydrated_keys(budget);
    assert_eq!(before, ["d", "c"]);
    for key in before.clone() {
        world.keep(&key, "v", "notes");
    }
    world.forget("d");
    assert_eq!(world.hydrated_keys(budget), ["c", "b"]);
}

#[test]
fn n_the_cold_tail_is_reached_from_a_run() {
    let mut world = World::new();
    world.keep("cold", "a forgotten lighthouse", "notes");
    world.keep("warm", "v", "core");
    world.open("r", 1).unwrap();
    assert_eq!(world.hydrate(9, Some("r")).entries.len(), 1);
    assert_eq!(world.find("lighthouse", Some("r")), ["cold"]);
    assert!(world.in_run("r", EntriesVerb::GetEntry(GetEntry { key: "cold".into() })).is_ok());
}

#[test]
fn a_run_is_seen_by_itself_alone_until_its_checkpoint() {
    let mut world = World::new();
    world.keep("k", "old", "core");
    world.open("r", 1).unwrap();
    world.hold("r", "k", "new", "core").unwrap();
    assert_eq!(world.hydrate(100, Some("r")).entries[0].content, "new");
    assert_eq!(world.get("k").unwrap().content, "old");
    world.save("r", EntriesVerb::Checkpoint(Checkpoint)).unwrap();
    assert_eq!(world.get("k").unwrap().content, "new");
}

#[test]
fn an_older_fence_is_refused_and_writes_nothing() {
    let mut world = World::new();
    world.open("old", 1).unwrap();
    world.hold("old", "k", "v", "core").unwrap();
    let held_by = world.entries.clone();
    world.reopen();
    world.open("new", 2).unwrap();
    world.keep("l", "v", "core");
    world.entries = held_by;
    let before = world.store.writes.len();
    for verb in [
        EntriesVerb::Checkpoint(Checkpoint),
        EntriesVerb::CloseRun(CloseRun),
        EntriesVerb::ForgetEntry(ForgetEntry { key: "l".into(), base: None }),
    ] {
        let refused = world.in_run("old", verb).unwrap_err();
        assert_eq!(refused.code, ErrorCode::StaleFence);
        assert_eq!(refused.message, "UZ-RUN-005: run `old` has the fence 1, a newer one has 2");
    }
    assert_eq!(world.open("old", 1).unwrap_err().code, ErrorCode::StaleFence);
    assert_eq!(world.store.writes.len(), before);
    assert!(world.open("old", 2).is_ok());
}

#[test]
fn what_others_changed_during_a_run_is_not_written_over() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    world.open("r", 1).unwrap();
    world.hold("r", "k", "of the run", "core").unwrap();
    world.keep("k", "of a person", "core");
    let saved = world.save("r", EntriesVerb::Checkpoint(Checkpoint)).unwrap();
    assert_eq!(saved.skipped[0].reason, "it was changed by others during the run");
    assert_eq!(world.get("k").unwrap().content, "of a person");
}

#[test]
fn a_checkpoint_that_fails_goes_on_where_it_stopped() {
    let mut world = World::new();
    world.open("r", 1).unwrap();
    for key in ["a", "b", "c"] {
        world.hold("r", key, "v", "core").unwrap();
    }
    world.store.dies_after = Some(world.store.writes.len() + 2);
    let failed = world.save("r", EntriesVerb::Checkpoint(Checkpoint)).unwrap_err();
    assert_eq!(failed.code, ErrorCode::MemoryUnavailable);
    assert!(failed.message.starts_with("UZ-MEM-003: "), "{}", failed.message);
    world.store.dies_after = None;
    assert_eq!(world.save("r", EntriesVerb::Checkpoint(Checkpoint)).unwrap().stored, ["c"]);
    assert_eq!(world.keys(), ["a", "b", "c"]);
}

#[test]
fn the_workspace_is_shared_and_has_its_own_cap() {
    let config = |agent: &str| EntriesConfig {
        workspace: Some("w".into()),
        max_workspace_entries: 2,
        ..EntriesConfig::of_agent(agent)
    };
    let mut world = World::with(config("a"));
    let shared = world.keep("k", "v", "workspace");
    assert_eq!(shared.path, "workspaces/w/entries/k.md");
    world.keep("own", "v", "core");
    world.entries = Arc::new(Entries::new(Some(config("b"))).unwrap());
    assert_eq!(world.keys(), ["k"]);
    world.keep("l", "v", "workspace");
    assert_eq!(world.keep("m", "v", "workspace").evicted, ["k"]);
    world.entries = Arc::new(Entries::new(Some(config("a"))).unwrap());
    assert_eq!(world.keys(), ["l", "m", "own"]);
    // Three quarters of the budget are for the agent's own.
    let shares = world.hydrate(40, None);
    assert_eq!(shares.entries.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(), ["own"]);
    assert_eq!(shares.left_out[0].left_out.as_deref(), Some("workspace-share"));
}

#[test]
fn sharing_an_entry_moves_it() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    let moved = world.keep("k", "v", "workspace");
    assert_eq!(moved.state, StoreState::Moved("core".into()));
    assert_eq!(world.store.names(), ["workspaces/w/entries/k.md"]);
    assert!(world.store.text("workspaces/w/entries/k.md").contains("\nworkspace: w\n"));
}

#[test]
fn a_move_between_categories_keeps_what_a_person_wrote() {
    let mut world = World::new();
    world.store.put(K, b"---\nkey: k\nmood: good\n---\n\nv".to_vec());
    assert_eq!(world.keep("k", "v", "daily").state, StoreState::Moved("core".into()));
    assert_eq!(world.store.names(), ["agents/a/entries/daily/k.bak", "agents/a/entries/daily/k.md"]);
    assert!(world.store.text("agents/a/entries/daily/k.md").contains("mood: good\n"));
}

#[test]
fn a_move_that_is_cut_short_anywhere_leaves_the_entry_and_is_finished_by_the_next_store() {
    let moved = || EntriesVerb::StoreEntry(StoreEntry { entry: entry("k", "w", "daily"), base: None });
    for steps in 0..8 {
        let mut world = World::new();
        world.keep("k", "v", "core");
        world.store.dies_after = Some(world.store.writes.len() + steps);
        let is_done = world.run(moved()).is_ok();
        world.store.dies_after = None;
        let found = world.get("k").unwrap();
        let expected = if steps < 2 { ("v", "core") } else { ("w", "daily") };
        assert_eq!((found.content.as_str(), found.category.as_str()), expected, "after {steps}");
        assert_eq!(is_done, steps > 5, "after {steps}");
        world.keep("k", "x", "daily");
        let files: Vec<&str> = world.store.names().into_iter().filter(|name| name.ends_with(".md")).collect();
        assert_eq!(files.len(), 1, "after {steps}: {files:?}");
        assert_eq!(world.get("k").unwrap().content, "x");
    }
}

/// Runs verbs at the same moment, each as a process of its own does, in an order that the seed decides.
fn race(store: &mut Store, seed: u64, now: LocalTime, verbs: &[EntriesVerb]) -> Vec<Result<EntriesReply, Error>> {
    store.race(verbs.len() as u64, seed, |fs, number| {
        let config = EntriesConfig { workspace: Some("w".into()), ..EntriesConfig::of_agent("a") };
        let entries = Arc::new(Entries::new(Some(config)).unwrap());
        let verb = verbs[usize::try_from(number).unwrap()].clone();
        async move { run(&call_at(fs, now), &entries, EntriesCommand::new(verb)).await }
    })
}

fn stores(categories: &[&str], base: Option<&str>) -> Vec<EntriesVerb> {
    let store = |category: &&str| {
        EntriesVerb::StoreEntry(StoreEntry {
            entry: entry("k", &format!("in {category}"), category),
            base: base.map(String::from),
        })
    };
    categories.iter().map(store).collect()
}

fn notes_of(world: &World) -> Vec<&str> {
    world.store.names().into_iter().filter(|name| name.ends_with(".md")).collect()
}

#[test]
fn one_key_that_is_stored_in_several_categories_at_once_has_one_file() {
    for seed in 0..400 {
        for is_there in [false, true] {
            let mut world = World::new();
            if is_there {
                world.keep("k", "before", "first");
            }
            let (now, verbs) = (world.now(), stores(&["core", "daily", "notes"], None));
            let replies = race(&mut world.store, seed, now, &verbs);
            for reply in replies {
                let state = stored(reply).state;
                let is_kept = matches!(state, StoreState::Stored | StoreState::Updated | StoreState::Moved(_));
                assert!(is_kept, "seed {seed}: {state:?}");
            }
            let files = notes_of(&world).len();
            assert_eq!(files, 1, "seed {seed}, there before: {is_there}: {:?}", world.store.names());
            let found = world.get("k").unwrap();
            assert_eq!(found.content, format!("in {}", found.category), "seed {seed}");
            assert_eq!(world.list(EntryFilter::default()).problems, []);
        }
    }
}

#[test]
fn of_several_moves_on_one_base_one_is_made() {
    for seed in 0..200 {
        let mut world = World::new();
        let first = world.keep("k", "before", "first");
        let (now, verbs) = (world.now(), stores(&["core", "daily", "notes"], Some(&first.version)));
        let states = race(&mut world.store, seed, now, &verbs).into_iter().map(|reply| stored(reply).state);
        let states: Vec<StoreState> = states.collect();
        let lost = states.iter().filter(|state| **state == StoreState::Conflict).count();
        assert_eq!(lost, 2, "seed {seed}: {states:?}");
        assert_eq!(notes_of(&world).len(), 1, "seed {seed}");
    }
}

#[test]
fn a_store_and_a_forget_at_once_leave_one_file() {
    for seed in 0..200 {
        let mut world = World::new();
        world.keep("k", "before", "core");
        let mut verbs = stores(&["daily"], None);
        verbs.push(EntriesVerb::ForgetEntry(ForgetEntry { key: "k".into(), base: None }));
        let now = world.now();
        let replies = race(&mut world.store, seed, now, &verbs);
        assert!(replies.iter().all(Result::is_ok), "seed {seed}: {replies:?}");
        assert_eq!(notes_of(&world).len(), 1, "seed {seed}: {:?}", world.store.names());
    }
}

#[test]
fn text_of_a_tool_that_is_stored_at_the_same_moment_does_not_replace_what_a_person_says() {
    for seed in 0..200 {
        let mut world = World::new();
        let now = world.now();
        let verbs = stores(&["core", "daily"], None);
        let replies = world.store.race(2, seed, |fs, number| {
            let entries = Arc::new(Entries::new(Some(EntriesConfig::of_agent("a"))).unwrap());
            let verb = verbs[usize::try_from(number).unwrap()].clone();
            let provenance = (number == 0).then_some(Provenance::Tool);
            let command = EntriesCommand { provenance, ..EntriesCommand::new(verb) };
            async move { run(&call_at(fs, now), &entries, command).await }
        });
        assert!(replies[1].is_ok(), "seed {seed}: {replies:?}");
        assert_eq!(world.get("k").unwrap().content, "in daily", "seed {seed}: {replies:?}");
        assert_eq!(notes_of(&world).len(), 1, "seed {seed}");
    }
}

#[test]
fn a_purge_removes_every_outdated_file_of_a_key() {
    let mut world = World::new();
    let file = |day: u32| format!("---\nkey: k\nupdated: 2026-01-0{day}\n---\n\n{day}").into_bytes();
    for (place, day) in [("core", 1), ("notes", 2), ("other", 3)] {
        world.store.put(&format!("agents/a/entries/{place}/k.md"), file(day));
    }
    assert_eq!(world.list(EntryFilter::default()).problems.len(), 2);
    let EntriesReply::PurgeEntries(reply) =
        world.run(EntriesVerb::PurgeEntries(PurgeEntries { key: Some("k".into()) })).unwrap()
    else {
        panic!("no purge")
    };
    assert_eq!((reply.purged, reply.message.as_str()), (Vec::new(), "Removed 2 outdated files of k"));
    assert_eq!(world.store.names(), ["agents/a/entries/other/k.md"]);
    assert_eq!(world.get("k").unwrap().content, "3");
    assert!(world.purge(Some("k")).unwrap_err().message.contains("not forgotten"));
}

#[test]
fn what_was_overwritten_can_be_restored_and_the_restore_undone() {
    let mut world = World::new();
    world.keep("k", "one", "core");
    world.seconds += 1;
    world.keep("k", "two", "core");
    let restore = || EntriesVerb::RestoreEntry(RestoreEntry { key: "k".into() });
    for content in ["one", "two", "one"] {
        world.seconds += 1;
        let reply = stored(world.run(restore()));
        assert_eq!((reply.state, reply.message.as_str()), (StoreState::Updated, "Restored k, which was overwritten"));
        let found = world.get("k").unwrap();
        assert_eq!((found.content.as_str(), found.version), (content, reply.version));
        assert_eq!(found.updated, world.now().epoch_nanoseconds());
    }
    assert_eq!(world.store.names(), ["agents/a/entries/core/k.bak", K]);
}

#[test]
fn what_was_overwritten_by_a_move_comes_back_under_the_new_category() {
    let mut world = World::new();
    world.keep("k", "one", "core");
    world.keep("k", "two", "daily");
    stored(world.run(EntriesVerb::RestoreEntry(RestoreEntry { key: "k".into() })));
    let found = world.get("k").unwrap();
    assert_eq!((found.content.as_str(), found.category.as_str()), ("one", "daily"));
    assert_eq!(world.store.names(), ["agents/a/entries/daily/k.bak", "agents/a/entries/daily/k.md"]);
}

#[test]
fn what_was_forgotten_can_be_restored() {
    let mut world = World::new();
    world.keep("k", "one", "core");
    world.forget("k");
    let reply = stored(world.run(EntriesVerb::RestoreEntry(RestoreEntry { key: "k".into() })));
    assert_eq!((reply.state, reply.message.as_str()), (StoreState::Stored, "Restored k, which was forgotten"));
    assert_eq!(world.get("k").unwrap().content, "one");
    let none = world.run(EntriesVerb::RestoreEntry(RestoreEntry { key: "k".into() })).unwrap_err();
    assert_eq!((none.code, none.message.as_str()), (ErrorCode::NotFound, "there is no backup of `k`"));
}

#[test]
fn a_restore_of_an_entry_that_is_cut_short_loses_neither_text() {
    for steps in 0..5 {
        let mut world = World::new();
        world.keep("k", "one", "core");
        world.keep("k", "two", "core");
        let restore = || EntriesVerb::RestoreEntry(RestoreEntry { key: "k".into() });
        world.store.dies_after = Some(world.store.writes.len() + steps);
        let _ = world.run(restore());
        world.store.dies_after = None;
        let has = |world: &World, text: &str| {
            let ends = |name: &str| world.store.text(name).ends_with(&format!("\n\n{text}"));
            world.store.names().into_iter().any(ends)
        };
        assert!(has(&world, "one") && has(&world, "two"), "after {steps}");
        if steps < 4 {
            world.run(restore()).unwrap();
            assert_eq!(world.get("k").unwrap().content, "one", "after {steps}");
        }
        assert!(has(&world, "one") && has(&world, "two"), "after {steps}");
        assert!(!world.store.has("agents/a/entries/core/k.old"), "after {steps}");
    }
}

#[test]
fn what_is_purged_or_evicted_leaves_no_backup() {
    let mut world = World::capped(1);
    world.keep("a", "one", "notes");
    world.keep("a", "two", "notes");
    world.seconds += 1;
    assert_eq!(world.keep("b", "one", "notes").evicted, ["a"]);
    assert_eq!(world.store.names(), ["agents/a/entries/notes/b.md"]);
    world.keep("b", "two", "notes");
    world.forget("b");
    world.purge(None).unwrap();
    assert_eq!(world.store.names(), Vec::<&str>::new());
}

#[test]
fn a_file_that_is_no_entry_is_named_and_never_written_over() {
    let mut world = World::new();
    let broken = "---\nkey: [\n---\n\nhand-written";
    world.store.put(K, broken.into());
    let listed = world.list(EntryFilter::default());
    assert_eq!((listed.total, listed.problems[0].path.as_str()), (0, K));
    let refused =
        world.run(EntriesVerb::StoreEntry(StoreEntry { entry: entry("k", "v", "core"), base: None })).unwrap_err();
    assert!(refused.message.starts_with(&format!("{K} cannot be read as an entry: line ")), "{}", refused.message);
    assert_eq!(world.store.text(K), broken);
    assert!(world.get("k").unwrap_err().help.contains("is no entry"));
    world.store.put(K, alloc::vec![0xff, 0xfe]);
    assert!(world.run(EntriesVerb::StoreEntry(StoreEntry { entry: entry("k", "v", "core"), base: None })).is_err());
    assert_eq!(world.list(EntryFilter::default()).problems[0].message, "not UTF-8 text");
}

#[test]
fn a_file_that_another_key_has_is_not_written_over() {
    let mut world = World::new();
    world.store.put(K, b"---\nkey: other\n---\n\nv".to_vec());
    let refused =
        world.run(EntriesVerb::StoreEntry(StoreEntry { entry: entry("k", "v", "core"), base: None })).unwrap_err();
    assert_eq!(refused.message, format!("{K} has the key `other`, not `k`"));
    assert_eq!(world.get("other").unwrap().path, K);
    assert_eq!(world.keep("other", "w", "core").path, K);
}

#[test]
fn of_two_files_of_one_key_the_later_one_counts() {
    let mut world = World::new();
    let file = |day: u32| format!("---\nkey: k\nupdated: 2026-01-0{day}\n---\n\n{day}").into_bytes();
    world.store.put("agents/a/entries/core/x.md", file(1));
    world.store.put("agents/a/entries/core/y.md", file(2));
    assert_eq!(world.get("k").unwrap().content, "2");
    let listed = world.list(EntryFilter::default());
    assert_eq!((listed.total, listed.problems[0].path.as_str()), (1, "agents/a/entries/core/x.md"));
    world.forget("k");
    assert_eq!(world.keys(), Vec::<String>::new());
    assert_eq!(world.purge(Some("k")).unwrap(), ["k"]);
    assert_eq!(world.store.names(), Vec::<&str>::new());
}

#[test]
fn an_edit_of_a_person_during_a_store_is_kept() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    let edited = "---\nkey: k\ncategory: core\nnote: mine\n---\n\nv";
    world.store.editor = Some((world.store.writes.len(), K, edited));
    world.keep("k", "w", "core");
    let text = world.store.text(K);
    assert!(text.contains("note: mine\n") && text.ends_with("\n\nw"), "{text}");
}

#[test]
fn a_base_that_does_not_hold_is_a_conflict() {
    let mut world = World::new();
    let first = world.keep("k", "v", "core");
    world.keep("k", "w", "core");
    let stale =
        |base: &str| EntriesVerb::StoreEntry(StoreEntry { entry: entry("k", "x", "core"), base: Some(base.into()) });
    let reply = stored(world.run(stale(&first.version)));
    assert_eq!(reply.state, StoreState::Conflict);
    assert_eq!(stored(world.run(stale(&reply.version))).state, StoreState::Updated);
    let absent = EntriesVerb::StoreEntry(StoreEntry { entry: entry("l", "x", "core"), base: Some("0".into()) });
    assert_eq!(stored(world.run(absent)).state, StoreState::Conflict);
    let forget = EntriesVerb::ForgetEntry(ForgetEntry { key: "k".into(), base: Some(first.version) });
    assert_eq!(world.run(forget).unwrap_err().code, ErrorCode::Contention);
}

#[test]
fn every_key_is_kept_apart() {
    let mut world = World::new();
    let long = "k".repeat(255);
    let keys = ["a/b", "..", "../../x", "nul", "a\0b", "\"q\"", "line\nbreak", "🦀", "Key", "key", " key", &long];
    for key in keys {
        assert_eq!(world.keep(key, key, "core").state, StoreState::Stored, "{key:?}");
    }
    world.reopen();
    for key in keys {
        assert_eq!(world.get(key).unwrap().content, key);
    }
}

#[test]
fn content_is_kept_byte_for_byte() {
    let mut world = World::new();
    for content in ["---\nkey: forged\n---\n", "\n", "\r\n\r\nx", "a\n---\nb", "\u{feff}x", " ", "x\n\n\n"] {
        world.keep("k", content, "core");
        world.reopen();
        assert_eq!(world.get("k").unwrap().content, content);
    }
}

#[test]
fn explain_says_why_of_every_entry() {
    let mut world = World::new();
    world.keep("d", "v", "daily");
    world.seconds += 100 * HOUR;
    world.keep("core", "0123456789", "core");
    world.keep("big", &"x".repeat(100), "notes");
    world.keep("n", "v", "notes");
    let request = Hydrate { max_bytes: 25, policy: Policy::Greedy };
    let verb = EntriesVerb::Explain(Explain { request, key: None });
    let EntriesReply::Explain(reply) = world.run(verb).unwrap() else { panic!("no explanation") };
    let said: Vec<String> = reply
        .entries
        .iter()
        .map(|e| format!("{} {} {} {} {}", e.key, e.rank, e.size, e.total, e.left_out.as_deref().unwrap_or("in")))
        .collect();
    // The daily entry went with the stores after it.
    assert_eq!(said, ["core 1 18 18 in", "n 1 7 25 in", "big 2 108 25 larger-than-budget"]);
    let one = EntriesVerb::Explain(Explain { request, key: Some("n".into()) });
    let EntriesReply::Explain(reply) = world.run(one).unwrap() else { panic!("no explanation") };
    assert_eq!((reply.entries.len(), reply.bytes), (1, 25));
    let none = EntriesVerb::Explain(Explain { request, key: Some("x".into()) });
    assert_eq!(world.run(none).unwrap_err().code, ErrorCode::EntryNotFound);
}

#[test]
fn a_memory_without_an_agent_has_no_entries() {
    let mut world = World::new();
    world.entries = Arc::new(Entries::new(None).unwrap());
    let refused = world.get("k").unwrap_err();
    assert_eq!(refused.message, "this memory was opened without an agent");
    let alone =
        World::capped(9).run(EntriesVerb::StoreEntry(StoreEntry { entry: entry("k", "v", "workspace"), base: None }));
    assert_eq!(alone.unwrap_err().message, "this memory was opened without a workspace");
}
