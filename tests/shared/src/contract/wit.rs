//! `wit/` as it is parsed, and its names as the crate has them.

use std::path::{Path, PathBuf};

use wit_parser::{Resolve, TypeDef};

/// Returns true for a variant of commands: a case without a payload is a struct without fields.
pub(crate) fn is_of_commands(name: &str) -> bool {
    name.ends_with("-command")
}

pub(crate) fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).expect("two folders below the root").to_path_buf()
}

pub(crate) fn contract() -> Resolve {
    let mut contract = Resolve::default();
    contract.push_dir(root().join("wit")).expect("wit/ is valid");
    contract
}

/// The types that an interface defines, by interface.
pub(crate) fn types(contract: &Resolve) -> impl Iterator<Item = (&str, &str, &TypeDef)> {
    contract.interfaces.iter().flat_map(move |(_, interface)| {
        let name = interface.name.as_deref().expect("every interface has a name");
        interface.types.iter().map(move |(type_name, id)| (name, type_name.as_str(), &contract.types[*id]))
    })
}

pub(crate) fn camel(name: &str) -> String {
    let upper = |word: &str| {
        // Or the name could not be made of the type again, as canonical JSON does.
        assert!(word.starts_with(|c: char| c.is_ascii_lowercase()), "`{name}` has a word that begins with no letter");
        word[..1].to_uppercase() + &word[1..]
    };
    name.split('-').map(upper).collect()
}

/// As a bindings generator writes the name of a field.
pub(crate) fn snake(name: &str) -> String {
    name.replace('-', "_")
}
