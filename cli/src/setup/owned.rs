//! Files that the program itself has made, by their place, their name and what is in them. `setup --uninstall` removes these and
//! no others: a store, or a file of somebody else, may be in the same folder.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::places::Places;
use super::record::Record;
use crate::export::ExportPlaces;
use crate::hook::files::files_in;
use crate::{prompt, regular};

/// Mark near the end of a file with compiled code, before the version of its format.
const CODE_MARK: &[u8] = b"saddlebag code ";
/// Number of bytes from the mark to the end of the file.
const CODE_TRAILER: i64 = 48;
/// Length of the key of compiled code, in bytes.
const KEY_BYTES: u64 = 32;
/// Length of a token that the server made, in characters of base64, with its line end.
const TOKEN_BYTES: u64 = 44;

/// Files of one kind in a place.
pub(super) struct Owned {
    /// Kind: `code`, `code-key`, `token` or `state`.
    pub(super) kind: &'static str,
    /// Folder of the files, or the one file.
    pub(super) place: PathBuf,
    /// Files that are ours.
    pub(super) files: Vec<PathBuf>,
    /// Folders that the program made for them, which go if they are empty.
    pub(super) folders: Vec<PathBuf>,
}

/// Returns the places of the program's files. Earlier versions compiled the component on this machine, and kept the code.
pub(super) fn owned(places: &Places, record: &Record) -> Vec<Owned> {
    let code = places.cache().join("saddlebag");
    let of_code = paths_in(&code).into_iter().filter(|path| is_code(path)).collect();
    let single = |kind, name: &str, is_ours: fn(&Path) -> bool| {
        let place = places.data().join(name);
        let files = Some(place.clone()).filter(|place| is_ours(place)).into_iter().collect();
        Owned { kind, place, files, folders: Vec::new() }
    };
    let state = places.state();
    let (of_hooks, folders) = files_in(&state);
    let (of_syncs, syncs) = prompt::files_in(&state);
    let machine = Some(state.join(saddlebag_host::MACHINE_FILE)).filter(|file| is_machine(file));
    let records = machine.into_iter().chain(ExportPlaces::file_in(&state));
    let of_state = record.own_files().into_iter().chain(of_hooks).chain(of_syncs).chain(records).collect();
    let folders = folders.into_iter().chain([syncs, state.join(super::record::ORIGINALS), state.clone()]).collect();
    vec![
        Owned { kind: "code", place: code.clone(), files: of_code, folders: vec![code] },
        single("code-key", "saddlebag-code-key", is_key),
        single("token", "saddlebag-mcp-token", is_token),
        Owned { kind: "state", place: state, files: of_state, folders },
    ]
}

/// Returns true for the file with the identifier of this machine.
fn is_machine(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

impl Owned {
    /// Returns the number of files in the place that are not ours.
    pub(super) fn others(&self) -> u64 {
        let mut all: u64 = 0;
        count(&self.place, &mut |_| all += 1);
        all.saturating_sub(self.files.len() as u64)
    }
}

/// Calls a function for each file below a place. Links are not followed.
pub(super) fn count(place: &Path, see: &mut dyn FnMut(u64)) {
    let Ok(metadata) = place.symlink_metadata() else { return };
    if !metadata.is_dir() {
        return see(metadata.len());
    }
    for entry in fs::read_dir(place).into_iter().flatten().filter_map(Result::ok) {
        count(&entry.path(), see);
    }
}

fn paths_in(folder: &Path) -> Vec<PathBuf> {
    if !folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return Vec::new();
    }
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Returns true for compiled code: `<digest>-<fingerprint>.cwasm` with our mark, or `new-<number>.cwasm` of a killed run.
fn is_code(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".cwasm"));
    let Some((first, second)) = name.and_then(|name| name.split_once('-')) else { return false };
    let is_hex = |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_new = first == "new" && is_hex(second, 16);
    let is_kept = is_hex(first, 64) && is_hex(second, 16) && has_code_mark(path);
    regular::is_one(path) && (is_new || is_kept)
}

fn has_code_mark(path: &Path) -> bool {
    let read = || -> std::io::Result<bool> {
        let mut file = opened(path)?;
        file.seek(SeekFrom::End(-CODE_TRAILER))?;
        let mut mark = [0; CODE_MARK.len()];
        file.read_exact(&mut mark)?;
        Ok(mark == CODE_MARK)
    };
    read().unwrap_or(false)
}

/// Returns true for a key of compiled code. It is random, so only its size and its reader show what it is.
fn is_key(path: &Path) -> bool {
    opened(path).and_then(|file| file.metadata()).is_ok_and(|found| found.len() == KEY_BYTES && is_private(&found))
}

/// Returns true for a token as the server makes it. A person may have written another one into the file.
fn is_token(path: &Path) -> bool {
    let mut text = String::new();
    let read = opened(path).and_then(|file| file.take(TOKEN_BYTES + 1).read_to_string(&mut text));
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let token = text.strip_suffix('\n').unwrap_or_default();
    read.is_ok() && token.len() as u64 + 1 == TOKEN_BYTES && token.bytes().all(is_base64)
}

fn opened(path: &Path) -> std::io::Result<File> {
    regular::open(path, OpenOptions::new().read(true))
}

#[cfg(unix)]
fn is_private(found: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o077 == 0
}

#[cfg(not(unix))]
fn is_private(_: &fs::Metadata) -> bool {
    true
}
