/**
 * The operations on a store that nobody else changes, over a few primitives of the storage:
 *
 * - `exclusive(path, work)`: runs `work` while nobody else changes the store; `path` is what it is going to change
 * - `find(path)`: a folder as `{kind}`, a file as an `Entry` with `bytes()`, or `undefined`
 * - `put(path, bytes)`: writes a file and makes the folders above it; `putKeeping(path, bytes, old, keepAs)` keeps the old one
 * - `move(path, to)`: replaces a file at `to`; `delete(path)`: a file or an empty folder
 * - `make(path)`: a folder; `children(path)`: `[{name, kind, find}]`, of the root if `path` is `undefined`
 */

import { Executor, Refused, addition, concat, part, require } from './executor.js';

export class OwnStore extends Executor {
  async read({ path, offset, maxBytes }) {
    const file = await this.file(path);
    if (!file) return { tag: 'absent' };
    const bytes = maxBytes === 0 ? new Uint8Array() : part(await file.bytes(), offset, maxBytes);
    return { tag: 'content', val: { bytes, version: file.version, size: file.size } };
  }

  write({ path, content, precondition, keepAs }) {
    return this.exclusive(path, async () => {
      const old = await this.file(path);
      require(old?.version, precondition);
      if (!old || keepAs === undefined) return { tag: 'written', val: await this.put(path, content) };
      await this.file(keepAs);
      return { tag: 'written', val: await this.putKeeping(path, content, old, keepAs) };
    });
  }

  append({ path, content, newlineFirst, precondition }) {
    return this.exclusive(path, async () => {
      const old = await this.file(path);
      require(old?.version, precondition);
      const before = old ? await old.bytes() : new Uint8Array(), added = addition(before, content, newlineFirst);
      const isSame = old && added.length === 0;
      return { tag: 'written', val: isSame ? old.version : await this.put(path, concat(before, added)) };
    });
  }

  remove({ path, precondition, keepAs }) {
    return this.exclusive(path, async () => {
      const old = await this.file(path);
      if (!old) return { tag: 'done' };
      require(old.version, precondition);
      if (keepAs !== undefined) await this.file(keepAs);
      await (keepAs === undefined ? this.delete(path) : this.move(path, keepAs));
      return { tag: 'done' };
    });
  }

  rename({ path, to, precondition }) {
    return this.exclusive(path, async () => {
      const old = await this.file(path);
      if (!old) return { tag: 'absent' };
      require(old.version, precondition);
      if (await this.find(to)) return { tag: 'exists' };
      await this.move(path, to);
      return { tag: 'done' };
    });
  }

  makeDirectory({ path }) {
    return this.exclusive(path, async () => {
      if ((await this.find(path))?.kind === 'file') throw new Refused('not-directory');
      await this.make(path);
    });
  }

  removeDirectory({ path }) {
    return this.exclusive(path, async () => {
      const found = await this.find(path);
      if (!found) return 'absent';
      if (found.kind === 'file') throw new Refused('not-directory');
      if ((await this.children(path)).length > 0) return 'not-empty';
      await this.delete(path);
      return 'removed';
    });
  }

  async inFolder(folder, work) {
    const found = folder === undefined ? { kind: 'directory' } : await this.find(folder);
    if (found?.kind === 'file') throw new Refused('not-directory');
    const children = new Map((found ? await this.children(folder) : []).map(child => [child.name, child]));
    return work([...children.values()], async name => {
      const found = await children.get(name).find();
      if (found?.kind !== 'file') return found && { kind: 'directory', size: 0n, version: '', modified: 0n };
      return { kind: 'file', size: found.size, version: found.version, modified: found.modified };
    });
  }

  async file(path) {
    const found = await this.find(path);
    if (found?.kind === 'directory') throw new Refused('is-directory');
    return found;
  }
}

/** Whether a change of this path is one that `generation` tells: not of a file in a folder of the component. */
export const counts = path => !path.split('/').includes('.saddlebag');
