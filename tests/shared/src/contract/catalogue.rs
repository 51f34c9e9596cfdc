//! The catalogue of the crate, held against the commands of `wit/`.

use saddlebag::catalogue::catalogue;
use wit_parser::TypeDefKind;

use super::wit::{contract, is_of_commands, types};

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
    // A tool is the function `tools.call`.
    for command in catalogue().into_iter().filter(|command| command.family != "tools") {
        let is_there = cases.iter().any(|(interface, case)| *case == command.name && *interface == command.family);
        assert!(is_there, "wit/{}.wit has no case `{}`", command.family, command.name);
    }
}
