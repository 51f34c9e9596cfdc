//! [`Live`]: tells pages that memory has changed.

use std::convert::Infallible;

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

/// Publisher of changes. Clones are the same.
#[derive(Clone)]
pub(super) struct Live(broadcast::Sender<()>);

impl Live {
    /// Starts the task that publishes. If the folder cannot be watched, it ends at once, and there are no events.
    pub(super) fn publish(mut seen: UnboundedReceiver<Noticed>) -> Self {
        let live = Self(broadcast::Sender::new(BACKLOG));
        let sender = live.0.clone();
        task::spawn(async move {
            while let Some(seen) = gather(&mut seen).await {
                if !seen.is_interrupted && seen.changed.iter().all(|path| is_own(path)) {
                    continue;
                }
                // There may be no page.
                let _ = sender.send(());
            }
        });
        live
    }

    /// Returns the body of an answer that has an event for each change. It ends with the page.
    pub(super) fn events(&self) -> BoxBody<Bytes, Infallible> {
        let events = futures_util::stream::unfold((self.0.subscribe(), true), next);
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
