/** Files of a folder of the disk: opened through no link, looked at and moved one step at a time. */

import { createHash } from 'node:crypto';
import fs, { constants as flags } from 'node:fs';
import { promisify } from 'node:util';

import { ATTEMPTS, Refused } from './executor.js';

const SAFE = flags.O_NOFOLLOW | flags.O_NONBLOCK;
/** Errors of file systems without hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK'];

export const sync = promisify(fs.fsync);
export const sha256 = bytes => createHash('sha256').update(bytes).digest('hex');

/** An open folder. Linux reaches its files through it, whatever happens to its path; elsewhere they are found by path. */
export class Folder {
  static #isReached = process.platform === 'linux' && fs.existsSync('/proc/self/fd');

  constructor(fd, path) {
    this.fd = fd;
    this.path = path;
  }

  at(name) {
    return `${Folder.#isReached ? `/proc/self/fd/${this.fd}` : this.path}/${name}`;
  }

  status() {
    return fs.fstatSync(this.fd, { bigint: true });
  }

  close() {
    fs.closeSync(this.fd);
  }
}

export function openFolder(above, name, make) {
  for (;;) {
    try {
      const fd = fs.openSync(above.at(name), flags.O_RDONLY | flags.O_DIRECTORY | SAFE);
      return new Folder(fd, `${above.path}/${name}`);
    } catch (error) {
      const found = statusIfThere(above, name);
      if (found && !found.isDirectory()) throw new Refused(found.isSymbolicLink() ? 'symbolic-link' : 'not-directory');
      if (error.code !== 'ENOENT') throw error;
      if (!make) return undefined;
    }
    try {
      fs.mkdirSync(above.at(name), 0o700);
      fs.fsyncSync(above.fd);
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
  }
}

/** The bytes of a regular file at one moment, its status and its version; `undefined` where there is none. */
export function contentOf(folder, name) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (!folder || !statusOf(folder, name)) return undefined;
    const fd = openIf(folder, name, flags.O_RDONLY);
    if (fd === undefined) continue;
    try {
      const status = fs.fstatSync(fd, { bigint: true });
      if (!status.isFile()) continue;
      const bytes = readWhole(fd), after = fs.fstatSync(fd, { bigint: true });
      const isSame = status.mtimeNs === after.mtimeNs && status.size === after.size && after.size === BigInt(bytes.length);
      if (isSame) return { bytes, status, version: sha256(bytes) };
    } finally {
      fs.closeSync(fd);
    }
  }
  throw new Refused('other', 'the file kept changing while it was read; try again');
}

export function statusIfThere(folder, name) {
  return fs.lstatSync(folder.at(name), { bigint: true, throwIfNoEntry: false });
}

/** The status of a regular file; `undefined` where there is nothing. */
export function statusOf(folder, name) {
  const status = folder && statusIfThere(folder, name);
  if (!status || status.isFile()) return status;
  if (status.isDirectory()) throw new Refused('is-directory');
  throw new Refused(status.isSymbolicLink() ? 'symbolic-link' : 'not-regular');
}

export const kindOf = status => (status.isFile() ? 'file' : status.isDirectory() ? 'directory' : 'other');

/** A name; one that is not UTF-8 is given with U+FFFD and a NUL, so that it is no valid one. */
export function nameOf(bytes) {
  const name = bytes.toString();
  return Buffer.from(name).equals(bytes) ? name : name.replaceAll('\ufffd', '\0');
}

/** What `LocalDir` notes of its new file: device, inode, size and time of change. */
export const statusVersion = ({ dev, ino, size, mtimeNs }) => `s${[dev, ino, size, mtimeNs].map(part => part.toString(16)).join('.')}`;

/** Opens a file; `undefined` if it is gone, or is there where it must be new. */
export function openIf(folder, name, how) {
  try {
    return fs.openSync(folder.at(name), how | SAFE, 0o600);
  } catch (error) {
    // A folder that has disappeared has no file either, and cannot get a new one.
    if (error.code === 'EEXIST' || (error.code === 'ENOENT' && !(how & flags.O_CREAT))) return undefined;
    throw error;
  }
}

export function readWhole(fd) {
  const bytes = Buffer.allocUnsafe(Number(fs.fstatSync(fd).size));
  let length = 0;
  for (let read = 1; read > 0; length += read) read = fs.readSync(fd, bytes, length, bytes.length - length, length);
  return bytes.subarray(0, length);
}

function writeWhole(fd, bytes, position = null) {
  for (let done = 0; done < bytes.length; )
    done += fs.writeSync(fd, bytes, done, bytes.length - done, position === null ? null : position + done);
}

/** Appends by one write. What was not written whole is cut off again. */
export function appendWhole(fd, bytes, size, undo) {
  try {
    if (bytes.length === 0 || fs.writeSync(fd, bytes) === bytes.length) return;
    throw new Refused('no-space');
  } catch (error) {
    fs.ftruncateSync(fd, Number(size));
    undo();
    throw error;
  }
}

/** Writes and syncs a new file, with the mode of a model, and its owner if that is permitted. */
export async function writeNew(folder, name, content, model) {
  const fd = openIf(folder, name, flags.O_WRONLY | flags.O_CREAT | flags.O_EXCL);
  try {
    try {
      if (model?.uid !== undefined) fs.fchownSync(fd, Number(model.uid), Number(model.gid));
    } catch {
      // Only root gives files away.
    }
    if (model) fs.fchmodSync(fd, Number(model.mode & 0o777n));
    writeWhole(fd, content);
    await sync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

export async function syncFile(folder, name) {
  const fd = fs.openSync(folder.at(name), flags.O_RDONLY | SAFE);
  try {
    await sync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Moves a file to a free name. A second name cannot replace anything; then the first goes. */
export function placeNew(folder, name, newFolder, newName) {
  try {
    fs.linkSync(folder.at(name), newFolder.at(newName));
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    if (!NO_LINKS.includes(error.code)) throw error;
    if (statusIfThere(newFolder, newName)) return false;
    fs.renameSync(folder.at(name), newFolder.at(newName));
    return true;
  }
  fs.unlinkSync(folder.at(name));
  return true;
}

/** Moves a file over what is there. Two names of one file would both stay. */
export function move(folder, name, newFolder, newName) {
  const [file, there] = [statusIfThere(folder, name), statusIfThere(newFolder, newName)];
  if (there && there.ino === file?.ino && there.dev === file.dev) fs.unlinkSync(folder.at(name));
  else fs.renameSync(folder.at(name), newFolder.at(newName));
}

export function giveSecondName(folder, name, second) {
  try {
    fs.linkSync(folder.at(name), folder.at(second));
  } catch (error) {
    if (!NO_LINKS.includes(error.code)) throw error;
    fs.copyFileSync(folder.at(name), folder.at(second), flags.COPYFILE_EXCL);
  }
}

/** The name that an old file has beside the new one until it is kept. */
export const secondName = temporary => temporary.replace(/\.tmp$/, '-old.tmp');

export function createNew(folder, name, content) {
  try {
    fs.writeFileSync(folder.at(name), content, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** The text of a lock; empty for what is not a file, which nobody holds for long. */
export function textOf(folder, name) {
  try {
    const fd = fs.openSync(folder.at(name), flags.O_RDONLY | SAFE);
    try {
      return readWhole(fd).toString();
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    if (['EISDIR', 'ELOOP', 'ENXIO'].includes(error.code)) return '';
    throw error;
  }
}

/** Replaces the content of a lock that is there, or only its start. Another name of it may be outside of the store. */
export function overwrite(folder, name, content, onlyStart = false) {
  const fd = openIf(folder, name, flags.O_WRONLY);
  if (fd === undefined) return;
  try {
    if (fs.fstatSync(fd).nlink > 1) return;
    const bytes = Buffer.from(content);
    writeWhole(fd, bytes, 0);
    if (!onlyStart) fs.ftruncateSync(fd, bytes.length);
  } finally {
    fs.closeSync(fd);
  }
}

export function unlinkIfThere(folder, name) {
  try {
    fs.unlinkSync(folder.at(name));
  } catch (error) {
    if (!['ENOENT', 'EISDIR', 'EPERM'].includes(error.code)) throw error;
  }
}
