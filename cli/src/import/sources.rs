//! Reads the sources of an import: a folder or a tar stream. Their content is not trusted.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use saddlebag::entries::{ImportFile, MAX_IMPORT_FILE_BYTES, MAX_IMPORTED};
use saddlebag::protocol::ErrorCode;

use crate::failure::{Failure, ProgramCode};

/// Maximum size of a tar stream, in bytes. It is held in memory, because it can be read only once.
const MAX_STREAM_BYTES: usize = 512 << 20;

/// Maximum number of files and folders, or of members of a stream, to visit.
const MAX_LOOKED_AT: usize = 1 << 20;

const NOTE_SUFFIX: &str = ".md";

/// Files that an import reads.
pub(super) enum Source {
    Folder(Vec<Found>),
    Stream(Vec<ImportFile>),
}

/// File with its path below the folder.
pub(super) struct Found {
    path: String,
    /// Path of the file, or the reason why it is not read.
    place: Result<PathBuf, &'static str>,
}

impl Source {
    pub(super) fn open(from: &Path) -> Result<Self, Failure> {
        if from.as_os_str() == "-" {
            let is_wanted = |path: &str| path.ends_with(NOTE_SUFFIX);
            return stream(io::stdin().lock(), MAX_IMPORT_FILE_BYTES, &is_wanted).map(Self::Stream);
        }
        folder(from).map(Self::Folder)
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Folder(files) => files.len(),
            Self::Stream(files) => files.len(),
        }
    }

    /// Returns the file with an index. A file in a folder is read only now.
    pub(super) fn file(&self, number: usize) -> Option<ImportFile> {
        match self {
            Self::Stream(files) => files.get(number).cloned(),
            Self::Folder(files) => files.get(number).map(|found| {
                let content = match &found.place {
                    Err(reason) => Err((*reason).to_string()),
                    Ok(place) => {
                        read(place).map_err(|error| format!("it cannot be read: {}", saddlebag_host::io_cause(&error)))
                    }
                };
                ImportFile { path: found.path.clone(), content }
            }),
        }
    }
}

fn read(place: &Path) -> io::Result<Vec<u8>> {
    limited(BufReader::new(File::open(place)?), MAX_IMPORT_FILE_BYTES)
}

/// Reads one byte more than the limit at most, which is enough to detect a file that is too large.
fn limited(reader: impl Read, max_bytes: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(max_bytes as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns every `.md` file below a folder, sorted by path. Links are not followed. Names that begin with a dot are
/// skipped.
fn folder(from: &Path) -> Result<Vec<Found>, Failure> {
    let refused = |path: &Path, error: &io::Error| {
        let message = format!("`{}` cannot be read: {}", path.display(), saddlebag_host::io_cause(error));
        Failure::new(ProgramCode::Input, message, "")
    };
    let mut files = Vec::new();
    let mut looked_at = 0;
    let mut folders = vec![(from.to_path_buf(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| refused(&folder, &error))? {
            let entry = entry.map_err(|error| refused(&folder, &error))?;
            looked_at += 1;
            if looked_at > MAX_LOOKED_AT {
                return Err(too_many("files and folders", MAX_LOOKED_AT));
            }
            let name = entry.file_name();
            let shown = name.to_string_lossy();
            if shown.starts_with('.') {
                continue;
            }
            let path = format!("{prefix}{shown}");
            let kind = entry.file_type().map_err(|error| refused(&entry.path(), &error))?;
            if kind.is_dir() {
                folders.push((entry.path(), format!("{path}/")));
                continue;
            }
            let place = match (kind.is_symlink(), name.to_str()) {
                (true, _) => Err("it is a link, and links are not followed"),
                _ if !shown.ends_with(NOTE_SUFFIX) => continue,
                (_, None) => Err("its name is not UTF-8 text"),
                _ if !kind.is_file() => Err("it is not a regular file"),
                _ => Ok(entry.path()),
            };
            files.push(Found { path, place });
        }
    }
    check_count(files.len())?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Returns the wanted files of a tar stream, in its order. An incomplete stream is refused as a whole. If a file is too
/// large, it returns one byte more than the limit.
pub(super) fn stream(
    input: impl Read,
    max_file_bytes: usize,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<ImportFile>, Failure> {
    let refused = |error: io::Error| {
        let message = format!("standard input is not a complete tar stream: {error}");
        Failure::new(ProgramCode::Input, message, "")
    };
    let mut archive = tar::Archive::new(Watched { input, has_ended: false });
    let mut files = Vec::new();
    let mut bytes = 0;
    for (number, member) in archive.entries().map_err(refused)?.enumerate() {
        let member = member.map_err(refused)?;
        if number >= MAX_LOOKED_AT {
            return Err(too_many("members", MAX_LOOKED_AT));
        }
        let kind = member.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() {
            continue;
        }
        let name = member.path_bytes().into_owned();
        let path = String::from_utf8_lossy(&name);
        let path = path.strip_prefix("./").unwrap_or(&path).to_string();
        let is_hidden = path.split('/').any(|name| name.starts_with('.') && !matches!(name, "." | ".."));
        let is_file = kind.is_file() || kind.is_contiguous();
        if is_hidden || is_file && !is_wanted(&path) {
            continue;
        }
        let content = match (kind.is_symlink() || kind.is_hard_link(), std::str::from_utf8(&name)) {
            (true, _) => Err("it is a link, and links are not followed".to_string()),
            _ if !is_file => Err("it is not a regular file".to_string()),
            (_, Err(_)) => Err("its name is not UTF-8 text".to_string()),
            _ => {
                // The reader does not report a truncated stream.
                let expected = member.size().min(max_file_bytes as u64 + 1);
                let content = limited(member, max_file_bytes).map_err(refused)?;
                if (content.len() as u64) < expected {
                    return Err(refused(io::ErrorKind::UnexpectedEof.into()));
                }
                Ok(content)
            }
        };
        bytes += content.as_ref().map_or(0, Vec::len) + path.len();
        if bytes > MAX_STREAM_BYTES {
            return Err(too_many("bytes", MAX_STREAM_BYTES));
        }
        files.push(ImportFile { path, content });
        check_count(files.len())?;
    }
    check_end(archive.into_inner())?;
    Ok(files)
}

/// Reader that knows whether its input has ended.
struct Watched<R> {
    input: R,
    has_ended: bool,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(bytes)?;
        self.has_ended |= count == 0 && !bytes.is_empty();
        Ok(count)
    }
}

/// Refuses an archive without its end marker, which was cut or is empty, and one that another archive follows. With
/// `--mode replace`, the entries of the lost files would be forgotten.
fn check_end(mut rest: Watched<impl Read>) -> Result<(), Failure> {
    let refused = |message: String| Failure::new(ProgramCode::Input, message, "");
    if rest.has_ended {
        return Err(refused("standard input is not a complete tar stream: its end marker is missing".into()));
    }
    let mut block = [0; 4096];
    loop {
        let count = rest.read(&mut block).map_err(|error| refused(format!("cannot read standard input: {error}")))?;
        if count == 0 {
            return Ok(());
        }
        if block.iter().take(count).any(|&byte| byte != 0) {
            return Err(refused("standard input goes on after the end of the tar stream; import one at a time".into()));
        }
    }
}

fn check_count(files: usize) -> Result<(), Failure> {
    if files > MAX_IMPORTED { Err(too_many("files", MAX_IMPORTED)) } else { Ok(()) }
}

fn too_many(what: &str, limit: usize) -> Failure {
    let message = format!("there are more than {limit} {what} to import, which is the limit");
    Failure::new(ErrorCode::TooLarge, message, "import in parts")
}
