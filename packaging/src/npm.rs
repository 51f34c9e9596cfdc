//! The npm packages: one with a launcher, and one per platform with the program, which the launcher's package names as
//! optional. npm installs only the one that fits the machine.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::archive::{Entry, tar_gz, write};
use crate::notices;
use crate::program::Program;
use crate::release::{AUTHORS, Release};
use crate::target::{RELEASED, Target};
use crate::wheel::ABOUT;

const LAUNCHER: &str = "packaging/npm/launcher.js";

/// Builds the package with the program of one target and returns its path.
pub(crate) fn build_for_target(
    release: &Release,
    program: &Program,
    notices: &str,
    out: &Path,
) -> Result<PathBuf, String> {
    let target = &program.target;
    let file = format!("bin/{}", target.os.program());
    let mut manifest = shared(release, &package_of(target));
    manifest.insert("description".into(), format!("The program {} for {}", Release::NAME, target.npm()).into());
    manifest.insert("os".into(), json!([target.os.name()]));
    manifest.insert("cpu".into(), json!([target.npm_cpu()]));
    if target.is_gnu {
        manifest.insert("libc".into(), json!(["glibc"]));
    }
    manifest.insert("files".into(), json!([file, notices::NAME]));
    // Package managers that keep packages in archives must unpack this one.
    manifest.insert("preferUnplugged".into(), true.into());
    let files = vec![
        Entry::program(format!("package/{file}"), &program.bytes),
        Entry::text(format!("package/{}", notices::NAME), notices),
    ];
    pack(release, manifest, files, &out.join(file_name(release, target)))
}

/// Returns the name of the file with the package of a target.
pub(crate) fn file_name(release: &Release, target: &Target) -> String {
    format!("{}-npm-{}-{}.tgz", Release::NAME, target.npm(), release.version)
}

/// Builds the package with the launcher and returns its path.
pub(crate) fn build_launcher(release: &Release, out: &Path) -> Result<PathBuf, String> {
    let mut manifest = shared(release, Release::NAME);
    manifest.insert("description".into(), release.description.clone().into());
    manifest.insert("keywords".into(), json!(release.keywords));
    manifest.insert("bin".into(), json!({ "saddlebag": "bin/saddlebag.js" }));
    manifest.insert("files".into(), json!(["bin/saddlebag.js"]));
    manifest.insert("engines".into(), json!({ "node": ">=18" }));
    // The registry of MCP servers looks for its name of the server here.
    manifest.insert("mcpName".into(), release.server_name()?.into());
    let mut platforms = Map::new();
    for triple in RELEASED {
        platforms.insert(package_of(&Target::of(triple)?), release.version.clone().into());
    }
    manifest.insert("optionalDependencies".into(), platforms.into());
    let launcher = Entry::program("package/bin/saddlebag.js", release.text(LAUNCHER)?.as_bytes());
    pack(release, manifest, vec![launcher], &out.join(format!("{}-npm-{}.tgz", Release::NAME, release.version)))
}

/// Returns the name of the package of a target. The launcher makes it from the machine in the same way.
fn package_of(target: &Target) -> String {
    format!("@{}/{}", Release::NAME, target.npm())
}

fn shared(release: &Release, name: &str) -> Map<String, Value> {
    let mut manifest = Map::new();
    manifest.insert("name".into(), name.into());
    manifest.insert("version".into(), release.version.clone().into());
    manifest.insert("license".into(), release.license.clone().into());
    manifest.insert("author".into(), AUTHORS.into());
    manifest.insert("homepage".into(), release.repository.clone().into());
    manifest.insert("repository".into(), json!({ "type": "git", "url": format!("git+{}.git", release.repository) }));
    manifest
}

fn pack(release: &Release, manifest: Map<String, Value>, files: Vec<Entry>, path: &Path) -> Result<PathBuf, String> {
    let manifest = format!("{:#}\n", Value::Object(manifest));
    let mut entries =
        vec![Entry::text("package/package.json", manifest), Entry::text("package/README.md", release.text(ABOUT)?)];
    entries.extend(files);
    for (name, text) in release.licenses()? {
        entries.push(Entry::text(format!("package/{name}"), text));
    }
    write(path, &tar_gz(&entries)?)
}
