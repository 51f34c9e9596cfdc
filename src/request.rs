//! [`Request`]: one command with the type of its reply. [`family!`] makes the enums of a family of them.
//!
//! A command is one file: its struct, its reply, its [`Request`] and what it does ([`Run`]). The list of its family
//! names it once more; from that come the cases of the command and of the reply, the conversions, the dispatch and
//! the [`catalogue`](crate::catalogue).

use alloc::vec::Vec;
use core::fmt::Debug;
use core::future::Future;

use crate::memory::{Command, Reply};
use crate::protocol::Error;

/// The most that a command may do to the files that people keep. The index, locks and backups do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// It changes no file.
    Reads,
    /// It makes files or adds to them. Every text that was there stays.
    Appends,
    /// It may put a text in the place of another, which a backup keeps where the reply names one.
    Replaces,
    /// It may remove a file, or a part of one.
    Removes,
}

/// A command, with the type of its reply.
///
/// ```
/// use saddlebag::journal::Status;
/// use saddlebag::{Command, Effect, Request};
///
/// assert_eq!(Status::NAME, "status");
/// assert_eq!(Status::EFFECT, Effect::Reads);
/// assert_eq!(Command::from(Status).name(), Status::NAME);
/// ```
pub trait Request: Clone + Debug + PartialEq + Into<Command> {
    /// The reply of this command.
    type Reply;

    /// The name of the command: its context keys begin with it, and its case in `wit/` has it.
    const NAME: &'static str;

    /// The most that it may do to files.
    const EFFECT: Effect;

    /// Commands of this kind about the note, the entry, the file or the target of this name.
    ///
    /// With [`SAMPLE_NAME`](crate::catalogue::SAMPLE_NAME), each of them succeeds in a fresh store of
    /// [`sample_files`](crate::catalogue::sample_files), and at least one does all that [`EFFECT`](Self::EFFECT) says.
    fn samples(name: &str) -> Vec<Self>;

    /// The [`samples`](Self::samples) in the scope that they need.
    fn sample_commands(name: &str) -> Vec<Command> {
        Self::samples(name).into_iter().map(Into::into).collect()
    }
}

/// A [`Request`] whose reply can be told from those of others. Every command of a family is one.
pub trait Answered: Request {
    /// The reply of this command; `None` if it is the reply of another.
    fn from_reply(reply: Reply) -> Option<Self::Reply>;
}

/// A [`Request`] that can be run with `C`, which the commands of its family share.
pub(crate) trait Run<C>: Request {
    /// Runs the command.
    fn run(self, with: &C) -> impl Future<Output = Result<Self::Reply, Error>> + Send;
}

/// A command of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct CommandInfo {
    /// [`Request::NAME`].
    pub name: &'static str,
    /// The family, as the interface in `wit/` is called.
    pub family: &'static str,
    /// [`Request::EFFECT`].
    pub effect: Effect,
    /// [`Request::samples`].
    pub samples: fn(&str) -> Vec<Command>,
}

impl CommandInfo {
    /// The entry of one command.
    pub(crate) fn of<R: Request>(family: &'static str) -> Self {
        Self { name: R::NAME, family, effect: R::EFFECT, samples: R::sample_commands }
    }
}

/// Makes the two enums of a family, with a case for each of its commands in both, and all that follows from the list.
macro_rules! family {
    (
        $family:literal in $variant:ident, run with $context:ty;
        $(#[$command_doc:meta])* $command:ident => $(#[$reply_doc:meta])* $reply:ident { $($request:ident),* $(,)? }
    ) => {
        $(#[$command_doc])*
        #[allow(clippy::large_enum_variant, reason = "a command is made once, and moved as it is")]
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $command {
            $(#[doc = concat!("See [`", stringify!($request), "`].")] $request($request),)*
        }

        $(#[$reply_doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $reply {
            $(#[doc = concat!("The reply of [`", stringify!($request), "`].")]
            $request(<$request as $crate::Request>::Reply),)*
        }

        impl $command {
            /// The name of the command: [`Request::NAME`](crate::Request::NAME).
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$request(_) => <$request as $crate::Request>::NAME,)*
                }
            }

            /// The most that the command may do to files: [`Request::EFFECT`](crate::Request::EFFECT).
            #[must_use]
            pub fn effect(&self) -> $crate::Effect {
                match self {
                    $(Self::$request(_) => <$request as $crate::Request>::EFFECT,)*
                }
            }

            /// The commands of the family.
            pub(crate) fn catalogue() -> alloc::vec::Vec<$crate::CommandInfo> {
                alloc::vec![$($crate::CommandInfo::of::<$request>($family)),*]
            }

            async fn run(self, with: &$context) -> Result<$reply, $crate::protocol::Error> {
                Ok(match self {
                    $(Self::$request(request) => $reply::$request($crate::request::Run::run(request, with).await?),)*
                })
            }
        }

        impl From<$command> for $crate::Command {
            fn from(command: $command) -> Self {
                Self::$variant(command.into())
            }
        }

        $(
            impl From<$request> for $command {
                fn from(request: $request) -> Self {
                    Self::$request(request)
                }
            }

            impl From<$request> for $crate::Command {
                fn from(request: $request) -> Self {
                    $command::from(request).into()
                }
            }

            impl $crate::Answered for $request {
                fn from_reply(reply: $crate::Reply) -> Option<Self::Reply> {
                    match reply {
                        $crate::Reply::$variant($reply::$request(reply)) => Some(reply),
                        _ => None,
                    }
                }
            }
        )*
    };
}

/// Makes a request of a command with its scope, whatever the command: its name, effect and reply are the command's.
macro_rules! scoped {
    ($scoped:ident of $verb:ident in $variant:ident) => {
        impl<R: Into<$verb>> From<$scoped<R>> for $crate::Command {
            fn from(command: $scoped<R>) -> Self {
                Self::$variant(command.map(Into::into))
            }
        }

        impl From<$verb> for $scoped {
            fn from(verb: $verb) -> Self {
                Self::new(verb)
            }
        }

        impl $scoped {
            /// The name of the command: [`Request::NAME`](crate::Request::NAME).
            #[must_use]
            pub fn name(&self) -> &'static str {
                self.verb.name()
            }

            /// The most that the command may do to files: [`Request::EFFECT`](crate::Request::EFFECT).
            #[must_use]
            pub fn effect(&self) -> $crate::Effect {
                self.verb.effect()
            }

            /// The commands of the family.
            pub(crate) fn catalogue() -> alloc::vec::Vec<$crate::CommandInfo> {
                $verb::catalogue()
            }
        }

        impl<R: $crate::Request + Into<$verb>> $crate::Request for $scoped<R> {
            type Reply = R::Reply;
            const NAME: &'static str = R::NAME;
            const EFFECT: $crate::Effect = R::EFFECT;

            fn samples(name: &str) -> alloc::vec::Vec<Self> {
                R::samples(name).into_iter().map(Self::new).collect()
            }
        }

        impl<R: $crate::Answered + Into<$verb>> $crate::Answered for $scoped<R> {
            fn from_reply(reply: $crate::Reply) -> Option<Self::Reply> {
                R::from_reply(reply)
            }
        }
    };
}

pub(crate) use {family, scoped};
