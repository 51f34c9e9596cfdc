//! A file that is not the component, or does not behave like it, gives a clear error.

use std::time::Duration;

use saddlebag::protocol::{CommandId, FsResult};
use saddlebag::{Config, Submit};
use saddlebag_host::{ComponentRuntime, Engine, EngineError, Executor, Simulator};
use support::{ask, component, path, project_config, runtime, today};

#[cfg(feature = "compiler")]
mod compiled {
    use saddlebag_host::{CodeCache, Compile, ComponentRuntime, EngineError, PACKAGE};
    use support::COMPONENT;

    fn load(bytes: &[u8]) -> String {
        let mut compile = Compile::new(bytes.to_vec());
        compile.cache = CodeCache::Off;
        match ComponentRuntime::new(compile.into()) {
            Err(EngineError::Component(message)) => message,
            Err(other) => panic!("expected a component error, got {other:?}"),
            Ok(_) => panic!("it was taken"),
        }
    }

    #[test]
    fn a_file_that_is_not_a_component_is_called_so() {
        assert!(load(b"").starts_with("not a component: "));
        assert!(load(b"# Markdown\n").starts_with("not a component: "));
        assert!(load(&COMPONENT[..COMPONENT.len() / 2]).starts_with("not a component: "));
        assert!(load(&COMPONENT[..20]).starts_with("not a component: "));
        let module = wat::parse_str("(module)").unwrap();
        assert!(load(&module).starts_with("not a component: "), "{}", load(&module));
    }

    #[test]
    fn a_component_of_another_world_is_refused() {
        let empty = wat::parse_str("(component)").unwrap();
        assert!(load(&empty).starts_with("the component exports another world: "), "{}", load(&empty));
        let other = with_engine(PACKAGE);
        assert!(load(&other).starts_with("the component exports another world: "), "{}", load(&other));
    }

    #[test]
    fn a_component_of_another_version_is_refused_with_both_versions() {
        let expected = format!("the component has the contract saddlebag:memory@0.2.0, and this host needs {PACKAGE}");
        assert_eq!(load(&with_engine("saddlebag:memory@0.2.0")), expected);
    }

    /// Returns a component that exports an interface `engine` of this package, with another function.
    fn with_engine(package: &str) -> Vec<u8> {
        let (name, version) = package.split_once('@').unwrap();
        let text = format!(
            r#"(component
            (core module $m (func (export "f")))
            (core instance $i (instantiate $m))
            (func $f (canon lift (core func $i "f")))
            (instance $engine (export "open" (func $f)))
            (export "{name}/engine@{version}" (instance $engine)))"#
        );
        wat::parse_str(text).unwrap()
    }

    #[test]
    fn a_component_that_imports_anything_is_refused() {
        let import = r#"(component (import "wasi:clocks/wall-clock@0.2.0" (instance
            (export "now" (func (result u64))))))"#;
        let message = load(&wat::parse_str(import).unwrap());
        assert!(message.starts_with("the component has imports, which a memory must not have: "), "{message}");
        assert!(message.contains("wasi:clocks/wall-clock"), "{message}");
    }
}

/// Searches a store with much text until it is done or the engine is gone.
fn heavy_search(engine: &mut impl Engine) -> Result<(), EngineError> {
    let mut store = Simulator::new(1);
    let text: String = (0..600_000).map(|i| format!("w{i} ")).collect();
    store.insert(&path("projects/proj/notes/large.md"), text);
    let command = ask::search("w1");
    let mut pending = engine.submit(CommandId(1), today(), command.submission())?.requests;
    while let Some(request) = pending.pop() {
        let outcome = store.perform(&request.op);
        let step = engine.handle_memory_result(FsResult { key: request.key.into_string(), outcome })?;
        pending.extend(step.requests);
    }
    Ok(())
}

/// Returns true if every call reports that the engine is gone.
fn is_gone(engine: &mut impl Engine) -> bool {
    let calls = [
        engine.submit(CommandId(9), today(), ask::list().submission()),
        engine.handle_memory_result(FsResult {
            key: "list-items/1.9.1".into(),
            outcome: Err(saddlebag::protocol::FsError::Denied),
        }),
        engine.cancel(CommandId(9)),
    ];
    calls.into_iter().all(|call| matches!(call, Err(EngineError::Trapped(_))))
}

/// A trap ends one instance and is a typed error.
#[test]
fn too_much_memory_is_a_trap_and_the_instance_is_gone() {
    let mut options = component();
    options.max_memory_bytes = 4 << 20;
    let mut engine = ComponentRuntime::new(options).unwrap().open(project_config()).unwrap();
    assert!(engine.memory_bytes() > 0);

    assert!(matches!(heavy_search(&mut engine), Err(EngineError::Trapped(_))));

    assert!(is_gone(&mut engine));
    assert_eq!(engine.memory_bytes(), 0);
    assert!(heavy_search(&mut runtime().open(project_config()).unwrap()).is_ok(), "other instances go on");
}

#[test]
fn a_call_over_its_deadline_is_a_trap_and_the_instance_is_gone() {
    let mut options = component();
    options.deadline = Duration::from_nanos(1);
    let runtime = ComponentRuntime::new(options).unwrap();
    // The clock of the deadlines runs on its own, so several calls certainly meet a tick.
    let trapped = (0..200).find_map(|_| {
        let mut engine = runtime.open(project_config()).ok()?;
        heavy_search(&mut engine).err().map(|error| (error, engine))
    });

    let (error, mut engine) = trapped.expect("a call over its deadline is stopped");

    assert_eq!(error, EngineError::Trapped("it took longer than its deadline".into()));
    assert!(is_gone(&mut engine));
}

#[test]
fn a_bad_configuration_is_refused_alike() {
    for (config, part) in [
        (Config { project: Some("../x".into()), ..Config::default() }, "`../x` is not a project slug"),
        (Config { path_prefix: "a\nb".into(), ..Config::default() }, "path prefix refused"),
        (
            Config { limits: saddlebag::Limits { max_commands: 0, ..Default::default() }, ..Config::default() },
            "max-commands (0, at least 1)",
        ),
    ] {
        let native = saddlebag::Memory::open(config.clone()).err().unwrap();
        let Err(component) = runtime().open(config) else { panic!("it was taken") };
        assert!(native.to_string().contains(part), "{native}");
        assert_eq!(component, EngineError::Config(native));
    }
}

mod bindings {
    #![allow(missing_docs, unreachable_pub, clippy::all)]
    wasmtime::component::bindgen!({ path: "../wit", world: "saddlebag" });
}

use bindings::exports::saddlebag::memory::{engine, fs, items, journal, trust, types};

/// The component as any other host sees it.
struct Raw {
    store: wasmtime::Store<()>,
    instance: bindings::Saddlebag,
    memory: wasmtime::component::ResourceAny,
}

fn raw() -> Raw {
    let component = runtime().component();
    let mut store = wasmtime::Store::new(component.engine(), ());
    store.set_epoch_deadline(u64::MAX / 2);
    let linker = wasmtime::component::Linker::new(component.engine());
    let instance = bindings::Saddlebag::instantiate(&mut store, component, &linker).unwrap();
    let engine = instance.saddlebag_memory_engine();
    let config = engine.call_default_config(&mut store, 1).unwrap();
    let memory = engine.memory().call_open(&mut store, &config).unwrap().unwrap();
    Raw { store, instance, memory }
}

const NOW: types::Timestamp = types::Timestamp { seconds: 0, nanoseconds: 0, utc_offset_seconds: 0 };
const NOBODY: types::Origin = types::Origin {
    agent: None,
    workspace: None,
    run: None,
    client: None,
    session: None,
    tool: None,
    provenance: None,
    operation: None,
    reason: None,
    at: None,
};

#[test]
fn a_reply_is_taken_once_and_from_the_interface_of_its_command() {
    let Raw { mut store, instance, memory } = raw();
    let journal = instance.saddlebag_memory_journal();
    let status = journal::JournalCommand::Status;
    let prepared = journal.call_prepare(&mut store, &status).unwrap();
    let engine = instance.saddlebag_memory_engine().memory();
    let mut pending = engine.call_submit(&mut store, memory, 1, NOW, &NOBODY, prepared).unwrap().unwrap().requests;
    let code = |taken: Result<_, types::Error>| taken.map(|_: journal::JournalReply| ()).map_err(|error| error.code);
    assert_eq!(code(journal.call_take(&mut store, memory, 1).unwrap()), Err("not-finished".to_string()));
    assert!(pending.iter().all(|request| request.command == 1));
    while let Some(request) = pending.pop() {
        let outcome = match request.op {
            fs::Op::ListDirectory(_) => fs::Outcome::ListDirectory(fs::ListOutcome::Page(fs::Listing {
                entries: Vec::new(),
                next: None,
                left_out: fs::LeftOut { names: Vec::new(), count: 0 },
                version: None,
            })),
            _ => fs::Outcome::Read(fs::ReadOutcome::Absent),
        };
        let reply = fs::Reply { key: request.key, outcome: Ok(outcome) };
        let engine = instance.saddlebag_memory_engine();
        let step = engine.memory().call_handle_memory_result(&mut store, memory, &reply).unwrap().unwrap();
        pending.extend(step.requests);
    }
    let other = instance.saddlebag_memory_notebook().call_take(&mut store, memory, 1).unwrap().unwrap_err();
    assert_eq!(other.code, "not-found");
    assert_eq!(code(journal.call_take(&mut store, memory, 1).unwrap()), Ok(()));
    assert_eq!(code(journal.call_take(&mut store, memory, 1).unwrap()), Err("not-found".to_string()));
}

#[test]
fn a_refused_call_takes_the_prepared_command_and_starts_nothing() {
    let Raw { mut store, instance, memory } = raw();
    let engine = instance.saddlebag_memory_engine().memory();
    let guest = instance.saddlebag_memory_trust();
    let pending = trust::Pending { limit: None, cursor: None, name: None, source: None };
    let prepared = guest.call_prepare(&mut store, &trust::TrustCommand::Pending(pending)).unwrap();
    let never = types::Timestamp { nanoseconds: 1_000_000_000, ..NOW };
    let refused = engine.call_submit(&mut store, memory, 1, never, &NOBODY, prepared).unwrap().unwrap_err();
    assert!(matches!(refused, engine::SubmitError::InvalidTime), "{refused:?}");
    let again = engine.call_submit(&mut store, memory, 1, NOW, &NOBODY, prepared);
    assert!(again.is_err(), "the command can be submitted a second time");

    let status = instance.saddlebag_memory_journal().call_prepare(&mut store, &journal::JournalCommand::Status);
    let step = engine.call_submit(&mut store, memory, 1, NOW, &NOBODY, status.unwrap()).unwrap().unwrap();
    assert!(step.requests.iter().all(|request| request.command == 1), "{:?}", step.requests);
}

#[test]
fn an_invalid_path_is_refused_by_the_component_itself() {
    let Raw { mut store, instance, memory: opened } = raw();
    let memory = instance.saddlebag_memory_engine().memory();
    let list = items::ItemsCommand::ListFiles(items::ListFiles { after: None, limit: None });
    let prepared = instance.saddlebag_memory_items().call_prepare(&mut store, &list).unwrap();
    let step = memory.call_submit(&mut store, opened, 1, NOW, &NOBODY, prepared).unwrap().unwrap();
    let key = step.requests[0].key.clone();

    for bad in ["../x.md", "/etc/x.md", "", "a//b.md", "a\\b.md", "x\0.md", "x\n.md", "./x.md", "x/"] {
        let entry =
            fs::Entry { path: bad.into(), kind: fs::EntryKind::File, size: 1, version: "v".into(), modified: 0 };
        let page = fs::Listing {
            entries: vec![entry],
            next: None,
            left_out: fs::LeftOut { names: Vec::new(), count: 0 },
            version: None,
        };
        let reply =
            fs::Reply { key: key.clone(), outcome: Ok(fs::Outcome::ListDirectory(fs::ListOutcome::Page(page))) };
        let refused = memory.call_handle_memory_result(&mut store, opened, &reply).unwrap().unwrap_err();
        let engine::ResultError::InvalidResult(invalid) = refused else { panic!("{bad:?}: {refused:?}") };
        assert_eq!(invalid.key, key);
        assert!(invalid.reason.starts_with("it has an invalid path: "), "{}", invalid.reason);
    }

    let page = fs::Listing {
        entries: Vec::new(),
        next: None,
        left_out: fs::LeftOut { names: Vec::new(), count: 0 },
        version: None,
    };
    let reply = fs::Reply { key, outcome: Ok(fs::Outcome::ListDirectory(fs::ListOutcome::Page(page))) };
    assert!(memory.call_handle_memory_result(&mut store, opened, &reply).unwrap().is_ok(), "it is still owed");
}
