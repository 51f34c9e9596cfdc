//! [`Connections`]: a bounded number of places for clients of the HTTP server.
//!
//! Any program on the machine can connect, so a new connection may replace an old one when all places are taken. The
//! first to be replaced is the connection without a valid token that has been idle for longest, then the connection
//! with a valid token that has been idle for longest. A connection with a request in progress keeps its place.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// Limited set of places for connections.
#[derive(Clone)]
pub(crate) struct Connections(Arc<Shared>);

struct Shared {
    places: Mutex<Places>,
    max: usize,
    /// Notified when a place may have become free.
    freed: Notify,
}

#[derive(Default)]
struct Places {
    /// Counter that orders the uses of places.
    moment: u64,
    taken: BTreeMap<u64, Place>,
}

struct Place {
    /// Handle that ends the connection.
    end: Option<AbortHandle>,
    /// True if the connection has sent the token.
    is_known: bool,
    /// Number of its requests that are being answered.
    busy: usize,
    last_used: u64,
}

impl Places {
    fn next(&mut self) -> u64 {
        self.moment += 1;
        self.moment
    }

    /// Returns the connection that a new one replaces.
    fn idlest(&self) -> Option<u64> {
        let idle = self.taken.iter().filter(|(_, place)| place.busy == 0);
        idle.min_by_key(|(_, place)| (place.is_known, place.last_used)).map(|(&id, _)| id)
    }
}

impl Connections {
    pub(crate) fn new(max: usize) -> Self {
        Self(Arc::new(Shared { places: Mutex::default(), max, freed: Notify::new() }))
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place. Waits only if every connection is being answered.
    pub(crate) async fn take(&self) -> Connection {
        loop {
            // Registered before the attempt, so that a place that becomes free meanwhile is not missed.
            let freed = self.0.freed.notified();
            if let Some(taken) = self.try_take() {
                return taken;
            }
            freed.await;
        }
    }

    fn try_take(&self) -> Option<Connection> {
        let mut places = self.places();
        if places.taken.len() >= self.0.max {
            let id = places.idlest()?;
            if let Some(Place { end: Some(end), .. }) = places.taken.remove(&id) {
                tracing::debug!("an idle connection gives way");
                end.abort();
            }
        }
        let id = places.next();
        places.taken.insert(id, Place { end: None, is_known: false, busy: 0, last_used: id });
        Some(Connection { id, connections: self.clone() })
    }
}

/// Place of a connection. Dropping it frees the place.
pub(crate) struct Connection {
    id: u64,
    connections: Connections,
}

impl Connection {
    /// Sets the handle that ends the connection if a new one replaces it.
    pub(crate) fn ends_with(connections: &Connections, id: u64, end: AbortHandle) {
        match connections.places().taken.get_mut(&id) {
            Some(place) => place.end = Some(end),
            // It was replaced already.
            None => end.abort(),
        }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Marks the connection as one that has sent the token. It keeps its place until the returned value is dropped.
    pub(crate) fn answers(&self) -> Answering {
        let mut places = self.connections.places();
        if let Some(place) = places.taken.get_mut(&self.id) {
            place.is_known = true;
            place.busy += 1;
        }
        Answering { id: self.id, connections: self.connections.clone() }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.connections.places().taken.remove(&self.id);
        self.connections.0.freed.notify_one();
    }
}

/// Request that is being answered.
pub(crate) struct Answering {
    id: u64,
    connections: Connections,
}

impl Drop for Answering {
    fn drop(&mut self) {
        let mut places = self.connections.places();
        let moment = places.next();
        if let Some(place) = places.taken.get_mut(&self.id) {
            place.busy = place.busy.saturating_sub(1);
            place.last_used = moment;
        }
        drop(places);
        self.connections.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(connections: &Connections) -> Vec<u64> {
        connections.places().taken.keys().copied().collect()
    }

    #[test]
    fn the_oldest_that_has_not_shown_the_token_gives_way_then_the_one_that_is_idle_for_longest() {
        let connections = Connections::new(3);
        let take = || connections.try_take().expect("a place");
        let (known, silent, silent_too) = (take(), take(), take());
        drop(known.answers());
        let fourth = take();
        assert_eq!(ids(&connections), [known.id, silent_too.id, fourth.id]);
        drop(silent);
        drop(fourth.answers());
        drop(silent_too.answers());
        drop(known.answers());
        let fifth = take();
        assert_eq!(ids(&connections), [known.id, silent_too.id, fifth.id]);
    }

    #[test]
    fn who_is_being_answered_keeps_its_place() {
        let connections = Connections::new(2);
        let one = connections.try_take().expect("a place");
        let other = connections.try_take().expect("a place");
        let answers = [one.answers(), other.answers()];
        assert!(connections.try_take().is_none());
        drop(answers);
        assert!(connections.try_take().is_some());
    }

    #[tokio::test]
    async fn a_place_that_becomes_free_is_given_to_who_waits() {
        let connections = Connections::new(1);
        let one = connections.take().await;
        let answering = one.answers();
        let waiting = tokio::spawn({
            let connections = connections.clone();
            async move { connections.take().await.id }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(answering);
        assert_ne!(waiting.await.expect("it ends"), one.id);
    }
}
