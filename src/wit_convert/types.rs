//! [`WitConvert`], the types of this crate under the names of `wit/`, and the macros that `contract.rs` expands.

use core::convert::Infallible;

use crate::context::LeftOutKind;
use crate::search::SkipKind;
use crate::store::{PathError, RelPath};
use crate::trust::{FlagKind, ForModel, HostSecret};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{CommandId, ContextKey, ErrorCode, Version};

/// Reason why a value of the other side is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// An invalid path.
    #[error("it has an invalid path: {0}")]
    Path(#[from] PathError),
    /// A word that this version does not know.
    #[error("the word `{0}` is unknown")]
    Word(String),
    /// A case that this version does not know.
    #[error("it has an unknown case")]
    Case,
}

/// A conversion across the contract, which fails with an `E`.
///
/// A value that goes to the host always converts. Its `E` is [`Infallible`], so the compiler leaves out the code for a failure.
pub trait WitConvert<T, E = Mismatch> {
    /// Converts.
    ///
    /// # Errors
    ///
    /// The other side gave an invalid value.
    fn convert(self) -> Result<T, E>;
}

impl<A: WitConvert<B, E>, B, E> WitConvert<Vec<B>, E> for Vec<A> {
    fn convert(self) -> Result<Vec<B>, E> {
        self.into_iter().map(WitConvert::convert).collect()
    }
}

impl<A: WitConvert<B, E>, B, E> WitConvert<Option<B>, E> for Option<A> {
    fn convert(self) -> Result<Option<B>, E> {
        self.map(WitConvert::convert).transpose()
    }
}

impl<A: WitConvert<B, E>, B, C: WitConvert<D, E>, D, E> WitConvert<Result<B, D>, E> for Result<A, C> {
    fn convert(self) -> Result<Result<B, D>, E> {
        match self {
            Ok(value) => value.convert().map(Ok),
            Err(error) => error.convert().map(Err),
        }
    }
}

macro_rules! same {
    ($failure:ty: $($type:ty),*) => {
        $(impl WitConvert<$type, $failure> for $type {
            fn convert(self) -> Result<$type, $failure> {
                Ok(self)
            }
        })*
    };
}

// Bytes are moved as a whole instead of one by one.
same!(Mismatch: bool, u32, u64, i32, i64, f64, String, Vec<u8>);
same!(Infallible: bool, u32, u64, i32, i64, f64, String, Vec<u8>);

macro_rules! text {
    ($($type:ty: $make:expr, $take:expr;)*) => {
        $(impl WitConvert<$type> for String {
            fn convert(self) -> Result<$type, Mismatch> {
                $make(self)
            }
        }
        impl<E> WitConvert<String, E> for $type {
            fn convert(self) -> Result<String, E> {
                Ok($take(self))
            }
        })*
    };
}

text! {
    RelPath: |text| Ok(RelPath::new(text)?), |path: RelPath| path.into_string();
    Version: |text| Ok(Version(text)), |version: Version| version.0;
    ForModel: |text| Ok(ForModel::from_contract(text)), |text: ForModel| text.into_string();
    LeftOutKind: |text: String| text.parse().map_err(|_| Mismatch::Word(text)), |kind: LeftOutKind| kind.as_str().into();
    SkipKind: |text: String| text.parse().map_err(|_| Mismatch::Word(text)), |kind: SkipKind| kind.as_str().into();
    FlagKind: |text: String| text.parse().map_err(|_| Mismatch::Word(text)), |kind: FlagKind| kind.as_str().into();
    // The set of codes grows, so an unknown code counts as an internal error.
    ErrorCode: |text: String| Ok(text.parse().unwrap_or(ErrorCode::Internal)), |code: ErrorCode| code.as_str().into();
    ContextKey: |text: String| Ok(ContextKey::from(text)), |key: ContextKey| key.into_string();
}

impl<E> WitConvert<HostSecret, E> for Vec<u8> {
    fn convert(self) -> Result<HostSecret, E> {
        Ok(self.into())
    }
}

impl<E> WitConvert<Vec<u8>, E> for HostSecret {
    fn convert(self) -> Result<Vec<u8>, E> {
        Ok(self.bytes().to_vec())
    }
}

impl<E> WitConvert<CommandId, E> for u64 {
    fn convert(self) -> Result<CommandId, E> {
        Ok(CommandId(self))
    }
}

impl<E> WitConvert<u64, E> for CommandId {
    fn convert(self) -> Result<u64, E> {
        Ok(self.0)
    }
}

/// Types of this crate under the names that `wit/` gives them, by interface.
#[doc(hidden)]
pub mod own {
    pub mod types {
        pub use crate::entries::HydrationPolicy;
        pub use crate::store::Timestamp;
        pub use crate::trust::{Flag, Marks, Provenance};
        pub use crate::{Moment, Origin};
        pub use saddlebag_protocol::ErrorDetails as Error;
    }

    pub mod fs {
        pub use saddlebag_protocol::{
            AppendOutcome, Entry, EntryKind, FileContent, FsError, FsOp as Op, FsOutcome as Outcome,
            FsRequest as Request, FsResult as Reply, LeftOut, LeftOutName, ListOutcome, Listing, Precondition,
            ReadOutcome, RemoveDirectoryOutcome, RemoveOutcome, RenameOutcome, WriteOutcome,
        };
    }

    pub mod config {
        pub use crate::entries::EntriesConfig;
        pub use crate::store::{BackupPlace, LongTermScope};
        pub use crate::trust::{SecretPolicy, TrustConfig};
        pub use crate::{Config, Limits};
    }

    pub mod engine {
        pub use crate::tools::ToolAnswer;
        pub use crate::{ConfigError, Finished, Step};
        pub use saddlebag_protocol::{ResultError, SubmitError};
    }

    pub mod journal {
        pub use crate::journal::*;
        pub use crate::search::{SearchHit, SearchResults, Skipped, TermCount};
    }

    pub mod prompt {
        pub use crate::context::*;
    }

    pub mod agents_md {
        pub use crate::agents_md::*;
    }

    pub mod notebook {
        pub use crate::notebook::*;
    }

    pub mod entries {
        pub use crate::entries::*;
    }

    pub mod items {
        pub use crate::items::*;
    }

    pub mod history {
        pub use crate::history::*;
    }

    pub mod session {
        pub use crate::session::*;
    }

    pub mod tools {
        pub use crate::tools::*;
    }

    pub mod trust {
        pub use crate::approval::*;
        pub use crate::trust::*;
    }

    pub mod exchange {
        pub use crate::entries::{ExchangeState, ExchangedEntry};
        pub use crate::exchange::*;
    }
}

/// Implements [`WitConvert`] both ways for records with the same fields. A field with a default, `name = default`, is an option in the contract only; if
/// it is absent, it has the default.
#[macro_export]
#[doc(hidden)]
macro_rules! wit_records {
    ($openness:ident: $($module:ident::$name:ident { $($field:ident $(= $default:expr)?),* $(,)? })*) => {
        $(impl $crate::wit_convert::WitConvert<$crate::wit_convert::own::$module::$name> for $module::$name {
            fn convert(self) -> Result<$crate::wit_convert::own::$module::$name, $crate::wit_convert::Mismatch> {
                Ok($crate::wit_convert::own::$module::$name { $($field: $crate::wit_field_in!(self.$field $(, $default)?)),* })
            }
        }
        impl $crate::wit_convert::WitConvert<$module::$name, $crate::wit_failure!($openness)>
            for $crate::wit_convert::own::$module::$name
        {
            fn convert(self) -> Result<$module::$name, $crate::wit_failure!($openness)> {
                Ok($module::$name { $($field: $crate::wit_field_out!($openness, self.$field $(, $default)?)),* })
            }
        })*
    };
}

/// Implements [`WitConvert`] both ways for the errors of commands, which this crate keeps in a box.
#[macro_export]
#[doc(hidden)]
macro_rules! wit_error {
    ($openness:ident: $error:ty) => {
        impl $crate::wit_convert::WitConvert<$crate::protocol::Error> for $error {
            fn convert(self) -> Result<$crate::protocol::Error, $crate::wit_convert::Mismatch> {
                let details: $crate::protocol::ErrorDetails = $crate::wit_convert::WitConvert::convert(self)?;
                Ok(details.into())
            }
        }
        impl $crate::wit_convert::WitConvert<$error, $crate::wit_failure!($openness)> for $crate::protocol::Error {
            fn convert(self) -> Result<$error, $crate::wit_failure!($openness)> {
                $crate::wit_convert::WitConvert::convert(self.into_details())
            }
        }
    };
}

/// Type of a failure to pass a value to the other side. A case of this crate may be unknown to a host of another version.
#[macro_export]
#[doc(hidden)]
macro_rules! wit_failure {
    (closed) => {
        core::convert::Infallible
    };
    (open) => {
        $crate::wit_convert::Mismatch
    };
}

/// Takes a field from the contract.
#[macro_export]
#[doc(hidden)]
macro_rules! wit_field_in {
    ($value:expr) => {
        $crate::wit_convert::WitConvert::<_, $crate::wit_convert::Mismatch>::convert($value)?
    };
    ($value:expr, $default:expr) => {
        match $value {
            Some(value) => $crate::wit_convert::WitConvert::<_, $crate::wit_convert::Mismatch>::convert(value)?,
            None => $default,
        }
    };
}

/// Passes a field to the contract.
#[macro_export]
#[doc(hidden)]
macro_rules! wit_field_out {
    ($openness:ident, $value:expr) => {
        $crate::wit_convert::WitConvert::<_, $crate::wit_failure!($openness)>::convert($value)?
    };
    ($openness:ident, $value:expr, $default:expr) => {
        Some($crate::wit_convert::WitConvert::<_, $crate::wit_failure!($openness)>::convert($value)?)
    };
}

/// Implements [`WitConvert`] both ways for variants with the same cases. A case is `Name`, `Name(_)`, `Name = ()` if this
/// crate has a struct without fields, or `Name { fields } = Record` if the contract has a record and this crate has
/// named fields.
///
/// The enums of this crate are open for other crates. So the host's expansion (`open`) has an arm for unknown cases.
/// The guest's (`closed`) is in this crate and has none: a case that `wit/` lacks does not compile.
#[macro_export]
#[doc(hidden)]
macro_rules! wit_variants {
    ($openness:ident: $($module:ident::$name:ident {
        $($case:ident $(($value:ident))? $(= ($unit:ident))? $({ $($field:ident),* } = $record:ident)?),* $(,)?
    })*) => {
        $(impl $crate::wit_convert::WitConvert<$crate::wit_convert::own::$module::$name> for $module::$name {
            fn convert(self) -> Result<$crate::wit_convert::own::$module::$name, $crate::wit_convert::Mismatch> {
                Ok(match self {
                    $($module::$name::$case $(($value))? $(($module::$record { $($field),* }))? => {
                        $crate::wit_convert::own::$module::$name::$case
                            $(($crate::wit_convert::WitConvert::<_, $crate::wit_convert::Mismatch>::convert($value)?))?
                            $(($crate::wit_convert::own::$module::$unit))?
                            $({ $($field: $crate::wit_convert::WitConvert::<_, $crate::wit_convert::Mismatch>::convert($field)?),* })?
                    })*
                })
            }
        }
        $crate::wit_variant_out! { $openness $module $name {
            $($case $(($value))? $(= ($unit))? $({ $($field),* } = $record)?),*
        } })*
    };
}

/// Implements [`WitConvert`] from a variant of this crate to the variant of the contract.
#[macro_export]
#[doc(hidden)]
macro_rules! wit_variant_out {
    (closed $module:ident $name:ident {
        $($case:ident $(($value:ident))? $(= ($unit:ident))? $({ $($field:ident),* } = $record:ident)?),*
    }) => {
        impl $crate::wit_convert::WitConvert<$module::$name, $crate::wit_failure!(closed)>
            for $crate::wit_convert::own::$module::$name
        {
            fn convert(self) -> Result<$module::$name, $crate::wit_failure!(closed)> {
                Ok(match self {
                    $($crate::wit_convert::own::$module::$name::$case
                        $(($value))? $(($crate::wit_convert::own::$module::$unit))? $({ $($field),* })? => {
                        $module::$name::$case
                            $(($crate::wit_convert::WitConvert::<_, $crate::wit_failure!(closed)>::convert($value)?))?
                            $(($module::$record { $($field: $crate::wit_convert::WitConvert::<_, $crate::wit_failure!(closed)>::convert($field)?),* }))?
                    })*
                })
            }
        }
    };
    (open $module:ident $name:ident {
        $($case:ident $(($value:ident))? $(= ($unit:ident))? $({ $($field:ident),* } = $record:ident)?),*
    }) => {
        impl $crate::wit_convert::WitConvert<$module::$name> for $crate::wit_convert::own::$module::$name {
            fn convert(self) -> Result<$module::$name, $crate::wit_convert::Mismatch> {
                #[allow(unreachable_patterns)]
                Ok(match self {
                    $($crate::wit_convert::own::$module::$name::$case
                        $(($value))? $(($crate::wit_convert::own::$module::$unit))? $({ $($field),* })? => {
                        $module::$name::$case
                            $(($crate::wit_convert::WitConvert::<_, $crate::wit_convert::Mismatch>::convert($value)?))?
                            $(($module::$record { $($field: $crate::wit_convert::WitConvert::<_, $crate::wit_convert::Mismatch>::convert($field)?),* }))?
                    })*
                    // Only a host that was built against another version of this crate can get here.
                    _ => return Err($crate::wit_convert::Mismatch::Case),
                })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(field: Option<u32>) -> Result<u32, Mismatch> {
        Ok(crate::wit_field_in!(field, 9))
    }

    fn given(field: u32) -> Result<Option<u32>, Mismatch> {
        Ok(crate::wit_field_out!(open, field, 9))
    }

    #[test]
    fn a_field_that_is_left_out_has_its_default_and_zero_is_not_left_out() {
        assert_eq!([None, Some(0), Some(4)].map(taken), [Ok(9), Ok(0), Ok(4)]);
        assert_eq!([0, 9].map(given), [Ok(Some(0)), Ok(Some(9))]);
    }
}
