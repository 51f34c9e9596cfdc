//! The checks that a change must pass, in an order that fails early, with the time of each: [`all`] has what fails most,
//! [`slow`] has the rest.

use std::time::{Duration, Instant};

use crate::run::{COMPILING, Output, add_target, cargo, cargo_with, command, program, root};
use crate::{budget, clients, component, new_user, release, remote, shells};

/// Tests of [`PACKAGES`] that take longest, by a part of their names: [`all`] skips them and [`slow`] runs them.
/// Of most tests in both engines the native one stays with [`all`].
const SLOW: [&str; 23] = [
    "agents_are_isolated::agents_are_isolated::component",
    "agents_are_isolated::no_spelling_of_a_name_reaches_the_memory_of_another",
    "catalogue::a_host_that_fails_once_loses_no_text::component",
    "concurrency::two_processes_appending_lose_no_line_ten_times_in_a_row",
    "durability::a_change_that_is_not_durable_is_never_acknowledged::component",
    "durability::acknowledged_writes_survive::component",
    "history_crashes::ten_thousand_commands_with_power_cuts_lose_no_byte",
    "history::ten_thousand_operations_are_undone_to_the_beginning_and_made_again",
    "index_file::a_damaged_index_is_never_believed",
    "index_file::a_forged_index_does_not_trap::component",
    "index_file::an_index_in_parts_is_taken_whole_or_not_at_all",
    "index_file::commands_at_once_leave_an_index_that_is_true::component",
    "index_file::damage_in_what_is_read_later_is_noticed::component",
    "leases::a_killed_host_with_a_lease_blocks_others_for_less_than_ten_seconds",
    "sync_bars::ten_changes_among_ten_thousand_notes_are_synchronised_in_a_second",
    "sync_bars::ten_thousand_random_edits_on_five_machines_lose_and_bring_back_nothing",
    "sync_syncthing::edits_that_real_syncthing_could_not_merge_are_merged",
    "sync::five_hundred_random_edits_on_each_of_two_machines_meet",
    "notebook::hostile::a_note_of_nothing_but_links_is_named_and_the_first_of_them_are_known",
    "notebook::hostile::notes_with_more_links_than_fit_into_memory_end_in_a_typed_error",
    "nothing_escapes_the_root::links_to_files_are_neither_followed_nor_replaced",
    "nothing_escapes_the_root::links_to_folders_are_not_followed",
    "hydration::hydration_is_a_pure_function_of_entries_budget_and_clock",
];

/// Target without a standard library, to check that a crate uses none.
const NO_STD_TARGET: &str = "wasm32v1-none";

/// The packages that the component is made of: they do without the standard library, and their unit tests are their own
/// step.
const COMPONENT: [&str; 16] = [
    "--package",
    "saddlebag",
    "--package",
    "saddlebag-collections",
    "--package",
    "saddlebag-markdown",
    "--package",
    "saddlebag-protocol",
    "--package",
    "saddlebag-sanitize",
    "--package",
    "saddlebag-search",
    "--package",
    "saddlebag-words",
    "--package",
    "saddlebag-zk-rules",
];

/// The other packages with tests.
const PACKAGES: [&str; 22] = [
    "--package",
    "saddlebag-component",
    "--package",
    "saddlebag-guest",
    "--package",
    "saddlebag-history",
    "--package",
    "saddlebag-merge",
    "--package",
    "saddlebag-locks",
    "--package",
    "saddlebag-host",
    "--package",
    "saddlebag-cli",
    "--package",
    "saddlebag-zk",
    "--package",
    "saddlebag-tests",
    "--package",
    "saddlebag-bench",
    "--package",
    "xtask",
];

/// Part of [`PACKAGES`] that is run.
const TARGETS: [&str; 3] = ["--lib", "--bins", "--tests"];

/// The packages that need no component, with the native engine alone.
const NATIVE: [&str; 19] = [
    "--package",
    "saddlebag-guest",
    "--package",
    "saddlebag-history",
    "--package",
    "saddlebag-merge",
    "--package",
    "saddlebag-locks",
    "--package",
    "saddlebag-host",
    "--package",
    "saddlebag-cli",
    "--package",
    "saddlebag-zk",
    "--package",
    "xtask",
    "--no-default-features",
    "--features",
    "saddlebag-cli/native",
];

/// Runs what fails most.
pub(crate) fn all() -> Result<(), String> {
    run(Pass::all)?;
    eprintln!("left out: what `cargo xtask test --slow` checks");
    Ok(())
}

/// Runs what [`all`] leaves out.
pub(crate) fn slow(without_clients: bool) -> Result<(), String> {
    run(|pass| pass.slow(without_clients))
}

/// Runs the steps that need neither wasmtime, nor the component.
pub(crate) fn quick() -> Result<(), String> {
    run(Pass::quick)?;
    eprintln!(
        "left out: the component, the end-to-end tests in both engines, and what `cargo xtask test --slow` checks"
    );
    Ok(())
}

/// Runs steps, and prints the time of each even if one fails.
fn run(steps: impl FnOnce(&mut Pass) -> Result<(), String>) -> Result<(), String> {
    let mut pass = Pass::default();
    let result = steps(&mut pass);
    pass.print_times();
    result
}

#[derive(Default)]
struct Pass {
    times: Vec<(&'static str, Duration, Option<Duration>)>,
}

impl Pass {
    fn quick(&mut self) -> Result<(), String> {
        self.step("format", format)?;
        self.step("unit tests", unit_tests)?;
        self.step("contract", contract)?;
        self.step("lints", || {
            let packages = ["clippy"].into_iter().chain(COMPONENT).chain(NATIVE);
            cargo(packages.chain(["--all-targets", "--quiet", "--", "--deny", "warnings"]))
        })?;
        self.step("host and program, native engine", || cargo(["test"].into_iter().chain(NATIVE)))
    }

    fn all(&mut self) -> Result<(), String> {
        add_target(component::TARGET)?;
        add_target(NO_STD_TARGET)?;
        self.step("format", format)?;
        self.step("budget", budget::check)?;
        self.step("check without the standard library", || {
            cargo(["check", "--quiet"].into_iter().chain(COMPONENT).chain(["--lib", "--target", NO_STD_TARGET]))
        })?;
        self.step("check of every world", component::check_worlds)?;
        self.step("unit tests", unit_tests)?;
        self.step("contract", contract)?;
        self.step("lints", || {
            // The packages of a release change the features of `syn`, and the compiler of the build script would be built again.
            let packaging = "saddlebag-packaging";
            let lints = ["--all-targets", "--quiet", "--", "--deny", "warnings"];
            cargo(["clippy", "--workspace", "--exclude", packaging].into_iter().chain(lints))?;
            cargo(["clippy", "--package", packaging].into_iter().chain(lints))
        })?;
        self.step("build of the tests", || cargo(["test", "--no-run"].into_iter().chain(PACKAGES)))?;
        self.step("end to end", || {
            let skipped = SLOW.iter().flat_map(|name| ["--skip", name]);
            cargo(["test"].into_iter().chain(PACKAGES).chain(TARGETS).chain(["--"]).chain(skipped))
        })?;
        self.step("demo", || command(&program()?.to_string_lossy(), ["demo"], &[], &mut Output::Inherited))
    }

    fn slow(&mut self, without_clients: bool) -> Result<(), String> {
        add_target(component::TARGET)?;
        let install = |output: &mut Output| {
            clients::install(output)?;
            new_user::install(output)
        };
        let installing = (!without_clients).then(|| Background::start("installation of the clients", install));
        // The later steps, and the clients, need the program and the tests.
        self.step("build of the tests", || {
            cargo(["build", "--bin", "saddlebag"])?;
            cargo(["test", "--no-run"].into_iter().chain(PACKAGES))
        })?;
        // The tests of the disk wait for syncs, so another build beside them costs little. The component of a release
        // has its own target folder; cargo would make anything else wait for the tests to start.
        let beside = Background::start("release component, docs", |output| {
            component::build_with(output)?;
            let no_warnings = [("RUSTDOCFLAGS", "--deny warnings")];
            // The library and the program have one name, so their pages must not be written at the same time.
            cargo_with(["doc", "--package", "saddlebag-cli", "--no-deps", "--quiet"], &no_warnings, output)?;
            let others = ["doc", "--workspace", "--exclude", "saddlebag-cli", "--no-deps", "--quiet"];
            cargo_with(others, &no_warnings, output)?;
            cargo_with(["test", "--package", "saddlebag-packaging", "--no-run"], &[], output)
        });
        self.step("slow tests", || {
            cargo(["test"].into_iter().chain(PACKAGES).chain(TARGETS).chain(["--"]).chain(SLOW))
        })?;
        self.finish(beside)?;
        self.step("stores on servers", || remote::test(remote::Length::Short))?;
        self.step("compiling at run time", compiler)?;
        self.step("shells", shells::test)?;
        self.step("packages of a release", || release::package(&mut Output::Inherited))?;
        self.step("examples in the docs", || cargo(["test", "--doc"]))?;
        match installing {
            Some(installing) => {
                self.finish(installing)?;
                self.step("clients from PyPI and npm", clients::run)?;
            }
            None => eprintln!("left out: the clients from PyPI and npm"),
        }
        // After the installation, as some of its checks run tools from there.
        self.step("installed packages", || {
            cargo(["test", "--quiet", "--package", "saddlebag-packaging", "--", "--nocapture"])
        })?;
        if without_clients {
            eprintln!("left out: a new user, who needs the Python of the clients");
            return Ok(());
        }
        // The folder that the packages of the step before are in.
        self.step("a new user", || new_user::run(&root()?.join("target/tmp/packages/made"), &["archive"]))
    }

    fn step(&mut self, name: &'static str, work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
        eprintln!("\n== {name}");
        let (start, before) = (Instant::now(), cpu_time_of_children());
        let result = work();
        let cpu = cpu_time_of_children().zip(before).map(|(after, before)| after.saturating_sub(before));
        self.times.push((name, start.elapsed(), cpu));
        result.map_err(|error| format!("{name}: {error}"))
    }

    /// Waits for what ran beside other steps, and shows its output if it failed.
    fn finish(&mut self, background: Background) -> Result<(), String> {
        let Background { name, thread } = background;
        let (result, output, time) = thread.join().map_err(|_| format!("{name}: the thread panicked"))?;
        self.times.push((name, time, None));
        result.map_err(|error| format!("{name}: {error}\n{output}"))
    }

    fn print_times(&self) {
        eprintln!();
        for (name, time, cpu) in &self.times {
            let cpu = cpu.map_or(String::new(), |cpu| format!("{:.1} s", cpu.as_secs_f64()));
            eprintln!("{:>7.1} s {cpu:>10} of a processor  {name}", time.as_secs_f64());
        }
    }
}

/// Work beside the steps: it has ended when [`Pass::finish`] returns.
struct Background {
    name: &'static str,
    thread: std::thread::JoinHandle<(Result<(), String>, String, Duration)>,
}

impl Background {
    fn start(name: &'static str, work: impl FnOnce(&mut Output) -> Result<(), String> + Send + 'static) -> Self {
        let thread = std::thread::spawn(move || {
            let start = Instant::now();
            let mut output = Output::Captured(String::new());
            let result = work(&mut output);
            let text = match output {
                Output::Captured(text) => text,
                Output::Inherited => String::new(),
            };
            (result, text, start.elapsed())
        });
        Self { name, thread }
    }
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

/// The conversions match `wit/`. In a separate run: the parser of `wit/` changes the features of other crates.
fn contract() -> Result<(), String> {
    cargo(["test", "--package", "saddlebag-contract"])
}

fn unit_tests() -> Result<(), String> {
    cargo(["test", "--quiet"].into_iter().chain(COMPONENT).chain(["--lib"]))
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
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn every_slow_test_exists() {
        let mut sources = String::new();
        let mut folders: Vec<PathBuf> =
            ["tests", "host-harness", "cli"].map(|folder| root().expect("a root").join(folder)).to_vec();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|suffix| suffix == "rs") {
                    sources.push_str(&fs::read_to_string(path).expect("text"));
                }
            }
        }
        for slow in SLOW {
            let name = slow.trim_end_matches("::native").trim_end_matches("::component");
            let name = name.rsplit("::").next().expect("a name");
            assert!(sources.contains(&format!("fn {name}(")), "there is no test {slow}");
        }
    }
}
