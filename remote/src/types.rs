//! Types that all stores share.

/// A property of a server that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    /// Property, such as `creates only what is absent`.
    pub property: &'static str,
    /// True if the server has it.
    pub holds: bool,
}
