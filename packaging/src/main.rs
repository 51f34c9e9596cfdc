//! Makes the packages of a release: `cargo xtask dist` runs it.

#![allow(clippy::print_stderr, reason = "it shows what it made")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use saddlebag_packaging::{missing, package_release, package_target};

/// Make the packages of a release from archives of its program
#[derive(Parser)]
enum Arguments {
    /// Make every package that contains the program of one target
    Target {
        /// Triple of the machine that it is built for
        target: String,
        /// Folder of its archive, and of the packages
        folder: PathBuf,
    },
    /// Make the files that name several targets, from what the folder has of each
    Release {
        /// Folder of the archives and of the packages
        folder: PathBuf,
        /// Fail if the folder lacks a file of a released target
        #[arg(long)]
        complete: bool,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(made) => {
            for path in made {
                eprintln!("{}", path.display());
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<Vec<PathBuf>, String> {
    match arguments {
        Arguments::Target { target, folder } => package_target(&target, &folder),
        Arguments::Release { folder, complete } => {
            let lacking = if complete { missing(&folder)? } else { Vec::new() };
            if lacking.is_empty() {
                return package_release(&folder);
            }
            Err(format!("the release is not complete: {} has no {}", folder.display(), lacking.join(", ")))
        }
    }
}
