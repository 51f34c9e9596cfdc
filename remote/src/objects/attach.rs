//! Opens a bucket as a store: its marker, what the server must be able to do, and what an interrupted change left.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::TryStreamExt;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{ClientOptions, Error, ObjectStore, ObjectStoreExt, RetryConfig};
use saddlebag::protocol::FsError;
use saddlebag_host::Remote;
use serde_json::{Value, json};
use url::{Host, Url};

use super::cache::Cache;
use super::credentials;
use super::object::{Note, Object};
use super::put::{Condition, Put, cause, code};
use super::requests::{Deleter, Requests};
use super::steps::KEPT;
use super::types::{FILES, Objects, PROBES};
use crate::address::Address;
use crate::blocking::{Blocking, run};
use crate::deadline::Deadline;
use crate::error::AttachError;
use crate::operation::new_operation;
use crate::types::{AttachOptions, GRACE, Maintained, Probed};

/// Object that makes a folder of a bucket a store.
const MARKER: &str = "saddlebag.json";

/// Folder of what is not a file of the store.
const HOST: &str = "host";

/// Layout of a store that this program writes, and the newest that it knows.
const LAYOUT: u64 = 1;

/// Number of changes that each of two writers makes in the race of a probe.
const RACE: u32 = 25;

/// Name of the way in which versions are made.
const VERSION_SCHEME: &str = "etag";

/// Opens a folder of a bucket.
pub(crate) fn attach(
    bucket: &str,
    prefix: &str,
    address: &Address,
    options: &AttachOptions,
) -> Result<Remote, AttachError> {
    let server = connect(bucket)?;
    let cache = options.cache.as_deref().map(|folder| Cache::open(folder, &address.to_string())).transpose()?;
    let objects = Objects { cache, ..server.objects(prefix) };
    let opened = open(objects, server.endpoint, address.to_string(), options.create)?;
    Ok(Remote { requests: server.requests.sent, ..opened })
}

/// Opens a folder of an object store.
pub(crate) fn attach_to(
    store: Arc<dyn ObjectStore>,
    prefix: &str,
    endpoint: &str,
    address: String,
    create: bool,
) -> Result<Remote, AttachError> {
    open(Objects::new(store, prefix), endpoint.to_string(), address, create)
}

fn open(mut objects: Objects, endpoint: String, address: String, create: bool) -> Result<Remote, AttachError> {
    let shown = address.clone();
    let store = Blocking::open(async move || {
        let mut deadline = Deadline::of_opening();
        loop {
            match objects.open(&endpoint, &shown, create).await {
                Ok(()) => return Ok(objects),
                Err(AttachError::Unreachable(_)) if deadline.pause().await => {}
                Err(error) => return Err(error),
            }
        }
    })?;
    let store = Arc::new(Mutex::new(store));
    Ok(Remote { store, version_scheme: VERSION_SCHEME.into(), address, requests: Arc::default(), listen: None })
}

/// Removes what a store in a folder of a bucket no longer needs.
pub(crate) fn maintain(
    bucket: &str,
    prefix: &str,
    address: &Address,
    grace: Duration,
    dry_run: bool,
) -> Result<Maintained, AttachError> {
    let server = connect(bucket)?;
    let mut objects = server.objects(prefix);
    let shown = address.to_string();
    run(async move || {
        if dry_run {
            objects.check_marker(&shown).await?;
        } else {
            objects.open(&server.endpoint, &shown, false).await?;
        }
        objects.collect(grace, dry_run).await.map_err(refused)
    })
}

/// Tries what a store relies on in a folder of a bucket.
pub(crate) fn probe(bucket: &str, prefix: &str) -> Result<Vec<Probed>, AttachError> {
    let server = connect(bucket)?;
    let mut objects = server.objects(prefix);
    run(async move || objects.probe().await)
}

/// A bucket of a server.
pub(super) struct Server {
    store: Arc<AmazonS3>,
    endpoint: String,
    requests: Requests,
}

impl Server {
    pub(super) fn objects(&self, prefix: &str) -> Objects {
        let deleter = Deleter { signer: self.store.clone(), requests: self.requests.clone() };
        Objects {
            deleter: Some(deleter),
            clock: self.requests.clock.clone(),
            ..Objects::new(self.store.clone(), prefix)
        }
    }
}

pub(super) fn connect(bucket: &str) -> Result<Server, AttachError> {
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
    let url = endpoint.as_deref().map(Url::parse).transpose();
    let is_http = |url: &Option<Url>| url.as_ref().is_none_or(|url| matches!(url.scheme(), "http" | "https"));
    let url = url.ok().filter(is_http);
    let url = url.ok_or_else(|| AttachError::Other("AWS_ENDPOINT_URL must begin with http:// or https://".into()))?;
    if url.as_ref().is_some_and(|url| url.scheme() == "http" && !is_local(url) && !allows_http()) {
        let message = "AWS_ENDPOINT_URL must begin with https://; AWS_ALLOW_HTTP=true sends everything unencrypted";
        return Err(AttachError::Other(message.into()));
    }
    if url.is_some() && !has_credentials() {
        return Err(AttachError::Denied("there are none".into()));
    }
    // Requests to this machine do not cross a network.
    let options = if url.as_ref().is_some_and(is_local) { options.with_allow_http(true) } else { options };
    if let Some(endpoint) = &endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    // Only who sees each failed attempt can tell whether a conflict is with its own write.
    let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    let requests = Requests::default();
    let store = builder.with_client_options(options).with_retry(retry).with_http_connector(requests.clone()).build();
    let store = store.map_err(|error| AttachError::Other(cause(&error)))?;
    // Without the name of a user.
    let server = url.map(|url| url.origin().ascii_serialization());
    let endpoint = server.unwrap_or_else(|| "aws".into());
    Ok(Server { store: Arc::new(store), endpoint, requests })
}

impl Objects {
    async fn open(&mut self, endpoint: &str, address: &str, create: bool) -> Result<(), AttachError> {
        let key = self.top(MARKER)?;
        let mut marker = self.text(&key).await?;
        if marker.is_none() && self.has_other_objects().await? {
            // Another machine may have made the store just now, and used it.
            marker = self.text(&key).await?;
            if marker.is_none() && !self.has_only_files().await? {
                return Err(AttachError::Occupied(address.into()));
            }
        }
        if marker.is_none() {
            if !create && !self.has_other_objects().await? {
                return Err(AttachError::NoStore);
            }
            self.must_be_fit().await?;
            let text = json!({ "layout": LAYOUT, "endpoint": endpoint, "bare-etags": self.bare_etags }).to_string();
            match self.try_put(&key, text.as_bytes(), Condition::Absent).await.map_err(refused)? {
                Put::Done(_) => return Ok(()),
                // Another machine was first.
                _ => marker = self.text(&key).await?,
            }
        }
        let marker = marker.ok_or_else(|| AttachError::Occupied(address.into()))?;
        self.read_marker(&marker, endpoint, address).await?;
        // A store that can only be read is read without it.
        drop(self.finish_interrupted().await);
        Ok(())
    }

    async fn read_marker(&mut self, marker: &str, endpoint: &str, address: &str) -> Result<(), AttachError> {
        let marker = parsed(marker, address)?;
        // A bucket that was copied to another server has a marker that says nothing about that server.
        if marker["endpoint"] != endpoint {
            return self.must_be_fit().await;
        }
        self.bare_etags = marker["bare-etags"] == true;
        Ok(())
    }

    /// Fails if there is no store that this program knows. Writes nothing.
    async fn check_marker(&self, address: &str) -> Result<(), AttachError> {
        let marker = self.text(&self.top(MARKER)?).await?.ok_or(AttachError::NoStore)?;
        parsed(&marker, address).map(|_| ())
    }

    fn top(&self, name: &str) -> Result<Path, AttachError> {
        Path::parse(self.below_prefix(name)).map_err(|error| AttachError::Other(error.to_string()))
    }

    /// Returns the text of an object, and tells what is wrong with the bucket if it cannot be read.
    async fn text(&self, key: &Path) -> Result<Option<String>, AttachError> {
        let found = tokio::time::timeout(Duration::from_secs(15), self.store.get(key)).await;
        match found.map_err(|_| AttachError::Unreachable("it did not answer in 15 seconds".into()))? {
            Ok(found) => {
                let (etag, attributes) = (found.meta.e_tag.clone().unwrap_or_default(), found.attributes.clone());
                let bytes = found.bytes().await.map_err(|error| attach_error(&error))?;
                let object = Object::decode(etag, bytes.into(), &attributes).map_err(other)?;
                Ok(object.file.map(|file| String::from_utf8_lossy(&file).into_owned()))
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

    /// Returns true if the first object is a file of a store, whose marker somebody deleted.
    async fn has_only_files(&self) -> Result<bool, AttachError> {
        let files = self.top(FILES)?;
        let first = self.store.list(Some(&files)).try_next().await.map_err(|error| attach_error(&error))?;
        let Some(first) = first else { return Ok(false) };
        let object = self.fetch(&first.location).await.map_err(refused)?;
        Ok(object.is_some_and(|object| !object.note.operation.is_empty()))
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
        let listed = self.is_listed(key).await?;
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
        let mut deadline = Deadline::new();
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
                    Put::Lost if deadline.pause().await => {}
                    Put::Lost => return Ok(unconfirmed),
                    Put::Unknown => {
                        unconfirmed += 1;
                        break;
                    }
                }
            }
        }
        Ok(unconfirmed)
    }

    async fn is_listed(&self, key: &Path) -> Result<bool, FsError> {
        let folder = Path::parse(self.below_prefix(PROBES)).map_err(|error| FsError::Other(error.to_string()))?;
        let found = self.reading(async || self.store.list(Some(&folder)).try_collect::<Vec<_>>().await).await?;
        Ok(found.unwrap_or_default().iter().any(|object| object.location == *key && object.e_tag.is_some()))
    }

    /// Finishes changes that were interrupted while the bytes that they replaced were aside.
    async fn finish_interrupted(&self) -> Result<(), FsError> {
        let folder = self.top(KEPT).map_err(|error| FsError::Other(error.to_string()))?;
        let found = self.reading(async || self.store.list(Some(&folder)).try_collect::<Vec<_>>().await).await?;
        for aside in found.unwrap_or_default() {
            self.finish_keep(&aside.location).await?;
            if self.clock.is_older(&aside, GRACE) {
                self.delete(&aside.location).await?;
            }
        }
        Ok(())
    }
}

/// Reads a marker of a layout that this program knows.
fn parsed(marker: &str, address: &str) -> Result<Value, AttachError> {
    let marker: Value = serde_json::from_str(marker).map_err(|_| AttachError::Occupied(address.into()))?;
    let found = marker["layout"].as_u64().ok_or_else(|| AttachError::Occupied(address.into()))?;
    if found > LAYOUT {
        return Err(AttachError::Newer { found, known: LAYOUT });
    }
    Ok(marker)
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

fn allows_http() -> bool {
    std::env::var("AWS_ALLOW_HTTP").is_ok_and(|value| value.eq_ignore_ascii_case("true") || value == "1")
}

/// Returns true if there are credentials. Only at AWS does a server of the machine itself have some, too.
fn has_credentials() -> bool {
    is_set("AWS_ACCESS_KEY_ID") && is_set("AWS_SECRET_ACCESS_KEY")
        || is_set("AWS_WEB_IDENTITY_TOKEN_FILE")
        || is_set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
        || credentials::of_profile().is_some()
}

/// Returns true if the server is on this machine.
fn is_local(server: &Url) -> bool {
    match server.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
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
    let code = code(error);
    match (error, code.as_deref()) {
        (Error::NotFound { .. }, _) | (_, Some("NoSuchBucket")) => AttachError::Missing("the bucket".into()),
        (Error::PermissionDenied { .. } | Error::Unauthenticated { .. }, code) => {
            AttachError::Denied(code.unwrap_or("it says no more").into())
        }
        (_, Some("ExpiredToken" | "InvalidAccessKeyId" | "SignatureDoesNotMatch" | "InvalidToken")) => {
            AttachError::Denied(code.unwrap_or_default())
        }
        _ => AttachError::Unreachable(cause(error)),
    }
}
