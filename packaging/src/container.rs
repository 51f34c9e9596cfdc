//! The context of the container image: the file that describes it, and the static programs for Linux.
//!
//! `docker buildx build --platform linux/amd64,linux/arm64 - < saddlebag-VERSION-container.tar.gz` builds the image. It runs
//! no command in the image, so no emulator is needed for the other processor.

use std::path::{Path, PathBuf};

use crate::archive::{Entry, tar_gz, write};
use crate::bundle;
use crate::notices;
use crate::release::Release;

const DOCKERFILE: &str = "packaging/container/Dockerfile";

/// Targets with the name that Docker has for their processor.
const PROGRAMS: [(&str, &str); 2] = [("x86_64-unknown-linux-musl", "amd64"), ("aarch64-unknown-linux-musl", "arm64")];

/// Builds the context from the bundles of the targets in the folder. Returns its path; `None` if there is no
/// bundle.
pub(crate) fn build(release: &Release, out: &Path) -> Result<Option<PathBuf>, String> {
    let mut programs = Vec::new();
    for (triple, processor) in PROGRAMS {
        if let Some(content) = bundle::content(release, triple, out)? {
            programs.push(Entry::program(format!("linux-{processor}/saddlebag"), &content.program));
            let path = format!("linux-{processor}/{}", notices::NAME);
            programs.push(Entry { path, bytes: content.notices, is_program: false });
        }
    }
    if programs.is_empty() {
        return Ok(None);
    }
    let mut entries = vec![
        Entry::text("Dockerfile", release.text(DOCKERFILE)?),
        // An empty folder that the program may write to, as the image has no command that makes one.
        Entry::folder("memory"),
    ];
    entries.extend(release.licenses()?.into_iter().map(|(name, text)| Entry::text(name, text)));
    entries.extend(programs);
    let path = out.join(format!("{}-{}-container.tar.gz", Release::NAME, release.version));
    write(&path, &tar_gz(&entries)?).map(Some)
}
