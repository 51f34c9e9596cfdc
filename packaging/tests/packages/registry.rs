use std::fs;

use saddlebag_packaging::sha256;
use serde_json::Value;

use crate::made::made;
use crate::schema::Schema;

fn entry() -> Value {
    let text = fs::read_to_string(made().folder.join("server.json")).expect("the entry");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn the_entry_of_the_registry_fits_the_published_schema() {
    let schema = Schema::read("server-2025-12-11.schema.json");
    let mut entry = entry();
    schema.check(&entry);
    schema.refuses_without(&entry, "", "name");
    schema.refuses_without(&entry, "/packages/0", "transport");
    schema.refuses_without(&entry, "/packages/0/packageArguments/0", "value");
    entry["description"] = "x".repeat(101).into();
    assert!(!schema.problems(&entry).is_empty());
}

/// The registry compares its name with what each package says, and the digest with the bundle.
#[test]
fn the_entry_names_packages_that_name_it_and_the_digest_of_the_bundle() {
    let made = made();
    let entry = entry();
    let name = entry["name"].as_str().expect("a name");
    assert_eq!(Ok(name.to_string()), made.release.server_name());
    let read = |path: &str| fs::read_to_string(made.release.root().join(path)).expect("text");
    assert!(read("packaging/about.md").contains(&format!("<!-- mcp-name: {name} -->")));
    assert!(
        read("packaging/container/Dockerfile").contains(&format!("io.modelcontextprotocol.server.name=\"{name}\""))
    );
    let packages = entry["packages"].as_array().expect("packages");
    let kinds: Vec<&str> = packages.iter().filter_map(|package| package["registryType"].as_str()).collect();
    assert_eq!(kinds, ["npm", "pypi", "oci", "mcpb"]);
    let bundle = fs::read(made.folder.join(format!("saddlebag-{}.mcpb", made.release.version))).expect("the bundle");
    assert_eq!(packages[3]["fileSha256"], sha256(&bundle));
    // The registry refuses an image with a version beside its tag.
    assert!(packages[2].get("version").is_none());
    for package in packages.iter().filter(|package| package["registryType"] != "oci") {
        assert_eq!(package["version"], made.release.version.as_str());
    }
}
