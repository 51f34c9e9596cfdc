//! The words of enums are those of the contract.

use alloc::vec::Vec;

use crate::agents_md::Side;
use crate::context::{BlockForm, Overflow};
use crate::entries::{ImportMode, Policy};
use crate::journal::{FileState, WriteMode};
use crate::notebook::{ErrorState, SortBy};
use crate::protocol::{EntryKind, ErrorCode};
use crate::tools::{Dialect, ToolSet};
use crate::trust::{FlagKind, Provenance, SecretPolicy};

/// The files that define enums with words.
const CONTRACT: &str = concat!(
    include_str!("../wit/agents-md.wit"),
    include_str!("../wit/context.wit"),
    include_str!("../wit/entries.wit"),
    include_str!("../wit/fs.wit"),
    include_str!("../wit/journal.wit"),
    include_str!("../wit/notebook.wit"),
    include_str!("../wit/tools.wit"),
    include_str!("../wit/trust.wit"),
    include_str!("../wit/types.wit"),
);

#[test]
fn the_contract_has_the_same_words_in_the_same_order() {
    let enums: [(&str, &[&str]); 15] = [
        ("block-form", &BlockForm::WORDS),
        ("dialect", &Dialect::WORDS),
        ("entry-kind", &EntryKind::WORDS),
        ("error-code", &ErrorCode::WORDS),
        ("error-state", &ErrorState::WORDS),
        ("file-state", &FileState::WORDS),
        ("flag-kind", &FlagKind::WORDS),
        ("import-mode", &ImportMode::WORDS),
        ("overflow", &Overflow::WORDS),
        ("policy", &Policy::WORDS),
        ("provenance", &Provenance::WORDS),
        ("secret-policy", &SecretPolicy::WORDS),
        ("side", &Side::WORDS),
        ("sort-by", &SortBy::WORDS),
        ("tool-set", &ToolSet::WORDS),
    ];
    for (name, words) in enums {
        assert_eq!(in_contract(name), words, "{name}");
    }
    assert_eq!(in_contract("write-mode"), WriteMode::WORDS);
}

/// The cases of an enum of the contract. One that is a keyword has a `%` before it.
fn in_contract(name: &str) -> Vec<&'static str> {
    let begin = alloc::format!("enum {name} {{");
    let (_, rest) = CONTRACT.split_once(begin.as_str()).expect("the contract has the enum");
    let (cases, _) = rest.split_once('}').expect("it ends");
    let cases = cases.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("///"));
    cases.map(|case| case.trim_start_matches('%').trim_end_matches(',')).collect()
}
