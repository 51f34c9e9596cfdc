//! The part of `import-items` for files of another format.

use super::format::Format;
use super::read_files::read_files;
use super::types::{ExchangeCall, ForeignFile, RejectedPart};
use crate::entries::{self, Adoption, ExchangedEntry, MAX_IMPORT_BYTES, MAX_IMPORT_FILES, MAX_IMPORTED};
use crate::request::{Run, at_most, request};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Maximum length of the name of the place that files come from, in bytes.
pub const MAX_PLACE_BYTES: usize = 4_096;

/// Imports files of another format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportFrom {
    /// Format of the files.
    pub format: Format,
    /// Place of the files, as the sources of the entries record it; at most [`MAX_PLACE_BYTES`]. Every import from
    /// this place must use the same name.
    pub place: String,
    /// At most 1,024 files with 4 MiB in total.
    pub files: Vec<ForeignFile>,
    /// Paths of the files in other commands of this import.
    pub others: Vec<String>,
    /// If set, only reports what the import would do.
    pub dry_run: bool,
    /// Results of the previous commands of this import, at most 65,536.
    pub earlier: Vec<ExchangedEntry>,
    /// If set, the files are the memory of the project of this memory, and their entries go only into its prompts.
    pub of_project: bool,
}

/// Result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportFromReply {
    /// Results, one per entry, in order.
    pub entries: Vec<ExchangedEntry>,
    /// Parts of the files that could not be read.
    pub rejected: Vec<RejectedPart>,
}

request!(ImportFrom "import-items" => ImportFromReply, Replaces, |name| {
    let content = Ok(format!("- **new**: text\n- **{name}**: another text\n").into_bytes());
    vec![Self {
        format: Format::OpenClaw,
        place: "there".into(),
        files: vec![ForeignFile { path: "MEMORY.md".into(), first_line: 1, content }],
        others: Vec::new(),
        dry_run: false,
        earlier: Vec::new(),
        of_project: false,
    }]
});

impl Run<ExchangeCall<'_>> for ImportFrom {
    async fn run(self, with: &ExchangeCall<'_>) -> Result<ImportFromReply, Error> {
        check_sizes(&self)?;
        let project = with.call.scope.layout.project_name();
        if self.of_project && project.is_none() {
            let help = "open the memory for a project, or import the files for all";
            return Err(Error::invalid_argument("this memory has no project to import into", help));
        }
        let (found, rejected) = read_files(self.format, &self.files, &self.others);
        let adoption = Adoption {
            format: self.format.as_str(),
            origin: &self.place,
            entries: found,
            earlier: &self.earlier,
            dry_run: self.dry_run,
            provenance: with.origin.provenance,
            project: project.filter(|_| self.of_project),
        };
        let entries = entries::adopt(with.call, with.entries, adoption).await?;
        Ok(ImportFromReply { entries, rejected })
    }
}

fn check_sizes(request: &ImportFrom) -> Result<(), Error> {
    let bytes = request.files.iter().filter_map(|file| Some(file.content.as_ref().ok()?.len())).sum();
    at_most("files of one command", request.files.len(), MAX_IMPORT_FILES)?;
    at_most("bytes of one command", bytes, MAX_IMPORT_BYTES)?;
    at_most("files of the import", request.others.len(), MAX_IMPORTED)?;
    at_most("entries of the import", request.earlier.len(), MAX_IMPORTED)?;
    at_most("bytes of the place", request.place.len(), MAX_PLACE_BYTES)
}
