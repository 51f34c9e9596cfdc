"""A store of its own and `saddlebag mcp` over it, for clients that this project did not write."""

import contextlib
import json
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
# Each tool with arguments that it takes, in an order in which all of them find what they need.
CALLS = [tuple(call) for call in json.loads((HERE / "calls.json").read_text())]
TOOLS = {name for name, _ in CALLS}
NOTE = "saddlebag://file/notes/plan.md"
CONTEXT = "saddlebag://context"
SETS = "everyday,journal,entries,notebook,anthropic"


class Served:
    """A fresh store. `command` starts a server on pipes, `http` has one on a port."""

    def __init__(self, program, folder):
        self.root = pathlib.Path(folder) / "store"
        self.root.mkdir()
        (self.root / "MEMORY.md").write_text("Staging listens on port 8443.\n")
        self.token_file = pathlib.Path(folder) / "token"
        self.command = [program, "--root", str(self.root), "--notebook", "mcp", "--tools", SETS]

    @contextlib.contextmanager
    def http(self):
        """The URL of the endpoint and the bearer token, for as long as the server runs."""
        arguments = ["--http", "127.0.0.1:0", "--token-file", str(self.token_file)]
        server = subprocess.Popen(self.command + arguments, stderr=subprocess.PIPE, text=True)
        try:
            url = None
            while url is None:
                line = server.stderr.readline()
                assert line, "the server ended before it listened"
                if found := re.search(r"http://\S+", line):
                    url = found.group()
            # The token is there before the server listens.
            yield url, self.token_file.read_text().strip()
        finally:
            server.kill()
            server.wait()


@contextlib.contextmanager
def served(program):
    with tempfile.TemporaryDirectory() as folder:
        yield Served(program, folder)
