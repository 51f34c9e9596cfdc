//! The server of the database of the tests.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs statements on the database of the tests, and returns the first column of the last row.
#[allow(dead_code, reason = "a test in memory has no server")]
pub(crate) fn sql(statements: &str) -> Option<String> {
    let server = std::env::var("SADDLEBAG_TEST_POSTGRES").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        let rows = client.simple_query(statements).await.unwrap();
        rows.into_iter().rev().find_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => Some(row.get(0)?.to_string()),
            _ => None,
        })
    })
}

/// The server of the database of the tests, on this machine.
#[allow(dead_code, reason = "each test uses a part of it")]
pub(crate) struct Server {
    programs: PathBuf,
    data: PathBuf,
}

#[allow(dead_code, reason = "each test uses a part of it")]
impl Server {
    pub(crate) fn running() -> Self {
        let programs = sql("SELECT setting FROM pg_config WHERE name = 'BINDIR'").unwrap().into();
        Self { programs, data: sql("SHOW data_directory").unwrap().into() }
    }

    /// Kills the server and all its processes without a chance to write anything, and starts it again.
    pub(crate) fn kill_and_start(&self) {
        let all = sql("SELECT string_agg(pid::text, ' ') FROM pg_stat_activity WHERE pid <> pg_backend_pid()");
        let first = fs::read_to_string(self.data.join("postmaster.pid")).unwrap();
        let mut kill = Command::new("kill");
        kill.arg("-9").arg(first.lines().next().unwrap()).args(all.unwrap_or_default().split_whitespace());
        // Some have ended meanwhile.
        let _ = kill.stderr(Stdio::null()).status().unwrap();
        let end = Instant::now() + Duration::from_secs(60);
        // Until its processes have ended, their memory is in use.
        while !self.start() {
            assert!(Instant::now() < end, "the server does not start again");
        }
    }

    fn start(&self) -> bool {
        let mut restart = Command::new(self.programs.join("pg_ctl"));
        restart.arg("-D").arg(&self.data).arg("-l").arg(self.data.join("restarted.log")).args(["-w", "restart"]);
        // It refuses to run as root.
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            use std::os::unix::process::CommandExt as _;
            let owner = fs::metadata(&self.data).unwrap();
            if fs::metadata("/proc/self").is_ok_and(|own| own.uid() != owner.uid()) {
                restart.uid(owner.uid()).gid(owner.gid());
            }
        }
        restart.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        restart.status().unwrap().success()
    }
}
