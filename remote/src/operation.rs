//! Names of operations.

use saddlebag::protocol::FsError;

/// Returns a name that no other operation has.
pub(crate) fn new_operation() -> Result<String, FsError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| FsError::Other("the system has no random numbers".into()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
