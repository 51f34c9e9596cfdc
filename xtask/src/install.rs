//! Packages of PyPI and npm that steps need. They are installed below `target/` in the versions that files of the tree name.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{command, root};

/// The Python of this machine.
pub(crate) const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// Folder of the requirements of the tools that make packages and check workflows.
const TOOLS: &str = "packaging/tools";
/// Folder of the file that names the version of jco.
const JCO: &str = "xtask/node";

const WAY_OUT: &str = "this step needs Python 3.10 or later with venv and pip, Node.js 20 or later with npm, and their \
                       registries (or mirrors: PIP_INDEX_URL, NPM_CONFIG_REGISTRY)";

/// The folder of what is installed for a purpose.
pub(crate) fn folder(purpose: &str) -> Result<PathBuf, String> {
    Ok(root()?.join("target/clients").join(purpose))
}

/// Installs the tools that make the files of a release, and those that check its workflow.
pub(crate) fn tools() -> Result<(), String> {
    python(PYTHON, TOOLS, &folder("packaging/python")?)?;
    node(TOOLS, &folder("packaging/node")?)
}

/// Returns one of these tools that is from PyPI.
pub(crate) fn tool(name: &str) -> Result<String, String> {
    Ok(in_environment(&folder("packaging/python")?, name).to_string_lossy().into_owned())
}

/// A subcommand of cargo, from a wheel of PyPI.
pub(crate) struct CargoTool {
    pub(crate) name: &'static str,
    /// Version that is installed below `target/` where the machine has none, or an older one.
    pub(crate) version: &'static str,
}

impl CargoTool {
    /// Returns its program.
    pub(crate) fn find_or_install(&self) -> Result<PathBuf, String> {
        let name = format!("cargo-{}", self.name);
        if let Some(found) = self.works(name.clone().into()) {
            return Ok(found);
        }
        let folder = root()?.join("target/tools").join(self.name);
        let program = in_environment(&folder, &name);
        if let Some(found) = self.works(program.clone()) {
            return Ok(found);
        }
        let package = format!("astral-dev-toolchain-{name}=={}", self.version);
        environment(PYTHON, &folder, &[&package])?;
        self.works(program).ok_or_else(|| format!("{package} has no program that starts"))
    }

    /// Returns the program if it starts and is not older than the version.
    fn works(&self, program: PathBuf) -> Option<PathBuf> {
        let output = Command::new(&program).args([self.name, "--version"]).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let version = text.split_whitespace().nth(1)?;
        let numbers =
            |version: &str| version.split('.').map(|part| part.parse::<u32>().ok()).collect::<Option<Vec<_>>>();
        (numbers(version)? >= numbers(self.version)?).then_some(program)
    }
}

/// Installs jco, which optimises and translates components.
pub(crate) fn jco() -> Result<(), String> {
    node(JCO, &folder("jco")?)
}

/// Runs jco.
pub(crate) fn run_jco(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Result<(), String> {
    let script = folder("jco")?.join("node_modules/@bytecodealliance/jco/dist/jco.js").into_os_string();
    command("node", std::iter::once(script).chain(arguments.into_iter().map(Into::into)), &[])
}

/// Makes an environment of a Python with what the requirements in the folder `source` name.
pub(crate) fn python(base: &str, source: &str, folder: &Path) -> Result<(), String> {
    unless_installed(source, folder, &["requirements.txt"], || {
        environment(base, folder, &["--requirement", &format!("{source}/requirements.txt")])
    })
}

/// Makes an environment of a Python with packages.
pub(crate) fn environment(base: &str, folder: &Path, packages: &[&str]) -> Result<(), String> {
    command(base, ["-m", "venv", "--clear", &folder.to_string_lossy()], &[])?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    command(&in_environment(folder, "python").to_string_lossy(), install.iter().chain(packages), &[])
}

/// Returns a program of an environment of Python.
pub(crate) fn in_environment(folder: &Path, name: &str) -> PathBuf {
    if cfg!(windows) { folder.join("Scripts").join(name).with_extension("exe") } else { folder.join("bin").join(name) }
}

/// Installs the packages that the files of npm in the folder `source` name: the very versions of a lock file where there
/// is one.
pub(crate) fn node(source: &str, folder: &Path) -> Result<(), String> {
    let from = root()?.join(source);
    let is_locked = from.join("package-lock.json").exists();
    let files: &[&str] = if is_locked { &["package.json", "package-lock.json"] } else { &["package.json"] };
    unless_installed(source, folder, files, || {
        fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        for name in files {
            fs::copy(from.join(name), folder.join(name)).map_err(|error| format!("cannot copy {name}: {error}"))?;
        }
        let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
        let install: &[&str] = if is_locked { &["ci"] } else { &["install", "--no-package-lock"] };
        let options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefix", &folder.to_string_lossy()];
        command(npm, install.iter().chain(&options), &[])
    })
}

/// Installs into a folder, unless the versions that the files name are installed there.
fn unless_installed(
    source: &str,
    folder: &Path,
    files: &[&str],
    install: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    let mut wanted = String::new();
    for name in files {
        let file = root()?.join(source).join(name);
        wanted += &fs::read_to_string(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    }
    let stamp = folder.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    install().map_err(|error| format!("{error}\n  {WAY_OUT}"))?;
    fs::write(&stamp, wanted).map_err(|error| format!("cannot write {}: {error}", stamp.display()))
}
