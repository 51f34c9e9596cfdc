//! [`ListArgs`]: the arguments of `list`, and the kind of items that they choose.

use saddlebag::approval::{DEFAULT_PENDING_ITEMS, Pending};
use saddlebag::items::{ItemKind, ListItems};
use saddlebag::notebook::{ConditionKind, NoteFilter};
use saddlebag::store::{Timestamp, utc_text};

use super::graph::GraphForm;
use crate::input::{Since, shown_path, since};
use crate::note::filter::{FilterArgs, sort_keys};
use crate::prelude::*;
use crate::word::word;

/// Options that entries and other files do not have, as an error names them.
const FOR_NOTES: &str = "--links, --snippets and every filter except --tag are for notes";
/// Options of what waits for approval, as an error names them.
const OF_PENDING: &str = "--pending takes only --from, --limit and --after";
/// Options that list no items, as an error names them.
const ALONE: &str = "--tags and --dead-links take no option that chooses items";
/// Option that files do not have, as an error names it.
const NOT_FOR_FILES: &str = "--tag is for notes and entries";

/// Items, or facts about notes in their place.
#[derive(PartialEq, Eq)]
pub(super) enum Chosen {
    Items,
    Pending,
    Tags,
    DeadLinks,
}

/// List notes, entries and other files, the newest first
///
/// Notes alone are in the order of their titles. An option for notes or for entries also chooses the kind.
#[derive(Debug, Args)]
#[command(after_help = example("list --tag infra --since 2026-05-01"))]
pub(crate) struct ListArgs {
    /// Kind of items to list: note, log, session, entry, or file for any other Markdown file
    #[arg(long, value_name = "KIND", value_parser = word::<ItemKind>())]
    pub(super) kind: Option<ItemKind>,
    /// Only items changed at or after this day or time
    #[arg(long, value_name = "DATE", value_parser = since)]
    since: Option<Since>,
    /// Maximum number of items
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) limit: Option<u32>,
    /// List forgotten notes and entries, which `restore` brings back
    #[arg(long)]
    pub(super) forgotten: bool,
    /// List what waits for approval, or print the whole text of this entry (key) or note (path, name or title)
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true)]
    pending: Option<Option<String>>,
    /// Only what waits from this source: `tool`, `import`, a format such as claude-code, or the source that an entry names
    #[arg(long, value_name = "SOURCE", requires = "pending")]
    from: Option<String>,
    /// Key to sort by: created, modified, path, title, word-count; `+` after it sorts upward, `-` downward; repeatable
    #[arg(long, short = 's', value_name = "KEY")]
    pub(super) sort: Vec<String>,
    /// Print the links between the notes
    #[arg(long)]
    pub(super) links: bool,
    /// Form of the links: dot (Graphviz) or mermaid
    #[arg(
        long,
        hide_short_help = true,
        value_name = "FORM",
        value_enum,
        requires = "links",
        hide_possible_values = true
    )]
    pub(super) format: Option<GraphForm>,
    /// List the tags of notes instead, with the number of notes of each
    #[arg(long, conflicts_with = "dead_links")]
    tags: bool,
    /// List the links whose target is missing or ambiguous instead
    #[arg(long)]
    dead_links: bool,
    /// Leave out dead links to files that are not notes, such as pictures
    #[arg(long, hide_short_help = true, requires = "dead_links")]
    pub(super) only_notes: bool,
    /// With --json, add the beginning of each note and the text around each link; reads each note
    #[arg(long, hide_short_help = true)]
    pub(super) snippets: bool,
    /// Only entries of this category
    #[arg(long, short = 'c', value_name = "CATEGORY")]
    category: Option<String>,
    /// Only items with at least one of these tags
    #[arg(long, hide_short_help = true, value_delimiter = ',', value_name = "TAG")]
    any_tag: Vec<String>,
    /// Only items changed before this day or time
    #[arg(long, hide_short_help = true, value_name = "DATE", value_parser = since)]
    until: Option<Since>,
    /// Cursor that the previous page printed
    #[arg(long, hide_short_help = true, value_name = "CURSOR", allow_hyphen_values = true)]
    pub(super) after: Option<String>,
    #[command(flatten)]
    filter: FilterArgs,
}

impl ListArgs {
    /// Returns what to list.
    pub(super) fn chosen(&self) -> Result<Chosen, Failure> {
        let for_notes = self.links || self.snippets || self.filter.is_for_notes();
        let for_items = self.has_tags() || self.until.is_some() || self.category.is_some() || !self.any_tag.is_empty();
        let of_items = for_notes || for_items || self.kind.is_some() || self.since.is_some() || !self.sort.is_empty();
        let others = of_items || self.forgotten;
        let (chosen, wrong) = match () {
            () if self.pending.is_some() => {
                (Chosen::Pending, (others || self.tags || self.dead_links).then_some(OF_PENDING))
            }
            () if self.tags || self.dead_links => {
                let chosen = if self.tags { Chosen::Tags } else { Chosen::DeadLinks };
                (chosen, (others || self.limit.is_some() || self.after.is_some()).then_some(ALONE))
            }
            () => {
                let has_links = !self.forgotten && self.kind.is_none_or(ItemKind::is_note);
                let of_files = self.kind == Some(ItemKind::File) && self.has_tags();
                let wrong = (for_notes && !has_links).then_some(FOR_NOTES);
                (Chosen::Items, wrong.or(of_files.then_some(NOT_FOR_FILES)))
            }
        };
        wrong.map_or(Ok(chosen), |wrong| Err(Failure::usage(wrong, "leave out the options that do not fit")))
    }

    /// Returns the request for items.
    pub(super) fn request(&self, now: Timestamp, is_json: bool) -> Result<ListItems, Failure> {
        let time = |given: &Option<Since>| given.as_ref().map(|given| utc_text(given.nanoseconds(now)));
        let any_tag = (!self.any_tag.is_empty()).then(|| self.any_tag.join(" OR "));
        let for_notes = self.links || self.snippets || self.filter.is_for_notes();
        Ok(ListItems {
            forgotten: self.forgotten,
            kinds: self.kind.or(for_notes.then_some(ItemKind::Note)).into_iter().collect(),
            category: self.category.clone(),
            filter: NoteFilter::from(self.filter.clone())
                .with(ConditionKind::ModifiedAfter, time(&self.since))
                .with(ConditionKind::ModifiedBefore, time(&self.until))
                .with(ConditionKind::Tag, any_tag),
            sort: sort_keys(&self.sort)?,
            limit: self.limit,
            after: self.after.clone(),
            with_text: self.snippets && is_json,
            with_links: self.links,
            ..ListItems::default()
        })
    }

    /// Returns the request for what waits for approval.
    pub(super) fn of_pending(self) -> Pending {
        let limit = self.limit.unwrap_or(DEFAULT_PENDING_ITEMS);
        let name = self.pending.flatten().map(|name| shown_path(&name).unwrap_or_else(|never| match never {}));
        Pending { limit, cursor: self.after, name, source: self.from }
    }

    /// Returns true if a tag is wanted, which only notes and entries have.
    pub(super) fn has_tags(&self) -> bool {
        !self.filter.tags().is_empty()
    }

    /// Returns the tags that are wanted, for a message.
    pub(super) fn shown_tags(&self) -> String {
        self.filter.tags().join("`, `")
    }
}
