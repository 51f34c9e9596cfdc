/** Number of operations that are asked for at first, and with each more. */
const OPERATIONS = 100;

/** Who gave the command of an operation. */
function Who({ operation }) {
  const { provenance, agent, client, tool } = operation;
  const writer = provenance === 'user' ? STRINGS.history.you : STRINGS.inbox.provenance[provenance === 'import' ? 'imported' : provenance];
  const parts = [writer ?? provenance, agent, client, tool].filter(Boolean);
  return html`<span class="who"><${Shown} text=${parts.join(' · ')} /></span>`;
}

/** Operations by day and session, with the difference and the undo of each. */
function HistoryView() {
  const { commands, memory } = useContext(Page);
  const [by, setBy] = useState('');
  const [limit, setLimit] = useState(OPERATIONS);
  const [undoing, setUndoing] = useState(null);
  const answer = useAnswer(() => commands.operations({ limit, by: by.trim() || null }), [limit, by]);
  const groups = useMemo(() => grouped(answer.reply?.operations ?? []), [answer.reply]);
  return html`<div class="columns two">
    <section aria-labelledby="history-title">
      <div class="bar">
        <h1 id="history-title">${STRINGS.history.operations}</h1>
        <label>${STRINGS.history.by} <input type="search" value=${by} onInput=${event => setBy(event.target.value)} /></label>
      </div>
      <${Answer} answer=${answer}>
        ${reply =>
          reply.operations.length === 0
            ? html`<p>${STRINGS.history.nothing}</p>`
            : html`${groups.map(
                ({ day, session, operations }) => html`<section class="day">
                  <h2>
                    ${day}
                    ${session && html` · <${Shown} text=${STRINGS.history.session(session)} />`}
                    ${session &&
                    !memory.isReadOnly &&
                    html` <button type="button" onClick=${() => setUndoing({ session })}>${STRINGS.history.undoSession}</button>`}
                  </h2>
                  <ul class="rows">
                    ${operations.map(operation => html`<${Operation} key=${operation.operation} operation=${operation} onUndo=${setUndoing} />`)}
                  </ul>
                </section>`,
              )}
              ${reply.total > reply.operations.length &&
              html`<button type="button" onClick=${() => setLimit(limit + OPERATIONS)}>${STRINGS.more}</button>`}
              ${reply.cut && html`<p class="faint">${STRINGS.history.cut}</p>`}`}
      <//>
      ${undoing && html`<${UndoDialog} what=${undoing} onClose=${() => setUndoing(null)} />`}
    </section>
    <${Sessions} />
  </div>`;
}

/** Returns the operations by day and session, in their order. */
function grouped(operations) {
  const groups = [];
  for (const operation of operations) {
    const day = new Date(operation.time).toLocaleDateString(undefined, { dateStyle: 'full' });
    const last = groups.at(-1);
    if (last?.day === day && last.session === operation.session) last.operations.push(operation);
    else groups.push({ day, session: operation.session, operations: [operation] });
  }
  return groups;
}

/** Returns the files of an operation, each once. A note that was moved is named by its new path alone. */
function filesOf(operation) {
  const old = new Set(operation.files.map(file => file.moved_from));
  const files = operation.files.filter(file => file.kind !== 'removed' || !old.has(file.path));
  return files.filter((file, place) => files.findIndex(other => other.path === file.path) === place);
}

function Operation({ operation, onUndo }) {
  const { memory } = useContext(Page);
  const [isOpen, setOpen] = useState(false);
  const files = filesOf(operation);
  return html`<li class=${operation.undone ? 'undone' : ''}>
    <button type="button" class="row" aria-expanded=${isOpen ? 'true' : 'false'} onClick=${() => setOpen(!isOpen)}>
      <span class="title">${operation.command}</span>
      <${Who} operation=${operation} /> <${Time} value=${operation.time} />
      ${operation.undone && html` <span class="tag">${STRINGS.history.undone}</span>`}
      <span class="lead">
        <${Shown}
          text=${files
            .slice(0, 3)
            .map(file => file.path.split('/').pop())
            .join(', ') + (files.length > 3 ? ` +${files.length - 3}` : '')}
        />
        ${operation.reason && html` · <${Shown} text=${operation.reason} />`}
      </span>
    </button>
    ${!operation.undone &&
    !memory.isReadOnly &&
    html`<button
      type="button"
      aria-label=${`${STRINGS.history.undo}: ${operation.command} ${operation.operation}`}
      onClick=${() => onUndo({ operations: [operation.operation] })}
    >
      ${STRINGS.history.undo}
    </button>`}
    ${isOpen &&
    html`<ul>
      ${files.map(file => html`<${ChangedFile} file=${file} operation=${operation.operation} />`)}
    </ul>`}
  </li>`;
}

function ChangedFile({ file, operation }) {
  const { commands } = useContext(Page);
  const answer = useAnswer(
    () => commands.versions(file.path, { operation, patch: true }).catch(() => ({ versions: [] })),
    [file.path, operation],
  );
  return html`<li>
    <${Item} name=${file.path} /> ${STRINGS.history.kinds[file.kind] ?? file.kind}
    ${(answer.reply?.versions ?? []).map(version => html`<${Difference} text=${version.patch} />`)}
  </li>`;
}

/** What an undo would take back, before it does. */
function UndoDialog({ what, onClose }) {
  const { commands, change } = useContext(Page);
  const preview = useAnswer(() => commands.undo({ ...what, 'dry-run': true, 'skip-conflicts': true }), []);
  return html`<${Dialog} title=${STRINGS.history.preview} onClose=${onClose}>
    <${Answer} answer=${preview}>
      ${reply => html`
        <ul>
          ${reply.operations.map(
            operation => html`<li>
              ${operation.command} <${Who} operation=${operation} /> <${Time} value=${operation.time} />
            </li>`,
          )}
        </ul>
        <ul class="faint">
          ${reply.files.map(path => html`<li><${Shown} text=${path} /></li>`)}
        </ul>
        ${(reply.skipped ?? []).length > 0 &&
        html`<h3>${STRINGS.history.skipped}</h3>
          <ul>
            ${reply.skipped.map(
              ({ operation, reason }) => html`<li>${operation.command}: <${Shown} text=${reason} /></li>`,
            )}
          </ul>`}
        ${reply.operations.length > 0 &&
        html`<button
          type="button"
          class="main"
          onClick=${async () => {
            await change(options => commands.undo({ ...what, 'skip-conflicts': true }, options), STRINGS.undone);
            onClose();
          }}
        >
          ${STRINGS.undo}
        </button>`}
      `}
    <//>
  <//>`;
}

/** Returns the state of a hand-off, in the words of `saddlebag sessions`. */
function stateOf({ choice, claimed_by: claimedBy, finished }) {
  const states = STRINGS.history.states;
  if (choice === 'next' || choice === 'refused') return states[choice];
  if (claimedBy) return states.handed(claimedBy);
  return finished ? states.finished : states.open;
}

/** Sessions, and the state of the hand-off of each. */
function Sessions() {
  const { commands, memory, change } = useContext(Page);
  const answer = useAnswer(() => memory.sessions(), []);
  if (answer.error) return html`<${Problem} error=${answer.error} />`;
  const sessions = answer.reply?.sessions ?? [];
  if (sessions.length === 0) return null;
  return html`<section aria-labelledby="sessions-title">
    <h1 id="sessions-title">${STRINGS.history.sessions}</h1>
    <ul class="rows">
      ${sessions.map(session => {
        const { path, title, last } = session;
        return html`<li key=${path}>
          <${Item} name=${path}>${title}<//> <${Time} value=${last.replace(/([+-]\d\d)(\d\d)$/, '$1:$2')} />
          <span class="tag state"><${Shown} text=${stateOf(session)} /></span>
          ${!memory.isReadOnly &&
          html`<div class="buttons">
            <button type="button" aria-label=${`${STRINGS.history.next}: ${title}`} onClick=${() => change(options => commands.handOff(path, 'next', options))}>
              ${STRINGS.history.next}
            </button>
            <button type="button" aria-label=${`${STRINGS.history.refuse}: ${title}`} onClick=${() => change(options => commands.handOff(path, 'refused', options))}>
              ${STRINGS.history.refuse}
            </button>
          </div>`}
        </li>`;
      })}
    </ul>
  </section>`;
}
