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
    (&["unlinked-mentions"], &["related NAME --mentions"]),
    (&["journal", "jot"], &["log --line TEXT"]),
    (&["daily", "yesterday"], &["today", "show daily:2026-05-29"]),
    (&["store", "set", "put"], &["remember --key KEY CONTENT"]),
    (&["tags"], &["list --tags"]),
    (&["dead-links"], &["list --dead-links"]),
    (&["mentions"], &["related NAME --mentions"]),
    (&["unlink"], &["project --undo"]),
    (&["explain"], &["entry hydrate --explain"]),
    (&["where", "which"], &["show NAME --path"]),
    (&["call"], &["tools TOOL"]),
    (&["pending", "inbox"], &["list --pending"]),
    (&["approve", "reject"], &["memory approve NAME", "memory reject NAME"]),
    (&["changes", "operations"], &["history"]),
    (&["decisions"], &["list --tag TAG", "recall QUERY"]),
    (&["supersede", "supersedes"], &["remember TITLE CONTENT --supersedes NAME"]),
    (&["backup"], &["memory export --out FOLDER"]),
    (&["connect", "install"], &["setup"]),
    (&["man"], &["completions man"]),
    (&["preamble"], &["context --preamble"]),
    (&["slash"], &["tools /memory LINE"]),
    (&["init"], &["setup --templates"]),
    (&["projects"], &["project"]),
    (&["path"], &["show NAME --path"]),
    (&["serve", "server"], &["mcp"]),
    (&["info", "stats"], &["status"]),
    (&["version"], &["--version"]),
    (&["session", "resume", "handoff"], &["sessions", "sessions resume SESSION"]),
    (&["user", "global"], &["remember TITLE CONTENT --user", "list --user"]),
];

/// Verbs that a noun does not have, with the commands for its kind of items; `*` is every noun.
const COMMANDS_OF_NOUNS: &[(&str, &str, &str)] = &[
    ("note", "list", "list --kind note"),
    ("entry", "list", "list --kind entry"),
    ("file", "list", "list --kind file"),
    ("file", "path", "show NAME --path"),
    ("entry", "recall", "recall --kind entry QUERY"),
    ("note", "link", "link NAME NOTE"),
    ("entry", "store", "remember --key KEY CONTENT"),
    ("memory", "pending", "list --pending"),
    ("memory", "preamble", "context --preamble"),
    ("memory", "slash", "tools /memory LINE"),
    ("memory", "init", "setup --templates"),
    ("*", "show", "show NAME"),
    ("*", "edit", "edit NAME OLD NEW"),
    ("*", "forget", "forget NAME"),
    ("*", "restore", "restore NAME"),
];

/// Words that people write before a verb. Each verb is a command.
const BEFORE_VERBS: [&str; 2] = ["note", "file"];

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
    if let Some(verb) = next().filter(|_| BEFORE_VERBS.contains(&word.as_str())) {
        let commands = match command_of_noun(word, verb) {
            Some(command) => vec![command.to_string()],
            None => likely(verb, None, line),
        };
        return tell(error, verb, commands, arguments);
    }
    let noun = noun_before(word, line, arguments);
    let commands = likely(word, noun, line);
    tell(error, &word.clone(), commands, arguments);
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
fn likely(word: &str, noun: Option<&Command>, line: &Command) -> Vec<String> {
    let commands = commands_for(word, noun, line);
    match commands.is_empty() {
        true => most_similar(word, noun, line).map(|word| commands_for(&word, noun, line)).unwrap_or_default(),
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

/// Returns the commands that a word means: a command of the noun or of the program, otherwise the commands of the
/// table, otherwise the nouns that have it as a verb. After a noun, only the noun's own commands are returned if there
/// are any.
fn commands_for(word: &str, noun: Option<&Command>, line: &Command) -> Vec<String> {
    if let Some(command) = noun.and_then(|noun| command_of_noun(noun.get_name(), word)) {
        return vec![command.to_string()];
    }
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

fn command_of_noun(noun: &str, verb: &str) -> Option<&'static str> {
    let mut rows = COMMANDS_OF_NOUNS.iter();
    rows.find(|(of, known, _)| *known == verb && (*of == noun || *of == "*")).map(|(_, _, command)| *command)
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
    let of_line = line.get_subcommands().map(Command::get_name);
    let here = noun.unwrap_or(line).get_subcommands().map(Command::get_name);
    let known = of_table.chain(verbs).chain(of_line).chain(here).filter(|known| *known != DESTRUCTIVE);
    let most = (word.chars().count() / LETTERS_PER_TYPO).max(1);
    let rated = known.map(|known| (strsim::osa_distance(word, known), known)).filter(|(typos, _)| *typos <= most);
    // The last of equals.
    rated.min_by_key(|(typos, _)| *typos).map(|(_, known)| known.to_string())
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
            (&["by-tag", "ops"][..], "try `saddlebag list --tag TAG`"),
            (&["get", "k"], "try `saddlebag show k`"),
            (&["entry", "get", "k"], "try `saddlebag show k`"),
            (&["--json", "note", "rm", "a note"], "try `saddlebag forget 'a note'`"),
            (&["note", "show", "X"], "try `saddlebag show X`"),
            (&["note", "edit", "X", "a", "b"], "try `saddlebag edit X OLD NEW`"),
            (&["note", "rename", "X", "Y"], "try `saddlebag move X TITLE`"),
            (&["note", "link", "X", "Y"], "try `saddlebag link X NOTE`"),
            (&["entry", "restore"], "try `saddlebag restore NAME`"),
            (&["file", "list"], "try `saddlebag list --kind file`"),
            (&["note", "journal", "x"], "try `saddlebag log --line TEXT`"),
            (&["entry", "recall", "x"], "try `saddlebag recall --kind entry QUERY`"),
            (&["entry", "explain"], "try `saddlebag entry hydrate --explain`"),
            (&["note", "add", "k"], "try `saddlebag remember TITLE CONTENT` or `saddlebag remember --key KEY CONTENT`"),
            (&["backlinks", "k"], "try `saddlebag list --link-to k` or `saddlebag related k`"),
            (&["orphans"], "try `saddlebag list --orphan`"),
            (&["pending"], "try `saddlebag list --pending`"),
            (&["note", "related", "X"], "try `saddlebag related`"),
            (&["file", "write", "X"], "try `saddlebag write`"),
            (&["note", "recall", "x"], "try `saddlebag recall`"),
            (&["note", "search", "x"], "try `saddlebag search`"),
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
            (&["note", "lst"], "try `saddlebag list`"),
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
        for (noun, verb, _) in COMMANDS_OF_NOUNS {
            let below = line.find_subcommand(noun).and_then(|noun| noun.find_subcommand(verb));
            assert!(below.is_none(), "`{noun} {verb}` is a command: no tip is needed");
        }
        for word in COMMANDS_FOR.iter().flat_map(|(words, _)| words.iter()) {
            assert!(line.find_subcommand(word).is_none(), "`{word}` is a command: no tip is needed");
        }
    }

    #[test]
    fn every_command_of_a_tip_can_be_run() {
        let line_of_program = line();
        let words = COMMANDS_FOR.iter().flat_map(|(words, _)| words.iter());
        let of_words = words.flat_map(|word| commands_for(word, None, &line_of_program));
        let of_nouns = COMMANDS_OF_NOUNS.iter().map(|(_, _, command)| command.to_string());
        let commands: Vec<String> = of_words.chain(of_nouns).collect();
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
