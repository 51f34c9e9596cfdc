//! [`Listening`]: a connection on which the database tells of changes.
//!
//! While somebody listens, each change of a file outside of the folders `.saddlebag` notifies, by a trigger, whoever made it. As long as the connection is
//! heard, the number of notifications is the token of the store, and nobody has to ask the database for one. A change of
//! another machine counts once its notification has arrived; one of this machine as soon as it is made. A lost connection is opened
//! again. Until then, the database is asked.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::channel::mpsc::unbounded;
use saddlebag::protocol::FsError;
use sha2::{Digest, Sha256};
use tokio::time::timeout;
use tokio_postgres::Config;

use super::connection::connect;
use super::schema::{LET_WRITERS_GO_ON, WAIT_FOR_WRITERS};
use crate::operation::new_operation;

/// Time without a notification after which the connection is tried.
const QUIET: Duration = Duration::from_secs(10);
/// Time that the answer to a trial may take.
const ANSWER: Duration = Duration::from_secs(5);
/// Time after which a connection that was not heard counts as lost.
const SILENCE: Duration = Duration::from_secs(20);
/// Pauses before a lost connection is opened again.
const PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// What a connection has heard.
pub(super) struct Listening {
    /// Name of this opening of the store, which the notifications of its own changes carry.
    pub(super) client: String,
    heard: Mutex<Heard>,
}

#[derive(Default)]
struct Heard {
    /// Name of the connection that listens, and when it was heard; `None` if there is no connection.
    connection: Option<(String, Instant)>,
    /// Number of changes.
    changes: u64,
}

/// Why a connection no longer listens.
enum Ended {
    Lost,
    /// Nobody needs it.
    Unused,
}

impl Listening {
    pub(super) fn new() -> Result<Self, FsError> {
        Ok(Self { client: new_operation()?, heard: Mutex::default() })
    }

    /// Returns the token of the store; `None` if the database has to be asked.
    pub(super) fn token(&self) -> Option<String> {
        let heard = self.lock();
        let (connection, at) = heard.connection.as_ref()?;
        (at.elapsed() < SILENCE).then(|| format!("heard-{connection}-{}", heard.changes))
    }

    /// Counts a change.
    pub(super) fn count(&self) {
        self.lock().changes += 1;
    }

    /// Begins to listen on a separate thread. `on_change` is called after changes, and when some may have been missed.
    pub(super) fn begin(
        self: &Arc<Self>,
        mut config: Config,
        space: &str,
        on_change: Box<dyn Fn() + Send>,
    ) -> Result<(), FsError> {
        let (listening, space) = (Arc::downgrade(self), space.to_string());
        // The trigger looks for this name.
        config.application_name(channel(&space));
        let failed = |error: std::io::Error| FsError::Other(error.to_string());
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().map_err(failed)?;
        let listen = move || runtime.block_on(listen(&config, &space, &listening, &on_change));
        std::thread::Builder::new().name("listen".into()).spawn(listen).map(|_| ()).map_err(failed)
    }

    /// Notes that a connection is heard, and what it told. Returns true if it is another one than before.
    fn hear(&self, name: &str, changes: u64) -> bool {
        let mut heard = self.lock();
        heard.changes += changes;
        heard.connection.replace((name.into(), Instant::now())).is_none()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the channel on which the trigger tells of a space.
fn channel(space: &str) -> String {
    let digest = Sha256::digest(space);
    format!("saddlebag_{}", digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect::<String>())
}

async fn listen(config: &Config, space: &str, listening: &Weak<Listening>, on_change: &(dyn Fn() + Send)) {
    let mut pause = PAUSE;
    loop {
        let begun = Instant::now();
        match hear(config, space, listening, on_change).await {
            Ok(Ended::Unused) => return,
            Ok(Ended::Lost) => tracing::debug!("the database no longer tells of changes"),
            Err(error) => tracing::debug!(%error, "the database does not tell of changes"),
        }
        let Some(listening) = listening.upgrade() else { return };
        if listening.lock().connection.take().is_some() {
            on_change();
        }
        drop(listening);
        if begun.elapsed() > LONGEST_PAUSE {
            pause = PAUSE;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Listens on one connection until it is lost.
async fn hear(
    config: &Config,
    space: &str,
    listening: &Weak<Listening>,
    on_change: &(dyn Fn() + Send),
) -> Result<Ended, tokio_postgres::Error> {
    let (sender, mut notifications) = unbounded();
    let client = connect(config, Some(sender)).await?;
    client.batch_execute(&format!("LISTEN {}", channel(space))).await?;
    client.query(WAIT_FOR_WRITERS, &[&space]).await?;
    client.query(LET_WRITERS_GO_ON, &[&space]).await?;
    // Changes before this moment are in the first listing. A new name makes it necessary.
    let Ok(name) = new_operation() else { return Ok(Ended::Lost) };
    let mut others = 0;
    loop {
        let Some(listening) = listening.upgrade() else { return Ok(Ended::Unused) };
        let is_new = listening.hear(&name, others);
        let own = listening.client.clone();
        drop(listening);
        if is_new || others > 0 {
            on_change();
        }
        others = match timeout(QUIET, notifications.next()).await {
            // A change of this opening was counted when it was made.
            Ok(Some(by)) if by == own => {
                on_change();
                0
            }
            Ok(Some(_)) => 1,
            Ok(None) => return Ok(Ended::Lost),
            Err(_) if matches!(timeout(ANSWER, client.simple_query("")).await, Ok(Ok(_))) => 0,
            Err(_) => return Ok(Ended::Lost),
        };
    }
}
