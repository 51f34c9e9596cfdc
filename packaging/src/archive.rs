//! Zip and tar files with the same bytes for the same content, and digests.

use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

/// Time of every file in an archive, in seconds since 1970: the first that a zip can hold, 1980-01-01.
const TIME: u64 = 315_532_800;

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
    pub(crate) fn text(path: impl Into<String>, text: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: text.into(), is_program: false }
    }

    pub(crate) fn program(path: impl Into<String>, bytes: &[u8]) -> Self {
        Self { path: path.into(), bytes: bytes.to_vec(), is_program: true }
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

/// Returns the files of a zip file.
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
    let failed = |error: std::io::Error| format!("cannot write a tar file: {error}");
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for entry in entries {
        let mut header = tar::Header::new_ustar();
        header.set_size(entry.bytes.len() as u64);
        header.set_mode(entry.mode());
        header.set_mtime(TIME);
        builder.append_data(&mut header, &entry.path, entry.bytes.as_slice()).map_err(failed)?;
    }
    builder.into_inner().and_then(GzEncoder::finish).map_err(failed)
}

/// Returns the files of a compressed tar file, without its folders.
///
/// # Errors
///
/// The bytes are not a compressed tar file.
pub fn entries_of_tar_gz(bytes: &[u8]) -> Result<Vec<Entry>, String> {
    let failed = |error: std::io::Error| format!("cannot read a tar file: {error}");
    let mut entries = Vec::new();
    for file in tar::Archive::new(GzDecoder::new(bytes)).entries().map_err(failed)? {
        let mut file = file.map_err(failed)?;
        if !file.header().entry_type().is_file() {
            continue;
        }
        let path = file.path().map_err(failed)?.to_string_lossy().into_owned();
        let is_program = file.header().mode().map_err(failed)? & 0o100 != 0;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        entries.push(Entry { path, bytes, is_program });
    }
    Ok(entries)
}

/// Returns the SHA-256 of these bytes, in hexadecimal.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_entries_give_the_same_bytes_and_keep_what_is_a_program() {
        let entries = [Entry::program("bin/run", b"\x7fELF"), Entry::text("about.md", "About.\n")];
        let (zipped, tarred) = (zip(&entries).expect("a zip file"), tar_gz(&entries).expect("a tar file"));
        assert_eq!((Ok(&zipped), Ok(&tarred)), (zip(&entries).as_ref(), tar_gz(&entries).as_ref()));
        for read in [entries_of_zip(&zipped), entries_of_tar_gz(&tarred)] {
            let read = read.expect("entries");
            let read: Vec<_> =
                read.iter().map(|entry| (entry.path.as_str(), entry.bytes.len(), entry.is_program)).collect();
            assert_eq!(read, [("bin/run", 4, true), ("about.md", 7, false)]);
        }
    }
}
