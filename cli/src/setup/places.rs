//! [`Places`]: the folders of this user on a platform, as a pure function of the platform and the environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Platform, as far as its folders differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Platform {
    Unix,
    MacOs,
    Windows,
}

impl Platform {
    /// Returns the platform that this program was built for.
    pub(crate) fn current() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Unix
        }
    }
}

/// Variables that name other folders or files of clients.
const FOLDERS_OF_CLIENTS: [&str; 5] =
    ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH"];

/// Folders of a user.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) platform: Platform,
    pub(crate) home: PathBuf,
    environment: BTreeMap<String, OsString>,
}

impl Places {
    /// Returns the folders for an environment; `None` if it names no home folder.
    pub(crate) fn new(platform: Platform, environment: impl IntoIterator<Item = (OsString, OsString)>) -> Option<Self> {
        let environment: BTreeMap<String, OsString> = environment
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .collect();
        let home = if platform == Platform::Windows { "USERPROFILE" } else { "HOME" };
        let home = environment.get(home).map(PathBuf::from)?;
        Some(Self { platform, home, environment })
    }

    /// Returns the folders of the user who runs this program.
    pub(crate) fn of_process() -> Option<Self> {
        let platform = Platform::current();
        Self::new(platform, std::env::vars_os()).or_else(|| {
            let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty())?;
            let name = if platform == Platform::Windows { "USERPROFILE" } else { "HOME" };
            Self::new(platform, std::env::vars_os().chain([(name.into(), home.into_os_string())]))
        })
    }

    /// Returns the path that a variable of the environment names. A relative path is ignored.
    pub(crate) fn named(&self, variable: &str) -> Option<PathBuf> {
        self.environment.get(variable).map(PathBuf::from).filter(|path| self.is_absolute(path))
    }

    /// Returns the same folders as if no variable named another folder of a client.
    pub(crate) fn without_folders_of_clients(&self) -> Self {
        let mut environment = self.environment.clone();
        environment.retain(|name, _| !FOLDERS_OF_CLIENTS.contains(&name.as_str()));
        Self { environment, ..self.clone() }
    }

    /// Returns the folders of the variable PATH.
    pub(crate) fn search_path(&self) -> Vec<PathBuf> {
        let path = self.environment.get("PATH").or_else(|| self.environment.get("Path"));
        path.map(|path| std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect()).unwrap_or_default()
    }

    /// Returns the folder of configurations that follow the XDG rules, on every platform.
    pub(crate) fn xdg_config(&self) -> PathBuf {
        self.named("XDG_CONFIG_HOME").unwrap_or_else(|| self.home.join(".config"))
    }

    /// Returns the folder in which graphical programs keep their settings.
    pub(crate) fn app_data(&self) -> PathBuf {
        match self.platform {
            Platform::Unix => self.xdg_config(),
            Platform::MacOs => self.home.join("Library").join("Application Support"),
            Platform::Windows => self.named("APPDATA").unwrap_or_else(|| self.home.join("AppData").join("Roaming")),
        }
    }

    /// Returns the folder of the data of programs.
    pub(crate) fn data(&self) -> PathBuf {
        match self.platform {
            Platform::Unix => self.named("XDG_DATA_HOME").unwrap_or_else(|| self.home.join(".local").join("share")),
            Platform::MacOs | Platform::Windows => self.app_data(),
        }
    }

    /// Returns the folder of caches.
    pub(crate) fn cache(&self) -> PathBuf {
        match self.platform {
            Platform::Unix => self.named("XDG_CACHE_HOME").unwrap_or_else(|| self.home.join(".cache")),
            Platform::MacOs => self.home.join("Library").join("Caches"),
            Platform::Windows => self.named("LOCALAPPDATA").unwrap_or_else(|| self.home.join("AppData").join("Local")),
        }
    }

    /// Returns the folder in which this program keeps what is neither memory nor a cache.
    pub(crate) fn state(&self) -> PathBuf {
        match self.platform {
            Platform::Unix => {
                self.named("XDG_STATE_HOME").unwrap_or_else(|| self.home.join(".local").join("state")).join("saddlebag")
            }
            // The folder of data has the memory in `saddlebag`.
            Platform::MacOs | Platform::Windows => self.app_data().join("saddlebag-state"),
        }
    }

    fn is_absolute(&self, path: &Path) -> bool {
        // Paths of Windows are also judged on other platforms, by tests.
        let is_drive = || path.to_str().is_some_and(|path| path.as_bytes().get(1) == Some(&b':'));
        path.is_absolute() || (self.platform == Platform::Windows && is_drive())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(platform: Platform, environment: &[(&str, &str)]) -> Option<Places> {
        Places::new(platform, environment.iter().map(|(name, value)| (name.into(), value.into())))
    }

    #[test]
    fn each_platform_has_its_folders() {
        let unix = places(Platform::Unix, &[("HOME", "/h")]).unwrap();
        assert_eq!(unix.app_data(), Path::new("/h/.config"));
        assert_eq!(unix.state(), Path::new("/h/.local/state/saddlebag"));
        let mac = places(Platform::MacOs, &[("HOME", "/Users/me")]).unwrap();
        assert_eq!(mac.app_data(), Path::new("/Users/me/Library/Application Support"));
        assert_eq!(mac.xdg_config(), Path::new("/Users/me/.config"));
        assert_eq!(mac.state(), Path::new("/Users/me/Library/Application Support/saddlebag-state"));
        let windows = places(Platform::Windows, &[("USERPROFILE", "C:/Users/me"), ("HOME", "/cygwin")]).unwrap();
        assert_eq!(windows.app_data(), Path::new("C:/Users/me/AppData/Roaming"));
        assert_eq!(windows.state(), Path::new("C:/Users/me/AppData/Roaming/saddlebag-state"));
    }

    #[test]
    fn the_folders_of_data_and_of_states_are_those_of_the_store_and_of_the_log() {
        let Some(places) = Places::of_process() else { return assert_eq!(saddlebag_host::default_root(), None) };
        assert_eq!(Some(places.data().join("saddlebag")), saddlebag_host::default_root());
        assert_eq!(Some(places.state()), saddlebag_host::state_folder());
    }

    #[test]
    fn the_environment_names_other_folders() {
        let named = [("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "/s"), ("CODEX_HOME", "")];
        let unix = places(Platform::Unix, &named).unwrap();
        assert_eq!(unix.app_data(), Path::new("/c"));
        assert_eq!(unix.state(), Path::new("/s/saddlebag"));
        assert_eq!(unix.named("CODEX_HOME"), None);
        let relative = places(Platform::Unix, &[("HOME", "/h"), ("XDG_CONFIG_HOME", "c")]).unwrap();
        assert_eq!(relative.xdg_config(), Path::new("/h/.config"), "a relative folder is not used");
        let windows = places(Platform::Windows, &[("USERPROFILE", "C:/h"), ("APPDATA", "D:/roaming")]).unwrap();
        assert_eq!(windows.app_data(), Path::new("D:/roaming"));
        assert!(places(Platform::Unix, &[("USERPROFILE", "/h")]).is_none());
    }
}
