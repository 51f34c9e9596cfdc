//! Notes, tags and the graph as zk prints them.
//!
//! zk prints titles and paths unchanged, so a note can control the terminal at the end of a pipe, after `less -R` or
//! `fzf`. Here control characters are always shown, as `[U+001B]`. To get a value unchanged, use JSON, which escapes
//! it, or `{{body}}` or `{{raw-content}}` in a template.

use super::args::{BadUse, FrameArgs, TagKey};
use super::json::{self, Object};
use super::listed::visible;
pub use super::listed::{Context, ListedLink, ListedNote, ListedTag};
use super::template::{Item, Template, unescape};
use super::time;

/// Returns the output of `zk list`. Without notes, it is empty in every format.
pub fn notes(notes: &[ListedNote], frame: &FrameArgs, context: &Context) -> Result<String, BadUse> {
    let items: Vec<Item<'_>> = notes.iter().map(Item::Note).collect();
    match frame.format.as_deref().unwrap_or("short") {
        "oneline" => text(notes, frame, |out, note| push_head(out, note, context)),
        "short" => text(notes, frame, |out, note| {
            push_head(out, note, context);
            if let Some(from) = note.unapproved {
                out.push_str(&format!(" (unapproved: {from})"));
            }
            out.push('\n');
            push_snippets(out, note);
        }),
        "medium" => text(notes, frame, |out, note| {
            push_facts(out, note, context, false);
            push_snippets(out, note);
        }),
        "long" => text(notes, frame, |out, note| {
            push_facts(out, note, context, true);
            push_snippets(out, note);
        }),
        "full" => text(notes, frame, |out, note| {
            push_facts(out, note, context, true);
            out.push('\n');
            push_indented(out, &note.body);
        }),
        "path" => text(notes, frame, |out, note| out.push_str(&visible(&note.path))),
        "link" => text(notes, frame, |out, note| out.push_str(&visible(&note.link))),
        format => structured(&items, format, frame, context),
    }
}

/// Returns the output of `zk tag list`, sorted by the keys.
pub fn tags(
    mut tags: Vec<ListedTag>,
    keys: &[(TagKey, bool)],
    frame: &FrameArgs,
    context: &Context,
) -> Result<String, BadUse> {
    tags.sort_by(|a, b| {
        let by_key = keys.iter().map(|(key, ascending)| {
            let ordering = match key {
                TagKey::Name => a.name.cmp(&b.name),
                TagKey::NoteCount => a.note_count.cmp(&b.note_count),
            };
            if *ascending { ordering } else { ordering.reverse() }
        });
        by_key.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then).then_with(|| a.name.cmp(&b.name))
    });
    let items: Vec<Item<'_>> = tags.iter().map(Item::Tag).collect();
    match frame.format.as_deref().unwrap_or("name") {
        "name" => text(&tags, frame, |out, tag| out.push_str(&visible(&tag.name))),
        "full" => text(&tags, frame, |out, tag| out.push_str(&format!("{} ({})", visible(&tag.name), tag.note_count))),
        format => structured(&items, format, frame, context),
    }
}

/// Returns the output of `zk graph --format json`.
pub fn graph(notes: &[ListedNote], links: &[ListedLink]) -> String {
    let mut out = String::new();
    Object::begin(&mut out)
        .field("notes", |out| json::push_list(out, notes, |out, note| note.push_json(out)))
        .field("links", |out| json::push_list(out, links, |out, link| link.push_json(out)))
        .end();
    out.push('\n');
    out
}

/// Returns the line for standard error without `--quiet`.
pub fn found(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("\nFound {count} {what}{plural}\n")
}

/// Renders items between header and footer.
fn text<T>(items: &[T], frame: &FrameArgs, push: impl Fn(&mut String, &T)) -> Result<String, BadUse> {
    try_text(items, frame, |out, item| {
        push(out, item);
        Ok(())
    })
}

fn try_text<T>(
    items: &[T],
    frame: &FrameArgs,
    push: impl Fn(&mut String, &T) -> Result<(), String>,
) -> Result<String, BadUse> {
    let given = |text: &Option<String>, default: &str| text.as_deref().map_or_else(|| default.into(), unescape);
    let delimiter = if frame.delimiter0 { "\0".into() } else { given(&frame.delimiter, "\n") };
    let mut out = String::new();
    if items.is_empty() {
        return Ok(out);
    }
    out.push_str(&given(&frame.header, ""));
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push_str(&delimiter);
        }
        push(&mut out, item).map_err(BadUse)?;
    }
    out.push_str(&given(&frame.footer, "\n"));
    Ok(out)
}

/// Renders items as JSON, or by a template.
fn structured(items: &[Item<'_>], format: &str, frame: &FrameArgs, context: &Context) -> Result<String, BadUse> {
    let (begin, between, end) = match format {
        "json" => ("[", ",", "]\n"),
        "jsonl" => ("", "\n", "\n"),
        template => {
            let template = Template::parse(template).map_err(BadUse)?;
            return try_text(items, frame, |out, item| template.fill(out, *item, context));
        }
    };
    let framed = [("--header", &frame.header), ("--footer", &frame.footer), ("--delimiter", &frame.delimiter)];
    if let Some((flag, _)) = framed.iter().find(|(_, text)| text.is_some()) {
        return Err(BadUse(format!("{flag} can't be used with JSON format")));
    }
    let mut out = String::new();
    if items.is_empty() {
        return Ok(out);
    }
    out.push_str(begin);
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push_str(between);
        }
        item.push_json(&mut out);
    }
    out.push_str(end);
    Ok(out)
}

/// Appends title, path and age.
fn push_head(out: &mut String, note: &ListedNote, context: &Context) {
    let age = time::format(note.created, "elapsed", context.now, context.utc_offset_seconds);
    if !note.title.is_empty() {
        out.push_str(&visible(&note.title));
        out.push(' ');
    }
    out.push_str(&format!("{} ({age})", visible(&note.path)));
}

/// Appends title and path, then a line per field.
fn push_facts(out: &mut String, note: &ListedNote, context: &Context, is_long: bool) {
    let date = |time| time::format(time, "medium", context.now, context.utc_offset_seconds);
    if !note.title.is_empty() {
        out.push_str(&visible(&note.title));
        out.push(' ');
    }
    out.push_str(&format!("{}\nCreated: {}\n", visible(&note.path), date(note.created)));
    // zk has no such line. The formats that scripts parse (path, link, oneline, templates) do not have it here either.
    if let Some(from) = note.unapproved {
        out.push_str(&format!("Unapproved: {from}\n"));
    }
    if is_long {
        out.push_str(&format!("Modified: {}\n", date(note.modified)));
        if !note.tags.is_empty() {
            out.push_str(&format!("Tags: {}\n", visible(&note.tags.join(", "))));
        }
    }
}

fn push_snippets(out: &mut String, note: &ListedNote) {
    for snippet in &note.snippets {
        out.push('\n');
        push_indented(out, snippet);
    }
}

fn push_indented(out: &mut String, text: &str) {
    for line in visible(text).lines() {
        out.push_str(if line.is_empty() { "" } else { "  " });
        out.push_str(line);
        out.push('\n');
    }
}

#[cfg(test)]
mod tests;
