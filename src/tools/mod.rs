//! The tools that a model is given: [`tools`] describes them, a [`CallTool`] runs one.
//!
//! One table says what a tool is called, what its arguments are and what it answers. The JSON Schemas and the
//! check of what a model sends are both made of it, so neither can promise what the other refuses. Behind the
//! check, a tool is the command of its family and no more.
//!
//! ```
//! use saddlebag::tools::{DEFAULT_SETS, tools};
//!
//! let names: Vec<String> = tools(&DEFAULT_SETS).into_iter().map(|tool| tool.name).collect();
//! assert_eq!(names.first().map(String::as_str), Some("memory_write"));
//! ```
//!
//! # How do tools work?
//!
//! docs/tools.md has the rules. A tool is a row of `TABLE`: name, description, fields of its arguments and of its
//! answer, effect. `tools` makes schemas and annotations of the rows; `Arguments::parse` holds what a model sends against
//! the same row. Then a tool is its family's command: `command` maps the arguments to it, the family runs it, `answer` maps
//! the reply to text and structure. No rule of memory is in this room.
//!
//! `memory` has no command of its own to stand on, as its words and its paths are Anthropic's. A path is parsed
//! (`MemoryPath`), then located: long-term memory, the scope's own Markdown, the entries, or `memories/` of the scope for
//! whatever a model makes besides. Files are changed by `engine::update`, as by every family; entries by
//! `entries/files.rs`, which reads the edited text as an entry again and stores it under the version that was shown.

mod answer;
mod anthropic;
mod arguments;
mod entries;
mod journal;
mod json;
mod notebook;
mod schema;
mod table;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use atomic_refcell::AtomicRefCell;
use saddlebag_words::words;

pub use answer::MAX_ANSWER_BYTES;
pub use arguments::MAX_ARGUMENT_BYTES;

use crate::engine::Call;
use crate::entries::Entries;
use crate::journal::{JournalCall, List};
use crate::notebook::{Notebook, NotebookCall};
use crate::protocol::{Error, ErrorCode};
use crate::request::{Effect, Request, Run};
use crate::search::Corpus;
use crate::trust::{ForModel, add_flags, for_model};
use answer::Answer;
use arguments::Arguments;
use table::{Spec, TABLE};

/// Tools that are switched on together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolSet {
    /// `memory_write`, `memory_read`, `memory_edit`, `memory_search`.
    Journal,
    /// `memory_store`, `memory_recall`, `memory_list`, `memory_forget`. They need a memory that keeps entries.
    Entries,
    /// `notebook_remember`, `notebook_recall`, `notebook_journal`, `notebook_link`, `notebook_related`.
    Notebook,
    /// `memory`, the memory tool of Anthropic's API (`memory_20250818`) over the files of the scope.
    Anthropic,
}

/// What is on unless a host says otherwise. Anthropic's tool is not among them: it shows the same files again,
/// and a model that has it is told by the API to look into it first.
pub const DEFAULT_SETS: [ToolSet; 3] = [ToolSet::Journal, ToolSet::Entries, ToolSet::Notebook];

words!(ToolSet, "set of tools" {
    Journal = "journal",
    Entries = "entries",
    Notebook = "notebook",
    Anthropic = "anthropic",
});

/// The words in which `memory` answers. Models know both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Those of the API's documentation.
    #[default]
    Docs,
    /// Those of the SDK's own implementation.
    Sdk,
}

words!(Dialect, "dialect" { Docs = "docs", Sdk = "sdk" });

/// A tool, as a model is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does, and when to use it rather than another.
    pub description: String,
    /// What its arguments are: a JSON Schema, as JSON.
    pub input_schema: String,
    /// What [`ToolAnswer::structured`] is, likewise; `None` for a tool that answers in text alone.
    pub output_schema: Option<String>,
    /// The set that it belongs to.
    pub set: ToolSet,
    /// It changes nothing.
    pub read_only: bool,
    /// It may replace or remove what is there.
    pub destructive: bool,
    /// Called again with the same arguments, it changes nothing further.
    pub idempotent: bool,
}

/// Runs a tool for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTool {
    /// The tool.
    pub name: String,
    /// Its arguments: a JSON object of at most [`MAX_ARGUMENT_BYTES`].
    pub arguments: String,
    /// The sets that are on: a tool of another one is not there.
    pub sets: Vec<ToolSet>,
    /// The words in which `memory` answers.
    pub dialect: Dialect,
}

impl Request for CallTool {
    type Reply = ToolAnswer;
    const NAME: &'static str = "call-tool";
    const EFFECT: Effect = Effect::Removes;

    fn samples(name: &str) -> Vec<Self> {
        let call = |spec: &Spec| Self {
            name: spec.name.to_string(),
            arguments: table::sample_arguments(spec.id, name),
            sets: ToolSet::ALL.to_vec(),
            dialect: Dialect::Docs,
        };
        TABLE.iter().map(call).collect()
    }
}

/// What a tool answers. Every failure of a tool is an answer, which a model can act on.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "AnswerView")]
pub struct ToolAnswer {
    /// For the model.
    pub text: ForModel,
    /// The same for programs, as a JSON object; `None` where there is nothing but the text.
    pub structured: Option<String>,
    /// The text says what went wrong, and what to do.
    pub is_error: bool,
}

/// The JSON of a [`ToolAnswer`].
#[derive(serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct AnswerView {
    /// For the model.
    text: ForModel,
    /// The same for programs; `null` where there is nothing but the text.
    structured: Option<serde_json::Value>,
    /// The text says what went wrong, and what to do.
    is_error: bool,
}

impl From<ToolAnswer> for AnswerView {
    fn from(ToolAnswer { text, structured, is_error }: ToolAnswer) -> Self {
        let structured = structured.and_then(|object| serde_json::from_str(&object).ok());
        Self { text, structured, is_error }
    }
}

/// The tools of these sets, in the order of [`ToolSet::ALL`].
#[must_use]
pub fn tools(sets: &[ToolSet]) -> Vec<Tool> {
    TABLE.iter().filter(|spec| sets.contains(&spec.set)).map(Spec::tool).collect()
}

/// What the commands of the families share.
#[derive(Clone, Copy)]
pub(crate) struct Families<'a> {
    pub(crate) corpus: &'a Arc<AtomicRefCell<Corpus>>,
    pub(crate) notebook: &'a Arc<Notebook>,
    pub(crate) entries: &'a Entries,
}

/// Runs a tool.
pub(crate) async fn run(call: &Call, families: Families<'_>, given: &CallTool) -> ToolAnswer {
    match answer(call, families, given).await {
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
        Err(error) => ToolAnswer { text: for_model(&told(&error)).0, structured: None, is_error: true },
    }
}

/// An error as a model reads it.
fn told(error: &Error) -> String {
    if error.help.is_empty() { error.message.clone() } else { format!("{}\n{}", error.message, error.help) }
}

async fn answer(call: &Call, families: Families<'_>, given: &CallTool) -> Result<Answer, Error> {
    let spec = TABLE.iter().find(|spec| spec.name == given.name && given.sets.contains(&spec.set));
    let spec = spec.ok_or_else(|| unknown(given))?;
    let arguments = Arguments::parse(spec, &given.arguments)?;
    match spec.set {
        ToolSet::Journal => {
            let command = journal::command(spec, &arguments)?;
            let command = crate::notebook::locate_page(call, families.notebook, command).await?;
            let with = JournalCall { call, corpus: families.corpus };
            let reply = command.run(&with).await?;
            if let Some(name) = journal::missing_note(&arguments, &reply) {
                return Err(journal::no_note(name, &List.run(&with).await?));
            }
            let mut answer = journal::answer(&arguments, reply)?;
            if let Some(note) = journal::shared_memory(call, &arguments) {
                answer.text.push_str(&note);
            }
            Ok(answer)
        }
        ToolSet::Entries => {
            let command = entries::command(spec, &arguments)?;
            let reply = crate::entries::run(call, families.entries, command).await?;
            entries::answer(&arguments, reply)
        }
        ToolSet::Notebook => {
            let command = notebook::command(spec, &arguments)?;
            let reply = command.run(&NotebookCall { call, notebook: families.notebook }).await?;
            notebook::answer(&arguments, reply)
        }
        ToolSet::Anthropic => {
            let text = anthropic::run(call, families.entries, given.dialect, &arguments).await?;
            Ok(Answer { text, structured: None, flags: Vec::new() })
        }
    }
}

fn unknown(given: &CallTool) -> Error {
    let name: String = given.name.chars().take(64).flat_map(char::escape_debug).collect();
    let names: Vec<&str> = TABLE.iter().filter(|spec| given.sets.contains(&spec.set)).map(|spec| spec.name).collect();
    let help =
        if names.is_empty() { "no set of tools is on".to_string() } else { format!("one of {}", names.join(", ")) };
    Error::new(ErrorCode::NotFound, format!("unknown tool: {name}"), help)
}
