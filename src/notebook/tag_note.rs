//! Tags in the frontmatter of a note.

use super::checks::checked_tags;
use super::config_file::load_config;
use super::files::{check_not_kept, no_note};
use crate::changes::{Backups, Call};
use crate::store::RelPath;
use crate::trust::ForModel;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Note, TagSyntax, set_field, yaml_string};
use saddlebag_protocol::Error;

/// Field of the frontmatter that lists the tags.
const FIELD: &str = "tags";

/// Tags of an item, after a change of them.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TagReply {
    /// Path of the file; empty if only a run holds the entry.
    pub path: String,
    /// All tags of the item now.
    pub tags: Vec<String>,
    /// True if the item was changed.
    pub changed: bool,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

impl TagReply {
    /// Returns the reply about an item that has these tags now.
    pub(crate) fn new(name: &str, path: String, tags: Vec<String>, changed: bool) -> Self {
        let listed = if tags.is_empty() { "no tags".into() } else { tags.join(", ") };
        let message = match changed {
            true => format!("Tagged {name}: {listed}"),
            false => format!("{name} needs no change: {listed}"),
        };
        Self { path, tags, changed, message: ForModel::escaped(&message) }
    }
}

/// Parses the tags to add and those to remove.
pub(crate) fn checked_change_of_tags(add: &[String], remove: &[String]) -> Result<(Vec<String>, Vec<String>), Error> {
    let (add, remove) = (checked_tags(add)?, checked_tags(remove)?);
    if add.is_empty() && remove.is_empty() {
        return Err(Error::invalid_argument("no tag is named", "name at least one tag"));
    }
    if let Some(both) = add.iter().find(|tag| remove.contains(tag)) {
        let message = format!("`{both}` is to be added and removed");
        return Err(Error::invalid_argument(message, "name a tag once"));
    }
    Ok((add, remove))
}

/// Adds tags to a note, and removes others. A tag in the text itself is not removed, and refused.
pub(crate) async fn tag_note(
    call: &Call,
    path: &RelPath,
    add: &[String],
    remove: &[String],
) -> Result<TagReply, Error> {
    call.screen.needs_trust("a note that is there")?;
    check_not_kept(call, path)?;
    let config = load_config(call).await?.config;
    let tagged = call.update(path, Backups::Keep, |file| {
        let old = file.text()?.ok_or_else(|| no_note(path))?;
        let new = with_tags(old, add, remove, config.tags)?;
        let tags = Note::parse(&new, config.tags).tags;
        match new == old {
            true => Ok((None, (tags, false))),
            false => Ok((Some(call.edit(file, new)?), (tags, true))),
        }
    });
    let ((tags, changed), _) = tagged.await?;
    let path = call.scope.display_path(path);
    Ok(TagReply::new(&path, path.clone(), tags, changed))
}

/// Returns the text of a note with tags added to its frontmatter and others removed.
fn with_tags(text: &str, add: &[String], remove: &[String], syntax: TagSyntax) -> Result<String, Error> {
    let note = Note::parse(text, syntax);
    if let Some(problem) = &note.frontmatter.problem {
        let message = format!("the frontmatter cannot be read: {}", problem.message);
        return Err(Error::invalid_argument(message, "mend the frontmatter first; nothing was changed"));
    }
    let mut listed = note.frontmatter.tags();
    let before = listed.len();
    listed.retain(|tag| !remove.contains(tag));
    let is_new = |tag: &&String| !note.tags.contains(tag);
    let added: Vec<String> = add.iter().filter(is_new).cloned().collect();
    if added.is_empty() && listed.len() == before && !remove.iter().any(|tag| note.tags.contains(tag)) {
        return Ok(text.to_string());
    }
    listed.extend(added);
    let list = listed.iter().map(|tag| yaml_string(tag)).collect::<Vec<_>>().join(", ");
    let new = set_field(text, FIELD, &format!("[{list}]"));
    let left = Note::parse(&new, syntax).tags;
    if let Some(tag) = remove.iter().find(|tag| left.contains(tag)) {
        let message = format!("the tag `{tag}` is in the text of the note, or in another field than `{FIELD}`");
        return Err(Error::invalid_argument(message, "edit the text of the note instead; nothing was changed"));
    }
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tagged(text: &str, add: &[&str], remove: &[&str]) -> Result<String, Error> {
        let list = |tags: &[&str]| tags.iter().map(ToString::to_string).collect::<Vec<_>>();
        with_tags(text, &list(add), &list(remove), TagSyntax::default())
    }

    #[test]
    fn a_note_without_frontmatter_gets_one_and_a_broken_one_is_left_alone() {
        assert_eq!(tagged("# A\n", &["a b"], &[]).expect("tagged"), "---\ntags: [\"a b\"]\n---\n\n# A\n");
        assert!(tagged("---\ntags: [a\n---\n\nx\n", &["b"], &[]).is_err());
    }
}
