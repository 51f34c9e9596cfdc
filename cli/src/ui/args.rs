//! Options of `saddlebag ui`.

use std::path::PathBuf;

use clap::Args;

use crate::help::example;

/// Look at memory and change it, on a page in the browser
#[derive(Debug, Args)]
#[command(after_help = example("ui"))]
pub(crate) struct UiArgs {
    /// Print the address of the page, and open no browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Port of the page on this machine [default: any free port]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Refuse every change
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Write the page with what it shows to one file, which only reads, instead of serving it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_open", "port", "read_only"])]
    pub(crate) out: Option<PathBuf>,
}
