//! Text from the arguments, from a file or from standard input, and targets that words name.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use saddlebag::journal::{Target, TargetRole};
use saddlebag::protocol::ErrorCode;

use crate::failure::{Failure, ProgramCode};

/// More than any text that memory takes: what is over the cap is still counted for the message.
const MAX_INPUT_BYTES: u64 = 64 << 20;

/// The text of an argument; `-` stands for standard input.
pub(crate) fn text(argument: String) -> Result<String, Failure> {
    if argument == "-" { standard_input() } else { Ok(argument) }
}

/// The text of a file that was named; `-` stands for standard input.
pub(crate) fn file(path: &Path) -> Result<String, Failure> {
    if path.as_os_str() == "-" {
        return standard_input();
    }
    let name = format!("`{}`", path.display());
    let opened = File::open(path).map_err(|error| unreadable(&name, &error))?;
    whole(opened, &name)
}

/// The target that the words of a command line name.
pub(crate) fn target(word: &str, name: Option<&str>, role: TargetRole) -> Result<Target, Failure> {
    let inline =
        ["note", "page"].into_iter().find_map(|kind| Some((kind, word.strip_prefix(kind)?.strip_prefix(':')?)));
    match (inline, name) {
        (Some((kind, inline)), None) => Ok(Target::parse(kind, Some(inline), role)?),
        (Some((kind, inline)), Some(name)) => {
            let (inline, name) = (inline.escape_debug(), name.escape_debug());
            Err(Failure::usage(format!("the {kind} has two names, `{inline}` and `{name}`"), "give one"))
        }
        (None, name) => Ok(Target::parse(word, name, role)?),
    }
}

/// Text may begin with a hyphen, as a list item does; a mistyped option is no text.
pub(crate) fn free_text(text: &str) -> Result<String, String> {
    let option = text.strip_prefix("--").and_then(|rest| rest.chars().next()).is_some_and(char::is_alphabetic);
    if option {
        return Err("looks like an option; give such text on standard input, with `-`".into());
    }
    Ok(text.to_string())
}

fn standard_input() -> Result<String, Failure> {
    whole(io::stdin().lock(), "standard input")
}

fn whole(reader: impl Read, name: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = reader.take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        let message = format!("{name} has more than {MAX_INPUT_BYTES} bytes");
        return Err(Failure::new(ErrorCode::TooLarge, message, "write it in parts"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::new(ErrorCode::NotText, format!("{name} is not UTF-8 text (at byte {at})"), "convert it to UTF-8")
    })
}

fn unreadable(name: &str, error: &io::Error) -> Failure {
    Failure::new(ProgramCode::Input, format!("cannot read {name}: {}", saddlebag_host::io_cause(error)), "")
}
