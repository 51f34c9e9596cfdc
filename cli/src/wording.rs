//! [`for_people`]: errors of the memory in the words of the program.
//!
//! Some messages of the memory are, word for word, the messages of the programs that its tools replace, because models
//! and their hosts know them. They name arguments of tools and codes that a person never sees.

use saddlebag::protocol::{Error, ErrorCode, ErrorDetails};

/// Message of the memory for a missing file.
const NO_FILE: &str = "No such file or directory (os error 2)";

/// Returns an error with its message and its way out for a person.
pub(crate) fn for_people(error: Error) -> Error {
    let ErrorDetails { code, message, help } = error.into_details();
    let message = without_code(&message).to_string();
    let (message, help) = match code {
        ErrorCode::NotFound if message == NO_FILE => match help.split_once("; ") {
            Some((missing, _)) => (missing.to_string(), "`saddlebag file list` shows the files".to_string()),
            None => (message, help),
        },
        ErrorCode::NoUniqueMatch => (of_edit(&message).unwrap_or(message), help),
        ErrorCode::EntryNotFound if help.starts_with("a recall with a query") => {
            (message, "`saddlebag entry list` shows the keys, `saddlebag entry recall QUESTION` searches them".into())
        }
        ErrorCode::InvalidArgument if message.starts_with("memory_edit without old_str") => {
            let help = "`saddlebag file write TARGET \"\" --mode overwrite` empties long-term memory, the scratchpad or a \
                        log";
            ("only a note can be removed".to_string(), help.to_string())
        }
        ErrorCode::InvalidArgument if help == "one of long_term, scratchpad, daily, note, page" => {
            let help = "give long_term, scratchpad, daily, daily:YYYY-MM-DD, note:NAME, or a path that `saddlebag file \
                        list` prints";
            (message, help.to_string())
        }
        _ => (message, help),
    };
    Error::new(code, message, help)
}

/// Returns a message without the code at its beginning, such as `UZ-MEM-004: `.
pub(crate) fn without_code(message: &str) -> &str {
    let Some((code, rest)) = message.strip_prefix("UZ-").and_then(|rest| rest.split_once(": ")) else { return message };
    let is_code = code.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-');
    if is_code { rest } else { message }
}

/// Returns the message for text that does not occur once, from `old_str matched N time(s) in FILE; …`.
fn of_edit(message: &str) -> Option<String> {
    let (count, rest) = message.strip_prefix("old_str matched ")?.split_once(" time(s) in ")?;
    let (file, _) = rest.rsplit_once("; ")?;
    let times = match count {
        "0" => "does not occur".to_string(),
        count => format!("occurs {count} times"),
    };
    Some(format!("the old text {times} in {file}; it must occur exactly once"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(code: ErrorCode, message: &str, help: &str) -> (String, String) {
        let ErrorDetails { message, help, .. } = for_people(Error::new(code, message, help)).into_details();
        (message, help)
    }

    #[test]
    fn words_of_tools_become_those_of_the_program() {
        for (code, message, help, expected) in [
            (
                ErrorCode::NoUniqueMatch,
                "old_str matched 0 time(s) in a; b.md; it must match exactly once",
                "",
                "the old text does not occur in a; b.md; it must occur exactly once",
            ),
            (
                ErrorCode::NoUniqueMatch,
                "old_str matched 3 time(s) in a.md; it must match exactly once",
                "",
                "the old text occurs 3 times in a.md; it must occur exactly once",
            ),
            (
                ErrorCode::NotFound,
                NO_FILE,
                "there is no a.md; `file list` shows the existing files",
                "there is no a.md",
            ),
            (ErrorCode::EntryNotFound, "UZ-MEM-004: no entry `k`", "", "no entry `k`"),
            (ErrorCode::StaleFence, "UZ-RUN-005: a newer run has begun", "", "a newer run has begun"),
        ] {
            assert_eq!(told(code, message, help).0, expected);
        }
    }

    #[test]
    fn other_messages_are_unchanged() {
        for message in ["UZ-mem: x", "`UZ-MEM-004: ` is a text", "`a` could be b.md, c.md", "old_str is a word"] {
            assert_eq!(told(ErrorCode::NoUniqueMatch, message, "help"), (message.to_string(), "help".to_string()));
        }
    }
}
