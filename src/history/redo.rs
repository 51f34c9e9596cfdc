//! The half of `undo` that makes what was undone again.

use super::list_operations::operations;
use super::revert::{Left, Reverted};
use super::types::{OperationInfo, check_is_kept};
use super::undo::{MAX_NAMED, SkippedOperation, Took, UndoReply, finish, is_lasting};
use super::unmade::read_settled;
use crate::names::Stores;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Makes the operations of the last undo again, unless others add to the history meanwhile. A second redo makes those of the
/// undo before it again.
pub(super) async fn redo(with: &Stores<'_>, dry_run: bool) -> Result<UndoReply, Error> {
    let call = with.call;
    check_is_kept(call)?;
    call.scope.trust.check_person("make again what was undone")?;
    let history = read_settled(with, dry_run).await?;
    let undone = history.undone();
    let is_in_force = |info: &OperationInfo| info.undoes.iter().any(|operation| undone.contains(&operation.as_str()));
    let all = operations(with, &history, &|_, _| true);
    let mut reverted = Reverted::new(&history);
    let mut skipped: Vec<SkippedOperation> = Vec::new();
    let mut first_error = None;
    for undo in all.iter().rev().filter(|info| is_in_force(info)) {
        let named: Vec<&str> = undo.undoes.iter().map(String::as_str).take(MAX_NAMED).collect();
        let refusal = format!("operation {} cannot be made again", named.join(", "));
        let left = match reverted.take_back(with, &history, &undo.operation, true, &refusal).await {
            // What was expunged or rejected for good since cannot come back, and must not keep the undo before it.
            Err(error) if is_lasting(error.code) && error.code != ErrorCode::Conflict => {
                let undone = all.iter().filter(|info| undo.undoes.contains(&info.operation)).cloned();
                let reason = |info| SkippedOperation { operation: info, reason: error.message.clone() };
                skipped.extend(undone.map(reason));
                first_error = first_error.or(Some(error));
                continue;
            }
            // Undoing the later change would make that the next one to redo, and take the newer text away.
            Err(error) if error.code == ErrorCode::Conflict => {
                let help = "leave the file as it is, or look for the version that you want with `history NAME` and bring it \
                            back with `restore NAME --at N`";
                return Err(Error::new(error.code, error.into_message(), help));
            }
            left => left?,
        };
        if left == Left::Something {
            let redoes = undo.undoes.clone();
            let made = all.iter().rev().filter(|info| redoes.contains(&info.operation)).cloned().collect();
            let took = Took { words: ["Made again", "would make again"], undoes: Vec::new(), redoes, skipped };
            return finish(with, &history, reverted, made, took, dry_run).await;
        }
    }
    let nothing = || Error::new(ErrorCode::NotFound, "there is nothing to redo", "`op log` lists the operations");
    Err(first_error.unwrap_or_else(nothing))
}
