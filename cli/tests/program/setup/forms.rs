//! The form of the hooks that setup writes: every program that reads the file runs the same command.

use serde_json::Value;

use super::{Home, PROGRAM};

/// File of Claude Code's hooks.
const SETTINGS: &str = ".claude/settings.json";

/// Returns an entry as setup wrote it before it wrote command lines.
fn old_form(event: &str) -> String {
    format!(
        r#"{{"type": "command", "command": "{PROGRAM}", "args": ["hook", "{event}", "--client", "claude-code"], "timeout": 10}}"#
    )
}

/// Returns the handlers of every event.
fn handlers(settings: &Value) -> Vec<&Value> {
    let events = settings["hooks"].as_object().expect("hooks").values();
    let groups = events.flat_map(|groups| groups.as_array().expect("groups"));
    groups.flat_map(|group| group["hooks"].as_array().expect("handlers")).collect()
}

#[test]
fn a_hook_is_one_command_line_without_a_list_of_arguments() {
    for client in ["claude-code", "codex", "gemini"] {
        let home = Home::new();
        home.add(client, &[]).exits(0);
        let file = match client {
            "codex" => ".codex/hooks.json",
            "gemini" => ".gemini/settings.json",
            _ => SETTINGS,
        };
        let settings: Value = serde_json::from_str(&home.text(file)).expect("JSON");
        let found = handlers(&settings);
        assert!(found.len() >= 6, "{client}");
        for handler in found {
            let command = handler["command"].as_str().expect("a command");
            assert!(command.starts_with(&format!("{PROGRAM} hook ")), "{client}: {command}");
            assert_eq!(handler.get("args"), None, "{client}");
        }
    }
}

#[test]
fn setup_mends_hooks_with_a_list_of_arguments() {
    let home = Home::new();
    home.add("claude-code", &[]).exits(0);
    let wanted = home.text(SETTINGS);
    let mut old = wanted.clone();
    for event in ["start", "prompt", "tool", "compact", "stop", "end"] {
        let line = format!(r#""command": "{PROGRAM} hook {event} --client claude-code""#);
        assert!(old.contains(&line), "{line} is not in {old}");
        let with_list = format!(r#""command": "{PROGRAM}", "args": ["hook", "{event}", "--client", "claude-code"]"#);
        old = old.replace(&line, &with_list);
    }
    home.put(SETTINGS, &old);
    home.add("claude-code", &[]).exits(0);
    assert_eq!(home.text(SETTINGS), wanted);
    assert!(home.add("claude-code", &[]).exits(0).stdout.contains("is already set up"));
}

#[test]
fn a_hook_of_ours_in_a_group_of_others_is_mended_and_removed_and_theirs_stays() {
    let home = Home::new();
    let beep = r#"{"type": "command", "command": "beep"}"#;
    let with = |ours: &str| format!("{{\n  \"hooks\": {{\n    \"Stop\": [{{\"hooks\": [{beep}{ours}]}}]\n  }}\n}}\n");
    home.put(SETTINGS, &with(&format!(", {}", old_form("stop"))));
    home.add("claude-code", &[]).exits(0);
    let settings: Value = serde_json::from_str(&home.text(SETTINGS)).expect("JSON");
    let of_stop: Vec<&str> = settings["hooks"]["Stop"]
        .as_array()
        .expect("groups")
        .iter()
        .flat_map(|group| group["hooks"].as_array().expect("handlers"))
        .map(|handler| handler["command"].as_str().expect("a command"))
        .collect();
    assert_eq!(of_stop, [format!("{PROGRAM} hook stop --client claude-code").as_str(), "beep"]);
    home.put(SETTINGS, &with(&format!(", {}", old_form("stop"))));
    home.remove("claude-code", &[]).exits(0);
    assert_eq!(home.text(SETTINGS), with(""));
}

#[cfg(unix)]
#[test]
fn a_shell_runs_the_program_at_any_path_with_its_arguments() {
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    let home = Home::new();
    let program = "it's \"a\" $HOME & more/saddlebag";
    home.put(program, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
    let path = home.path.join(program);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("set");
    let path = path.to_str().expect("text");
    for _ in 0..2 {
        home.setup(&["claude-code", "--yes", "--command", path]).exits(0);
        let settings: Value = serde_json::from_str(&home.text(SETTINGS)).expect("JSON");
        assert_eq!(handlers(&settings).len(), 9, "setup finds its own entries: {settings}");
        let command = settings["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().expect("a command");
        let ran = Command::new("/bin/sh").args(["-c", command]).output().expect("a shell");
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "hook\nstop\n--client\nclaude-code\n", "{ran:?}");
    }
    home.remove("claude-code", &[]).exits(0);
    assert!(!home.path.join(SETTINGS).exists());
}

#[test]
fn a_client_whose_hooks_are_switched_off_is_told_so() {
    for (client, file, text, key) in [
        ("claude-code", SETTINGS, "{ \"disableAllHooks\": true }", "disableAllHooks"),
        ("claude-code", "shop/.claude/settings.local.json", "{\"disableAllHooks\":true}", "disableAllHooks"),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n", "features.hooks"),
        ("codex", ".codex/config.toml", "[features]\ncodex_hooks = false\n", "features.codex_hooks"),
        ("codex", "shop/.codex/config.toml", "[features]\nhooks = false\n", "features.hooks"),
        ("gemini", ".gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}", "hooksConfig.enabled"),
        ("copilot", ".copilot/settings.json", "{\"disableAllHooks\": true}", "disableAllHooks"),
    ] {
        let home = Home::new();
        home.put(file, text);
        for _ in 0..2 {
            let told = home.add(client, &[]).exits(0).complains("switched off").complains(file).complains(key);
            assert_eq!(told.stderr.matches("switched off").count(), 1, "{told:?}");
        }
        let json = home.add(client, &["--dry-run", "--json"]).exits(0).json();
        let off = json["agents"][0]["hooks_off"][0].as_str().unwrap_or_default().to_string();
        assert!(off.contains(key) && off.contains(file), "{json}");
        let without = home.add(client, &["--without-hooks"]).exits(0);
        assert!(!without.stderr.contains("switched off"), "{without:?}");
        home.put(file, &text.replace("true", "false").replace("= false", "= true").replace(": false}}", ": true}}"));
        assert_eq!(home.add(client, &[]).exits(0).stderr, "", "{client}: {key}");
    }
}
