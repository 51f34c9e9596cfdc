//! Memory in which code is read, checked and run.
//!
//! Reading code into a `Vec`, which wasmtime copies to its own pages, takes 17 ms for 7.7 MB if a page fault is slow,
//! as in a virtual machine. These pages are large and filled once, which takes 5.6 ms; mapping the file would take 4
//! ms. But a mapped file can be changed after the check by anyone who has it open.

#![allow(unsafe_code, reason = "pages are mapped, protected and unmapped; see the safety comments")]

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags};
use wasmtime::Engine;
use wasmtime::component::Component;

use super::memory::{self, PAGE};

const LARGE_PAGE: usize = 2 << 20;

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

/// Returns the memory of free pages with this tag, or of these pages, which are read-only from then on.
fn keep(tag: [u8; 32], pages: Pages) -> io::Result<NonNull<[u8]>> {
    if let Some(memory) = memory::reuse(tag) {
        return Ok(memory);
    }
    // SAFETY: the whole mapping of `pages`, which nothing borrows.
    unsafe { rustix::mm::mprotect(pages.mapped.as_ptr(), pages.mapped_bytes, MprotectFlags::READ)? };
    let memory = NonNull::slice_from_raw_parts(pages.start, pages.length);
    std::mem::forget(pages);
    memory::add(tag, memory);
    Ok(memory)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::memory::release;
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
