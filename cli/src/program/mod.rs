//! The subcommands of the program itself, and those for models and for scripts.

mod completions;
mod demo;
mod replay;
mod tools;
mod zk;

use crate::subcommand::subcommands;

pub(crate) use completions::CompletionsArgs;
#[cfg(test)]
pub(crate) use completions::Script;

subcommands! {
    /// The subcommands of the program itself.
    Command {
        Tools(tools::ToolsArgs),
        Call(tools::CallArgs),
        #[command(disable_help_flag = true)]
        Zk(zk::ZkArgs),
        Demo(demo::DemoArgs),
        Replay(replay::ReplayArgs),
    }
}
