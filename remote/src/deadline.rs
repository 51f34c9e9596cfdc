//! [`Deadline`]: the end of the time in which a request is tried again, and the pauses between the attempts.

use std::cell::Cell;
use std::future::Future;
use std::time::{Duration, Instant};

tokio::task_local! {
    /// Number of pauses of the operation that is being performed.
    static RETRIES: Cell<u32>;
}

/// Performs an operation whose retries [`retries`] counts.
pub(crate) async fn counting_retries<T>(operation: impl Future<Output = T>) -> T {
    RETRIES.scope(Cell::new(0), operation).await
}

/// Returns how many times something of the present operation was tried again; 0 outside of an operation.
pub(crate) fn retries() -> u32 {
    RETRIES.try_with(Cell::get).unwrap_or_default()
}

/// Time in which a request is tried again.
const TOTAL: Duration = Duration::from_secs(20);
/// Time in which a server that does not answer is asked again when a store is opened: it may be starting.
const OPENING: Duration = Duration::from_secs(5);
/// Time that one request may take.
const REQUEST: Duration = Duration::from_secs(8);
/// First pause, doubled after each attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// Longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The end of the time in which a request is tried again.
pub(crate) struct Deadline {
    end: Instant,
    pause: Duration,
}

impl Deadline {
    pub(crate) fn new() -> Self {
        Self { end: Instant::now() + TOTAL, pause: FIRST_PAUSE }
    }

    /// Returns the end for the opening of a store, whose address may be wrong.
    pub(crate) fn of_opening() -> Self {
        Self { end: Instant::now() + OPENING, pause: FIRST_PAUSE }
    }

    /// Returns the time that the next request may take.
    pub(crate) fn request(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now()).min(REQUEST)
    }

    /// Waits before the next attempt, for a random part of a pause that doubles each time. Returns false, at once, if the
    /// time is over.
    pub(crate) async fn pause(&mut self) -> bool {
        let pause = self.pause.mul_f64(random_fraction());
        if Instant::now() + pause >= self.end {
            return false;
        }
        let _ = RETRIES.try_with(|retries| retries.set(retries.get() + 1));
        tokio::time::sleep(pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        true
    }
}

/// Returns a random number from 0 to 1. Without a source of randomness, it is the clock's.
fn random_fraction() -> f64 {
    let drawn = getrandom::u32().unwrap_or_else(|_| {
        let elapsed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        elapsed.unwrap_or_default().subsec_nanos().wrapping_mul(2_654_435_761)
    });
    f64::from(drawn) / f64::from(u32::MAX)
}
