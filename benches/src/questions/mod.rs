//! Measures how well recall finds the evidence for questions of public sets, beside BM25 over single turns, and what prompts
//! bring.
//!
//! The files of the public sets are read as they are published, and none of their text is part of this project.

mod figures;
mod formats;
mod languages;
pub(crate) mod prompts;
#[cfg(test)]
mod tests;
mod turns;

use std::path::Path;

use crate::work::Result;

/// Returns the report of a set in a file or a folder.
pub(crate) fn evaluate(set: &str, path: &Path) -> Result<String> {
    if set == "languages" {
        return languages::report(path);
    }
    let data = formats::read(set, path)?;
    let apart = figures::apart(&data.histories)?;
    let together = figures::together(&data.histories)?;
    let prompts = prompts::of_histories(&data.histories)?;
    Ok(format!("{}\n\n{prompts}", figures::report(set, &data, &apart, &together)))
}
