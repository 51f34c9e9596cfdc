//! [`Limits`]: what an engine takes at once.

/// Limits on what an engine takes at once. The host's own limits come on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most entries in one page of a listing, whatever the command asks for.
    pub max_list_entries: u32,
    /// The most requests that may be owed a result at once; 0 counts as 1.
    pub max_requests: u32,
    /// The most commands in flight.
    pub max_commands: u32,
}

impl Default for Limits {
    /// 16,384 entries a page, 256 requests, 64 commands.
    fn default() -> Self {
        Self { max_list_entries: 16_384, max_requests: 256, max_commands: 64 }
    }
}
