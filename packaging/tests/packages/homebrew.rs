use std::fs;
use std::process::Command;

use saddlebag_packaging::{RELEASED, package_release};

use crate::made::made;
use crate::tool::{is_installed, run};

#[test]
fn the_formula_of_a_complete_release_is_valid_ruby() {
    let made = made();
    let folder = tempfile::tempdir().expect("a folder");
    for triple in RELEASED {
        fs::write(folder.path().join(made.release.archive(triple)), triple).expect("written");
    }
    package_release(folder.path()).expect("made");
    let formula = folder.path().join("saddlebag.rb");
    let text = fs::read_to_string(&formula).expect("a formula");
    assert_eq!(text.matches("sha256 \"").count(), 4, "{text}");
    let (opened, closed) =
        (text.matches(" do\n").count() + text.matches("def ").count() + 1, text.matches("end\n").count());
    assert_eq!(opened, closed, "{text}");
    if is_installed("ruby", "the check of the formula by Ruby") {
        run(Command::new("ruby").arg("-c").arg(&formula));
    }
}
