//! The manual pages and the completion scripts, read by the programs that they are for.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Store, run};

/// Returns the output of a program, or `None` and a line that says so where it is not installed.
fn output_of(test: &str, program: &str, arguments: &[&str]) -> Option<std::process::Output> {
    match Command::new(program).args(arguments).output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("{test}: not run with {program}: {error}");
            None
        }
    }
}

#[test]
fn every_command_has_a_manual_page_that_man_reads() {
    let store = Store::new();
    store.run(&["completions", "man", "--out", "man1"]).exits(0);
    let folder = store.here.join("man1");
    for (name, word) in [
        ("saddlebag.1", "Plain Markdown memory"),
        ("saddlebag.1", "Origin of the stored text"),
        ("saddlebag-entry.1", "Entries:"),
        ("saddlebag-list.1", "the newest first"),
        ("saddlebag-memory-approve.1", "into prompts"),
    ] {
        let page = fs::read_to_string(folder.join(name)).expect(name);
        assert!(page.starts_with(".ie") || page.contains(".TH"), "{name}: {page}");
        assert!(page.contains(word), "{name}: {page}");
    }
    let listed = store.run(&["--json", "completions", "man", "--out", "man1"]).exits(0).json();
    let pages = listed["pages"].as_array().expect("pages");
    assert_eq!(pages.len(), fs::read_dir(&folder).expect("a folder").count());
    assert!(pages.len() > 35, "{}", pages.len());
    for entry in fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let path = path.to_str().expect("text");
        let test = "every_command_has_a_manual_page_that_man_reads";
        for (program, arguments) in [("mandoc", &["-T", "utf8", path][..]), ("man", &["-l", path])] {
            let Some(output) = output_of(test, program, arguments) else { continue };
            // `man` of a small system is a script that says that there are no pages.
            if program == "man" && !Path::new("/usr/bin/groff").exists() {
                eprintln!("{test}: not run with man: groff is not installed");
                continue;
            }
            assert!(output.status.success() && !output.stdout.is_empty(), "{program} {path}: {output:?}");
        }
    }
}

#[test]
fn a_manual_page_that_cannot_be_written_is_an_error() {
    let store = Store::new();
    fs::write(store.here.join("file"), "x").expect("written");
    store.run(&["completions", "man", "--out", "file"]).exits(3).complains("cannot write `file`").prints("");
    assert!(store.run(&["completions", "man"]).exits(0).stdout.contains(".TH"));
}

/// Returns the completions of bash for a line whose last word is not finished.
fn offered(script: &Path, words: &[&str]) -> Option<Vec<String>> {
    let last = words.last().expect("a word");
    let before = words[words.len() - 2];
    let line = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
    let text = format!(
        "source '{}'; COMP_WORDS=({line}); COMP_CWORD={}; _saddlebag saddlebag '{last}' '{before}'; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display(),
        words.len() - 1
    );
    let output = output_of("bash_completes_commands_and_options", "bash", &["--norc", "-c", &text])?;
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).expect("text").lines().map(str::to_string).collect())
}

#[test]
fn bash_completes_commands_and_options() {
    let store = Store::new();
    let script = store.here.join("saddlebag.bash");
    fs::write(&script, store.run(&["completions", "bash"]).exits(0).stdout).expect("written");
    for (words, expected) in [
        (&["saddlebag", "entry", "hy"][..], &["hydrate"][..]),
        (&["saddlebag", "rem"], &["remember"]),
        (&["saddlebag", "memory", "ap"], &["approve"]),
        (&["saddlebag", "list", "--kind", "note", "--link-"], &["--link-to"]),
        (&["saddlebag", "context", "--for", ""], &["claude", "openai", "plain"]),
    ] {
        let Some(offered) = offered(&script, words) else { return };
        assert_eq!(offered, expected, "{words:?}");
    }
}

#[test]
fn every_shell_has_a_script_that_it_can_read() {
    let store = Store::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = store.run(&["completions", shell]).exits(0).stdout;
        for word in ["related", "approve", "--provenance"] {
            assert!(script.contains(word), "{shell} does not complete {word}");
        }
        if !matches!(shell, "bash" | "zsh" | "fish") {
            continue;
        }
        let path = store.here.join(shell);
        fs::write(&path, script).expect("written");
        let path = path.to_str().expect("text");
        if let Some(output) = output_of("every_shell_has_a_script_that_it_can_read", shell, &["-n", path]) {
            assert!(output.status.success(), "{shell}: {output:?}");
        }
    }
    run(&mut store.command(&["completions", "tcsh"]), None).exits(2);
}

#[test]
fn the_help_of_a_command_has_its_own_options_and_names_where_the_others_are() {
    let store = Store::new();
    for arguments in [&["help", "recall"][..], &["recall", "--help"], &["help", "list"], &["list", "--help"]] {
        let help = store.run(arguments).exits(0).stdout;
        assert!(help.contains("--sort") && help.contains("--root"), "{help}");
        assert!(help.contains("Options of every command, all of them with `saddlebag --help`"), "{help}");
        for option in ["--max-entries", "--durability", "--trace"] {
            assert!(!help.contains(option), "{arguments:?}: {option}\n{help}");
        }
    }
    let overview = run(&mut store.bare(&["help"]), None).exits(0).stdout;
    assert!(overview.lines().count() <= 40 && overview.starts_with("Plain Markdown memory"), "{overview}");
    assert_eq!(overview, run(&mut store.bare(&["-h"]), None).exits(0).stdout);
    let all = store.run(&["--help"]).exits(0).stdout;
    for option in ["--max-entries", "--durability", "--trace"] {
        assert!(all.contains(option), "{option}\n{all}");
    }
    store.run(&["recall", "--durability", "fast", "nothing"]).exits(1);
}
