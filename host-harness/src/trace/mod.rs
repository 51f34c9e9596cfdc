//! Recorded runs: the calls across the contract, one JSON object per line.
//!
//! [`RecordingEngine`] writes the lines of an engine to a [`Recording`]. [`replay`] makes the calls of such lines on
//! another engine and compares the results. `docs/writing-a-host.md` has the format.

mod record;
mod replay;

pub use record::{Recording, RecordingEngine, TRACE_VERSION};
pub use replay::{Difference, ReplayError, Replayed, first_difference, replay};
pub use saddlebag::wit_convert::PACKAGE;
