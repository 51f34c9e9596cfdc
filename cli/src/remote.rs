//! [`Address`]: a store that is not a folder of this machine. A build without the features `s3` and `postgres` opens none.

#[cfg(feature = "remote")]
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
#[cfg(feature = "remote")]
use std::sync::{Mutex, PoisonError};

use saddlebag::protocol::ErrorCode;
use saddlebag_host::Remote;

use crate::failure::Failure;

/// Address of a store.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    #[cfg(feature = "remote")]
    address: saddlebag_remote::Address,
    /// Folder for copies of large objects.
    #[cfg(feature = "remote")]
    cache: Option<PathBuf>,
    /// Without the features, there is no address.
    #[cfg(not(feature = "remote"))]
    never: std::convert::Infallible,
}

/// Returns the address that a root is meant as; `None` if it is the path of a folder.
pub(crate) fn address(root: &Path) -> Option<Result<Address, Failure>> {
    let text = root.to_str().filter(|text| is_meant(text))?;
    Some(parse(text))
}

/// Returns true if a text begins like a URL. A letter alone before `://` is a drive.
fn is_meant(text: &str) -> bool {
    ["s3:", "postgres:", "postgresql:"].iter().any(|scheme| text.starts_with(scheme))
        || text.split_once("://").is_some_and(|(scheme, _)| {
            scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        })
}

#[cfg(feature = "remote")]
fn parse(text: &str) -> Result<Address, Failure> {
    text.parse().map(|address| Address { address, cache: None }).map_err(|error: saddlebag_remote::AddressError| {
        let help = match error {
            saddlebag_remote::AddressError::Password => {
                "give the password in PGPASSWORD, or the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            }
            _ => "a store is s3://BUCKET/FOLDER or postgres://HOST/DATABASE?space=NAME",
        };
        Failure::usage(error.to_string(), help)
    })
}

#[cfg(not(feature = "remote"))]
fn parse(_: &str) -> Result<Address, Failure> {
    let message = "this program was built without stores on other machines";
    Err(Failure::new(
        ErrorCode::Storage,
        message,
        "an address is s3://BUCKET/FOLDER or postgres://HOST/DATABASE?space=NAME; build the program with `cargo install saddlebag-cli --features s3,postgres`",
    ))
}

impl Address {
    /// Opens the store once in a process. Creates a missing store, with a warning, because the address may be mistyped.
    #[cfg(feature = "remote")]
    pub(crate) fn attach(&self) -> Result<Remote, Failure> {
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (self.to_string(), self.cache.clone());
        if let Some(found) = opened.get(&key) {
            return Ok(found.clone());
        }
        let remote = match self.open(false) {
            Err(saddlebag_remote::AttachError::NoStore) => {
                let made = self.open(true).map_err(|error| failure(&error))?;
                crate::output::warn(&format!("there was no store at {self}, so an empty one was made"));
                made
            }
            found => found.map_err(|error| failure(&error))?,
        };
        opened.insert(key, remote.clone());
        Ok(remote)
    }

    #[cfg(feature = "remote")]
    fn open(&self, create: bool) -> Result<Remote, saddlebag_remote::AttachError> {
        let options = saddlebag_remote::AttachOptions { create, cache: self.cache.clone() };
        saddlebag_remote::attach(&self.address, &options)
    }

    /// Returns the address with a folder for copies of large objects.
    #[cfg(feature = "remote")]
    pub(crate) fn with_cache(self, cache: Option<PathBuf>) -> Self {
        Self { cache, ..self }
    }

    #[cfg(not(feature = "remote"))]
    pub(crate) fn with_cache(self, _: Option<PathBuf>) -> Self {
        self
    }

    /// Opens the store, and changes nothing there; `None` if there is none.
    #[cfg(feature = "remote")]
    pub(crate) fn existing(&self) -> Result<Option<Remote>, Failure> {
        match self.open(false) {
            Err(saddlebag_remote::AttachError::NoStore) => Ok(None),
            found => found.map(Some).map_err(|error| failure(&error)),
        }
    }

    #[cfg(not(feature = "remote"))]
    pub(crate) fn existing(&self) -> Result<Option<Remote>, Failure> {
        match self.never {}
    }

    #[cfg(not(feature = "remote"))]
    pub(crate) fn attach(&self) -> Result<Remote, Failure> {
        match self.never {}
    }

    /// Tries what a store relies on: each property, and whether the server has it.
    #[cfg(feature = "remote")]
    pub(crate) fn probe(&self) -> Result<Vec<(&'static str, bool)>, Failure> {
        let tried = saddlebag_remote::probe(&self.address).map_err(|error| failure(&error))?;
        Ok(tried.into_iter().map(|probed| (probed.property, probed.holds)).collect())
    }

    #[cfg(not(feature = "remote"))]
    pub(crate) fn probe(&self) -> Result<Vec<(&'static str, bool)>, Failure> {
        match self.never {}
    }
}

/// Stores that this process has opened, by address and folder of copies. Many commands open their store several times.
#[cfg(feature = "remote")]
static OPENED: Mutex<BTreeMap<(String, Option<PathBuf>), Remote>> = Mutex::new(BTreeMap::new());

#[cfg(feature = "remote")]
fn failure(error: &saddlebag_remote::AttachError) -> Failure {
    Failure::new(ErrorCode::Storage, error.to_string(), error.help())
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[cfg(feature = "remote")]
        return self.address.fmt(f);
        #[cfg(not(feature = "remote"))]
        match (self.never, f) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_not_meant_as_an_address() {
        assert!(is_meant("s3://b"));
        assert!(is_meant("http://b"));
        assert!(is_meant("s3:b"));
        for folder in ["notes", "./s3:/b", "C:\\notes", "c://notes", "/a://b"] {
            assert!(!is_meant(folder), "{folder}");
        }
    }
}
