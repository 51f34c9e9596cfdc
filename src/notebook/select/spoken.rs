//! Times that a question names, such as "last week", in English.

use core::ops::Range;

use chrono::{Datelike, Days, Month, Months, NaiveDate, NaiveDateTime, NaiveTime, Weekday};

use super::dates::{Span, ago, days, in_nanoseconds, local, months, number, numeric, period, weekday};
use crate::store::Timestamp;
use saddlebag_collections::prelude::*;

/// Maximum number of days that a question looks back over.
const MAX_DAYS: u32 = 3_650;

/// First year that a question can name. An earlier number counts something.
const FIRST_YEAR: i32 = 1970;

/// Returns the time that words begin with, in nanoseconds since 1970-01-01T00:00:00Z, and the number of these words, which are in
/// lower case. A bare year and the short names of days and months are not taken for a time, because they often mean something else.
pub(crate) fn time_in(words: &[&str], now: Timestamp) -> Option<(Range<u64>, usize)> {
    let local = local(now)?;
    let (span, used) = spoken(words, local)?;
    Some((in_nanoseconds(&span, now), used))
}

/// Returns the time that a text names, and nothing else.
pub(super) fn whole(text: &str, now: Timestamp) -> Option<Range<u64>> {
    let lower = text.to_lowercase();
    let words = words_of(&lower);
    time_in(&words, now).filter(|(_, used)| *used == words.len()).map(|(time, _)| time)
}

/// Returns a question of words without the first time that it names, and the time.
pub(crate) fn without_time(question: &str, now: Timestamp) -> (String, Option<Range<u64>>) {
    let lower = question.to_lowercase();
    let words: Vec<&str> = lower.split(' ').collect();
    let found = (0..words.len()).find_map(|at| Some((at, time_in(words.get(at..)?, now)?)));
    let Some((at, (time, used))) = found else { return (question.into(), None) };
    let rest: Vec<&str> = words.iter().take(at).chain(words.iter().skip(at + used)).copied().collect();
    (rest.join(" "), Some(time))
}

/// Returns the first time that a question names.
pub(crate) fn time_of(question: &str, now: Timestamp) -> Option<Range<u64>> {
    let lower = question.to_lowercase();
    let words = words_of(&lower);
    (0..words.len()).find_map(|at| Some(time_in(words.get(at..)?, now)?.0))
}

/// Nouns for what is asked for by its time.
const DATED: [&str; 8] = ["session", "decision", "log", "note", "entry", "change", "fact", "time"];

/// Returns true if a question asks for the latest of several, such as "the latest decision about ports". A "last name" is not one.
pub(crate) fn asks_for_latest(question: &str) -> bool {
    let lower = question.to_lowercase();
    let words = words_of(&lower);
    let is_dated = |word: &&str| DATED.contains(&word.strip_suffix('s').unwrap_or(word)) || *word == "entries";
    words.iter().zip(words.iter().skip(1).map(Some).chain([None])).any(|(word, next)| match *word {
        "latest" | "newest" => true,
        "last" | "recent" | "previous" => next.is_some_and(is_dated),
        _ => false,
    })
}

/// Returns the words of a question, in which a date is one word.
pub(crate) fn words_of(question: &str) -> Vec<&str> {
    question.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty()).collect()
}

fn spoken(words: &[&str], now: NaiveDateTime) -> Option<(Span, usize)> {
    let today = now.date();
    let [first, second, third] = [0, 1, 2].map(|at| words.get(at).copied().unwrap_or_default());
    if let ("day", "before", "yesterday") = (first, second, third) {
        return Some((days(today.checked_sub_days(Days::new(2))?, 1)?, 3));
    }
    if let ("week", "of") = (first, second) {
        let skipped = if third == "the" { 3 } else { 2 };
        let (day, used) = day(words.get(skipped..)?, today)?;
        return Some((period("week", 0, day)?, skipped + used));
    }
    if let Some((day, used)) = day(words, today) {
        return Some((days(day, 1)?, used));
    }
    // "friday 20 november", "last week on friday", "since monday", "this morning".
    if day_of_week(first, today, 0).is_some()
        && let Some((day, used)) = day(words.get(1..)?, today)
    {
        return Some((days(day, 1)?, used + 1));
    }
    if let ("last" | "this", "week") = (first, second) {
        let skipped = if third == "on" { 3 } else { 2 };
        let name = words.get(skipped).copied().unwrap_or_default();
        if let Some((day, _)) = day(&[name, first, second], today) {
            return Some((days(day, 1)?, skipped + 1));
        }
    }
    if first == "since" {
        let (span, used) = spoken(words.get(1..)?, now)?;
        return Some((span.start..days(today, 1)?.end, used + 1)).filter(|(span, _)| !span.is_empty());
    }
    if let "between" | "from" = first {
        let (from, used) = spoken(words.get(1..)?, now)?;
        let link = words.get(1 + used).copied().unwrap_or_default();
        let (to, used_by_end) = spoken(words.get(2 + used..)?, now)?;
        let is_linked = if first == "between" { link == "and" } else { matches!(link, "to" | "till" | "until") };
        // On a wednesday, "between monday and friday" begins in the week before.
        let start = if from.start < to.end { from.start } else { from.start.checked_sub_days(Days::new(7))? };
        let span = start..to.end;
        return Some((span, 2 + used + used_by_end)).filter(|(span, _)| is_linked && !span.is_empty());
    }
    if let ("on", "the", Some(day)) = (first, second, ordinal(third)) {
        let first_of_month = today.with_day(1)?;
        let months = [0, 1, 2].into_iter().filter_map(|back| first_of_month.checked_sub_months(Months::new(back)));
        let passed = months.filter_map(|month| month.with_day(day)).find(|day| *day <= today)?;
        return Some((days(passed, 1)?, 3));
    }
    if first == "in"
        && let Some(year) = second.parse::<i32>().ok().filter(|year| (FIRST_YEAR..=today.year()).contains(year))
    {
        return Some((months(NaiveDate::from_ymd_opt(year, 1, 1)?, 12)?, 2));
    }
    if let ("this", "morning" | "afternoon" | "evening") = (first, second) {
        return Some((days(today, 1)?, 2));
    }
    let is_past = matches!(first, "last" | "past" | "previous");
    if matches!(first, "in" | "of" | "last" | "this")
        && let Some(month) = month(second).filter(|month| first != "of" || *month != Month::May.number_from_month())
    {
        let year = third.parse().ok().filter(|_| first == "in" && third.len() == 4);
        let is_over = month < today.month() || (month == today.month() && first != "last");
        let of_year = year.unwrap_or(if is_over { today.year() } else { today.year() - 1 });
        return Some((months(NaiveDate::from_ymd_opt(of_year, month, 1)?, 1)?, if year.is_some() { 3 } else { 2 }));
    }
    if is_past && let Some(count) = number(second) {
        return Some((over(count, third, today)?, 3));
    }
    if third == "ago"
        && let Some(count) = number(first)
    {
        return Some((around(count, second, now)?, 3));
    }
    match first {
        "today" => Some((days(today, 1)?, 1)),
        "yesterday" => Some((days(today.pred_opt()?, 1)?, 1)),
        "this" => Some((period(second, 0, today)?, 2)),
        "past" => Some((over(1, second, today)?, 2)),
        "last" | "previous" => {
            let span = period(second, 1, today).or_else(|| day_of_week(second, today, 1))?;
            Some((span, 2))
        }
        _ if first.contains('-') => Some((numeric(first, now)?, 1)),
        _ => Some((day_of_week(first, today, 0)?, 1)),
    }
}

/// A day that is named by its month or its week, and the number of these words: "12 march", "march 12th", "12th of march 2026", "tuesday
/// last week". Without a year, it is the last such day.
fn day(words: &[&str], today: NaiveDate) -> Option<(NaiveDate, usize)> {
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let past = usize::from(word(1) == "of");
    if let ("last" | "this", "week") = (word(1 + past), word(2 + past)) {
        let week = period("week", u32::from(word(1 + past) == "last"), today)?;
        let day: Weekday = word(0).parse().ok().filter(|_| word(0).ends_with("day"))?;
        let days = Days::new(day.num_days_from_monday().into());
        return Some((week.start.date().checked_add_days(days)?, 3 + past));
    }
    let named = |at: usize| word(at).parse::<Month>().ok();
    let (month, number, used) = match named(0) {
        Some(month) => (month, word(1), 2),
        None => (named(1 + past)?, word(0), 2 + past),
    };
    let bare = without_ordinal(number);
    let day: u32 = bare.parse().ok()?;
    let of_year = |year: i32| NaiveDate::from_ymd_opt(year, month.number_from_month(), day);
    if let Some(year) = word(used).parse().ok().filter(|_| word(used).len() == 4) {
        return Some((of_year(year)?, used + 1));
    }
    // In "3 may fail", it is the verb.
    let is_month = month != Month::May || bare != number;
    let passed = of_year(today.year()).filter(|day| *day <= today).or_else(|| of_year(today.year() - 1));
    Some((passed.filter(|_| is_month)?, used))
}

/// The day of a month, such as "26th". Without its ending, a number can count anything.
fn ordinal(word: &str) -> Option<u32> {
    let bare = without_ordinal(word);
    bare.parse().ok().filter(|_| bare != word)
}

fn without_ordinal(number: &str) -> &str {
    number.trim_end_matches(['s', 't', 'n', 'd', 'r', 'h'])
}

/// The number of a month. "May" is its whole name.
fn month(name: &str) -> Option<u32> {
    let month: Month = name.parse().ok().filter(|_| name.len() > 3 || name == "may")?;
    Some(month.number_from_month())
}

fn day_of_week(name: &str, today: NaiveDate, least: u64) -> Option<Span> {
    weekday(name, today, least).filter(|_| name.ends_with("day"))
}

/// So many days, weeks or months up to today.
fn over(count: u32, unit: &str, today: NaiveDate) -> Option<Span> {
    let length = match unit.strip_suffix('s').unwrap_or(unit) {
        "day" => 1,
        "week" => 7,
        "month" => 30,
        _ => return None,
    };
    let count = count.checked_mul(length).filter(|count| (1..=MAX_DAYS).contains(count))?;
    days(today.checked_sub_days(Days::new(u64::from(count - 1)))?, u64::from(count))
}

/// The day, week, month or year of so many ago. Nobody means the minute.
fn around(count: u32, unit: &str, now: NaiveDateTime) -> Option<Span> {
    let unit = unit.strip_suffix('s').unwrap_or(unit);
    if let Some(span) = period(unit, count, now.date()) {
        return Some(span);
    }
    let start = ago(count, unit, now)?.start.date().and_time(NaiveTime::MIN);
    days(start.date(), 1)
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::store::utc_day;

    /// Wednesday, 2026-05-27, at noon.
    const NOW: Timestamp = Timestamp { seconds: 1_779_883_200, nanoseconds: 0, utc_offset_seconds: 0 };

    fn named(text: &str) -> Option<(String, String, usize)> {
        let words: Vec<&str> = text.split(' ').collect();
        time_in(&words, NOW).map(|(time, used)| (utc_day(time.start), utc_day(time.end), used))
    }

    #[test]
    fn times_are_found_at_the_beginning() {
        for (text, start, end, used) in [
            ("today we", "2026-05-27", "2026-05-28", 1),
            ("last week", "2026-05-18", "2026-05-25", 2),
            ("past week", "2026-05-21", "2026-05-28", 2),
            ("previous month", "2026-04-01", "2026-05-01", 2),
            ("last 2 weeks", "2026-05-14", "2026-05-28", 3),
            ("past three days", "2026-05-25", "2026-05-28", 3),
            ("two weeks ago", "2026-05-11", "2026-05-18", 3),
            ("3 days ago", "2026-05-24", "2026-05-25", 3),
            ("an hour ago", "2026-05-27", "2026-05-28", 3),
            ("a month ago", "2026-04-01", "2026-05-01", 3),
            ("monday we", "2026-05-25", "2026-05-26", 1),
            ("last wednesday", "2026-05-20", "2026-05-21", 2),
            ("in march the", "2026-03-01", "2026-04-01", 2),
            ("in may", "2026-05-01", "2026-06-01", 2),
            ("of april", "2026-04-01", "2026-05-01", 2),
            ("last may", "2025-05-01", "2025-06-01", 2),
            ("in june", "2025-06-01", "2025-07-01", 2),
            ("in march 2024", "2024-03-01", "2024-04-01", 3),
            ("day before yesterday we", "2026-05-25", "2026-05-26", 3),
            ("tuesday last week", "2026-05-19", "2026-05-20", 3),
            ("friday of last week", "2026-05-22", "2026-05-23", 4),
            ("monday of this week", "2026-05-25", "2026-05-26", 4),
            ("week of 12 march", "2026-03-09", "2026-03-16", 4),
            ("week of the 12th of may", "2026-05-11", "2026-05-18", 6),
            ("nov 26", "2025-11-26", "2025-11-27", 2),
            ("20 jan", "2026-01-20", "2026-01-21", 2),
            ("friday 20 march", "2026-03-20", "2026-03-21", 3),
            ("last week on friday", "2026-05-22", "2026-05-23", 4),
            ("last week on ports", "2026-05-18", "2026-05-25", 2),
            ("since monday", "2026-05-25", "2026-05-28", 2),
            ("since last month we", "2026-04-01", "2026-05-28", 3),
            ("this morning", "2026-05-27", "2026-05-28", 2),
            ("march 12", "2026-03-12", "2026-03-13", 2),
            ("june 3rd we", "2025-06-03", "2025-06-04", 2),
            ("12 may 2024 we", "2024-05-12", "2024-05-13", 3),
            ("1st of may", "2026-05-01", "2026-05-02", 3),
            ("on the 26th we", "2026-05-26", "2026-05-27", 3),
            ("on the 31st", "2026-03-31", "2026-04-01", 3),
            ("between monday and friday", "2026-05-18", "2026-05-23", 4),
            ("from 12 march to yesterday", "2026-03-12", "2026-05-27", 5),
            ("between 2026-05-01 and 2026-05-03 we", "2026-05-01", "2026-05-04", 4),
            ("in 2025 we", "2025-01-01", "2026-01-01", 2),
            ("2026-05-12", "2026-05-12", "2026-05-13", 1),
            ("2026-05", "2026-05-01", "2026-06-01", 1),
        ] {
            assert_eq!(named(text), Some((start.to_string(), end.to_string(), used)), "{text}");
        }
    }

    #[test]
    fn a_question_names_its_first_time() {
        let of = |question: &str| time_of(question, NOW).map(|time| utc_day(time.start));
        assert_eq!(of("What did we decide about Caddy last week, not today?"), Some("2026-05-18".into()));
        assert_eq!(of("Which port did Caddy get on 2026-05-12?"), Some("2026-05-12".into()));
        assert_eq!(of("Which port may Caddy have?"), None);
    }

    #[test]
    fn what_often_means_something_else_is_no_time() {
        for text in [
            "2026",
            "sun",
            "sat on",
            "may we",
            "march on",
            "3 may fail",
            "may 3 users",
            "march 32",
            "30 of february",
            "week of work",
            "last port",
            "in the",
            "now",
            "10-20-30",
            "on the 3",
            "of may",
            "on the 32nd",
            "the 3rd test",
            "in 8080",
            "between ports and today",
            "between today and 2026-05-01",
            "from today and yesterday",
            "last 0 days",
            "last 9999999 days",
            "ago",
            "",
        ] {
            assert_eq!(named(text), None, "{text}");
        }
    }
}
