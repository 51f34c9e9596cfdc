//! `context`: the block for a prompt, and what is put into it.

use saddlebag::context::{BlockForm, Context, ContextEntries, ContextReply, LeftOut, append_memory_block};
use saddlebag::entries::{Hydrate, Policy};
use saddlebag::journal::MEMORY_PROMPT;
use saddlebag::notebook::{NotebookCommand, RecallForTurn};
use saddlebag::trust::ForModel;
use saddlebag::{Command, Reply};
use serde_json::json;

use crate::args::ContextArgs;
use crate::failure::{Exit, Failure, wrong_reply};
use crate::global::Global;
use crate::output::{Output, shown};
use crate::store::{Store, run_in};
use crate::{input, json, trust};

/// The one turn that a run has.
const TURN: u64 = 1;
/// The most recalled notes in the block.
const RECALLED_NOTES: u32 = 10;
/// Runs the subcommand.
pub(crate) fn run(args: &ContextArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    if args.message && args.form != BlockForm::Openai {
        return Err(Failure::usage("--message is of OpenAI's interface", "give --for openai as well"));
    }
    let preamble = args.append_to.as_deref().map(input::file).transpose()?;
    let preamble_given = preamble.is_some();
    let mut store = Store::open(global)?;
    let turn = recalled(args.recall.as_deref(), &mut store)?;
    let entries = hydrated(args.entries, args.max_bytes);
    let ContextArgs { overflow, max_bytes, form, .. } = *args;
    let request = Context { overflow, max_bytes, turn, entries, form };
    let reply = run_in(&mut store, Command::Context(request), output)?;
    let Reply::Context(context) = &reply else { return Err(wrong_reply()) };
    let text = match &preamble {
        Some(preamble) => Some(append_memory_block(preamble, context.block.as_deref())),
        None => context.block.clone().map(ForModel::into_string),
    };
    // An empty text without a block says nothing either.
    let text = text.filter(|text| !text.is_empty());
    let exit = if text.is_some() || args.prompt { Exit::Done } else { Exit::Nothing };
    if output.is_json() {
        let mut object = json::reply(&reply);
        if let Some(fields) = object.as_object_mut() {
            let more = [
                ("prompt", args.prompt.then(|| MEMORY_PROMPT.into())),
                ("text", preamble.and_then(|_| text.clone()).map(Into::into)),
                ("message", text.filter(|_| args.message).map(|text| developer_message(&text))),
            ];
            fields.extend(more.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))));
        }
        output.object(&object)?;
        return Ok(exit);
    }
    if args.report {
        report(context, output)?;
        return Ok(exit);
    }
    match text {
        Some(text) if args.message => output.object(&developer_message(&text))?,
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
        output.note("memory has nothing to say: the text stands without a block");
    }
    for line in left_out(&context.left_out).iter().chain(&flagged(context)) {
        output.warning(line);
    }
    if exit == Exit::Nothing {
        return Err(Failure::nothing("memory has nothing to say: no block"));
    }
    Ok(exit)
}

/// Recalls what a block is to have for a question, and gives the turn that it was recalled for.
pub(crate) fn recalled(question: Option<&str>, store: &mut Store) -> Result<Option<u64>, Failure> {
    let Some(question) = question else { return Ok(None) };
    let query = input::text(question.to_string())?;
    store.run(NotebookCommand::RecallForTurn(RecallForTurn { turn: TURN, query, limit: RECALLED_NOTES }))?;
    Ok(Some(TURN))
}

/// The entries that a block is to have: of as many bytes as were asked for, else as the block has.
pub(crate) fn hydrated(asked: Option<Option<u64>>, block_bytes: u32) -> Option<ContextEntries> {
    asked.map(|bytes| ContextEntries {
        request: Hydrate { max_bytes: bytes.unwrap_or(block_bytes.into()), policy: Policy::Greedy },
        run: None,
    })
}

fn developer_message(text: &str) -> serde_json::Value {
    json!({ "role": "developer", "content": text })
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

/// The hidden text and the forged markup in the texts of the block.
fn flagged(context: &ContextReply) -> Vec<String> {
    let lines = context.flags.iter().map(|flagged| {
        let what = flagged.key.as_deref().map_or_else(|| flagged.path.clone(), shown);
        format!("flagged: {what} ({}): {}", flagged.section, trust::flags(&flagged.flags))
    });
    lines.collect()
}

pub(crate) fn left_out(left_out: &[LeftOut]) -> Vec<String> {
    let lines = left_out.iter().map(|left_out| {
        let whole = left_out.kept_bytes + left_out.left_out_bytes;
        let (section, reason) = (&left_out.section, &left_out.reason);
        let what = left_out.key.as_deref().map_or_else(|| left_out.path.clone(), shown);
        format!("left out: {} of {whole} bytes of {what} ({section}): {reason}", left_out.left_out_bytes)
    });
    lines.collect()
}
