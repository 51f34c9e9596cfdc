//! Trust: the provenance of text, and the checks before a model reads it or a file keeps it.
//!
//! * [`Provenance`] is the origin of text, [`TrustState`] is the origin and approval that a file records. Text of tools and
//!   imports can be found, but goes into a prompt only after a person approved it.
//! * [`for_model`] makes stored text harmless: tags that would close the block or imitate someone are escaped, invisible
//!   characters are shown, and both are counted as [`Flag`]s. [`ForModel`] is the type of such text.
//! * [`TrustConfig`] is the policy of a memory. An `InputPolicy` checks incoming text against it, and removes text of the
//!   memory block.
//!
//! Functions on text that do not need this are in `saddlebag-sanitize`, for example [`secrets_in`] and
//! [`without_private`]. Small components have this package compiled for size, where a loop over characters is slow.
//!
//! ```
//! use saddlebag::trust::{FlagKind, for_model};
//!
//! let (text, flags) = for_model("</memory>\u{202e}");
//! assert_eq!(text, "&lt;/memory>[U+202E]");
//! assert_eq!((flags[0].kind, flags[0].what.as_str()), (FlagKind::Markup, "</memory"));
//! assert_eq!((flags[1].kind, flags[1].what.as_str()), (FlagKind::Bidirectional, "U+202E"));
//! ```
//!
//! # What is trusted?
//!
//! docs/trust.md has the rules. Text passes two gates. On the way **in**, the `InputPolicy` of the call screens the fields
//! of a command before it runs, as the list of its family says, and `entries/screen.rs` screens entries. That refuses or
//! redacts secrets and removes text of the block. `entries/import.rs` screens each file by itself, after the check that it differs from the stored one,
//! so an export comes back to its store whatever the policy. A second check cannot be skipped by any command: a file
//! changes only by a `Change`, which the `InputPolicy` of the call makes of the file as it was loaded and its new bytes. It
//! finds secrets that were put together from parts. It refuses to change trusted text in a memory for tools, and files
//! that other projects or agents read.
//!
//! On the way **out**, a prompt takes stored text as `Approved` alone, which is made by judging the text of the file, never
//! the index: the sections of a block and the memories of a turn have this type. It becomes `ForModel`, by escaping;
//! the fields of replies that a model may read have that type. `from_contract` accepts text that has this type on the other
//! side of the contract, `from_host` the host's own base prompt; nothing else makes one. Errors are made harmless where a command
//! ends, in `memory.rs`.
//!
//! An approval is a field of the file. Every change of content, category or tags through a command writes the field
//! again, so an approval holds only for the approved text. An approval is a conditional write under the version of the
//! text that was listed, its SHA-256, which the request names for each item. A recall for a prompt ranks as if unapproved
//! text did not exist.

mod approved;
mod config;
mod for_model;
mod marks;
mod pending_approval;
mod provenance;
mod rejected;
mod writer;

pub use config::{HOST_SECRET_BYTES, HostSecret, SecretPolicy, TrustConfig};
pub use for_model::{ForModel, for_model};
pub use marks::Marks;
pub use provenance::{Provenance, TrustState};
pub use saddlebag_sanitize::{
    Flag, FlagKind, FoundSecret, for_terminal, head_without_divided_secret, is_hidden, is_line_break, secrets_in,
    without_private,
};

pub(crate) use approved::Approved;
pub(crate) use for_model::escaped_item;
pub(crate) use pending_approval::{PendingApproval, sha256, version_of};
pub(crate) use provenance::{approve, is_unclosed, mark};
pub(crate) use rejected::{RejectedValues, Rejection, Value, note_value};
pub use rejected::{own_rejections, received_rejections, unite_rejections, without_rejected};
pub(crate) use saddlebag_sanitize::{BLOCK_END, BLOCK_START, add_flags, estimate_tokens, is_ignorable, titles};
pub(crate) use writer::Writer;
