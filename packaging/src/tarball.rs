//! The archive of a program: for people who install by hand, and for `cargo binstall` and Homebrew.

use std::path::{Path, PathBuf};

use crate::archive::{Entry, read, tar_gz, write};
use crate::notices;
use crate::program::Program;
use crate::release::Release;

/// Shells, with the names of their completions.
const COMPLETIONS: [(&str, &str); 4] =
    [("bash", "saddlebag.bash"), ("zsh", "_saddlebag"), ("fish", "saddlebag.fish"), ("powershell", "_saddlebag.ps1")];

/// Builds the archive and returns its path.
pub(crate) fn build(release: &Release, program: &Program, notices: &str, out: &Path) -> Result<PathBuf, String> {
    let triple = &program.target.triple;
    let name = release.archive(triple);
    let top = name.strip_suffix(".tar.gz").unwrap_or(&name).to_string();
    let text = |path: &str, text: String| Entry::text(format!("{top}/{path}"), text);
    let mut entries = vec![
        Entry::program(format!("{top}/{}", program.target.os.program()), &program.bytes),
        text("README.md", release.text("README.md")?),
        text(notices::NAME, notices.to_string()),
    ];
    entries.extend(release.licenses()?.into_iter().map(|(name, license)| text(name, license)));
    for (shell, name) in COMPLETIONS {
        entries.push(text(&format!("completions/{name}"), program.completions(shell)?));
    }
    let manual = tempfile::tempdir().map_err(|error| format!("cannot make a folder: {error}"))?;
    program.write_manual(manual.path())?;
    let failed = |error| format!("cannot list {}: {error}", manual.path().display());
    for page in std::fs::read_dir(manual.path()).map_err(failed)? {
        let page = page.map_err(failed)?;
        let bytes = read(&page.path())?;
        let path = format!("{top}/man/man1/{}", page.file_name().to_string_lossy());
        entries.push(Entry { path, bytes, is_program: false });
    }
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    write(&out.join(&name), &tar_gz(&entries)?)
}
