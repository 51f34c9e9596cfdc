//! Memory for reading and checking compiled code; wasmtime copies it to its own pages.

#![allow(unsafe_code, reason = "code is run as it is; see the safety comments")]

use std::io;

use wasmtime::Engine;
use wasmtime::component::Component;

/// Bytes in the memory of this process.
pub(super) struct Pages(Vec<u8>);

impl Pages {
    pub(super) fn new(length: usize) -> io::Result<Self> {
        Ok(Self(vec![0; length]))
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// Creates a component from the code.
    ///
    /// # Safety
    ///
    /// The bytes are unchanged output of wasmtime's serialization.
    pub(super) unsafe fn load(self, engine: &Engine, _: [u8; 32]) -> wasmtime::Result<Component> {
        // SAFETY: the caller vouches for the bytes.
        unsafe { Component::deserialize(engine, self.0) }
    }
}
