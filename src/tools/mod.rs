//! The tools of a model: [`tools`] describes them, a [`CallTool`] runs one.
//!
//! One table holds the name, the arguments and the answer of each tool. Both the JSON Schemas and the check of a model's
//! arguments follow from it, so they cannot disagree. After the check, a tool is a command of its family.
//!
//! ```
//! use saddlebag::tools::{DEFAULT_SETS, tools};
//!
//! let names: Vec<String> = tools(DEFAULT_SETS).into_iter().map(|tool| tool.name).collect();
//! assert_eq!(names.first().map(String::as_str), Some("mem_recall"));
//! ```
//!
//! # How do tools work?
//!
//! docs/mcp.md has the rules. A tool is a row of `TABLE`: name, description, fields of its arguments and of its
//! answer, effect. `tools` turns the rows into schemas and annotations; `Arguments::parse` checks what a model sends against
//! the same row. `command` maps the arguments to a command of the family, the family runs it, and `answer` maps the reply to
//! text and structure. This room has no rules of memory.
//!
//! `memory` maps to no single command, because its words and paths are Anthropic's. A path is parsed (`MemoryPath`) and then
//! located: long-term memory, the scope's own Markdown, the entries, or `memories/` of the scope for all other files that a
//! model creates. Files are changed by `Call::update`, as in every family. Entries are changed by `entries/files.rs`, which
//! parses the edited text as an entry and stores it if the entry still has the version that was shown.

mod answer;
mod anthropic;
mod arguments;
mod entries;
mod everyday;
mod journal;
mod json;
mod notebook;
mod prompt;
mod schema;
mod spec;
mod table;
mod types;

pub use answer::MAX_ANSWER_BYTES;
pub use arguments::MAX_ARGUMENT_BYTES;
pub use prompt::memory_prompt;
pub use types::{CallTool, DEFAULT_SETS, Dialect, Tool, ToolAnswer, ToolOptions, ToolSet};

use crate::family::family;
use crate::items::answer_recall;
use crate::journal::{FileState, JournalCall, TargetRole, edit_file};
use crate::request::{Effect, Run, request};
use crate::trust::{add_flags, for_model};
use answer::Answer;
use arguments::Arguments;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode, help_after};
use spec::{Id, Spec};
use table::EVERYDAY_PREFIX;
pub(crate) use types::ToolsCall;

request!(CallTool "call" => ToolAnswer, Removes, |name| {
    let call = |spec: &Spec| Self {
        tool: spec.name.to_string(),
        input: table::sample_arguments(spec.id, name),
        options: ToolOptions::default(),
    };
    table::rows(&ToolSet::ALL).map(call).collect()
});

/// Returns the tools of these sets, in the order of [`ToolSet::ALL`].
pub fn tools(sets: &[ToolSet]) -> Vec<Tool> {
    table::rows(sets).map(shown).collect()
}

fn shown(spec: &Spec) -> Tool {
    Tool {
        name: spec.name.into(),
        description: spec.description.into(),
        input_schema: schema::of(spec.fields, true),
        output_schema: (!spec.answer.is_empty()).then(|| schema::of(spec.answer, false)),
        set: spec.set,
        read_only: spec.effect == Effect::Reads,
        destructive: spec.effect >= Effect::Replaces,
        idempotent: table::is_idempotent(spec),
    }
}

family! {
    "tools", run with ToolsCall<'_>;
    /// A command about tools.
    ToolsCommand =>
    /// Reply of a [`ToolsCommand`].
    ToolsReply {
        CallTool { tool, input: parts "input", options },
    }
}

impl Run<ToolsCall<'_>> for CallTool {
    async fn run(self, with: &ToolsCall<'_>) -> Result<ToolAnswer, Error> {
        Ok(run(with, &self).await)
    }
}

/// Runs a tool.
async fn run(with: &ToolsCall<'_>, given: &CallTool) -> ToolAnswer {
    match answer(with, given).await {
        Ok(Answer { text, structured, mut flags }) => {
            let (mut text, found) = for_model(&text);
            add_flags(&mut flags, found);
            if !flags.is_empty() {
                let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
                text.push_ours("\n(made harmless above: ");
                text.push_escaped(&flags.join(", "));
                text.push_ours(")");
            }
            ToolAnswer { text, structured, is_error: false }
        }
        Err(error) => {
            let error = error.for_model();
            let spec = table::rows(&given.options.sets).find(|spec| spec.name == given.tool);
            // The tool of Anthropic answers in recorded words, which say nothing about changes.
            let may_change = spec.is_some_and(|spec| spec.effect != Effect::Reads && spec.set != ToolSet::Anthropic);
            let help = help_after(&of_tools(&error.help, &given.options.sets), may_change, with.call.fs.has_changed());
            let text = [error.message.as_str(), &help].join("\n");
            ToolAnswer { text: for_model(text.trim_end()).0, structured: None, is_error: true }
        }
    }
}

async fn answer(with: &ToolsCall<'_>, given: &CallTool) -> Result<Answer, Error> {
    let ToolsCall { call, corpus, entries, .. } = *with;
    let spec = table::rows(&given.options.sets).find(|spec| spec.name == given.tool);
    let spec = spec.ok_or_else(|| unknown(given))?;
    let arguments = Arguments::parse(spec, &given.input)?;
    match spec.set {
        ToolSet::Everyday => everyday::run(with, spec, &arguments).await,
        ToolSet::Journal
            if spec.id == Id::Read
                && let Some(target) = journal::source(spec, &arguments)? =>
        {
            let part = everyday::part(with, target.to_string(), arguments.start()?).await?;
            if part.state == FileState::Missing
                && let Some(name) = arguments.text("name").filter(|_| arguments.text("source") == Some("note"))
            {
                return Err(journal::no_note(name, &crate::journal::list(call).await?));
            }
            Ok(journal::read(call, &part))
        }
        ToolSet::Journal if spec.id == Id::Read => {
            Ok(journal::listed(&crate::journal::list(call).await?, arguments.start()?))
        }
        ToolSet::Journal if spec.id == Id::Edit => {
            let change = journal::change(&arguments)?;
            let target = journal::target(spec, &arguments, &arguments.needed("target")?, TargetRole::Target)?;
            let path = everyday::path(with, &target).await?;
            Ok(journal::edited(&edit_file(call, &path, Some(&target), change).await?))
        }
        ToolSet::Journal if spec.id == Id::Write => {
            Ok(journal::written(&crate::journal::write(call, journal::write(spec, &arguments)?).await?))
        }
        ToolSet::Journal => {
            let results = journal::search(&arguments)?.run(&JournalCall { call, corpus }).await?;
            Ok(journal::found(&arguments.needed("query")?, results, arguments.start()?))
        }
        ToolSet::Entries => self::entries::run(with, spec, &arguments).await,
        ToolSet::Notebook if spec.id == Id::RecallNotes => {
            let reply = answer_recall(with.stores(), self::notebook::question(&arguments)?).await?;
            Ok(self::notebook::recalled(&reply, &arguments.needed("query")?, arguments.start()?))
        }
        ToolSet::Notebook => self::notebook::run(with, spec, &arguments).await,
        ToolSet::Anthropic => {
            let text = anthropic::run(call, entries, given.options.dialect, &arguments).await?;
            Ok(Answer { text, structured: None, flags: Vec::new() })
        }
    }
}

/// First words of commands of the program that the help of an error names.
const COMMANDS: [&str; 14] = [
    "forget", "history", "list", "log", "memory", "op", "recall", "redo", "remember", "restore", "show", "undo",
    "unforget", "write",
];

/// Replaces the commands of the program in a help text by the tools that do the same. With the everyday tools, a clause with a
/// command that has no tool is left out, unless it says that a person runs it.
fn of_tools(help: &str, sets: &[ToolSet]) -> String {
    let is_there = |name: &str| table::rows(sets).any(|spec| spec.name == name);
    let verb = |command: &str| String::from(command.split(' ').next().unwrap_or_default());
    let tool_of = |command: &str| {
        let named = format!("{EVERYDAY_PREFIX}{}", verb(command));
        match command {
            _ if is_there(&named) && !command.contains(" --") => Some(named),
            "history" | "op log" => Some(format!("{EVERYDAY_PREFIX}list")).filter(|tool| is_there(tool)),
            _ => None,
        }
    };
    let is_for_person = |clause: &str| {
        let commands = clause.split('`').skip(1).step_by(2);
        let mut commands = commands.filter(|part| COMMANDS.contains(&verb(part).as_str()));
        !clause.contains("person") && commands.any(|command| tool_of(command).is_none())
    };
    let help = match sets.contains(&ToolSet::Everyday) {
        true => {
            let clauses = help.split("; ").flat_map(|clause| clause.split(", or "));
            let (left_out, kept): (Vec<&str>, Vec<&str>) = clauses.partition(|clause| is_for_person(clause));
            match (left_out.is_empty(), kept.is_empty()) {
                (true, _) => help.to_string(),
                (false, true) => "ask a person".to_string(),
                (false, false) => format!("{}; a person can do more", kept.join("; ")),
            }
        }
        false => help.to_string(),
    };
    let parts = help.split('`').enumerate().map(|(number, part)| match number % 2 == 1 {
        true => tool_of(part).unwrap_or_else(|| part.to_string()),
        false => part.to_string(),
    });
    parts.collect::<Vec<String>>().join("`")
}

fn unknown(given: &CallTool) -> Error {
    let name: String = given.tool.chars().take(64).flat_map(char::escape_debug).collect();
    let names: Vec<&str> = table::rows(&given.options.sets).map(|spec| spec.name).collect();
    let help =
        if names.is_empty() { "no set of tools is on".to_string() } else { format!("one of {}", names.join(", ")) };
    Error::new(ErrorCode::NotFound, format!("unknown tool: {name}"), help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_of_an_error_names_tools_in_place_of_commands() {
        let help = "`list` lists all; `memory approve` is for a person; keep it with `remember`";
        let told = "`mem_list` lists all; `memory approve` is for a person; keep it with `mem_remember`";
        assert_eq!(of_tools(help, &[ToolSet::Everyday]), told);
        assert_eq!(of_tools(help, &[ToolSet::Journal]), help);
        let versions =
            "`op log` lists all; `history NAME` lists the versions; a person may use `undo --skip-conflicts`";
        let told = "`mem_list` lists all; a person may use `undo --skip-conflicts`; a person can do more";
        assert_eq!(of_tools(versions, &[ToolSet::Everyday]), told);
        let conflict = "undo the later change first, or restore a version of the file with `restore NAME --at N`, or leave \
                        the operation as it is with `undo --skip-conflicts`";
        assert_eq!(of_tools(conflict, &[ToolSet::Everyday]), "undo the later change first; a person can do more");
        assert_eq!(of_tools("`restore` puts it back", &[ToolSet::Everyday]), "ask a person");
        assert_eq!(
            of_tools("give `old_str`, or leave it out", &[ToolSet::Everyday]),
            "give `old_str`, or leave it out"
        );
        assert_eq!(of_tools("an odd ` quote", &[ToolSet::Everyday]), "an odd ` quote");
    }
}
