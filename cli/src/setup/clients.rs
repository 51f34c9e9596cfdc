//! [`Client`]: the clients that can be set up, where their configurations are, and the entries that belong there.

use std::path::{Path, PathBuf};

use super::format::Format;
use super::hooks;
use super::json::Dialect;
use super::piece::{MARK, Piece, SERVER, WITHOUT_BEFORE_TOOL};
use super::places::{Places, Platform};
use super::value::Value;

pub(crate) use super::types::{Client, Run, Scope};

/// File of a client with our entries.
#[derive(Clone, Debug)]
pub(crate) struct FilePlan {
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    pub(crate) pieces: Vec<Piece>,
}

/// Plugin for OpenCode.
pub(super) const OPENCODE_PLUGIN: &str = include_str!("opencode.js");
/// Program in the text of the plugin.
pub(super) const OPENCODE_PROGRAM: &str = "\"saddlebag\"";
/// Arguments of the program in the text of the plugin.
pub(super) const OPENCODE_ARGUMENTS: &str = "[\"hook\", event]";

impl Client {
    /// Returns the name that people use.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Codex => "Codex",
            Self::Copilot => "Copilot CLI",
            Self::Cursor => "Cursor",
            Self::Gemini => "Gemini CLI",
            Self::OpenClaw => "OpenClaw",
            Self::OpenCode => "OpenCode",
            Self::VsCode => "VS Code",
            Self::Zed => "Zed",
        }
    }

    /// Returns the name of the client's program; `None` for a program that is not on the search path.
    pub(crate) fn program(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("claude"),
            Self::ClaudeDesktop => None,
            Self::Codex => Some("codex"),
            Self::Copilot => Some("copilot"),
            Self::Cursor => Some("cursor"),
            Self::Gemini => Some("gemini"),
            Self::OpenClaw => Some("openclaw"),
            Self::OpenCode => Some("opencode"),
            Self::VsCode => Some("code"),
            Self::Zed => Some("zed"),
        }
    }

    /// Returns the folder of the client's own files. If it exists, the client is installed.
    pub(crate) fn folder(self, places: &Places) -> PathBuf {
        let home = |folder: &str| places.home.join(folder);
        match self {
            Self::ClaudeCode => places.named("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home(".claude")),
            Self::ClaudeDesktop => places.app_data().join("Claude"),
            Self::Codex => places.named("CODEX_HOME").unwrap_or_else(|| home(".codex")),
            Self::Copilot => places.named("COPILOT_HOME").unwrap_or_else(|| home(".copilot")),
            Self::Cursor => home(".cursor"),
            Self::Gemini => home(".gemini"),
            Self::OpenClaw => places.named("OPENCLAW_STATE_DIR").unwrap_or_else(|| home(".openclaw")),
            Self::OpenCode => places.xdg_config().join("opencode"),
            Self::VsCode => places.app_data().join("Code").join("User"),
            Self::Zed if places.platform == Platform::Windows => places.app_data().join("Zed"),
            Self::Zed => places.xdg_config().join("zed"),
        }
    }

    /// Returns the reason why the client has no configuration in a project. Returns `None` if it has one.
    pub(crate) fn lacks_project_scope(self) -> Option<&'static str> {
        match self {
            Self::ClaudeDesktop => Some("Claude Desktop has no configuration in projects"),
            Self::OpenClaw => Some("OpenClaw has no configuration in projects"),
            _ => None,
        }
    }

    /// Returns the remark for the user after the files were written.
    pub(crate) fn next_step(self, scope: Scope) -> &'static str {
        match (self, scope) {
            (Self::ClaudeCode, Scope::User) => "takes effect in the next session",
            (Self::ClaudeCode, Scope::Project) => "asks once whether the project's server may run",
            (Self::ClaudeDesktop, _) => "quit it completely and start it again",
            (Self::Codex, Scope::User) => "skips new hooks until you trust them: run `/hooks` in Codex",
            (Self::Codex, Scope::Project) => {
                "reads the project's files only if the project is trusted, and skips new hooks until you trust them: run \
                 `/hooks` in Codex"
            }
            (Self::Cursor, _) => "start it again, then enable the server in its settings",
            (Self::VsCode, _) => "asks once whether the server may run",
            (Self::OpenClaw, _) => "run `openclaw mcp reload`, or start the gateway again",
            (Self::Copilot | Self::Gemini | Self::OpenCode, _) => "takes effect in the next session",
            (Self::Zed, _) => "takes effect at once",
        }
    }

    /// Returns the files of the client with the entries that belong there. `project` is the root of the project for
    /// [`Scope::Project`]. `exists` tells which of several possible files is there.
    pub(crate) fn files(
        self,
        places: &Places,
        scope: Scope,
        project: &Path,
        run: &Run,
        with_hooks: bool,
        exists: &dyn Fn(&Path) -> bool,
    ) -> Vec<FilePlan> {
        let mut files = vec![self.server_file(places, scope, project, run, exists)];
        match self.hook_file(places, scope, project, run).filter(|_| with_hooks) {
            // Gemini has both in one file.
            Some(hooks) if hooks.path == files[0].path => files[0].pieces.extend(hooks.pieces),
            hooks => files.extend(hooks),
        }
        files
    }

    fn server_file(
        self,
        places: &Places,
        scope: Scope,
        project: &Path,
        run: &Run,
        exists: &dyn Fn(&Path) -> bool,
    ) -> FilePlan {
        let folder = self.folder(places);
        let is_user = scope == Scope::User;
        let (path, format, keys): (PathBuf, Format, &[&str]) = match self {
            Self::ClaudeCode => {
                let user =
                    places.named("CLAUDE_CONFIG_DIR").unwrap_or_else(|| places.home.clone()).join(".claude.json");
                let path = if is_user { user } else { project.join(".mcp.json") };
                (path, Format::Json(Dialect::Jsonc), &["mcpServers"])
            }
            Self::ClaudeDesktop => {
                (folder.join("claude_desktop_config.json"), Format::Json(Dialect::Strict), &["mcpServers"])
            }
            Self::Codex => {
                let folder = if is_user { folder } else { project.join(".codex") };
                (folder.join("config.toml"), Format::Toml, &["mcp_servers"])
            }
            Self::Copilot => {
                let user = folder.join("mcp-config.json");
                let path = if is_user { user } else { project.join(".github").join("mcp.json") };
                (path, Format::Json(Dialect::Jsonc), &["mcpServers"])
            }
            Self::Cursor => {
                let folder = if is_user { folder } else { project.join(".cursor") };
                (folder.join("mcp.json"), Format::Json(Dialect::Jsonc), &["mcpServers"])
            }
            Self::Gemini => {
                let folder = if is_user { folder } else { project.join(".gemini") };
                (folder.join("settings.json"), Format::Json(Dialect::Comments), &["mcpServers"])
            }
            Self::OpenClaw => {
                let named = places.named("OPENCLAW_CONFIG_PATH");
                let path = named.unwrap_or_else(|| folder.join("openclaw.json"));
                (path, Format::Json(Dialect::Json5), &["mcp", "servers"])
            }
            Self::OpenCode => {
                let folder = if is_user { folder } else { project.to_path_buf() };
                let (plain, commented) = (folder.join("opencode.json"), folder.join("opencode.jsonc"));
                let path = if exists(&commented) && !exists(&plain) { commented } else { plain };
                (path, Format::Json(Dialect::Jsonc), &["mcp"])
            }
            Self::VsCode => {
                let folder = if is_user { folder } else { project.join(".vscode") };
                (folder.join("mcp.json"), Format::Json(Dialect::Jsonc), &["servers"])
            }
            Self::Zed => {
                let folder = if is_user { folder } else { project.join(".zed") };
                (folder.join("settings.json"), Format::Json(Dialect::Jsonc), &["context_servers"])
            }
        };
        let path_of_server = keys.iter().copied().chain([SERVER]).map(str::to_string).collect();
        let server =
            Piece::Server { path: path_of_server, value: self.server(run, Some(&places.home)), is_shared: !is_user };
        FilePlan { path, format, pieces: vec![server] }
    }

    /// Returns the entry of the server in the words of the client. `home` is the project of clients that work in none.
    pub(crate) fn server(self, run: &Run, home: Option<&Path>) -> Value {
        let project = match self {
            _ if run.has_project => None,
            Self::Cursor | Self::VsCode => Some("${workspaceFolder}".to_string()),
            Self::ClaudeDesktop | Self::OpenClaw => home.map(|home| home.display().to_string()),
            _ => None,
        };
        let project = project.into_iter().flat_map(|project| ["--project".to_string(), project]);
        let args: Vec<String> = run.options.iter().cloned().chain(project).chain(["mcp".to_string()]).collect();
        let command = ("command".to_string(), Value::text(&run.command));
        let stdio = |kind: &str| ("type".to_string(), Value::text(kind));
        let args = ("args".to_string(), Value::texts(args));
        Value::Table(match self {
            Self::ClaudeCode | Self::VsCode => vec![stdio("stdio"), command, args],
            Self::Copilot => vec![stdio("local"), command, args, ("tools".to_string(), Value::texts(["*"]))],
            Self::OpenCode => {
                let words = std::iter::once(run.command.clone())
                    .chain(args.1.items().iter().filter_map(Value::as_text).map(str::to_string));
                let words = ("command".to_string(), Value::texts(words));
                vec![stdio("local"), words, ("enabled".to_string(), Value::Bool(true))]
            }
            _ => vec![command, args],
        })
    }

    fn hook_file(self, places: &Places, scope: Scope, project: &Path, run: &Run) -> Option<FilePlan> {
        let folder = |name: &str| match scope {
            Scope::User => self.folder(places),
            Scope::Project => project.join(name),
        };
        let json = |dialect| Format::Json(dialect);
        let (path, format) = match self {
            Self::ClaudeCode => (folder(".claude").join("settings.json"), json(Dialect::Jsonc)),
            Self::Codex => (folder(".codex").join("hooks.json"), json(Dialect::Strict)),
            Self::Copilot => {
                let folder = if scope == Scope::User { self.folder(places) } else { project.join(".github") };
                (folder.join("hooks").join("saddlebag.json"), json(Dialect::Strict))
            }
            Self::Cursor => (folder(".cursor").join("hooks.json"), json(Dialect::Jsonc)),
            Self::Gemini => (folder(".gemini").join("settings.json"), json(Dialect::Comments)),
            Self::OpenCode => {
                let path = folder(".opencode").join("plugins").join("saddlebag.js");
                return Some(FilePlan { path, format: Format::Whole, pieces: vec![Piece::Text(opencode_plugin(run))] });
            }
            _ => return None,
        };
        let pieces = hooks::of(self)?.pieces(self, run, places.platform);
        Some(FilePlan { path, format, pieces })
    }
}

/// Returns the text of the plugin for OpenCode.
pub(crate) fn opencode_plugin(run: &Run) -> String {
    let word = |word: &String| serde_json::Value::from(word.as_str()).to_string();
    let options: String = run.options.iter().map(|option| format!("{}, ", word(option))).collect();
    let mut arguments = format!("[{options}{}", &OPENCODE_ARGUMENTS[1..]);
    if run.without_before_tool {
        arguments = arguments.replace("event]", &format!("event, \"{WITHOUT_BEFORE_TOOL}\"]"));
    }
    let text = OPENCODE_PLUGIN.replacen(OPENCODE_PROGRAM, &word(&run.command), 1);
    let text = text.replacen(OPENCODE_ARGUMENTS, &arguments, 1);
    format!("{MARK}. `saddlebag setup opencode --remove` removes this file.\n{text}")
}
