"""Asks Saddlebag and two other memories the same questions, each through its own MCP server.

    cargo xtask bench compare

Each server gets the notes of `tests/retrieval/notes` in an empty home folder, and each question in one call of its search
tool: once as it is written, and once as keywords, in the form that this server finds most with. An answer is right if the
first note that it names is one that answers the question. Two sets are asked: the questions beside this script, on which
nothing was tuned, and those of `tests/retrieval/`, on which Saddlebag's ranking was tuned.

Then each server appends 20 facts at once to one place, and four servers of each memory do it to one store: how many are
acknowledged, and how many of these are there afterwards?
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
WRITES = 20
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

    def call_at_once(self, tool, all_arguments):
        """Sends all calls before it reads an answer. Returns for each whether it succeeded."""
        numbers = []
        for arguments in all_arguments:
            self.number += 1
            numbers.append(self.number)
            self.send({"jsonrpc": "2.0", "id": self.number, "method": "tools/call",
                       "params": {"name": tool, "arguments": arguments}})
        return numbers

    def succeeded(self, numbers):
        done = {}
        for line in self.process.stdout:
            message = json.loads(line) if line.startswith("{") else {}
            if message.get("id") in numbers:
                done[message["id"]] = "error" not in message and not message["result"].get("isError")
            if len(done) == len(numbers):
                break
        return [done.get(number, False) for number in numbers]

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

    def prepare_writes(self, server):
        """Makes the place that facts are added to, if the first write does not."""

    def fill(self, server):
        """Stores the notes, where the server does not read the files themselves."""

    def write(self, fact):
        """Returns the tool and the arguments that add a fact to one place."""
        raise NotImplementedError

    def text(self):
        """Returns all that the memory has on disk."""
        return "".join(path.read_text(errors="replace") for path in sorted(self.home.rglob("*"))
                       if path.is_file() and path.suffix in (".md", ".jsonl"))

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
        text = server.call("mem_recall", query=question, limit=HITS)
        return named_in_order(text)

    def write(self, fact):
        return "mem_remember", {"to": "long_term", "content": fact}

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
        return named_in_order(server.call(
            "search_notes", query=question, project="main", page_size=HITS, search_type="text"))

    def write(self, fact):
        return "edit_note", {
            "identifier": "written-at-once", "operation": "append", "content": f"\n{fact}\n", "project": "main"}

    def prepare_writes(self, server):
        server.call("write_note", title="Written at once", content="Facts", directory="", project="main", overwrite=True)

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

    def write(self, fact):
        return "create_entities", {"entities": [{"name": fact, "entityType": "fact", "observations": [fact]}]}

    def installed(self):
        return size(self.folder)


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


KNOWN = sorted((str(path.relative_to(NOTES)) for path in NOTES.rglob("*.md")), key=len, reverse=True)


def named_in_order(answer):
    """Returns the notes that an answer names by their paths, in order, each once."""
    places = {}
    for note in KNOWN:
        name = note.removesuffix(".md")
        found = [place for place in (answer.find(note), answer.find(name + '"'), answer.find(name + "\n")) if place >= 0]
        if found:
            places[note] = min(found)
    return sorted(places, key=places.get)


def keywords(question):
    words = [word.strip("?!.,;:()\"'") for word in question.split()]
    return [word for word in words if word and word.lower() not in STOP_WORDS] or words


def share_right(memory, server, questions, ask):
    """Returns the share of questions whose first note is right, and of those with a right one among the first five."""
    first, among_five = 0, 0
    for question in questions:
        found = memory.ask(server, ask(question["text"]))
        first += bool(found) and found[0] in question["relevant"]
        among_five += any(note in question["relevant"] for note in found[:HITS])
    return first / len(questions), among_five / len(questions)


def written_at_once(memory, servers):
    """Lets servers add facts at the same time. Returns the numbers of facts that were acknowledged, and kept of these."""
    running = [memory.start() for _ in range(servers)]
    memory.prepare_writes(running[0])
    facts = [[f"fact-{servers}-{number}-{write}." for write in range(WRITES)] for number in range(servers)]
    sent = []
    for server, own in zip(running, facts):
        calls = [memory.write(fact) for fact in own]
        sent.append(server.call_at_once(calls[0][0], [arguments for _, arguments in calls]))
    answers = [server.succeeded(numbers) for server, numbers in zip(running, sent)]
    for server in running:
        server.stop()
    text = memory.text()
    acknowledged = [fact for own, done in zip(facts, answers) for fact, is_done in zip(own, done) if is_done]
    return len(acknowledged), sum(fact in text for fact in acknowledged)


def measure(memory, untuned, questions, count_tokens):
    server = memory.start()
    tools = server.request("tools/list", {})["tools"]
    sent = [{"name": tool["name"], "description": tool.get("description", ""), "input_schema": tool["inputSchema"]}
            for tool in tools]
    memory.fill(server)
    times = []
    for question in untuned:
        begin = time.perf_counter()
        memory.ask(server, question["text"])
        times.append(time.perf_counter() - begin)

    def in_keywords(text):
        return memory.query(keywords(text))

    first, among_five = share_right(memory, server, untuned, str)
    by_keywords, _ = share_right(memory, server, untuned, in_keywords)
    tuned, _ = share_right(memory, server, questions, str)
    tuned_by_keywords, _ = share_right(memory, server, questions, in_keywords)
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
        "first": first,
        "among_five": among_five,
        "by_keywords": by_keywords,
        "tuned": tuned,
        "tuned_by_keywords": tuned_by_keywords,
        "writes": [written_at_once(memory, servers) for servers in (1, 4)],
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
        return int(subprocess.run([str(count), "count-tokens"], input=text, capture_output=True, text=True, check=True).stdout)

    untuned = tomllib.loads((pathlib.Path(__file__).parent / "questions.toml").read_text())["question"]
    questions = tomllib.loads((ROOT / "tests/retrieval/questions.toml").read_text())["question"]
    memories = [
        Saddlebag(home("saddlebag"), program),
        BasicMemory(home("basic-memory"), basic_memory),
        ServerMemory(home("server-memory"), server_memory),
    ]
    print(f"{len(untuned)} questions on which nothing was tuned; {len(questions)} on which Saddlebag was tuned\n")
    print("| | Tools, tokens | Right note first | Among the first five | First, by keywords | Tuned: first / by keywords "
          "| One question | Start to first answer | Installed | Kept of 20 writes at once | Kept of 4 × 20 |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for memory in memories:
        row = measure(memory, untuned, questions, count_tokens)
        kept = " | ".join(f"{kept} of {acknowledged} acknowledged" for acknowledged, kept in row["writes"])
        print(
            f"| {row['memory']} | {row['tools']}, {row['tokens']:,} | {row['first']:.0%} | {row['among_five']:.0%} | {row['by_keywords']:.0%} "
            f"| {row['tuned']:.0%} / {row['tuned_by_keywords']:.0%} | {row['milliseconds']:.1f} ms | {row['start']:.0f} ms "
            f"| {row['megabytes']:.0f} MB | {kept} |", flush=True)


if __name__ == "__main__":
    main()
