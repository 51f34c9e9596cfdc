/** Number of notes, and of files, on one page of a complete listing. */
const PAGE_NOTES = 2000;
const PAGE_FILES = 1000;

/** Maximum number of entries, and of items that wait for approval, that are read. */
const MAX_ENTRIES = 10_000;
const MAX_PENDING = 1000;

/** Maximum number of hits of a search that facets filter and count. */
const MAX_FOUND = 1000;

/** Facets. At most one value of each is chosen. */
const FACETS = ['kind', 'state', 'scope', 'source', 'age', 'expiry', 'tag'];

const NO_FACETS = { ...Object.fromEntries(FACETS.map(facet => [facet, ''])), isLiteral: false, isEverywhere: false };

const DAY = 86_400_000;

/** Returns the values of an item for each facet. The writer of an item may be unknown. */
function valuesOf(row) {
  const date = row.date ? new Date(row.date).valueOf() : NaN;
  const age = Date.now() - date;
  const ages = { today: date >= new Date().setHours(0, 0, 0, 0), week: age < 7 * DAY, month: age < 30 * DAY, older: age >= 30 * DAY };
  const isOfProject = /^projects\/(?!user\/)/.test(row.path) || row.projects?.length > 0;
  return {
    kind: [row.kind],
    state: [row.unapproved ? 'unapproved' : 'approved'],
    scope: [isOfProject ? 'project' : 'all'],
    source: [row.source ?? row.unapproved].filter(Boolean),
    age: Object.keys(ages).filter(name => ages[name]),
    expiry: row.expires ? ['expires'] : [],
    tag: row.tags ?? [],
  };
}

/** Returns true if an item with these values matches every chosen facet. */
const haveAll = (values, choices) => FACETS.every(facet => !choices[facet] || values[facet].includes(choices[facet]));

const isFiltered = facets => FACETS.some(facet => facets[facet]);

/** Returns up to so many entries, which come in pages, and how many there are. */
async function entriesUpTo(commands, limit) {
  const all = [];
  let cursor = null;
  let total = 0;
  do {
    const page = await commands.entries(Math.min(limit - all.length, 100), cursor);
    all.push(...page.entries);
    [cursor, total] = [page.next, page.total];
  } while (cursor && all.length < limit);
  return { entries: all, total };
}

/** Returns what all pages have in a field. */
async function every(field, ask) {
  const all = [];
  let after = null;
  do {
    const page = await ask(after);
    all.push(...page[field]);
    after = page.next;
  } while (after);
  return all;
}

/** Items of memory, and the version of the page for which they were read. */
let known = { version: null, items: null };

/** Returns all items of memory by path. They are read again after each change. */
function itemsOf(page) {
  if (known.version !== page.version) {
    known = { version: page.version, items: readItems(page) };
    known.items.catch(() => (known = { version: null, items: null }));
  }
  return known.items;
}

async function readItems({ commands, memory }) {
  const [notes, entries, files, pending, sources] = await Promise.all([
    every('notes', after => commands.notes({ limit: PAGE_NOTES, after })),
    entriesUpTo(commands, MAX_ENTRIES),
    every('files', after => commands.files(PAGE_FILES, after)),
    commands.pending({ limit: MAX_PENDING }),
    memory.sources(),
  ]);
  const items = new Map();
  // The file of a forgotten entry is not an item.
  for (const file of files) if (!isOfEntries(file.path)) items.set(file.path, rowOfFile(file));
  for (const note of notes) {
    const row = rowOfNote(note);
    // A log has text of several writers.
    items.set(row.path, { ...row, source: sources[row.path] ?? (row.kind === 'log' ? null : 'user') });
  }
  for (const entry of entries.entries) items.set(entry.path, rowOfEntry(entry));
  for (const item of pending.items) {
    const row = items.get(item.path);
    items.set(item.path, { ...rowOfPending(item), ...row, lead: row?.lead || item.preview });
  }
  return items;
}

/** Returns the items of memory as rows, the newest first, or those that expire first. */
async function listed(page, { limit, ...facets }) {
  if (isFiltered(facets)) {
    const all = [...(await itemsOf(page)).values()].filter(
      row => (facets.kind || row.kind !== 'file') && haveAll(valuesOf(row), facets),
    );
    const later = field => (a, b) => String(b[field]).localeCompare(String(a[field]));
    all.sort(facets.expiry ? (a, b) => later('expires')(b, a) : later('date'));
    return { rows: all.slice(0, limit), total: all.length, hasMore: all.length > limit };
  }
  const { commands } = page;
  const [notes, entries] = await Promise.all([commands.notes({ limit }), entriesUpTo(commands, limit)]);
  const rows = [...notes.notes.map(rowOfNote), ...entries.entries.map(rowOfEntry)];
  rows.sort((a, b) => String(b.date).localeCompare(String(a.date)));
  const total = notes.total + entries.total;
  return { rows, total, hasMore: rows.length < total };
}

/** Returns true for the file of an entry, which may be forgotten. */
const isOfEntries = path => /(^|\/)(agents|workspaces)\/[^/]+\/entries\//.test(path);

/** Returns true for a note of any kind. */
const isNote = ({ kind }) => ['note', 'log', 'session'].includes(kind);

/** Time after its last change in which an entry of the category `daily` expires, in milliseconds. */
const DAILY_TIME = 72 * 3_600_000;

/** Returns the time when an entry expires, or null if it does not. */
const expiryOf = (category, changed) =>
  category === 'daily' && changed ? new Date(new Date(changed).valueOf() + DAILY_TIME).toISOString() : null;

const rowOfPending = item => ({
  id: item.path,
  name: item.is_entry ? item.name : item.path,
  path: item.path,
  kind: item.is_entry ? 'entry' : 'note',
  title: nameOf(item),
  lead: item.preview,
  date: null,
  unapproved: item.provenance,
  source: item.provenance,
  projects: item.projects,
});

const rowOfFile = file => ({
  id: file.path,
  name: file.path,
  path: file.path,
  kind: 'file',
  title: file.path,
  lead: '',
  date: file.modified,
  unapproved: null,
});

const rowOfNote = note => ({
  id: note.path,
  name: note.path,
  path: note.path,
  kind: note.kind,
  title: note.title,
  lead: note.lead,
  date: note.modified,
  unapproved: note.unapproved,
  newer: note,
  tags: note.tags,
});

const rowOfEntry = entry => ({
  id: entry.path,
  name: entry.key,
  path: entry.path,
  kind: 'entry',
  title: entry.key,
  lead: entry.content,
  date: entry.updated,
  unapproved: entry.unapproved,
  tags: entry.tags,
  source: entry.provenance,
  projects: entry.only_in,
  expires: expiryOf(entry.category, entry.updated),
});

const rowOfHit = hit => ({
  id: hit.path,
  name: nameOfHit(hit),
  path: hit.path,
  kind: hit.kind,
  title: hit.title,
  lead: hit.passage,
  date: hit.date,
  unapproved: hit.unapproved,
  newer: hit,
  projects: hit.only_in,
  expires: expiryOf(hit.category, hit.date),
});

/** A file that has the words, as a row of the item that it is. */
const rowOfMatch = (hit, item) => ({
  id: hit.path,
  name: item?.name ?? hit.path,
  path: hit.path,
  kind: item?.kind ?? 'file',
  title: item?.title ?? hit.path.split('/').pop().replace(/\.md$/, ''),
  lead: lineWith(hit.terms ?? [], hit.body ?? ''),
  date: item?.date ?? hit.date,
  unapproved: hit.unapproved,
  tags: item?.tags,
});

/** Returns the first line that has one of the words, or else the first one. */
function lineWith(words, text) {
  const lines = text.split('\n').map(line => line.trim()).filter(line => line && line !== '…');
  const has = line => words.some(word => line.toLowerCase().includes(word.toLowerCase()));
  return lines.find(has) ?? lines[0] ?? '';
}

/** Number of hits below which parts of words are looked for too. */
const FEW_ROWS = 10;

/** Returns what answers a question, best first, or what has its words literally. */
async function searched(page, { query, isLiteral, isEverywhere, limit, ...facets }) {
  const { commands } = page;
  const isChosen = isFiltered(facets);
  const items = isChosen ? await itemsOf(page) : new Map();
  const isAsked = (row, asked = facets) => haveAll(valuesOf(items.get(row.path) ?? row), asked);
  if (isLiteral) {
    const reply = await commands.search(query, isChosen ? MAX_FOUND : limit);
    const all = await rowsOfMatches(page, reply.hits);
    const isCut = all.length < reply.total_files;
    if (!isChosen) return { query, rows: all, total: reply.total_files, hasMore: isCut, isCut };
    const rows = all.filter(row => isAsked(row));
    return { query, rows: rows.slice(0, limit), total: rows.length, hasMore: rows.length > limit, isCut };
  }
  const reply = await commands.recall(query, {
    kinds: facets.kind ? [facets.kind] : [],
    limit: isChosen ? MAX_FOUND : limit,
    everywhere: Boolean(isEverywhere),
    filter: filterOf(facets.tag && isEverywhere ? [{ kind: 'tag', value: facets.tag }] : []),
  });
  // The page does not know the tags of notes of other projects, so the program filters by tag.
  const others = isEverywhere ? { ...facets, tag: '' } : facets;
  const found = reply.hits.map(rowOfHit).filter(row => isAsked(row, others));
  // While the last word is being typed, it may be a part of a word.
  const parts = found.length < FEW_ROWS && !isEverywhere ? await commands.search(query, isChosen ? MAX_FOUND : limit) : { hits: [] };
  const paths = new Set(found.map(row => row.path));
  const matches = await rowsOfMatches(page, parts.hits.filter(hit => !paths.has(hit.path)));
  const all = [...found, ...matches.filter(row => isAsked(row))];
  const isCut = reply.hits.length < reply.total;
  if (isChosen) return { query, rows: all.slice(0, limit), total: all.length, hasMore: all.length > limit, isCut };
  return { query, rows: all, total: Math.max(reply.total, all.length), hasMore: isCut, isCut };
}

/** Returns the rows of files that have the words. What kind of item a file is only the items of memory say. */
async function rowsOfMatches(page, hits) {
  const items = hits.length > 0 ? await itemsOf(page) : new Map();
  return hits.map(hit => rowOfMatch(hit, items.get(hit.path)));
}

/** Returns the number of items for each value of each facet. Counted are the items that match the words and the other facets. */
async function numbersOf(page, query, { isLiteral, isEverywhere, ...facets }) {
  const items = await itemsOf(page);
  const found = query ? await searched(page, { query, isLiteral, isEverywhere, limit: MAX_FOUND }) : null;
  const rows = found ? found.rows.map(row => items.get(row.path) ?? row) : [...items.values()];
  const values = rows.map(valuesOf);
  const numbers = { isCut: Boolean(found?.isCut), hasProject: [...items.values()].some(row => valuesOf(row).scope[0] === 'project') };
  for (const facet of FACETS) {
    const others = { ...facets, [facet]: '' };
    // Without words, files are listed only if their kind is chosen.
    const isListed = of => found || facet === 'kind' || facets.kind || of.kind[0] !== 'file';
    numbers[facet] = {};
    for (const of of values) {
      if (!isListed(of) || !haveAll(of, others)) continue;
      for (const value of of[facet]) numbers[facet][value] = (numbers[facet][value] ?? 0) + 1;
    }
  }
  return numbers;
}

/** Returns the provenance in the frontmatter of a note; null if there is none, because a person wrote it. */
function provenanceIn(content) {
  const [, head = ''] = /^---\n([\s\S]*?)\n---/.exec(content) ?? [];
  return /^provenance: *"?(\w+)/m.exec(head)?.[1] ?? null;
}
