//! Dates as zk prints them. The calendar is computed here, because the program needs it nowhere else.

use std::fmt::Write as _;

const SECOND: u64 = 1_000_000_000;
const DAY: i64 = 86_400;
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A moment in local time.
struct Civil {
    year: i64,
    month: usize,
    day: i64,
    /// Day of the week; 0 for Sunday.
    weekday: usize,
    day_of_year: i64,
    second_of_day: i64,
}

/// Returns the date of a time in seconds since 1970-01-01, in the proleptic Gregorian calendar.
fn civil(seconds: i64) -> Civil {
    let days = seconds.div_euclid(DAY);
    // If years begin in March, the leap day is at the end.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let before_march = 59 + i64::from(is_leap);
    let day_of_year = if month > 2 { of_year + before_march + 1 } else { of_year - 305 };
    Civil {
        year,
        month: usize::try_from(month).unwrap_or(1),
        day,
        weekday: usize::try_from((days + 4).rem_euclid(7)).unwrap_or_default(),
        day_of_year,
        second_of_day: seconds.rem_euclid(DAY),
    }
}

/// Formats nanoseconds since 1970-01-01T00:00:00Z as RFC 3339, with as many decimal places as needed.
pub(super) fn rfc3339(nanoseconds: u64) -> String {
    let mut text = strftime(nanoseconds, 0, "%Y-%m-%dT%H:%M:%S");
    let fraction = nanoseconds % SECOND;
    if fraction > 0 {
        let digits = format!(".{fraction:09}");
        text.push_str(digits.trim_end_matches('0'));
    }
    text.push('Z');
    text
}

/// Formats a date by one of zk's named formats, or by a pattern.
pub(super) fn format(nanoseconds: u64, style: &str, now: u64, utc_offset_seconds: i32) -> String {
    let spelled = match style {
        "short" => "%m/%d/%Y",
        "medium" => "%b %d, %Y",
        "long" => "%B %d, %Y",
        "full" => "%A, %B %d, %Y",
        "year" => "%Y",
        "time" => "%H:%M",
        "timestamp" => "%Y%m%d%H%M",
        "timestamp-unix" => "%s",
        "elapsed" => return elapsed(nanoseconds, now),
        spelled => spelled,
    };
    strftime(nanoseconds, utc_offset_seconds, spelled)
}

fn strftime(nanoseconds: u64, utc_offset_seconds: i32, format: &str) -> String {
    let utc = i64::try_from(nanoseconds / SECOND).unwrap_or_default();
    let Civil { year, month, day, weekday, day_of_year, second_of_day } = civil(utc + i64::from(utc_offset_seconds));
    let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
    let month_name = MONTHS.get(month.wrapping_sub(1)).copied().unwrap_or_default();
    let weekday_name = WEEKDAYS.get(weekday).copied().unwrap_or_default();
    let hour_of_twelve = (hour + 11) % 12 + 1;
    let nested = |format: &str| strftime(nanoseconds, utc_offset_seconds, format);
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        // Writing to a string cannot fail.
        let _ = match chars.next() {
            Some('Y') => write!(out, "{year}"),
            Some('y') => write!(out, "{:02}", year.rem_euclid(100)),
            Some('m') => write!(out, "{month:02}"),
            Some('d') => write!(out, "{day:02}"),
            Some('e') => write!(out, "{day:2}"),
            Some('H') => write!(out, "{hour:02}"),
            Some('I') => write!(out, "{hour_of_twelve:02}"),
            Some('M') => write!(out, "{minute:02}"),
            Some('S') => write!(out, "{second:02}"),
            Some('L') => write!(out, "{:03}", nanoseconds % SECOND / 1_000_000),
            Some('f') => write!(out, "{:06}", nanoseconds % SECOND / 1000),
            Some('p') => write!(out, "{}", if hour < 12 { "AM" } else { "PM" }),
            Some('B') => write!(out, "{month_name}"),
            Some('b' | 'h') => write!(out, "{month_name:.3}"),
            Some('A') => write!(out, "{weekday_name}"),
            Some('a') => write!(out, "{weekday_name:.3}"),
            Some('u') => write!(out, "{}", (weekday + 6) % 7 + 1),
            Some('w') => write!(out, "{weekday}"),
            Some('j') => write!(out, "{day_of_year:03}"),
            Some('s') => write!(out, "{utc}"),
            Some('z') => {
                let sign = if utc_offset_seconds < 0 { '-' } else { '+' };
                let minutes = utc_offset_seconds.unsigned_abs() / 60;
                write!(out, "{sign}{:02}{:02}", minutes / 60, minutes % 60)
            }
            Some('F') => write!(out, "{}", nested("%Y-%m-%d")),
            Some('T' | 'X') => write!(out, "{}", nested("%H:%M:%S")),
            Some('R') => write!(out, "{}", nested("%H:%M")),
            Some('D' | 'x') => write!(out, "{}", nested("%m/%d/%y")),
            Some('n') => writeln!(out),
            Some('t') => write!(out, "\t"),
            Some('%') => write!(out, "%"),
            Some(other) => write!(out, "%{other}"),
            None => write!(out, "%"),
        };
    }
    out
}

/// Returns the time since a moment, in the largest unit that fits.
fn elapsed(nanoseconds: u64, now: u64) -> String {
    let seconds = now.saturating_sub(nanoseconds) / SECOND;
    const UNITS: [(u64, &str); 6] = [
        (31_536_000, "year"),
        (2_592_000, "month"),
        (604_800, "week"),
        (86_400, "day"),
        (3600, "hour"),
        (60, "minute"),
    ];
    match UNITS.iter().find(|(length, _)| seconds >= *length) {
        None => "just now".into(),
        Some((length, unit)) if seconds / length == 1 => format!("1 {unit} ago"),
        Some((length, unit)) => format!("{} {unit}s ago", seconds / length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_zk_writes_them() {
        let time = 1_767_600_000 * SECOND;
        assert_eq!(rfc3339(time), "2026-01-05T08:00:00Z");
        assert_eq!(rfc3339(time + 120_000_000), "2026-01-05T08:00:00.12Z");
        for (style, expected) in [
            ("long", "January 05, 2026"),
            ("full", "Monday, January 05, 2026"),
            ("medium", "Jan 05, 2026"),
            ("timestamp", "202601050900"),
            ("%j %p %z %% %e|%I", "005 AM +0100 %  5|09"),
            ("elapsed", "2 days ago"),
        ] {
            assert_eq!(format(time, style, time + 2 * 86_400 * SECOND, 3600), expected, "{style}");
        }
        // The last day of a leap year and the day after a 29th of February.
        assert_eq!(format(1_735_603_200 * SECOND, "%F %j", 0, 0), "2024-12-31 366");
        assert_eq!(format(1_709_251_200 * SECOND, "%F %j", 0, 0), "2024-03-01 061");
        assert_eq!(format(0, "%F %A", 0, -1), "1969-12-31 Wednesday");
    }
}
