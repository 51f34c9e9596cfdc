//! The `/memory` command line.
//!
//! [`SlashCommand::from_str`] is a pure function of the line. Running the command uses the same operations as the tools.
//! Everything that it replaces or deletes is backed up first.

use atomic_refcell::AtomicRefCell;
use core::str::FromStr;

use super::edit::edit;
use super::list::list;
use super::read::{file_size, read_part};
use super::restore::restore_file;
use super::search::{Search, search};
use super::status::{StatusReply, status};
use super::target::{Target, TargetRole};
use super::types::{DEFAULT_READ_BYTES, EditChange, FileState, JOURNAL, JournalCall, WriteMode};
use super::write::write;
use crate::changes::texts::text;
use crate::changes::{Backups, Call};
use crate::request::{Run, SAMPLE_TEXT, request};
use crate::search::{Corpus, Skipped};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Help of the error for an invalid line.
pub const SLASH_USAGE: &str = "usage: /memory [status|search|read|write|edit|clear|restore]";

/// Maximum size of a file or a search that is shown to a person, in characters and bytes.
const SHOWN: u32 = 4000;

/// Separator between the old and the new text of an edit.
const BECOMES: &str = "=>";

/// Runs a `/memory` command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slash {
    /// The line, with or without `/memory` before it.
    pub line: String,
}

/// Answer to a `/memory` command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlashReply {
    /// Text for a person.
    pub text: String,
}

request!(Slash "slash" => SlashReply, Removes, |name| {
    let lines = [
        String::new(),
        format!("/memory search {SAMPLE_TEXT}"),
        format!("/memory read note:{name}"),
        format!("/memory write note:\"{name}\" a new line"),
        format!("/memory clear note:{name}"),
    ];
    lines.map(|line| Self { line }).to_vec()
});

impl Run<JournalCall<'_>> for Slash {
    async fn run(self, with: &JournalCall<'_>) -> Result<SlashReply, Error> {
        let call = with.call;
        let mut command = SlashCommand::from_str(&self.line)?;
        match &mut command {
            SlashCommand::Write(_, content) => {
                call.screen.needs_trust(JOURNAL)?;
                text(&call.screen, content, "text")?;
            }
            SlashCommand::Edit(_, change) => text(&call.screen, change, "new text")?,
            _ => {}
        }
        let mut text = run(call, with.corpus, command).await?;
        text.push_str(&call.screen.told());
        Ok(SlashReply { text })
    }
}

/// A `/memory` command.
///
/// ```
/// use saddlebag::journal::{SlashCommand, Target};
///
/// let command: SlashCommand = "/memory read daily 2026-05-30".parse()?;
/// assert_eq!(command, SlashCommand::Read(Target::Daily(Some("2026-05-30".into()))));
/// # Ok::<(), saddlebag::protocol::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SlashCommand {
    /// `status`, or nothing: shows the sizes.
    Status,
    /// `search WORDS`: searches.
    Search(String),
    /// `read TARGET`: reads `long_term`, `long`, `scratchpad`, `daily [DATE]` or `note NAME`.
    Read(Target),
    /// `read list`: lists the files.
    List,
    /// `write TARGET TEXT`: appends. A note is `note:NAME`.
    Write(Target, String),
    /// `edit TARGET OLD => NEW`: replaces the one occurrence.
    Edit(Target, EditChange),
    /// `editor`: names the file to open in an editor, and writes nothing.
    Editor,
    /// `clear TARGET`: empties the file or deletes the note, and keeps the text.
    Clear(Target),
    /// `restore TARGET`: puts the kept text back.
    Restore(Target),
}

impl FromStr for SlashCommand {
    type Err = Error;

    /// Parses a line, with or without `/memory` before it.
    ///
    /// # Errors
    ///
    /// The usage for an unknown command; the missing or unknown part for an incomplete one.
    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let line = line.trim();
        let line =
            line.strip_prefix("/memory").filter(|rest| !rest.starts_with(|c: char| !c.is_whitespace())).unwrap_or(line);
        let (verb, rest) = split_word(line);
        match verb {
            "" => Ok(Self::Status),
            "status" | "editor" if !rest.is_empty() => Err(usage(&format!("{verb} takes no arguments"))),
            "status" => Ok(Self::Status),
            "editor" => Ok(Self::Editor),
            "search" if rest.is_empty() => Err(usage("search needs words to look for")),
            "search" => Ok(Self::Search(rest.to_string())),
            "read" if rest == "list" => Ok(Self::List),
            "read" => Ok(Self::Read(whole_target(rest, TargetRole::Source)?)),
            "write" => {
                let (target, text) = leading_target(rest)?;
                if text.is_empty() {
                    return Err(usage("write needs text: /memory write TARGET TEXT"));
                }
                Ok(Self::Write(target, text.to_string()))
            }
            "edit" => {
                let (target, change) = leading_target(rest)?;
                let (old, new) = change
                    .split_once(BECOMES)
                    .ok_or_else(|| usage("edit needs the old and the new text: /memory edit TARGET OLD => NEW"))?;
                let change = EditChange::Replace { old_text: old.trim().to_string(), new_text: new.trim().to_string() };
                Ok(Self::Edit(target, change))
            }
            "clear" => Ok(Self::Clear(whole_target(rest, TargetRole::Target)?)),
            "restore" => Ok(Self::Restore(whole_target(rest, TargetRole::Target)?)),
            _ => Err(usage(&format!("unknown command: {verb}"))),
        }
    }
}

/// Runs a command. The reply is text for a person.
async fn run(call: &Call, corpus: &Arc<AtomicRefCell<Corpus>>, command: SlashCommand) -> Result<String, Error> {
    match command {
        SlashCommand::Status => {
            let StatusReply { skipped, mut text, .. } = status(call).await;
            for Skipped { path, reason, .. } in skipped {
                text.push_str(&format!("\nskipped {path}: {reason}"));
            }
            Ok(text)
        }
        SlashCommand::Search(query) => {
            let request = Search { max_bytes: SHOWN, ..Search::new(query) };
            let results = search(call, corpus, &request).await?;
            if results.total_files == 0 {
                return Ok(format!("No matches for '{}'.", request.query));
            }
            Ok(results.rendered.into_string())
        }
        SlashCommand::Read(target) => show(call, &target).await,
        SlashCommand::List => {
            let files = list(call).await?;
            let paths: alloc::vec::Vec<String> = files.into_iter().map(|file| file.path).collect();
            Ok(if paths.is_empty() { "(empty)".to_string() } else { paths.join("\n") })
        }
        SlashCommand::Write(target, text) => {
            let reply = write(call, &target, WriteMode::Append, &text, false, Backups::Off).await?;
            Ok(reply.message.into_string())
        }
        SlashCommand::Edit(target, change) => {
            let path = target.existing_path(call)?;
            Ok(edit(call, &path, Some(&target), &change, Backups::Keep).await?.message.into_string())
        }
        SlashCommand::Editor => {
            let path = call.scope.display_path(call.scope.layout.long_term());
            Ok(format!("open {path} in your editor; every command reads it again"))
        }
        SlashCommand::Clear(target @ Target::Note(_)) => {
            let (path, change) = (target.existing_path(call)?, EditChange::DeleteNote);
            Ok(edit(call, &path, Some(&target), &change, Backups::Keep).await?.message.into_string())
        }
        SlashCommand::Clear(target) => clear(call, &target).await,
        SlashCommand::Restore(target) => Ok(restore_file(call, &target.changed_path(call)?).await?.1.into_string()),
    }
}

async fn show(call: &Call, target: &Target) -> Result<String, Error> {
    let path = target.existing_path(call)?;
    let part = read_part(call, &path, 0, DEFAULT_READ_BYTES).await?;
    match part.state {
        FileState::Missing => Ok(format!("(empty) {} does not exist", call.scope.display_path(&path))),
        FileState::Empty => Ok("(empty)".to_string()),
        FileState::Text => {
            let shown: String = part.text.chars().take(SHOWN as usize).collect();
            let whole = shown.len() == part.text.len() && part.next_offset.is_none();
            Ok(if whole { shown } else { format!("{shown}…[truncated]") })
        }
    }
}

/// Empties a file and keeps its text. A missing file stays missing.
async fn clear(call: &Call, target: &Target) -> Result<String, Error> {
    if let Target::Daily(Some(date)) = target {
        let message = format!("clear takes no date, but got `{}`: it clears today's log", date.escape_debug());
        return Err(Error::invalid_argument(message, "edit an older log instead"));
    }
    let path = target.path(call)?;
    if file_size(call, &path).await?.unwrap_or_default() == 0 {
        return Ok(format!("Nothing to clear in {}", call.scope.display_path(&path)));
    }
    let reply = write(call, target, WriteMode::Overwrite, "", false, Backups::Keep).await?;
    let kept = match reply.backup {
        Some(backup) => format!("kept as {backup}"),
        None => "`restore` brings the text back".into(),
    };
    Ok(format!("Cleared {} ({kept})", reply.path))
}

/// Parses a target from all of `words`. The name of a note may have spaces.
fn whole_target(words: &str, role: TargetRole) -> Result<Target, Error> {
    if let Some(name) = words.strip_prefix("note:") {
        return Target::parse("note", Some(name.trim()), role);
    }
    let (word, name) = split_word(words);
    if word.is_empty() {
        return Err(usage("name a target: long_term, scratchpad, daily or note"));
    }
    Target::parse(word, Some(name).filter(|name| !name.is_empty()), role)
}

/// Parses a target at the start of `words`, and returns the rest. A note is `note:NAME` or `note NAME` if its name is
/// one word, `note:"TWO WORDS"` otherwise.
fn leading_target(words: &str) -> Result<(Target, &str), Error> {
    if let Some((name, rest)) = words.strip_prefix("note:\"").and_then(|quoted| quoted.split_once('"')) {
        return Ok((Target::parse("note", Some(name), TargetRole::Target)?, rest.trim_start()));
    }
    let (word, rest) = split_word(words);
    if word.is_empty() {
        return Err(usage("name a target: long_term, scratchpad, daily or note:NAME"));
    }
    if let Some(name) = word.strip_prefix("note:") {
        return Ok((Target::parse("note", Some(name), TargetRole::Target)?, rest));
    }
    if word == "note" {
        let (name, rest) = split_word(rest);
        return Ok((Target::parse("note", Some(name), TargetRole::Target)?, rest));
    }
    Ok((Target::parse(word, None, TargetRole::Target)?, rest))
}

/// Splits off the first word, and drops the white space after it.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

fn usage(problem: &str) -> Error {
    Error::invalid_argument(problem, SLASH_USAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> SlashCommand {
        SlashCommand::from_str(line).expect("a command")
    }

    #[test]
    fn every_form_parses() {
        let note = |name: &str| Target::Note(name.to_string());
        assert_eq!(parse("/memory"), SlashCommand::Status);
        assert_eq!(parse("status"), SlashCommand::Status);
        assert_eq!(parse("/memory search two  words"), SlashCommand::Search("two  words".into()));
        assert_eq!(parse("/memory read long"), SlashCommand::Read(Target::LongTerm));
        assert_eq!(parse("/memory read note my note"), SlashCommand::Read(note("my note")));
        assert_eq!(parse("/memory read note:x"), SlashCommand::Read(note("x")));
        assert_eq!(parse("/memory read daily"), SlashCommand::Read(Target::Daily(None)));
        assert_eq!(parse("/memory read list"), SlashCommand::List);
        assert_eq!(parse("/memory write long_term a b c"), SlashCommand::Write(Target::LongTerm, "a b c".into()));
        assert_eq!(parse("/memory write note:auth uses jose"), SlashCommand::Write(note("auth"), "uses jose".into()));
        assert_eq!(parse("/memory write note:\"a b\" text"), SlashCommand::Write(note("a b"), "text".into()));
        assert_eq!(parse("/memory clear scratchpad"), SlashCommand::Clear(Target::Scratchpad));
        assert_eq!(parse("/memory restore note x"), SlashCommand::Restore(note("x")));
        assert_eq!(parse("/memory editor"), SlashCommand::Editor);
        let change = EditChange::Replace { old_text: "port 1".into(), new_text: "port 2".into() };
        assert_eq!(parse("/memory edit long_term port 1 => port 2"), SlashCommand::Edit(Target::LongTerm, change));
    }

    #[test]
    fn an_invalid_command_gets_the_usage() {
        for line in [
            "/memory nope",
            "/memory write",
            "/memory write daily",
            "/memory search",
            "/memory edit long x",
            "/memory clear",
        ] {
            assert_eq!(
                SlashCommand::from_str(line).map_err(|error| error.help.clone()),
                Err(SLASH_USAGE.to_string()),
                "{line}"
            );
        }
        assert!(SlashCommand::from_str("/memoryx").is_err());
        assert!(SlashCommand::from_str("/memory read bogus").is_err());
    }
}
