//! What text is trusted, and what is done to text before a model reads it or a file keeps it.
//!
//! * [`Provenance`] is where text comes from, [`Standing`] what a file says of that. Text of tools and imports
//!   is found, and goes into a prompt only once a person has approved it.
//! * [`for_model`] makes stored text harmless: tags that would close the block or pose as somebody else are
//!   escaped, characters that nobody sees are shown, and both are counted as [`Flag`]s.
//! * [`secrets_in`] names the secrets in a text by the rule that knows them.
//! * [`TrustConfig`] is the policy of a memory. A `Screen` holds what comes in against it, text of the memory
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

mod echo;
mod escape;
mod for_model;
mod invisible;
mod provenance;
mod screen;
mod secrets;
pub(crate) mod titles;
mod waiting;

pub use escape::for_model;
pub use for_model::ForModel;
pub use invisible::{Flag, FlagKind, for_terminal, is_hidden};
pub use provenance::{Provenance, Standing};
pub use screen::{SecretPolicy, TrustConfig};
pub use secrets::{FoundSecret, secrets_in};

pub(crate) use escape::{add_flags, is_ignorable, is_line_break, list_item};
pub(crate) use provenance::{approve, mark};
pub(crate) use screen::{Removal, Screen, Screened};
pub(crate) use waiting::{Waiting, sha256, version_of};
