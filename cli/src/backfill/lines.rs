//! [`each_line`]: the lines of a stream, one at a time, so that a large transcript needs little memory.

use std::io::{self, BufRead};

/// Maximum length of a line in bytes. Results of tools have longer lines, but prompts do not.
pub(super) const MAX_LINE: usize = 4 << 20;

/// Number of lines that were skipped because they are over [`MAX_LINE`].
pub(super) type Skipped = usize;

/// Calls a function with each line that is not blank. Stops if it returns false.
pub(super) fn each_line(mut input: impl BufRead, mut take: impl FnMut(&[u8]) -> bool) -> io::Result<Skipped> {
    let mut line = Vec::new();
    let (mut skipped, mut is_too_long) = (0, false);
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            if is_too_long {
                skipped += 1;
            } else if !line.trim_ascii().is_empty() {
                take(line.trim_ascii());
            }
            return Ok(skipped);
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        is_too_long |= line.len() + part.len() > MAX_LINE;
        if is_too_long {
            line.clear();
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_none() {
            continue;
        }
        if is_too_long {
            skipped += 1;
        } else if !line.trim_ascii().is_empty() && !take(line.trim_ascii()) {
            return Ok(skipped);
        }
        line.clear();
        is_too_long = false;
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn lines(text: &[u8], buffer: usize) -> (Vec<String>, Skipped) {
        let mut lines = Vec::new();
        let skipped = each_line(BufReader::with_capacity(buffer, text), |line| {
            lines.push(String::from_utf8_lossy(line).into_owned());
            true
        });
        (lines, skipped.expect("read"))
    }

    #[test]
    fn lines_are_the_same_whatever_the_buffer_is() {
        for buffer in [1, 2, 3, 99] {
            assert_eq!(lines(b"a\r\n\n  \nbc\nd", buffer), (vec!["a".into(), "bc".into(), "d".into()], 0));
        }
        assert_eq!(lines(b"", 9), (vec![], 0));
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_and_counted() {
        let long = "x".repeat(MAX_LINE + 1);
        let text = format!("a\n{long}\nb\n{long}");
        assert_eq!(lines(text.as_bytes(), 8_192), (vec!["a".into(), "b".into()], 2));
        let just = "x".repeat(MAX_LINE);
        assert_eq!(lines(just.as_bytes(), 8_192).1, 0);
    }

    #[test]
    fn reading_ends_when_the_function_has_enough() {
        let mut count = 0;
        each_line(&b"a\nb\nc\n"[..], |_| {
            count += 1;
            count < 2
        })
        .expect("read");
        assert_eq!(count, 2);
    }
}
