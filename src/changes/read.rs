//! Reading files and folders.

use alloc::string::String;
use alloc::vec::Vec;

use super::call::Call;
use super::change::File;
use crate::engine::load;
use crate::protocol::{Entry, Error, ListOutcome};
use crate::store::RelPath;

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
}
