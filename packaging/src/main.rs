//! Makes the packages of a release: `cargo xtask dist` runs it.

#![allow(clippy::print_stderr, reason = "it shows what it made")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use saddlebag_packaging::{package_components, package_release, package_target};

/// Make the packages of a release from built programs
#[derive(Parser)]
enum Arguments {
    /// Make every package that contains the program of one target
    Target {
        /// The built program
        #[arg(long)]
        program: PathBuf,
        /// Triple of the machine that it is built for
        #[arg(long)]
        target: String,
        /// Folder of the packages
        #[arg(long)]
        out: PathBuf,
    },
    /// Make an OCI layout of each component in the folder
    Oci {
        /// Folder of the components and of the layouts
        #[arg(long)]
        out: PathBuf,
    },
    /// Make the files that name several targets, from what the folder has of each
    Release {
        /// Folder of the packages
        #[arg(long)]
        out: PathBuf,
        /// Fail if the folder lacks a released target
        #[arg(long)]
        complete: bool,
    },
}

fn main() -> ExitCode {
    let (made, complete) = match Arguments::parse() {
        Arguments::Target { program, target, out } => (package_target(&program, &target, &out), false),
        Arguments::Oci { out } => (package_components(&out), false),
        Arguments::Release { out, complete } => (package_release(&out), complete),
    };
    match made {
        Ok(made) => {
            for path in made.files {
                eprintln!("{}", path.display());
            }
            for left_out in &made.left_out {
                eprintln!("left out: {left_out}");
            }
            if complete && !made.left_out.is_empty() {
                eprintln!("error: the release is not complete");
                return ExitCode::FAILURE;
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
