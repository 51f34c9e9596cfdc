//! Memory in which code is read, checked and run.
//!
//! Reading code into a `Vec`, which wasmtime copies to pages of its own, takes 17 ms for 7.7 MB if a page fault is
//! slow, as in a virtual machine. These pages are large and filled once, which takes 5.6 ms; mapping the file would
//! take 4 ms. But a mapped file can be changed after the check by anyone who has it open.

#![allow(unsafe_code, reason = "pages are mapped, protected and unmapped; see the safety comments")]

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags};
use wasmtime::component::Component;
use wasmtime::{CustomCodeMemory, Engine};

const PAGE: usize = 4096;
const LARGE_PAGE: usize = 2 << 20;

/// Lets an engine run code from [`Pages`].
pub(crate) fn configure(config: &mut wasmtime::Config) {
    config.with_custom_code_memory(Some(Arc::new(Protection)));
}

/// Private memory of this process, readable and writable until code is loaded from it.
pub(super) struct Pages {
    /// Mapping of whole pages, and the start of the code in it.
    mapped: NonNull<c_void>,
    mapped_bytes: usize,
    start: NonNull<u8>,
    length: usize,
}

impl Pages {
    pub(super) fn new(length: usize) -> io::Result<Self> {
        let is_large = length >= LARGE_PAGE;
        let alignment = if is_large { LARGE_PAGE } else { PAGE };
        let mapped_bytes = length
            .max(1)
            .checked_next_multiple_of(alignment)
            .and_then(|bytes| bytes.checked_add(alignment))
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, at an address that the system chooses.
        let mapped =
            unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), mapped_bytes, protection, MapFlags::PRIVATE)? };
        let mapped = NonNull::new(mapped).ok_or(io::ErrorKind::OutOfMemory)?;
        if is_large {
            // SAFETY: the mapping from above. A system without large pages uses small ones, which are only slower.
            let _ = unsafe { rustix::mm::madvise(mapped.as_ptr(), mapped_bytes, Advice::LinuxHugepage) };
        }
        let offset = mapped.cast::<u8>().align_offset(alignment);
        // SAFETY: the mapping is longer than the code by `alignment`, and `offset` is less than that.
        let start = unsafe { mapped.cast::<u8>().add(offset) };
        Ok(Self { mapped, mapped_bytes, start, length })
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: mapped for reading and writing, zeroed by the system, and borrowed as `self` is.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }

    /// Creates a component from the code. The pages stay until the process ends, because the component may live that long. After the
    /// component is dropped, the next one with the same code, which `tag` identifies, reuses them.
    ///
    /// # Safety
    ///
    /// The bytes are unchanged output of wasmtime's serialization, and no other bytes have this tag.
    pub(super) unsafe fn load(self, engine: &Engine, tag: [u8; 32]) -> wasmtime::Result<Component> {
        let memory = keep(tag, self)?;
        // SAFETY: the caller guarantees the bytes. `keep` has made them read-only, and they are never unmapped.
        unsafe { Component::deserialize_raw(engine, memory) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping belongs to this value, and no code was loaded from it: `keep` forgets pages with loaded
        // code.
        let _ = unsafe { rustix::mm::munmap(self.mapped.as_ptr(), self.mapped_bytes) };
    }
}

/// Code that was loaded. It is read-only or executable from then on.
struct Kept {
    tag: [u8; 32],
    memory: NonNull<[u8]>,
    /// True while a component runs from here. Wasmtime accepts code at an address only once at a time.
    is_used: bool,
}

// SAFETY: nothing writes to the memory any more, and it exists until the process ends.
unsafe impl Send for Kept {}

static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

fn keep(tag: [u8; 32], pages: Pages) -> io::Result<NonNull<[u8]>> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(free) = kept.iter_mut().find(|kept| kept.tag == tag && !kept.is_used) {
        free.is_used = true;
        return Ok(free.memory);
    }
    // SAFETY: the whole mapping of `pages`, which nothing borrows.
    unsafe { rustix::mm::mprotect(pages.mapped.as_ptr(), pages.mapped_bytes, MprotectFlags::READ)? };
    let memory = NonNull::slice_from_raw_parts(pages.start, pages.length);
    std::mem::forget(pages);
    kept.push(Kept { tag, memory, is_used: true });
    Ok(memory)
}

/// Lets the pages with this address be reused. Does nothing for pages that wasmtime owns.
fn release(address: *const u8) {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_used_by_one_component_at_a_time_and_then_again() {
        let pages = || Pages::new(10).unwrap();
        let tag = *b"a tag of no code but of this test";
        let tag: [u8; 32] = tag[..32].try_into().unwrap();
        let one = keep(tag, pages()).unwrap();
        let other = keep(tag, pages()).unwrap();
        assert_ne!(one, other);
        // SAFETY: within the pages.
        release(unsafe { one.cast::<u8>().add(9) }.as_ptr());
        assert_eq!(keep(tag, pages()).unwrap(), one);
        assert_ne!(keep([0; 32], pages()).unwrap(), one);
    }

    #[test]
    fn pages_have_room_for_code_of_every_length() {
        for length in [0, 1, PAGE - 1, PAGE, PAGE + 1, LARGE_PAGE - 1, LARGE_PAGE, LARGE_PAGE + 1, 3 * LARGE_PAGE] {
            let mut pages = Pages::new(length).unwrap();
            let bytes = pages.bytes_mut();
            assert_eq!((bytes.len(), bytes.as_ptr().align_offset(PAGE)), (length, 0));
            bytes.fill(1);
        }
    }
}
