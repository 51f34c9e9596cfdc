/**
 * The one interface of the views: `call` runs a command of the contract, and returns its reply as `--json` prints it.
 * `MemoryOverHttp` asks the server of this page, `MemoryInFile` has the answers in the page itself, and `MemoryInChat` asks the
 * host of a chat.
 */
class MemoryOverHttp {
  constructor(csrf, isReadOnly) {
    this.csrf = csrf;
    this.name = document.querySelector('meta[name="saddlebag-memory"]')?.content ?? '';
    this.isReadOnly = isReadOnly;
    this.isLive = true;
  }

  async post(name, body) {
    let response;
    try {
      response = await fetch(`api/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-saddlebag-csrf': this.csrf },
        body: JSON.stringify(body),
      });
    } catch {
      throw { code: 'server', message: STRINGS.signedOut, help: '' };
    }
    const text = await response.text();
    if (response.status === 401) throw { code: 'server', message: STRINGS.signedOut, help: '' };
    let reply;
    try {
      reply = JSON.parse(text);
    } catch {
      throw { code: 'server', message: text.trim() || STRINGS.signedOut, help: '' };
    }
    if (!response.ok) throw reply.error;
    return reply;
  }

  call(contractInterface, name, command, { operation = null, reason = null, at = null } = {}) {
    return this.post('call', {
      interface: contractInterface,
      command: command === undefined ? name : { [name]: command },
      operation,
      reason,
      at,
    });
  }

  async render(text) {
    return (await this.post('render', { text })).html;
  }

  async difference(before, after) {
    return (await this.post('diff', { before, after })).diff;
  }

  status() {
    return this.post('status', {});
  }

  hookLog() {
    return this.post('hook-log', {});
  }

  /** Returns the size of the index in bytes; null if it is not on this machine. */
  async indexSize() {
    return (await this.post('index-size', {})).bytes;
  }

  /** Returns the provenance of each note that states one, by path. */
  sources() {
    return this.post('sources', {});
  }

  sessions() {
    return this.post('sessions', {});
  }

  /** Calls a function after each change, and one when the server is lost or found, until the returned function is called. */
  follow(changed, lost) {
    const events = new EventSource('api/changes');
    let wasOpen = false;
    events.addEventListener('change', changed);
    events.addEventListener('error', () => lost(true));
    // After a lost connection, changes may have been missed.
    events.addEventListener('open', () => {
      lost(false);
      if (wasOpen) changed();
      wasOpen = true;
    });
    return () => events.close();
  }
}

/** The answers of the time when the file was made. */
class MemoryInFile {
  constructor(data) {
    this.data = data;
    this.name = data.name;
    this.isReadOnly = true;
    this.isLive = false;
  }

  async call(contractInterface, name, command = {}) {
    const { notes, entries, pending, operations, context } = this.data;
    const deadLinks = this.data['dead-links'];
    switch (name) {
      case 'begin-session':
        return context;
      case 'list-items': {
        if (command.kinds[0] === 'entry') return entries;
        const conditions = command.filter?.conditions ?? [];
        if (!command.filter) return command['with-links'] ? notes : { ...notes, links: [] };
        // One look at the links for each condition, and not for each note.
        const ends = (from, to, wanted) => new Set(notes.links.filter(link => link[from] === wanted).map(link => link[to]));
        const tests = conditions.map(({ kind, value }) => {
          if (kind === 'path') return note => note.path === value || note.path.split('/').at(-2) === value;
          if (kind === 'tag') return note => note.tags.includes(value);
          if (kind !== 'link-to' && kind !== 'linked-by') return () => true;
          const paths = kind === 'link-to' ? ends('target', 'source', value) : ends('source', 'target', value);
          return note => paths.has(note.path);
        });
        if (command.filter.orphan) {
          const targets = new Set(notes.links.map(link => link.target));
          tests.push(note => !targets.has(note.path));
        }
        const items = notes.items.filter(note => tests.every(test => test(note)));
        return { ...notes, links: [], items, total: items.length };
      }
      case 'pending': {
        if (!command.name) return pending;
        const items = pending.items.filter(item => item.path === command.name);
        return { ...pending, items: items.map(item => ({ ...item, text: item.preview })), total: items.length };
      }
      case 'list-operations':
        return operations;
      case 'dead-links':
        return deadLinks;
      case 'list-files':
        return { files: [], next: null, total: 0, skipped: [] };
      case 'show': {
        if (command['max-bytes'] === 0) return this.named(command.name);
        const ofEntry = () => entries.items.find(item => item.name === command.name)?.entry;
        if (command.kind === 'entry') return { entry: this.found(ofEntry()) };
        const note = this.found(notes.items.find(note => note.path === command.name));
        return { path: note.path, text: this.found(this.data.texts[note.path]), next_offset: null };
      }
      case 'list-versions':
        return { versions: [], total: 0, cut: false };
      case 'unlinked-mentions':
        return { notes: [] };
      case 'recall':
      case 'search':
        return this.search(command.query);
    }
    throw { code: 'not-found', message: STRINGS.notInFile, help: '' };
  }

  /** Returns the item of a name. */
  named(asked) {
    const { notes, entries } = this.data;
    const name = asked.toLowerCase().replace(/\.md$/, '');
    const isNamed = ({ path, name: title }) =>
      `/${path}`.toLowerCase().replace(/\.md$/, '').endsWith(`/${name}`) || title.toLowerCase() === name;
    return this.found(entries.items.find(item => item.name === asked) ?? notes.items.find(isNamed));
  }

  found(item) {
    if (item === undefined) throw { code: 'not-found', message: STRINGS.notInFile, help: '' };
    return item;
  }

  /** Returns what has every word, titles first. The ranking of the program needs the program. */
  search(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const hit = ({ kind, path, name: title, modified: date, unapproved, superseded_by = null, entry }) => {
      const text = entry?.content ?? (this.data.texts[path] ?? '').replace(/^---\n[^]*?\n---\n/, '');
      const all = `${title}\n${text}`.toLowerCase();
      if (!words.every(word => all.includes(word))) return [];
      const line = text.split('\n').find(line => words.some(word => line.toLowerCase().includes(word))) ?? '';
      const score = words.filter(word => title.toLowerCase().includes(word)).length;
      return [{ kind, path, title, passage: line, date, score, unapproved, parts: [], superseded_by }];
    };
    const { notes, entries } = this.data;
    const hits = [...notes.items, ...entries.items].flatMap(hit).sort((a, b) => b.score - a.score);
    return { hits, total: hits.length, warnings: [], skipped: [] };
  }

  async render(text, path) {
    return this.found(this.data.rendered[path]);
  }

  async difference() {
    return '';
  }

  async status() {
    return this.data.status;
  }

  async hookLog() {
    return [];
  }

  async indexSize() {
    return null;
  }

  async sources() {
    const sources = Object.entries(this.data.texts).map(([path, text]) => [path, provenanceIn(text)]);
    return Object.fromEntries(sources.filter(([, source]) => source));
  }

  async sessions() {
    return this.data.sessions;
  }

  follow() {
    return () => {};
  }
}

/** A call of the page that waits for the chat, in milliseconds. */
const CHAT_TIME = 60_000;

/**
 * The page inside a chat: the host passes calls on as calls of a tool, by messages of the extension MCP Apps. The key comes
 * with the answer of the tool beside which the page is shown.
 */
class MemoryInChat {
  constructor() {
    this.isLive = true;
    this.isReadOnly = true;
    this.isInChat = true;
    this.key = '';
    this.waiting = new Map();
    this.last = 0;
    this.listeners = new Set();
    this.told = new Promise(tell => this.listeners.add(tell));
    addEventListener('message', event => event.source === parent && this.receive(event.data));
  }

  /** Introduces the page to the host. `shown` gets the question that the chat has asked memory. */
  async connect(shown) {
    this.shown = shown;
    const info = { name: 'saddlebag', title: STRINGS.title, version: '1' };
    const reply = await this.request('ui/initialize', {
      appInfo: info,
      appCapabilities: {},
      protocolVersion: '2026-01-26',
    });
    this.dress(reply.hostContext);
    this.send({ method: 'ui/notifications/initialized' });
    new ResizeObserver(() => {
      const { scrollWidth: width, scrollHeight: height } = document.documentElement;
      this.send({ method: 'ui/notifications/size-changed', params: { width, height } });
    }).observe(document.body);
  }

  send(message) {
    parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
  }

  request(method, params) {
    const id = (this.last += 1);
    this.send({ id, method, params });
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject({ code: 'server', message: STRINGS.signedOut, help: '' }), CHAT_TIME);
      this.waiting.set(id, { resolve, reject, timer });
    });
  }

  receive({ id, method, params, result, error } = {}) {
    if (method === undefined) {
      const waiting = this.waiting.get(id);
      if (!waiting) return;
      this.waiting.delete(id);
      clearTimeout(waiting.timer);
      if (error) waiting.reject({ code: 'server', message: error.message, help: '' });
      else waiting.resolve(result);
      return;
    }
    if (method === 'ui/notifications/tool-input') this.shown?.(params.arguments ?? {});
    if (method === 'ui/notifications/tool-result') {
      this.key = params._meta?.['saddlebag/key'] ?? this.key;
      this.isReadOnly = this.key === '';
      for (const listener of this.listeners) listener();
    }
    if (method === 'ui/notifications/host-context-changed') this.dress(params);
    if (id !== undefined) this.send({ id, result: {} });
  }

  /** Takes light or dark from the host. */
  dress(context) {
    if (context?.theme) document.documentElement.style.colorScheme = context.theme;
  }

  async post(name, body) {
    await this.told;
    const reply = await this.request('tools/call', {
      name: 'memory_page',
      arguments: { call: name, body, key: this.key },
    });
    const { answer, error } = reply.structuredContent ?? {};
    if (error || answer === undefined) {
      throw error ?? { code: 'server', message: reply.content?.[0]?.text ?? STRINGS.signedOut, help: '' };
    }
    return answer;
  }

  openLink(url) {
    return this.request('ui/open-link', { url });
  }

  follow(changed) {
    this.listeners.add(changed);
    return () => this.listeners.delete(changed);
  }
}
for (const name of ['call', 'render', 'difference', 'status', 'hookLog', 'indexSize', 'sources', 'sessions']) {
  MemoryInChat.prototype[name] = MemoryOverHttp.prototype[name];
}

/** Returns the memory that this page is for. */
function memoryOfPage() {
  const data = document.getElementById('data');
  if (data) return new MemoryInFile(JSON.parse(data.textContent));
  if (document.querySelector('meta[name="saddlebag-chat"]')) return new MemoryInChat();
  const value = name => document.querySelector(`meta[name="saddlebag-${name}"]`)?.content;
  return new MemoryOverHttp(value('csrf'), value('read-only') === 'true');
}

/** Lists items of a kind. */
const list = (memory, kind, more) =>
  memory.call('items', 'list-items', {
    forgotten: false,
    kinds: [kind],
    filter: null,
    sort: [],
    after: null,
    'zk-links': false,
    'with-text': false,
    'with-links': false,
    ...more,
  });

/** Returns a filter of notes, or null if all are meant. */
function filterOf(conditions, orphan = false) {
  if (conditions.length === 0 && !orphan) return null;
  return { conditions, tagless: false, orphan, 'missing-backlink': false, recursive: false };
}

/** Returns the name that opens a hit of a recall. */
const nameOfHit = hit => (hit.kind === 'entry' ? hit.title : hit.path);

/** The commands that the views use, with the arguments that all of them give. */
const COMMANDS = {
  /** What a session begins with. Nothing is recorded. */
  context: memory => async at => {
    const begin = { session: 'preview', source: 'startup', 'max-bytes': null, form: 'claude', 'dry-run': true };
    const { text, ...reply } = await memory.call('session', 'begin-session', begin, { at });
    return { ...reply, block: text };
  },
  /** `score` has the unit of `--min-score`. */
  preview: memory => (prompt, { bytes, score, form }) =>
    memory.call('session', 'recall-for-prompt', {
      session: 'preview',
      prompt,
      'max-bytes': bytes,
      'min-score': Math.round(score * 1000),
      'keep-out': [],
      'dry-run': true,
      form,
    }),
  recall: memory => (query, more = {}) =>
    memory.call('items', 'recall', {
      query,
      kinds: [],
      offset: 0,
      sort: [],
      explain: false,
      everywhere: false,
      'assume-unchanged': false,
      ...more,
    }),
  search: memory => (query, limit) =>
    memory.call('journal', 'search', { query, offset: 0, limit, 'assume-unchanged': false, 'all-files': true }),
  resolve: memory => name => memory.call('items', 'show', { name, offset: '0', 'max-bytes': 0 }),
  notes: memory => async ({ conditions = [], orphan = false, ...more } = {}) => {
    const sort = [{ by: 'modified', ascending: false }];
    const reply = await list(memory, 'note', { filter: filterOf(conditions, orphan), sort, ...more });
    return { ...reply, notes: reply.items.map(note => ({ ...note, title: note.name })) };
  },
  entries: memory => async (limit, after = null) => {
    const reply = await list(memory, 'entry', { limit, after });
    return { ...reply, entries: reply.items.map(item => item.entry) };
  },
  entry: memory => key => entryOf(memory, key),
  files: memory => (limit, after = null) => memory.call('items', 'list-files', { limit, after }),
  pending: memory => (more = {}) => memory.call('trust', 'pending', more),
  approve: memory => (items, options) =>
    memory.call('trust', 'approve', { items, 'dry-run': false }, options),
  reject: memory => (items, isForGood, options) =>
    memory.call('trust', 'reject', { items, 'dry-run': false, 'for-good': isForGood }, options),
  /** Without values, the command changes nothing and returns the policy and the size of the history. */
  historyPolicy: memory => () => memory.call('history', 'set-history-policy', {}),
  operations: memory => more => memory.call('history', 'list-operations', more),
  versions: memory => (name, more = {}) => memory.call('history', 'list-versions', { name, patch: false, ...more }),
  restoreVersion: memory => (name, version, options) =>
    memory.call('items', 'restore', { name, version, 'dry-run': false, 'lift-rejection': false }, options),
  undo: memory => (more, options) =>
    memory.call(
      'history',
      'undo',
      { operations: [], 'only-own': false, 'skip-conflicts': false, 'dry-run': false, redo: false, ...more },
      options,
    ),
  handOff: memory => (session, choice, options) =>
    memory.call('session', 'choose-hand-off', { session, choice }, options),
  deadLinks: memory => () => memory.call('notebook', 'dead-links', { 'only-notes': true }),
  mentions: memory => note => memory.call('items', 'unlinked-mentions', { note }),
  link: memory => (source, target, options) => memory.call('items', 'link', { source, target }, options),
  tag: memory => (name, add, remove, options) => memory.call('items', 'tag', { name, add, remove }, options),
  rename: memory => (note, title, options) => memory.call('items', 'rename', { note, title }, options),
  remember: memory => (title, content, options) =>
    memory.call('items', 'write', { item: { note: { title, content, template: 'fact', tags: [], links: [], supersede: false } } }, options),
  forget: memory => (name, options) => memory.call('items', 'forget', { name }, options),
  storeEntry: memory => ({ version, ...entry }, options) =>
    memory.call('items', 'write', { item: { entry: { entry, 'expected-version': version } } }, options),
  append: memory => (path, content, options) =>
    memory.call('items', 'write', { item: { file: { target: { page: path }, mode: 'append', content, truncate: false } } }, options),
  replace: memory => (path, before, after, options) =>
    memory.call('items', 'edit', { name: path, 'old-text': before, 'new-text': after }, options),
};

/** Returns the reply of a store. A refusal is an error: then nothing was stored. */
function asStored(reply) {
  if (!['conflict', 'forgotten', 'held'].includes(reply.state)) return reply;
  throw { code: 'stale-version', message: reply.message, help: '' };
}

/** Returns the commands on a memory. */
function commandsOf(memory) {
  return Object.fromEntries(Object.entries(COMMANDS).map(([name, command]) => [name, command(memory)]));
}

/** Returns a reply, or null if there is no such item. Any other error stays one. */
function orNothing(asked) {
  return asked.catch(error => {
    if (['not-found', 'entry-not-found'].includes(error.code)) return null;
    throw error;
  });
}

/** Returns the entry of a key. */
const entryOf = async (memory, name) => (await memory.call('items', 'show', { name, kind: 'entry', offset: '0' })).entry;

/** Returns the whole text of a file, which is read in parts. */
async function wholeText(memory, path) {
  let text = '';
  let offset = 0;
  for (;;) {
    const part = await memory.call('items', 'show', { name: path, offset: String(offset) });
    if (part.state === 'missing') throw { code: 'not-found', message: STRINGS.memory.missing, help: path };
    text += part.text;
    if (part.next_offset === null || part.next_offset === undefined) return text;
    offset = part.next_offset;
  }
}
