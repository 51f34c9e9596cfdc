//! Tests that the words of enums are the words of the contract.

use crate::context::{BlockForm, Overflow, SourceFamily};
use crate::entries::{HydrationPolicy, ImportMode};
use crate::journal::{FileState, WriteMode};
use crate::notebook::{ErrorState, SortBy};
use crate::session::{BeginSource, NotShownReason};
use crate::store::BackupPlace;
use crate::tools::{Dialect, ToolSet};
use crate::trust::{FlagKind, Provenance, SecretPolicy};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{EntryKind, ErrorCode};

/// Files that define enums with words.
const CONTRACT: &str = concat!(
    include_str!("../wit/config.wit"),
    include_str!("../wit/entries.wit"),
    include_str!("../wit/items.wit"),
    include_str!("../wit/fs.wit"),
    include_str!("../wit/journal.wit"),
    include_str!("../wit/notebook.wit"),
    include_str!("../wit/prompt.wit"),
    include_str!("../wit/session.wit"),
    include_str!("../wit/tools.wit"),
    include_str!("../wit/trust.wit"),
    include_str!("../wit/types.wit"),
);

#[test]
fn the_contract_has_the_same_words_in_the_same_order() {
    let enums: [(&str, &[&str]); 15] = [
        ("backup-place", &BackupPlace::WORDS),
        ("begin-source", &BeginSource::WORDS),
        ("block-form", &BlockForm::WORDS),
        ("dialect", &Dialect::WORDS),
        ("entry-kind", &EntryKind::WORDS),
        ("error-state", &ErrorState::WORDS),
        ("file-state", &FileState::WORDS),
        ("import-mode", &ImportMode::WORDS),
        ("not-shown-reason", &NotShownReason::WORDS),
        ("overflow", &Overflow::WORDS),
        ("hydration-policy", &HydrationPolicy::WORDS),
        ("secret-policy", &SecretPolicy::WORDS),
        ("sort-by", &SortBy::WORDS),
        ("source-family", &SourceFamily::WORDS),
        ("tool-set", &ToolSet::WORDS),
    ];
    for (name, words) in enums {
        assert_eq!(in_contract(name), words, "{name}");
    }
    assert_eq!(in_contract("write-mode"), WriteMode::WORDS);
}

#[test]
fn the_one_word_that_languages_reserve_has_another_case_in_the_contract_which_says_so() {
    let cases: Vec<&str> =
        Provenance::WORDS.iter().map(|word| if *word == "import" { "imported" } else { word }).collect();
    assert_eq!(in_contract("provenance"), cases);
    assert!(CONTRACT.contains("Files, the command line and JSON have the word `import`.\n        imported,"));
}

#[test]
fn the_contract_documents_the_words_of_its_open_sets() {
    assert_eq!(documented("record error {"), ErrorCode::WORDS);
    assert_eq!(documented("record flag {"), FlagKind::WORDS);
}

/// Returns the words in the documentation of the first field of a record.
fn documented(record: &str) -> Vec<&'static str> {
    let (_, rest) = CONTRACT.split_once(record).expect("the contract has the record");
    let documentation = rest.lines().skip(1).map(str::trim).take_while(|line| line.starts_with("///"));
    documentation.filter_map(|line| line.strip_prefix("/// - `")?.split_once('`').map(|(word, _)| word)).collect()
}

/// Returns the cases of an enum of the contract.
fn in_contract(name: &str) -> Vec<&'static str> {
    let begin = format!("enum {name} {{");
    let (_, rest) = CONTRACT.split_once(begin.as_str()).expect("the contract has the enum");
    let (cases, _) = rest.split_once('}').expect("it ends");
    let cases = cases.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("///"));
    cases.map(|case| case.trim_end_matches(',')).collect()
}
