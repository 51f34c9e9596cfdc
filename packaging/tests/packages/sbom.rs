use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::made::made;
use crate::schema::Schema;

fn bill() -> Value {
    let text = fs::read_to_string(made().file("saddlebag-", ".cdx.json")).expect("the bill of materials");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn the_bill_of_materials_fits_the_published_schema() {
    let schema = Schema::read("bom-1.5.schema.json");
    let bill = bill();
    schema.check(&bill);
    schema.refuses_without(&bill, "", "bomFormat");
    schema.refuses_without(&bill, "/components/0", "name");
    schema.refuses_without(&bill, "/components/0/licenses/0", "expression");
}

#[test]
fn the_bill_of_materials_lists_what_is_in_the_program_and_nothing_that_only_builds_or_tests() {
    let bill = bill();
    let components = bill["components"].as_array().expect("components");
    let names: BTreeSet<&str> = components.iter().filter_map(|component| component["name"].as_str()).collect();
    // `dlmalloc` is in the component alone, which is built for another target.
    for there in ["clap", "serde_json", "saddlebag-host", "saddlebag-markdown", "dlmalloc"] {
        assert!(names.contains(there), "{there} is missing: {names:?}");
    }
    for absent in ["proptest", "jsonschema", "syn", "saddlebag-packaging", "xtask"] {
        assert!(!names.contains(absent), "{absent} is not in the program");
    }
    for component in components {
        let name = component["name"].as_str().expect("a name");
        assert!(component["licenses"][0]["expression"].is_string(), "{name} has no licence");
        let is_ours = name.starts_with("saddlebag");
        assert_eq!(component["hashes"][0]["content"].is_string(), !is_ours, "{name}");
    }
}

#[test]
fn every_dependency_of_the_bill_of_materials_is_a_component_of_it() {
    let bill = bill();
    let text = |value: &Value| value.as_str().expect("text").to_string();
    let components = bill["components"].as_array().expect("components").iter();
    let mut known: BTreeSet<String> = components.map(|component| text(&component["bom-ref"])).collect();
    let program = text(&bill["metadata"]["component"]["bom-ref"]);
    known.insert(program.clone());
    let dependencies = bill["dependencies"].as_array().expect("dependencies");
    let mut reached = BTreeSet::from([program]);
    for dependency in dependencies {
        assert!(known.contains(&text(&dependency["ref"])));
        reached.extend(dependency["dependsOn"].as_array().expect("a list").iter().map(text));
    }
    assert_eq!(reached, known, "a component that nothing depends on, or a dependency that is not a component");
}
