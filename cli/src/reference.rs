//! Writes `docs/commands.md` from the command line, and checks that every subcommand has golden files.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Arg, Command};
use saddlebag::protocol::ErrorCode;
use saddlebag_tests_shared::generated::Kind;

use crate::args::line;
use crate::failure::{Code, EXIT_CODES, Exit, ProgramCode};

const INTRODUCTION: &str = "\
# Commands of the program

<!-- Made from the command line. `SADDLEBAG_REWRITE=docs cargo test --bin saddlebag reference::` writes it again. -->

[install.md](install.md#store-output-and-compiled-code) says how the program finds its store and its project, what it
prints, and where its compiled code is. `saddlebag help COMMAND` prints the options of one command. The rules of the commands:
[notebook.md](notebook.md), [entries.md](entries.md), [recall.md](recall.md), [context.md](context.md) for the block, the
preamble and AGENTS.md, [exchange.md](exchange.md) for other agents' files, [trust.md](trust.md) for provenance, approval
and secrets, [mcp.md](mcp.md) for the server and the tools of models.
";

#[test]
#[cfg_attr(not(feature = "server"), ignore = "without the feature `server` a command is missing")]
fn the_reference_of_the_commands_is_that_of_the_command_line() {
    let checked = Kind::Docs.check(&project().join("docs/commands.md"), &reference(&command()));
    checked.unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn every_subcommand_has_a_golden_file() {
    let mut kept = BTreeSet::new();
    for entry in fs::read_dir(project().join("cli/tests/golden/json")).expect("the folder of golden files") {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("text");
        let file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        kept.insert(file["command"].as_str().expect("a command").to_string());
    }
    let command = command();
    let missing: Vec<String> =
        verbs(&command, "").into_iter().map(|(verb, _)| verb).filter(|verb| !kept.contains(verb)).collect();
    assert!(missing.is_empty(), "no golden file of {missing:?}: add cases to cli/tests/program/golden/cases.rs");
}

/// Returns the folder of the workspace.
fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the command line of a program with all features.
fn command() -> Command {
    let mut command = line();
    if cfg!(not(feature = "component")) {
        let all = ["component", "native"];
        command = command.mut_arg("engine", |engine| engine.value_parser(all).default_value("component"));
    }
    command.build();
    command
}

/// Returns the subcommands that do something, each with its words.
fn verbs<'a>(command: &'a Command, above: &str) -> Vec<(String, &'a Command)> {
    let subcommands = command.get_subcommands().filter(|command| command.get_name() != "help");
    let of = |command: &'a Command| {
        let name = format!("{above}{}", command.get_name());
        if command.has_subcommands() { verbs(command, &format!("{name} ")) } else { vec![(name, command)] }
    };
    subcommands.flat_map(of).collect()
}

fn reference(command: &Command) -> String {
    let mut page = format!("{INTRODUCTION}\n| Command | What it does |\n|---|---|\n");
    let verbs = verbs(command, "");
    for (verb, command) in &verbs {
        let _ = writeln!(page, "| [`{verb}`](#{}) | {} |", verb.replace(' ', "-"), about(command).replace('|', "\\|"));
    }
    page.push_str("\n## Exit codes\n\n| Exit code | Meaning | `code` of the error |\n|---|---|---|\n");
    for (exit, meaning) in EXIT_CODES {
        let _ = writeln!(page, "| {} | {meaning} | {} |", exit.number(), codes_of(exit));
    }
    page.push_str("\n## Options of every command\n\n");
    let mut of_every: Vec<&Arg> = command.get_arguments().filter(|arg| arg.is_global_set()).collect();
    of_every.sort_by_key(|arg| arg.get_id().as_str());
    of_every.into_iter().for_each(|arg| item(&mut page, arg));
    for (verb, command) in verbs {
        section(&mut page, &verb, command);
    }
    page
}

/// Returns the codes of the failures that end with an exit code.
fn codes_of(exit: Exit) -> String {
    if exit == Exit::Failed {
        return "Every other code".into();
    }
    let (memory, program) = (ErrorCode::ALL.map(Code::from), ProgramCode::ALL.map(Code::from));
    let codes = memory.into_iter().chain(program).filter(|code| code.exit() == exit);
    codes.map(|code| format!("`{}`", code.as_str())).collect::<Vec<_>>().join(", ")
}

fn section(page: &mut String, verb: &str, command: &Command) {
    let usage = command.clone().render_usage().to_string();
    let example = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let example = example.trim_start_matches("Example:").trim();
    let usage = usage.trim_start_matches("Usage: ");
    let _ = write!(page, "\n## {verb}\n\n{}.\n\n```text\n{usage}\n```\n\nExample: `{example}`\n", about(command));
    let aliases: Vec<String> = command.get_all_aliases().map(|alias| format!("`{alias}`")).collect();
    if !aliases.is_empty() {
        let _ = write!(page, "\nAlso: {}.\n", aliases.join(", "));
    }
    let own: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_global_set() && arg.get_id() != "help").collect();
    if !own.is_empty() {
        page.push('\n');
        own.into_iter().for_each(|arg| item(page, arg));
    }
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// Appends an argument or an option: its form, its meaning, its values and its default.
fn item(page: &mut String, arg: &Arg) {
    let short = arg.get_short().filter(|_| arg.get_long().is_some()).map(|c| format!("`-{c}`, ")).unwrap_or_default();
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let help = help.replace("\n\n", ". ").replace('\n', " ");
    let _ = write!(page, "- {short}`{arg}`: {}.", help.trim_end_matches('.'));
    if let Some(variable) = arg.get_env() {
        let _ = write!(page, " Also `{}`.", variable.to_string_lossy());
    }
    let takes_values = arg.get_num_args().is_some_and(|range| range.takes_values());
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    if takes_values && !defaults.is_empty() {
        let _ = write!(page, " Default: {}.", defaults.join(", "));
    }
    page.push('\n');
    if takes_values {
        for value in arg.get_possible_values().iter().filter(|value| !value.is_hide_set()) {
            let help = value.get_help().map(|help| format!(": {help}")).unwrap_or_default();
            let _ = writeln!(page, "  - `{}`{help}", value.get_name());
        }
    }
}
