"""The host: loads the component into wasmtime, gives it commands, and has a `Folder` perform what it asks for.

With `folder.py` it is all that docs/writing-a-host.md asks of a host, in at most 560 lines of code together.
"""

import secrets
import threading
import time

from wasmtime import Config, Engine, Store
from wasmtime import component as wasm

from values import Shape

PACKAGE, VERSION = "saddlebag:memory", "0.3.0-dev"
DEADLINE = 30  # Seconds that one call may take.


class Failed(Exception):
    """The command ended in an error; `code` is its kind, `changed` is true if it may have changed a file before."""

    def __init__(self, error, changed):
        super().__init__(f"{error.code}: {error.message} {error.help}")
        self.code, self.changed = error.code, changed


class Refused(Exception):
    """The component did not take a call; nothing has changed."""


class Runtime:
    """The compiled component. It makes any number of memories, each with an instance of its own."""

    def __init__(self, path):
        config = Config()
        config.epoch_interruption = True
        self.engine = Engine(config)
        self.component = wasm.Component.from_file(self.engine, path)
        versions = [name.split("@")[1] for name in self.component.type.exports(self.engine) if name.startswith(f"{PACKAGE}/engine@")]
        if versions != [VERSION]:
            raise ValueError(f"{path} has the versions {versions} of {PACKAGE}, and this host needs {VERSION}")
        threading.Thread(target=self.tick, daemon=True).start()

    def tick(self):
        while True:
            time.sleep(1)
            self.engine.increment_epoch()


class Memory:
    """One scope of one store. After a trap it is gone, with the commands in flight: open another one."""

    def __init__(self, runtime, folder, **changes):
        self.runtime, self.folder, self.last = runtime, folder, 0
        self.store, self.functions = Store(runtime.engine), {}
        self.store.set_limits(memory_size=1 << 30)
        self.store.set_epoch_deadline(DEADLINE)
        self.instance = wasm.Linker(runtime.engine).instantiate(self.store, runtime.component)
        config = self.call("engine", "default-config", secrets.randbits(63))
        self.memory = self.take_ok(self.call("engine", "[static]memory.open", {**vars(config), "version_scheme": folder.VERSION_SCHEME, **changes}))

    def run(self, family, command, origin=None, now=None):
        """Gives a command, performs what it asks for until it has finished, and returns its reply. A tool is `("call", ...)`."""
        self.last += 1
        given = self.memory, self.last, now or dict(seconds=int(time.time()), nanoseconds=0, utc_offset_seconds=0), origin or {}
        submit = ("tools", "call") if family == "tools" else ("engine", "[method]memory.submit")
        tool = [command[1].get(name) for name in ("tool", "input", "options")] if family == "tools" else None
        step = self.take_ok(self.call(*submit, *given, *(tool or [self.call(family, "prepare", command)])))
        requests, finished = list(step.requests), list(step.finished)
        for request in requests:  # The list grows meanwhile.
            kind, *arguments = request.op
            reply = dict(key=request.key, outcome=self.folder.perform((kind, vars(arguments[0]) if arguments else {})))
            taken = self.call("engine", "[method]memory.handle-memory-result", self.memory, reply)
            if taken[0] == "err":  # The result does not fit, and its request stays pending.
                reply["outcome"] = ("err", ("other", f"the host gave no fitting result: {taken[1]}"))
                taken = self.call("engine", "[method]memory.handle-memory-result", self.memory, reply)
            step = self.take_ok(taken)
            requests += step.requests
            finished += step.finished
        for ended in finished:
            if ended.error is not None:
                raise Failed(ended.error, ended.changed)
        reply = ("answer", finished[0].answer) if tool else self.take_ok(self.call(family, "take", self.memory, self.last))
        return (*reply, None)[1]

    def call(self, interface, name, *arguments):
        if (interface, name) not in self.functions:
            inside = self.instance.get_export_index(self.store, f"{PACKAGE}/{interface}@{VERSION}")
            function = self.instance.get_func(self.store, self.instance.get_export_index(self.store, name, inside))
            kind = function.type(self.store)
            shapes = [Shape(of) for _, of in kind.params]
            self.functions[interface, name] = function, shapes, Shape(kind.result)
        function, shapes, result = self.functions[interface, name]
        self.store.set_epoch_deadline(DEADLINE)
        lowered = [shape.lower(argument) for shape, argument in zip(shapes, arguments, strict=True)]
        return result.lift(function(self.store, *lowered))

    @staticmethod
    def take_ok(result):
        if result[0] == "err":
            raise Refused(result[1])
        return result[1]
