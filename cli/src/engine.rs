//! Engine that the global options name.
//!
//! The code of the component is part of the program, so a run never compiles it.

use saddlebag_host::EngineKind;
#[cfg(feature = "component")]
use saddlebag_host::{ComponentCode, ComponentOptions};

use crate::failure::{Failure, WITH_NATIVE};
use crate::global::{Engine, Global};

#[cfg(not(any(feature = "component", feature = "native")))]
compile_error!("the program needs an engine: enable `component` or `native`");

/// Returns the engine that the global options name.
///
/// # Errors
///
/// This program does not have it.
pub(crate) fn engine(global: &Global) -> Result<EngineKind, Failure> {
    match global.engine {
        #[cfg(feature = "component")]
        Engine::Component => Ok(EngineKind::Component(ComponentOptions::new(ComponentCode::Embedded))),
        Engine::Native => EngineKind::native().ok_or_else(|| {
            Failure::usage(
                "this program does not have the engine `native`",
                format!("leave --engine out, or build the program with it: {WITH_NATIVE}"),
            )
        }),
    }
}
