/** What waits for approval: one item, its source, what it changed, and one key for each answer. */
function InboxView() {
  const { commands, memory, change } = useContext(Page);
  const [source, setSource] = useState('');
  const [chosen, setChosen] = useState(null);
  /** Item that is being edited, and the one that is asked about. They stay, whatever others do to the list. */
  const [edited, setEdited] = useState(null);
  const [refused, setRefused] = useState(null);
  const shownLast = useRef(null);
  const isAnswering = useRef(false);
  /** Versions of the selected items when they were selected, by path. */
  const [marked, setMarked] = useState(new Map());
  /** Set after the first key or answer. From then on the focus stays in the list. */
  const isInList = useRef(false);
  const list = useRef(null);
  const item = useRef(null);
  const [limit, setLimit] = useState(50);
  const answer = useAnswer(() => commands.pending({ limit, source: source || null }), [source, limit]);
  const items = answer.reply?.items ?? [];
  const rows = items.map(item => ({ ...item, id: item.path }));
  const current = rows.find(row => row.id === chosen) ?? rows.find(row => row.id === shownLast.current) ?? rows[0];
  shownLast.current = current?.id;
  const detail = useAnswer(() => (current ? commands.pending({ name: current.path }) : null), [current?.path, current?.version]);
  const whole = detail.reply?.items?.[0];
  const isWhole = whole && whole.path === current?.path;

  useLayoutEffect(() => {
    const focused = document.activeElement;
    const isLost = !focused || focused === document.body;
    if (!isInList.current || !(isLost || list.current?.contains(focused))) return;
    // A check box keeps the focus while its row is there.
    if (focused?.type === 'checkbox') return;
    const row = list.current?.querySelector('[aria-current]');
    // A narrow window shows either the list or the item.
    const wanted = row?.offsetParent ? row : (item.current ?? document.getElementById('main'));
    if (wanted !== focused) wanted.focus();
  });

  const next = () => {
    isInList.current = true;
    const at = rows.findIndex(row => row.id === current?.id);
    setEdited(null);
    setChosen((rows[at + 1] ?? rows[at - 1])?.id ?? null);
  };
  /** Answers for the version of an item that the reader has seen. */
  const answerWith = async (item, work, told) => {
    // A key that repeats must not answer for an item that is gone.
    if (!item || memory.isReadOnly || isAnswering.current) return;
    isAnswering.current = true;
    const { path, version } = item;
    const answered = await change(async options => {
      const reply = await work([{ name: path, version }], options);
      if (reply.skipped.length > 0) {
        const now = await commands.pending({ name: path }).catch(() => null);
        const message = now?.items[0]?.version === version ? reply.skipped[0].reason : STRINGS.inbox.changed;
        throw { code: 'stale-version', message, help: '' };
      }
      return reply;
    }, told(nameOf(item)));
    isAnswering.current = false;
    if (answered) next();
  };
  const seen = isWhole ? whole : null;
  const refuse = (items, options) => commands.reject(items, false, options);
  const selected = rows.filter(row => marked.has(row.id));
  const toggle = row => {
    const now = new Map(marked);
    if (!now.delete(row.id)) now.set(row.id, row.version);
    setMarked(now);
  };
  /** Answers for all selected items as one operation, in the versions in which they were selected. */
  const answerSelected = async (work, told) => {
    if (memory.isReadOnly || isAnswering.current) return;
    isAnswering.current = true;
    isInList.current = true;
    const items = selected.map(({ path }) => ({ name: path, version: marked.get(path) }));
    let skipped = items;
    await change(async options => {
      const reply = await work(items, options);
      skipped = reply.skipped;
      return reply;
    }, told(STRINGS.inbox.items(items.length)));
    isAnswering.current = false;
    // What was not answered stays marked, also what was marked meanwhile.
    const isAnswered = ({ name }) => skipped.every(item => item.name !== name);
    const answered = items.filter(isAnswered);
    setMarked(now => new Map([...now].filter(([path]) => answered.every(item => item.name !== path))));
  };
  const accept = () => answerWith(seen, commands.approve, STRINGS.inbox.accepted);
  const reject = () => answerWith(seen, refuse, STRINGS.inbox.rejected);
  const rejectForGood = item =>
    answerWith(item, (list, options) => commands.reject(list, true, options), STRINGS.inbox.rejectedForGood);
  const edit = () => current && !memory.isReadOnly && setEdited(current);
  const askForGood = () => !memory.isReadOnly && setRefused(seen);
  const shown = nameOf(current);
  const move = by => {
    isInList.current = true;
    setChosen(step(rows, current?.id, by));
  };
  useKeys(
    edited ? QUIET : {
      j: () => move(1),
      k: () => move(-1),
      x: () => current && !memory.isReadOnly && toggle(current),
      // These keys answer for the shown item, never for the selected ones.
      a: accept,
      r: reject,
      R: askForGood,
      e: edit,
    });
  // Answers to what is listed, in the versions that are listed.
  const all = (work, told) =>
    change(options => work(items.map(({ path, version }) => ({ name: path, version })), options), told);
  const sources = [...new Set(items.flatMap(item => [item.source, item.provenance === 'agent' ? 'agent' : null]).filter(Boolean))];

  return html`<div class=${`columns two inbox ${chosen ? 'has-item' : ''}`}>
    <section aria-labelledby="inbox-title">
      <div class="bar">
        <h1 id="inbox-title">${STRINGS.views.inbox}</h1>
        <label>
          ${STRINGS.inbox.source}
          <select value=${source} onChange=${event => setSource(event.target.value)}>
            <option value="">${STRINGS.inbox.anySource}</option>
            ${[...new Set(['tool', 'import', ...sources, ...(source ? [source] : [])])].map(
              name => html`<option value=${name}>${name}</option>`,
            )}
          </select>
        </label>
      </div>
      <${Answer} answer=${answer}>
        ${reply =>
          reply.items.length === 0
            ? html`<p>${source ? STRINGS.inbox.nothingFrom(source) : STRINGS.inbox.nothing}</p>`
            : html`<p class="faint">${STRINGS.inbox.waits(reply.total)}</p>
                ${selected.length > 0 &&
                html`<div class="bulk buttons">
                  <span role="status">${STRINGS.memory.selected(selected.length)}</span>
                  <button type="button" class="main" onClick=${() => answerSelected(commands.approve, STRINGS.inbox.accepted)}>
                    ${STRINGS.inbox.acceptSelected}
                  </button>
                  <button type="button" onClick=${() => answerSelected(refuse, STRINGS.inbox.rejected)}>
                    ${STRINGS.inbox.rejectSelected}
                  </button>
                </div>`}
                <ul class="list" aria-label=${STRINGS.views.inbox} ref=${list}>
                  ${rows.map(
                    row => html`<li key=${row.id} class=${row.id === current?.id ? 'current' : ''}>
                      ${!memory.isReadOnly &&
                      html`<input
                        type="checkbox"
                        aria-label=${STRINGS.memory.select(nameOf(row))}
                        checked=${marked.has(row.id)}
                        onChange=${() => toggle(row)}
                      />`}
                      <button
                        type="button"
                        class="row"
                        aria-current=${row.id === current?.id ? 'true' : null}
                        onClick=${() => {
                          setEdited(null);
                          setChosen(row.id);
                        }}
                      >
                        <span class="title"><${Shown} text=${nameOf(row)} /></span>
                        ${row.findings.length > 0 && html`<span class="tag waits">!</span>`}
                        <span class="lead"><${Shown} text=${leadOf(row)} /></span>
                      </button>
                    </li>`,
                  )}
                </ul>
                ${reply.next && html`<button type="button" onClick=${() => setLimit(limit + 200)}>${STRINGS.more}</button>`}
                ${!memory.isReadOnly &&
                html`<div class="buttons">
                  <${Confirmed}
                    label=${STRINGS.inbox.acceptAll}
                    question=${STRINGS.inbox.confirmAll(STRINGS.inbox.acceptAll, items.length)}
                    onConfirm=${() => all(commands.approve, STRINGS.inbox.accepted(STRINGS.inbox.items(items.length)))}
                  />
                  <${Confirmed}
                    label=${STRINGS.inbox.rejectAll}
                    question=${STRINGS.inbox.confirmAll(STRINGS.inbox.rejectAll, items.length)}
                    onConfirm=${() => all(refuse, STRINGS.inbox.rejected(STRINGS.inbox.items(items.length)))}
                  />
                </div>`}`}
      <//>
    </section>
    ${current &&
    html`<section aria-label=${shown} tabindex="-1" ref=${item}>
      <button type="button" class="back" onClick=${() => setChosen(null)}>${STRINGS.memory.back}</button>
      <h2><${Shown} text=${shown} /></h2>
      ${!memory.isReadOnly &&
      html`<div class="buttons">
        <button type="button" class="main" onClick=${accept}>${STRINGS.inbox.accept}</button>
        <button type="button" onClick=${edit}>${STRINGS.inbox.edit}</button>
        <button type="button" onClick=${reject}>${STRINGS.inbox.reject}</button>
        <button type="button" onClick=${askForGood}>${STRINGS.inbox.rejectForGood}</button>
      </div>`}
      ${refused &&
      html`<${Dialog} title=${STRINGS.inbox.rejectForGood} onClose=${() => setRefused(null)}>
        <p><strong><${Shown} text=${nameOf(refused)} /></strong></p>
        <p>${STRINGS.inbox.forGoodQuestion}</p>
        <button
          type="button"
          class="main"
          autofocus
          onClick=${() => {
            setRefused(null);
            rejectForGood(refused);
          }}
        >
          ${STRINGS.confirm}
        </button>
      <//>`}
      <${Facts}
        rows=${Object.entries(STRINGS.inbox.facts).map(([field, label]) => {
          const value = current[field];
          return [label, field === 'provenance' ? STRINGS.inbox.provenance[value] : Array.isArray(value) ? value.join(', ') : value];
        })}
      />
      ${current.findings.length > 0 &&
      html`<ul class="findings">
        ${current.findings.map(found => html`<li>${found.kind}: <${Shown} text=${found.what} /> × ${found.count}</li>`)}
      </ul>`}
      ${edited
        ? html`<${EditPending} key=${edited.path} item=${edited} onDone=${next} onCancel=${() => {
            isInList.current = true;
            setEdited(null);
          }} />`
        : html`<${Answer} answer=${detail}>
            ${() => isWhole && html`<pre class="text" tabindex="0"><${Shown} text=${whole.text ?? whole.preview} /></pre>`}
          <//>`}
      <${LastChange} name=${current.path} />
    </section>`}
  </div>`;
}

/** Returns the key of an entry, or the title of a note. */
function nameOf(item) {
  if (!item || item.is_entry) return item?.name ?? '';
  const first = item.preview.split('\n')[0].replace(/^#+\s*/, '');
  return first || item.path.split('/').pop();
}

/** Returns the beginning of a text without the title, which is shown beside it. */
function leadOf(item) {
  return item.is_entry ? item.preview : item.preview.replace(/^#+ [^\n]*\s*/, '');
}

/** Facts that are known, a row each. */
function Facts({ rows }) {
  const known = rows.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return html`<dl class="facts">
    ${known.map(
      ([label, value]) =>
        html`<div>
          <dt>${label}</dt>
          <dd>${typeof value === 'object' ? value : html`<${Shown} text=${value} />`}</dd>
        </div>`,
    )}
  </dl>`;
}

/** Edits the text of an item, and accepts what was saved. */
function EditPending({ item, onDone, onCancel }) {
  const { commands, memory, change } = useContext(Page);
  const key = `inbox ${item.path}`;
  /** Reads the text as it is now. */
  const read = async () =>
    item.is_entry ? commands.entry(item.name) : { content: await wholeText(memory, item.path) };
  const text = useAnswer(read, [item.path]);
  const save = async draft => {
    const before = DRAFTS.get(key)?.base ?? text.reply;
    const changedMeanwhile = { code: 'stale-version', message: STRINGS.inbox.changed, help: '' };
    const saved = await change(async options => {
      const now = await read();
      if (now.content !== before.content || now.version !== before.version) throw changedMeanwhile;
      if (draft !== before.content) await storeText(commands, item, before, draft, options);
      // Only the text that was saved is accepted. An acceptance is for one version, so what comes later is not.
      const { items } = await commands.pending({ name: item.path }).catch(() => ({ items: [] }));
      if (items.length === 0) return { message: STRINGS.memory.saved };
      if ((await read()).content !== draft) throw changedMeanwhile;
      return commands.approve([{ name: item.path, version: items[0].version }], options);
    }, STRINGS.inbox.accepted(nameOf(item)));
    if (saved) {
      DRAFTS.delete(key);
      onDone();
    }
  };
  const cancel = () => {
    DRAFTS.delete(key);
    onCancel();
  };
  return html`<${Answer} answer=${text}>
    ${reply => {
      const kept = DRAFTS.get(key);
      const base = kept?.base ?? reply;
      return html`<${Editor}
        text=${kept?.text ?? reply.content}
        label=${nameOf(item)}
        onInput=${draft => DRAFTS.set(key, { base, text: draft })}
        onSave=${save}
        onCancel=${cancel}
      />`;
    }}
  <//>`;
}

/** Stores the edited text of an item. A refusal is an error: then nothing was stored. */
async function storeText(commands, item, before, after, options) {
  if (!item.is_entry) {
    if (before.content === '') return commands.append(item.path, after, options);
    const edit = smallestEdit(before.content, after);
    return commands.replace(item.path, edit.before, edit.after, options);
  }
  const { key, category, tags, source, supersedes, version } = before;
  return asStored(await commands.storeEntry({ key, content: after, category, tags, source, supersedes, version }, options));
}

/**
 * Returns the lines that differ, and as many around them as make them occur once. So a letter of a large note can be
 * changed, and what others change elsewhere at the same moment stays.
 */
function smallestEdit(before, after) {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let [end, endAfter] = [before.length, after.length];
  while (end > start && endAfter > start && before[end - 1] === after[endAfter - 1]) {
    end -= 1;
    endAfter -= 1;
  }
  /** Moves the end behind the line that it is in. */
  const endLine = () => {
    const line = before.indexOf('\n', end);
    const more = (line === -1 ? before.length : line + 1) - end;
    end += more;
    endAfter += more;
  };
  const beginOfLine = place => (place === 0 ? 0 : before.lastIndexOf('\n', place - 1) + 1);
  start = beginOfLine(start);
  if (end > 0 && before[end - 1] !== '\n') endLine();
  for (;;) {
    const found = before.slice(start, end);
    const isWhole = start === 0 && end === before.length;
    if (isWhole || (found !== '' && before.indexOf(found) === before.lastIndexOf(found))) {
      return { before: found, after: after.slice(start, endAfter) };
    }
    start = beginOfLine(Math.max(0, start - 1));
    endLine();
  }
}

/** The difference that the last change made. */
function LastChange({ name }) {
  const { commands } = useContext(Page);
  const answer = useAnswer(() => commands.versions(name, { patch: true, limit: 1 }), [name]);
  const patch = answer.reply?.versions?.[0]?.patch;
  if (!patch || answer.reply.versions[0].kind === 'created') return null;
  return html`<h3>${STRINGS.inbox.difference}</h3><${Difference} text=${patch} />`;
}
