//! `begin-session`: builds the block for the start of a session.

use saddlebag_collections::{prelude::*, words};

use super::end::{note_of_resumed, note_sessions_without_an_end};
use super::hand_off::{Claims, hand_off};
use super::state::{Event, Line, mark_of, note_name, others, record, sweep};
use super::types::{SessionCall, SessionName};
use crate::context::{
    BlockForm, Context, ContextEntries, ContextReply, Flagged, LeftOut, LeftOutKind, LineSource, Overflow, PromptCall,
    TurnMemories, map_block, session_block,
};
use crate::entries::HydrationPolicy;
use crate::request::{Run, request};
use crate::trust::{ForModel, titles};
use saddlebag_protocol::Error;

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
    /// If set, only builds the block: nothing is claimed or recorded.
    pub dry_run: bool,
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
    /// A helper of the session begins, such as a subagent. Its block has the map alone, and nothing is recorded.
    Subagent,
}

words!(BeginSource, "reason why a session begins" {
    Startup = "startup",
    Resume = "resume",
    Clear = "clear",
    Compact = "compact",
    Fork = "fork",
    Subagent = "subagent",
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
    /// Sources of the lines of stored text, in the order of the block.
    pub sources: Vec<LineSource>,
}

request!(BeginSession "begin-session" => BeginSessionReply, Replaces, |name| {
    let begin = |source| Self {
        session: name.into(),
        source,
        max_bytes: DEFAULT_SESSION_BYTES,
        form: None,
        dry_run: false,
    };
    [BeginSource::Startup, BeginSource::Resume].map(begin).to_vec()
});

impl Run<SessionCall<'_>> for BeginSession {
    async fn run(self, with: &SessionCall<'_>) -> Result<BeginSessionReply, Error> {
        let SessionCall { call, entries, origin, .. } = *with;
        let session = SessionName::new(self.session)?;
        let form = self.form.unwrap_or_default();
        let memories = &|_| TurnMemories::default();
        let prompt = PromptCall { call, entries, run: origin.run.as_deref(), memories };
        if self.source == BeginSource::Subagent {
            return Ok(reply(map_block(&prompt, form, self.max_bytes).await?, None));
        }
        let others = others(call, &session).await?;
        if self.source != BeginSource::Compact && !self.dry_run {
            note_sessions_without_an_end(with, &others).await?;
        }
        if self.source == BeginSource::Resume && !self.dry_run {
            note_of_resumed(with, &session).await?;
        }
        let claims = if self.dry_run { Claims::Shown } else { Claims::Recorded };
        let found = hand_off(call, &session, self.source.may_claim(), claims, &others).await?;
        let hydrated = entries
            .agent()
            .is_ok()
            .then(|| ContextEntries { max_bytes: u64::from(self.max_bytes), policy: HydrationPolicy::Greedy });
        let request =
            Context { overflow: Overflow::Balanced, max_bytes: self.max_bytes, turn: None, entries: hydrated, form };
        let (block, newest) = session_block(&prompt, request, found.section).await?;
        let hand_off = found.path.as_ref().map(|path| call.scope.display_path(path));
        if !self.dry_run {
            sweep(call, &others).await?;
            let mut line = Line::new(call, Event::Begun);
            line.text = Some(session.as_str().into());
            line.shown = whole(&block);
            line.newest = newest;
            let of_map = block.sources.iter().filter(|source| source.section == titles::MAP);
            line.mapped = of_map.map(|source| mark_of(&source.path)).collect();
            line.mapped.dedup();
            line.lost = self.source.loses_context();
            line.note = found.path.as_ref().filter(|_| found.is_of_another).map(|path| note_name(call, path));
            // Without room for the line, a prompt may get text that the block has.
            record(call, &session, line).await?;
        }
        let mut reply = reply(block, hand_off);
        reply.left_out.extend(found.left_out);
        Ok(reply)
    }
}

fn reply(block: ContextReply, hand_off: Option<String>) -> BeginSessionReply {
    let ContextReply { block: text, tokens, left_out, findings, sources } = block;
    BeginSessionReply { text, tokens, hand_off, left_out, findings, sources }
}

/// Returns the paths of the files that are whole in a block.
fn whole(reply: &ContextReply) -> Vec<String> {
    let is_cut = |path: &str| reply.left_out.iter().any(|out| out.path == path && out.kind == LeftOutKind::Budget);
    let mut paths: Vec<String> = Vec::new();
    // The map has names of files alone.
    for source in reply.sources.iter().filter(|source| source.section != titles::MAP) {
        if !source.path.is_empty() && !paths.contains(&source.path) && !is_cut(&source.path) {
            paths.push(source.path.clone());
        }
    }
    paths
}
