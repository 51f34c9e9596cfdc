//! The configuration of wasmtime that the host and the build of a released program share.
//!
//! Compiled code runs only in an engine with the configuration that it was compiled with. So there is one [`config`]:
//! the host makes its engines of it, and `precompile`, which needs the feature `compiler`, the code of a released
//! program.

use wasmtime::Config;

/// Returns the configuration of an engine that runs components on this machine.
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

/// Features of a processor that the code for x86-64 uses. They are the features of x86-64-v2, which every processor of
/// this architecture since 2013 has. Without the third, the shuffle of a vector is a call for each byte.
#[cfg(feature = "compiler")]
const X86_64_V2: [&str; 5] = ["has_popcnt", "has_sse3", "has_ssse3", "has_sse41", "has_sse42"];

/// How well a component is compiled.
#[cfg(feature = "compiler")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Code that runs fast.
    Full,
    /// Code that is made fast, for a compiler that is itself not optimised.
    Least,
}

/// Compiles a component for the target triple, such as `x86_64-unknown-linux-gnu`. The code uses only what every processor
/// of the architecture has, or on x86-64 that of the level x86-64-v2, whatever the machine that compiles. A processor
/// without it is found when the code is loaded.
///
/// # Errors
///
/// The bytes are not a component, or this build has no compiler for the architecture.
#[cfg(feature = "compiler")]
pub fn precompile(component: &[u8], target: &str, effort: Effort) -> wasmtime::Result<Vec<u8>> {
    let mut config = config_for(target.contains("-windows-"));
    if effort == Effort::Least {
        config.cranelift_opt_level(wasmtime::OptLevel::None);
        config.cranelift_regalloc_algorithm(wasmtime::RegallocAlgorithm::SinglePass);
    }
    // With an explicit target wasmtime does not ask for the features of this machine's processor.
    config.target(target)?;
    if target.starts_with("x86_64-") {
        for feature in X86_64_V2 {
            #[allow(unsafe_code, reason = "wasmtime has no other way to name a feature")]
            // SAFETY: wasmtime compares the features of the code with the features of the processor before it runs it.
            unsafe {
                config.cranelift_flag_enable(feature);
            }
        }
    }
    wasmtime::Engine::new(&config)?.precompile_component(component)
}
