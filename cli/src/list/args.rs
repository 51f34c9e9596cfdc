//! [`ListArgs`]: the arguments of `list`, and the kind of items that they choose.

use saddlebag::approval::{DEFAULT_PENDING_ITEMS, Pending};
use saddlebag::entries::EntryFilter;
use saddlebag::items::ItemKind;
use saddlebag::notebook::{ConditionKind, NoteFilter};
use saddlebag::store::{Timestamp, utc_text};

use super::graph::GraphForm;
use crate::input::{Since, shown_path, since};
use crate::note::filter::FilterArgs;
use crate::prelude::*;
use crate::word::word;

/// Options of notes, as an error names them.
const FOR_NOTES: &str = "--sort, --links, --snippets and every filter except --tag are for notes";
/// Kinds of notes that have a folder each, with the beginnings of their paths: the name of each is a date and more.
const FOLDERS: [(ItemKind, [&str; 2]); 2] =
    [(ItemKind::Log, ["daily/1", "daily/2"]), (ItemKind::Session, ["sessions/1", "sessions/2"])];

/// Options of entries, as an error names them.
const FOR_ENTRIES: &str = "--category, --any-tag, --until and --after are for entries";

/// Option that files do not have, as an error names it.
const NOT_FOR_FILES: &str = "--tag is for notes and entries";
/// Options of what waits for approval, as an error names them.
const OF_PENDING: &str = "--pending takes only --from, --limit and --after";
/// Options that list no items, as an error names them.
const ALONE: &str = "--tags and --dead-links take no option that chooses items";

/// Options that go with `--forgotten`, as an error names them.
const FORGOTTEN: &str = "--forgotten takes only --kind note or entry, --since and --limit";

/// Kinds whose items are in a folder, as an error names them.
const WITH_PATH: &str = "--kind log and session do not go with --path";

/// Items that the options choose, or facts about notes in their place.
pub(super) enum Chosen {
    All,
    Notes,
    Entries,
    Files,
    Forgotten,
    Pending,
    Tags,
    DeadLinks,
}

/// List notes, entries and other files, the newest first
///
/// An option for notes or for entries also chooses the kind.
#[derive(Debug, Args)]
#[command(after_help = example("list --tag infra --since 2026-05-01"))]
pub(crate) struct ListArgs {
    /// Kind of items to list; `file` lists every file that `search` covers
    ///
    /// These are the Markdown files directly in the root, in `daily/`, `facts/`, `decisions/` and `notes/`, and the scratchpad
    #[arg(long, value_name = "KIND", value_parser = word::<ItemKind>())]
    pub(super) kind: Option<ItemKind>,
    /// Only items changed at or after this day or time
    #[arg(long, value_name = "DATE", value_parser = since)]
    since: Option<Since>,
    /// Maximum number of items; with --kind entry, up to 1000
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
    /// Key to sort notes by: created, modified, path, title, word-count; `+` after it sorts upward, `-` downward; repeatable
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
    /// Only entries with at least one of these tags
    #[arg(long, hide_short_help = true, value_delimiter = ',', value_name = "TAG")]
    any_tag: Vec<String>,
    /// Only entries changed before this day or time
    #[arg(long, hide_short_help = true, value_name = "DATE", value_parser = since)]
    until: Option<Since>,
    /// Cursor that the previous page printed, of entries or of what waits
    #[arg(long, hide_short_help = true, value_name = "CURSOR", allow_hyphen_values = true)]
    pub(super) after: Option<String>,
    #[command(flatten)]
    filter: FilterArgs,
}

impl ListArgs {
    /// Returns what to list.
    pub(super) fn chosen(&self) -> Result<Chosen, Failure> {
        let for_notes = !self.sort.is_empty() || self.links || self.snippets || self.filter.is_for_notes();
        let of_page =
            self.category.is_some() || !self.any_tag.is_empty() || self.until.is_some() || self.after.is_some();
        let for_entries = of_page && !self.forgotten;
        let for_items = self.kind.is_some() || self.since.is_some() || self.limit.is_some() || self.has_tags();
        let kind = match (self.kind, for_notes, for_entries) {
            (None, true, false) => Some(ItemKind::Note),
            (None, false, true) => Some(ItemKind::Entry),
            (kind, ..) => kind,
        };
        let wrong = match kind {
            _ if self.pending.is_some() => return self.chosen_pending(for_notes),
            _ if self.forgotten && (of_page || for_notes || self.has_tags()) => FORGOTTEN,
            Some(ItemKind::File | ItemKind::Log | ItemKind::Session) if self.forgotten => FORGOTTEN,
            Some(ItemKind::Log | ItemKind::Session) if self.filter.has_paths() => WITH_PATH,
            _ if (self.tags || self.dead_links) && (for_items || for_notes || for_entries || self.forgotten) => ALONE,
            Some(ItemKind::Entry | ItemKind::File) if for_notes => FOR_NOTES,
            kind if for_entries && kind != Some(ItemKind::Entry) => FOR_ENTRIES,
            Some(ItemKind::File) if self.has_tags() => NOT_FOR_FILES,
            _ if self.tags => return Ok(Chosen::Tags),
            _ if self.dead_links => return Ok(Chosen::DeadLinks),
            _ if self.forgotten => return Ok(Chosen::Forgotten),
            Some(ItemKind::Entry) => return Ok(Chosen::Entries),
            Some(ItemKind::File) => return Ok(Chosen::Files),
            Some(_) => return Ok(Chosen::Notes),
            None => return Ok(Chosen::All),
        };
        Err(Failure::usage(wrong, "leave out the options that do not fit"))
    }

    /// Returns [`Chosen::Pending`], unless an option chooses other items.
    fn chosen_pending(&self, for_notes: bool) -> Result<Chosen, Failure> {
        let others = self.kind.is_some() || self.since.is_some() || self.until.is_some() || self.category.is_some();
        let flags = self.forgotten || self.tags || self.dead_links;
        if others || flags || for_notes || self.has_tags() || !self.any_tag.is_empty() {
            return Err(Failure::usage(OF_PENDING, "leave out the options that do not fit"));
        }
        Ok(Chosen::Pending)
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

    /// Returns true if something that was changed at this time is wanted.
    pub(super) fn is_new_enough(&self, changed: u64, now: Timestamp) -> bool {
        self.since.as_ref().is_none_or(|since| changed >= since.nanoseconds(now))
    }

    /// Returns the filter for notes.
    pub(super) fn of_notes(&self, now: Timestamp) -> NoteFilter {
        let since = self.since.as_ref().map(|since| utc_text(since.nanoseconds(now)));
        let folder = FOLDERS.iter().find(|(kind, _)| self.kind == Some(*kind)).map(|(_, paths)| *paths);
        let filter = NoteFilter::from(self.filter.clone()).with(ConditionKind::ModifiedAfter, since);
        filter.with(ConditionKind::Path, folder.into_iter().flatten())
    }

    /// Returns the filter for entries.
    pub(super) fn of_entries(&self, now: Timestamp) -> EntryFilter {
        EntryFilter {
            category: self.category.clone(),
            all_tags: self.filter.tags().to_vec(),
            any_tags: self.any_tag.clone(),
            since: self.since.as_ref().map(|since| since.nanoseconds(now)),
            until: self.until.as_ref().map(|until| until.nanoseconds(now)),
        }
    }
}
