//! [`family!`] makes the enums of a family, and all that follows from the list of its commands.

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
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[serde(untagged)]
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

            /// Runs the command.
            pub(crate) async fn run(self, with: &$context) -> Result<$reply, $crate::protocol::Error> {
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
