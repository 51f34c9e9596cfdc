//! Clients of the Model Context Protocol that this project did not write: the `mcp` package of PyPI, and the command
//! line of the MCP Inspector of npm. They are installed below `target/` at pinned versions, and run against the
//! program. A host in Python, on the `wasmtime` package of PyPI, runs the component as well, and so do the hosts in
//! JavaScript, in Node.js and in Chromium. The plugins for OpenClaw and Hermes run in stubs of their hosts.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::component::{JSON, TARGET, build_for_tests};
use crate::run::{Output, command, conformance_kit, local_driver, program, root};
use crate::shells;

/// Folder of the scripts. Their requirements name the versions.
const SCRIPTS: &str = "cli/tests/clients";
/// Folder of the requirements of the tools that make packages and check workflows.
const TOOLS: &str = "packaging/tools";
const JCO: &str = "xtask/node";
/// Folder of the hosts in JavaScript.
const JAVASCRIPT: &str = "hosts/js";
/// Folder of the tests of the page.
const PAGE: &str = "cli/tests/page";
/// Browser of their tests, as the package `chromium` of Debian installs it.
const CHROMIUM: &str = "/usr/bin/chromium";
const PYTHON_HOST: &str = "tests/clients/python_host/scenario.py";
/// The driver of the same host, for the conformance kit.
const PYTHON_DRIVER: &str = "tests/clients/python_host/driver.py";
const WAY_OUT: &str = "this step needs Python 3.10 or later with venv and pip, Node.js 20 or later with npm, and their \
                       registries (or mirrors: PIP_INDEX_URL, NPM_CONFIG_REGISTRY)";

/// Installs the clients below `target/`.
pub(crate) fn install(output: &mut Output) -> Result<(), String> {
    let root = root()?;
    install_python(&root, SCRIPTS, &python_folder(&root), output).map_err(with_way_out)?;
    install_node(&root, output).map_err(with_way_out)?;
    install_jco(output)?;
    install_packages(&root, &javascript(&root), JAVASCRIPT, output).map_err(with_way_out)?;
    install_packages(&root, &page(&root), PAGE, output).map_err(with_way_out)?;
    install_chromium(output);
    install_tools(output).map_err(with_way_out)
}

/// Installs the tools that make the files of a release, and those that check its workflow.
pub(crate) fn install_tools(output: &mut Output) -> Result<(), String> {
    let root = root()?;
    install_python(&root, TOOLS, &tools(&root).join("python"), output)?;
    install_packages(&root, &tools(&root).join("node"), TOOLS, output)
}

/// The folder of these tools.
pub(crate) fn tools(root: &Path) -> PathBuf {
    root.join("target/clients/packaging")
}

/// Returns the path of one of these tools that is from PyPI.
pub(crate) fn tool_of_python(root: &Path, name: &str) -> PathBuf {
    let python = tools(root).join("python");
    if cfg!(windows) { python.join("Scripts").join(name).with_extension("exe") } else { python.join("bin").join(name) }
}

/// Runs each client, which must be installed, against the program.
pub(crate) fn run() -> Result<(), String> {
    let root = root()?;
    let program = program()?;
    let (python, modules) = (python(&root), node(&root).join("node_modules"));
    let output = &mut Output::Inherited;
    let script = |name: &str| Path::new(SCRIPTS).join(name).into_os_string();
    // No compiled files beside the scripts.
    let environment = &[("PYTHONDONTWRITEBYTECODE", "1")];
    let python = python.to_string_lossy();
    command(&python, [script("python_client.py"), program.clone().into()], environment, output)?;
    command(&python, [script("situations.py"), program.clone().into()], environment, output)?;
    command(&python, [script("inspector.py"), program.clone().into(), modules.into()], environment, output)?;
    let openclaw = [script("plugins/openclaw.mjs"), program.clone().into(), "plugins/openclaw".into()];
    command("node", openclaw, &[], output)?;
    run_page(&root, &program, output)?;
    let hermes = [script("plugins/hermes.py"), program.clone().into(), "plugins".into()];
    command(&python, hermes, environment, output)?;
    if cfg!(windows) {
        eprintln!("left out: the host in Python, which needs `flock`");
        return Ok(());
    }
    // The component that the tests run, built by the build script of `saddlebag-component`.
    let component = root.join("target/component").join(TARGET).join("component-dev/saddlebag.wasm");
    let json = build_for_tests(&JSON, output)?;
    if cfg!(target_os = "linux") {
        run_javascript(&root, &component, &json, output)?;
    } else {
        eprintln!("left out: the hosts in JavaScript, whose tests need `/proc`");
    }
    let scenario = [OsString::from(PYTHON_HOST), program.clone().into(), component.clone().into(), json.into()];
    command(&python, scenario, environment, output)?;
    let kit = conformance_kit()?;
    let own = local_driver(&kit);
    let conform = ["--rounds", "20", "--with", &own, "--", &python, PYTHON_DRIVER].map(OsString::from);
    command(&kit.to_string_lossy(), conform.into_iter().chain([component.clone().into()]), environment, output)?;
    if cfg!(target_os = "linux") { race(&root, &kit, &component, output) } else { Ok(()) }
}

/// Has every host of a folder change one store: the one in Rust, Python, Node.js, and WASI, whose driver the step of the shells
/// builds.
fn race(root: &Path, kit: &Path, component: &Path, output: &mut Output) -> Result<(), String> {
    let own = local_driver(kit);
    let python = format!("'{}' {PYTHON_DRIVER} '{}'", python(root).display(), component.display());
    let javascript = javascript(root);
    let node = format!("node {JAVASCRIPT}/drivers/node.js '{}'", javascript.join("component/saddlebag.js").display());
    let options = ["--only", "races", "--races", "8", "--rounds", "10"];
    let others = ["--with", &own, "--with", &python, "--with", &node, "--"];
    let arguments = options.into_iter().chain(others).map(OsString::from).chain([shells::driver()?.into()]);
    let modules = javascript.join("node_modules");
    let environment = &[("NODE_PATH", &*modules.to_string_lossy()), ("PYTHONDONTWRITEBYTECODE", "1")];
    command(&kit.to_string_lossy(), arguments, environment, output)
}

/// Tests the page in a browser.
fn run_page(root: &Path, program: &Path, output: &mut Output) -> Result<(), String> {
    if !Path::new(CHROMIUM).exists() {
        eprintln!("left out: the page in a browser, which needs {CHROMIUM} (`apt-get install chromium`)");
        return Ok(());
    }
    let modules = page(root).join("node_modules");
    let environment = &[("NODE_PATH", &*modules.to_string_lossy()), ("SADDLEBAG_PROGRAM", &*program.to_string_lossy())];
    let options =
        ["--test", "--test-reporter=spec", "--test-concurrency=1", "--test-timeout=600000"].map(OsString::from);
    let tests =
        ["page.test.mjs", "hostile.test.mjs", "chat.test.mjs"].map(|name| Path::new(PAGE).join(name).into_os_string());
    command("node", options.into_iter().chain(tests), environment, output)
}

/// Tests the hosts in JavaScript, and checks each store with the conformance kit.
fn run_javascript(root: &Path, component: &Path, json: &Path, output: &mut Output) -> Result<(), String> {
    let made = javascript(root).join("component");
    for (component, folder) in [(component, made.clone()), (json, javascript(root).join("json"))] {
        let transpile = ["transpile", "--quiet", "--valid-lifting-optimization", "--instantiation", "async"];
        let named = ["--name".into(), "saddlebag".into(), "-o".into(), folder.into(), component.into()];
        let arguments = std::iter::once(jco(root).into_os_string()).chain(transpile.map(OsString::from)).chain(named);
        command("node", arguments, &[], output)?;
    }
    let modules = javascript(root).join("node_modules");
    let environment = &[("NODE_PATH", &*modules.to_string_lossy())];
    let tests = Path::new(JAVASCRIPT).join("tests");
    let files = fs::read_dir(root.join(&tests)).map_err(|error| format!("cannot list {}: {error}", tests.display()))?;
    let names = files.filter_map(|file| Some(file.ok()?.file_name()));
    let mut tests: Vec<_> =
        names.filter(|name| name.to_string_lossy().ends_with(".test.js")).map(|name| tests.join(name)).collect();
    tests.sort();
    let options = ["--test".into(), "--test-reporter=spec".into()];
    command("node", options.into_iter().chain(tests.into_iter().map(PathBuf::into_os_string)), environment, output)?;
    let kit = conformance_kit()?;
    let conform = |options: &[String], driver: &str, store: &[&str], output: &mut Output| {
        let driver = Path::new(JAVASCRIPT).join("drivers").join(driver);
        let start = ["--".into(), "node".into(), driver.into_os_string(), made.join("saddlebag.js").into_os_string()];
        let arguments = options.iter().map(OsString::from).chain(start).chain(store.iter().map(OsString::from));
        command(&kit.to_string_lossy(), arguments, environment, output)
    };
    // A killed holder of a lease is waited for, so few are killed. The host in Rust, which has kernel locks, takes part in the race.
    conform(&["--rounds".into(), "3".into(), "--with".into(), local_driver(&kit)], "node.js", &[], output)?;
    if !Path::new(CHROMIUM).exists() {
        eprintln!("left out: the stores of browsers, which need {CHROMIUM} (`apt-get install chromium`)");
        return Ok(());
    }
    conform(&[], "chromium.js", &["map"], output)?;
    conform(&[], "chromium.js", &["opfs"], output)
}

/// Installs the browser, if this is a machine with `apt-get` and its user may. Otherwise its tests are left out by name.
fn install_chromium(output: &mut Output) {
    if !Path::new(CHROMIUM).exists() {
        let install = ["install", "--yes", "--quiet", "--no-install-recommends", "chromium"];
        if let Err(error) = command("apt-get", install, &[("DEBIAN_FRONTEND", "noninteractive")], output) {
            eprintln!("chromium is not installed, so the page and the stores of browsers will not be tested: {error}");
        }
    }
}

/// The folder of the hosts in JavaScript: their packages, and the component.
fn javascript(root: &Path) -> PathBuf {
    root.join("target/clients/js")
}

fn page(root: &Path) -> PathBuf {
    root.join("target/clients/page")
}

pub(crate) fn with_way_out(error: String) -> String {
    format!("{error}\n  {WAY_OUT}")
}

/// The folder of Python and its packages.
fn python_folder(root: &Path) -> PathBuf {
    root.join("target/clients/python")
}

/// The Python that has the package.
pub(crate) fn python(root: &Path) -> PathBuf {
    python_in(&python_folder(root))
}

/// The Python of an environment.
fn python_in(folder: &Path) -> PathBuf {
    folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

/// The folder of the Inspector.
fn node(root: &Path) -> PathBuf {
    root.join("target/clients/node")
}

/// The program that optimises and translates components.
pub(crate) fn jco(root: &Path) -> PathBuf {
    jco_folder(root).join("node_modules/@bytecodealliance/jco/dist/jco.js")
}

fn jco_folder(root: &Path) -> PathBuf {
    root.join("target/clients/jco")
}

/// Installs jco below `target/`.
pub(crate) fn install_jco(output: &mut Output) -> Result<(), String> {
    let root = root()?;
    let way_out = |error| format!("{error}\n  `dist` needs Node.js 20 or later with npm, and its registry or a mirror");
    install_packages(&root, &jco_folder(&root), JCO, output).map_err(way_out)
}

/// Makes an environment of Python with what the requirements in the folder `source` name.
fn install_python(root: &Path, source: &str, folder: &Path, output: &mut Output) -> Result<(), String> {
    let base = if cfg!(windows) { "python" } else { "python3" };
    install_python_with(base, root, source, folder, output)
}

/// Makes an environment of this Python with what the requirements in the folder `source` name.
pub(crate) fn install_python_with(
    base: &str,
    root: &Path,
    source: &str,
    folder: &Path,
    output: &mut Output,
) -> Result<(), String> {
    let python = python_in(folder);
    unless_installed(root, source, folder, &["requirements.txt"], |folder| {
        let venv: [OsString; 4] = ["-m".into(), "venv".into(), "--clear".into(), folder.into()];
        command(base, venv, &[], output)?;
        let requirements = Path::new(source).join("requirements.txt").into_os_string();
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
        let packages = pip.map(OsString::from).into_iter().chain([requirements]);
        command(&python.to_string_lossy(), packages, &[], output)
    })
}

fn install_node(root: &Path, output: &mut Output) -> Result<(), String> {
    install_packages(root, &node(root), SCRIPTS, output)
}

/// Installs the packages that the files of npm in the folder `source` name: the very versions of a lock file where there
/// is one.
pub(crate) fn install_packages(root: &Path, folder: &Path, source: &str, output: &mut Output) -> Result<(), String> {
    let mut files = vec!["package.json"];
    let lock = "package-lock.json";
    let is_locked = root.join(source).join(lock).exists();
    files.extend(is_locked.then_some(lock));
    unless_installed(root, source, folder, &files, |folder| {
        fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        for name in &files {
            let from = root.join(source).join(name);
            fs::copy(&from, folder.join(name)).map_err(|error| format!("cannot copy {}: {error}", from.display()))?;
        }
        let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
        let install: &[&str] = if is_locked { &["ci"] } else { &["install", "--no-package-lock"] };
        let options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefix"];
        let arguments = install.iter().copied().chain(options).map(OsString::from);
        command(npm, arguments.chain([folder.into()]), &[], output)
    })
}

/// Installs into a folder, unless the requested versions are installed there.
fn unless_installed(
    root: &Path,
    source: &str,
    folder: &Path,
    files: &[&str],
    install: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<(), String> {
    let mut wanted = String::new();
    for name in files {
        let file = root.join(source).join(name);
        wanted += &fs::read_to_string(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    }
    let stamp = folder.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    install(folder)?;
    fs::write(&stamp, wanted).map_err(|error| format!("cannot write {}: {error}", stamp.display()))
}
