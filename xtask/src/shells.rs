//! The shells of the memory: components for runtimes that load them, from `guest/shells/`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::component::{SMALL, TARGET, check_size};
use crate::paths;
use crate::run::{COMPILING, Kit, add_target, cargo, root};

/// Target of a shell that imports nothing of WASI.
const BARE_TARGET: &str = "wasm32-unknown-unknown";

/// Shell that is built for it.
const BARE: &str = "nanopi";

/// Shells, and whether each is a library.
const SHELLS: [(&str, bool); 7] = [
    ("cli", false),
    ("mcp", false),
    ("guest-driver", false),
    ("http", true),
    ("tools", true),
    ("disk", true),
    (BARE, true),
];

/// Maximum size of a shell in bytes.
const MAX_BYTES: u64 = 4_250_000;

/// Docs of the functions of `tools`, which runtimes show to a model.
const TOOLS_DOCS: &str = "guest/shells/tools/package-docs.json";

/// Builds the shells into `target/shells/`, as a release has them or quickly.
pub(crate) fn build(released: bool) -> Result<(), String> {
    let profile = if released { SMALL } else { "component-dev" };
    let out = root()?.join("target/shells");
    fs::create_dir_all(&out).map_err(|error| format!("cannot make {}: {error}", out.display()))?;
    for (name, is_library) in SHELLS {
        let bare = name == BARE;
        let target = if bare { BARE_TARGET } else { TARGET };
        add_target(target)?;
        let package = if bare { "saddlebag-nanopi" } else { "saddlebag-shells" };
        let file = format!("saddlebag-{name}");
        let chosen = match (bare, is_library) {
            (true, _) => vec!["--lib"],
            (_, true) => vec!["--example", &file],
            (_, false) => vec!["--bin", &file],
        };
        let mut arguments = ["rustc", "--quiet", "--package", package, "--target", target, "--profile", profile]
            .into_iter()
            .chain(chosen)
            .map(str::to_owned)
            .collect::<Vec<String>>();
        if released {
            arguments.extend(paths::left_out(target)?);
        }
        if bare {
            // The linker of the other target makes a component of any module.
            arguments.extend(["--", "-Clinker=wasm-component-ld"].map(str::to_owned));
        }
        cargo(arguments)?;
        let folder = root()?.join("target").join(target).join(profile);
        let built = match (bare, is_library) {
            (true, _) => folder.join("saddlebag_nanopi.wasm"),
            (_, true) => folder.join("examples").join(format!("saddlebag_{name}.wasm")),
            (_, false) => folder.join(format!("{file}.wasm")),
        };
        let kept = out.join(format!("{file}.wasm"));
        keep(name, &built, &kept)?;
        if released {
            let size = check_size(&kept, MAX_BYTES)?;
            paths::check(&kept)?;
            eprintln!("{size:>9} bytes  {}", kept.display());
        }
    }
    Ok(())
}

/// Copies a shell, with the docs of its functions.
fn keep(name: &str, built: &PathBuf, kept: &Path) -> Result<(), String> {
    let mut bytes = fs::read(built).map_err(|error| format!("cannot read {}: {error}", built.display()))?;
    if name == "tools" {
        let docs = fs::read(root()?.join(TOOLS_DOCS)).map_err(|error| format!("cannot read {TOOLS_DOCS}: {error}"))?;
        // The number of the format comes before the JSON.
        let content = [&[1], docs.as_slice()].concat();
        bytes.extend(custom_section("package-docs", &content));
    }
    fs::write(kept, bytes).map_err(|error| format!("cannot write {}: {error}", kept.display()))
}

/// Returns a custom section of a WebAssembly binary.
fn custom_section(name: &str, content: &[u8]) -> Vec<u8> {
    let named = [leb128(name.len()).as_slice(), name.as_bytes(), content].concat();
    [&[0], leb128(named.len()).as_slice(), named.as_slice()].concat()
}

/// Returns a number as WebAssembly writes it: 7 bits a byte, the lowest first.
fn leb128(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

/// Builds the shells quickly, runs their tests in wasmtime, and checks the folder of WASI with the conformance kit,
/// also in races with the host of the local disk.
pub(crate) fn test() -> Result<(), String> {
    build(false)?;
    cargo(["test"].into_iter().chain(COMPILING).chain(["--test", "shells"]))?;
    let kit = Kit::build()?;
    // A killed holder of a lease is waited for, so few are killed.
    kit.check(&["--rounds", "10", "--kills", "2", "--with", &kit.local_driver()], [driver()?], &[])
}

/// The driver of the folder of WASI, which [`test()`] builds.
pub(crate) fn driver() -> Result<PathBuf, String> {
    Ok(root()?.join("target/debug").join(format!("driver-shell{}", std::env::consts::EXE_SUFFIX)))
}
