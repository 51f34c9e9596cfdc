//! Tools, their sets and their answers, as hosts know them.

use alloc::string::String;
use alloc::vec::Vec;

use saddlebag_words::words;

use crate::trust::ForModel;

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

impl ToolSet {
    /// Returns true if the family of the set is enabled. A set that is not enabled has no tools.
    #[must_use]
    pub const fn is_enabled(self) -> bool {
        match self {
            Self::Journal => cfg!(feature = "journal"),
            Self::Entries => cfg!(feature = "entries"),
            Self::Notebook | Self::Anthropic => cfg!(feature = "notebook"),
        }
    }
}

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
    /// Its input: a JSON object of at most [`MAX_ARGUMENT_BYTES`](super::MAX_ARGUMENT_BYTES).
    pub input: String,
    /// The sets that are on: a tool of another one is not there.
    pub sets: Vec<ToolSet>,
    /// The words in which `memory` answers.
    pub dialect: Dialect,
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
        let structured = structured.and_then(|object| {
            let parsed = serde_json::from_str(&object);
            debug_assert!(parsed.is_ok(), "the structured answer of a tool is not JSON: {object}");
            parsed.ok()
        });
        Self { text, structured, is_error }
    }
}
