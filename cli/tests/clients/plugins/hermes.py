"""Loads the memory provider for Hermes into a stub of its host, with the real program: hermes.py PROGRAM PLUGINS

The stub has the interface of a provider in our own words. The manifests of the plugins are held against their schemas,
too.
"""

import importlib.util
import json
import logging
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import time
import types

import jsonschema

HERE = pathlib.Path(__file__).parent


class MemoryProvider:
    """What a host asks of a provider; each has an answer of its own that does nothing."""

    def unavailable_reason(self):
        return ""

    def system_prompt_block(self):
        return ""

    def prefetch(self, query, *, session_id=""):
        return ""

    def queue_prefetch(self, query, *, session_id=""):
        pass

    def on_turn_start(self, turn_number, message, **kwargs):
        pass

    def on_delegation(self, task, result, *, child_session_id="", **kwargs):
        pass


class Host:
    """The context that a plugin registers with."""

    def __init__(self):
        self.provider = None

    def register_memory_provider(self, provider):
        assert self.provider is None, "registered twice"
        self.provider = provider


def load(plugin):
    """Loads the plugin as the host does: as a package of its own name."""
    agent, module = types.ModuleType("agent"), types.ModuleType("agent.memory_provider")
    module.MemoryProvider = MemoryProvider
    sys.modules.update({"agent": agent, "agent.memory_provider": module})
    spec = importlib.util.spec_from_file_location(
        "hermes_saddlebag", plugin / "__init__.py", submodule_search_locations=[str(plugin)]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules["hermes_saddlebag"] = package
    spec.loader.exec_module(package)
    host = Host()
    package.register(host)
    return package, host.provider


def manifests_fit_their_schemas(plugins, provider):
    schema = json.loads((HERE / "openclaw.plugin.schema.json").read_text())
    manifest = json.loads((plugins / "openclaw/openclaw.plugin.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(manifest, schema)
    jsonschema.Draft202012Validator.check_schema(manifest["configSchema"])
    for broken in [{**manifest, "kind": "memories"}, {**manifest, "hooks": []}, {"id": "x"}]:
        assert not jsonschema.Draft202012Validator(schema).is_valid(broken), broken
    config = manifest["configSchema"]
    assert jsonschema.Draft202012Validator(config).is_valid({"program": "/opt/sb/saddlebag", "timeoutMs": 500})
    assert not jsonschema.Draft202012Validator(config).is_valid({"programme": "x"})

    lines = (plugins / "hermes/plugin.yaml").read_text().splitlines()
    fields = dict(line.split(": ", 1) for line in lines if ": " in line and not line.startswith((" ", "-")))
    assert fields["name"] == provider.name and fields["version"] == "0.1.0", fields
    hooks = {line.strip(" -") for line in lines if line.startswith("  - on_")}
    assert hooks == {"on_session_end", "on_pre_compress", "on_memory_write"}, hooks
    for schema in provider.get_tool_schemas():
        assert set(schema) == {"name", "description", "parameters"}, schema
        jsonschema.Draft202012Validator.check_schema(schema["parameters"])


def settings_are_kept_and_read(provider, home, program, root, project):
    keys = [field["key"] for field in provider.get_config_schema()]
    assert len(keys) == len(set(keys)) and all(field["description"] for field in provider.get_config_schema())
    values = {"program": program, "root": str(root), "project": str(project), "timeout": 15, "other": "x", "agent": ""}
    provider.save_config(values, str(home))
    kept = json.loads((home / "saddlebag.json").read_text())
    assert kept == {"program": program, "root": str(root), "project": str(project), "timeout": 15}, kept
    assert provider.backup_paths() == [str(root)]
    (home / "saddlebag.json").write_text("{")
    assert len(provider.backup_paths()) == 1
    provider.save_config(values, str(home))


def tools_call_the_program(provider, root):
    call = lambda name, args: json.loads(provider.handle_tool_call(name, args))
    stored = call("saddlebag_store", {"title": "Staging port", "content": "It is 8443.", "kind": "fact"})
    assert stored["result"].startswith("Remembered in ") and stored["result"].endswith("facts/staging-port.md"), stored
    assert "8443" in call("saddlebag_search", {"query": "which port has staging?", "limit": 999})["result"]
    assert "It is 8443." in call("saddlebag_get", {"name": "facts/staging-port.md"})["result"]
    note = next(root.glob("projects/*/facts/staging-port.md")).read_text()
    assert "provenance: agent" in note, note
    assert call("saddlebag_store", {"title": "; touch x", "content": "$(touch y)\n--root /"})["result"]
    for name, args in [("saddlebag_get", {"key": "missing"}), ("saddlebag_search", None), ("saddlebag_store", {}), ("x", {})]:
        assert list(call(name, args)) == ["error"], (name, args)


def built_in_memories_are_kept_here_too(provider, root):
    provider.on_memory_write("add", "memory", "The build needs two cores.")
    provider.on_memory_write("replace", "user", "Prefers short answers.", metadata={"session_id": "s"})
    provider.on_memory_write("remove", "memory", "Gone.")
    provider._drain()
    texts = [path.read_text() for path in root.glob("projects/*/facts/*.md")]
    assert any("two cores" in text for text in texts) and any("short answers" in text for text in texts)
    assert not any("Gone." in text for text in texts)


def a_session_is_recorded(provider, root, project):
    block = provider.system_prompt_block()
    assert "saddlebag_search" in block
    provider.prefetch("why is the port 8443?", session_id="h-1")
    call = lambda number, name, arguments: {
        "role": "assistant",
        "tool_calls": [{"id": f"c{number}", "function": {"name": name, "arguments": json.dumps(arguments)}}],
    }
    result = lambda number, answer: {"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps(answer)}
    messages = [
        {"role": "user", "content": "why is the port 8443?"},
        call(1, "terminal", {"command": "make test"}),
        result(1, {"output": "error: it broke", "exit_code": 2}),
        call(2, "write_file", {"path": str(project / "tax.py"), "content": "PRIVATE CONTENT"}),
        result(2, {"ok": True}),
        call(3, "terminal", {"command": "make test"}),
        result(3, {"output": "ok", "exit_code": 0}),
        call(4, "terminal", "not an object"),
        {"role": "assistant", "content": "It was free."},
    ]
    # Only a file that exists is named in the note.
    (project / "tax.py").write_text("rate = 19\n")
    begun = time.monotonic()
    provider.sync_turn("why is the port 8443?", "It was free.", session_id="h-1", messages=messages)
    assert time.monotonic() - begun < 0.05, "sync_turn blocks"
    provider.on_pre_compress(messages)
    provider.on_session_end(messages)
    texts = [path.read_text(errors="replace") for path in root.rglob("*") if path.is_file()]
    wanted = ["why is the port 8443?", "tax.py", "make test"]
    assert any(all(word in text for word in wanted) for text in texts), "no note of the session"
    assert any("origin-client: hermes" in text for text in texts), "the note names another client"
    assert not any("PRIVATE CONTENT" in text for text in texts), "the content of a file is stored"
    provider.on_session_switch("h-2", parent_session_id="h-1", reset=True)
    assert "why is the port 8443?" in provider.system_prompt_block()
    assert "It is 8443." in provider.prefetch("which port has staging?", session_id="h-2")
    assert "It is 8443." not in provider.prefetch("and again, which port has staging?", session_id="h-2")


def a_subagent_records_nothing(package, home, root):
    provider = package.SaddlebagProvider()
    provider.initialize("sub", hermes_home=str(home), platform="cli", agent_context="subagent")
    before = sorted(path for path in root.rglob("*"))
    provider.sync_turn("a", "b", session_id="sub", messages=[])
    provider.on_memory_write("add", "memory", "From a subagent.")
    provider.on_session_end([])
    assert provider.prefetch("which port has staging?") == ""
    provider.shutdown()
    assert sorted(path for path in root.rglob("*")) == before


def a_program_that_fails_stops_nothing(package, folder):
    logging.getLogger("hermes_saddlebag").setLevel(logging.CRITICAL)
    cases = [(str(folder / "missing"), "not in the PATH")]
    if os.name == "nt":
        print("left out: programs that are slow or write too much, which are shell scripts here", file=sys.stderr)
    else:
        for name, script, reason in [("slow", "exec sleep 60", "did not answer"), ("loud", "exec yes", "did not answer")]:
            path = folder / name
            path.write_text(f"#!/bin/sh\n{script}\n")
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
            cases.append((str(path), reason))
    for program, reason in cases:
        home = folder / f"home-{pathlib.Path(program).name}"
        provider = package.SaddlebagProvider()
        provider.save_config({"program": program, "root": str(folder), "timeout": 0.5}, str(home))
        provider.initialize("s", hermes_home=str(home), platform="cli")
        begun = time.monotonic()
        error = json.loads(provider.handle_tool_call("saddlebag_search", {"query": "x"}))["error"]
        assert reason in error, error
        assert provider.prefetch("hello there") == ""
        for _ in range(200):
            provider.sync_turn("a", "b", session_id="s", messages=[])
        assert time.monotonic() - begun < 3, "sync_turn waits for the program"
        assert provider._queue.qsize() <= 64
        if reason == "not in the PATH":
            assert not provider.is_available() and "SADDLEBAG_PROGRAM" in provider.unavailable_reason()
            provider.shutdown()


def main(program, plugins):
    program, plugins = str(pathlib.Path(program).resolve()), pathlib.Path(plugins).resolve()
    with tempfile.TemporaryDirectory(prefix="saddlebag-hermes-") as folder:
        folder = pathlib.Path(folder).resolve()
        home, root, project = folder / "hermes", folder / "store", folder / "work"
        for path in [home, root, project / ".git"]:
            path.mkdir(parents=True)
        os.environ["HERMES_HOME"] = str(home)
        package, provider = load(plugins / "hermes")
        manifests_fit_their_schemas(plugins, provider)
        settings_are_kept_and_read(provider, home, program, root, project)
        provider.initialize("h-1", hermes_home=str(home), platform="cli", agent_context="primary")
        assert provider.is_available()
        tools_call_the_program(provider, root)
        built_in_memories_are_kept_here_too(provider, root)
        if subprocess.run([program, "help", "hook"], capture_output=True).returncode == 0:
            a_session_is_recorded(provider, root, project)
        else:
            print("left out: the session of the provider for Hermes, because this program has no `hook`", file=sys.stderr)
        a_subagent_records_nothing(package, home, root)
        provider.shutdown()
        a_program_that_fails_stops_nothing(package, folder)
        print(f"Hermes provider: {len(provider.get_tool_schemas())} tools")


if __name__ == "__main__":
    main(*sys.argv[1:])
