//! Leaves the tables for unwinding the stack, 0.6 MB, out of released programs for Linux. These programs abort on a panic and
//! have no symbols, so a backtrace would name nothing.

use std::env;
use std::path::Path;

fn main() {
    const SCRIPT: &str = "without-unwind-tables.ld";
    println!("cargo:rerun-if-changed={SCRIPT}");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let is_released = env::var_os("CARGO_FEATURE_RELEASED").is_some();
    if is_released && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_PANIC", "abort") {
        let folder = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo:rustc-link-arg-bins=-Wl,--no-eh-frame-hdr");
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{}", Path::new(&folder).join(SCRIPT).display());
    }
}
