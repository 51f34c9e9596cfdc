//! Table of the results.

use std::fmt::Write as _;
use std::time::Duration;

use comfy_table::{Table, presets};

/// Baseline, and the maximum ratio to it.
pub(crate) struct Bar {
    pub(crate) baseline: &'static str,
    /// `None` if the baseline could not be measured.
    pub(crate) time: Option<Duration>,
    /// Infinite without a bar.
    pub(crate) at_most: f64,
}

/// Rows in the order in which they were measured.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<[String; 6]>,
}

impl Report {
    /// Adds a row for each baseline; one row if there is none.
    pub(crate) fn add(&mut self, work: &str, time: Duration, bars: &[Bar]) {
        if bars.is_empty() {
            self.row(work, milliseconds(time), String::new(), None, f64::INFINITY);
        }
        for bar in bars {
            let (baseline, ratio) = match bar.time {
                Some(base) => (milliseconds(base), Some(time.as_secs_f64() / base.as_secs_f64())),
                None => ("not installed".to_string(), None),
            };
            let name = format!("{} ({baseline})", bar.baseline);
            self.row(work, milliseconds(time), name, ratio, bar.at_most);
        }
    }

    pub(crate) fn add_ratio(&mut self, work: &str, ratio: f64, at_most: f64) {
        self.row(work, String::new(), String::new(), Some(ratio), at_most);
    }

    fn row(&mut self, work: &str, time: String, baseline: String, ratio: Option<f64>, at_most: f64) {
        let verdict = match ratio {
            Some(ratio) if at_most.is_finite() => {
                if ratio <= at_most {
                    "met"
                } else {
                    "missed"
                }
            }
            _ => "",
        };
        let bar = if at_most.is_finite() { format!("≤ {at_most}") } else { String::new() };
        let ratio = ratio.map(|ratio| format!("{ratio:.3}")).unwrap_or_default();
        self.rows.push([work.to_string(), time, baseline, ratio, bar, verdict.to_string()]);
    }

    pub(crate) fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_header(HEADER);
        self.rows.iter().for_each(|row| {
            table.add_row(row);
        });
        table
    }

    /// Returns `page` with the table between its two marks; `None` if it has no marks.
    pub(crate) fn put_into(&self, page: &str) -> Option<String> {
        let (before, rest) = page.split_once(TABLE_STARTS)?;
        let (_, after) = rest.split_once(TABLE_ENDS)?;
        Some(format!("{before}{TABLE_STARTS}\n\n{}\n{TABLE_ENDS}{after}", self.markdown()))
    }

    fn markdown(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "| {} |\n| {} |", HEADER.join(" | "), ["---"; 6].join(" | "));
        for row in &self.rows {
            let _ = writeln!(out, "| {} |", row.join(" | "));
        }
        out
    }
}

/// Marks of a page, before and after the table.
const TABLE_STARTS: &str = "<!-- the table of `cargo xtask bench --write` -->";
const TABLE_ENDS: &str = "<!-- end of the table -->";

const HEADER: [&str; 6] = ["Work", "Median", "Against", "Ratio", "Bar", ""];

fn milliseconds(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1000.0;
    if ms < 1.0 { format!("{:.1} µs", ms * 1000.0) } else { format!("{ms:.2} ms") }
}
