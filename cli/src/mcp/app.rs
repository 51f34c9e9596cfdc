//! [`App`]: the page inside a chat (the extension MCP Apps), for clients that say that they show it.
//!
//! A client shows the page beside the answers of some tools. The page calls one more tool, which the client keeps from
//! its model. The page acts as the person. So that a model cannot do the same, each call needs the key of the session, which answers
//! of tools have among the data that a client passes to the page but not to its model. Over HTTP there is no page unless a person has
//! asked for it: any client with the token can say that it shows pages.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, ResourceContents, Tool};
use rmcp::service::RequestContext;
use saddlebag::protocol::ErrorCode;
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use crate::failure::Failure;
use crate::global::Global;
use crate::server::secret::Secret;
use crate::server::worker::Memory;
use crate::ui::{Api, error, in_chat};

/// Extension of the protocol, as clients name it among their capabilities.
const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// Type of the page, as the extension names it.
const MIME_TYPE: &str = "text/html;profile=mcp-app";
/// Resource that is the page.
pub(crate) const URI: &str = "ui://saddlebag/memory";
/// Tool that only the page calls.
pub(crate) const TOOL: &str = "memory_page";
/// Tools beside whose answers the page is shown.
const SHOWN_BY: [&str; 2] = ["mem_recall", "mem_list"];
/// Name of the key in the data of an answer.
const KEY: &str = "saddlebag/key";

/// The page inside a chat.
pub(crate) struct App {
    global: Global,
    timeout: Duration,
    key: Secret,
    /// Memory of the person. It is opened at the first call.
    api: OnceCell<Api>,
}

impl App {
    /// Creates the page of the person whose options these are.
    pub(crate) fn new(global: &Global, timeout: Duration) -> Result<Self, Failure> {
        Ok(Self { global: global.clone(), timeout, key: Secret::new()?, api: OnceCell::new() })
    }

    /// Returns the page for another session, with another key.
    pub(crate) fn for_session(&self) -> Result<Self, Failure> {
        Self::new(&self.global, self.timeout)
    }

    /// Returns the tools as a client that shows the page gets them.
    pub(crate) fn tools(&self, tools: &[Tool]) -> Vec<Tool> {
        let shows = |tool: &Tool| SHOWN_BY.contains(&tool.name.as_ref());
        let shown = tools
            .iter()
            .cloned()
            .map(|tool| if shows(&tool) { tool.with_meta(meta("ui", json!({ "resourceUri": URI }))) } else { tool });
        shown.chain([own_tool()]).collect()
    }

    /// Gives the key to the page beside an answer.
    pub(crate) fn give_key(&self, tool: &str, result: &mut CallToolResult) {
        if SHOWN_BY.contains(&tool) {
            result.meta = Some(meta(KEY, json!(self.key.as_str())));
        }
    }

    /// Answers a call of the page.
    pub(crate) async fn answer(&self, arguments: Option<Map<String, Value>>) -> CallToolResult {
        match self.call(arguments.unwrap_or_default()).await {
            Ok(answer) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text("for the page")]);
                result.structured_content = Some(json!({ "answer": answer }));
                result
            }
            Err(failure) => {
                let mut result = CallToolResult::error(vec![ContentBlock::text(failure.message.clone())]);
                result.structured_content = Some(json!({ "error": error(&failure) }));
                result
            }
        }
    }

    async fn call(&self, mut arguments: Map<String, Value>) -> Result<Value, Failure> {
        let open = || async {
            Ok::<_, Failure>(Api::new(Memory::open(self.global.clone(), &[], self.timeout, None)?.0, &self.global))
        };
        let name = arguments.get("call").and_then(Value::as_str).unwrap_or_default().to_string();
        let shown = arguments.get("key").and_then(Value::as_str).unwrap_or_default();
        if !self.key.is(shown.as_bytes()) {
            let help = "the person uses memory on the page that the client shows, or with `saddlebag ui`";
            let message = "only the page may use memory this way; nothing was read or changed";
            return Err(Failure::new(ErrorCode::NotPermitted, message, help));
        }
        let api = self.api.get_or_try_init(open).await?;
        api.answer(&name, arguments.remove("body").unwrap_or(json!({})), None).await
    }
}

/// Returns true if the client shows pages.
pub(crate) fn is_shown(context: &RequestContext<RoleServer>) -> bool {
    let Some(info) = context.peer.peer_info() else { return false };
    let extensions = info.capabilities.extensions.as_ref();
    extensions.and_then(|extensions| extensions.get(EXTENSION)).is_some_and(|settings| {
        settings
            .get("mimeTypes")
            .and_then(Value::as_array)
            .is_none_or(|types| types.iter().any(|kind| kind == MIME_TYPE))
    })
}

/// Returns the page.
pub(crate) fn contents() -> ResourceContents {
    ResourceContents::text(in_chat(), URI).with_mime_type(MIME_TYPE)
}

fn own_tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "call": { "type": "string" },
            "body": { "type": "object" },
            "key": { "type": "string" },
        },
        "required": ["call"],
    });
    let schema = schema.as_object().cloned().unwrap_or_default();
    Tool::new(TOOL, "Only for the page of this server.", std::sync::Arc::new(schema))
        .with_meta(meta("ui", json!({ "resourceUri": URI, "visibility": ["app"] })))
}

fn meta(name: &str, value: Value) -> MetaObject {
    let mut meta = MetaObject::default();
    meta.0.insert(name.into(), value);
    meta
}
