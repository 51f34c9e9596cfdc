//! The configuration of `dist`, `cargo binstall` and `cargo about`, which names the same targets and files as this package.

use std::fs;
use std::process::Command;

use saddlebag_packaging::{Os, RELEASED, Release, Target};
use serde_json::Value;
use toml::Table;

/// Reads a TOML file of the repository.
fn read(path: &str) -> Table {
    let path = Release::read().expect("a release").root().join(path);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn words(value: &toml::Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().map(|word| word.as_str().expect("text")).collect()
}

/// Version of `dist` that is installed from PyPI.
fn version_of_dist() -> String {
    let path = Release::read().expect("a release").root().join("packaging/tools/requirements.txt");
    let text = fs::read_to_string(path).expect("the requirements");
    let version = text.lines().find_map(|line| line.strip_prefix("astral-dev-toolchain-cargo-dist=="));
    version.expect("a version of dist").to_string()
}

#[test]
fn dist_builds_every_target_with_its_installers_from_the_program_of_this_workspace() {
    let (configuration, workspace, program) = (read("dist-workspace.toml"), read("Cargo.toml"), read("cli/Cargo.toml"));
    assert_eq!(words(&configuration["workspace"]["members"]), ["cargo:."]);
    let dist = configuration["dist"].as_table().expect("a table");
    assert_eq!(words(&dist["targets"]), RELEASED);
    assert_eq!(words(&dist["installers"]), ["shell", "powershell", "homebrew"]);
    assert_eq!(dist["cargo-dist-version"].as_str(), Some(version_of_dist().as_str()));
    assert_eq!(dist["unix-archive"].as_str(), Some(".tar.gz"));
    assert_eq!(dist["formula"].as_str(), Some(Release::NAME));
    let message = dist["install-success-msg"].as_str().expect("a message");
    assert!(!message.contains(['`', '$', '"']), "a shell would run a part of it: {message}");
    // Without it, every package of the workspace would be built, and their features joined.
    assert_eq!(dist["precise-builds"].as_bool(), Some(true));
    assert_eq!(workspace["profile"]["dist"]["inherits"].as_str(), Some("release"));
    assert_eq!(program["package"]["name"].as_str(), Some(Release::CRATE));
    assert_eq!(program["bin"][0]["name"].as_str(), Some(Release::NAME));
    let version = workspace["workspace"]["package"]["version"].as_str();
    assert_eq!(version, Some(Release::read().expect("a release").version.as_str()));
}

/// Asks `dist` itself, where `cargo xtask dist` or the nightly tests have installed it.
#[test]
fn dist_plans_the_files_that_the_packages_and_the_docs_name() {
    let release = Release::read().expect("a release");
    let dist = release.root().join("target/clients/packaging/python/bin/dist");
    if !dist.exists() {
        eprintln!("left out: the plan of dist, because {} is not there", dist.display());
        return;
    }
    let mut command = Command::new(dist);
    command.args(["manifest", "--artifacts=all", "--output-format=json", "--no-local-paths"]);
    let output = command.current_dir(release.root()).output().expect("dist runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let plan: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(plan["announcement_tag"], format!("v{}", release.version));
    let releases = plan["releases"].as_array().expect("releases");
    assert_eq!(releases.len(), 1, "{releases:?}");
    assert_eq!(releases[0]["app_name"], Release::CRATE);
    let names: Vec<&str> =
        releases[0]["artifacts"].as_array().expect("files").iter().filter_map(Value::as_str).collect();
    let archives = RELEASED.map(|triple| release.archive(&Target::of(triple).expect("known")));
    let installers = ["saddlebag-cli-installer.sh", "saddlebag-cli-installer.ps1", "saddlebag.rb"];
    for name in archives.iter().map(String::as_str).chain(installers) {
        assert!(names.contains(&name), "{name} is not planned: {names:?}");
    }
    for name in archives {
        let assets = plan["artifacts"][&name]["assets"].as_array().expect("files");
        let files: Vec<&str> = assets.iter().filter_map(|asset| asset["path"].as_str()).collect();
        let program = if name.ends_with(".zip") { "saddlebag.exe" } else { "saddlebag" };
        let licences = ["LICENSE-APACHE", "LICENSE-MIT", "LICENSE-htm", "LICENSE-preact", "THIRD-PARTY-LICENSES.html"];
        for file in licences.into_iter().chain([program, "README.md"]) {
            assert!(files.contains(&file), "{name} has no {file}: {files:?}");
        }
    }
}

/// `cargo binstall` fills in the template as this test does.
#[test]
fn binstall_looks_for_the_archive_of_each_released_target_where_it_is() {
    let release = Release::read().expect("a release");
    let manifest = read("cli/Cargo.toml");
    let binstall = &manifest["package"]["metadata"]["binstall"];
    for triple in RELEASED {
        let target = Target::of(triple).expect("known");
        let own = binstall["overrides"].get(triple);
        let field = |name: &str| {
            let value = own.and_then(|own| own.get(name)).or_else(|| binstall.get(name));
            value.and_then(toml::Value::as_str).unwrap_or_else(|| panic!("no field {name}"))
        };
        let (suffix, ending) = if target.os == Os::Win32 { (".zip", ".exe") } else { (".tar.gz", "") };
        assert_eq!(field("pkg-fmt"), if target.os == Os::Win32 { "zip" } else { "tgz" });
        let fill = |template: &str| {
            let variables = [
                ("repo", release.repository.as_str()),
                ("name", Release::CRATE),
                ("version", &release.version),
                ("target", triple),
                ("bin", Release::NAME),
                ("binary-ext", ending),
                ("archive-suffix", suffix),
            ];
            let spell = |text: String, (name, value): (&str, &str)| text.replace(&format!("{{ {name} }}"), value);
            variables.into_iter().fold(template.to_string(), spell)
        };
        let archive = release.archive(&target);
        assert_eq!(fill(field("pkg-url")), release.download(&archive));
        let top =
            if target.os == Os::Win32 { String::new() } else { format!("{}/", archive.trim_end_matches(".tar.gz")) };
        assert_eq!(fill(field("bin-dir")), format!("{top}{}", target.os.program()));
    }
}

/// The licences that `cargo about` may print are those that dependencies may have.
#[test]
fn the_licences_of_others_are_listed_for_every_target_and_accepted_as_deny_toml_does() {
    let (about, deny) = (read("about.toml"), read("deny.toml"));
    let mut accepted = words(&about["accepted"]);
    accepted.sort_unstable();
    assert_eq!(accepted, words(&deny["licenses"]["allow"]));
    let targets: Vec<&str> = RELEASED.into_iter().chain(["wasm32-wasip2"]).collect();
    assert_eq!(words(&about["targets"]), targets);
}
