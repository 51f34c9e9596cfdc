//! [`Installer`]: the package manager that put the program where it is, as far as its path and the files beside it show.

use std::fs;
use std::path::Path;

use super::places::Places;

/// Origin of the program's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Installer {
    Cargo,
    Npm,
    Npx,
    Pip,
    Pipx,
    Uv,
    Uvx,
    Homebrew,
    Nix,
    /// Built from source, and never installed.
    Build,
    /// A file that somebody put there.
    File,
}

impl Installer {
    /// Returns the installer of a program. `file` has no links in it.
    pub(crate) fn find(file: &Path, places: &Places) -> Self {
        let path = file.to_string_lossy().replace('\\', "/");
        let folder = file.parent().unwrap_or(Path::new("/"));
        let cargo = places.named("CARGO_HOME").unwrap_or_else(|| places.home.join(".cargo"));
        let by_path = [
            ("/_npx/", Self::Npx),
            ("/node_modules/", Self::Npm),
            ("/uv/archive-v0/", Self::Uvx),
            ("/uv/tools/", Self::Uv),
            ("/pipx/venvs/", Self::Pipx),
            ("/Cellar/", Self::Homebrew),
            ("/nix/store/", Self::Nix),
        ];
        if let Some((_, installer)) = by_path.into_iter().find(|(part, _)| path.contains(part)) {
            installer
        } else if cargo.canonicalize().is_ok_and(|cargo| folder == cargo.join("bin"))
            && fs::read_to_string(cargo.join(".crates.toml")).is_ok_and(|crates| crates.contains("\"saddlebag-cli "))
        {
            Self::Cargo
        } else if has_distribution(folder) {
            Self::Pip
        } else if folder.join("deps").is_dir() && folder.join(".fingerprint").is_dir() {
            Self::Build
        } else {
            Self::File
        }
    }

    /// Returns true if the file belongs to no package manager, so that it can be deleted.
    pub(crate) fn is_file(self) -> bool {
        self == Self::File && !cfg!(windows)
    }

    /// Returns the command that removes the program.
    pub(crate) fn command(self) -> Option<String> {
        let command = match self {
            Self::Cargo => "cargo uninstall saddlebag-cli",
            Self::Npm => "npm uninstall --global saddlebag",
            Self::Pip => "pip uninstall saddlebag",
            Self::Pipx => "pipx uninstall saddlebag",
            Self::Uv => "uv tool uninstall saddlebag",
            Self::Homebrew => "brew uninstall saddlebag",
            Self::Nix => "nix profile remove saddlebag",
            Self::Npx | Self::Uvx | Self::Build | Self::File => return None,
        };
        Some(command.to_string())
    }

    /// Returns the reason why the program is kept, if no command removes it.
    pub(crate) fn reason(self) -> Option<&'static str> {
        match self {
            Self::Npx => Some("it is in the cache of npx, which npm manages"),
            Self::Uvx => Some("it is in the cache of uv: `uv cache clean saddlebag` removes it"),
            Self::Build => Some("it is a build of the source: delete the folder of the build"),
            Self::File if cfg!(windows) => Some("a running program cannot be deleted here: delete the file yourself"),
            _ => None,
        }
    }
}

/// Returns true if the folder of programs belongs to a Python environment that has our distribution.
fn has_distribution(folder: &Path) -> bool {
    let Some(root) = folder.parent() else { return false };
    let versions =
        fs::read_dir(root.join("lib")).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let packages =
        versions.map(|version| version.join("site-packages")).chain([root.join("Lib").join("site-packages")]);
    let mut names = packages.flat_map(|packages| fs::read_dir(packages).into_iter().flatten().filter_map(Result::ok));
    names.any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("saddlebag-") && name.ends_with(".dist-info")
    })
}

#[cfg(test)]
mod tests {
    use super::super::places::Platform;
    use super::*;

    #[test]
    fn the_installer_is_known_by_the_path_and_by_what_it_left() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let places = Places::new(Platform::Unix, [("HOME".into(), home.clone().into_os_string())]).unwrap();
        let find = |path: &str| Installer::find(&home.join(path), &places);
        for folder in [".cargo/bin", "venv/bin", "venv/lib/python3.12/site-packages/saddlebag-0.1.0.dist-info", "bin"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        assert_eq!(find(".cargo/bin/saddlebag"), Installer::File, "cargo has not put it there");
        fs::write(home.join(".cargo/.crates.toml"), "[v1]\n\"saddlebag-cli 0.1.0 (path)\" = [\"saddlebag\"]\n")
            .unwrap();
        for (path, installer) in [
            (".cargo/bin/saddlebag", Installer::Cargo),
            ("venv/bin/saddlebag", Installer::Pip),
            ("bin/saddlebag", Installer::File),
            (".npm/_npx/12/node_modules/saddlebag/saddlebag", Installer::Npx),
            ("n/lib/node_modules/saddlebag/saddlebag", Installer::Npm),
            (".local/share/uv/tools/saddlebag/bin/saddlebag", Installer::Uv),
            (".cache/uv/archive-v0/x/bin/saddlebag", Installer::Uvx),
            ("homebrew/Cellar/saddlebag/0.1.0/bin/saddlebag", Installer::Homebrew),
        ] {
            assert_eq!(find(path), installer, "{path}");
        }
    }
}
