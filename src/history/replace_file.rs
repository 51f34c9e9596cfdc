//! `replace-file`: gives a file the content that a program outside computed, such as a merge of two machines.

use super::types::check_is_kept;
use crate::changes::{Backups, File};
use crate::names::{Stores, is_listed};
use crate::request::{Run, request};
use crate::search::is_markdown;
use crate::store::RelPath;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode, Version};

/// Gives a Markdown file of the scope another content, or removes it, as a change of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplaceFile {
    /// Path relative to the root.
    pub path: String,
    /// Version that the file must have, as the store says it; `None`: it must not exist.
    pub version: Option<String>,
    /// Bytes of the file; `None`: it is removed.
    pub content: Option<Vec<u8>>,
}

/// What became of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplacedFile {
    /// Path of the file.
    pub path: String,
    /// False if the file did not have the version. Nothing was changed then.
    pub replaced: bool,
}

request!(ReplaceFile "replace-file" => ReplacedFile, Removes, |name| {
    let path = format!("projects/proj/notes/new-{name}.md");
    let new = Self { path: path.clone(), version: None, content: Some(b"# New\n".to_vec()) };
    vec![new, Self { path, version: Some("1".into()), content: None }]
});

impl Run<Stores<'_>> for ReplaceFile {
    async fn run(self, with: &Stores<'_>) -> Result<ReplacedFile, Error> {
        let Stores { call, entries, .. } = *with;
        check_is_kept(call)?;
        call.scope.trust.check_person("replace a file")?;
        let path = RelPath::new(call.scope.without_prefix(&self.path));
        let path = path.ok().filter(|path| is_markdown(path) && is_listed(call, entries, path));
        let Some(path) = path else {
            let message = format!("`{}` is not a Markdown file of this memory", self.path.escape_debug());
            return Err(Error::new(ErrorCode::NotFound, message, "list the files to see the valid paths"));
        };
        let version = self.version.map(Version);
        let change = |file: &File| {
            if !file.has_version(version.as_ref()) {
                return Ok((None, false));
            }
            Ok((Some(call.screen.revert(file, self.content.clone())?), true))
        };
        let (replaced, _) = call.update(&path, Backups::Keep, change).await?;
        Ok(ReplacedFile { path: call.scope.display_path(&path), replaced })
    }
}
