//! Conversions between the types of this crate and those that a bindings generator makes from `wit/`.
//!
//! Guest and host both have generated types of the same shape. `wit_contract!` (in `contract.rs`, which a test
//! generates from `wit/`) is the one list of them, and each side expands it over its own bindings. A field or a case
//! that only one of `wit/` and this crate has does not compile: the guest knows every case of this crate, and all of
//! its matches are complete.
//!
//! By convention, a type of the interface `journal` is the type with that name in [`own::journal`].

#[cfg(feature = "trace")]
pub mod canonical;
mod contract;

pub use contract::PACKAGE;

use alloc::string::String;
use alloc::vec::Vec;

use crate::protocol::ErrorCode;
use crate::protocol::{CommandId, ContextKey, Scores, Version};
use crate::store::{PathError, RelPath};
use crate::trust::{FlagKind, ForModel, HostSecret};

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

/// A conversion across the contract.
pub trait WitConvert<T> {
    /// Converts.
    ///
    /// # Errors
    ///
    /// The other side gave an invalid value.
    fn convert(self) -> Result<T, Mismatch>;
}

impl<A: WitConvert<B>, B> WitConvert<Vec<B>> for Vec<A> {
    fn convert(self) -> Result<Vec<B>, Mismatch> {
        self.into_iter().map(WitConvert::convert).collect()
    }
}

impl<A: WitConvert<B>, B> WitConvert<Option<B>> for Option<A> {
    fn convert(self) -> Result<Option<B>, Mismatch> {
        self.map(WitConvert::convert).transpose()
    }
}

impl<A: WitConvert<B>, B, E: WitConvert<F>, F> WitConvert<Result<B, F>> for Result<A, E> {
    fn convert(self) -> Result<Result<B, F>, Mismatch> {
        match self {
            Ok(value) => value.convert().map(Ok),
            Err(error) => error.convert().map(Err),
        }
    }
}

macro_rules! same {
    ($($type:ty),*) => {
        $(impl WitConvert<$type> for $type {
            fn convert(self) -> Result<$type, Mismatch> {
                Ok(self)
            }
        })*
    };
}

// Bytes are moved as a whole instead of one by one.
same!(bool, u32, u64, i32, i64, f64, String, Vec<u8>);

macro_rules! text {
    ($($type:ty: $make:expr, $take:expr;)*) => {
        $(impl WitConvert<$type> for String {
            fn convert(self) -> Result<$type, Mismatch> {
                $make(self)
            }
        }
        impl WitConvert<String> for $type {
            fn convert(self) -> Result<String, Mismatch> {
                Ok($take(self))
            }
        })*
    };
}

text! {
    RelPath: |text| Ok(RelPath::new(text)?), |path: RelPath| path.into_string();
    Version: |text| Ok(Version(text)), |version: Version| version.0;
    ForModel: |text| Ok(ForModel::from_contract(text)), |text: ForModel| text.into_string();
    FlagKind: |text: String| text.parse().map_err(|_| Mismatch::Word(text)), |kind: FlagKind| kind.as_str().into();
    // The set of codes grows, so an unknown code counts as an internal error.
    ErrorCode: |text: String| Ok(text.parse().unwrap_or(ErrorCode::Internal)), |code: ErrorCode| code.as_str().into();
    ContextKey: |text: String| Ok(ContextKey::from(text)), |key: ContextKey| key.into_string();
}

impl WitConvert<HostSecret> for Vec<u8> {
    fn convert(self) -> Result<HostSecret, Mismatch> {
        Ok(self.into())
    }
}

impl WitConvert<Vec<u8>> for HostSecret {
    fn convert(self) -> Result<Vec<u8>, Mismatch> {
        Ok(self.bytes().to_vec())
    }
}

impl WitConvert<Scores> for Vec<f64> {
    fn convert(self) -> Result<Scores, Mismatch> {
        Ok(Scores(self))
    }
}

impl WitConvert<Vec<f64>> for Scores {
    fn convert(self) -> Result<Vec<f64>, Mismatch> {
        Ok(self.0)
    }
}

impl WitConvert<CommandId> for u64 {
    fn convert(self) -> Result<CommandId, Mismatch> {
        Ok(CommandId(self))
    }
}

impl WitConvert<u64> for CommandId {
    fn convert(self) -> Result<u64, Mismatch> {
        Ok(self.0)
    }
}

/// Types of this crate under the names that `wit/` gives them, by interface.
#[doc(hidden)]
pub mod own {
    pub mod types {
        pub use crate::Origin;
        pub use crate::entries::HydrationPolicy;
        pub use crate::protocol::ErrorDetails as Error;
        pub use crate::store::Timestamp;
        pub use crate::trust::{Flag, Provenance};
    }

    pub mod fs {
        pub use crate::protocol::{
            AppendOutcome, Entry, EntryKind, FileContent, FsError, FsOp as Op, FsOutcome as Outcome,
            FsRequest as Request, FsResult as Reply, LeftOut, LeftOutName, ListOutcome, Listing, Precondition,
            ReadOutcome, RemoveDirectoryOutcome, RemoveOutcome, RenameOutcome, WriteOutcome,
        };
    }

    pub mod config {
        pub use crate::entries::EntriesConfig;
        pub use crate::store::LongTermScope;
        pub use crate::trust::{SecretPolicy, TrustConfig};
        pub use crate::{Config, Limits};
    }

    pub mod engine {
        pub use crate::ConfigError;
        pub use crate::protocol::{Finished, ProtocolError, Step};
    }

    pub mod journal {
        pub use crate::journal::*;
        pub use crate::search::{SearchHit, SearchResults, SkipReason, Skipped, TermCount};
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

    pub mod files {
        pub use crate::files::*;
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

    pub mod zk {
        pub use crate::notebook::ZkNote;
    }

    pub mod exchange {
        pub use crate::entries::{ExchangeState, ExchangedEntry};
        pub use crate::exchange::*;
    }
}

/// Implements [`WitConvert`] both ways for records with the same fields. With `canonical`, it implements the conversions
/// of the module `canonical` instead. A field with a default, `name = default`, is an option in the contract only; if
/// it is absent, it has the default.
#[macro_export]
#[doc(hidden)]
macro_rules! wit_records {
    (canonical: $($list:tt)*) => {
        $crate::canonical_records! { $($list)* }
    };
    ($openness:ident: $($module:ident::$name:ident { $($field:ident $(= $default:expr)?),* $(,)? })*) => {
        $(impl $crate::wit_convert::WitConvert<$crate::wit_convert::own::$module::$name> for $module::$name {
            fn convert(self) -> Result<$crate::wit_convert::own::$module::$name, $crate::wit_convert::Mismatch> {
                Ok($crate::wit_convert::own::$module::$name { $($field: $crate::wit_field_in!(self.$field $(, $default)?)),* })
            }
        }
        impl $crate::wit_convert::WitConvert<$module::$name> for $crate::wit_convert::own::$module::$name {
            fn convert(self) -> Result<$module::$name, $crate::wit_convert::Mismatch> {
                Ok($module::$name { $($field: $crate::wit_field_out!(self.$field $(, $default)?)),* })
            }
        })*
    };
}

/// Implements [`WitConvert`] both ways for the errors of commands, which this crate keeps behind a pointer.
#[macro_export]
#[doc(hidden)]
macro_rules! wit_error {
    ($error:ty) => {
        impl $crate::wit_convert::WitConvert<$crate::protocol::Error> for $error {
            fn convert(self) -> Result<$crate::protocol::Error, $crate::wit_convert::Mismatch> {
                let details: $crate::protocol::ErrorDetails = $crate::wit_convert::WitConvert::convert(self)?;
                Ok(details.into())
            }
        }
        impl $crate::wit_convert::WitConvert<$error> for $crate::protocol::Error {
            fn convert(self) -> Result<$error, $crate::wit_convert::Mismatch> {
                $crate::wit_convert::WitConvert::convert(self.into_details())
            }
        }
    };
}

/// Takes a field from the contract.
#[macro_export]
#[doc(hidden)]
macro_rules! wit_field_in {
    ($value:expr) => {
        $crate::wit_convert::WitConvert::convert($value)?
    };
    ($value:expr, $default:expr) => {
        match $value {
            Some(value) => $crate::wit_convert::WitConvert::convert(value)?,
            None => $default,
        }
    };
}

/// Passes a field to the contract.
#[macro_export]
#[doc(hidden)]
macro_rules! wit_field_out {
    ($value:expr) => {
        $crate::wit_convert::WitConvert::convert($value)?
    };
    ($value:expr, $default:expr) => {
        Some($crate::wit_convert::WitConvert::convert($value)?)
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
    (canonical: $($list:tt)*) => {
        $crate::canonical_variants! { $($list)* }
    };
    ($openness:ident: $($module:ident::$name:ident {
        $($case:ident $(($value:ident))? $(= ($unit:ident))? $({ $($field:ident),* } = $record:ident)?),* $(,)?
    })*) => {
        $(impl $crate::wit_convert::WitConvert<$crate::wit_convert::own::$module::$name> for $module::$name {
            fn convert(self) -> Result<$crate::wit_convert::own::$module::$name, $crate::wit_convert::Mismatch> {
                Ok(match self {
                    $($module::$name::$case $(($value))? $(($module::$record { $($field),* }))? => {
                        $crate::wit_convert::own::$module::$name::$case
                            $(($crate::wit_convert::WitConvert::convert($value)?))?
                            $(($crate::wit_convert::own::$module::$unit))?
                            $({ $($field: $crate::wit_convert::WitConvert::convert($field)?),* })?
                    })*
                })
            }
        }
        $crate::wit_variant_out! { $openness $module $name {
            $($case $(($value))? $(= ($unit))? $({ $($field),* } = $record)?),*
        } })*
    };
}

/// Implements [`WitConvert`] from a variant of this crate to that of the contract.
#[macro_export]
#[doc(hidden)]
macro_rules! wit_variant_out {
    (closed $module:ident $name:ident {
        $($case:ident $(($value:ident))? $(= ($unit:ident))? $({ $($field:ident),* } = $record:ident)?),*
    }) => {
        impl $crate::wit_convert::WitConvert<$module::$name> for $crate::wit_convert::own::$module::$name {
            fn convert(self) -> Result<$module::$name, $crate::wit_convert::Mismatch> {
                Ok(match self {
                    $($crate::wit_convert::own::$module::$name::$case
                        $(($value))? $(($crate::wit_convert::own::$module::$unit))? $({ $($field),* })? => {
                        $module::$name::$case
                            $(($crate::wit_convert::WitConvert::convert($value)?))?
                            $(($module::$record { $($field: $crate::wit_convert::WitConvert::convert($field)?),* }))?
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
                            $(($crate::wit_convert::WitConvert::convert($value)?))?
                            $(($module::$record { $($field: $crate::wit_convert::WitConvert::convert($field)?),* }))?
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
        Ok(crate::wit_field_out!(field, 9))
    }

    #[test]
    fn a_field_that_is_left_out_has_its_default_and_zero_is_not_left_out() {
        assert_eq!([None, Some(0), Some(4)].map(taken), [Ok(9), Ok(0), Ok(4)]);
        assert_eq!([0, 9].map(given), [Ok(Some(0)), Ok(Some(9))]);
    }
}
