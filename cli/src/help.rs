//! The help of the program.

use std::fmt::Write as _;

use clap::builder::Styles;
use clap::{Arg, Command};

use crate::failure::EXIT_CODES;

/// Commands that concern the program, not memory.
const OF_PROGRAM: [&str; 1] = ["setup"];
/// Commands that few people run by hand, which the overview only names.
const RARE: [&str; 21] = [
    "tag",
    "related",
    "diff",
    "redo",
    "snapshot",
    "unforget",
    "op",
    "commit",
    "expunge",
    "sessions",
    "today",
    "project",
    "backfill",
    "sync",
    "merge",
    "copy",
    "open",
    "tools",
    "hook",
    "demo",
    "completions",
];

/// Maximum width of the overview, in columns.
const COLUMNS: usize = 80;

/// Heading of the options of every command in the help of one command.
const GLOBAL_OPTIONS: &str = "Options of every command, all of them with `saddlebag --help`";

const AFTER_LONG_HELP: &str = "\
Errors go to standard error; with --json as {\"error\": {\"code\", \"message\", \"help\"}}.
SADDLEBAG_LOG=debug logs the steps to standard error, without content.";

/// Returns the example of a command, for the end of its help.
pub(crate) fn example(words: &str) -> String {
    format!("{}\n  saddlebag {words}", heading("Example"))
}

/// Returns the command line with an overview of its commands as its help.
pub(crate) fn with_overview(command: Command) -> Command {
    let global_options: Vec<Arg> = command.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    let template = format!(
        "{{about}}. {{usage-heading}} {{usage}}\n{}{}\n{{options}}{{after-help}}",
        overview(&command),
        heading("Options of every command, all of them with --help")
    );
    let command = command.mut_subcommands(|below| with_few_global_options(below, &global_options));
    let codes: String = EXIT_CODES.iter().map(|(exit, meaning)| format!("  {}  {meaning}\n", exit.number())).collect();
    command.help_template(template).after_long_help(format!("{}\n{codes}\n{AFTER_LONG_HELP}", heading("Exit codes")))
}

/// Returns a command whose help has only the most common options of every command. The help of the program has all.
fn with_few_global_options(command: Command, options: &[Arg]) -> Command {
    let is_rare = |option: &Arg| option.is_hide_short_help_set();
    let options = options.iter().map(|option| {
        let rare = is_rare(option);
        option.clone().hide_long_help(rare).help_heading(GLOBAL_OPTIONS)
    });
    let own = options.collect::<Vec<_>>();
    command.args(&own).mut_subcommands(|below| with_few_global_options(below, &own))
}

/// Returns the overview: the everyday commands, the nouns with their verbs, and the commands of the program.
fn overview(command: &Command) -> String {
    let (nouns, others): (Vec<_>, Vec<_>) = command.get_subcommands().partition(|command| command.has_subcommands());
    let everyday = others.iter().copied().filter(|command| !OF_PROGRAM.contains(&command.get_name()));
    let everyday: Vec<_> = everyday.filter(|command| !RARE.contains(&command.get_name())).collect();
    let program: Vec<_> = others.into_iter().filter(|command| OF_PROGRAM.contains(&command.get_name())).collect();
    let width = command.get_subcommands().map(|command| command.get_name().len()).max().unwrap_or_default();
    let verbs = |noun: &Command| noun.get_subcommands().map(Command::get_name).collect::<Vec<_>>().join(", ");
    let about = |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = String::new();
    let mut group = |title: &str, commands: &[&Command], explained: &dyn Fn(&Command) -> String| {
        let _ = writeln!(text, "{}", heading(title));
        for command in commands {
            let _ = writeln!(text, "  {:width$}  {}", command.get_name(), wrapped(&explained(command), width + 4));
        }
        text.push('\n');
    };
    group("Everyday commands (`help COMMAND` explains one, `help --all` lists all)", &everyday, &about);
    group("Nouns, each with its verbs", &nouns, &verbs);
    group("Program", &program, &about);
    text.truncate(text.trim_end().len());
    format!("{text}\n  {:width$}  {}\n\n", "others", wrapped(&RARE.join(", "), width + 4))
}

/// Returns every command with what it does, a line each.
pub(crate) fn all(line: &Command) -> String {
    let leaves = leaves(line, "");
    let width = leaves.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let rows = leaves.iter().map(|(name, about)| format!("  {name:width$}  {about}\n"));
    format!("{}\n{}", heading("Commands, each explained by `saddlebag help COMMAND`"), rows.collect::<String>())
}

/// Returns the name and the description of each command that has no commands below it.
fn leaves(command: &Command, before: &str) -> Vec<(String, String)> {
    let below = command.get_subcommands().flat_map(|below| {
        let name = format!("{before}{}", below.get_name());
        match below.has_subcommands() {
            true => leaves(below, &format!("{name} ")),
            false => vec![(name, below.get_about().map(ToString::to_string).unwrap_or_default())],
        }
    });
    below.collect()
}

/// Returns a heading in clap's style.
fn heading(title: &str) -> String {
    let style = Styles::default();
    let style = style.get_header();
    format!("{style}{title}:{style:#}")
}

/// Returns words wrapped into lines. Each line after the first is indented.
fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = String::new();
    let mut column = indent;
    for word in text.split(' ') {
        if column > indent && column + word.len() > COLUMNS {
            let _ = write!(lines, "\n{:indent$}", "");
            column = indent;
        } else if column > indent {
            lines.push(' ');
        }
        lines.push_str(word);
        column += word.len() + 1;
    }
    lines
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use crate::args::line;

    /// Maximum number of lines in the short help of a command.
    const SHORT_HELP_LINES: usize = 40;
    /// Maximum number of characters in the description of a command.
    const ABOUT_CHARS: usize = 70;

    fn every<'a>(command: &'a Command, names: &str) -> Vec<(String, &'a Command)> {
        let below = command.get_subcommands().filter(|command| command.get_name() != "help");
        let below = below.flat_map(|below| every(below, &format!("{names} {}", below.get_name())));
        std::iter::once((names.to_string(), command)).chain(below).collect()
    }

    #[test]
    fn the_help_names_every_command() {
        let mut line = line();
        let help = line.render_help().to_string();
        let words: Vec<&str> = help.split(|c: char| c.is_whitespace() || c == ',').collect();
        line.build();
        for (names, command) in every(&line, "saddlebag") {
            assert!(names == "saddlebag" || words.contains(&command.get_name()), "{names} is not in {help}");
        }
    }

    #[test]
    fn the_program_has_at_most_51_commands_and_lists_each() {
        let line = line();
        let all = super::all(&line);
        let names = super::leaves(&line, "");
        assert!(names.len() <= 51, "{}: {all}", names.len());
        assert!(names.iter().all(|(name, _)| all.contains(name.as_str())), "{all}");
    }

    #[test]
    fn a_short_help_fits_a_screen() {
        let mut line = line();
        line.build();
        let overview = line.render_help().to_string();
        assert!(overview.lines().all(|line| line.chars().count() <= super::COLUMNS), "{overview}");
        for (names, command) in every(&line, "saddlebag") {
            let help = command.clone().term_width(100).render_help().to_string();
            let lines = help.lines().count();
            assert!(lines <= SHORT_HELP_LINES, "{names} -h has {lines} lines:\n{help}");
        }
    }

    #[test]
    fn every_command_is_explained_in_one_line_with_one_example() {
        let mut line = line();
        line.build();
        for (names, command) in every(&line, "saddlebag") {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let length = about.chars().count();
            assert!((1..=ABOUT_CHARS).contains(&length), "{names}: {length} characters: {about}");
            if !command.has_subcommands() {
                let example = command.get_after_help().map(|text| text.to_string()).unwrap_or_default();
                assert_eq!(example.matches("saddlebag ").count(), 1, "{names}: {example}");
            }
        }
    }
}
