//! The bill of materials in CycloneDX 1.5: every crate that is in the program, with its licence and the digest of its source.
//!
//! `cargo tree` lists the crates of one target, with their licences; `Cargo.lock` has the digests. The component in the program
//! is built for another target, so its crates are added.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::release::{Release, cargo};
use crate::target::Target;

/// Target of the component in the program.
pub(crate) const COMPONENT_TARGET: &str = "wasm32-wasip2";

/// Arguments that choose the package and the features of a released program.
const PROGRAM: [&str; 5] = ["--package", Release::CRATE, "--no-default-features", "--features", "component,server"];

/// Name and version of a crate.
pub(crate) type Crate = (String, String);

/// Returns the name of the file.
pub(crate) fn file_name(release: &Release, target: &Target) -> String {
    format!("{}-{}-{}.cdx.json", Release::NAME, release.version, target.triple)
}

/// Returns the bill of materials of the program for a target.
pub(crate) fn text(release: &Release, target: &Target) -> Result<String, String> {
    let crates = crates(&target.triple)?;
    let digests = digests(&release.text("Cargo.lock")?)?;
    let program = (Release::CRATE.to_string(), release.version.clone());
    let (mut application, mut components, mut dependencies) = (None, Vec::new(), Vec::new());
    for (each, used) in &crates {
        let is_program = *each == program;
        let mut component = component(each, if is_program { "application" } else { "library" }, &used.license);
        if let Some(digest) = digests.get(each) {
            component.insert("hashes".into(), json!([{ "alg": "SHA-256", "content": digest }]));
        }
        if is_program {
            application = Some(component);
        } else {
            components.push(component);
        }
        let needs: Vec<String> = used.needs.iter().map(name_of).collect();
        dependencies.push(json!({ "ref": name_of(each), "dependsOn": needs }));
    }
    let application = application.ok_or_else(|| format!("`cargo tree` does not list {}", Release::CRATE))?;
    let bill = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": application,
            "properties": [{ "name": "cargo:target", "value": target.triple }],
        },
        "components": components,
        "dependencies": dependencies,
    });
    Ok(format!("{bill:#}\n"))
}

/// Returns the crates that the program for a target is built of, with their licences.
pub(crate) fn licenses_of_crates(triple: &str) -> Result<BTreeMap<Crate, String>, String> {
    Ok(crates(triple)?.into_iter().map(|(each, used)| (each, used.license)).collect())
}

fn crates(triple: &str) -> Result<BTreeMap<Crate, Used>, String> {
    let mut crates = BTreeMap::new();
    add_tree(&PROGRAM, triple, &mut crates)?;
    add_tree(&["--package", Release::NAME], COMPONENT_TARGET, &mut crates)?;
    Ok(crates)
}

fn component(of: &Crate, kind: &str, license: &str) -> Map<String, Value> {
    let (name, version) = of;
    let mut component = Map::new();
    component.insert("type".into(), kind.into());
    component.insert("bom-ref".into(), name_of(of).into());
    component.insert("name".into(), name.clone().into());
    component.insert("version".into(), version.clone().into());
    // A version may have a part after `+`, which an address cannot have.
    component.insert("purl".into(), format!("pkg:cargo/{name}@{}", version.replace('+', "%2B")).into());
    if !license.is_empty() {
        // Old manifests separate a choice by a slash.
        component.insert("licenses".into(), json!([{ "expression": license.replace('/', " OR ") }]));
    }
    component
}

fn name_of((name, version): &Crate) -> String {
    format!("{name}@{version}")
}

/// A crate of a program.
#[derive(Debug, Default)]
struct Used {
    license: String,
    /// Crates that it depends on itself.
    needs: BTreeSet<Crate>,
}

/// Adds the crates that a package is built of for a target, itself included. Build scripts and procedural macros run on the
/// machine that builds, and are left out.
fn add_tree(package: &[&str], target: &str, crates: &mut BTreeMap<Crate, Used>) -> Result<(), String> {
    let options = ["--edges", "normal,no-proc-macro", "--prefix", "depth", "--format", "{p} | {l}", "--locked"];
    let arguments = ["tree", "--target", target].into_iter().chain(package.iter().copied());
    let listed = cargo(&arguments.chain(options).collect::<Vec<_>>())?;
    // The crates from the package to the last line.
    let mut path: Vec<Crate> = Vec::new();
    for line in listed.lines().filter(|line| !line.trim().is_empty()) {
        let (depth, each, license) = line_of_tree(line).ok_or_else(|| format!("`cargo tree` says `{line}`"))?;
        path.truncate(depth);
        if let Some(above) = path.last() {
            crates.entry(above.clone()).or_default().needs.insert(each.clone());
        }
        crates.entry(each.clone()).or_default().license = license;
        path.push(each);
    }
    Ok(())
}

/// Splits a line such as `2serde v1.0.0 (proc-macro) | MIT OR Apache-2.0 (*)`.
fn line_of_tree(line: &str) -> Option<(usize, Crate, String)> {
    let line = line.trim_end_matches(" (*)");
    let (depth, rest) = line.split_at(line.find(|c: char| !c.is_ascii_digit())?);
    let (package, license) = rest.split_once(" | ")?;
    let mut words = package.split(' ');
    let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
    Some((depth.parse().ok()?, (name.to_string(), version.to_string()), license.to_string()))
}

/// Returns the digests of the sources that come from the registry.
fn digests(lock: &str) -> Result<BTreeMap<Crate, String>, String> {
    let lock: toml::Table = lock.parse().map_err(|error| format!("Cargo.lock: {error}"))?;
    let packages = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten();
    let field = |package: &toml::Value, name: &str| Some(package.get(name)?.as_str()?.to_string());
    let found = packages.filter_map(|package| {
        Some(((field(package, "name")?, field(package, "version")?), field(package, "checksum")?))
    });
    Ok(found.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_tree_is_split_with_and_without_what_cargo_adds() {
        let split = |line: &str| {
            let (depth, (name, version), license) = line_of_tree(line).expect("a line");
            (depth, name, version, license)
        };
        let line = "12wit-bindgen v0.61.1+x | MIT OR Apache-2.0 (*)";
        assert_eq!(split(line), (12, "wit-bindgen".into(), "0.61.1+x".into(), "MIT OR Apache-2.0".into()));
        let line = "0saddlebag v0.1.0 (/home/you/saddlebag) | MIT";
        assert_eq!(split(line), (0, "saddlebag".into(), "0.1.0".into(), "MIT".into()));
        assert_eq!(line_of_tree("warning: something"), None);
    }
}
