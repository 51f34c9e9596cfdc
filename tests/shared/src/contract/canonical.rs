//! The list of fields that stay in a trace without content, held against `wit/`.

use std::collections::BTreeSet;

use saddlebag::wit_convert::canonical::listed;
use wit_parser::{Resolve, Type, TypeDefKind};

use super::wit::{contract, types};

/// Every text or list of bytes of the contract, as `fs.read-op.path`.
fn texts(contract: &Resolve) -> BTreeSet<String> {
    let mut texts = BTreeSet::new();
    for (interface, owner, definition) in types(contract) {
        let mut add = |member: &str, is_text: bool| {
            if is_text {
                texts.insert(format!("{interface}.{owner}.{member}"));
            }
        };
        match &definition.kind {
            TypeDefKind::Record(record) => {
                record.fields.iter().for_each(|field| add(&field.name, has_text(contract, field.ty)));
            }
            TypeDefKind::Variant(variant) => {
                for case in &variant.cases {
                    add(&case.name, case.ty.is_some_and(|payload| has_text(contract, payload)));
                }
            }
            _ => {}
        }
    }
    texts
}

/// Returns true for text, and for what has text without a name.
fn has_text(contract: &Resolve, of: Type) -> bool {
    let inner = |of: Option<Type>| of.is_some_and(|of| has_text(contract, of));
    match of {
        Type::String | Type::U8 | Type::Char => true,
        Type::Id(id) => match &contract.types[id].kind {
            TypeDefKind::Type(of) | TypeDefKind::List(of) | TypeDefKind::Option(of) => has_text(contract, *of),
            TypeDefKind::Result(result) => inner(result.ok) || inner(result.err),
            TypeDefKind::Tuple(tuple) => tuple.types.iter().any(|of| has_text(contract, *of)),
            _ => false,
        },
        _ => false,
    }
}

#[test]
fn every_text_that_stays_in_a_redacted_trace_is_one_of_the_contract() {
    let texts = texts(&contract());
    let listed: Vec<&str> = listed().collect();
    let unknown: Vec<&&str> = listed.iter().filter(|name| !texts.contains(**name)).collect();
    assert!(unknown.is_empty(), "`wit/` has no such texts: {unknown:?}");
    let unique: BTreeSet<&&str> = listed.iter().collect();
    assert_eq!(unique.len(), listed.len(), "a text is listed twice");
    // Text of people.
    for content in ["journal.write.content", "fs.write-op.content", "fs.file-content.bytes", "types.error.message"] {
        assert!(texts.contains(content) && !listed.contains(&content), "{content}");
    }
}
