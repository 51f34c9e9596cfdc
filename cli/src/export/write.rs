//! `memory export`: writes the files of an export into a folder or a file, or as a stream.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use saddlebag::entries::{EntryProblem, ExportEntries};
use saddlebag::exchange::{ExportTo, FilePart, Format, Loss};
use saddlebag::trust::TrustState;

use super::places::digest;
use super::target::{Target, cut_short, sync_stream, write_file};
use crate::formats::{ExportFormat, converted};
use crate::output::{self, progress, single_line};
use crate::prelude::*;

/// Write the entries to files, in our format or another agent's
#[derive(Debug, Args)]
#[command(after_help = example("memory export --to jsonl --out entries.jsonl"))]
pub(crate) struct ExportArgs {
    /// Empty or new folder, or a new file if the format is one file; `-` writes the file, or a tar stream, to standard
    /// output
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Format of the files
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    to: ExportFormat,
    /// Include the files of forgotten entries
    #[arg(long)]
    forgotten: bool,
    /// Include unapproved entries in a format of another agent; jsonl always has them, and marks them
    #[arg(long)]
    unapproved: bool,
}

impl Subcommand for ExportArgs {
    type Json = Exported;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        run(&self, global, output)
    }
}

/// Result of an export.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct Exported {
    /// Format, as `--to` names it.
    format: ExportFormat,
    /// Number of exported entries.
    entries: u32,
    /// Number of unapproved entries among them.
    unapproved: u32,
    /// Number of files.
    count: usize,
    /// Total size of the files, in bytes.
    bytes: usize,
    /// Paths of the files below the folder.
    files: Vec<String>,
    /// Fields and entries that the format cannot hold.
    losses: Vec<Loss>,
    /// Files of the store that cannot be exported.
    problems: Vec<EntryProblem>,
}

/// A file of an export.
struct ExportFile {
    path: String,
    content: Vec<u8>,
    /// Time of the last change, in seconds since 1970-01-01T00:00:00Z.
    updated: u64,
}

/// Takes a file of an export, and the number of files that follow it.
type Take<'a> = &'a mut dyn FnMut(ExportFile, usize) -> Result<(), Failure>;

fn run(args: &ExportArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let mut store = Store::open(global)?;
    let single = converted(&args.to).and_then(Format::single_file);
    if args.out.as_os_str() == "-" {
        return to_stream(args, single.is_some(), &mut store, global, output);
    }
    // If the format is one file, a path with the same extension names that file. Any other path names a folder.
    let is_file = single.is_some_and(|name| args.out.extension() == Path::new(name).extension());
    let target = Target::from_path(&args.out, global, is_file)?;
    target.name_leftovers(output);
    let folder = if is_file { None } else { Some(target.folder()?) };
    let (mut digests, mut whole) = (Vec::new(), Vec::new());
    let exported = each_file(args, &mut store, output, &mut |file, _| {
        digests.push(digest(&file.content));
        match &folder {
            Some(folder) => {
                write_file(folder.path(), &file.path, &file.content).map_err(|error| target.failure(&error))
            }
            None => {
                whole = file.content;
                Ok(())
            }
        }
    })?;
    target.note(digests, output);
    match folder {
        Some(folder) => target.take(folder)?,
        None => target.take_file(&whole)?,
    }
    if !output.json(&exported)? {
        exported.print(&args.out, output)?;
        output.flush()?;
    }
    Ok(report(&exported, output))
}

fn to_stream(
    args: &ExportArgs,
    is_single: bool,
    store: &mut Store,
    global: &Global,
    output: &mut Output,
) -> Result<Exit, Failure> {
    if !is_single && output::is_terminal() {
        return Err(Failure::usage("a terminal cannot show a tar stream", "send it to a file, or name a folder"));
    }
    let mut tar = if is_single { None } else { Some(tar::Builder::new(output::bytes())) };
    let exported = each_file(args, store, output, &mut |file, left| {
        let added = match &mut tar {
            None => output::print_json_lines(&file.content),
            Some(tar) => {
                let mut header = tar::Header::new_gnu();
                header.set_size(file.content.len() as u64);
                header.set_mode(0o600);
                header.set_mtime(file.updated);
                tar.append_data(&mut header, &file.path, file.content.as_slice())
            }
        };
        added.map_err(|error| cut_short(&error, &file.path, left))
    })?;
    let flushed = tar.map_or(Ok(()), |tar| tar.into_inner().and_then(|mut out| out.flush()));
    let last = exported.files.last().map_or("the end", String::as_str);
    flushed.and_then(|()| sync_stream(global)).map_err(|error| cut_short(&error, last, 0))?;
    for loss in &exported.losses {
        output.warning(&in_words(loss));
    }
    if exported.unapproved > 0 {
        output.warning(&format!("{} of the entries are not approved", exported.unapproved));
    }
    Ok(report(&exported, output))
}

/// Calls the function with each file, page by page.
fn each_file(args: &ExportArgs, store: &mut Store, output: &mut Output, take: Take<'_>) -> Result<Exported, Failure> {
    let mut exported = Exported { format: args.to, ..Exported::default() };
    // On a terminal, a bar would stand among the lines of a stream.
    let is_hidden = args.out.as_os_str() == "-" && output::is_terminal();
    let bar = if is_hidden { ProgressBar::hidden() } else { progress(0) };
    let take: Take<'_> = &mut |file, left| {
        bar.inc(1);
        bar.set_length(bar.position() + left as u64);
        take(file, left)
    };
    match converted(&args.to) {
        None => exported.take_entries(args, store, output, take)?,
        Some(format) => exported.take_converted(format, args, store, output, take)?,
    }
    bar.finish_and_clear();
    Ok(exported)
}

impl Exported {
    /// Takes the files of the entries as they are stored.
    fn take_entries(
        &mut self,
        args: &ExportArgs,
        store: &mut Store,
        output: &mut Output,
        take: Take<'_>,
    ) -> Result<(), Failure> {
        let mut cursor = None;
        loop {
            let page = store.call(ExportEntries { forgotten: args.forgotten, cursor }, output)?;
            for file in page.files {
                let text = String::from_utf8_lossy(&file.content);
                self.entries += 1;
                self.unapproved += u32::from(TrustState::from_text(&text).unapproved().is_some());
                let updated = file.updated / 1_000_000_000;
                self.add(ExportFile { path: file.path, content: file.content, updated }, page.total, take)?;
            }
            self.problems = page.problems;
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    /// Takes the files that the component makes of the entries. A file may be in several pages.
    fn take_converted(
        &mut self,
        format: Format,
        args: &ExportArgs,
        store: &mut Store,
        output: &mut Output,
        take: Take<'_>,
    ) -> Result<(), Failure> {
        let mut open: Option<ExportFile> = None;
        let mut cursor = None;
        loop {
            let is_first = cursor.is_none();
            let request = ExportTo { format, forgotten: args.forgotten, unapproved: args.unapproved, cursor };
            let page = store.call(request, output)?;
            for FilePart { path, content, .. } in page.parts {
                match &mut open {
                    Some(file) if file.path == path => file.content.extend(content),
                    _ => {
                        if let Some(file) = open.replace(ExportFile { path, content, updated: 0 }) {
                            self.add(file, page.files, take)?;
                        }
                    }
                }
            }
            if is_first {
                (self.entries, self.unapproved) = (page.entries, page.unapproved);
                (self.losses, self.problems) = (page.losses, page.problems);
            }
            cursor = page.next;
            if cursor.is_none() {
                return open.map_or(Ok(()), |file| self.add(file, page.files, take));
            }
        }
    }

    fn add(&mut self, file: ExportFile, total: u32, take: Take<'_>) -> Result<(), Failure> {
        self.count += 1;
        self.bytes += file.content.len();
        self.files.push(file.path.clone());
        take(file, (total as usize).saturating_sub(self.count))
    }

    fn print(&self, out: &Path, output: &mut Output) -> io::Result<()> {
        for loss in &self.losses {
            output.line(&in_words(loss))?;
        }
        let counted = |count: usize, one: &str, more: &str| format!("{count} {}", if count == 1 { one } else { more });
        let entries = counted(self.entries as usize, "entry", "entries");
        let (files, losses) = (counted(self.count, "file", "files"), counted(self.losses.len(), "loss", "losses"));
        let waiting = match self.unapproved {
            0 => String::new(),
            count => format!("; {count} not approved"),
        };
        let (bytes, out) = (self.bytes, out.display());
        output.line(&format!("Exported {entries} in {files}, {bytes} bytes, to {out}; {losses}{waiting}"))
    }
}

/// Returns a loss as a line. The key `*` means every entry.
fn in_words(Loss { key, field, reason }: &Loss) -> String {
    let entry = if key == "*" { "all entries".into() } else { single_line(key) };
    format!("lost: {} of {entry}: {}", single_line(field), single_line(reason))
}

/// Warns about the files that are not in the export. Returns the exit code, which is a failure if there are any.
fn report(exported: &Exported, output: &mut Output) -> Exit {
    for EntryProblem { path, message, .. } in &exported.problems {
        output.warning(&format!("{path} is not exported: {message}"));
    }
    if exported.problems.is_empty() { Exit::Done } else { Exit::Failed }
}
