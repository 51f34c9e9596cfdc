//! Configurations of each client, as people have them.

/// A client and its files.
pub(super) struct Client {
    pub(super) name: &'static str,
    /// File with the servers, below the home.
    pub(super) servers: &'static str,
    /// File with servers, settings and comments.
    pub(super) typical: &'static str,
    /// File with a server of somebody else under our name.
    pub(super) foreign: &'static str,
    /// File that cannot be parsed, with the place that the message names.
    pub(super) malformed: (&'static str, &'static str),
    /// Another file of the client that exists before.
    pub(super) beside: Option<(&'static str, &'static str)>,
}

pub(super) const CLIENTS: [Client; 10] = [
    Client {
        name: "claude-code",
        servers: ".claude.json",
        typical: "{\n  \"numStartups\": 12,\n  \"mcpServers\": {\n    \"tickets\": {\n      \"type\": \"http\",\n      \
                  \"url\": \"https://example.org/mcp\"\n    }\n  },\n  \"projects\": {\n    \"/src/shop\": { \
                  \"allowedTools\": [] }\n  },\n  \"edited\": \"no\"\n}",
        foreign: "{\"mcpServers\":{\"saddlebag\":{\"command\":\"npx\",\"args\":[\"horse-shop\"]}}}",
        malformed: ("{\n  \"mcpServers\": {\n    \"a\": }\n}\n", "line 3, column 10"),
        beside: Some((
            ".claude/settings.json",
            "{\n\t// Beeps at the end of a turn.\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\"hooks\": [{\"type\": \
             \"command\", \"command\": \"beep\"}]}, // mine\n\t\t],\n\t},\n\t\"edited\": \"no\",\n}\n",
        )),
    },
    Client {
        name: "claude-desktop",
        servers: ".config/Claude/claude_desktop_config.json",
        typical: "{\n    \"mcpServers\": {\n        \"files\": {\n            \"command\": \"/usr/bin/files\",\n            \
                  \"args\": [\n                \"/home\"\n            ]\n        }\n    },\n    \"edited\": \
                  \"no\"\n}\n",
        foreign: "{\n  \"mcpServers\": {\n    \"saddlebag\": {\n      \"command\": \"other\"\n    }\n  }\n}\n",
        malformed: ("{\n  // not JSON\n}\n", "line 2, column 3"),
        beside: None,
    },
    Client {
        name: "codex",
        servers: ".codex/config.toml",
        typical: "# Settings of Codex.\nmodel = \"gpt-5\" # the usual one\nedited = \"no\"\n\n[mcp_servers.docs]\ncommand \
                  = 'docs-server'\nargs = [\n  \"--stdio\", # quiet\n]\n\n[mcp_servers.docs.env]\nTOKEN = \
                  \"0000\"\n\n# The rest.\n[tui]\nnotifications = true\n",
        foreign: "[mcp_servers.saddlebag]\nurl = \"https://example.org/mcp\"\n",
        malformed: ("model = \"gpt-5\"\n[mcp_servers.x\n", "line 2, column 15"),
        beside: Some((
            ".codex/hooks.json",
            "{\n  \"hooks\": {\n    \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"beep\" }] }],\n    \
             \"Notification\": []\n  },\n  \"description\": \"edited: no\"\n}\n",
        )),
    },
    Client {
        name: "copilot",
        servers: ".copilot/mcp-config.json",
        typical: "{\n  \"mcpServers\": {\n    \"ci\": { \"type\": \"http\", \"url\": \"https://example.org/ci\", \"tools\": \
                  [\"*\"] }\n  },\n  \"edited\": \"no\"\n}\n",
        foreign: "{\"mcpServers\": {\"saddlebag\": {\"type\": \"local\", \"command\": \"other\", \"tools\": [\"*\"]}}}\n",
        malformed: ("{\"mcpServers\": [}", "line 1, column 17"),
        beside: None,
    },
    Client {
        name: "cursor",
        servers: ".cursor/mcp.json",
        typical: "{\n  \"edited\": \"no\",\n  \"mcpServers\": {\n    // Only at work.\n    \"mail\": {\"url\": \
                  \"https://example.org/mail\"} /* slow */\n  }\n}\n",
        foreign: "{\n  \"mcpServers\": { \"saddlebag\": { \"url\": \"https://example.org/saddles\" } }\n}\n",
        malformed: ("{\"mcpServers\": 7}", "line 1, column 16"),
        beside: Some((
            ".cursor/hooks.json",
            "{\"version\":1,\"hooks\":{\"stop\":[{\"command\":\"./beep.sh\"}]},\"edited\":\"no\"}",
        )),
    },
    Client {
        name: "gemini",
        servers: ".gemini/settings.json",
        typical: "// Settings of Gemini CLI.\n{\n  \"theme\": \"Ayu\",\n  \"edited\": \"no\",\n  \"mcpServers\": {\n    \
                  \"maps\": { \"command\": \"maps\" } // for trips\n  }\n}\n",
        foreign: "{\n  \"mcpServers\": {\n    \"saddlebag\": {\n      \"httpUrl\": \"https://example.org/mcp\"\n    }\n  \
                  }\n}\n",
        malformed: ("{\n  \"theme\": \"Ayu\",\n}\n", "line 2, column 17"),
        beside: None,
    },
    Client {
        name: "openclaw",
        servers: ".openclaw/openclaw.json",
        typical: "{\n  // Written by hand.\n  gateway: { port: 18789, bind: 'loopback' },\n  edited: 'no',\n  mcp: {\n    \
                  servers: {\n      calendar: { command: 'calendar', args: ['--stdio',], },\n    },\n  },\n}\n",
        foreign: "{ mcp: { servers: { saddlebag: { command: 'other' } } } }\n",
        malformed: ("{ mcp: { servers: [] } }\n", "line 1, column 19"),
        beside: None,
    },
    Client {
        name: "opencode",
        servers: ".config/opencode/opencode.jsonc",
        typical: "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"edited\": \"no\",\n  \"mcp\": {},\n  /* the \
                  end */\n}\n",
        foreign: "{\n  \"mcp\": {\n    \"saddlebag\": {\"type\": \"remote\", \"url\": \"https://example.org/mcp\"},\n  \
                  },\n}\n",
        malformed: ("{\n  \"mcp\": {\n", "line 2, column 10"),
        beside: None,
    },
    Client {
        name: "vscode",
        servers: ".config/Code/User/mcp.json",
        typical: "{\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t\"web\": {\n\t\t\t\"type\": \"http\",\n\t\t\t\"url\": \
                  \"https://example.org/web\",\n\t\t},\n\t\t// \"off\": {},\n\t},\n\t\"edited\": \"no\"\n}",
        foreign: "{\n\t\"servers\": {\n\t\t\"saddlebag\": {\n\t\t\t\"command\": \"saddlebag\",\n\t\t\t\"args\": [\"mcp\", \
                  \"--tools\", \"journal\"]\n\t\t}\n\t}\n}",
        malformed: ("servers", "line 1, column 1"),
        beside: None,
    },
    Client {
        name: "zed",
        servers: ".config/zed/settings.json",
        typical: "// Zed settings\n//\n// See the documentation.\n{\n  \"ui_font_size\": 16, // points\n  \"edited\": \
                  \"no\"\n}\n",
        foreign: "{\"context_servers\": {\"saddlebag\": {\"source\": \"extension\", \"settings\": {}}}}\n",
        malformed: ("{\"context_servers\": {}} x", "line 1, column 25"),
        beside: None,
    },
];
