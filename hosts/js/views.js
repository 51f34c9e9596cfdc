/**
 * The memory of the views of `saddlebag ui`, for a page that runs the component itself: the functions that docs/ui.md
 * describes, over a component of the world `saddlebag-json`.
 */

import { Failed } from './memory.js';

/** Time between two looks at whether another page has changed the store, in milliseconds. */
const LOOK_TIME = 1_000;
/** Most notes of one listing. */
const NOTES = 2_000;
/** Most sessions that are shown. */
const SESSIONS = 20;

export class MemoryInPage {
  isLive = true;
  #memory;
  #store;
  #render;
  #followers = new Set();
  #generation;

  /**
   * @param {import('./memory.js').Memory} memory over a component of the world `saddlebag-json`
   * @param {import('./executor.js').Executor} store of this memory
   * @param {{name?: string, isReadOnly?: boolean, render?: (text: string) => string}} [given] `render` makes safe HTML of
   *     Markdown; without it, the text is shown as it is
   */
  constructor(memory, store, { name = '', isReadOnly = false, render = asText } = {}) {
    this.#memory = memory;
    this.#store = store;
    this.#render = render;
    this.name = name;
    this.isReadOnly = isReadOnly;
  }

  async call(family, name, argument, { operation, reason, at } = {}) {
    const origin = { client: 'saddlebag-ui', operation, reason, at };
    try {
      return await this.#memory.run(family, name, argument, { origin, take: 'takePrinted' });
    } catch (error) {
      throw { code: error instanceof Failed ? error.code : 'server', message: error.message, help: '' };
    } finally {
      if (this.#followers.size > 0) await this.#look();
    }
  }

  async render(text) {
    return this.#render(text);
  }

  /** One part with everything between the lines that both texts begin and end with. */
  async difference(before, after) {
    const [old, made] = [before, after].map(text => text.split('\n'));
    const shared = Math.min(old.length, made.length);
    let first = 0, last = 0;
    while (first < shared && old[first] === made[first]) first++;
    while (last < shared - first && old.at(-1 - last) === made.at(-1 - last)) last++;
    const [gone, come] = [old, made].map(lines => lines.slice(first, lines.length - last));
    if (gone.length + come.length === 0) return '';
    const head = `@@ -${first + 1},${gone.length} +${first + 1},${come.length} @@`;
    return [head, ...gone.map(line => `-${line}`), ...come.map(line => `+${line}`), ''].join('\n');
  }

  async status() {
    const [journal, notes, entries, pending] = await Promise.all([
      this.call('journal', 'status'),
      this.call('notebook', 'list-notes', listOf({ limit: 0 })),
      this.call('entries', 'list-entries', { filter: { 'all-tags': [], 'any-tags': [] }, limit: 1 }),
      this.call('trust', 'pending', { limit: 1 }),
    ]);
    return { ...journal, notes: notes.total, entries: entries.total, waiting: pending.total, other_memory: [] };
  }

  /** A page has no hooks. */
  async hookLog() {
    return [];
  }

  async indexSize() {
    return null;
  }

  async sources() {
    const sources = {};
    for (let offset = 0; ; offset += NOTES) {
      const { notes, total } = await this.#notes({ limit: NOTES, offset });
      for (const { path, metadata } of notes) if (metadata.provenance) sources[path] = metadata.provenance;
      if (offset + NOTES >= total) return sources;
    }
  }

  async sessions() {
    const filter = {
      conditions: [{ kind: 'path', value: 'sessions' }],
      tagless: false, orphan: false, 'missing-backlink': false, recursive: false,
    };
    const { notes, total } = await this.#notes({ filter, limit: SESSIONS });
    const sessions = notes.map(({ path, title, modified, metadata }) => ({
      path,
      title,
      session: metadata.session ?? null,
      last: metadata.last ?? new Date(Number(BigInt(modified) / 1_000_000n)).toISOString(),
      finished: metadata.finished === true,
      claimed_by: metadata['claimed-by'] || null,
      choice: metadata['hand-off'] || null,
    }));
    return { sessions, total };
  }

  follow(changed) {
    this.#followers.add(changed);
    const timer = setInterval(() => this.#look(), LOOK_TIME);
    return () => {
      clearInterval(timer);
      this.#followers.delete(changed);
    };
  }

  /** Tells the views if the store has changed. */
  async #look() {
    const { tag, val } = await this.#store.perform({ tag: 'generation' });
    if (tag !== 'ok' || val.val === this.#generation) return;
    const isFirst = this.#generation === undefined;
    this.#generation = val.val;
    if (!isFirst) for (const changed of this.#followers) changed();
  }

  /** The newest notes, with their frontmatter. */
  async #notes(given) {
    const reply = await this.#memory.run('notebook', 'list-notes', listOf(given));
    return { ...reply, notes: reply.notes.map(note => ({ ...note, metadata: JSON.parse(note.metadata || '{}') })) };
  }
}

const listOf = given => ({
  sort: [{ by: 'modified', ascending: false }],
  offset: 0,
  'zk-links': false,
  'with-text': false,
  'with-links': false,
  ...given,
});

/** Shows text as it is, with the numbers of characters that cannot be seen. */
function asText(text) {
  const escaped = text.replace(/[&<>"]/g, letter => `&#${letter.charCodeAt(0)};`);
  const codeOf = letter => `U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  const visible = escaped.replace(/[\p{Cc}\p{Cf}]/gu, letter => ('\n\t'.includes(letter) ? letter : `<mark>${codeOf(letter)}</mark>`));
  return `<pre>${visible}</pre>`;
}
