//! The tables of a store, and the statements on them.

use std::time::Duration;

use tokio_postgres::Client;

use super::connection::attach_error;
use crate::error::AttachError;
use crate::types::Maintained;

/// Number of the newest migration that this program knows.
const NEWEST: i32 = MIGRATIONS.len() as i32;

/// Changes of the tables, oldest first. A released one never changes.
///
/// The trigger tells of changes only if a connection listens, whose name is that of the channel: transactions that notify are
/// committed one after the other. Each transaction that did not see the connection holds a lock until its end, for which the
/// connection waits before it counts on the notifications.
const MIGRATIONS: [&str; 2] = [
    "\
CREATE SEQUENCE saddlebag_version;
CREATE TABLE saddlebag_file (
    space text NOT NULL,
    path text COLLATE \"C\" NOT NULL,
    folder text COLLATE \"C\" NOT NULL,
    version bigint NOT NULL,
    modified timestamptz NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (space, path)
);
CREATE INDEX saddlebag_folder ON saddlebag_file (space, folder);
ALTER TABLE saddlebag_file ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE TABLE saddlebag_operation (id uuid PRIMARY KEY, made timestamptz NOT NULL DEFAULT clock_timestamp());
",
    "\
CREATE FUNCTION saddlebag_tell() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed text := coalesce(NEW.space, OLD.space);
    channel text := 'saddlebag_' || left(encode(sha256(convert_to(changed, 'UTF8')), 'hex'), 32);
BEGIN
    IF OLD.path !~ '(^|/)\\.saddlebag/' OR NEW.path !~ '(^|/)\\.saddlebag/' THEN
        PERFORM pg_advisory_xact_lock_shared(hashtext('saddlebag-listen'), hashtext(changed));
        IF EXISTS (SELECT FROM pg_stat_activity WHERE application_name = channel AND datname = current_database()) THEN
            PERFORM pg_notify(channel, coalesce(current_setting('saddlebag.client', true), ''));
        END IF;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER saddlebag_tell AFTER INSERT OR UPDATE OR DELETE ON saddlebag_file
    FOR EACH ROW EXECUTE FUNCTION saddlebag_tell();
",
];

pub(super) const READ: &str = "SELECT body, version FROM saddlebag_file WHERE space = $1 AND path = $2";
pub(super) const READ_AND_LOCK: &str =
    "SELECT body, version FROM saddlebag_file WHERE space = $1 AND path = $2 FOR UPDATE";
pub(super) const LOCK: &str = "SELECT version FROM saddlebag_file WHERE space = $1 AND path = $2 FOR UPDATE";
pub(super) const LOCK_SPACE: &str = "SELECT pg_advisory_xact_lock(hashtext('saddlebag'), hashtext($1))";
/// Waits for the transactions that may not have seen a new connection that listens.
pub(super) const WAIT_FOR_WRITERS: &str = "SELECT pg_advisory_lock(hashtext('saddlebag-listen'), hashtext($1))";
pub(super) const LET_WRITERS_GO_ON: &str = "SELECT pg_advisory_unlock(hashtext('saddlebag-listen'), hashtext($1))";
pub(super) const ANY_FILE: &str =
    "SELECT EXISTS (SELECT FROM saddlebag_file WHERE space = $1 AND path = ANY ($2::text[]))";
pub(super) const ANY_BELOW: &str =
    "SELECT EXISTS (SELECT FROM saddlebag_file WHERE space = $1 AND path >= $2 AND path < $3)";
/// Versions come from one sequence, so that none is used twice, even if a file is removed and created again.
pub(super) const INSERT: &str = "\
INSERT INTO saddlebag_file (space, path, folder, version, modified, body)
VALUES ($1, $2, $3, nextval('saddlebag_version'), clock_timestamp(), $4)
ON CONFLICT DO NOTHING RETURNING version";
pub(super) const UPDATE: &str = "\
UPDATE saddlebag_file SET version = nextval('saddlebag_version'), modified = clock_timestamp(), body = $3
WHERE space = $1 AND path = $2 RETURNING version";
pub(super) const KEEP: &str = "\
INSERT INTO saddlebag_file (space, path, folder, version, modified, body)
SELECT space, $3, $4, nextval('saddlebag_version'), clock_timestamp(), body FROM saddlebag_file
WHERE space = $1 AND path = $2
ON CONFLICT (space, path) DO UPDATE
SET version = excluded.version, modified = excluded.modified, body = excluded.body";
pub(super) const DELETE: &str = "DELETE FROM saddlebag_file WHERE space = $1 AND path = $2";
pub(super) const MOVE: &str = "\
UPDATE saddlebag_file SET path = $3, folder = $4, version = nextval('saddlebag_version')
WHERE space = $1 AND path = $2";
pub(super) const LIST: &str = "\
SELECT path, version, octet_length(body), modified FROM saddlebag_file WHERE space = $1 AND folder = $2
UNION ALL
SELECT DISTINCT $3 || split_part(substr(folder, length($3) + 1), '/', 1), NULL::bigint, NULL::integer, NULL::timestamptz
FROM saddlebag_file WHERE space = $1 AND folder >= $3 AND ($4 = '' OR folder < $4) AND folder <> ''";

/// Names of operations that no transaction asks for any more. One opening in fifty looks for them.
const FORGET_OPERATIONS: &str = "\
DELETE FROM saddlebag_operation
WHERE made < clock_timestamp() - interval '1 day' AND (SELECT random() < 0.02)";

/// Number of names that one statement counts or removes, so that it ends long before its time limit.
const BATCH: i64 = 1_000;

/// The first names after `$2`, how many of them are older than `$1` seconds, and the last one.
const COUNT: &str = "\
SELECT count(*) FILTER (WHERE made < clock_timestamp() - $1::bigint * interval '1 second'), count(*),
    max(id::text COLLATE \"C\")
FROM (SELECT id, made FROM saddlebag_operation WHERE id > $2::text::uuid ORDER BY id LIMIT $3) AS batch";
const REMOVE: &str = "\
DELETE FROM saddlebag_operation
WHERE id > $2::text::uuid AND id <= $3::text::uuid AND made < clock_timestamp() - $1::bigint * interval '1 second'";

/// Removes the next names of operations that are older than `grace`, which is at least a day, and adds them to `done`. Returns the last
/// name that was looked at; `None` if there are no more.
pub(super) async fn forget_operations(
    client: &Client,
    after: &str,
    grace: Duration,
    dry_run: bool,
    done: &mut Maintained,
) -> Result<Option<String>, AttachError> {
    let seconds = i64::try_from(grace.as_secs().max(24 * 60 * 60)).unwrap_or(i64::MAX);
    let row = client.query_one(COUNT, &[&seconds, &after, &BATCH]).await.map_err(attach_error)?;
    let (old, all, last): (i64, i64, Option<String>) = (row.get(0), row.get(1), row.get(2));
    done.left += u64::try_from(all - old).unwrap_or_default();
    let Some(last) = last else { return Ok(None) };
    if dry_run {
        done.old += u64::try_from(old).unwrap_or_default();
    } else if old > 0 {
        done.removed += client.execute(REMOVE, &[&seconds, &after, &last]).await.map_err(attach_error)?;
    }
    Ok(Some(last))
}

/// Brings the tables up to the newest layout.
pub(super) async fn migrate(client: &Client, create: bool) -> Result<(), AttachError> {
    let failed = attach_error;
    let encoding = client.query_one("SHOW server_encoding", &[]).await.map_err(failed)?;
    if encoding.get::<_, String>(0) != "UTF8" {
        return Err(AttachError::Unfit("keep text in UTF-8"));
    }
    let found = layout(client).await.map_err(failed)?;
    if found == 0 && !create {
        return Err(AttachError::NoStore);
    }
    if found > NEWEST {
        return Err(AttachError::Newer { found: found as u64, known: NEWEST as u64 });
    }
    if found == NEWEST {
        if create {
            // A role that can only read leaves it to others.
            drop(client.execute(FORGET_OPERATIONS, &[]).await);
        }
        return Ok(());
    }
    // One program migrates, and the others wait for it and find nothing to do.
    let begin = "BEGIN; SELECT pg_advisory_xact_lock(hashtext('saddlebag'), 0);
        CREATE TABLE IF NOT EXISTS saddlebag_layout (number integer NOT NULL)";
    client.batch_execute(begin).await.map_err(failed)?;
    let found = layout(client).await.map_err(failed)?;
    for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default()) {
        client.batch_execute(migration).await.map_err(failed)?;
    }
    let end = format!("DELETE FROM saddlebag_layout; INSERT INTO saddlebag_layout VALUES ({NEWEST}); COMMIT");
    client.batch_execute(&end).await.map_err(failed)
}

/// Returns the number of the newest migration that was made.
async fn layout(client: &Client) -> Result<i32, tokio_postgres::Error> {
    let exists = client.query_one("SELECT to_regclass('saddlebag_layout') IS NOT NULL", &[]).await?;
    if !exists.get::<_, bool>(0) {
        return Ok(0);
    }
    let number = client.query_opt("SELECT number FROM saddlebag_layout", &[]).await?;
    Ok(number.map_or(0, |row| row.get(0)))
}

/// Returns a token that differs from all earlier ones once a change was committed.
pub(super) async fn moment(client: &Client) -> Result<String, tokio_postgres::Error> {
    // A list of running transactions can be long. After a restore from a backup, their numbers are used again.
    let query = "SELECT md5(pg_current_snapshot()::text || pg_postmaster_start_time()::text)";
    Ok(client.query_one(query, &[]).await?.get(0))
}
