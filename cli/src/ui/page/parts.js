const { html, render: mount, createContext, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } = htmPreact;

/** What every view needs: `memory`, `commands`, `version` (grows with each change), `change`, `tell`, `setKeys`. */
const Page = createContext(null);

// Control and invisible characters, except line ends, tabs, and the selector that makes a sign an emoji.
const HIDDEN =
  /([\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0E\uFEFF\uFFA0\uFFF9-\uFFFB\u{E0000}-\u{E0FFF}])/u;

/** Stored text, in which hidden characters can be seen. */
function Shown({ text }) {
  const parts = String(text ?? '').split(HIDDEN);
  if (parts.length === 1) return parts[0];
  return parts.map((part, index) => {
    if (index % 2 === 0) return part;
    const code = codeOf(part);
    return html`<mark class="hidden-character" title=${STRINGS.hiddenCharacter(code)}>${code}</mark>`;
  });
}

/** Returns the code point of a character, such as `U+200B`. */
const codeOf = character => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Maximum number of line numbers that are listed for one character. */
const MOST_HIDDEN_LINES = 10;

/** Lists the hidden characters of a text in a field, because the field cannot show them. */
function HiddenCharacters({ text, id }) {
  const found = new Map();
  if (HIDDEN.test(text)) {
    text.split('\n').forEach((line, index) => {
      for (const [, character] of line.matchAll(new RegExp(HIDDEN, 'gu'))) {
        const of = found.get(character) ?? found.set(character, { number: 0, lines: new Set() }).get(character);
        of.number += 1;
        of.lines.add(index + 1);
      }
    });
  }
  return html`<div class="hidden-characters" id=${id} role="status">
    ${found.size > 0 &&
    html`<strong>${STRINGS.hidden.title}</strong>
      <ul>
        ${[...found].map(([character, { number, lines }]) => {
          const first = [...lines].slice(0, MOST_HIDDEN_LINES).join(', ') + (lines.size > MOST_HIDDEN_LINES ? ' …' : '');
          return html`<li>
            <mark class="hidden-character">${codeOf(character)}</mark> ${STRINGS.hidden.names[codeOf(character)] ?? STRINGS.hidden.other}:
            ${' '}${STRINGS.hidden.where(number, first)}
          </li>`;
        })}
      </ul>`}
  </div>`;
}

/** Number of questions whose answers the reader waits for. */
let asked = 0;

/** Delay of a question that is asked later, in milliseconds. */
const SHORT_PAUSE = 30;

/** Waits for a time, and then until the reader waits for nothing. */
async function idle(time) {
  await new Promise(done => setTimeout(done, time));
  while (asked > 0) await new Promise(done => setTimeout(done, SHORT_PAUSE));
}

/**
 * Asks memory, again after each change. Returns the reply, or the error; an old reply stays until there is a new one, and
 * beside an error if the question is the same.
 * What is for the margin comes later, so that it delays nothing: memory answers one question after another.
 */
function useAnswer(ask, inputs, { isLater = false, pause = SHORT_PAUSE } = {}) {
  const { version } = useContext(Page);
  const [answer, setAnswer] = useState({});
  const counted = async () => {
    asked += 1;
    try {
      return await ask();
    } finally {
      asked -= 1;
    }
  };
  const key = JSON.stringify(inputs);
  // Before the page is painted, so that memory works meanwhile.
  useLayoutEffect(() => {
    let isWanted = true;
    (isLater ? idle(pause).then(() => (isWanted ? ask() : null)) : counted())
      .then(
        reply => isWanted && setAnswer({ reply, key }),
        error => isWanted && setAnswer(old => ({ reply: old.key === key ? old.reply : undefined, key, error: asError(error) })),
      );
    return () => {
      isWanted = false;
    };
  }, [version, ...inputs]);
  return answer;
}

/** Returns what was thrown as an error of the contract. */
function asError(thrown) {
  if (thrown?.message && thrown.code !== undefined) return thrown;
  return { code: 'internal', message: String(thrown?.message ?? thrown), help: '' };
}

/**
 * Handles keys while a view is shown. A key is a name of `KeyboardEvent.key`. `QUIET` in place of the keys stops all of them,
 * also those of other views: somebody writes, and the field may not have the focus yet.
 */
function useKeys(keys) {
  const { setKeys } = useContext(Page);
  // After each rendering and before the next key, so that a key never meets an old state.
  useLayoutEffect(() => setKeys(keys));
}

/** Elements that may get the focus when the focused element is gone, the best first. */
const FOCUS_TARGETS = ['[aria-current="true"]', '[data-current]', '[tabindex="-1"]'];

/**
 * Keeps the focus in the page. If the focused element is removed or hidden, the nearest possible element gets the focus. The
 * page never takes the focus before the reader has used it.
 */
function keepFocus(root) {
  const isShown = element => element.isConnected && element.checkVisibility();
  /** The last focused element, and its ancestors. */
  let path = [];
  root.addEventListener('focusin', ({ target }) => {
    path = [];
    for (let element = target; element && element !== root; element = element.parentElement) path.push(element);
  });
  const kept = () => {
    const focused = document.activeElement;
    if (path.length === 0 || isShown(path[0]) || (focused !== document.body && isShown(focused))) return;
    for (const near of path.filter(isShown)) {
      const targets = near.matches('[tabindex="-1"]') ? [near] : FOCUS_TARGETS.flatMap(target => [...near.querySelectorAll(target)]);
      const wanted = targets.find(isShown);
      if (wanted) return wanted.focus();
    }
    document.getElementById('main').focus();
  };
  new MutationObserver(kept).observe(root, { childList: true, subtree: true, attributeFilter: ['class'] });
}

const QUIET = { '*': () => {} };

/** Returns a reference that gives the focus to its element as soon as it is shown. */
function useFocus() {
  const element = useRef(null);
  useLayoutEffect(() => element.current?.focus(), []);
  return element;
}

/** Returns the text of a part of an address, or the part itself if it is not escaped properly. */
function unescaped(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Texts that are being edited, with what each began with. They stay while the reader looks at something else. */
const DRAFTS = new Map();

addEventListener('beforeunload', event => DRAFTS.size > 0 && event.preventDefault());

function Problem({ error }) {
  if (!error) return null;
  return html`<div class="problem" role="alert">
    <strong>${STRINGS.failed}:</strong> <${Shown} text=${error.message} />
    ${error.help && html`<div class="faint"><${Shown} text=${error.help} /></div>`}
  </div>`;
}

/** The answer as soon as it is there. `children` makes it. */
function Answer({ answer, children }) {
  if (answer.error && answer.reply === undefined) return html`<${Problem} error=${answer.error} />`;
  if (answer.reply === undefined) return html`<p class="faint" role="status">${STRINGS.loading}</p>`;
  return html`<${Problem} error=${answer.error} />${children(answer.reply)}`;
}

/** A time as the reader's calendar has it. */
function Time({ value }) {
  if (!value) return null;
  const time = new Date(value);
  if (Number.isNaN(time.valueOf())) return html`<${Shown} text=${value} />`;
  const text = time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  return html`<time datetime=${time.toISOString()} title=${time.toISOString()}>${text}</time>`;
}

/** The day of a time. */
function Day({ value }) {
  const time = value ? new Date(value) : null;
  if (!time || Number.isNaN(time.valueOf())) return null;
  return html`<time datetime=${time.toISOString()}>${time.toLocaleDateString(undefined, { dateStyle: 'medium' })}</time>`;
}

/** A unified difference, a line a row. The sign at the beginning says what colour says too. */
function Difference({ text }) {
  if (!text) return null;
  const kind = line =>
    line.startsWith('@@') || line.startsWith('---') || line.startsWith('+++')
      ? 'diff-place'
      : line.startsWith('+')
        ? 'diff-added'
        : line.startsWith('-')
          ? 'diff-removed'
          : '';
  const lines = text.replace(/\n$/, '').split('\n');
  return html`<pre class="diff" tabindex="0">${lines.map(
    line => html`<span class=${kind(line)}><${Shown} text=${line} />${'\n'}</span>`,
  )}</pre>`;
}

function Waits({ of }) {
  if (!of) return null;
  return html`<span class="tag waits" title=${STRINGS.inbox.provenance[of] ?? of}>${STRINGS.waiting}</span>`;
}

/** Names the note that supersedes an item. */
function Newer({ of }) {
  if (!of?.superseded_by) return null;
  return html`<span class="tag waits">${STRINGS.superseded(of.superseded_by, of.superseded_since)}</span>`;
}

/** A link to an item in the page. */
function Item({ name, children }) {
  return html`<a href=${`#/memory/${encodeURIComponent(name)}`}><${Shown} text=${children ?? name} /></a>`;
}

/** A dialog that keeps the keyboard inside, and gives it back. */
function Dialog({ title, onClose, children }) {
  const element = useRef(null);
  useEffect(() => {
    element.current.showModal();
  }, []);
  return html`<dialog ref=${element} aria-labelledby="dialog-title" onClose=${onClose}>
    <div class="bar">
      <h2 id="dialog-title">${title}</h2>
      <button type="button" onClick=${() => element.current.close()}>${STRINGS.close}</button>
    </div>
    ${children}
  </dialog>`;
}

/** A text field with its own keys: Ctrl+S saves, Esc leaves it. */
function Editor({ text, label, onSave, onCancel, onInput = () => {} }) {
  const [draft, setDraft] = useState(text);
  const field = useFocus();
  useKeys(QUIET);
  const keys = event => {
    if ((event.ctrlKey || event.metaKey) && event.key === 's') {
      event.preventDefault();
      onSave(draft);
    }
  };
  return html`<form
    class="editor"
    onSubmit=${event => {
      event.preventDefault();
      onSave(draft);
    }}
  >
    <textarea
      aria-label=${label}
      aria-describedby="hidden-in-text"
      value=${draft}
      rows=${Math.min(30, Math.max(8, draft.split('\n').length + 2))}
      onInput=${event => {
        setDraft(event.target.value);
        onInput(event.target.value);
      }}
      onKeyDown=${keys}
      ref=${field}
    ></textarea>
    <${HiddenCharacters} text=${draft} id="hidden-in-text" />
    <div class="buttons">
      <button type="submit" class="main">${STRINGS.save}</button>
      <button type="button" onClick=${onCancel}>${STRINGS.cancel}</button>
    </div>
  </form>`;
}

/** A button that asks for a second press, so that one slip does nothing. */
function Confirmed({ label, question, onConfirm }) {
  const [isAsking, setAsking] = useState(false);
  const wasAsking = useRef(false);
  const button = useRef(null);
  useLayoutEffect(() => {
    if (wasAsking.current && !isAsking) button.current?.focus();
    wasAsking.current = isAsking;
  }, [isAsking]);
  if (!isAsking) {
    return html`<button key="ask" type="button" ref=${button} onClick=${() => setAsking(true)}>${label}</button>`;
  }
  return html`<span key="answer" class="confirm" role="group" aria-label=${label}>
    <span>${question}</span>
    <button
      type="button"
      class="main"
      ref=${element => element?.focus()}
      onClick=${() => {
        setAsking(false);
        onConfirm();
      }}
    >
      ${STRINGS.confirm}
    </button>
    <button type="button" onClick=${() => setAsking(false)}>${STRINGS.cancel}</button>
  </span>`;
}

/** Returns the name of a new operation of the history. */
function newOperation() {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('');
}

const bytesOf = text => new TextEncoder().encode(text).length;

/** Moves through rows with `j` and `k`. Returns the row that is chosen, and a function that chooses one. */
function step(rows, current, by) {
  if (rows.length === 0) return current;
  const at = rows.findIndex(row => row.id === current);
  return rows[Math.max(0, Math.min(rows.length - 1, at === -1 ? 0 : at + by))].id;
}
