//! `show`: prints an item, or a part of it.

use saddlebag::items::{Show, Shown};
use saddlebag::journal::{DEFAULT_READ_BYTES, FileState};
use saddlebag::protocol::ErrorCode;
use saddlebag::store::PROJECTS_FOLDER;
use saddlebag::trust::Provenance;
use saddlebag_host::Project;

use super::path::{Place, show_path};
use crate::item::{ItemName, with_kind};
use crate::output::single_line;
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

/// An item, or a path.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, clippy::large_enum_variant, reason = "it is the schema of the replies that are printed")]
pub(crate) enum Printed {
    Item(Shown),
    Path(Place),
}

impl Subcommand for ShowArgs {
    type Json = Printed;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        if self.path {
            return show_path(&self.item, global, output);
        }
        let (offset, max_bytes) = (self.offset.unwrap_or(0), self.max_bytes.unwrap_or(DEFAULT_READ_BYTES));
        let show = Show { offset, max_bytes, ..self.item.show() };
        let mut store = Store::open(global)?;
        store.look_back(self.at.at.clone());
        let found = store.call(show.clone(), output).map_err(with_kind);
        let item = match found {
            Err(failure) if failure.code == ErrorCode::NotFound.into() => {
                // What `recall --everywhere` finds is opened by its path.
                let is_now = self.at.at.is_none() && self.item.kind.is_none();
                let other = of_other_project(&self.item.name, global).filter(|_| is_now);
                let of_other = other.and_then(|mut other| other.call(show, output).ok());
                of_other.ok_or(failure)?
            }
            found => found?,
        };
        if item.entry.is_some() && (self.offset.is_some() || self.max_bytes.is_some()) {
            return Err(Failure::usage("an entry is printed as a whole", "leave --offset and --max-bytes out"));
        }
        show_item(&item, output)
    }
}

/// Opens the memory of another project, for a person who names a file in it by the path that `recall` prints.
fn of_other_project(path: &str, global: &Global) -> Option<Store> {
    let is_person = global.provenance.is_none_or(|provenance| provenance == Provenance::User);
    let (slug, _) = path.strip_prefix(PROJECTS_FOLDER)?.strip_prefix('/')?.split_once('/').filter(|_| is_person)?;
    Store::for_project(Project::Slug(slug.into()), global).ok()
}

fn show_item(item: &Shown, output: &mut Output) -> Result<Exit, Failure> {
    let is_missing = item.state == FileState::Missing;
    if output.json(item)? {
        return Ok(if is_missing { Exit::Nothing } else { Exit::Done });
    }
    if is_missing {
        return Err(missing(item));
    }
    let marks = item.marks.texts().join("; ");
    if let Some(entry) = &item.entry {
        // Standard output gets only the content, byte for byte.
        output.text(&entry.content)?;
        output.flush()?;
    } else {
        // The text must not be taken for valid. A part from an offset is for programs, so its marks are a warning.
        if item.marks.superseded_by.is_some() && item.offset == 0 {
            output.line(&format!("({marks})"))?;
        }
        output.text(&item.text)?;
        output.flush()?;
    }
    if item.marks.is_withheld() {
        let of = if item.marks.unapproved.is_some() { "" } else { " of other projects" };
        let until = format!("it does not go into prompts{of} until you approve it with `saddlebag memory approve`");
        output.warning(&format!("{}: {until}", single_line(&marks)));
    } else if (item.entry.is_some() || item.offset > 0) && !marks.is_empty() {
        output.warning(&single_line(&marks));
    }
    if item.state == FileState::Empty {
        output.note(&format!("{} is empty", item.path));
    }
    if let (Some(next), None) = (item.next_offset, &item.entry) {
        output.note(&format!("bytes {} to {next} of {}; --offset {next} shows what follows", item.offset, item.size));
    }
    Ok(Exit::Done)
}

/// Returns the failure for a file that does not exist.
pub(super) fn missing(item: &Shown) -> Failure {
    let (message, help) = match item.version {
        Some(version) => {
            (format!("{} does not exist in version {version}", item.path), "`history NAME` lists the versions")
        }
        None => (
            format!("there is no {}", item.path),
            "`saddlebag list` shows what there is, and with --forgotten what can be restored",
        ),
    };
    Failure { help: help.into(), ..Failure::nothing(message) }
}
