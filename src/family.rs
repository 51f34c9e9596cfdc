//! [`family!`]: generates the enums of a family, and everything that follows from the list of its commands.

/// Generates the two enums of a family, and everything that follows from the list of its commands. Commands that are
/// listed together, `Checkpoint | CloseRun`, share the reply of the first. A command that may change files is listed with
/// all of its fields, `Rename { note, title: name "title" }`: see [`texts!`].
macro_rules! family {
    (
        $family:literal, run with $context:ty;
        $(#[$command_doc:meta])* $command:ident => $(#[$reply_doc:meta])* $reply:ident {
            $($request:ident $({ $($fields:tt)* })? $(| $other:ident $({ $($other_fields:tt)* })?)*),* $(,)?
        }
    ) => {
        $(#[$command_doc])*
        #[allow(clippy::large_enum_variant, reason = "a command is made once, and moved as it is")]
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $command {
            $(#[doc = concat!("See [`", stringify!($request), "`].")] $request($request),
            $(#[doc = concat!("See [`", stringify!($other), "`].")] $other($other),)*)*
        }

        $(#[$reply_doc])*
        #[allow(clippy::large_enum_variant, reason = "a reply is made once, and moved as it is")]
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
        pub enum $reply {
            $(#[doc = concat!("The reply of [`", stringify!($request), "`]" $(, ", [`", stringify!($other), "`]")*, ".")]
            $request(<$request as $crate::Request>::Reply),)*
        }

        impl $command {
            /// Returns the name of the command: [`Request::NAME`](crate::Request::NAME).
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$request(_) => <$request as $crate::Request>::NAME,
                    $(Self::$other(_) => <$other as $crate::Request>::NAME,)*)*
                }
            }

            /// Returns the most that the command may do to files: [`Request::EFFECT`](crate::Request::EFFECT).
            pub fn effect(&self) -> $crate::Effect {
                match self {
                    $(Self::$request(_) => <$request as $crate::Request>::EFFECT,
                    $(Self::$other(_) => <$other as $crate::Request>::EFFECT,)*)*
                }
            }

            /// Runs the command.
            pub(crate) async fn run(mut self, with: &$context) -> Result<$reply, saddlebag_protocol::Error> {
                let policy = &with.call.screen;
                match &mut self {
                    $(Self::$request(request) => $crate::changes::Texts::screen(request, policy)?,
                    $(Self::$other(request) => $crate::changes::Texts::screen(request, policy)?,)*)*
                }
                Ok(match self {
                    $(Self::$request(request) => $reply::$request($crate::request::Run::run(request, with).await?),
                    $(Self::$other(request) => $reply::$request($crate::request::Run::run(request, with).await?),)*)*
                })
            }
        }

        impl $crate::request::Family for $command {
            type Reply = $reply;
            const NAME: &'static str = $family;

            fn visit(visitor: &mut impl $crate::request::Visitor<Self>) {
                $(visitor.visit::<$request>();
                $(visitor.visit::<$other>();)*)*
            }
        }

        $(
            $crate::family::member!($command::$request => $reply::$request);
            $crate::family::texts!($request $({ $($fields)* })?);
            $(
                $crate::family::member!($command::$other => $reply::$request);
                $crate::family::texts!($other $({ $($other_fields)* })?);
            )*
        )*
    };
}

/// Screens the texts of a command. A field with text has the function of `changes::texts` that screens it, and the name
/// that an error gives it. A field that is not listed does not compile, nor does a command without fields that may change
/// files.
macro_rules! texts {
    ($request:ident) => {
        const _: () = assert!(
            matches!(<$request as $crate::Request>::EFFECT, $crate::Effect::Reads),
            "list the fields of a command that may change files"
        );

        impl $crate::changes::Texts for $request {
            fn screen(&mut self, _: &$crate::changes::InputPolicy) -> Result<(), saddlebag_protocol::Error> {
                Ok(())
            }
        }
    };
    ($request:ident { $($field:ident $(: $how:ident $what:literal)?),* $(,)? }) => {
        impl $crate::changes::Texts for $request {
            #[allow(unused_variables, reason = "most fields have no text")]
            fn screen(&mut self, policy: &$crate::changes::InputPolicy) -> Result<(), saddlebag_protocol::Error> {
                let Self { $($field),* } = self;
                $($($crate::changes::texts::$how(policy, $field, $what)?;)?)*
                Ok(())
            }
        }
    };
}

/// Makes a request a member of its family. Its reply is the one of the named case.
macro_rules! member {
    ($command:ident::$request:ident => $reply:ident::$case:ident) => {
        impl From<$request> for $command {
            fn from(request: $request) -> Self {
                Self::$request(request)
            }
        }

        impl $crate::request::Member for $request {
            type Family = $command;

            fn from_family(reply: $reply) -> Option<Self::Reply> {
                #[allow(unreachable_patterns, reason = "a family may have one command")]
                match reply {
                    $reply::$case(reply) => Some(reply),
                    _ => None,
                }
            }
        }
    };
}

/// Defines what a command takes and gives back for each kind: two enums with the same cases. The record of a kind is also a
/// [`Request`](crate::Request): it means the command with this record, and has the reply of its kind. [`kind_members!`] makes
/// the records members of the family.
macro_rules! kinds {
    (
        $(#[$item_doc:meta])* $item:ident => $(#[$done_doc:meta])* $done:ident {
            $($(#[$doc:meta])* $kind:ident($record:ident) => $(#[$reply_doc:meta])* $reply:ident),* $(,)?
        }
    ) => {
        $(#[$item_doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $item {
            $($(#[$doc])* $kind($record),)*
        }

        $(#[$done_doc])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(untagged)]
        pub enum $done {
            $($(#[$reply_doc])* $kind($reply),)*
        }

        impl $item {
            fn samples(name: &str) -> impl Iterator<Item = Self> {
                core::iter::empty()$(.chain(<$record as $crate::Request>::samples(name).into_iter().map(Self::$kind)))*
            }
        }
    };
}

/// Makes the records of the kinds of a command members of its family.
macro_rules! kind_members {
    (
        $command:ident::$verb:ident { $field:ident: $item:ident } => $replies:ident, $done:ident;
        $($kind:ident($record:ident)),* $(,)?
    ) => {$(
        impl From<$record> for $command {
            fn from(record: $record) -> Self {
                Self::$verb($verb { $field: $item::$kind(record) })
            }
        }

        impl $crate::request::Member for $record {
            type Family = $command;

            fn from_family(reply: $replies) -> Option<Self::Reply> {
                match reply {
                    $replies::$verb($done::$kind(reply)) => Some(reply),
                    _ => None,
                }
            }
        }
    )*};
}

pub(crate) use {family, kind_members, kinds, member, texts};
