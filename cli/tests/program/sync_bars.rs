//! `saddlebag sync` with many random operations on several machines, and with many files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

use crate::machines::Machines;
use crate::support::run;
use saddlebag_tests_attributes::nightly;

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Machines with random edits, and what must be true at the end.
struct Edits {
    machines: Machines,
    random: fastrand::Rng,
    names: Vec<&'static str>,
    /// Lines that were added, and not deleted where they were.
    added: BTreeSet<String>,
    /// Lines that were deleted or changed.
    deleted: BTreeSet<String>,
    number: usize,
}

impl Edits {
    fn new(machines: Machines, count: usize, seed: u64) -> Self {
        let names = NAMES.into_iter().take(count).collect();
        let random = fastrand::Rng::with_seed(seed);
        Self { machines, random, names, added: BTreeSet::new(), deleted: BTreeSet::new(), number: 0 }
    }

    /// Returns a line that no other machine writes.
    fn line(&mut self, name: &str) -> String {
        self.number += 1;
        let line = format!("- word{} of {name} is number{}.", self.random.u32(0..1000), self.number);
        self.added.insert(line.clone());
        line
    }

    fn delete(&mut self, line: &str) {
        self.added.remove(line);
        self.deleted.insert(line.into());
    }

    /// Changes one file of one machine, as an editor does.
    fn edit(&mut self) {
        let name = self.names[self.random.usize(0..self.names.len())];
        let folder = self.machines.file(name, "notes");
        fs::create_dir_all(&folder).expect("made");
        let mut notes: Vec<_> =
            fs::read_dir(&folder).expect("a folder").map(|file| file.expect("a file").path()).collect();
        notes.sort();
        let action = if notes.len() < 4 { 0 } else { self.random.u32(0..20) };
        if action < 2 {
            let line = self.line(name);
            let text = format!("# Note {}\n\n{line}\n", self.number);
            fs::write(folder.join(format!("n{}.md", self.number)), text).expect("written");
            return;
        }
        if action < 5 {
            let line = self.line(name);
            let minute = self.number % 60;
            let log = self.machines.file(name, "daily/2026-05-30.md");
            fs::create_dir_all(log.parent().expect("a folder")).expect("made");
            let before = fs::read_to_string(&log).unwrap_or_default();
            fs::write(&log, format!("{before}\n### 10:{minute:02} — Entry {}\n{line}\n", self.number))
                .expect("written");
            return;
        }
        let note = notes[self.random.usize(0..notes.len())].clone();
        let text = fs::read_to_string(&note).expect("text");
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
        let chosen = (!lines.is_empty()).then(|| lines[self.random.usize(0..lines.len())].to_string());
        match (action, chosen) {
            (5, _) if notes.len() > 8 => {
                for line in lines {
                    self.delete(line);
                }
                fs::remove_file(&note).expect("removed");
            }
            (6..=7, Some(line)) => {
                self.delete(&line);
                fs::write(&note, text.replace(&format!("{line}\n"), "")).expect("written");
            }
            (8..=11, Some(line)) => {
                let new = self.line(name);
                self.delete(&line);
                fs::write(&note, text.replace(&line, &new)).expect("written");
            }
            _ => {
                let new = self.line(name);
                fs::write(&note, format!("{text}{new}\n")).expect("written");
            }
        }
    }

    /// Synchronises a machine. The clock of each machine is hours away from those of the others, and one in four runs reaches
    /// nobody.
    fn sync(&mut self) {
        let place = self.random.usize(0..self.names.len());
        let (hub, away) = (self.machines.root("hub"), self.machines.root("away"));
        let is_cut_off = self.random.u32(0..4) == 0;
        if is_cut_off {
            fs::rename(&hub, &away).expect("moved");
        }
        let now = format!("2026-05-30T{:02}:15:00+02:00", 3 + place * 4);
        let arguments = ["--now", now.as_str(), "sync", "--max-deletes", "1000"];
        let synced = run(&mut self.machines.command(self.names[place], &arguments), None);
        assert_eq!(synced.code, i32::from(is_cut_off), "{synced:?}");
        if is_cut_off {
            fs::rename(&away, &hub).expect("moved");
        }
    }

    fn check(&self) {
        for name in [self.names.as_slice(), self.names.as_slice()].concat() {
            self.machines.run(name, &["sync", "--max-deletes", "1000"]).exits(0);
        }
        let tree = self.machines.tree(self.names[0]);
        for name in &self.names[1..] {
            let other = self.machines.tree(name);
            let differ = tree.keys().chain(other.keys()).find(|path| tree.get(*path) != other.get(*path));
            assert_eq!(differ, None, "the files of {name} differ");
        }
        let is_review = |path: &&std::path::PathBuf| path.to_string_lossy().contains("merges");
        let text_of = |reviews: bool| -> String {
            tree.iter().filter(|(path, _)| reviews || !is_review(path)).map(|(_, text)| text.as_str()).collect()
        };
        let (all, notes) = (text_of(true), text_of(false));
        assert!(!all.contains("<<<<<<<") && !all.contains(">>>>>>>"), "a mark of a conflict");
        assert!(!tree.keys().any(|path| path.to_string_lossy().contains("conflict")), "a copy");
        for line in &self.added {
            assert!(all.contains(line), "{line:?} is lost");
        }
        for line in &self.deleted {
            assert!(!notes.contains(&format!("{line}\n")), "{line:?} is back");
        }
        for line in &self.added {
            assert!(notes.matches(&format!("{line}\n")).count() <= 1, "{line:?} is doubled");
        }
    }
}

/// Makes random edits on machines that synchronise now and then.
fn random_edits(machines: usize, edits: usize, between: usize, seed: u64) {
    let names: Vec<&str> = NAMES.into_iter().take(machines).collect();
    let Some(sharing) = Machines::sharing(&names) else { return };
    let mut all = Edits::new(sharing, machines, seed);
    for edit in 0..edits {
        all.edit();
        if edit % between == 0 {
            all.sync();
        }
    }
    all.check();
    assert!(all.added.len() > edits / 4 && all.deleted.len() > edits / 10, "edits were made");
}

#[test]
fn random_edits_on_two_machines_with_partitions_and_other_clocks_end_with_the_same_files() {
    random_edits(2, 120, 12, 1);
}

#[test]
fn random_edits_on_five_machines_with_partitions_and_other_clocks_end_with_the_same_files() {
    random_edits(5, 200, 14, 2);
}

#[nightly]
fn ten_thousand_random_edits_on_five_machines_lose_and_bring_back_nothing() {
    random_edits(5, 10_000, 25, 3);
}

/// Two machines with these many notes of the same text, of which one has a git that counts its processes.
#[cfg(unix)]
struct Counted {
    machines: Machines,
    notes: usize,
    round: usize,
}

#[cfg(unix)]
impl Counted {
    fn new(notes: usize) -> Option<Self> {
        use std::os::unix::fs::PermissionsExt as _;

        let machines = Machines::new(&["a"])?;
        machines.run("a", &["setup", "git", "--yes"]).exits(0);
        for number in 0..notes {
            machines.put("a", &format!("notes/n{number}.md"), &format!("# Note {number}\n\nFirst.\n\nLast.\n"));
        }
        machines.sync("a");
        machines.git(".", &["clone", "--quiet", "hub", "b"]);
        machines.run("b", &["setup", "git", "--yes"]).exits(0);
        machines.sync("b");
        let git = machines.folder.join("bin/git");
        fs::create_dir(machines.folder.join("bin")).expect("made");
        let path = std::env::var_os("PATH").expect("a path");
        let real = std::env::split_paths(&path).map(|folder| folder.join("git"));
        let real = real.into_iter().find(|file| file.is_file()).expect("git");
        let script = format!(
            "#!/bin/sh\necho x >> '{}'\nexec '{}' \"$@\"\n",
            machines.folder.join("calls").display(),
            real.display()
        );
        fs::write(&git, script).expect("written");
        fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).expect("executable");
        Some(Self { machines, notes, round: 0 })
    }

    /// Changes a part of some notes on a machine.
    fn change(&mut self, name: &str, changed: usize, part: &str) {
        self.round += 1;
        for number in (0..changed).map(|number| number % self.notes) {
            let path = format!("notes/n{number}.md");
            let text = self.machines.text(name, &path);
            self.machines.put(name, &path, &text.replace(part, &format!("{part} {}", self.round)));
        }
    }

    /// Synchronises, and returns the number of processes of git, with the time.
    fn sync(&self, name: &str) -> (usize, Duration) {
        let calls = self.machines.folder.join("calls");
        fs::write(&calls, "").expect("written");
        let mut command = self.machines.command(name, &["sync"]);
        let path = std::env::var_os("PATH").expect("a path");
        let bin = std::iter::once(self.machines.folder.join("bin")).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(bin).expect("a path"));
        let begun = Instant::now();
        run(&mut command, None).exits(0);
        let time = begun.elapsed();
        (fs::read_to_string(&calls).expect("read").lines().count(), time)
    }

    /// Sends, receives and merges changes of so many notes. Returns what each took.
    fn all(&mut self, changed: usize) -> BTreeMap<&'static str, (usize, Duration)> {
        self.change("a", changed, "First.");
        let mut taken = BTreeMap::from([("send", self.sync("a")), ("receive", self.sync("b"))]);
        self.change("a", changed, "First.");
        self.change("b", changed, "Last.");
        self.sync("a");
        taken.insert("merge", self.sync("b"));
        self.sync("a");
        taken.insert("nothing", self.sync("a"));
        assert_eq!(self.machines.tree("a"), self.machines.tree("b"));
        taken
    }
}

#[test]
#[cfg(unix)]
fn the_number_of_git_processes_does_not_grow_with_the_number_of_files() {
    let Some(mut counted) = Counted::new(60) else { return };
    // More than `--max-deletes`: their sizes are compared, once.
    let (few, many) = (counted.all(30), counted.all(55));
    for (what, limit) in [("send", 29), ("receive", 20), ("merge", 52), ("nothing", 12)] {
        assert!(few[what].0 <= limit, "{what}: {few:?}");
        assert_eq!(few[what].0, many[what].0, "{what}: {few:?} {many:?}");
    }
}

/// An unoptimised program is an upper bound, and gets more time.
#[cfg(unix)]
#[nightly]
fn ten_changes_among_ten_thousand_notes_are_synchronised_in_a_second() {
    let Some(mut counted) = Counted::new(10_000) else { return };
    let limit = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 });
    let taken = counted.all(10);
    eprintln!("10 of 10,000 notes changed: {taken:?}");
    for (what, (_, time)) in &taken {
        assert!(*time < limit, "{what}: {taken:?}");
    }
}
