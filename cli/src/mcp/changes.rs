//! [`Changes`]: tells clients which resources have changed.
//!
//! A task gathers what the watch has seen until it is quiet, and asks the component which files the client may see. Only changes of those
//! are published: what happens to the memory of another project is not told.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::SubscriptionContext;
use rmcp::{Peer, RoleServer};
use saddlebag::Answered;
use saddlebag::context::Context;
use saddlebag_host::Noticed;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Receiver};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{self, AbortHandle};

use super::resources;
use crate::failure::Failure;
use crate::server::noticed::{Seen, gather};
use crate::server::worker::Memory;

/// Number of publications that wait for a slow client. If there are more, it is told that everything has changed.
const BACKLOG: usize = 64;

/// Publisher of the changes of one store. Clones are the same.
#[derive(Clone)]
pub(crate) struct Changes {
    publications: broadcast::Sender<Arc<Publication>>,
    /// Memory block as its subscribers know it; `None` if nobody subscribed to it.
    block: Arc<Mutex<Option<String>>>,
}

/// Resources that have changed.
struct Publication {
    has_another_list: bool,
    /// URIs of the changed resources; `None` for all.
    uris: Option<BTreeSet<String>>,
}

impl Publication {
    fn of_everything() -> Self {
        Self { has_another_list: true, uris: None }
    }

    fn is_of(&self, uri: &str) -> bool {
        self.uris.as_ref().is_none_or(|uris| uris.contains(uri))
    }
}

/// Source of the changes, for the task that publishes them.
pub(crate) struct Source {
    /// Changes that the watch has seen.
    pub(crate) seen: UnboundedReceiver<Noticed>,
    pub(crate) root: PathBuf,
    pub(crate) memory: Memory,
    /// Command that makes the memory block.
    pub(crate) block: Context,
}

impl Changes {
    /// Starts the task that publishes. It ends with the watch.
    pub(crate) fn publish(source: Source) -> Self {
        let changes = Self { publications: broadcast::Sender::new(BACKLOG), block: Arc::default() };
        task::spawn(changes.clone().run(source));
        changes
    }

    /// Sets the block that the first subscriber to it knows.
    pub(crate) fn know_block(&self, text: String) {
        self.block.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text);
    }

    async fn run(self, mut source: Source) {
        // Files that were resources at the last look.
        let mut known = None;
        while let Some(seen) = gather(&mut source.seen).await {
            if self.publications.receiver_count() == 0 {
                known = None;
                continue;
            }
            match self.judge(&source, &mut known, seen).await {
                // Nobody may be left to tell.
                Ok(publication) => drop(self.publications.send(Arc::new(publication))),
                Err(failure) => {
                    tracing::debug!(code = failure.code.as_str(), "clients are told that everything has changed");
                    drop(self.publications.send(Arc::new(Publication::of_everything())));
                }
            }
        }
    }

    /// Returns what has changed for clients. `known` becomes the present files.
    async fn judge(
        &self,
        source: &Source,
        known: &mut Option<BTreeSet<String>>,
        seen: Seen,
    ) -> Result<Publication, Failure> {
        let old = known.take();
        let is_same = !seen.is_interrupted
            && old.as_ref().is_some_and(|old| {
                seen.moved.iter().all(|path| old.contains(path) && is_file(&source.root.join(path)))
            });
        let new = if is_same { None } else { Some(resources::paths(&source.memory).await?) };
        let is_visible = |path: &String| [&old, &new].into_iter().flatten().any(|paths| paths.contains(path));
        let changed = seen.changed.iter().filter(|path| is_visible(path));
        let mut uris: BTreeSet<String> = changed.map(|path| resources::file_uri(path)).collect();
        let has_another_list = (seen.is_interrupted || !seen.moved.is_empty()) && new.is_some() && new != old;
        // A renamed folder has no event for each of its files.
        if let (Some(old), Some(new)) = (&old, &new) {
            uris.extend(old.symmetric_difference(new).map(|path| resources::file_uri(path)));
        }
        *known = new.or(old);
        if self.has_another_block(source).await? {
            uris.insert(resources::CONTEXT_URI.into());
        }
        Ok(Publication { has_another_list, uris: (!seen.is_interrupted).then_some(uris) })
    }

    async fn has_another_block(&self, source: &Source) -> Result<bool, Failure> {
        let known = |block: &Mutex<Option<String>>| block.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(old) = known(&self.block) else { return Ok(false) };
        let reply = source.memory.call(source.block.clone(), None).await?;
        let new = Context::from_reply(reply).map(resources::block_text).unwrap_or_default();
        let has_changed = new != old;
        *self.block.lock().unwrap_or_else(PoisonError::into_inner) = Some(new);
        Ok(has_changed)
    }

    /// Returns all publications from now on.
    pub(crate) fn follow(&self) -> Publications {
        Publications(self.publications.subscribe())
    }

    /// Tells the client of a session of changes, until the returned value is dropped.
    pub(crate) fn tell_session(&self, peer: Peer<RoleServer>, subscribed: Subscribed) -> Telling {
        let mut publications = self.follow();
        let telling = task::spawn(async move {
            while let Some(publication) = publications.next().await {
                if publication.has_another_list && peer.notify_resource_list_changed().await.is_err() {
                    return;
                }
                for uri in subscribed.all().into_iter().filter(|uri| publication.is_of(uri)) {
                    if peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_err() {
                        return;
                    }
                }
            }
        });
        Telling(telling.abort_handle())
    }
}

/// Publications that a client has not been told of.
pub(crate) struct Publications(Receiver<Arc<Publication>>);

impl Publications {
    /// Waits for the next one. Returns `None` after the last one.
    async fn next(&mut self) -> Option<Arc<Publication>> {
        match self.0.recv().await {
            Ok(publication) => Some(publication),
            Err(RecvError::Lagged(_)) => Some(Arc::new(Publication::of_everything())),
            Err(RecvError::Closed) => None,
        }
    }

    /// Tells a client of them until its request ends.
    pub(crate) async fn tell(mut self, context: &SubscriptionContext) {
        let uris = context.accepted().resource_subscriptions.as_deref().unwrap_or_default();
        loop {
            let publication = tokio::select! {
                () = context.cancelled() => return,
                publication = self.next() => publication,
            };
            let Some(publication) = publication else { return };
            let sink = context.sink();
            if publication.has_another_list && context.accepted().resources_list_changed == Some(true) {
                // A client that accepts no message has hung up, which ends the request.
                let _ = sink.notify_resource_list_changed().await;
            }
            for uri in uris.iter().filter(|uri| publication.is_of(uri)) {
                let _ = sink.notify_resource_updated(uri.as_str()).await;
            }
        }
    }
}

/// Task that tells one client of changes. It ends when this is dropped.
pub(crate) struct Telling(AbortHandle);

impl Drop for Telling {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// URIs that the client of a session has subscribed to.
#[derive(Clone, Default)]
pub(crate) struct Subscribed(Arc<Mutex<BTreeSet<String>>>);

impl Subscribed {
    pub(crate) fn add(&self, uri: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(uri);
    }

    pub(crate) fn remove(&self, uri: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    fn all(&self) -> BTreeSet<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}
