//! The subcommands of the program itself, and those for models and for scripts.

mod completions;
mod demo;
mod tools;
mod zk;

use crate::subcommand::subcommands;

subcommands! {
    /// The subcommands of the program itself.
    Command {
        Tools(tools::ToolsArgs),
        Call(tools::CallArgs),
        #[command(disable_help_flag = true)]
        Zk(zk::ZkArgs),
        Demo(demo::DemoArgs),
        Completions(completions::CompletionsArgs),
    }
}
