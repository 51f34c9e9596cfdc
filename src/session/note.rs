//! The note of a session, as a pure function of what happened in it.

use super::client_text::says_something;
use super::known_errors::known_words;
use super::run_end::RunEnd;
use super::screened::first_chars;
use super::shell::{Ran, on_one_line};
use crate::search::ranked::{everyday_key, is_everyday, telling_words};
use crate::trust::head_without_divided_secret;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{one_line, tail};

/// Maximum size of the text below the frontmatter in bytes.
const MAX_BODY_BYTES: usize = 3_200;

/// Maximum number of items of a list.
pub(super) const MAX_ITEMS: usize = 20;

/// Maximum size of a prompt in a note in bytes.
const MAX_PROMPT_BYTES: usize = 600;

/// Maximum size of the last answer of the agent in bytes.
pub(super) const MAX_ANSWER_BYTES: usize = 500;
/// Words between a command that failed and a later run that says something about it.
pub(super) const LATER: &str = "; later no failure in ";
/// Written in place of what a long answer lacks.
const CUT: &str = " … ";

/// Maximum number of characters of a prompt that are recorded.
pub(super) const MAX_PROMPT_CHARS: usize = 500;

/// Maximum number of characters of a command that are recorded.
pub(super) const MAX_COMMAND_CHARS: usize = 200;

/// Maximum number of characters of a name, and of the first prompt, in a title.
const MAX_NAME_CHARS: usize = 60;

/// Maximum number of turns that are kept: the first one, and the last ones.
const MAX_TURNS: usize = 64;

/// Headings of a note that the next session reads.
pub(super) const FIRST_PROMPT: &str = "Prompt";
pub(super) const LAST_PROMPT: &str = "Last prompt";
pub(super) const ANSWERED: &str = "Prompt of this answer";
pub(super) const ANSWER: &str = "Last answer of the agent after work";
pub(super) const FAILING: &str = "Commands that failed";
pub(super) const PASSED: &str = "Commands that failed and then passed";

/// Events of a session. Hooks and transcripts give the same note of the same session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionSummary {
    /// Prompts with what followed them, in order.
    pub turns: Vec<Turn>,
    /// Number of prompts, those that were left out included.
    pub prompt_count: usize,
    /// Number of uses of tools, and of those that failed.
    pub uses: usize,
    /// Number of uses that failed.
    pub errors: usize,
    /// Commands, in the order of their first run.
    pub commands: Vec<CommandOutcome>,
    /// Note of the session that was handed to this one, relative to the notebook and without its extension.
    pub before: Option<String>,
    /// Time after which nothing more came from a session without an end.
    pub(super) unfinished: Option<String>,
    /// Names of the stored items that may be in a prompt.
    pub stored: Vec<String>,
    /// Files of the project, with the number of uses.
    pub files: Vec<(String, usize)>,
}

/// A prompt, and what followed it until the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// The prompt; empty if it was not recorded.
    pub prompt: String,
    /// True if a tool was used.
    pub worked: bool,
    /// Last answer of the agent; empty if it was not recorded.
    pub answer: Option<String>,
}

impl Turn {
    fn tells(&self) -> bool {
        says_something(&self.prompt)
    }
}

/// Command, with the results of its runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandOutcome {
    /// First line of the command.
    pub command: String,
    /// True if a run has failed.
    pub has_failed: bool,
    /// True if the last run has failed.
    pub fails: bool,
    /// Known words of the last error; empty if there are none.
    pub error: String,
    /// Commands of the line that have not passed since it failed.
    pub(super) open: Vec<Ran>,
    /// Line that ran later: with the same commands and without a failure, or if it still fails, with such as are like it.
    pub(super) later: Option<String>,
}

/// Text of a note, and what it does not have.
pub(super) struct Body {
    pub(super) text: String,
    pub(super) left_out: Vec<String>,
}

impl SessionSummary {
    /// Records a prompt, cut. A prompt that is sent twice at once counts once.
    pub fn prompted(&mut self, prompt: &str) {
        let prompt = first_chars(prompt.trim(), MAX_PROMPT_CHARS);
        if self.turns.last().is_some_and(|last| *last == Turn { prompt: prompt.into(), ..Turn::default() }) {
            return;
        }
        if self.turns.len() == MAX_TURNS {
            self.turns.remove(1);
        }
        self.turns.push(Turn { prompt: prompt.into(), ..Turn::default() });
        self.prompt_count += 1;
    }

    /// Records the last answer of the agent, cut.
    pub fn answered(&mut self, answer: &str) {
        let answer = ends_of(answer.trim());
        self.in_turn(|turn| turn.answer = Some(answer));
    }

    /// Records that a tool was used, be it only to read.
    pub fn worked(&mut self) {
        self.in_turn(|turn| turn.worked = true);
    }

    fn in_turn(&mut self, change: impl FnOnce(&mut Turn)) {
        if self.turns.is_empty() {
            self.turns.push(Turn::default());
        }
        self.turns.last_mut().map(change);
    }

    /// Records a run of a command, with its first line. Only known words of the error are kept.
    pub fn ran(&mut self, command: &str, end: RunEnd, error: &str) {
        let command = &*on_one_line(command);
        if command.is_empty() {
            return;
        }
        let place = self.commands.iter().position(|known| known.command == command);
        let place = place.unwrap_or_else(|| {
            self.commands.push(CommandOutcome { command: command.into(), ..CommandOutcome::default() });
            self.commands.len() - 1
        });
        let failed = end == RunEnd::Failed && !only_looks(command);
        let passed: Vec<Ran> = if failed { Vec::new() } else { end.passed(command).collect() };
        if let Some(known) = self.commands.get_mut(place).filter(|_| failed) {
            known.error = known_words(error);
            (known.has_failed, known.fails, known.open, known.later) = (true, true, to_pass(command), None);
        }
        for (_, known) in
            self.commands.iter_mut().enumerate().filter(|(at, known)| known.fails && (*at != place || !failed))
        {
            if known.open.iter().any(|open| passed.iter().any(|passed| passed.is_like(open))) {
                known.later = Some(command.into());
            } else if failed && known.later.as_deref() == Some(command) {
                known.later = None;
            }
            known.open.retain(|open| !passed.iter().any(|passed| passed.covers(open)));
            known.fails = !known.open.is_empty();
        }
    }

    /// Records a use of a file.
    pub fn used(&mut self, file: &str) {
        match self.files.iter_mut().find(|(known, _)| known == file) {
            Some((_, count)) => *count += 1,
            None => self.files.push((file.into(), 1)),
        }
    }

    /// Returns true if the session used a tool. Only such a session is handed on.
    pub fn has_worked(&self) -> bool {
        self.turns.iter().any(|turn| turn.worked)
    }

    /// Returns true if the session is worth a note: a tool was used, or a prompt has more than a greeting or thanks.
    pub fn is_worth_a_note(&self) -> bool {
        self.has_worked() || self.uses > 0 || self.turns.iter().any(Turn::tells)
    }

    /// Returns the last answer after work; without any work, the last one to a prompt that says something.
    pub fn answer(&self) -> Option<&str> {
        self.turns.get(self.result()?)?.answer.as_deref()
    }

    fn result(&self) -> Option<usize> {
        let (has_worked, some_tell) = (self.has_worked(), self.turns.iter().any(Turn::tells));
        self.turns.iter().rposition(|turn| {
            let counts = if has_worked { turn.worked } else { turn.tells() || !some_tell };
            counts && turn.answer.as_ref().is_some_and(|answer| !answer.is_empty())
        })
    }

    /// Returns the places of the prompts that tell what the session is about, in order. A turn that was answered without work is not
    /// among them, unless there was no work. The previous prompt explains one such as "go on".
    fn told(&self) -> Vec<usize> {
        let has_worked = self.has_worked();
        let counts = |turn: &Turn| !has_worked || turn.worked || turn.answer.is_none();
        let counts = |at: &usize| self.turns.get(*at).is_some_and(counts) || self.is_about_work(*at);
        let all = || (0..self.turns.len()).filter(counts);
        let mut told: Vec<usize> = all().filter_map(|at| self.told_by(at)).collect();
        // Nothing before the first prompt explains it, so it may be short.
        let is_short = |first: &Turn| first.worked && first.prompt.split_whitespace().count() > 1 && !first.tells();
        if self.turns.first().is_some_and(is_short) {
            told.insert(0, 0);
        }
        if told.is_empty() {
            told = all().filter(|at| !self.prompt(*at).is_empty()).collect();
        }
        told
    }

    /// Returns true for a turn without work that has a word of the one with work before it, such as "No, keep the tariff as it was".
    fn is_about_work(&self, at: usize) -> bool {
        let before = self.turns.get(..at).unwrap_or_default().iter().rev().find(|turn| turn.worked);
        let Some((turn, before)) = self.turns.get(at).zip(before) else { return false };
        let known = telling(&[before.prompt.as_str(), before.answer.as_deref().unwrap_or_default()].join(" "));
        telling(&turn.prompt).iter().any(|word| known.contains(word))
    }

    /// Returns the place of the prompt that tells what a turn is about.
    fn told_by(&self, turn: usize) -> Option<usize> {
        self.turns.get(..=turn)?.iter().rposition(Turn::tells)
    }

    fn prompt(&self, turn: usize) -> &str {
        self.turns.get(turn).map(|turn| turn.prompt.as_str()).unwrap_or_default()
    }

    /// Returns the title of the note: the day, the names of the client and the agent, and the start of the first prompt.
    pub fn title(&self, day: &str, names: &[&str]) -> String {
        let mut names: Vec<String> = names.iter().map(|name| one_line(first_chars(name, MAX_NAME_CHARS))).collect();
        names.dedup();
        let by = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        // A title is copied into links, so it has nothing that means something there.
        let plain = |c: char| if "#[]`|\\".contains(c) { ' ' } else { c };
        let first = self.told().first().map(|first| self.prompt(*first)).unwrap_or_default();
        let asked: String = first.chars().map(plain).collect();
        let asked = one_line(&asked);
        let cut = first_chars(&asked, MAX_NAME_CHARS);
        let more = if cut.len() < asked.len() { "…" } else { "" };
        let asked = if cut.is_empty() { String::new() } else { format!(": {}{more}", cut.trim_end()) };
        format!("Session of {day}{by}{asked}")
    }

    /// Returns the text of the note below its title.
    pub fn text(&self) -> String {
        self.body().text
    }

    /// Builds the text below the title. Lists that are too long are cut, and the cut is named.
    pub(super) fn body(&self) -> Body {
        let counts = [
            counted(self.prompt_count, "prompt", "prompts"),
            counted(self.uses, "change or command", "changes and commands"),
            counted(self.errors, "error", "errors"),
        ];
        let mut out = Writer { text: format!("{}.\n", counts.join(", ")), left_out: Vec::new() };
        if let Some(last) = &self.unfinished {
            out.line(&format!("\nUnfinished: the session has no end, and nothing came from it after {last}."));
        }
        // Without this line, a short session would end the thread of a longer one before it.
        if let Some(before) = self.before.as_deref().filter(|before| is_plain_path(before)) {
            out.line(&format!("\nBegan with [[{before}]]."));
        }
        let told = self.told();
        let (first, last) = (told.first().copied(), told.last().copied().filter(|last| Some(last) != told.first()));
        let mut prompt = |heading: &str, turn: Option<usize>| {
            if let Some(turn) = turn {
                out.section(heading, &[quoted(head_without_divided_secret(self.prompt(turn), MAX_PROMPT_BYTES))]);
            }
        };
        prompt(FIRST_PROMPT, first);
        let (result, asked) = (self.result(), self.result().and_then(|turn| self.told_by(turn)));
        // An answer stands after the prompt that it answers.
        prompt(ANSWERED, asked.filter(|asked| ![first, last].contains(&Some(*asked))));
        let is_answered = result.is_none() || asked.is_none() || asked == last;
        prompt(LAST_PROMPT, last.filter(|_| is_answered));
        if let Some(answer) = self.answer() {
            out.section(ANSWER, &[quoted(head_without_divided_secret(answer, MAX_ANSWER_BYTES))]);
        }
        if let Some(last) = last.filter(|_| !is_answered) {
            out.section(LAST_PROMPT, &[quoted(head_without_divided_secret(self.prompt(last), MAX_PROMPT_BYTES))]);
        }
        let failing: Vec<String> = self.commands.iter().filter(|known| known.fails).map(failing).collect();
        out.section(FAILING, &failing);
        let fixed = self.commands.iter().filter(|known| known.has_failed && !known.fails);
        let fixed: Vec<String> = fixed.map(|known| passed_as(&known.command, known.later.as_deref())).collect();
        out.section(PASSED, &fixed);
        let stored: Vec<String> = self.stored.iter().map(|name| format!("- {}", plain(name))).collect();
        out.section("Stored in memory", &stored);
        let mut files: Vec<&(String, usize)> = self.files.iter().collect();
        saddlebag_collections::order::sort_slice(&mut files, |a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let files: Vec<String> = files.iter().map(|(file, count)| format!("- {} ({count})", code(file))).collect();
        out.section("Files", &files);
        Body { text: out.text, left_out: out.left_out }
    }
}

/// Returns the stems of the words that are not everyday ones.
fn telling(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    telling_words(&lower).into_iter().filter(|word| !is_everyday(word)).map(everyday_key).collect()
}

/// Returns true for a path that cannot end the link around it.
fn is_plain_path(path: &str) -> bool {
    path.chars().all(|c| c.is_alphanumeric() || "-/".contains(c))
}

/// Returns true for a line that only looks: a `grep` that finds nothing has not failed.
pub(super) fn only_looks(line: &str) -> bool {
    to_pass(line).iter().all(Ran::only_looks)
}

/// Returns the commands of a line that have to pass after it has failed: those that decide how it ends, and tests.
pub(super) fn to_pass(line: &str) -> Vec<Ran> {
    let all: Vec<Ran> = RunEnd::Failed.commands(line).collect();
    let of_line = all.iter().filter(|ran| ran.decides && !ran.only_looks() || ran.is_test());
    let open: Vec<Ran> = of_line.cloned().collect();
    let open = if open.is_empty() { all } else { open };
    open.into_iter().map(|ran| Ran { decides: false, ..ran }).collect()
}

fn failing(known: &CommandOutcome) -> String {
    let error = one_line(&known.error);
    let error = if error.is_empty() { error } else { format!(": {}", plain(&error)) };
    let later = known.later.as_deref().map(|line| without_failure(line, "")).unwrap_or_default();
    format!("- {}{error}{later}", code(&known.command))
}

/// Returns the words about a later run that says something about a failure, and the day of it.
pub(super) fn without_failure(line: &str, day: &str) -> String {
    format!("{LATER}{}{day}", code(line))
}

/// Returns the line about a command that passed, with the line that passed if that is another one.
fn passed_as(failed: &str, passed: Option<&str>) -> String {
    let passed = passed.filter(|passed| *passed != failed).map(|passed| format!(", as {}", code(passed)));
    format!("- {}{}", code(failed), passed.unwrap_or_default())
}

/// Text of a note while it is built.
struct Writer {
    text: String,
    left_out: Vec<String>,
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds a section with as many lines as fit.
    fn section(&mut self, title: &str, lines: &[String]) {
        if lines.iter().all(String::is_empty) {
            return;
        }
        let heading = format!("\n## {title}\n\n");
        let mut added = String::new();
        let mut count = 0;
        for line in lines.iter().take(MAX_ITEMS) {
            if self.text.len() + heading.len() + added.len() + line.len() + 1 > MAX_BODY_BYTES {
                break;
            }
            added.push_str(line);
            added.push('\n');
            count += 1;
        }
        if count > 0 {
            self.text.push_str(&heading);
            self.text.push_str(&added);
        }
        if count < lines.len() {
            let more = lines.len() - count;
            self.left_out.push(format!("{more} of {} lines below `{title}`", lines.len()));
        }
    }
}

fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Returns text in a code span, so that it cannot be read as a link, a tag or a heading.
fn code(text: &str) -> String {
    let text = one_line(text);
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Returns text that cannot be read as a link or a tag.
fn plain(text: &str) -> String {
    one_line(text).replace("[[", "[ [").replace('#', "\\#")
}

/// Returns the lines of the text, indented as code so that nothing in it is read as a link, a tag or a heading.
fn quoted(text: &str) -> String {
    let lines: Vec<String> = text
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .map(|line| format!("    {}", line.replace('\t', " ")))
        .collect();
    lines.join("\n")
}

/// Returns the lines of a note, each with the heading above it.
pub(super) fn with_headings(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().scan("", |heading, line| {
        *heading = line.strip_prefix("## ").unwrap_or(heading);
        Some((*heading, line))
    })
}

/// Returns the lines below a heading of a note, without the marks of code and lists.
pub(super) fn lines_below<'a>(text: &'a str, heading: &str) -> impl Iterator<Item = &'a str> {
    let is_below =
        move |(above, line): &(&str, &str)| *above == heading && !line.starts_with("## ") && !line.trim().is_empty();
    let lines = with_headings(text).filter(is_below).map(|(_, line)| line.trim());
    lines.map(|line| line.strip_prefix("- ").unwrap_or(line))
}

/// Returns the command of a line of a list.
pub(super) fn command_of(line: &str) -> Option<&str> {
    let coded = line.strip_prefix("- ")?;
    let rest = coded.trim_start_matches('`');
    let fence = coded.get(..coded.len() - rest.len())?;
    Some(rest.split_once(fence).filter(|_| !fence.is_empty())?.0.trim())
}

/// Returns the title of a note: the text of its first heading.
pub(super) fn heading_of(text: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix("# ")).map(|title| one_line(title).to_string())
}
/// Returns an answer, or the beginning and the end of a long one: results stand at the end.
pub(super) fn ends_of(answer: &str) -> String {
    if answer.len() <= MAX_ANSWER_BYTES {
        return answer.to_string();
    }
    let begins = head_without_divided_secret(answer, MAX_ANSWER_BYTES / 2);
    let begins = begins.rsplit_once(char::is_whitespace).map_or(begins, |(words, _)| words).trim_end();
    let ends = tail(answer, MAX_ANSWER_BYTES - begins.len() - CUT.len());
    let ends = ends.split_once(char::is_whitespace).map_or(ends, |(_, words)| words).trim_start();
    format!("{begins}{CUT}{ends}")
}
