//! `read-version`: reads a version of a file.

use saddlebag_log::Version;

use super::files::FileHistory;
use super::list_versions::history_of;
use super::types::HistoryCall;
use crate::request::{Run, request};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Reads a version of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadVersion {
    /// Name of the file, as [`ListVersions`](super::ListVersions) takes it.
    pub name: String,
    /// Number of the version, as [`ListVersions`](super::ListVersions) counts: 1 is the newest.
    pub version: u32,
}

/// Text of a version.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VersionText {
    /// Path of the file.
    pub path: String,
    /// Number of the version.
    pub version: u32,
    /// Text of the file; `None` if it does not exist in this version. Bytes that are not UTF-8 are replaced by U+FFFD.
    pub text: Option<String>,
}

request!(ReadVersion "read-version" => VersionText, Reads, |name| {
    vec![Self { name: format!("notes/{name}.md"), version: 1 }]
});

impl Run<HistoryCall<'_>> for ReadVersion {
    async fn run(self, with: &HistoryCall<'_>) -> Result<VersionText, Error> {
        let call = with.call;
        let (path, history) = history_of(with, &self.name).await?;
        let mut file = FileHistory::of_item(call, &history, &path).await?;
        let version = numbered(&file, self.version)?;
        let bytes = file.content(call, version.state).await?;
        let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(VersionText { path: call.scope.display_path(&path), version: self.version, text })
    }
}

/// Returns the version of a number.
pub(super) fn numbered(file: &FileHistory<'_>, number: u32) -> Result<Version, Error> {
    if number == 0 {
        let message = format!("{} has no version 0: versions are counted from 1, which is the newest", file.path);
        return Err(Error::invalid_argument(message, "give a number from 1 on; `history NAME` lists the versions"));
    }
    file.version(number).ok_or_else(|| {
        let shown = file.path.as_str();
        let message = match file.versions.len() {
            0 => format!("{shown} has no history"),
            count => format!("{shown} has no version {number}: it has {count}"),
        };
        let help = "`history NAME` lists the versions; 1 is the newest".to_string();
        Error::new(ErrorCode::NotFound, message, help)
    })
}
