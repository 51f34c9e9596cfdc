//! Conversions: those of the types of `wit/`, and those of numbers, text, bytes, lists, options, results, and the families.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::fields::{Case, FromCanonical, Malformed};
use super::scribe::{ToCanonical, Writer};
use crate::context::LeftOutKind;
use crate::request::Family;
use crate::search::SkipKind;
use crate::store::RelPath;
use crate::tools::{CallTool, ToolsCommand, ToolsReply};
use crate::trust::{FlagKind, ForModel, HostSecret};
use crate::wit_convert::own;
use crate::wit_convert::{Mismatch, WitConvert};
use crate::{Command, Reply};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{CommandId, ContextKey, Error, ErrorCode, ErrorDetails, Version};

crate::wit_contract!(canonical_records canonical_variants canonical);

impl<T: ToCanonical + ?Sized> ToCanonical for &T {
    fn write(&self, out: &mut Writer<'_>) {
        (**self).write(out);
    }
}

impl ToCanonical for Error {
    fn write(&self, out: &mut Writer<'_>) {
        (**self).write(out);
    }
}

impl FromCanonical for Error {
    fn read(value: Value) -> Result<Self, Malformed> {
        Ok(ErrorDetails::read(value)?.into())
    }
}

impl ToCanonical for bool {
    fn write(&self, out: &mut Writer<'_>) {
        out.raw(if *self { "true" } else { "false" });
    }
}

impl FromCanonical for bool {
    fn read(value: Value) -> Result<Self, Malformed> {
        value.as_bool().ok_or_else(|| Malformed::expected("true or false", &value))
    }
}

/// Numbers of 32 bits are JSON numbers.
macro_rules! small {
    ($($type:ty: $wanted:literal,)*) => {
        $(impl ToCanonical for $type {
            fn write(&self, out: &mut Writer<'_>) {
                out.raw(&self.to_string());
            }
        }
        impl FromCanonical for $type {
            fn read(value: Value) -> Result<Self, Malformed> {
                let number = value.as_i64().and_then(|number| Self::try_from(number).ok());
                number.ok_or_else(|| Malformed::expected($wanted, &value))
            }
        })*
    };
}

small! {
    u32: "a number of 32 bits without a sign",
    i32: "a number of 32 bits",
}

/// Numbers of 64 bits are strings, because most JSON parsers keep only 53 bits.
macro_rules! large {
    ($($type:ty: $wanted:literal,)*) => {
        $(impl ToCanonical for $type {
            fn write(&self, out: &mut Writer<'_>) {
                out.raw(&format!("\"{self}\""));
            }
        }
        impl FromCanonical for $type {
            fn read(value: Value) -> Result<Self, Malformed> {
                let number = value.as_str().and_then(|text| text.parse::<$type>().ok().filter(|n| n.to_string() == text));
                number.ok_or_else(|| Malformed::expected($wanted, &value))
            }
        })*
    };
}

large! {
    u64: "a number of 64 bits without a sign, as a decimal string",
    i64: "a number of 64 bits, as a decimal string",
}

impl ToCanonical for CommandId {
    fn write(&self, out: &mut Writer<'_>) {
        self.0.write(out);
    }
}

impl FromCanonical for CommandId {
    fn read(value: Value) -> Result<Self, Malformed> {
        u64::read(value).map(Self)
    }
}

/// Numbers that JSON cannot represent.
const NOT_FINITE: [(&str, f64); 3] = [("NaN", f64::NAN), ("Infinity", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY)];

impl ToCanonical for f64 {
    fn write(&self, out: &mut Writer<'_>) {
        let word =
            NOT_FINITE.iter().find(|(_, value)| self.total_cmp(value).is_eq() || (self.is_nan() && value.is_nan()));
        match word {
            // Rust prints the shortest decimal that parses to the same number.
            None => out.raw(&format!("{self:?}")),
            Some((word, _)) => out.raw(&format!("\"{word}\"")),
        }
    }
}

impl FromCanonical for f64 {
    fn read(value: Value) -> Result<Self, Malformed> {
        let word = |text: &str| NOT_FINITE.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        let number = value.as_f64().or_else(|| value.as_str().and_then(word));
        number.ok_or_else(|| Malformed::expected("a number", &value))
    }
}

impl ToCanonical for HostSecret {
    fn write(&self, out: &mut Writer<'_>) {
        out.bytes(self.bytes());
    }
}

impl FromCanonical for HostSecret {
    fn read(value: Value) -> Result<Self, Malformed> {
        Vec::<u8>::read(value).map(Self::from)
    }
}

impl ToCanonical for String {
    fn write(&self, out: &mut Writer<'_>) {
        out.text(self);
    }
}

impl FromCanonical for String {
    fn read(value: Value) -> Result<Self, Malformed> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(Malformed::expected("a string", &other)),
        }
    }
}

macro_rules! text {
    ($($type:ty: $text:expr;)*) => {
        $(impl ToCanonical for $type {
            fn write(&self, out: &mut Writer<'_>) {
                let text: fn(&$type) -> &str = $text;
                out.text(text(self));
            }
        }
        impl FromCanonical for $type {
            fn read(value: Value) -> Result<Self, Malformed> {
                let text: String = FromCanonical::read(value)?;
                text.convert().map_err(|error: Mismatch| Malformed::wrong(error.to_string()))
            }
        })*
    };
}

text! {
    RelPath: |path| path.as_str();
    Version: |version| &version.0;
    ForModel: |text| text.as_str();
    FlagKind: |kind| kind.as_str();
    LeftOutKind: |kind| kind.as_str();
    SkipKind: |kind| kind.as_str();
    ErrorCode: |code| code.as_str();
    ContextKey: |key| key.as_str();
}

impl ToCanonical for Vec<u8> {
    fn write(&self, out: &mut Writer<'_>) {
        out.bytes(self);
    }
}

impl FromCanonical for Vec<u8> {
    fn read(value: Value) -> Result<Self, Malformed> {
        let bytes = value.as_str().and_then(|text| BASE64_STANDARD.decode(text).ok());
        bytes.ok_or_else(|| Malformed::expected("bytes as base64 with padding", &value))
    }
}

impl<T: ToCanonical> ToCanonical for Vec<T> {
    fn write(&self, out: &mut Writer<'_>) {
        out.begin_list();
        for item in self {
            out.separate();
            item.write(out);
        }
        out.end_list();
    }
}

impl<T: FromCanonical> FromCanonical for Vec<T> {
    fn read(value: Value) -> Result<Self, Malformed> {
        let Value::Array(items) = value else { return Err(Malformed::expected("a list", &value)) };
        let read = |(index, item)| T::read(item).map_err(|error| error.below(&format!("[{index}]")));
        items.into_iter().enumerate().map(read).collect()
    }
}

impl<T: ToCanonical> ToCanonical for Option<T> {
    fn write(&self, out: &mut Writer<'_>) {
        match self {
            Some(value) => value.write(out),
            None => out.raw("null"),
        }
    }
}

impl<T: FromCanonical> FromCanonical for Option<T> {
    fn read(value: Value) -> Result<Self, Malformed> {
        if value.is_null() { Ok(None) } else { T::read(value).map(Some) }
    }

    fn left_out() -> Option<Self> {
        Some(None)
    }
}

impl<T: ToCanonical, E: ToCanonical> ToCanonical for Result<T, E> {
    fn write(&self, out: &mut Writer<'_>) {
        out.begin();
        match self {
            Ok(value) => {
                out.key("ok");
                value.write(out);
            }
            Err(error) => {
                out.key("err");
                error.write(out);
            }
        }
        out.end();
    }
}

impl<T: FromCanonical, E: FromCanonical> FromCanonical for Result<T, E> {
    fn read(value: Value) -> Result<Self, Malformed> {
        let case = Case::of(value)?;
        if case.is("ok") {
            return case.payload().map(Ok);
        }
        if case.is("err") {
            return case.payload().map(Err);
        }
        Err(case.unknown())
    }
}

/// Interfaces that take commands. A tool has a separate call.
macro_rules! families {
    ($($family:ident: $module:ident::$command:ident => $reply:ident,)*) => {
        impl ToCanonical for Reply {
            fn write(&self, out: &mut Writer<'_>) {
                match self {
                    $(Self::$family(reply) => reply.write(out),)*
                    Self::Tools(ToolsReply::CallTool(answer)) => answer.write(out),
                }
            }
        }

        /// Returns the interface of `wit/` that takes a command, and the command as its value.
        ///
        /// # Errors
        ///
        /// It is the call of a tool, which is not a value of `wit/`.
        pub fn command_value(command: &Command) -> Result<(&'static str, &dyn ToCanonical), &CallTool> {
            match command {
                $(Command::$family(command) => Ok((own::$module::$command::NAME, command)),)*
                Command::Tools(ToolsCommand::CallTool(call)) => Err(call),
            }
        }

        /// Parses a command of an interface.
        ///
        /// # Errors
        ///
        /// The interface takes no commands, or does not have this one.
        pub fn read_command(interface: &str, value: Value) -> Result<Command, Malformed> {
            $(if interface == own::$module::$command::NAME {
                return own::$module::$command::read(value).map(Command::$family);
            })*
            Err(Malformed::wrong(format!("the interface `{interface}` takes no commands")))
        }

        /// Parses a reply of an interface.
        ///
        /// # Errors
        ///
        /// The interface gives no replies, or does not have this one.
        pub fn read_reply(interface: &str, value: Value) -> Result<Reply, Malformed> {
            $(if interface == own::$module::$command::NAME {
                return own::$module::$reply::read(value).map(Reply::$family);
            })*
            Err(Malformed::wrong(format!("the interface `{interface}` gives no replies")))
        }
    };
}

families! {
    Journal: journal::JournalCommand => JournalReply,
    Prompt: prompt::PromptCommand => PromptReply,
    AgentsMd: agents_md::AgentsMdCommand => AgentsMdReply,
    Notebook: notebook::NotebookCommand => NotebookReply,
    Entries: entries::EntriesCommand => EntriesReply,
    Items: items::ItemsCommand => ItemsReply,
    History: history::HistoryCommand => HistoryReply,
    Trust: trust::TrustCommand => TrustReply,
    Session: session::SessionCommand => SessionReply,
    Exchange: exchange::ExchangeCommand => ExchangeReply,
}
