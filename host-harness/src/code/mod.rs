//! Compiled code of the component: from a cache on disk, or from this program.
//!
//! Wasmtime trusts compiled code and runs it unchecked. [`cache`] says why code from the disk is the code that wasmtime
//! made, and [`embedded`] why the code of the program is. On Linux with x86-64 code runs in the pages that it was read
//! to, or that the program has; [`memory`] makes them executable. Elsewhere wasmtime copies it to its own pages.

#[cfg(all(feature = "compiler", not(all(target_os = "linux", target_arch = "x86_64"))))]
mod bytes;
#[cfg(feature = "compiler")]
mod cache;
#[cfg(feature = "embedded")]
mod embedded;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod memory;
#[cfg(all(feature = "compiler", target_os = "linux", target_arch = "x86_64"))]
mod pages;

#[cfg(feature = "compiler")]
pub use cache::CodeCache;
#[cfg(feature = "embedded")]
pub(crate) use embedded::load as load_embedded;

/// Returns the configuration of every engine.
pub(crate) fn config() -> wasmtime::Config {
    let mut config = saddlebag_wasmtime::config();
    use_memory(&mut config);
    config
}

/// Lets an engine run code where it was loaded.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn use_memory(config: &mut wasmtime::Config) {
    memory::configure(config);
}

/// Changes nothing: wasmtime copies code to its own pages.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn use_memory(_: &mut wasmtime::Config) {}

#[cfg(all(test, feature = "compiler"))]
#[allow(unsafe_code, clippy::panic, clippy::unwrap_used, reason = "the tests load code that they compile")]
mod tests {
    use std::env::consts::ARCH;

    use saddlebag_wasmtime::{Effort, precompile};
    use wasmtime::component::{Component, Linker};
    use wasmtime::{Config, Engine, Store};

    use super::config;

    /// A component with a function that gives 7, so that there is code to run.
    const SEVEN: &str = r#"(component
        (core module $m (func (export "seven") (result i32) i32.const 7))
        (core instance $i (instantiate $m))
        (func (export "seven") (result s32) (canon lift (core func $i "seven"))))"#;

    /// Returns the target triple of this machine.
    fn here() -> String {
        let system = match std::env::consts::OS {
            "linux" => "unknown-linux-gnu",
            "macos" => "apple-darwin",
            "windows" => "pc-windows-msvc",
            other => panic!("add the triple of {other}"),
        };
        format!("{ARCH}-{system}")
    }

    fn load(config: &Config, code: &[u8]) -> wasmtime::Result<(Engine, Component)> {
        let engine = Engine::new(config)?;
        // SAFETY: `precompile` has just made the code.
        let component = unsafe { Component::deserialize(&engine, code)? };
        Ok((engine, component))
    }

    #[test]
    fn code_that_was_compiled_at_build_time_runs_in_an_engine_of_the_host() {
        for effort in [Effort::Full, Effort::Least] {
            let code = precompile(&wat::parse_str(SEVEN).unwrap(), &here(), effort).unwrap();
            let (engine, component) = load(&config(), &code).unwrap();
            let mut store = Store::new(&engine, ());
            store.set_epoch_deadline(1);
            let instance = Linker::new(&engine).instantiate(&mut store, &component).unwrap();
            let seven = instance.get_typed_func::<(), (i32,)>(&mut store, "seven").unwrap();
            assert_eq!(seven.call(&mut store, ()).unwrap().0, 7, "{effort:?}");
        }
    }

    #[test]
    fn code_of_another_configuration_version_or_processor_is_refused() {
        let seven = wat::parse_str(SEVEN).unwrap();
        let code = precompile(&seven, &here(), Effort::Least).unwrap();
        let refusal = |config: &Config, code: &[u8]| load(config, code).map(drop).unwrap_err().root_cause().to_string();

        let mut without_deadlines = config();
        without_deadlines.epoch_interruption(false);
        assert!(refusal(&without_deadlines, &code).contains("epoch interruption"));

        let mut of_another_version = config();
        of_another_version.module_version(wasmtime::ModuleVersionStrategy::Custom("1.0".into())).unwrap();
        assert!(refusal(&of_another_version, &code).contains("incompatible version"));

        // The code of this machine's processor, on one that has no feature beyond the baseline.
        let engine = Engine::new(&config()).unwrap();
        let code = engine.precompile_component(&seven).unwrap();
        let mut of_an_older_processor = config();
        // SAFETY: nothing runs in this engine.
        unsafe { of_an_older_processor.detect_host_feature(|_| Some(false)) };
        let said = refusal(&of_an_older_processor, &code);
        assert!(said.contains("not available on the host"), "{said}");
    }

    #[test]
    fn code_is_compiled_for_every_target_of_this_architecture() {
        let seven = wat::parse_str(SEVEN).unwrap();
        for system in ["unknown-linux-gnu", "unknown-linux-musl", "apple-darwin", "pc-windows-msvc", "pc-windows-gnu"] {
            let code = precompile(&seven, &format!("{ARCH}-{system}"), Effort::Full).unwrap();
            assert_eq!(Engine::detect_precompiled(&code), Some(wasmtime::Precompiled::Component), "{system}");
        }
    }
}
