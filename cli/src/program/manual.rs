//! `completions man`: writes a manual page for each command.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Command;
use clap_mangen::Man;

use crate::failure::Exit;
use crate::failure::ProgramCode;
use crate::prelude::*;

/// Manual pages of the program.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Pages {
    /// Pages, with the program's own page first.
    pages: Vec<Page>,
}

/// Manual page of one command.
#[derive(Serialize, JsonSchema)]
struct Page {
    /// File name of the page, such as `saddlebag-note-list.1`.
    name: String,
    /// Text of the page for `man`; only without --out.
    #[serde(skip_serializing_if = "Option::is_none")]
    roff: Option<String>,
}

/// Prints the page of a command line, or writes the pages of all its commands to a folder.
pub(super) fn write(mut command: Command, folder: Option<PathBuf>, output: &mut Output) -> Result<Exit, Failure> {
    command.build();
    let Some(folder) = folder else {
        let page = page(&command)?;
        match output.is_json() {
            true => output.object(&Pages { pages: vec![page] })?,
            false => output.text(&page.roff.unwrap_or_default())?,
        }
        return Ok(Exit::Done);
    };
    fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
    let mut pages = Vec::new();
    for Page { name, roff } in pages_of(&command)? {
        let path = folder.join(&name);
        fs::write(&path, roff.unwrap_or_default()).map_err(|error| unwritable(&path, &error))?;
        pages.push(Page { name, roff: None });
    }
    let line = format!("Wrote {} pages to {}", pages.len(), folder.display());
    output.object_or_line(&Pages { pages }, &line)?;
    Ok(Exit::Done)
}
/// Returns the page of a command, followed by the pages of its subcommands.
fn pages_of(command: &Command) -> Result<Vec<Page>, Failure> {
    let mut pages = vec![page(command)?];
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        pages.extend(pages_of(below)?);
    }
    Ok(pages)
}

fn page(command: &Command) -> Result<Page, Failure> {
    let mut roff = Vec::new();
    // A page has what `--help` says: clap_mangen leaves out the text of what `-h` hides.
    let man = Man::new(command.clone().mut_args(|argument| argument.hide_short_help(false)));
    man.render(&mut roff)?;
    Ok(Page { name: man.get_filename(), roff: Some(String::from_utf8_lossy(&roff).into_owned()) })
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot write `{}`: {}", path.display(), saddlebag_host::io_cause(error));
    Failure::new(ProgramCode::Output, message, "name another folder with --out")
}
