//! Types of the tools: sets, descriptions, calls and answers.

use atomic_refcell::AtomicRefCell;

use saddlebag_collections::{prelude::*, words};

use crate::changes::Call;
use crate::entries::Entries;
use crate::items::{FileListing, ItemsCall};
use crate::names::Stores;
use crate::notebook::Notebook;
use crate::origin::Origin;
use crate::search::Corpus;
use crate::trust::ForModel;

/// A set of tools, switched on as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolSet {
    /// `mem_recall`, `mem_show`, `mem_remember`, `mem_edit`, `mem_forget`, `mem_log`, `mem_link`, `mem_related`, `mem_list`: the whole
    /// memory, in which any name means any item.
    Everyday,
    /// `memory_write`, `memory_read`, `memory_edit`, `memory_search`.
    Journal,
    /// `memory_store`, `memory_recall`, `memory_list`, `memory_forget`. They need a memory that keeps entries.
    Entries,
    /// `notebook_remember`, `notebook_recall`, `notebook_journal`, `notebook_link`, `notebook_related`.
    Notebook,
    /// `memory`, the memory tool of Anthropic's API (`memory_20250818`) over the files of the scope.
    Anthropic,
}

/// Default sets. The others show the same memory a second time, in the words of the systems that they come from.
pub const DEFAULT_SETS: &[ToolSet] = &[ToolSet::Everyday];

words!(ToolSet, "set of tools" {
    Everyday = "everyday",
    Journal = "journal",
    Entries = "entries",
    Notebook = "notebook",
    Anthropic = "anthropic",
});

/// Wording of the answers of `memory`. Models know both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Wording of the API's documentation.
    #[default]
    Docs,
    /// Wording of the SDK's implementation.
    Sdk,
}

words!(Dialect, "dialect" { Docs = "docs", Sdk = "sdk" });

/// A tool, as it is described to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Name of the tool.
    pub name: String,
    /// Purpose of the tool, and when to use it.
    pub description: String,
    /// JSON Schema of the arguments, as JSON.
    pub input_schema: String,
    /// JSON Schema of [`ToolAnswer::structured`], as JSON; `None` for a tool that answers in text only.
    pub output_schema: Option<String>,
    /// Set that the tool belongs to.
    pub set: ToolSet,
    /// True if the tool changes nothing.
    pub read_only: bool,
    /// True if the tool may replace or remove existing text.
    pub destructive: bool,
    /// True if a second call with the same arguments changes nothing.
    pub idempotent: bool,
}

/// Runs a tool for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTool {
    /// Name of the tool.
    pub tool: String,
    /// Arguments: a JSON object of at most [`MAX_ARGUMENT_BYTES`](super::MAX_ARGUMENT_BYTES).
    pub input: String,
    /// Enabled sets, and the dialect.
    pub options: ToolOptions,
}

/// Options of a [`CallTool`]. By default every set is enabled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOptions {
    /// Sets that are switched on. A tool of any other set is unknown.
    pub sets: Vec<ToolSet>,
    /// Wording of the answers of `memory`.
    pub dialect: Dialect,
}

impl Default for ToolOptions {
    fn default() -> Self {
        Self { sets: ToolSet::ALL.to_vec(), dialect: Dialect::default() }
    }
}

/// Answer of a tool. A failure is also an answer, so that the model can act on it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "AnswerView")]
pub struct ToolAnswer {
    /// Text for the model.
    pub text: ForModel,
    /// Same answer for programs, as a JSON object; `None` if the answer is only text.
    pub structured: Option<ForModel>,
    /// True if the call failed; the text says why and what to do.
    pub is_error: bool,
}

/// JSON form of a [`ToolAnswer`].
#[derive(serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct AnswerView {
    /// Text for the model.
    text: ForModel,
    /// Same answer for programs; `null` if the answer is only text.
    structured: Option<serde_json::Value>,
    /// True if the call failed; the text says why and what to do.
    is_error: bool,
}

impl From<ToolAnswer> for AnswerView {
    fn from(ToolAnswer { text, structured, is_error }: ToolAnswer) -> Self {
        let structured = structured.and_then(|object| {
            let parsed = serde_json::from_str(object.as_str());
            debug_assert!(parsed.is_ok(), "the structured answer of a tool is not JSON: {object}");
            parsed.ok()
        });
        Self { text, structured, is_error }
    }
}

/// Parts of a memory that a tool needs: the parts of the families.
#[derive(Clone, Copy)]
pub(crate) struct ToolsCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) origin: &'a Origin,
    pub(crate) corpus: &'a Arc<AtomicRefCell<Corpus>>,
    pub(crate) notebook: &'a Arc<Notebook>,
    pub(crate) entries: &'a Entries,
    pub(crate) listing: &'a AtomicRefCell<Option<FileListing>>,
}

impl<'a> ToolsCall<'a> {
    pub(super) const fn stores(&self) -> Stores<'a> {
        let Self { call, notebook, entries, .. } = *self;
        Stores { call, notebook, entries }
    }

    pub(super) const fn items(&self, origin: &'a Origin) -> ItemsCall<'a> {
        ItemsCall { stores: self.stores(), origin, listing: self.listing }
    }
}
