use std::process::Command;

use crate::tool::{is_installed, run};

/// A component without content.
const EMPTY: [u8; 8] = *b"\0asm\x0d\0\x01\0";

#[test]
fn skopeo_reads_the_layout_of_a_component_and_finds_it_by_its_digest() {
    if !is_installed("skopeo", "the check of the OCI layouts") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("empty.wasm"), EMPTY).expect("written");
    let made = saddlebag_packaging::package_components(folder.path()).expect("a layout");
    let archive = format!("oci-archive:{}", made.files[0].display());
    let manifest = run(Command::new("skopeo").args(["inspect", "--raw", &archive]));
    let digest = saddlebag_packaging::sha256(&EMPTY);
    assert!(manifest.contains(&digest), "{manifest}");
    let copy = folder.path().join("copy");
    run(Command::new("skopeo").args(["copy", "--quiet", &archive, &format!("dir:{}", copy.display())]));
    assert_eq!(std::fs::read(copy.join(digest)).expect("the component"), EMPTY);
}
