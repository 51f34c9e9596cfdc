//! Names that every subcommand needs.

pub(crate) use clap::Args;
pub(crate) use schemars::JsonSchema;
pub(crate) use serde::Serialize;

pub(crate) use crate::failure::{Exit, Failure};
pub(crate) use crate::global::Global;
pub(crate) use crate::help::example;
pub(crate) use crate::output::Output;
pub(crate) use crate::store::Store;
pub(crate) use crate::subcommand::Subcommand;
