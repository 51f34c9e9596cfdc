//! Checks of what a release contains: a program works in an empty home, and every component answers as the native engine
//! does.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::program::Program;
use crate::component::BUILDS;
use crate::run::{NATIVE_PROGRAM, cargo, root};

/// Time of every run, so that the engines are asked the same.
const NOW: &str = "2026-05-30T09:15:00+02:00";

/// Commands of every family. Each succeeds; the text is in what it prints.
const SESSION: [(&[&str], &str); 16] = [
    (&["write", "long_term", "Staging listens on port 8443"], ""),
    (&["write", "note:deploy", "# Deploy\n\nsee [[port]]"], ""),
    (&["log", "yesterday", "the server moved"], ""),
    (&["edit", "long_term", "--old", "8443", "--new", "8444"], ""),
    (&["search", "staging"], "8444"),
    (&["remember", "--key", "target", "staging first", "--tag", "ops"], ""),
    (&["recall", "--kind", "entry", "staging"], "staging first"),
    (&["entry", "hydrate"], "staging first"),
    (&["forget", "target"], ""),
    (&["remember", "Port", "it is 5432", "--link", "deploy"], ""),
    (&["recall", "which port is it?"], "5432"),
    (&["move", "port", "Database port"], ""),
    (&["context", "--entries"], "8444"),
    (&["--scope", "all", "tools", "memory_read", "{\"source\": \"long_term\"}"], "8444"),
    (&["--provenance", "tool", "--scope", "all", "remember", "--key", "page", "from a page"], ""),
    (&["list", "--pending"], "page"),
];

/// Number of starts that are timed.
const STARTS: usize = 7;

/// Records the session with the native engine of a development build, so that no component can agree with itself.
pub(super) fn record(trace: &Path) -> Result<(), String> {
    const BUILD: &str = "target/native";
    cargo(["build", "--quiet", "--bin", "saddlebag", "--target-dir", BUILD].into_iter().chain(NATIVE_PROGRAM))?;
    let name = format!("saddlebag{}", std::env::consts::EXE_SUFFIX);
    if trace.exists() {
        fs::remove_file(trace).map_err(|error| format!("cannot remove {}: {error}", trace.display()))?;
    }
    let shown = trace.to_string_lossy();
    Home::new(&root()?.join(BUILD).join("debug").join(name))?.session(&["--engine", "native", "--trace", &shown])
}

/// Checks a program in an empty home, and returns a line about it. `kit` compares what its component did with the native engine.
pub(super) fn check_program(program: &Program, kit: &Path) -> Result<String, String> {
    let mut firsts = Vec::new();
    for _ in 0..STARTS {
        let home = Home::new(&program.path)?;
        let (_, time) = home.run(&["status"])?;
        firsts.push(time);
    }
    let home = Home::new(&program.path)?;
    let said = home.run(&["--version"])?.0;
    if said.split_whitespace().nth(1) != Some(&program.version) {
        return Err(format!("{} says that it is {said:?}, not {}", program.path.display(), program.version));
    }
    let trace = kit.with_file_name("released-session.jsonl");
    if trace.exists() {
        fs::remove_file(&trace).map_err(|error| format!("cannot remove {}: {error}", trace.display()))?;
    }
    home.session(&["--trace", &trace.to_string_lossy()])?;
    let kit = Home::new(kit)?;
    let replayed = kit.run(&["--replay", &trace.to_string_lossy()])?.0;
    let mut later = Vec::new();
    for _ in 0..STARTS {
        later.push(home.run(&["status"])?.1);
    }
    home.has_only_memory()?;
    let (first, later) = (median(firsts), median(later));
    let (first, later) = (first.as_secs_f64() * 1e3, later.as_secs_f64() * 1e3);
    let replayed = replayed.trim();
    Ok(format!("{}: first start {first:.1} ms, later {later:.1} ms (status); replay: {replayed}", program.target))
}

/// Replays a trace against every component, and compares each answer.
pub(super) fn check_components(folder: &Path, trace: &Path) -> Result<(), String> {
    for build in &BUILDS {
        let component = folder.join(format!("{}.wasm", build.name));
        let run =
            ["run", "--quiet", "--package", "saddlebag-tests", "--features", "compiler", "--bin", "replay-trace", "--"]
                .map(OsStr::new);
        cargo(run.into_iter().chain([component.as_os_str(), trace.as_os_str()]))?;
    }
    Ok(())
}

/// An empty home, with nothing in the environment, in which a program runs.
struct Home<'a> {
    program: &'a Path,
    folder: PathBuf,
    work: PathBuf,
}

impl<'a> Home<'a> {
    fn new(program: &'a Path) -> Result<Self, String> {
        static MADE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = MADE.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("saddlebag-dist-{}-{number}", std::process::id()));
        let work = folder.join("work");
        fs::create_dir_all(&work).map_err(|error| format!("cannot make {}: {error}", work.display()))?;
        Ok(Self { program, folder, work })
    }

    /// Runs the commands of the session with more options.
    fn session(&self, more: &[&str]) -> Result<(), String> {
        for (command, expected) in SESSION {
            let said = self.run(&[&["--now", NOW, "--secrets", "allow"], more, command].concat())?.0;
            if !said.contains(expected) {
                return Err(format!("`{}` lacks {expected:?}: {said}", command.join(" ")));
            }
        }
        Ok(())
    }

    /// Runs the program, and returns what it prints and the time that it takes.
    fn run(&self, arguments: &[&str]) -> Result<(String, Duration), String> {
        let mut command = Command::new(self.program);
        command.args(arguments).env_clear().env("HOME", &self.folder).env("USERPROFILE", &self.folder);
        command.env("APPDATA", self.folder.join("data")).env("LOCALAPPDATA", self.folder.join("local"));
        if let Some(system) = std::env::var_os("SystemRoot") {
            command.env("SystemRoot", system);
        }
        let line = arguments.join(" ");
        let start = Instant::now();
        let ended = command.current_dir(&self.work).output();
        let time = start.elapsed();
        let ended = ended.map_err(|error| format!("cannot run {}: {error}", self.program.display()))?;
        if ended.status.success() {
            return Ok((String::from_utf8_lossy(&ended.stdout).into_owned(), time));
        }
        Err(format!("{}: `{line}` failed: {}", self.program.display(), String::from_utf8_lossy(&ended.stderr)))
    }

    /// Returns an error if the program wrote anything beside its store, such as compiled code.
    fn has_only_memory(&self) -> Result<(), String> {
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).map_err(|error| format!("cannot list {}: {error}", folder.display()))? {
                let path = entry.map_err(|error| error.to_string())?.path();
                if path.is_dir() && path.file_name() != Some(OsStr::new("saddlebag")) {
                    folders.push(path);
                } else if !path.is_dir() || path.parent().and_then(Path::file_name) == Some(OsStr::new(".cache")) {
                    return Err(format!("{} wrote {}", self.program.display(), path.display()));
                }
            }
        }
        Ok(())
    }
}

impl Drop for Home<'_> {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            eprintln!("cannot remove {}: {error}", self.folder.display());
        }
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
