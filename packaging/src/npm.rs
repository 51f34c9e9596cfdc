//! The npm packages: one with a launcher, and one per platform with the program, which the launcher's package names as
//! optional. npm installs only the one that fits the machine.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::archive::{Entry, tar_gz, write};
use crate::program::Program;
use crate::release::{AUTHORS, Release};
use crate::target::{RELEASED, Target};
use crate::wheel::ABOUT;

const LAUNCHER: &str = "packaging/npm/launcher.js";

/// Builds the package with the program of one target and returns its path.
pub(crate) fn build_for_target(release: &Release, program: &Program, out: &Path) -> Result<PathBuf, String> {
    let target = &program.target;
    let mut manifest = shared(release, &package_of(target));
    manifest.insert("description".into(), format!("The program {} for {}", Release::NAME, target.npm()).into());
    manifest.insert("os".into(), json!([target.os.name()]));
    manifest.insert("cpu".into(), json!([target.npm_cpu()]));
    if target.is_gnu {
        manifest.insert("libc".into(), json!(["glibc"]));
    }
    // Package managers that keep packages in archives must unpack this one.
    manifest.insert("preferUnplugged".into(), true.into());
    let mut files = vec![Entry::program(format!("package/bin/{}", target.os.program()), &program.bytes)];
    files.extend(
        program.licenses.iter().map(|license| Entry { path: format!("package/{}", license.path), ..license.clone() }),
    );
    pack(release, manifest, files, &out.join(file_name(release, target)))
}

/// Returns the name of the file with the package of a target.
pub(crate) fn file_name(release: &Release, target: &Target) -> String {
    format!("{}-npm-{}-{}.tgz", Release::NAME, target.npm(), release.version)
}

/// Builds the package with the launcher and returns its path.
pub(crate) fn build_launcher(release: &Release, out: &Path) -> Result<PathBuf, String> {
    let mut files = vec![Entry::program("package/bin/saddlebag.js", release.text(LAUNCHER)?.as_bytes())];
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        files.push(Entry::text(format!("package/{name}"), release.text(name)?));
    }
    let path = out.join(format!("{}-npm-{}.tgz", Release::NAME, release.version));
    pack(release, launcher(release)?, files, &path)
}

/// Returns the manifest of the package with the launcher.
fn launcher(release: &Release) -> Result<Map<String, Value>, String> {
    let mut manifest = shared(release, Release::NAME);
    manifest.insert("description".into(), release.description.clone().into());
    manifest.insert("keywords".into(), json!(release.keywords));
    manifest.insert("bin".into(), json!({ "saddlebag": "bin/saddlebag.js" }));
    manifest.insert("engines".into(), json!({ "node": ">=18" }));
    // The registry of MCP servers looks for its name of the server here.
    manifest.insert("mcpName".into(), release.server_name()?.into());
    let mut platforms = Map::new();
    for triple in RELEASED {
        platforms.insert(package_of(&Target::of(triple)?), release.version.clone().into());
    }
    manifest.insert("optionalDependencies".into(), platforms.into());
    Ok(manifest)
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
    write(path, &tar_gz(&entries)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launcher_asks_for_the_very_version_of_each_released_platform() {
        let release = Release::read().expect("a release");
        let manifest = launcher(&release).expect("a manifest");
        let platforms = manifest["optionalDependencies"].as_object().expect("an object");
        for triple in RELEASED {
            let name = format!("@saddlebag/{}", Target::of(triple).expect("known").npm());
            assert_eq!(platforms[&name], release.version.as_str(), "{name}");
        }
        assert_eq!(platforms.len(), RELEASED.len());
    }
}
