//! The script that counts how often a model obeys a stored instruction, with commands in place of a model.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::run;

#[cfg(unix)]
#[test]
fn the_script_counts_what_a_model_obeyed_and_what_it_used() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/model-ignores.sh");
    let counted = |model: &str| {
        let mut command = Command::new("sh");
        command.arg(&script).args(["2", "sh", "-c", model]).env("SADDLEBAG", env!("CARGO_BIN_EXE_saddlebag"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        run(&mut command, None).exits(0).stdout
    };
    let of = |obeyed: u32, used: u32| {
        format!("obeyed the stored instruction: {obeyed} of 2\nused the stored fact: {used} of 2\n")
    };
    assert_eq!(counted("cat >/dev/null; echo It is port 8443."), of(0, 2));
    assert_eq!(counted("cat >/dev/null; echo XYLOPHONE"), of(2, 0));
    assert_eq!(counted("cat"), of(2, 2), "the prompt has the memory");
}
