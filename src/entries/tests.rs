//! Tests of the commands over a store in memory. The letters name the faults of the original.

use proptest::prelude::*;

use super::*;
use crate::engine::Limits;
use crate::notebook::testing::{Store, call_at};
use crate::store::{LocalTime, Timestamp};
use crate::trust::Provenance;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::CommandId;

mod edits;
mod invariants;
mod moves;
mod races;
mod repeats;
mod restores;
mod runs;

const HOUR: i64 = 3_600;

/// Lists all entries.
async fn list_all(call: &Call, entries: &Entries) -> Result<EntryPage, Error> {
    let all = EntryList { category: None, accepts: &|_| true, order: None, limit: usize::MAX, after: None };
    list(call, entries, &Origin::default(), all).await
}

/// A request about entries, which a test may give.
trait Asked: Send + 'static + for<'a> Run<EntriesCall<'a>, Reply: 'static> {}

impl<R: Send + 'static + for<'a> Run<EntriesCall<'a>, Reply: 'static>> Asked for R {}

/// A store, the entries of one of its agents, and a clock.
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
        Self::with(EntriesConfig { workspace: Some("w".into()), ..EntriesConfig::for_agent("a") })
    }

    fn capped(max_entries: u32) -> Self {
        Self::with(EntriesConfig { max_entries, ..EntriesConfig::for_agent("a") })
    }

    /// Opens the same store as another process.
    fn reopen(&mut self) {
        let config = EntriesConfig { workspace: Some("w".into()), ..EntriesConfig::for_agent("a") };
        self.entries = Arc::new(Entries::new(Some(config)).unwrap());
    }

    fn now(&self) -> LocalTime {
        Timestamp { seconds: self.seconds, nanoseconds: 0, utc_offset_seconds: 0 }.local().unwrap()
    }

    fn run_as<R: Asked>(&mut self, origin: Origin, request: R) -> Result<R::Reply, Error> {
        let (entries, now) = (self.entries.clone(), self.now());
        self.store.run(|fs| async move { run(&call_at(fs, now), &entries, &origin, request).await })
    }

    fn run<R: Asked>(&mut self, request: R) -> Result<R::Reply, Error> {
        self.run_as(Origin::default(), request)
    }

    fn get_with(&mut self, origin: Origin, key: &str) -> Result<EntryInfo, Error> {
        let (entries, now, key) = (self.entries.clone(), self.now(), key.to_string());
        self.store.run(move |fs| async move { get(&call_at(fs, now), &entries, &origin, &key).await })
    }

    fn in_run<R: Asked>(&mut self, run: &str, request: R) -> Result<R::Reply, Error> {
        self.run_as(Origin::from_run(run), request)
    }

    fn store_entry(&mut self, entry: NewEntry) -> StoreReply {
        self.run(WriteEntry { entry, expected_version: None }).unwrap()
    }

    fn keep(&mut self, key: &str, content: &str, category: &str) -> StoreReply {
        self.store_entry(entry(key, content, category))
    }

    fn hold(&mut self, run: &str, key: &str, content: &str, category: &str) -> Result<StoreReply, Error> {
        self.in_run(run, storing(key, content, category))
    }

    fn get(&mut self, key: &str) -> Result<EntryInfo, Error> {
        self.get_with(Origin::default(), key)
    }

    fn list(&mut self) -> EntryPage {
        let (entries, now) = (self.entries.clone(), self.now());
        let page = self.store.run(|fs| async move { list_all(&call_at(fs, now), &entries).await });
        page.unwrap()
    }

    fn keys(&mut self) -> Vec<String> {
        let mut keys: Vec<String> = self.list().entries.into_iter().map(|entry| entry.key).collect();
        keys.sort();
        keys
    }

    fn find(&mut self, query: &str, run: Option<&str>) -> Vec<String> {
        let origin = Origin { run: run.map(String::from), ..Origin::default() };
        let (entries, now, query) = (self.entries.clone(), self.now(), query.to_string());
        let found = self.store.run(|fs| async move { find(&call_at(fs, now), &entries, &origin, &query, 10).await });
        found.unwrap().hits.into_iter().map(|hit| hit.entry.key).collect()
    }

    fn hydrate(&mut self, max_bytes: u64, run: Option<&str>) -> HydrateReply {
        let origin = Origin { run: run.map(String::from), ..Origin::default() };
        self.run_as(origin, Hydrate { max_bytes, policy: HydrationPolicy::Greedy }).unwrap()
    }

    fn hydrated_keys(&mut self, max_bytes: u64) -> Vec<String> {
        self.hydrate(max_bytes, None).entries.into_iter().map(|entry| entry.key).collect()
    }

    fn forget_with(&mut self, origin: Origin, key: &str, version: Option<String>) -> Result<ForgottenAs, Error> {
        let (entries, now, key) = (self.entries.clone(), self.now(), key.to_string());
        self.store.run(|fs| async move { forget(&call_at(fs, now), &entries, &origin, &key, version).await })
    }

    fn forget(&mut self, key: &str) -> ForgottenAs {
        self.forget_with(Origin::default(), key, None).unwrap()
    }

    fn restore_with(&mut self, origin: Origin, key: &str) -> Result<StoreReply, Error> {
        let (entries, now, key) = (self.entries.clone(), self.now(), key.to_string());
        self.store.run(|fs| async move { restore(&call_at(fs, now), &entries, &origin, &key).await })
    }

    fn restore(&mut self, key: &str) -> Result<StoreReply, Error> {
        self.restore_with(Origin::default(), key)
    }

    fn purge(&mut self, key: Option<&str>) -> Result<Vec<String>, Error> {
        self.run(PurgeEntries { key: key.map(String::from) }).map(|reply| reply.purged)
    }

    fn open(&mut self, run: &str, fence: u64) -> Result<RunReply, Error> {
        self.in_run(run, OpenRun { fence })
    }
}

impl World {
    /// Returns all files of the entries, exported in pages.
    fn export(&mut self, forgotten: bool) -> Vec<(String, Vec<u8>)> {
        let (mut files, mut cursor) = (Vec::new(), None);
        loop {
            let page = self.run(ExportEntries { forgotten, cursor }).unwrap();
            files.extend(page.files.into_iter().map(|file| (file.path, file.content)));
            cursor = page.next;
            if cursor.is_none() {
                return files;
            }
        }
    }

    /// Imports this many files per command; their own provenance is believed.
    fn import_all(
        &mut self,
        files: &[(String, Vec<u8>)],
        mode: ImportMode,
        dry_run: bool,
        part: usize,
    ) -> Vec<ImportedFile> {
        let mut earlier = Vec::new();
        for files in files.chunks(part) {
            let files = files.iter().map(|(path, bytes)| ImportFile { path: path.clone(), content: Ok(bytes.clone()) });
            let request = ImportEntries { files: files.collect(), mode, dry_run, earlier: earlier.clone() };
            earlier.extend(self.run_as(Origin::from_provenance(Provenance::User), request).unwrap().files);
        }
        earlier
    }

    fn import(&mut self, files: &[(String, Vec<u8>)], mode: ImportMode) -> Vec<ImportState> {
        self.import_all(files, mode, false, MAX_IMPORT_FILES).into_iter().map(|file| file.state).collect()
    }

    fn retained(&mut self, imported: Vec<ImportedFile>, dry_run: bool) -> Vec<String> {
        let reply = self.run(RetainEntries { imported, dry_run }).unwrap();
        reply.deleted.into_iter().map(|entry| entry.key).collect()
    }

    /// Returns the keys that are removed because they are in no file.
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
        vec![self; count]
    }
}

fn given(files: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    files.iter().map(|(path, text)| (path.to_string(), text.as_bytes().to_vec())).collect()
}

/// Returns the paths of the files, without backups.
fn notes_of(world: &World) -> Vec<&str> {
    world.store.names().into_iter().filter(|name| name.ends_with(".md")).collect()
}

fn entry(key: &str, content: &str, category: &str) -> NewEntry {
    NewEntry::new(key, content, category)
}

fn storing(key: &str, content: &str, category: &str) -> WriteEntry {
    WriteEntry { entry: entry(key, content, category), expected_version: None }
}

const K: &str = "agents/a/entries/core/k.md";

#[test]
fn an_entry_is_one_complete_file() {
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
    let tagged = world.store_entry(NewEntry { tags: vec!["t".into()], ..entry("k", "v", "core") });
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
    world.keep("standup", "v", "daily");
    world.seconds += 100 * HOUR;
    assert_eq!(world.keep("standup", "v", "daily").state, StoreState::Stored);
    let info = world.get("standup").unwrap();
    assert_eq!((info.created, info.updated), (info.updated, world.now().epoch_nanoseconds()));
}

#[test]
fn b_the_last_written_entry_is_the_newest_even_if_the_clock_stops_or_goes_back() {
    let mut world = World::new();
    world.keep("old", "v", "core");
    world.keep("new", "v", "core");
    assert_eq!(world.hydrated_keys(1_000), ["new", "old"]);
    world.seconds -= 5;
    world.keep("old", "corrected", "core");
    assert_eq!(world.hydrated_keys(1_000), ["old", "new"]);
}

#[test]
fn a_forgotten_entry_comes_back_only_with_another_text() {
    let mut world = World::new();
    let first = world.keep("k", "v", "core");
    let tombstone = world.forget("k");
    assert!(!tombstone.already_forgotten && world.forget("k").already_forgotten);
    assert_eq!(world.keep("k", "v", "core").state, StoreState::Forgotten);
    let stale = WriteEntry { entry: entry("k", "w", "core"), expected_version: Some(first.version) };
    assert_eq!(world.run(stale).unwrap().state, StoreState::Forgotten);
    let help = world.get("k").unwrap_err().help.clone();
    assert!(help.contains(tombstone.version.as_deref().unwrap()), "{help}");
    let knowing = WriteEntry { entry: entry("k", "v", "core"), expected_version: tombstone.version };
    assert_eq!(world.run(knowing).unwrap().state, StoreState::Stored);
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
fn e_an_entry_that_would_be_evicted_at_once_is_refused_with_numbers() {
    let mut world = World::capped(2);
    world.keep("c1", "v", "core");
    world.keep("c2", "v", "core");
    let refused = world.run(storing("n", "v", "notes")).unwrap_err();
    assert_eq!(refused.code, ErrorCode::Full);
    assert_eq!(
        refused.message,
        "`n` would be evicted at once: memory is full (2 entries), and its 2 core entries are evicted last"
    );
    assert_eq!(world.keys(), ["c1", "c2"]);
    // A core entry that becomes one of notes frees its own place.
    assert_eq!(world.keep("c2", "v", "notes").state, StoreState::Moved("core".into()));
    let third = world.keep("c3", "v", "core");
    assert_eq!(third.evicted, ["c2"]);
    let fourth = world.keep("c4", "v", "core");
    assert_eq!(fourth.evicted, ["c1"]);
    assert_eq!(world.keys(), ["c3", "c4"]);
    // An entry that is not stored evicts nothing.
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
fn g_tags_are_kept() {
    let mut world = World::new();
    for (key, tags) in [("a", &["x", "y"][..]), ("b", &["x"]), ("c", &[])] {
        let tags = tags.iter().map(|tag| tag.to_string()).collect();
        world.store_entry(NewEntry { tags, ..entry(key, "v", "core") });
    }
    let tags = world.list().entries.into_iter().map(|entry| (entry.key, entry.tags));
    assert_eq!(tags.filter(|(_, tags)| tags.contains(&"x".into())).count(), 2);
}

#[test]
fn h_get_is_exact_and_find_searches() {
    let mut world = World::new();
    world.keep("deploy_target", "The staging cluster in Dublin.", "core");
    world.keep("100%", "percent", "core");
    assert_eq!(world.get("deploy_target").unwrap().content, "The staging cluster in Dublin.");
    for key in ["deploy", "Deploy_target", "deploy_target ", "%"] {
        assert_eq!(world.get(key).unwrap_err().message, format!("no entry `{key}`"));
    }
    assert_eq!(world.find("where is the staging cluster", None), ["deploy_target"]);
    assert_eq!(world.find("deploy target", None), ["deploy_target"]);
    let mut world = World::new();
    for (key, query) in [
        ("Staging_Port", "staging port"),
        ("harbor rate", "rate"),
        ("größe/maß", "maß"),
        ("Café", "café"),
        ("con", "con"),
        (format!("{}lighthouse", "x ".repeat(120)).as_str(), "lighthouse"),
    ] {
        world.keep(key, "8443", "core");
        assert_eq!(world.find(query, None), [key]);
    }
}

#[test]
fn the_workspace_is_shared_and_has_its_own_cap() {
    let config = |agent: &str| EntriesConfig {
        workspace: Some("w".into()),
        max_workspace_entries: 2,
        ..EntriesConfig::for_agent(agent)
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
    // Three quarters of the budget are for the agent's own entries.
    let shares = world.hydrate(40, None);
    assert_eq!(shares.entries.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(), ["own"]);
    assert_eq!(shares.explanations.iter().find_map(|entry| entry.left_out.as_deref()), Some("workspace-share"));
}

#[test]
fn a_file_that_is_not_an_entry_is_reported_and_never_overwritten() {
    let mut world = World::new();
    let broken = "---\nkey: [\n---\n\nhand-written";
    world.store.put(K, broken.into());
    let listed = world.list();
    assert_eq!((listed.total, listed.problems[0].path.as_str()), (0, K));
    let refused = world.run(storing("k", "v", "core")).unwrap_err();
    assert!(refused.message.starts_with(&format!("{K} cannot be read as an entry: line ")), "{}", refused.message);
    assert_eq!(world.store.text(K), broken);
    assert!(world.get("k").unwrap_err().help.contains("is not an entry"));
    world.store.put(K, vec![0xff, 0xfe]);
    assert!(world.run(storing("k", "v", "core")).is_err());
    assert_eq!(world.list().problems[0].message, "not UTF-8 text");
    // Nor is one that another key has.
    world.store.put(K, b"---\nkey: other\n---\n\nv".to_vec());
    let refused = world.run(storing("k", "v", "core")).unwrap_err();
    assert_eq!(refused.message, format!("{K} has the key `other`, not `k`"));
    assert_eq!(world.get("other").unwrap().path, K);
    assert_eq!(world.keep("other", "w", "core").path, K);
}

#[test]
fn the_later_of_two_files_with_one_key_counts() {
    let mut world = World::new();
    let file = |day: u32| format!("---\nkey: k\nupdated: 2026-01-0{day}\n---\n\n{day}").into_bytes();
    world.store.put("agents/a/entries/core/x.md", file(1));
    world.store.put("agents/a/entries/core/y.md", file(2));
    assert_eq!(world.get("k").unwrap().content, "2");
    let listed = world.list();
    assert_eq!((listed.total, listed.problems[0].path.as_str()), (1, "agents/a/entries/core/x.md"));
    world.forget("k");
    assert_eq!(world.keys(), Vec::<String>::new());
    assert_eq!(world.purge(Some("k")).unwrap(), ["k"]);
    assert_eq!(world.store.names(), Vec::<&str>::new());
}

#[test]
fn a_persons_edit_during_a_store_is_kept() {
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
    let stale = |base: &str| WriteEntry { entry: entry("k", "x", "core"), expected_version: Some(base.into()) };
    let reply = world.run(stale(&first.version)).unwrap();
    assert_eq!(reply.state, StoreState::Conflict);
    assert_eq!(world.run(stale(&reply.version)).unwrap().state, StoreState::Updated);
    let absent = WriteEntry { entry: entry("l", "x", "core"), expected_version: Some("0".into()) };
    assert_eq!(world.run(absent).unwrap().state, StoreState::Conflict);
    let forgotten = world.forget_with(Origin::default(), "k", Some(first.version));
    assert_eq!(forgotten.unwrap_err().code, ErrorCode::StaleVersion);
}

#[test]
fn every_key_is_kept_apart_and_content_byte_for_byte() {
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
    for content in ["---\nkey: forged\n---\n", "\n", "\r\n\r\nx", "a\n---\nb", "\u{feff}x", " ", "x\n\n\n"] {
        world.keep("k", content, "core");
        world.reopen();
        assert_eq!(world.get("k").unwrap().content, content);
    }
}

#[test]
fn explain_gives_a_reason_for_every_entry() {
    let mut world = World::new();
    world.keep("d", "v", "daily");
    world.seconds += 100 * HOUR;
    world.keep("core", "0123456789", "core");
    world.keep("big", &"x".repeat(100), "notes");
    world.keep("n", "v", "notes");
    let reply = world.hydrate(25, None);
    let said: Vec<String> = reply
        .explanations
        .iter()
        .map(|e| format!("{} {} {} {} {}", e.key, e.rank, e.size, e.total, e.left_out.as_deref().unwrap_or("in")))
        .collect();
    // Storing the later entries removed the daily entry.
    assert_eq!(said, ["core 1 18 18 in", "n 1 7 25 in", "big 2 108 25 larger-than-budget"]);
}

#[test]
fn a_memory_without_an_agent_has_no_entries() {
    let mut world = World::new();
    world.entries = Arc::new(Entries::new(None).unwrap());
    let refused = world.get("k").unwrap_err();
    assert_eq!(refused.message, "this memory was opened without an agent");
    let alone = World::capped(9).run(storing("k", "v", "workspace"));
    assert_eq!(alone.unwrap_err().message, "this memory was opened without a workspace");
}
