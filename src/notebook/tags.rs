//! `tags`: lists the tags of a notebook.

use super::index::{NotebookCall, catch_up, look, skipped};
use super::select::tag_counts;
use super::types::TagCount;
use crate::request::{Run, request};
use crate::search::Skipped;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Counts the notes of every tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tags;

/// The tags of a notebook.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TagsReply {
    /// Tags, sorted by name.
    pub tags: Vec<TagCount>,
    /// Files that could not be read.
    pub skipped: Vec<Skipped>,
}

request!(Tags "tags" => TagsReply, Reads, |_| vec![Self]);

impl Run<NotebookCall<'_>> for Tags {
    async fn run(self, with: &NotebookCall<'_>) -> Result<TagsReply, Error> {
        catch_up(with.call, with.notebook).await?;
        let tags = look(with.notebook, with.call, |snapshot| Ok(tag_counts(&snapshot.views)))?;
        Ok(TagsReply { tags, skipped: skipped(with.call, with.notebook) })
    }
}
