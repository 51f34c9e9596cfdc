//! Reads the files of an import: a folder, a single file, or standard input. Folders are not trusted: links are not followed,
//! only regular files are opened, and nothing is read past its limit.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use saddlebag::entries::{MAX_IMPORT_BYTES, MAX_IMPORT_FILE_BYTES, MAX_IMPORT_FILES, MAX_IMPORTED};
use saddlebag::exchange::{ForeignFile, Format};
use saddlebag::protocol::ErrorCode;

use crate::failure::{Failure, ProgramCode};
use crate::regular;

/// Maximum size of a JSON Lines dump, in bytes. A dump is imported in pieces of whole lines.
const MAX_DUMP_BYTES: usize = 64 << 20;

/// Maximum size of a piece of a dump, in bytes.
const PIECE_BYTES: usize = 2 << 20;

/// Maximum size of a tar stream, in bytes. It is held in memory, because it can be read only once.
const MAX_STREAM_BYTES: usize = 512 << 20;

/// Maximum number of files and folders, or of members of a stream, to visit, and maximum depth of folders.
const MAX_LOOKED_AT: usize = 1 << 20;
const MAX_DEPTH: usize = 32;

/// Files that an import reads.
pub(super) struct Source {
    /// Folder or file, as the entries record it as their source.
    pub(super) place: String,
    files: Vec<Found>,
    /// `None` for our own Markdown.
    format: Option<Format>,
}

/// File with its path below the source.
struct Found {
    path: String,
    place: Place,
}

enum Place {
    File(PathBuf),
    Bytes(Vec<u8>),
    Refused(String),
}

impl Place {
    fn of_bytes(bytes: Result<Vec<u8>, String>) -> Self {
        bytes.map_or_else(Self::Refused, Self::Bytes)
    }
}

impl Source {
    /// Opens the files of a format in a folder, a single file, or standard input. Of our own Markdown, everything must be
    /// readable, because `--mode replace` forgets the entries that the files do not have.
    pub(super) fn open(from: &Path, format: Option<Format>) -> Result<Self, Failure> {
        if from.as_os_str() == "-" {
            let files = standard_input(format)?;
            return Ok(Self { place: "-".into(), files, format });
        }
        let kind = fs::metadata(from).map_err(|error| unreadable(from, &error))?;
        if kind.is_dir() {
            let files = match format {
                None => walk(from, &Walk { wants: &is_own, with_zk: false, is_strict: true })?,
                Some(format) => {
                    let mut files = walk(from, &Walk { wants: &|_| true, with_zk: false, is_strict: false })?;
                    files.retain(|found| matches!(found.place, Place::Refused(_)) || format.wants(&found.path));
                    files
                }
            };
            return Ok(Self { place: place(from), files, format });
        }
        if !kind.is_file() {
            let message = format!("`{}` is neither a folder nor a regular file", from.display());
            return Err(Failure::new(ProgramCode::Input, message, ""));
        }
        let name = from.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = from.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let single = format.filter(|format| *format != Format::JsonLines).and_then(Format::single_file);
        let path = single.map_or(name, str::to_string);
        Ok(Self { place: place(folder), files: vec![Found { path, place: Place::File(from.to_path_buf()) }], format })
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// Calls the function with the files, in parts that fit into one command, and with the paths of the files in the
    /// other parts. A file is read only now.
    pub(super) fn each_part(
        &self,
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
            for file in found.read(self.format) {
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
    fn read(&self, format: Option<Format>) -> Vec<ForeignFile> {
        let content = match &self.place {
            Place::Refused(reason) => Err(reason.clone()),
            Place::Bytes(bytes) => Ok(bytes.clone()),
            Place::File(place) => match regular::read(place, limit(format) as u64) {
                Ok(Some(bytes)) => Ok(bytes),
                Ok(None) => Err(too_large(format)),
                Err(error) => Err(format!("it cannot be read: {}", saddlebag_host::io_cause(&error))),
            },
        };
        match content {
            Ok(bytes) if format == Some(Format::JsonLines) && bytes.len() > PIECE_BYTES => pieces(&self.path, &bytes),
            content => vec![ForeignFile { path: self.path.clone(), first_line: 1, content }],
        }
    }
}

fn is_own(path: &str) -> bool {
    path.ends_with(".md")
}

fn limit(format: Option<Format>) -> usize {
    match format {
        None => MAX_IMPORT_FILE_BYTES,
        Some(Format::JsonLines) => MAX_DUMP_BYTES,
        Some(_) => MAX_IMPORT_BYTES,
    }
}

fn too_large(format: Option<Format>) -> String {
    format!("it has more than {} bytes, the limit of a file of this format", limit(format))
}

fn within(format: Option<Format>, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    if bytes.len() > limit(format) { Err(too_large(format)) } else { Ok(bytes) }
}

/// Reads one byte more than the limit at most, which is enough to detect a file that is too large.
fn limited(reader: impl Read, format: Option<Format>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(limit(format) as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let message = format!("`{}` cannot be read: {}", path.display(), saddlebag_host::io_cause(error));
    Failure::new(ProgramCode::Input, message, "")
}

fn too_many(what: &str, limit: usize) -> Failure {
    let message = format!("there are more than {limit} {what} to import, which is the limit");
    Failure::new(ErrorCode::TooLarge, message, "import in parts")
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
    let files = walk(from, &Walk { wants: &|_| true, with_zk: true, is_strict: false })?;
    Ok(files.into_iter().map(|found| found.path).collect())
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

/// Rules for walking a folder.
struct Walk<'a> {
    /// Returns true if a file is wanted, by its path.
    wants: &'a dyn Fn(&str) -> bool,
    /// If set, the folder `.zk` is visited, although its name begins with a dot.
    with_zk: bool,
    /// If set, a folder that cannot be read, or is too deep, ends the walk. Otherwise it is among the files, with the reason.
    is_strict: bool,
}

/// Returns the wanted files below a folder, sorted by path, and every link. A file that cannot be read is included with the
/// reason. Names that begin with a dot are skipped.
fn walk(from: &Path, walk: &Walk<'_>) -> Result<Vec<Found>, Failure> {
    let mut files = Vec::new();
    let mut looked_at = 0;
    let mut folders = vec![(from.to_path_buf(), String::new(), 0)];
    while let Some((folder, prefix, depth)) = folders.pop() {
        let refused = |reason: String| Found { path: prefix.clone(), place: Place::Refused(reason) };
        let listed = match fs::read_dir(&folder) {
            Ok(listed) => listed,
            Err(error) if depth == 0 || walk.is_strict => return Err(unreadable(&folder, &error)),
            Err(error) => {
                files.push(refused(format!("the folder cannot be read: {}", saddlebag_host::io_cause(&error))));
                continue;
            }
        };
        if depth > MAX_DEPTH && walk.is_strict {
            return Err(too_many("levels of folders", MAX_DEPTH));
        } else if depth > MAX_DEPTH {
            files.push(refused(format!("folders are read only {MAX_DEPTH} levels deep")));
            continue;
        }
        for entry in listed {
            looked_at += 1;
            if looked_at > MAX_LOOKED_AT {
                return Err(too_many("files and folders", MAX_LOOKED_AT));
            }
            if files.len() > MAX_IMPORTED {
                return Err(too_many("files", MAX_IMPORTED));
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) if walk.is_strict => return Err(unreadable(&folder, &error)),
                Err(error) => {
                    files.push(refused(format!("an entry cannot be read: {}", saddlebag_host::io_cause(&error))));
                    continue;
                }
            };
            let name = entry.file_name();
            let shown = name.to_string_lossy();
            if shown.starts_with('.') && !(walk.with_zk && shown == ".zk") {
                continue;
            }
            let path = format!("{prefix}{shown}");
            let place = match entry.file_type() {
                Err(error) if walk.is_strict => return Err(unreadable(&entry.path(), &error)),
                Err(error) => Place::Refused(format!("it cannot be examined: {}", saddlebag_host::io_cause(&error))),
                Ok(kind) if kind.is_symlink() => Place::Refused("it is a link, and links are not followed".into()),
                Ok(kind) if kind.is_dir() => {
                    folders.push((entry.path(), format!("{path}/"), depth + 1));
                    continue;
                }
                Ok(_) if !(walk.wants)(&path) => continue,
                Ok(_) if name.to_str().is_none() => Place::Refused("its name is not UTF-8 text".into()),
                Ok(kind) if !kind.is_file() => Place::Refused("it is not a regular file".into()),
                Ok(_) => Place::File(entry.path()),
            };
            files.push(Found { path, place });
        }
    }
    if files.len() > MAX_IMPORTED {
        return Err(too_many("files", MAX_IMPORTED));
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Returns the file of a format that is one file, or the files of a tar stream.
fn standard_input(format: Option<Format>) -> Result<Vec<Found>, Failure> {
    let input = io::stdin().lock();
    let Some(name) = format.and_then(Format::single_file) else { return stream(input, format) };
    let bytes = limited(input, format).map_err(|error| {
        let message = format!("cannot read standard input: {}", saddlebag_host::io_cause(&error));
        Failure::new(ProgramCode::Input, message, "")
    })?;
    Ok(vec![Found { path: name.to_string(), place: Place::of_bytes(within(format, bytes)) }])
}

/// Returns the wanted files of a tar stream, in its order. An incomplete stream is refused as a whole.
fn stream(input: impl Read, format: Option<Format>) -> Result<Vec<Found>, Failure> {
    let refused = |error: io::Error| {
        let message = format!("standard input is not a complete tar stream: {error}");
        Failure::new(ProgramCode::Input, message, "")
    };
    let wants = |path: &str| format.map_or_else(|| is_own(path), |format| format.wants(path));
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
        if is_hidden || is_file && !wants(&path) {
            continue;
        }
        let content = match (kind.is_symlink() || kind.is_hard_link(), std::str::from_utf8(&name)) {
            (true, _) => Err("it is a link, and links are not followed".to_string()),
            _ if !is_file => Err("it is not a regular file".to_string()),
            (_, Err(_)) => Err("its name is not UTF-8 text".to_string()),
            _ => {
                // The reader does not report a truncated stream.
                let expected = member.size().min(limit(format) as u64 + 1);
                let content = limited(member, format).map_err(refused)?;
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
        files.push(Found { path, place: Place::of_bytes(content.and_then(|bytes| within(format, bytes))) });
        if files.len() > MAX_IMPORTED {
            return Err(too_many("files", MAX_IMPORTED));
        }
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
