//! Converts tools and answers of the component into tools and answers of the protocol.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use saddlebag::tools::ToolAnswer;
use serde_json::Value;

use crate::failure::{Failure, ProgramCode};

/// Converts a tool into the form that clients get.
pub(crate) fn to_mcp_tool(tool: saddlebag::tools::Tool) -> Result<Tool, Failure> {
    let saddlebag::tools::Tool { name, description, input_schema, output_schema, .. } = tool;
    let annotations = ToolAnnotations::new()
        .read_only(tool.read_only)
        .destructive(tool.destructive)
        .idempotent(tool.idempotent)
        .open_world(false);
    let mut shown = Tool::new(name, description, schema(&input_schema)?);
    shown.output_schema = output_schema.as_deref().map(schema).transpose()?;
    shown.annotations = Some(annotations);
    Ok(shown)
}

fn schema(text: &str) -> Result<Arc<JsonObject>, Failure> {
    serde_json::from_str(text).map(Arc::new).map_err(|error| {
        Failure::new(ProgramCode::Component, format!("a tool has an invalid schema: {error}"), "rebuild the program")
    })
}

/// Converts the answer of a tool. A tool's error becomes a result that the model reads.
pub(crate) fn answered(answer: ToolAnswer) -> CallToolResult {
    let content = vec![ContentBlock::text(answer.text.into_string())];
    if answer.is_error {
        return CallToolResult::error(content);
    }
    let mut result = CallToolResult::success(content);
    let structured = answer.structured.and_then(|text| serde_json::from_str::<Value>(text.as_str()).ok());
    result.structured_content = structured.filter(Value::is_object);
    result
}

/// Converts a failure into a result for the model, so that it can try something else.
pub(crate) fn failed(failure: &Failure) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(failure.to_string())])
}
