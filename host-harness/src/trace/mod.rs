//! A recorded run is data: what crossed the contract, one JSON object a line.
//!
//! [`RecordingEngine`] writes the lines of an engine to a [`Recording`], [`replay`] gives the calls of such lines to
//! another engine and compares what comes back. `docs/trace.md` has the format.

mod record;
mod replay;

pub use record::{Recording, RecordingEngine, TRACE_VERSION};
pub use replay::{Difference, ReplayError, Replayed, replay};
pub use saddlebag::wit_convert::PACKAGE;
pub use saddlebag::wit_convert::canonical::Content;
