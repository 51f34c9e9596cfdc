//! The output for people and programs.
//!
//! Everything that the program prints goes through this file; `clippy.toml` refuses standard output and standard error
//! elsewhere. Notes may have escape sequences that command a terminal, and characters that nobody sees. So text is
//! [`Plain`] before it is written: a terminal is shown such characters as `[U+001B]`. Objects are [`JsonLine`]s, which
//! escape them wherever they go. A pipe gets text byte for byte, because the next program may need every byte.

#![allow(clippy::disallowed_methods, reason = "this is where standard output and standard error are")]

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, BufWriter, IsTerminal, Stdout, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use saddlebag::search::Skipped;
use saddlebag::trust::{for_terminal, is_hidden};
use saddlebag_host::Recovered;
use serde::Serialize;
use serde_json::Value;

use crate::failure::{ErrorObject, Exit, Failure};

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

/// Names a text on standard error that was found in a temporary file. It may be the only copy, so a run that
/// prints objects names it as well.
pub(crate) fn recovered(found: &Recovered) {
    let Recovered { path, kept } = found;
    let text = format!(
        "a program was stopped while it wrote `{path}`; a text that it had not written itself is kept in `{kept}`: \
         compare the two, and delete what you do not need"
    );
    warn(&text);
}

/// Text that is ready for the place it is printed to. Made here alone.
struct Plain<'a>(Cow<'a, str>);

impl<'a> Plain<'a> {
    /// For a terminal.
    fn without_controls(text: &'a str) -> Self {
        let is_harmless = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
        if text.bytes().all(is_harmless) || !text.contains(is_hidden) {
            return Self(Cow::Borrowed(text));
        }
        Self(Cow::Owned(for_terminal(text)))
    }

    /// For a terminal, or byte for byte for what is not one.
    fn for_place(text: &'a str, is_terminal: bool) -> Self {
        if is_terminal { Self::without_controls(text) } else { Self(Cow::Borrowed(text)) }
    }
}

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A JSON value on one line. Characters that a terminal obeys or nobody sees are escaped: the value is the same.
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

/// JSON with its hidden characters escaped. Outside strings, JSON has only line ends and tabs.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        // A line end between values stays; those in strings are escaped already.
        if is_hidden(c) && c != '\r' { push_escape(&mut out, c) } else { out.push(c) }
    }
    out
}

/// Appends a character as JSON spells it: of one above U+FFFF both surrogates.
fn push_escape(out: &mut String, c: char) {
    use fmt::Write;

    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// Warns on standard error, in runs that print objects as well.
pub(crate) fn warn(text: &str) {
    // Where standard error is closed, nobody is left to tell.
    let _ = writeln!(anstream::stderr(), "{WARNING}warning:{WARNING:#} {}", Plain::without_controls(text));
}

/// The writer of the log. It escapes what a terminal obeys.
pub(crate) fn log() -> io::Stderr {
    io::stderr()
}

/// Says something on standard error, on lines of its own.
pub(crate) fn tell(text: &str) {
    tell_part(&format!("{text}\n"));
}

/// Says something on standard error, with no line end but its own.
pub(crate) fn tell_part(text: &str) {
    // Where standard error is closed, nobody is left to tell.
    let _ = anstream::stderr().write_all(Plain::without_controls(text).0.as_bytes());
}

/// Returns true if a person sees standard error.
pub(crate) fn is_seen() -> bool {
    io::stderr().is_terminal()
}

/// Returns true if there is a person to ask.
fn can_ask() -> bool {
    io::stdin().is_terminal() && is_seen()
}

/// Asks on the terminal. Everything but a yes is a no.
fn asks(question: &str) -> io::Result<bool> {
    tell_part(&format!("{question} [y/N] "));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Prints a message of the command line parser. It has its own colours, and repeats words of the arguments.
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

/// Prints text of a command that has no other output, as zk's have none.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(Plain::for_place(text, is_terminal()).0.as_bytes())?;
    out.flush()
}

/// Standard output for bytes that are not text. The caller has made sure that it is not a terminal.
pub(crate) fn bytes() -> impl Write {
    debug_assert!(!is_terminal(), "a terminal cannot show bytes");
    BufWriter::new(io::stdout().lock())
}

/// Prints a file that is exported: byte for byte, except that a terminal is shown no hidden characters; of JSON,
/// and of JSON on lines, the escapes of them.
pub(crate) fn print_file(content: &[u8], is_json: bool) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match is_terminal() {
        false => out.write_all(content)?,
        true if is_json => out.write_all(escaped(&String::from_utf8_lossy(content)).as_bytes())?,
        true => out.write_all(Plain::without_controls(&String::from_utf8_lossy(content)).0.as_bytes())?,
    }
    out.flush()
}

/// Makes what was written to standard output survive a power cut, if it is a file.
#[cfg(unix)]
pub(crate) fn sync() -> io::Result<()> {
    use std::os::fd::AsFd;

    let out = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?);
    if out.metadata()?.is_file() { out.sync_all() } else { Ok(()) }
}

/// Standard output and standard error.
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

    /// Text byte for byte, except that a terminal sees no control characters and a whole last line.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        write!(self.out, "{}", Plain::for_place(text, self.is_terminal))?;
        if !self.is_terminal || text.is_empty() || text.ends_with('\n') { Ok(()) } else { self.out.write_all(b"\n") }
    }

    /// A line.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", Plain::for_place(text, self.is_terminal))
    }

    /// A line in a style.
    pub(crate) fn styled(&mut self, style: Style, text: &str) -> io::Result<()> {
        if !self.has_colour {
            return self.line(text);
        }
        writeln!(self.out, "{style}{}{style:#}", Plain::without_controls(text))
    }

    /// The one object of a run.
    pub(crate) fn object(&mut self, object: &impl Serialize) -> io::Result<()> {
        writeln!(self.out, "{}", JsonLine::new(&serde_json::to_value(object)?))
    }

    /// The object where one is wanted, else the text as a line.
    pub(crate) fn object_or_line(&mut self, object: &impl Serialize, text: &str) -> io::Result<()> {
        if self.json { self.object(object) } else { self.line(text) }
    }

    /// Returns true if there is a person to ask who reads text, not objects.
    pub(crate) fn can_ask(&self) -> bool {
        can_ask() && !self.json
    }

    /// Asks on the terminal, after what was printed before.
    pub(crate) fn asks(&mut self, question: &str) -> io::Result<bool> {
        self.flush()?;
        asks(question)
    }

    /// Goes on if a person says so. `would` is what would be done; where nobody can be asked, also as a stream takes
    /// standard input, `help` says what goes on.
    pub(crate) fn confirm(
        &mut self,
        question: &str,
        would: &str,
        help: &str,
        takes_input: bool,
    ) -> Result<(), Failure> {
        let refused = |why: &str| Failure {
            exit: Exit::Failed,
            ..Failure::usage(format!("{would}, and {why}"), format!("{help}; nothing was changed"))
        };
        if takes_input || !self.can_ask() {
            return Err(refused("nobody can be asked"));
        }
        if self.asks(question)? { Ok(()) } else { Err(refused("the answer was not yes")) }
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Something that a person ought to know. Objects say it themselves.
    pub(crate) fn warning(&mut self, text: &str) {
        self.say(WARNING, "warning", text);
    }

    /// Something that helps a person on.
    pub(crate) fn note(&mut self, text: &str) {
        self.say(HELP, "note", text);
    }

    fn say(&mut self, style: Style, label: &str, text: &str) {
        if !self.json {
            // Where standard error is closed, nobody is left to tell.
            let _ = writeln!(anstream::stderr(), "{style}{label}:{style:#} {}", Plain::without_controls(text));
        }
    }

    /// Prints the reason why the program failed.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        let Failure { message, help, .. } = failure;
        if message.is_empty() {
            return;
        }
        // What was printed before comes first where both go to one place.
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

/// Returns a progress bar on standard error, if that is a terminal.
pub(crate) fn progress(files: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(files), ProgressDrawTarget::stderr());
    match ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len} files") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// On one line: a key may have any character.
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
