//! `tools` and `call`: what a model is given, as other programs want it, and a call by hand.

use clap::{Args, ValueEnum};
use saddlebag::Reply;
use saddlebag::tools::{CallTool, DEFAULT_SETS, Dialect, Tool, ToolSet, tools};
use serde_json::{Value, json};

use crate::failure::{Exit, Failure, wrong_reply};
use crate::global::Global;
use crate::input;
use crate::json::parts::answered;
use crate::output::{Output, STRONG};
use crate::store::Store;

/// How Anthropic's API names the version of its memory tool, which it describes to the model itself.
const ANTHROPIC_MEMORY_TOOL: &str = "memory_20250818";

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// Which sets: journal, entries, notebook, anthropic [default: journal,entries,notebook]
    #[arg(long, value_name = "SETS", value_delimiter = ',', value_parser = parse_set)]
    tools: Vec<ToolSet>,
    /// Print them as JSON, in the shape that this takes
    #[arg(long = "for", value_enum, value_name = "SHAPE")]
    shape: Option<Shape>,
}

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The name of the tool
    tool: String,
    /// Its arguments, a JSON object; `-` reads them from standard input
    #[arg(default_value = "{}")]
    arguments: String,
    /// Which sets are on: journal, entries, notebook, anthropic [default: all]
    #[arg(long, value_name = "SETS", value_delimiter = ',', value_parser = parse_set)]
    tools: Vec<ToolSet>,
    /// The words in which `memory` answers: those of the API's documentation, or of its SDK
    #[arg(long, value_enum, default_value_t)]
    dialect: Words,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shape {
    /// The array `tools` of Anthropic's Messages API
    Anthropic,
    /// The array `tools` of OpenAI's Chat Completions API
    Openai,
    /// The array `tools` of an answer to `tools/list`
    Mcp,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Words {
    #[default]
    Docs,
    Sdk,
}

fn parse_set(word: &str) -> Result<ToolSet, String> {
    ToolSet::parse(word).map_err(|error| format!("{}; {}", error.message, error.help))
}

/// Prints the tools.
pub(crate) fn list(args: &ToolsArgs, output: &mut Output) -> Result<Exit, Failure> {
    let sets = if args.tools.is_empty() { DEFAULT_SETS.to_vec() } else { args.tools.clone() };
    let tools = tools(&sets);
    if let Some(shape) = args.shape {
        let shaped: Vec<Value> = tools.iter().map(|tool| shaped(tool, shape)).collect::<Result<_, _>>()?;
        output.object(&shaped.into())?;
        return Ok(Exit::Done);
    }
    if output.is_json() {
        let described: Vec<Value> = tools.iter().map(described).collect::<Result<_, _>>()?;
        output.object(&json!({ "tools": described }))?;
        return Ok(Exit::Done);
    }
    for tool in &tools {
        let schema = schema(&tool.input_schema)?;
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = schema["properties"].as_object().into_iter().flatten();
        let fields: Vec<String> = properties
            .map(|(name, _)| if required.contains(&name.as_str()) { name.clone() } else { format!("[{name}]") })
            .collect();
        output.styled(STRONG, &format!("{} {}", tool.name, fields.join(" ")))?;
        output.line(&format!("  {}", tool.description))?;
    }
    Ok(Exit::Done)
}

/// Runs a tool.
pub(crate) fn call(args: CallArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let sets = if args.tools.is_empty() { ToolSet::ALL.to_vec() } else { args.tools };
    let dialect = match args.dialect {
        Words::Docs => Dialect::Docs,
        Words::Sdk => Dialect::Sdk,
    };
    let call = CallTool { name: args.tool, arguments: input::text(args.arguments)?, sets, dialect };
    let mut store = Store::open(&global.of_agent())?;
    let Reply::CallTool(answer) = store.run(call)? else { return Err(wrong_reply()) };
    if output.is_json() {
        output.object(&answered(&answer))?;
        return Ok(if answer.is_error { Exit::Failed } else { Exit::Done });
    }
    if answer.is_error {
        let (message, help) = answer.text.split_once('\n').unwrap_or((&answer.text, ""));
        return Err(Failure::new("tool", message, help));
    }
    output.line(answer.text.trim_end_matches('\n'))?;
    Ok(Exit::Done)
}

fn schema(json: &str) -> Result<Value, Failure> {
    serde_json::from_str(json).map_err(|_| wrong_reply())
}

fn output_schema(tool: &Tool) -> Result<Value, Failure> {
    tool.output_schema.as_deref().map_or(Ok(Value::Null), schema)
}

fn described(tool: &Tool) -> Result<Value, Failure> {
    Ok(json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": schema(&tool.input_schema)?,
        "output_schema": output_schema(tool)?,
        "set": tool.set.name(),
        "read_only": tool.read_only,
        "destructive": tool.destructive,
        "idempotent": tool.idempotent,
    }))
}

fn shaped(tool: &Tool, shape: Shape) -> Result<Value, Failure> {
    let (name, description, input) = (&tool.name, &tool.description, schema(&tool.input_schema)?);
    Ok(match shape {
        Shape::Anthropic if tool.set == ToolSet::Anthropic => json!({ "type": ANTHROPIC_MEMORY_TOOL, "name": name }),
        Shape::Anthropic => json!({ "name": name, "description": description, "input_schema": input }),
        Shape::Openai => json!({
            "type": "function",
            "function": { "name": name, "description": description, "parameters": input },
        }),
        Shape::Mcp => {
            let mut object = json!({
                "name": name,
                "description": description,
                "inputSchema": input,
                "annotations": {
                    "readOnlyHint": tool.read_only,
                    "destructiveHint": tool.destructive,
                    "idempotentHint": tool.idempotent,
                    "openWorldHint": false,
                },
            });
            if let (Some(fields), output @ Value::Object(_)) = (object.as_object_mut(), output_schema(tool)?) {
                fields.insert("outputSchema".into(), output);
            }
            object
        }
    })
}
