/** Number of rows of a list at first, and with each more. */
const PAGE_ROWS = 50;

/** Forgets the selected items, if some are selected: then they are meant, not the open one. */
let forgetSelection = null;

/** The last search and filters, for when the reader comes back. */
let lastSearch = { query: '', facets: NO_FACETS };

/** Facets, list and note. */
function LibraryView({ name, question = '', go }) {
  const page = useContext(Page);
  const { commands, memory, change } = page;
  const [query, setQuery] = useState(question || lastSearch.query);
  const [facets, setFacets] = useState(lastSearch.facets);
  lastSearch = { query, facets };
  const [limit, setLimit] = useState(PAGE_ROWS);
  const [current, setCurrent] = useState(null);
  const [selected, setSelected] = useState(new Set());
  const search = useRef(null);
  const answer = useAnswer(
    () => (query.trim() ? searched(page, { query: query.trim(), limit, ...facets }) : listed(page, { limit, ...facets })),
    [query, limit, ...Object.values(facets)],
  );
  const rows = answer.reply?.rows ?? [];
  const open = row => go(`memory/${encodeURIComponent(row.name)}`);
  const move = by => {
    const id = step(rows, current, by);
    if (id === current && by > 0 && answer.reply?.hasMore) setLimit(limit + PAGE_ROWS);
    setCurrent(id);
    document.getElementById(`row-${rows.findIndex(row => row.id === id)}`)?.focus();
  };
  const toggle = id => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    setSelected(next);
  };
  const chosen = rows.filter(row => selected.has(row.id));
  const forgetAll = async () => {
    const done = await change(async options => {
      return each(chosen, row => commands.forget(row.path, options));
    }, STRINGS.memory.forgottenMany(chosen.length));
    if (done) setSelected(new Set());
  };
  useKeys(
    {
      '/': () => search.current?.focus(),
      j: () => move(1),
      k: () => move(-1),
      x: () => current && toggle(current),
      Enter: () => {
        const row = rows.find(row => row.id === current);
        if (row) open(row);
      },
      '#': () => forgetSelection?.(),
    });
  forgetSelection = chosen.length > 0 && !memory.isReadOnly ? forgetAll : null;
  const isEmpty = answer.reply && rows.length === 0 && !query.trim() && Object.values(facets).every(value => !value);
  return html`<div class=${`columns three ${name ? 'has-item' : ''}`}>
    <${Facets} query=${query.trim()} facets=${facets} setFacets=${setFacets} isLive=${memory.isLive} />
    <section class="items" aria-labelledby="items-title" tabindex="-1">
      <h1 id="items-title" class="visually-hidden">${STRINGS.memory.list}</h1>
      <div class="bar">
        <input
          type="search"
          ref=${search}
          aria-label=${STRINGS.memory.search}
          placeholder=${STRINGS.memory.search}
          value=${query}
          onInput=${event => setQuery(event.target.value)}
        />
        ${!memory.isReadOnly && html`<a class="button" href="#/new">${STRINGS.memory.fresh}</a>`}
      </div>
      <${Answer} answer=${answer}>
        ${reply =>
          isEmpty
            ? html`<${FirstSteps} />`
            : html`<p class="faint" role="status">
                  ${rows.length === 0 ? STRINGS.memory.nothing : STRINGS.memory.total(rows.length, Math.max(reply.total, rows.length))}
                </p>
                ${chosen.length > 0 && html`<${Bulk} rows=${chosen} onForget=${forgetAll} onDone=${() => setSelected(new Set())} />`}
                <ul class="list" data-query=${reply.query}>
                  ${rows.map(
                    (row, index) => html`<li key=${row.id} class=${row.name === name ? 'current' : ''}>
                      ${!memory.isReadOnly &&
                      html`<input
                        type="checkbox"
                        aria-label=${STRINGS.memory.select(row.title)}
                        checked=${selected.has(row.id)}
                        onChange=${() => toggle(row.id)}
                      />`}
                      <a
                        class=${row.newer?.superseded_by ? 'row superseded' : 'row'}
                        id=${`row-${index}`}
                        href=${`#/memory/${encodeURIComponent(row.name)}`}
                        aria-current=${row.name === name ? 'true' : null}
                        data-current=${row.id === current ? '' : null}
                        onFocus=${() => setCurrent(row.id)}
                      >
                        <span class="title"><${Shown} text=${row.title} /></span>
                        <span class=${`tag kind-${row.kind}`}>${row.kind}</span>
                        <${Newer} of=${row.newer} />
                        <${Waits} of=${row.unapproved} />
                        ${row.expires && html`<span class="tag">${STRINGS.memory.expiresAt} <${Time} value=${row.expires} /></span>`}
                        <span class="day"><${Day} value=${row.date} /></span>
                        <span class="lead"><${Shown} text=${String(row.lead ?? '').slice(0, 200)} /></span>
                      </a>
                    </li>`,
                  )}
                </ul>
                ${reply.hasMore &&
                html`<button type="button" onClick=${() => setLimit(limit + PAGE_ROWS)}>${STRINGS.more}</button>`}`}
      <//>
    </section>
    <section class="item" aria-label=${name ?? STRINGS.memory.choose} tabindex="-1">
      ${name
        ? html`<a class="back" href="#/memory">${STRINGS.memory.back}</a><${ItemView} key=${name} name=${name} go=${go} />`
        : html`<p class="faint">${STRINGS.memory.choose}</p>`}
    </section>
  </div>`;
}

/** Number of tags that are offered. */
const MOST_TAGS = 40;

/** Pause in typing after which the facets are counted, in milliseconds. */
const PAUSE = 200;

function Facets({ query, facets, setFacets, isLive }) {
  const page = useContext(Page);
  const answer = useAnswer(() => numbersOf(page, query, facets), [query, ...Object.values(facets)], { isLater: true, pause: PAUSE });
  const numbers = answer.reply;
  const choice = (facet, value, label) => {
    const number = numbers && `${numbers[facet][value] ?? 0}${numbers.isCut ? '+' : ''}`;
    return html`<button
      type="button"
      class="facet"
      aria-pressed=${facets[facet] === value ? 'true' : 'false'}
      onClick=${() => setFacets({ ...facets, [facet]: facets[facet] === value ? '' : value })}
    >
      <${Shown} text=${label} />${number !== undefined && html` <span class="faint">${number}</span>`}
    </button>`;
  };
  const group = (facet, title, choices) => html`<h2>${title}</h2>
    ${Object.entries(choices).map(([value, label]) => choice(facet, value, label))}`;
  const check = (field, label) =>
    html`<label class="check">
      <input
        type="checkbox"
        checked=${facets[field]}
        onChange=${event => setFacets({ ...facets, [field]: event.target.checked })}
      />
      ${label}
    </label>`;
  const numberOf = tag => numbers?.tag[tag] ?? 0;
  const tags = [...new Set([facets.tag, ...Object.keys(numbers?.tag ?? {})])].filter(Boolean);
  return html`<section class="facets" aria-label=${STRINGS.memory.facets}>
    ${group('kind', STRINGS.memory.kind, STRINGS.memory.kinds)} ${group('state', STRINGS.memory.state, STRINGS.memory.states)}
    ${(!numbers || numbers.hasProject) && group('scope', STRINGS.memory.scope, STRINGS.memory.scopes)}
    ${group('source', STRINGS.memory.writer, STRINGS.memory.sources)} ${group('age', STRINGS.memory.age, STRINGS.memory.ages)}
    ${group('expiry', STRINGS.memory.expiry, STRINGS.memory.expiries)}
    ${isLive &&
    html`<h2>${STRINGS.memory.search}</h2>
      ${check('isLiteral', STRINGS.memory.literal)} ${check('isEverywhere', STRINGS.memory.everywhere)}`}
    ${tags.length > 0 &&
    html`<h2>${STRINGS.memory.tags}</h2>
      ${tags
        .sort((a, b) => numberOf(b) - numberOf(a))
        .slice(0, MOST_TAGS)
        .map(tag => choice('tag', tag, tag))}`}
  </section>`;
}

/** Does the same to each row. What fails is skipped, with its reason. */
async function each(rows, work) {
  const skipped = [];
  for (const row of rows) await work(row).catch(error => skipped.push({ reason: `${row.title}: ${error.message}` }));
  return { skipped };
}

/** Returns the tags in a field. A tag may have spaces. */
function tagsIn(text) {
  return text
    .split(',')
    .map(tag => tag.trim())
    .filter(Boolean);
}

function Bulk({ rows, onForget, onDone }) {
  const { commands, change } = useContext(Page);
  const [tags, setTags] = useState('');
  const addTags = async event => {
    event.preventDefault();
    const added = tagsIn(tags);
    const done = await change(async options => {
      return each(rows, row =>
        commands.tag(row.path, added, [], options),
      );
    }, STRINGS.memory.saved);
    if (done) onDone();
  };
  return html`<form class="bulk" onSubmit=${addTags}>
    <span role="status">${STRINGS.memory.selected(rows.length)}</span>
    <button type="button" onClick=${onForget}>${STRINGS.memory.forgetSelected}</button>
    <input aria-label=${STRINGS.memory.tagField} placeholder=${STRINGS.memory.tagField} value=${tags} onInput=${event => setTags(event.target.value)} />
    <button type="submit">${STRINGS.memory.tagSelected}</button>
  </form>`;
}

function FirstSteps() {
  return html`<div class="first-steps">
    <h2>${STRINGS.memory.empty.title}</h2>
    <ol>
      ${STRINGS.memory.empty.steps.map(([what, command]) => html`<li>${what}<pre><code>${command}</code></pre></li>`)}
    </ol>
  </div>`;
}
