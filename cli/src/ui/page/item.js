/** One note, entry or file. */
function ItemView({ name, go }) {
  const page = useContext(Page);
  const { commands, memory, change } = page;
  const [mode, setMode] = useState('rendered');
  const answer = useAnswer(() => load(page, name), [name]);
  const item = answer.reply;
  const forget = async () => {
    if (await change(options => commands.forget(item.path, options), STRINGS.memory.forgotten(item.title))) go('memory');
  };
  const canChange = item && !memory.isReadOnly;
  useEffect(() => {
    if (item && DRAFTS.has(item.path)) setMode('edit');
  }, [item?.path]);
  /** Previous mode. Its button gets the focus when its form closes. */
  const lastMode = useRef(mode);
  const buttons = useRef(null);
  useLayoutEffect(() => {
    if (mode === 'rendered' && document.activeElement === document.body) buttons.current?.querySelector(`[data-mode=${lastMode.current}]`)?.focus();
    lastMode.current = mode;
  }, [mode]);
  const isWriting = !['rendered', 'source'].includes(mode);
  useKeys(isWriting ? QUIET : { e: () => canChange && setMode('edit'), '#': () => (forgetSelection ? forgetSelection() : canChange && forget()) });
  if (answer.error?.code === 'not-found' && !DRAFTS.has(item?.path)) {
    return html`<${Problem} error=${answer.error} /><a href="#/history">${STRINGS.memory.toHistory}</a>`;
  }
  return html`<${Answer} answer=${answer}>
    ${() => html`<article>
      <h1 class=${item.newer?.superseded_by ? 'superseded' : null}>
        <span><${Shown} text=${item.title} /></span> <${Waits} of=${item.unapproved} /> <${Newer} of=${item.newer} />
      </h1>
      <div class="buttons" ref=${buttons}>
        <button type="button" aria-pressed=${mode === 'rendered'} onClick=${() => setMode('rendered')}>
          ${STRINGS.memory.rendered}
        </button>
        <button type="button" aria-pressed=${mode === 'source'} onClick=${() => setMode('source')}>
          ${STRINGS.memory.source}
        </button>
        ${canChange &&
        html`<button type="button" data-mode="edit" aria-pressed=${mode === 'edit'} onClick=${() => setMode('edit')}>${STRINGS.memory.edit}</button>
          ${isNote(item) &&
          html`<button type="button" data-mode="rename" aria-pressed=${mode === 'rename'} onClick=${() => setMode('rename')}>
              ${STRINGS.memory.rename}
            </button>
            <button type="button" data-mode="tag" aria-pressed=${mode === 'tag'} onClick=${() => setMode('tag')}>${STRINGS.memory.tag}</button>`}
          <button type="button" onClick=${forget}>${STRINGS.memory.forget}</button>`}
      </div>
      ${mode === 'edit'
        ? html`<${EditItem} item=${item} onDone=${() => setMode('rendered')} />`
        : mode === 'source'
          ? html`<pre class="text" tabindex="0"><${Shown} text=${item.content} /></pre>`
          : html`<${Rendered} item=${item} go=${go} />`}
      ${mode === 'rename' && html`<${Rename} item=${item} go=${go} onDone=${() => setMode('rendered')} />`}
      ${mode === 'tag' && html`<${TagItem} item=${item} onDone=${() => setMode('rendered')} />`}
      <${Facts}
        rows=${[
          [STRINGS.memory.key, item.kind === 'entry' ? item.name : null],
          [STRINGS.memory.category, item.category],
          [STRINGS.memory.tags, (item.tags ?? []).join(', ')],
          [STRINGS.memory.created, item.created && html`<${Time} value=${item.created} />`],
          [STRINGS.memory.changed, item.date && html`<${Time} value=${item.date} />`],
          [STRINGS.memory.expires, item.expires && html`<${Time} value=${item.expires} />`],
          [STRINGS.inbox.facts.provenance, isNote(item) ? provenanceOf(item.content) : null],
          [STRINGS.inbox.facts.source, item.source],
          [STRINGS.memory.path, item.path],
        ]}
      />
      ${isNote(item) && html`<${Links} item=${item} />`} <${Versions} item=${item} />
    </article>`}
  <//>`;
}

/** Returns where the text of a note comes from, as its frontmatter says; null if a person wrote it. */
function provenanceOf(content) {
  const value = provenanceIn(content);
  return value && (STRINGS.inbox.provenance[value === 'import' ? 'imported' : value] ?? value);
}

/** Reads an item by any name. */
async function load({ commands, memory }, name) {
  const found = await commands.resolve(name);
  if (found.kind === 'entry') {
    const entry = await commands.entry(found.name);
    return { ...rowOfEntry(entry), ...entry, before: entry };
  }
  const content = await wholeText(memory, found.path);
  const before = { content };
  const { notes } = await commands.notes({ conditions: [{ kind: 'path', value: found.path }], limit: 2 });
  const note = notes.find(note => note.path === found.path);
  if (!note) return { kind: 'file', id: found.path, name: found.path, path: found.path, title: found.path, content, before };
  return { ...rowOfNote(note), tags: note.tags, created: note.created, content, before };
}

/** Heading that the next note is opened at. */
let wantedHeading = '';

/** Returns the name and the heading of a link such as `Database#Backups`. */
function partsOfLink(link) {
  const at = link.indexOf('#');
  return at === -1 ? [link, ''] : [link.slice(0, at), link.slice(at + 1)];
}

/** Goes to the heading with a text, or with an anchor that is made of it. */
function scrollToHeading(page, wanted) {
  const plain = text =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '-')
      .replace(/^-|-$/g, '');
  const headings = [...(page?.querySelectorAll('h1, h2, h3, h4, h5, h6') ?? [])];
  headings.find(heading => plain(heading.textContent) === plain(wanted))?.scrollIntoView();
}

/** The text as HTML that the program has made, which can neither run nor load anything. */
function Rendered({ item, go }) {
  const { memory } = useContext(Page);
  const answer = useAnswer(() => memory.render(item.content, item.path), [item.content]);
  const page = useRef(null);
  useEffect(() => {
    if (!wantedHeading || answer.reply === undefined) return;
    scrollToHeading(page.current, wantedHeading);
    wantedHeading = '';
  }, [answer.reply]);
  const follow = event => {
    const target = event.target.closest('a')?.getAttribute('href');
    if (!target?.startsWith('#/open/')) return;
    event.preventDefault();
    const folder = item.path.slice(0, item.path.lastIndexOf('/') + 1);
    const [name, heading] = partsOfLink(unescaped(target.slice('#/open/'.length)));
    if (name === '') {
      scrollToHeading(event.currentTarget, heading);
      return;
    }
    go(`open/${target.slice('#/open/'.length)}/${encodeURIComponent(folder)}`);
  };
  return html`<${Answer} answer=${answer}>
    ${markup =>
      html`<div class="rendered" ref=${page} onClick=${follow} dangerouslySetInnerHTML=${{ __html: markup }}></div>`}
  <//>`;
}

/** Goes to the item that a link in a note means: a path beside the note, or a name. */
function OpenView({ target, folder, go }) {
  const { commands } = useContext(Page);
  const [error, setError] = useState(null);
  const [plain, heading] = partsOfLink(unescaped(target));
  useEffect(() => {
    wantedHeading = heading;
    const names = [plain, `${folder}${plain}`.replace(/[^/]+\/\.\.\//g, '')];
    const next = async rest => {
      if (rest.length === 0) throw { code: 'not-found', message: plain, help: '' };
      return commands.resolve(rest[0]).catch(() => next(rest.slice(1)));
    };
    next(names).then(
      found => go(`memory/${encodeURIComponent(found.kind === 'entry' ? found.name : found.path)}`, true),
      thrown => setError(asError(thrown)),
    );
  }, [target]);
  if (!error) return null;
  if (error.code !== 'not-found') return html`<${Problem} error=${error} />`;
  return html`<div class="problem" role="alert">
    <h1><${Shown} text=${STRINGS.memory.deadLink(plain)} /></h1>
    <p>
      <a href=${`#/new/${encodeURIComponent(plain)}`}>${STRINGS.memory.createIt}</a> ·
      <a href="#/memory" onClick=${goBack}>${STRINGS.memory.back}</a>
    </p>
  </div>`;
}

function goBack(event) {
  event.preventDefault();
  history.back();
}

/** Edits an item. If somebody else was faster, neither text is lost. */
function EditItem({ item, onDone }) {
  const { commands, memory, change, tell } = useContext(Page);
  const [edited, setEdited] = useState(DRAFTS.get(item.path) ?? { base: item.before, text: item.content });
  const [conflict, setConflict] = useState(null);
  const { base } = edited;
  const end = () => {
    DRAFTS.delete(item.path);
    onDone();
  };
  const goOn = (now, text) => {
    DRAFTS.set(item.path, { base: now, text });
    setEdited({ base: now, text });
    setConflict(null);
  };
  const save = async text => {
    let now;
    try {
      now =
        item.kind === 'entry'
          ? await orNothing(commands.entry(item.name))
          : { content: await orNothing(wholeText(memory, item.path)) };
    } catch (thrown) {
      tell(null, null, asError(thrown));
      return;
    }
    if (now?.content !== base.content || now?.version !== base.version) {
      const difference = await memory.difference(now?.content ?? '', text).catch(() => '');
      setConflict({ now, text, difference });
      return;
    }
    const saved = await change(async options => {
      return storeText(commands, { ...item, is_entry: item.kind === 'entry' }, base, text, options);
    }, STRINGS.memory.saved);
    if (saved) end();
  };
  const isThere = typeof conflict?.now?.content === 'string';
  return html`
    ${conflict &&
    html`<div class="problem" role="alert">
      <p>${isThere ? STRINGS.memory.conflict : STRINGS.memory.gone}</p>
      ${isThere &&
      html`<${Difference} text=${conflict.difference} />
        <div class="buttons">
          <${Confirmed}
            label=${STRINGS.memory.takeTheirs}
            question=${STRINGS.memory.dropMine}
            onConfirm=${() => goOn(conflict.now, conflict.now.content)}
          />
          <button type="button" onClick=${() => goOn(conflict.now, DRAFTS.get(item.path)?.text ?? conflict.text)}>${STRINGS.memory.keepMine}</button>
        </div>`}
    </div>`}
    <${Editor}
      key=${`${base.version} ${base.content} ${edited.text}`}
      text=${edited.text}
      label=${item.title}
      onInput=${text => DRAFTS.set(item.path, { base, text })}
      onSave=${save}
      onCancel=${end}
    />
  `;
}

function Rename({ item, go, onDone }) {
  const { commands, change } = useContext(Page);
  const [title, setTitle] = useState(item.title);
  const field = useFocus();
  // Renaming waits until the list is shown.
  const links = useAnswer(() => commands.notes({ conditions: [{ kind: 'link-to', value: item.path }] }), [item.path]);
  const rename = async event => {
    event.preventDefault();
    let path = null;
    const done = await change(async options => {
      const reply = await commands.rename(item.path, title, options);
      path = reply.path;
      return reply;
    });
    if (done) {
      onDone();
      go(`memory/${encodeURIComponent(path)}`);
    }
  };
  return html`<form onSubmit=${rename} class="panel">
    <label>${STRINGS.memory.renameTitle} <input ref=${field} value=${title} onInput=${event => setTitle(event.target.value)} /></label>
    <${HiddenCharacters} text=${title} id="hidden-in-title" />
    <${Answer} answer=${links}>
      ${reply => html`<p>${STRINGS.memory.renameLinks(reply.total)}</p>
        <ul>
          ${reply.notes.map(note => html`<li><${Item} name=${note.path}>${note.title}<//></li>`)}
        </ul>`}
    <//>
    <div class="buttons">
      <button type="submit" class="main" disabled=${!links.reply && !links.error}>${STRINGS.memory.rename}</button>
      <button type="button" onClick=${onDone}>${STRINGS.cancel}</button>
    </div>
  </form>`;
}

function TagItem({ item, onDone }) {
  const { commands, change } = useContext(Page);
  const [tags, setTags] = useState((item.tags ?? []).join(', '));
  const field = useFocus();
  const save = async event => {
    event.preventDefault();
    const wanted = new Set(tagsIn(tags));
    const old = new Set(item.tags);
    const add = [...wanted].filter(tag => !old.has(tag));
    const remove = [...old].filter(tag => !wanted.has(tag));
    const isSame = add.length === 0 && remove.length === 0;
    if (isSame || (await change(options => commands.tag(item.path, add, remove, options)))) onDone();
  };
  return html`<form onSubmit=${save} class="panel">
    <label>${STRINGS.memory.tagField} <input ref=${field} value=${tags} onInput=${event => setTags(event.target.value)} /></label>
    <div class="buttons">
      <button type="submit" class="main">${STRINGS.save}</button>
      <button type="button" onClick=${onDone}>${STRINGS.cancel}</button>
    </div>
  </form>`;
}

/** Links in both directions, and mentions that a click makes into links. */
function Links({ item }) {
  const { commands, memory, change } = useContext(Page);
  const answer = useAnswer(async () => {
    const [to, from, mentions] = await Promise.all([
      commands.notes({ conditions: [{ kind: 'linked-by', value: item.path }], limit: PAGE_ROWS }),
      commands.notes({ conditions: [{ kind: 'link-to', value: item.path }], limit: PAGE_ROWS }),
      commands.mentions(item.path),
    ]);
    return { to: to.notes, from: from.notes, mentions: mentions.notes };
  }, [item.path]);
  const notes = (title, list, extra = () => null) =>
    list.length > 0 &&
    html`<h2>${title}</h2>
      <ul>
        ${list.map(note => html`<li><${Item} name=${note.path}>${note.title}<//> ${extra(note)}</li>`)}
      </ul>`;
  return html`<${Answer} answer=${answer}>
    ${reply => html`
      ${notes(STRINGS.memory.links, reply.to)} ${notes(STRINGS.memory.backlinks, reply.from)}
      ${notes(
        STRINGS.memory.mentions,
        reply.mentions,
        note =>
          !memory.isReadOnly &&
          html`<button
            type="button"
            aria-label=${`${STRINGS.memory.makeLink}: ${note.title}`}
            onClick=${() => change(options => commands.link(note.path, item.path, options))}
          >
            ${STRINGS.memory.makeLink}
          </button>`,
      )}
    `}
  <//>`;
}

/** The versions of an item: who wrote them, and what they changed. */
function Versions({ item }) {
  const { commands, memory, change } = useContext(Page);
  const [open, setOpen] = useState(null);
  const answer = useAnswer(() => commands.versions(item.path, { patch: true, limit: 20 }), [item.path]);
  if (answer.error) return html`<${Problem} error=${answer.error} />`;
  const versions = answer.reply?.versions ?? [];
  if (versions.length === 0) return null;
  return html`<h2>${STRINGS.memory.versions}</h2>
    <ol class="rows versions">
      ${versions.map(
        version => html`<li>
          <button
            type="button"
            aria-expanded=${open === version.number ? 'true' : 'false'}
            onClick=${() => setOpen(open === version.number ? null : version.number)}
          >
            ${version.number}
          </button>
          ${STRINGS.history.kinds[version.kind] ?? version.kind}
          ${version.operation && html` <${Who} operation=${version.operation} /> <${Time} value=${version.operation.time} />`}
          ${open === version.number &&
          html`<${Difference} text=${version.patch} />
            ${!memory.isReadOnly &&
            version.size !== null &&
            html`<button
              type="button"
              onClick=${() => change(options => commands.restoreVersion(item.path, version.number, options))}
            >
              ${STRINGS.memory.restore}
            </button>`}`}
        </li>`,
      )}
    </ol>`;
}

/** A new note. */
function NewView({ go, named }) {
  const { commands, change } = useContext(Page);
  const draft = DRAFTS.get('new');
  const [title, setTitle] = useState(named ?? draft?.title ?? '');
  const [text, setText] = useState(draft?.text ?? '');
  const field = useFocus();
  useKeys(QUIET);
  useEffect(() => {
    if (title || text) DRAFTS.set('new', { title, text });
    else DRAFTS.delete('new');
  }, [title, text]);
  const keys = event => {
    if ((event.ctrlKey || event.metaKey) && event.key === 's') {
      event.preventDefault();
      event.currentTarget.requestSubmit();
    }
  };
  const save = async event => {
    event.preventDefault();
    let path = null;
    const done = await change(async options => {
      const reply = await commands.remember(title, text, options);
      path = reply.path;
      return reply;
    });
    if (done) {
      DRAFTS.delete('new');
      go(`memory/${encodeURIComponent(path)}`);
    }
  };
  return html`<section aria-labelledby="new-title">
    <h1 id="new-title">${STRINGS.memory.fresh}</h1>
    <form onSubmit=${save} onKeyDown=${keys} class="panel">
      <label>
        ${STRINGS.memory.freshTitle}
        <input required ref=${field} value=${title} onInput=${event => setTitle(event.target.value)} />
      </label>
      <${HiddenCharacters} text=${title} id="hidden-in-title" />
      <label>
        ${STRINGS.memory.freshText}
        <textarea required rows="10" value=${text} onInput=${event => setText(event.target.value)}></textarea>
      </label>
      <${HiddenCharacters} text=${text} id="hidden-in-text" />
      <div class="buttons">
        <button type="submit" class="main">${STRINGS.save}</button>
        <a class="button" href="#/memory" onClick=${() => DRAFTS.delete('new')}>${STRINGS.cancel}</a>
      </div>
    </form>
  </section>`;
}
