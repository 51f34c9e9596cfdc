//! `open`: opens the file of an item in the program that the desktop uses for it.

use super::path::{Place, place};
use crate::failure::ProgramCode;
use crate::item::ItemName;
use crate::output::single_line;
use crate::prelude::*;

/// Open an item, or the folder `root` or `project`, on the desktop
#[derive(Debug, Args)]
#[command(after_help = example("open \"Load balancer\""))]
pub(crate) struct OpenArgs {
    #[command(flatten)]
    item: ItemName,
}

impl Subcommand for OpenArgs {
    type Json = Place;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let place = place(&self.item, global, output)?;
        if !place.exists() {
            let help = "`saddlebag list` shows what there is".into();
            return Err(Failure { help, ..Failure::nothing(format!("there is no {}", place.shown())) });
        }
        open::that_detached(place.shown()).map_err(|error| {
            let message = format!("no program opened {}: {}", place.shown(), saddlebag_host::io_cause(&error));
            Failure::new(ProgramCode::Input, message, "`saddlebag edit NAME` uses the editor of the terminal")
        })?;
        output.object_or_line(&place, &single_line(&format!("Opened {}", place.shown())))?;
        Ok(Exit::Done)
    }
}
