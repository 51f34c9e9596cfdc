//! [`Call`]: the environment of one command.

use alloc::sync::Arc;

use super::operation::Recorder;
use super::policy::InputPolicy;
use crate::engine::{Fs, Scope};
use crate::protocol::{self, Error};
use crate::store::LocalTime;
use crate::trust::{Provenance, Writer};

/// Environment of one command.
#[derive(Clone)]
pub(crate) struct Call {
    /// Reads files. Only the gate can change them.
    pub(crate) fs: Fs,
    pub(super) operations: protocol::Fs,
    pub(crate) scope: Arc<Scope>,
    pub(crate) now: LocalTime,
    /// Policy that every stored text of the command passes.
    pub(crate) screen: InputPolicy,
    /// Names that the origin of the command gives.
    pub(crate) writer: Writer,
    /// Operation that the changes are recorded under; `None`: they are not recorded.
    pub(crate) recorder: Option<Arc<Recorder>>,
}

impl Call {
    /// Creates the call for text of this provenance, which cannot be more trusted than the provenance of the scope.
    /// `None` keeps the provenance of the scope.
    pub(crate) fn new(
        operations: protocol::Fs,
        scope: Arc<Scope>,
        now: LocalTime,
        asked: Option<Provenance>,
        writer: Writer,
        recorder: Option<Arc<Recorder>>,
    ) -> Result<Self, Error> {
        let provenance = scope.trust.provenance_of(asked)?;
        let scope = scope.of_provenance(provenance);
        let screen = InputPolicy::new(scope.trust, scope.layout.clone());
        Ok(Self { fs: Fs::new(operations.clone()), operations, scope, now, screen, writer, recorder })
    }

    /// Returns the call for text of this provenance, as [`new`](Self::new) makes it.
    pub(crate) fn of_provenance(&self, asked: Option<Provenance>) -> Result<Self, Error> {
        Self::new(
            self.operations.clone(),
            self.scope.clone(),
            self.now,
            asked,
            self.writer.clone(),
            self.recorder.clone(),
        )
    }

    /// Returns the call for another scope of the store.
    pub(crate) fn of_scope(&self, scope: Scope) -> Result<Self, Error> {
        Self::new(self.operations.clone(), Arc::new(scope), self.now, None, self.writer.clone(), self.recorder.clone())
    }

    /// Returns the names to sign a stored text with.
    ///
    /// # Errors
    ///
    /// A name with a secret in it.
    pub(crate) fn signature(&self) -> Result<Writer, Error> {
        for (field, name) in self.writer.fields() {
            name.map_or(Ok(()), |name| self.screen.name(field, name))?;
        }
        Ok(self.writer.clone())
    }
}
