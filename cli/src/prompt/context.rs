//! `context`: prints the memory block for a prompt, or the sources of its lines.

use saddlebag::context::{
    BlockForm, Context, ContextEntries, ContextReply, LeftOut, LeftOutKind, LineSource, append_memory_block,
};
use saddlebag::entries::HydrationPolicy;
use saddlebag::items::{ItemKind, ListItems};
use saddlebag::journal::MEMORY_PROMPT;
use saddlebag::notebook::{DEFAULT_HITS, RecallForTurn};
use saddlebag::session::{BeginSession, BeginSessionReply, BeginSource};
use saddlebag::trust::ForModel;

use super::args::ContextArgs;
use crate::input;
use crate::output::single_line;
use crate::prelude::*;
use crate::trust::flags;

/// Name of the session that the start is shown for. Nothing is recorded for it.
const SESSION: &str = "context";
/// Number of the only turn of a run.
const TURN: u64 = 1;

/// Memory block, and the text made from it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Block {
    #[serde(flatten)]
    context: ContextReply,
    /// Instructions about memory for a model; only with --prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'static str>,
    /// Text of the file followed by the block; only with --append-to.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Developer message; only with --message.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

/// Developer message of OpenAI's interface.
#[derive(Serialize, JsonSchema)]
struct Message {
    role: &'static str,
    content: String,
}

impl Message {
    fn developer(content: String) -> Self {
        Self { role: "developer", content }
    }
}

/// Prints the memory block, and the text made from it.
pub(super) fn run(args: &ContextArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    if args.message && args.form != BlockForm::Openai {
        return Err(Failure::usage("--message needs OpenAI's form", "give --for openai as well"));
    }
    let preamble = args.append_to.as_deref().map(input::file).transpose()?;
    let preamble_given = preamble.is_some();
    let mut store = Store::open(global)?;
    store.look_back(args.at.at.clone());
    let max_bytes = args.block_bytes();
    let context = if args.is_start() {
        let begin = BeginSession {
            session: SESSION.to_string(),
            source: BeginSource::Startup,
            max_bytes,
            form: Some(args.form),
            dry_run: true,
        };
        let BeginSessionReply { text: block, tokens, left_out, findings, sources, .. } = store.call(begin, output)?;
        ContextReply { block, tokens, left_out, findings, sources }
    } else {
        let turn = recalled(args.recall.as_deref(), &mut store, output)?;
        let ContextArgs { overflow, form, .. } = *args;
        let entries = hydrated(args.entries, max_bytes);
        store.call(Context { overflow, max_bytes, turn, entries, form }, output)?
    };
    let text = match &preamble {
        Some(preamble) => Some(append_memory_block(preamble, context.block.as_ref().map(ForModel::as_str))),
        None => context.block.clone().map(ForModel::into_string),
    };
    // An empty text without a block is an empty result too.
    let text = text.filter(|text| !text.is_empty());
    let has_text = text.is_some() || args.prompt;
    let is_empty = !has_text && is_empty(args, &mut store, output)?;
    let exit = if is_empty { Exit::Nothing } else { Exit::Done };
    if output.is_json() {
        output.object(&Block {
            context,
            prompt: args.prompt.then_some(MEMORY_PROMPT),
            text: text.clone().filter(|_| preamble_given),
            message: text.filter(|_| args.message).map(Message::developer),
        })?;
        return Ok(exit);
    }
    if args.report {
        report(&context, output)?;
        return Ok(exit);
    }
    if args.sources && context.block.is_some() {
        sources(&context, output)?;
        return Ok(exit);
    }
    match text {
        Some(text) if args.message => output.object(&Message::developer(text))?,
        Some(text) => output.line(&text)?,
        None => {}
    }
    if args.prompt {
        if context.block.is_some() {
            output.line("")?;
        }
        output.text(MEMORY_PROMPT)?;
    }
    output.flush()?;
    if preamble_given && context.block.is_none() && exit == Exit::Done {
        output.note("memory has nothing for a block: the text is printed without a block");
    }
    for line in left_out(&context.left_out).iter().chain(&flagged(&context)) {
        output.warning(line);
    }
    if exit == Exit::Nothing {
        return Err(Failure::nothing("memory has nothing for a block"));
    }
    let is_over = |left_out: &LeftOut| left_out.kind == LeftOutKind::Budget;
    if !has_text && context.left_out.iter().any(is_over) {
        output.note(&format!("nothing fits into a block of {max_bytes} bytes; give a larger `--max-bytes`"));
    } else if !has_text {
        output.note("the block would be empty; `--entries` adds entries, and `--recall` notes that answer a question");
    }
    Ok(exit)
}

/// Returns true if the memory has no notes, and no entries that a block was not asked for.
fn is_empty(args: &ContextArgs, store: &mut Store, output: &mut Output) -> Result<bool, Failure> {
    let mut has = |kind| {
        let none = ListItems { kinds: vec![kind], limit: Some(0), ..ListItems::default() };
        Ok::<_, Failure>(store.call(none, output)?.total > 0)
    };
    let has_entries = args.entries.is_none() && has(ItemKind::Entry)?;
    Ok(!has_entries && !has(ItemKind::Note)?)
}

/// Recalls the notes that answer a question, and returns the turn that they were recalled for.
pub(crate) fn recalled(question: Option<&str>, store: &mut Store, output: &mut Output) -> Result<Option<u64>, Failure> {
    let Some(question) = question else { return Ok(None) };
    let query = input::text(question.to_string())?;
    store.call(RecallForTurn { turn: TURN, query, limit: DEFAULT_HITS }, output)?;
    Ok(Some(TURN))
}

/// Returns the request for the entries in a block. Without a number of bytes, the budget is the size of the block.
pub(crate) fn hydrated(asked: Option<Option<u64>>, block_bytes: u32) -> Option<ContextEntries> {
    asked
        .map(|bytes| ContextEntries { max_bytes: bytes.unwrap_or(block_bytes.into()), policy: HydrationPolicy::Greedy })
}

fn report(context: &ContextReply, output: &mut Output) -> Result<(), Failure> {
    let bytes = context.block.as_ref().map_or(0, |block| block.len());
    output.line(&format!("block: {bytes} bytes, about {} tokens", context.tokens))?;
    let left_out = left_out(&context.left_out);
    if left_out.is_empty() {
        output.line("left out: nothing")?;
    }
    for line in left_out.into_iter().chain(flagged(context)) {
        output.line(&line)?;
    }
    Ok(())
}

/// Prints a line for each source: the lines of the block, the file, and the key or heading.
fn sources(context: &ContextReply, output: &mut Output) -> Result<(), Failure> {
    for source in &context.sources {
        let LineSource { first_line, last_line, path, key, heading, .. } = source;
        let lines = format!("{first_line}-{last_line}");
        let name = key.as_deref().or(heading.as_deref()).map(|name| format!(" ({})", single_line(name)));
        output.line(&format!("{lines:<9} {}{}", single_line(path), name.unwrap_or_default()))?;
    }
    Ok(())
}

/// Returns a line for each hidden text and each forged markup in the block.
fn flagged(context: &ContextReply) -> Vec<String> {
    let lines = context.findings.iter().map(|flagged| {
        let what = flagged.key.as_deref().map_or_else(|| flagged.path.clone(), single_line);
        format!("flagged: {what} ({}): {}", flagged.section, flags(&flagged.findings))
    });
    lines.collect()
}

pub(crate) fn left_out(left_out: &[LeftOut]) -> Vec<String> {
    let lines = left_out.iter().map(|left_out| {
        let whole = left_out.kept_bytes + left_out.left_out_bytes;
        let (section, reason) = (&left_out.section, &left_out.reason);
        let what = left_out.key.as_deref().map_or_else(|| left_out.path.clone(), single_line);
        match whole {
            // The size of an unapproved note is unknown: its text was not read.
            0 => format!("left out: {what} ({section}): {reason}"),
            _ => format!("left out: {} of {whole} bytes of {what} ({section}): {reason}", left_out.left_out_bytes),
        }
    });
    lines.collect()
}
