use alloc::string::String;
pub(super) struct MemoryEntry<'a> { pub path: &'a str, pub title: &'a str, pub text: &'a str }
pub(super) fn format_memory_context(_memories: &[MemoryEntry<'_>], _max_bytes: usize) -> Option<String> { None }
