//! Memory that code is read into and checked in; wasmtime copies it to pages of its own.

#![allow(unsafe_code, reason = "code is run as it is; see the safety comments")]

use std::io;

use wasmtime::Engine;
use wasmtime::component::Component;

/// Engines run such code as they are.
pub(crate) fn configure(_: &mut wasmtime::Config) {}

/// Bytes of this process.
pub(super) struct Pages(Vec<u8>);

impl Pages {
    pub(super) fn new(length: usize) -> io::Result<Self> {
        Ok(Self(vec![0; length]))
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// Makes a component of the code.
    ///
    /// # Safety
    ///
    /// The bytes are what wasmtime serialized, unchanged.
    pub(super) unsafe fn load(self, engine: &Engine, _: [u8; 32]) -> wasmtime::Result<Component> {
        // SAFETY: the caller vouches for the bytes.
        unsafe { Component::deserialize(engine, self.0) }
    }
}
