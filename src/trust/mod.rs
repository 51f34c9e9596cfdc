//! What text is trusted, and what is done to text before a model reads it or a file keeps it.
//!
//! * [`Provenance`] is where text comes from, [`TrustState`] what a file says of that. Text of tools and imports
//!   is found, and goes into a prompt only once a person has approved it.
//! * [`for_model`] makes stored text harmless: tags that would close the block or pose as somebody else are
//!   escaped, characters that nobody sees are shown, and both are counted as [`Flag`]s.
//! * [`secrets_in`] names the secrets in a text by the rule that knows them.
//! * [`TrustConfig`] is the policy of a memory. A `InputPolicy` holds what comes in against it, text of the memory
//!   block that comes back included.
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
//! docs/trust.md has the rules. Text passes two gates. At the way **in**, each family begins with its
//! `screen.rs`: the command as it may be run, or an error. There the provenance of a `store` or a `remember` is settled from
//! the configuration and from what the command names, secrets are refused or redacted, text of the block is left out, and
//! journal files take nothing of tools and imports. Whoever runs a command of a family passes it, as it is inside
//! `journal::run`, `notebook::run` and `entries::run`. `import.rs` screens each file by itself, behind the check that it is
//! not what is stored already: so an export comes back to its store whatever the policy. Behind it is a second check, which
//! no command can skip: `engine::{create, update, append, write_version}` take `Screened` bytes alone, and every removal needs
//! a `Removal`. Both are made by the `InputPolicy` of the call, which sees the path, the bytes that the file has and those that it
//! is to have: it finds secrets that were put together, refuses to change trusted text in a memory for tools, and to change
//! files that other projects or other agents read.
//!
//! At the way **out**, the block, hydration, `load-memories` and `recall-for-turn` leave out what `TrustState::of_text` says is
//! not approved, of the text of the file and never of the index. What is left becomes `ForModel`, by escaping or from literals;
//! the fields of replies that a model may read have that type. `from_contract` takes over what the other side of the contract
//! has as this type, `of_host` the host's own base prompt; nothing else makes one. Errors are made harmless where a command
//! ends, in `memory.rs`.
//!
//! An approval is a field of the file, and bound to the text by what writes: every change of content, category or tags
//! through a command writes the field anew. To approve is a conditional write under
//! the version of the text that was listed, its SHA-256, which the request has to name for each text.
//! When a turn recalls something unapproved, it recalls once more among the others, so that it takes nobody's place.

mod echo;
mod escape;
mod for_model;
mod host_secret;
mod input_policy;
mod invisible;
mod pending_approval;
mod provenance;
mod secrets;
pub(crate) mod titles;

pub use for_model::{ForModel, for_model};
pub use host_secret::{HOST_SECRET_BYTES, HostSecret};
pub use input_policy::{SecretPolicy, TrustConfig};
pub use invisible::{Flag, FlagKind, for_terminal, is_hidden};
pub use provenance::{Provenance, TrustState};
pub use secrets::{FoundSecret, secrets_in};

pub(crate) use escape::{add_flags, is_ignorable, is_line_break};
pub(crate) use for_model::escaped_item;
pub(crate) use input_policy::{InputPolicy, Removal, Screened};
pub(crate) use pending_approval::{PendingApproval, sha256, version_of};
pub(crate) use provenance::{approve, mark};
