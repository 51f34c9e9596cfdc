//! `--trace`: opens the file that records all calls of the contract. `docs/writing-a-host.md` describes the format.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use saddlebag_host::Recording;

use crate::failure::{Failure, ProgramCode};
use crate::global::Global;

/// Opens the file that the global options name, if any.
pub(crate) fn recording(global: &Global) -> Result<Option<Recording>, Failure> {
    let Some(path) = &global.trace else { return Ok(None) };
    let file = open_to_append(path).map_err(|error| {
        let message = format!("cannot open the trace file `{}`: {}", path.display(), saddlebag_host::io_cause(&error));
        Failure::new(ProgramCode::Trace, message, "name a file in a folder that exists")
    })?;
    Ok(Some(Recording::new(file, concat!("saddlebag ", env!("CARGO_PKG_VERSION")))))
}

/// Returns the reason why a trace is incomplete, if it is.
pub(crate) fn failure(recording: &Recording) -> Option<String> {
    recording.failure().map(|kind| format!("the trace is incomplete: {kind}"))
}

/// Opens the file for appending after its last complete line. It has content of the memory, so only the owner can
/// read a new file.
fn open_to_append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    if has_cut_line(path)? {
        file.write_all(b"\n")?;
    }
    Ok(file)
}

/// Returns true if the file ends with an incomplete line, because the program that wrote it was stopped.
fn has_cut_line(path: &Path) -> io::Result<bool> {
    let metadata = path.metadata()?;
    if !metadata.is_file() || metadata.len() == 0 {
        return Ok(false);
    }
    // A file that can be written but not read is not checked.
    let Ok(mut file) = File::open(path) else { return Ok(false) };
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}
