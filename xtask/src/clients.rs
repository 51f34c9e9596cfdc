//! Clients of the Model Context Protocol that this project did not write: the `mcp` package of PyPI, and the command
//! line of the MCP Inspector of npm. They are installed below `target/` at pinned versions, and run against the
//! program. A host in Python, on the `wasmtime` package of PyPI, runs the component as well, and so do the hosts in
//! JavaScript, in Node.js and in Chromium. The plugins for OpenClaw and Hermes run in stubs of their hosts.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::component::{JSON, TARGET, build_for_tests};
use crate::install::{self, PYTHON, folder, in_environment};
use crate::run::{Kit, command, program, quiet, root};
use crate::shells;

/// Folder of the scripts. Their requirements name the versions.
const SCRIPTS: &str = "cli/tests/clients";
/// Folder of the hosts in JavaScript.
const JAVASCRIPT: &str = "hosts/js";
/// Folder of the tests of the page.
const PAGE: &str = "cli/tests/page";
/// Browser of their tests, as the package `chromium` of Debian installs it.
const CHROMIUM: &str = "/usr/bin/chromium";
const PYTHON_HOST: &str = "tests/clients/python_host/scenario.py";
/// The driver of the same host, for the conformance kit.
const PYTHON_DRIVER: &str = "tests/clients/python_host/driver.py";
/// Keeps compiled files of Python away from the scripts.
const NO_COMPILED_FILES: [(&str, &str); 1] = [("PYTHONDONTWRITEBYTECODE", "1")];

/// Installs the clients below `target/`.
pub(crate) fn install() -> Result<(), String> {
    install::python(PYTHON, SCRIPTS, &folder("python")?)?;
    for (source, purpose) in [(SCRIPTS, "node"), (JAVASCRIPT, "js"), (PAGE, "page")] {
        install::node(source, &folder(purpose)?)?;
    }
    install::jco()?;
    install_chromium();
    Ok(())
}

/// Runs each client, which must be installed, against the program.
pub(crate) fn run() -> Result<(), String> {
    let program = program()?;
    let modules = folder("node")?.join("node_modules");
    let script = |name: &str| Path::new(SCRIPTS).join(name);
    let python = |script: PathBuf, more: &[&Path]| {
        let arguments = [&script, &program].into_iter().map(PathBuf::as_path).chain(more.iter().copied());
        command(&python()?, arguments, &NO_COMPILED_FILES)
    };
    python(script("python_client.py"), &[])?;
    python(script("situations.py"), &[])?;
    python(script("inspector.py"), &[&modules])?;
    command("node", [&script("plugins/openclaw.mjs"), &program, Path::new("plugins/openclaw")], &[])?;
    run_page(&program)?;
    python(script("plugins/hermes.py"), &[Path::new("plugins")])?;
    if cfg!(windows) {
        eprintln!("left out: the host in Python, which needs `flock`");
        return Ok(());
    }
    // The component that the tests run, built by the build script of `saddlebag-component`.
    let component = root()?.join("target/component").join(TARGET).join("component-dev/saddlebag.wasm");
    let json = build_for_tests(&JSON)?;
    let kit = Kit::build()?;
    if cfg!(target_os = "linux") {
        run_javascript(&kit, &component, &json)?;
    } else {
        eprintln!("left out: the hosts in JavaScript, whose tests need `/proc`");
    }
    python(PYTHON_HOST.into(), &[&component, &json])?;
    let driver: [OsString; 3] = [self::python()?.into(), PYTHON_DRIVER.into(), component.clone().into()];
    kit.check(&["--rounds", "20", "--with", &kit.local_driver()], driver, &NO_COMPILED_FILES)?;
    if cfg!(target_os = "linux") { race(&kit, &component) } else { Ok(()) }
}

/// The Python that has the packages.
fn python() -> Result<String, String> {
    Ok(in_environment(&folder("python")?, "python").to_string_lossy().into_owned())
}

/// Has every host of a folder change one store: the one in Rust, Python, Node.js, and WASI, whose driver the step of the shells
/// builds.
fn race(kit: &Kit, component: &Path) -> Result<(), String> {
    let javascript = folder("js")?;
    let python = format!("'{}' {PYTHON_DRIVER} '{}'", python()?, component.display());
    let node = format!("node {JAVASCRIPT}/drivers/node.js '{}'", javascript.join("component/saddlebag.js").display());
    let options = ["--only", "races", "--races", "8", "--rounds", "10"];
    let others = ["--with", &kit.local_driver(), "--with", &python, "--with", &node];
    let modules = javascript.join("node_modules");
    let environment = [("NODE_PATH", &*modules.to_string_lossy()), NO_COMPILED_FILES[0]];
    kit.check(&[&options[..], &others].concat(), [shells::driver()?], &environment)
}

/// Tests the page in a browser.
fn run_page(program: &Path) -> Result<(), String> {
    if !Path::new(CHROMIUM).exists() {
        eprintln!("left out: the page in a browser, which needs {CHROMIUM} (`apt-get install chromium`)");
        return Ok(());
    }
    let modules = folder("page")?.join("node_modules");
    let environment = [("NODE_PATH", &*modules.to_string_lossy()), ("SADDLEBAG_PROGRAM", &*program.to_string_lossy())];
    let options = ["--test", "--test-reporter=spec", "--test-concurrency=1", "--test-timeout=600000"];
    let tests = ["page", "hostile", "chat"].map(|name| format!("{PAGE}/{name}.test.mjs"));
    command("node", options.map(String::from).iter().chain(&tests), &environment)
}

/// Tests the hosts in JavaScript, and checks each store with the conformance kit.
fn run_javascript(kit: &Kit, component: &Path, json: &Path) -> Result<(), String> {
    let made = folder("js")?.join("component");
    for (component, folder) in [(component, made.clone()), (json, folder("js")?.join("json"))] {
        let transpile = ["transpile", "--quiet", "--valid-lifting-optimization", "--instantiation", "async"];
        let named: [OsString; 5] = ["--name".into(), "saddlebag".into(), "-o".into(), folder.into(), component.into()];
        install::run_jco(transpile.map(OsString::from).into_iter().chain(named))?;
    }
    let modules = folder("js")?.join("node_modules");
    let environment = [("NODE_PATH", &*modules.to_string_lossy())];
    let tests = Path::new(JAVASCRIPT).join("tests");
    let files =
        fs::read_dir(root()?.join(&tests)).map_err(|error| format!("cannot list {}: {error}", tests.display()))?;
    let names = files.filter_map(|file| Some(file.ok()?.file_name()));
    let mut tests: Vec<_> =
        names.filter(|name| name.to_string_lossy().ends_with(".test.js")).map(|name| tests.join(name)).collect();
    tests.sort();
    let options = ["--test", "--test-reporter=spec"].map(PathBuf::from);
    command("node", options.into_iter().chain(tests), &environment)?;
    let conform = |options: &[&str], driver: &str, store: &[&str]| {
        let driver = Path::new(JAVASCRIPT).join("drivers").join(driver);
        let start: [OsString; 3] = ["node".into(), driver.into(), made.join("saddlebag.js").into()];
        kit.check(options, start.into_iter().chain(store.iter().map(OsString::from)), &environment)
    };
    // A killed holder of a lease is waited for, so few are killed. The host in Rust, which has kernel locks, takes part in the race.
    conform(&["--rounds", "3", "--with", &kit.local_driver()], "node.js", &[])?;
    if !Path::new(CHROMIUM).exists() {
        eprintln!("left out: the stores of browsers, which need {CHROMIUM} (`apt-get install chromium`)");
        return Ok(());
    }
    conform(&[], "chromium.js", &["map"])?;
    conform(&[], "chromium.js", &["opfs"])
}

/// Installs the browser, if this is a machine with `apt-get` and its user may. Otherwise its tests are left out by name.
fn install_chromium() {
    if !Path::new(CHROMIUM).exists()
        && let Err(error) = apt_get(&["chromium"])
    {
        eprintln!("chromium is not installed, so the page and the stores of browsers will not be tested: {error}");
    }
}

/// Installs packages of Debian.
pub(crate) fn apt_get(packages: &[&str]) -> Result<(), String> {
    let install = ["install", "--yes", "--quiet", "--no-install-recommends"];
    quiet("apt-get", install.iter().chain(packages), &[("DEBIAN_FRONTEND", "noninteractive")])
}
