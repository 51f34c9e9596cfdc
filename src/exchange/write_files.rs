//! [`write_files`]: writes entries as files of a format.

use super::format::Format;
use super::losses::find_losses;
use super::types::{Loss, WrittenFile};
use crate::entries::ForeignEntry;
use saddlebag_collections::{order, prelude::*, sorted::SortedSet};
use saddlebag_protocol::Error;

/// Writes entries in a format. Returns the files sorted by path, and the losses. Pure.
///
/// # Errors
///
/// The format is for import only.
pub fn write_files(format: Format, entries: &[ForeignEntry]) -> Result<(Vec<WrittenFile>, Vec<Loss>), Error> {
    let Some(write) = format.row().3 else {
        let message = format!("{} can only be imported", format.as_str());
        return Err(Error::invalid_argument(message, "export to another format, such as markdown"));
    };
    let (entries, mut losses) = exportable(format, entries);
    let mut exported = write(&entries);
    order::sort_slice(&mut exported.files, |a, b| a.0.cmp(&b.0));
    losses.append(&mut exported.left_out);
    find_losses(format, &entries, &exported.files, &mut losses);
    Ok((exported.files, losses))
}

/// Returns the entries that a format other than our own can carry: not forgotten, one per key, oldest first.
fn exportable(format: Format, entries: &[ForeignEntry]) -> (Vec<ForeignEntry>, Vec<Loss>) {
    let mut sorted: Vec<&ForeignEntry> = entries.iter().collect();
    // Entries without a date keep their order.
    let tie = |entry: &ForeignEntry| entry.created.map(|_| (entry.key.clone(), entry.category == "workspace"));
    order::sort_slice(&mut sorted, |a, b| a.created.cmp(&b.created).then_with(|| tie(a).cmp(&tie(b))));
    if format == Format::JsonLines {
        return (sorted.into_iter().cloned().collect(), Vec::new());
    }
    let own = sorted.iter().filter(|entry| entry.category != "workspace").map(|entry| entry.key.as_str());
    let own: SortedSet<&str> = own.collect();
    let (mut kept, mut losses) = (Vec::with_capacity(sorted.len()), Vec::new());
    for entry in sorted.into_iter().filter(|entry| entry.forgotten.is_none()) {
        if entry.category == "workspace" && own.contains(entry.key.as_str()) {
            let reason = "the agent's own entry has the same key, and the format has no workspace".into();
            losses.push(Loss { key: entry.key.clone(), field: "entry".into(), reason });
        } else {
            kept.push(entry.clone());
        }
    }
    (kept, losses)
}
