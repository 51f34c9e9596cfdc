//! `tools`: prints the tools for a model in the JSON of several programs, or runs one tool.

use clap::{Args, ValueEnum};
use saddlebag::journal::{Slash, SlashReply};
use saddlebag::tools::{CallTool, DEFAULT_SETS, Dialect, Tool, ToolAnswer, ToolOptions, ToolSet, tools};
use serde_json::{Value, json};

use crate::failure::ProgramCode;
use crate::input;
use crate::output::STRONG;
use crate::prelude::*;
use crate::word::word;

/// Anthropic's name for this version of its memory tool. The API itself describes the tool to the model.
const ANTHROPIC_MEMORY_TOOL: &str = "memory_20250818";

/// Name in place of a tool for a line that a person types after `/memory` in a chat program.
const SLASH: &str = "/memory";

/// List the tools that a model is given, or run one as a model would
#[derive(Debug, Args)]
#[command(after_help = example("tools mem_recall '{\"query\": \"staging port\"}'"))]
pub(crate) struct ToolsArgs {
    /// Tool to run, or `/memory` for a line of a chat program [default: list the tools]
    tool: Option<String>,
    /// Arguments of the tool, a JSON object; `-` reads them from standard input [default: {}]; for `/memory` the words of
    /// the line, such as `search WORDS` or `clear scratchpad`; without words, the status
    #[arg(requires = "tool")]
    arguments: Vec<String>,
    /// Sets of tools: everyday, journal, entries, notebook, anthropic [default: everyday; all to run a tool]
    #[arg(long, value_name = "SETS", value_delimiter = ',', value_parser = word::<ToolSet>())]
    tools: Vec<ToolSet>,
    /// Shape of the listed JSON
    #[arg(long = "for", value_enum, value_name = "SHAPE", conflicts_with = "tool")]
    shape: Option<Shape>,
    /// Wording of the tool `memory`: as in the API's documentation, or as in its SDK
    #[arg(long, default_value_t, value_parser = word::<Dialect>())]
    dialect: Dialect,
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

/// Tools as the component describes them, with --for the array that another program accepts, or the answer of a tool.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ToolsJson {
    Described(Tools),
    Shaped(Vec<Value>),
    Answer(ToolAnswer),
    Slash(SlashReply),
}

/// Tools as the component describes them.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Tools {
    /// One object per tool.
    tools: Vec<Described>,
}

/// Description of a tool, and hints for clients.
#[derive(Serialize, JsonSchema)]
struct Described {
    /// Name of the tool.
    name: String,
    /// Description for a model.
    description: String,
    /// JSON Schema of the arguments.
    input_schema: Value,
    /// JSON Schema of the structured answer; `null` if there is none.
    output_schema: Value,
    /// Set that the tool belongs to.
    set: ToolSet,
    /// True if the tool changes nothing.
    read_only: bool,
    /// True if the tool may replace or remove text.
    destructive: bool,
    /// True if a second call with the same arguments changes nothing more.
    idempotent: bool,
}

impl Described {
    fn from_tool(tool: Tool) -> Result<Self, Failure> {
        Ok(Self {
            input_schema: schema(&tool.input_schema)?,
            output_schema: output_schema(&tool)?,
            name: tool.name,
            description: tool.description,
            set: tool.set,
            read_only: tool.read_only,
            destructive: tool.destructive,
            idempotent: tool.idempotent,
        })
    }
}

impl Subcommand for ToolsArgs {
    type Json = ToolsJson;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        match self.tool.clone() {
            None => list(&self, output),
            Some(tool) if tool == SLASH => slash(&self.arguments, global, output),
            Some(tool) => call(tool, self, global, output),
        }
    }
}

/// Prints the tools.
fn list(args: &ToolsArgs, output: &mut Output) -> Result<Exit, Failure> {
    let tools = tools(if args.tools.is_empty() { DEFAULT_SETS } else { &args.tools });
    if let Some(shape) = args.shape {
        let shaped: Vec<Value> = tools.iter().map(|tool| shaped(tool, shape)).collect::<Result<_, _>>()?;
        output.object(&shaped)?;
        return Ok(Exit::Done);
    }
    if output.is_json() {
        let tools = tools.into_iter().map(Described::from_tool).collect::<Result<_, _>>()?;
        output.object(&Tools { tools })?;
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
fn call(tool: String, args: ToolsArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let mut arguments = args.arguments.into_iter();
    let input = arguments.next().unwrap_or_else(|| "{}".into());
    if arguments.next().is_some() {
        return Err(Failure::usage("a tool takes one JSON object", "quote the object for the shell"));
    }
    let sets = if args.tools.is_empty() { ToolSet::ALL.to_vec() } else { args.tools };
    let call = CallTool { tool, input: input::text(input)?, options: ToolOptions { sets, dialect: args.dialect } };
    let mut store = Store::open(&global.of_agent())?;
    let answer = store.call(call, output)?;
    if output.json(&answer)? {
        return Ok(if answer.is_error { Exit::Failed } else { Exit::Done });
    }
    if answer.is_error {
        let (message, help) = answer.text.as_str().split_once('\n').unwrap_or((answer.text.as_str(), ""));
        return Err(Failure::new(ProgramCode::Tool, message, help));
    }
    output.line(answer.text.as_str().trim_end_matches('\n'))?;
    Ok(Exit::Done)
}

/// Runs a line that a person typed after `/memory`.
fn slash(words: &[String], global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let reply = Store::open(global)?.call(Slash { line: words.join(" ") }, output)?;
    output.object_or_line(&reply, &reply.text)?;
    Ok(Exit::Done)
}

fn schema(json: &str) -> Result<Value, Failure> {
    serde_json::from_str(json).map_err(|error| {
        let message = format!("the schema of a tool is not JSON: {error}");
        Failure::new(ProgramCode::Component, message, "rebuild the program")
    })
}

fn output_schema(tool: &Tool) -> Result<Value, Failure> {
    tool.output_schema.as_deref().map_or(Ok(Value::Null), schema)
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
