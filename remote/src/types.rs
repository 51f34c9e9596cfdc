//! Types that all stores share.

use std::path::PathBuf;
use std::time::Duration;

/// How a store is opened.
#[derive(Clone, Debug, Default)]
pub struct AttachOptions {
    /// True if an empty bucket, folder of a bucket or space of a database becomes a new store. Otherwise the error is
    /// [`AttachError::NoStore`](crate::AttachError::NoStore), and nothing is changed there.
    pub create: bool,
    /// Folder of this machine for copies of large objects of a bucket. It has text of the store, and can be deleted at any time.
    /// A database has no use for it.
    pub cache: Option<PathBuf>,
}

/// What a store no longer needs, and what became of it: tombstones of removed files in a bucket, names of operations in a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maintained {
    /// Number that were removed.
    pub removed: u64,
    /// Number that are older than the period of grace and are still there.
    pub old: u64,
    /// Number that are younger.
    pub left: u64,
    /// True if the server can remove them safely beside writers. A dry run does not try, and says true.
    pub can_remove: bool,
}

/// Default age after which [`maintain`](crate::maintain) removes something.
pub const GRACE: Duration = Duration::from_hours(7 * 24);

/// A property of a server that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    /// Property, such as `creates only what is absent`.
    pub property: &'static str,
    /// True if the server has it.
    pub holds: bool,
}
