//! The arguments of the subcommands of entries.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use saddlebag::entries::{
    Category, DEFAULT_HYDRATE_BYTES, EntriesVerb, EntryFilter, Explain, FindEntries, ForgetEntry, GetEntry, Hydrate,
    ImportMode, ListEntries, NewEntry, Policy, PurgeEntries, StoreEntry,
};
use saddlebag::store::Timestamp;

use super::formats::FormatName;
use crate::failure::Failure;
use crate::input;

/// How many hits a search shows unless told otherwise.
const USUAL_HITS: u32 = 20;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Keep an entry under a key: make it, or replace what its key said
    Store(StoreArgs),
    /// Print the content of the entry of a key
    Get {
        /// The key, exactly
        #[arg(allow_hyphen_values = true)]
        key: String,
    },
    /// Find entries by a question or a query, best first
    Find {
        /// A sentence, or a query as for recall; behind `--` where a word begins with a hyphen
        #[arg(required = true)]
        query: Vec<String>,
        /// How many at most
        #[arg(long, short = 'n', default_value_t = USUAL_HITS, value_name = "N")]
        limit: u32,
    },
    /// List entries, the newest created first
    Entries(EntriesArgs),
    /// Remove forgotten entries for good
    Purge {
        /// The key; all that are forgotten if none is given
        #[arg(allow_hyphen_values = true)]
        key: Option<String>,
    },
    /// Print the entries for a prompt, under a budget
    Hydrate(HydrateArgs),
    /// Print of every entry why it would be hydrated or not
    Explain {
        /// Only of this key
        #[arg(allow_hyphen_values = true)]
        key: Option<String>,
        #[command(flatten)]
        hydrate: HydrateArgs,
    },
    /// Store the entries of one run of the agent, each whole or not at all
    Run(RunArgs),
    /// Write the entries into a new folder or as a stream, as their files or for another agent (--to)
    Export(ExportArgs),
    /// Take files of entries in, each whole or not at all, or the memory of another agent (--from)
    Import(ImportArgs),
}

/// What a subcommand comes to.
pub(super) enum Task {
    /// One command for the store.
    Verb(EntriesVerb),
    Run(RunArgs),
    Export(ExportArgs),
    Import(ImportArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A folder that is empty or does not exist yet, of a format that is one file also a new file; `-` for
    /// standard output: that file, or a tar stream
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,
    /// The format: our own, or that of another agent
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) to: FormatName,
    /// Those of forgotten entries, too
    #[arg(long)]
    pub(crate) forgotten: bool,
    /// With --to: those that nobody has approved, too. Only jsonl says what they are, and has them anyway
    #[arg(long)]
    pub(crate) unapproved: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// A folder, of which every `.md` file is taken, or the file of another agent; `-` for standard input: that
    /// file, or a tar stream
    #[arg(value_name = "PATH", required_unless_present = "format")]
    pub(crate) from: Option<PathBuf>,
    /// The format: our own, or that of another agent
    #[arg(long = "from", value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: FormatName,
    /// upsert: leave other entries alone; replace: forget what is in none of the files
    #[arg(long, value_enum, default_value_t)]
    pub(crate) mode: ModeName,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Believe what the files say of their provenance; without it they are imports, which go into no prompt until
    /// they are approved
    #[arg(long)]
    pub(crate) trust: bool,
    /// Go on without being asked
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    #[default]
    Upsert,
    Replace,
}

impl From<ModeName> for ImportMode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Upsert => Self::Upsert,
            ModeName::Replace => Self::Replace,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// Any text of 1 to 255 bytes
    #[arg(allow_hyphen_values = true)]
    key: String,
    /// Its content, kept byte for byte; `-` reads it from standard input
    #[arg(allow_hyphen_values = true)]
    content: String,
    /// core, daily, workspace, or one of your own
    #[arg(long, short = 'c', default_value = "core", value_name = "CATEGORY")]
    category: String,
    /// A tag; several times, or with commas
    #[arg(long, short = 't', value_delimiter = ',', value_name = "TAG")]
    tag: Vec<String>,
    /// Where it comes from, for people
    #[arg(long, value_name = "TEXT")]
    source: Option<String>,
    /// The key of an entry that this one stands in for
    #[arg(long, value_name = "KEY")]
    supersedes: Option<String>,
    /// Only if the entry still has this version
    #[arg(long, value_name = "VERSION")]
    base: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct EntriesArgs {
    /// Only of this category
    #[arg(long, short = 'c', value_name = "CATEGORY")]
    category: Option<String>,
    /// Only with this tag; several times, or with commas: with each of them
    #[arg(long, short = 't', value_delimiter = ',', value_name = "TAG")]
    tag: Vec<String>,
    /// Only with one of these tags
    #[arg(long, value_delimiter = ',', value_name = "TAG")]
    any_tag: Vec<String>,
    /// Only if last changed then or later
    #[arg(long, value_name = "RFC3339", value_parser = saddlebag_host::parse_time)]
    since: Option<Timestamp>,
    /// Only if last changed before
    #[arg(long, value_name = "RFC3339", value_parser = saddlebag_host::parse_time)]
    until: Option<Timestamp>,
    /// How many at most, up to 100
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<u32>,
    /// The cursor that the page before has given
    #[arg(long, value_name = "CURSOR", allow_hyphen_values = true)]
    after: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HydrateArgs {
    /// How many bytes of entries
    #[arg(long, value_name = "N", default_value_t = DEFAULT_HYDRATE_BYTES)]
    max_bytes: u64,
    /// greedy: every core entry that fits, then every other; prefix: each tier ends at the first that does not
    #[arg(long, value_enum, default_value_t)]
    policy: PolicyName,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The name of the run
    pub(super) name: String,
    /// Its number, which grows with each run of the agent
    #[arg(long, value_name = "N")]
    pub(super) fence: u64,
    /// The entries, one JSON object a line: key, content, category, tags, source, supersedes; with `deleted` true
    /// the key is forgotten; `-` reads them from standard input
    #[arg(default_value = "-")]
    pub(super) entries: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum PolicyName {
    #[default]
    Greedy,
    Prefix,
}

impl HydrateArgs {
    fn request(&self) -> Hydrate {
        let policy = match self.policy {
            PolicyName::Greedy => Policy::Greedy,
            PolicyName::Prefix => Policy::Prefix,
        };
        Hydrate { max_bytes: self.max_bytes, policy }
    }
}

impl Command {
    /// The command for the store; of what is several, its arguments.
    pub(super) fn into_task(self) -> Result<Task, Failure> {
        Ok(Task::Verb(match self {
            Self::Store(args) => EntriesVerb::StoreEntry(StoreEntry {
                entry: NewEntry {
                    key: args.key,
                    content: input::text(args.content)?,
                    category: args.category,
                    tags: args.tag,
                    source: args.source,
                    supersedes: args.supersedes,
                },
                base: args.base,
            }),
            Self::Get { key } => EntriesVerb::GetEntry(GetEntry { key }),
            Self::Find { query, limit } => EntriesVerb::FindEntries(FindEntries { query: query.join(" "), limit }),
            Self::Entries(args) => EntriesVerb::ListEntries(ListEntries {
                filter: EntryFilter {
                    category: args.category,
                    all_tags: args.tag,
                    any_tags: args.any_tag,
                    since: args.since.map(nanoseconds),
                    until: args.until.map(nanoseconds),
                },
                limit: args.limit,
                cursor: args.after,
            }),
            Self::Purge { key } => EntriesVerb::PurgeEntries(PurgeEntries { key }),
            Self::Hydrate(args) => EntriesVerb::Hydrate(args.request()),
            Self::Explain { key, hydrate } => EntriesVerb::Explain(Explain { request: hydrate.request(), key }),
            Self::Run(args) => return Ok(Task::Run(args)),
            Self::Export(args) => return Ok(Task::Export(args)),
            Self::Import(args) => return Ok(Task::Import(args)),
        }))
    }
}

/// The commands of a run's entries. A line that is none refuses all of them.
pub(super) fn run_verbs(args: &RunArgs) -> Result<Vec<(String, EntriesVerb)>, Failure> {
    let text = input::text(args.entries.clone())?;
    let lines = (1_usize..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| run_verb(line).map_err(|error| refused_line(number, &error))).collect()
}

fn run_verb(line: &str) -> Result<(String, EntriesVerb), serde_json::Error> {
    let entry: RunEntry = serde_json::from_str(line)?;
    let RunEntry { key, content, category, tags, source, supersedes, deleted } = entry;
    let verb = match deleted {
        true => EntriesVerb::ForgetEntry(ForgetEntry { key: key.clone(), base: None }),
        false => {
            let category = category.unwrap_or_else(|| Category::Core.as_str().to_string());
            let entry = NewEntry { key: key.clone(), content, category, tags, source, supersedes };
            EntriesVerb::StoreEntry(StoreEntry { entry, base: None })
        }
    };
    Ok((key, verb))
}

fn refused_line(number: usize, error: &serde_json::Error) -> Failure {
    let help = r#"an entry is {"key": "k", "content": "text", "category": "core"}; nothing was changed"#;
    Failure::usage(format!("line {number} is no entry: {error}"), help)
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RunEntry {
    key: String,
    #[serde(default)]
    content: String,
    category: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    source: Option<String>,
    supersedes: Option<String>,
    #[serde(default)]
    deleted: bool,
}

fn nanoseconds(time: Timestamp) -> u64 {
    time.local().map_or(0, saddlebag::store::LocalTime::epoch_nanoseconds)
}
