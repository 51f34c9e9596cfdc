//! Memory that code runs in, and its protection.

#![allow(unsafe_code, reason = "pages are made executable; see the safety comments")]

use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::mm::MprotectFlags;
use wasmtime::CustomCodeMemory;

pub(super) const PAGE: usize = 4096;

/// Lets an engine run code from memory that it does not own.
pub(super) fn configure(config: &mut wasmtime::Config) {
    config.with_custom_code_memory(Some(Arc::new(Protection)));
}

/// Code that was loaded. It is read-only or executable from then on.
struct Kept {
    /// Tag of code from the cache; `None` for the program's own.
    #[cfg(feature = "compiler")]
    tag: Option<[u8; 32]>,
    memory: NonNull<[u8]>,
    /// True while a component runs from here. Wasmtime accepts code at an address only once at a time.
    is_used: bool,
}

// SAFETY: nothing writes to the memory any more, and it exists until the process ends.
unsafe impl Send for Kept {}

static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

fn kept() -> MutexGuard<'static, Vec<Kept>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes free memory with the code of this tag.
#[cfg(feature = "compiler")]
pub(super) fn reuse(tag: [u8; 32]) -> Option<NonNull<[u8]>> {
    let mut kept = kept();
    let free = kept.iter_mut().find(|kept| kept.tag == Some(tag) && !kept.is_used)?;
    free.is_used = true;
    Some(free.memory)
}

/// Takes memory with the code of this tag, which stays until the process ends.
#[cfg(feature = "compiler")]
pub(super) fn add(tag: [u8; 32], memory: NonNull<[u8]>) {
    kept().push(Kept { tag: Some(tag), memory, is_used: true });
}

/// Takes memory of this program. Returns false if a component runs from it.
#[cfg(feature = "embedded")]
pub(super) fn claim(memory: NonNull<[u8]>) -> bool {
    let mut kept = kept();
    match kept.iter_mut().find(|kept| std::ptr::addr_eq(kept.memory.as_ptr(), memory.as_ptr())) {
        Some(found) => !std::mem::replace(&mut found.is_used, true),
        None => {
            kept.push(Kept {
                #[cfg(feature = "compiler")]
                tag: None,
                memory,
                is_used: true,
            });
            true
        }
    }
}

/// Lets the memory with this address be reused. Does nothing for memory that wasmtime owns.
pub(super) fn release(address: *const u8) {
    let mut kept = kept();
    let has_address = |kept: &Kept| {
        let start = kept.memory.cast::<u8>().as_ptr().addr();
        (start..start + kept.memory.len()).contains(&address.addr())
    };
    if let Some(found) = kept.iter_mut().find(|kept| has_address(kept)) {
        found.is_used = false;
    }
}

/// Makes code executable, whether it was loaded or just compiled. This processor needs no cache flush.
struct Protection;

impl CustomCodeMemory for Protection {
    fn required_alignment(&self) -> usize {
        PAGE
    }

    fn publish_executable(&self, code: *const u8, length: usize) -> wasmtime::Result<()> {
        let protection = MprotectFlags::READ | MprotectFlags::EXEC;
        // SAFETY: wasmtime passes whole pages of mapped code that it does not write to.
        unsafe { rustix::mm::mprotect(code.cast_mut().cast(), length, protection)? };
        Ok(())
    }

    /// Changes no page: nothing may write to loaded pages, and wasmtime unmaps its own next.
    fn unpublish_executable(&self, code: *const u8, _: usize) -> wasmtime::Result<()> {
        release(code);
        Ok(())
    }
}
