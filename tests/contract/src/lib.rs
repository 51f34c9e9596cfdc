//! The tests that hold `wit/` and the crate together: the conversions are made of `wit/`, and every command has its case
//! there.
//!
//! `canonical.rs` holds the list of what a trace may show against `wit/`.
//! `defaults.rs` holds the defaults of `wit/` against the constants of the crate.
//! `names.rs` holds the names of `wit/` against the reserved words of other languages.
//! `schemas.rs` holds the JSON of the program against `docs/schemas/`.
//!
//! They are a separate package, and not a default member of the workspace: the parser of `wit/` changes the features of
//! what wasmtime depends on, and wasmtime would be compiled a second time.

#![cfg(test)]
#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

mod canonical;
mod defaults;
mod hooks;
mod names;
mod schemas;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use saddlebag::catalogue::catalogue;
use saddlebag_tests_generated::Kind;
use wit_parser::{Resolve, Type, TypeDef, TypeDefKind};

/// Variants of the crate whose cases have named fields, where `wit/` has a record.
const WITH_NAMED_FIELDS: [(&str, &str); 4] =
    [("fs", "op"), ("journal", "edit-change"), ("engine", "submit-error"), ("engine", "result-error")];

/// Returns true for a variant of commands: a case without a payload is a struct without fields.
fn is_of_commands(name: &str) -> bool {
    name.ends_with("-command")
}

/// A record that a function returns, and that the crate has no type for.
const OF_A_FUNCTION: (&str, &str) = ("trust", "safe-text");

fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).expect("two folders below the root").to_path_buf()
}

fn contract() -> Resolve {
    let mut contract = Resolve::default();
    contract.push_dir(root().join("wit")).expect("wit/ is valid");
    contract
}

/// The types that an interface defines, by interface.
fn types(contract: &Resolve) -> impl Iterator<Item = (&str, &str, &TypeDef)> {
    contract.interfaces.iter().flat_map(move |(_, interface)| {
        let name = interface.name.as_deref().expect("every interface has a name");
        interface.types.iter().map(move |(type_name, id)| (name, type_name.as_str(), &contract.types[*id]))
    })
}

fn camel(name: &str) -> String {
    let upper = |word: &str| {
        // Or the name could not be made of the type again, as canonical JSON does.
        assert!(word.starts_with(|c: char| c.is_ascii_lowercase()), "`{name}` has a word that begins with no letter");
        word[..1].to_uppercase() + &word[1..]
    };
    name.split('-').map(upper).collect()
}

/// As a bindings generator writes the name of a field.
fn snake(name: &str) -> String {
    name.replace('-', "_")
}

fn record(contract: &Resolve, payload: Option<Type>) -> Option<&wit_parser::Record> {
    let Some(Type::Id(id)) = payload else { return None };
    match &contract.types[id].kind {
        TypeDefKind::Record(record) => Some(record),
        _ => None,
    }
}

fn rendered() -> String {
    let contract = contract();
    let mut interfaces: BTreeMap<&str, (String, String)> = BTreeMap::new();
    for (interface, name, definition) in
        types(&contract).filter(|(interface, name, _)| (*interface, *name) != OF_A_FUNCTION)
    {
        let shown = format!("{}::{}", snake(interface), camel(name));
        let (records, variants) = interfaces.entry(interface).or_default();
        match &definition.kind {
            TypeDefKind::Record(record) => {
                let fields = record.fields.iter().map(|field| defaults::with_default(interface, name, &field.name));
                let fields: Vec<String> = fields.collect();
                writeln!(records, "            {shown} {{ {} }}", fields.join(", ")).expect("a string");
            }
            TypeDefKind::Enum(cases) => {
                let cases: Vec<String> = cases.cases.iter().map(|case| camel(&case.name)).collect();
                writeln!(variants, "            {shown} {{ {} }}", cases.join(", ")).expect("a string");
            }
            TypeDefKind::Variant(cases) => {
                let has_named_fields = WITH_NAMED_FIELDS.contains(&(interface, name));
                let cases: Vec<String> = cases
                    .cases
                    .iter()
                    .map(|case| {
                        let own = camel(&case.name);
                        match (case.ty, record(&contract, case.ty).filter(|_| has_named_fields)) {
                            (None, _) if is_of_commands(name) => format!("{own} = ({own})"),
                            (None, _) => own,
                            (Some(Type::Id(id)), Some(record)) => {
                                let fields: Vec<String> =
                                    record.fields.iter().map(|field| snake(&field.name)).collect();
                                let record = contract.types[id].name.as_deref().expect("a record has a name");
                                format!("{own} {{ {} }} = {}", fields.join(", "), camel(record))
                            }
                            _ => format!("{own}(value)"),
                        }
                    })
                    .collect();
                writeln!(variants, "            {shown} {{ {} }}", cases.join(", ")).expect("a string");
            }
            _ => {}
        }
    }
    let inline: Vec<String> = types(&contract)
        .filter(|(interface, name, _)| WITH_NAMED_FIELDS.contains(&(interface, name)))
        .filter_map(|(interface, _, definition)| match &definition.kind {
            TypeDefKind::Variant(cases) => Some((interface, cases)),
            _ => None,
        })
        .flat_map(|(interface, cases)| cases.cases.iter().map(move |case| (interface, case.ty)))
        .filter_map(|(interface, payload)| match payload {
            Some(Type::Id(id)) => {
                Some(format!("            {}::{} {{", snake(interface), camel(contract.types[id].name.as_deref()?)))
            }
            _ => None,
        })
        .collect();
    let is_inline = |line: &&str| inline.iter().any(|start| line.starts_with(start.as_str()));
    let mut arms = String::new();
    for (interface, (records, variants)) in &interfaces {
        let records: String = records.lines().filter(|line| !is_inline(line)).map(|line| format!("{line}\n")).collect();
        let arm = format!(
            "    (@{} $openness:ident) => {{
        $crate::wit_records! {{ $openness:
{records}        }}

        $crate::wit_variants! {{ $openness:
{variants}        }}
    }};
",
            snake(interface)
        );
        arms.push_str(&arm);
    }
    let package = contract.packages.iter().map(|(_, package)| package.name.to_string()).collect::<Vec<_>>().join(" ");
    let every = interfaces.keys().map(|interface| snake(interface)).collect::<Vec<_>>().join(" ");
    format!(
        "// Made of `wit/` by the test `the_conversions_are_those_of_wit`.

/// The package of the contract.
pub const PACKAGE: &str = \"{package}\";

/// The types of these interfaces, over the modules of the bindings in scope, which are named as the interfaces.
#[macro_export]
#[doc(hidden)]
macro_rules! wit_contract {{
    ($openness:ident: $($interface:ident)*) => {{
        $($crate::wit_contract! {{ @$interface $openness }})*
    }};
    ($openness:ident) => {{
        $crate::wit_contract! {{ $openness: {every} }}
    }};
{arms}}}
"
    )
}

#[test]
fn the_conversions_are_those_of_wit() {
    let path = root().join("src/wit_convert/contract.rs");
    Kind::Contract.check(&path, &rendered()).unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn every_command_has_its_case_in_wit() {
    let contract = contract();
    let cases: Vec<(&str, &str)> = types(&contract)
        .filter(|(_, name, _)| is_of_commands(name))
        .filter_map(|(interface, _, definition)| match &definition.kind {
            TypeDefKind::Variant(variant) => Some((interface, variant)),
            _ => None,
        })
        .flat_map(|(interface, variant)| variant.cases.iter().map(move |case| (interface, case.name.as_str())))
        .collect();
    for command in catalogue() {
        let is_there = cases.iter().any(|(interface, case)| *case == command.name && *interface == command.family);
        assert!(is_there, "wit/{}.wit has no case `{}`", command.family, command.name);
    }
}
