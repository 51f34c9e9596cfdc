"""Does what a new user does, in an empty home folder: install from an artefact, set up Claude Code, work in two sessions,
take the settings out again, uninstall.

    new_user.py ARTEFACTS WAY [CLAUDE]

ARTEFACTS is the folder with the packages, WAY is archive, installer, wheel or npm. With CLAUDE, the program of Claude Code, the
sessions are real ones: Claude Code starts the server and runs the hooks, and talks to a model that this script plays on the
loopback interface. Without it, the script runs the commands of the settings with the input that Claude Code gives them.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from model import Model

PROMPT = "How are half cents rounded in the tax report?"
FACT = "Half cents are rounded to even in the tax report."
CHECK = "test -f report.txt || exit 3"
UVX = pathlib.Path(__file__).resolve().parents[3] / "target/clients/packaging/python/bin/uvx"
STEPS = [
    ("Bash", {"command": CHECK, "description": "Check the report"}),
    ("Write", {"file_path": "report.txt", "content": "BODY OF THE REPORT"}),
    ("Bash", {"command": CHECK, "description": "Check the report"}),
    ("mcp__saddlebag__mem_remember", {"title": "Half cents", "content": FACT}),
]


class Home:
    """An empty home folder with a project in it."""

    def __init__(self, folder):
        self.path = folder / "home"
        self.project = folder / "project"
        self.prefix = folder / "prefix"
        for made in (self.path / ".claude", self.project, self.prefix):
            made.mkdir(parents=True)
        # What Claude Code has before Saddlebag comes.
        (self.path / ".claude.json").write_text('{\n  "numStartups": 3,\n  "mcpServers": {}\n}\n')
        (self.path / ".claude/settings.json").write_text('{"theme": "dark"}')

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TMPDIR")}
        return {**kept, "HOME": str(self.path), **more}

    def run(self, command, status=0, **options):
        ended = subprocess.run(
            [str(word) for word in command], cwd=self.project, env=self.environment(**options.pop("more", {})),
            capture_output=True, text=True, timeout=300, **options)
        if ended.returncode != status:
            raise SystemExit(f"{command} ended with {ended.returncode}\n{ended.stdout}\n{ended.stderr}")
        return ended.stdout

    def files(self):
        return {str(path.relative_to(self.path)) for path in self.path.rglob("*") if not path.is_dir()}


def install_archive(artefacts, home):
    """Unpacks the archive. Uninstalling removes the program."""
    machine = os.uname().machine.replace("arm64", "aarch64")
    home.run(["tar", "-xzf", only(artefacts, f"saddlebag-cli-{machine}-*.tar.gz"), "-C", home.prefix])
    program = only(home.prefix, "**/saddlebag")
    return program, lambda: None


def install_installer(artefacts, home):
    """Runs the installer, which downloads the archive. Uninstalling leaves its receipt, and what tells shells where programs are."""
    home.run(["sh", only(artefacts, "saddlebag-cli-installer.sh")], more={"SADDLEBAG_CLI_DOWNLOAD_URL": artefacts.as_uri()})
    return home.path / ".local/bin/saddlebag", lambda: None


def install_wheel(artefacts, home):
    python = sys.executable
    home.run([python, "-m", "venv", "--without-pip", home.prefix])
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--python", home.prefix]
    more = {"PIP_NO_CACHE_DIR": "1"}
    home.run([*pip, "install", "--quiet", "--no-index", "--no-compile", only(artefacts, "saddlebag-*.whl")], more=more)
    return home.prefix / "bin/saddlebag", lambda: home.run([*pip, "uninstall", "--quiet", "--yes", "saddlebag"], more=more)


def install_npm(artefacts, home):
    platform = only(artefacts, f"saddlebag-npm-*-{'x64' if os.uname().machine == 'x86_64' else 'arm64'}-*.tgz")
    more = {"npm_config_cache": str(home.prefix / "cache"), "npm_config_update_notifier": "false"}
    npm = ["npm", "--offline", "--no-audit", "--no-fund", "--silent", "--global", "--prefix", home.prefix]
    home.run([*npm, "install", only(artefacts, "saddlebag-npm-[0-9]*.tgz"), platform], more=more)
    return home.prefix / "bin/saddlebag", lambda: home.run([*npm, "uninstall", "saddlebag"], more=more)


WAYS = {"archive": install_archive, "installer": install_installer, "wheel": install_wheel, "npm": install_npm}


def only(folder, pattern):
    found = [path for path in folder.glob(pattern) if path.is_file()]
    if len(found) != 1:
        raise SystemExit(f"{pattern} in {folder}: {found}")
    return found[0]


class Recorded:
    """Runs the commands of the settings as Claude Code does, with the input that it gives them."""

    def __init__(self, home):
        self.home = home
        self.uses = 0

    def hook(self, session, event, **fields):
        settings = json.loads((self.home.path / ".claude/settings.json").read_text())
        payload = {"session_id": session, "transcript_path": str(self.home.path / "none.jsonl"),
                   "cwd": str(self.home.project), "permission_mode": "default", "hook_event_name": event, **fields}
        told = ""
        for group in settings["hooks"].get(event, []):
            for hook in group["hooks"]:
                printed = self.home.run(["/bin/sh", "-c", hook["command"]], input=json.dumps(payload),
                                        more={"CLAUDE_PROJECT_DIR": str(self.home.project)})
                if printed.strip():
                    answer = json.loads(printed)
                    told += answer.get("hookSpecificOutput", {}).get("additionalContext", "")
        return told

    def tool(self, session, name, given):
        """Does what the tool does, and tells the hooks about it. Returns what the hooks tell the model."""
        self.uses += 1
        fields = {"tool_name": name, "tool_input": given, "tool_use_id": f"toolu_{self.uses}"}
        if name == "Bash":
            ended = subprocess.run(["sh", "-c", given["command"]], cwd=self.home.project)
            if ended.returncode:
                error = f"Exit code {ended.returncode}"
                return self.hook(session, "PostToolUseFailure", error=error, is_interrupt=False, **fields)
            return self.hook(session, "PostToolUse", tool_response={"stdout": "", "stderr": ""}, **fields)
        if name == "Write":
            path = self.home.project / given["file_path"]
            path.write_text(given["content"])
            fields["tool_input"] = {**given, "file_path": str(path)}
            return self.hook(session, "PostToolUse", tool_response={"filePath": str(path)}, **fields)
        stored = self.server("tools/call", {"name": name.rsplit("__", 1)[1], "arguments": given})
        return self.hook(session, "PostToolUse", tool_response=stored, **fields)

    def server(self, method, params):
        """Asks the server that the settings name."""
        server = json.loads((self.home.path / ".claude.json").read_text())["mcpServers"]["saddlebag"]
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "2"}}
        messages = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": method, "params": params},
        ]
        lines = "".join(json.dumps(message) + "\n" for message in messages)
        answers = self.home.run([server["command"], *server["args"]], input=lines).splitlines()
        return next(json.loads(line)["result"] for line in answers if json.loads(line).get("id") == 2)

    def session(self, name, prompt, steps):
        told = self.hook(name, "SessionStart", source="startup")
        told += self.hook(name, "UserPromptSubmit", prompt=prompt)
        for tool, given in steps:
            told += self.tool(name, tool, given)
        told += self.hook(name, "Stop", stop_hook_active=False, last_assistant_message="Done.")
        self.hook(name, "SessionEnd", reason="prompt_input_exit")
        return told


class Real:
    """Runs Claude Code itself, with a model that this script plays."""

    def __init__(self, home, claude):
        self.home, self.claude = home, claude

    def session(self, name, prompt, steps):
        with Model(steps) as model:
            more = {"ANTHROPIC_BASE_URL": model.address, "ANTHROPIC_API_KEY": "none",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
            allowed = ",".join(sorted({tool for tool, _ in STEPS}))
            self.home.run([self.claude, "-p", prompt, "--allowedTools", allowed], more=more, stdin=subprocess.DEVNULL)
        return "\n".join(model.told)


def check(holds, what, shown=""):
    if not holds:
        raise SystemExit(f"failed: {what}\n{shown}")
    print(f"  {what}")


def main():
    artefacts, way = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    claude = pathlib.Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else None
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        live(artefacts, way, claude, Home(folder))
    finally:
        shutil.rmtree(folder)


def live(artefacts, way, claude, home):
    program, remove_package = WAYS[way](artefacts, home)
    before = {path: (home.path / path).read_bytes() for path in home.files()}
    print(f"{way}, {'Claude Code' if claude else 'recorded sessions'}")
    version = home.run([program, "--version"]).split()[1]
    check(only(artefacts, "saddlebag-npm-[0-9]*.tgz").name == f"saddlebag-npm-{version}.tgz", f"the version is {version}")
    if way == "wheel":
        uvx = [UVX, "--offline", "--no-index", "--no-python-downloads", "--from", only(artefacts, "saddlebag-*.whl")]
        home.run([*uvx, "saddlebag", "--version"], more={"HOME": str(home.prefix)})
    home.run([program, "setup", "claude-code", "--yes"])
    client = Real(home, claude) if claude else Recorded(home)

    told = client.session("one", PROMPT, STEPS)
    check("<memory" not in told, "an empty memory adds nothing to a prompt", told)
    told = client.session("two", "Go on.", [])
    check(PROMPT in told, "the second session begins with the first one's prompt", told)
    check("report.txt" in told and CHECK in told, "with its files, and the command that failed and then passed", told)
    check("BODY OF THE REPORT" not in told, "without the content of its files", told)
    told = client.session("three", "What did we decide about rounding half cents?", [])
    check(FACT in told, "a prompt recalls the fact that the first session stored", told)
    check(CHECK in told, "a session without work leaves the hand-off to the next one", told)

    home.run([program, "setup", "claude-code", "--remove", "--yes"])
    for path in (".claude/settings.json", *([] if claude else [".claude.json"])):
        now = (home.path / path).read_bytes()
        check(now == before[path], f"{path} is as it was, byte for byte", now.decode())
    left = json.loads((home.path / ".claude.json").read_text())
    check(left["mcpServers"] == {}, ".claude.json has no server of ours", str(left))
    home.run([program, "setup", "--uninstall", "--yes"])
    remove_package()
    left = {path for path in home.files() - before.keys() if not path.startswith(".claude/") and path != ".claude.json"}
    if claude:
        # Claude Code keeps files of its own.
        left = {path for path in left if not any(part.startswith("claude") for part in path.split("/")[:3])}
    memory = {path for path in left if path.startswith(".local/share/saddlebag/")}
    check(any(path.endswith("/half-cents.md") for path in memory), "the memory is still there", str(left))
    check(left == memory, "nothing else is left", str(sorted(left - memory)))
    if way != "npm":
        check(not program.exists(), "the program is gone")


if __name__ == "__main__":
    main()
