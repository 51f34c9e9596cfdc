"""Speaks to `saddlebag mcp` with the command line of the MCP Inspector: inspector.py PROGRAM NODE_MODULES

Over pipes and over HTTP it lists the tools, calls each once, and reads the resources and prompts. Each is a run of
the Inspector of its own.
"""

import json
import os
import pathlib
import subprocess
import sys

from served import CALLS, CONTEXT, NOTE, TOOLS, served


class Inspector:
    def __init__(self, modules, home, target):
        self.command = ["node", str(modules / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli"]
        self.target = target
        # It keeps files in the home folder.
        self.environment = {**os.environ, "HOME": str(home), "USERPROFILE": str(home)}

    def ask(self, method, *options):
        arguments = [*self.target, "--method", method, *options, "--format", "json"]
        run = subprocess.run(
            self.command + arguments, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=120,
        )
        assert run.returncode == 0, (arguments, run.returncode, run.stdout, run.stderr)
        answer = json.loads(run.stdout)
        return answer.get("result", answer)


def use(inspector):
    listed = {tool["name"] for tool in inspector.ask("tools/list")["tools"]}
    assert listed == TOOLS, listed
    for name, arguments in CALLS:
        options = ["--tool-name", name, "--tool-args-json", json.dumps(arguments)]
        answer = inspector.ask("tools/call", *options)
        assert not answer.get("isError"), (name, answer)
        assert answer["content"][0]["text"], (name, answer)

    uris = {resource["uri"] for resource in inspector.ask("resources/list")["resources"]}
    assert {CONTEXT, NOTE} <= uris, uris
    read = lambda uri: inspector.ask("resources/read", "--uri", uri)["contents"][0]["text"]
    assert "port 8443" in read(CONTEXT)
    assert read(NOTE) == "Ship on Monday.\n"
    assert inspector.ask("resources/templates/list")["resourceTemplates"]
    names = {prompt["name"] for prompt in inspector.ask("prompts/list")["prompts"]}
    assert "memory-protocol" in names, names
    assert inspector.ask("prompts/get", "--prompt-name", "memory-protocol")["messages"]


def main(program, modules):
    modules = pathlib.Path(modules).resolve()
    with served(program) as store:
        use(Inspector(modules, store.root.parent, store.command))
        print(f"MCP Inspector, pipes: {len(TOOLS)} tools called")
    with served(program) as store, store.http() as (url, token):
        target = ["--transport", "http", "--server-url", url, "--header", f"Authorization: Bearer {token}"]
        use(Inspector(modules, store.root.parent, target))
        print(f"MCP Inspector, HTTP: {len(TOOLS)} tools called")


main(*sys.argv[1:])
