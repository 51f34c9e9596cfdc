//! Reading files and folders.

use super::call::Call;
use super::change::File;
use crate::engine::load;
use crate::store::RelPath;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Entry, Error, ListOutcome, ReadOutcome};

/// Maximum number of failed reads of a log that others write meanwhile.
const MAX_FAILED_READS: u32 = 8;

impl Call {
    /// Reads a whole file.
    pub(crate) async fn load(&self, path: &RelPath) -> Result<File, Error> {
        let limit = self.scope.limits.max_file_bytes;
        File::from_loaded(path, load(&self.fs, path, limit).await?, limit)
    }

    /// Reads a whole text; `None` if the file does not exist.
    pub(crate) async fn load_text(&self, path: &RelPath) -> Result<Option<String>, Error> {
        Ok(self.load(path).await?.text()?.map(String::from))
    }

    /// Lists a folder (`None` for the root of the store), sorted by path.
    pub(crate) async fn list(&self, folder: Option<&RelPath>) -> Result<Vec<Entry>, Error> {
        let mut entries = Vec::new();
        let mut after = None;
        loop {
            let page = self.fs.list(folder, after, self.scope.limits.max_list_entries, None).await;
            let ListOutcome::Page(page) = page.map_err(|error| Error::storage(folder, &error))? else { break };
            entries.extend(page.entries);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(entries)
    }

    /// Reads a log or a content of the history in parts, however large it is. Others may add lines meanwhile.
    pub(crate) async fn read_whole(&self, path: &RelPath) -> Result<Vec<u8>, Error> {
        let mut bytes: Vec<u8> = Vec::new();
        let mut failures = 0;
        loop {
            let read = match self.fs.read(path, bytes.len() as u64, self.scope.limits.max_file_bytes).await {
                Err(_) if failures < MAX_FAILED_READS => {
                    failures += 1;
                    continue;
                }
                read => read,
            };
            match read.map_err(|error| Error::storage(Some(path), &error))? {
                ReadOutcome::Absent => return Ok(bytes),
                ReadOutcome::Content(part) => {
                    let is_end = part.bytes.is_empty() || bytes.len() as u64 + part.bytes.len() as u64 >= part.size;
                    bytes.extend_from_slice(&part.bytes);
                    if is_end {
                        return Ok(bytes);
                    }
                }
            }
        }
    }
}
