//! The entries: keyed facts in categories, hydrated into a prompt under a budget.
//!
//! It does what the documentation of zombie's memory promises, on plain Markdown: one file for each key, its
//! frontmatter above the content. `document` is that file, [`plan`] is hydration, [`over_cap`] and
//! [`is_expired`] are what goes; all of them are pure.

mod category;
mod checks;
mod document;
mod hydrate;
mod retention;
mod select;

pub use category::{Category, MAX_CATEGORY_BYTES, Tier};
pub use checks::{MAX_CONTENT_BYTES, MAX_KEY_BYTES, MAX_SOURCE_BYTES, MAX_TAG_BYTES, MAX_TAGS, NewEntry};
pub use hydrate::{
    Budget, Candidate, DEFAULT_HYDRATE_BYTES, OutReason, Placement, Policy, WORKSPACE_SHARE, plan, taken,
};
pub use retention::{DAILY_RETENTION, Kept, MAX_ENTRIES, is_expired, over_cap, stamp};
pub use select::{EntryFilter, MAX_LIST_ENTRIES};
