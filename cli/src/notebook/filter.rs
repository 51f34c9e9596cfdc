//! [`FilterArgs`]: the filters of notes, and the keys that they are sorted by.

use clap::Args;
use saddlebag::notebook::{NoteFilter, SortBy, SortKey};
use saddlebag_words::UnknownWord;

use crate::failure::Failure;

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArgs {
    /// Below this path, or beginning with it; several times
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<String>,
    /// Not below this path
    #[arg(long, short = 'x', value_name = "PATH")]
    exclude: Vec<String>,
    /// With this tag, or a glob such as `lang/*`; `a OR b`, `NOT a`; several times
    #[arg(long, short = 't', value_name = "TAG", value_delimiter = ',')]
    tag: Vec<String>,
    /// Without any tag
    #[arg(long)]
    tagless: bool,
    /// That this note links to
    #[arg(long, short = 'L', value_name = "NOTE")]
    linked_by: Vec<String>,
    /// That link to this note
    #[arg(long, short = 'l', value_name = "NOTE")]
    link_to: Vec<String>,
    /// That this note does not link to
    #[arg(long, value_name = "NOTE")]
    no_linked_by: Vec<String>,
    /// That do not link to this note
    #[arg(long, value_name = "NOTE")]
    no_link_to: Vec<String>,
    /// Follow links over several notes
    #[arg(long, short = 'r')]
    recursive: bool,
    /// How many links to follow at most
    #[arg(long, value_name = "N", requires = "recursive")]
    max_distance: Option<u32>,
    /// Two links away from this note
    #[arg(long, value_name = "NOTE")]
    related: Vec<String>,
    /// That mention the title or an alias of this note
    #[arg(long, value_name = "NOTE")]
    mention: Vec<String>,
    /// Whose title or alias this note mentions
    #[arg(long, value_name = "NOTE")]
    mentioned_by: Vec<String>,
    /// That nothing links to
    #[arg(long)]
    orphan: bool,
    /// That do not link back to a note which links to them
    #[arg(long)]
    missing_backlink: bool,
    /// Created on this day, month or year
    #[arg(long, value_name = "DATE")]
    created: Option<String>,
    /// Created before
    #[arg(long, value_name = "DATE")]
    created_before: Option<String>,
    /// Created after
    #[arg(long, value_name = "DATE")]
    created_after: Option<String>,
    /// Changed on this day, month or year
    #[arg(long, value_name = "DATE")]
    modified: Option<String>,
    /// Changed before
    #[arg(long, value_name = "DATE")]
    modified_before: Option<String>,
    /// Changed after
    #[arg(long, value_name = "DATE")]
    modified_after: Option<String>,
}

impl From<FilterArgs> for NoteFilter {
    fn from(args: FilterArgs) -> Self {
        Self {
            paths: args.paths,
            exclude: args.exclude,
            tags: args.tag,
            tagless: args.tagless,
            linked_by: args.linked_by,
            link_to: args.link_to,
            no_linked_by: args.no_linked_by,
            no_link_to: args.no_link_to,
            recursive: args.recursive,
            max_distance: args.max_distance,
            related: args.related,
            mention: args.mention,
            mentioned_by: args.mentioned_by,
            orphan: args.orphan,
            missing_backlink: args.missing_backlink,
            created: args.created,
            created_before: args.created_before,
            created_after: args.created_after,
            modified: args.modified,
            modified_before: args.modified_before,
            modified_after: args.modified_after,
        }
    }
}

/// Parses the keys to sort by.
pub(super) fn sort_keys(keys: &[String]) -> Result<Vec<SortKey>, Failure> {
    keys.iter().map(|key| sort_key(key)).collect()
}

/// A key such as `modified`, `title-` or `created+`. Times descend unless told otherwise.
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
