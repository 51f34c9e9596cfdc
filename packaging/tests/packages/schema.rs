//! The published schemas, from their copies in `packaging/schemas/`.

use std::fs;

use jsonschema::{Registry, Validator};
use serde_json::Value;

use saddlebag_packaging::Release;

/// Files that schemas refer to, with their addresses.
const PARTS: [(&str, &str); 2] = [
    ("http://cyclonedx.org/schema/spdx.SNAPSHOT.schema.json", "spdx.schema.json"),
    ("http://cyclonedx.org/schema/jsf-0.82.SNAPSHOT.schema.json", "jsf-0.82.schema.json"),
];

/// A published schema.
pub(crate) struct Schema(Validator);

impl Schema {
    pub(crate) fn read(name: &str) -> Self {
        let mut registry = Registry::new();
        for (address, part) in PARTS {
            registry = registry.add(address, read(part)).expect("an address");
        }
        let registry = registry.prepare().expect("no part is missing");
        let schema = jsonschema::options().with_registry(&registry).should_validate_formats(true).build(&read(name));
        Self(schema.unwrap_or_else(|error| panic!("{name}: {error}")))
    }

    /// Returns what is wrong with a value.
    pub(crate) fn problems(&self, value: &Value) -> Vec<String> {
        self.0.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
    }

    #[track_caller]
    pub(crate) fn check(&self, value: &Value) {
        let problems = self.problems(value);
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    /// Checks that the schema refuses a value without a field.
    #[track_caller]
    pub(crate) fn refuses_without(&self, value: &Value, pointer: &str, field: &str) {
        let mut value = value.clone();
        let object = value.pointer_mut(pointer).and_then(Value::as_object_mut).expect("an object");
        assert!(object.remove(field).is_some(), "{pointer} has no {field}");
        assert!(!self.problems(&value).is_empty(), "the schema takes {pointer} without {field}");
    }
}

fn read(name: &str) -> Value {
    let path = Release::read().expect("a release").root().join("packaging/schemas").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
