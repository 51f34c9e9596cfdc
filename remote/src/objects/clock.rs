//! [`Clock`]: the time of the server, in which the ages of its objects are counted.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use chrono::DateTime;
use object_store::ObjectMeta;

/// The time of a server, as its last answer told it. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock(Arc<Mutex<Option<(SystemTime, Instant)>>>);

impl Clock {
    /// Hears the field `Date` of an answer, which has whole seconds and is rounded up.
    pub(super) fn hear(&self, date: &str) {
        if let Ok(date) = DateTime::parse_from_rfc2822(date) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
                Some((SystemTime::from(date) + Duration::from_secs(1), Instant::now()));
        }
    }

    /// Returns true if an object was written longer ago than this. The clock of this machine, which may be wrong, counts only if
    /// the server tells no time.
    pub(super) fn is_older(&self, object: &ObjectMeta, age: Duration) -> bool {
        let heard = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = heard.map_or_else(SystemTime::now, |(date, at)| date + at.elapsed());
        now.duration_since(object.last_modified.into()).is_ok_and(|passed| passed > age)
    }
}

#[cfg(test)]
mod tests {
    use object_store::path::Path;

    use super::*;

    #[test]
    fn the_age_of_an_object_is_counted_in_the_time_of_the_server() {
        const HOUR: Duration = Duration::from_hours(1);
        // The clock of this machine is an hour ahead of the server's.
        let date = DateTime::<chrono::Utc>::from(SystemTime::now() - HOUR);
        let (clock, half) = (Clock::default(), HOUR / 2);
        let object = |age: Duration| ObjectMeta {
            location: Path::from("a"),
            last_modified: date - age,
            size: 40,
            e_tag: None,
            version: None,
        };
        assert!(clock.is_older(&object(Duration::ZERO), half), "without the time of the server");
        clock.hear(&date.to_rfc2822());
        assert!(!clock.is_older(&object(Duration::ZERO), half));
        assert!(clock.is_older(&object(HOUR), half));
        clock.hear("yesterday");
        assert!(!clock.is_older(&object(Duration::ZERO), half));
    }
}
