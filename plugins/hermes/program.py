"""Runs the program saddlebag: without a shell, with a time limit, and with bounded output."""

import json
import os
import shutil
import subprocess
import threading

# Most bytes of an answer. The program's own pages are smaller.
MAX_ANSWER = 256 * 1024
# Most characters of an error that are shown.
MAX_ERROR = 2_000
# Version of the format of `saddlebag hook`, which docs/hooks.md describes.
FORMAT = 1


class ProgramError(Exception):
    """The program cannot be run, took too long, or gave no answer."""


class Program:
    """The program with the options of a store."""

    def __init__(self, program="", root="", project="", agent="", timeout=6.0):
        self.program = program or os.environ.get("SADDLEBAG_PROGRAM") or "saddlebag"
        self.options = []
        for option, value in (("--root", root), ("--project", project), ("--agent", agent)):
            if value:
                self.options += [option, str(value)]
        self.project = project
        self.timeout = timeout

    def path(self):
        """Returns the file of the program; None if it is not there."""
        return shutil.which(self.program)

    def run(self, words, text):
        """Runs the program with text on its standard input. Returns its standard output and standard error."""
        path = self.path()
        if path is None:
            raise ProgramError(f"`{self.program}` is not in the PATH")
        pipe = subprocess.PIPE
        try:
            child = subprocess.Popen([path, *self.options, *words], stdin=pipe, stdout=pipe, stderr=pipe)
        except OSError as error:
            raise ProgramError(f"`{self.program}` cannot be run: {error}") from error
        # The limit must hold even if a child of the program keeps a pipe open, so the pipes are read in threads.
        outputs = {"out": b"", "err": b""}

        def read(name, stream, limit):
            while part := stream.read1(65_536):
                if len(outputs[name]) <= limit:
                    outputs[name] += part

        readers = [
            threading.Thread(target=read, args=("out", child.stdout, MAX_ANSWER), daemon=True),
            threading.Thread(target=read, args=("err", child.stderr, MAX_ERROR), daemon=True),
            threading.Thread(target=self._write, args=(child.stdin, text.encode()), daemon=True),
        ]
        for reader in readers:
            reader.start()
        try:
            child.wait(self.timeout)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            raise ProgramError(f"`{self.program}` did not answer within {self.timeout:g} s") from None
        for reader in readers:
            reader.join(1)
        if len(outputs["out"]) > MAX_ANSWER:
            raise ProgramError(f"the answer of `{self.program}` has more than {MAX_ANSWER} bytes")
        return outputs["out"].decode(errors="replace"), outputs["err"].decode(errors="replace")[:MAX_ERROR]

    @staticmethod
    def _write(stream, data):
        try:
            stream.write(data)
            stream.close()
        except OSError:
            # The program may end before it has read everything.
            pass

    def call(self, tool, arguments):
        """Runs a tool of the memory. Returns its answer: text, structured, is_error."""
        output, error = self.run(["--json", "tools", tool, "-"], json.dumps(arguments))
        try:
            answer = json.loads(output)
        except ValueError:
            raise ProgramError(error.strip() or f"`{self.program}` gave no answer") from None
        return answer

    def hook(self, event, fields):
        """Reports an event of a session. Returns the text for the model, which is empty if there is nothing to say."""
        payload = {"saddlebag_hook": FORMAT, "client": "hermes", "event": event, "project": self.project, **fields}
        output, _ = self.run(["hook", event], json.dumps(payload))
        if not output.strip():
            return ""
        try:
            text = json.loads(output).get("text")
        except (ValueError, AttributeError):
            raise ProgramError(f"`{self.program} hook` gave no JSON object") from None
        return text if isinstance(text, str) else ""
