//! [`Subcommand`]: one subcommand is one file with its arguments, its work, and its output as text and as JSON.

use clap::Args;
use saddlebag::store::Timestamp;
use saddlebag::{Answered, Moment, ReplyTo};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::output::Output;
use crate::store::Store;

/// Arguments of a subcommand. Their doc comments are its help.
pub(crate) trait Subcommand: Args {
    /// Object that it prints with `--json`, for its schema; `()` if it prints no JSON.
    type Json: JsonSchema;

    /// Runs the subcommand, and prints its result.
    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure>;
}

/// Subcommand that runs one command of the memory, and prints its reply.
pub(crate) trait Ask: Args {
    /// Command that the subcommand runs.
    type Request: Answered<Request: saddlebag::Request<Reply: Serialize + JsonSchema>>;

    /// Returns the command for the arguments. Words of a time are read at `now`.
    fn request(self, now: Timestamp) -> Result<Self::Request, Failure>;

    /// Returns the time at which the command looks at the memory; `None`: now.
    fn at(&self) -> Option<Moment> {
        None
    }

    /// Prints a reply as text, on standard output.
    fn print(reply: &ReplyOf<Self>, output: &mut Output) -> Result<(), Failure>;

    /// Returns the exit code for a reply.
    fn exit(_: &ReplyOf<Self>) -> Exit {
        Exit::Done
    }

    /// Prints remarks about a reply on standard error.
    fn warn(_: &ReplyOf<Self>, _: &mut Output) -> Result<(), Failure> {
        Ok(())
    }
}

/// Reply of the command of an [`Ask`].
pub(crate) type ReplyOf<A> = ReplyTo<<A as Ask>::Request>;

impl<A: Ask> Subcommand for A {
    type Json = ReplyOf<A>;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let at = self.at();
        let request = self.request(global.now.unwrap_or_else(saddlebag_host::now))?;
        let mut store = Store::open(global)?;
        store.look_back(at);
        show::<A>(&store.call(request, output)?, output)
    }
}

/// Prints a reply as `A` does.
pub(crate) fn show<A: Ask>(reply: &ReplyOf<A>, output: &mut Output) -> Result<Exit, Failure> {
    if !output.json(reply)? {
        A::print(reply, output)?;
        output.flush()?;
        A::warn(reply, output)?;
    }
    Ok(A::exit(reply))
}

/// Creates an enum of subcommands, and the function that runs them.
macro_rules! subcommands {
    ($(#[$doc:meta])* $name:ident { $($(#[$meta:meta])* $variant:ident($arguments:ty),)* }) => {
        $(#[$doc])*
        #[allow(clippy::large_enum_variant, reason = "there is one in a run")]
        #[derive(Debug, clap::Subcommand)]
        pub(crate) enum $name {
            $($(#[$meta])* $variant($arguments),)*
        }

        impl $name {
            /// Runs the subcommand.
            pub(crate) fn run(
                self,
                global: &$crate::global::Global,
                output: &mut $crate::output::Output,
            ) -> Result<$crate::failure::Exit, $crate::failure::Failure> {
                match self {
                    $(Self::$variant(arguments) => $crate::subcommand::Subcommand::run(arguments, global, output),)*
                }
            }

            /// Returns the words of each subcommand, with the JSON Schema of the object that it prints.
            #[cfg(test)]
            pub(crate) fn schemas(above: &str) -> Vec<(String, schemars::Schema)> {
                let command = <Self as clap::Subcommand>::augment_subcommands(clap::Command::new("saddlebag"));
                let names = command.get_subcommands().map(|command| format!("{above}{}", command.get_name()));
                let schemas = [$($crate::subcommand::schema::<$arguments>()),*];
                names.zip(schemas).collect()
            }
        }
    };
}

pub(crate) use subcommands;

/// Returns the JSON Schema of the output of a subcommand.
#[cfg(test)]
pub(crate) fn schema<S: Subcommand>() -> schemars::Schema {
    schema_of::<S::Json>()
}

/// Returns the JSON Schema of a type as it is serialised.
#[cfg(test)]
pub(crate) fn schema_of<T: JsonSchema>() -> schemars::Schema {
    schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}
