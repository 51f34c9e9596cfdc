//! The WebAssembly shell: bindings of `wit/`, allocator, panic handler. The only folder with `unsafe`.

#![allow(unsafe_code)]
#![allow(missing_docs, clippy::all)]

#[cfg(feature = "json")]
mod json;
#[cfg(not(feature = "json"))]
mod typed;

use core::alloc::Layout;

// `memcmp` and similar functions come from here. Nothing else of it is linked.
#[cfg(target_os = "wasi")]
#[link(name = "c")]
unsafe extern "C" {}

/// Replaces libc's version, which compares one byte at a time: sorted collections compare paths all the time.
///
/// # Safety
///
/// That of C's `memcmp`: both have `length` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(one: *const u8, other: *const u8, length: usize) -> i32 {
    use core::arch::wasm32::{i8x16_bitmask, i8x16_ne, v128, v128_load};

    const LANES: usize = size_of::<v128>();
    let mut at = 0;
    // SAFETY: only bytes before `length` are read.
    unsafe {
        while length - at >= LANES {
            let differing = i8x16_ne(v128_load(one.add(at).cast()), v128_load(other.add(at).cast()));
            let differing = i8x16_bitmask(differing);
            if differing != 0 {
                at += differing.trailing_zeros() as usize;
                return i32::from(*one.add(at)) - i32::from(*other.add(at));
            }
            at += LANES;
        }
        while at < length {
            let difference = i32::from(*one.add(at)) - i32::from(*other.add(at));
            if difference != 0 {
                return difference;
            }
            at += 1;
        }
    }
    0
}

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// Traps: the host drops the instance, and the command fails with a typed error.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

/// Allocates the host's arguments in the heap of this component, instead of a second heap of libc.
///
/// # Safety
///
/// Called only by the canonical ABI: `old` was allocated here with `old_size` and `align`.
#[unsafe(no_mangle)]
unsafe extern "C" fn cabi_realloc(old: *mut u8, old_size: usize, align: usize, new_size: usize) -> *mut u8 {
    let (Ok(old_layout), Ok(new_layout)) =
        (Layout::from_size_align(old_size, align), Layout::from_size_align(new_size, align))
    else {
        core::arch::wasm32::unreachable()
    };
    if new_size == 0 {
        return core::ptr::without_provenance_mut(align);
    }
    // SAFETY: the new size is not zero, and the canonical ABI guarantees `old`.
    let new = unsafe {
        if old_size == 0 { alloc::alloc::alloc(new_layout) } else { alloc::alloc::realloc(old, old_layout, new_size) }
    };
    if new.is_null() {
        core::arch::wasm32::unreachable()
    }
    new
}
