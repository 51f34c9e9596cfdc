//! The note of a session, as a pure function of its state.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::screened::first_chars;
use super::state::{Event, Line, State};
use crate::document::one_line;
use crate::sorted::SortedMap;
use crate::store::NOTE_SUFFIX;
use crate::trust::Provenance;

/// Maximum size of the text below the frontmatter in bytes.
const MAX_BODY_BYTES: usize = 3_200;
/// Maximum number of items of a list.
const MAX_ITEMS: usize = 20;

/// Parts of a note that do not come from the state.
pub(super) struct About<'a> {
    pub(super) title: &'a str,
    pub(super) provenance: Provenance,
    /// Open items of the scratchpad.
    pub(super) open_items: &'a [String],
}

/// Text of a note, and what it does not have.
pub(super) struct Body {
    pub(super) text: String,
    pub(super) left_out: Vec<String>,
}

/// Builds the text of a note. Lists that are too long are cut, and the cut is named.
pub(super) fn body(state: &State, about: &About<'_>) -> Body {
    let trusted = |line: &&Line| line.is_trusted_as(about.provenance);
    let prompts: Vec<&Line> = state.of(Event::Prompt).collect();
    let tools: Vec<&Line> = state.of(Event::Tool).collect();
    let failures = tools.iter().filter(|line| line.failed).count();
    let mut left_out = Vec::new();
    let unused = state.lines.iter().filter(|line| !trusted(line)).count();
    if unused > 0 {
        left_out.push(format!("texts of {unused} lines that are not from the person or the agent"));
    }
    if state.ignored > 0 {
        left_out.push(format!("{} lines of the state that could not be read", state.ignored));
    }
    if state.is_cut || state.of(Event::Full).next().is_some() {
        left_out.push("uses of tools for which the state had no room".to_string());
    }
    let mut out = Writer { text: format!("# {}\n", about.title), left_out };
    out.line(&format!(
        "\n{}.",
        [
            counted(prompts.len(), "prompt", "prompts"),
            counted(tools.len(), "use of a tool", "uses of tools"),
            counted(failures, "error", "errors"),
        ]
        .join(", ")
    ));
    // Without this line, a short session would end the thread of a longer one before it.
    let before = state.of(Event::Begun).filter_map(|line| line.note.as_deref()?.strip_suffix(NOTE_SUFFIX)).last();
    if let Some(before) = before.filter(|before| before.chars().all(|c| c.is_alphanumeric() || "-/".contains(c))) {
        out.line(&format!("\nContinues [[{before}]]."));
    }
    if let Some(first) = prompts.iter().find(|line| trusted(line)).and_then(|line| line.text.as_deref()) {
        out.section("First prompt", &[quoted(first)]);
    }
    let (fixed, failing) = outcomes(tools.iter().filter(|line| trusted(line)).copied());
    out.section("Commands that failed and then passed", &as_code(&fixed));
    out.section("Commands that still fail", &as_code(&failing));
    let stored = tools.iter().filter(|line| trusted(line)).filter_map(|line| line.stored.as_deref());
    out.section("Stored in memory", &items(unique(stored)));
    out.section("Open items", about.open_items);
    let mut counts: SortedMap<String, usize> = SortedMap::default();
    for file in tools.iter().filter(|line| trusted(line)).flat_map(|line| &line.files) {
        let count = counts.get(file).copied().unwrap_or(0);
        counts.insert(file.clone(), count + 1);
    }
    let mut files: Vec<(usize, &String)> = counts.iter().map(|(file, count)| (*count, file)).collect();
    crate::order::sort_slice(&mut files, |a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let files: Vec<String> = files.iter().map(|(count, file)| format!("- {} ({count})", code(file))).collect();
    out.section("Files", &files);
    Body { text: out.text, left_out: out.left_out }
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
        if lines.is_empty() {
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

/// Returns the commands that failed and later passed, and those whose last run failed.
fn outcomes<'a>(tools: impl Iterator<Item = &'a Line>) -> (Vec<&'a str>, Vec<&'a str>) {
    let mut commands: Vec<(&str, bool, bool)> = Vec::new();
    for (command, failed) in tools.filter_map(|line| Some((line.command.as_deref()?, line.failed))) {
        match commands.iter_mut().find(|(known, ..)| *known == command) {
            Some((_, has_failed, fails)) => {
                *has_failed |= failed;
                *fails = failed;
            }
            None => commands.push((command, failed, failed)),
        }
    }
    let of = |fails: bool| {
        let chosen = commands.iter().filter(|(_, has_failed, last)| *has_failed && *last == fails);
        chosen.map(|(command, ..)| *command).collect()
    };
    (of(false), of(true))
}

fn unique<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut unique: Vec<&str> = Vec::new();
    for text in texts {
        if !unique.contains(&text) {
            unique.push(text);
        }
    }
    unique
}

fn items(texts: Vec<&str>) -> Vec<String> {
    texts.into_iter().map(|text| format!("- {}", plain(text))).collect()
}

fn as_code(commands: &[&str]) -> Vec<String> {
    commands.iter().map(|command| format!("- {}", code(command))).collect()
}

/// Returns a text in a code span, so that it cannot be read as a link, a tag or a heading.
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

/// Returns a text that cannot be read as a link or a tag.
fn plain(text: &str) -> String {
    one_line(text).replace("[[", "[ [").replace('#', "\\#")
}

/// Returns the lines of a prompt, indented as code so that nothing in it is read as a link, a tag or a heading.
fn quoted(text: &str) -> String {
    let lines: Vec<String> = text
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .map(|line| format!("    {}", line.replace('\t', " ")))
        .collect();
    lines.join("\n")
}

/// Returns an open item for the note, cut.
pub(super) fn open_item(line: &str) -> String {
    first_chars(line.trim(), 200).to_string()
}
