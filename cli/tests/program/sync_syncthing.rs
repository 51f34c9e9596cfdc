//! `saddlebag sync` with real Syncthing: two instances on this machine, each with the folder of a store.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::machines::Machines;
use saddlebag_tests_attributes::nightly;

/// Maximum time until a change reaches the other instance.
const LIMIT: Duration = Duration::from_secs(120);

/// An instance that is stopped at the end.
struct Instance(Child);

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn syncthing(machines: &Machines, name: &str) -> Command {
    let mut command = Command::new("syncthing");
    // Without a second process, which would live on when the first one is stopped.
    command.env("STMONITORED", "yes").env("STNOUPGRADE", "1");
    command.env("HOME", machines.folder.join("home")).stdin(Stdio::null());
    command.args(["--home", home(machines, name).to_str().expect("text")]);
    command
}

fn home(machines: &Machines, name: &str) -> PathBuf {
    machines.folder.join(format!("syncthing-{name}"))
}

/// Makes the keys and the settings of both instances. They know each other, and nobody else.
fn configure(machines: &Machines) {
    let held = ["a", "b"].map(|_| TcpListener::bind("127.0.0.1:0").expect("a port"));
    let ports = held.each_ref().map(|held| held.local_addr().expect("an address").port());
    let identify = |name: &str| {
        let mut command = Command::new("syncthing");
        command.args(["generate", "--no-default-folder", "--skip-port-probing", "--home"]).arg(home(machines, name));
        let made = command.env("HOME", machines.folder.join("home")).output().expect("syncthing runs");
        assert!(made.status.success(), "{made:?}");
        let id = syncthing(machines, name).arg("--device-id").output().expect("syncthing runs");
        String::from_utf8(id.stdout).expect("text").trim().to_string()
    };
    let ids = ["a", "b"].map(identify);
    for (name, port) in ["a", "b"].into_iter().zip(ports) {
        let members: String = ids.iter().map(|id| format!("<device id=\"{id}\"></device>")).collect();
        let devices: String = ids
            .iter()
            .zip(ports)
            .map(|(id, port)| format!("<device id=\"{id}\"><address>tcp://127.0.0.1:{port}</address></device>"))
            .collect();
        let root = machines.root(name);
        let settings = format!(
            "<configuration version=\"36\"><folder id=\"memory\" path=\"{}\" type=\"sendreceive\" rescanIntervalS=\"1\" \
             fsWatcherEnabled=\"false\">{members}<maxConflicts>10</maxConflicts></folder>{devices}<gui enabled=\"false\"></gui><options>\
             <listenAddress>tcp://127.0.0.1:{port}</listenAddress><globalAnnounceEnabled>false</globalAnnounceEnabled>\
             <localAnnounceEnabled>false</localAnnounceEnabled><relaysEnabled>false</relaysEnabled>\
             <natEnabled>false</natEnabled><startBrowser>false</startBrowser><urAccepted>-1</urAccepted>\
             <reconnectionIntervalS>1</reconnectionIntervalS><crashReportingEnabled>false</crashReportingEnabled>\
             </options></configuration>",
            root.display()
        );
        fs::write(home(machines, name).join("config.xml"), settings).expect("written");
        // Syncthing stops if the folder has no mark that it made.
        fs::create_dir(root.join(".stfolder")).expect("made");
    }
}

fn start(machines: &Machines, name: &str) -> Instance {
    let mut command = syncthing(machines, name);
    command.args(["--no-browser", "--no-restart"]).stdout(Stdio::null()).stderr(Stdio::null());
    Instance(command.spawn().expect("syncthing starts"))
}

#[track_caller]
fn wait(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LIMIT, "{what}: not within {} s", LIMIT.as_secs());
        sleep(Duration::from_millis(200));
    }
}

fn copies(machines: &Machines, name: &str) -> usize {
    let files = fs::read_dir(machines.file(name, "facts")).into_iter().flatten().flatten();
    files.filter(|file| file.file_name().to_string_lossy().contains(".sync-conflict-")).count()
}

#[nightly]
fn edits_that_real_syncthing_could_not_merge_are_merged() {
    if Command::new("syncthing").arg("--version").output().is_err() {
        eprintln!("skipped: syncthing is missing; `apt-get install syncthing` installs it");
        return;
    }
    let Some(machines) = Machines::new(&["a", "b"]) else { return };
    machines
        .run("a", &["remember", "Plan", "First we dig the ditch.\n\nThen we rest.\n\nThen we fill the pond."])
        .exits(0);
    machines.run("a", &["remember", "--user", "Mine", "Of one machine."]).exits(0);
    for name in ["a", "b"] {
        machines.run(name, &["setup", "syncthing", "--yes"]).exits(0);
    }
    configure(&machines);
    let text = |name: &str| fs::read_to_string(machines.file(name, "facts/plan.md")).unwrap_or_default();
    {
        let _running = ["a", "b"].map(|name| start(&machines, name));
        wait("the note comes to b", || text("b") == text("a"));
    }
    machines.run("a", &["edit", "Plan", "--old", "dig the ditch", "--new", "dig the deep ditch"]).exits(0);
    machines.run("b", &["edit", "Plan", "--old", "fill the pond", "--new", "keep the pond"]).exits(0);
    let _running = ["a", "b"].map(|name| start(&machines, name));
    wait("a copy is on both", || copies(&machines, "a") == 1 && copies(&machines, "b") == 1);
    let synced = machines.run("a", &["--json", "sync"]).exits(0).json();
    let [copy] = synced["copies"].as_array().expect("a list").as_slice() else { panic!("{synced}") };
    assert!(copy["has_ancestor"] == true && copy["conflicts"] == 0, "{synced}");
    wait("the merge comes to b", || text("b") == text("a") && copies(&machines, "b") == 0);
    let plan = text("a");
    assert!(plan.contains("First we dig the deep ditch.\n\nThen we rest.\n\nThen we keep the pond."), "{plan}");
    assert_eq!(copies(&machines, "a"), 0);
    let tree = machines.tree("b");
    assert!(!tree.keys().any(|path| path.to_string_lossy().contains("mine.md")), "only what is marked: {tree:?}");
}
