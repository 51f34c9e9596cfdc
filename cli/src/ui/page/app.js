/** Second keys after `g`, with the view that they go to. */
const GO = { m: 'memory', p: 'prompt', i: 'inbox', h: 'history', g: 'graph', s: 'health' };
/** Time in which a notice can be read, in milliseconds. */
const NOTICE_TIME = 12_000;

/** Returns the parts of an address: the view, and what it shows. */
function route(address) {
  const [view = '', ...rest] = address.replace(/^#?\/?/, '').split('/');
  return { view: view || 'memory', rest };
}

function App({ memory }) {
  const [place, setPlace] = useState(route(location.hash));
  const [version, setVersion] = useState(0);
  const [notice, setNotice] = useState(null);
  const [isHelping, setHelping] = useState(false);
  const [isGoing, setGoing] = useState(false);
  const keys = useRef({});
  const lastKey = useRef('');
  /** Changes of this page that can be undone, the newest last. */
  const operations = useRef([]);
  /** Paths of the shown note before and after an undo, by the operation of the undo. */
  const moves = useRef({});
  const [isLost, setLost] = useState(false);
  const commands = useMemo(() => commandsOf(memory), []);
  const changed = () => setVersion(version => version + 1);

  // Before the page is painted, so that no address is missed.
  useLayoutEffect(() => {
    const moved = () => setPlace(route(location.hash));
    const clicked = event => {
      const link = event.target.closest?.('a[href]');
      const target = link?.getAttribute('href');
      if (!target || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const isOurs = target.startsWith('#/');
      // A frame in a chat has no address of its own.
      if (isOurs && !memory.isInChat) return;
      event.preventDefault();
      if (isOurs) setPlace(route(target));
      else if (memory.openLink) memory.openLink(target);
      else window.open(target, '_blank', 'noopener,noreferrer');
    };
    addEventListener('hashchange', moved);
    addEventListener('click', clicked);
    const end = memory.follow(changed, setLost);
    const failed = thrown => tell(null, null, asError(thrown));
    const shown = async ({ query }) => {
      if (query) return setPlace({ view: 'search', rest: [encodeURIComponent(query)] });
      const { total } = await commands.pending({ limit: 1 });
      return setPlace(route(total > 0 ? 'inbox' : 'memory'));
    };
    memory.connect?.(input => shown(input).catch(failed)).catch(failed);
    return () => {
      removeEventListener('hashchange', moved);
      removeEventListener('click', clicked);
      end();
    };
  }, []);
  useEffect(() => {
    document.title = [STRINGS.views[place.view] ?? STRINGS.views.memory, memory.name, STRINGS.title].filter(Boolean).join(' · ');
  }, [place.view]);

  const go = (to, isReplaced = false) => {
    if (memory.isInChat) {
      setPlace(route(to));
    } else if (isReplaced) {
      history.replaceState(null, '', `#/${to}`);
      dispatchEvent(new Event('hashchange'));
    } else {
      location.hash = `#/${to}`;
    }
  };
  const tell = (text, operation = null, error = null) => setNotice({ text, operation, error });
  useEffect(() => {
    if (!notice || notice.error) return undefined;
    const timer = setTimeout(() => setNotice(null), NOTICE_TIME);
    return () => clearTimeout(timer);
  }, [notice]);

  /** Makes a change as one operation, and tells what it did. Returns false if it failed. */
  const change = async (work, text = null) => {
    const operation = newOperation();
    try {
      const reply = await work({ operation });
      const skipped = reply?.skipped?.map(item => item.reason).filter(Boolean) ?? [];
      // An undo names its own operation.
      const done = reply?.operation ?? operation;
      operations.current.push(done);
      if (skipped.length > 0) {
        // Some of it may be done, and can be undone.
        tell(null, done, { code: 'skipped', message: skipped.join('; '), help: '' });
        return false;
      }
      tell(text ?? reply?.message ?? STRINGS.memory.saved, done);
      return true;
    } catch (thrown) {
      tell(null, null, asError(thrown));
      return false;
    } finally {
      changed();
    }
  };
  /** Shows the note that an undo has renamed at its path of now. */
  const follow = (operation, reply) => {
    const files = reply.operations.flatMap(undone => undone.files);
    const moved = files.find(file => file.kind === 'moved' && file.path === name);
    const [from, to] = moved ? [moved.path, moved.moved_from] : (moves.current[operation] ?? []);
    if (!to || from !== name) return;
    moves.current[reply.operation] = [to, from];
    go(`memory/${encodeURIComponent(to)}`, true);
  };
  /** Undoes a change, which the notice can take back. Undoing again goes further back. */
  const undo = async operation => {
    if (!operation) return tell(STRINGS.nothingToUndo);
    // One that cannot be undone must not be in the way of those before it.
    operations.current = operations.current.filter(other => other !== operation);
    try {
      const reply = await commands.undo({ operations: [operation] });
      tell(STRINGS.undone, reply.operation);
      follow(operation, reply);
    } catch (thrown) {
      tell(null, null, asError(thrown));
    }
    return changed();
  };

  const common = {
    '?': () => setHelping(true),
    u: () => undo(operations.current.at(-1)),
    '/': () => go('memory'),
    Escape: () => place.view === 'memory' && place.rest.length > 0 && go('memory'),
  };
  const pressed = useRef(null);
  pressed.current = event => {
    if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
      event.preventDefault();
      setGoing(true);
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
    const isField = event.target.closest?.('input:not([type=checkbox]), textarea, select');
    if (isField) {
      if (event.key === 'Escape') event.target.blur();
      return;
    }
    if (keys.current['*']) return;
    const wasGo = lastKey.current === 'g';
    lastKey.current = wasGo ? '' : event.key;
    if (wasGo && GO[event.key]) {
      event.preventDefault();
      go(GO[event.key]);
      return;
    }
    // Enter presses the button or link that has the focus.
    if (event.key === 'Enter' && event.target.closest?.('button, a, summary')) return;
    const handler = { ...common, ...keys.current }[event.key];
    if (handler) {
      event.preventDefault();
      handler();
    }
  };
  useEffect(() => {
    const press = event => pressed.current(event);
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);

  const page = {
    memory,
    commands,
    version,
    change,
    tell,
    /** Adds keys of a view. Views of one page have their keys together. */
    setKeys: own => {
      keys.current = { ...keys.current, ...own };
      return () => {
        for (const key of Object.keys(own)) if (keys.current[key] === own[key]) delete keys.current[key];
      };
    },
  };
  const name = place.rest.length > 0 ? unescaped(place.rest.join('/')) : null;
  const view = {
    memory: () => html`<${LibraryView} name=${name} go=${go} />`,
    search: () => html`<${LibraryView} key=${name} question=${name} name=${null} go=${go} />`,
    prompt: () => html`<${PromptView} />`,
    inbox: () => html`<${InboxView} />`,
    history: () => html`<${HistoryView} />`,
    graph: () => html`<${GraphView} go=${go} />`,
    health: () => html`<${HealthView} />`,
    new: () => html`<${NewView} key=${name} named=${name} go=${go} />`,
    open: () =>
      html`<${OpenView} target=${place.rest[0] ?? ''} folder=${unescaped(place.rest[1] ?? '')} go=${go} />`,
  }[place.view];
  return html`<${Page.Provider} value=${page}>
    <a class="skip" href="#main" onClick=${skipToMain}>${STRINGS.skip}</a>
    <header>
      <strong class="brand">${STRINGS.title}${memory.name && html` <span class="faint"><${Shown} text=${memory.name} /></span>`}</strong>
      <nav aria-label=${STRINGS.title}>
        ${Object.entries(STRINGS.views).map(
          ([target, label]) =>
            html`<a href=${`#/${target}`} aria-current=${(place.view === 'search' ? 'memory' : place.view) === target ? 'page' : null}>${label}<${Waiting} of=${target} /></a>`,
        )}
      </nav>
      <button type="button" class="help" onClick=${() => setHelping(true)} aria-label=${STRINGS.keys.open}>?</button>
    </header>
    ${memory.isReadOnly &&
    !memory.isInChat &&
    html`<p class="banner" role="status">
      ${memory.data ? STRINGS.snapshot(new Date(memory.data.time).toLocaleString()) : STRINGS.readOnly}
    </p>`}
    ${isLost && html`<p class="banner" role="alert">${STRINGS.lost}</p>`}
    <main id="main" tabindex="-1">${view ? view() : html`<${LibraryView} name=${null} go=${go} />`}</main>
    <div class="notices" role="status" aria-live="polite">
      ${notice &&
      html`<div class=${`notice ${notice.error ? 'problem' : ''}`}>
        ${notice.error
          ? html`<${Shown} text=${notice.error.message} /> <span class="faint"><${Shown} text=${notice.error.help} /></span>`
          : html`<${Shown} text=${notice.text} />`}
        ${notice.operation &&
        html`<button type="button" onClick=${() => undo(notice.operation)}>${STRINGS.undo}</button>`}
        <button type="button" onClick=${() => setNotice(null)}>${STRINGS.close}</button>
      </div>`}
    </div>
    ${isHelping && html`<${Keys} onClose=${() => setHelping(false)} />`}
    ${isGoing && html`<${Palette} go=${go} onClose=${() => setGoing(false)} />`}
  <//>`;
}

function skipToMain(event) {
  event.preventDefault();
  document.getElementById('main').focus();
}

/** The number of items that wait, beside the name of the inbox. */
function Waiting({ of }) {
  const { commands } = useContext(Page);
  const answer = useAnswer(() => (of === 'inbox' ? commands.pending({ limit: 1 }) : null), [], { isLater: true });
  const number = answer.reply?.total;
  return number ? html` <span class="count">${number}</span>` : null;
}

function Keys({ onClose }) {
  return html`<${Dialog} title=${STRINGS.keys.title} onClose=${onClose}>
    <dl class="keys">
      ${STRINGS.keys.rows.map(
        ([key, what]) =>
          html`<div>
            <dt><kbd>${key}</kbd></dt>
            <dd>${what}</dd>
          </div>`,
      )}
    </dl>
  <//>`;
}

/** Number of items that the palette offers. */
const PALETTE_ROWS = 8;

/** Goes to an item by its name, or to what answers the words. */
function Palette({ go, onClose }) {
  const page = useContext(Page);
  const [words, setWords] = useState('');
  const answer = useAnswer(() => (words.trim() ? searched(page, { query: words.trim(), limit: PALETTE_ROWS }) : null), [words]);
  const open = name => {
    onClose();
    go(`memory/${encodeURIComponent(name)}`);
  };
  const rows = (answer.reply?.rows ?? []).slice(0, PALETTE_ROWS);
  return html`<${Dialog} title=${STRINGS.palette.title} onClose=${onClose}>
    <form
      onSubmit=${event => {
        event.preventDefault();
        if (rows.length > 0) return open(rows[0].name);
        onClose();
        go(`open/${encodeURIComponent(words.trim())}`);
      }}
    >
      <input
        aria-label=${STRINGS.palette.field}
        placeholder=${STRINGS.palette.field}
        value=${words}
        onInput=${event => setWords(event.target.value)}
        autofocus
      />
    </form>
    <ul class="list">
      ${rows.map(
        row => html`<li>
          <button type="button" class="row" onClick=${() => open(row.name)}>
            <span class="title"><${Shown} text=${row.title} /></span>
            <span class="lead"><${Shown} text=${row.lead.slice(0, 120)} /></span>
          </button>
        </li>`,
      )}
    </ul>
  <//>`;
}

keepFocus(document.getElementById('app'));
mount(html`<${App} memory=${memoryOfPage()} />`, document.getElementById('app'));
