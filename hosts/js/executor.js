/**
 * What every store shares: checked paths, the table of the operations, pages of a listing, and errors as values.
 *
 * Values are those of jco: `{tag, val}` for a variant, `undefined` for an absent option, a `BigInt` for a `u64`.
 *
 * @typedef {{tag: string, val?: any}} Variant
 * @typedef {{kind: 'file' | 'directory' | 'other', size: bigint, version: string, modified: bigint}} Entry
 */

/** Most bytes of one read and one change. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Attempts at an operation while editors replace the file, or remove its folder. */
export const ATTEMPTS = 8;
const MAX_LEFT_OUT_NAMES = 64;
const METHODS = {
  read: 'read', write: 'write', append: 'append', remove: 'remove', rename: 'rename', 'list-directory': 'listDirectory',
  'make-directory': 'makeDirectory', 'remove-directory': 'removeDirectory', generation: 'generation',
};

/** The operation is not performed; `answer` is the `fs-error`. */
export class Refused extends Error {
  constructor(tag, val) {
    super(val === undefined ? tag : `${tag}: ${val}`);
    this.answer = { tag, val };
  }
}

/** The precondition is not met; the file has this version, or does not exist. */
export class Stale extends Error {
  constructor(version) {
    super('the precondition is not met');
    this.version = version;
  }
}

/** Performs operations. A store has a method for each; it throws `Refused` or `Stale`. */
export class Executor {
  versionScheme = 'sha256-hex';

  /**
   * Performs one operation. Never rejects.
   * @param {Variant} op
   * @returns {Promise<Variant>} the `result<outcome, fs-error>`
   */
  async perform({ tag, val }) {
    try {
      const method = Object.hasOwn(METHODS, tag) ? this[METHODS[tag]] : undefined;
      if (!method) throw new Refused('unsupported');
      for (const name of ['path', 'to', 'folder', 'keepAs', 'like']) if (val?.[name] !== undefined) checkPath(val[name]);
      if (val?.keepAs !== undefined && val.keepAs === val.path)
        throw new Refused('invalid-path', 'a file cannot be kept at its own path');
      if (val?.content?.length > MAX_BYTES) throw new Refused('too-large', BigInt(MAX_BYTES));
      return { tag: 'ok', val: { tag, val: await method.call(this, val) } };
    } catch (error) {
      if (error instanceof Stale) return { tag: 'ok', val: { tag, val: { tag: 'stale', val: error.version } } };
      return { tag: 'err', val: error instanceof Refused ? error.answer : this.errorOf(error) };
    }
  }

  /** The `fs-error` of an error of the storage. */
  errorOf(error) {
    return { tag: 'other', val: String(error?.message ?? error) };
  }

  /**
   * One page of a folder. The store has `inFolder(folder, work)`: it calls `work(names, entryOf)` with `[{name, kind}]`,
   * where `name` may be no valid segment, and a function that returns the `Entry` of a name, `undefined` if it is gone.
   */
  async listDirectory({ folder, after, limit, unless }) {
    return this.inFolder(folder, async (found, entryOf) => {
      const prefix = folder === undefined ? '' : `${folder}/`;
      const others = [], entries = [];
      let more = [];
      for (const { name, kind } of found) {
        const segment = spelled(name), path = prefix + segment;
        if (isOwn(path)) continue;
        if (segment !== name || bytesIn(path) > 4096) others.push({ path, kind });
        else if (after === undefined || byBytes(path, after) > 0) more.push({ path, name });
      }
      more.sort((a, b) => byBytes(a.path, b.path));
      while (more.length > 0 && entries.length < Math.max(1, limit)) {
        // The entries of a page are found together, because each may wait for the storage.
        const some = more.splice(0, Math.max(1, limit) - entries.length);
        const described = await Promise.all(some.map(async ({ path, name }) => ({ path, ...(await entryOf(name)) })));
        entries.push(...described.filter(entry => entry.kind));
      }
      const next = more.length > 0 ? entries.at(-1).path : undefined;
      const names = others.filter(other => bytesIn(other.path) <= 4096).sort((a, b) => byBytes(a.path, b.path));
      const leftOut = after === undefined
        ? { names: names.slice(0, MAX_LEFT_OUT_NAMES), count: others.length } : { names: [], count: 0 };
      const version = await this.pageVersion(entries, leftOut, next);
      if (unless !== undefined && version === unless) return { tag: 'unchanged' };
      return { tag: 'page', val: { entries, next, leftOut, version } };
    });
  }

  /** The version of a page, as the scheme `sha256-hex` makes it. */
  pageVersion(entries, leftOut, next) {
    const fields = entries.flatMap(({ path, kind, size, version, modified }) => [path, kind, size, version, modified]);
    fields.push(...leftOut.names.flatMap(({ path, kind }) => [path, kind]), leftOut.count, next ?? '');
    return this.sha256(UTF_8.encode(fields.map(field => `${field}\0`).join('')));
  }

  /** @param {Uint8Array} bytes @returns {Promise<string> | string} the digest in hexadecimal digits */
  async sha256(bytes) {
    return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
  }
}

export const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');

/** Throws unless the precondition holds for a file of this version; `undefined`: there is no file. */
export function require(version, { tag, val }) {
  if (tag === 'any' || (tag === 'absent' ? version === undefined : version !== undefined && version === val)) return;
  throw new Stale(version);
}

/** The part of the content that a read returns. */
export function part(bytes, offset, maxBytes) {
  const start = Number(offset < BigInt(bytes.length) ? offset : BigInt(bytes.length));
  const wanted = bytes.subarray(start, start + maxBytes);
  if (wanted.length > MAX_BYTES) throw new Refused('too-large', BigInt(MAX_BYTES));
  return wanted;
}

/** What an append adds: a newline first, if it is asked for and the file ends within a line. */
export function addition(old, content, newlineFirst) {
  return newlineFirst && old?.length > 0 && old.at(-1) !== 10 ? concat(Uint8Array.of(10), content) : content;
}

export function concat(first, second) {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** The folder that a path is in, `undefined` for the root, and its last segment. */
export function split(path) {
  const at = path.lastIndexOf('/');
  return at < 0 ? [undefined, path] : [path.slice(0, at), path.slice(at + 1)];
}

/** Throws unless a path is valid and does not belong to the host. */
export function checkPath(path) {
  const segments = path.split('/');
  const isBad = segment => ['', '.', '..'].includes(segment) || spelled(segment) !== segment;
  if (segments.some(isBad) || bytesIn(path) > 4096 || !path.isWellFormed())
    throw new Refused('invalid-path', 'a segment is empty, `.` or `..`, is too long, or has a forbidden character');
  if (isOwn(path)) throw new Refused('invalid-path', 'this name is kept for the host');
}

/** The name with U+FFFD for each character that no path may have, cut to 255 bytes. */
function spelled(name) {
  let cut = name.replace(/[\\\p{Cc}]/gu, '\ufffd');
  while (bytesIn(cut) > 255) cut = Array.from(cut).slice(0, -1).join('');
  return cut;
}

const UTF_8 = new TextEncoder();
const bytesIn = text => UTF_8.encode(text).length;

/** Compares as the bytes of UTF-8 do: a surrogate, of a character above U+FFFF, comes after all other code units. */
export function byBytes(a, b) {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [one, other] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (one !== other) return rank(one) - rank(other);
  }
  return a.length - b.length;
}
const rank = unit => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** Returns true for the names of hosts: the locks, and temporary files. */
function isOwn(path) {
  // A file system skips a segment that it cuts to nothing.
  const [first, second, ...rest] = path.split('/').map(folded).filter(segment => segment !== '');
  const isLocks = /^(\.saddlebag|saddle~[0-9]+)$/.test(first) && /^locks(-[0-9]+)?$/.test(second);
  return isLocks || [first, second, ...rest].some(segment => /^(\.saddlebag-.*\.tmp|saddle~[0-9]+(\.tmp)?)$/s.test(segment));
}

/**
 * The name as some file systems read it, or rather more than any: letters of one look are one, marks and what is not
 * shown are left out, and so are the name of a stream and dots and spaces at the end.
 */
function folded(segment) {
  const cut = name => name.split(':')[0].replace(/[. ]+$/, '');
  const shown = cut(segment).normalize('NFKD').replace(/[\p{M}\p{DI}]/gu, '');
  return cut(shown.toLowerCase().toUpperCase().toLowerCase());
}
