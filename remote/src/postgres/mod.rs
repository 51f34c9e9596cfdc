//! [`Database`]: a store in a space of a PostgreSQL database.
//!
//! Every file is one row, and every change one transaction. If the answer to a commit is lost, the server is asked what became
//! of the transaction, so an outcome is unknown only if the server stays away.

mod connection;
mod listen;
mod schema;

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use saddlebag::protocol::{
    AppendOutcome, Entry, EntryKind, FsError, FsOp, FsOutcome, LeftOut, ListOutcome, Precondition, ReadOutcome,
    RemoveDirectoryOutcome, RemoveOutcome, RenameOutcome, Version, WriteOutcome,
};
use saddlebag::store::RelPath;
use saddlebag_host::executor::is_read;
use saddlebag_host::{Listen, Remote};
use tokio_postgres::Client;

use crate::address::Address;
use crate::blocking::{Blocking, run};
use crate::deadline::{Deadline, retries};
use crate::error::AttachError;
use crate::store::{Store, appended, folder_entry, folders_above, page, part, stale};
use crate::types::{Maintained, Probed};
use connection::{Connection, Ending, Failed};
use listen::Listening;

/// Maximum size of a file.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Name of the way in which versions are made.
const VERSION_SCHEME: &str = "postgres";

/// A store in a space of a database.
pub(crate) struct Database {
    connection: Connection,
    space: String,
    listening: Arc<Listening>,
    /// Number of operations that were performed.
    performed: Arc<AtomicU64>,
}

/// A file as it is in the database.
struct Row {
    body: Vec<u8>,
    version: i64,
}

/// Opens a space of a database.
pub(crate) fn attach(url: &str, space: &str, address: &Address, create: bool) -> Result<Remote, AttachError> {
    let listening = Arc::new(Listening::new().map_err(|error| AttachError::Other(error.to_string()))?);
    let connection = Connection::new(url, &listening.client)?;
    let listen: Listen = {
        let (listening, config, space) = (listening.clone(), connection.config.clone(), space.to_string());
        Arc::new(move |on_change| listening.begin(config.clone(), &space, on_change))
    };
    let (space, requests) = (space.to_string(), Arc::<AtomicU64>::default());
    let performed = requests.clone();
    let store = Blocking::open(async move || {
        let mut deadline = Deadline::of_opening();
        loop {
            let opened = async {
                let client = connection.open().await?;
                schema::migrate(&client, create).await
            };
            match connection.at_opening(opened).await {
                Ok(()) => return Ok(Database { connection, space, listening, performed }),
                // The connection was refused, or lost in between.
                Err(AttachError::Unreachable(_)) if deadline.pause().await => {}
                Err(error) => return Err(error),
            }
        }
    })?;
    let store = Arc::new(Mutex::new(store));
    let address = address.to_string();
    Ok(Remote { store, version_scheme: VERSION_SCHEME.into(), address, requests, listen: Some(listen) })
}

/// Removes names of operations that are older than `grace`: by then, nobody asks whether they were made.
pub(crate) fn maintain(url: &str, grace: Duration, dry_run: bool) -> Result<Maintained, AttachError> {
    let connection = Connection::new(url, "")?;
    run(async move || {
        let client = connection.open().await?;
        connection.at_opening(schema::migrate(&client, false)).await?;
        let mut done = Maintained { can_remove: true, ..Maintained::default() };
        let mut next = Some("00000000-0000-0000-0000-000000000000".to_string());
        while let Some(after) = next {
            let forgotten = schema::forget_operations(&client, &after, grace, dry_run, &mut done);
            next = connection.at_opening(forgotten).await?;
        }
        Ok(done)
    })
}

/// Tries what a store relies on.
pub(crate) fn probe(url: &str) -> Result<Vec<Probed>, AttachError> {
    let connection = Connection::new(url, "")?;
    run(async move || {
        let client = connection.open().await?;
        let setting = async |name: &str| {
            let row = client.query_one(&format!("SHOW {name}"), &[]).await;
            row.map(|row| row.get::<_, String>(0)).map_err(|error| AttachError::Other(connection::text(&error)))
        };
        let tried = async {
            Ok([
                ("sync each commit to the disk", setting("fsync").await? == "on"),
                ("answer a commit once it is on the disk", setting("synchronous_commit").await? != "off"),
                ("accept changes", setting("transaction_read_only").await? == "off"),
                ("keep text in UTF-8", setting("server_encoding").await? == "UTF8"),
            ])
        };
        let tried = connection.at_opening(tried).await?;
        Ok(tried.into_iter().map(|(property, holds)| Probed { property, holds }).collect())
    })
}

fn version(number: i64) -> Version {
    Version(number.to_string())
}

impl Database {
    async fn row(&self, client: &Client, path: &RelPath, lock: bool) -> Result<Option<Row>, Failed> {
        let query = if lock { schema::READ_AND_LOCK } else { schema::READ };
        let row = client.query_opt(query, &[&self.space, &path.as_str()]).await?;
        Ok(row.map(|row| Row { body: row.get(0), version: row.get(1) }))
    }

    /// Returns the version of a file, and locks its row until the end of the transaction.
    async fn locked(&self, client: &Client, path: &RelPath) -> Result<Option<i64>, Failed> {
        let row = client.query_opt(schema::LOCK, &[&self.space, &path.as_str()]).await?;
        Ok(row.map(|row| row.get(0)))
    }

    /// Refuses a new file below another, or at the place of a folder. Until the end of the transaction, nobody else creates
    /// files in this space.
    async fn check_place(&self, client: &Client, path: &RelPath) -> Result<(), Failed> {
        client.query(schema::LOCK_SPACE, &[&self.space]).await?;
        let above: Vec<&str> = folders_above(path.as_str()).collect();
        if client.query_one(schema::ANY_FILE, &[&self.space, &above]).await?.get(0) {
            return Err(Failed::Refused(FsError::NotDirectory));
        }
        if self.is_folder(client, path).await? {
            return Err(Failed::Refused(FsError::IsDirectory));
        }
        Ok(())
    }

    async fn is_folder(&self, client: &Client, path: &RelPath) -> Result<bool, Failed> {
        let (low, high) = below(path.as_str());
        Ok(client.query_one(schema::ANY_BELOW, &[&self.space, &low, &high]).await?.get(0))
    }

    /// Writes a file that nobody else changes until the end of the transaction. Returns its version; `None` if another
    /// writer has created it.
    async fn put(&self, client: &Client, path: &RelPath, body: &[u8], exists: bool) -> Result<Option<i64>, Failed> {
        let folder = folder_of(path);
        let row = if exists {
            client.query_opt(schema::UPDATE, &[&self.space, &path.as_str(), &body]).await?
        } else {
            client.query_opt(schema::INSERT, &[&self.space, &path.as_str(), &folder, &body]).await?
        };
        Ok(row.map(|row| row.get(0)))
    }

    /// Keeps the bytes of a file under another path.
    async fn keep(&self, client: &Client, path: &RelPath, keep_as: Option<&RelPath>) -> Result<(), Failed> {
        let Some(keep_as) = keep_as else { return Ok(()) };
        if self.locked(client, keep_as).await?.is_none() {
            self.check_place(client, keep_as).await?;
        }
        let folder = folder_of(keep_as);
        client.execute(schema::KEEP, &[&self.space, &path.as_str(), &keep_as.as_str(), &folder]).await?;
        Ok(())
    }

    async fn write(
        &self,
        client: &Client,
        path: &RelPath,
        content: &[u8],
        precondition: &Precondition,
        keep_as: Option<&RelPath>,
    ) -> Result<Ending<WriteOutcome>, Failed> {
        let current = self.locked(client, path).await?;
        if let Some(current) = stale(current.map(version).as_ref(), precondition) {
            return Ok(Ending::TakeBack(WriteOutcome::Stale(current)));
        }
        if current.is_some() {
            self.keep(client, path, keep_as).await?;
        } else {
            self.check_place(client, path).await?;
        }
        let written = self.put(client, path, content, current.is_some()).await?;
        Ok(written.map_or(Ending::Again, |written| Ending::Commit(WriteOutcome::Written(version(written)))))
    }

    async fn append(
        &self,
        client: &Client,
        path: &RelPath,
        (content, newline_first): (&[u8], bool),
        precondition: &Precondition,
        begins: &Cell<u64>,
    ) -> Result<Ending<AppendOutcome>, Failed> {
        let current = self.row(client, path, true).await?;
        if let Some(current) = stale(current.as_ref().map(|row| version(row.version)).as_ref(), precondition) {
            return Ok(Ending::TakeBack(AppendOutcome::Stale(current)));
        }
        if current.is_none() {
            self.check_place(client, path).await?;
        }
        let old = current.as_ref().map(|row| row.body.as_slice()).unwrap_or_default();
        let body = appended(old, content, newline_first);
        begins.set((body.len() - content.len()) as u64);
        if body.len() as u64 > MAX_FILE_BYTES {
            return Err(Failed::Refused(FsError::TooLarge(MAX_FILE_BYTES)));
        }
        let written = self.put(client, path, &body, current.is_some()).await?;
        Ok(written.map_or(Ending::Again, |written| Ending::Commit(AppendOutcome::Written(version(written)))))
    }

    async fn remove(
        &self,
        client: &Client,
        path: &RelPath,
        precondition: &Precondition,
        keep_as: Option<&RelPath>,
    ) -> Result<Ending<RemoveOutcome>, Failed> {
        let Some(current) = self.locked(client, path).await?.map(version) else {
            return Ok(Ending::TakeBack(RemoveOutcome::Done));
        };
        if stale(Some(&current), precondition).is_some() {
            return Ok(Ending::TakeBack(RemoveOutcome::Stale(current)));
        }
        self.keep(client, path, keep_as).await?;
        client.execute(schema::DELETE, &[&self.space, &path.as_str()]).await?;
        Ok(Ending::Commit(RemoveOutcome::Done))
    }

    async fn rename(
        &self,
        client: &Client,
        from: &RelPath,
        to: &RelPath,
        precondition: &Precondition,
    ) -> Result<Ending<RenameOutcome>, Failed> {
        let Some(current) = self.locked(client, from).await?.map(version) else {
            return Ok(Ending::TakeBack(RenameOutcome::Absent));
        };
        if stale(Some(&current), precondition).is_some() {
            return Ok(Ending::TakeBack(RenameOutcome::Stale(current)));
        }
        client.query(schema::LOCK_SPACE, &[&self.space]).await?;
        if self.locked(client, to).await?.is_some() || self.is_folder(client, to).await? {
            return Ok(Ending::TakeBack(RenameOutcome::Exists));
        }
        self.check_place(client, to).await?;
        let folder = folder_of(to);
        let moved = client.execute(schema::MOVE, &[&self.space, &from.as_str(), &to.as_str(), &folder]).await?;
        Ok(if moved == 1 { Ending::Commit(RenameOutcome::Done) } else { Ending::Again })
    }

    async fn list(
        &self,
        client: &Client,
        folder: Option<&RelPath>,
        after: Option<&RelPath>,
        limit: u32,
        unless: Option<&Version>,
    ) -> Result<ListOutcome, Failed> {
        let folder = folder.map_or("", RelPath::as_str);
        let (low, high) = if folder.is_empty() { (String::new(), String::new()) } else { below(folder) };
        // One statement sees one moment.
        let rows = client.query(schema::LIST, &[&self.space, &folder, &low, &high]).await?;
        let mut entries = Vec::with_capacity(rows.len());
        for row in rows {
            let path: String = row.get(0);
            let path = RelPath::new(path).map_err(|error| FsError::Other(error.to_string()))?;
            let number: Option<i64> = row.get(1);
            entries.push(match number {
                Some(number) => Entry {
                    path,
                    kind: EntryKind::File,
                    size: u64::try_from(row.get::<_, i32>(2)).unwrap_or_default(),
                    version: version(number),
                    modified: nanoseconds(row.get(3)),
                },
                None => folder_entry(path),
            });
        }
        Ok(page(entries, LeftOut::default(), after, limit, unless))
    }
}

/// Returns the range of the paths below a folder: from the first, up to and without the second.
fn below(folder: &str) -> (String, String) {
    // `0` is the character after `/`.
    (format!("{folder}/"), format!("{folder}0"))
}

fn folder_of(path: &RelPath) -> String {
    path.parent().map_or(String::new(), |folder| folder.to_string())
}

fn nanoseconds(time: SystemTime) -> u64 {
    u64::try_from(time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()).unwrap_or_default()
}

impl Store for Database {
    const MAX_FILE_BYTES: u64 = MAX_FILE_BYTES;

    async fn perform(&self, op: &FsOp) -> Result<FsOutcome, FsError> {
        if *op == FsOp::Generation
            && let Some(token) = self.listening.token()
        {
            return Ok(FsOutcome::Generation(token));
        }
        self.performed.fetch_add(1, Ordering::Relaxed);
        let begun = Instant::now();
        let outcome = self.answer(op).await;
        let milliseconds = begun.elapsed().as_millis() as u64;
        let (kind, key) = (op.name(), path_of(op));
        if !is_read(op) && paths(op).into_iter().flatten().any(is_told) {
            self.listening.count();
        }
        tracing::trace!(kind, key, milliseconds, retries = retries(), is_done = outcome.is_ok(), "request");
        outcome
    }
}

impl Database {
    async fn answer(&self, op: &FsOp) -> Result<FsOutcome, FsError> {
        let Self { connection, .. } = self;
        Ok(match op {
            FsOp::Read { path, offset, max_bytes } => {
                let row = connection.read(async |client| self.row(client, path, false).await).await?;
                FsOutcome::Read(match row {
                    Some(row) => part(&row.body, version(row.version), *offset, *max_bytes, MAX_FILE_BYTES)?,
                    None => ReadOutcome::Absent,
                })
            }
            FsOp::ListDirectory { folder, after, limit, unless } => {
                let page = connection.read(async |client| {
                    self.list(client, folder.as_ref(), after.as_ref(), *limit, unless.as_ref()).await
                });
                FsOutcome::ListDirectory(page.await?)
            }
            FsOp::Generation => {
                FsOutcome::Generation(connection.read(async |client| Ok(schema::moment(client).await?)).await?)
            }
            FsOp::Write { path, content, precondition, keep_as, .. } => {
                let changed = connection
                    .change(async |client| self.write(client, path, content, precondition, keep_as.as_ref()).await);
                FsOutcome::Write(changed.await?.unwrap_or(WriteOutcome::Unknown))
            }
            FsOp::Append { path, content, newline_first, precondition, .. } => {
                let begins = Cell::new(0);
                let changed = connection.change(async |client| {
                    self.append(client, path, (content, *newline_first), precondition, &begins).await
                });
                FsOutcome::Append(changed.await?.unwrap_or_else(|| AppendOutcome::Unknown(begins.get())))
            }
            FsOp::Remove { path, precondition, keep_as, .. } => {
                let changed =
                    connection.change(async |client| self.remove(client, path, precondition, keep_as.as_ref()).await);
                FsOutcome::Remove(changed.await?.ok_or_else(unconfirmed)?)
            }
            FsOp::Rename { path, to, precondition } => {
                let changed = connection.change(async |client| self.rename(client, path, to, precondition).await);
                FsOutcome::Rename(changed.await?.ok_or_else(unconfirmed)?)
            }
            FsOp::MakeDirectory { .. } => FsOutcome::MakeDirectory,
            FsOp::RemoveDirectory { .. } => FsOutcome::RemoveDirectory(RemoveDirectoryOutcome::Absent),
        })
    }
}

/// Returns the path that an operation is about; empty for none.
fn path_of(op: &FsOp) -> &str {
    paths(op)[0].map_or("", RelPath::as_str)
}

/// Returns the paths that an operation names.
fn paths(op: &FsOp) -> [Option<&RelPath>; 2] {
    match op {
        FsOp::Write { path, keep_as, .. } | FsOp::Remove { path, keep_as, .. } => [Some(path), keep_as.as_ref()],
        FsOp::Rename { path, to, .. } => [Some(path), Some(to)],
        FsOp::Read { path, .. }
        | FsOp::Append { path, .. }
        | FsOp::MakeDirectory { path }
        | FsOp::RemoveDirectory { path } => [Some(path), None],
        FsOp::ListDirectory { folder, .. } => [folder.as_ref(), None],
        FsOp::Generation => [None, None],
    }
}

/// Returns true if the database tells of changes of a file.
fn is_told(path: &RelPath) -> bool {
    !path.as_str().split('/').any(|name| name == ".saddlebag")
}

fn unconfirmed() -> FsError {
    FsError::Other("the database did not confirm the change, which may have been made".into())
}
