//! Stores on a server, through the program, for several machines. `cargo xtask test --remote` starts the servers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::support::{Run, Store, engine, run, tree_of};

/// A project on each of several machines, and a store that all of them reach.
struct Machines {
    project: Store,
    address: String,
}

impl Machines {
    /// Returns the machines; `None` if the variable names no server.
    fn new(variable: &str, name: &str) -> Option<Self> {
        let Ok(server) = std::env::var(variable) else {
            eprintln!("left out: {variable} names no server; `cargo xtask test --remote` starts one");
            return None;
        };
        let separator = if server.starts_with("s3:") { "/" } else { "&space=" };
        let unique = saddlebag_host::new_operation();
        Some(Self { project: Store::new(), address: format!("{server}{separator}{name}-{unique}") })
    }

    fn command(&self, machine: &str, arguments: &[&str]) -> Command {
        let options = ["--engine", &engine(), "--root", &self.address, "--machine", machine];
        let mut command = self.project.bare(&options);
        if machine == "one" {
            command.arg("--cache").arg(self.project.here.join("cache"));
        }
        command.args(arguments);
        command
    }

    #[track_caller]
    fn run(&self, machine: &str, arguments: &[&str]) -> Run {
        run(&mut self.command(machine, arguments), None).exits(0)
    }
}

/// What two people do with one memory on a day.
fn a_day(machines: &Machines) {
    let said = machines.run("one", &["status"]).stdout;
    let tried: Vec<&str> = said.lines().filter(|line| line.starts_with("the server can")).collect();
    assert!(!tried.is_empty() && tried.iter().all(|line| line.ends_with(": yes")), "{said}");
    machines.run("one", &["remember", "Deploy plan", "We deploy on Thursdays. See [[Staging]]."]);
    machines.run("two", &["remember", "Staging", "Staging listens on port 8080."]);
    assert!(machines.run("two", &["recall", "when do we deploy"]).stdout.contains("Thursdays"));
    machines.run("one", &["edit", "staging", "--old", "8080", "--new", "8443"]);
    machines.run("two", &["move", "staging", "Staging servers"]);
    assert!(machines.run("one", &["show", "deploy-plan"]).stdout.contains("[[Staging servers]]"));
    machines.run("two", &["undo"]);
    assert!(machines.run("one", &["show", "staging"]).stdout.contains("8443"));
    machines.run("one", &["forget", "staging"]);
    assert!(!machines.run("two", &["list"]).stdout.contains("staging"));
    machines.run("two", &["undo"]);
    assert!(machines.run("one", &["show", "staging"]).stdout.contains("8443"));
}

#[test]
fn two_machines_work_on_one_memory_in_a_bucket() {
    if let Some(machines) = Machines::new("SADDLEBAG_TEST_S3", "day") {
        a_day(&machines);
    }
}

#[test]
fn two_machines_work_on_one_memory_in_a_database() {
    if let Some(machines) = Machines::new("SADDLEBAG_TEST_POSTGRES", "day") {
        a_day(&machines);
    }
}

/// Runs a command whose requests are shown on standard error.
#[track_caller]
fn shown_requests(machines: &Machines, arguments: &[&str]) -> Vec<String> {
    let mut command = machines.command("two", arguments);
    command.env("SADDLEBAG_LOG", "trace").env("PGPASSWORD", "hunter2");
    let shown = run(&mut command, None).exits(0).stderr;
    for secret in ["hunter2", "Signature", "Credential", "Authorization"] {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
    let requests = shown.lines().filter(|line| line.contains("saddlebag_remote") && line.contains("request "));
    requests.map(ToString::to_string).collect()
}

#[test]
fn a_command_shows_its_requests_and_opens_the_store_once() {
    for (variable, opening) in [("SADDLEBAG_TEST_S3", "/saddlebag.json"), ("SADDLEBAG_TEST_POSTGRES", "\"connect\"")] {
        let Some(machines) = Machines::new(variable, "requests") else { continue };
        machines.run("two", &["remember", "Staging", "Staging listens on port 8080."]);
        for arguments in [&["recall", "which port"] as &[&str], &["show", "staging"], &["log", "Ports", "checked"]] {
            let requests = shown_requests(&machines, arguments);
            eprintln!("{variable}, {}: {} requests", arguments.join(" "), requests.len());
            let openings = requests.iter().filter(|request| request.contains(opening)).count();
            assert_eq!(openings, 1, "{variable}: {requests:#?}");
            let is_whole =
                |line: &String| ["kind=", "milliseconds=", "retries=0"].iter().all(|part| line.contains(part));
            assert!(requests.iter().all(is_whole), "{requests:#?}");
            assert!(requests.iter().any(|request| request.contains("staging.md")) || arguments[0] == "log");
        }
    }
}

#[cfg(feature = "server")]
#[test]
fn a_server_on_a_database_is_told_what_another_machine_writes() {
    use std::time::{Duration, Instant};

    use serde_json::json;

    use crate::mcp::client::Pipes;

    let Some(machines) = Machines::new("SADDLEBAG_TEST_POSTGRES", "told") else { return };
    machines.run("one", &["remember", "Staging", "Staging listens on port 8080."]);
    let mut client = Pipes::from_command(machines.command("two", &["mcp"])).open();
    let resources = client.result("resources/list", json!({}))["resources"].clone();
    let uris = resources.as_array().unwrap().iter().filter_map(|resource| resource["uri"].as_str());
    let note = uris.into_iter().find(|uri| uri.ends_with("staging.md")).unwrap().to_string();
    client.result("resources/subscribe", json!({ "uri": note }));
    let recall = json!({ "query": "staging port" });
    assert!(client.call("mem_recall", recall.clone()).to_string().contains("8080"));
    machines.run("one", &["edit", "staging", "--old", "8080", "--new", "8443"]);
    let told = client.notification("notifications/resources/updated");
    assert_eq!(told["params"]["uri"], note.as_str());
    let end = Instant::now() + Duration::from_secs(10);
    while !client.call("mem_recall", recall.clone()).to_string().contains("8443") {
        assert!(Instant::now() < end, "the server does not see the change");
    }
}

#[test]
fn logs_of_processes_at_the_same_time_are_all_there() {
    for variable in ["SADDLEBAG_TEST_S3", "SADDLEBAG_TEST_POSTGRES"] {
        let Some(machines) = Machines::new(variable, "logs") else { continue };
        thread::scope(|scope| {
            for writer in 0..4 {
                let machines = &machines;
                scope.spawn(move || {
                    for entry in 0..5 {
                        let name = format!("machine{writer}");
                        machines.run(&name, &["log", &format!("entry {writer}-{entry}"), "done"]);
                    }
                });
            }
        });
        let log = machines.run("one", &["today"]).stdout;
        for (writer, entry) in (0..4).flat_map(|writer| (0..5).map(move |entry| (writer, entry))) {
            assert_eq!(log.matches(&format!("entry {writer}-{entry}")).count(), 1, "{variable}: {log}");
        }
    }
}

#[test]
fn a_store_is_copied_through_every_engine_and_back() {
    let (Ok(bucket), Ok(database)) = (std::env::var("SADDLEBAG_TEST_S3"), std::env::var("SADDLEBAG_TEST_POSTGRES"))
    else {
        eprintln!("left out: SADDLEBAG_TEST_S3 or SADDLEBAG_TEST_POSTGRES names no server");
        return;
    };
    let store = Store::new();
    for name in ["one", "two words", "grüße", "100%"] {
        store.run(&["remember", name, &format!("Text of {name}.\n\n{}", "x".repeat(200))]).exits(0);
    }
    let unique = saddlebag_host::new_operation();
    let copied = store.here.join("copied").display().to_string();
    let stops = [
        store.root.display().to_string(),
        format!("{bucket}/copy-{unique}"),
        format!("{database}&space=copy-{unique}"),
        copied.clone(),
    ];
    for pair in stops.windows(2) {
        let first = store.run(&["--json", "copy", &pair[0], &pair[1]]).exits(0).json();
        let again = store.run(&["--json", "copy", &pair[0], &pair[1]]).exits(0).json();
        assert_eq!((&first["already_there"], &again["copied"]), (&0.into(), &0.into()));
        assert_eq!(first["copied"], again["already_there"]);
    }
    let notes = |folder: &Path| {
        // A bucket has no empty folders.
        let files = tree_of(folder).into_iter().filter(|(_, bytes)| !bytes.is_empty());
        let files = files.map(|(path, bytes)| (path.strip_prefix(folder).unwrap().to_path_buf(), bytes));
        files.collect::<BTreeMap<PathBuf, Vec<u8>>>()
    };
    assert!(notes(&store.root).len() >= 4);
    assert_eq!(notes(&store.root), notes(Path::new(&copied)));
    fs::write(store.here.join("copied/MEMORY.md"), "another").unwrap();
    let refused = store.run(&["copy", &stops[0], &copied]).exits(3).complains("MEMORY.md");
    assert!(refused.stderr.contains("nothing was changed"), "{refused:?}");
}

#[test]
fn a_store_that_cannot_be_opened_is_named_with_the_way_out_and_without_secrets() {
    let store = Store::new();
    let open = |root: &str, set: &[(&str, &str)]| {
        let mut command = store.bare(&["--engine", &engine(), "--root", root, "list"]);
        command.envs(set.iter().copied());
        run(&mut command, None)
    };
    let refused = open("postgres://ann:hunter2@127.0.0.1/memory", &[]).exits(2).complains("contains no password");
    assert!(!refused.stderr.contains("hunter2") && refused.stderr.contains("PGPASSWORD"), "{refused:?}");
    open("ftp://host/x", &[]).exits(2).complains("s3:// or postgres://");
    let nobody = ("AWS_ENDPOINT_URL", "http://127.0.0.1:1");
    let secret = ("AWS_SECRET_ACCESS_KEY", "hunter2");
    let refused = open("s3://notes/x", &[nobody, ("AWS_ACCESS_KEY_ID", "key"), secret]).exits(3);
    assert!(refused.stderr.contains("cannot be reached") && !refused.stderr.contains("hunter2"), "{refused:?}");
    open("postgres://ann@127.0.0.1:1/memory", &[("PGPASSWORD", "hunter2")]).exits(3).complains("cannot be reached");
    if std::env::var_os("SADDLEBAG_TEST_S3").is_some() {
        open("s3://no-such-bucket/x", &[]).exits(3).complains("does not exist");
    }
    if let Ok(server) = std::env::var("SADDLEBAG_TEST_POSTGRES") {
        open(&server.replace("/memory", "/no-such-database"), &[]).exits(3).complains("does not exist");
    }
}
