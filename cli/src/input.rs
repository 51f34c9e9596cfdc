//! Text from the arguments, from a file or from standard input.

use std::fs::File;
use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::path::Path;

use crate::failure::Failure;
use crate::output::Output;

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

/// Whether a person is there who can be asked.
pub(crate) fn can_ask(output: &Output) -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal() && !output.is_json()
}

/// Asks a person whether to go on. Only a yes is one.
pub(crate) fn confirms(question: &str, output: &mut Output) -> Result<bool, Failure> {
    output.flush()?;
    // Where standard error is closed, nobody can answer, and that is a no.
    if write!(anstream::stderr(), "{question} [y/N] ").is_err() {
        return Ok(false);
    }
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
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
        return Err(Failure::new("too-large", message, "write it in parts"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::new("not-text", format!("{name} is not UTF-8 text (at byte {at})"), "convert it to UTF-8")
    })
}

fn unreadable(name: &str, error: &io::Error) -> Failure {
    Failure::new("input", format!("cannot read {name}: {}", saddlebag_host::io_cause(error)), "")
}
