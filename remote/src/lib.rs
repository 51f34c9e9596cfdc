//! Stores that several machines reach: S3-compatible buckets (feature `s3`) and PostgreSQL (feature `postgres`).
//!
//! [`attach`] opens the store at an [`Address`]. What it returns performs the same operations with the same promises as a
//! folder of the local disk.
//!
//! `docs/remote.md` describes what is kept in a bucket and in a database, and what each server must be able to do.

mod address;
#[cfg(any(feature = "s3", feature = "postgres"))]
mod blocking;
#[cfg(any(feature = "s3", feature = "postgres"))]
mod deadline;
mod error;
#[cfg(feature = "s3")]
mod objects;
#[cfg(any(feature = "s3", feature = "postgres"))]
mod operation;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(any(feature = "s3", feature = "postgres"))]
mod store;
mod types;

pub use address::{Address, AddressError};
pub use error::AttachError;
#[cfg(feature = "s3")]
pub use object_store::ObjectStore;
use saddlebag_host::Remote;
pub use types::{AttachOptions, GRACE, Maintained, Probed};

/// Opens the store at an address.
///
/// # Errors
///
/// The server cannot be reached, refuses the credentials, does not keep what a store relies on, or has something else at
/// the address. There is no store, and none is to be created. The cache cannot be used.
#[allow(unused_variables, reason = "a build may have neither feature")]
pub fn attach(address: &Address, options: &AttachOptions) -> Result<Remote, AttachError> {
    match address {
        #[cfg(feature = "s3")]
        Address::Bucket { bucket, prefix } => objects::attach(bucket, prefix, address, options),
        #[cfg(feature = "postgres")]
        Address::Database { url, space } => postgres::attach(url, space, address, options.create),
        #[allow(unreachable_patterns, reason = "a build may have both features")]
        _ => Err(AttachError::NotBuilt(address.scheme())),
    }
}

/// Removes what the store at an address no longer needs, if it is older than `grace`: tombstones in a bucket, and names of
/// operations in a database, for at least a day. Others may use the store meanwhile.
///
/// # Errors
///
/// Those of [`attach`], which creates nothing.
#[allow(unused_variables, reason = "a build may have neither feature")]
pub fn maintain(address: &Address, grace: std::time::Duration, dry_run: bool) -> Result<Maintained, AttachError> {
    match address {
        #[cfg(feature = "s3")]
        Address::Bucket { bucket, prefix } => objects::maintain(bucket, prefix, address, grace, dry_run),
        #[cfg(feature = "postgres")]
        Address::Database { url, .. } => postgres::maintain(url, grace, dry_run),
        #[allow(unreachable_patterns, reason = "a build may have both features")]
        _ => Err(AttachError::NotBuilt(address.scheme())),
    }
}

/// Tries what a store relies on, and removes what it wrote for that.
///
/// # Errors
///
/// The server cannot be reached or refuses the credentials.
pub fn probe(address: &Address) -> Result<Vec<Probed>, AttachError> {
    match address {
        #[cfg(feature = "s3")]
        Address::Bucket { bucket, prefix } => objects::probe(bucket, prefix),
        #[cfg(feature = "postgres")]
        Address::Database { url, .. } => postgres::probe(url),
        #[allow(unreachable_patterns, reason = "a build may have both features")]
        _ => Err(AttachError::NotBuilt(address.scheme())),
    }
}

/// Opens the store in `prefix` of an object store. For tests, and for object stores other than S3.
///
/// # Errors
///
/// Those of [`attach`].
#[cfg(feature = "s3")]
pub fn attach_objects(store: std::sync::Arc<dyn ObjectStore>, prefix: &str) -> Result<Remote, AttachError> {
    objects::attach_to(store, prefix, "memory", prefix.to_string(), true)
}

/// Returns an empty object store in memory, which lives as long as its owner.
#[cfg(feature = "s3")]
pub fn in_memory() -> std::sync::Arc<dyn ObjectStore> {
    std::sync::Arc::new(object_store::memory::InMemory::new())
}
