//! [`Piece`]: one entry of ours in a configuration file, and the edits that add and remove pieces.

use super::format::{Format, Step, Unfit};
use super::value::Value;

/// Name of our server in the configuration of every client.
pub(crate) const SERVER: &str = "saddlebag";

/// One entry of ours in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Server under a key.
    Server { path: Vec<String>, value: Value },
    /// Hook in the list of an event.
    Hook { path: Vec<String>, value: Value },
    /// Key that a client demands in a file with hooks. It is added if it is missing, and stays.
    Demanded { key: String, value: Value },
    /// Text of a file of our own.
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
    for piece in pieces {
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
        Piece::Server { path, value } => {
            let keys: Vec<&str> = path.iter().map(String::as_str).collect();
            let parsed = format.parse(text)?;
            match parsed.at(&keys) {
                None => format.insert(text, &keys, value).map(Some),
                // A key that somebody added to our entry stays.
                Some(found) if has_all(found, value) => Ok(None),
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
        Piece::Hook { path, value } => {
            let keys: Vec<&str> = path.iter().map(String::as_str).collect();
            let parsed = format.parse(text)?;
            let items = parsed.at(&keys).map(Value::items).unwrap_or_default();
            let ours: Vec<usize> =
                items.iter().enumerate().filter(|(_, item)| is_our_hook(item)).map(|(number, _)| number).collect();
            let Some((&first, others)) = ours.split_first() else { return format.push(text, &keys, value).map(Some) };
            let steps = |number| keys.iter().copied().map(Step::Key).chain([Step::Item(number)]).collect::<Vec<_>>();
            let mut new = text.to_string();
            for &number in others.iter().rev() {
                new = format.remove(&new, &steps(number))?;
            }
            if !items[first].says(value) {
                new = format.replace(&new, &steps(first), value)?;
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
                let ours = items.iter().enumerate().filter(|(_, item)| is_our_hook(item)).map(|(number, _)| number);
                let ours: Vec<usize> = ours.collect();
                for &number in ours.iter().rev() {
                    let steps: Vec<Step<'_>> =
                        keys.iter().copied().map(Step::Key).chain([Step::Item(number)]).collect();
                    new = format.remove(&new, &steps)?;
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

/// Returns true if an item of an event is a hook of this program.
pub(crate) fn is_our_hook(value: &Value) -> bool {
    let is_hook = |handler: &Value| {
        let exact = words_of(handler);
        let shell = || ["command", "bash", "powershell"].iter().find_map(|key| handler.get(key)?.as_text());
        let split = shell().map(shell_words).unwrap_or_default();
        [exact, split.iter().map(String::as_str).collect()]
            .iter()
            .any(|words| matches!(after_options(words), Some(["hook", _, "--client", _])))
    };
    match value.get("hooks") {
        // A group that also has a hook of somebody else is theirs.
        Some(Value::List(handlers)) => !handlers.is_empty() && handlers.iter().all(is_hook),
        _ => is_hook(value),
    }
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
            ["--root" | "--project" | "--agent" | "--workspace", _, rest @ ..] => rest,
            _ => return Some(rest),
        };
    }
}

/// Splits a command line that [`shell_line`] wrote. The call operator of PowerShell is left out.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start().trim_start_matches("& ");
    while !rest.is_empty() {
        let (word, after) = match rest.chars().next() {
            Some(quote @ ('\'' | '"')) => {
                let inner = &rest[1..];
                inner.split_once(quote).unwrap_or((inner, ""))
            }
            _ => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word.to_string());
        rest = after.trim_start();
    }
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
        Syntax::Cmd => format!("\"{word}\""),
        Syntax::PowerShell => format!("'{}'", word.replace('\'', "''")),
    };
    let line = words.iter().map(quoted).collect::<Vec<_>>().join(" ");
    // PowerShell takes a quoted program for a text without its call operator.
    if shell == Syntax::PowerShell && line.starts_with('\'') { format!("& {line}") } else { line }
}

/// Shell that reads a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    Posix,
    Cmd,
    PowerShell,
}

/// Describes the program that an entry runs.
fn described(value: &Value) -> String {
    let words = words_of(value);
    match (words.is_empty(), value.get("url").or_else(|| value.get("httpUrl")).and_then(Value::as_text)) {
        (false, _) => format!("`{}`", words.join(" ")),
        (true, Some(url)) => format!("the server at {url}"),
        (true, None) => "something else".to_string(),
    }
}
