//! [`Piece`]: one entry of ours in a configuration file, and the edits that add and remove pieces.

use super::format::{Format, Step, Unfit};
use super::value::Value;

/// Name of our server in the configuration of every client.
pub(crate) const SERVER: &str = "saddlebag";

/// Option of a hook that says nothing about the file or the command of a tool.
pub(crate) const WITHOUT_BEFORE_TOOL: &str = "--without-before-tool";

/// One entry of ours in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Server under a key. In a file of a project (`is_shared`), which others write too, an entry with more than ours is
    /// foreign: a variable or a folder may let it run something else.
    Server { path: Vec<String>, value: Value, is_shared: bool },
    /// Hook in the list of an event; `None` for an event that shall have no hook of ours.
    Hook { path: Vec<String>, value: Option<Value> },
    /// Key that a client demands in a file with hooks. It is added if it is missing, and stays.
    Demanded { key: String, value: Value },
    /// Text of our own file.
    Text(String),
}

/// Change of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edited {
    /// New text; `None` if the file must go.
    pub(crate) text: Option<String>,
    /// Paths of entries under our name that are not ours, each with a description.
    pub(crate) foreign: Vec<String>,
}

/// Returns the text of a file with the pieces. A foreign entry is replaced only if `force` is set.
pub(crate) fn added(text: Option<&str>, format: Format, pieces: &[Piece], force: bool) -> Result<Edited, Unfit> {
    let mut edited = Edited { text: Some(text.unwrap_or_default().to_string()), foreign: Vec::new() };
    // Each addition comes first in its table.
    for piece in pieces.iter().rev() {
        let current = edited.text.as_deref().unwrap_or_default();
        if let Some(new) = with_piece(current, text.is_none(), format, piece, force, &mut edited.foreign)? {
            edited.text = Some(new);
        }
    }
    if text.is_none() && edited.text.as_deref().is_some_and(str::is_empty) {
        edited.text = None;
    }
    Ok(edited)
}

/// Returns the text with a piece; `None` if it has the piece already, or a foreign one.
fn with_piece(
    text: &str,
    is_new: bool,
    format: Format,
    piece: &Piece,
    force: bool,
    foreign: &mut Vec<String>,
) -> Result<Option<String>, Unfit> {
    match piece {
        Piece::Server { path, value, is_shared } => {
            let keys: Vec<&str> = path.iter().map(String::as_str).collect();
            let parsed = format.parse(text)?;
            match parsed.at(&keys) {
                None => format.insert(text, &keys, value).map(Some),
                // A key that somebody added to our entry stays.
                Some(found) if has_all(found, value) && (!is_shared || is_our_server(found)) => Ok(None),
                Some(found) if force || is_our_server(found) => {
                    let steps: Vec<Step<'_>> = keys.into_iter().map(Step::Key).collect();
                    format.replace(text, &steps, value).map(Some)
                }
                Some(found) => {
                    foreign.push(format!("`{}` runs {}", path.join("."), described(found)));
                    Ok(None)
                }
            }
        }
        Piece::Hook { value: None, .. } => {
            Ok(removed(text, format, core::slice::from_ref(piece), None)?.text.filter(|new| new != text))
        }
        Piece::Hook { path, value: Some(value) } => {
            let keys: Vec<&str> = path.iter().map(String::as_str).collect();
            let parsed = format.parse(text)?;
            let items = parsed.at(&keys).map(Value::items).unwrap_or_default();
            let ours = our_hooks(items);
            // The first item that is all ours is replaced; a handler of ours in a group of others is not.
            let kept = ours.iter().find_map(|hook| hook.handler.is_none().then_some(hook.item));
            let mut new = text.to_string();
            for hook in ours.iter().rev().filter(|hook| hook.handler.is_some() || Some(hook.item) != kept) {
                new = format.remove(&new, &hook.steps(&keys))?;
            }
            match kept {
                None => new = format.push(&new, &keys, value)?,
                Some(item) if !items[item].says(value) => {
                    new = format.replace(&new, &OurHook { item, handler: None }.steps(&keys), value)?;
                }
                Some(_) => {}
            }
            Ok((new != text).then_some(new))
        }
        Piece::Demanded { key, value } => {
            let has_it = format.parse(text)?.get(key).is_some();
            if has_it { Ok(None) } else { format.insert(text, &[key], value).map(Some) }
        }
        Piece::Text(new) if text == new => Ok(None),
        Piece::Text(new) if is_new || force || is_our_text(text) => Ok(Some(new.clone())),
        Piece::Text(_) => {
            foreign.push("the file is not ours".to_string());
            Ok(None)
        }
    }
}

/// Returns the text of a file without the pieces. `before` is the text before they were added, if it is known: a table
/// or a list that was there stays, and one that became empty goes if it was not. If it is known, our entry is ours even
/// if somebody has changed it since.
pub(crate) fn removed(
    text: &str,
    format: Format,
    pieces: &[Piece],
    before: Option<Option<&str>>,
) -> Result<Edited, Unfit> {
    let mut foreign = Vec::new();
    if format == Format::Whole {
        let is_ours = is_our_text(text) || pieces.iter().any(|piece| *piece == Piece::Text(text.to_string()));
        if !is_ours {
            foreign.push("the file is not ours".to_string());
        }
        return Ok(Edited { text: (!is_ours).then(|| text.to_string()), foreign });
    }
    let original = before.map(|before| format.parse(before.unwrap_or_default())).transpose()?;
    let mut new = text.to_string();
    for piece in pieces {
        match piece {
            Piece::Server { path, .. } => {
                let keys: Vec<&str> = path.iter().map(String::as_str).collect();
                let parsed = format.parse(&new)?;
                match parsed.at(&keys) {
                    None => {}
                    Some(found) if is_our_server(found) || (before.is_some() && runs_us(found)) => {
                        let steps: Vec<Step<'_>> = keys.iter().copied().map(Step::Key).collect();
                        new = format.remove(&new, &steps)?;
                        new = pruned(new, format, &keys[..keys.len() - 1], original.as_ref())?;
                    }
                    Some(found) => foreign.push(format!("`{}` runs {}", path.join("."), described(found))),
                }
            }
            Piece::Hook { path, .. } => {
                let keys: Vec<&str> = path.iter().map(String::as_str).collect();
                let parsed = format.parse(&new)?;
                let items = parsed.at(&keys).map(Value::items).unwrap_or_default();
                let ours = our_hooks(items);
                for hook in ours.iter().rev() {
                    new = format.remove(&new, &hook.steps(&keys))?;
                }
                if !ours.is_empty() {
                    new = pruned(new, format, &keys, original.as_ref())?;
                }
            }
            Piece::Demanded { .. } | Piece::Text(_) => {}
        }
    }
    let is_made = matches!(before, Some(None));
    let is_spent = is_made && is_only_demanded(&format.parse(&new)?, pieces);
    Ok(Edited { text: (!is_spent).then_some(new), foreign })
}

/// Returns true if a table has every key of another one, with its value.
fn has_all(found: &Value, wanted: &Value) -> bool {
    match wanted {
        Value::Table(pairs) => pairs.iter().all(|(key, value)| found.get(key).is_some_and(|found| found.says(value))),
        _ => found.says(wanted),
    }
}

/// Removes the tables and lists on a path that are empty, unless they were there before.
fn pruned(mut text: String, format: Format, path: &[&str], original: Option<&Value>) -> Result<String, Unfit> {
    for depth in (1..=path.len()).rev() {
        let keys = &path[..depth];
        let parsed = format.parse(&text)?;
        let is_empty = match parsed.at(keys) {
            Some(Value::Table(pairs)) => pairs.is_empty(),
            Some(Value::List(items)) => items.is_empty(),
            _ => false,
        };
        let was_there = original.is_some_and(|original| original.at(keys).is_some());
        if !is_empty || was_there {
            break;
        }
        text = format.remove(&text, &keys.iter().copied().map(Step::Key).collect::<Vec<_>>())?;
    }
    Ok(text)
}

/// Returns true if a file of ours has nothing that anybody else put there.
fn is_only_demanded(value: &Value, pieces: &[Piece]) -> bool {
    let is_demanded = |key: &str, value: &Value| {
        pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Demanded { key: ours, value: our } if ours == key && our == value))
    };
    matches!(value, Value::Table(pairs) if pairs.iter().all(|(key, value)| is_demanded(key, value)))
}

/// First words of every text file of ours.
pub(crate) const MARK: &str = "// Written by `saddlebag setup`";

fn is_our_text(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').starts_with(MARK)
}

/// Returns true if the entry of a server runs this program as a server, with options of ours alone.
pub(crate) fn is_our_server(value: &Value) -> bool {
    let known = ["command", "args", "type", "enabled", "tools", "startup_timeout_sec", "source", "environment", "env"];
    let Value::Table(pairs) = value else { return false };
    let is_plain = pairs.iter().all(|(key, value)| {
        known.contains(&key.as_str())
            && (!matches!(key.as_str(), "env" | "environment") || *value == Value::Table(Vec::new()))
    });
    is_plain && after_options(&words_of(value)) == Some(&["mcp"])
}

/// Returns true if the entry of a server runs this program, whatever else it has.
fn runs_us(value: &Value) -> bool {
    after_options(&words_of(value)).is_some_and(|rest| rest.first() == Some(&"mcp"))
}

/// Hook of ours in the list of an event.
struct OurHook {
    item: usize,
    /// Handler in the group of the item, if others have handlers there too.
    handler: Option<usize>,
}

impl OurHook {
    fn steps<'a>(&self, keys: &[&'a str]) -> Vec<Step<'a>> {
        let handler = self.handler.map(|handler| [Step::Key("hooks"), Step::Item(handler)]);
        let item = keys.iter().copied().map(Step::Key).chain([Step::Item(self.item)]);
        item.chain(handler.into_iter().flatten()).collect()
    }
}

/// Returns our hooks in the list of an event, in their order. Hooks of an older form, with a list of arguments, are ours
/// too.
fn our_hooks(items: &[Value]) -> Vec<OurHook> {
    let mut ours = Vec::new();
    for (item, value) in items.iter().enumerate() {
        match value.get("hooks") {
            Some(Value::List(handlers)) if !handlers.is_empty() => {
                let found = handlers.iter().enumerate().filter(|(_, handler)| is_our_handler(handler));
                let found: Vec<usize> = found.map(|(handler, _)| handler).collect();
                if found.len() == handlers.len() {
                    ours.push(OurHook { item, handler: None });
                } else {
                    ours.extend(found.into_iter().map(|handler| OurHook { item, handler: Some(handler) }));
                }
            }
            _ if is_our_handler(value) => ours.push(OurHook { item, handler: None }),
            _ => {}
        }
    }
    ours
}

/// Returns true if a handler of a hook runs this program's `hook`.
fn is_our_handler(handler: &Value) -> bool {
    let exact = words_of(handler);
    let shell = || ["command", "bash", "powershell"].iter().find_map(|key| handler.get(key)?.as_text());
    let split = shell().map(shell_words).unwrap_or_default();
    [exact, split.iter().map(String::as_str).collect()].iter().any(|words| {
        matches!(
            after_options(words),
            Some(["hook", _, "--client", _] | ["hook", _, "--client", _, WITHOUT_BEFORE_TOOL])
        )
    })
}

/// Returns the command and the arguments of an entry.
fn words_of(value: &Value) -> Vec<&str> {
    let command: Vec<&str> = match value.get("command") {
        Some(Value::Text(command)) => vec![command],
        Some(list) => list.items().iter().filter_map(Value::as_text).collect(),
        None => Vec::new(),
    };
    let args = value.get("args").map(Value::items).unwrap_or_default().iter().filter_map(Value::as_text);
    command.into_iter().chain(args).collect()
}

/// Returns the words after the program and its global options; `None` if another program is run.
fn after_options<'a>(words: &'a [&'a str]) -> Option<&'a [&'a str]> {
    let (program, mut rest) = words.split_first()?;
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.strip_suffix(".exe").unwrap_or(name);
    if !name.eq_ignore_ascii_case(SERVER) {
        return None;
    }
    loop {
        rest = match rest {
            ["--notebook", rest @ ..] => rest,
            ["--root" | "--project" | "--agent" | "--workspace" | "--provenance" | "--secrets", _, rest @ ..] => rest,
            _ => return Some(rest),
        };
    }
}

/// Splits a command line that [`shell_line`] wrote. The call operator of PowerShell is left out.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = line.trim_start().trim_start_matches("& ").chars().peekable();
    while let Some(c) = letters.next() {
        match (c, quote) {
            (_, Some(open)) if c == open => quote = None,
            (_, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            // A backslash is also a separator of paths. Only a quote after it is escaped.
            ('\\', None) if letters.peek() == Some(&'\'') => word.get_or_insert_default().extend(letters.next()),
            (_, None) if c.is_whitespace() => words.extend(word.take()),
            (_, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Returns words as a line for a shell of Unix, of Windows, or PowerShell.
pub(crate) fn shell_line(words: &[String], shell: Syntax) -> String {
    let is_plain = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | ':' | '\\'))
    };
    let quoted = |word: &String| match shell {
        Syntax::Posix if is_plain(word) && !word.contains('\\') => word.clone(),
        Syntax::Posix => format!("'{}'", word.replace('\'', r"'\''")),
        Syntax::Cmd | Syntax::PowerShell if is_plain(word) => word.clone(),
        Syntax::AnyOfWindows if is_plain(word) => word.replace('\\', "/"),
        Syntax::AnyOfWindows => format!("\"{}\"", word.replace('\\', "/")),
        Syntax::Cmd => format!("\"{word}\""),
        Syntax::PowerShell => format!("'{}'", word.replace('\'', "''")),
    };
    let line = words.iter().map(quoted).collect::<Vec<_>>().join(" ");
    // PowerShell takes a quoted program for text without its call operator.
    if shell == Syntax::PowerShell && line.starts_with('\'') { format!("& {line}") } else { line }
}

/// Shell that reads a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    Posix,
    /// Git Bash, or another shell of Windows if it is missing: no backslashes, and quotes only where they are needed.
    AnyOfWindows,
    Cmd,
    PowerShell,
}

/// Describes the program that an entry runs.
fn described(value: &Value) -> String {
    let words = words_of(value);
    let added = ["env", "environment", "cwd"].into_iter().filter(|key| value.get(key).is_some());
    let added: Vec<String> = added.map(|key| format!("`{key}`")).collect();
    match (words.is_empty(), value.get("url").or_else(|| value.get("httpUrl")).and_then(Value::as_text)) {
        (false, _) if runs_us(value) && !added.is_empty() => {
            format!("`{}` with {}", words.join(" "), added.join(" and "))
        }
        (false, _) => format!("`{}`", words.join(" ")),
        (true, Some(url)) => format!("the server at {url}"),
        (true, None) => "something else".to_string(),
    }
}
