//! The arguments of the notebook's subcommands.

use clap::{Args, Subcommand};
use saddlebag::notebook::{
    DeadLinks, Forget, Graph, Init, Journal, Link, ListNotes, MatchStrategy, NoteFilter, NotebookCommand, Orphans,
    Recall, Related, Remember, Rename, SortBy, SortKey, Tags, Today, UnlinkedMentions,
};
use saddlebag_words::UnknownWord;

use crate::failure::Failure;
use crate::input;

/// How many notes a recall shows unless told otherwise.
const USUAL_HITS: u32 = 10;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make the folders, the configuration and the templates of a notebook that are missing
    Init,
    /// Keep a fact, a decision or another note
    Remember(RememberArgs),
    /// Find notes by a question or a query, best first
    Recall(RecallArgs),
    /// Add a line with the time of day to today's note
    Journal {
        /// The line; `-` reads it from standard input
        #[arg(allow_hyphen_values = true)]
        entry: String,
    },
    /// Print today's note, and make it first if it is missing
    Today,
    /// List the notes that have a tag
    #[command(name = "by-tag", alias = "by_tag")]
    ByTag {
        /// A tag, or a glob such as `lang/*`; `a OR b`, `NOT a`
        tag: String,
        /// How many at most
        #[arg(long, short = 'n', value_name = "N")]
        limit: Option<u32>,
    },
    /// List the notes that were changed last
    Recent {
        /// How many at most
        #[arg(default_value_t = USUAL_HITS, value_name = "N")]
        limit: u32,
    },
    /// List notes by filters alone
    Notes(NotesArgs),
    /// List what is linked with a note
    #[command(name = "related", aliases = ["get-related", "get_related"])]
    Related {
        /// Its path, name, title or alias
        note: String,
        /// How many at most
        #[arg(long, short = 'n', value_name = "N", default_value_t = USUAL_HITS)]
        limit: u32,
    },
    /// Write a link to a note at the end of another
    Link {
        /// The note that gets the link
        from: String,
        /// The note that it goes to
        to: String,
        /// What the link shows
        text: Option<String>,
    },
    /// Give a note another title, and rewrite every link to it
    Rename {
        /// Its path, name, title or alias
        note: String,
        /// Its new title
        title: String,
    },
    /// Remove a note; its text is kept as a backup. Or forget an entry
    Forget {
        /// The path, name, title or alias of the note
        #[arg(required_unless_present = "key")]
        note: Option<String>,
        /// The entry of this key instead; `purge` removes it for good
        #[arg(long, value_name = "KEY", conflicts_with = "note", allow_hyphen_values = true)]
        key: Option<String>,
    },
    /// List the tags, with the number of notes that have them
    Tags,
    /// Print notes and the links between them
    Graph(FilterArgs),
    /// List the notes that no other note links to
    Orphans,
    /// List the links that lead nowhere, or to more than one note
    #[command(name = "dead-links", alias = "dead_links")]
    DeadLinks,
    /// List the notes that name a note without linking to it
    #[command(name = "unlinked-mentions", aliases = ["mentions", "unlinked_mentions"])]
    UnlinkedMentions {
        /// Its path, name, title or alias
        note: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RememberArgs {
    /// One line; any text
    #[arg(allow_hyphen_values = true)]
    title: String,
    /// Markdown; `-` reads it from standard input
    #[arg(allow_hyphen_values = true)]
    content: String,
    /// fact, decision, or the name of a folder
    #[arg(long, default_value = "fact")]
    template: String,
    /// The group of the configuration whose file name and template are used [default: that of the folder]
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// A tag; several times, or with commas
    #[arg(long, short = 't', value_delimiter = ',', value_name = "TAG")]
    tag: Vec<String>,
    /// A note to link to; several times
    #[arg(long, value_name = "NOTE")]
    link: Vec<String>,
    /// In place of the note that has this title: the new one supersedes it
    #[arg(long)]
    supersede: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// A sentence, or a query: `"a phrase"`, `prefix*`, `-not`, `this | that`, `title:word`; behind `--`
    /// where a word begins with a hyphen
    #[arg(required = true)]
    query: Vec<String>,
    /// How many notes at most
    #[arg(long, short = 'n', default_value_t = USUAL_HITS, value_name = "N")]
    limit: u32,
    /// How many notes to pass over: the next page
    #[arg(long, default_value_t = 0, value_name = "N")]
    offset: u32,
    /// A key to sort by instead of the score: created, modified, path, title, word-count; with `+` or `-`
    #[arg(long, short = 's', value_name = "KEY")]
    sort: Vec<String>,
    /// Print the parts of each score
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Debug, Args)]
pub(crate) struct NotesArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// A key to sort by: created, modified, path, title, word-count; with `+` or `-` behind it
    #[arg(long, short = 's', value_name = "KEY")]
    sort: Vec<String>,
    /// How many at most
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<u32>,
}

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
            matches: Vec::new(),
            strategy: MatchStrategy::FullText,
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

impl Command {
    /// The tag that notes are asked for by.
    pub(super) fn tag(&self) -> Option<&str> {
        match self {
            Self::ByTag { tag, .. } => Some(tag),
            _ => None,
        }
    }

    /// The command of the store.
    pub(crate) fn into_command(self) -> Result<NotebookCommand, Failure> {
        Ok(match self {
            Self::Init => NotebookCommand::Init(Init),
            Self::Remember(args) => NotebookCommand::Remember(Remember {
                title: args.title,
                content: input::text(args.content)?,
                template: args.template,
                group: args.group,
                tags: args.tag,
                links: args.link,
                supersede: args.supersede,
                provenance: None,
            }),
            Self::Recall(args) => {
                let words: Vec<String> = args.query.into_iter().map(input::text).collect::<Result<_, _>>()?;
                NotebookCommand::Recall(Recall {
                    query: words.join(" "),
                    limit: args.limit,
                    offset: args.offset,
                    filter: args.filter.into(),
                    sort: args.sort.iter().map(|key| sort_key(key)).collect::<Result<_, _>>()?,
                    explain: args.explain,
                    vouched_unchanged: false,
                })
            }
            Self::Journal { entry } => NotebookCommand::Journal(Journal { entry: input::text(entry)? }),
            Self::Today => NotebookCommand::Today(Today),
            Self::ByTag { tag, limit } => {
                let filter = NoteFilter { tags: vec![tag], ..NoteFilter::default() };
                NotebookCommand::ListNotes(ListNotes { filter, limit, ..ListNotes::default() })
            }
            Self::Recent { limit } => NotebookCommand::ListNotes(ListNotes {
                sort: vec![SortKey { by: SortBy::Modified, ascending: false }],
                limit: Some(limit),
                ..ListNotes::default()
            }),
            Self::Notes(args) => NotebookCommand::ListNotes(ListNotes {
                filter: args.filter.into(),
                sort: args.sort.iter().map(|key| sort_key(key)).collect::<Result<_, _>>()?,
                limit: args.limit,
                ..ListNotes::default()
            }),
            Self::Related { note, limit } => NotebookCommand::Related(Related { note, limit }),
            Self::Link { from, to, text } => NotebookCommand::Link(Link { from, to, text }),
            Self::Rename { note, title } => NotebookCommand::Rename(Rename { note, title }),
            Self::Forget { note, .. } => NotebookCommand::Forget(Forget { note: note.unwrap_or_default() }),
            Self::Tags => NotebookCommand::Tags(Tags),
            Self::Graph(filter) => {
                NotebookCommand::Graph(Graph { notes: ListNotes { filter: filter.into(), ..ListNotes::default() } })
            }
            Self::Orphans => NotebookCommand::Orphans(Orphans),
            Self::DeadLinks => NotebookCommand::DeadLinks(DeadLinks),
            Self::UnlinkedMentions { note } => NotebookCommand::UnlinkedMentions(UnlinkedMentions { note }),
        })
    }
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
