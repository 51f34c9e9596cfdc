//! The checks that a change must pass, in an order that fails early, with the time of each.

use std::time::{Duration, Instant};

use crate::run::{Output, add_target, cargo, cargo_with, command, program, root};
use crate::{clients, component, new_user, release};

/// Target without a standard library, to check that a crate uses none.
const NO_STD_TARGET: &str = "wasm32v1-none";

/// The packages that the component is made of: they do without the standard library, and their unit tests are a step
/// of their own.
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
const PACKAGES: [&str; 12] = [
    "--package",
    "saddlebag-component",
    "--package",
    "saddlebag-host",
    "--package",
    "saddlebag-cli",
    "--package",
    "saddlebag-zk",
    "--package",
    "saddlebag-tests",
    "--package",
    "xtask",
];

/// The packages that need no component, with the native engine alone.
const NATIVE: [&str; 11] = [
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

/// Runs all steps.
pub(crate) fn all(without_clients: bool) -> Result<(), String> {
    let mut pass = Pass::default();
    let result = pass.all(without_clients);
    pass.print_times();
    result
}

/// Runs the steps that need neither wasmtime, nor the component, nor the clients.
pub(crate) fn quick() -> Result<(), String> {
    let mut pass = Pass::default();
    let result = pass.quick();
    pass.print_times();
    eprintln!("left out: the component, the end-to-end tests in both engines, the docs, the demo, the clients");
    result
}

#[derive(Default)]
struct Pass {
    times: Vec<(&'static str, Duration)>,
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

    fn all(&mut self, without_clients: bool) -> Result<(), String> {
        add_target(component::TARGET)?;
        add_target(NO_STD_TARGET)?;
        self.step("format", format)?;
        self.step("check without the standard library", || {
            cargo(["check", "--quiet"].into_iter().chain(COMPONENT).chain(["--lib", "--target", NO_STD_TARGET]))
        })?;
        self.step("check of every world", component::check_worlds)?;
        self.step("unit tests", unit_tests)?;
        self.step("contract", contract)?;
        let installing = (!without_clients).then(|| Background::start("installation of the clients", clients::install));
        self.step("lints", || {
            cargo(["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"])
        })?;
        self.step("build of the tests", || cargo(["test", "--no-run"].into_iter().chain(PACKAGES)))?;
        // The tests of the disk wait for syncs, so another build beside them costs little. The component of a
        // release has a target folder of its own; cargo would make anything else wait for the tests to start.
        let beside = Background::start("release component, docs, tokens", |output| {
            component::build_with(output)?;
            let no_warnings = [("RUSTDOCFLAGS", "--deny warnings")];
            // The library and the program have one name, so their pages must not be written at the same time.
            cargo_with(["doc", "--package", "saddlebag-cli", "--no-deps", "--quiet"], &no_warnings, output)?;
            let others = ["doc", "--workspace", "--exclude", "saddlebag-cli", "--no-deps", "--quiet"];
            cargo_with(others, &no_warnings, output)?;
            cargo_with(["test", "--package", "saddlebag-bench", "--no-default-features", "--lib"], &[], output)?;
            cargo_with(["test", "--package", "saddlebag-packaging", "--no-run"], &[], output)
        });
        self.step("end to end", || cargo(["test"].into_iter().chain(PACKAGES).chain(["--lib", "--bins", "--tests"])))?;
        self.finish(beside)?;
        self.step("packages of a release", || release::package(&mut Output::Inherited))?;
        self.step("examples in the docs", || cargo(["test", "--doc"]))?;
        self.step("demo", || command(&program()?.to_string_lossy(), ["demo"], &[], &mut Output::Inherited))?;
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
        let start = Instant::now();
        let result = work();
        self.times.push((name, start.elapsed()));
        result.map_err(|error| format!("{name}: {error}"))
    }

    /// Waits for what ran beside other steps, and shows its output if it failed.
    fn finish(&mut self, background: Background) -> Result<(), String> {
        let Background { name, thread } = background;
        let (result, output, time) = thread.join().map_err(|_| format!("{name}: the thread panicked"))?;
        self.times.push((name, time));
        result.map_err(|error| format!("{name}: {error}\n{output}"))
    }

    fn print_times(&self) {
        eprintln!();
        for (name, time) in &self.times {
            eprintln!("{:>7.1} s  {name}", time.as_secs_f64());
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

fn format() -> Result<(), String> {
    cargo(["fmt", "--all", "--check"])
}

/// The conversions are those of `wit/`. In a run of its own: the parser of `wit/` changes the features of other crates.
fn contract() -> Result<(), String> {
    cargo(["test", "--package", "saddlebag-contract"])
}

fn unit_tests() -> Result<(), String> {
    cargo(["test", "--quiet"].into_iter().chain(COMPONENT).chain(["--lib"]))
}
