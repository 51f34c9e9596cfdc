//! `begin-session`: builds the block for the start of a session.

use alloc::string::String;
use alloc::vec::Vec;

use saddlebag_collections::words;

use super::end::note_sessions_without_an_end;
use super::hand_off::hand_off;
use super::state::{Event, Line, note_name, others, record, sweep};
use super::types::{SessionCall, SessionName};
use crate::context::{
    BlockForm, Context, ContextEntries, ContextReply, Flagged, LeftOut, LeftOutKind, Overflow, PromptCall,
    TurnMemories, session_block,
};
use crate::entries::HydrationPolicy;
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};
use crate::trust::ForModel;

/// Default size limit of the block in bytes.
pub const DEFAULT_SESSION_BYTES: u32 = 8_000;

/// Builds the block for the start of a session, and claims the last hand-off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeginSession {
    /// Name of the session.
    pub session: String,
    /// Reason why the session begins.
    pub source: BeginSource,
    /// Size limit of the whole block in bytes.
    pub max_bytes: u32,
    /// Form of the block; `None` is that for Claude.
    pub form: Option<BlockForm>,
}

/// Reason why a session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeginSource {
    /// A new session.
    Startup,
    /// An earlier session goes on.
    Resume,
    /// The conversation was cleared.
    Clear,
    /// The conversation was compacted.
    Compact,
    /// A copy of an earlier session.
    Fork,
}

words!(BeginSource, "reason why a session begins" {
    Startup = "startup",
    Resume = "resume",
    Clear = "clear",
    Compact = "compact",
    Fork = "fork",
});

impl BeginSource {
    /// Returns true if the model has lost what was shown before.
    fn loses_context(self) -> bool {
        matches!(self, Self::Clear | Self::Compact)
    }

    /// Returns true if the session may claim the hand-off of another.
    fn may_claim(self) -> bool {
        matches!(self, Self::Startup | Self::Clear)
    }
}

/// Block for the start of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BeginSessionReply {
    /// The block; `None` if memory is empty.
    pub text: Option<ForModel>,
    /// Estimated number of tokens of the block; 0 without one.
    pub tokens: u64,
    /// Path of the note of a session in the block, which was claimed or is the session's own.
    pub hand_off: Option<String>,
    /// Text that is not in the block, or not completely.
    pub left_out: Vec<LeftOut>,
    /// Findings in the text, by section.
    pub findings: Vec<Flagged>,
}

impl Request for BeginSession {
    type Reply = BeginSessionReply;
    const NAME: &'static str = "begin-session";
    const EFFECT: Effect = Effect::Replaces;

    fn samples(name: &str) -> Vec<Self> {
        let begin = |source| Self { session: name.into(), source, max_bytes: DEFAULT_SESSION_BYTES, form: None };
        [BeginSource::Startup, BeginSource::Resume].map(begin).to_vec()
    }
}

impl Run<SessionCall<'_>> for BeginSession {
    async fn run(self, with: &SessionCall<'_>) -> Result<BeginSessionReply, Error> {
        let SessionCall { call, entries, origin, .. } = *with;
        let session = SessionName::new(self.session)?;
        let others = others(call, &session).await?;
        if self.source != BeginSource::Compact {
            note_sessions_without_an_end(with, &others).await?;
        }
        let found = hand_off(call, &session, self.source.may_claim(), &others).await?;
        let hydrated = entries
            .agent()
            .is_ok()
            .then(|| ContextEntries { max_bytes: u64::from(self.max_bytes), policy: HydrationPolicy::Greedy });
        let request = Context {
            overflow: Overflow::Balanced,
            max_bytes: self.max_bytes,
            turn: None,
            entries: hydrated,
            form: self.form.unwrap_or_default(),
        };
        let memories = &|_| TurnMemories::default();
        let prompt_call = PromptCall { call, entries, run: origin.run.as_deref(), memories };
        let block = session_block(&prompt_call, request, found.section).await?;
        sweep(call, &others).await?;
        let mut line = Line::new(call, Event::Begun);
        line.shown = whole(&block);
        line.lost = self.source.loses_context();
        line.note = found.path.as_ref().filter(|_| found.is_of_another).map(|path| note_name(call, path));
        // Without room for the line, a prompt may get text that the block has.
        record(call, &session, line).await?;
        let ContextReply { block, tokens, mut left_out, findings, .. } = block;
        left_out.extend(found.left_out);
        let hand_off = found.path.map(|path| call.scope.display_path(&path));
        Ok(BeginSessionReply { text: block, tokens, hand_off, left_out, findings })
    }
}

/// Returns the paths of the files that are whole in a block.
fn whole(reply: &ContextReply) -> Vec<String> {
    let is_cut = |path: &str| reply.left_out.iter().any(|out| out.path == path && out.kind == LeftOutKind::Budget);
    let mut paths: Vec<String> = Vec::new();
    for source in &reply.sources {
        if !source.path.is_empty() && !paths.contains(&source.path) && !is_cut(&source.path) {
            paths.push(source.path.clone());
        }
    }
    paths
}
