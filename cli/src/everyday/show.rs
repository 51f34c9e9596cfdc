//! `show`: prints an item, or a part of it.

use saddlebag::entries::{EntryInfo, GetEntry};
use saddlebag::files::ReadFile;
use saddlebag::history::{ReadVersion, VersionText};
use saddlebag::journal::{DEFAULT_READ_BYTES, FileState, Read, ReadReply};
use saddlebag::notebook::superseded_mark;
use saddlebag::protocol::ErrorCode;
use saddlebag::store::PROJECTS_FOLDER;
use saddlebag::trust::Provenance;
use saddlebag_host::Project;

use super::path::{Place, show_path};
use crate::item::{ItemName, Named};
use crate::past::AtArgs;
use crate::prelude::*;

/// Print a note, an entry or another file
///
/// `NAME@2` prints the version before the last change, as `history NAME` numbers it.
#[derive(Debug, Args)]
#[command(after_help = example("show \"Load balancer\""))]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    item: ItemName,
    /// Print the absolute path instead; the name may also be `root` or `project`
    #[arg(long, conflicts_with_all = ["offset", "max_bytes", "at"])]
    path: bool,
    /// First byte to print; not for an entry [default: 0]
    #[arg(long, value_name = "BYTES")]
    offset: Option<u64>,
    /// Maximum number of bytes to print; not for an entry [default: 32768]
    #[arg(long, value_name = "BYTES")]
    max_bytes: Option<u32>,
    #[command(flatten)]
    at: AtArgs,
}

/// Part of a note or of another file, an entry, or a path.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is the schema of the replies that are printed")]
pub(crate) enum Shown {
    File(ReadReply),
    Entry(EntryInfo),
    Path(Place),
    Version(VersionText),
}

impl Subcommand for ShowArgs {
    type Json = Shown;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        if self.path {
            return show_path(&self.item, global, output);
        }
        let (offset, max_bytes) = (self.offset.unwrap_or(0), self.max_bytes.unwrap_or(DEFAULT_READ_BYTES));
        let mut store = Store::open(global)?;
        store.look_back(self.at.at.clone());
        let found = match self.item.find(&mut store, output) {
            Err(failure) if failure.code == ErrorCode::NotFound.into() => match self.item.version() {
                Some((name, version)) => {
                    let mut found = store.call(ReadVersion { name, version }, output)?;
                    if let Some(text) = found.text.as_mut() {
                        let end = self
                            .max_bytes
                            .map_or(text.len(), |most| text.len().min((offset as usize).saturating_add(most as usize)));
                        text.truncate(text.floor_char_boundary(end));
                        text.drain(..text.floor_char_boundary(offset as usize));
                    }
                    return show_version(&found, output);
                }
                None => match of_other_project(&self.item.name, global) {
                    // What `recall --everywhere` finds is opened by its path.
                    Some(mut other) if self.at.at.is_none() && self.item.kind.is_none() => {
                        let path = self.item.name.clone();
                        let Ok(part) = other.call(ReadFile { path, offset, max_bytes }, output) else {
                            return Err(failure);
                        };
                        return show_part(&part, output);
                    }
                    _ => return Err(failure),
                },
            },
            found => found?,
        };
        let part = match found {
            Named::Entry(_) if self.offset.is_some() || self.max_bytes.is_some() => {
                let help = "leave --offset and --max-bytes out";
                return Err(Failure::usage("an entry is printed as a whole", help));
            }
            Named::Entry(key) => return show_entry(&store.call(GetEntry { key }, output)?, output),
            Named::Target(target) => store.call(Read { target, offset, max_bytes }, output)?,
            Named::File(path) => store.call(ReadFile { path, offset, max_bytes }, output)?,
        };
        show_part(&part, output)
    }
}

/// Opens the memory of another project, for a person who names a file in it by the path that `recall` prints.
fn of_other_project(path: &str, global: &Global) -> Option<Store> {
    let is_person = global.provenance.is_none_or(|provenance| provenance == Provenance::User);
    let (slug, _) = path.strip_prefix(PROJECTS_FOLDER)?.strip_prefix('/')?.split_once('/').filter(|_| is_person)?;
    Store::for_project(Project::Slug(slug.into()), global).ok()
}

fn show_entry(entry: &EntryInfo, output: &mut Output) -> Result<Exit, Failure> {
    if output.json(entry)? {
        return Ok(Exit::Done);
    }
    output.text(&entry.content)?;
    output.flush()?;
    // Standard output gets only the content, byte for byte.
    if let Some(mark) = superseded_mark(entry.superseded_by.as_deref(), None) {
        output.warning(&mark);
    }
    if let Some(from) = entry.unapproved {
        output.warning(&format!(
            "unapproved: {from}: it does not go into prompts until you approve it with `saddlebag memory approve`"
        ));
    } else if !entry.only_in.is_empty() {
        output.warning(&format!(
            "only in {}: it goes into the prompts of other projects after `saddlebag memory approve`",
            entry.only_in.join(", ")
        ));
    }
    Ok(Exit::Done)
}

fn show_version(version: &VersionText, output: &mut Output) -> Result<Exit, Failure> {
    if output.json(version)? {
        return Ok(if version.text.is_none() { Exit::Nothing } else { Exit::Done });
    }
    match &version.text {
        Some(text) => output.text(text)?,
        None => {
            return Err(Failure::nothing(format!("{} does not exist in version {}", version.path, version.version)));
        }
    }
    Ok(Exit::Done)
}

fn show_part(part: &ReadReply, output: &mut Output) -> Result<Exit, Failure> {
    let is_missing = part.state == FileState::Missing;
    if output.json(part)? {
        return Ok(if is_missing { Exit::Nothing } else { Exit::Done });
    }
    if is_missing {
        return Err(missing(part));
    }
    // The text must not be taken for valid. A part from an offset is for programs.
    if let Some(mark) = superseded_mark(part.superseded_by.as_deref(), part.superseded_since.as_deref())
        && part.offset == 0
    {
        output.line(&format!("({mark})"))?;
    }
    output.text(&part.text)?;
    output.flush()?;
    if part.state == FileState::Empty {
        output.note(&format!("{} is empty", part.path));
    }
    if let Some(next) = part.next_offset {
        output.note(&format!("bytes {} to {next} of {}; --offset {next} shows what follows", part.offset, part.size));
    }
    Ok(Exit::Done)
}

/// Returns the failure for a file that does not exist.
pub(super) fn missing(part: &ReadReply) -> Failure {
    Failure {
        help: "`saddlebag list` shows what there is".into(),
        ..Failure::nothing(format!("there is no {}", part.path))
    }
}
