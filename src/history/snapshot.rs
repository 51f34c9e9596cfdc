//! `snapshot`: names a point in the history.

use super::types::check_is_kept;
use crate::changes::history_of;
use crate::names::Stores;
use crate::origin::MAX_REASON_BYTES;
use crate::request::{Run, request};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Names a point in the history: records an operation without changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Name of the point: 1 to [`MAX_REASON_BYTES`] bytes.
    pub message: String,
}

/// A point in the history.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SnapshotTaken {
    /// Identifier of the operation.
    pub operation: String,
    /// Summary.
    pub message: String,
}

request!(Snapshot "snapshot" => SnapshotTaken, Appends, |name| vec![Self { message: name.into() }]);

impl Run<Stores<'_>> for Snapshot {
    async fn run(self, with: &Stores<'_>) -> Result<SnapshotTaken, Error> {
        let call = with.call;
        check_is_kept(call)?;
        call.scope.trust.check_person("take a snapshot")?;
        let size = self.message.len();
        if !(1..=MAX_REASON_BYTES).contains(&size) {
            let help = format!("1 to {MAX_REASON_BYTES} bytes");
            return Err(Error::invalid_argument(format!("the name of the snapshot has {size} bytes"), help));
        }
        let folder = history_of(call.scope.layout.scratchpad())?;
        let Some(operation) = call.record_point(&folder, self.message).await? else {
            let help = "`history --policy on` turns the record on";
            return Err(Error::new(ErrorCode::NotPermitted, "changes are not recorded", help));
        };
        let message = format!("Snapshot {operation}; `op restore {operation}` goes back to it");
        Ok(SnapshotTaken { operation, message })
    }
}
