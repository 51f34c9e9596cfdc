//! Templates of `--format`: the part of Handlebars that scripts use, which runs nothing.
//!
//! This is not the language of [`saddlebag::notebook::Template`], which creates notes. Here an unknown name is an
//! error, blocks are refused, dates and lists look as zk prints them, and control characters in text are shown.

use serde_json::Value;

use super::listed::{Context, ListedNote, ListedTag, visible};
use super::{json, time};

/// Item that a template is filled with.
#[derive(Clone, Copy)]
pub(super) enum Item<'a> {
    Note(&'a ListedNote),
    Tag(&'a ListedTag),
}

/// Reason why a template cannot be filled.
pub(super) type Problem = String;

/// A parsed template.
pub(super) struct Template(Vec<Part>);

enum Part {
    Text(String),
    /// Words between the braces; the first may be a helper.
    Call(Vec<Word>),
}

enum Word {
    Name(String),
    Quoted(String),
}

enum Filled<'a> {
    /// Text whose control characters are shown.
    Text(&'a str),
    /// Text that is unchanged, because a script asks for it byte for byte.
    Exact(&'a str),
    Number(u64),
    Texts(&'a [String]),
    Date(u64),
    Value(&'a Value),
    Owned(String),
}

impl Template {
    /// Parses a template. `\t` and `\n` in it have the meaning that they have in a shell.
    pub(super) fn parse(template: &str) -> Result<Self, Problem> {
        let mut parts = Vec::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once("{{") {
            parts.push(Part::Text(unescape(before)));
            let (after, end) = after.strip_prefix('{').map_or((after, "}}"), |after| (after, "}}}"));
            let (call, after) =
                after.split_once(end).ok_or_else(|| format!("template: `{{{{{after}` is not closed"))?;
            rest = after;
            if call.starts_with('!') {
                continue;
            }
            let words = words(call).ok_or_else(|| format!("template: cannot read `{{{{{call}}}}}`"))?;
            match words.first() {
                Some(Word::Name(name)) if name.starts_with(['#', '/', '>', '^']) => {
                    return Err(format!("template: `{{{{{call}}}}}`: blocks and partials are not supported"));
                }
                None => return Err("template: `{{}}` is empty".into()),
                _ => parts.push(Part::Call(words)),
            }
        }
        parts.push(Part::Text(unescape(rest)));
        Ok(Self(parts))
    }

    /// Appends the filled template.
    pub(super) fn fill(&self, out: &mut String, item: Item<'_>, context: &Context) -> Result<(), Problem> {
        for part in &self.0 {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Call(words) => call(words, item, context)?.push(out),
            }
        }
        Ok(())
    }
}

/// Replaces `\t` and `\n` by tabs and line ends.
pub(super) fn unescape(text: &str) -> String {
    text.replace("\\t", "\t").replace("\\n", "\n")
}

fn words(call: &str) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    let mut rest = call.trim();
    while let Some(first) = rest.chars().next() {
        let (word, after) = if let '\'' | '"' = first {
            let (quoted, after) = rest.get(1..)?.split_once(first)?;
            (Word::Quoted(quoted.into()), after)
        } else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            (Word::Name(name.into()), after)
        };
        words.push(word);
        rest = after.trim_start();
    }
    Some(words)
}

fn call<'a>(words: &'a [Word], item: Item<'a>, context: &Context) -> Result<Filled<'a>, Problem> {
    let argument = |word: &'a Word| match word {
        Word::Quoted(text) => Ok(Filled::Text(text)),
        Word::Name(name) => value(name, item),
    };
    let [Word::Name(helper), arguments @ ..] = words else {
        return match words {
            [word] => argument(word),
            _ => Err("template: quoted text is not a helper".into()),
        };
    };
    match (helper.as_str(), arguments) {
        (_, []) => value(helper, item),
        ("json", [word]) => {
            let mut text = String::new();
            match word {
                Word::Name(name) if name == "." || name == "this" => item.push_json(&mut text),
                word => argument(word)?.push_json(&mut text),
            }
            Ok(Filled::Owned(text))
        }
        ("format-date", [date, style @ ..]) if style.len() < 2 => {
            let Filled::Date(date) = argument(date)? else {
                return Err("template: format-date takes `created` or `modified`".into());
            };
            let style = match style.first() {
                None => "%Y-%m-%d",
                Some(Word::Quoted(style) | Word::Name(style)) => style,
            };
            Ok(Filled::Owned(time::format(date, style, context.now, context.utc_offset_seconds)))
        }
        ("join", [list, separator]) => match (argument(list)?, separator) {
            (Filled::Texts(texts), Word::Quoted(separator)) => {
                Ok(Filled::Owned(visible(&texts.join(separator)).into_owned()))
            }
            _ => Err("template: join takes a list and a string".into()),
        },
        // Colours would only disturb a script.
        ("style", [_, word]) => argument(word),
        ("sh", _) => Err("template: `sh` would run a command, which nothing here does".into()),
        (helper, _) => Err(format!("template: there is no helper `{helper}`; there are json, format-date and join")),
    }
}

fn value<'a>(name: &str, item: Item<'a>) -> Result<Filled<'a>, Problem> {
    let found = match item {
        Item::Note(note) => note_value(name, note),
        Item::Tag(tag) => match name {
            "name" => Some(Filled::Text(&tag.name)),
            "kind" => Some(Filled::Text("tag")),
            "id" => Some(Filled::Number(tag.id)),
            "note-count" => Some(Filled::Number(tag.note_count.into())),
            _ => None,
        },
    };
    found.ok_or_else(|| format!("template: there is no `{name}`"))
}

fn note_value<'a>(name: &str, note: &'a ListedNote) -> Option<Filled<'a>> {
    let text = match name {
        "filename" => &note.filename,
        "filename-stem" => &note.filename_stem,
        "path" => &note.path,
        "abs-path" => &note.abs_path,
        "title" => &note.title,
        "link" => &note.link,
        "lead" => &note.lead,
        "body" => return Some(Filled::Exact(&note.body)),
        "raw-content" => return Some(Filled::Exact(&note.raw_content)),
        "checksum" => &note.checksum,
        "snippets" => return Some(Filled::Texts(&note.snippets)),
        "tags" => return Some(Filled::Texts(&note.tags)),
        "word-count" => return Some(Filled::Number(note.word_count.into())),
        "created" => return Some(Filled::Date(note.created)),
        "modified" => return Some(Filled::Date(note.modified)),
        "metadata" => return Some(Filled::Value(&note.metadata)),
        // A missing field is empty.
        _ => {
            let mut keys = name.strip_prefix("metadata.")?.split('.');
            let found = keys.try_fold(&note.metadata, |value, key| value.get(key));
            return Some(Filled::Value(found.unwrap_or(&Value::Null)));
        }
    };
    Some(Filled::Text(text))
}

impl Filled<'_> {
    fn push(&self, out: &mut String) {
        match self {
            Self::Text(text) => out.push_str(&visible(text)),
            Self::Exact(text) => out.push_str(text),
            Self::Owned(text) => out.push_str(text),
            Self::Number(number) => out.push_str(&number.to_string()),
            Self::Texts(texts) => out.push_str(&visible(&texts.join(", "))),
            Self::Date(date) => out.push_str(&time::rfc3339(*date)),
            Self::Value(Value::String(text)) => out.push_str(&visible(text)),
            Self::Value(Value::Null) => {}
            Self::Value(value) => json::push_value(out, value),
        }
    }

    fn push_json(&self, out: &mut String) {
        match self {
            Self::Text(text) | Self::Exact(text) => json::push_text(out, text),
            Self::Owned(text) => json::push_text(out, text),
            Self::Number(number) => out.push_str(&number.to_string()),
            Self::Texts(texts) => json::push_texts(out, texts),
            Self::Date(date) => json::push_text(out, &time::rfc3339(*date)),
            Self::Value(value) => json::push_value(out, value),
        }
    }
}

impl Item<'_> {
    pub(super) fn push_json(&self, out: &mut String) {
        match self {
            Self::Note(note) => note.push_json(out),
            Self::Tag(tag) => tag.push_json(out),
        }
    }
}
