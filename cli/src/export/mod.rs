//! `memory export`: writes the entries to files, in our format or another agent's.

mod places;
mod target;
mod write;

pub(crate) use places::{ExportPlace, ExportPlaces, digest};
pub(crate) use write::ExportArgs;
