//! Time as the component sees it: an argument, never a clock.

use chrono::format::{Item, StrftimeItems};
use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, NaiveDateTime, SecondsFormat, Timelike};
use core::fmt::{self, Write};

use saddlebag_collections::prelude::*;
use saddlebag_markdown::Stated;

/// Time at which a command is given. The component has no other clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// Nanoseconds within the second, below 1,000,000,000.
    pub nanoseconds: u32,
    /// Offset of local time from UTC in seconds, less than a day either way.
    pub utc_offset_seconds: i32,
}

impl Timestamp {
    /// Returns the local time.
    ///
    /// `None` if a field is out of its range or the local year is not in 0001–9999.
    pub fn local(self) -> Option<LocalTime> {
        let offset = FixedOffset::east_opt(self.utc_offset_seconds)?;
        let utc = chrono::DateTime::from_timestamp(self.seconds, self.nanoseconds)?;
        // `chrono` represents a leap second by nanoseconds over a full second. The contract has no leap seconds.
        if self.nanoseconds >= 1_000_000_000 {
            return None;
        }
        let local = utc.naive_utc().checked_add_offset(offset)?;
        Date::new(local.date()).map(|_| LocalTime { time: local, utc_offset_seconds: self.utc_offset_seconds })
    }
}

/// A local date and time of day, shown as `YYYY-MM-DD HH:MM:SS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalTime {
    time: NaiveDateTime,
    utc_offset_seconds: i32,
}

impl LocalTime {
    /// Returns the calendar date.
    pub fn date(self) -> Date {
        Date(self.time.date())
    }

    /// Returns the time of day as `HH:MM`.
    pub fn hour_minute(self) -> String {
        format!("{:02}:{:02}", self.time.hour(), self.time.minute())
    }

    /// Returns the time as a timestamp.
    pub fn timestamp(self) -> Timestamp {
        let utc = self.time.and_utc();
        Timestamp {
            seconds: utc.timestamp() - i64::from(self.utc_offset_seconds),
            nanoseconds: utc.timestamp_subsec_nanos(),
            utc_offset_seconds: self.utc_offset_seconds,
        }
    }

    /// Returns nanoseconds since 1970-01-01T00:00:00Z; 0 for earlier times, and the maximum after 2554.
    pub fn epoch_nanoseconds(self) -> u64 {
        let Timestamp { seconds, nanoseconds, .. } = self.timestamp();
        let seconds = u64::try_from(seconds).ok();
        seconds.map_or(0, |seconds| seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds.into()))
    }

    /// Returns the beginning of a day, at the same offset.
    pub fn at_start_of(self, date: Date) -> Self {
        Self { time: date.0.and_time(chrono::NaiveTime::MIN), ..self }
    }

    /// Returns the day of a moment in nanoseconds since 1970-01-01T00:00:00Z, at this offset.
    pub fn day_of(self, nanoseconds: u64) -> String {
        let at = |seconds| Timestamp { seconds, nanoseconds: 0, ..self.timestamp() }.local();
        let time = i64::try_from(nanoseconds / 1_000_000_000).ok().and_then(at);
        time.map_or_else(|| utc_day(nanoseconds), |time| time.date().to_string())
    }

    /// Returns the moment that a text states, in nanoseconds since 1970-01-01T00:00:00Z.
    pub(crate) fn moment_of(self, stated: Stated) -> u64 {
        stated.moment(self.utc_offset_seconds)
    }

    /// Returns the moment that has the stated day and time of day at this offset: what filters by day compare.
    pub(crate) fn calendar_of(self, stated: Stated) -> u64 {
        stated.clock_at(self.utc_offset_seconds)
    }

    /// Formats by a pattern such as `%Y-%m-%d`; `None` if the pattern has unknown parts.
    pub fn format(self, pattern: &str) -> Option<String> {
        let offset = FixedOffset::east_opt(self.utc_offset_seconds)?;
        let utc = self.time.checked_sub_offset(offset)?;
        let items = StrftimeItems::new(pattern);
        if items.clone().any(|item| item == Item::Error) {
            return None;
        }
        let mut text = String::new();
        let moment = DateTime::<FixedOffset>::from_naive_utc_and_offset(utc, offset);
        write!(text, "{}", moment.format_with_items(items)).ok()?;
        Some(text)
    }
}

impl fmt::Display for LocalTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}:{:02}", self.date(), self.hour_minute(), self.time.second())
    }
}

/// A calendar date between 0001-01-01 and 9999-12-31, shown as `YYYY-MM-DD`.
///
/// ```
/// use saddlebag::store::Date;
///
/// assert!(Date::parse("2026-05-30").is_some());
/// assert!(Date::parse("9999-99-99").is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(NaiveDate);

impl Date {
    fn new(date: NaiveDate) -> Option<Self> {
        (1..=9999).contains(&date.year()).then_some(Self(date))
    }

    /// Parses exactly `YYYY-MM-DD`. The day must exist in the calendar.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let shaped = bytes.len() == 10
            && bytes
                .iter()
                .enumerate()
                .all(|(i, byte)| if i == 4 || i == 7 { *byte == b'-' } else { byte.is_ascii_digit() });
        let number = |range: core::ops::Range<usize>| text.get(range).and_then(|digits| digits.parse::<u32>().ok());
        if !shaped {
            return None;
        }
        let year = i32::try_from(number(0..4)?).ok()?;
        Self::new(NaiveDate::from_ymd_opt(year, number(5..7)?, number(8..10)?)?)
    }

    /// Returns the number of the day, which increases with time.
    pub fn day_number(self) -> u32 {
        // Counted from the end of the year 0, so never negative.
        self.0.num_days_from_ce().unsigned_abs()
    }

    /// Returns the start of the day in UTC, in nanoseconds since 1970-01-01T00:00:00Z; 0 for a day before.
    pub fn start_in_utc(self) -> u64 {
        const DAYS_TO_1970: u32 = 719_163;
        u64::from(self.day_number().saturating_sub(DAYS_TO_1970)) * 86_400_000_000_000
    }

    /// Returns the previous day; `None` before the first day of the calendar.
    pub fn yesterday(self) -> Option<Self> {
        self.0.pred_opt().and_then(Self::new)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:04}-{:02}-{:02}", self.0.year(), self.0.month(), self.0.day())
    }
}

/// Formats nanoseconds since 1970-01-01T00:00:00Z as `2026-04-12T09:01:03Z`, with as many decimal places as needed: none,
/// three, six or nine.
///
/// ```
/// assert_eq!(saddlebag::store::utc_text(1_500_000_000), "1970-01-01T00:00:01.500Z");
/// ```
pub fn utc_text(nanoseconds: u64) -> String {
    let (seconds, rest) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
    let moment = i64::try_from(seconds).ok().zip(u32::try_from(rest).ok());
    let moment = moment.and_then(|(seconds, rest)| DateTime::from_timestamp(seconds, rest)).unwrap_or_default();
    moment.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// Returns a time in milliseconds since 1970-01-01T00:00:00Z at an offset from UTC, as `2026-05-24T10:00:00+02:00`. A time out of
/// range is shown as the beginning of 1970.
pub(crate) fn rfc3339(milliseconds: i64, utc_offset_seconds: i32) -> String {
    let time = DateTime::from_timestamp_millis(milliseconds).unwrap_or_default();
    match FixedOffset::east_opt(utc_offset_seconds) {
        Some(offset) => time.with_timezone(&offset).to_rfc3339_opts(SecondsFormat::Secs, false),
        None => time.to_rfc3339_opts(SecondsFormat::Secs, true),
    }
}

/// Returns the day of a time in UTC, as `2026-05-24`.
pub(crate) fn utc_day(nanoseconds: u64) -> String {
    utc_text(nanoseconds).chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64, offset: i32) -> Option<LocalTime> {
        Timestamp { seconds, nanoseconds: 0, utc_offset_seconds: offset }.local()
    }

    #[test]
    fn the_offset_decides_the_day() {
        let midnight_utc = 1_779_667_200; // 2026-05-25T00:00:00Z
        assert_eq!(at(midnight_utc, 0).map(|t| t.date().to_string()).as_deref(), Some("2026-05-25"));
        assert_eq!(at(midnight_utc, -3600).map(|t| t.date().to_string()).as_deref(), Some("2026-05-24"));
        assert_eq!(at(midnight_utc, 5400).map(|t| t.hour_minute()).as_deref(), Some("01:30"));
    }

    #[test]
    fn a_local_time_is_formatted_at_its_offset() {
        let time = at(1_779_667_200, 5400).expect("valid");
        assert_eq!(time.to_string(), "2026-05-25 01:30:00");
        assert_eq!(time.format("%d %B %Y %H:%M %z %s").as_deref(), Some("25 May 2026 01:30 +0130 1779667200"));
        assert_eq!(time.timestamp().seconds, 1_779_667_200);
        assert_eq!(time.format("%Q"), None);
        assert_eq!(time.format("100%"), None);
        assert_eq!(time.at_start_of(time.date()).to_string(), "2026-05-25 00:00:00");
    }

    #[test]
    fn impossible_moments_are_refused() {
        assert!(at(i64::MAX, 0).is_none());
        assert!(at(0, 90_000).is_none());
        assert!(Timestamp { seconds: 0, nanoseconds: 1_000_000_000, utc_offset_seconds: 0 }.local().is_none());
    }

    #[test]
    fn a_date_has_one_spelling() {
        for bad in
            ["", "2026-5-25", "2026-02-30", "0000-01-01", "9999-99-99", "2026-05-25 ", "２026-05-25", "2026/05/25"]
        {
            assert!(Date::parse(bad).is_none(), "{bad:?}");
        }
        let date = Date::parse("2024-03-01").expect("valid");
        assert_eq!(date.yesterday().map(|d| d.to_string()).as_deref(), Some("2024-02-29"));
        assert!(Date::parse("0001-01-01").and_then(Date::yesterday).is_none());
    }
}
