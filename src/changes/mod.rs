//! Changes of stored files: the policy that makes them, and the gate that applies them.
//!
//! A command loads a [`File`], has the [`InputPolicy`] of its [`Call`] make a [`Change`] of it, and applies the change.
//! A change has its path, its precondition and its bytes, so text that was screened for one file cannot be stored in
//! another, nor over a version that the policy has not seen. Only this room holds the operations that change files.

mod call;
mod change;
mod expunged;
mod expunged_text;
mod gate;
mod kept;
mod logs;
mod make;
mod open;
mod operation;
mod policy;
mod read;
mod recorder;
mod rejections;
mod retention;
pub(crate) mod texts;
mod written;

pub(crate) use call::Call;
pub(crate) use change::{After, Change, File};
pub use expunged_text::EXPUNGED;
pub(crate) use expunged_text::ExpungedText;
pub(crate) use gate::Backups;
pub(crate) use kept::{Kept, KeptText};
pub(crate) use logs::history_of;
pub(crate) use operation::{HistoryPolicy, Progress, Recorder};
pub(crate) use policy::InputPolicy;
pub(crate) use recorder::is_session_of;
pub(crate) use rejections::{is_tombstone, refusal};
pub(crate) use texts::{Field, Screen, Texts};
pub(crate) use written::WrittenLogs;
