//! Code that the program contains, compiled at build time.
//!
//! It is as trustworthy as the rest of the program: the build script of `saddlebag-component` wrote it with wasmtime,
//! and it is part of the same file. Wasmtime checks that its own version, its configuration and this processor
//! are those that the code was compiled for.

#![allow(unsafe_code, reason = "code is run as it is; see the safety comments")]

use saddlebag_component::COMPILED;
use wasmtime::Engine;
use wasmtime::component::Component;

/// Creates a component from the code of this program.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) fn load(engine: &Engine) -> wasmtime::Result<Component> {
    use super::memory;

    let code = std::ptr::NonNull::from(COMPILED);
    if !memory::claim(code) {
        return copy(engine);
    }
    // SAFETY: the bytes are what wasmtime made at build time. They are a static of this program, which nobody changes and
    // which is never unmapped, and no other component runs from them.
    let loaded = unsafe { Component::deserialize_raw(engine, code) };
    if loaded.is_err() {
        memory::release(code.cast().as_ptr());
    }
    loaded
}

/// Creates a component from the code of this program.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(crate) fn load(engine: &Engine) -> wasmtime::Result<Component> {
    copy(engine)
}

/// Creates a component from a copy of the code.
fn copy(engine: &Engine) -> wasmtime::Result<Component> {
    // SAFETY: the bytes are what wasmtime made at build time.
    unsafe { Component::deserialize(engine, COMPILED) }
}
