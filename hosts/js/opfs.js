/**
 * A store in the Origin Private File System of a browser. Pages and workers of one origin share it: changes hold one
 * lock of the Web Locks API, which the browser releases when a page ends.
 */

import { Refused, split } from './executor.js';
import { OwnStore, counts } from './own_store.js';

/** Files of the host, which no path of the component names. */
const OWN = '.saddlebag/locks-3';
const STAGED = `${OWN}/staged`, OLD = `${OWN}/old`, KEEPING = `${OWN}/keeping`, TOKEN = `${OWN}/token`;
/** A file that was changed longer ago than this, when it was read, has the bytes that its size and time say. */
const SETTLED = 2_000;
const ATTEMPTS = 8;
const ERRORS = {
  NotAllowedError: 'denied', SecurityError: 'denied', QuotaExceededError: 'no-space', TypeMismatchError: 'not-directory',
  AbortError: 'cancelled', TimeoutError: 'timed-out',
};

export class OpfsStore extends OwnStore {
  #root;
  #name;
  /** Versions by path, with size and time of the file. */
  #versions = new Map();

  constructor(root, name) {
    super();
    this.#root = root;
    this.#name = name;
  }

  /**
   * Opens a store, and makes it if it is new.
   * @param {string} name of a folder at the top of the Origin Private File System
   */
  static async open(name) {
    if (!globalThis.navigator?.storage?.getDirectory || !navigator.locks)
      throw new Error('this page has no Origin Private File System: it needs a secure context (https, or localhost) and a browser that has it');
    try {
      const top = await navigator.storage.getDirectory();
      return new OpfsStore(await top.getDirectoryHandle(name, { create: true }), name);
    } catch (error) {
      throw new Error(`the browser does not give this page its storage (${error.name}: ${error.message}); private windows and blocked site data are usual reasons`, { cause: error });
    }
  }

  errorOf(error) {
    if (error.name === 'NoModificationAllowedError') return { tag: 'locked', val: 'another page of this origin has the file open' };
    return Object.hasOwn(ERRORS, error.name) ? { tag: ERRORS[error.name] } : super.errorOf(error);
  }

  /** A token that each change replaces before it is made; while one is made, there is none. */
  async generation() {
    const token = await navigator.locks.request(this.#lock, { ifAvailable: true, mode: 'shared' }, lock => lock && this.#text(TOKEN));
    if (!token) throw new Refused('locked', 'another page changes the store, or nobody has changed it yet');
    return token;
  }

  exclusive(path, work) {
    return navigator.locks.request(this.#lock, async () => {
      await this.#checkRoot();
      await this.#finishKeeping();
      if (counts(path)) await this.put(TOKEN, new TextEncoder().encode(crypto.randomUUID()));
      return work();
    });
  }

  async find(path) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#find(path);
      } catch (error) {
        // Another page has replaced the file since it was found.
        if (error.name !== 'NotReadableError' || attempt === ATTEMPTS) throw error;
      }
    }
  }

  async #find(path) {
    const [above, name] = split(path);
    const folder = await this.#folder(above), handle = folder && (await entryOf(folder, name));
    if (!handle) {
      if (!folder || folder === this.#root) await this.#checkRoot();
      return undefined;
    }
    if (handle.kind === 'directory') return handle;
    const file = await handle.getFile(), key = `${file.size} ${file.lastModified}`;
    let content;
    const bytes = async () => (content ??= new Uint8Array(await file.arrayBuffer()));
    if (this.#versions.get(path)?.key !== key) {
      const isSettled = file.lastModified < Date.now() - SETTLED;
      const version = await this.sha256(await bytes());
      if (isSettled) this.#versions.set(path, { key, version });
      else this.#versions.delete(path);
      return found(file, version, bytes);
    }
    return found(file, this.#versions.get(path).version, bytes);
  }

  /** Readers see the old file until the new one, which is whole, takes its place. */
  async put(path, bytes) {
    const staged = await (await this.make(OWN)).getFileHandle(split(STAGED)[1], { create: true });
    const writable = await staged.createWritable();
    await writable.write(bytes);
    await writable.close();
    await this.#moveTo(staged, path);
    return this.sha256(bytes);
  }

  /** A page can end between any two steps: the next change finishes what the record says. */
  async putKeeping(path, bytes, old, keepAs) {
    await this.put(OLD, await old.bytes());
    await this.put(KEEPING, new TextEncoder().encode(JSON.stringify({ path, keepAs, version: old.version })));
    const version = await this.put(path, bytes);
    await this.#finishKeeping();
    return version;
  }

  async move(path, to) {
    const [above, name] = split(path);
    await this.#moveTo(await (await this.#folder(above)).getFileHandle(name), to);
  }

  async delete(path) {
    const [above, name] = split(path);
    await (await this.#folder(above)).removeEntry(name);
  }

  async make(path) {
    let folder = this.#root;
    for (const name of path?.split('/') ?? []) folder = await folder.getDirectoryHandle(name, { create: true });
    return folder;
  }

  async children(path) {
    const folder = await this.#folder(path), found = [];
    if (folder === this.#root) await this.#checkRoot();
    for await (const [name, { kind }] of folder.entries()) found.push({ name, kind });
    return found;
  }

  get #lock() {
    return `saddlebag ${this.#name}`;
  }

  /** The folder; `undefined` where there is none. */
  async #folder(path) {
    let folder = this.#root;
    for (const name of path?.split('/') ?? []) {
      try {
        folder = await folder.getDirectoryHandle(name);
      } catch (error) {
        if (error.name === 'NotFoundError') return undefined;
        throw error;
      }
    }
    return folder;
  }

  /** A browser may evict the storage of an origin at any time: then nothing may look like an empty store. */
  async #checkRoot() {
    try {
      await this.#root.keys().next();
    } catch (error) {
      if (error.name !== 'NotFoundError') throw error;
      throw new Refused('other', 'the browser has removed the storage of this origin, or the page its store; open it again, as an empty store');
    }
  }

  async #moveTo(handle, path) {
    const [above, name] = split(path);
    await handle.move(await this.make(above), name);
    this.#versions.delete(path);
  }

  async #finishKeeping() {
    const record = await this.#text(KEEPING);
    if (record === undefined) return;
    const { path, keepAs, version } = JSON.parse(record);
    if (await this.find(OLD)) {
      const isChanged = (await this.find(path))?.version !== version;
      await (isChanged ? this.move(OLD, keepAs) : this.delete(OLD));
    }
    await this.delete(KEEPING);
  }

  async #text(path) {
    const file = await this.find(path);
    return file && new TextDecoder().decode(await file.bytes());
  }
}

const found = (file, version, bytes) => ({
  kind: 'file', size: BigInt(file.size), version, modified: BigInt(file.lastModified) * 1_000_000n, bytes,
});

/** The handle of a name; `undefined` where there is nothing. */
async function entryOf(folder, name) {
  try {
    return await folder.getFileHandle(name);
  } catch (error) {
    if (error.name === 'TypeMismatchError') return folder.getDirectoryHandle(name);
    if (error.name === 'NotFoundError') return undefined;
    throw error;
  }
}
