//! The system's clock as a [`Timestamp`], for the component, which has no clock.

use chrono::{DateTime, FixedOffset, Local};
use saddlebag::store::Timestamp;

/// Returns the current time, with the offset of the system's time zone.
pub fn now() -> Timestamp {
    stamp(Local::now().fixed_offset())
}

/// Parses an RFC 3339 date and time, for example `2026-05-30T09:15:00+02:00`. Its offset is used as the local one.
///
/// ```
/// let moment = saddlebag_host::parse_time("2026-05-30T09:15:00+02:00")?;
/// assert_eq!(moment.utc_offset_seconds, 7200);
/// # Ok::<(), saddlebag_host::TimeError>(())
/// ```
///
/// # Errors
///
/// The text has another format, the time does not exist in the calendar, or the year is outside 0001–9999.
pub fn parse_time(text: &str) -> Result<Timestamp, TimeError> {
    let parsed = DateTime::parse_from_rfc3339(text).map(stamp).ok();
    parsed.filter(|moment| moment.local().is_some()).ok_or_else(|| TimeError(text.escape_debug().to_string()))
}

/// Text that is not an RFC 3339 date and time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an rfc 3339 date and time; an example is 2026-05-30T09:15:00+02:00")]
pub struct TimeError(String);

fn stamp(moment: DateTime<FixedOffset>) -> Timestamp {
    Timestamp {
        seconds: moment.timestamp(),
        // A leap second counts as the last moment of the second before it.
        nanoseconds: moment.timestamp_subsec_nanos().min(999_999_999),
        utc_offset_seconds: moment.offset().local_minus_utc(),
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn rfc_3339_keeps_its_offset() {
        let moment = parse_time("2026-05-25T00:30:00.25-01:30").expect("valid");
        assert_eq!(moment, Timestamp { seconds: 1_779_674_400, nanoseconds: 250_000_000, utc_offset_seconds: -5400 });
        assert_eq!(parse_time("2016-12-31T23:59:60Z").expect("a leap second").nanoseconds, 999_999_999);
    }

    #[test]
    fn an_invalid_time_is_refused() {
        for text in ["", "now", "2026-05-25", "2026-02-30T00:00:00Z", "2026-05-25T00:00:00", "0000-01-01T00:00:00Z"] {
            assert!(parse_time(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_system_clock_gives_a_moment_that_the_component_takes() {
        assert!(now().local().is_some());
    }
}
