//! Settings of clients that switch all of their hooks off. Our entries are written all the same, so the user is told.

use std::path::{Path, PathBuf};

use super::clients::Client;
use super::format::Format;
use super::json::Dialect;
use super::places::{Places, Platform};
use super::value::Value;
use crate::disk;

/// Setting that switches hooks off.
struct Switch {
    path: PathBuf,
    format: Format,
    key: &'static [&'static str],
    /// Value that switches them off.
    off: bool,
}

/// Returns the settings that switch the hooks of a client off, in the configuration of the user or of the project, each
/// described in words. A file that cannot be read has none.
pub(super) fn switched_off(client: Client, places: &Places, project: &Path) -> Vec<String> {
    let switches = switches(client, places, project);
    switches.iter().filter(|switch| switch.is_off()).map(Switch::described).collect()
}

impl Switch {
    fn is_off(&self) -> bool {
        let bytes = disk::read(&self.path).ok().flatten();
        let text = bytes.as_deref().and_then(|bytes| Some(disk::text_of(bytes).ok()?.1));
        let value = text.and_then(|text| self.format.parse(text).ok());
        value.is_some_and(|value| value.at(self.key) == Some(&Value::Bool(self.off)))
    }

    fn described(&self) -> String {
        format!("`{}` is {} in {}", self.key.join("."), self.off, self.path.display())
    }
}

fn switches(client: Client, places: &Places, project: &Path) -> Vec<Switch> {
    let user = client.folder(places);
    let json = Format::Json(Dialect::Json5);
    let all = |paths: Vec<PathBuf>, format: Format, keys: &[&'static [&'static str]], off: bool| {
        let of_path = |path: PathBuf| keys.iter().map(move |key| Switch { path: path.clone(), format, key, off });
        paths.into_iter().flat_map(of_path).collect()
    };
    match client {
        Client::ClaudeCode => {
            let folder = project.join(".claude");
            let mut paths =
                vec![user.join("settings.json"), folder.join("settings.json"), folder.join("settings.local.json")];
            paths.extend(managed(places.platform));
            all(paths, json, &[&["disableAllHooks"], &["allowManagedHooksOnly"]], true)
        }
        Client::Codex => {
            let paths = vec![user.join("config.toml"), project.join(".codex").join("config.toml")];
            all(paths, Format::Toml, &[&["features", "hooks"], &["features", "codex_hooks"]], false)
        }
        Client::Copilot => {
            let folder = project.join(".github").join("copilot");
            let paths =
                vec![user.join("settings.json"), folder.join("settings.json"), folder.join("settings.local.json")];
            all(paths, json, &[&["disableAllHooks"]], true)
        }
        Client::Gemini => {
            let paths = vec![user.join("settings.json"), project.join(".gemini").join("settings.json")];
            all(paths, json, &[&["hooksConfig", "enabled"]], false)
        }
        Client::ClaudeDesktop | Client::Cursor | Client::OpenClaw | Client::OpenCode | Client::VsCode | Client::Zed => {
            Vec::new()
        }
    }
}

/// Returns the file of Claude Code's settings that an administrator manages.
fn managed(platform: Platform) -> Option<PathBuf> {
    let folder = match platform {
        Platform::Unix => "/etc/claude-code",
        Platform::MacOs => "/Library/Application Support/ClaudeCode",
        Platform::Windows => return None,
    };
    Some(Path::new(folder).join("managed-settings.json"))
}
