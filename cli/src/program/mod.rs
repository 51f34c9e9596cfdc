//! The subcommands of the program itself, of models and of scripts.

mod completions;
mod demo;
mod manual;
mod tools;

use crate::hook::HookArgs;
use crate::subcommand::subcommands;

#[cfg(test)]
pub(crate) use completions::Completions;
pub(crate) use completions::CompletionsArgs;
pub(crate) use tools::ToolsArgs;

subcommands! {
    /// The subcommands of the program itself.
    Command {
        Hook(HookArgs),
        Demo(demo::DemoArgs),
    }
}
