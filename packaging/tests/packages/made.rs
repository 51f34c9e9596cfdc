use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::Compression;
use flate2::write::GzEncoder;
use saddlebag_packaging::{Entry, RELEASED, Release, Target, entries_of_tar_gz, entries_of_zip, sha256};
use saddlebag_packaging::{package_release, package_target};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// Answers as the program does.
const SCRIPT: &str = r#"#!/bin/sh
[ "$1" = tools ] && echo '{"tools": [{"name": "memory_recall", "description": "Find."}]}'
"#;

/// Packages of a release for this machine, each with its content.
struct Made {
    release: Release,
    target: Target,
    folder: TempDir,
}

impl Made {
    fn new() -> Self {
        let release = Release::read().expect("a release");
        let here = |triple: &&str| {
            let os = if cfg!(target_os = "macos") { "apple" } else { "linux" };
            triple.starts_with(std::env::consts::ARCH) && triple.contains(os)
        };
        let target = Target::of(RELEASED.into_iter().find(here).expect("a target for this machine")).expect("known");
        let folder = tempfile::tempdir().expect("a folder");
        let name = release.archive(&target);
        write_archive(&folder.path().join(&name), name.trim_end_matches(".tar.gz"));
        let made = Self { release, target, folder };
        made.make();
        made
    }

    fn make(&self) {
        package_target(&self.target.triple, self.folder.path()).expect("packages of the target");
        package_release(self.folder.path()).expect("packages of the release");
    }

    /// Returns the path of the only file whose name has this beginning and end.
    fn path(&self, begin: &str, end: &str) -> PathBuf {
        let matches = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(begin) && name.ends_with(end)
        };
        let found: Vec<PathBuf> = files(self.folder.path()).into_iter().filter(matches).collect();
        let [path] = found.as_slice() else { panic!("files `{begin}*{end}`: {found:?}") };
        path.clone()
    }

    fn wheel(&self) -> Vec<Entry> {
        entries_of_zip(&fs::read(self.path("saddlebag-", ".whl")).expect("the wheel")).expect("entries")
    }

    fn npm(&self, of: &str) -> Vec<Entry> {
        let path = self.path(&format!("saddlebag-npm-{of}"), ".tgz");
        entries_of_tar_gz(&fs::read(path).expect("the package")).expect("entries")
    }

    fn bundle(&self) -> Vec<Entry> {
        entries_of_zip(&fs::read(self.path("saddlebag-", ".mcpb")).expect("the bundle")).expect("entries")
    }

    fn server(&self) -> Value {
        serde_json::from_slice(&fs::read(self.folder.path().join("server.json")).expect("the entry")).expect("JSON")
    }
}

/// Writes an archive as `dist` does.
fn write_archive(path: &Path, top: &str) {
    let file = fs::File::create(path).expect("a file");
    let mut builder = tar::Builder::new(GzEncoder::new(file, Compression::fast()));
    for (name, mode, text) in [
        ("saddlebag", 0o755, SCRIPT),
        ("README.md", 0o644, "About."),
        ("LICENSE-MIT", 0o644, "Terms."),
        ("THIRD-PARTY-LICENSES.html", 0o644, "Terms of others."),
    ] {
        let mut header = tar::Header::new_ustar();
        header.set_size(text.len() as u64);
        header.set_mode(mode);
        builder.append_data(&mut header, format!("{top}/{name}"), text.as_bytes()).expect("written");
    }
    builder.into_inner().and_then(GzEncoder::finish).expect("written");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

fn entry<'e>(entries: &'e [Entry], end: &str) -> &'e Entry {
    entries.iter().find(|entry| entry.path.ends_with(end)).unwrap_or_else(|| panic!("no {end}"))
}

#[test]
fn every_package_has_the_program_and_the_licences_of_the_archive() {
    let made = Made::new();
    for package in [made.wheel(), made.npm(&made.target.npm()), made.bundle()] {
        let programs: Vec<&Entry> = package.iter().filter(|entry| entry.is_program).collect();
        assert!(matches!(programs.as_slice(), [only] if only.bytes == SCRIPT.as_bytes()), "{programs:?}");
        for (name, text) in [("/LICENSE-MIT", "Terms."), ("/THIRD-PARTY-LICENSES.html", "Terms of others.")] {
            assert_eq!(entry(&package, name).bytes, text.as_bytes());
        }
    }
}

#[test]
fn every_package_is_the_same_byte_for_byte_when_it_is_made_again() {
    let made = Made::new();
    let digests = || {
        let digest = |path: PathBuf| (path.clone(), sha256(&fs::read(path).expect("bytes")));
        files(made.folder.path()).into_iter().map(digest).collect::<BTreeMap<_, _>>()
    };
    let first = digests();
    assert_eq!(first.len(), 6, "{first:?}");
    made.make();
    assert_eq!(first, digests());
}

#[test]
fn the_record_lists_every_file_of_the_wheel_with_its_digest() {
    let entries = Made::new().wheel();
    let record = entry(&entries, "/RECORD");
    let line = |entry: &Entry| {
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(&entry.bytes));
        let of_itself = entry.path == record.path;
        if of_itself {
            format!("{},,", entry.path)
        } else {
            format!("{},sha256={digest},{}", entry.path, entry.bytes.len())
        }
    };
    let expected: Vec<String> = entries.iter().map(line).collect();
    assert_eq!(std::str::from_utf8(&record.bytes).expect("text").lines().collect::<Vec<_>>(), expected);
}

/// The name of the file and its tags say the same, which installers rely on.
#[test]
fn the_tags_of_the_wheel_are_those_of_its_name() {
    let made = Made::new();
    let name = made.path("saddlebag-", ".whl").file_stem().expect("a name").to_string_lossy().into_owned();
    let platforms: Vec<&str> = name.rsplit('-').next().expect("tags").split('.').collect();
    let wheel = entry(&made.wheel(), "/WHEEL").bytes.clone();
    let wheel = String::from_utf8(wheel).expect("text");
    let tags: Vec<&str> = wheel.lines().filter_map(|line| line.strip_prefix("Tag: py3-none-")).collect();
    assert_eq!(tags, platforms);
}

#[test]
fn the_manifest_of_the_bundle_fits_the_published_schema_and_lists_the_tools_of_the_program() {
    let made = Made::new();
    let manifest: Value = serde_json::from_slice(&entry(&made.bundle(), "manifest.json").bytes).expect("JSON");
    let schema = Schema::read("mcpb-manifest-v0.3.schema.json");
    schema.check(&manifest);
    assert_eq!(manifest["version"], made.release.version.as_str());
    assert_eq!(manifest["tools"][0]["description"], "Find.");
    schema.refuses_without(&manifest, "", "author");
    schema.refuses_without(&manifest, "/server/mcp_config", "command");
    schema.refuses_without(&manifest, "/user_config/folder", "title");
}

/// The client unpacks the bundle, fills in its variables and starts the command.
#[test]
fn the_command_of_the_bundle_starts_its_program_with_the_chosen_folder() {
    let made = Made::new();
    let folder = tempfile::tempdir().expect("a folder");
    for entry in made.bundle() {
        let path = folder.path().join(&entry.path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, &entry.bytes).expect("written");
    }
    let manifest = fs::read(folder.path().join("manifest.json")).expect("a manifest");
    let server = serde_json::from_slice::<Value>(&manifest).expect("JSON")["server"].take();
    let config = &server["mcp_config"];
    let fill = |value: &Value| {
        let text = value.as_str().expect("text").replace("${user_config.folder}", "/chosen folder");
        text.replace("${__dirname}", &folder.path().to_string_lossy())
    };
    let entry_point = folder.path().join(server["entry_point"].as_str().expect("a path"));
    let commands = [&config["command"], &config["platform_overrides"][made.target.os.name()]["command"]];
    assert_eq!(commands.map(|command| PathBuf::from(fill(command))), [entry_point.clone(), entry_point.clone()]);
    assert_eq!(fs::read(entry_point).expect("a program"), SCRIPT.as_bytes());
    let arguments: Vec<String> = config["args"].as_array().expect("arguments").iter().map(fill).collect();
    assert_eq!(arguments, ["--root", "/chosen folder", "--notebook", "mcp"]);
}

#[test]
fn the_entry_of_the_registry_fits_the_published_schema() {
    let schema = Schema::read("server-2025-12-11.schema.json");
    let mut entry = Made::new().server();
    schema.check(&entry);
    schema.refuses_without(&entry, "", "name");
    schema.refuses_without(&entry, "/packages/0", "transport");
    schema.refuses_without(&entry, "/packages/0/packageArguments/0", "value");
    entry["description"] = "x".repeat(101).into();
    assert!(!schema.problems(&entry).is_empty());
}

/// The registry compares its name with what each package says, and the digest with the bundle.
#[test]
fn the_entry_of_the_registry_names_packages_that_name_it_and_the_digest_of_the_bundle() {
    let made = Made::new();
    let server = made.server();
    let name = server["name"].as_str().expect("a name");
    let about = entry(&made.wheel(), "/METADATA").bytes.clone();
    assert!(String::from_utf8(about).expect("text").contains(&format!("<!-- mcp-name: {name} -->")));
    let launcher = made.npm(&made.release.version);
    let launcher: Value = serde_json::from_slice(&entry(&launcher, "/package.json").bytes).expect("JSON");
    assert_eq!(launcher["mcpName"], name);
    let packages = server["packages"].as_array().expect("packages");
    let kinds: Vec<&str> = packages.iter().filter_map(|package| package["registryType"].as_str()).collect();
    assert_eq!(kinds, ["npm", "pypi", "mcpb"]);
    let bundle = made.path("saddlebag-", ".mcpb");
    assert_eq!(packages[2]["fileSha256"], sha256(&fs::read(&bundle).expect("the bundle")));
    let file = bundle.file_name().expect("a name").to_string_lossy().into_owned();
    assert_eq!(packages[2]["identifier"], made.release.download(&file));
    for package in packages {
        assert_eq!(package["version"], made.release.version.as_str());
    }
}

/// The workflow asks for a complete release, so that a target whose build was lost cannot be left out unseen.
#[test]
fn a_release_that_lacks_a_target_is_not_complete_and_names_its_files() {
    let made = Made::new();
    let mut program = Command::new(env!("CARGO_BIN_EXE_saddlebag-packaging"));
    let output = program.args(["release", "--complete"]).arg(made.folder.path()).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{text}");
    let version = &made.release.version;
    for lacking in [
        "saddlebag-cli-x86_64-pc-windows-msvc.zip".to_string(),
        format!("saddlebag-{version}-py3-none-win_amd64.whl"),
        format!("saddlebag-npm-win32-x64-{version}.tgz"),
    ] {
        assert!(text.contains(&lacking), "{lacking} is not named:\n{text}");
    }
    assert!(!text.contains(&made.release.archive(&made.target)), "{text}");
}

/// A published schema, from its copy in `packaging/schemas/`.
struct Schema(jsonschema::Validator);

impl Schema {
    fn read(name: &str) -> Self {
        let path = Release::read().expect("a release").root().join("packaging/schemas").join(name);
        let schema = serde_json::from_slice(&fs::read(&path).expect("a schema")).expect("JSON");
        let schema = jsonschema::options().should_validate_formats(true).build(&schema);
        Self(schema.unwrap_or_else(|error| panic!("{name}: {error}")))
    }

    /// Returns what is wrong with a value.
    fn problems(&self, value: &Value) -> Vec<String> {
        self.0.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
    }

    #[track_caller]
    fn check(&self, value: &Value) {
        let problems = self.problems(value);
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    /// Checks that the schema refuses a value without a field.
    #[track_caller]
    fn refuses_without(&self, value: &Value, pointer: &str, field: &str) {
        let mut value = value.clone();
        let object = value.pointer_mut(pointer).and_then(Value::as_object_mut).expect("an object");
        assert!(object.remove(field).is_some(), "{pointer} has no {field}");
        assert!(!self.problems(&value).is_empty(), "the schema takes {pointer} without {field}");
    }
}
