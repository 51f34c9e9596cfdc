use std::fs;

use saddlebag_packaging::{RELEASED, Release};

/// Returns a field of `[package.metadata.binstall]`.
fn field(manifest: &toml::Table, name: &str) -> String {
    let binstall = &manifest["package"]["metadata"]["binstall"];
    binstall[name].as_str().unwrap_or_else(|| panic!("no field {name}")).to_string()
}

/// `cargo binstall` fills in the template as this test does.
#[test]
fn binstall_looks_for_the_archive_of_each_released_target_where_it_is() {
    let release = Release::read().expect("a release");
    let text = fs::read_to_string(release.root().join("cli/Cargo.toml")).expect("the manifest");
    let manifest: toml::Table = text.parse().expect("TOML");
    assert_eq!(field(&manifest, "pkg-fmt"), "tgz");
    for triple in RELEASED {
        let fill = |template: String| {
            let ending = if triple.contains("windows") { ".exe" } else { "" };
            let variables = [
                ("repo", release.repository.as_str()),
                ("version", &release.version),
                ("target", triple),
                ("bin", "saddlebag"),
                ("binary-ext", ending),
            ];
            let spell = |text: String, (name, value): (&str, &str)| text.replace(&format!("{{ {name} }}"), value);
            variables.into_iter().fold(template, spell)
        };
        let archive = release.archive(triple);
        assert_eq!(fill(field(&manifest, "pkg-url")), release.download(&archive));
        let program = fill(field(&manifest, "bin-dir"));
        let folder = archive.trim_end_matches(".tar.gz");
        assert!(program.starts_with(&format!("{folder}/saddlebag")) && !program.contains('{'), "{program}");
    }
}
