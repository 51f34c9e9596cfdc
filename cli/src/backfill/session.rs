//! [`Session`]: a conversation with an agent, and the note that it becomes.
//!
//! The note is made without a model: the prompts, the files that were changed, the commands that failed and then passed,
//! and the first lines of the last answer.

use std::collections::BTreeMap;

use saddlebag::trust::{head_without_divided_secret, without_private};

use super::note::{Candidate, MAX_TITLE, code, cut, file_list, one_line};

/// Maximum number of prompts in a note.
const MAX_PROMPTS: usize = 12;

/// Maximum length of a prompt in a note, in bytes.
const MAX_PROMPT: usize = 280;

/// Maximum number of files that a session remembers.
const MAX_FILES: usize = 500;

/// Maximum number of commands that a session remembers, and of commands in a note.
const MAX_COMMANDS: usize = 2_000;
const MAX_NAMED_COMMANDS: usize = 8;

/// Maximum length of a command in a note, in bytes.
const MAX_COMMAND: usize = 160;

/// Maximum number of lines, and of bytes, of the last answer.
const MAX_ANSWER_LINES: usize = 6;
const MAX_ANSWER: usize = 700;

/// Maximum length of a text that is kept while a transcript is read, in bytes.
const MAX_KEPT: usize = 4_096;

/// A line of a transcript, as all clients have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Prompt(String),
    Answer(String),
    /// A file that was changed.
    File(String),
    /// A command that was started: its number, and the command.
    Command(String, String),
    /// A command that ended: its number, and true if it failed.
    Ended(String, bool),
}

/// A conversation with an agent.
#[derive(Clone, Debug, Default)]
pub(super) struct Session {
    /// Client, as `--from` names it.
    client: &'static str,
    /// Id that the client gives the session.
    pub(super) id: String,
    /// Folder in which the session ran.
    pub(super) folder: Option<String>,
    /// Time of the first and of the last line, in RFC 3339.
    pub(super) begun: Option<String>,
    pub(super) last: Option<String>,
    prompts: Vec<String>,
    further_prompts: usize,
    files: Vec<String>,
    further_files: usize,
    /// Commands that run, by their number.
    running: BTreeMap<String, String>,
    /// Commands whose last run failed, or that passed after a failure: true if it passed.
    failed: Vec<(String, bool)>,
    answer: String,
}

impl Session {
    /// Creates a session in a folder, if that is known already.
    pub(super) fn new(client: &'static str, id: String, folder: Option<String>) -> Self {
        Self { client, id, folder, ..Self::default() }
    }

    /// Records the time of a line, if it is a time.
    pub(super) fn at(&mut self, time: Option<&str>) {
        let Some(time) = time.filter(|time| time.len() < 64 && saddlebag::document::parse_date(time).is_some()) else {
            return;
        };
        self.begun.get_or_insert_with(|| time.to_string());
        self.last = Some(time.to_string());
    }

    pub(super) fn take(&mut self, event: Event) {
        match event {
            Event::Prompt(text) => self.prompt(&text),
            Event::Answer(text) => {
                let text = without_private(&text);
                if !text.trim().is_empty() {
                    self.answer = head_without_divided_secret(text.trim(), MAX_KEPT).to_string();
                }
            }
            Event::File(path) => self.file(&path),
            Event::Command(number, command) => {
                let command = one_line(&without_private(&command), MAX_COMMAND);
                if self.running.len() < MAX_COMMANDS && number.len() <= 256 && !command.is_empty() {
                    self.running.insert(number, command);
                }
            }
            Event::Ended(number, has_failed) => {
                if let Some(command) = self.running.remove(&number) {
                    self.ended(command, has_failed);
                }
            }
        }
    }

    fn prompt(&mut self, text: &str) {
        let text = one_line(&without_private(text), MAX_PROMPT);
        if text.is_empty() || self.prompts.last() == Some(&text) {
            return;
        }
        if self.prompts.len() < MAX_PROMPTS { self.prompts.push(text) } else { self.further_prompts += 1 }
    }

    /// Records a file of the project. A file outside of it is left out, because its name says something of the person's
    /// other work.
    fn file(&mut self, path: &str) {
        let Some(path) = self.below_folder(path) else { return };
        if self.files.contains(&path) {
            return;
        }
        if self.files.len() < MAX_FILES { self.files.push(path) } else { self.further_files += 1 }
    }

    fn below_folder(&self, path: &str) -> Option<String> {
        let path = path.replace('\\', "/");
        let is_absolute = path.starts_with('/') || path.get(1..3).is_some_and(|colon| colon == ":/");
        let below = if is_absolute {
            let folder = self.folder.as_ref()?.replace('\\', "/");
            path.strip_prefix(folder.trim_end_matches('/'))?.strip_prefix('/')?.to_string()
        } else {
            path.trim_start_matches("./").to_string()
        };
        let is_inside = !below.is_empty() && !below.split('/').any(|part| part == "..");
        (is_inside && !below.chars().any(char::is_control)).then_some(below)
    }

    fn ended(&mut self, command: String, has_failed: bool) {
        let is_full = self.failed.len() == MAX_COMMANDS;
        match self.failed.iter_mut().find(|(known, _)| *known == command) {
            Some((_, passed)) => *passed = !has_failed,
            None if has_failed && !is_full => self.failed.push((command, false)),
            None => {}
        }
    }

    /// Returns the note of the session; `None` if it has no prompt, or nothing that followed from one.
    pub(super) fn note(&self, time: &str) -> Option<Candidate> {
        let title = self.prompts.first()?;
        let passed: Vec<&str> =
            self.failed.iter().filter(|(_, passed)| *passed).map(|(command, _)| command.as_str()).collect();
        if self.answer.is_empty() && self.files.is_empty() && passed.is_empty() {
            return None;
        }
        let mut parts = Vec::new();
        let asked: Vec<String> = self.prompts.iter().map(|prompt| format!("- {prompt}")).collect();
        let more =
            if self.further_prompts > 0 { format!("\n- and {} more", self.further_prompts) } else { String::new() };
        parts.push(format!("Asked:\n\n{}{more}", asked.join("\n")));
        if !self.files.is_empty() {
            let more = if self.further_files > 0 { " and others" } else { "" };
            parts.push(format!("Files changed: {}{more}.", file_list(self.files.iter().map(String::as_str))));
        }
        if !passed.is_empty() {
            let named: Vec<String> = passed
                .iter()
                .take(MAX_NAMED_COMMANDS)
                .map(|command| format!("- {}", code(command, MAX_COMMAND)))
                .collect();
            let more = passed.len().saturating_sub(MAX_NAMED_COMMANDS);
            let more = if more > 0 { format!("\n- and {more} more") } else { String::new() };
            parts.push(format!("Failed, then passed:\n\n{}{more}", named.join("\n")));
        }
        if !self.answer.is_empty() {
            parts.push(format!("Outcome:\n\n{}", first_lines(&self.answer)));
        }
        let id = one_line(&self.id, 200);
        let id = if id.is_empty() { return None } else { format!("{} {id}", self.client) };
        Some(Candidate {
            id,
            title: one_line(title, MAX_TITLE),
            content: parts.join("\n\n"),
            tags: vec!["session".into(), self.client.into()],
            date: self.begun.as_deref().unwrap_or(time).to_string(),
        })
    }
}

/// Returns the first lines of an answer.
fn first_lines(answer: &str) -> String {
    let lines: Vec<&str> = answer.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let shown = lines.iter().take(MAX_ANSWER_LINES).copied().collect::<Vec<_>>().join("\n");
    if lines.len() > MAX_ANSWER_LINES { cut(&format!("{shown}\n…"), MAX_ANSWER) } else { cut(&shown, MAX_ANSWER) }
}

/// Returns true if a text in the place of a prompt was written by the client and not by the person.
pub(super) fn is_of_client(text: &str) -> bool {
    const BEGINNINGS: [&str; 14] = [
        "<command-",
        "<local-command-",
        "<system-reminder>",
        "<ide_",
        "<bash-",
        "<user-memory",
        "<environment_context>",
        "<user_instructions>",
        "<INSTRUCTIONS>",
        "# AGENTS.md instructions",
        "<turn_aborted>",
        "<task-notification>",
        "[Request interrupted",
        "Caveat: The messages below",
    ];
    BEGINNINGS.iter().any(|beginning| text.trim_start().starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(events: Vec<Event>) -> Session {
        let mut session = Session::new("claude-code", "s1".into(), Some("/s".into()));
        session.at(Some("2026-11-02T09:00:00.000Z"));
        events.into_iter().for_each(|event| session.take(event));
        session
    }

    fn text(events: Vec<Event>) -> String {
        session(events).note("2026-01-01T00:00:00Z").expect("a note").content
    }

    #[test]
    fn a_session_becomes_one_note() {
        let events = vec![
            Event::Prompt("fix the\n  tax".into()),
            Event::Command("1".into(), "make test".into()),
            Event::Ended("1".into(), true),
            Event::File("/s/src/tax.py".into()),
            Event::File("src/tax.py".into()),
            Event::File("/etc/passwd".into()),
            Event::File("../other/x".into()),
            Event::Command("2".into(), "make test".into()),
            Event::Ended("2".into(), false),
            Event::Answer("working".into()),
            Event::Prompt("and round up".into()),
            Event::Answer("Done.\n\nThe office rounds up.".into()),
        ];
        let note = session(events).note("2026-01-01T00:00:00Z").expect("a note");
        assert_eq!((note.id.as_str(), note.title.as_str()), ("claude-code s1", "fix the tax"));
        assert_eq!(note.date, "2026-11-02T09:00:00.000Z");
        assert_eq!(note.tags, ["session", "claude-code"]);
        let expected = "Asked:\n\n- fix the tax\n- and round up\n\nFiles changed: `src/tax.py`.\n\n\
                        Failed, then passed:\n\n- `make test`\n\nOutcome:\n\nDone.\nThe office rounds up.";
        assert_eq!(note.content, expected);
    }

    #[test]
    fn a_command_that_failed_last_is_not_named() {
        let events = |last| {
            vec![
                Event::Prompt("p".into()),
                Event::Answer("a".into()),
                Event::Command("1".into(), "make".into()),
                Event::Ended("1".into(), true),
                Event::Command("2".into(), "make".into()),
                Event::Ended("2".into(), last),
                Event::Ended("2".into(), !last),
                Event::Ended("unknown".into(), true),
            ]
        };
        assert!(text(events(false)).contains("`make`"));
        assert!(!text(events(true)).contains("`make`"));
    }

    #[test]
    fn private_parts_reach_no_note() {
        let private = |text: &str| format!("{text} <private>hidden</private>");
        let events = vec![
            Event::Prompt(private("p")),
            Event::Answer(private("a")),
            Event::Command("1".into(), private("make")),
            Event::Ended("1".into(), true),
            Event::Command("2".into(), private("make")),
            Event::Ended("2".into(), false),
        ];
        assert!(!text(events).contains("hidden"));
        assert_eq!(session(vec![Event::Prompt("<private>all".into()), Event::Answer("x".into())]).note(""), None);
    }

    #[test]
    fn a_session_without_a_prompt_or_without_an_outcome_is_no_note() {
        assert_eq!(session(vec![Event::Answer("a".into())]).note(""), None);
        assert_eq!(session(vec![Event::Prompt("p".into())]).note(""), None);
        let nameless =
            Session { id: String::new(), ..session(vec![Event::Prompt("p".into()), Event::Answer("a".into())]) };
        assert_eq!(nameless.note(""), None);
    }

    #[test]
    fn everything_in_a_note_is_bounded() {
        let long = "word ".repeat(20_000);
        let mut events = Vec::new();
        for number in 0..3_000 {
            let name = number.to_string();
            events.push(Event::Prompt(format!("{number} {long}")));
            events.push(Event::File(format!("{number}/{}", "x".repeat(3_000))));
            events.push(Event::Command(name.clone(), format!("{number} {long}")));
            events.push(Event::Ended(name.clone(), true));
            events.push(Event::Command(name.clone(), format!("{number} {long}")));
            events.push(Event::Ended(name, false));
        }
        events.push(Event::Answer(long.lines().next().unwrap_or_default().repeat(3)));
        let note = session(events).note("").expect("a note");
        assert!(note.title.len() <= MAX_TITLE && note.content.len() < 12_000, "{}", note.content.len());
        assert!(note.content.contains("- and 2988 more") && note.content.contains("and 480 more and others"));
    }
}
