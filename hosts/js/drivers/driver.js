/** A driver of the conformance kit: answers its requests for one kind of store. */

import { Memory, PACKAGE, VERSION } from '../memory.js';
import { Op, Request, Result, Timestamp } from '../values.js';

export class Driver {
  #component;
  #openStore;
  #hello;
  #store;
  #memory;
  #requests = [];

  /**
   * @param {import('../memory.js').Component} component
   * @param {(name: string) => Promise<import('../executor.js').Executor>} openStore
   * @param {object} hello what the kit must know about the store
   */
  constructor(component, openStore, hello) {
    this.#component = component;
    this.#openStore = openStore;
    this.#hello = { protocol: 1, package: `${PACKAGE}@${VERSION}`, links: false, folder: false, folders: true, ...hello };
  }

  /** @param {string} line @returns {Promise<string>} */
  async answer(line) {
    const [[what, given]] = Object.entries(JSON.parse(line));
    try {
      if (what === 'hello') return JSON.stringify({ hello: this.#hello });
      if (!['open', 'call', 'perform'].includes(what)) throw new Error(`\`${what}\` is not a request`);
      return JSON.stringify(await this[what](given));
    } catch (error) {
      return JSON.stringify({ err: error.message });
    }
  }

  async open({ store, epoch, project, agent }) {
    this.#memory?.close();
    this.#store?.close?.();
    const opened = (this.#store = await this.#openStore(store));
    const watched = {
      versionScheme: opened.versionScheme,
      perform: (op, request) => {
        this.#requests.push(Request.write(request));
        return opened.perform(op);
      },
    };
    const entries = agent ? { agent } : undefined;
    const config = { epoch: BigInt(epoch), project: project ?? undefined, entries };
    this.#memory = await Memory.open(this.#component, watched, config);
    return { ok: null };
  }

  async call({ now, tool, input }) {
    this.#requests = [];
    const called = await this.#memory.callTool(tool, input, { now: Timestamp.read(now) });
    const { text, structured = null, isError, changed } = called;
    return { ok: { answer: { text, structured, 'is-error': isError }, changed, requests: this.#requests } };
  }

  async perform(op) {
    return Result.write(await this.#store.perform(Op.read(op)));
  }
}
