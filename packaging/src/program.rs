//! [`Program`]: a built program.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::release::Release;
use crate::target::{Os, Target};

/// A built program, with its bytes.
#[derive(Clone, Debug)]
pub struct Program {
    /// Machine that it is built for.
    pub target: Target,
    /// Content of the file.
    pub bytes: Vec<u8>,
    /// Newest version of the GNU C library that it asks for; `None` if it uses none.
    pub glibc: Option<(u32, u32)>,
    path: PathBuf,
}

impl Program {
    /// Reads a program, and checks that it is the program of the release and needs no more than its target has.
    ///
    /// # Errors
    ///
    /// The program cannot be read or run, has another version, or uses another C library.
    pub fn read(path: &Path, target: Target, release: &Release) -> Result<Self, String> {
        let shown = path.display();
        let bytes = std::fs::read(path).map_err(|error| format!("cannot read the program {shown}: {error}"))?;
        let glibc = if target.os == Os::Linux { glibc(&bytes) } else { None };
        match (target.is_gnu, glibc) {
            (false, Some((major, minor))) => {
                let triple = &target.triple;
                return Err(format!(
                    "{shown} needs version {major}.{minor} of the GNU C library, which {triple} lacks"
                ));
            }
            (true, None) => return Err(format!("{shown} is not for {}: it asks for no GNU C library", target.triple)),
            _ => {}
        }
        let program = Self { target, bytes, glibc, path: path.to_path_buf() };
        let version = program.run(&["--version"])?;
        let version = version.split_whitespace().nth(1).unwrap_or_default();
        if version != release.version {
            return Err(format!("{shown} has version `{version}`, and the release is {}", release.version));
        }
        Ok(program)
    }

    /// Returns the tools that its MCP server offers, as names and descriptions.
    pub(crate) fn tools(&self) -> Result<Vec<(String, String)>, String> {
        let listed = self.run(&["tools", "--json"])?;
        let listed: Value = serde_json::from_str(&listed).map_err(|error| format!("`tools --json`: {error}"))?;
        let tools = listed["tools"].as_array().into_iter().flatten();
        let field = |tool: &Value, name: &str| tool[name].as_str().map(str::to_string);
        let tools: Option<Vec<_>> =
            tools.map(|tool| Some((field(tool, "name")?, field(tool, "description")?))).collect();
        let tools = tools.filter(|tools| !tools.is_empty());
        tools.ok_or_else(|| "`tools --json` has a tool without a name or a description".to_string())
    }

    /// Writes its manual pages into a folder.
    pub(crate) fn write_manual(&self, folder: &Path) -> Result<(), String> {
        self.run(&["completions", "man", "--out", &folder.to_string_lossy()]).map(drop)
    }

    /// Returns its completion script for a shell.
    pub(crate) fn completions(&self, shell: &str) -> Result<String, String> {
        self.run(&["completions", shell])
    }

    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let line = format!("{} {}", self.path.display(), arguments.join(" "));
        let ended = Command::new(&self.path).args(arguments).output();
        let ended = ended.map_err(|error| format!("cannot run `{line}`, and its packages need it: {error}"))?;
        if !ended.status.success() {
            return Err(format!("`{line}` failed: {}", String::from_utf8_lossy(&ended.stderr).trim()));
        }
        String::from_utf8(ended.stdout).map_err(|error| format!("`{line}`: {error}"))
    }
}

/// Returns the newest version of the GNU C library that a program names. The linker names each version that a function of
/// it has, as `GLIBC_2.34`.
fn glibc(bytes: &[u8]) -> Option<(u32, u32)> {
    const MARK: &[u8] = b"\0GLIBC_";
    let found = bytes.windows(MARK.len()).enumerate().filter(|(_, window)| *window == MARK);
    let versions = found.filter_map(|(at, _)| {
        let rest = bytes.get(at + MARK.len()..)?;
        let name = rest.split(|byte| *byte == 0).next()?;
        let mut numbers = std::str::from_utf8(name).ok()?.split('.');
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    });
    versions.max()
}

/// Programs for tests: scripts that answer as the real program does.
#[cfg(all(test, unix))]
pub(crate) mod script {
    #![allow(clippy::expect_used, reason = "tests alone use it")]

    use std::io::Write;
    use std::path::Path;
    use std::process::{Command, Stdio};

    /// Writes a script. Another process writes it: the system refuses to start a file that is open for writing, and a process that
    /// another test starts at the same time inherits what this one has open.
    pub(crate) fn write_program(path: &Path, script: &str) {
        let mut shell = Command::new("sh");
        shell.args(["-c", "cat > \"$0\" && chmod 755 \"$0\""]).arg(path).stdin(Stdio::piped());
        let mut shell = shell.spawn().expect("a shell");
        shell.stdin.take().expect("an input").write_all(script.as_bytes()).expect("written");
        assert!(shell.wait().expect("the shell ends").success());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_of_the_c_library_is_found_by_number_and_not_by_text() {
        let bytes = b"x\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.9\0GLIBC_PRIVATE\0\"GLIBC_9.9\"";
        assert_eq!(glibc(bytes), Some((2, 34)));
        assert_eq!(glibc(b"none"), None);
    }

    /// Reads a script as a program for a target.
    #[cfg(unix)]
    fn read_script(script: &str, triple: &str) -> Result<Program, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("saddlebag");
        super::script::write_program(&path, script);
        Program::read(&path, Target::of(triple).expect("known"), &Release::read().expect("a release"))
    }

    #[cfg(unix)]
    #[test]
    fn a_program_of_another_version_or_with_another_c_library_is_refused() {
        let refused = |script: &str, triple: &str| read_script(script, triple).expect_err("refused");
        let old = "#!/bin/sh\necho saddlebag 0.0.1\n";
        assert!(refused(old, "x86_64-unknown-linux-musl").contains("has version `0.0.1`"));
        let needs = refused("#!/bin/sh\n# \0GLIBC_2.34\0\n", "x86_64-unknown-linux-musl");
        assert!(needs.contains("needs version 2.34 of the GNU C library"), "{needs}");
        assert!(refused(old, "x86_64-unknown-linux-gnu").contains("asks for no GNU C library"));
        let own = format!("#!/bin/sh\necho saddlebag {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!(read_script(&own, "x86_64-unknown-linux-musl").expect("a program").glibc, None);
    }
}
