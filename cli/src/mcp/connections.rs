//! [`Connections`]: a bounded number of places for clients of the HTTP server.
//!
//! Anybody on the machine can connect. So a place is only lent: where all are taken, a new connection gets that of the
//! one that has said nothing yet, or nothing with the token, for longest; else that of the one that has been idle for
//! longest. Who is being answered keeps its place.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// The places.
#[derive(Clone)]
pub(crate) struct Connections(Arc<Shared>);

struct Shared {
    places: Mutex<Places>,
    max: usize,
    /// Told when a place may have become free.
    freed: Notify,
}

#[derive(Default)]
struct Places {
    /// Orders what happens.
    moment: u64,
    taken: BTreeMap<u64, Place>,
}

struct Place {
    /// Ends the connection.
    end: Option<AbortHandle>,
    /// It has shown the token.
    is_known: bool,
    /// The number of its requests that are being answered.
    busy: usize,
    last_used: u64,
}

impl Places {
    fn next(&mut self) -> u64 {
        self.moment += 1;
        self.moment
    }

    /// The connection that gives way to a new one.
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

    /// Takes a place; waits only where every one is being answered.
    pub(crate) async fn take(&self) -> Connection {
        loop {
            // Registered before the look, so that a place that becomes free meanwhile is not missed.
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

/// A place that is taken; dropped, it is free.
pub(crate) struct Connection {
    id: u64,
    connections: Connections,
}

impl Connection {
    /// Says how the connection is ended if it gives way.
    pub(crate) fn ends_with(connections: &Connections, id: u64, end: AbortHandle) {
        match connections.places().taken.get_mut(&id) {
            Some(place) => place.end = Some(end),
            // It has given way already.
            None => end.abort(),
        }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// The connection has shown the token, and keeps its place until the answer is dropped.
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

/// A request that is being answered.
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
