//! The shells of the memory in wasmtime, each call in a fresh instance.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails with what is wrong")]

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Config, Engine, Store, Strategy};
use wasmtime_wasi::p2::bindings::sync::CommandPre;
use wasmtime_wasi::p2::pipe::{MemoryInputPipe, MemoryOutputPipe};
use wasmtime_wasi::{FsPerms, I32Exit, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};
use wasmtime_wasi_http::p2::bindings::http::types::Scheme;
use wasmtime_wasi_http::p2::bindings::sync::ProxyPre;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks, WasiHttpView};

/// State of an instance.
pub struct State {
    wasi: WasiCtx,
    http: WasiHttpCtx,
    table: ResourceTable,
    hooks: NoRequests,
    /// Store of strings of an extension.
    pub strings: BTreeMap<String, String>,
}

/// Lets no instance send a request.
struct NoRequests;

type Sent<T> = Box<dyn Future<Output = Result<T, Error>> + Send>;

impl WasiHttpHooks for NoRequests {
    fn send_request(
        &mut self,
        _: hyper::Request<WasiBody>,
        _: Option<RequestOptions>,
        _: Sent<()>,
    ) -> Sent<(hyper::Response<WasiBody>, Sent<()>)> {
        Box::new(async { Err(Error::HttpRequestDenied) })
    }
}

impl State {
    /// Grants nothing.
    pub fn new(wasi: WasiCtx) -> Self {
        Self {
            wasi,
            http: WasiHttpCtx::new(),
            table: ResourceTable::new(),
            hooks: NoRequests,
            strings: BTreeMap::new(),
        }
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl WasiHttpView for State {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { ctx: &mut self.http, table: &mut self.table, hooks: &mut self.hooks }
    }
}

/// A compiled shell.
pub struct Shell {
    engine: Engine,
    component: Component,
}

/// What a command of the command line did.
#[derive(Debug)]
pub struct Ran {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub errors: String,
}

/// Returns the file of a shell that `cargo xtask shells` has built.
pub fn file(name: &str) -> PathBuf {
    let folder = std::env::var_os("SADDLEBAG_SHELLS").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../target/shells"));
    folder.join(format!("saddlebag-{name}.wasm"))
}

impl Shell {
    /// Compiles a shell quickly.
    pub fn new(name: &str) -> Self {
        Self::compiled(name, Strategy::Winch)
    }

    /// Compiles a shell as runtimes do.
    pub fn optimised(name: &str) -> Self {
        Self::compiled(name, Strategy::Cranelift)
    }

    fn compiled(name: &str, strategy: Strategy) -> Self {
        let file = file(name);
        let engine = Engine::new(Config::new().strategy(strategy)).expect("an engine");
        let component = Self::kept(&engine, name, &file);
        let component =
            component.unwrap_or_else(|error| panic!("{}: {error:#}; `cargo xtask shells` builds it", file.display()));
        Self { engine, component }
    }

    /// Compiles a component, or takes its code from beside it: the conformance kit starts a driver again after each kill, and an
    /// unoptimised compiler takes seconds.
    #[allow(unsafe_code, reason = "compiled code is run as it is; see the safety comment")]
    fn kept(engine: &Engine, name: &str, file: &Path) -> wasmtime::Result<Component> {
        let bytes = fs::read(file)?;
        let mut hash = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hash);
        bytes.hash(&mut hash);
        let folder = file.with_file_name("compiled");
        let code = folder.join(format!("{name}-{:016x}.cwasm", hash.finish()));
        if !code.exists() {
            fs::create_dir_all(&folder)?;
            // Another process may make the same file. It appears whole.
            let new = tempfile::NamedTempFile::new_in(&folder)?;
            fs::write(new.path(), engine.precompile_component(&bytes)?)?;
            new.persist(&code)?;
        }
        // SAFETY: the code is wasmtime's output for these bytes, in the folder of the build, which only those can change who can
        // change the program itself. No file is changed once it has its name.
        unsafe { Component::deserialize_file(engine, &code) }
    }

    /// Returns a new store with what an instance is granted.
    pub fn store(&self, state: State) -> Store<State> {
        Store::new(&self.engine, state)
    }

    /// Returns the compiled component.
    pub fn component(&self) -> &Component {
        &self.component
    }

    /// Returns an empty linker.
    pub fn linker(&self) -> Linker<State> {
        Linker::new(&self.engine)
    }

    /// Returns what makes instances of a command.
    pub fn command(&self) -> CommandPre<State> {
        let mut linker = self.linker();
        wasmtime_wasi::p2::add_to_linker_sync(&mut linker).expect("linked");
        CommandPre::new(linker.instantiate_pre(&self.component).expect("it imports WASI alone")).expect("a command")
    }

    /// Runs a command once, in a fresh instance, with a folder as `/memory`.
    pub fn run(&self, folder: &Path, environment: &[(&str, &str)], arguments: &[&str], input: &str) -> Ran {
        self.run_by(&self.command(), folder, environment, arguments, input)
    }

    /// Runs a command that is ready.
    pub fn run_by(
        &self,
        command: &CommandPre<State>,
        folder: &Path,
        environment: &[(&str, &str)],
        arguments: &[&str],
        input: &str,
    ) -> Ran {
        let (output, errors) = (MemoryOutputPipe::new(1 << 24), MemoryOutputPipe::new(1 << 24));
        let mut wasi = granted(folder, environment);
        wasi.arg("shell").args(arguments).stdin(MemoryInputPipe::new(input.to_owned()));
        wasi.stdout(output.clone()).stderr(errors.clone());
        let mut store = self.store(State::new(wasi.build()));
        let instance = command.instantiate(&mut store).expect("an instance");
        let code = match instance.wasi_cli_run().call_run(&mut store) {
            Ok(Ok(())) => 0,
            Ok(Err(())) => 1,
            Err(error) => error.downcast::<I32Exit>().expect("the instance trapped").0,
        };
        drop(store);
        let text = |pipe: MemoryOutputPipe| String::from_utf8(pipe.contents().to_vec()).expect("text");
        Ran { code, output: text(output), errors: text(errors) }
    }

    /// Sends one request to a server, in a fresh instance.
    pub fn request(&self, folder: &Path, method: &str, path: &str, content_type: &str, body: &str) -> (u16, String) {
        let mut linker = self.linker();
        wasmtime_wasi::p2::add_to_linker_sync(&mut linker).expect("linked");
        wasmtime_wasi_http::p2::add_only_http_to_linker_sync(&mut linker).expect("linked");
        let proxy = linker.instantiate_pre(&self.component).expect("it imports WASI alone");
        let proxy = ProxyPre::new(proxy).expect("a server");
        let mut store = self.store(State::new(granted(folder, &[]).build()));
        let request = hyper::Request::builder().method(method).uri(format!("http://localhost{path}"));
        let request = request.header("content-type", content_type).body(Full::new(Bytes::from(body.to_owned())));
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let request = store.data_mut().http().new_incoming_request(Scheme::Http, request.expect("a request"));
        let request = request.expect("a request");
        let out = store.data_mut().http().new_response_outparam(sender).expect("an answer");
        let instance = proxy.instantiate(&mut store).expect("an instance");
        instance.wasi_http_incoming_handler().call_handle(&mut store, request, out).expect("handled");
        drop(store);
        let response = receiver.blocking_recv().expect("an answer").expect("no error");
        let status = response.status().as_u16();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let body = runtime.block_on(response.into_body().collect()).expect("a body").to_bytes();
        (status, String::from_utf8(body.to_vec()).expect("text"))
    }
}

fn granted(folder: &Path, environment: &[(&str, &str)]) -> WasiCtxBuilder {
    let mut wasi = WasiCtxBuilder::new();
    // As `wasmtime run` does: nothing else runs on this thread.
    wasi.allow_blocking_current_thread(true);
    wasi.preopened_dir(folder, "/memory", FsPerms::ReadWrite).expect("a folder");
    wasi.envs(environment);
    wasi
}
