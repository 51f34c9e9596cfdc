//! The vectors of the entries: pure rules, and both engines over the simulator.

use saddlebag::entries::{
    Budget, Candidate, Category, Checkpoint, EntriesConfig, Hydrate, HydrationPolicy, Kept, NewEntry, OpenRun, Tier,
    is_expired, over_cap, plan, taken,
};
use saddlebag::store::{EntryFolder, Timestamp, utc_text};
use saddlebag::{Answered, Config, Origin, ReplyTo, Submission};
use saddlebag_host::{Host, Simulator};
use serde::Deserialize;

use super::{Kind, SimulatedHost, ask, engine};

const NANOSECONDS: u64 = 1_000_000;

#[derive(Deserialize)]
pub struct Recorded {
    hydrate: Vec<Hydration>,
    evict: Vec<Eviction>,
    sweep: Vec<Sweep>,
    capture: Vec<Capture>,
}

#[derive(Deserialize)]
struct Hydration {
    name: String,
    budget: u64,
    rows: Vec<Row>,
    sizes: Vec<u64>,
    prefix: Vec<Text>,
    greedy: Vec<Text>,
}

#[derive(Deserialize)]
struct Eviction {
    name: String,
    cap: u32,
    rows: Vec<Row>,
    evicted: Vec<Text>,
}

#[derive(Deserialize)]
struct Sweep {
    name: String,
    now: u64,
    rows: Vec<Row>,
    deleted: Vec<Text>,
}

#[derive(Deserialize)]
struct Capture {
    name: String,
    now: u64,
    cap: u32,
    rows: Vec<Row>,
    deltas: Vec<Row>,
    result: Captured,
}

#[derive(Deserialize)]
struct Captured {
    stored: usize,
    skipped: usize,
    truncated: bool,
    swept: Vec<Text>,
    evicted: Vec<Text>,
    remaining: Vec<Text>,
}

#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    id: u64,
    key: Text,
    content: Text,
    category: Text,
    #[serde(default)]
    created_at: u64,
    #[serde(default)]
    updated_at: u64,
}

/// `{"repeat": [s, n]}` is s repeated n times.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Plain(String),
    Repeated { repeat: (String, usize) },
}

impl Text {
    fn get(&self) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::Repeated { repeat: (text, times) } => text.repeat(*times),
        }
    }
}

impl Row {
    fn category(&self) -> Category {
        self.category.get().parse().expect("a category")
    }

    fn tier(&self) -> Tier {
        self.category().tier()
    }

    fn size(&self) -> u64 {
        (self.key.get().len() + self.content.get().len() + self.category.get().len()) as u64
    }

    /// Returns a unique time, because the original breaks ties by the number of the row.
    fn updated(&self) -> u64 {
        self.updated_at * NANOSECONDS + self.id
    }
}

fn keys<'a>(texts: impl IntoIterator<Item = &'a Text>) -> Vec<String> {
    texts.into_iter().map(Text::get).collect()
}

fn sorted(mut keys: Vec<String>) -> Vec<String> {
    keys.sort();
    keys
}

impl Recorded {
    /// Returns the number of cases.
    pub fn count(&self) -> usize {
        self.hydrate.len() + self.evict.len() + self.sweep.len() + self.capture.len()
    }

    /// Runs the cases that `is_followed` selects, and returns the differences by name of the case.
    pub fn failures(&self, kind: Kind, is_followed: impl Fn(&str) -> bool) -> Vec<String> {
        let mut failures = Vec::new();
        let mut check = |name: &str, run: &dyn Fn() -> Result<(), String>| {
            if is_followed(name) {
                failures.extend(run().err().map(|failure| format!("entries: {name}: {failure}")));
            }
        };
        self.hydrate.iter().for_each(|case| check(&case.name, &|| case.check(kind)));
        self.evict.iter().for_each(|case| check(&case.name, &|| case.check()));
        self.sweep.iter().for_each(|case| check(&case.name, &|| case.check()));
        self.capture.iter().for_each(|case| check(&case.name, &|| case.check(kind)));
        failures
    }
}

fn same(what: &str, given: &[String], expected: &[String]) -> Result<(), String> {
    if given == expected { Ok(()) } else { Err(format!("{what}: {given:?}, not {expected:?}")) }
}

impl Hydration {
    fn check(&self, kind: Kind) -> Result<(), String> {
        let sizes: Vec<u64> = self.rows.iter().map(Row::size).collect();
        if sizes != self.sizes {
            return Err(format!("sizes are {sizes:?}"));
        }
        let candidate = |row: &Row| Candidate {
            tier: row.tier(),
            size: row.size(),
            shared: false,
            expired: false,
            unapproved: false,
            superseded: false,
            elsewhere: false,
        };
        let candidates: Vec<Candidate> = self.rows.iter().map(candidate).collect();
        let budget = Budget { bytes: self.budget, shared_bytes: self.budget };
        for (policy, expected) in [(HydrationPolicy::Prefix, &self.prefix), (HydrationPolicy::Greedy, &self.greedy)] {
            let places = taken(&plan(&candidates, budget, policy), policy);
            let given: Vec<String> = places.into_iter().map(|place| self.rows[place].key.get()).collect();
            same(&format!("{policy:?}"), &given, &keys(expected))?;
            // The share of the workspace is ours.
            if self.rows.iter().any(|row| row.category() == Category::Workspace) {
                continue;
            }
            let newest = 1_899_999_000_000;
            let aged = self.rows.iter().zip(0_u64..).map(|(row, age)| (row, (newest - age) * NANOSECONDS));
            let mut host = host(kind, 1_000, aged);
            let reply = run(&mut host, 1_900_000_000_000, None, Hydrate { max_bytes: self.budget, policy })?;
            let given: Vec<String> = reply.entries.into_iter().map(|entry| entry.key).collect();
            same(&format!("{policy:?} through the command"), &given, &keys(expected))?;
        }
        Ok(())
    }
}

impl Eviction {
    fn check(&self) -> Result<(), String> {
        let names: Vec<String> = self.rows.iter().map(|row| row.key.get()).collect();
        let kept: Vec<Kept<'_>> = self
            .rows
            .iter()
            .zip(&names)
            .map(|(row, key)| Kept { tier: row.tier(), updated: row.updated(), key })
            .collect();
        let evicted = over_cap(&kept, self.cap as usize).into_iter().map(|place| names[place].clone()).collect();
        same("evicted", &sorted(evicted), &sorted(keys(&self.evicted)))
    }
}

impl Sweep {
    fn check(&self) -> Result<(), String> {
        let now = self.now * NANOSECONDS;
        let old = self.rows.iter().filter(|row| is_expired(&row.category(), row.updated_at * NANOSECONDS, now));
        same("deleted", &keys(old.map(|row| &row.key)), &keys(&self.deleted))
    }
}

impl Capture {
    fn check(&self, kind: Kind) -> Result<(), String> {
        let mut host = host(kind, self.cap, self.rows.iter().map(|row| (row, row.updated())));
        run(&mut host, self.now, Some("r"), OpenRun { fence: 1 })?;
        let mut accepted = Vec::new();
        for delta in &self.deltas {
            let entry = NewEntry::new(delta.key.get(), delta.content.get(), delta.category.get());
            if run(&mut host, self.now, Some("r"), ask::store(entry)).is_ok() {
                accepted.push(delta.key.get());
            }
        }
        let saved = run(&mut host, self.now, Some("r"), Checkpoint)?;
        let listed = run(&mut host, self.now, None, ask::list_entries())?;
        let skipped = self.deltas.len() - accepted.len() + saved.skipped.len();
        accepted.retain(|key| !saved.truncated.contains(key) && !saved.skipped.iter().any(|entry| entry.key == *key));
        let expected = &self.result;
        let counts = (accepted.len(), skipped, !saved.truncated.is_empty());
        if counts != (expected.stored, expected.skipped, expected.truncated) {
            return Err(format!("stored, skipped and truncated are {counts:?}"));
        }
        same("swept", &sorted(saved.swept), &sorted(keys(&expected.swept)))?;
        same("evicted", &sorted(saved.evicted), &sorted(keys(&expected.evicted)))?;
        let remaining = listed.items.into_iter().map(|entry| entry.name).collect();
        same("remaining", &sorted(remaining), &sorted(keys(&expected.remaining)))
    }
}

/// A host whose store has the rows as files, each last changed at its moment.
fn host<'a>(kind: Kind, cap: u32, rows: impl Iterator<Item = (&'a Row, u64)>) -> SimulatedHost {
    let entries = EntriesConfig { max_entries: cap, ..EntriesConfig::for_agent("a") };
    let folder = EntryFolder::for_agent("a").expect("a folder");
    let mut simulator = Simulator::new(1);
    for (row, updated) in rows {
        let (key, category) = (row.key.get(), row.category.get());
        let created = utc_text(row.created_at * NANOSECONDS);
        let text = format!(
            "---\nkey: \"{key}\"\ncategory: {category}\ncreated: {created}\nupdated: {}\n---\n\n{}",
            utc_text(updated),
            row.content.get()
        );
        simulator.insert(&folder.file(&category, &key).expect("a path"), text);
    }
    Host::new(engine(kind, Config { epoch: 1, entries: Some(entries), ..Config::default() }), simulator)
}

fn run<R>(host: &mut SimulatedHost, now: u64, run: Option<&str>, verb: R) -> Result<ReplyTo<Submission<R>>, String>
where
    Submission<R>: Answered,
{
    let now = Timestamp {
        seconds: i64::try_from(now / 1_000).expect("a time"),
        nanoseconds: u32::try_from(now % 1_000 * NANOSECONDS).expect("below a second"),
        utc_offset_seconds: 0,
    };
    let command = Origin { run: run.map(String::from), ..Origin::default() }.with(verb);
    host.call(now, command).map_err(|error| format!("{error:?}"))
}
