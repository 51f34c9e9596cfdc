//! The generation of a store: a token of everything that holders of its locks have changed.

use alloc::string::String;
use alloc::vec::Vec;

use sha2::{Digest, Sha256};

use crate::content;
use crate::files::LockFiles;
use crate::lease::Newest;
use crate::names::Number;
use crate::protocol::{LEASES_FOLDER, LOCKS_FOLDER};

/// Returns a token that is different from all earlier ones once a holder of a lock has changed a file outside of every folder
/// `.saddlebag`; `None` if that cannot be said now, because somebody holds a lock, or a file of the locks cannot
/// be read. Then the answer is `locked`.
///
/// `boot` must be different after each start of the machine: the files of the locks are not synced, so after a power cut they may
/// have an earlier content beside files that were synced.
pub fn generation<F: LockFiles>(files: &F, boot: &str) -> Option<String> {
    let names = files.list(LOCKS_FOLDER).ok()??;
    let leases = files.list(LEASES_FOLDER).ok()?.unwrap_or_default();
    let mut digest = Sha256::new();
    let mut add = |bytes: &[u8]| {
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(bytes);
    };
    add(boot.as_bytes());
    let locked: Vec<String> =
        Number::of_files().map(|number| format!("{number}")).filter(|name| names.contains(name)).collect();
    let mut contents = locked.iter().zip(files.read_several(LOCKS_FOLDER, &locked).ok()?).peekable();
    for number in Number::of_files() {
        let name = format!("{number}");
        if let Some((_, content)) = contents.next_if(|(locked, _)| **locked == name) {
            let content = content?;
            // An empty one was just created, or could not be written.
            if !content::is_free(&content) {
                return None;
            }
            add(name.as_bytes());
            add(&content);
        }
        if leases.contains(&name) {
            let newest = Newest::of(files, number).ok()?;
            if !newest.is_free() {
                return None;
            }
            add(&newest.key());
        }
    }
    Some(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
