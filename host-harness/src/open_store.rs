//! [`OpenStore`]: the store that a memory works on, a folder of the local disk or a remote one.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use saddlebag::protocol::{FsError, FsOp, FsOutcome, RenameOutcome};
use saddlebag::store::RelPath;

use crate::executor::Executor;
use crate::local_dir::LocalDir;

/// An open store.
pub enum OpenStore {
    /// A folder of the local disk.
    Folder(Box<LocalDir>),
    /// A store that several machines reach.
    Remote(Remote),
}

/// A store that several machines reach, such as a bucket or a database.
///
/// Clones are the same store.
#[derive(Clone)]
pub struct Remote {
    /// Performs the operations.
    pub store: Arc<Mutex<dyn Executor + Send>>,
    /// Name of the way in which the store makes versions, as `config.version-scheme` says.
    pub version_scheme: String,
    /// Address of the store, without a password.
    pub address: String,
    /// Number of requests that were sent to the server so far. A database counts one for each operation.
    pub requests: Arc<AtomicU64>,
    /// Lets the server tell of changes; `None` if it cannot.
    pub listen: Option<Listen>,
}

/// Begins to listen to the server of a store, which is never asked then whether anything has changed.
///
/// The function that it gets is called on another thread after each change, also of this process, and when changes may have been
/// missed. A call fails if no thread can be started.
pub type Listen = Arc<dyn Fn(Box<dyn Fn() + Send>) -> Result<(), FsError> + Send + Sync>;

impl OpenStore {
    /// Returns the name of the way in which the store makes versions.
    pub fn version_scheme(&self) -> &str {
        match self {
            Self::Folder(_) => LocalDir::VERSION_SCHEME,
            Self::Remote(remote) => &remote.version_scheme,
        }
    }

    /// Fails if the folder of the store is no longer where it was opened. A remote store has no folder.
    ///
    /// # Errors
    ///
    /// The store was moved, removed or replaced.
    pub fn check_place(&self) -> Result<(), FsError> {
        match self {
            Self::Folder(folder) => folder.check_place(),
            Self::Remote(_) => Ok(()),
        }
    }

    /// Moves a folder to a free name in the same folder, in one step, which a remote store cannot do.
    pub(crate) fn move_folder(&self, from: &RelPath, to: &RelPath) -> Result<RenameOutcome, FsError> {
        match self {
            Self::Folder(folder) => folder.move_folder(from, to),
            Self::Remote(_) => Err(FsError::Unsupported),
        }
    }

    fn executor(&mut self) -> &mut dyn Executor {
        match self {
            Self::Folder(folder) => &mut **folder,
            Self::Remote(remote) => &mut remote.store,
        }
    }
}

impl Executor for OpenStore {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        self.executor().perform(op)
    }

    fn perform_all(&mut self, ops: &[&FsOp]) -> Vec<Result<FsOutcome, FsError>> {
        self.executor().perform_all(ops)
    }
}
