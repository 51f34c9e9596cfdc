//! The command line of zk, as far as scripts use it.

#![allow(missing_docs, reason = "what is written at an argument is its help, and these have none beside their names")]

use std::ffi::OsString;

use clap::{Args, Parser, Subcommand};
use saddlebag::notebook::{ConditionKind, ListNotes, NoteFilter, SortBy, SortKey};

use crate::search::{Queries, TextSearch};

/// Error of a command line: a message for standard error; the exit code is [`crate::EXIT_FAILED`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadUse(pub String);

/// A parsed command line.
#[derive(Debug)]
pub enum Asked {
    /// Runs a command.
    Run(Box<Zk>),
    /// Prints this help.
    Print(String),
}

/// Parses the arguments after `saddlebag zk`.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Asked, BadUse> {
    let arguments = std::iter::once(OsString::from("zk")).chain(arguments);
    match Zk::try_parse_from(arguments) {
        Ok(zk) => Ok(Asked::Run(Box::new(zk))),
        Err(error) if !error.use_stderr() => Ok(Asked::Print(error.to_string())),
        Err(error) => Err(BadUse(refusal(&error))),
    }
}

/// Returns the parser's message about arguments that it does not accept.
pub(super) fn refusal(error: &clap::Error) -> String {
    let text = error.to_string();
    text.strip_prefix("error: ").unwrap_or(&text).trim_end().into()
}

/// Notebook commands in the words of zk
#[derive(Debug, Parser)]
#[command(name = "zk", bin_name = "saddlebag zk")]
pub struct Zk {
    /// Folder of the notebook [default: the nearest folder above that has a `.zk`]
    #[arg(long, global = true, value_name = "PATH")]
    pub notebook_dir: Option<String>,
    /// Working folder
    #[arg(long, short = 'W', global = true, value_name = "PATH")]
    pub working_dir: Option<String>,
    /// Never ask (has no effect: nothing here asks)
    #[arg(long, global = true)]
    pub no_input: bool,
    #[command(subcommand)]
    pub command: ZkCommand,
}

#[derive(Debug, Subcommand)]
pub enum ZkCommand {
    /// List notes
    List(ListArgs),
    /// Tags
    Tag {
        #[command(subcommand)]
        command: TagCommand,
    },
    /// Notes and the links between them
    Graph(GraphArgs),
    /// Create a note
    New(NewArgs),
    /// Create a notebook
    Init {
        /// Folder [default: the current folder]
        directory: Option<String>,
    },
    /// Do nothing: the index is always up to date
    Index(IndexArgs),
}

#[derive(Debug, Subcommand)]
pub enum TagCommand {
    /// List tags
    List(TagListArgs),
}

#[derive(Debug, Args)]
pub struct IndexArgs {
    #[arg(long, short)]
    pub force: bool,
    #[arg(long, short)]
    pub verbose: bool,
    #[arg(long, short)]
    pub quiet: bool,
}

/// Frame and format of a list.
#[derive(Debug, Args)]
pub struct FrameArgs {
    /// Format of each item: the name of a format, or a template
    #[arg(long, short, value_name = "TEMPLATE")]
    pub format: Option<String>,
    /// Text before the list
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub header: Option<String>,
    /// Text after the list
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub footer: Option<String>,
    /// Text between two items
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    pub delimiter: Option<String>,
    /// Separate items by a zero byte
    #[arg(long, short = '0', conflicts_with = "delimiter")]
    pub delimiter0: bool,
    /// Use no pager (has no effect: there is none)
    #[arg(long, short = 'P')]
    pub no_pager: bool,
    /// Do not print the number of items
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    pub frame: FrameArgs,
    #[command(flatten)]
    pub filter: FilterArgs,
}

#[derive(Debug, Args)]
pub struct TagListArgs {
    #[command(flatten)]
    pub frame: FrameArgs,
    /// Sort key: `name` or `note-count`, with `+` or `-`
    #[arg(long, short, value_name = "TERM")]
    pub sort: Vec<String>,
}

#[derive(Debug, Args)]
pub struct GraphArgs {
    /// Format: `json`
    #[arg(long, short, value_name = "FORMAT")]
    pub format: String,
    /// Do not print the number of notes and links
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub filter: FilterArgs,
}

#[derive(Debug, Args)]
pub struct NewArgs {
    /// Folder of the note [default: the current folder]
    pub directory: Option<String>,
    /// Read the content from standard input
    #[arg(long, short)]
    pub interactive: bool,
    /// Title
    #[arg(long, short, value_name = "TITLE", allow_hyphen_values = true)]
    pub title: Option<String>,
    /// Date of the note
    #[arg(long, value_name = "DATE")]
    pub date: Option<String>,
    /// Group of the configuration whose file name and template are used [default: group of the folder]
    #[arg(long, short, value_name = "NAME")]
    pub group: Option<String>,
    /// Further variables for the template: `key=value,…`
    #[arg(long, value_name = "KEY=VALUE,…")]
    extra: Vec<String>,
    /// Template
    #[arg(long, value_name = "PATH")]
    pub template: Option<String>,
    /// Print the path of the note instead of opening an editor
    #[arg(long, short)]
    pub print_path: bool,
    /// Print the note instead of writing it
    #[arg(long, short = 'n')]
    pub dry_run: bool,
    /// Id of the note
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
}

impl NewArgs {
    /// Parses the variables of `--extra`.
    pub fn extra(&self) -> Result<Vec<(String, String)>, BadUse> {
        let pairs = self.extra.iter().flat_map(|list| split_escaped(list)).filter(|pair| !pair.is_empty());
        pairs
            .map(|pair| match pair.split_once('=') {
                Some((key, value)) if !key.is_empty() => Ok((key.into(), value.into())),
                _ => Err(BadUse(format!("--extra: expected KEY=VALUE but got \"{pair}\""))),
            })
            .collect()
    }
}

/// Filter for notes.
#[derive(Clone, Debug, Default, Args)]
pub struct FilterArgs {
    /// Notes, folders, prefixes of names, or named filters of the configuration
    #[arg(value_name = "PATH")]
    pub(super) path: Vec<String>,
    #[arg(long, short, hide = true)]
    pub(super) interactive: bool,
    /// Maximum number of notes
    #[arg(long, short = 'n', value_name = "COUNT")]
    pub(super) limit: Option<u32>,
    /// Query
    #[arg(long, short, value_name = "QUERY")]
    pub(super) r#match: Vec<String>,
    /// Match strategy: fts (or f), exact (e), re (grep, r)
    #[arg(long, short = 'M', value_name = "STRATEGY", default_value = "fts")]
    pub(super) match_strategy: String,
    /// Exclude these paths
    #[arg(long, short = 'x', value_name = "PATH")]
    pub(super) exclude: Vec<String>,
    /// Only notes with these tags
    #[arg(long, short, value_name = "TAG")]
    pub(super) tag: Vec<String>,
    /// Only notes without tags
    #[arg(long)]
    pub(super) tagless: bool,
    /// Only notes that mention the title of these
    #[arg(long, value_name = "PATH")]
    pub(super) mention: Vec<String>,
    /// Only notes whose title these mention
    #[arg(long, value_name = "PATH")]
    pub(super) mentioned_by: Vec<String>,
    /// Only notes that link to these
    #[arg(long, short, value_name = "PATH")]
    pub(super) link_to: Vec<String>,
    /// Only notes that do not link to these
    #[arg(long, value_name = "PATH")]
    pub(super) no_link_to: Vec<String>,
    /// Only notes that these link to
    #[arg(long, short = 'L', value_name = "PATH")]
    pub(super) linked_by: Vec<String>,
    /// Only notes that these do not link to
    #[arg(long, value_name = "PATH")]
    pub(super) no_linked_by: Vec<String>,
    /// Only notes without links from other notes
    #[arg(long)]
    pub(super) orphan: bool,
    /// Only notes that do not link back
    #[arg(long)]
    pub(super) missing_backlink: bool,
    /// Only notes two links away from these
    #[arg(long, value_name = "PATH")]
    pub(super) related: Vec<String>,
    /// Maximum number of links to follow
    #[arg(long, value_name = "COUNT")]
    pub(super) max_distance: Option<u32>,
    /// Follow links over several notes
    #[arg(long, short)]
    pub(super) recursive: bool,
    #[arg(long, value_name = "DATE")]
    pub(super) created: Option<String>,
    #[arg(long, value_name = "DATE")]
    pub(super) created_before: Option<String>,
    #[arg(long, value_name = "DATE")]
    pub(super) created_after: Option<String>,
    #[arg(long, value_name = "DATE")]
    pub(super) modified: Option<String>,
    #[arg(long, value_name = "DATE")]
    pub(super) modified_before: Option<String>,
    #[arg(long, value_name = "DATE")]
    pub(super) modified_after: Option<String>,
    /// Sort key: created, modified, path, title or word-count, with `+` or `-`; the last one counts most
    #[arg(long, short, value_name = "TERM")]
    pub(super) sort: Vec<String>,
}

impl FilterArgs {
    /// Builds the request. `relative` turns a path relative to the working folder into one relative to the notebook.
    pub fn request(&self, relative: impl Fn(&str) -> String) -> Result<ListNotes, BadUse> {
        if self.interactive {
            return Err(BadUse("--interactive is not supported: nothing here asks".into()));
        }
        let paths = |flag: &str, values: &[String]| -> Result<Vec<String>, BadUse> {
            Ok(split(flag, values)?.iter().map(|path| relative(path)).collect())
        };
        // The search of this crate does `--mention` and `--mentioned-by`, because zk's words differ from the words of
        // the memory.
        let filter = NoteFilter {
            conditions: Vec::new(),
            tagless: self.tagless,
            orphan: self.orphan,
            missing_backlink: self.missing_backlink,
            recursive: self.recursive,
            max_distance: self.max_distance,
        }
        // Words that are not the value of an option are not split at commas.
        .with(ConditionKind::Path, self.path.iter().map(|path| relative(path)))
        .with(ConditionKind::Exclude, paths("--exclude", &self.exclude)?)
        .with(ConditionKind::Tag, split("--tag", &self.tag)?)
        .with(ConditionKind::LinkedBy, paths("--linked-by", &self.linked_by)?)
        .with(ConditionKind::LinkTo, paths("--link-to", &self.link_to)?)
        .with(ConditionKind::NoLinkedBy, paths("--no-linked-by", &self.no_linked_by)?)
        .with(ConditionKind::NoLinkTo, paths("--no-link-to", &self.no_link_to)?)
        .with(ConditionKind::Related, paths("--related", &self.related)?)
        .with(ConditionKind::Created, self.created.clone())
        .with(ConditionKind::CreatedBefore, self.created_before.clone())
        .with(ConditionKind::CreatedAfter, self.created_after.clone())
        .with(ConditionKind::Modified, self.modified.clone())
        .with(ConditionKind::ModifiedBefore, self.modified_before.clone())
        .with(ConditionKind::ModifiedAfter, self.modified_after.clone());
        let limit = if self.text_search(&relative)?.is_empty() { self.limit() } else { None };
        Ok(ListNotes {
            filter,
            sort: self.sort_keys()?,
            limit,
            zk_links: true,
            with_text: true,
            ..ListNotes::default()
        })
    }

    /// Returns the search over the notes of the request. `relative` is the argument of [`request`](Self::request).
    pub fn text_search(&self, relative: impl Fn(&str) -> String) -> Result<TextSearch, BadUse> {
        let paths = |flag: &str, values: &[String]| -> Result<Vec<String>, BadUse> {
            Ok(split(flag, values)?.iter().map(|path| relative(path)).collect())
        };
        Ok(TextSearch {
            queries: Queries::new(&self.match_strategy, split("--match", &self.r#match)?).map_err(BadUse)?,
            mention: paths("--mention", &self.mention)?,
            mentioned_by: paths("--mentioned-by", &self.mentioned_by)?,
            sort: self.sort_keys()?,
            limit: self.limit(),
        })
    }

    fn sort_keys(&self) -> Result<Vec<SortKey>, BadUse> {
        split("--sort", &self.sort)?.iter().rev().map(|term| sort_key(term)).collect()
    }

    /// Returns the limit. Zero means no limit.
    fn limit(&self) -> Option<u32> {
        self.limit.filter(|limit| *limit > 0)
    }
}

/// Parses a key with its direction at the end.
fn sort_key(term: &str) -> Result<SortKey, BadUse> {
    let (name, direction) = direction(term);
    let (by, ascending) = match name {
        "created" | "c" => (SortBy::Created, false),
        "modified" | "m" => (SortBy::Modified, false),
        "path" | "p" => (SortBy::Path, true),
        "title" | "t" => (SortBy::Title, true),
        "word-count" | "wc" => (SortBy::WordCount, true),
        "random" | "r" => {
            return Err(BadUse("incorrect criteria: random: the same request gives the same answer here".into()));
        }
        _ => {
            return Err(BadUse(format!(
                "incorrect criteria: {name}: unknown sorting term\ntry created, modified, path, title or word-count"
            )));
        }
    };
    Ok(SortKey { by, ascending: direction.unwrap_or(ascending) })
}

/// Splits off the `+` or `-` of a term. The value is true for ascending order.
fn direction(term: &str) -> (&str, Option<bool>) {
    match (term.strip_suffix('+'), term.strip_suffix('-')) {
        (Some(name), _) => (name, Some(true)),
        (_, Some(name)) => (name, Some(false)),
        _ => (term, None),
    }
}

/// Sort keys of tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagKey {
    Name,
    NoteCount,
}

impl TagListArgs {
    /// Returns the keys, the most important first, each with true for ascending order; empty without `--sort`.
    pub fn keys(&self) -> Result<Vec<(TagKey, bool)>, BadUse> {
        let terms = split("--sort", &self.sort)?;
        let keys = terms.iter().rev().map(|term| match direction(term) {
            ("name" | "n", ascending) => Ok((TagKey::Name, ascending.unwrap_or(true))),
            ("note-count" | "nc", ascending) => Ok((TagKey::NoteCount, ascending.unwrap_or(false))),
            (name, _) => {
                Err(BadUse(format!("incorrect criteria: {name}: unknown sorting term\ntry name or note-count")))
            }
        });
        keys.collect()
    }
}

/// Splits the values of a list option at commas, and removes one level of backslashes. Like zk's parser it refuses a
/// value that begins with a hyphen, even after `=`.
fn split(flag: &str, values: &[String]) -> Result<Vec<String>, BadUse> {
    let parts: Vec<String> = values.iter().flat_map(|value| split_escaped(value)).collect();
    match parts.iter().find(|part| part.starts_with('-')) {
        Some(part) => Err(BadUse(format!("{flag}: expected string value but got \"{part}\" (short flag)"))),
        None => Ok(parts),
    }
}

fn split_escaped(value: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut is_escaped = false;
    for c in value.chars() {
        match c {
            '\\' if !is_escaped => {
                is_escaped = true;
                continue;
            }
            ',' if !is_escaped => parts.push(std::mem::take(&mut part)),
            _ => part.push(c),
        }
        is_escaped = false;
    }
    parts.push(part);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(arguments: &[&str]) -> Result<ListNotes, BadUse> {
        filter(arguments)?.request(str::to_string)
    }

    fn filter(arguments: &[&str]) -> Result<FilterArgs, BadUse> {
        let arguments = ["--no-input", "list", "-q", "-P", "-f", "path"].iter().chain(arguments);
        match parse(arguments.map(OsString::from))? {
            Asked::Run(zk) => match zk.command {
                ZkCommand::List(list) => Ok(list.filter),
                other => panic!("{other:?}"),
            },
            Asked::Print(text) => panic!("{text}"),
        }
    }

    fn matches(argument: &str) -> Vec<String> {
        split("--match", &filter(&[argument]).expect("valid").r#match).expect("valid")
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Zk::command().debug_assert();
    }

    #[test]
    fn lists_split_as_zk_splits_them() {
        assert_eq!(matches("--match=port, staging"), ["port", " staging"]);
        assert_eq!(matches(r"--match=5\d{3}"), ["5d{3}"]);
        assert_eq!(matches(r"--match=5\\d{3}"), [r"5\d{3}"]);
        assert_eq!(matches(r"--match=a\,b"), ["a,b"]);
        assert_eq!(matches("--match="), [""]);
        assert!(request(&["--match=-foo"]).is_err());
        assert!(request(&["--match", "-foo"]).is_err());
        let list = request(&["--tag=infra,NOT secrets", "a,b.md"]).expect("valid");
        assert_eq!(list.filter.values(ConditionKind::Tag), ["infra", "NOT secrets"]);
        assert_eq!(list.filter.values(ConditionKind::Path), ["a,b.md"]);
    }

    #[test]
    fn the_last_sort_key_counts_most() {
        let list = request(&["--sort=title", "--sort=modified", "-s", "path-"]).expect("valid");
        let key = |by, ascending| SortKey { by, ascending };
        assert_eq!(list.sort, [key(SortBy::Path, false), key(SortBy::Modified, false), key(SortBy::Title, true)]);
        assert!(request(&["--sort=size"]).is_err());
    }

    #[test]
    fn short_options_take_their_value_at_once() {
        let list = request(&["-Mr", "-n5", "-mx", "-r", "-L", "a.md", "-lb.md"]).expect("valid");
        assert_eq!(list.limit, None, "left to the search");
        assert_eq!(list.filter.values(ConditionKind::LinkedBy), ["a.md"]);
        assert_eq!(list.filter.values(ConditionKind::LinkTo), ["b.md"]);
        assert_eq!(request(&["-n0"]).expect("valid").limit, None);
    }

    /// Checks that every recorded command line is parsed, and that the two that zk refuses are refused here.
    #[test]
    fn recorded_command_lines_are_read() {
        let recorded: serde_json::Value =
            serde_json::from_str(include_str!("../../../tests/vectors/zk/expected.json")).expect("valid");
        for case in recorded["cases"].as_array().expect("cases") {
            let arguments: Vec<&str> =
                case["args"].as_array().expect("args").iter().filter_map(serde_json::Value::as_str).collect();
            match request(&arguments) {
                Ok(_) => assert!(case["rc"] == 0 || arguments == ["--linked-by=nope"], "{arguments:?}"),
                Err(BadUse(message)) => {
                    assert_eq!(case["rc"], 1, "{arguments:?}");
                    let lines: Vec<&str> =
                        case["stderr"].as_array().expect("lines").iter().filter_map(|line| line.as_str()).collect();
                    assert_eq!(crate::error_text(&message), lines.join("\n") + "\n");
                }
            }
        }
    }

    #[test]
    fn other_commands_are_read() {
        let run = |line: &str| parse(line.split_whitespace().map(OsString::from));
        for line in [
            "new --no-input -i -p -t T --template fact.md --extra a=b,c=d facts",
            "--notebook-dir /n tag list --format json --sort note-count-",
            "graph --format json --tag x",
            "init --no-input DIR",
            "index -f -v -q",
            "-W /x list --header [ --delimiter , --footer ]",
            "list --help",
        ] {
            assert!(run(line).is_ok(), "{line}: {:?}", run(line).err());
        }
        assert!(run("graph").is_err());
        assert!(run("edit").is_err());
    }
}
