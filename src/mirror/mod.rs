//! Conversions between the types of this crate and those that a bindings generator makes of `wit/`.
//!
//! Guest and host both have generated types of the same shape. `mirror_contract!` (in `contract.rs`, which a test makes
//! of `wit/`) is the one list of them; each side expands it over its own bindings. A field or a case that only one of
//! `wit/` and this crate has does not compile: the guest knows every case of this crate, and every match in it is
//! complete.
//!
//! By convention, a type of the interface `journal` is the type of that name in [`own::journal`].

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

/// Why a value of the other side is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// It has a path that breaks a rule of paths.
    #[error("a path in it is refused: {0}")]
    Path(#[from] PathError),
    /// It has a word that this version does not know.
    #[error("the word `{0}` is unknown")]
    Word(String),
    /// It has a case that this version does not know.
    #[error("a case of it is unknown")]
    Case,
}

/// A conversion across the contract.
pub trait Mirror<T> {
    /// Converts.
    ///
    /// # Errors
    ///
    /// What the other side should not have given.
    fn mirror(self) -> Result<T, Mismatch>;
}

impl<A: Mirror<B>, B> Mirror<Vec<B>> for Vec<A> {
    fn mirror(self) -> Result<Vec<B>, Mismatch> {
        self.into_iter().map(Mirror::mirror).collect()
    }
}

impl<A: Mirror<B>, B> Mirror<Option<B>> for Option<A> {
    fn mirror(self) -> Result<Option<B>, Mismatch> {
        self.map(Mirror::mirror).transpose()
    }
}

impl<A: Mirror<B>, B, E: Mirror<F>, F> Mirror<Result<B, F>> for Result<A, E> {
    fn mirror(self) -> Result<Result<B, F>, Mismatch> {
        match self {
            Ok(value) => value.mirror().map(Ok),
            Err(error) => error.mirror().map(Err),
        }
    }
}

macro_rules! same {
    ($($type:ty),*) => {
        $(impl Mirror<$type> for $type {
            fn mirror(self) -> Result<$type, Mismatch> {
                Ok(self)
            }
        })*
    };
}

// Bytes go over as they are, not one by one.
same!(bool, u32, u64, i32, i64, f64, String, Vec<u8>);

macro_rules! text {
    ($($type:ty: $make:expr, $take:expr;)*) => {
        $(impl Mirror<$type> for String {
            fn mirror(self) -> Result<$type, Mismatch> {
                $make(self)
            }
        }
        impl Mirror<String> for $type {
            fn mirror(self) -> Result<String, Mismatch> {
                Ok($take(self))
            }
        })*
    };
}

text! {
    RelPath: |text| Ok(RelPath::parse(text)?), |path: RelPath| path.into_string();
    Version: |text| Ok(Version(text)), |version: Version| version.0;
    ForModel: |text| Ok(ForModel::from_contract(text)), |text: ForModel| text.into_string();
    FlagKind: |text: String| text.parse().map_err(|_| Mismatch::Word(text)), |kind: FlagKind| kind.as_str().into();
    // The set of codes grows; a code that is not known is a fault, whatever it is.
    ErrorCode: |text: String| Ok(text.parse().unwrap_or(ErrorCode::Internal)), |code: ErrorCode| code.as_str().into();
    ContextKey: |text: String| Ok(ContextKey::from(text)), |key: ContextKey| key.into_string();
}

impl Mirror<HostSecret> for Vec<u8> {
    fn mirror(self) -> Result<HostSecret, Mismatch> {
        Ok(self.into())
    }
}

impl Mirror<Vec<u8>> for HostSecret {
    fn mirror(self) -> Result<Vec<u8>, Mismatch> {
        Ok(self.bytes().to_vec())
    }
}

impl Mirror<Scores> for Vec<f64> {
    fn mirror(self) -> Result<Scores, Mismatch> {
        Ok(Scores(self))
    }
}

impl Mirror<Vec<f64>> for Scores {
    fn mirror(self) -> Result<Vec<f64>, Mismatch> {
        Ok(self.0)
    }
}

impl Mirror<CommandId> for u64 {
    fn mirror(self) -> Result<CommandId, Mismatch> {
        Ok(CommandId(self))
    }
}

impl Mirror<u64> for CommandId {
    fn mirror(self) -> Result<u64, Mismatch> {
        Ok(self.0)
    }
}

/// The types of this crate under the names that `wit/` gives them, by interface.
#[doc(hidden)]
pub mod own {
    pub mod types {
        pub use crate::Origin;
        pub use crate::entries::HydrationPolicy;
        pub use crate::protocol::Error;
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

/// Implements [`Mirror`] both ways for records with the same fields; with `canonical` the conversions of the module
/// `canonical` instead. A field with a default, `name = default`, is an option in the contract alone: absent, it is the
/// default.
#[macro_export]
#[doc(hidden)]
macro_rules! mirror_records {
    (canonical: $($list:tt)*) => {
        $crate::canonical_records! { $($list)* }
    };
    ($openness:ident: $($module:ident::$name:ident { $($field:ident $(= $default:expr)?),* $(,)? })*) => {
        $(impl $crate::mirror::Mirror<$crate::mirror::own::$module::$name> for $module::$name {
            fn mirror(self) -> Result<$crate::mirror::own::$module::$name, $crate::mirror::Mismatch> {
                Ok($crate::mirror::own::$module::$name { $($field: $crate::mirror_field_in!(self.$field $(, $default)?)),* })
            }
        }
        impl $crate::mirror::Mirror<$module::$name> for $crate::mirror::own::$module::$name {
            fn mirror(self) -> Result<$module::$name, $crate::mirror::Mismatch> {
                Ok($module::$name { $($field: $crate::mirror_field_out!(self.$field $(, $default)?)),* })
            }
        })*
    };
}

/// Takes a field from the contract.
#[macro_export]
#[doc(hidden)]
macro_rules! mirror_field_in {
    ($value:expr) => {
        $crate::mirror::Mirror::mirror($value)?
    };
    ($value:expr, $default:expr) => {
        match $value {
            Some(value) => $crate::mirror::Mirror::mirror(value)?,
            None => $default,
        }
    };
}

/// Gives a field to the contract.
#[macro_export]
#[doc(hidden)]
macro_rules! mirror_field_out {
    ($value:expr) => {
        $crate::mirror::Mirror::mirror($value)?
    };
    ($value:expr, $default:expr) => {
        Some($crate::mirror::Mirror::mirror($value)?)
    };
}

/// Implements [`Mirror`] both ways for variants with the same cases. A case is `Name`, `Name(_)`, `Name = ()` where this
/// crate has a struct without fields, or `Name { fields } = Record` where the contract has a record for what is named
/// fields here.
///
/// The enums of this crate are open for other crates. So the host's expansion (`open`) has an arm for cases that it does
/// not know, and the guest's (`closed`), which is in this crate, has none: a case that `wit/` lacks does not compile.
#[macro_export]
#[doc(hidden)]
macro_rules! mirror_variants {
    (canonical: $($list:tt)*) => {
        $crate::canonical_variants! { $($list)* }
    };
    ($openness:ident: $($module:ident::$name:ident {
        $($case:ident $(($value:ident))? $(= ($unit:ident))? $({ $($field:ident),* } = $record:ident)?),* $(,)?
    })*) => {
        $(impl $crate::mirror::Mirror<$crate::mirror::own::$module::$name> for $module::$name {
            fn mirror(self) -> Result<$crate::mirror::own::$module::$name, $crate::mirror::Mismatch> {
                Ok(match self {
                    $($module::$name::$case $(($value))? $(($module::$record { $($field),* }))? => {
                        $crate::mirror::own::$module::$name::$case
                            $(($crate::mirror::Mirror::mirror($value)?))?
                            $(($crate::mirror::own::$module::$unit))?
                            $({ $($field: $crate::mirror::Mirror::mirror($field)?),* })?
                    })*
                })
            }
        }
        $crate::mirror_variant_out! { $openness $module $name {
            $($case $(($value))? $(= ($unit))? $({ $($field),* } = $record)?),*
        } })*
    };
}

/// Implements [`Mirror`] from a variant of this crate to that of the contract.
#[macro_export]
#[doc(hidden)]
macro_rules! mirror_variant_out {
    (closed $module:ident $name:ident {
        $($case:ident $(($value:ident))? $(= ($unit:ident))? $({ $($field:ident),* } = $record:ident)?),*
    }) => {
        impl $crate::mirror::Mirror<$module::$name> for $crate::mirror::own::$module::$name {
            fn mirror(self) -> Result<$module::$name, $crate::mirror::Mismatch> {
                Ok(match self {
                    $($crate::mirror::own::$module::$name::$case
                        $(($value))? $(($crate::mirror::own::$module::$unit))? $({ $($field),* })? => {
                        $module::$name::$case
                            $(($crate::mirror::Mirror::mirror($value)?))?
                            $(($module::$record { $($field: $crate::mirror::Mirror::mirror($field)?),* }))?
                    })*
                })
            }
        }
    };
    (open $module:ident $name:ident {
        $($case:ident $(($value:ident))? $(= ($unit:ident))? $({ $($field:ident),* } = $record:ident)?),*
    }) => {
        impl $crate::mirror::Mirror<$module::$name> for $crate::mirror::own::$module::$name {
            fn mirror(self) -> Result<$module::$name, $crate::mirror::Mismatch> {
                #[allow(unreachable_patterns)]
                Ok(match self {
                    $($crate::mirror::own::$module::$name::$case
                        $(($value))? $(($crate::mirror::own::$module::$unit))? $({ $($field),* })? => {
                        $module::$name::$case
                            $(($crate::mirror::Mirror::mirror($value)?))?
                            $(($module::$record { $($field: $crate::mirror::Mirror::mirror($field)?),* }))?
                    })*
                    // Only a host that was built against another version of this crate gets here.
                    _ => return Err($crate::mirror::Mismatch::Case),
                })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(field: Option<u32>) -> Result<u32, Mismatch> {
        Ok(crate::mirror_field_in!(field, 9))
    }

    fn given(field: u32) -> Result<Option<u32>, Mismatch> {
        Ok(crate::mirror_field_out!(field, 9))
    }

    #[test]
    fn a_field_that_is_left_out_has_its_default_and_zero_is_not_left_out() {
        assert_eq!([None, Some(0), Some(4)].map(taken), [Ok(9), Ok(0), Ok(4)]);
        assert_eq!([0, 9].map(given), [Ok(Some(0)), Ok(Some(9))]);
    }
}
