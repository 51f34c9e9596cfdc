//! The subcommands of the program itself, of models and of scripts.

mod completions;
mod demo;
mod man;
mod replay;
mod tools;
mod zk;

use crate::conform::ConformArgs;
use crate::hook::HookArgs;
use crate::subcommand::subcommands;

pub(crate) use completions::CompletionsArgs;
#[cfg(test)]
pub(crate) use completions::Script;
pub(crate) use man::ManArgs;
#[cfg(test)]
pub(crate) use man::Pages;

subcommands! {
    /// The subcommands of `tools`.
    Tools {
        List(tools::ListArgs),
        Call(tools::CallArgs),
    }
}

subcommands! {
    /// The subcommands of the program itself.
    Command {
        #[command(disable_help_flag = true)]
        Zk(zk::ZkArgs),
        Hook(HookArgs),
        Demo(demo::DemoArgs),
        Replay(replay::ReplayArgs),
        Conform(ConformArgs),
    }
}
