//! What people and programs are shown.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use saddlebag_host::Recovered;
use serde_json::{Value, json};

use crate::failure::Failure;

/// Of errors.
const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Of warnings.
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// Of what helps.
const HELP: Style = AnsiColor::Cyan.on_default();
/// Of what is to be seen first.
pub(crate) const STRONG: Style = Style::new().bold();
/// Of what is said on the side.
pub(crate) const FAINT: Style = Style::new().dimmed();

/// True once the command is done and only its output is missing.
static COMMAND_DONE: AtomicBool = AtomicBool::new(false);

/// Says whether the command is done.
pub(crate) fn set_command_done(done: bool) {
    COMMAND_DONE.store(done, Ordering::Relaxed);
}

/// Returns true if the command is done.
pub(crate) fn is_command_done() -> bool {
    COMMAND_DONE.load(Ordering::Relaxed)
}

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

/// Warns on standard error, in runs that print objects as well.
pub(crate) fn warn(text: &str) {
    // Where standard error is closed, nobody is left to tell.
    let _ = writeln!(anstream::stderr(), "{WARNING}warning:{WARNING:#} {}", visible(text));
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

    /// Whether one JSON object is wanted rather than text.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Text byte for byte, except that a terminal sees no control characters and a whole last line.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        if !self.is_terminal {
            return self.out.write_all(text.as_bytes());
        }
        self.out.write_all(visible(text).as_bytes())?;
        if text.is_empty() || text.ends_with('\n') { Ok(()) } else { self.out.write_all(b"\n") }
    }

    /// A line.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        let text = if self.is_terminal { visible(text) } else { Cow::Borrowed(text) };
        writeln!(self.out, "{text}")
    }

    /// A line in a style.
    pub(crate) fn styled(&mut self, style: Style, text: &str) -> io::Result<()> {
        if !self.has_colour {
            return self.line(text);
        }
        writeln!(self.out, "{style}{}{style:#}", visible(text))
    }

    /// The one object of a run.
    pub(crate) fn object(&mut self, object: &Value) -> io::Result<()> {
        writeln!(self.out, "{object}")
    }

    /// The object where one is wanted, else the text as a line.
    pub(crate) fn object_or_line(&mut self, object: impl FnOnce() -> Value, text: &str) -> io::Result<()> {
        if self.json { self.object(&object()) } else { self.line(text) }
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
            let _ = writeln!(anstream::stderr(), "{style}{label}:{style:#} {}", visible(text));
        }
    }

    /// Why the run ends without doing what was asked.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        let Failure { code, message, help, .. } = failure;
        if message.is_empty() {
            return;
        }
        // What was printed before comes first where both go to one place.
        let _ = self.out.flush();
        let mut err = anstream::stderr();
        if self.json {
            let object = json!({ "error": { "code": code, "message": message, "help": help } });
            let _ = writeln!(err, "{object}");
            return;
        }
        let _ = writeln!(err, "{ERROR}error:{ERROR:#} {}", visible(message));
        if !help.is_empty() {
            let _ = writeln!(err, "  {HELP}help:{HELP:#} {}", visible(help));
        }
    }
}

/// Text without the control characters by which a file could command a terminal.
fn visible(text: &str) -> Cow<'_, str> {
    let is_command = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    // The carriage returns of a file with Windows line ends move to a line that ends anyway.
    if !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n");
    Cow::Owned(text.chars().map(|c| if is_command(c) { '\u{fffd}' } else { c }).collect())
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn a_file_cannot_command_a_terminal() {
        assert_eq!(visible("a\x1b[31mb\u{9b}c\r\n\td"), "a\u{fffd}[31mb\u{fffd}c\n\td");
    }
}
