//! The comparison with other memories: the same questions to each, through its own MCP server.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::install;
use crate::run::{cargo, command, root};

/// Folder of the script and of the files that name the packages and their versions.
const SOURCE: &str = "benches/compare";

/// Python that runs the script and basic-memory, if `PYTHON` does not name another.
const PYTHON: &str = "python3";

/// Installs the other memories below `target/compare/`, and prints the table of the comparison.
pub(crate) fn compare(program: Option<PathBuf>) -> Result<(), String> {
    let root = root()?;
    let python = std::env::var("PYTHON").unwrap_or_else(|_| PYTHON.to_string());
    let with_way_out = |error| {
        format!("{error}\n  `bench compare` needs Python 3.12 or later ({PYTHON}, or the one that PYTHON names)")
    };
    let (basic_memory, server_memory) = (root.join("target/compare/python"), root.join("target/compare/node"));
    install::python(&python, SOURCE, &basic_memory).map_err(with_way_out)?;
    install::node(SOURCE, &server_memory)?;
    let program = match program {
        Some(program) => program,
        None => {
            cargo(["build", "--release", "--package", "saddlebag-cli"])?;
            root.join("target/release").join(format!("saddlebag{}", std::env::consts::EXE_SUFFIX))
        }
    };
    cargo(["build", "--quiet", "--profile", "measured", "--package", "saddlebag-bench"])?;
    let tokens = root.join("target/measured").join(format!("saddlebag-bench{}", std::env::consts::EXE_SUFFIX));
    let script = root.join(SOURCE).join("compare.py");
    let arguments = [script, program, tokens, basic_memory, server_memory].map(OsString::from);
    command(&python, arguments, &[("PYTHONDONTWRITEBYTECODE", "1")])
}
