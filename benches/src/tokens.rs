//! Counts the tokens that the default tools cost a model.

use saddlebag::tools::{DEFAULT_SETS, tools};
use serde_json::{Value, json};

use crate::report::Report;
use crate::selection::Selection;
use crate::work::Result;

/// Bar for the default tools, in tokens.
const MAX_TOKENS: usize = 900;

/// Counts the tokens (`o200k_base`) in text.
pub(crate) fn count(text: &str) -> Result<usize> {
    Ok(tiktoken_rs::o200k_base()?.encode_ordinary(text).len())
}

/// Counts the tokens of the default tools, as the JSON array that an API receives.
fn default_tools() -> Result<usize> {
    let sent = tools(DEFAULT_SETS).into_iter().map(|tool| {
        let schema: Value = serde_json::from_str(&tool.input_schema)?;
        Ok(json!({ "name": tool.name, "description": tool.description, "input_schema": schema }))
    });
    let sent = Value::Array(sent.collect::<Result<_>>()?).to_string();
    count(&sent)
}

pub(crate) fn measure(report: &mut Report, _: &Selection) -> Result<()> {
    let tokens = default_tools()?;
    report.add_ratio(
        &format!("the default tools, {tokens} tokens, of {MAX_TOKENS}"),
        tokens as f64 / MAX_TOKENS as f64,
        1.0,
    );
    Ok(())
}

#[cfg(test)]
#[test]
fn the_default_tools_cost_at_most_900_tokens() {
    let tokens = default_tools().expect("the vocabulary is part of the tokenizer");
    assert!(tokens <= MAX_TOKENS, "{tokens} tokens, the bar is {MAX_TOKENS}");
}
