//! Opens a bucket as a store: its marker, what the server must be able to do, and what an interrupted change left.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::TryStreamExt;
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{ClientOptions, Error, ObjectStore, ObjectStoreExt, RetryConfig};
use saddlebag::protocol::FsError;
use saddlebag_host::Remote;
use serde_json::{Value, json};

use super::credentials;
use super::object::Note;
use super::put::{Condition, Put, cause, innermost};
use super::steps::KEPT;
use super::types::{Objects, new_operation};
use crate::address::Address;
use crate::blocking::{Blocking, runtime};
use crate::error::AttachError;
use crate::types::Probed;

/// Object that makes a folder of a bucket a store.
const MARKER: &str = "saddlebag.json";

/// Folder of what is not a file of the store.
const HOST: &str = "host";

/// Folder of the objects of a probe.
const PROBES: &str = "host/probe";

/// Layout of a store that this program writes, and the newest that it knows.
const LAYOUT: u64 = 1;

/// Number of changes that each of two writers makes in the race of a probe.
const RACE: u32 = 25;

/// Name of the way in which versions are made.
const VERSION_SCHEME: &str = "etag";

/// Age after which bytes that an interrupted change put aside, and that belong nowhere, are deleted.
const LEFT_ALONE: Duration = Duration::from_secs(3600);

/// Opens a folder of a bucket.
pub(crate) fn attach(bucket: &str, prefix: &str, address: &Address) -> Result<Remote, AttachError> {
    let (store, endpoint) = connect(bucket)?;
    attach_to_server(store, prefix, &endpoint, address.to_string())
}

/// Opens a folder of an object store.
pub(crate) fn attach_to(
    store: Arc<dyn ObjectStore>,
    prefix: &str,
    endpoint: &str,
    address: String,
) -> Result<Remote, AttachError> {
    attach_to_server(store, prefix, endpoint, address)
}

/// Tries what a store relies on in a folder of a bucket.
pub(crate) fn probe(bucket: &str, prefix: &str) -> Result<Vec<Probed>, AttachError> {
    let (store, _) = connect(bucket)?;
    let runtime = runtime().map_err(|error| AttachError::Other(error.to_string()))?;
    let mut objects = Objects { store, prefix: prefix.to_string(), bare_etags: false };
    runtime.block_on(objects.probe())
}

fn connect(bucket: &str) -> Result<(Arc<dyn ObjectStore>, String), AttachError> {
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
    if let Some(credentials) = credentials::of_profile() {
        builder = builder.with_access_key_id(credentials.id).with_secret_access_key(credentials.secret);
        if let Some(token) = credentials.token {
            builder = builder.with_token(token);
        }
        if let Some(region) = credentials.region {
            builder = builder.with_region(region);
        }
    }
    let endpoint = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    let options =
        ClientOptions::new().with_connect_timeout(Duration::from_secs(5)).with_timeout(Duration::from_secs(30));
    // Requests to this machine do not cross a network.
    let is_local = endpoint.as_deref().is_some_and(|endpoint| {
        ["http://127.0.0.1", "http://localhost", "http://[::1]"].iter().any(|local| endpoint.starts_with(local))
    });
    let options = if is_local { options.with_allow_http(true) } else { options };
    if let Some(endpoint) = &endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    // Only who sees each failed attempt can tell whether a conflict is with its own write.
    let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    let store = builder.with_client_options(options).with_retry(retry).build();
    let store = store.map_err(|error| AttachError::Other(cause(&error)))?;
    Ok((Arc::new(store), endpoint.unwrap_or_else(|| "aws".into())))
}

fn attach_to_server(
    store: Arc<dyn ObjectStore>,
    prefix: &str,
    endpoint: &str,
    address: String,
) -> Result<Remote, AttachError> {
    let runtime = runtime().map_err(|error| AttachError::Other(error.to_string()))?;
    let mut objects = Objects { store, prefix: prefix.to_string(), bare_etags: false };
    runtime.block_on(objects.open(endpoint, &address))?;
    let store = Box::new(Blocking::new(objects, runtime));
    Ok(Remote { store, version_scheme: VERSION_SCHEME.into(), address })
}

impl Objects {
    async fn open(&mut self, endpoint: &str, address: &str) -> Result<(), AttachError> {
        let key = self.top(MARKER)?;
        let (marker, ()) = futures::future::try_join(self.text(&key), self.finish_interrupted()).await?;
        let marker = match marker {
            None if self.has_other_objects().await? => {
                // Another machine may have made the store just now, and used it.
                let marker = self.text(&key).await?;
                Some(marker.ok_or_else(|| AttachError::Occupied(address.into()))?)
            }
            marker => marker,
        };
        if let Some(marker) = marker {
            return self.read_marker(&marker, endpoint, address).await;
        }
        self.must_be_fit().await?;
        let marker = json!({ "layout": LAYOUT, "endpoint": endpoint, "bare-etags": self.bare_etags });
        let note = Note { operation: new_operation().map_err(other)?, ..Note::default() };
        let text = format!("{marker}\n");
        // Another machine may have been first, with the same marker.
        self.put(&key, Some(text.as_bytes()), &note, Condition::Absent).await.map_err(refused)?;
        Ok(())
    }

    async fn read_marker(&mut self, marker: &str, endpoint: &str, address: &str) -> Result<(), AttachError> {
        let marker: Value = serde_json::from_str(marker).map_err(|_| AttachError::Occupied(address.into()))?;
        let found = marker["layout"].as_u64().ok_or_else(|| AttachError::Occupied(address.into()))?;
        if found > LAYOUT {
            return Err(AttachError::Newer { found, known: LAYOUT });
        }
        // A bucket that was copied to another server has a marker that says nothing about that server.
        if marker["endpoint"] != endpoint {
            return self.must_be_fit().await;
        }
        self.bare_etags = marker["bare-etags"] == true;
        Ok(())
    }

    fn top(&self, name: &str) -> Result<Path, AttachError> {
        let key = if self.prefix.is_empty() { name.to_string() } else { format!("{}/{name}", self.prefix) };
        Path::parse(key).map_err(|error| AttachError::Other(error.to_string()))
    }

    /// Returns the text of an object, and tells what is wrong with the bucket if it cannot be read.
    async fn text(&self, key: &Path) -> Result<Option<String>, AttachError> {
        let found = tokio::time::timeout(Duration::from_secs(15), self.store.get(key)).await;
        match found.map_err(|_| AttachError::Unreachable("it did not answer in 15 seconds".into()))? {
            Ok(found) => {
                let bytes = found.bytes().await.map_err(|error| attach_error(&error))?;
                Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
            }
            // A missing bucket is not found either.
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(attach_error(&error)),
        }
    }

    /// Returns true if there is anything else than what other machines leave while they open the store.
    async fn has_other_objects(&self) -> Result<bool, AttachError> {
        let prefix = (!self.prefix.is_empty()).then(|| Path::parse(&self.prefix)).transpose();
        let prefix = prefix.map_err(|error| AttachError::Other(error.to_string()))?;
        let own = self.top(HOST)?;
        let mut objects = self.store.list(prefix.as_ref());
        while let Some(object) = objects.try_next().await.map_err(|error| attach_error(&error))? {
            if !object.location.prefix_matches(&own) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn must_be_fit(&mut self) -> Result<(), AttachError> {
        let missing = self.probe().await?.into_iter().find(|probed| !probed.holds);
        missing.map_or(Ok(()), |missing| Err(AttachError::Unfit(missing.property)))
    }

    /// Tries what a store relies on, and finds out how the server wants ETags.
    pub(super) async fn probe(&mut self) -> Result<Vec<Probed>, AttachError> {
        let operation = new_operation().map_err(other)?;
        let key = self.key(PROBES, &operation).map_err(other)?;
        let tried = self.try_all(&key, &operation).await;
        let deleted = self.delete(&key).await;
        let tried = tried.map_err(refused)?;
        deleted.map_err(refused)?;
        Ok(tried)
    }

    async fn try_all(&mut self, key: &Path, operation: &str) -> Result<Vec<Probed>, FsError> {
        let note = Note { operation: operation.to_string(), ..Note::default() };
        let mut tried = Vec::new();
        let mut say = |property, holds| {
            tried.push(Probed { property, holds });
            holds
        };
        let created = confirmed(self.put(key, Some(b"0"), &note, Condition::Absent).await?)?;
        let Put::Done(first) = created else {
            say("create an object", false);
            return Ok(tried);
        };
        say("create an object", true);
        let kept = self.fetch(key).await?;
        say("keep metadata", kept.is_some_and(|object| object.note == note));
        let again = self.try_put(key, b"x", Condition::Absent).await?;
        say("refuse to create an object that exists", again == Put::Lost);
        let mut second = self.try_put(key, b"1", Condition::Is(&first)).await?;
        if second == Put::Lost {
            self.bare_etags = true;
            second = self.try_put(key, b"1", Condition::Is(&first)).await?;
        }
        let Put::Done(_) = second else {
            say("replace the version that is there", false);
            return Ok(tried);
        };
        say("replace the version that is there", true);
        let stale = self.try_put(key, b"x", Condition::Is(&first)).await?;
        if !say("refuse to replace another version", stale == Put::Lost) {
            return Ok(tried);
        }
        let unconfirmed = futures::future::try_join(self.count_up(key), self.count_up(key)).await?;
        let most = 1 + 2 * RACE;
        let least = most - unconfirmed.0 - unconfirmed.1;
        let counted = self.fetch(key).await?.and_then(|object| String::from_utf8(object.file?).ok()?.parse().ok());
        say("decide races of two writers", counted.is_some_and(|counted| (least..=most).contains(&counted)));
        let listed = self.listed(key).await?;
        say("list what was written", listed);
        Ok(tried)
    }

    async fn try_put(&self, key: &Path, bytes: &[u8], condition: Condition<'_>) -> Result<Put, FsError> {
        let note = Note { operation: new_operation()?, ..Note::default() };
        confirmed(self.put(key, Some(bytes), &note, condition).await?)
    }

    /// Counts an object up. Returns how many of its writes the server did not confirm.
    async fn count_up(&self, key: &Path) -> Result<u32, FsError> {
        let mut unconfirmed = 0;
        for _ in 0..RACE {
            loop {
                let object = self.fetch(key).await?;
                let Some((file, etag)) = object.and_then(|object| Some((object.file?, object.etag))) else {
                    return Ok(unconfirmed);
                };
                let number: u32 = String::from_utf8_lossy(&file).parse().unwrap_or_default();
                let next = (number + 1).to_string();
                let note = Note { operation: new_operation()?, ..Note::default() };
                match self.put(key, Some(next.as_bytes()), &note, Condition::Is(&etag)).await? {
                    Put::Done(_) => break,
                    Put::Lost => {}
                    Put::Unknown => {
                        unconfirmed += 1;
                        break;
                    }
                }
            }
        }
        Ok(unconfirmed)
    }

    async fn listed(&self, key: &Path) -> Result<bool, FsError> {
        let found = self.reading(async || self.store.list(Some(&self.probes()?)).try_collect::<Vec<_>>().await).await?;
        Ok(found.unwrap_or_default().iter().any(|object| object.location == *key && object.e_tag.is_some()))
    }

    fn probes(&self) -> Result<Path, Error> {
        let key = if self.prefix.is_empty() { PROBES.to_string() } else { format!("{}/{PROBES}", self.prefix) };
        Ok(Path::parse(key)?)
    }

    /// Finishes changes that were interrupted while the bytes that they replaced were aside.
    async fn finish_interrupted(&self) -> Result<(), AttachError> {
        let folder = self.top(KEPT)?;
        let aside: Vec<_> = match self.store.list(Some(&folder)).try_collect().await {
            Ok(aside) => aside,
            // The request for the marker tells what is wrong with the bucket.
            Err(_) => return Ok(()),
        };
        for found in aside {
            let Some(kept) = self.fetch(&found.location).await.map_err(refused)? else { continue };
            let Some(path) = kept.note.keep_as else { continue };
            let current = self.settled(&path).await.map_err(refused)?;
            match current.filter(|current| current.note.operation == kept.note.operation) {
                Some(current) => self.keep(&current.note).await.map_err(refused)?,
                None => {
                    let age = SystemTime::now().duration_since(found.last_modified.into()).unwrap_or_default();
                    if age > LEFT_ALONE {
                        self.delete(&found.location).await.map_err(refused)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn confirmed(put: Put) -> Result<Put, FsError> {
    if put == Put::Unknown {
        return Err(FsError::Other("the server did not answer whether it has written an object".into()));
    }
    Ok(put)
}

fn other(error: FsError) -> AttachError {
    AttachError::Other(error.to_string())
}

fn refused(error: FsError) -> AttachError {
    match error {
        FsError::Denied => AttachError::Denied("they do not allow to read and write objects".into()),
        FsError::TimedOut => AttachError::Unreachable("it did not answer in time".into()),
        error => other(error),
    }
}

fn attach_error(error: &Error) -> AttachError {
    let answer = innermost(error).to_string();
    // An answer of a server in XML.
    let code = answer.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>")).map(|(code, _)| code);
    match (error, code) {
        (Error::NotFound { .. }, _) | (_, Some("NoSuchBucket")) => AttachError::Missing("the bucket".into()),
        (Error::PermissionDenied { .. } | Error::Unauthenticated { .. }, code) => {
            AttachError::Denied(code.unwrap_or("it says no more").into())
        }
        _ => AttachError::Unreachable(cause(error)),
    }
}
