//! `saddlebag mcp`: memory for clients of the Model Context Protocol.
//!
//! [`stdio`] and [`http`] carry messages ([`message`]), [`server`] turns them into commands. Over HTTP, [`token`] guards the
//! server. Standard output
//! carries only messages of the protocol.
//!
//! # How the server works
//!
//! `saddlebag mcp` uses the official SDK `rmcp`. `server/worker.rs` of the program runs the engine on a separate thread. It performs one
//! operation after another, oldest first, and accepts calls and cancellations in between, so that a long search does
//! not block other calls. `server.rs` turns requests of the protocol into commands, with `tools.rs`, `resources.rs` and
//! `prompts.rs`; the component decides which tools and files there are. The folder of the store is watched, so that the component need
//! not list it for each question, and `changes.rs` tells clients which resources have changed. `app.rs` is the page inside a chat. `stdio.rs` is the SDK's transport with answers
//! to invalid messages. `http.rs` guards the SDK's HTTP service, and `token.rs` reads its token. This folder,
//! `server/` and `ui/` use `tokio`.

mod app;
mod args;
mod changes;
mod completion;
mod http;
mod message;
mod prompts;
mod resources;
mod server;
mod stdio;
mod token;
mod tools;

use std::path::Path;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use saddlebag::tools::{DEFAULT_SETS, ToolSet};
use tokio::runtime;
use tokio::sync::mpsc;

pub(crate) use args::{McpArgs, Served};

use crate::failure::{Exit, Failure, ProgramCode};
use crate::global::Global;
use crate::output::Output;
use crate::server::http::listen;
use crate::server::worker::Memory;
use crate::store::Root;
use app::App;
use changes::{Changes, Source};
use server::MemoryServer;
use stdio::Lines;
use token::Token;

/// Time to wait for a blocked read of standard input after the client has disconnected.
const ENDING: Duration = Duration::from_secs(1);

/// Serves until the client disconnects, or over HTTP until the process ends.
pub(crate) fn run(args: &McpArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let mut sets: Vec<ToolSet> = args.tools.iter().filter_map(|served| served.0).collect();
    sets.dedup();
    if sets.is_empty() {
        sets.extend(DEFAULT_SETS);
    }
    // Over HTTP a client may be one that only has the address and the token: the page would make it the person.
    let has_page = args.http.is_none() || args.tools.contains(&Served(None));
    let max_bytes = args.max_message_bytes as usize;
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(ProgramCode::Server, format!("cannot start: {error}"), ""))?;
    let entered = runtime.enter();
    let (sender, seen) = mpsc::unbounded_channel();
    let sender = (!args.no_watch).then_some(sender);
    let timeout = Duration::from_secs(args.timeout);
    let (memory, tools, ending) = Memory::open(global.of_agent(), &sets, timeout, sender)?;
    // A store on another machine has no folder to watch.
    let root = Root::from_options(global)?.local().map(Path::to_path_buf).unwrap_or_default();
    // Without a watch, there is no sender any more.
    let changes = (!seen.is_closed())
        .then(|| Changes::publish(Source { seen, root, memory: memory.clone(), block: resources::context(&sets) }));
    drop(entered);
    let tools = tools.into_iter().map(tools::to_mcp_tool).collect::<Result<_, _>>()?;
    let app = has_page.then(|| App::new(global, timeout)).transpose()?;
    let server = MemoryServer::new(memory, &global.agent, &sets, tools, app, changes);
    let ended = match args.http {
        Some(address) => {
            let (token, file) = Token::load(args.token_file.as_deref())?;
            runtime.block_on(async {
                let listener = listen(address, "name another port, with --http ADDRESS").await?;
                let address = listener.local_addr().unwrap_or(address);
                output.note(&format!("serving MCP on http://{address}{}", http::PATH));
                if let Some(file) = file {
                    output.note(&format!("the bearer token is in {}", file.display()));
                }
                http::serve(listener, server, token, max_bytes).await;
                Ok(())
            })
        }
        None => runtime.block_on(serve_stdio(server, max_bytes)),
    };
    ending.begin();
    // A read of standard input cannot be cancelled.
    runtime.shutdown_timeout(ENDING);
    // Waits for the current operation.
    ending.wait();
    ended.map(|()| Exit::Done)
}

async fn serve_stdio(server: MemoryServer, max_bytes: usize) -> Result<(), Failure> {
    let lines = Lines::new(tokio::io::stdin(), tokio::io::stdout(), max_bytes);
    let running = match server.serve(lines).await {
        Ok(running) => running,
        // The client only checked that there is a server, and disconnected.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => {
            let help = "a client begins with the request `initialize`";
            return Err(Failure::new(ProgramCode::Server, format!("the session was not opened: {error}"), help));
        }
    };
    match running.waiting().await {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::new(ProgramCode::Server, format!("the session was interrupted: {error}"), "")),
    }
}
