//! [`Target`]: one of the machines that a program is built for, and its name in each kind of package.

/// Targets of a release. The Linux ones need no C library, so one program serves every distribution.
pub const RELEASED: [&str; 5] = [
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
];

/// Targets that a machine builds for itself if it has no static C library.
pub(crate) const GNU: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

/// Operating system, by the name that Node.js and `.mcpb` bundles use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Os {
    /// Linux.
    Linux,
    /// macOS.
    Darwin,
    /// Windows.
    Win32,
}

impl Os {
    /// Returns the name, for example `win32`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Darwin => "darwin",
            Self::Win32 => "win32",
        }
    }

    /// Returns the file name of the program there.
    pub fn program(self) -> &'static str {
        match self {
            Self::Linux | Self::Darwin => "saddlebag",
            Self::Win32 => "saddlebag.exe",
        }
    }
}

/// Machine that a program is built for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Triple, as Rust spells it.
    pub triple: String,
    /// Operating system.
    pub os: Os,
    /// If set, 64-bit ARM; otherwise x86-64.
    pub is_arm: bool,
    /// If set, the program uses the GNU C library of the machine.
    pub is_gnu: bool,
}

impl Target {
    /// Parses a triple.
    ///
    /// # Errors
    ///
    /// The triple is not one that packages are made for.
    pub fn of(triple: &str) -> Result<Self, String> {
        let (os, is_arm, is_gnu) = match triple {
            "x86_64-unknown-linux-musl" => (Os::Linux, false, false),
            "aarch64-unknown-linux-musl" => (Os::Linux, true, false),
            "x86_64-unknown-linux-gnu" => (Os::Linux, false, true),
            "aarch64-unknown-linux-gnu" => (Os::Linux, true, true),
            "x86_64-apple-darwin" => (Os::Darwin, false, false),
            "aarch64-apple-darwin" => (Os::Darwin, true, false),
            "x86_64-pc-windows-msvc" | "x86_64-pc-windows-gnu" => (Os::Win32, false, false),
            _ => {
                let known = RELEASED.join(", ");
                return Err(format!("no packages are made for the target `{triple}`; a release has {known}"));
            }
        };
        Ok(Self { triple: triple.to_string(), os, is_arm, is_gnu })
    }

    /// Returns the name of the platform in npm, for example `linux-x64`.
    pub fn npm(&self) -> String {
        format!("{}-{}", self.os.name(), self.npm_cpu())
    }

    /// Returns the name of the processor in npm.
    pub(crate) fn npm_cpu(&self) -> &'static str {
        if self.is_arm { "arm64" } else { "x64" }
    }

    /// Returns the platform tags of a wheel. A program that uses the GNU C library needs its version.
    pub(crate) fn wheel_tags(&self, glibc: Option<(u32, u32)>) -> Vec<String> {
        let cpu = if self.is_arm { "aarch64" } else { "x86_64" };
        match (self.os, glibc) {
            (Os::Linux, Some((major, minor))) => vec![format!("manylinux_{major}_{minor}_{cpu}")],
            // Neither installer takes the tag of the other, and the program needs neither library.
            (Os::Linux, None) => {
                ["manylinux_2_17", "manylinux2014", "musllinux_1_1"].map(|tag| format!("{tag}_{cpu}")).to_vec()
            }
            (Os::Darwin, _) if self.is_arm => vec!["macosx_11_0_arm64".to_string()],
            (Os::Darwin, _) => vec!["macosx_10_12_x86_64".to_string()],
            (Os::Win32, _) => vec!["win_amd64".to_string()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_released_target_has_a_name_of_its_own_in_npm() {
        let mut names: Vec<String> = RELEASED.map(|triple| Target::of(triple).expect("known").npm()).to_vec();
        names.sort();
        assert_eq!(names, ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64", "win32-x64"]);
    }

    #[test]
    fn a_static_program_is_tagged_for_both_c_libraries_and_another_for_its_own() {
        let musl = Target::of("aarch64-unknown-linux-musl").expect("known");
        let tags = ["manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"];
        assert_eq!(musl.wheel_tags(None), tags);
        let gnu = Target::of("x86_64-unknown-linux-gnu").expect("known");
        assert_eq!(gnu.wheel_tags(Some((2, 34))), ["manylinux_2_34_x86_64"]);
    }

    #[test]
    fn an_unknown_target_is_refused_with_those_of_a_release() {
        let refused = Target::of("sparc64-sun-solaris").expect_err("refused");
        assert!(refused.contains("sparc64-sun-solaris") && refused.contains(RELEASED[0]), "{refused}");
    }
}
