//! Writes of one object under a condition, whose outcome is known or said to be unknown.

use std::error::Error as _;
use std::future::Future;
use std::time::Duration;

use object_store::client::{HttpError, HttpErrorKind};
use object_store::path::Path;
use object_store::{Attributes, Error, GetOptions, ObjectStoreExt, PutMode, PutOptions, UpdateVersion};
use saddlebag::protocol::FsError;

use super::object::{Note, Object, encode, unquoted};
use super::types::Objects;
use crate::deadline::Deadline;
use crate::operation::new_operation;

/// Condition on the object before a write.
#[derive(Clone, Copy, Debug)]
pub(super) enum Condition<'a> {
    /// Nothing is there.
    Absent,
    /// It has this ETag.
    Is(&'a str),
}

/// Outcome of a write.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Put {
    /// The object has this ETag.
    Done(String),
    /// The condition was not met, and nothing was written.
    Lost,
    /// Nobody can tell whether it was written: the server did not answer, and the object was replaced since.
    Unknown,
}

/// Kind of a failed request.
enum Failed {
    /// The condition is not met.
    Condition,
    /// The server refused the request, which had no effect.
    Refused(FsError),
    /// The server was not reached.
    NotSent(FsError),
    /// It may have had its effect.
    Unclear(FsError),
}

impl Objects {
    /// Reads the object at `key`.
    pub(super) async fn fetch(&self, key: &Path) -> Result<Option<Object>, FsError> {
        let copied = self.cache.as_ref().and_then(|cache| cache.find(key.as_ref()));
        let known = copied.as_ref().map(|copied| self.spelled(&copied.etag).to_string());
        let found = self.reading(async || {
            let options = GetOptions { if_none_match: known.clone(), ..GetOptions::default() };
            let found = match self.store.get_opts(key, options).await {
                Err(Error::NotModified { .. }) if known.is_some() => return Ok(None),
                found => found?,
            };
            let (etag, attributes) = (found.meta.e_tag.clone(), found.attributes.clone());
            let bytes = found.bytes().await?;
            Ok(Some((etag, bytes, attributes)))
        });
        let Some(found) = found.await? else { return Ok(None) };
        let (etag, bytes, attributes) = match (found, copied) {
            (Some((etag, bytes, attributes)), _) => {
                let etag = etag.ok_or_else(|| FsError::Other("the server tells no ETag".into()))?;
                self.copy_to_cache(key, &etag, &attributes, &bytes);
                (etag, bytes.into(), attributes)
            }
            (None, Some(copied)) => (copied.etag, copied.bytes, copied.attributes),
            (None, None) => return Err(FsError::Other("the server did not send an object".into())),
        };
        Object::decode(etag, bytes, &attributes).map(Some)
    }

    fn copy_to_cache(&self, key: &Path, etag: &str, attributes: &Attributes, bytes: &[u8]) {
        if let Some(cache) = &self.cache {
            cache.keep(key.as_ref(), etag, attributes, bytes);
        }
    }

    /// Returns an ETag as the server wants it in a condition.
    pub(super) fn spelled<'a>(&self, etag: &'a str) -> &'a str {
        if self.bare_etags { unquoted(etag) } else { etag }
    }

    /// Runs a request that changes nothing once: `None` if it failed, `Some(None)` if nothing was found.
    pub(super) async fn once<T, F>(&self, request: impl Fn() -> F) -> Option<Option<T>>
    where
        F: Future<Output = Result<T, Error>>,
    {
        match within(Deadline::new().request(), request()).await {
            Ok(found) => Some(Some(found)),
            Err(Answer::Error(Error::NotFound { .. })) => Some(None),
            Err(_) => None,
        }
    }

    /// Runs a request that changes nothing until it has an answer; `None`: not found.
    pub(super) async fn reading<T, F>(&self, request: impl Fn() -> F) -> Result<Option<T>, FsError>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let mut deadline = Deadline::new();
        loop {
            let error = match within(deadline.request(), request()).await {
                Ok(found) => return Ok(Some(found)),
                Err(Answer::Error(Error::NotFound { .. })) => return Ok(None),
                Err(answer) => match failed(answer) {
                    Failed::Condition => FsError::Other("the server answered a read with a lost race".into()),
                    Failed::Refused(error) => return Err(error),
                    Failed::NotSent(error) | Failed::Unclear(error) => error,
                },
            };
            if !deadline.pause().await {
                return Err(error);
            }
        }
    }

    /// Writes an object. Without a `file`, it is a tombstone.
    ///
    /// # Errors
    ///
    /// Nothing was written.
    pub(super) async fn put(
        &self,
        key: &Path,
        file: Option<&[u8]>,
        note: &Note,
        condition: Condition<'_>,
    ) -> Result<Put, FsError> {
        let digits = new_operation()?;
        let (bytes, attributes) = encode(file, note, &digits);
        let payload = object_store::PutPayload::from(bytes);
        let mode = match condition {
            Condition::Absent => PutMode::Create,
            Condition::Is(etag) => {
                PutMode::Update(UpdateVersion { e_tag: Some(self.spelled(etag).to_string()), version: None })
            }
        };
        let mut deadline = Deadline::new();
        let mut may_be_written = false;
        loop {
            let options = PutOptions { mode: mode.clone(), attributes: attributes.clone(), ..PutOptions::default() };
            let request = self.store.put_opts(key, payload.clone(), options);
            let error = match within(deadline.request(), request).await {
                Ok(written) => {
                    let etag = written.e_tag.ok_or_else(|| FsError::Other("the server tells no ETag".into()))?;
                    if let [bytes] = payload.as_ref() {
                        self.copy_to_cache(key, &etag, &attributes, bytes);
                    }
                    return Ok(Put::Done(etag));
                }
                Err(answer) => match failed(answer) {
                    // It may be our own write that the server did not confirm.
                    Failed::Condition if may_be_written => return Ok(self.own(key, &digits).await),
                    Failed::Condition => return Ok(Put::Lost),
                    Failed::Refused(_) if may_be_written => return Ok(Put::Unknown),
                    Failed::Refused(error) => return Err(error),
                    Failed::NotSent(error) => error,
                    Failed::Unclear(error) => {
                        may_be_written = true;
                        error
                    }
                },
            };
            if !deadline.pause().await {
                return if may_be_written { Ok(self.own(key, &digits).await) } else { Err(error) };
            }
        }
    }

    /// Returns what became of a write that the server did not confirm.
    async fn own(&self, key: &Path, digits: &str) -> Put {
        match self.fetch(key).await {
            Ok(Some(object)) if object.digits == digits => Put::Done(object.etag),
            _ => Put::Unknown,
        }
    }

    /// Deletes an object of the store itself, which nothing depends on.
    pub(super) async fn delete(&self, key: &Path) -> Result<(), FsError> {
        self.reading(async || self.store.delete(key).await).await.map(|_| ())
    }
}

/// Failure of a request.
enum Answer {
    Error(Error),
    Late,
}

async fn within<T>(time: Duration, request: impl Future<Output = Result<T, Error>>) -> Result<T, Answer> {
    match tokio::time::timeout(time, request).await {
        Ok(answer) => answer.map_err(Answer::Error),
        Err(_) => Err(Answer::Late),
    }
}

fn failed(answer: Answer) -> Failed {
    let error = match answer {
        Answer::Late => return Failed::Unclear(FsError::TimedOut),
        Answer::Error(error) => error,
    };
    match error {
        Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotModified { .. } => Failed::Condition,
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => Failed::Refused(FsError::Denied),
        Error::NotFound { .. } => Failed::Refused(FsError::Other("the bucket does not exist".into())),
        Error::NotSupported { .. } | Error::NotImplemented { .. } => Failed::Refused(FsError::Unsupported),
        Error::InvalidPath { source } => Failed::Refused(FsError::Other(format!(
            "a key in the bucket cannot be the path of a file ({source}): rename or delete the object with another program"
        ))),
        error if is_refused(&error) => {
            Failed::Refused(FsError::Other(format!("the object store refused the request: {}", cause(&error))))
        }
        error => {
            let text = FsError::Other(format!("the object store did not answer: {}", cause(&error)));
            if is_not_sent(&error) { Failed::NotSent(text) } else { Failed::Unclear(text) }
        }
    }
}

/// Returns the first that is found in an error and its causes.
fn find<T>(error: &Error, matches: impl Fn(&(dyn std::error::Error + 'static)) -> Option<T>) -> Option<T> {
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(found) = matches(error) {
            return Some(found);
        }
        source = error.source();
    }
    None
}

/// Returns the status of an answer of a server, with its name, and the text of the answer. The crate tells it only in the text
/// of an error.
fn answer(error: &Error) -> Option<(String, String)> {
    find(error, |error| {
        let text = error.to_string();
        let (status, body) = text.strip_prefix("Server returned non-2xx status code: ")?.split_once(": ")?;
        Some((status.to_string(), body.to_string()))
    })
}

/// Returns true if the connection failed, so that no request was sent.
fn is_not_sent(error: &Error) -> bool {
    let kind = find(error, |error| error.downcast_ref::<HttpError>().map(HttpError::kind));
    kind == Some(HttpErrorKind::Connect)
}

/// Returns true if the server understood the request and did not perform it.
fn is_refused(error: &Error) -> bool {
    let status = answer(error).and_then(|(status, _)| status.split(' ').next()?.parse::<u16>().ok());
    status.is_some_and(|status| (400..500).contains(&status) && ![408, 409, 412, 429].contains(&status))
}

/// Returns the code of an answer of a server in XML, such as `NoSuchBucket`.
pub(super) fn code(error: &Error) -> Option<String> {
    let (_, body) = answer(error)?;
    let (code, _) = body.split_once("<Code>")?.1.split_once("</Code>")?;
    Some(code.chars().filter(char::is_ascii_alphanumeric).take(60).collect())
}

/// Returns the cause of an error, without the address, and without the text of an answer, which may repeat a token.
pub(super) fn cause(error: &Error) -> String {
    if let Some((status, _)) = answer(error) {
        return code(error).map_or_else(|| status.clone(), |code| format!("{status}, {code}"));
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string().lines().next().unwrap_or_default().chars().take(200).collect()
}
