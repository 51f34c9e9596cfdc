//! The lock protocol: which lock files the hosts of a store share.
//!
//! Protocol N has its lock files in `.saddlebag/locks-N`, the first one had them in `.saddlebag/locks`. Hosts of two
//! protocols would not keep each other out, so a store has one. Where an earlier protocol had its folder, there is a
//! file: a host of that protocol cannot open its locks, and each change that it tries is refused.
//!
//! The first change of a host makes that file, or takes the folder of an earlier protocol over ([`takeover`](super::takeover)).

use std::io::{self, Read, Write};

use cap_std::fs::Dir;
use saddlebag::protocol::FsError;

use super::error::refusal;
use super::sys::{self, Access, Kind};
use super::walk;
use crate::Durability;
use crate::executor::{LOCKS_FOLDER, STATE_FOLDER};

/// Number of the protocol of this release.
const PROTOCOL: u32 = 2;

/// First line of the file that refuses earlier hosts, without the number.
const TITLE: &str = "lock protocol ";

/// Maximum number of bytes of that file that are read.
const LONGEST_FILE: u64 = 1024;

/// Folder of the markers of files that could not be synced, beside the lock files.
pub(super) const MARKERS_FOLDER: &str = "unsynced";

/// Creates the folder of the lock files.
pub(super) fn make(root: &Dir) -> Result<Dir, FsError> {
    walk::make_folder(root, &path(), Durability::Fast)
}

/// Opens the folder of the lock files, and creates it if it is missing.
pub(super) fn folder(root: &Dir) -> Result<Dir, FsError> {
    if let Some(folder) = find(root)? {
        return Ok(folder);
    }
    // A person has deleted the state of the store since this host joined the protocol, or it is new.
    if !refuse_earlier_hosts(root)? {
        return Err(FsError::Other("a program of an earlier release uses this store; end it and try again".into()));
    }
    make(root)
}

/// Opens the folder of the markers of files that could not be synced. Before the first change, those of hosts of the
/// first protocol count.
pub(super) fn markers(root: &Dir) -> Option<Dir> {
    let folder =
        find(root).ok()?.or_else(|| walk::find_folder(root, &format!("{STATE_FOLDER}/{LOCKS_FOLDER}")).ok()?)?;
    walk::find_folder(&folder, MARKERS_FOLDER).ok().flatten()
}

/// Opens the folder of the lock files; `None` if it does not exist.
pub(super) fn find(root: &Dir) -> Result<Option<Dir>, FsError> {
    walk::find_folder(root, &path()).map_err(|error| match error {
        FsError::NotDirectory => later_protocol(root).unwrap_or(FsError::NotDirectory),
        error => error,
    })
}

fn path() -> String {
    format!("{STATE_FOLDER}/{LOCKS_FOLDER}-{PROTOCOL}")
}

/// Returns the refusal of a store whose protocol is a later one.
fn later_protocol(root: &Dir) -> Option<FsError> {
    let state = walk::find_folder(root, STATE_FOLDER).ok()??;
    let mut text = String::new();
    let file = sys::open_file(&state, &format!("{LOCKS_FOLDER}-{PROTOCOL}"), Access::Read).ok()?;
    file.take(LONGEST_FILE).read_to_string(&mut text).ok()?;
    let number: u32 = text.lines().next()?.strip_prefix(TITLE)?.parse().ok()?;
    Some(FsError::Other(format!(
        "this store has {TITLE}{number}, and this program knows {PROTOCOL}; use a newer release of the program"
    )))
}

/// Makes the file that refuses hosts of the first protocol. Returns `false` if their folder is in its place.
pub(super) fn refuse_earlier_hosts(root: &Dir) -> Result<bool, FsError> {
    let state = walk::make_folder(root, STATE_FOLDER, Durability::Fast)?;
    match sys::stat_at(&state, LOCKS_FOLDER) {
        Ok(stat) => match stat.kind {
            Kind::File => return Ok(true),
            Kind::Directory => return Ok(false),
            Kind::Link => return Err(FsError::SymbolicLink),
            Kind::Other => return Err(FsError::NotRegular),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(refusal(error)),
    }
    let text = format!(
        "{TITLE}{PROTOCOL}\nThe locks of this store are in `{LOCKS_FOLDER}-{PROTOCOL}`. A program that needs a folder of \
         this name is too old to change the store: use a newer release.\n"
    );
    match sys::open_file(&state, LOCKS_FOLDER, Access::WriteNew) {
        // The text is for people. The file keeps earlier hosts out without it.
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true).map_err(refusal),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Ok(sys::stat_at(&state, LOCKS_FOLDER).is_ok_and(|stat| stat.kind == Kind::File))
        }
        Err(error) => Err(refusal(error)),
    }
}
