//! `remember-error`: keeps an error of a tool once, and counts it.

use saddlebag_collections::{order, part::TextPart, prelude::*, words};
use xxhash_rust::xxh3::xxh3_64;

use super::checks::{MAX_SHOWN_TITLE_BYTES, MAX_TOOL_BYTES, tool_name};
use super::config::NotebookConfig;
use super::config_file::load_config;
use super::draft::moment;
use super::files::notebook_file;
use super::index::NotebookCall;
use super::rename::settle;
use super::slug::slug;
use crate::changes::{Backups, Call, File};
use crate::request::{Run, request};
use crate::store::{FACTS_FOLDER, LocalTime};
use crate::trust::{ForModel, TrustState};
use saddlebag_markdown::{Frontmatter, Value, head, json_string, one_line, parse_date, set_field, yaml_string};
use saddlebag_protocol::{Entry, Error};

/// Maximum number of notes about errors. Further ones are refused until some are forgotten.
pub const MAX_ERROR_NOTES: usize = 200;

/// Time in seconds after which the note of an error that does not occur again expires, unless a person has approved it.
pub const ERROR_LIFE_SECONDS: u64 = 30 * 24 * 3_600;

/// Maximum number of expired notes that one command reads.
const MAX_SWEPT: usize = 16;

/// Maximum size of the line that is kept of an error, in bytes.
const MAX_ERROR_BYTES: usize = 400;

/// Number of bytes of an error that are searched.
const MAX_ERROR_SCAN_BYTES: usize = 64 << 10;

/// Prefix of the names of notes about errors.
const ERROR_PREFIX: &str = "error-";

/// Keeps an error of a tool as a fact. If the same error occurs again, it is only counted. If it does not for
/// [`ERROR_LIFE_SECONDS`] and nobody has approved it, its note expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberError {
    /// Name of the tool.
    pub tool: String,
    /// Text of the error.
    pub error: String,
}

/// Reply of [`RememberError`].
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorReply {
    /// Path of the note about the error; empty if it was not kept.
    pub path: String,
    /// Title of the note.
    pub title: String,
    /// Number of times that the error occurred; 0 if it was not kept.
    pub count: u32,
    /// Result of the command.
    pub state: ErrorState,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// Result of keeping an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorState {
    /// The error is new, and has a note now.
    Created,
    /// The error was known, and was counted.
    Counted,
    /// There are [`MAX_ERROR_NOTES`] notes about errors, so this error was not kept.
    Full,
}

words!(ErrorState, "state of an error" { Created = "created", Counted = "counted", Full = "full" });

request!(RememberError "remember-error" => ErrorReply, Replaces, |name| {
    vec![Self { tool: name.into(), error: "it failed".into() }]
});

impl Run<NotebookCall<'_>> for RememberError {
    async fn run(self, with: &NotebookCall<'_>) -> Result<ErrorReply, Error> {
        remember_error_of(with, &self, None).await
    }
}

/// Keeps an error of a tool as [`RememberError`] does, with the command that caused it first.
pub(crate) async fn remember_error_of(
    with: &NotebookCall<'_>,
    request: &RememberError,
    command: Option<&str>,
) -> Result<ErrorReply, Error> {
    let call = with.call;
    settle(call, with.notebook).await;
    let found = load_config(call).await?;
    let mut reply = remember_error(call, &found.config, request, command).await?;
    call.screen.tell(&mut reply.message);
    Ok(reply)
}

/// Keeps an error of a tool as a fact, or counts it if it is known.
async fn remember_error(
    call: &Call,
    config: &NotebookConfig,
    RememberError { tool, error }: &RememberError,
    command: Option<&str>,
) -> Result<ErrorReply, Error> {
    let note = error_note(tool, error)
        .ok_or_else(|| Error::invalid_argument("the error has no text", "give the output of the tool"))?;
    let folder = notebook_file(call, FACTS_FOLDER)?;
    let extension = &config.note_at(&format!("{FACTS_FOLDER}/x")).extension;
    let file = notebook_file(call, &format!("{FACTS_FOLDER}/{}.{extension}", note.name))?;
    let path = call.scope.display_path(&file);
    let count_it = || {
        call.update(&file, Backups::Off, |file| {
            let Some(text) = file.text()? else { return Ok((None, 0)) };
            let (new, count) = counted(text, call.now);
            Ok((Some(call.screen.rewrite(file, new)?), count))
        })
    };
    let mut count = count_it().await?.0;
    let mut state = ErrorState::Counted;
    if count == 0 {
        let is_error = |name: &str| name.starts_with(ERROR_PREFIX) && name.ends_with(extension.as_str());
        let mut notes = call.list(Some(&folder)).await?;
        notes.retain(|entry| is_error(entry.path.file_name()));
        let known = notes.len() - sweep(call, notes.as_slice()).await?;
        if known >= MAX_ERROR_NOTES {
            let message = format!(
                "Not kept: there are {known} notes about errors, the limit is {MAX_ERROR_NOTES}; forget some of {FACTS_FOLDER}/{ERROR_PREFIX}*"
            );
            return Ok(ErrorReply {
                path: String::new(),
                title: note.title,
                count: 0,
                state: ErrorState::Full,
                message: ForModel::escaped(&message),
            });
        }
        let new = call.screen.write(&File::absent(&file), error_text(call, &note, tool, command)?)?;
        if call.apply(&new).await? {
            (count, state) = (1, ErrorState::Created);
        } else {
            count = count_it().await?.0;
        }
    }
    let message = match state {
        ErrorState::Created => format!("Kept the error in {path}"),
        _ => format!("Known error in {path}, met {count} times"),
    };
    Ok(ErrorReply { path, title: note.title, count, state, message: ForModel::escaped(&message) })
}

/// Removes expired notes of errors, some of them in each call. Returns their number.
async fn sweep(call: &Call, notes: &[Entry]) -> Result<usize, Error> {
    let now = call.now.epoch_nanoseconds();
    // A note that was changed lately occurred lately, or a person has edited it.
    let old = |entry: &&Entry| now.saturating_sub(entry.modified) / 1_000_000_000 >= ERROR_LIFE_SECONDS;
    let mut old: Vec<&Entry> = notes.iter().filter(old).collect();
    order::sort_slice(&mut old, |a, b| (a.modified, &a.path).cmp(&(b.modified, &b.path)));
    old.truncate(MAX_SWEPT);
    let mut removed = 0;
    for entry in old {
        let Ok(file) = call.load(&entry.path).await else { continue };
        let expired = call.screen.remove_expired(&file, |bytes| {
            core::str::from_utf8(bytes).is_ok_and(|text| has_expired(entry.path.file_name(), text, now))
        });
        if let Some(removal) = expired
            && call.apply(&removal).await?
        {
            removed += 1;
        }
    }
    Ok(removed)
}

/// Returns true for the note of an error that did not occur for a long time and that nobody has approved.
pub(super) fn has_expired(file_name: &str, text: &str, now: u64) -> bool {
    let frontmatter = Frontmatter::parse(text);
    let last = frontmatter.value("last").and_then(Value::text).and_then(|text| parse_date(&text));
    let age = last.map(|last| now.saturating_sub(last) / 1_000_000_000);
    file_name.starts_with(ERROR_PREFIX)
        && matches!(frontmatter.value("count"), Some(Value::Integer(_)))
        && TrustState::from_parsed(&frontmatter, text).unapproved().is_some()
        && age.is_some_and(|age| age >= ERROR_LIFE_SECONDS)
}

fn error_text(call: &Call, note: &ErrorNote, tool: &str, command: Option<&str>) -> Result<String, Error> {
    let now = moment(call.now);
    let provenance = call.scope.trust.of_tool();
    // The indentation prevents the output of the tool from being read as a tag, a link or a heading.
    let command = command.map(|command| format!("    Command: {}\n", one_line(command))).unwrap_or_default();
    let text = format!(
        "---\ntitle: {}\ndate: {now}\ntags: [\"error\"]\ntool: {}\ncount: 1\nlast: {now}\nprovenance: {provenance}\n---\n\n    {}\n{command}",
        yaml_string(&note.title),
        json_string(&one_line(head(tool, MAX_TOOL_BYTES))),
        note.summary,
    );
    let signed = call.signature()?.sign(&text);
    signed.ok_or_else(|| Error::internal(format!("the note `{}` cannot name what wrote it", note.name)))
}

/// Returns the text with its counter increased, and the counter.
fn counted(text: &str, now: LocalTime) -> (String, u32) {
    let count = match Frontmatter::parse(text).value("count") {
        Some(Value::Integer(count)) => u32::try_from(*count).unwrap_or(1).max(1),
        _ => 1,
    };
    let count = count.saturating_add(1);
    let text = set_field(text, "count", &count.to_string());
    (set_field(&text, "last", &moment(now)), count)
}

/// Title, text and name of a note about an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorNote {
    /// Title: equal for equal errors, whatever their paths and numbers.
    pub title: String,
    /// Most informative line of the error, unchanged.
    pub summary: String,
    /// Name of its file, without extension.
    pub name: String,
}

/// Computes the note about an error of a tool; `None` if the text has no words.
///
/// It keeps the first line that looks like an error, else the first line with words. Paths, addresses, numbers, hashes
/// and ids become `<path>`, `<url>`, `<n>`, `<hex>` and `<id>` in the title, so that the same error gives the same
/// note.
pub fn error_note(tool: &str, error: &str) -> Option<ErrorNote> {
    let error = head(error, MAX_ERROR_SCAN_BYTES);
    let has_words = |line: &&str| line.chars().any(char::is_alphanumeric);
    let lines = || error.lines().map(str::trim).filter(has_words);
    let says = |line: &&str| !is_exit_code(line);
    let telling = || lines().filter(says);
    let line =
        telling().find(|line| speaks_of_an_error(line)).or_else(|| telling().next()).or_else(|| lines().next())?;
    let summary = head(&one_line(line), MAX_ERROR_BYTES).to_string();
    let normalized: Vec<String> = summary.split(' ').map(normalized_word).collect();
    let normalized = normalized.join(" ");
    let tool = tool_name(tool);
    let key = format!("{tool} {normalized}");
    let words = slug(&key);
    let name =
        format!("{ERROR_PREFIX}{}-{:08x}", head(&words, 48).trim_end_matches('-'), xxh3_64(key.as_bytes()) >> 32);
    let title = format!("Error of {tool}: {}", head(&normalized, MAX_SHOWN_TITLE_BYTES).trim_end());
    Some(ErrorNote { title, summary, name })
}

/// Returns true if a line looks like an error. A heading or frame around it says less.
fn speaks_of_an_error(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    !line.starts_with("traceback")
        && [
            "error",
            "exception",
            "panicked",
            "failed",
            "fatal",
            "denied",
            "not found",
            "cannot",
            "refused",
            "timed out",
        ]
        .iter()
        .any(|word| line.contains(word))
}

/// Returns true for a line that only names an exit code, such as `Error: Exit code 2`.
fn is_exit_code(line: &str) -> bool {
    let is_frame = |word: &str| ["code", "error", "exit", "exited", "status", "with"].contains(&word);
    let line = line.to_ascii_lowercase();
    let mut words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    line.contains("exit") && words.all(|word| is_frame(word) || word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns a word without the parts that differ between occurrences.
fn normalized_word(word: &str) -> String {
    let is_around = |c: char| {
        matches!(c, '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | ',' | ';' | ':' | '.' | '!')
    };
    let core = word.trim_matches(is_around);
    let Some(start) = word.find(core).filter(|_| !core.is_empty()) else { return word.to_string() };
    let (before, after) = (word.part(..start), word.part(start + core.len()..));
    let stands_for = if core.contains("://") {
        "<url>"
    } else if is_uuid(core) {
        "<id>"
    } else if core.contains('/') || core.contains('\\') {
        "<path>"
    } else if is_hex(core) {
        "<hex>"
    } else if core.starts_with(|c: char| c.is_ascii_digit())
        || core.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit())
    {
        "<n>"
    } else if let Some((name, _)) =
        core.split_once(':').filter(|(name, rest)| is_file_name(name) && rest.starts_with(|c: char| c.is_ascii_digit()))
    {
        // A word such as `main.rs:10:5`.
        return format!("{before}{name}{after}");
    } else if let Some((name, value)) = core.split_once('=') {
        return format!(
            "{before}{name}={}{after}",
            if value.is_empty() { String::new() } else { normalized_word(value) }
        );
    } else {
        return word.to_string();
    };
    format!("{before}{stands_for}{after}")
}

fn is_file_name(name: &str) -> bool {
    name.contains('.') && !name.starts_with('.')
}

fn is_uuid(word: &str) -> bool {
    word.len() == 36
        && word
            .char_indices()
            .all(|(at, c)| if matches!(at, 8 | 13 | 18 | 23) { c == '-' } else { c.is_ascii_hexdigit() })
}

fn is_hex(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    let is_long = digits.len() >= 7 || digits.len() < word.len();
    is_long
        && !digits.is_empty()
        && digits.chars().all(|c| c.is_ascii_hexdigit())
        && (digits.len() < word.len() || digits.chars().any(|c| c.is_ascii_digit()))
        && (digits.len() < word.len() || digits.chars().any(|c| c.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Store, call_at, day};
    use super::*;
    use saddlebag_markdown::{Note, TagSyntax};

    #[test]
    fn the_same_error_gives_the_same_note() {
        let a = error_note("bash", "running\nerror: cannot open '/tmp/a-1/x.rs': code 13 after 12ms (0xdeadbeef)\n");
        let b = error_note("bash", "error: cannot open '/home/u/y.rs': code 2 after 7ms (0xfeed)");
        let (a, b) = (a.expect("text"), b.expect("text"));
        assert_eq!((&a.title, &a.name), (&b.title, &b.name));
        assert_eq!(a.title, "Error of bash: error: cannot open '<path>': code <n> after <n> (<hex>)");
        assert_eq!(a.summary, "error: cannot open '/tmp/a-1/x.rs': code 13 after 12ms (0xdeadbeef)");
        let other = error_note("bash", "error: cannot close '/home/u/y.rs'").expect("text");
        assert_ne!(a.name, other.name);
        for (line, title) in [
            ("E0308 mismatched types in main.rs:10:5", "E0308 mismatched types in main.rs"),
            ("GET https://x.y/z?id=1 failed: 404", "GET <url> failed: <n>"),
            ("job 123e4567-e89b-12d3-a456-426614174000 failed", "job <id> failed"),
            ("commit 3f2a9bc failed, pid=77", "commit <hex> failed, pid=<n>"),
            ("Error: Exit code 2\nKeyError: 'port'", "KeyError: 'port'"),
            ("Exit code 1\nmake: *** no rule", "make: *** no rule"),
            ("Error: Exit code 2", "Error: Exit code <n>"),
            ("Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'port'", "KeyError: 'port'"),
        ] {
            assert_eq!(error_note("t", line).expect("text").title, format!("Error of t: {title}"));
        }
        assert!(error_note("t", " \n---\n").is_none());
        let long = error_note(&"t".repeat(500), &"wörd ".repeat(50_000)).expect("text");
        assert!(long.title.len() < 250 && long.summary.len() <= 400 && long.name.len() < 80);
    }

    fn report(store: &mut Store, error: &'static str) -> Result<ErrorReply, Error> {
        store.run(|fs| async move {
            let request = RememberError { tool: "bash".into(), error: error.into() };
            remember_error(&call_at(fs, day()), &NotebookConfig::default(), &request, None).await
        })
    }

    #[test]
    fn an_error_is_kept_once_and_counted() {
        let mut store = Store::default();
        let first = report(&mut store, "error: port 5433 is in use #tag").expect("kept");
        assert_eq!((first.state, first.count), (ErrorState::Created, 1));
        let note = Note::parse(&store.text(&first.path), TagSyntax::default());
        assert_eq!(
            (note.title.as_str(), note.tags),
            ("Error of bash: error: port <n> is in use #tag", vec!["error".to_string()])
        );
        let second = report(&mut store, "error: port 5434 is in use #tag").expect("counted");
        assert_eq!((second.state, second.count, &second.path), (ErrorState::Counted, 2, &first.path));
        let text = store.text(&first.path);
        assert!(
            text.contains("\ncount: 2\nlast: 2026-05-25T12:34:56+0000\n") && text.contains("    error: port 5433"),
            "{text}"
        );
        assert!(report(&mut store, "\n").is_err());
    }

    #[test]
    fn the_note_of_an_error_expires_unless_a_person_approved_it() {
        let mut store = Store::default();
        let of = |fields: &str| format!("---\ntitle: x\ncount: 1\n{fields}\nprovenance: tool\n---\n\n    x\n");
        store.put("facts/error-old.md", of("last: 2026-04-01T00:00:00+0000").into_bytes());
        store.put("facts/error-new.md", of("last: 2026-05-20T00:00:00+0000").into_bytes());
        let approved = of("last: 2026-04-01T00:00:00+0000\napproved: 2026-04-02T00:00:00Z");
        store.put("facts/error-approved.md", approved.into_bytes());
        store.put("facts/error-mine.md", b"# My own note\n".to_vec());
        report(&mut store, "error: another").expect("kept");
        for (name, stays) in [("old", false), ("new", true), ("approved", true), ("mine", true)] {
            assert_eq!(store.has(&format!("facts/error-{name}.md")), stays, "{name}");
        }
    }

    #[test]
    fn errors_that_race_are_all_counted() {
        for seed in 0..50 {
            let mut store = Store::default();
            let replies = store.race(8, seed, |fs, _| async move {
                let request = RememberError { tool: "bash".into(), error: "error: x".into() };
                remember_error(&call_at(fs, day()), &NotebookConfig::default(), &request, None).await
            });
            let mut counts: Vec<u32> = replies.into_iter().map(|reply| reply.expect("no error").count).collect();
            counts.sort_unstable();
            assert_eq!(counts, [1, 2, 3, 4, 5, 6, 7, 8], "seed {seed}");
            assert_eq!(store.names().len(), 1);
        }
    }
}
