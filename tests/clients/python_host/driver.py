"""The driver of this host, for `saddlebag-conformance -- python3 driver.py COMPONENT`; docs/writing-a-host.md has the protocol."""

import base64
import functools
import json
import sys

from folder import Folder
from host import Memory, Runtime

# Numbers of 64 bits in records; in JSON they are strings.
LONG = {"offset", "size", "modified", "command"}
HELLO = {"protocol": 1, "name": "python_host", "package": "saddlebag:memory@0.3.0-dev", "version-scheme": Folder.VERSION_SCHEME,
         "folder": True, "links": True, "folders": True, "lock": "kernel"}


class Driver:
    def __init__(self, component):
        self.runtime = functools.cache(lambda: Runtime(component))

    def hello(self, given):
        return HELLO

    def open(self, given):
        self.opening, self.folder, self.memory = given, Folder(given["store"]), None

    def perform(self, op):
        (kind, given), = op.items() if isinstance(op, dict) else [(op, {})]
        arguments = {name.replace("-", "_"): value for name, value in given.items()}
        if "content" in arguments:
            arguments["content"] = base64.b64decode(arguments["content"])
        if "offset" in arguments:
            arguments["offset"] = int(arguments["offset"])
        if "precondition" in arguments:
            condition = arguments["precondition"]
            arguments["precondition"] = (condition,) if isinstance(condition, str) else next(iter(condition.items()))
        return self.folder.perform((kind, arguments))

    def call(self, given):
        if self.memory is None:
            agent, changes = self.opening["agent"], dict(epoch=int(self.opening["epoch"]), project=self.opening["project"])
            entries = dict(agent=agent) if agent is not None else None
            self.memory = Watched(self.runtime(), self.folder, **changes, entries=entries)
        self.memory.steps = []
        now = dict(given["now"], seconds=int(given["now"]["seconds"]))
        now = {name.replace("-", "_"): value for name, value in now.items()}
        answer = self.memory.run("tools", ("call", dict(tool=given["tool"], input=json.dumps(given["input"]))), now=now)
        structured = answer.structured and json.loads(answer.structured)
        requests = [request for step in self.memory.steps for request in step.requests]
        changed = any(ended.changed for step in self.memory.steps for ended in step.finished)
        return plain(dict(answer=answer, changed=changed, requests=requests)) | {"answer": plain(answer) | {"structured": structured}}

    def answer(self, line):
        (kind, given), = json.loads(line).items()
        try:
            done = getattr(self, kind)(given)
        except Exception as error:  # Whatever it is, the kit wants to know.
            return {"err": repr(error)}
        return plain(done) if kind == "perform" else {"hello" if kind == "hello" else "ok": done}


class Watched(Memory):
    """A memory that keeps the steps of the call that it runs."""

    def call(self, interface, name, *arguments):
        result = super().call(interface, name, *arguments)
        if name in ("call", "[method]memory.handle-memory-result") and result[0] == "ok":
            self.steps.append(result[1])
        return result


def plain(value, name=None):
    """The canonical JSON of a value of the contract."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, tuple):  # A case.
        payload = [str(one) if isinstance(one, int) else plain(one) for one in value[1:]]
        return {value[0]: payload[0]} if payload and not (payload == [None] and value[0] == "make-directory") else value[0]
    if isinstance(value, list):
        return [plain(one) for one in value]
    fields = value if isinstance(value, dict) else getattr(value, "__dict__", None)
    if fields is not None:
        return {field.replace("_", "-"): plain(one, field) for field, one in fields.items()}
    return str(value) if name in LONG else value


if __name__ == "__main__":
    driver = Driver(*sys.argv[1:])
    for line in sys.stdin:
        print(json.dumps(driver.answer(line)), flush=True)
