//! `setup` and `--remove` among the edits of others: nobody's bytes are lost.

use std::fs;

use super::clients::CLIENTS;
use super::{Home, PROGRAM};
use crate::support::run;

#[test]
fn what_was_edited_since_stays_and_only_our_entries_go() {
    for client in &CLIENTS {
        for has_record in [true, false] {
            let home = Home::new();
            home.put(client.servers, client.typical);
            client.beside.iter().for_each(|(path, text)| home.put(path, text));
            home.add(client.name, &[]).exits(0);
            if !has_record {
                fs::remove_dir_all(home.path.join(".local")).expect("the record is there");
            }
            let edited = |text: &str| text.replace("no", "yes, since");
            for (path, text) in std::iter::once((client.servers, client.typical)).chain(client.beside) {
                assert_ne!(edited(text), text, "{}: the test edits the file", client.name);
                let now = home.text(path).replace("edited\": \"no", "edited\": \"yes, since");
                let now =
                    now.replace("edited: 'no", "edited: 'yes, since").replace("edited = \"no", "edited = \"yes, since");
                let now =
                    now.replace("edited\":\"no", "edited\":\"yes, since").replace("edited: no", "edited: yes, since");
                assert_ne!(now, home.text(path), "{}: {path}", client.name);
                home.put(path, &now);
            }
            home.remove(client.name, &[]).exits(0);
            for (path, text) in std::iter::once((client.servers, client.typical)).chain(client.beside) {
                let left = home.text(path).replace("yes, since", "no");
                // Only the record says that the empty table was there before.
                let text = if has_record { text.to_string() } else { text.replace("  \"mcp\": {},\n", "") };
                assert_eq!(left, text, "{}: {path}, with a record: {has_record}", client.name);
            }
        }
    }
}

#[test]
fn without_a_record_our_entries_are_removed_all_the_same() {
    for client in &CLIENTS {
        let home = Home::new();
        home.put(client.servers, client.typical);
        home.add(client.name, &[]).exits(0);
        fs::remove_dir_all(home.path.join(".local")).expect("the record is there");
        home.remove(client.name, &[]).exits(0);
        let left = home.configurations();
        let ours = left.values().flatten().filter(|text| text.contains(PROGRAM)).count();
        assert_eq!(ours, 0, "{}: {left:?}", client.name);
    }
}

#[test]
fn a_dry_run_changes_nothing_and_shows_the_difference() {
    for client in &CLIENTS {
        let home = Home::new();
        home.put(client.servers, client.typical);
        let before = home.tree();
        let shown = home.setup(&[client.name, "--dry-run", "--command", PROGRAM]).exits(0).stdout;
        assert!(shown.contains("\n+++ ") && shown.contains(PROGRAM), "{}: {shown}", client.name);
        assert_eq!(home.tree(), before, "{}", client.name);
    }
}

#[test]
fn without_a_terminal_nothing_is_written_unless_it_was_confirmed() {
    let home = Home::new();
    home.put(".codex/config.toml", "");
    let before = home.tree();
    home.setup(&["codex"]).exits(3).complains("standard input is not a terminal").complains("--yes");
    assert_eq!(home.tree(), before);
}

#[test]
fn a_later_setup_changes_the_path_of_the_program_alone() {
    let home = Home::new();
    home.put(".codex/config.toml", CLIENTS[2].typical);
    home.add("codex", &[]).exits(0);
    let first = home.text(".codex/config.toml");
    home.setup(&["codex", "--yes", "--command", "/usr/bin/saddlebag"]).exits(0);
    assert_eq!(home.text(".codex/config.toml"), first.replace(PROGRAM, "/usr/bin/saddlebag"));
    home.remove("codex", &[]).exits(0);
    assert_eq!(home.text(".codex/config.toml"), CLIENTS[2].typical);
}

#[test]
fn what_somebody_added_to_our_entry_stays_until_the_removal() {
    let home = Home::new();
    home.put(".codex/config.toml", CLIENTS[2].typical);
    home.add("codex", &["--without-hooks"]).exits(0);
    let added = format!("{}\n[mcp_servers.saddlebag.env]\nRUST_LOG = \"info\"\n", home.text(".codex/config.toml"));
    home.put(".codex/config.toml", &added);
    let again = home.add("codex", &["--without-hooks"]).exits(0);
    assert!(again.stdout.contains("is already set up"), "{again:?}");
    assert_eq!(home.text(".codex/config.toml"), added);
    home.remove("codex", &[]).exits(0);
    assert_eq!(home.text(".codex/config.toml"), CLIENTS[2].typical);
}

#[test]
fn an_edit_between_two_setups_is_kept_by_the_removal() {
    let home = Home::new();
    home.put(".cursor/mcp.json", CLIENTS[4].typical);
    home.add("cursor", &["--without-hooks"]).exits(0);
    let edited = home.text(".cursor/mcp.json").replace("edited\": \"no", "edited\": \"yes");
    home.put(".cursor/mcp.json", &edited);
    home.setup(&["cursor", "--yes", "--command", "/usr/bin/saddlebag", "--without-hooks"]).exits(0);
    home.remove("cursor", &[]).exits(0);
    assert_eq!(home.text(".cursor/mcp.json"), CLIENTS[4].typical.replace("edited\": \"no", "edited\": \"yes"));
}

#[test]
fn without_a_name_the_installed_agents_are_set_up_and_the_others_named() {
    let home = Home::new();
    home.setup(&["--yes"]).exits(1).complains("no agent was found");
    home.put(".codex/config.toml", "");
    home.put(".gemini/settings.json", "{,}");
    let run = home.setup(&["--yes", "--command", PROGRAM]).exits(3).complains(".gemini/settings.json");
    let shown = home.normal(&run.stdout);
    assert!(shown.contains("found Codex: <home>/.codex\n"), "{shown}");
    assert!(shown.contains("not found: Cursor: <home>/.cursor, `cursor` on the search path\n"), "{shown}");
    assert!(home.text(".codex/config.toml").contains(PROGRAM), "the others go on");
    assert_eq!(home.text(".gemini/settings.json"), "{,}");
    assert!(!home.path.join(".cursor").exists());
}

#[test]
fn the_project_scope_changes_the_project_alone_and_names_no_path_of_this_machine() {
    let home = Home::new();
    for client in CLIENTS.iter().filter(|client| !["claude-desktop", "openclaw"].contains(&client.name)) {
        let before = home.configurations();
        home.setup(&[client.name, "--yes", "--scope", "project"]).exits(0);
        let after = home.configurations();
        let new: Vec<_> = after.iter().filter(|(path, text)| text.is_some() && !before.contains_key(*path)).collect();
        assert!(!new.is_empty(), "{}", client.name);
        for (path, text) in new {
            let text = text.as_deref().unwrap_or_default();
            assert!(path.starts_with("shop/"), "{}: {path}", client.name);
            assert!(text.contains("\"saddlebag\"") || text.contains("saddlebag hook"), "{path}: {text}");
            assert!(!text.contains(home.path.to_str().unwrap()) && !text.contains("/target/"), "{path}: {text}");
        }
        home.remove(client.name, &["--scope", "project"]).exits(0);
        assert_eq!(home.configurations(), before, "{}", client.name);
    }
    home.setup(&["openclaw", "--yes", "--scope", "project"]).exits(3).complains("has no configuration in projects");
    home.setup(&["codex", "--scope", "all"]).exits(2);
}

#[test]
fn the_scope_of_long_term_memory_in_the_environment_is_not_that_of_setup() {
    let home = Home::new();
    let mut command = home.command(&["setup", "zed", "--yes"]);
    run(command.env("SADDLEBAG_SCOPE", "project"), None).exits(0);
    assert!(home.path.join(".config/zed/settings.json").exists());
    assert!(!home.path.join("shop/.zed").exists());
}

#[test]
fn the_options_that_choose_a_memory_go_into_the_entries() {
    let home = Home::new();
    let mut command =
        home.command(&["--root", "../memory", "--agent", "coder", "--notebook", "setup", "codex", "--yes"]);
    run(&mut command, None).exits(0);
    let expected = "args = [\"--root\", \"<home>/shop/../memory\", \"--notebook\", \"--agent\", \"coder\", \"mcp\"]";
    let config = home.normal(&home.text(".codex/config.toml"));
    assert!(config.contains(expected), "{config}");
    let hooks = home.normal(&home.text(".codex/hooks.json"));
    assert!(hooks.contains("--notebook --agent coder hook start --client codex\""), "{hooks}");
    home.setup(&["codex", "--yes"]).exits(0);
    assert!(home.text(".codex/config.toml").contains("args = [\"mcp\"]"), "a later setup replaces them");
}

#[test]
fn the_environment_names_other_folders_of_clients() {
    for (client, variable, file) in [
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("copilot", "COPILOT_HOME", "mcp-config.json"),
        ("openclaw", "OPENCLAW_STATE_DIR", "openclaw.json"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/opencode.json"),
        ("zed", "XDG_CONFIG_HOME", "zed/settings.json"),
    ] {
        let home = Home::new();
        let other = home.above().join("other");
        let mut command = home.command(&["setup", client, "--yes", "--command", PROGRAM]);
        run(command.env(variable, &other), None).exits(0);
        assert!(fs::read_to_string(other.join(file)).expect("written").contains(PROGRAM), "{client}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let home = Home::new();
    home.put("dotfiles/config.toml", CLIENTS[2].typical);
    fs::set_permissions(home.path.join("dotfiles/config.toml"), fs::Permissions::from_mode(0o640)).expect("set");
    fs::create_dir(home.path.join(".codex")).expect("made");
    let link = home.path.join(".codex/config.toml");
    symlink("../dotfiles/config.toml", &link).expect("linked");
    home.add("codex", &["--without-hooks"]).exits(0);
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert!(home.text("dotfiles/config.toml").contains(PROGRAM));
    let mode = fs::metadata(&link).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode, 0o640);
    home.remove("codex", &[]).exits(0);
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert_eq!(home.text("dotfiles/config.toml"), CLIENTS[2].typical);
}

#[cfg(unix)]
#[test]
fn the_record_is_private_and_a_read_only_file_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;

    let home = Home::new();
    home.put(".codex/config.toml", "secret = \"0000\"\n");
    home.add("codex", &["--without-hooks"]).exits(0);
    let state = home.path.join(".local/state/saddlebag");
    let originals =
        fs::read_dir(state.join("setup")).expect("the bytes from before").map(|entry| entry.unwrap().path());
    for path in originals.chain([state.join("setup.json"), state.join("setup"), state.clone()]) {
        let mode = fs::metadata(&path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
    home.put(".config/zed/settings.json", "{}");
    let settings = home.path.join(".config/zed/settings.json");
    fs::set_permissions(&settings, fs::Permissions::from_mode(0o444)).expect("set");
    home.add("zed", &[]).exits(3).complains("read-only");
    assert_eq!(home.text(".config/zed/settings.json"), "{}");
}

#[cfg(unix)]
#[test]
fn a_configuration_is_a_regular_file_of_at_most_16_mib() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let home = Home::new();
    let large = format!("# {}\n", "x".repeat(16 << 20));
    home.put(".codex/config.toml", &large);
    home.put(".cursor/cursor", "");
    mknodat(CWD, home.path.join(".cursor/mcp.json"), FileType::Fifo, Mode::RWXU, 0).expect("made");
    fs::create_dir_all(home.path.join(".config/zed/settings.json")).expect("made");
    home.add("codex", &["--without-hooks"]).exits(3).complains("more than 16 MiB");
    assert_eq!(home.text(".codex/config.toml"), large);
    home.add("cursor", &["--without-hooks"]).exits(3).complains("not a regular file");
    home.add("zed", &[]).exits(3).complains("not a regular file");
    home.remove("cursor", &[]).exits(3).complains("not a regular file");
}
