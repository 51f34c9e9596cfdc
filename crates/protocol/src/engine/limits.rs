//! [`Limits`]: limits of an engine.

/// Limits of an engine. The host may have stricter limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of entries on one page of a listing, whatever the command requests.
    pub max_list_entries: u32,
    /// Maximum number of requests without a result; 0 counts as 1.
    pub max_requests: u32,
    /// Maximum number of commands in flight.
    pub max_commands: u32,
}

impl Default for Limits {
    /// Returns 16,384 entries per page, 256 requests, 64 commands.
    fn default() -> Self {
        Self { max_list_entries: 16_384, max_requests: 256, max_commands: 64 }
    }
}
