"""Asks Saddlebag and two other memories the same questions, each through its own MCP server.

    cargo xtask compare

Each server gets the notes of `tests/retrieval/notes` in an empty home folder, and each question of `questions.toml` in one
call of its search tool: once as it is written, and once as keywords, in the form that this server finds most with. An
answer is right if the first note that it names is one that answers the question.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTES = ROOT / "tests/retrieval/notes"
HITS = 5
STARTS = 5
STOP_WORDS = set(
    "a after all an and any are as at be been but by can did do does for from had has have how i if in into is it its long "
    "many much must no not of off on one or our out over should than that the their them then there these they this to "
    "up was we were what when where which while who whose why will with without you".split())


class Server:
    """Runs an MCP server over standard input and output."""

    def __init__(self, command, environment, folder):
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, bufsize=1, env=environment, cwd=folder)
        self.number = 0
        self.request("initialize", {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "compare", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line) if line.startswith("{") else {}
            if message.get("id") == self.number:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']}")
                return message["result"]
        raise SystemExit(f"the server ended during {method}")

    def call(self, tool, **arguments):
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = "".join(part.get("text", "") for part in result["content"])
        if result.get("isError"):
            raise SystemExit(f"{tool}: {text}")
        return text

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Memory:
    """A memory to compare: how it is installed, started, filled and asked."""

    def __init__(self, home):
        self.home = home

    def environment(self):
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "SYSTEMROOT")}
        return {**kept, "HOME": str(self.home), "XDG_CACHE_HOME": str(self.home / "cache")}

    def start(self):
        return Server(self.command(), self.environment(), self.home)

    def fill(self, server):
        """Stores the notes, where the server does not read the files themselves."""

    def query(self, keywords):
        """Returns the query with which the server finds most of what has these words."""
        return " ".join(keywords)


class Saddlebag(Memory):
    name = "Saddlebag"

    def __init__(self, home, program):
        super().__init__(home)
        self.program = program
        shutil.copytree(NOTES, home / "notes")

    def command(self):
        return [str(self.program), "--notebook", "--root", str(self.home / "notes"), "mcp"]

    def ask(self, server, question):
        text = server.call("notebook_recall", query=question, limit=HITS)
        return named_in_order(text)

    def installed(self):
        return self.program.stat().st_size


class BasicMemory(Memory):
    name = "basic-memory"

    def __init__(self, home, folder):
        super().__init__(home)
        self.folder = folder
        shutil.copytree(NOTES, home / "basic-memory")

    def command(self):
        return [str(self.folder / "bin/basic-memory"), "mcp"]

    def fill(self, server):
        # The server reads the files in the background. The collection is known when a late note is found.
        for _ in range(120):
            if "permalink" in server.call("search_notes", query="Redis", project="main"):
                time.sleep(10)
                return
            time.sleep(1)
        raise SystemExit("basic-memory did not index the notes within two minutes")

    def query(self, keywords):
        return " OR ".join(f'"{word}"' for word in keywords)

    def ask(self, server, question):
        return named_in_order(server.call("search_notes", query=question, project="main", page_size=HITS))

    def installed(self):
        return size(self.folder)


class ServerMemory(Memory):
    name = "server-memory"

    def __init__(self, home, folder):
        super().__init__(home)
        self.folder = folder

    def environment(self):
        return {**super().environment(), "MEMORY_FILE_PATH": str(self.home / "memory.jsonl")}

    def command(self):
        return ["node", str(self.folder / "node_modules/@modelcontextprotocol/server-memory/dist/index.js")]

    def fill(self, server):
        entities = []
        for path in sorted(NOTES.rglob("*.md")):
            lines = [line for line in path.read_text().splitlines() if line.strip()]
            entities.append({"name": str(path.relative_to(NOTES)), "entityType": "note", "observations": lines})
        server.call("create_entities", entities=entities)

    def query(self, keywords):
        # The search is for one piece of text.
        return max(keywords, key=len)

    def ask(self, server, question):
        return named_in_order(server.call("search_nodes", query=question))

    def installed(self):
        return size(self.folder)


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


KNOWN = sorted((str(path.relative_to(NOTES)) for path in NOTES.rglob("*.md")), key=len, reverse=True)


def named_in_order(answer):
    """Returns the notes that an answer names by their paths, in order, each once."""
    places = {}
    for note in KNOWN:
        found = [place for place in (answer.find(note), answer.find(note.removesuffix(".md") + '"')) if place >= 0]
        if found:
            places[note] = min(found)
    return sorted(places, key=places.get)


def keywords(question):
    words = [word.strip("?!.,;:()\"'") for word in question.split()]
    return [word for word in words if word and word.lower() not in STOP_WORDS] or words


def measure(memory, questions, count_tokens):
    server = memory.start()
    tools = server.request("tools/list", {})["tools"]
    sent = [{"name": tool["name"], "description": tool.get("description", ""), "input_schema": tool["inputSchema"]}
            for tool in tools]
    memory.fill(server)
    first, among_five, by_keywords, times = 0, 0, 0, []
    for question in questions:
        begin = time.perf_counter()
        found = memory.ask(server, question["text"])
        times.append(time.perf_counter() - begin)
        first += bool(found) and found[0] in question["relevant"]
        among_five += any(note in question["relevant"] for note in found[:HITS])
    for question in questions:
        found = memory.ask(server, memory.query(keywords(question["text"])))
        by_keywords += bool(found) and found[0] in question["relevant"]
    server.stop()
    starts = []
    for _ in range(STARTS):
        server = memory.start()
        memory.ask(server, questions[0]["text"])
        starts.append(time.perf_counter() - server.started)
        server.stop()
    return {
        "memory": memory.name,
        "tools": len(tools),
        "tokens": count_tokens(json.dumps(sent, ensure_ascii=False, separators=(",", ":"))),
        "first": first / len(questions),
        "among_five": among_five / len(questions),
        "by_keywords": by_keywords / len(questions),
        "milliseconds": statistics.median(times) * 1000,
        "start": statistics.median(starts) * 1000,
        "megabytes": memory.installed() / 1e6,
    }


def main():
    program, count, basic_memory, server_memory = (pathlib.Path(word).resolve() for word in sys.argv[1:5])
    scratch = ROOT / "target/compare/homes"
    shutil.rmtree(scratch, ignore_errors=True)

    def home(name):
        folder = scratch / name
        folder.mkdir(parents=True)
        return folder

    def count_tokens(text):
        return int(subprocess.run([str(count)], input=text, capture_output=True, text=True, check=True).stdout)

    questions = tomllib.loads((ROOT / "tests/retrieval/questions.toml").read_text())["question"]
    memories = [
        Saddlebag(home("saddlebag"), program),
        BasicMemory(home("basic-memory"), basic_memory),
        ServerMemory(home("server-memory"), server_memory),
    ]
    print("| | Tools, tokens | Right note first | Among the first five | First, by keywords | One question | Start to first answer | Installed |")
    print("|---|---|---|---|---|---|---|---|")
    for memory in memories:
        row = measure(memory, questions, count_tokens)
        print(
            f"| {row['memory']} | {row['tools']}, {row['tokens']:,} | {row['first']:.0%} | {row['among_five']:.0%} | {row['by_keywords']:.0%} "
            f"| {row['milliseconds']:.1f} ms | {row['start']:.0f} ms | {row['megabytes']:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
