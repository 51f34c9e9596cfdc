// The component in Node.js, without a disk: times of its calls, and what the first recall of a notebook costs.
//
//     jco transpile saddlebag.wasm -o FOLDER --name saddlebag --instantiation async --valid-lifting-optimization
//     node --no-liftoff benches/node/calls.mjs FOLDER [--notes 10000]
//
// Without `--notes` it prints the least and the median time of each call in microseconds. The component must have the notebook.
// With `--notes` it prints the sizes of the index file and of the linear memory after the first recall of new engines: without an
// index file, with it, and with a host of a second version scheme.

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, ...options] = process.argv.slice(2);
const { instantiate } = await import(pathToFileURL(resolve(folder, "saddlebag.js")));
const modules = new Map();

function compiled(name) {
  if (!modules.has(name)) modules.set(name, new WebAssembly.Module(readFileSync(join(folder, name))));
  return modules.get(name);
}

/** Instantiates the component. Returns its interfaces, and a function that returns the size of its memory. */
async function instance() {
  const memories = [];
  const root = await instantiate(compiled, {}, (module, imports) => {
    const made = new WebAssembly.Instance(module, imports);
    memories.push(...Object.values(made.exports).filter((one) => one instanceof WebAssembly.Memory));
    return made;
  });
  return { root, bytes: () => Math.max(...memories.map((memory) => memory.buffer.byteLength)) };
}

/** Files in memory. `scheme` is the beginning of every version. */
class Store {
  constructor(files, scheme = "a") {
    Object.assign(this, { files: new Map(files), scheme, pages: new Map(), versions: 0 });
  }

  /** Returns the version of a file. Bytes that are written get a new one. */
  version(path) {
    return `${this.scheme}-${path.length}-${this.files.get(path).length}-${this.changed?.get(path) ?? 0}`;
  }

  perform({ tag, val }) {
    return { tag, val: this[tag](val) };
  }

  read({ path, offset, maxBytes }) {
    const bytes = this.files.get(path);
    if (bytes === undefined) return { tag: "absent" };
    const version = this.version(path);
    const start = Number(offset);
    return { tag: "content", val: { bytes: bytes.subarray(start, start + maxBytes), version, size: BigInt(bytes.length) } };
  }

  write({ path, content }) {
    this.files.set(path, content.slice());
    (this.changed ??= new Map()).set(path, ++this.versions);
    this.pages.clear();
    return { tag: "written", val: this.version(path) };
  }

  append({ path, content, newlineFirst }) {
    const parts = [this.files.get(path) ?? new Uint8Array(), new Uint8Array(newlineFirst ? [10] : []), content];
    return this.write({ path, content: Buffer.concat(parts) });
  }

  "list-directory"({ folder, after, limit }) {
    const found = this.entries(folder === undefined ? "" : `${folder}/`).filter((entry) => after === undefined || entry.path > after);
    const entries = found.slice(0, limit);
    const next = found.length > limit ? entries.at(-1).path : undefined;
    return { tag: "page", val: { entries, next, leftOut: { names: [], count: 0 }, version: undefined } };
  }

  entries(prefix) {
    if (!this.pages.has(prefix)) {
      const entries = new Map();
      for (const [path, bytes] of this.files) {
        if (!path.startsWith(prefix)) continue;
        const end = path.indexOf("/", prefix.length);
        const name = end < 0 ? path : path.slice(0, end);
        const file = { path, kind: "file", size: BigInt(bytes.length), version: this.version(path), modified: 1n };
        entries.set(name, end < 0 ? file : { path: name, kind: "directory", size: 0n, version: "", modified: 1n });
      }
      this.pages.set(prefix, [...entries.values()].sort((one, other) => (one.path < other.path ? -1 : 1)));
    }
    return this.pages.get(prefix);
  }
}

/** A host: gives commands, and performs what they ask for. */
class Host {
  constructor({ root, bytes }, store, changes = {}) {
    Object.assign(this, { root, bytes, store, last: 0n });
    const config = root.engine.defaultConfig(1n);
    this.memory = root.engine.Memory.open({ ...config, versionScheme: store.scheme, ...changes });
  }

  run(family, command) {
    const id = (this.last += 1n);
    const now = { seconds: 1_779_710_400n, nanoseconds: 0, utcOffsetSeconds: 0 };
    const { requests, finished } = this.memory.submit(id, now, {}, this.root[family].prepare(command));
    for (const { key, op } of requests) {
      const step = this.memory.handleMemoryResult({ key, outcome: { tag: "ok", val: this.store.perform(op) } });
      requests.push(...step.requests);
      finished.push(...step.finished);
    }
    for (const { error } of finished) {
      if (error !== undefined) throw new Error(`${error.code}: ${error.message}`);
    }
    return this.root[family].take(this.memory, id);
  }
}

const WORDS = "port postgres listen deploy redis cache token review branch merge plan test".split(" ");

/** Notes of about 2 KB with frontmatter, two tags and three links, the same ones each time. */
function notes(count) {
  const text = new TextEncoder();
  let seed = 42;
  const word = () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    const number = seed >> 8;
    return number % 5 === 0 ? WORDS[number % WORDS.length] : `w${(number % 97) * (number % 89)}`;
  };
  return Array.from({ length: count }, (_, i) => {
    const lines = Array.from({ length: 30 }, () => Array.from({ length: 12 }, word).join(" "));
    const links = [1, 2, 3].map((step) => `[[n${String((i + step) % count).padStart(6, "0")}]]`).join(" ");
    const note = `---\ntitle: Note ${i}\ntags: [${word()}, ${word()}]\n---\n\n# Note ${i}\n\n${lines.join("\n")}\n\n${links}\n`;
    return [`facts/n${String(i).padStart(6, "0")}.md`, text.encode(note)];
  });
}

const recall = (assumeUnchanged) => ({
  tag: "recall",
  val: { query: "which port does postgres listen on", offset: 0, sort: [], explain: false, limit: 10, assumeUnchanged },
});

function print(name, times) {
  times.sort((one, other) => one - other);
  console.log(`${name}: ${times[0].toFixed(1)}, ${times[times.length >> 1].toFixed(1)}`);
}

function timed(count, work) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const start = process.hrtime.bigint();
    work();
    times.push(Number(process.hrtime.bigint() - start) / 1000);
  }
  return times;
}

async function times() {
  const daily = new TextEncoder().encode(`# Today\n\n${"- a line of the log\n".repeat(150)}`);
  const store = new Store([...notes(600), ["MEMORY.md", daily], ["daily/2026-05-25.md", daily]]);
  const host = new Host(await instance(), store);
  const calls = {
    "read of 3 KB": ["journal", { tag: "read", val: { target: { tag: "long-term" }, offset: 0n } }],
    context: ["prompt", { tag: "context", val: { overflow: "balanced", form: "claude" } }],
    "recall, 600 notes, nothing listed": ["notebook", recall(true)],
    "search of a word, 600 notes, nothing listed": ["journal", { tag: "search", val: { query: "line", offset: 0, assumeUnchanged: true, allFiles: false } }],
  };
  host.run("notebook", recall(false));
  for (const [name, [family, command]] of Object.entries(calls)) {
    timed(100, () => host.run(family, command));
    print(name, timed(401, () => host.run(family, command)));
  }
}

async function firstRecalls(count) {
  const files = notes(count);
  let store = new Store(files);
  for (const [name, scheme] of [["no index file", "a"], ["one scheme", "a"], ["a second scheme", "b"], ["two schemes", "a"]]) {
    store = new Store(store.files, scheme);
    const host = new Host(await instance(), store, { indexFile: true });
    const start = process.hrtime.bigint();
    host.run("notebook", recall(false));
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    const index = [...store.files].filter(([path]) => path.startsWith(".saddlebag/index/"));
    const size = index.reduce((sum, [, bytes]) => sum + bytes.length, 0);
    console.log(`${name}: index file ${size}, linear memory ${host.bytes()}, ${seconds.toFixed(2)} s with the host`);
  }
}

const wanted = options.indexOf("--notes");
await (wanted < 0 ? times() : firstRecalls(Number(options[wanted + 1])));
