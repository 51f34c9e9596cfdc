//! [`AttachError`]: why a store cannot be opened.

/// Reason why a store cannot be opened. No text of it contains a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// This build has no support for stores of this scheme.
    #[error("this program was built without support for {0}://")]
    NotBuilt(&'static str),
    /// The server cannot be reached.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// The server refuses the credentials, or there are none.
    #[error("the server refuses the credentials: {0}")]
    Denied(String),
    /// The role of a database lacks a privilege.
    #[error("the role of the database may not do this: {0}")]
    Privilege(String),
    /// The bucket or the database does not exist.
    #[error("{0} does not exist")]
    Missing(String),
    /// There is no store at the address.
    #[error("there is no store at this address")]
    NoStore,
    /// The server does not keep a condition on which a store relies, so two machines would overwrite each other.
    #[error("the server cannot keep a store: it does not do this: {0}")]
    Unfit(&'static str),
    /// Something else is at the address.
    #[error("{0} is not empty, and is not a store")]
    Occupied(String),
    /// A newer program has changed the layout of the store.
    #[error("the store has layout {found}, and this program knows layouts up to {known}")]
    Newer {
        /// Layout of the store.
        found: u64,
        /// Newest layout that this program knows.
        known: u64,
    },
    /// The folder for copies of objects cannot be used.
    #[error("the cache `{}` cannot be used: {cause}", folder.display())]
    Cache {
        /// The folder.
        folder: std::path::PathBuf,
        /// What the file system says.
        cause: String,
    },
    /// Another failure.
    #[error("{0}")]
    Other(String),
}

impl AttachError {
    /// Returns what a person can do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotBuilt(_) => "build the program with --features s3,postgres",
            Self::Unreachable(_) => {
                "check the address and the network; a bucket that is not at AWS needs AWS_ENDPOINT_URL"
            }
            Self::Denied(_) => {
                "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or PGUSER and PGPASSWORD"
            }
            Self::Privilege(_) => {
                "connect once as the owner of the tables, who makes and changes them; others need SELECT on saddlebag_file, \
                 saddlebag_layout and saddlebag_operation"
            }
            Self::NoStore => "check the address; `saddlebag copy` brings a store there",
            Self::Missing(_) => "create it first; a store creates neither buckets nor databases",
            Self::Unfit(_) => "use a server with conditional writes; docs/remote.md has a list",
            Self::Occupied(_) => "name an empty folder of the bucket, such as s3://BUCKET/memory",
            Self::Newer { .. } => "use the newest version of saddlebag",
            Self::Cache { .. } => "name a folder that only you can write, or leave out --cache",
            Self::Other(_) => "correct the cause and try again",
        }
    }
}
