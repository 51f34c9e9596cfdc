//! Golden files: what setup writes for each client, from each state of its files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use saddlebag_tests_shared::generated::Kind;

use super::clients::{CLIENTS, Client};
use super::{Home, PROGRAM};

/// State of a client's files before setup.
struct Case {
    name: &'static str,
    /// Text of the file with the servers; `None` if there is no file.
    servers: Option<String>,
    /// True if the other file of the client exists too.
    has_beside: bool,
    /// Exit code of setup.
    code: i32,
}

fn cases(client: &Client) -> Vec<Case> {
    let case = |name, servers, has_beside, code| Case { name, servers, has_beside, code };
    let with_crlf = client.typical.replace('\n', "\r\n");
    vec![
        case("no file", None, false, 0),
        case("empty file", Some(String::new()), false, 0),
        case("typical file", Some(client.typical.to_string()), true, 0),
        case("file with CRLF and a byte order mark", Some(format!("\u{feff}{with_crlf}")), false, 0),
        case("entry of somebody else", Some(client.foreign.to_string()), false, 3),
        case("malformed file", Some(client.malformed.0.to_string()), false, 3),
    ]
}

fn prepared(client: &Client, case: &Case) -> Home {
    let home = Home::new();
    if let Some(servers) = &case.servers {
        home.put(client.servers, servers);
    }
    if let Some((path, text)) = client.beside.filter(|_| case.has_beside) {
        home.put(path, text);
    }
    home
}

#[test]
fn each_client_gets_its_entries_and_loses_them_again_byte_for_byte() {
    for client in &CLIENTS {
        let mut seen = String::new();
        for case in cases(client) {
            let home = prepared(client, &case);
            let before = home.configurations();
            let run = home.add(client.name, &[]).exits(case.code);
            let _ = writeln!(seen, "=== {} ===", case.name);
            for (path, text) in home.configurations() {
                if let Some(text) = text.filter(|text| before.get(&path) != Some(&Some(text.clone()))) {
                    // Of the plugin, only the command differs.
                    let is_plugin = path.ends_with(".js");
                    let is_shown = |line: &&str| !is_plugin || line.contains(PROGRAM);
                    let text: String = text.split_inclusive('\n').filter(is_shown).collect();
                    let _ = write!(seen, "--- {path}\n{}", visible(&home.normal(&text)));
                }
            }
            let last = run.stdout.lines().last().unwrap_or_default();
            let _ = write!(seen, "--- message\n{last}\n{}\n", home.normal(&run.stderr));
            let after = home.tree();
            let again = home.add(client.name, &[]).exits(case.code);
            assert_eq!(home.tree(), after, "{}, {}: a second setup changed something", client.name, case.name);
            assert!(case.code != 0 || again.stdout.contains("is already set up"), "{}: {again:?}", client.name);
            // Two of the files can be parsed, but have no place for our entry.
            let can_parse = case.name != "malformed file" || ["cursor", "openclaw"].contains(&client.name);
            home.remove(client.name, &[]).exits(if can_parse { 0 } else { 3 });
            assert_eq!(home.configurations(), before, "{}, {}: after --remove", client.name, case.name);
        }
        let path = folder().join(format!("{}.txt", client.name));
        Kind::Setup.check(&path, &seen).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

#[test]
fn nothing_is_left_in_the_home_after_the_entries_were_removed() {
    for client in &CLIENTS {
        let home = Home::new();
        let before = home.tree();
        home.add(client.name, &[]).exits(0);
        home.remove(client.name, &[]).exits(0);
        assert_eq!(home.tree(), before, "{}", client.name);
    }
}

#[test]
fn a_malformed_file_is_left_alone_and_named_with_its_place() {
    for client in &CLIENTS {
        let home = Home::new();
        let (text, place) = client.malformed;
        home.put(client.servers, text);
        home.add(client.name, &[]).exits(3).complains(client.servers).complains(place);
        assert_eq!(home.text(client.servers), text, "{}", client.name);
    }
}

#[test]
fn an_entry_of_somebody_else_is_replaced_only_by_force_and_comes_back() {
    for client in &CLIENTS {
        let home = Home::new();
        home.put(client.servers, client.foreign);
        let before = home.configurations();
        home.add(client.name, &["--without-hooks"]).exits(3).complains("is not ours").complains("--force");
        assert_eq!(home.configurations(), before, "{}", client.name);
        home.add(client.name, &["--without-hooks", "--force"]).exits(0);
        assert!(home.text(client.servers).contains(PROGRAM), "{}", client.name);
        home.remove(client.name, &[]).exits(0);
        assert_eq!(home.configurations(), before, "{}", client.name);
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/setup")
}

/// Returns text with visible carriage returns and byte order marks, and with a mark if its last line has no end.
fn visible(text: &str) -> String {
    let text = text.replace('\u{feff}', "<BOM>").replace('\r', "<CR>");
    if text.is_empty() || text.ends_with('\n') { text } else { format!("{text}<no line end>\n") }
}
