//! `entry edit`: replaces the one occurrence of a text in an entry.

use clap::Args;
use saddlebag::entries::{GetEntry, NewEntry, StoreEntry, StoreReply};
use saddlebag::protocol::ErrorCode;

use super::store::{exit_of, print_stored};
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::output::Output;
use crate::replacement::Replacement;
use crate::store::Store;
use crate::subcommand::Subcommand;

/// Replace the one occurrence of a text in an entry
#[derive(Debug, Args)]
#[command(after_help = example("entry edit deploy_target \"Staging first\" \"Production first\""))]
pub(crate) struct EditArgs {
    /// Key of the entry
    #[arg(allow_hyphen_values = true)]
    key: String,
    #[command(flatten)]
    replacement: Replacement,
}

impl Subcommand for EditArgs {
    type Json = StoreReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let (old, new) = self.replacement.texts()?;
        let mut store = Store::open(global)?;
        let entry = store.call(GetEntry { key: self.key }, output)?;
        if let Some(from) = entry.trust_state().unapproved() {
            // Storing the new text as the user's own would approve the rest of the text, which nobody has reviewed.
            let message = format!("entry `{}` is unapproved: {from}", entry.key.escape_debug());
            let help = "approve it with `saddlebag memory approve KEY` before you edit it, or replace its whole text with \
                        `saddlebag entry store KEY CONTENT`; nothing was changed";
            return Err(Failure::new(ErrorCode::NotPermitted, message, help));
        }
        let content = replaced_once(&entry.content, &old, &new)?;
        let version = entry.version;
        let entry = NewEntry {
            key: entry.key,
            content,
            category: entry.category,
            tags: entry.tags,
            source: entry.source,
            supersedes: entry.supersedes,
        };
        let reply = store.call(StoreEntry { entry, expected_version: Some(version) }, output)?;
        if output.is_json() {
            output.object(&reply)?;
        } else {
            print_stored(&reply, output)?;
        }
        Ok(exit_of(&reply))
    }
}

/// Returns the text with the one occurrence of `old` replaced. Overlapping occurrences count: `aaa` contains `aa`
/// twice, so `aa` is ambiguous in it.
fn replaced_once(text: &str, old: &str, new: &str) -> Result<String, Failure> {
    let occurs = |at: &usize| text.get(*at..).is_some_and(|rest| rest.starts_with(old));
    match (0..=text.len()).filter(occurs).count() {
        1 => Ok(text.replacen(old, new, 1)),
        count => {
            let help = match count {
                0 => "print it with `saddlebag entry show KEY` and copy the text exactly, with its white space",
                _ => "add text from before or after it until it occurs once",
            };
            let message = format!("the old text occurs {count} times in the entry; it must occur exactly once");
            Err(Failure::new(ErrorCode::NoUniqueMatch, message, help))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_text_that_occurs_once_is_replaced() {
        assert_eq!(replaced_once("port 1, port 2", "port 2", "port 3").unwrap(), "port 1, port 3");
        for (text, old) in [("aaa", "aa"), ("port 1, port 2", "port"), ("text", "z"), ("text", "")] {
            assert_eq!(replaced_once(text, old, "y").unwrap_err().code, ErrorCode::NoUniqueMatch.into(), "{old}");
        }
    }
}
