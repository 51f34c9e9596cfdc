//! `file path`: prints the path of a file or folder. Nothing is opened or created.

use core::str::FromStr;
use std::path::{MAIN_SEPARATOR, MAIN_SEPARATOR_STR, PathBuf};

use clap::Args;
use saddlebag::journal::{Target, TargetRole};
use saddlebag::protocol::{Error, ErrorCode};
use saddlebag::store::{Date, Layout, NOTE_SUFFIX, NoteName, PathError, ProjectSlug, RelPath};
use saddlebag_host::{OpenError, now};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::input::{shown_path, target};
use crate::output::Output;
use crate::store::{Root, named_project};
use crate::subcommand::Subcommand;

/// Print the absolute path of a file or folder, without creating it
#[derive(Debug, Args)]
#[command(after_help = example("file path daily"))]
pub(crate) struct PathArgs {
    /// root, project, long_term (or long), scratchpad, daily, daily:YYYY-MM-DD, note:NAME, or a path that another command
    /// printed [default: root]
    #[arg(value_parser = shown_path)]
    target: Option<String>,
}

/// Path of a file or folder of memory.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Place {
    /// Absolute path.
    path: String,
    /// Absolute path of the store's root.
    root: String,
    /// Slug of the project; `null` for the notebook.
    project: Option<String>,
    /// Path below the root; `null` for the root.
    relative: Option<String>,
}

impl Subcommand for PathArgs {
    type Json = Place;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let place = place(self, global)?;
        output.object_or_line(&place, &place.path)?;
        Ok(Exit::Done)
    }
}

fn place(args: PathArgs, global: &Global) -> Result<Place, Failure> {
    let root = Root::from_options(global)?;
    let folder = match std::fs::canonicalize(root.path()) {
        Ok(_) if !root.path().is_dir() => return Err(root.failure(&OpenError::NotDirectory(root.path().into()))),
        Ok(folder) => plain(folder),
        Err(_) if root.is_made() => root.path().to_path_buf(),
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => {
            return Err(root.failure(&OpenError::Missing(root.path().into())));
        }
        Err(source) => return Err(root.failure(&OpenError::Unusable { path: root.path().into(), source })),
    };
    let slug = crate::project::opened(global, &named_project(global));
    let below = below(args, slug.as_deref(), global)?;
    let path = match &below {
        Some(below) => folder.join(below.as_str().replace('/', MAIN_SEPARATOR_STR)),
        None => folder.clone(),
    };
    Ok(Place {
        path: path.display().to_string(),
        root: folder.display().to_string(),
        project: slug,
        relative: below.map(|below| below.to_string()),
    })
}

/// Returns the path below the root, or `None` for the root itself.
fn below(args: PathArgs, slug: Option<&str>, global: &Global) -> Result<Option<RelPath>, Failure> {
    let refused = |slug: String| Failure::new(ErrorCode::InvalidName, format!("`{slug}` is not a project slug"), "");
    let slug = slug.map(ProjectSlug::from_str).transpose().map_err(refused)?;
    let layout =
        Layout::new(slug.as_ref()).map_err(|error| Failure::new(ErrorCode::InvalidName, error.to_string(), ""))?;
    let layout = layout.with_long_term(global.long_term());
    let target = match args.target.as_deref() {
        None | Some("root") => return Ok(None),
        Some("project") => return Ok(layout.project_folder().cloned()),
        Some(word) => target(word, TargetRole::Target)?,
    };
    Ok(Some(match target {
        Target::LongTerm => layout.long_term().clone(),
        Target::Scratchpad => layout.scratchpad().clone(),
        // Other commands print paths below the root. Any other path is below the notebook.
        Target::Note(path) if path.contains('/') && path.ends_with(NOTE_SUFFIX) => match RelPath::new(path.clone()) {
            Ok(whole) if layout.below_notebook(&whole).is_some() => whole,
            _ => layout.in_notebook(&path).map_err(|error| not_a_page(&path, &error))?,
        },
        Target::Note(name) => layout.note(&NoteName::from_str(&name).map_err(Error::from)?),
        // Replies show this path for a file outside the project's notebook.
        Target::Page(path) if path == layout.shared_long_term().as_str() => layout.shared_long_term().clone(),
        Target::Page(path) => layout.in_notebook(&path).map_err(|error| not_a_page(&path, &error))?,
        Target::Daily(Some(date)) => layout.daily(Date::parse(&date).ok_or_else(|| not_a_date(&date))?),
        Target::Daily(None) => {
            let local = global.now.unwrap_or_else(now).local();
            let local = local
                .ok_or_else(|| Failure::new(ErrorCode::InvalidDate, "the clock has no date", "set it, or use --now"))?;
            layout.daily(local.date())
        }
    }))
}

fn not_a_page(path: &str, error: &PathError) -> Failure {
    let message = format!("`{}` is not the path of a page: {error}", path.escape_debug());
    Failure::new(ErrorCode::InvalidName, message, "give a path as `saddlebag note list` prints it")
}

fn not_a_date(text: &str) -> Failure {
    let message = format!("`{}` is not a day of the calendar", text.escape_debug());
    Error::new(ErrorCode::InvalidDate, message, "a date is YYYY-MM-DD; an example is 2026-05-30").into()
}

/// Removes the prefix of a canonical Windows path such as `\\?\C:\x`, which few programs accept.
fn plain(path: PathBuf) -> PathBuf {
    let stripped = path.to_str().and_then(|text| text.strip_prefix(r"\\?\")).filter(|rest| !rest.starts_with("UNC"));
    match stripped {
        Some(stripped) if MAIN_SEPARATOR == '\\' => PathBuf::from(stripped),
        _ => path,
    }
}
