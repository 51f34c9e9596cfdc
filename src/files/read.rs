//! `read-file`: reads a part of a file of the scope.

use super::types::{FilesCall, is_listed, parse};
use crate::journal::{ReadReply, read_file};
use crate::notebook::successor;
use crate::request::{Run, request};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Reads a part of a file. The path in the reply is relative to the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFile {
    /// Path of the file, relative to the root, with or without the path prefix.
    pub path: String,
    /// Position of the first byte.
    pub offset: u64,
    /// Maximum number of bytes.
    pub max_bytes: u32,
}

request!(ReadFile "read-file" => ReadReply, Reads, |name| {
    let paths = [format!("projects/proj/notes/{name}.md"), format!("agents/a/entries/core/{name}.md")];
    paths.map(|path| Self { path, offset: 0, max_bytes: 4000 }).to_vec()
});

impl Run<FilesCall<'_>> for ReadFile {
    async fn run(self, with: &FilesCall<'_>) -> Result<ReadReply, Error> {
        let FilesCall { call, entries, .. } = *with;
        // Replies show paths with the prefix of the configuration.
        let path = parse(call.scope.without_prefix(&self.path))?;
        if !is_listed(call, entries, &path) {
            // The scope must not reveal that a file exists elsewhere.
            let message = format!("`{path}` is not a file of this memory");
            return Err(Error::new(ErrorCode::NotFound, message, "list the files to see the valid paths"));
        }
        let reply = read_file(call, &path, self.offset, self.max_bytes).await?;
        let newer = successor(call, with.notebook, &path).await;
        let (superseded_by, superseded_since) = (newer.path, newer.since);
        Ok(ReadReply { path: path.into_string(), superseded_by, superseded_since, ..reply })
    }
}
