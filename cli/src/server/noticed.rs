//! [`gather`]: the changes of the watched folder, gathered until it is quiet.

use std::collections::BTreeSet;
use std::time::Duration;

use saddlebag_host::Noticed;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, timeout_at};

/// Time without changes after which clients are told.
const QUIET: Duration = Duration::from_millis(50);
/// Maximum time that a change waits for quiet.
const PATIENCE: Duration = Duration::from_millis(500);

/// Changes between two times of quiet.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) changed: BTreeSet<String>,
    /// Paths that may have been created, removed or renamed.
    pub(crate) moved: BTreeSet<String>,
    pub(crate) is_interrupted: bool,
}

/// Waits for a change, and then until it is quiet. Returns `None` if the watch has ended.
pub(crate) async fn gather(events: &mut UnboundedReceiver<Noticed>) -> Option<Seen> {
    let mut seen = Seen::default();
    let mut next = Some(events.recv().await?);
    let last = Instant::now() + PATIENCE;
    while let Some(event) = next {
        match event {
            Noticed::Changed { path, may_be_listed_otherwise } => {
                if may_be_listed_otherwise {
                    seen.moved.insert(path.clone());
                }
                seen.changed.insert(path);
            }
            Noticed::Interrupted => seen.is_interrupted = true,
        }
        next = timeout_at(last.min(Instant::now() + QUIET), events.recv()).await.ok().flatten();
    }
    Some(seen)
}
