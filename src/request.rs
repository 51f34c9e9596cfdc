//! [`Request`]: one command with the type of its reply.
//!
//! A command is one file: its struct, its reply, its [`Request`] and its implementation ([`Run`]). The list of its family
//! names it once more. From this list follow the cases of the commands and replies, the conversions, the dispatch and the
//! [`catalogue`](crate::catalogue). [`Family`] and [`Member`] give the list to the memory, which knows the families.

use core::fmt::Debug;
use core::future::Future;

use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Name for the samples: [`sample_files`](crate::catalogue::sample_files) has a note and an entry with it.
pub const SAMPLE_NAME: &str = "a";

/// Text that occurs once in each file of the journal in [`sample_files`](crate::catalogue::sample_files).
pub const SAMPLE_TEXT: &str = "port 5432";

/// Run that must be open before samples that need a run.
pub const SAMPLE_RUN: &str = "r";

/// A note that waits for approval.
pub(crate) const SAMPLE_WAITING: &str = "---\nprovenance: tool\n---\n# Waits\n\nthe text of a tool\n";

/// Name of the session of [`SAMPLE_SESSION`].
pub(crate) const SAMPLE_SESSION_NAME: &str = "b";

/// Note of a finished session that nobody has claimed.
pub(crate) const SAMPLE_SESSION: &str = "---\nsession: b\nfinished: true\nlast: 2026-05-24T12:00:00Z\nprovenance: agent\n---\n\n# Session of 2026-05-24\n\nIt worked.\n";

/// State of the session [`SAMPLE_NAME`], in which a command was run.
pub(crate) const SAMPLE_STATE: &str = "{\"at\":1779700000,\"by\":\"user\",\"event\":\"prompt\",\"text\":\"fix the build\"}\n\
     {\"at\":1779700001,\"by\":\"user\",\"event\":\"tool\",\"tool\":\"Bash\",\"command\":\"cargo build\"}\n";

/// Log of the machine `laptop`: a change of the scratchpad in the session [`SAMPLE_NAME`], and a note that was undone.
pub(crate) const SAMPLE_HISTORY: &str = "{\"operation\":\"0b0b0b0b0b0b\",\"time\":1779600000000000000,\"offset\":0,\"command\":\"write\",\"writer\":{\"provenance\":\"agent\",\"agent\":\"a\",\"session\":\"a\"},\"changes\":[{\"path\":\"SCRATCHPAD.md\",\"before\":\"220d4e13e5c93c09a049db4acae7d04e\",\"after\":\"3902eb9cfb93f0ae166eb88811094f69\",\"before_size\":13,\"after_size\":16,\"contents\":[{\"digest\":\"220d4e13e5c93c09a049db4acae7d04e\",\"whole\":\"LSBbIF0gYmVmb3JlCg\"},{\"digest\":\"3902eb9cfb93f0ae166eb88811094f69\",\"from\":\"220d4e13e5c93c09a049db4acae7d04e\",\"delta\":\"BgYJcG9ydCA1NDMy\"}]}],\"sum\":\"770f65b6\"}\n\
     {\"operation\":\"0c0c0c0c0c0c\",\"time\":1779600060000000000,\"offset\":0,\"command\":\"remember\",\"writer\":{\"provenance\":\"agent\",\"agent\":\"a\",\"session\":\"a\"},\"changes\":[{\"path\":\"notes/undone.md\",\"after\":\"c9286ce64890f0af80a419eb30f1002a\",\"after_size\":7,\"contents\":[{\"digest\":\"c9286ce64890f0af80a419eb30f1002a\",\"whole\":\"dW5kb25lCg\"}]}],\"sum\":\"04f1ff5b\"}\n\
     {\"operation\":\"0d0d0d0d0d0d\",\"time\":1779600120000000000,\"offset\":0,\"command\":\"undo\",\"writer\":{\"provenance\":\"agent\",\"agent\":\"a\",\"session\":\"a\"},\"undoes\":[\"0c0c0c0c0c0c\"],\"changes\":[{\"path\":\"notes/undone.md\",\"before\":\"c9286ce64890f0af80a419eb30f1002a\",\"before_size\":7}],\"sum\":\"445f1d2c\"}\n";

/// The most that a command may do to the files that people keep. The index, locks and backups do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Changes no file.
    Reads,
    /// Creates files or appends to them. Existing text stays.
    Appends,
    /// May replace text. If there is a backup, the reply names it.
    Replaces,
    /// May remove a file, or a part of one.
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
pub trait Request: Clone + Debug + PartialEq {
    /// Reply of this command.
    type Reply;

    /// Name of the command: the prefix of its context keys, and its case in `wit/`.
    const NAME: &'static str;

    /// The most that it may do to files.
    const EFFECT: Effect;

    /// True if it needs an [`Origin`](crate::Origin) with a run.
    const NEEDS_RUN: bool = false;

    /// Returns commands of this kind about the note, the entry, the file or the target of this name.
    ///
    /// With [`SAMPLE_NAME`](crate::catalogue::SAMPLE_NAME), each of them succeeds in a new store of
    /// [`sample_files`](crate::catalogue::sample_files) and does no more than [`EFFECT`](Self::EFFECT).
    fn samples(name: &str) -> Vec<Self>;
}

/// Makes a command a [`Request`]: its name, the type of its reply, its effect, `needs_run = true` if it needs a run, and its
/// samples.
macro_rules! request {
    (
        $request:ident $name:literal => $reply:ty,
        $effect:ident, $(needs_run = $needs_run:literal,)? |$sample:pat_param| $samples:expr $(,)?
    ) => {
        impl $crate::request::Request for $request {
            type Reply = $reply;
            const NAME: &'static str = $name;
            const EFFECT: $crate::request::Effect = $crate::request::Effect::$effect;
            $(const NEEDS_RUN: bool = $needs_run;)?

            fn samples($sample: &str) -> alloc::vec::Vec<Self> {
                $samples
            }
        }
    };
}

pub(crate) use request;

/// A [`Request`] that runs with a `C`, which the commands of its family share.
pub(crate) trait Run<C>: Request {
    /// Runs the command.
    fn run(self, with: &C) -> impl Future<Output = Result<Self::Reply, Error>> + Send;
}

/// Commands of a family as one type, with a case for each.
pub trait Family: Sized {
    /// Replies of the family. Commands with the same kind of reply may share a case.
    type Reply;

    /// Name of the family: the name of its interface in `wit/`.
    const NAME: &'static str;

    /// Passes each command of the family to the visitor, in order.
    fn visit(visitor: &mut impl Visitor<Self>);
}

/// A [`Request`] that is a command of a family.
pub trait Member: Request {
    /// Family of the command.
    type Family: Family + From<Self>;

    /// Returns the reply of this command; `None` if it is the reply of another.
    fn from_family(reply: <Self::Family as Family>::Reply) -> Option<Self::Reply>;
}

/// Visitor of the types of a family's commands.
pub trait Visitor<F> {
    /// Visits the next command.
    fn visit<R: Member<Family = F>>(&mut self);
}

/// Refuses more of something than one command imports.
pub(crate) fn at_most(what: &str, given: usize, limit: usize) -> Result<(), Error> {
    if given <= limit {
        return Ok(());
    }
    let message = format!("{given} {what}, the limit is {limit}: {} too many", given - limit);
    Err(Error::new(ErrorCode::TooLarge, message, "import in parts"))
}
