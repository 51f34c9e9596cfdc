//! [`FilterArgs`]: the filters of notes and the keys to sort by.

use clap::Args;
use saddlebag::notebook::{ConditionKind, NoteFilter, SortBy, SortKey};
use saddlebag_collections::UnknownWord;

use crate::failure::Failure;
use crate::input::shown_path;

#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArgs {
    /// Only notes in this folder, or whose paths begin like this; repeatable
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<String>,
    /// Folder to leave out; repeatable
    #[arg(long, short = 'x', value_name = "PATH")]
    exclude: Vec<String>,
    /// Only notes with this tag, a glob such as `lang/*`, `a OR b`, or `NOT a`; repeatable: each must match
    #[arg(long, short = 't', value_name = "TAG", value_delimiter = ',')]
    tag: Vec<String>,
    /// Only notes without a tag
    #[arg(long, hide_short_help = true)]
    tagless: bool,
    /// Only notes that this note links to
    #[arg(long, short = 'L', value_name = "NOTE", value_parser = shown_path)]
    linked_by: Vec<String>,
    /// Only notes that link to this note: its backlinks
    #[arg(long, short = 'l', value_name = "NOTE", value_parser = shown_path)]
    link_to: Vec<String>,
    /// Only notes that this note does not link to
    #[arg(long, hide_short_help = true, value_name = "NOTE", value_parser = shown_path)]
    no_linked_by: Vec<String>,
    /// Only notes that do not link to this note
    #[arg(long, hide_short_help = true, value_name = "NOTE", value_parser = shown_path)]
    no_link_to: Vec<String>,
    /// Follow links over several notes
    #[arg(long, short = 'r', hide_short_help = true)]
    recursive: bool,
    /// Maximum number of links to follow
    #[arg(long, hide_short_help = true, value_name = "N", requires = "recursive")]
    max_distance: Option<u32>,
    /// Only notes that are two links away from this note
    #[arg(long, hide_short_help = true, value_name = "NOTE", value_parser = shown_path)]
    related: Vec<String>,
    /// Only notes that mention the title or an alias of this note
    #[arg(long, hide_short_help = true, value_name = "NOTE", value_parser = shown_path)]
    mention: Vec<String>,
    /// Only notes whose title or alias this note mentions
    #[arg(long, hide_short_help = true, value_name = "NOTE", value_parser = shown_path)]
    mentioned_by: Vec<String>,
    /// Only notes that no other note links to
    #[arg(long, hide_short_help = true)]
    orphan: bool,
    /// Only notes that do not link back to a note that links to them
    #[arg(long, hide_short_help = true)]
    missing_backlink: bool,
    /// Only notes created on this day, or in this month or year
    #[arg(long, hide_short_help = true, value_name = "DATE")]
    created: Option<String>,
    /// Only notes created before this day
    #[arg(long, hide_short_help = true, value_name = "DATE")]
    created_before: Option<String>,
    /// Only notes created after this day
    #[arg(long, hide_short_help = true, value_name = "DATE")]
    created_after: Option<String>,
    /// Only notes last changed on this day, or in this month or year, such as `today` or 2026-05
    #[arg(long, value_name = "DATE")]
    modified: Option<String>,
    /// Only notes last changed before this day
    #[arg(long, hide_short_help = true, value_name = "DATE")]
    modified_before: Option<String>,
    /// Only notes last changed after this day
    #[arg(long, hide_short_help = true, value_name = "DATE")]
    modified_after: Option<String>,
}

impl FilterArgs {
    /// Returns the tags that notes must have.
    pub(crate) fn tags(&self) -> &[String] {
        &self.tag
    }

    /// Returns true if something else than a tag is wanted, which only notes have.
    pub(crate) fn is_for_notes(&self) -> bool {
        Self { tag: Vec::new(), ..self.clone() } != Self::default()
    }
}

impl From<FilterArgs> for NoteFilter {
    fn from(args: FilterArgs) -> Self {
        let FilterArgs { tagless, orphan, missing_backlink, recursive, max_distance, .. } = args;
        let filter = Self { conditions: Vec::new(), tagless, orphan, missing_backlink, recursive, max_distance };
        filter
            .with(ConditionKind::Path, args.paths)
            .with(ConditionKind::Exclude, args.exclude)
            .with(ConditionKind::Tag, args.tag)
            .with(ConditionKind::LinkedBy, args.linked_by)
            .with(ConditionKind::LinkTo, args.link_to)
            .with(ConditionKind::NoLinkedBy, args.no_linked_by)
            .with(ConditionKind::NoLinkTo, args.no_link_to)
            .with(ConditionKind::Related, args.related)
            .with(ConditionKind::Mention, args.mention)
            .with(ConditionKind::MentionedBy, args.mentioned_by)
            .with(ConditionKind::Created, args.created)
            .with(ConditionKind::CreatedBefore, args.created_before)
            .with(ConditionKind::CreatedAfter, args.created_after)
            .with(ConditionKind::Modified, args.modified)
            .with(ConditionKind::ModifiedBefore, args.modified_before)
            .with(ConditionKind::ModifiedAfter, args.modified_after)
    }
}

/// Parses the keys to sort by.
pub(crate) fn sort_keys(keys: &[String]) -> Result<Vec<SortKey>, Failure> {
    keys.iter().map(|key| sort_key(key)).collect()
}

/// Parses a key such as `modified`, `title-` or `created+`. Times descend by default.
fn sort_key(text: &str) -> Result<SortKey, Failure> {
    let (word, ascending) = match (text.strip_suffix('+'), text.strip_suffix('-')) {
        (Some(word), _) => (word, Some(true)),
        (_, Some(word)) => (word, Some(false)),
        _ => (text, None),
    };
    let by: SortBy = word.parse().map_err(|error: UnknownWord| Failure::usage(error.message(), error.help()))?;
    let is_time = matches!(by, SortBy::Created | SortBy::Modified);
    Ok(SortKey { by, ascending: ascending.unwrap_or(!is_time) })
}
