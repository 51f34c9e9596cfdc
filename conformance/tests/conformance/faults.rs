//! Each fault of a driver is found by name.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write, stdin};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::{Ran, command, kit, local, run};

/// Variable that names the fault of [`a_driver_with_a_fault`].
const FAULT: &str = "SADDLEBAG_TEST_FAULT";
/// Answer that is written without the quotes of JSON.
const NOT_JSON: &str = "Welcome to the driver";
/// Runs a test as a driver. The driver writes to its third file, because tests print to standard output.
const AS_DRIVER: &str = "exec \"$0\" --exact faults::a_driver_with_a_fault --ignored --nocapture 3>&1 >/dev/null";

/// Faults, the part of the kit that finds each, and a part of the line of a case that does.
const FAULTS: [(&str, &str, &str); 24] = [
    ("ignored precondition", "table", "write: absent"),
    ("move over a file", "table", "rename, of to"),
    ("torn append", "operations", "an append adds at the end"),
    ("no newline", "operations", "an append adds at the end"),
    ("ignored version", "table", "write: matches"),
    ("lost keep-as", "operations", "keeps the replaced bytes"),
    ("unsorted listing", "operations", "sorted by whole paths"),
    ("no folders", "operations", "has the folders"),
    ("whole page", "operations", "comes in pages"),
    ("always unchanged", "operations", "the version of `unless`"),
    ("nothing left out", "operations", "left out and counted"),
    ("wrong version", "operations", "the versions of a write"),
    ("one version", "operations", "a version changes with the bytes"),
    ("any path", "operations", "paths that are not valid"),
    ("one generation", "operations", "`generation`"),
    ("lost request", "loop", "a notebook with an agent"),
    ("performed twice", "loop", "a notebook with an agent"),
    ("answered too early", "crashes", "another driver finds"),
    ("half a write", "crashes", "during a write"),
    ("never takes over", "records", "a lock file of a dead holder is taken over"),
    ("takes over early", "records", "a lease of a dead holder is taken over"),
    ("looks before it locks", "races", "changes wait for another host with a lease"),
    ("new lines first", "races", "its lines are not in the order"),
    ("no lock", "races", "changes wait for another host with a lock file"),
];

#[test]
#[cfg(unix)]
fn each_fault_of_a_driver_is_found_by_name() {
    // A fault waits for its driver most of the time.
    std::thread::scope(|scope| {
        for (fault, part, case) in FAULTS {
            scope.spawn(move || {
                let ran = check(fault, &["--rounds", "12", "--kills", "12", "--only", part]);
                let failed: Vec<&str> = ran.output.lines().filter(|line| line.starts_with("FAILED")).collect();
                assert!(ran.code == 1 && failed.iter().any(|line| line.contains(case)), "{fault}: {failed:?}");
            });
        }
    });
}

#[test]
#[cfg(unix)]
fn a_driver_that_does_not_follow_the_protocol_is_named() {
    for (fault, says) in [
        ("silent", "did not answer {\"hello\":{\"protocol\":1}} within 1 s: it may wait for a lock"),
        ("not JSON", "is not JSON"),
        ("ends", "ended (exit status: 0) instead of answering {\"hello\""),
        ("another protocol", "the protocol of the driver is 2, and the kit checks 1"),
        ("another package", "the package of the driver is \"saddlebag:memory@9.0.0\", and the kit checks"),
        ("no name", "missing field `name`"),
    ] {
        let ran = check(fault, &["--patience", "1"]);
        assert!(ran.code == 2 && ran.errors.contains(says), "{fault}: {ran:?}");
    }
    for (fault, says) in [
        ("silent later", "did not answer {\"write\""),
        ("not JSON later", "is not JSON"),
        ("ends later", "instead of answering {\"append\""),
        ("neither", "is not valid"),
        ("another operation", "it belongs to another operation"),
    ] {
        let Ran { code, output, .. } = check(fault, &["--patience", "1", "--only", "operations"]);
        let line = output.lines().find(|line| line.starts_with("FAILED") && line.contains("an append adds"));
        assert!(line.is_some_and(|line| line.contains(says) || line.contains("given up")), "{fault}: {output}");
        assert!(code == 1 && output.contains(says), "{fault}: {output}");
        // Other cases go on with a driver that is started again.
        assert!(output.contains("ok        operations: a listing is sorted") || fault == "silent later", "{output}");
    }
    let Ran { code, output, .. } = check("failing later", &["--races", "2", "--only", "races"]);
    assert_eq!(code, 1);
    let line = output.lines().find(|line| line.contains("2 drivers of one store")).unwrap();
    for says in
        [" (sh -c", ": {\"append\":{", "gave {\"err\":\"no-space\"}; its standard error ends in \"the disk is full\""]
    {
        assert!(line.contains(says), "{says}: {line}");
    }
    let nowhere = kit(&["--", "/nowhere/driver"]);
    assert!(nowhere.code == 2 && nowhere.errors.contains("the driver `/nowhere/driver` does not start"), "{nowhere:?}");
}

/// Checks the driver with a fault.
#[cfg(unix)]
fn check(fault: &str, options: &[&str]) -> Ran {
    let own = std::env::current_exe().unwrap();
    let driver = ["--", "sh", "-c", AS_DRIVER, own.to_str().unwrap()];
    run(command(options).args(driver).env(FAULT, fault).env_remove("RUST_TEST_THREADS"))
}

/// Not a test: the driver of the kit, with the fault that a variable names.
#[test]
#[ignore = "a driver, which other tests run"]
#[cfg(unix)]
fn a_driver_with_a_fault() {
    let fault = std::env::var(FAULT).unwrap();
    let mut own = Own::start();
    let mut out = OpenOptions::new().write(true).open("/dev/fd/3").unwrap();
    for line in stdin().lock().lines() {
        let request = serde_json::from_str(&line.unwrap()).unwrap();
        let answer = own.answer(&fault, request);
        let is_json = answer != NOT_JSON;
        writeln!(out, "{}", if is_json { answer.to_string() } else { NOT_JSON.to_string() }).unwrap();
    }
    let Own { mut child, input, .. } = own;
    drop(input);
    child.wait().unwrap();
}

/// The driver of the kit.
struct Own {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Folder of the open store.
    store: PathBuf,
    /// Operation that was acknowledged and not performed yet.
    owed: Option<Value>,
    performed: u32,
}

impl Own {
    fn start() -> Self {
        let [program, argument] = local();
        let child = Command::new(program).arg(argument).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, store: PathBuf::new(), owed: None, performed: 0 }
    }

    fn ask(&mut self, request: &Value) -> Value {
        writeln!(self.input, "{request}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Answers a request as a driver with this fault does.
    fn answer(&mut self, fault: &str, mut request: Value) -> Value {
        if let Some(owed) = self.owed.take() {
            self.ask(&owed);
        }
        if request.get("hello").is_some() {
            let mut answer = self.ask(&request);
            match fault {
                "silent" => std::thread::sleep(Duration::from_secs(5)),
                "not JSON" => return NOT_JSON.into(),
                "ends" => std::process::exit(0),
                "another protocol" => answer["hello"]["protocol"] = 2.into(),
                "another package" => answer["hello"]["package"] = "saddlebag:memory@9.0.0".into(),
                "no name" => drop(answer["hello"].as_object_mut().unwrap().remove("name")),
                _ => {}
            }
            return answer;
        }
        if let Some(store) = request["open"]["store"].as_str() {
            self.store = store.into();
        }
        if let Some(op) = request.get_mut("perform")
            && let Some(answer) = self.instead(fault, op)
        {
            return answer;
        }
        let mut answer = self.ask(&request);
        self.spoil(fault, &request, &mut answer);
        answer
    }

    /// Changes an operation, or answers it in another way.
    fn instead(&mut self, fault: &str, op: &mut Value) -> Option<Value> {
        self.performed += 1;
        let kind = op.as_object().and_then(|op| op.keys().next()).cloned().unwrap_or_default();
        let fields = &mut op[&kind];
        let content = || -> Vec<u8> { fields["content"].as_str().unwrap_or_default().bytes().collect() };
        match (fault, kind.as_str()) {
            ("ignored precondition", "write") => fields["precondition"] = "any".into(),
            ("ignored version" | "one version", _) if fields["precondition"]["matches"].is_string() => {
                fields["precondition"] = "any".into();
            }
            // Whole groups of base64.
            ("torn append", "append") => {
                fields["content"] = String::from_utf8(content()[..content().len() / 8 * 4].into()).unwrap().into()
            }
            ("no newline", "append") => fields["newline-first"] = false.into(),
            ("lost keep-as", "write") => fields["keep-as"] = Value::Null,
            ("whole page", "list-directory") => fields["limit"] = 1000.into(),
            ("move over a file", "rename") => {
                let (path, to) = (fields["path"].clone(), fields["to"].clone());
                let read =
                    self.ask(&json!({ "perform": { "read": { "path": path, "offset": "0", "max-bytes": 9999 } } }));
                let bytes = read["ok"]["read"]["content"]["bytes"].as_str()?.to_string();
                self.ask(&write(&to, &bytes));
                self.ask(&json!({ "perform": { "remove": {
                    "path": path, "precondition": "any", "keep-as": null, "may-return": false,
                } } }));
                return Some(json!({ "ok": { "rename": "done" } }));
            }
            ("never takes over", "write") if is_any_held(&self.store.join(".saddlebag/locks-3")) => {
                return Some(json!({ "err": { "locked": "by another program" } }));
            }
            ("takes over early", "write") => {
                let leases = self.store.join(".saddlebag/locks-3/leases");
                if is_any_held(&leases) {
                    fs::remove_dir_all(&leases).unwrap();
                    fs::create_dir(&leases).unwrap();
                }
            }
            ("no lock", "write" | "append") => return Some(self.change_without_lock(&kind, fields)),
            ("failing later", "append") => {
                eprintln!("the disk is full");
                return Some(json!({ "err": "no-space" }));
            }
            ("looks before it locks", "append") => {
                let path = fields["path"].clone();
                let new = fields["content"].as_str()?.to_string();
                let read =
                    self.ask(&json!({ "perform": { "read": { "path": path, "offset": "0", "max-bytes": 99999 } } }));
                let old = read["ok"]["read"]["content"]["bytes"].as_str().unwrap_or_default().to_string();
                std::thread::sleep(Duration::from_millis(2));
                let mut written = self.ask(&write(&path, &joined(&old, &new)));
                let outcome = written["ok"]["write"].take();
                return Some(json!({ "ok": { "append": outcome } }));
            }
            ("new lines first", "append") => {
                let path = fields["path"].clone();
                let new = fields["content"].as_str()?.to_string();
                let read = json!({ "perform": { "read": { "path": path, "offset": "0", "max-bytes": 99999 } } });
                loop {
                    let old = self.ask(&read)["ok"]["read"].get("content").cloned().unwrap_or_default();
                    let mut request = write(&path, &joined(&new, old["bytes"].as_str().unwrap_or_default()));
                    let version = &old["version"];
                    request["perform"]["write"]["precondition"] =
                        if version.is_string() { json!({ "matches": version }) } else { "absent".into() };
                    let outcome = self.ask(&request)["ok"]["write"].take();
                    if outcome["written"].is_string() {
                        return Some(json!({ "ok": { "append": outcome } }));
                    }
                }
            }
            ("half a write", "write") if fields["content"].as_str()?.len() > 1000 => {
                let path = fields["path"].clone();
                let content = fields["content"].as_str()?.to_string();
                self.ask(&write(&path, &content[..content.len() / 8 * 4]));
                std::thread::sleep(Duration::from_millis(20));
            }
            ("answered too early", "write")
                if fields["precondition"] == "any" || fields["precondition"] == "absent" =>
            {
                self.owed = Some(json!({ "perform": op }));
                return Some(json!({ "ok": { "write": { "written": "v" } } }));
            }
            ("one generation", _) if *op == "generation" => return Some(json!({ "ok": { "generation": "1" } })),
            ("silent later", _) => std::thread::sleep(Duration::from_secs(5)),
            ("not JSON later", "append") => return Some(NOT_JSON.into()),
            ("ends later", "append") => std::process::exit(1),
            ("neither", "append") => return Some(json!({ "okay": {} })),
            ("another operation", "append") => return Some(json!({ "ok": "make-directory" })),
            _ => {}
        }
        None
    }

    /// Performs a `write` or an `append` as a host that was the only writer would.
    fn change_without_lock(&mut self, kind: &str, fields: &Value) -> Value {
        let read = json!({ "perform": { "read": { "path": fields["path"], "offset": "0", "max-bytes": 9_999_999 } } });
        let old = self.ask(&read)["ok"]["read"].get("content").cloned().unwrap_or_default();
        let wanted = &fields["precondition"]["matches"];
        if wanted.is_string() && *wanted != old["version"] {
            return json!({ "ok": { kind: { "stale": old["version"] } } });
        }
        let [old, new] = [&old["bytes"], &fields["content"]].map(|bytes| bytes.as_str().unwrap_or_default());
        let whole = if kind == "append" { joined(old, new) } else { new.into() };
        let (path, temporary) = (
            self.store.join(fields["path"].as_str().unwrap()),
            self.store.join(format!(".saddlebag-{}.tmp", std::process::id())),
        );
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&temporary, BASE64_STANDARD.decode(whole).unwrap()).unwrap();
        fs::rename(temporary, path).unwrap();
        json!({ "ok": { kind: { "written": self.ask(&read)["ok"]["read"]["content"]["version"] } } })
    }

    /// Changes an answer.
    fn spoil(&mut self, fault: &str, request: &Value, answer: &mut Value) {
        if let Some(page) = answer.pointer_mut("/ok/list-directory/page") {
            match fault {
                "unsorted listing" => page["entries"].as_array_mut().unwrap().reverse(),
                "no folders" => page["entries"].as_array_mut().unwrap().retain(|entry| entry["kind"] != "directory"),
                "nothing left out" => page["left-out"] = json!({ "names": [], "count": 0 }),
                "always unchanged" if request["perform"]["list-directory"]["unless"].is_string() => {
                    answer["ok"]["list-directory"] = "unchanged".into();
                }
                _ => {}
            }
        }
        match fault {
            "wrong version" => {
                if let Some(version) = answer.pointer_mut("/ok/write/written") {
                    *version = "another".into();
                }
            }
            "one version" => {
                for at in ["/ok/write/written", "/ok/read/content/version"] {
                    if let Some(version) = answer.pointer_mut(at) {
                        *version = "one".into();
                    }
                }
            }
            "any path" if answer["err"]["invalid-path"].is_string() && request["perform"]["read"].is_object() => {
                *answer = json!({ "ok": { "read": "absent" } });
            }
            "lost request" => {
                if let Some(Value::Array(requests)) = answer.pointer_mut("/ok/requests") {
                    requests.retain(|request| request["op"].get("append").is_none());
                }
            }
            "performed twice" => {
                let requests = answer.pointer("/ok/requests").and_then(Value::as_array).cloned().unwrap_or_default();
                for request in requests.iter().filter(|request| request["op"].get("append").is_some()) {
                    self.ask(&json!({ "perform": request["op"] }));
                }
            }
            _ => {}
        }
    }
}

fn write(path: &Value, content: &str) -> Value {
    json!({ "perform": { "write": {
        "path": path, "content": content, "precondition": "any", "keep-as": null, "like": null,
    } } })
}

/// Returns true if a lock in this folder is held.
fn is_any_held(locks: &Path) -> bool {
    fs::read_dir(locks).into_iter().flatten().flatten().map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            is_any_held(&path)
        } else {
            fs::read(path).is_ok_and(|content| content.starts_with(b"held"))
        }
    })
}

/// Returns the base64 of two texts in base64, one after the other.
fn joined(one: &str, other: &str) -> String {
    let bytes = [one, other].map(|text| BASE64_STANDARD.decode(text).unwrap()).concat();
    BASE64_STANDARD.encode(bytes)
}
