//! Counts the tokens that the default tools cost a model.

use std::error::Error;

use saddlebag::tools::{DEFAULT_SETS, tools};
use serde_json::{Value, json};

/// Bar for [`default_tools`], in tokens.
pub const MAX_TOKENS: usize = 900;

/// Counts the tokens (`o200k_base`) of the default tools, as the JSON array that an API receives.
///
/// # Errors
///
/// The vocabulary or a schema cannot be parsed.
pub fn default_tools() -> Result<usize, Box<dyn Error>> {
    let sent = tools(DEFAULT_SETS).into_iter().map(|tool| {
        let schema: Value = serde_json::from_str(&tool.input_schema)?;
        Ok(json!({ "name": tool.name, "description": tool.description, "input_schema": schema }))
    });
    let sent = Value::Array(sent.collect::<Result<_, serde_json::Error>>()?).to_string();
    Ok(tiktoken_rs::o200k_base()?.encode_ordinary(&sent).len())
}

/// The default tools fit 900 tokens.
#[cfg(test)]
#[test]
fn the_default_tools_cost_at_most_900_tokens() {
    let tokens = default_tools().expect("the vocabulary is part of the tokenizer");
    assert!(tokens <= MAX_TOKENS, "{tokens} tokens, the bar is {MAX_TOKENS}");
}
