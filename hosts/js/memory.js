/**
 * The loop: gives commands to the component, has a store perform what it requests, and returns the replies.
 *
 * A store has `perform(op, request)`, which returns the `result<outcome, fs-error>` or a promise of it, and
 * `versionScheme`.
 */

import { typed } from './json.js';

export const PACKAGE = 'saddlebag:memory', VERSION = '0.3.0-dev';

/** The command ended in an error. `code` is its kind; `changed`: it may have changed a file before. */
export class Failed extends Error {
  constructor({ code, message, help }, changed) {
    super(`${message}${help && `; ${help}`}`);
    Object.assign(this, { code, changed });
  }
}

/** Handles in instances that have trapped. Collecting one would call its instance, which would trap again, outside of any call. */
const TRAPPED = [];

/** The instance has trapped, or the memory was closed. The files are whole: open another memory. */
export class Gone extends Error {}

/** The component, compiled once for any number of memories. */
export class Component {
  #instantiate;
  #base;
  #modules = new Map();

  constructor(instantiate, base) {
    this.#instantiate = instantiate;
    this.#base = base;
  }

  /**
   * Loads what `jco transpile --instantiation async` has made.
   * @param {string | URL} url of its JavaScript
   */
  static async load(url) {
    const { instantiate } = await import(url);
    return new Component(instantiate, url);
  }

  /** A new instance. Refuses a component with imports, and one of another version. */
  async instance() {
    const imports = new Proxy({}, {
      get(_, name) {
        throw new Error(`the component imports ${String(name)}; a component of ${PACKAGE} imports nothing`);
      },
    });
    const exports = await withPromising(() => this.#instantiate(name => this.#module(name), imports));
    const names = Object.keys(exports).filter(name => name.startsWith(`${PACKAGE}/`));
    const versions = Array.from(new Set(names.map(name => name.slice(name.indexOf('@') + 1))));
    if (versions.length !== 1 || versions[0] !== VERSION)
      throw new Error(`the component has version ${versions.join() || 'none'} of ${PACKAGE}, and this host needs ${VERSION}`);
    return exports.json ? typed(exports.json) : exports;
  }

  #module(name) {
    if (!this.#modules.has(name)) this.#modules.set(name, compile(new URL(name, this.#base)));
    return this.#modules.get(name);
  }
}

/**
 * Calls `work` where `WebAssembly.promising` exists. Without it, jco uses each function as it is, but only after an error; for
 * the message of the error V8 reads the whole code again, which takes 100 ms in all.
 */
async function withPromising(work) {
  if (WebAssembly.promising) return work();
  WebAssembly.promising = exported => exported;
  try {
    return await work();
  } finally {
    delete WebAssembly.promising;
  }
}

async function compile(url) {
  // `fetch` of Node.js reads no files.
  if (url.protocol !== 'file:') return WebAssembly.compileStreaming(fetch(url));
  const { readFile } = await import('node:fs/promises');
  return WebAssembly.compile(await readFile(url));
}

/** One scope of one store. */
export class Memory {
  /** The interfaces of the component. */
  component;
  #store;
  #memory;
  #last = 0n;
  /** The commands in flight: how to end their promises. */
  #running = new Map();
  #gone;

  constructor(component, store, memory) {
    this.component = component;
    this.#store = store;
    this.#memory = memory;
  }

  /**
   * Opens a memory in an instance of its own.
   * @param {Component} component
   * @param {import('./executor.js').Executor} store
   * @param {object} config what differs from `engine.default-config`
   */
  static async open(component, store, config = {}) {
    const instance = await component.instance();
    const { engine } = instance;
    const defaults = engine.defaultConfig(config.epoch ?? newEpoch());
    const wanted = { ...defaults, versionScheme: store.versionScheme, ...config };
    return new Memory(instance, store, explained(() => engine.Memory.open(wanted)));
  }

  /**
   * Runs a command of an interface, and returns its reply.
   * @param {string} family such as `journal`
   * @param {string} command such as `write`
   * @param {object} [argument]
   * @param {{now?: object, origin?: object, take?: string}} [given] `take`: the function that gives the reply
   */
  async run(family, command, argument, { take = 'take', ...given } = {}) {
    const start = (id, now, origin) =>
      this.#memory.submit(id, now, origin, this.component[family].prepare({ tag: command, val: argument }));
    const { id } = await this.#start(start, given);
    return this.#call(() => this.component[family][take](this.#memory, id)).val;
  }

  /**
   * Runs a tool for a model.
   * @param {string} name
   * @param {object} input the arguments of the tool
   * @param {{now?: object, origin?: object, options?: {sets: string[], dialect: 'docs' | 'sdk'}}} [given]
   * @returns {Promise<{text: string, structured?: object, isError: boolean, changed: boolean}>}
   */
  async callTool(name, input, { options, ...given } = {}) {
    const start = (id, now, origin) =>
      this.component.tools.call(this.#memory, id, now, origin, name, JSON.stringify(input), options);
    const { answer, changed } = await this.#start(start, given);
    return { ...answer, structured: answer.structured && JSON.parse(answer.structured), changed };
  }

  /** Ends the memory. Commands in flight fail, and later results of the store are ignored. */
  close() {
    if (this.#gone) return;
    this.#end(new Gone('the memory was closed'));
    this.#memory[Symbol.dispose ?? Symbol.for('dispose')]();
  }

  #start(start, { now = timestamp(), origin = {} }) {
    return new Promise((resolve, reject) => {
      const id = this.#last + 1n;
      const step = this.#call(() => start(id, now, origin));
      this.#last = id;
      this.#running.set(id, { resolve, reject });
      this.#advance(step);
    });
  }

  /** Ends what has finished, and starts what is requested. */
  #advance({ requests, finished }) {
    for (const ended of finished) {
      const { resolve, reject } = this.#running.get(ended.id);
      this.#running.delete(ended.id);
      if (ended.error) reject(new Failed(ended.error, ended.changed));
      else resolve(ended);
    }
    for (const request of requests) this.#perform(request).catch(error => this.#end(error));
  }

  async #perform(request) {
    const { key, op } = request;
    const outcome = await Promise.resolve(request).then(request => this.#store.perform(op, request))
      .catch(error => ({ tag: 'err', val: { tag: 'other', val: `the store failed: ${error?.message ?? error}` } }));
    if (!this.#gone) this.#advance(this.#answer(key, outcome));
  }

  #answer(key, outcome) {
    try {
      return this.#call(() => this.#memory.handleMemoryResult({ key, outcome }));
    } catch (error) {
      // The request is still owed a result. jco has a `TypeError` for what is no value of the contract at all.
      const isWrong = error.cause?.tag === 'invalid-result';
      const reason = isWrong ? error.cause.val.reason : error instanceof TypeError && error.message;
      if (!reason) throw error;
      const val = `the store gave a result that does not fit, so it may have made the change: ${reason}`;
      return this.#call(() => this.#memory.handleMemoryResult({ key, outcome: { tag: 'err', val: { tag: 'other', val } } }));
    }
  }

  /** Calls the component. A trap ends the instance. */
  #call(work) {
    if (this.#gone) throw this.#gone;
    try {
      return explained(work);
    } catch (error) {
      if (!error.cause && !(error instanceof TypeError)) {
        this.#end(new Gone(`the component has trapped (${error.message}); open the memory again`));
        TRAPPED.push(this.#memory);
      }
      throw this.#gone ?? error;
    }
  }

  #end(gone) {
    this.#gone = gone;
    for (const { reject } of this.#running.values()) reject(gone);
    this.#running.clear();
  }
}

/** Calls the component; the error of a `result`, which jco throws without a message, becomes one with its `cause`. */
function explained(work) {
  try {
    return work();
  } catch (error) {
    if (error.payload === undefined) throw error;
    const text = JSON.stringify(error.payload, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
    throw new Error(`the component refused the call: ${text}`, { cause: error.payload });
  }
}

/** The time of the system, in its time zone. */
function timestamp() {
  const now = new Date(), milliseconds = now.getTime();
  const seconds = Math.floor(milliseconds / 1000), nanoseconds = (milliseconds - seconds * 1000) * 1e6;
  return { seconds: BigInt(seconds), nanoseconds, utcOffsetSeconds: -now.getTimezoneOffset() * 60 };
}

const newEpoch = () => crypto.getRandomValues(new BigUint64Array(1))[0] >> 1n;
