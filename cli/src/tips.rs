//! Tips for words that are not commands: names from other programs, and mistyped verbs.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Number of letters of a word among which one may be mistyped.
const LETTERS_PER_TYPO: usize = 4;

/// Command that removes text for good, which no tip may name.
const DESTRUCTIVE: &str = "expunge";

/// Words that people try, and the commands for them.
const COMMANDS_FOR: &[(&[&str], &[&str])] = &[
    (&["ls", "all"], &["list"]),
    (&["notes"], &["list --kind note"]),
    (&["entries"], &["list --kind entry"]),
    (&["by-tag", "tagged"], &["list --tag TAG"]),
    (&["recent", "latest", "last"], &["list --limit 10"]),
    (&["orphans"], &["list --orphan"]),
    (&["graph"], &["list --links"]),
    (&["get", "read", "cat", "view"], &["show NAME"]),
    (&["find", "ask", "query"], &["recall QUERY", "search WORDS"]),
    (&["todo", "todos", "tasks"], &["show scratchpad", "write scratchpad CONTENT"]),
    (&["grep", "rg"], &["search WORDS"]),
    (&["add", "new", "create", "save"], &["remember TITLE CONTENT", "remember --key KEY CONTENT"]),
    (&["append"], &["write NAME CONTENT"]),
    (&["replace", "change"], &["edit NAME OLD NEW"]),
    (&["rm", "delete", "del", "remove"], &["forget NAME"]),
    (&["revert"], &["undo OPERATION"]),
    (&["mv", "rename"], &["move NAME TITLE"]),
    (&["backlinks", "links"], &["list --link-to NAME", "related NAME"]),
    (&["journal", "jot"], &["log --line TEXT"]),
    (&["daily", "yesterday"], &["today", "show daily:2026-05-29"]),
    (&["store", "set", "put"], &["remember --key KEY CONTENT"]),
    (&["tags"], &["list --tags"]),
    (&["dead-links"], &["list --dead-links"]),
    (&["mentions"], &["related NAME --mentions"]),
    (&["unlink"], &["project --undo"]),
    (&["where", "which"], &["show NAME --path"]),
    (&["pending", "inbox"], &["list --pending"]),
    (&["approve", "reject"], &["memory approve NAME", "memory reject NAME"]),
    (&["changes", "operations"], &["history"]),
    (&["decisions"], &["list --tag TAG", "recall QUERY"]),
    (&["supersede", "supersedes"], &["remember TITLE CONTENT --supersedes NAME"]),
    (&["backup"], &["memory export --out FOLDER"]),
    (&["connect", "install"], &["setup"]),
    (&["init"], &["setup --templates"]),
    (&["projects"], &["project"]),
    (&["path"], &["show NAME --path"]),
    (&["serve", "server"], &["mcp"]),
    (&["info", "stats"], &["status"]),
    (&["version"], &["--version"]),
    (&["session", "resume", "handoff"], &["sessions", "sessions resume SESSION"]),
    (&["user", "global"], &["remember TITLE CONTENT --user", "list --user"]),
];

/// Replaces clap's suggestion for a word that is not a command with the commands that the word may mean.
pub(crate) fn suggest(error: &mut clap::Error, line: &Command, arguments: &[String]) {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return };
    // `help setup git`: only a command has a help.
    if let Some(command) = helped(word, line, arguments) {
        return tell(error, "", vec![format!("help {command}")], arguments);
    }
    let next = || arguments.iter().skip_while(|argument| *argument != word).nth(1);
    if arguments.iter().take_while(|argument| *argument != word).last().is_some_and(|option| option == "--notebook") {
        let command = next().map_or("COMMAND", String::as_str);
        let folder = shlex::try_quote(word).unwrap_or_else(|_| "FOLDER".into());
        let whole = format!("--root {folder} --notebook {command}");
        return tell(error, "", vec![whole], arguments);
    }
    tell(error, &word.clone(), likely(word, line), arguments);
}

/// Returns the command before a word that asks for help: `setup` for `help setup git`, `entry list` for `help entry list port`.
fn helped(word: &str, line: &Command, arguments: &[String]) -> Option<String> {
    let before = arguments.iter().take_while(|argument| *argument != word).skip_while(|argument| *argument != "help");
    let (mut command, mut path) = (line, Vec::new());
    for name in before.skip(1) {
        command = command.find_subcommand(name)?;
        path.push(command.get_name());
    }
    // After a noun, the word may be a mistyped verb.
    (!path.is_empty() && command.get_subcommands().next().is_none()).then(|| path.join(" "))
}

/// Returns the commands that a word may mean, or those of the most similar word.
fn likely(word: &str, line: &Command) -> Vec<String> {
    let commands = commands_for(word, line);
    match commands.is_empty() {
        true => most_similar(word, line).map(|word| commands_for(&word, line)).unwrap_or_default(),
        false => commands,
    }
}

/// Replaces clap's suggestion with commands, which get the argument after the word as their name.
fn tell(error: &mut clap::Error, word: &str, mut commands: Vec<String>, arguments: &[String]) {
    let name = arguments.iter().skip_while(|argument| *argument != word).nth(1).filter(|name| !name.starts_with('-'));
    if let Some(name) = name.and_then(|name| shlex::try_quote(name).ok()) {
        commands.iter_mut().for_each(|command| *command = command.replacen("NAME", &name, 1));
    }
    let tip = match commands.split_last() {
        Some((last, [])) => format!("try `saddlebag {last}`"),
        Some((last, others)) => {
            let others: Vec<String> = others.iter().map(|command| format!("`saddlebag {command}`")).collect();
            format!("try {} or `saddlebag {last}`", others.join(", "))
        }
        None => "`saddlebag help` lists the commands".to_string(),
    };
    error.remove(ContextKind::SuggestedSubcommand);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
}

/// Returns the commands that a word means: a command of the program, otherwise those of the table, otherwise those of nouns that have
/// it as a verb.
fn commands_for(word: &str, line: &Command) -> Vec<String> {
    if line.find_subcommand(word).is_some() {
        return vec![word.to_string()];
    }
    match COMMANDS_FOR.iter().find(|(words, _)| words.contains(&word)) {
        // A build may lack a command of the table.
        Some((_, commands)) => {
            let is_known = |command: &&&str| {
                let word = command.split(' ').next().unwrap_or_default();
                word.starts_with('-') || line.find_subcommand(word).is_some()
            };
            commands.iter().filter(is_known).map(ToString::to_string).collect()
        }
        None => {
            let nouns = line.get_subcommands().filter(|noun| noun.find_subcommand(word).is_some());
            nouns.map(|noun| format!("{} {word}", noun.get_name())).collect()
        }
    }
}

/// Returns the known word that is most similar to a word: a word of the table, a verb of a noun, or a command.
fn most_similar(word: &str, line: &Command) -> Option<String> {
    let of_table = COMMANDS_FOR.iter().flat_map(|(words, _)| words.iter().copied());
    let of_line = line.get_subcommands().map(Command::get_name);
    let verbs = line.get_subcommands().flat_map(|noun| noun.get_subcommands().map(Command::get_name));
    let known = of_line.chain(of_table).chain(verbs).filter(|known| *known != DESTRUCTIVE);
    let most = (word.chars().count() / LETTERS_PER_TYPO).max(1);
    let rated = known.map(|known| (strsim::osa_distance(word, known), known)).filter(|(typos, _)| *typos <= most);
    rated.min_by_key(|(typos, _)| *typos).map(|(_, known)| known.to_string())
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
            (&["by-tag", "ops"][..], "try `saddlebag list --tag TAG`"),
            (&["get", "k"], "try `saddlebag show k`"),
            (&["--json", "rm", "a note"], "try `saddlebag forget 'a note'`"),
            (&["entry", "show", "k"], "try `saddlebag show`"),
            (&["new", "k"], "try `saddlebag remember TITLE CONTENT` or `saddlebag remember --key KEY CONTENT`"),
            (&["backlinks", "k"], "try `saddlebag list --link-to k` or `saddlebag related k`"),
            (&["orphans"], "try `saddlebag list --orphan`"),
            (&["pending"], "try `saddlebag list --pending`"),
            (&["help", "setup", "git"], "try `saddlebag help setup`"),
            (&["help", "entry", "hydrate", "x"], "try `saddlebag help entry hydrate`"),
            (&["help", "by-tag"], "try `saddlebag list --tag TAG`"),
        ] {
            assert_eq!(tip(arguments), commands, "{arguments:?}");
        }
    }

    #[test]
    fn a_mistyped_word_leads_to_the_command_that_was_meant() {
        for (arguments, meant) in [
            (&["remeber", "a", "b"][..], "try `saddlebag remember`"),
            (&["enrty", "show"], "try `saddlebag entry`"),
            (&["orphan"], "`saddlebag list --orphan`"),
            (&["renam", "a", "b"], "`saddlebag move a TITLE`"),
            (&["delte", "a"], "`saddlebag forget a`"),
        ] {
            assert!(tip(arguments).contains(meant), "{arguments:?}: {}", tip(arguments));
        }
        for word in ["xyzzy", "upgrade", "page", "pause", "peers", "trace", "share", "expung", "purge", "config"] {
            assert_eq!(tip(&[word]), "`saddlebag help` lists the commands", "{word}");
        }
        assert_eq!(
            tip(&["--notebook", "my vault", "recall", "x"]),
            "try `saddlebag --root 'my vault' --notebook recall`"
        );
    }

    #[test]
    fn the_words_of_the_tables_are_not_commands() {
        let line = line();
        for word in COMMANDS_FOR.iter().flat_map(|(words, _)| words.iter()) {
            assert!(line.find_subcommand(word).is_none(), "`{word}` is a command: no tip is needed");
        }
    }

    #[test]
    fn every_command_of_a_tip_can_be_run() {
        let line_of_program = line();
        let words = COMMANDS_FOR.iter().flat_map(|(words, _)| words.iter());
        let commands: Vec<String> = words.flat_map(|word| commands_for(word, &line_of_program)).collect();
        assert!(commands.len() > 30, "{commands:?}");
        let destroys =
            |command: &&String| [DESTRUCTIVE, "--purge", "--uninstall"].iter().any(|word| command.contains(word));
        assert_eq!(commands.iter().find(destroys), None);
        for command in &commands {
            let words = std::iter::once("saddlebag").chain(command.split(' '));
            let parsed = line().try_get_matches_from(words);
            let is_fine = parsed.is_ok() || parsed.is_err_and(|error| error.kind() == ErrorKind::DisplayVersion);
            assert!(is_fine, "{command}");
        }
    }
}
