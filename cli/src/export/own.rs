//! `memory export`: writes the files of the entries to a folder or as a tar stream.

use std::io::Write;

use saddlebag::entries::{EntryFile, EntryProblem, ExportEntries};
use saddlebag::trust::TrustState;
use schemars::JsonSchema;
use serde::Serialize;

use super::args::ExportArgs;
use super::places::digest;
use super::target::{Target, cut_short, report, sync_stream, waiting, write_file};
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::output::{self, Output, progress};
use crate::store::Store;

/// Result of an export.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct Exported {
    /// Number of files.
    count: usize,
    /// Paths of the files below the folder.
    files: Vec<String>,
    /// Total size of the files, in bytes.
    bytes: usize,
    /// Number of unapproved entries.
    unapproved: usize,
    /// Files of the store that cannot be exported.
    problems: Vec<EntryProblem>,
}

pub(super) fn run(args: &ExportArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let mut store = Store::open(global)?;
    if args.out.as_os_str() == "-" {
        return to_stream(args, &mut store, global, output);
    }
    let target = Target::from_path(&args.out, global, false)?;
    target.name_leftovers(output);
    let made = target.folder()?;
    let mut digests = Vec::new();
    let exported = each_file(args, &mut store, output, |file, _| {
        digests.push(digest(&file.content));
        write_file(made.path(), &file.path, &file.content).map_err(|error| target.failure(&error))
    })?;
    target.note(digests, output);
    target.take(made)?;
    let Exported { count, bytes, unapproved, .. } = exported;
    let files = if count == 1 { "1 file".to_string() } else { format!("{count} files") };
    let waiting = waiting(unapproved);
    output
        .object_or_line(&exported, &format!("Exported {files}, {bytes} bytes, to {}{waiting}", args.out.display()))?;
    output.flush()?;
    Ok(report(&exported.problems, output))
}

fn to_stream(args: &ExportArgs, store: &mut Store, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    if output::is_terminal() {
        return Err(Failure::usage("a terminal cannot show a tar stream", "send it to a file, or name a folder"));
    }
    let mut tar = tar::Builder::new(output::bytes());
    let exported = each_file(args, store, output, |file, left| {
        let mut header = tar::Header::new_gnu();
        header.set_size(file.content.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(file.updated / 1_000_000_000);
        let added = tar.append_data(&mut header, &file.path, file.content.as_slice());
        added.map_err(|error| cut_short(&error, &file.path, left))
    })?;
    let flushed = tar.into_inner().and_then(|mut out| out.flush());
    let last = exported.files.last().map_or("the end", String::as_str);
    flushed.and_then(|()| sync_stream(global)).map_err(|error| cut_short(&error, last, 0))?;
    if exported.unapproved > 0 {
        output.note(&format!("{} of the files are not approved, and are marked as such", exported.unapproved));
    }
    Ok(report(&exported.problems, output))
}

/// Calls the function with each file of the entries, page by page, and with the number of files that follow.
fn each_file(
    args: &ExportArgs,
    store: &mut Store,
    output: &mut Output,
    mut take: impl FnMut(&EntryFile, usize) -> Result<(), Failure>,
) -> Result<Exported, Failure> {
    let mut exported = Exported::default();
    let bar = progress(0);
    let mut cursor = None;
    loop {
        let page = store.call(ExportEntries { forgotten: args.forgotten, cursor }, output)?;
        bar.set_length(u64::from(page.total));
        for file in &page.files {
            take(file, (page.total as usize).saturating_sub(exported.files.len() + 1))?;
            bar.inc(1);
            exported.bytes += file.content.len();
            let text = String::from_utf8_lossy(&file.content);
            exported.unapproved += usize::from(TrustState::from_text(&text).unapproved().is_some());
            exported.files.push(file.path.clone());
            exported.count += 1;
        }
        exported.problems = page.problems;
        cursor = page.next;
        if cursor.is_none() {
            bar.finish_and_clear();
            return Ok(exported);
        }
    }
}
