//! `setup --templates`: creates the folders, the configuration and the templates of a notebook.

use crate::prelude::*;
use saddlebag::notebook::InitNotebook;

/// Creates what the notebook lacks, and says what it created.
pub(super) fn create(global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let reply = Store::open(global)?.call(InitNotebook, output)?;
    output.object_or_line(&reply, reply.message.as_str())?;
    Ok(Exit::Done)
}
