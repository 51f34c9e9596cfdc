//! `edit`: replaces text that occurs exactly once in an item, or opens the whole text in an editor.

use saddlebag::entries::{EntryInfo, NewEntry, WriteEntry};
use saddlebag::items::{Edit, Show, Shown};
use saddlebag::journal::{FileState, Target, WriteFile, WriteMode};
use saddlebag::protocol::ErrorCode;

use super::changed::Changed;
use super::show::missing;
use crate::difference::unified_of;
use crate::editor::Draft;
use crate::failure::set_changes;
use crate::input::{self, free_text};
use crate::item::{ItemName, with_kind};
use crate::output::{self, single_line};
use crate::prelude::*;

/// Replace text that occurs exactly once, or edit all in an editor
///
/// Without a text to replace, the whole text is opened in $VISUAL or $EDITOR. It is saved if nobody else changed it meanwhile.
#[derive(Debug, Args)]
#[command(after_help = example("edit \"Load balancer\" \"60 days\" \"90 days\""))]
pub(crate) struct EditArgs {
    #[command(flatten)]
    item: ItemName,
    /// Text to replace, as --old
    #[arg(value_name = "OLD", allow_hyphen_values = true, value_parser = free_text, requires = "by",
        conflicts_with_all = ["old", "delete"])]
    text: Option<String>,
    /// New text, as --new
    #[arg(value_name = "NEW", allow_hyphen_values = true, value_parser = free_text)]
    by: Option<String>,
    /// Text to replace; it must occur exactly once; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = free_text)]
    old: Option<String>,
    /// New text; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = free_text, requires = "old")]
    new: Option<String>,
    /// Delete the old text instead of replacing it
    #[arg(long, requires = "old", conflicts_with = "new")]
    delete: bool,
}

impl Subcommand for EditArgs {
    type Json = Changed;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let Self { item, text, by, old, new, delete } = self;
        let (old, new) = (old.or(text), new.or(by));
        let Some(old) = old else { return edit(&item, global, output) };
        let new = new.or(delete.then(String::new));
        let new = new.ok_or_else(|| Failure::usage("no new text is given", "give it as --new, or use --delete"))?;
        if old == "-" && new == "-" {
            let help = "give the other as an argument";
            return Err(Failure::usage("only one text can be read from standard input", help));
        }
        let (old_text, new_text) = (input::text(old)?, input::text(new)?);
        let mut store = Store::open(global)?;
        let edit = Edit { name: item.without_lines(), kind: item.kind, old_text, new_text };
        Changed::Edited(store.call(edit, output).map_err(with_kind)?).show(output)
    }
}

/// Text as it was when the editor opened.
#[allow(clippy::large_enum_variant, reason = "there is one in a run")]
enum Opened {
    Entry(EntryInfo),
    File(Target, String),
}

impl Opened {
    fn read(item: &ItemName, store: &mut Store, output: &mut Output) -> Result<Self, Failure> {
        let Shown { entry, path, .. } = store.call(item.show(), output).map_err(with_kind)?;
        Ok(match entry {
            Some(entry) => Self::Entry(entry),
            None => Self::File(Target::Page(path), whole(item, store, output)?),
        })
    }

    fn text(&self) -> &str {
        match self {
            Self::Entry(entry) => &entry.content,
            Self::File(_, text) => text,
        }
    }
}

/// Opens the text of an item in the user's editor, and saves it.
pub(super) fn edit(item: &ItemName, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let why_not = output.why_silent().or((!output::is_terminal()).then_some("standard output is not a terminal"));
    if let Some(why) = why_not {
        let help = "give the old and the new text; on a terminal, `edit` opens the text in $VISUAL or $EDITOR";
        return Err(Failure::usage(format!("no text to replace is given, and {why}"), help));
    }
    let mut store = Store::open(global)?;
    let opened = Opened::read(item, &mut store, output)?;
    let before = opened.text().to_string();
    let draft = Draft::new(&before)?;
    set_changes(true, false);
    // Editors end the last line, also of an entry that has no line end.
    let ended = |text: String| match text.strip_suffix('\n') {
        Some(bare) if !before.ends_with('\n') => bare.to_string(),
        _ => text,
    };
    let edited = match draft.edited().map(ended) {
        Ok(edited) if edited == before => {
            output.note("the text is the same as before; nothing was changed");
            return Ok(Exit::Done);
        }
        Ok(edited) => edited,
        Err(failure) => return Err(draft.kept(failure)),
    };
    match save(item, opened, edited, &mut store, output) {
        Ok(Some(changed)) => changed.show(output),
        Ok(None) => {
            let is_shown = show_change(item, &before, &mut store, output).is_ok();
            Err(draft.kept(conflict(&item.name, is_shown)))
        }
        Err(failure) => Err(draft.kept(failure)),
    }
}

/// Saves an edited text. Returns `None` if others changed the item meanwhile.
fn save(
    item: &ItemName,
    opened: Opened,
    edited: String,
    store: &mut Store,
    output: &mut Output,
) -> Result<Option<Changed>, Failure> {
    let saved = match opened {
        Opened::Entry(entry) => {
            let expected_version = Some(entry.version.clone());
            let entry = NewEntry { content: edited, ..entry.into() };
            store.call(WriteEntry { entry, expected_version }, output).map(Changed::Entry)
        }
        Opened::File(_, before) if whole(item, store, output)? != before => return Ok(None),
        Opened::File(target, before) if before.is_empty() => {
            let append = WriteFile { target, mode: WriteMode::Append, content: edited, truncate: false };
            store.call(append, output).map(Changed::Written)
        }
        // What others add at this moment stays: the old text must occur once, and nothing else is replaced.
        Opened::File(_, old_text) => {
            let edit = Edit { name: item.without_lines(), kind: item.kind, old_text, new_text: edited };
            store.call(edit, output).map(Changed::Edited)
        }
    };
    match saved {
        Err(failure) if failure.code == ErrorCode::NoUniqueMatch.into() => Ok(None),
        saved => Ok(Some(saved?).filter(|changed| !changed.is_refused())),
    }
}

/// Prints what others changed in an item since its text was `before`.
fn show_change(item: &ItemName, before: &str, store: &mut Store, output: &mut Output) -> Result<(), Failure> {
    let now = Opened::read(item, store, output)?;
    let difference = unified_of(["when you began", "now"], before, now.text());
    for line in difference.lines() {
        output.line(&single_line(line))?;
    }
    Ok(output.flush()?)
}

fn conflict(name: &str, is_shown: bool) -> Failure {
    // The last command only read.
    set_changes(true, false);
    let message = format!("`{}` was changed while you edited it; nothing was saved", single_line(name));
    let help = match is_shown {
        true => "the difference above is what others changed; edit the item again with what you need of your text",
        false => "look at the item with `saddlebag show`, and edit it again with what you need of your text",
    };
    Failure::new(ErrorCode::StaleVersion, message, help)
}

/// Returns the whole text of a file.
fn whole(item: &ItemName, store: &mut Store, output: &mut Output) -> Result<String, Failure> {
    let mut text = String::new();
    let mut offset = 0;
    loop {
        let part = store.call(Show { offset, ..item.show() }, output)?;
        if part.state == FileState::Missing {
            return Err(missing(&part));
        }
        text.push_str(&part.text);
        match part.next_offset {
            Some(next) => offset = next,
            None => return Ok(text),
        }
    }
}
