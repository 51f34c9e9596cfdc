//! `saddlebag ui`: a page on this machine that shows memory and changes it.
//!
//! [`site`] signs a browser in, and serves it the page. [`api`] has the calls of the page, which are the commands of the
//! contract. [`first`] prepares the first view. [`index_size`] measures the index. [`live`] tells pages of changes. [`assets`] are the files of the page, and [`snapshot`] makes one file of
//! them. [`render`] makes HTML of Markdown.

mod api;
mod args;
mod assets;
mod first;
mod index_size;
mod live;
mod render;
mod site;
mod snapshot;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use saddlebag_host::Project;
use tokio::runtime;
use tokio::sync::mpsc;

pub(crate) use api::{Api, error};
pub(crate) use args::UiArgs;
pub(crate) use assets::in_chat;

use crate::failure::{Exit, Failure, ProgramCode};
use crate::global::Global;
use crate::output::Output;
use crate::server::http::{listen, serve};
use crate::server::secret::Secret;
use crate::server::worker::Memory;
use crate::store::{Root, project};
use first::First;
use live::Live;
use site::Page;

/// Time limit of one call.
const CALL_TIME: Duration = Duration::from_secs(60);

/// Serves the page until the process ends, or writes it to a file.
pub(crate) fn run(args: &UiArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(ProgramCode::Server, format!("cannot start: {error}"), ""))?;
    let name = name(global)?;
    let entered = runtime.enter();
    let (sender, seen) = mpsc::unbounded_channel();
    let sender = args.out.is_none().then_some(sender);
    let (memory, _, _) = Memory::open(global.clone(), &[], CALL_TIME, sender)?;
    if let Some(file) = &args.out {
        let api = Api::new(memory, global);
        return runtime.block_on(snapshot::write(&api, &name, global, file, output));
    }
    let live = Live::publish(seen);
    drop(entered);
    runtime.block_on(async {
        let first = Arc::new(First::default());
        let (preparing, asked, watched) = (first.clone(), memory.clone(), live.clone());
        tokio::spawn(async move { preparing.prepare(&asked, &watched).await });
        let listener =
            listen(SocketAddr::from((Ipv4Addr::LOCALHOST, args.port)), "name another port, with --port").await?;
        let port = listener
            .local_addr()
            .map_err(|error| Failure::new(ProgramCode::Server, format!("cannot start: {error}"), ""))?
            .port();
        let page = Page {
            api: Api::new(memory, global),
            live,
            first,
            is_read_only: args.read_only,
            memory: name.clone(),
            port,
            space: Secret::new()?,
            key: Secret::new()?,
            is_key_used: AtomicBool::new(false),
            session: Secret::new()?,
            csrf: Secret::new()?,
        };
        let address = format!("http://127.0.0.1:{port}/{}/?key={}", page.space.as_str(), page.key.as_str());
        output.line(&address)?;
        output.flush()?;
        if !args.no_open && open::that_detached(&address).is_err() {
            output.note("no browser was opened; open the address in one");
        }
        output.note("the address signs in one browser, once; press Ctrl+C to stop");
        serve(listener, Arc::new(page)).await;
        Ok(Exit::Done)
    })
}

/// Returns the name of the memory for people: its project, and the agent if it is not the usual one.
fn name(global: &Global) -> Result<String, Failure> {
    let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = match project(global)? {
        _ if global.user => "all projects".to_string(),
        Project::Notebook => last(Root::from_options(global)?.folder()?),
        Project::Path(path) => last(&path.canonicalize().unwrap_or(path)),
        Project::Slug(slug) => slug,
    };
    Ok(if global.agent == "main" { name } else { format!("{name}, {}", global.agent) })
}
