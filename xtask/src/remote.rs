//! Servers of stores: MiniStack of PyPI and Ceph of Debian, which speak S3, and PostgreSQL of Debian. They are started on the loopback
//! interface, and stopped when the tests are over.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Name of the cluster of Ceph and of its disk.
const DISK: &str = "5add1eba-0000-4000-8000-000000000001";

/// Time after which clients have given up a gateway, in seconds: longer than a request is tried again.
const GIVEN_UP: u64 = 25;

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
    let result = result.and_then(|()| if length == Length::Full { test_on_ceph() } else { Ok(()) });
    // Other tests run the program with its usual features, which has the same place.
    result.and(cargo_with(["build", "--quiet", "--bin", "saddlebag"], &[]))
}

/// Tests a bucket of Ceph, with clients of two gateways, one of which is then killed again and again.
fn test_on_ceph() -> Result<(), String> {
    let mut ceph = match Ceph::start() {
        Ok(ceph) => ceph,
        Err(error) => {
            eprintln!("left out: stores on Ceph with two gateways, because it cannot be started: {error}");
            return Ok(());
        }
    };
    let mut environment = bucket_environment(&ceph.endpoint(0), "s3://notes/memory");
    environment.push(("SADDLEBAG_TEST_GATEWAY", ceph.endpoint(1)));
    environment.extend(LONG.map(|(name, value)| (name, value.into())));
    let environment: Vec<(&str, &str)> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let test = |options: &[&str]| {
        let arguments = ["test", "--quiet"].iter().chain(options);
        cargo_with(arguments, &environment)
    };
    // Ceph deletes without a condition, so it keeps its tombstones.
    let skipped = ["--skip", "database", "--skip", "tombstones", "--skip", "many_clients"];
    let races = ["--test", "servers", "--", "--nocapture", "--test-threads", "1"];
    test(&[&STORE[..], &races, &skipped].concat())?;
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let killer = scope.spawn(|| ceph.kill_a_gateway_until(&is_over));
        let tested = test(&[&STORE[..], &races, &["two_gateways"]].concat());
        is_over.store(true, Ordering::SeqCst);
        let kills = killer.join().map_err(|_| "the thread panicked".to_string())??;
        eprintln!("a gateway was killed {kills} times");
        tested
    })
}

/// The servers that could be started. They stop when this goes.
struct Servers {
    /// Address of a store in a bucket.
    bucket: Option<String>,
    endpoint: Option<String>,
    /// Address of a store in a database.
    database: Option<String>,
    ministack: Option<Child>,
    postgres: Option<Postgres>,
}

impl Servers {
    fn start() -> Result<Self, String> {
        let mut servers = Self { bucket: None, endpoint: None, database: None, ministack: None, postgres: None };
        match servers.start_ministack() {
            Ok(endpoint) => {
                servers.endpoint = Some(endpoint);
                servers.bucket = Some("s3://notes/memory".into());
            }
            Err(error) => eprintln!("left out: stores in a bucket, because MiniStack cannot be started: {error}"),
        }
        match Postgres::start() {
            Ok(postgres) => {
                servers.database =
                    Some(format!("postgres://saddlebag@127.0.0.1:{}/memory?sslmode=disable", postgres.port));
                servers.postgres = Some(postgres);
            }
            Err(error) => eprintln!("left out: stores in a database, because PostgreSQL cannot be started: {error}"),
        }
        if servers.bucket.is_none() && servers.database.is_none() {
            return Err(
                "no server can be started: install PostgreSQL, or Python 3.10 or later with venv and pip".into()
            );
        }
        Ok(servers)
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        let mut environment = Vec::new();
        if let (Some(endpoint), Some(bucket)) = (&self.endpoint, &self.bucket) {
            environment.extend(bucket_environment(endpoint, bucket));
        }
        environment.extend(self.database.clone().map(|database| ("SADDLEBAG_TEST_POSTGRES", database)));
        // It is this program's own server.
        environment.extend(self.database.iter().map(|_| ("SADDLEBAG_TEST_MAY_KILL_POSTGRES", "1".to_string())));
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

/// A cluster of Ceph in memory, with two gateways that speak S3. Its files are in a separate folder.
struct Ceph {
    folder: PathBuf,
    gateways: [u16; 2],
    /// The last is the second gateway.
    processes: Vec<Child>,
}

impl Ceph {
    fn start() -> Result<Self, String> {
        let is_there = |program: &&str| {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).any(|folder| folder.join(program).exists())
        };
        if !["ceph", "ceph-mon", "ceph-osd", "radosgw", "radosgw-admin"].iter().all(is_there) {
            apt_get(&["ceph-common", "ceph-mon", "ceph-osd", "radosgw"])?;
        }
        let folder = std::env::temp_dir().join(format!("saddlebag-ceph-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("osd")).map_err(|error| error.to_string())?;
        let mut ceph = Self { folder, gateways: [free_port()?, free_port()?], processes: Vec::new() };
        fs::write(ceph.configuration(), ceph.settings(free_port()?)).map_err(|error| error.to_string())?;
        ceph.run("ceph-mon", &["--mkfs", "-i", "a"])?;
        ceph.spawn("ceph-mon", &["-i", "a"])?;
        ceph.run("ceph", &["--connect-timeout", "60", "osd", "new", DISK])?;
        ceph.run("ceph-osd", &["--mkfs", "-i", "0", "--osd-uuid", DISK])?;
        ceph.spawn("ceph-osd", &["-i", "0"])?;
        let user = ["--uid", "test", "--display-name", "test", "--access-key", "test", "--secret-key", "test"];
        ceph.run("radosgw-admin", &[&["user", "create"], &user[..]].concat())?;
        ceph.spawn("radosgw", &["-n", "client.rgw.0"])?;
        ceph.spawn("radosgw", &["-n", "client.rgw.1"])?;
        for port in ceph.gateways {
            wait_for(port)?;
        }
        create_bucket(&ceph.endpoint(0))?;
        Ok(ceph)
    }

    fn configuration(&self) -> String {
        self.folder.join("ceph.conf").display().to_string()
    }

    /// Returns the settings of all processes: one copy of everything, no keys, and nothing outside the folder.
    fn settings(&self, monitor: u16) -> String {
        let (folder, [first, second]) = (self.folder.display(), self.gateways);
        format!(
            "[global]
fsid = {DISK}
mon_host = v1:127.0.0.1:{monitor}
mon_initial_members = a
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
keyring = {folder}/keyring
run_dir = {folder}
crash_dir = {folder}
log_to_file = false
mon_cluster_log_to_file = false
mon_data = {folder}/mon
osd_data = {folder}/osd
rgw_data = {folder}
osd_objectstore = memstore
memstore_device_bytes = 4294967296
mon_allow_pool_size_one = true
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 8
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
[osd]
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
[client.admin]
rados_osd_op_timeout = 60
[client.rgw.0]
rgw_frontends = beast endpoint=127.0.0.1:{first} tcp_nodelay=1
[client.rgw.1]
rgw_frontends = beast endpoint=127.0.0.1:{second} tcp_nodelay=1
"
        )
    }

    fn endpoint(&self, gateway: usize) -> String {
        format!("http://127.0.0.1:{}", self.gateways[gateway])
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        let configuration = self.configuration();
        let arguments = ["-c", &configuration].into_iter().chain(arguments.iter().copied());
        quiet(program, arguments, &[])
    }

    /// Starts a process that runs until it is killed.
    fn spawn(&mut self, program: &str, arguments: &[&str]) -> Result<(), String> {
        let mut command = Command::new(program);
        command.args(["-f", "-c", &self.configuration()]).args(arguments).current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.processes.push(command.spawn().map_err(|error| format!("{program}: {error}"))?);
        Ok(())
    }

    /// Kills the second gateway every few seconds. It is started again at once, or after clients have given it up. Returns the
    /// number of kills.
    fn kill_a_gateway_until(&mut self, is_over: &AtomicBool) -> Result<u32, String> {
        let wait = |seconds| {
            let end = Instant::now() + Duration::from_secs(seconds);
            while Instant::now() < end && !is_over.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(100));
            }
        };
        let mut kills = 0;
        while !is_over.load(Ordering::SeqCst) {
            wait(3);
            if let Some(mut gateway) = self.processes.pop() {
                gateway.kill().and_then(|()| gateway.wait()).map_err(|error| error.to_string())?;
                kills += 1;
            }
            wait(if kills % 4 == 0 { GIVEN_UP } else { 0 });
            self.spawn("radosgw", &["-n", "client.rgw.1"])?;
            wait_for(self.gateways[1])?;
        }
        Ok(kills)
    }
}

impl Drop for Ceph {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().rev() {
            let _ = process.kill().and_then(|()| process.wait().map(|_| ()));
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns the variables of a store in a bucket.
fn bucket_environment(endpoint: &str, bucket: &str) -> Vec<(&'static str, String)> {
    vec![
        ("NO_PROXY", "127.0.0.1".into()),
        ("AWS_ENDPOINT_URL", endpoint.into()),
        ("AWS_ACCESS_KEY_ID", "test".into()),
        ("AWS_SECRET_ACCESS_KEY", "test".into()),
        ("AWS_REGION", "us-east-1".into()),
        ("SADDLEBAG_TEST_S3", bucket.into()),
    ]
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
