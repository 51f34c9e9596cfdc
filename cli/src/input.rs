//! Text from the arguments or from standard input.

use std::io::{self, Read};

use crate::failure::Failure;

/// More than any text that memory takes: what is over the cap is still counted for the message.
const MAX_INPUT_BYTES: u64 = 64 << 20;

/// The text of an argument; `-` stands for standard input.
pub(crate) fn text(argument: String) -> Result<String, Failure> {
    if argument == "-" { standard_input() } else { Ok(argument) }
}

fn standard_input() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::new("input", format!("cannot read standard input: {}", error.kind()), ""))?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        let message = format!("standard input has more than {MAX_INPUT_BYTES} bytes");
        return Err(Failure::new("too-large", message, "write it in parts"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::new("not-text", format!("standard input is not UTF-8 text (at byte {at})"), "convert it to UTF-8")
    })
}
