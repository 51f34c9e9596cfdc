//! Servers of stores: MiniStack of PyPI, which speaks S3, and PostgreSQL of Debian. They are started on the loopback interface, and
//! stopped when the tests are over.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::clients::apt_get;
use crate::install::{self, PYTHON};
use crate::run::{cargo_with, quiet};

/// Folder of the requirement that names the version of MiniStack.
const REQUIREMENTS: &str = "remote/tests";

/// Features of the program with stores on servers.
const FEATURES: [&str; 3] = ["--no-default-features", "--features", "native,server,s3,postgres"];

/// Arguments of cargo for the package of such stores.
const STORE: [&str; 4] = ["--package", "saddlebag-remote", "--features", "s3,postgres"];

/// Variables of the long tests.
const LONG: [(&str, &str); 2] = [("SADDLEBAG_TEST_ROUNDS", "10"), ("SADDLEBAG_TEST_KILLS", "500")];

/// Time that a server has to start.
const STARTING: Duration = Duration::from_secs(60);

/// User of PostgreSQL, which refuses to run as root: `nobody`.
#[cfg(unix)]
const UNPRIVILEGED: u32 = 65_534;

/// How long the tests are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// One round, and few killed clients.
    Short,
    /// Ten rounds, and a thousand killed clients.
    Full,
}

/// Tests the stores on every server that can be started here, and names those that cannot.
pub(crate) fn test(length: Length) -> Result<(), String> {
    let servers = Servers::start()?;
    let mut environment = servers.environment();
    if length == Length::Full {
        environment.extend(LONG.map(|(name, value)| (name, value.into())));
    }
    let environment: Vec<(&str, &str)> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let lints = ["--all-targets", "--quiet", "--", "--deny", "warnings"];
    cargo_with(["clippy"].into_iter().chain(STORE).chain(lints), &[])?;
    let program_lints =
        ["--package", "saddlebag-cli"].into_iter().chain(FEATURES).chain(["--quiet", "--", "--deny", "warnings"]);
    cargo_with(["clippy"].into_iter().chain(program_lints), &[])?;
    cargo_with(
        ["test", "--quiet"].into_iter().chain(STORE).chain(["--", "--nocapture", "--test-threads", "1"]),
        &environment,
    )?;
    let program = ["--package", "saddlebag-cli"].into_iter().chain(FEATURES);
    let tests = ["--bin", "saddlebag", "--test", "program", "--", "--nocapture", "remote::"];
    let tested = ["test", "--quiet"].into_iter().chain(program).chain(tests);
    let result = cargo_with(tested, &environment);
    drop(servers);
    // Other tests run the program with its usual features, which has the same place.
    result.and(cargo_with(["build", "--quiet", "--bin", "saddlebag"], &[]))
}

/// The servers that could be started. They stop when this goes.
struct Servers {
    /// Address of MiniStack.
    endpoint: Option<String>,
    ministack: Option<Child>,
    postgres: Option<Postgres>,
}

impl Servers {
    fn start() -> Result<Self, String> {
        let mut servers = Self { endpoint: None, ministack: None, postgres: None };
        match servers.start_ministack() {
            Ok(endpoint) => servers.endpoint = Some(endpoint),
            Err(error) => eprintln!("left out: stores in a bucket, because MiniStack cannot be started: {error}"),
        }
        match Postgres::start() {
            Ok(postgres) => servers.postgres = Some(postgres),
            Err(error) => eprintln!("left out: stores in a database, because PostgreSQL cannot be started: {error}"),
        }
        if servers.endpoint.is_none() && servers.postgres.is_none() {
            return Err(
                "no server can be started: install PostgreSQL, or Python 3.10 or later with venv and pip".into()
            );
        }
        Ok(servers)
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        let mut environment = Vec::new();
        if let Some(endpoint) = &self.endpoint {
            environment.extend([
                ("NO_PROXY", "127.0.0.1".into()),
                ("AWS_ENDPOINT_URL", endpoint.clone()),
                ("AWS_ACCESS_KEY_ID", "test".into()),
                ("AWS_SECRET_ACCESS_KEY", "test".into()),
                ("AWS_REGION", "us-east-1".into()),
                ("SADDLEBAG_TEST_S3", "s3://notes/memory".into()),
            ]);
        }
        if let Some(Postgres { port, .. }) = &self.postgres {
            let address = format!("postgres://saddlebag@127.0.0.1:{port}/memory?sslmode=disable");
            // It is this program's own server.
            environment
                .extend([("SADDLEBAG_TEST_POSTGRES", address), ("SADDLEBAG_TEST_MAY_KILL_POSTGRES", "1".into())]);
        }
        environment
    }

    /// Starts MiniStack with a bucket. Returns its address.
    fn start_ministack(&mut self) -> Result<String, String> {
        let folder = install::folder("ministack")?;
        install::python(PYTHON, REQUIREMENTS, &folder)?;
        let port = free_port()?;
        let mut server = Command::new(install::in_environment(&folder, "ministack"));
        server.env("BIND_HOST", "127.0.0.1").env("SERVICES", "s3").env("GATEWAY_PORT", port.to_string());
        server.stdout(Stdio::null()).stderr(Stdio::null());
        self.ministack = Some(server.spawn().map_err(|error| error.to_string())?);
        wait_for(port)?;
        let endpoint = format!("http://127.0.0.1:{port}");
        create_bucket(&endpoint)?;
        Ok(endpoint)
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        if let Some(ministack) = &mut self.ministack {
            let _ = ministack.kill().and_then(|()| ministack.wait().map(|_| ()));
        }
    }
}

/// A cluster of PostgreSQL in a separate folder.
struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
}

impl Postgres {
    fn start() -> Result<Self, String> {
        let programs = Self::programs()?;
        let folder = std::env::temp_dir().join(format!("saddlebag-postgres-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).map_err(|error| error.to_string())?;
        let postgres = Self { programs, folder, port: free_port()? };
        #[cfg(unix)]
        if is_root() {
            std::os::unix::fs::chown(&postgres.folder, Some(UNPRIVILEGED), Some(UNPRIVILEGED))
                .map_err(|error| error.to_string())?;
        }
        let data = postgres.data();
        postgres.run("initdb", &["-D", &data, "-U", "saddlebag", "-A", "trust", "-E", "UTF8", "--no-locale"])?;
        let options = format!("-c listen_addresses=127.0.0.1 -p {} -c unix_socket_directories=", postgres.port);
        let log = postgres.folder.join("log").display().to_string();
        postgres.run("pg_ctl", &["-D", &data, "-l", &log, "-o", &options, "-w", "start"])?;
        let port = postgres.port.to_string();
        postgres.run("createdb", &["-h", "127.0.0.1", "-p", &port, "-U", "saddlebag", "memory"])?;
        Ok(postgres)
    }

    /// Returns the folder of the programs, of which Debian puts only the clients on the path.
    fn programs() -> Result<PathBuf, String> {
        let find = || {
            let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
            let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
            folders.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
            folders.into_iter().find(|folder| folder.join("initdb").exists())
        };
        if let Some(found) = find() {
            return Ok(found);
        }
        apt_get(&["postgresql"])?;
        find().ok_or_else(|| "its package has no `initdb`".into())
    }

    fn data(&self) -> String {
        self.folder.join("data").display().to_string()
    }

    /// Runs a program of PostgreSQL, as a user that it accepts.
    fn run(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        let mut command = Command::new(self.programs.join(program));
        command.args(arguments).current_dir(&self.folder).stdout(Stdio::null());
        // `pg_ctl` hands its output on to the server, which would keep a pipe open.
        command.stderr(Stdio::null()).stdin(Stdio::null());
        #[cfg(unix)]
        if is_root() {
            use std::os::unix::process::CommandExt as _;
            command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
        }
        let status = command.status().map_err(|error| format!("{program}: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("`{program}` failed")) }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let _ = self.run("pg_ctl", &["-D", &self.data(), "-m", "immediate", "-w", "stop"]);
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Creates the bucket of the tests.
fn create_bucket(endpoint: &str) -> Result<(), String> {
    let bucket = format!("{endpoint}/notes");
    let signed = ["--user", "test:test", "--aws-sigv4", "aws:amz:us-east-1:s3"];
    let create = ["--silent", "--fail", "--retry", "5", "--request", "PUT", &bucket];
    let header = ["--header", "x-amz-content-sha256: UNSIGNED-PAYLOAD"];
    quiet("curl", [&create[..], &signed, &header].concat(), &[])
}

#[cfg(unix)]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    // The owner of what this process owns.
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    listener.local_addr().map(|address| address.port()).map_err(|error| error.to_string())
}

fn wait_for(port: u16) -> Result<(), String> {
    let end = Instant::now() + STARTING;
    while Instant::now() < end {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(100));
    }
    Err(format!("it does not listen after {} seconds", STARTING.as_secs()))
}
