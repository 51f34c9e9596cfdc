//! [`FromCanonical`]: [`Fields`] and [`Case`] are the parts of a JSON value, [`Malformed`] says which are wrong.

use alloc::format;
use alloc::string::{String, ToString};

use serde_json::{Map, Value};

use super::types::{LEFT_OUT, REDACTED, wit_name};

/// A value that can be read from canonical JSON.
pub trait FromCanonical: Sized {
    /// Reads a value.
    ///
    /// # Errors
    ///
    /// JSON that is not a value of this type, or that lacks a part of it. Unknown fields are refused.
    fn read(value: Value) -> Result<Self, Malformed>;
}

/// Why JSON is not a value of the contract.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at `{at}`: {reason}")]
pub struct Malformed {
    /// Where, as `command.write.target`.
    pub at: String,
    /// Why.
    pub reason: Reason,
}

/// Why a part of the JSON is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// It was left out when it was written.
    #[error("the value was left out")]
    LeftOut,
    /// It is not what the contract has there; the text says what is expected and what was found.
    #[error("{0}")]
    Wrong(String),
}

impl Malformed {
    /// The value is not what `wanted` describes.
    #[must_use]
    pub fn expected(wanted: &str, found: &Value) -> Self {
        let is_left_out =
            found.as_object().is_some_and(|fields| fields.contains_key(LEFT_OUT) || fields.contains_key(REDACTED));
        if is_left_out {
            return Self { at: String::new(), reason: Reason::LeftOut };
        }
        let shown: String = found.to_string().chars().take(64).collect();
        Self::wrong(format!("expected {wanted}, found {shown}"))
    }

    /// The value is refused for this reason.
    #[must_use]
    pub fn wrong(reason: String) -> Self {
        Self { at: String::new(), reason: Reason::Wrong(reason) }
    }

    /// The same error, in a part of this name of the whole.
    #[must_use]
    pub fn below(self, name: &str) -> Self {
        let at = match self.at.as_str() {
            "" => name.to_string(),
            at if at.starts_with('[') => format!("{name}{at}"),
            at => format!("{name}.{at}"),
        };
        Self { at, ..self }
    }
}

/// The fields of an object, each of which is taken once.
pub struct Fields(Map<String, Value>);

impl Fields {
    /// The fields of a value.
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

    /// Returns true if there is a field of this name, in the spelling of Rust or of `wit/`.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(&wit_name(name))
    }

    /// Takes a field as it is.
    ///
    /// # Errors
    ///
    /// There is no such field.
    pub fn take_value(&mut self, name: &str) -> Result<Value, Malformed> {
        let name = wit_name(name);
        self.0.remove(&name).ok_or_else(|| Malformed::wrong(format!("the field `{name}` is missing")))
    }

    /// Takes a field.
    ///
    /// # Errors
    ///
    /// There is no such field, or it is of another type.
    pub fn take<T: FromCanonical>(&mut self, name: &str) -> Result<T, Malformed> {
        T::read(self.take_value(name)?).map_err(|error| error.below(&wit_name(name)))
    }

    /// Checks that every field was taken.
    ///
    /// # Errors
    ///
    /// A field that the contract does not have.
    pub fn end(self) -> Result<(), Malformed> {
        match self.0.into_iter().next() {
            None => Ok(()),
            Some((name, _)) => Err(Malformed::wrong(format!("the field `{name}` is unknown"))),
        }
    }
}

/// A case of a variant: `"case"`, or `{"case": value}`.
pub struct Case {
    name: String,
    payload: Option<Value>,
}

impl Case {
    /// The case of a value.
    ///
    /// # Errors
    ///
    /// The value is neither a string nor an object with one field.
    pub fn of(value: Value) -> Result<Self, Malformed> {
        const WANTED: &str = "the name of a case, or an object with one field";

        match value {
            Value::String(name) => Ok(Self { name, payload: None }),
            Value::Object(fields) if fields.len() == 1 && !fields.contains_key(LEFT_OUT) => {
                let only = fields.into_iter().next();
                only.map(|(name, value)| Self { name, payload: Some(value) })
                    .ok_or_else(|| Malformed::expected(WANTED, &Value::Null))
            }
            other => Err(Malformed::expected(WANTED, &other)),
        }
    }

    /// Returns true if it is the case of this name, in the spelling of Rust.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.name == wit_name(name)
    }

    /// The value, as the case carries nothing.
    ///
    /// # Errors
    ///
    /// The JSON has a payload.
    pub fn bare<T>(self, value: T) -> Result<T, Malformed> {
        match self.payload {
            None => Ok(value),
            Some(found) => {
                Err(Malformed::expected("the name alone, as the case carries nothing", &found).below(&self.name))
            }
        }
    }

    /// What the case carries.
    ///
    /// # Errors
    ///
    /// It carries nothing, or a value of another type.
    pub fn payload<T: FromCanonical>(self) -> Result<T, Malformed> {
        let Self { name, payload } = self;
        let Some(payload) = payload else {
            return Err(Malformed::wrong(format!("the case `{name}` carries a value, and none is here")));
        };
        T::read(payload).map_err(|error| error.below(&name))
    }

    /// The value that is made of the fields that the case carries.
    ///
    /// # Errors
    ///
    /// It carries other fields.
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

    /// No case has this name.
    #[must_use]
    pub fn unknown(self) -> Malformed {
        Malformed::wrong(format!("the case `{}` is unknown", self.name))
    }
}
