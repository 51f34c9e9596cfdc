/**
 * A store in the Origin Private File System of a browser. Pages and workers of one origin share it: changes hold one
 * lock of the Web Locks API, which the browser releases when a page ends.
 */

import { Refused, split } from './executor.js';
import { OwnStore, counts } from './own_store.js';

/** Folder of the host, whose files no path of the component names: the new file, the old one, a record, and the token. */
const OWN = '.saddlebag/locks-3';
const STAGED = 'staged', OLD = 'old', KEEPING = 'keeping', TOKEN = 'token';
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
  /** The folder of the host, while a change is made. */
  #own;
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
      throw new Error('this page has no Origin Private File System: it needs a secure context (https or localhost)');
    try {
      const top = await navigator.storage.getDirectory();
      const store = new OpfsStore(await top.getDirectoryHandle(name, { create: true }), name);
      await store.#begin();
      return store;
    } catch (error) {
      const usual = 'private windows and blocked site data are usual reasons';
      throw new Error(`the browser does not give this page its storage (${error.message}); ${usual}`, { cause: error });
    }
  }

  errorOf(error) {
    if (error.name === 'NoModificationAllowedError') return { tag: 'locked', val: 'another page has the file open' };
    return Object.hasOwn(ERRORS, error.name) ? { tag: ERRORS[error.name] } : super.errorOf(error);
  }

  /** A token that each change replaces before it is made; while one is made, there is none. */
  async generation() {
    const read = async lock => lock && textOf(await this.#folder(OWN), TOKEN);
    const token = await navigator.locks.request(this.#lock, { ifAvailable: true, mode: 'shared' }, read);
    if (!token) throw new Refused('locked', 'another page changes the store');
    return token;
  }

  /** A new store has a token, too. */
  #begin() {
    return navigator.locks.request(this.#lock, async () => {
      const own = await this.make(OWN);
      if (!(await textOf(own, TOKEN))) await fill(own, TOKEN, crypto.randomUUID());
    });
  }

  exclusive(path, work) {
    return navigator.locks.request(this.#lock, async () => {
      await this.#checkRoot();
      this.#own = await this.make(OWN);
      await this.#finishKeeping();
      if (counts(path)) await fill(this.#own, TOKEN, crypto.randomUUID());
      return work();
    });
  }

  async find(path) {
    const [above, name] = split(path);
    const folder = await this.#folder(above), handle = folder && (await entryOf(folder, name));
    if (handle) return this.#look(path, handle);
    if (!folder || folder === this.#root) await this.#checkRoot();
    return undefined;
  }

  /** The file of a handle at one moment; `undefined` if it is gone. */
  async #look(path, handle) {
    for (let attempt = 1; handle.kind === 'file'; attempt++) {
      try {
        const file = await handle.getFile(), key = `${file.size} ${file.lastModified}`;
        let content;
        const bytes = async () => (content ??= new Uint8Array(await file.arrayBuffer()));
        const known = this.#versions.get(path), isSettled = file.lastModified < Date.now() - SETTLED;
        const version = known?.key === key ? known.version : await this.sha256(await bytes());
        if (isSettled) this.#versions.set(path, { key, version });
        return { kind: 'file', size: BigInt(file.size), version, modified: BigInt(file.lastModified) * 1_000_000n, bytes };
      } catch (error) {
        if (error.name === 'NotFoundError') return undefined;
        // Another page has replaced the file since it was found.
        if (error.name !== 'NotReadableError' || attempt === ATTEMPTS) throw error;
      }
    }
    return handle;
  }

  /** Readers see the old file until the new one, which is whole, takes its place. */
  async put(path, bytes) {
    await this.#moveTo(await fill(this.#own, STAGED, bytes), path);
    return this.sha256(bytes);
  }

  /** A page can end between any two steps: the next change finishes what the record says. */
  async putKeeping(path, bytes, old, keepAs) {
    await fill(this.#own, OLD, await old.bytes());
    await fill(this.#own, KEEPING, JSON.stringify({ path, keepAs, version: old.version }));
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
    const prefix = path === undefined ? '' : `${path}/`;
    for await (const [name, handle] of folder.entries())
      found.push({ name, kind: handle.kind, find: () => this.#look(prefix + name, handle) });
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
      throw new Refused('other', 'the browser has removed the storage of this origin, or a page this store; open it again');
    }
  }

  async #moveTo(handle, path) {
    const [above, name] = split(path);
    await handle.move(await this.make(above), name);
    this.#versions.delete(path);
  }

  async #finishKeeping() {
    const record = await textOf(this.#own, KEEPING);
    if (!record) return;
    const { path, keepAs, version } = JSON.parse(record), old = await entryOf(this.#own, OLD);
    if (old && (await this.find(path))?.version !== version) await this.#moveTo(old, keepAs);
    await this.#own.removeEntry(KEEPING);
  }
}

/** Replaces the content of a file in one step. */
async function fill(folder, name, content) {
  const handle = await folder.getFileHandle(name, { create: true }), writable = await handle.createWritable();
  await writable.write(content);
  await writable.close();
  return handle;
}

async function textOf(folder, name) {
  const handle = folder && (await entryOf(folder, name));
  return handle && (await handle.getFile()).text();
}

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
