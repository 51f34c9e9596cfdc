//! Reads the files of another agent. Folders are not trusted: links are not followed, only regular files are opened,
//! and nothing is read past its limit.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use saddlebag::entries::{MAX_IMPORT_BYTES, MAX_IMPORT_FILES, MAX_IMPORTED};
use saddlebag::exchange::{ForeignFile, Format};
use saddlebag::protocol::ErrorCode;

use super::sources::stream as tar_members;
use crate::failure::{Failure, ProgramCode};
use crate::regular;

/// Maximum size of a JSON Lines dump, in bytes. A dump is imported in pieces of whole lines.
const MAX_DUMP_BYTES: usize = 64 << 20;

/// Maximum size of a piece of a dump, in bytes.
const PIECE_BYTES: usize = 2 << 20;

/// Maximum number of files and folders to visit, and maximum depth.
const MAX_LOOKED_AT: usize = 1 << 17;
const MAX_DEPTH: usize = 32;

/// Files that an import reads.
pub(super) struct Source {
    /// Folder or file, as the entries record it as their source.
    pub(super) place: String,
    files: Vec<Found>,
}

/// File with its path below the source.
pub(super) struct Found {
    pub(super) path: String,
    place: Place,
}

enum Place {
    File(PathBuf),
    Bytes(Vec<u8>),
    Refused(String),
}

impl Source {
    /// Opens the files of a format in a folder, a single file, or standard input.
    pub(super) fn open(from: &Path, format: Format) -> Result<Self, Failure> {
        if from.as_os_str() == "-" {
            return Self::from_standard_input(format);
        }
        let refused = |error: io::Error| {
            let message = format!("`{}` cannot be read: {}", from.display(), saddlebag_host::io_cause(&error));
            Failure::new(ProgramCode::Input, message, "")
        };
        let kind = fs::metadata(from).map_err(refused)?;
        if kind.is_dir() {
            let mut files = walk(from, false)?;
            files.retain(|found| matches!(found.place, Place::Refused(_)) || format.wants(&found.path));
            return Ok(Self { place: place(from), files });
        }
        if !kind.is_file() {
            let message = format!("`{}` is neither a folder nor a regular file", from.display());
            return Err(Failure::new(ProgramCode::Input, message, ""));
        }
        let name = from.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = from.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let path = format.single_file().filter(|_| format != Format::JsonLines).map_or(name, str::to_string);
        Ok(Self { place: place(folder), files: vec![Found { path, place: Place::File(from.to_path_buf()) }] })
    }

    fn from_standard_input(format: Format) -> Result<Self, Failure> {
        let place_name = "-".to_string();
        let limit = limit(format);
        if let Some(name) = format.single_file() {
            let mut bytes = Vec::new();
            let read = io::stdin().lock().take(limit as u64 + 1).read_to_end(&mut bytes);
            read.map_err(|error| {
                Failure::new(
                    ProgramCode::Input,
                    format!("cannot read standard input: {}", saddlebag_host::io_cause(&error)),
                    "",
                )
            })?;
            let place = within(limit, bytes).map_or_else(Place::Refused, Place::Bytes);
            return Ok(Self { place: place_name, files: vec![Found { path: name.to_string(), place }] });
        }
        let members = tar_members(io::stdin().lock(), limit, &|path| format.wants(path))?;
        let files = members.into_iter().map(|file| {
            let content = file.content.and_then(|bytes| within(limit, bytes));
            Found { path: file.path, place: content.map_or_else(Place::Refused, Place::Bytes) }
        });
        Ok(Self { place: place_name, files: files.collect() })
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// Calls the function with the files, in parts that fit into one command, and with the paths of the files in the
    /// other parts.
    pub(super) fn each_part(
        &self,
        format: Format,
        mut take: impl FnMut(Vec<ForeignFile>, Vec<String>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let paths: Vec<&str> = self.files.iter().map(|found| found.path.as_str()).collect();
        let (mut part, mut bytes): (Vec<ForeignFile>, usize) = (Vec::new(), 0);
        let mut hand_on = |part: &mut Vec<ForeignFile>| {
            let part = std::mem::take(part);
            let is_other = |path: &&&str| part.iter().all(|file| file.path != ***path);
            let others = if part.len() == paths.len() {
                Vec::new()
            } else {
                paths.iter().filter(is_other).map(|path| (*path).to_string()).collect()
            };
            if part.is_empty() { Ok(()) } else { take(part, others) }
        };
        for found in &self.files {
            for file in found.read(format) {
                let size = file.content.as_ref().map_or(0, Vec::len);
                if part.len() == MAX_IMPORT_FILES || bytes + size > MAX_IMPORT_BYTES {
                    hand_on(&mut part)?;
                    bytes = 0;
                }
                bytes += size;
                part.push(file);
            }
        }
        hand_on(&mut part)
    }
}

impl Found {
    /// Reads the file. A dump is split into pieces.
    fn read(&self, format: Format) -> Vec<ForeignFile> {
        let limit = limit(format);
        let content = match &self.place {
            Place::Refused(reason) => Err(reason.clone()),
            Place::Bytes(bytes) => Ok(bytes.clone()),
            Place::File(place) => read(place, limit),
        };
        let whole = |content| vec![ForeignFile { path: self.path.clone(), first_line: 1, content }];
        match content {
            Ok(bytes) if format == Format::JsonLines && bytes.len() > PIECE_BYTES => pieces(&self.path, &bytes),
            content => whole(content),
        }
    }
}

fn limit(format: Format) -> usize {
    if format == Format::JsonLines { MAX_DUMP_BYTES } else { MAX_IMPORT_BYTES }
}

fn too_large(limit: usize) -> String {
    format!("it has more than {limit} bytes, the limit of a file of this format")
}

fn within(limit: usize, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    if bytes.len() > limit { Err(too_large(limit)) } else { Ok(bytes) }
}

/// Reads a file of at most `limit` bytes. The kind of the file is checked before it is opened, because opening a pipe
/// would block.
fn read(place: &Path, limit: usize) -> Result<Vec<u8>, String> {
    let failed = |error: io::Error| format!("it cannot be read: {}", saddlebag_host::io_cause(&error));
    let before = fs::metadata(place).map_err(failed)?;
    if !before.is_file() {
        return Err("it is not a regular file".into());
    }
    if before.len() > limit as u64 {
        return Err(too_large(limit));
    }
    let mut bytes = Vec::new();
    File::open(place).map_err(failed)?.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    within(limit, bytes)
}

/// Splits a dump into pieces of whole lines.
fn pieces(path: &str, bytes: &[u8]) -> Vec<ForeignFile> {
    let mut pieces = Vec::new();
    let (mut rest, mut first_line) = (bytes, 1_u32);
    while !rest.is_empty() {
        let window = &rest[..rest.len().min(PIECE_BYTES)];
        let cut = match window.iter().rposition(|&byte| byte == b'\n') {
            _ if window.len() == rest.len() => rest.len(),
            Some(end) => end + 1,
            None => {
                let reason = format!("the line has more than {PIECE_BYTES} bytes, more than an entry can have");
                pieces.push(ForeignFile { path: path.to_string(), first_line, content: Err(reason) });
                let end = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1);
                (rest, first_line) = (&rest[end..], first_line + 1);
                continue;
            }
        };
        let (piece, remainder) = rest.split_at(cut);
        pieces.push(ForeignFile { path: path.to_string(), first_line, content: Ok(piece.to_vec()) });
        let lines = piece.iter().filter(|&&byte| byte == b'\n').count();
        first_line = first_line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        rest = remainder;
    }
    pieces
}

/// Returns the paths of the files below a folder, from which the format is detected.
pub(super) fn listing(from: &Path) -> Result<Vec<String>, Failure> {
    Ok(walk(from, true)?.into_iter().map(|found| found.path).collect())
}

/// Maximum number of files to look into, and maximum number of bytes of each, to detect a format.
const MAX_BEGINNINGS: usize = 256;
const MAX_BEGINNING_BYTES: u64 = 64 << 10;

/// Returns the beginnings of the first Markdown files among the given paths.
pub(super) fn beginnings<'a>(from: &'a Path, paths: &'a [String]) -> impl Iterator<Item = (&'a str, String)> {
    let pages = paths.iter().filter(|path| path.ends_with(".md")).take(MAX_BEGINNINGS);
    pages.filter_map(|path| {
        let place = if from.is_dir() { from.join(path) } else { from.to_path_buf() };
        let bytes = regular::head(&place, MAX_BEGINNING_BYTES).ok()?;
        Some((path.as_str(), String::from_utf8_lossy(&bytes).into_owned()))
    })
}

/// Returns every file below a folder, sorted by path. A file or folder that cannot be read is included with the
/// reason. Names that begin with a dot are skipped, except `.zk` if `with_hidden` is true.
fn walk(from: &Path, with_hidden: bool) -> Result<Vec<Found>, Failure> {
    let mut files = Vec::new();
    let mut looked_at = 0;
    let mut folders = vec![(from.to_path_buf(), String::new(), 0)];
    while let Some((folder, prefix, depth)) = folders.pop() {
        let refused = |reason: String| Found { path: prefix.clone(), place: Place::Refused(reason) };
        let listed = match fs::read_dir(&folder) {
            Ok(listed) => listed,
            Err(error) if depth == 0 => {
                let message = format!("`{}` cannot be read: {}", from.display(), saddlebag_host::io_cause(&error));
                return Err(Failure::new(ProgramCode::Input, message, ""));
            }
            Err(error) => {
                files.push(refused(format!("the folder cannot be read: {}", saddlebag_host::io_cause(&error))));
                continue;
            }
        };
        if depth > MAX_DEPTH {
            files.push(refused(format!("folders are read only {MAX_DEPTH} levels deep")));
            continue;
        }
        for entry in listed {
            looked_at += 1;
            if looked_at > MAX_LOOKED_AT || files.len() > MAX_IMPORTED {
                let message = format!("there are more than {} files to import, which is the limit", MAX_IMPORTED);
                return Err(Failure::new(ErrorCode::TooLarge, message, "name a folder with less in it"));
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    files.push(refused(format!("an entry cannot be read: {}", saddlebag_host::io_cause(&error))));
                    continue;
                }
            };
            let name = entry.file_name();
            let shown = name.to_string_lossy();
            let is_notebook = with_hidden && shown == ".zk";
            if shown.starts_with('.') && !is_notebook {
                continue;
            }
            let path = format!("{prefix}{shown}");
            let place = match entry.file_type() {
                Err(error) => Place::Refused(format!("it cannot be examined: {}", saddlebag_host::io_cause(&error))),
                Ok(kind) if kind.is_symlink() => Place::Refused("it is a link, and links are not followed".into()),
                Ok(kind) if kind.is_dir() => {
                    folders.push((entry.path(), format!("{path}/"), depth + 1));
                    continue;
                }
                Ok(_) if name.to_str().is_none() => Place::Refused("its name is not UTF-8 text".into()),
                Ok(kind) if !kind.is_file() => Place::Refused("it is not a regular file".into()),
                Ok(_) => Place::File(entry.path()),
            };
            files.push(Found { path, place });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Returns the path that entries record as their source. It is the same for every spelling of a folder, and has `~`
/// for the home folder.
pub(crate) fn place(folder: &Path) -> String {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = real(folder);
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty()).map(|home| real(&home));
    match home.and_then(|home| folder.strip_prefix(home).ok().map(Path::to_path_buf)) {
        Some(below) if below.as_os_str().is_empty() => "~".into(),
        Some(below) => format!("~/{}", below.to_string_lossy().replace('\\', "/")),
        None => folder.to_string_lossy().replace('\\', "/"),
    }
}
