//! Tools and answers as JSON, as MCP and the other shells give them.

use saddlebag::tools::{Tool, ToolAnswer};
use serde_json::{Map, Value, json};

/// Returns a tool as MCP describes it.
pub fn tool_json(tool: &Tool) -> Value {
    let schema = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let mut shown = json!({
        "name": tool.name,
        "description": tool.description,
        "inputSchema": schema(&tool.input_schema),
        "annotations": {
            "readOnlyHint": tool.read_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent,
            "openWorldHint": false,
        },
    });
    if let Some(output) = &tool.output_schema {
        shown["outputSchema"] = schema(output);
    }
    shown
}

/// Returns the answer of a tool as MCP's result of a call.
pub fn answer_json(answer: &ToolAnswer) -> Value {
    let mut result = Map::new();
    result.insert("content".into(), json!([{ "type": "text", "text": answer.text.as_str() }]));
    result.insert("isError".into(), answer.is_error.into());
    let structured = answer.structured.as_ref().and_then(|text| serde_json::from_str::<Value>(text.as_str()).ok());
    if let Some(structured) = structured.filter(|value| value.is_object() && !answer.is_error) {
        result.insert("structuredContent".into(), structured);
    }
    result.into()
}
