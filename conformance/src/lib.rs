//! The conformance kit: checks a host of the Saddlebag memory against its contract.
//!
//! [`check`] speaks the line protocol of `docs/writing-a-host.md` with a driver, which is another program around the host.
//! [`check_driver`] and [`check_executor`] check a host of this process. [`LocalDriver`] is the driver of the host on the local disk,
//! and [`replay`] runs a recorded trace again.
//!
//! The host that the kit compares others with runs the memory natively over a store in memory.

mod bench;
mod calls;
mod cases;
mod crashes;
mod driver;
mod grid;
mod host;
mod inside;
mod local;
mod locks;
mod names;
mod ops;
mod races;
mod records;
mod replay;
mod report;
mod table;

use std::io::{self, Write};

pub use driver::Program;
pub use host::native;
pub use inside::{Answers, StoreKind, check_driver, check_executor};
pub use local::LocalDriver;
pub use replay::replay;
pub use report::Part;
pub use table::TABLE;

use bench::Stores;
use driver::Driver;
use report::Report;

/// Extent of a check.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The only part to check; `None` is all of them.
    pub only: Option<Part>,
    /// Number of drivers in the races.
    pub races: u32,
    /// Number of crashes between two changes, and of appends and edits of each racing driver.
    pub rounds: u32,
    /// Number of times to kill a driver during each kind of change.
    pub kills: u32,
}

/// Checks the host of the first program. The others change the same store in the races. Writes one line for each case, and returns
/// true if none failed.
///
/// # Errors
///
/// The first program is not a driver, no folder for the stores can be made, or `output` fails.
pub fn check(programs: &[Program], options: &Options, output: &mut dyn Write) -> Result<bool, String> {
    let first = programs.first().ok_or("there is no driver")?;
    let mut driver = Driver::start(first.clone())?;
    let stores = Stores::new()?;
    checked(programs, options, &mut driver, &stores, Report::new(output)).map_err(|error| error.to_string())
}

fn checked(
    programs: &[Program],
    options: &Options,
    driver: &mut Driver,
    stores: &Stores,
    mut report: Report<'_>,
) -> io::Result<bool> {
    let Options { only, races, rounds, kills } = *options;
    let wants = |part| only.is_none_or(|only| only == part);
    if wants(Part::Table) {
        grid::run(driver, stores, &mut report)?;
    }
    if wants(Part::Operations) {
        cases::run(driver, stores, &mut report)?;
    }
    if wants(Part::Loop) {
        calls::run(driver, stores, &mut report)?;
    }
    if wants(Part::Crashes) {
        crashes::run(rounds, kills, driver, stores, &mut report)?;
    }
    if wants(Part::Records) {
        records::run(driver, stores, &mut report)?;
    }
    if wants(Part::Races) {
        let writers = races.max(programs.len() as u32);
        races::run(programs, writers, rounds, driver, stores, &mut report)?;
    }
    report.end(driver.hello())
}
