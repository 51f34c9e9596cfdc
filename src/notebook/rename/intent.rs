//! [`Intent`]: a rename that is written down before it begins, so that any process can finish it.
//!
//! The file is created under the precondition that it does not exist, so a notebook has one rename at a time. Its steps can be
//! repeated, by several processes at once, so nobody has to know if the process that began is still alive. Every text that a
//! process is about to write into the new file is recorded before, so that all processes know it for one of the rename.
//! The old file is removed last, and only after the intent records which text it had. Until then it exists, and a change of it
//! is an edit of the same note. The first line of the file is the rename; each step adds a line, which costs one sync.
//!
//! Others may have written the file, by mistake or on purpose. It must name notes of one folder of this notebook, and no text
//! is removed that the new file does not have as well.

use saddlebag_log::Writer;
use serde::{Deserialize, Serialize};

use crate::changes::{After, Call, Change};
use crate::engine::{Loaded, load};
use crate::notebook::checks::checked_title;
use crate::notebook::config::NotebookConfig;
use crate::notebook::files::{below_notebook, notebook_file};
use crate::store::{Layout, RelPath, is_identifier};
use crate::trust::{Provenance, sha256};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode, Precondition, Version};

/// Path of the intent, relative to the notebook.
const FILE: &str = ".saddlebag/rename.json";

/// Version of the file's format.
const FORMAT: u32 = 1;

/// Maximum size of the file in bytes.
const MAX_BYTES: u32 = 256 * 1024;

/// Maximum number of versions that the new file is to get.
const MAX_TAKES: usize = 1_024;

/// Time for which a changed old file is still taken for the note that is being renamed, after it may be removed, in seconds.
/// Later, it may be another note that was made under the old name after the rename had been interrupted.
const MAX_REMOVAL_SECONDS: u64 = 60;

/// Maximum length of the name of a writer in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Maximum number of attempts at one step while others change the intent.
const MAX_ATTEMPTS: u32 = 64;

/// A rename that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Intent {
    pub(super) from: RelPath,
    /// New path; equal to `from` if only the title changes.
    pub(super) to: RelPath,
    pub(super) old_title: String,
    pub(super) new_title: String,
    pub(super) aliases: Vec<String>,
    /// Digest of the first text that the new file is to be created with.
    pub(super) made: String,
    /// Operation that the changes are recorded under, whoever makes them; `None` if they are not recorded.
    pub(super) operation: Option<String>,
    /// Who asked for the rename, whoever finishes it; `None` if it is not recorded.
    pub(super) writer: Option<Writer>,
    /// Steps that were recorded since.
    pub(super) steps: Steps,
}

/// Record of a rename since it began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Steps {
    /// Digests of further versions that the new file was to get, because the old one was changed.
    pub(super) takes: Vec<String>,
    /// Digest of the old file's text when it is removed; `None` until it may be removed. The new file had this text.
    pub(super) removes: Option<String>,
    /// Time at which this was recorded, in seconds since 1970-01-01T00:00:00Z.
    pub(super) allowed_at: Option<i64>,
}

/// First line of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: u32,
    from: String,
    to: String,
    old_title: String,
    new_title: String,
    aliases: Vec<String>,
    made: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    operation: Option<String>,
    /// Provenance, agent, client, session and tool of the writer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    writer: Option<(String, Names)>,
}

/// Agent, client, session and tool.
type Names = [Option<String>; 4];

/// A further line of the file: a step.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
enum Step {
    /// The new file is to get a text with this digest.
    Takes(String),
    /// The old file may be removed if its text has this digest.
    Removes {
        text: String,
        /// Time in seconds since 1970-01-01T00:00:00Z.
        at: i64,
    },
}

impl Steps {
    fn add(&mut self, step: Step) {
        match step {
            Step::Takes(text) => self.takes.push(text),
            Step::Removes { text, at } => (self.removes, self.allowed_at) = (Some(text), Some(at)),
        }
    }
}

impl Intent {
    /// Writes the intent. Returns `false` if another rename is in progress.
    pub(super) async fn begin(&self, call: &Call) -> Result<bool, Error> {
        let begun = After::Whole(self.encode(call)?);
        call.apply(&Change::of_record(&file(call)?, Precondition::Absent, begun)?).await
    }

    /// Returns true if a rename is in progress.
    pub(super) async fn is_there(call: &Call) -> Result<bool, Error> {
        Ok(load(&call.fs, &file(call)?, MAX_BYTES).await? != Loaded::Absent)
    }

    /// Returns the rename in progress, with the version of its file.
    pub(super) async fn pending(call: &Call, config: &NotebookConfig) -> Result<Option<(Self, Version)>, Error> {
        let path = file(call)?;
        match load(&call.fs, &path, MAX_BYTES).await? {
            Loaded::Absent => Ok(None),
            Loaded::Whole { bytes, version } => {
                let intent = Self::decode(call, config, &bytes).ok_or_else(|| damaged(&path))?;
                Ok(Some((intent, version)))
            }
            Loaded::TooLarge(_) => Err(damaged(&path)),
        }
    }

    /// Returns the current step of this rename; `None` if it is no longer in progress.
    pub(super) async fn current(&self, call: &Call, config: &NotebookConfig) -> Result<Option<(Self, Version)>, Error> {
        let pending = Self::pending(call, config).await?;
        Ok(pending.filter(|(pending, _)| pending.is_same_rename(self)))
    }

    /// Returns true if a process of this rename has recorded the text for the new file.
    pub(super) fn has_recorded(&self, text: &str) -> bool {
        let digest = sha256(text);
        digest == self.made || self.steps.takes.contains(&digest)
    }

    /// Returns true if the old file is the note that is being renamed, whatever its text.
    pub(super) fn is_old_file(&self, call: &Call) -> bool {
        let Steps { removes, allowed_at, .. } = &self.steps;
        let age = |allowed: i64| call.now.timestamp().seconds.abs_diff(allowed);
        removes.is_none() || allowed_at.is_some_and(|allowed| age(allowed) <= MAX_REMOVAL_SECONDS)
    }

    /// Records the text before it is written into the new file. Returns false if others have finished the rename.
    pub(super) async fn record(&self, call: &Call, config: &NotebookConfig, text: &str) -> Result<bool, Error> {
        let step = Step::Takes(sha256(text));
        self.step(call, config, |current| current.has_recorded(text), &step).await
    }

    /// Records that the old file may be removed with this text, which the new file has. Returns false if others have
    /// finished the rename.
    pub(super) async fn allow_removal(&self, call: &Call, config: &NotebookConfig, text: &str) -> Result<bool, Error> {
        let step = Step::Removes { text: sha256(text), at: call.now.timestamp().seconds };
        let is_recorded = |current: &Self| current.steps.removes.as_ref() == Some(&sha256(text));
        self.step(call, config, |current| is_recorded(current) || !current.is_old_file(call), &step).await
    }

    /// Records a step, unless that is done. Returns false if others have finished the rename.
    async fn step(
        &self,
        call: &Call,
        config: &NotebookConfig,
        is_done: impl Fn(&Self) -> bool,
        step: &Step,
    ) -> Result<bool, Error> {
        let line = After::Added(serde_json::to_vec(step).map_err(not_encoded)?);
        for _ in 0..MAX_ATTEMPTS {
            let Some((current, version)) = self.current(call, config).await? else { return Ok(false) };
            if is_done(&current) {
                return Ok(true);
            }
            if current.steps.takes.len() >= MAX_TAKES {
                break;
            }
            let step = Change::of_record(&file(call)?, Precondition::Matches(version), line.clone())?;
            if call.apply(&step).await? {
                return Ok(true);
            }
        }
        Err(contention(call)?)
    }

    /// Removes the intent, unless others have removed it, or a later rename has begun.
    pub(super) async fn close(&self, call: &Call, config: &NotebookConfig) -> Result<(), Error> {
        for _ in 0..MAX_ATTEMPTS {
            let Some((_, version)) = self.current(call, config).await? else { return Ok(()) };
            // If it comes back, the next command finds the rename finished.
            let end = Change::of_record(&file(call)?, Precondition::Matches(version), After::Discarded)?;
            if call.apply(&end).await? {
                return Ok(());
            }
        }
        Err(contention(call)?)
    }

    /// Returns true if it is the same rename, at whatever step.
    pub(super) fn is_same_rename(&self, other: &Self) -> bool {
        let begun = |intent: &Self| Self { steps: Steps::default(), ..intent.clone() };
        begun(self) == begun(other)
    }

    fn encode(&self, call: &Call) -> Result<Vec<u8>, Error> {
        let written = Written {
            format: FORMAT,
            from: below_notebook(call, &self.from).to_string(),
            to: below_notebook(call, &self.to).to_string(),
            old_title: self.old_title.clone(),
            new_title: self.new_title.clone(),
            aliases: self.aliases.clone(),
            made: self.made.clone(),
            operation: self.operation.clone(),
            writer: self.writer.clone().map(|Writer { provenance, agent, client, session, tool }| {
                (provenance, [agent, client, session, tool])
            }),
        };
        let bytes = serde_json::to_vec(&written).map_err(not_encoded)?;
        if bytes.len() > MAX_BYTES as usize {
            let path = &self.from;
            return Err(Error::file_too_large(path, bytes.len() as u64, u64::from(MAX_BYTES)));
        }
        Ok(bytes)
    }

    fn decode(call: &Call, config: &NotebookConfig, bytes: &[u8]) -> Option<Self> {
        let mut lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let written: Written = serde_json::from_slice(lines.next()?).ok()?;
        let mut steps = Steps::default();
        for line in lines {
            steps.add(serde_json::from_slice(line).ok()?);
        }
        let is_digest = |text: &String| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_title = checked_title(&written.new_title).is_ok_and(|title| title == written.new_title);
        let is_operation = written.operation.iter().all(|name| is_identifier(name));
        let is_name = |name: &String| name.len() <= MAX_NAME_BYTES && !name.chars().any(char::is_control);
        let is_writer = written
            .writer
            .iter()
            .all(|(provenance, names)| provenance.parse::<Provenance>().is_ok() && names.iter().flatten().all(is_name));
        if written.format != FORMAT || !is_title || !is_digest(&written.made) || !is_operation || !is_writer {
            return None;
        }
        if steps.takes.len() > MAX_TAKES || steps.takes.iter().chain(&steps.removes).any(|digest| !is_digest(digest)) {
            return None;
        }
        let (from, to) = (note_path(call, config, &written.from)?, note_path(call, config, &written.to)?);
        let Written { old_title, new_title, aliases, made, operation, writer, .. } = written;
        let writer = writer.map(|(provenance, [agent, client, session, tool])| Writer {
            provenance,
            agent,
            client,
            session,
            tool,
        });
        Some(Self { from, to, old_title, new_title, aliases, made, operation, writer, steps })
    }
}

/// Returns the path of a note of this notebook.
fn note_path(call: &Call, config: &NotebookConfig, below: &str) -> Option<RelPath> {
    let path = notebook_file(call, below).ok().filter(|_| config.is_indexed(below))?;
    let mut folder = path.parent();
    while let Some(inner) = folder {
        if Some(&inner) == call.scope.layout.project_folder() {
            break;
        }
        if Layout::is_other_memory(&inner) {
            return None;
        }
        folder = inner.parent();
    }
    Some(path)
}

fn file(call: &Call) -> Result<RelPath, Error> {
    notebook_file(call, FILE)
}

fn not_encoded(error: serde_json::Error) -> Error {
    Error::new(ErrorCode::Internal, format!("the rename cannot be recorded: {error}"), "")
}

fn damaged(path: &RelPath) -> Error {
    let message = format!("{path} is not a rename of this notebook");
    let help = "look at the file and remove it";
    Error::damaged_file(message, help)
}

fn contention(call: &Call) -> Result<Error, Error> {
    let message = format!("{}: changed by others {MAX_ATTEMPTS} times in a row", file(call)?);
    Ok(Error::new(ErrorCode::Contention, message, "the next command that changes the notebook finishes the rename"))
}
