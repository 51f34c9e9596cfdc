//! [`Request`]: one command with the type of its reply.
//!
//! A command is one file: its struct, its reply, its [`Request`] and what it does ([`Run`]). The list of its family
//! names it once more; from that come the cases of the command and of the reply, the conversions, the dispatch and
//! the [`catalogue`](crate::catalogue). [`Family`] and [`Member`] are that list for the memory, which knows the families.

use alloc::vec::Vec;
use core::fmt::Debug;
use core::future::Future;

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
pub trait Request: Clone + Debug + PartialEq {
    /// The reply of this command.
    type Reply;

    /// The name of the command: its context keys begin with it, and its case in `wit/` has it.
    const NAME: &'static str;

    /// The most that it may do to files.
    const EFFECT: Effect;

    /// True if it needs an [`Origin`](crate::Origin) with a run.
    const NEEDS_RUN: bool = false;

    /// Commands of this kind about the note, the entry, the file or the target of this name.
    ///
    /// With [`SAMPLE_NAME`](crate::catalogue::SAMPLE_NAME), each of them succeeds in a fresh store of
    /// [`sample_files`](crate::catalogue::sample_files) and does no more than [`EFFECT`](Self::EFFECT) says.
    fn samples(name: &str) -> Vec<Self>;
}

/// A [`Request`] that can be run with `C`, which the commands of its family share.
pub(crate) trait Run<C>: Request {
    /// Runs the command.
    fn run(self, with: &C) -> impl Future<Output = Result<Self::Reply, Error>> + Send;
}

/// The commands of a family as one type, with a case for each.
pub trait Family: Sized {
    /// The replies of the family, with the same cases.
    type Reply;

    /// The name of the family: that of its interface in `wit/`.
    const NAME: &'static str;

    /// Shows each command of the family to the visitor, in their order.
    fn visit(visitor: &mut impl Visitor<Self>);
}

/// A [`Request`] that is a command of a family.
pub trait Member: Request {
    /// The family.
    type Family: Family + From<Self>;

    /// The reply of this command; `None` if it is the reply of another.
    fn from_family(reply: <Self::Family as Family>::Reply) -> Option<Self::Reply>;
}

/// Does something with the type of each command of the family `F`.
pub trait Visitor<F> {
    /// Takes the next command.
    fn visit<R: Member<Family = F>>(&mut self);
}
