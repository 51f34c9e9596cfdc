//! Engine that the global options name. The features of the program choose where the code of the component comes from.

use saddlebag_host::EngineKind;

use crate::global::{Engine, Global};

#[cfg(not(any(feature = "component", feature = "native")))]
compile_error!("the program needs an engine: enable `compiler`, `released` or `native`");

#[cfg(all(feature = "component", not(any(feature = "compiler", feature = "released"))))]
compile_error!("the feature `component` needs code to run: enable `compiler` or `released`, which enable it");

/// Returns the engine that the global options name.
pub(crate) fn engine(global: &Global) -> EngineKind {
    match global.engine {
        #[cfg(feature = "released")]
        Engine::Component => {
            EngineKind::Component(saddlebag_host::ComponentOptions::new(saddlebag_host::ComponentCode::Embedded))
        }
        #[cfg(all(feature = "compiler", not(feature = "released")))]
        Engine::Component => EngineKind::Component(at_run_time::compile().into()),
        #[cfg(feature = "native")]
        Engine::Native => EngineKind::Native,
    }
}

/// The component, compiled at the first start.
#[cfg(all(feature = "compiler", not(feature = "released")))]
mod at_run_time {
    use std::path::PathBuf;

    use saddlebag_host::{CodeCache, Compile, PrivateError};

    use crate::output;

    /// Environment variable with the folder for compiled code. The default is in the user's cache.
    const CODE_CACHE: &str = "SADDLEBAG_CODE_CACHE";
    /// Environment variable with the file of the key that compiled code is checked with. The default is the user's key.
    const CODE_KEY: &str = "SADDLEBAG_CODE_KEY";

    pub(super) fn compile() -> Compile {
        let named = |variable| std::env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
        let mut compile = Compile::new(saddlebag_component::COMPONENT);
        compile.sha256 = Some(saddlebag_component::SHA256);
        if let Some(code) = named(CODE_CACHE) {
            compile.cache = CodeCache::Folder { code, key: named(CODE_KEY) };
        }
        compile.before_compiling = Some(say_that_it_compiles);
        compile.on_cache_refused = Some(say_that_code_is_not_kept);
        compile
    }

    /// Warns that compiled code is not kept, because otherwise every call would take seconds without a visible reason.
    /// The warning appears once per process, which may open the engine again.
    fn say_that_code_is_not_kept(error: &PrivateError) {
        static SAID: std::sync::Once = std::sync::Once::new();
        SAID.call_once(|| {
            output::warn(&format!(
                "compiled code is neither used nor kept, because somebody else could replace it: {error}; every run \
                 compiles the component, which takes seconds; let only you write to that place and the folders above it \
                 (`chmod go-w`), name a folder that is yours in {CODE_CACHE}, or use `--engine native`"
            ));
        });
    }

    /// Reports that the component is being compiled. The first start takes seconds without other output.
    fn say_that_it_compiles() {
        if output::is_seen() {
            output::tell("compiling the memory component for this machine, once for each version …");
        }
    }
}
