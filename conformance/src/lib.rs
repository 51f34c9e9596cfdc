//! The conformance kit: checks a host of the Saddlebag memory against its contract.
//!
//! [`check`] speaks the line protocol of `docs/writing-a-host.md` with a driver, which is another program around the host.
//! [`check_driver`] and [`check_executor`] check a host of this process. [`HostDriver`] is the driver of the host on the local disk,
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
mod host_driver;
mod inside;
mod locks;
mod names;
mod ops;
mod parts;
mod races;
mod records;
mod replay;
mod report;
mod table;

use std::io::Write;
use std::slice;

use clap::ValueEnum;

pub use driver::Program;
pub use host::native;
pub use host_driver::HostDriver;
pub use inside::{Answers, StoreKind, check_driver, check_executor};
pub use parts::Options;
pub use replay::replay;
pub use report::Part;
pub use table::TABLE;

use bench::Stores;
use driver::Driver;
use report::Report;

/// Checks the host of the first program. The others change the same store in the races. Writes one line for each case, and returns
/// true if none failed.
///
/// # Errors
///
/// The first program is not a driver, no folder for the stores can be made, or `output` fails.
pub fn check(programs: &[Program], options: &Options, output: &mut dyn Write) -> Result<bool, String> {
    let first = programs.first().ok_or("there is no driver")?;
    let mut driver = Driver::start(first.clone())?;
    let (stores, mut report) = (Stores::new()?, Report::new(output));
    let parts = options.only.as_ref().map_or(Part::value_variants(), slice::from_ref);
    let ran = parts::run(parts, programs, options, &mut driver, &stores, &mut report);
    ran.and_then(|()| report.end(driver.hello())).map_err(|error| error.to_string())
}
