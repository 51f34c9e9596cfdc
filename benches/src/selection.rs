//! The arguments of the program.

use std::path::PathBuf;

use crate::work::Result;

const USAGE: &str = "\
usage: saddlebag-bench [PART]... [--program PROGRAM] [--notes N] [--write]
       saddlebag-bench train
       saddlebag-bench count-tokens < TEXT

parts: search, recall, index, block, commands, hooks, server, prompts, tools";

/// Choice of the arguments.
pub(crate) struct Selection {
    /// Parts to measure; empty for all.
    pub(crate) parts: Vec<String>,
    /// Program of a release. Without it, the parts that run one are left out.
    pub(crate) program: Option<PathBuf>,
    /// Numbers of notes, ascending.
    pub(crate) notes: Vec<usize>,
    /// Also writes the table into the page.
    pub(crate) write: bool,
}

impl Selection {
    /// Parses the arguments; `known` are the names of the parts.
    pub(crate) fn parse(words: &[&str], known: &[&str]) -> Result<Self> {
        let mut selection = Self { parts: Vec::new(), program: None, notes: vec![10_000, 100_000], write: false };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--program" => selection.program = Some(words.next().ok_or(USAGE)?.into()),
                "--notes" => selection.notes = vec![words.next().ok_or(USAGE)?.parse()?],
                "--write" => selection.write = true,
                part if known.contains(&part) => selection.parts.push(part.into()),
                other => return Err(format!("there is no part `{other}`\n{USAGE}").into()),
            }
        }
        Ok(selection)
    }
}
