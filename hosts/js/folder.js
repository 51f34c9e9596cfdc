/**
 * A store in a folder of the disk, for Node.js, shared with the other hosts of lock protocol 3 by leases.
 *
 * Changes use synchronous calls, so that nothing comes between a look at the clock of the lease and the change; only
 * syncs and waiting leave the thread free.
 */

import { createHash, randomBytes } from 'node:crypto';
import fs, { constants as flags } from 'node:fs';
import path from 'node:path';

import { ATTEMPTS, Executor, Refused, Stale, addition, checkPath, part, require, split } from './executor.js';
import {
  Folder, appendWhole, contentOf, createNew, giveSecondName, kindOf, move, nameOf, openFolder, openIf, overwrite, placeNew,
  readWhole, secondName, sha256, statusIfThere, statusOf, statusVersion, sync, syncFile, textOf, unlinkIfThere, writeNew,
} from './files.js';
import { Leases, Locked, Lost, isFree, isFreeKernel, newestOf } from './lease.js';

const STATE = '.saddlebag', LOCKS = `${STATE}/locks-3`, RECOVERED = `${STATE}/recovered`, UNSYNCED = `${LOCKS}/unsynced`;
const lockName = number => String(number).padStart(2, '0');
const LOCKS_OF_FILES = Array.from({ length: 64 }, (_, number) => lockName(number));
/** A status says that the bytes are the same if the file was last changed this long before they were read. */
const SETTLED = 2_000n;
/** Longest addition that is made in place. */
const PAGE = 4_096;
const ERRORS = {
  EACCES: 'denied', EPERM: 'denied', ENOSPC: 'no-space', EDQUOT: 'no-space', EROFS: 'read-only', EISDIR: 'is-directory',
  ENOTDIR: 'not-directory', ELOOP: 'symbolic-link', ETIMEDOUT: 'timed-out',
};
const PROCESS = randomBytes(8).toString('hex');
let count = 0;

export class FolderStore extends Executor {
  #root;
  #leases;
  #onlyHostsWrite;
  /** Versions by path, with the status that the file had. */
  #versions = new Map();

  /**
   * @param {string} folder which exists
   * @param {{onlyHostsWrite?: boolean, clock?: () => number, sleep?: (ms: number) => Promise<void>}} [options]
   *   `onlyHostsWrite`: no person edits the files, so the locks tell whether anything has changed
   */
  constructor(folder, { onlyHostsWrite = false, ...timing } = {}) {
    super();
    this.#onlyHostsWrite = onlyHostsWrite;
    try {
      this.#root = new Folder(fs.openSync(folder, flags.O_RDONLY | flags.O_DIRECTORY), path.resolve(folder));
    } catch (error) {
      throw new Error(`cannot open the folder of the store: ${error.message}`, { cause: error });
    }
    this.#leases = new Leases({
      open: number => this.#lockFiles(number),
      cleanUp: record => this.#cleanUp(record),
      line: () => `held\t${process.pid}\tsaddlebag-js\t${PROCESS}-${(count += 1)}\n`,
      ...timing,
    });
  }

  close() {
    this.#root.close();
  }

  sha256(bytes) {
    return sha256(bytes);
  }

  errorOf(error) {
    if (error instanceof Locked) return { tag: 'locked', val: error.message };
    return Object.hasOwn(ERRORS, error.code) ? { tag: ERRORS[error.code] } : super.errorOf(error);
  }

  // The operations.

  async read({ path, offset, maxBytes }) {
    // Bytes that could not be synced may be in the cache alone.
    if (this.#isUnsynced(path)) await this.#change([path], held => this.#settle(path, held));
    const file = this.#above(path, false, (folder, name) => contentOf(folder, name));
    if (!file) return { tag: 'absent' };
    const { bytes, version } = file;
    return { tag: 'content', val: { bytes: part(bytes, offset, maxBytes), version, size: BigInt(bytes.length) } };
  }

  async write({ path, keepAs, ...write }) {
    const version = await this.#change([path, keepAs], held => this.#replace(held, { path, keepAs, ...write }));
    return { tag: 'written', val: version };
  }

  async append({ path, ...addition }) {
    const append = { path, ...addition, isAdded: false };
    return { tag: 'written', val: await this.#change([path], held => this.#add(held, append)) };
  }

  async remove({ path, precondition, keepAs, mayReturn }) {
    await this.#change([path, keepAs], held => this.#above(path, false, async (folder, name) => {
      const old = contentOf(folder, name);
      if (!old) return;
      require(old.version, precondition);
      if (keepAs === undefined) {
        held.check();
        fs.unlinkSync(folder.at(name));
      } else {
        await syncFile(folder, name);
        if (contentOf(folder, name)?.version !== old.version) throw new Lost('the file changed before it was kept');
        await this.#keep(held, path, folder, name, keepAs);
      }
      this.#mark(path, false);
      if (!mayReturn) await this.#sync(path, folder.fd);
    }));
    return { tag: 'done' };
  }

  async rename({ path, to, precondition }) {
    return this.#change([path, to], held => this.#above(path, false, async (folder, name) => {
      const old = contentOf(folder, name);
      if (!old) return { tag: 'absent' };
      require(old.version, precondition);
      return this.#above(to, true, async (newFolder, newName) => {
        held.check();
        if (!placeNew(folder, name, newFolder, newName)) return { tag: 'exists' };
        this.#mark(to, this.#isUnsynced(path));
        this.#mark(path, false);
        await this.#sync(to, newFolder.fd, folder.fd);
        return { tag: 'done' };
      });
    }));
  }

  async makeDirectory({ path }) {
    this.#checkRoot();
    this.#folder(path, true, () => {});
  }

  async removeDirectory({ path }) {
    this.#checkRoot();
    return this.#above(path, false, async (above, name) => {
      if (!this.#folder(path, false, folder => folder)) return 'absent';
      try {
        fs.rmdirSync(above.at(name));
      } catch (error) {
        if (error.code === 'ENOENT') return 'absent';
        if (['ENOTEMPTY', 'EEXIST'].includes(error.code)) return 'not-empty';
        throw error;
      }
      await this.#sync(undefined, above.fd);
      return 'removed';
    });
  }

  async inFolder(folder, work) {
    return this.#folder(folder, false, async opened => {
      const found = opened ? fs.readdirSync(opened.at('.'), { withFileTypes: true, encoding: 'buffer' }) : [];
      const names = found.map(entry => ({ name: nameOf(entry.name), kind: kindOf(entry) }));
      return work(names, name => this.#entry(folder, opened, name));
    });
  }

  generation() {
    // The locks are not synced: after a power cut they may have an earlier content beside files that were synced.
    const boot = this.#onlyHostsWrite && bootOf();
    if (!boot) throw new Refused('unsupported');
    const digest = createHash('sha256');
    const add = text => {
      const bytes = Buffer.from(text), length = Buffer.alloc(8);
      length.writeBigUInt64LE(BigInt(bytes.length));
      digest.update(length).update(bytes);
    };
    add(boot);
    this.#folder(LOCKS, false, locks => {
      for (const name of LOCKS_OF_FILES) {
        const kernel = locks && textOf(locks, name);
        if (kernel !== undefined) [name, kernel].forEach(add);
        const lease = this.#newestLease(name);
        if (lease) add(`${lease.count}\n${lease.content}`);
        if (!isFreeKernel(kernel) || !isFree(lease?.content ?? 'free')) throw new Refused('locked', kernel || lease.content);
      }
    });
    return digest.digest('hex');
  }

  // Changes, by the holder of the locks.

  /** Holds the locks of the paths, and begins again if they were lost or a folder disappeared. */
  async #change(paths, work) {
    for (let attempt = 1; ; attempt++) {
      this.#checkRoot();
      this.#joinProtocol();
      try {
        return await this.#leases.hold(paths.filter(path => path !== undefined).map(lockOf), work);
      } catch (error) {
        if (!(error instanceof Lost) && error.code !== 'ENOENT') throw error;
        if (attempt === ATTEMPTS) throw new Refused('other', 'the file or its folder kept changing meanwhile; try again');
      }
    }
  }

  /** Puts a whole new file in the place of the old one, and returns its version. */
  #replace(held, { path, content, precondition, keepAs, like }) {
    return this.#above(path, precondition.tag !== 'matches', async (folder, name) => {
      const old = contentOf(folder, name);
      require(old?.version, precondition);
      const isKept = old !== undefined && keepAs !== undefined;
      if (isKept) this.#above(keepAs, false, (kept, keptName) => statusOf(kept, keptName));
      const temporary = `.saddlebag-${process.pid}-${(count += 1)}-${randomBytes(8).toString('hex')}.tmp`;
      const second = secondName(temporary), above = path.slice(0, path.length - name.length);
      held.note(`${isKept ? 'keeping' : 'staged'}\t${above}${temporary}\t${path}${isKept ? `\t${keepAs}` : ''}\n`);
      let isPlaced = false;
      try {
        await writeNew(folder, temporary, content, old?.status ?? this.#modeOf(like));
        if (isKept) {
          await syncFile(folder, name);
          giveSecondName(folder, name, second);
        }
        // Editors take no lock: one more look.
        const now = contentOf(folder, name)?.version;
        require(now, precondition);
        if (isKept && now !== old.version) throw new Lost('the file changed before it was kept');
        held.check();
        if (old) fs.renameSync(folder.at(temporary), folder.at(name));
        else if (!placeNew(folder, temporary, folder, name)) throw new Lost('the file was made meanwhile');
        isPlaced = true;
        if (isKept) await this.#keepSecond(held, path, folder, second, name, keepAs);
      } finally {
        // The second name first, as cleaning up does: without the temporary file it would be kept.
        if (isKept && !isPlaced) unlinkIfThere(folder, second);
        if (!isPlaced) unlinkIfThere(folder, temporary);
      }
      await this.#sync(path, folder.fd);
      this.#mark(path, false);
      return sha256(content);
    });
  }

  /** Moves the old file to the path where it is kept. If that fails, it gets its place back. */
  async #keepSecond(held, path, folder, second, name, keepAs) {
    try {
      await this.#keep(held, path, folder, second, keepAs);
    } catch (error) {
      // Who has the lock now has kept the file, as the record says.
      if (error instanceof Lost) return;
      if (error.answer?.tag === 'not-durable') throw error;
      try {
        held.check();
        fs.renameSync(folder.at(second), folder.at(name));
      } catch {
        throw new Refused('other', `the file was changed, but the old one could not be kept: ${error.message}`);
      }
      throw error;
    }
  }

  #keep(held, path, folder, name, keepAs) {
    return this.#above(keepAs, true, async (kept, keptName) => {
      statusOf(kept, keptName);
      held.check();
      move(folder, name, kept, keptName);
      this.#mark(keepAs, this.#isUnsynced(path));
      await this.#sync(keepAs, kept.fd);
    });
  }

  /** The mode that a new file takes from another one, if that is there. */
  #modeOf(like) {
    try {
      const status = like && this.#above(like, false, (folder, name) => statusOf(folder, name));
      return status && { mode: status.mode };
    } catch (error) {
      if (error instanceof Refused) return undefined;
      throw error;
    }
  }

  /** Adds to a file by one write, and returns its version. */
  #add(held, append) {
    const { path, content, newlineFirst, precondition, mayTear, mayVanish } = append;
    return this.#above(path, precondition.tag !== 'matches', async (folder, name) => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const old = contentOf(folder, name);
        if (!append.isAdded) require(old?.version, precondition);
        // An editor may have read in what was added, and saved it.
        const isThere = append.isAdded && old && endsWith(old.bytes, content);
        const added = isThere ? new Uint8Array() : addition(old?.bytes, content, newlineFirst);
        // Another name may be outside of the store: it keeps its text. A system that is killed may write a part of the pages.
        const isLong = added.length > PAGE && !mayTear;
        if (isLong || (old && (old.status.nlink > 1n || this.#isUnsynced(path)))) {
          const asSeen = old ? { tag: 'matches', val: old.version } : { tag: 'absent' };
          const whole = old ? Buffer.concat([old.bytes, added]) : added;
          try {
            return await this.#replace(held, { path, content: whole, precondition: asSeen });
          } catch (error) {
            if (error instanceof Stale) continue;
            throw error;
          }
        }
        held.check();
        const fd = openIf(folder, name, flags.O_RDWR | flags.O_APPEND | (old ? 0 : flags.O_CREAT | flags.O_EXCL));
        if (fd === undefined) continue;
        try {
          const before = fs.fstatSync(fd, { bigint: true });
          if (old && before.ino !== old.status.ino) continue;
          appendWhole(fd, added, before.size, () => old || unlinkIfThere(folder, name));
          append.isAdded = true;
          if (statusOf(folder, name)?.ino !== before.ino) continue;
          if (!(mayVanish && old)) await this.#sync(path, fd, ...(old ? [] : [folder.fd]));
          return sha256(readWhole(fd));
        } finally {
          fs.closeSync(fd);
        }
      }
      throw new Refused('other', 'the file kept being replaced while it was appended to; try again');
    });
  }

  /** Writes a file again, to new blocks, whose last change could not be synced. */
  #settle(path, held) {
    return this.#above(path, false, async (folder, name) => {
      const old = contentOf(folder, name);
      if (!old) return this.#mark(path, false);
      await this.#replace(held, { path, content: old.bytes, precondition: { tag: 'matches', val: old.version } });
    });
  }

  /** Makes a change survive a power cut. Where that fails the change is there all the same, and is marked. */
  async #sync(path, ...files) {
    try {
      for (const fd of files) await sync(fd);
    } catch (error) {
      if (path !== undefined) this.#mark(path, true);
      throw new Refused('not-durable', error.message);
    }
  }

  #isUnsynced(path) {
    return this.#folder(UNSYNCED, false, folder => folder !== undefined && fs.existsSync(folder.at(markerOf(path))));
  }

  /** The marker tells other hosts; a disk that fails may not take it either. */
  #mark(path, isUnsynced) {
    if (isUnsynced === this.#isUnsynced(path)) return;
    try {
      this.#folder(UNSYNCED, true, folder => {
        if (isUnsynced) fs.writeFileSync(folder.at(markerOf(path)), path, { flag: 'wx', mode: 0o600 });
        else fs.unlinkSync(folder.at(markerOf(path)));
      });
    } catch (error) {
      if (!error.code) throw error;
    }
  }

  // Locks.

  #checkRoot() {
    const [found, opened] = [fs.statSync(this.#root.path, { bigint: true, throwIfNoEntry: false }), this.#root.status()];
    if (found?.ino !== opened.ino || found.dev !== opened.dev)
      throw new Refused('other', 'the folder of the store was replaced by another one; open it again');
  }

  /** Refuses a store of a later lock protocol, which has a file in the place of the folder. */
  #joinProtocol() {
    this.#folder(STATE, true, state => {
      const later = statusIfThere(state, 'locks-3');
      if (later?.isFile()) {
        const line = fs.readFileSync(state.at('locks-3'), 'utf8').split('\n')[0];
        throw new Refused('other', `the store has locks of another protocol (${line}), and this host has lock protocol 3`);
      }
    });
  }

  /** @returns {import('./lease.js').LockFiles} */
  #lockFiles(number) {
    const name = lockName(number);
    const reopened = folder => new Folder(fs.openSync(folder.at('.'), flags.O_RDONLY), folder.path);
    const leases = this.#folder(`${LOCKS}/leases/${name}`, true, reopened);
    return {
      counts: () => countsIn(leases),
      create: (count, content) => createNew(leases, `${count}`, content),
      read: count => textOf(leases, `${count}`),
      write: (count, content) => overwrite(leases, `${count}`, content),
      remove: count => unlinkIfThere(leases, `${count}`),
      kernel: () => this.#folder(LOCKS, true, locks => textOf(locks, name)),
      freeKernel: () => this.#folder(LOCKS, true, locks => overwrite(locks, name, 'free', true)),
      close: () => leases.close(),
    };
  }

  #newestLease(name) {
    return this.#folder(`${LOCKS}/leases/${name}`, false, leases => {
      for (;;) {
        const count = leases ? newestOf(countsIn(leases)) : 0;
        if (count === 0) return undefined;
        const content = textOf(leases, `${count}`);
        if (content !== undefined) return { count, content };
      }
    });
  }

  /** Cleans up after a holder that died: removes its own temporary file, keeps what may be somebody's text. */
  #cleanUp(record) {
    const [stage, temporary = '', path, ...more] = record.split('\t');
    const [above, own] = split(temporary), keepAs = stage === 'keeping' ? more[0] : more[2];
    if (!/^\.saddlebag-.*\.tmp$/.test(own)) return;
    try {
      // Anybody can have written the record.
      for (const path of [above, keepAs]) if (path) checkPath(path);
      this.#carryOut(stage, temporary, path, more[0], keepAs);
    } catch (error) {
      // What cannot be moved stays where it is: nothing is lost.
      if (!(error instanceof Refused)) throw error;
    }
  }

  #carryOut(stage, temporary, path, newFile, keepAs) {
    const keep = (folder, name) => this.#above(keepAs, true, (kept, keptName) => {
      if (statusIfThere(folder, name)) move(folder, name, kept, keptName);
    });
    this.#above(temporary, false, (folder, name) => {
      const found = folder && statusIfThere(folder, name), second = secondName(name);
      if (stage === 'keeping') {
        if (!found) return folder && keep(folder, second);
        unlinkIfThere(folder, second);
        unlinkIfThere(folder, name);
      } else if (found && (stage === 'staged' || (stage === 'placing' && keepAs && newFile === statusVersion(found)))) {
        unlinkIfThere(folder, name);
      } else if (found && stage === 'placing') {
        if (keepAs) return keep(folder, name);
        this.#folder(RECOVERED, true, recovered => {
          const base = path.replaceAll('/', '-').slice(0, 60);
          for (let number = 1; !placeNew(folder, name, recovered, `${base}.${number}`); number++);
        });
      }
    });
  }

  // Folders, one segment at a time and through no link.

  /** Calls `work` with the open folder; `undefined` where there is none. */
  #folder(path, make, work) {
    let folder = this.#root, result;
    const close = () => folder !== this.#root && folder?.close();
    try {
      for (const name of path ? path.split('/') : []) {
        const next = openFolder(folder, name, make);
        close();
        folder = next;
        if (!folder) break;
      }
      result = work(folder);
      return result instanceof Promise ? result.finally(close) : result;
    } finally {
      if (!(result instanceof Promise)) close();
    }
  }

  /** Calls `work` with the open folder that a path is in, and its last segment. */
  #above(path, make, work) {
    const [above, name] = split(path);
    return this.#folder(above, make, folder => work(folder, name));
  }

  #entry(folderPath, folder, name) {
    const status = statusIfThere(folder, name);
    if (!status) return undefined;
    const kind = kindOf(status);
    if (kind !== 'file') return { kind, size: 0n, version: '', modified: 0n };
    const path = folderPath === undefined ? name : `${folderPath}/${name}`;
    const modified = status.mtimeNs > 0n ? status.mtimeNs : 0n;
    const known = this.#versions.get(path), key = `${statusVersion(status)}.${status.ctimeNs}`;
    if (known?.key === key) return { kind, size: status.size, version: known.version, modified };
    this.#versions.delete(path);
    try {
      const now = BigInt(Date.now());
      const file = contentOf(folder, name);
      if (!file) return undefined;
      const lastChange = file.status.ctimeNs > modified ? file.status.ctimeNs : modified;
      const isSame = file.status.ctimeNs === status.ctimeNs && file.status.ino === status.ino;
      if (isSame && lastChange / 1_000_000n < now - SETTLED) this.#versions.set(path, { key, version: file.version });
      return { kind, size: BigInt(file.bytes.length), version: file.version, modified };
    } catch {
      // A file that cannot be read hides no other one, and matches nothing.
      return { kind, size: status.size, version: `unreadable${randomBytes(8).toString('hex')}`, modified };
    }
  }
}

const endsWith = (bytes, end) => bytes.length >= end.length && bytes.subarray(bytes.length - end.length).equals(end);
const countsIn = leases =>
  fs.readdirSync(leases.at('.')).filter(name => /^[1-9][0-9]*$/.test(name)).map(Number).filter(Number.isSafeInteger);
const markerOf = path => sha256(path).slice(0, 32);

/** The start of the machine, where the system tells. */
function bootOf() {
  try {
    return fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
  } catch {
    return undefined;
  }
}

/** The number of the lock of a path. */
export function lockOf(path) {
  const ascii = path.replace(/[A-Z]/g, letter => letter.toLowerCase()).replace(/[^\0-\x7f]/g, '');
  const fnv = (hash, letter) => BigInt.asUintN(64, (hash ^ BigInt(letter.charCodeAt(0))) * 0x100000001b3n);
  const hash = [...ascii].reduce(fnv, 0xcbf29ce484222325n);
  const isState = path.split('/').some(segment => /^\.saddlebag$/i.test(segment));
  return Number(hash % 64n) + (isState ? 64 : 0);
}
