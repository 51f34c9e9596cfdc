//! Canonical JSON of the contract's values: one JSON text per value, with the names of `wit/`.
//!
//! [`ToCanonical`] and [`FromCanonical`] are implemented for every type in `wit_contract!`, so a new record or case
//! needs no further code. A record is an object with its fields in the order of `wit/`; a variant is `{"case":
//! value}`, or `"case"` without a payload; `u64` and `s64` are decimal strings, bytes are base64, an absent option is
//! `null`, a result is `{"ok": …}` or `{"err": …}`. `docs/writing-a-host.md` has the format for other hosts.
//!
//! A [`Scribe`] writes. The key of the host is never written.

mod call;
mod convert;
mod fields;
mod memory;
mod scribe;
mod types;

pub use call::Call;
pub use convert::{command_value, read_command, read_reply};
pub use fields::{Case, Fields, FromCanonical, Malformed};
pub use memory::JsonMemory;
pub use scribe::{Scribe, ToCanonical, Writer};
pub use types::Place;

/// Implements both conversions for records.
#[macro_export]
#[doc(hidden)]
macro_rules! canonical_records {
    (canonical: $($module:ident::$name:ident { $($field:ident $(= $default:expr)?),* $(,)? })*) => {
        $(impl $crate::wit_convert::canonical::ToCanonical for $crate::wit_convert::own::$module::$name {
            fn write(&self, out: &mut $crate::wit_convert::canonical::Writer<'_>) {
                out.begin();
                $(
                    out.field($crate::wit_convert::canonical::Place {
                        interface: stringify!($module),
                        owner: stringify!($name),
                        member: stringify!($field),
                    });
                    $crate::wit_convert::canonical::ToCanonical::write(&self.$field, out);
                )*
                out.end();
            }
        }
        impl $crate::wit_convert::canonical::FromCanonical for $crate::wit_convert::own::$module::$name {
            fn read(value: serde_json::Value) -> Result<Self, $crate::wit_convert::canonical::Malformed> {
                let mut fields = $crate::wit_convert::canonical::Fields::of(value)?;
                let read = Self { $($field: $crate::canonical_field_in!(fields $field $(= $default)?)),* };
                fields.end()?;
                Ok(read)
            }
        })*
    };
}

/// Parses a field. A field with a default is an option in the contract.
#[macro_export]
#[doc(hidden)]
macro_rules! canonical_field_in {
    ($fields:ident $field:ident) => {
        $fields.take(stringify!($field))?
    };
    ($fields:ident $field:ident = $default:expr) => {
        $fields.take::<Option<_>>(stringify!($field))?.unwrap_or_else(|| $default)
    };
}

/// Implements both conversions for variants and enums.
#[macro_export]
#[doc(hidden)]
macro_rules! canonical_variants {
    (canonical: $($module:ident::$name:ident {
        $($case:ident $(($value:ident))? $(= ($unit:ident))? $({ $($field:ident),* } = $record:ident)?),* $(,)?
    })*) => {
        $(impl $crate::wit_convert::canonical::ToCanonical for $crate::wit_convert::own::$module::$name {
            fn write(&self, out: &mut $crate::wit_convert::canonical::Writer<'_>) {
                match self {
                    $(Self::$case
                        $(($value))? $(($crate::wit_convert::own::$module::$unit))? $({ $($field),* })? => {
                        let place = $crate::wit_convert::canonical::Place {
                            interface: stringify!($module),
                            owner: stringify!($name),
                            member: stringify!($case),
                        };
                        $crate::canonical_case_out! {
                            out place $module $(($value))? $({ $($field),* } $record)?
                        }
                    })*
                }
            }
        }
        impl $crate::wit_convert::canonical::FromCanonical for $crate::wit_convert::own::$module::$name {
            fn read(value: serde_json::Value) -> Result<Self, $crate::wit_convert::canonical::Malformed> {
                let case = $crate::wit_convert::canonical::Case::of(value)?;
                $(if case.is(stringify!($case)) {
                    return $crate::canonical_case_in! {
                        case $module $case $(($value))? $(= ($unit))? $({ $($field),* })?
                    };
                })*
                Err(case.unknown())
            }
        })*
    };
}

/// Writes a case with its payload.
#[macro_export]
#[doc(hidden)]
macro_rules! canonical_case_out {
    ($out:ident $place:ident $module:ident) => {
        $out.word($place)
    };
    ($out:ident $place:ident $module:ident ($value:ident)) => {
        $out.begin_case($place);
        $crate::wit_convert::canonical::ToCanonical::write($value, $out);
        $out.end()
    };
    ($out:ident $place:ident $module:ident { $($field:ident),* } $record:ident) => {
        $out.begin_case($place);
        $out.begin();
        $(
            $out.field($crate::wit_convert::canonical::Place {
                interface: stringify!($module),
                owner: stringify!($record),
                member: stringify!($field),
            });
            $crate::wit_convert::canonical::ToCanonical::write($field, $out);
        )*
        $out.end();
        $out.end()
    };
}

/// Parses the payload of a case.
#[macro_export]
#[doc(hidden)]
macro_rules! canonical_case_in {
    ($found:ident $module:ident $case:ident) => {
        $found.bare(Self::$case)
    };
    ($found:ident $module:ident $case:ident = ($unit:ident)) => {
        $found.bare(Self::$case($crate::wit_convert::own::$module::$unit))
    };
    ($found:ident $module:ident $case:ident ($value:ident)) => {
        $found.payload().map(Self::$case)
    };
    ($found:ident $module:ident $case:ident { $($field:ident),* }) => {
        $found.with_fields(|fields| Ok(Self::$case { $($field: fields.take(stringify!($field))?),* }))
    };
}
