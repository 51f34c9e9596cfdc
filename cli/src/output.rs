//! The output for people and programs.
//!
//! Everything that the program prints goes through this file; `clippy.toml` refuses standard output and standard
//! error elsewhere. Notes may contain escape sequences that command a terminal, and invisible characters. So text
//! becomes [`Plain`] before it is written: on a terminal such characters appear as `[U+001B]`. JSON objects become
//! [`JsonLine`]s, which always escape them. A pipe gets text byte for byte, because the next program may need every
//! byte.

#![allow(clippy::disallowed_methods, reason = "this is where standard output and standard error are")]

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, BufWriter, IsTerminal, Stdout, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use saddlebag::protocol::ErrorCode;
use saddlebag::search::Skipped;
use saddlebag::trust::{for_terminal, is_hidden};
use saddlebag_host::Recovered;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::Formatter;

use crate::failure::{ErrorObject, Failure, set_changes};

/// Style of errors.
const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Style of warnings.
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// Style of tips.
const HELP: Style = AnsiColor::Cyan.on_default();
/// Style of the most important text.
pub(crate) const STRONG: Style = Style::new().bold();
/// Style of remarks.
pub(crate) const FAINT: Style = Style::new().dimmed();

/// Reports text that was found in a temporary file, on standard error. It may be the only copy, so a run that prints
/// JSON reports it too.
pub(crate) fn recovered(found: &Recovered) {
    let Recovered { path, kept } = found;
    let text = format!(
        "a program was stopped while it wrote `{path}`; text that another program wrote is kept in `{kept}`: compare the two files, and delete what you do not need"
    );
    warn(&text);
}

/// Text that is ready for its destination. Only this file can create it.
struct Plain<'a>(Cow<'a, str>);

impl<'a> Plain<'a> {
    /// Returns text for a terminal: control and invisible characters are replaced.
    fn without_controls(text: &'a str) -> Self {
        let is_harmless = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
        if text.bytes().all(is_harmless) || !text.contains(is_hidden) {
            return Self(Cow::Borrowed(text));
        }
        Self(Cow::Owned(for_terminal(text)))
    }

    /// Returns text for a terminal, or unchanged text for any other destination.
    fn for_place(text: &'a str, is_terminal: bool) -> Self {
        if is_terminal { Self::without_controls(text) } else { Self(Cow::Borrowed(text)) }
    }
}

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// JSON value on one line. Control and invisible characters are escaped, which does not change the value.
pub(crate) struct JsonLine(String);

impl JsonLine {
    pub(crate) fn new(value: &Value) -> Self {
        Self(escaped(&value.to_string()))
    }
}

impl fmt::Display for JsonLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Format of JSON on one line. Control and invisible characters are escaped, as [`JsonLine`] does.
struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if fragment.is_ascii() && !fragment.contains('\u{7f}') {
            return writer.write_all(fragment.as_bytes());
        }
        writer.write_all(escaped(fragment).as_bytes())
    }
}

/// Returns JSON with its hidden characters escaped. Outside strings, JSON contains only line ends and tabs.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        // A line end between values stays. Line ends in strings are escaped already.
        if is_hidden(c) && c != '\r' { push_escape(&mut out, c) } else { out.push(c) }
    }
    out
}

/// Appends the JSON escape of a character. A character above U+FFFF becomes two surrogates.
fn push_escape(out: &mut String, c: char) {
    use fmt::Write;

    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// Prints a warning on standard error, even in runs that print JSON.
pub(crate) fn warn(text: &str) {
    // If standard error is closed, nobody can read the warning.
    let _ = writeln!(anstream::stderr(), "{WARNING}warning:{WARNING:#} {}", Plain::without_controls(text));
}

/// Returns the writer of the log. The log itself escapes control characters.
pub(crate) fn log() -> io::Stderr {
    io::stderr()
}

/// Prints text on standard error, and a line end.
pub(crate) fn tell(text: &str) {
    tell_part(&format!("{text}\n"));
}

/// Prints text on standard error without adding a line end.
fn tell_part(text: &str) {
    // If standard error is closed, nobody can read the text.
    let _ = anstream::stderr().write_all(Plain::without_controls(text).0.as_bytes());
}

/// Returns true if standard error is a terminal.
pub(crate) fn is_seen() -> bool {
    io::stderr().is_terminal()
}

/// Asks a question on the terminal. Any answer except yes means no.
fn asks(question: &str) -> io::Result<bool> {
    tell_part(&format!("{question} [y/N] "));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Prints a message of the command line parser. The message has its own colours, and repeats words of the arguments.
pub(crate) fn print_usage(error: &clap::Error) -> io::Result<()> {
    let plain = error.render().to_string();
    match Plain::without_controls(&plain).0 {
        Cow::Borrowed(_) => error.print(),
        Cow::Owned(shown) if error.use_stderr() => io::stderr().write_all(shown.as_bytes()),
        Cow::Owned(shown) => io::stdout().write_all(shown.as_bytes()),
    }
}

/// Returns true if standard output is a terminal, which cannot show bytes.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Prints the text of a command that does not use [`Output`], such as `hook`.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(Plain::for_place(text, is_terminal()).0.as_bytes())?;
    out.flush()
}

/// Returns standard output for bytes that are not text. It must not be a terminal; the caller checks that.
pub(crate) fn bytes() -> impl Write {
    debug_assert!(!is_terminal(), "a terminal cannot show bytes");
    BufWriter::new(io::stdout().lock())
}

/// Prints JSON Lines byte for byte. On a terminal, hidden characters are escaped.
pub(crate) fn print_json_lines(content: &[u8]) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match is_terminal() {
        false => out.write_all(content)?,
        true => out.write_all(escaped(&String::from_utf8_lossy(content)).as_bytes())?,
    }
    out.flush()
}

/// Syncs standard output if it is a file, so that it survives a power cut.
#[cfg(unix)]
pub(crate) fn sync() -> io::Result<()> {
    use std::os::fd::AsFd;

    let out = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?);
    if out.metadata()?.is_file() { out.sync_all() } else { Ok(()) }
}

/// Standard output and standard error of a run.
pub(crate) struct Output {
    out: BufWriter<Stdout>,
    json: bool,
    is_terminal: bool,
    has_colour: bool,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        let stdout = io::stdout();
        let has_colour = !json && !matches!(AutoStream::choice(&stdout), ColorChoice::Never);
        Self { is_terminal: stdout.is_terminal(), out: BufWriter::new(stdout), json, has_colour }
    }

    /// Returns true if the output is one JSON object.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints text byte for byte. A terminal gets no control characters, and a line end after the last line.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        write!(self.out, "{}", Plain::for_place(text, self.is_terminal))?;
        if !self.is_terminal || text.is_empty() || text.ends_with('\n') { Ok(()) } else { self.out.write_all(b"\n") }
    }

    /// Prints a line.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", Plain::for_place(text, self.is_terminal))
    }

    /// Prints a line in a style.
    pub(crate) fn styled(&mut self, style: Style, text: &str) -> io::Result<()> {
        if !self.has_colour {
            return self.line(text);
        }
        writeln!(self.out, "{style}{}{style:#}", Plain::without_controls(text))
    }

    /// Prints the JSON object of a run. A run prints only one.
    pub(crate) fn object(&mut self, object: &impl Serialize) -> io::Result<()> {
        // Written piece by piece, because a list of all notes is large.
        object.serialize(&mut serde_json::Serializer::with_formatter(&mut self.out, Escaping))?;
        self.out.write_all(b"\n")
    }

    /// Prints the object and returns true if the run prints JSON.
    pub(crate) fn json(&mut self, object: &impl Serialize) -> io::Result<bool> {
        if self.json {
            self.object(object)?;
        }
        Ok(self.json)
    }

    /// Prints the object if the run prints JSON, otherwise the text as a line.
    pub(crate) fn object_or_line(&mut self, object: &impl Serialize, text: &str) -> io::Result<()> {
        if self.json { self.object(object) } else { self.line(text) }
    }

    /// Returns true if the program can ask a question and does not print JSON.
    pub(crate) fn can_ask(&self) -> bool {
        self.why_silent().is_none()
    }

    /// Returns the reason why the program cannot ask a question, if it cannot.
    pub(crate) fn why_silent(&self) -> Option<&'static str> {
        if self.json {
            Some("a run with --json does not ask")
        } else if !io::stdin().is_terminal() {
            Some("standard input is not a terminal")
        } else if !is_seen() {
            Some("standard error is not a terminal")
        } else {
            None
        }
    }

    /// Asks a question on the terminal, after the text that was printed before.
    pub(crate) fn asks(&mut self, question: &str) -> io::Result<bool> {
        self.flush()?;
        asks(question)
    }

    /// Asks a question with several answers on the terminal. Returns `None` at the end of the input.
    pub(crate) fn answer(&mut self, question: &str) -> io::Result<Option<String>> {
        self.flush()?;
        tell_part(&format!("{question} "));
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer)?;
        Ok((read > 0).then(|| answer.trim().to_string()))
    }

    /// Asks the user to confirm a change. Fails if the user does not agree, or if the program cannot ask, for
    /// example because standard input is the import itself (`takes_input`). The error consists of `would`, a description
    /// of the change, and `help`, which names the option that confirms it.
    pub(crate) fn confirm(
        &mut self,
        question: &str,
        would: &str,
        help: &str,
        takes_input: bool,
    ) -> Result<(), Failure> {
        // The change that is asked about is not made.
        set_changes(true, false);
        let refused = |why: &str| Failure::new(ErrorCode::NeedsConfirmation, format!("{would}, and {why}"), help);
        if takes_input {
            return Err(refused("standard input is the import"));
        }
        if let Some(why) = self.why_silent() {
            return Err(refused(why));
        }
        if self.asks(question)? { Ok(()) } else { Err(refused("the answer was not yes")) }
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Prints a warning on standard error, unless the run prints JSON, whose objects have the same facts.
    pub(crate) fn warning(&mut self, text: &str) {
        self.say(WARNING, "warning", text);
    }

    /// Prints a hint on standard error, unless the run prints JSON.
    pub(crate) fn note(&mut self, text: &str) {
        self.say(HELP, "note", text);
    }

    fn say(&mut self, style: Style, label: &str, text: &str) {
        if !self.json {
            // If standard error is closed, nobody can read the text.
            let _ = writeln!(anstream::stderr(), "{style}{label}:{style:#} {}", Plain::without_controls(text));
        }
    }

    /// Prints the reason why the program failed.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        let Failure { message, help, .. } = failure;
        if message.is_empty() {
            return;
        }
        // Flushed first, so that earlier output comes first if both streams go to one place.
        let _ = self.out.flush();
        let mut err = anstream::stderr();
        if self.json {
            if let Ok(object) = serde_json::to_value(ErrorObject::from(failure)) {
                let _ = writeln!(err, "{}", JsonLine::new(&object));
            }
            return;
        }
        let _ = writeln!(err, "{ERROR}error:{ERROR:#} {}", Plain::without_controls(message));
        if !help.is_empty() {
            let _ = writeln!(err, "  {HELP}help:{HELP:#} {}", Plain::without_controls(help));
        }
    }
}

/// Returns a progress bar on standard error. It is hidden if standard error is not a terminal.
pub(crate) fn progress(files: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(files), ProgressDrawTarget::stderr());
    match ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len} files") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Returns text on one line, with control characters escaped. A key may contain any character.
pub(crate) fn single_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
}

pub(crate) fn warn_of_skipped(skipped: &[Skipped], output: &mut Output) {
    for file in skipped {
        output.warning(&format!("skipped {}: {}", file.path, file.reason));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_cannot_command_a_terminal() {
        let text = "a\x1b[31mb\u{9b}c\r\n\td\u{202e}";
        assert_eq!(Plain::without_controls(text).0, "a[U+001B][31mb[U+009B]c\n\td[U+202E]");
        assert_eq!(Plain::for_place(text, false).0, text);
    }

    #[test]
    fn an_object_escapes_what_a_terminal_obeys_and_says_the_same() {
        let hidden: String = (0..0x110000).filter_map(char::from_u32).filter(|&c| is_hidden(c)).collect();
        let value = json!({ hidden.as_str(): [format!("é {hidden} 漢")], "plain": "\n\t\r" });
        let line = JsonLine::new(&value).to_string();
        assert_eq!(line.chars().find(|&c| is_hidden(c)), None);
        assert!(
            line.contains("é ")
                && line.contains("\\u009b")
                && line.contains("\\u202e")
                && line.contains("\\udb40\\udc41")
        );
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
    }
}
