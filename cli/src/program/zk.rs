//! `zk`: runs a command line of zk.

use std::ffi::OsString;

use clap::Args;

use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::output::Output;
use crate::subcommand::Subcommand;
use crate::zk;

/// Run a command of zk: list, new, tag list, graph or init
#[derive(Debug, Args)]
#[command(after_help = example("zk list --sort modified"))]
pub(crate) struct ZkArgs {
    /// Words after `zk`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

impl Subcommand for ZkArgs {
    type Json = ();

    fn run(self, global: &Global, _: &mut Output) -> Result<Exit, Failure> {
        Ok(Exit::OfZk(zk::run(self.arguments, global)))
    }
}
