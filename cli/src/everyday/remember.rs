//! `remember`: creates a note, or stores an entry under a key.

use saddlebag::entries::{NewEntry, StoreReply, StoreState, WriteEntry};
use saddlebag::notebook::{RememberReply, WriteNote};

use crate::input::{self, free_text, shown_path};
use crate::note::shared::warn;
use crate::output::single_line;
use crate::prelude::*;

/// Category of an entry if none is named.
const CATEGORY: &str = "core";
/// Maximum size of a title that is made of the text, in characters.
const MAX_TITLE: usize = 80;

/// Keep a fact, a decision or another note; with --key an entry
#[derive(Debug, Args)]
#[command(after_help = example("remember \"Load balancer\" \"Two nodes, renewed every 60 days.\" --tag infra"))]
pub(crate) struct RememberArgs {
    /// Title of the note, one line that a colleague would understand, since sessions begin with the titles; alone, the text of the
    /// note, whose first sentence is the title; with --key the text of the entry, kept byte for byte
    #[arg(value_name = "TITLE|TEXT", allow_hyphen_values = true, value_parser = free_text)]
    title: String,
    /// Text of the note, in Markdown; `-` reads it, or the entry's, from standard input
    #[arg(allow_hyphen_values = true, conflicts_with = "key")]
    content: Option<String>,
    /// Store an entry under this key, 1 to 255 bytes, or replace its text: the entries of a person are for all projects
    #[arg(long, short = 'k', value_name = "KEY", allow_hyphen_values = true)]
    key: Option<String>,
    /// Category of the entry: core, daily, workspace, or your own category [default: core]
    #[arg(long, short = 'c', value_name = "CATEGORY", requires = "key", conflicts_with = "content")]
    category: Option<String>,
    /// Origin of the entry's text, for people
    #[arg(long, value_name = "TEXT", requires = "key", conflicts_with = "content")]
    source: Option<String>,
    /// Store the entry only if it still has this version
    #[arg(long, value_name = "VERSION", requires = "key", conflicts_with = "content")]
    base: Option<String>,
    /// Kind of note: fact, decision, or the name of a folder [default: kind of the replaced note, else fact]
    #[arg(long, value_name = "KIND", conflicts_with = "key")]
    template: Option<String>,
    /// Group of the configuration that gives file name and template [default: group of the folder]
    #[arg(long, value_name = "NAME", conflicts_with = "key")]
    group: Option<String>,
    /// Tag; repeatable, or separated by commas
    #[arg(long, short = 't', value_delimiter = ',', value_name = "TAG")]
    tag: Vec<String>,
    /// Note to link to; repeatable
    #[arg(long, value_name = "NOTE", value_parser = shown_path, conflicts_with = "key")]
    link: Vec<String>,
    /// Supersede the note with this title; the new note takes over its kind, tags and links
    #[arg(long, conflicts_with = "key")]
    supersede: bool,
    /// Note to supersede, whatever its title; with --key the key of an older entry, which leaves the prompts
    #[arg(long, value_name = "NOTE|KEY", value_parser = shown_path)]
    supersedes: Option<String>,
}

/// New note, or stored entry.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is the schema of the replies that are printed")]
pub(crate) enum Remembered {
    Note(RememberReply),
    Entry(StoreReply),
}

impl Subcommand for RememberArgs {
    type Json = Remembered;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        match (self.key.clone(), self.content.clone()) {
            (Some(key), _) => self.store(key, global, output),
            (None, Some(content)) => self.note(content, global, output),
            (None, None) => {
                let text = input::text(self.title.clone())?;
                let title = title_of(&text);
                Self { title, ..self }.note(text, global, output)
            }
        }
    }
}

impl RememberArgs {
    fn store(self, key: String, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let entry = NewEntry {
            key,
            content: input::text(self.title)?,
            category: self.category.unwrap_or_else(|| CATEGORY.into()),
            tags: self.tag,
            source: self.source,
            supersedes: self.supersedes,
        };
        let reply = Store::open(global)?.call(WriteEntry { entry, expected_version: self.base }, output)?;
        output.object_or_line(&reply, &single_line(reply.message.as_str()))?;
        Ok(match reply.state {
            StoreState::Forgotten | StoreState::Conflict => Exit::Failed,
            _ => Exit::Done,
        })
    }

    fn note(self, content: String, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let request = WriteNote {
            title: self.title,
            content: input::not_blank(input::text(content)?, "the text", "give the text to remember")?,
            template: self.template.unwrap_or_default(),
            group: self.group,
            tags: self.tag,
            links: self.link,
            supersede: self.supersede,
            supersedes: self.supersedes,
        };
        let reply = Store::open(global)?.call(request, output)?;
        output.object_or_line(&reply, reply.message.as_str())?;
        if !output.is_json() {
            output.flush()?;
            warn(&reply.warnings, output);
        }
        Ok(Exit::Done)
    }
}

/// Returns the first sentence of the text, up to its last whole word that fits.
fn title_of(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let sentence = line.split_inclusive(['.', '!', '?']).scan(0, |end, part| {
        *end += part.len();
        Some(*end)
    });
    // A point inside of a word, as in `1.5`, ends no sentence.
    let is_end = |end: &usize| line.get(*end..).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let first = sentence.into_iter().find(is_end).and_then(|end| line.get(..end)).unwrap_or(line);
    let first = first.trim_start_matches(['#', '-', '*', ' ']).trim_end_matches('.').trim_end();
    match first.char_indices().nth(MAX_TITLE) {
        None => first.to_string(),
        Some((end, _)) => {
            let head = first.get(..end).unwrap_or(first);
            head.rsplit_once(' ').map_or(head, |(words, _)| words).to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_is_the_first_sentence_as_far_as_it_fits() {
        for (text, title) in [
            ("The logo font is Inter.", "The logo font is Inter"),
            ("- Use v1.5 of the API. It pages.", "Use v1.5 of the API"),
            ("Ports? 8443 for staging", "Ports?"),
            ("One line\nand more", "One line"),
            ("", ""),
        ] {
            assert_eq!(title_of(text), title, "{text}");
        }
        let long = "word ".repeat(30);
        assert_eq!(title_of(&long), "word ".repeat(16).trim_end());
    }
}
