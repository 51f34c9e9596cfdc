use std::fs;
use std::process::Command;

use crate::made::made;
use crate::tool::{is_installed, run};
use crate::used::use_program;

#[test]
fn the_archive_is_unpacked_into_an_empty_folder_and_its_program_is_used() {
    if !is_installed("tar", "the installation of the archive") {
        return;
    }
    let made = made();
    let name = made.release.archive(&made.target.triple);
    let folder = tempfile::tempdir().expect("a folder");
    run(Command::new("tar").arg("-xzf").arg(made.folder.join(&name)).arg("-C").arg(folder.path()));
    let top = folder.path().join(name.trim_end_matches(".tar.gz"));
    for path in [
        "README.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "THIRD-PARTY-LICENSES.txt",
        "completions/saddlebag.bash",
        "completions/_saddlebag",
        "completions/saddlebag.fish",
        "completions/_saddlebag.ps1",
        "man/man1/saddlebag.1",
        "man/man1/saddlebag-recall.1",
    ] {
        let text = fs::read_to_string(top.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(!text.is_empty(), "{path}");
    }
    use_program(made, || Command::new(top.join(made.target.os.program())));
}
