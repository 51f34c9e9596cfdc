//! The checks that a change must pass, in an order that fails early, with the time of each: [`all`] has what every
//! change must pass, [`nightly`] has the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

use crate::run::{COMPILING, add_target, cargo, cargo_messages, cargo_with, command, program, root};
use crate::{budget, clients, component, dist, nextest, release, remote, shells};

/// Target without a standard library, to check that a crate uses none.
const NO_STD_TARGET: &str = "wasm32v1-none";

/// The packages that do without the standard library.
const NO_STD: [&str; 7] = [
    "saddlebag",
    "saddlebag-collections",
    "saddlebag-log",
    "saddlebag-markdown",
    "saddlebag-protocol",
    "saddlebag-sanitize",
    "saddlebag-search",
];

/// The packages that need no component, beside those.
const NATIVE: [&str; 4] = ["saddlebag-guest", "saddlebag-locks", "saddlebag-host", "saddlebag-cli"];

/// Features of these packages: the native engine alone.
const NATIVE_FEATURES: [&str; 3] = ["--no-default-features", "--features", "saddlebag-cli/native"];

/// What the lints refuse.
const NO_WARNINGS: [&str; 4] = ["--all-targets", "--", "--deny", "warnings"];

/// File of the nightly steps that have passed since the last whole run, one a line.
const PASSED: &str = "target/nightly";

/// Runs all that a change must pass.
///
/// No command selects packages: cargo takes `default-members`, so that each has the same features and nothing is compiled
/// twice.
pub(crate) fn all() -> Result<(), String> {
    let mut pass = Pass::default();
    let result = pass.all();
    pass.print_times();
    result?;
    pass.keep_what_was_measured()?;
    budget::check(true)?;
    eprintln!("left out: what `cargo xtask test --nightly` checks");
    Ok(())
}

/// Runs what [`all`] leaves out, and goes on from the step where the last run stopped.
pub(crate) fn nightly() -> Result<(), String> {
    let mut pass = Pass { passed: Some(passed()?), ..Pass::default() };
    let result = pass.nightly();
    pass.print_times();
    result?;
    let path = root()?.join(PASSED);
    fs::remove_file(&path).map_err(|error| format!("cannot remove {}: {error}", path.display()))
}

/// Forgets which nightly steps have passed.
pub(crate) fn forget_what_passed() -> Result<(), String> {
    match fs::remove_file(root()?.join(PASSED)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(format!("cannot remove {PASSED}: {error}")),
        _ => Ok(()),
    }
}

/// Runs what needs neither wasmtime nor the component: lints and unit tests of its libraries, and the host and the program
/// with the native engine.
pub(crate) fn quick() -> Result<(), String> {
    let mut pass = Pass::default();
    let result = pass.quick();
    pass.print_times();
    result?;
    eprintln!("left out: the component, and the end-to-end tests");
    Ok(())
}

/// Returns the nightly steps that have passed since the last whole run.
fn passed() -> Result<BTreeSet<String>, String> {
    match fs::read_to_string(root()?.join(PASSED)) {
        Ok(text) => Ok(text.lines().map(String::from).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(format!("cannot read {PASSED}: {error}")),
    }
}

#[derive(Default)]
struct Pass {
    times: Vec<(&'static str, Duration, Option<Duration>)>,
    /// Units that cargo compiled or found compiled, and whether it compiled them now.
    units: BTreeMap<String, bool>,
    /// Steps that are not run again; `None` if every step runs.
    passed: Option<BTreeSet<String>>,
}

impl Pass {
    fn quick(&mut self) -> Result<(), String> {
        let packages: Vec<&str> =
            NO_STD.iter().chain(&NATIVE).flat_map(|package| ["--package", package]).chain(NATIVE_FEATURES).collect();
        self.step("format", |_| format())?;
        self.step("lints", |_| cargo(["clippy"].iter().chain(&packages).chain(&NO_WARNINGS)))?;
        self.step("tests, native engine", |_| {
            cargo(["test"].iter().chain(&packages).chain(&["--lib", "--bins", "--tests"]))
        })
    }

    fn all(&mut self) -> Result<(), String> {
        add_target(component::TARGET)?;
        self.step("format", |_| format())?;
        self.step("budget", |_| budget::check(false))?;
        self.step("lints", |pass| pass.compile(["clippy"].into_iter().chain(NO_WARNINGS)))?;
        self.step("build of the tests", |pass| {
            pass.compile(["test", "--no-run", "--lib", "--bins", "--tests"])?;
            pass.compile(component::COMPILE_FOR_TESTS)
        })?;
        self.step("tests", |_| nextest::run(nextest::Tests::OfEveryChange))?;
        self.step("demo", |_| command(&program()?.to_string_lossy(), ["demo"], &[]))
    }

    fn nightly(&mut self) -> Result<(), String> {
        add_target(component::TARGET)?;
        add_target(NO_STD_TARGET)?;
        // Later steps run the program.
        cargo(["build", "--bin", "saddlebag"])?;
        self.step("check without the standard library", |_| {
            let packages = NO_STD.iter().flat_map(|package| ["--package", package]);
            cargo(["check", "--quiet"].into_iter().chain(packages).chain(["--lib", "--target", NO_STD_TARGET]))
        })?;
        self.step("audit", |_| release::audit())?;
        self.step("documentation", |_| documentation())?;
        self.step("examples in the docs", |_| cargo(["test", "--doc"]))?;
        self.step("component of a release", |_| component::build().map(drop))?;
        self.step("packages of a release", |_| release::package())?;
        self.step("long tests, other engine", |_| nextest::run(nextest::Tests::OfTheNight))?;
        self.step("stores on servers", |_| remote::test(remote::Length::Short))?;
        self.step("compiling at run time", |_| compiler())?;
        self.step("shells", |_| shells::test())?;
        self.step("clients from PyPI and npm", |_| {
            clients::install()?;
            clients::run()
        })?;
        self.step("rehearsal of a release", |_| dist::rehearse())
    }

    /// Runs a command of cargo that compiles, and keeps the units that it names.
    fn compile<'a>(&mut self, arguments: impl IntoIterator<Item = &'a str>) -> Result<(), String> {
        // The option belongs before a `--`.
        let (before, after): (Vec<&str>, Vec<&str>) = split_at_dashes(arguments);
        let messages =
            cargo_messages(before.into_iter().chain(["--message-format", "json-render-diagnostics"]).chain(after))?;
        for message in messages.lines().filter(|line| line.starts_with(r#"{"reason":"compiler-artifact""#)) {
            let is_fresh = message.contains(r#""fresh":true"#);
            let unit = message.replace(r#""fresh":true"#, "").replace(r#""fresh":false"#, "");
            *self.units.entry(unit).or_default() |= !is_fresh;
        }
        Ok(())
    }

    /// Keeps the units, and the time of processors if nothing was compiled before.
    fn keep_what_was_measured(&self) -> Result<(), String> {
        budget::keep("compiled_units", self.units.len() as u64)?;
        let compiled = self.units.values().filter(|compiled| **compiled).count();
        let cpu: Option<Duration> = self.times.iter().map(|(_, _, cpu)| *cpu).sum();
        match cpu {
            Some(cpu) if compiled == self.units.len() => budget::keep("processor_minutes", cpu.as_secs().div_ceil(60)),
            _ => {
                eprintln!(
                    "note: {compiled} of {} units were compiled now, so the processor minutes say nothing of a new clone",
                    self.units.len()
                );
                Ok(())
            }
        }
    }

    fn step(&mut self, name: &'static str, work: impl FnOnce(&mut Self) -> Result<(), String>) -> Result<(), String> {
        if self.passed.as_ref().is_some_and(|passed| passed.contains(name)) {
            eprintln!("\n== {name}: passed in an earlier run");
            return Ok(());
        }
        eprintln!("\n== {name}");
        let (start, before) = (Instant::now(), cpu_time_of_children());
        let result = work(self);
        let cpu = cpu_time_of_children().zip(before).map(|(after, before)| after.saturating_sub(before));
        self.times.push((name, start.elapsed(), cpu));
        result.map_err(|error| format!("{name}: {error}"))?;
        if let Some(passed) = &mut self.passed {
            passed.insert(name.to_string());
            let text: String = passed.iter().map(|name| format!("{name}\n")).collect();
            fs::write(root()?.join(PASSED), text).map_err(|error| format!("cannot write {PASSED}: {error}"))?;
        }
        Ok(())
    }

    fn print_times(&self) {
        eprintln!();
        let time = self.times.iter().map(|(_, time, _)| *time).sum();
        let total = ("in all", time, self.times.iter().map(|(_, _, cpu)| *cpu).sum());
        for (name, time, cpu) in self.times.iter().chain([&total]) {
            let cpu = cpu.map_or(String::new(), |cpu: Duration| format!("{:.1} s", cpu.as_secs_f64()));
            eprintln!("{:>7.1} s {cpu:>10} of a processor  {name}", time.as_secs_f64());
        }
    }
}

fn split_at_dashes<'a>(arguments: impl IntoIterator<Item = &'a str>) -> (Vec<&'a str>, Vec<&'a str>) {
    let mut before: Vec<&str> = arguments.into_iter().collect();
    let at = before.iter().position(|argument| *argument == "--").unwrap_or(before.len());
    let after = before.split_off(at);
    (before, after)
}

/// Returns the time that processors have spent on programs that were started and have ended; `None` if the system does not say.
/// Unlike the time of a clock it says what a step takes on a machine that does other work.
fn cpu_time_of_children() -> Option<Duration> {
    /// Units of a second that Linux counts in, on every machine that has this file.
    const TICKS: u64 = 100;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program comes before, and may have any character.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(Duration::from_millis((user + system) * (1000 / TICKS)))
}

fn format() -> Result<(), String> {
    cargo(["fmt", "--all", "--check"])
}

/// The pages of the docs, with every warning an error.
fn documentation() -> Result<(), String> {
    let no_warnings = [("RUSTDOCFLAGS", "--deny warnings")];
    // The library and the program have one name, so their pages must not be written at the same time.
    cargo_with(["doc", "--package", "saddlebag-cli", "--no-deps", "--quiet"], &no_warnings)?;
    cargo_with(["doc", "--workspace", "--exclude", "saddlebag-cli", "--no-deps", "--quiet"], &no_warnings)
}

/// The feature `compiler` of the host, which no other step builds: its wasmtime compiles.
fn compiler() -> Result<(), String> {
    // Without the shells, whose features could hide one that the host lacks.
    let selected = ["--package", "saddlebag-host", "--package", "saddlebag-tests", "--features", "compiler"];
    let lints = ["--all-targets", "--quiet", "--", "--deny", "warnings"];
    cargo(["clippy"].into_iter().chain(selected).chain(lints))?;
    let tests = ["--lib", "--test", "end_to_end", "--", "code::", "component_faults::"];
    cargo(["test", "--quiet"].into_iter().chain(COMPILING).chain(tests))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_goes_before_the_dashes() {
        assert_eq!(split_at_dashes(["clippy", "--", "--deny"]), (vec!["clippy"], vec!["--", "--deny"]));
        assert_eq!(split_at_dashes(["test"]), (vec!["test"], vec![]));
    }
}
