//! Zip and tar files with the same bytes for the same content, and digests.

use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use crate::release::TIME;

/// File of an archive.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Path in the archive.
    pub path: String,
    /// Content.
    pub bytes: Vec<u8>,
    /// True if the file is a program.
    pub is_program: bool,
}

impl Entry {
    pub(crate) fn text(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), bytes: text.into().into_bytes(), is_program: false }
    }

    pub(crate) fn program(path: impl Into<String>, bytes: &[u8]) -> Self {
        Self { path: path.into(), bytes: bytes.to_vec(), is_program: true }
    }

    /// An empty folder, of a tar file.
    pub(crate) fn folder(path: &str) -> Self {
        Self { path: format!("{path}/"), bytes: Vec::new(), is_program: true }
    }

    fn mode(&self) -> u32 {
        if self.is_program { 0o755 } else { 0o644 }
    }
}

/// Returns a zip file of these entries.
pub(crate) fn zip(entries: &[Entry]) -> Result<Vec<u8>, String> {
    let failed = |error| format!("cannot write a zip file: {error}");
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for entry in entries {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            // A regular file: installers take the type from the mode.
            .unix_permissions(0o100_000 | entry.mode());
        writer.start_file(entry.path.as_str(), options).map_err(|error| failed(error.to_string()))?;
        writer.write_all(&entry.bytes).map_err(|error| failed(error.to_string()))?;
    }
    Ok(writer.finish().map_err(|error| failed(error.to_string()))?.into_inner())
}

/// Returns the entries of a zip file.
///
/// # Errors
///
/// The bytes are not a zip file.
pub fn entries_of_zip(bytes: &[u8]) -> Result<Vec<Entry>, String> {
    let failed = |error| format!("cannot read a zip file: {error}");
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| failed(error.to_string()))?;
    let mut entries = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).map_err(|error| failed(error.to_string()))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
        let is_program = file.unix_mode().is_some_and(|mode| mode & 0o100 != 0);
        let path = file.name().map_err(|error| failed(error.to_string()))?.into_owned();
        entries.push(Entry { path, bytes, is_program });
    }
    Ok(entries)
}

/// Returns a compressed tar file of these entries.
pub(crate) fn tar_gz(entries: &[Entry]) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("cannot compress: {error}");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&tar(entries)?).map_err(failed)?;
    encoder.finish().map_err(failed)
}

/// Returns a tar file of these entries.
pub(crate) fn tar(entries: &[Entry]) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("cannot write a tar file: {error}");
    let mut builder = tar::Builder::new(Vec::new());
    for entry in entries {
        let mut header = tar::Header::new_ustar();
        header.set_size(entry.bytes.len() as u64);
        header.set_mode(entry.mode());
        if entry.path.ends_with('/') {
            header.set_entry_type(tar::EntryType::Directory);
        }
        header.set_mtime(TIME);
        builder.append_data(&mut header, &entry.path, entry.bytes.as_slice()).map_err(failed)?;
    }
    builder.into_inner().map_err(failed)
}

/// Writes a compressed file, for the pages of a Debian package.
pub(crate) fn gzip(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.map_err(|error| format!("cannot compress: {error}"))
}

/// Returns the SHA-256 of these bytes, in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a file with the folders above it, and returns its path.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<PathBuf, String> {
    let failed = |error| format!("cannot write {}: {error}", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, bytes).map_err(failed)?;
    Ok(path.to_path_buf())
}

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> [Entry; 2] {
        [Entry::program("bin/run", b"\x7fELF"), Entry::text("about.md", "About.\n")]
    }

    #[test]
    fn the_same_entries_give_the_same_bytes_and_keep_what_is_a_program() {
        let zipped = zip(&entries()).expect("a zip file");
        assert_eq!(zipped, zip(&entries()).expect("a zip file"));
        let read = entries_of_zip(&zipped).expect("entries");
        let read: Vec<_> =
            read.iter().map(|entry| (entry.path.as_str(), entry.bytes.len(), entry.is_program)).collect();
        assert_eq!(read, [("bin/run", 4, true), ("about.md", 7, false)]);
        assert_eq!(tar_gz(&entries()), tar_gz(&entries()));
    }

    #[test]
    fn a_digest_is_that_of_the_standard() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
