//! The configuration of wasmtime that the host and the build of a released program share.
//!
//! Compiled code runs only in an engine with the configuration that it was compiled with. So there is one [`config`]:
//! the host makes its engines of it, and `precompile`, which needs the feature `compiler`, the code of a released
//! program.

use wasmtime::Config;

/// Returns the configuration of an engine that runs components on this machine.
#[must_use]
pub fn config() -> Config {
    config_for(cfg!(windows))
}

fn config_for(windows: bool) -> Config {
    let mut config = Config::new();
    config.epoch_interruption(true);
    // Nothing uses this information: a trap is reported as one line of text and is not debugged.
    config.generate_address_map(false).wasm_backtrace_max_frames(None);
    // Windows requires it.
    if !windows {
        config.native_unwind_info(false);
    }
    config
}

/// Compiles a component for the target triple, such as `x86_64-unknown-linux-gnu`. The code uses only what every
/// processor of the architecture has, whatever the machine that compiles.
///
/// # Errors
///
/// The bytes are not a component, or this build has no compiler for the architecture.
#[cfg(feature = "compiler")]
pub fn precompile(component: &[u8], target: &str) -> wasmtime::Result<Vec<u8>> {
    let mut config = config_for(target.contains("-windows-"));
    // With an explicit target wasmtime does not ask for the features of this machine's processor.
    config.target(target)?;
    wasmtime::Engine::new(&config)?.precompile_component(component)
}
