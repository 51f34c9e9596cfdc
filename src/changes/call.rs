//! [`Call`]: the environment of one command.

use atomic_refcell::AtomicRefCell;

use super::change::{Change, File};
use super::operation::Recorder;
use super::policy::InputPolicy;
use crate::engine::{Fs, Scope};
use crate::store::{LocalTime, RelPath, SESSION_STATE_SUFFIX, SESSION_STATES};
use crate::trust::{Provenance, RejectedValues, Writer, sha256};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::head;
use saddlebag_protocol::{self as protocol, Error, View};

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
    /// Rejected values, read once per command.
    pub(super) rejected: Arc<AtomicRefCell<Option<Arc<RejectedValues>>>>,
}

impl Call {
    /// Returns the file with the state of the session of an agent.
    pub(crate) fn session_state(&self, session: &str) -> Result<RelPath, Error> {
        let digest = sha256(session);
        let file = format!("{SESSION_STATES}/{}{SESSION_STATE_SUFFIX}", head(&digest, 32));
        let path = self.scope.layout.in_notebook(&file);
        path.map_err(|error| Error::internal(format!("the path of the state of a session: {error}")))
    }

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
        let fs = Fs::new(operations.clone());
        Ok(Self { fs, operations, scope, now, screen, writer, recorder, rejected: Arc::default() })
    }

    /// Returns the call for text of this provenance, as [`new`](Self::new) makes it.
    pub(crate) fn of_provenance(&self, asked: Option<Provenance>) -> Result<Self, Error> {
        self.with(self.scope.clone(), asked)
    }

    /// Returns the call for another scope of the store.
    pub(crate) fn of_scope(&self, scope: Scope) -> Result<Self, Error> {
        self.with(Arc::new(scope), None)
    }

    fn with(&self, scope: Arc<Scope>, asked: Option<Provenance>) -> Result<Self, Error> {
        let (operations, writer) = (self.operations.clone(), self.writer.clone());
        let call = Self::new(operations, scope, self.now, asked, writer, self.recorder.clone())?;
        Ok(Self { rejected: self.rejected.clone(), ..call })
    }

    /// Returns the call at an earlier time, whose index is not that of the store.
    pub(crate) fn at(self, then: LocalTime) -> Self {
        let scope = Scope { index_file: false, ..Scope::clone(&self.scope) };
        Self { now: then, scope: Arc::new(scope), ..self }
    }

    /// Shows the command other files from now on.
    pub(crate) fn show(&self, view: Arc<dyn View>) {
        self.operations.show(view);
    }

    /// Edits a file. A note with frontmatter that an agent edits says so from then on, as one that it writes does.
    ///
    /// # Errors
    ///
    /// What [`InputPolicy::edit`] refuses, and a name with a secret in it.
    pub(crate) fn edit(&self, file: &File, after: String) -> Result<Change, Error> {
        self.screen.edit(file, after, &self.signature()?)
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
