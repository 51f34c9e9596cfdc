//! Dates of filters, which are spans of time: a day, a month, a minute.

use core::ops::Range;

use chrono::{DateTime, Datelike, Days, Months, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Weekday};

use crate::store::Timestamp;
use saddlebag_protocol::Error;

const NANOSECONDS: i128 = 1_000_000_000;

/// Parses the date of a filter: the span that it names, in nanoseconds since 1970-01-01T00:00:00Z.
///
/// Without an offset, the time is in the time zone of `now`. Words look back: `monday` is today or the last one, `last
/// week` the one that ended on Sunday.
pub(super) fn parse(text: &str, now: Timestamp) -> Result<Range<u64>, Error> {
    let error = || {
        let help = "write YYYY, YYYY-MM, YYYY-MM-DD, YYYY-MM-DD HH:MM[:SS], HH:MM, RFC 3339, today, yesterday, \
                    monday, `3 days ago`, `this week` or `last month`";
        Error::invalid_argument(format!("not a date: `{}`", text.escape_debug()), help)
    };
    let trimmed = text.trim();
    if let Ok(moment) = DateTime::parse_from_rfc3339(trimmed) {
        let start = i128::from(moment.timestamp()) * NANOSECONDS + i128::from(moment.timestamp_subsec_nanos());
        // A time with a fraction names no whole second.
        let length = if moment.timestamp_subsec_nanos() == 0 { NANOSECONDS } else { 1 };
        return Ok(clamp(start)..clamp(start + length));
    }
    let local = local(now).ok_or_else(error)?;
    let lower = trimmed.to_lowercase();
    let span = numeric(&lower, local).or_else(|| words(&lower, local)).ok_or_else(error)?;
    Ok(in_nanoseconds(&span, now))
}

/// Returns true if the date of a filter is a moment with an offset, and not a span of the calendar.
pub(super) fn is_moment(text: &str) -> bool {
    DateTime::parse_from_rfc3339(text.trim()).is_ok()
}

/// Returns the time in the time zone of `now`.
pub(super) fn local(now: Timestamp) -> Option<NaiveDateTime> {
    let offset = TimeDelta::try_seconds(now.utc_offset_seconds.into())?;
    DateTime::from_timestamp(now.seconds, 0)?.naive_utc().checked_add_signed(offset)
}

/// Returns a span of the time zone of `now` in nanoseconds since 1970-01-01T00:00:00Z.
pub(super) fn in_nanoseconds(span: &Span, now: Timestamp) -> Range<u64> {
    let nanoseconds = |time: NaiveDateTime| {
        let seconds = time.and_utc().timestamp();
        clamp((i128::from(seconds) - i128::from(now.utc_offset_seconds)) * NANOSECONDS)
    };
    nanoseconds(span.start)..nanoseconds(span.end)
}

fn clamp(nanoseconds: i128) -> u64 {
    u64::try_from(nanoseconds.max(0)).unwrap_or(u64::MAX)
}

pub(super) type Span = Range<NaiveDateTime>;

/// `YYYY`, `YYYY-MM`, `YYYY-MM-DD` with or without a time, `HH:MM`.
pub(super) fn numeric(text: &str, now: NaiveDateTime) -> Option<Span> {
    if let Some(time) = clock(text) {
        return at(now.date(), time);
    }
    let (date, time) = match text.split_once(['t', ' ']) {
        Some((date, time)) => (date, Some(clock(time.trim_start())?)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let year = i32::try_from(digits(parts.next()?, 4)?).ok()?;
    let month = parts.next().map(|part| digits(part, 2));
    let day = parts.next().map(|part| digits(part, 2));
    if parts.next().is_some() || year == 0 {
        return None;
    }
    match (month, day, time) {
        (None, None, None) => months(NaiveDate::from_ymd_opt(year, 1, 1)?, 12),
        (Some(month), None, None) => months(NaiveDate::from_ymd_opt(year, month?, 1)?, 1),
        (Some(month), Some(day), None) => days(NaiveDate::from_ymd_opt(year, month?, day?)?, 1),
        (Some(month), Some(day), Some(time)) => at(NaiveDate::from_ymd_opt(year, month?, day?)?, time),
        _ => None,
    }
}

fn digits(text: &str, count: usize) -> Option<u32> {
    (text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

/// `HH:MM` or `HH:MM:SS`, and how many seconds it lasts.
fn clock(text: &str) -> Option<(NaiveTime, i64)> {
    let mut parts = text.split(':').map(|part| digits(part, 2));
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next();
    if parts.next().is_some() {
        return None;
    }
    let length = if second.is_some() { 1 } else { 60 };
    Some((NaiveTime::from_hms_opt(hour, minute, second.unwrap_or(Some(0))?)?, length))
}

fn at(date: NaiveDate, (time, seconds): (NaiveTime, i64)) -> Option<Span> {
    let start = date.and_time(time);
    Some(start..start.checked_add_signed(TimeDelta::try_seconds(seconds)?)?)
}

pub(super) fn days(from: NaiveDate, count: u64) -> Option<Span> {
    Some(from.and_time(NaiveTime::MIN)..from.checked_add_days(Days::new(count))?.and_time(NaiveTime::MIN))
}

pub(super) fn months(from: NaiveDate, count: u32) -> Option<Span> {
    Some(from.and_time(NaiveTime::MIN)..from.checked_add_months(Months::new(count))?.and_time(NaiveTime::MIN))
}

/// Words, in lower case.
fn words(text: &str, now: NaiveDateTime) -> Option<Span> {
    let today = now.date();
    let mut words = text.split_whitespace();
    let first = words.next()?;
    let (second, third, rest) = (words.next(), words.next(), words.next());
    match (first, second, third, rest) {
        ("now", None, ..) => Some(now..now.checked_add_signed(TimeDelta::try_seconds(1)?)?),
        ("today", None, ..) => days(today, 1),
        ("last" | "past", Some("hour"), None, None) => Some(now.checked_sub_signed(TimeDelta::hours(1))?..now),
        ("yesterday", None, ..) => days(today.pred_opt()?, 1),
        ("this" | "last", Some(unit), None, None) => {
            let back = u32::from(first == "last");
            period(unit, back, today).or_else(|| weekday(unit, today, u64::from(back)))
        }
        (count, Some(unit), Some("ago"), None) => ago(number(count)?, unit, now),
        (day, None, ..) => weekday(day, today, 0),
        _ => None,
    }
}

pub(super) fn number(word: &str) -> Option<u32> {
    const WORDS: [&str; 10] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    match word {
        "a" | "an" => Some(1),
        _ => match WORDS.iter().zip(1..).find(|(name, _)| **name == word) {
            Some((_, number)) => Some(number),
            None if word.bytes().all(|byte| byte.is_ascii_digit()) => word.parse().ok(),
            None => None,
        },
    }
}

/// This week, month or year, or one that is past. Weeks begin on Monday.
pub(super) fn period(unit: &str, back: u32, today: NaiveDate) -> Option<Span> {
    match unit {
        "week" => {
            let past = u64::from(today.weekday().num_days_from_monday()) + 7 * u64::from(back);
            days(today.checked_sub_days(Days::new(past))?, 7)
        }
        "month" => months(today.with_day(1)?.checked_sub_months(Months::new(back))?, 1),
        "year" => months(NaiveDate::from_ymd_opt(today.year(), 1, 1)?.checked_sub_months(Months::new(12 * back))?, 12),
        _ => None,
    }
}

/// The last such day: today's may be today, unless it has to be at least `least` days past.
pub(super) fn weekday(name: &str, today: NaiveDate, least: u64) -> Option<Span> {
    let day: Weekday = name.parse().ok()?;
    let mut past = u64::from(today.weekday().num_days_from_monday() + 7 - day.num_days_from_monday()) % 7;
    if past < least {
        past += 7;
    }
    days(today.checked_sub_days(Days::new(past))?, 1)
}

/// The span of so many units ago: a moment for hours and less, a day for days and more.
pub(super) fn ago(count: u32, unit: &str, now: NaiveDateTime) -> Option<Span> {
    let moment = |seconds: i64| {
        let start = now.checked_sub_signed(TimeDelta::try_seconds(i64::from(count).checked_mul(seconds)?)?)?;
        Some(start..start.checked_add_signed(TimeDelta::try_seconds(seconds)?)?)
    };
    let today = now.date();
    let day = |date: Option<NaiveDate>| days(date?, 1);
    match unit.strip_suffix('s').unwrap_or(unit) {
        "second" => moment(1),
        "minute" => moment(60),
        "hour" => moment(3600),
        "day" => day(today.checked_sub_days(Days::new(count.into()))),
        "week" => day(today.checked_sub_days(Days::new(7 * u64::from(count)))),
        "month" => day(today.checked_sub_months(Months::new(count))),
        "year" => day(today.checked_sub_months(Months::new(count.checked_mul(12)?))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saddlebag_collections::prelude::*;

    /// Wednesday, 2026-01-07T10:30:00 at +01:00.
    const NOW: Timestamp = Timestamp { seconds: 1_767_778_200, nanoseconds: 0, utc_offset_seconds: 3600 };

    /// The span in local time.
    fn span(text: &str) -> String {
        let Ok(span) = parse(text, NOW) else { return "error".into() };
        let local = |nanoseconds: u64| {
            let seconds = i64::try_from(nanoseconds / 1_000_000_000).expect("small") + 3600;
            DateTime::from_timestamp(seconds, 0).expect("in range").format("%F %T")
        };
        format!("{} {}", local(span.start), local(span.end))
    }

    #[test]
    fn dates_are_spans() {
        for (text, expected) in [
            ("2026-01-05", "2026-01-05 00:00:00 2026-01-06 00:00:00"),
            (" 2026-01-05 ", "2026-01-05 00:00:00 2026-01-06 00:00:00"),
            ("2026-02", "2026-02-01 00:00:00 2026-03-01 00:00:00"),
            ("2024", "2024-01-01 00:00:00 2025-01-01 00:00:00"),
            ("2026-01-05T09:15", "2026-01-05 09:15:00 2026-01-05 09:16:00"),
            ("2026-01-05 09:15:07", "2026-01-05 09:15:07 2026-01-05 09:15:08"),
            ("2026-01-05T09:15:07Z", "2026-01-05 10:15:07 2026-01-05 10:15:08"),
            ("09:15", "2026-01-07 09:15:00 2026-01-07 09:16:00"),
            ("Today", "2026-01-07 00:00:00 2026-01-08 00:00:00"),
            ("yesterday", "2026-01-06 00:00:00 2026-01-07 00:00:00"),
            ("monday", "2026-01-05 00:00:00 2026-01-06 00:00:00"),
            ("wednesday", "2026-01-07 00:00:00 2026-01-08 00:00:00"),
            ("last wednesday", "2025-12-31 00:00:00 2026-01-01 00:00:00"),
            ("last thursday", "2026-01-01 00:00:00 2026-01-02 00:00:00"),
            ("this week", "2026-01-05 00:00:00 2026-01-12 00:00:00"),
            ("last week", "2025-12-29 00:00:00 2026-01-05 00:00:00"),
            ("last month", "2025-12-01 00:00:00 2026-01-01 00:00:00"),
            ("last year", "2025-01-01 00:00:00 2026-01-01 00:00:00"),
            ("3 days ago", "2026-01-04 00:00:00 2026-01-05 00:00:00"),
            ("two weeks ago", "2025-12-24 00:00:00 2025-12-25 00:00:00"),
            ("a month ago", "2025-12-07 00:00:00 2025-12-08 00:00:00"),
            ("last hour", "2026-01-07 09:30:00 2026-01-07 10:30:00"),
            ("2 hours ago", "2026-01-07 08:30:00 2026-01-07 09:30:00"),
        ] {
            assert_eq!(span(text), expected, "{text}");
        }
    }

    #[test]
    fn an_invalid_date_is_an_error() {
        for text in [
            "",
            "soon",
            "2026-13",
            "2026-02-30",
            "26-01-05",
            "25:00",
            "0000",
            "2026-01-05T",
            "last",
            "days ago",
            "99999999999 days ago",
            "4000000000 years ago",
            "4000000000 months ago",
            "2026-01-05-06",
            "9:15",
            "a",
        ] {
            assert_eq!(span(text), "error", "{text}");
        }
        assert_eq!(parse("1960", NOW), Ok(0..0));
    }
}
