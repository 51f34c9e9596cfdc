//! Words for a date in templates.

use crate::store::{Date, LocalTime};

/// Parses `now`, `today`, `yesterday`, `tomorrow`, `3 days ago`, `in 2 weeks`, `last week`, `next week`, or a day as
/// `YYYY-MM-DD`. All except the last keep the time of day.
pub(super) fn named_date(now: LocalTime, words: &str) -> Option<LocalTime> {
    let words = words.trim();
    if let Some(date) = Date::parse(words) {
        return Some(now.at_start_of(date));
    }
    let mut parts = [""; 3];
    for (place, word) in words.split_whitespace().enumerate() {
        *parts.get_mut(place)? = word;
    }
    let lower = |word: &str| word.to_ascii_lowercase();
    let [first, second, third] = parts.map(lower);
    let days = match (first.as_str(), second.as_str(), third.as_str()) {
        ("now" | "today", "", "") => 0,
        ("yesterday", "", "") => -1,
        ("tomorrow", "", "") => 1,
        ("last", "week", "") => -7,
        ("next", "week", "") => 7,
        ("in", count, unit) => days(count, unit)?,
        (count, unit, "ago") => days(count, unit)?.checked_neg()?,
        _ => return None,
    };
    now.plus_days(days)
}

fn days(count: &str, unit: &str) -> Option<i64> {
    let count = i64::from(count.parse::<u32>().ok()?);
    match unit {
        "day" | "days" => Some(count),
        "week" | "weeks" => count.checked_mul(7),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Timestamp;
    use alloc::string::ToString;

    #[test]
    fn words_name_a_day() {
        let now = Timestamp { seconds: 1_779_667_200, nanoseconds: 0, utc_offset_seconds: 0 }.local().expect("valid");
        for (words, expected) in [
            ("now", "2026-05-25 00:00:00"),
            (" Yesterday ", "2026-05-24 00:00:00"),
            ("3 days ago", "2026-05-22 00:00:00"),
            ("in 2 weeks", "2026-06-08 00:00:00"),
            ("2024-02-29", "2024-02-29 00:00:00"),
        ] {
            assert_eq!(named_date(now, words).map(|time| time.to_string()).as_deref(), Some(expected), "{words}");
        }
        for words in
            ["", "someday", "2026-02-30", "in 3 moons", "in 4000000000 weeks", "now now now now", "-1 days ago"]
        {
            assert_eq!(named_date(now, words), None, "{words}");
        }
    }
}
