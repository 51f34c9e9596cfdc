//! Writes `src/wit_convert/contract.rs`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::generated::Kind;
use wit_parser::{Resolve, Type, TypeDefKind};

use super::defaults;
use super::wit::{camel, contract, is_of_commands, root, snake, types};

/// Variants of the crate whose cases have named fields, where `wit/` has a record.
const WITH_NAMED_FIELDS: [(&str, &str); 4] =
    [("fs", "op"), ("journal", "edit-change"), ("engine", "submit-error"), ("engine", "result-error")];

/// A record that a function returns, and that the crate has no type for.
const OF_A_FUNCTION: (&str, &str) = ("trust", "safe-text");

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
    let records = interfaces.values().flat_map(|(records, _)| records.lines()).filter(|line| !is_inline(line));
    let records: String = records.map(|line| format!("{line}\n")).collect();
    let variants: String = interfaces.values().map(|(_, variants)| variants.as_str()).collect();
    let package = contract.packages.iter().map(|(_, package)| package.name.to_string()).collect::<Vec<_>>().join(" ");
    format!(
        "// Made of `wit/` by the test `the_conversions_are_those_of_wit`.

/// The package of the contract.
pub const PACKAGE: &str = \"{package}\";

/// Hands the types of every interface to a macro for records and one for variants, over the modules of the bindings in
/// scope, which are named as the interfaces.
#[macro_export]
#[doc(hidden)]
macro_rules! wit_contract {{
    ($records:ident $variants:ident $openness:ident) => {{
        $crate::$records! {{ $openness:
{records}        }}

        $crate::$variants! {{ $openness:
{variants}        }}
    }};
}}
"
    )
}

/// A field or a case that only one of `wit/` and the crate has does not compile, and the
/// conversions are made from `wit/`.
#[test]
fn the_conversions_are_those_of_wit() {
    let path = root().join("src/wit_convert/contract.rs");
    Kind::Contract.check(&path, &rendered()).unwrap_or_else(|difference| panic!("{difference}"));
}
