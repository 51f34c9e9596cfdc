/** A store in memory: for tests, and for pages without the Origin Private File System. It ends with its object. */

import { Refused, split } from './executor.js';
import { OwnStore, counts } from './own_store.js';

class Folder extends Map {
  kind = 'directory';
}

export class MapStore extends OwnStore {
  // Unlike the digest of the bytes, a count needs no secure context.
  versionScheme = 'map-count/1';
  #root = new Folder();
  /** All changes, and those that `generation` tells. */
  #changes = 0;
  #told = 0;
  #last = Promise.resolve();

  generation() {
    return `${this.#told}`;
  }

  exclusive(path, work) {
    this.#last = this.#last.catch(() => {}).then(async () => {
      try {
        return await work();
      } finally {
        this.#changes += 1;
        if (counts(path)) this.#told += 1;
      }
    });
    return this.#last;
  }

  find(path) {
    return path.split('/').reduce((folder, name) => {
      if (folder?.kind === 'file') throw new Refused('not-directory');
      return folder?.get(name);
    }, this.#root);
  }

  put(path, bytes) {
    const [folder, name] = this.#above(path);
    const version = `${(this.#changes += 1)}`, content = bytes.slice();
    const modified = BigInt(Date.now()) * 1_000_000n;
    folder.set(name, { kind: 'file', size: BigInt(bytes.length), version, modified, bytes: () => content });
    return version;
  }

  putKeeping(path, bytes, old, keepAs) {
    const [folder, name] = this.#above(keepAs);
    folder.set(name, old);
    return this.put(path, bytes);
  }

  move(path, to) {
    const [folder, name] = this.#above(to);
    folder.set(name, this.find(path));
    this.delete(path);
  }

  delete(path) {
    const [folder, name] = this.#above(path);
    folder.delete(name);
  }

  make(path) {
    return path.split('/').reduce((folder, name) => {
      const found = folder.get(name) ?? new Folder();
      if (found.kind === 'file') throw new Refused('not-directory');
      folder.set(name, found);
      return found;
    }, this.#root);
  }

  children(path) {
    const folder = path === undefined ? this.#root : this.find(path);
    return Array.from(folder, ([name, child]) => ({ name, kind: child.kind, find: () => child }));
  }

  /** Every change of the store makes a new one, which is often enough. */
  pageVersion() {
    return `${this.#changes}`;
  }

  #above(path) {
    const [above, name] = split(path);
    return [above === undefined ? this.#root : this.make(above), name];
  }
}
