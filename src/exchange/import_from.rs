//! `import-from`: takes files of another format in.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::format::Format;
use super::read_files::read_files;
use super::types::{ExchangeCall, ForeignFile, RejectedPart};
use crate::entries::{self, Adoption, ExchangedEntry, MAX_IMPORT_BYTES, MAX_IMPORT_FILES, MAX_IMPORTED};
use crate::protocol::{Error, ErrorCode};
use crate::request::{Effect, Request, Run};

/// How long the name of the place that files come from may be, in bytes.
pub const MAX_PLACE_BYTES: usize = 4_096;

/// Takes files of another format in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportFrom {
    /// What they are.
    pub format: Format,
    /// Where they are, as the sources of the entries are to say it; at most [`MAX_PLACE_BYTES`]. The same place
    /// needs the same name each time.
    pub place: String,
    /// At most 1,024, with 4 MiB together.
    pub files: Vec<ForeignFile>,
    /// The paths of the files that other commands of this import have.
    pub others: Vec<String>,
    /// Only says what would come of it.
    pub dry_run: bool,
    /// What came of the files before these, at most 65,536.
    pub earlier: Vec<ExchangedEntry>,
}

/// What came of taking files in.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportFromReply {
    /// What was found in them, in order.
    pub entries: Vec<ExchangedEntry>,
    /// What could not be read.
    pub rejected: Vec<RejectedPart>,
}

impl Request for ImportFrom {
    type Reply = ImportFromReply;
    const NAME: &'static str = "import-from";
    const EFFECT: Effect = Effect::Replaces;

    fn samples(name: &str) -> Vec<Self> {
        let content = Ok(format!("- **new**: text\n- **{name}**: another text\n").into_bytes());
        alloc::vec![Self {
            format: Format::OpenClaw,
            place: "there".into(),
            files: alloc::vec![ForeignFile { path: "MEMORY.md".into(), first_line: 1, content }],
            others: Vec::new(),
            dry_run: false,
            earlier: Vec::new(),
        }]
    }
}

impl Run<ExchangeCall<'_>> for ImportFrom {
    async fn run(self, with: &ExchangeCall<'_>) -> Result<ImportFromReply, Error> {
        check_sizes(&self)?;
        let (found, rejected) = read_files(self.format, &self.files, &self.others);
        let adoption = Adoption {
            format: self.format.as_str(),
            origin: &self.place,
            entries: found,
            earlier: &self.earlier,
            dry_run: self.dry_run,
            provenance: with.provenance,
        };
        let entries = entries::adopt(with.call, with.entries, adoption).await?;
        Ok(ImportFromReply { entries, rejected })
    }
}

fn check_sizes(request: &ImportFrom) -> Result<(), Error> {
    let bytes = request.files.iter().filter_map(|file| Some(file.content.as_ref().ok()?.len())).sum();
    for (what, given, limit) in [
        ("files of one command", request.files.len(), MAX_IMPORT_FILES),
        ("bytes of one command", bytes, MAX_IMPORT_BYTES),
        ("files of the import", request.others.len(), MAX_IMPORTED),
        ("entries of the import", request.earlier.len(), MAX_IMPORTED),
        ("bytes of the place", request.place.len(), MAX_PLACE_BYTES),
    ] {
        if given > limit {
            let message = format!("{given} {what}, the limit is {limit}: {} too many", given - limit);
            return Err(Error::new(ErrorCode::TooLarge, message, "import in parts; nothing was changed"));
        }
    }
    Ok(())
}
