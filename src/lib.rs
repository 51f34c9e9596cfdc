#![no_std]
extern crate alloc;
#[cfg(not(target_arch = "wasm32"))]
extern crate std;
pub mod protocol;
pub mod store;
