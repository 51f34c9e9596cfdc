//! [`machine_name`]: the name of this machine in the history of changes.

use std::io::Write as _;
use std::path::Path;
use std::{fs, io};

use sha2::{Digest, Sha256};

use crate::memory::state_folder;

/// File with the identifier of this machine, in the folder of the program's state.
pub const MACHINE_FILE: &str = "machine";

/// Number of hexadecimal digits of the identifier.
const ID_DIGITS: usize = 6;

/// Maximum number of characters that are kept of the host name.
const HOST_NAME_CHARS: usize = 40;

/// Returns the name of this machine for [`Options::machine`](crate::Options::machine), such as `laptop-3f9a1c`: the host name,
/// and an identifier that is made once and kept with the state of the user. Two machines with one host name, or with one home
/// folder, have different names. Without a folder for the state, the name is the host name.
pub fn machine_name() -> String {
    let host = host_name();
    match state_folder().and_then(|folder| identifier(&folder).ok()) {
        Some(identifier) => format!("{host}-{identifier}"),
        None => host,
    }
}

/// Returns an identifier that no other operation has, for [`Origin::operation`](saddlebag::Origin::operation).
pub fn new_operation() -> String {
    let epoch = format!("{} {}", host_name(), crate::memory::unique_epoch());
    Sha256::digest(epoch).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the host name without the domain: lower-case ASCII letters, digits and `-`.
fn host_name() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    let plain = |character: char| if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '-' };
    let name: String = name.split('.').next().unwrap_or_default().chars().map(plain).take(HOST_NAME_CHARS).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "machine".into() } else { name.into() }
}

/// Returns the identifier that the folder has. Makes it if there is none; of two processes, the first one's is kept.
fn identifier(folder: &Path) -> io::Result<String> {
    let path = folder.join(MACHINE_FILE);
    let read = || {
        let text = fs::read_to_string(&path)?;
        let text = text.trim();
        let is_valid = text.len() == ID_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_valid { Ok(text.to_string()) } else { Err(io::Error::from(io::ErrorKind::InvalidData)) }
    };
    match read() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        known => return known,
    }
    let mut builder = fs::DirBuilder::new();
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    {
        // The state of the program is private, whichever file comes first.
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    builder.recursive(true).create(folder)?;
    let made = format!("{:0ID_DIGITS$x}", crate::memory::unique_epoch() & 0x00ff_ffff);
    // A reader finds the whole identifier or none.
    let staged = folder.join(format!("{MACHINE_FILE}.{}", std::process::id()));
    options.write(true).create(true).truncate(true).open(&staged)?.write_all(made.as_bytes())?;
    let linked = fs::hard_link(&staged, &path);
    let _ = fs::remove_file(&staged);
    match linked {
        Ok(()) => Ok(made),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => read(),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identifier_is_made_once_and_a_damaged_one_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("new/saddlebag");
        let made = identifier(&state).unwrap();
        assert_eq!((made.len(), identifier(&state).unwrap()), (ID_DIGITS, made));
        fs::write(state.join(MACHINE_FILE), "not one").unwrap();
        assert!(identifier(&state).is_err());
    }

    #[test]
    fn a_machine_has_a_name_that_a_log_can_have() {
        let name = host_name();
        assert!(!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'), "{name}");
    }
}
