//! [`FromCanonical`]: parsing canonical JSON. [`Fields`] and [`Case`] are the parts of a value, [`Malformed`] is the
//! error.

use serde_json::{Map, Value};

use super::types::wit_name;
use saddlebag_collections::prelude::*;

/// A value that can be parsed from canonical JSON.
pub trait FromCanonical: Sized {
    /// Parses a value.
    ///
    /// # Errors
    ///
    /// The JSON is not a value of this type, or incomplete. Unknown fields are refused.
    fn read(value: Value) -> Result<Self, Malformed>;

    /// Returns the value of a field that is left out: `None` of an option, and nothing for any other type.
    fn left_out() -> Option<Self> {
        None
    }
}

/// Reason why JSON is not a value of the contract, with the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at `{at}`: {reason}")]
pub struct Malformed {
    /// Place, such as `command.write.target`.
    pub at: String,
    /// What was expected and what was found.
    pub reason: String,
}

impl Malformed {
    /// Creates the error for a value that is not what `wanted` describes.
    pub fn expected(wanted: &str, found: &Value) -> Self {
        let shown: String = found.to_string().chars().take(64).collect();
        Self::wrong(format!("expected {wanted}, found {shown}"))
    }

    /// Creates an error with this reason.
    pub fn wrong(reason: String) -> Self {
        Self { at: String::new(), reason }
    }

    /// Returns the same error, with `name` before its place.
    pub fn below(self, name: &str) -> Self {
        let at = match self.at.as_str() {
            "" => name.to_string(),
            at if at.starts_with('[') => format!("{name}{at}"),
            at => format!("{name}.{at}"),
        };
        Self { at, ..self }
    }
}

/// Fields of an object, each of which can be taken once.
pub struct Fields(Map<String, Value>);

impl Fields {
    /// Returns the fields of a value.
    ///
    /// # Errors
    ///
    /// The value is not an object.
    pub fn of(value: Value) -> Result<Self, Malformed> {
        match value {
            Value::Object(fields) => Ok(Self(fields)),
            other => Err(Malformed::expected("an object", &other)),
        }
    }

    /// Returns true if there is a field with this name, in the spelling of Rust or of `wit/`.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(&wit_name(name))
    }

    /// Takes a field without parsing it.
    ///
    /// # Errors
    ///
    /// The field is missing.
    pub fn take_value(&mut self, name: &str) -> Result<Value, Malformed> {
        self.take_present(name).ok_or_else(|| missing(name))
    }

    fn take_present(&mut self, name: &str) -> Option<Value> {
        self.0.remove(&wit_name(name))
    }

    /// Takes a field. An option may be missing.
    ///
    /// # Errors
    ///
    /// The field is missing, or has another type.
    pub fn take<T: FromCanonical>(&mut self, name: &str) -> Result<T, Malformed> {
        match self.take_present(name) {
            Some(value) => T::read(value).map_err(|error| error.below(&wit_name(name))),
            None => T::left_out().ok_or_else(|| missing(name)),
        }
    }

    /// Checks that every field was taken.
    ///
    /// # Errors
    ///
    /// A field is not in the contract.
    pub fn end(self) -> Result<(), Malformed> {
        match self.0.into_iter().next() {
            None => Ok(()),
            Some((name, _)) => Err(Malformed::wrong(format!("the field `{name}` is unknown"))),
        }
    }
}

fn missing(name: &str) -> Malformed {
    Malformed::wrong(format!("the field `{}` is missing", wit_name(name)))
}

/// Case of a variant: `"case"`, or `{"case": value}`.
pub struct Case {
    name: String,
    payload: Option<Value>,
}

impl Case {
    /// Parses the case of a value.
    ///
    /// # Errors
    ///
    /// The value is neither a string nor an object with one field.
    pub fn of(value: Value) -> Result<Self, Malformed> {
        const WANTED: &str = "the name of a case, or an object with one field";

        match value {
            Value::String(name) => Ok(Self { name, payload: None }),
            Value::Object(fields) if fields.len() == 1 => {
                let only = fields.into_iter().next();
                only.map(|(name, value)| Self { name, payload: Some(value) })
                    .ok_or_else(|| Malformed::expected(WANTED, &Value::Null))
            }
            other => Err(Malformed::expected(WANTED, &other)),
        }
    }

    /// Returns true if the case has this name, in the spelling of Rust.
    pub fn is(&self, name: &str) -> bool {
        self.name == wit_name(name)
    }

    /// Returns the value of a case without a payload.
    ///
    /// # Errors
    ///
    /// The JSON has a payload.
    pub fn bare<T>(self, value: T) -> Result<T, Malformed> {
        match self.payload {
            None => Ok(value),
            Some(found) => {
                Err(Malformed::expected("the name only, because the case has no payload", &found).below(&self.name))
            }
        }
    }

    /// Parses the payload of the case.
    ///
    /// # Errors
    ///
    /// There is no payload, or it has another type.
    pub fn payload<T: FromCanonical>(self) -> Result<T, Malformed> {
        let Self { name, payload } = self;
        let Some(payload) = payload else {
            return Err(Malformed::wrong(format!("the case `{name}` needs a payload")));
        };
        T::read(payload).map_err(|error| error.below(&name))
    }

    /// Builds a value from the fields of the payload.
    ///
    /// # Errors
    ///
    /// The payload has other fields.
    pub fn with_fields<T>(self, make: impl FnOnce(&mut Fields) -> Result<T, Malformed>) -> Result<T, Malformed> {
        let Self { name, payload } = self;
        let read = || {
            let mut fields = Fields::of(payload.unwrap_or(Value::Null))?;
            let value = make(&mut fields)?;
            fields.end()?;
            Ok(value)
        };
        read().map_err(|error: Malformed| error.below(&name))
    }

    /// Returns the error for a case with an unknown name.
    pub fn unknown(self) -> Malformed {
        Malformed::wrong(format!("the case `{}` is unknown", self.name))
    }
}
