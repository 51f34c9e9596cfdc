//! [`Live`]: tells pages that memory has changed.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Bytes, Frame};
use saddlebag_host::Noticed;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Receiver};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task;

use crate::server::noticed::gather;

/// Folder of what the program keeps for itself: its changes come with those of other files.
const OWN_FOLDER: &str = ".saddlebag";
/// Number of events that wait for a slow page, which needs only one.
const BACKLOG: usize = 1;

/// Number of [`Changes`] if nobody watches the folder.
const UNWATCHED: u64 = u64::MAX;

/// Publisher of changes. Clones are the same.
#[derive(Clone)]
pub(super) struct Live {
    sender: broadcast::Sender<()>,
    changes: Arc<AtomicU64>,
}

/// Number of changes that were seen up to a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Changes(u64);

impl Live {
    /// Starts the task that publishes. If the folder cannot be watched, it ends at once, and there are no events.
    pub(super) fn publish(mut seen: UnboundedReceiver<Noticed>) -> Self {
        let live = Self { sender: broadcast::Sender::new(BACKLOG), changes: Arc::default() };
        let publisher = live.clone();
        task::spawn(async move {
            while let Some(seen) = gather(&mut seen).await {
                if !seen.is_interrupted && seen.changed.iter().all(|path| is_own(path)) {
                    continue;
                }
                publisher.changes.fetch_add(1, Ordering::SeqCst);
                // There may be no page.
                let _ = publisher.sender.send(());
            }
            publisher.changes.store(UNWATCHED, Ordering::SeqCst);
        });
        live
    }

    /// Returns the changes so far; `None` if the folder is not watched, so that they are unknown.
    pub(super) fn changes(&self) -> Option<Changes> {
        Some(self.changes.load(Ordering::SeqCst)).filter(|&changes| changes != UNWATCHED).map(Changes)
    }

    /// Returns the body of an answer that has an event for each change. It ends with the page.
    pub(super) fn events(&self) -> BoxBody<Bytes, Infallible> {
        let events = futures_util::stream::unfold((self.sender.subscribe(), true), next);
        StreamBody::new(events).boxed()
    }
}

/// Returns true for a path in a folder that the program keeps for itself.
fn is_own(path: &str) -> bool {
    path.split('/').any(|name| name == OWN_FOLDER)
}

/// Returns the next event. The first one is a comment, with which the answer begins.
async fn next(
    (mut receiver, is_first): (Receiver<()>, bool),
) -> Option<(Result<Frame<Bytes>, Infallible>, (Receiver<()>, bool))> {
    let event = if is_first {
        ": open\n\n"
    } else {
        match receiver.recv().await {
            Ok(()) | Err(RecvError::Lagged(_)) => "event: change\ndata: \n\n",
            Err(RecvError::Closed) => return None,
        }
    };
    Some((Ok(Frame::data(Bytes::from_static(event.as_bytes()))), (receiver, false)))
}
