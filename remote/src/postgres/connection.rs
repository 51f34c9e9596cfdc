//! [`Connection`]: a connection that is opened again when it is lost, and transactions whose end is known.

use std::cell::RefCell;
use std::future::Future;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::channel::mpsc::UnboundedSender;
use rustls::ClientConfig;
use rustls_platform_verifier::ConfigVerifierExt;
use saddlebag::protocol::FsError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::{AsyncMessage, Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::deadline::{Deadline, retries};
use crate::error::AttachError;
use crate::operation::new_operation;

/// Time that the opening of a connection may take, and what follows it.
const OPENING: Duration = Duration::from_secs(15);

/// Time that the server gives to a statement, and to waiting for a lock.
const STATEMENT_OPTIONS: &str = "-c statement_timeout=8s -c lock_timeout=6s -c idle_in_transaction_session_timeout=15s";

/// The number of a transaction that was not flushed before a crash of the server is used again, so a commit also has the name
/// of its operation.
const OPERATION: &str =
    "INSERT INTO saddlebag_operation (id) VALUES ($1::text::uuid) RETURNING pg_current_xact_id()::text";
const WAS_MADE: &str = "SELECT EXISTS (SELECT FROM saddlebag_operation WHERE id = $1::text::uuid)";

/// A connection to a database.
pub(super) struct Connection {
    pub(super) config: Config,
    client: RefCell<Option<Arc<Client>>>,
}

/// How a transaction ends.
pub(super) enum Ending<T> {
    /// Its changes are kept.
    Commit(T),
    /// It has changed nothing.
    TakeBack(T),
    /// Another writer was faster, so it is taken back and made again.
    Again,
}

/// Why a statement failed.
#[derive(Debug)]
pub(super) enum Failed {
    /// The operation cannot be performed.
    Refused(FsError),
    /// The database did not perform it.
    Database(tokio_postgres::Error),
}

impl From<FsError> for Failed {
    fn from(error: FsError) -> Self {
        Self::Refused(error)
    }
}

impl From<tokio_postgres::Error> for Failed {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error)
    }
}

impl Connection {
    /// Names a database, without opening a connection. `client` is the text of the notifications of its changes.
    pub(super) fn new(url: &str, client: &str) -> Result<Self, AttachError> {
        let mut config = Config::from_str(url).map_err(|error| {
            let reason = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            AttachError::Other(format!("the address cannot be used: {reason}"))
        })?;
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        if config.get_user().is_none() {
            let user = set("PGUSER").or_else(|| set("USER"));
            user.inspect(|user| {
                config.user(user);
            });
        }
        if let Some(password) = set("PGPASSWORD") {
            config.password(password);
        }
        // Those of the address come first, so that they choose a schema.
        let options = config.get_options().map_or(String::new(), |options| format!("{options} "));
        config.application_name("saddlebag").connect_timeout(Duration::from_secs(5));
        config.options(format!("{options}{STATEMENT_OPTIONS} -c saddlebag.client={client}"));
        let is_local = |host: &Host| match host {
            Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()),
            #[cfg(unix)]
            Host::Unix(_) => true,
        };
        // A password crosses the network only encrypted, unless the address says otherwise.
        if config.get_ssl_mode() == SslMode::Prefer && !config.get_hosts().iter().all(is_local) {
            config.ssl_mode(SslMode::Require);
        }
        config.keepalives_idle(Duration::from_secs(30));
        Ok(Self { config, client: RefCell::new(None) })
    }

    /// Opens the connection for the first time, and tells what is wrong.
    pub(super) async fn open(&self) -> Result<Arc<Client>, AttachError> {
        let client = tokio::time::timeout(OPENING, self.client()).await.map_err(|_| late())?;
        client.map_err(attach_error)
    }

    /// Runs what a store does when it is opened.
    pub(super) async fn at_opening<T>(
        &self,
        statements: impl Future<Output = Result<T, AttachError>>,
    ) -> Result<T, AttachError> {
        tokio::time::timeout(OPENING, statements).await.map_err(|_| late())?
    }

    async fn client(&self) -> Result<Arc<Client>, tokio_postgres::Error> {
        let open = self.client.borrow().clone().filter(|client| !client.is_closed());
        if let Some(client) = open {
            return Ok(client);
        }
        let begun = Instant::now();
        let connected = connect(&self.config, None).await;
        let milliseconds = begun.elapsed().as_millis() as u64;
        tracing::trace!(kind = "connect", milliseconds, retries = retries(), is_done = connected.is_ok(), "request");
        let client = Arc::new(connected?);
        *self.client.borrow_mut() = Some(client.clone());
        Ok(client)
    }

    /// Gives the connection up: nobody knows what its server is doing.
    fn drop_client(&self) {
        self.client.borrow_mut().take();
    }

    /// Runs statements that change nothing until they have an answer.
    pub(super) async fn read<T>(&self, query: impl AsyncFn(&Client) -> Result<T, Failed>) -> Result<T, FsError> {
        let mut deadline = Deadline::new();
        loop {
            let answer = self.within(&deadline, async {
                let client = self.client().await?;
                query(&client).await
            });
            let error = match answer.await {
                Ok(answer) => return Ok(answer),
                Err(failed) => after(failed)?,
            };
            if !deadline.pause().await {
                return Err(error);
            }
        }
    }

    /// Runs a transaction until its end is known; `None` if the server did not tell in time.
    pub(super) async fn change<T>(
        &self,
        statements: impl AsyncFn(&Client) -> Result<Ending<T>, Failed>,
    ) -> Result<Option<T>, FsError> {
        let mut deadline = Deadline::new();
        let operation = new_operation()?;
        loop {
            let begun = self.within(&deadline, async {
                let client = self.client().await?;
                client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED").await?;
                let ending = statements(&client).await;
                let number = match ending {
                    Ok(Ending::Commit(_)) => client.query_one(OPERATION, &[&operation]).await?.get(0),
                    _ => String::new(),
                };
                Ok::<_, Failed>((client, ending, number))
            });
            let error = match begun.await {
                Ok((client, Ok(Ending::Commit(outcome)), number)) => {
                    // Whatever time the statements took, the commit gets its own.
                    let mut time = Deadline::new();
                    let committed = self.within(&time, async { Ok(client.batch_execute("COMMIT").await?) }).await;
                    let is_committed = match committed {
                        Ok(()) => Some(true),
                        Err(_) => self.is_committed(&number, &operation, &mut time).await,
                    };
                    match is_committed {
                        Some(true) => return Ok(Some(outcome)),
                        None => return Ok(None),
                        Some(false) => FsError::Other("the database took the change back".into()),
                    }
                }
                Ok((client, Ok(Ending::TakeBack(outcome)), _)) => {
                    self.take_back(&client, &deadline).await;
                    return Ok(Some(outcome));
                }
                Ok((client, Ok(Ending::Again), _)) => {
                    self.take_back(&client, &deadline).await;
                    FsError::Locked("other writers changed the file again and again".into())
                }
                Ok((client, Err(failed), _)) => {
                    self.take_back(&client, &deadline).await;
                    after(failed)?
                }
                Err(failed) => {
                    self.drop_client();
                    after(failed)?
                }
            };
            if !deadline.pause().await {
                return Err(error);
            }
        }
    }

    async fn take_back(&self, client: &Client, deadline: &Deadline) {
        if self.within(deadline, async { Ok(client.batch_execute("ROLLBACK").await?) }).await.is_err() {
            self.drop_client();
        }
    }

    /// Asks what became of a transaction; `None` if the server does not tell in time.
    async fn is_committed(&self, number: &str, operation: &str, deadline: &mut Deadline) -> Option<bool> {
        self.drop_client();
        loop {
            let made = self.within(deadline, async {
                let client = self.client().await?;
                let status = client.query_one("SELECT pg_xact_status($1::text::xid8)", &[&number]).await;
                let status = match status {
                    Ok(row) => row.get::<_, Option<String>>(0),
                    // A crash of the server can take the number back, which is in the future then.
                    Err(error) if error.code() == Some(&SqlState::INVALID_PARAMETER_VALUE) => None,
                    Err(error) => return Err(error.into()),
                };
                let is_running = status.as_deref() == Some("in progress");
                let is_made: bool = client.query_one(WAS_MADE, &[&operation]).await?.get(0);
                Ok(if is_running && !is_made { None } else { Some(is_made) })
            });
            if let Ok(Some(made)) = made.await {
                return Some(made);
            }
            if !deadline.pause().await {
                return None;
            }
        }
    }

    async fn within<T>(
        &self,
        deadline: &Deadline,
        statements: impl Future<Output = Result<T, Failed>>,
    ) -> Result<T, Failed> {
        match tokio::time::timeout(deadline.request(), statements).await {
            Ok(answer) => answer,
            Err(_) => {
                self.drop_client();
                Err(Failed::Refused(FsError::TimedOut))
            }
        }
    }
}

/// Opens a connection. `notified` gets the text of each notification, and ends with the connection.
pub(super) async fn connect(
    config: &Config,
    notified: Option<UnboundedSender<String>>,
) -> Result<Client, tokio_postgres::Error> {
    if config.get_ssl_mode() == SslMode::Disable {
        let (client, connection) = config.connect(tokio_postgres::NoTls).await?;
        tokio::spawn(drive(connection, notified));
        return Ok(client);
    }
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    // Another part of the program may have installed one.
    let _ = provider.install_default();
    let tls = match ClientConfig::with_platform_verifier() {
        Ok(tls) => tls,
        // Without certificates to trust, no server is trusted.
        Err(_) => ClientConfig::builder().with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth(),
    };
    let (client, connection) = config.connect(MakeRustlsConnect::new(tls)).await?;
    tokio::spawn(drive(connection, notified));
    Ok(client)
}

/// Sends and receives on a connection until it ends.
async fn drive<S, T>(mut connection: tokio_postgres::Connection<S, T>, notified: Option<UnboundedSender<String>>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = std::future::poll_fn(|context| connection.poll_message(context)).await {
        if let (AsyncMessage::Notification(notification), Some(notified)) = (message, &notified) {
            // Whoever listened may have ended.
            let _ = notified.unbounded_send(notification.payload().into());
        }
    }
}

/// Returns why a store cannot be opened.
pub(super) fn attach_error(error: tokio_postgres::Error) -> AttachError {
    match error.code() {
        Some(&SqlState::INVALID_CATALOG_NAME) => AttachError::Missing("the database".into()),
        Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
            AttachError::Denied(text(&error))
        }
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => AttachError::Privilege(text(&error)),
        Some(&SqlState::ADMIN_SHUTDOWN | &SqlState::CRASH_SHUTDOWN | &SqlState::CANNOT_CONNECT_NOW) | None => {
            // Also a password that the server wants and nobody gave.
            if error.to_string().contains("password") {
                return AttachError::Denied("the server asks for a password".into());
            }
            AttachError::Unreachable(text(&error))
        }
        _ => AttachError::Other(text(&error)),
    }
}

fn late() -> AttachError {
    AttachError::Unreachable(format!("it did not answer in {} seconds", OPENING.as_secs()))
}

/// Returns the error to report if there is no time left to try again.
///
/// # Errors
///
/// Another attempt would fail too.
fn after(failed: Failed) -> Result<FsError, FsError> {
    let error = match failed {
        Failed::Refused(FsError::TimedOut) => return Ok(FsError::TimedOut),
        Failed::Refused(error) => return Err(error),
        Failed::Database(error) => error,
    };
    let shown = FsError::Other(text(&error));
    let Some(code) = error.code() else {
        // The connection is lost, or was refused.
        return Ok(shown);
    };
    match *code {
        // Nobody can tell the role from here, and who grants it the rest knows it.
        SqlState::INSUFFICIENT_PRIVILEGE => Err(FsError::Other(format!(
            "{}; let the owner of the tables run: GRANT SELECT, INSERT, UPDATE, DELETE ON saddlebag_file, saddlebag_operation \
             TO the role; GRANT USAGE ON SEQUENCE saddlebag_version TO the role",
            text(&error)
        ))),
        SqlState::READ_ONLY_SQL_TRANSACTION => Err(FsError::ReadOnly),
        SqlState::DISK_FULL | SqlState::OUT_OF_MEMORY => Err(FsError::NoSpace),
        SqlState::QUERY_CANCELED | SqlState::LOCK_NOT_AVAILABLE => {
            Ok(FsError::Locked("another writer holds the file".into()))
        }
        SqlState::T_R_SERIALIZATION_FAILURE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::ADMIN_SHUTDOWN
        | SqlState::CRASH_SHUTDOWN
        | SqlState::CANNOT_CONNECT_NOW
        | SqlState::TOO_MANY_CONNECTIONS
        | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => Ok(shown),
        _ => Err(shown),
    }
}

/// Returns the text of an error, without the address and without values of statements.
pub(super) fn text(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        return format!("the database says: {}", error.message());
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    format!("the database did not answer: {cause}")
}
