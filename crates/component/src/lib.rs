//! The Saddlebag memory component as bytes.
//!
//! The build script compiles the `saddlebag` crate for `wasm32-wasip2`. A debug build gets the quickly
//! built profile `component-dev`, a release build the small and fast profile `component`.
//! `SADDLEBAG_COMPONENT=path` at build time embeds that file instead.
//!
//! Only programs and tests link this crate. A host library takes the bytes as an argument, so it compiles
//! while the component is still being built.

#![no_std]

/// The WebAssembly component.
pub const COMPONENT: &[u8] = include_bytes!(env!("SADDLEBAG_EMBEDDED_COMPONENT"));

/// SHA-256 of [`COMPONENT`] in lower-case hexadecimal.
pub const SHA256: &str = env!("SADDLEBAG_EMBEDDED_DIGEST");

/// The code of [`COMPONENT`], compiled for [`TARGET`], at a page boundary, so that it can run where it is.
#[cfg(feature = "compiled")]
pub static COMPILED: &[u8] = &CODE.0;

/// Target triple that [`COMPILED`] was compiled for.
#[cfg(feature = "compiled")]
pub const TARGET: &str = env!("SADDLEBAG_EMBEDDED_TARGET");

#[cfg(feature = "compiled")]
static CODE: Pages<{ include_bytes!(env!("SADDLEBAG_EMBEDDED_CODE")).len() }> =
    Pages(*include_bytes!(env!("SADDLEBAG_EMBEDDED_CODE")));

/// Bytes in their own pages. 64 KiB is the largest page of the targets.
#[cfg(feature = "compiled")]
#[repr(C, align(65536))]
struct Pages<const LENGTH: usize>([u8; LENGTH]);
