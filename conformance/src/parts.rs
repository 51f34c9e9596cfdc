//! The parts of a check, in their order.

use std::io;

use crate::bench::Stores;
use crate::driver::{Driver, Program};
use crate::report::{Part, Report, left_out};
use crate::{calls, cases, crashes, grid, races, records};

/// Extent of a check.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The only part to check; `None` is all of them.
    pub only: Option<Part>,
    /// Number of drivers in the races.
    pub races: u32,
    /// Number of appends and edits of each racing driver.
    pub rounds: u32,
    /// Number of times to kill a driver during each kind of change.
    pub kills: u32,
}

/// Checks these parts. Without programs, those that need one are left out.
pub(crate) fn run(
    parts: &[Part],
    programs: &[Program],
    options: &Options,
    driver: &mut Driver,
    stores: &Stores,
    report: &mut Report<'_>,
) -> io::Result<()> {
    let Options { races, rounds, kills, .. } = *options;
    parts.iter().try_for_each(|part| match part {
        Part::Table => grid::run(driver, stores, report),
        Part::Operations => cases::run(driver, stores, report),
        Part::Loop => calls::run(driver, stores, report),
        _ if programs.is_empty() => report.add(*part, "driver", left_out("it is not a program that can be killed")),
        Part::Crashes => crashes::run(kills, driver, stores, report),
        Part::Records => records::run(driver, stores, report),
        Part::Races => races::run(programs, races.max(programs.len() as u32), rounds, driver, stores, report),
    })
}
