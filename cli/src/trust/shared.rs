//! Parts of the output that `pending` and `approve` share with others.

use saddlebag::approval::PendingItem;
use saddlebag::document::normalize_line;
use saddlebag::trust::Flag;

use crate::failure::Failure;
use crate::output::{Output, STRONG, shown};

pub(super) fn print_item(item: &PendingItem, output: &mut Output) -> Result<(), Failure> {
    let source = item.source.as_ref().map(|source| format!(", from {}", shown(source))).unwrap_or_default();
    let provenance = item.provenance;
    output.styled(STRONG, &format!("{}  ({provenance}{source})  {}", shown(&item.name), shown(&item.path)))?;
    if !item.findings.is_empty() {
        output.line(&format!("  flagged: {}", flags(&item.findings)))?;
    }
    match &item.text {
        Some(text) => {
            for line in text.lines() {
                output.line(&format!("  {}", shown(line)))?;
            }
        }
        None => {
            output.line(&format!("  {}", shown(&normalize_line(&item.preview))))?;
        }
    }
    Ok(())
}

/// Says what becomes of text that has just been imported.
pub(crate) fn note_pending(output: &mut Output) -> Result<(), Failure> {
    output.flush()?;
    output.note("`pending` lists what waits to be approved; until then it goes into no prompt");
    Ok(())
}

/// Flags on one line.
pub(crate) fn flags(flags: &[Flag]) -> String {
    flags.iter().map(|flag| shown(&flag.to_string())).collect::<Vec<_>>().join(", ")
}
