//! Tips for words that are not commands: names from other programs, and mistyped verbs.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Minimum similarity of a mistyped word, the same as clap's.
const SIMILAR: f64 = 0.7;

/// Words that people try, and the commands for them.
const COMMANDS_FOR: &[(&[&str], &[&str])] = &[
    (&["ls", "list", "all"], &["note list", "entry list", "file list"]),
    (&["notes"], &["note list"]),
    (&["by-tag", "tagged"], &["note list --tag TAG"]),
    (&["recent", "latest", "last"], &["note list --sort modified --limit 10"]),
    (&["get", "show", "read", "cat", "view", "open"], &["note show NOTE", "entry show KEY", "file show TARGET"]),
    (&["find", "ask", "query"], &["recall QUERY", "entry recall QUERY", "search WORDS"]),
    (&["todo", "todos", "tasks"], &["file show scratchpad", "file write scratchpad CONTENT"]),
    (&["grep", "rg"], &["search WORDS"]),
    (&["add", "new", "create", "save"], &["remember TITLE CONTENT", "entry store KEY CONTENT"]),
    (&["write", "append"], &["file write TARGET CONTENT"]),
    (&["edit", "replace", "change"], &["note edit NOTE OLD NEW", "entry edit KEY OLD NEW", "file edit TARGET OLD NEW"]),
    (&["rm", "delete", "del", "remove", "forget"], &["note forget NOTE", "entry forget KEY", "file forget TARGET"]),
    (&["restore", "undo", "revert"], &["note restore NOTE", "entry restore KEY", "file restore TARGET"]),
    (&["mv", "move", "rename"], &["note rename NOTE TITLE"]),
    (&["backlinks", "links"], &["note list --link-to NOTE", "note related NOTE"]),
    (&["unlinked-mentions"], &["note mentions NOTE"]),
    (&["journal", "jot"], &["note journal ENTRY"]),
    (&["daily", "yesterday"], &["today", "file show daily:2026-05-29"]),
    (&["store", "set", "put"], &["entry store KEY CONTENT"]),
    (&["entries"], &["entry list"]),
    (&["where", "which"], &["file path TARGET"]),
    (&["call"], &["tools call TOOL"]),
    (&["serve", "server"], &["mcp"]),
    (&["info", "stats"], &["status"]),
    (&["version"], &["--version"]),
];

/// Replaces clap's suggestion for a word that is not a command with the commands that the word may mean.
pub(crate) fn suggest(error: &mut clap::Error, line: &Command, arguments: &[String]) {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return };
    let noun = noun_before(word, line, arguments);
    let mut commands = commands_for(word, noun, line);
    if commands.is_empty() {
        commands = most_similar(word, noun, line).map(|word| commands_for(&word, noun, line)).unwrap_or_default();
    }
    if let Some((last, others)) = commands.split_last() {
        let others: String = others.iter().map(|command| format!("`saddlebag {command}`, ")).collect();
        let tip = match others.strip_suffix(", ") {
            Some(others) => format!("{others} or `saddlebag {last}`"),
            None => format!("`saddlebag {last}`"),
        };
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![format!("try {tip}").into()]));
    }
}

/// Returns the commands that a word means: a command of the noun or of the program, otherwise the commands of the
/// table, otherwise the nouns that have it as a verb. After a noun, only the noun's own commands are returned if there
/// are any.
fn commands_for(word: &str, noun: Option<&Command>, line: &Command) -> Vec<String> {
    match noun {
        Some(noun) if noun.find_subcommand(word).is_some() => return vec![format!("{} {word}", noun.get_name())],
        None if line.find_subcommand(word).is_some() => return vec![word.to_string()],
        Some(_) if line.find_subcommand(word).is_some() => {
            return [vec![word.to_string()], with_verb(word, line)].concat();
        }
        _ => {}
    }
    let row = COMMANDS_FOR.iter().find(|(words, _)| words.contains(&word)).map(|(_, commands)| *commands);
    // A build may lack a command of the table.
    let is_there = |command: &&&str| command.split(' ').next().is_some_and(|word| is_known(word, line));
    let of_table = row.into_iter().flatten().filter(is_there).map(ToString::to_string);
    let commands: Vec<String> = if row.is_some() { of_table.collect() } else { with_verb(word, line) };
    let is_own = |command: &&String| noun.is_some_and(|noun| command.split(' ').next() == Some(noun.get_name()));
    let own: Vec<String> = commands.iter().filter(is_own).cloned().collect();
    if own.is_empty() { commands } else { own }
}

/// Returns true if a word is a command or an option of the program.
fn is_known(word: &str, line: &Command) -> bool {
    word.starts_with('-') || line.find_subcommand(word).is_some()
}

fn with_verb(verb: &str, line: &Command) -> Vec<String> {
    let nouns = line.get_subcommands().filter(|noun| noun.find_subcommand(verb).is_some());
    nouns.map(|noun| format!("{} {verb}", noun.get_name())).collect()
}

/// Returns the known word that is most similar to a word: a word of the table, a verb of a noun, or a command. If two
/// are equally similar, the one that is valid at this position wins.
fn most_similar(word: &str, noun: Option<&Command>, line: &Command) -> Option<String> {
    let of_table = COMMANDS_FOR.iter().flat_map(|(words, _)| words.iter().copied());
    let verbs = line.get_subcommands().flat_map(|noun| noun.get_subcommands().map(Command::get_name));
    let here = noun.unwrap_or(line).get_subcommands().map(Command::get_name);
    let rated = of_table.chain(verbs).chain(here).map(|known| (strsim::jaro(word, known), known));
    let best = rated.filter(|(rating, _)| *rating > SIMILAR).max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.map(|(_, known)| known.to_string())
}

/// Returns the noun that precedes a word in the arguments.
fn noun_before<'a>(word: &str, line: &'a Command, arguments: &[String]) -> Option<&'a Command> {
    let before = arguments.iter().take_while(|argument| *argument != word);
    let noun = |argument: &String| line.find_subcommand(argument).filter(|command| command.has_subcommands());
    before.filter_map(noun).last()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::line;

    fn tip(arguments: &[&str]) -> String {
        let arguments: Vec<String> =
            std::iter::once("saddlebag").chain(arguments.iter().copied()).map(String::from).collect();
        let mut line = line();
        let mut error = line.try_get_matches_from_mut(&arguments).expect_err("not a command");
        suggest(&mut error, &line, &arguments);
        let text = error.render().to_string();
        text.lines().find_map(|line| line.trim().strip_prefix("tip: ")).unwrap_or_default().to_string()
    }

    #[test]
    fn a_word_of_other_programs_leads_to_the_command_that_does_it() {
        for (arguments, commands) in [
            (&["by-tag", "ops"][..], "try `saddlebag note list --tag TAG`"),
            (
                &["get", "k"],
                "try `saddlebag note show NOTE`, `saddlebag entry show KEY` or `saddlebag file show TARGET`",
            ),
            (&["entry", "get", "k"], "try `saddlebag entry show KEY`"),
            (&["--json", "note", "rm", "k"], "try `saddlebag note forget NOTE`"),
            (&["note", "add", "k"], "try `saddlebag remember TITLE CONTENT` or `saddlebag entry store KEY CONTENT`"),
            (&["backlinks", "k"], "try `saddlebag note list --link-to NOTE` or `saddlebag note related NOTE`"),
            (&["orphans"], "try `saddlebag note orphans`"),
            (&["pending"], "try `saddlebag memory pending`"),
            (&["note", "recall", "x"], "try `saddlebag recall` or `saddlebag entry recall`"),
            (&["note", "search", "x"], "try `saddlebag search`"),
        ] {
            assert_eq!(tip(arguments), commands, "{arguments:?}");
        }
    }

    #[test]
    fn a_mistyped_word_leads_to_the_command_that_was_meant() {
        for (arguments, meant) in [
            (&["remeber", "a", "b"][..], "try `saddlebag remember`"),
            (&["note", "lst"], "try `saddlebag note list`"),
            (&["enrty", "show"], "try `saddlebag entry`"),
            (&["orphan"], "`saddlebag note orphans`"),
            (&["renam", "a", "b"], "`saddlebag note rename NOTE TITLE`"),
            (&["delte", "a"], "`saddlebag note forget NOTE`"),
        ] {
            assert!(tip(arguments).contains(meant), "{arguments:?}: {}", tip(arguments));
        }
        assert_eq!(tip(&["xyzzy"]), "");
    }

    #[test]
    fn the_words_of_the_table_are_not_commands() {
        let line = line();
        for word in COMMANDS_FOR.iter().flat_map(|(words, _)| words.iter()) {
            assert!(line.find_subcommand(word).is_none(), "`{word}` is a command: no tip is needed");
        }
    }

    #[test]
    fn every_command_of_a_tip_can_be_run() {
        let line_of_program = line();
        let words = COMMANDS_FOR.iter().flat_map(|(words, _)| words.iter());
        let commands: Vec<String> = words.flat_map(|word| commands_for(word, None, &line_of_program)).collect();
        assert!(commands.len() > 30, "{commands:?}");
        for command in &commands {
            let words = std::iter::once("saddlebag").chain(command.split(' '));
            let parsed = line().try_get_matches_from(words);
            let is_fine = parsed.is_ok() || parsed.is_err_and(|error| error.kind() == ErrorKind::DisplayVersion);
            assert!(is_fine, "{command}");
        }
    }
}
