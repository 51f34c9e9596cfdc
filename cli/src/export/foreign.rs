//! `memory export --to`: writes the entries as files of another agent.

use std::io::{self, Write};
use std::path::Path;

use saddlebag::entries::EntryProblem;
use saddlebag::exchange::{ExportTo, ExportToReply, Format, Loss};
use schemars::JsonSchema;
use serde::Serialize;

use super::args::ExportArgs;
use super::places::digest;
use super::target::{Target, cut_short, report, sync_stream, waiting, write_file};
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::output::{self, Output, progress, single_line};
use crate::store::Store;

/// Path and content of a file.
type Collected = (String, Vec<u8>);

/// Result of an export for another agent.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Exported {
    /// Format, as `--to` names it.
    format: Format,
    /// Number of exported entries.
    entries: u32,
    /// Number of unapproved entries among them.
    unapproved: u32,
    /// Number of files.
    count: u32,
    /// Total size of the files, in bytes.
    bytes: u64,
    /// Paths of the files below the folder.
    files: Vec<String>,
    /// Fields that the format cannot hold.
    losses: Vec<Loss>,
    /// Files of the store that cannot be exported.
    problems: Vec<EntryProblem>,
}

/// Exports in the format of another agent.
pub(super) fn run(format: Format, args: &ExportArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let mut store = Store::open(global)?;
    let is_stream = args.out.as_os_str() == "-";
    let single = format.single_file();
    if is_stream && single.is_none() && output::is_terminal() {
        return Err(Failure::usage("a terminal cannot show a tar stream", "send it to a file, or name a folder"));
    }
    // If the format is one file, a path with the same extension names that file. Any other path names a folder.
    let is_file = single.is_some_and(|name| args.out.extension() == Path::new(name).extension());
    let target = if is_stream { None } else { Some(Target::from_path(&args.out, global, is_file)?) };
    if let Some(target) = &target {
        target.name_leftovers(output);
    }
    let (files, reply) = collect(format, args, &mut store, output)?;
    if let Some(target) = &target {
        target.note(files.iter().map(|(_, content)| digest(content)).collect(), output);
    }
    match &target {
        None => to_stream(single.is_some(), &files, global)?,
        Some(target) if is_file => {
            let content = files.first().map(|(_, content)| content.as_slice()).unwrap_or_default();
            target.take_file(content)?;
        }
        Some(target) => {
            let made = target.folder()?;
            for (path, content) in &files {
                write_file(made.path(), path, content).map_err(|error| target.failure(&error))?;
            }
            target.take(made)?;
        }
    }
    if is_stream {
        return Ok(warn(&reply, output));
    }
    let ExportToReply { files: count, bytes, entries, .. } = reply;
    if output.is_json() {
        let exit = if reply.problems.is_empty() { Exit::Done } else { Exit::Failed };
        let files = files.into_iter().map(|(path, _)| path).collect();
        let ExportToReply { unapproved, losses, problems, .. } = reply;
        output.object(&Exported { format, entries, unapproved, count, bytes, files, losses, problems })?;
        return Ok(exit);
    }
    for loss in &reply.losses {
        output.line(&in_words(loss))?;
    }
    let (lost, waiting) = (reply.losses.len(), waiting(reply.unapproved as usize));
    let (out, files) = (args.out.display(), if count == 1 { "1 file".into() } else { format!("{count} files") });
    output.line(&format!("Exported {entries} entries in {files}, {bytes} bytes, to {out}; {lost} losses{waiting}"))?;
    output.flush()?;
    Ok(report(&reply.problems, output))
}

/// Returns the files of all pages, and the remaining fields of the first page.
fn collect(
    format: Format,
    args: &ExportArgs,
    store: &mut Store,
    output: &mut Output,
) -> Result<(Vec<Collected>, ExportToReply), Failure> {
    let bar = progress(0);
    let mut files: Vec<Collected> = Vec::new();
    let mut first: Option<ExportToReply> = None;
    let mut cursor = None;
    loop {
        let request = ExportTo { format, forgotten: args.forgotten, unapproved: args.unapproved, cursor };
        let mut page = store.call(request, output)?;
        bar.set_length(u64::from(page.files));
        for part in std::mem::take(&mut page.parts) {
            match files.last_mut() {
                Some((path, content)) if *path == part.path => content.extend(part.content),
                _ => {
                    bar.inc(1);
                    files.push((part.path, part.content));
                }
            }
        }
        cursor = page.next.take();
        let reply = first.take().unwrap_or(page);
        if cursor.is_none() {
            bar.finish_and_clear();
            return Ok((files, reply));
        }
        first = Some(reply);
    }
}

fn to_stream(is_single: bool, files: &[Collected], global: &Global) -> Result<(), Failure> {
    let last = files.last().map_or("the end", |(path, _)| path.as_str());
    let sync = |out: io::Result<()>| out.and_then(|()| sync_stream(global)).map_err(|error| cut_short(&error, last, 0));
    if is_single {
        let is_json = |path: &str| path.ends_with(".json") || path.ends_with(".jsonl");
        return sync(files.iter().try_for_each(|(path, content)| output::print_file(content, is_json(path))));
    }
    let mut tar = tar::Builder::new(output::bytes());
    for (number, (path, content)) in (1..).zip(files) {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o600);
        let added = tar.append_data(&mut header, path, content.as_slice());
        added.map_err(|error| cut_short(&error, path, files.len() - number))?;
    }
    sync(tar.into_inner().and_then(|mut out| out.flush()))
}

/// Returns a loss as a line. The key `*` means every entry.
fn in_words(Loss { key, field, reason }: &Loss) -> String {
    let entry = if key == "*" { "all entries".into() } else { single_line(key) };
    format!("lost: {} of {entry}: {}", single_line(field), single_line(reason))
}

fn warn(reply: &ExportToReply, output: &mut Output) -> Exit {
    for loss in &reply.losses {
        output.warning(&in_words(loss));
    }
    if reply.unapproved > 0 {
        output.warning(&format!("{} of the entries are not approved", reply.unapproved));
    }
    report(&reply.problems, output)
}
