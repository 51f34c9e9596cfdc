/**
 * Leases: the locks of lock protocol 3 for hosts without `flock`, as docs/writing-a-host.md describes them. Its numbers
 * of the steps are in the comments.
 *
 * Everything is synchronous, except waiting. So nothing comes between a look at the clock and the change after it.
 *
 * @typedef {object} LockFiles the files of one lock
 * @property {() => number[]} counts the COUNTs of its leases, in any order
 * @property {(count: number, content: string) => boolean} create creates a lease exclusively; false if it exists
 * @property {(count: number) => string | undefined} read the content of a lease, if it exists
 * @property {(count: number, content: string) => void} write replaces the content of a lease, if it exists
 * @property {(count: number) => void} remove removes a lease, if it exists
 * @property {() => string | undefined} kernel the content of the lock file of the kernel locks, if it exists
 * @property {() => void} freeKernel writes `free` over the first four bytes of that file
 * @property {() => void} close
 */

/** A holder whose lock has not changed for this long has died. */
const DEAD = 8_000;
/** A holder that has held a lock for longer makes sure of it before its next change. */
const SURE = 4_000;
const PATIENCE_WITH_ONE = 10_000;
const PATIENCE = 120_000;

/** The lock was lost. What was prepared must be undone, and the operation begun again. */
export class Lost extends Error {}

/** Another writer held the lock for too long; the message names it. */
export class Locked extends Error {}

/** Whether a lock with this content is free. An empty lock file is, an empty lease is not. */
export const isFree = content => content.startsWith('free');
export const isFreeKernel = content => content === undefined || content === '' || isFree(content);

/** The newest of these leases; COUNT 0 without one. */
export const newestOf = counts => Math.max(0, ...counts);

export class Leases {
  /**
   * @param {object} options
   * @param {(number: number) => LockFiles} options.open
   * @param {(record: string) => void} options.cleanUp carries out what the second line of a dead holder says
   * @param {() => string} options.line a line that begins with `held`, with a token that no other line has
   * @param {() => number} [options.clock] milliseconds of a monotonic clock
   * @param {(milliseconds: number) => Promise<void>} [options.sleep]
   */
  constructor({ open, cleanUp, line, clock = () => performance.now(), sleep = pause }) {
    Object.assign(this, { open, cleanUp, line, clock, sleep });
  }

  /**
   * Holds the locks while `work` runs. Before each step that changes a file, `work` calls `check`, which throws `Lost`.
   * @template T
   * @param {number[]} numbers
   * @param {(held: {check: () => void, note: (record: string) => void}) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async hold(numbers, work) {
    const held = [], check = () => held.forEach(lease => lease.check());
    try {
      for (const number of [...new Set(numbers)].sort((a, b) => a - b)) {
        const lease = new Lease(this, this.open(number));
        held.push(lease);
        await lease.take(check);
      }
      return await work({ check, note: record => held.forEach(lease => lease.note(record)) });
    } finally {
      held.forEach(lease => lease.release());
    }
  }
}

const pause = milliseconds => new Promise(wake => setTimeout(wake, milliseconds));

class Lease {
  #leases;
  #files;
  /** The COUNT that is held; `undefined` before the lock is taken, and after it is lost. */
  #count;
  #isLost = false;
  #since;
  #line;
  #record = '';

  constructor(leases, files) {
    this.#leases = leases;
    this.#files = files;
  }

  async take(check) {
    const wait = new Wait(this.#leases);
    for (;;) {
      const at = this.#leases.clock();
      const count = newestOf(this.#files.counts()); // 1
      const content = count === 0 ? 'free' : this.#files.read(count);
      if (content === undefined) continue;
      if (!isFree(content) && wait.unchanged(`${count} ${content}`, at) <= DEAD) { // 2
        check();
        await wait.pause();
        continue;
      }
      this.#since = this.#leases.clock(); // 3
      if (this.#create(count + 1)) break;
      wait.unchanged(`${count}`, at);
    }
    for (;;) { // 6
      const at = this.#leases.clock(), content = this.#files.kernel();
      if (isFreeKernel(content)) return;
      check();
      if (wait.unchanged(content, at) > DEAD) {
        this.#cleanUp(content);
        check();
        this.#files.freeKernel();
      } else {
        await wait.pause();
      }
    }
  }

  /** 7 */
  check() {
    if (this.#isLost) throw new Lost('the lock was lost to another writer');
    if (this.#count === undefined) return;
    const passed = this.#leases.clock() - this.#since;
    // A clock that ran backwards says nothing.
    if (passed >= 0 && passed <= SURE) return;
    const old = this.#count;
    this.#since = this.#leases.clock();
    this.#count = undefined;
    this.#isLost = !this.#create(old + 1, old);
    this.check();
  }

  /** Writes the second line: what another host must clean up if this one dies. */
  note(record) {
    this.#record = record;
    this.#write();
  }

  /** 8. A lost lease belongs to its taker, who reads its record. */
  release() {
    if (this.#count !== undefined) this.#files.write(this.#count, `free${this.#line.slice('held'.length)}`);
    this.#files.close();
  }

  /** 4 and 5 */
  #create(count, own) {
    this.#line = this.#leases.line();
    if (!this.#files.create(count, this.#line + this.#record)) return false;
    const counts = this.#files.counts();
    if (newestOf(counts) > count) {
      this.#files.remove(count);
      return false;
    }
    this.#count = count;
    // Several, if a host died while it did this.
    for (const earlier of counts.filter(other => other < count)) {
      const content = earlier === own ? 'free' : (this.#files.read(earlier) ?? 'free');
      if (!isFree(content)) this.#cleanUp(content);
      this.#files.remove(earlier);
    }
    return true;
  }

  #write() {
    if (this.#count !== undefined) this.#files.write(this.#count, this.#line + this.#record);
  }

  #cleanUp(content) {
    const lines = content.split('\n');
    if (lines.length > 2) this.#leases.cleanUp(lines[1]);
  }
}

/** The time that one holder was waited for. */
class Wait {
  #content;
  #since;

  constructor({ clock, sleep }) {
    Object.assign(this, { clock, sleep });
    this.begun = clock();
  }

  /**
   * Milliseconds from the end of the first look at this content to `at`, when the last look began: a host may be stopped between a
   * look and a look at the clock. Throws `Locked` when they are too many.
   */
  unchanged(content, at) {
    this.begun = Math.min(this.begun, at);
    // A clock that ran backwards begins again: a holder must not look dead too early.
    if (content !== this.#content || at < this.#since) [this.#content, this.#since] = [content, this.clock()];
    const passed = at - this.#since;
    if (passed > PATIENCE_WITH_ONE || at - this.begun > PATIENCE)
      throw new Locked(content.split('\n')[0].replaceAll('\t', ' ') || 'another program');
    return passed;
  }

  pause() {
    return this.sleep(1 + Math.random() * 4);
  }
}
