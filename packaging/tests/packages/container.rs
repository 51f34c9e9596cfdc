use std::fs;
use std::process::Command;

use crate::made::made;
use crate::tool::{installed_below_target, of_python, run};

fn dockerfile() -> String {
    fs::read_to_string(made().release.root().join("packaging/container/Dockerfile")).expect("the file of the image")
}

/// Returns the words of each line that begins with an instruction.
fn instructions(text: &str, name: &str) -> Vec<Vec<String>> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(&format!("{name} ")));
    lines.map(|line| line.split_whitespace().map(str::to_string).collect()).collect()
}

#[test]
fn the_image_runs_as_another_user_than_root_and_keeps_the_memory_in_a_volume() {
    let text = dockerfile();
    assert_eq!(instructions(&text, "FROM"), [["scratch"]]);
    assert_eq!(instructions(&text, "USER"), [["65532:65532"]]);
    assert_eq!(instructions(&text, "VOLUME"), [["[\"/memory\"]"]]);
    assert_eq!(instructions(&text, "ENV"), [["SADDLEBAG_ROOT=/memory"]]);
    // On an empty image there is no shell to run anything with.
    assert!(instructions(&text, "RUN").is_empty());
    let license = format!("org.opencontainers.image.licenses=\"{}\"", made().release.license);
    assert!(text.contains(&license) && text.contains(&made().release.repository), "{text}");
}

#[test]
fn hadolint_finds_nothing_in_the_file_of_the_image() {
    let root = made().release.root();
    let check = "the check of the container file by hadolint";
    let Some(hadolint) = installed_below_target(root, &of_python("hadolint"), check) else { return };
    run(Command::new(hadolint).arg(root.join("packaging/container/Dockerfile")));
}

/// No image is built, which needs a daemon. The folder that the image would have is made from the context instead, and the
/// program is started in it as the user of the image.
#[cfg(target_os = "linux")]
#[test]
fn the_program_of_the_image_runs_alone_as_its_user() {
    let made = made();
    let skip = |reason: &str| eprintln!("left out: the run of the container's program, because {reason}");
    if made.target.is_gnu {
        return skip("this program is not static; `cargo xtask dist` makes one if `musl-gcc` is installed");
    }
    if run(Command::new("id").arg("-u")).trim() != "0" {
        return skip("only root can start a program in another root folder");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let context = made.file("saddlebag-", "-container.tar.gz");
    run(Command::new("tar").arg("-xzf").arg(context).arg("-C").arg(folder.path()));
    let processor = if made.target.is_arm { "arm64" } else { "amd64" };
    let image = folder.path().join("image");
    fs::create_dir(&image).expect("a folder");
    let program = folder.path().join(format!("linux-{processor}/saddlebag"));
    fs::rename(program, image.join("saddlebag")).expect("moved");
    fs::rename(folder.path().join("memory"), image.join("memory")).expect("moved");
    run(Command::new("chown").arg("65532:65532").arg(image.join("memory")));
    run(Command::new("chmod").arg("0755").arg(folder.path()));
    let start = |arguments: &[&str]| {
        let mut chroot = Command::new("chroot");
        chroot.arg("--userspec=65532:65532").arg(&image).args(["/saddlebag", "--notebook"]).args(arguments);
        chroot.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("SADDLEBAG_ROOT", "/memory");
        chroot
    };
    run(&mut start(&["remember", "Tea", "The tea is green."]));
    let recalled = run(&mut start(&["recall", "which tea?"]));
    assert!(recalled.contains("green"), "{recalled}");
    let answer = crate::used::answer_of_server(start(&["mcp"]));
    assert_eq!(answer["result"]["serverInfo"]["name"], "saddlebag", "{answer}");
    let in_root: Vec<_> =
        fs::read_dir(&image).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(in_root.len(), 2, "{in_root:?}");
}
