//! Checks of what is written about the command line elsewhere, against the command line itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use clap::CommandFactory;

use crate::args::Cli;

#[test]
fn every_subcommand_has_a_golden_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/json");
    let mut kept = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("the folder of golden files") {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("text");
        let file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        kept.insert(file["command"].as_str().expect("a command").to_string());
    }
    let mut command = Cli::command();
    command.build();
    let missing: Vec<String> = verbs(&command, "").into_iter().filter(|verb| !kept.contains(verb)).collect();
    assert!(missing.is_empty(), "no golden file of {missing:?}: add cases to cli/tests/program/golden/cases.rs");
}

/// The subcommands that run something, each by its words.
fn verbs(command: &clap::Command, above: &str) -> Vec<String> {
    let subcommands = command.get_subcommands().filter(|command| command.get_name() != "help");
    let of = |command: &clap::Command| {
        let name = format!("{above}{}", command.get_name());
        if command.has_subcommands() { verbs(command, &format!("{name} ")) } else { vec![name] }
    };
    subcommands.flat_map(of).collect()
}
