/** Number of bytes of the block that a session begins with, as the hook has it by default. */
const BLOCK_BYTES = 8000;

/** The block byte for byte, with the source of each line, and what a prompt would add. */
function PromptView() {
  const { commands, memory } = useContext(Page);
  const [at, setAt] = useState('');
  const moment = at && !Number.isNaN(new Date(at).valueOf()) ? { second: String(Math.floor(new Date(at) / 1000)) } : null;
  const block = useAnswer(() => commands.context(moment), [at]);
  return html`<div class="columns two">
    <section aria-labelledby="block-title">
      <div class="bar">
        <h1 id="block-title">${STRINGS.prompt.block}</h1>
        ${memory.isLive &&
        html`<label>
          ${STRINGS.prompt.at}
          <input type="datetime-local" value=${at} onInput=${event => setAt(event.target.value)} />
        </label>`}
      </div>
      <${Answer} answer=${block}>${reply => html`<${Block} reply=${reply} />`}<//>
    </section>
    ${memory.isLive && html`<${Preview} />`}
  </div>`;
}

/** Returns why a part of the block is there. */
function whyOf({ family, path, section }) {
  const name = path.split('/').pop();
  if (section in STRINGS.prompt.sections) return STRINGS.prompt.sections[section];
  if (family !== 'journal') return STRINGS.prompt.whys[family];
  return STRINGS.prompt.whys[name === 'MEMORY.md' ? 'long' : name === 'SCRATCHPAD.md' ? 'tasks' : 'log'];
}

function Block({ reply }) {
  if (!reply.block) return html`<p>${STRINGS.prompt.nothing}</p><${LeftOut} list=${reply.left_out} />`;
  const lines = reply.block.split('\n');
  const sources = new Map();
  for (const source of reply.sources) {
    for (let line = source.first_line; line <= source.last_line; line += 1) sources.set(line, source);
  }
  const size = bytesOf(reply.block);
  return html`
    <${Budget} reply=${reply} lines=${lines} sources=${sources} size=${size} />
    <table class="block">
      <thead>
        <tr>
          <th scope="col">${STRINGS.prompt.line}</th>
          <th scope="col">${STRINGS.prompt.text}</th>
          <th scope="col">${STRINGS.prompt.from}</th>
        </tr>
      </thead>
      <tbody>
        ${lines.map((line, index) => {
          const source = sources.get(index + 1);
          // One cell spans all lines of a source.
          const isFirst = !source || index === 0 || sources.get(index) !== source;
          return html`<tr class=${source ? `of-${source.family}` : 'of-block'}>
            <td class="number">${index + 1}</td>
            <td class="code"><${Shown} text=${line} /></td>
            ${isFirst &&
            html`<td class="source" rowspan=${source ? source.last_line - index : 1}>
              ${source &&
              html`<${Item} name=${source.key ?? source.path}>${source.key ?? source.path.split('/').pop()}<//>
                <span class="faint"> ${source.section}</span>
                <span class="why">${whyOf(source)}</span>`}
            </td>`}
          </tr>`;
        })}
      </tbody>
    </table>
    <${LeftOut} list=${reply.left_out} />
    ${reply.findings.length > 0 &&
    html`<h2>${STRINGS.prompt.findings}</h2>
      <ul>
        ${reply.findings.map(
          found => html`<li>
            <${Item} name=${found.key ?? found.path} />: ${found.findings.map(flag => `${flag.kind} ${flag.what}`).join(', ')}
          </li>`,
        )}
      </ul>`}
  `;
}

/** The budget as a bar, with a part for each section. */
function Budget({ reply, lines, sources, size }) {
  const parts = new Map();
  lines.forEach((line, index) => {
    const section = sources.get(index + 1)?.section ?? '';
    parts.set(section, (parts.get(section) ?? 0) + bytesOf(line) + 1);
  });
  const text = STRINGS.prompt.size(size, BLOCK_BYTES, reply.tokens);
  return html`<div class="budget">
    <div class="budget-bar" role="img" aria-label=${text}>
      ${[...parts].map(
        ([section, bytes], index) =>
          html`<span
            class=${`part part-${section === '' ? 'block' : index % 5}`}
            style=${{ width: `${(100 * bytes) / BLOCK_BYTES}%` }}
            title=${`${section || STRINGS.prompt.block}: ${bytes}`}
          ></span>`,
      )}
    </div>
    <span class="faint">${text}</span>
  </div>`;
}

function LeftOut({ list }) {
  return html`<h2>${STRINGS.prompt.leftOut}</h2>
    ${list.length === 0
      ? html`<p class="faint">${STRINGS.prompt.everything}</p>`
      : html`<ul class="rows">
          ${list.map(
            out => html`<li>
              <${Item} name=${out.key ?? out.path} /> <span class="tag">${out.section}</span> <${Shown} text=${out.reason} />
              <span class="faint"> ${STRINGS.prompt.bytes(out.kept_bytes, out.left_out_bytes)}</span>
            </li>`,
          )}
        </ul>`}`;
}

/** Default options of the hook for a prompt. */
const HOOK_OPTIONS = { bytes: 1500, score: 1, form: 'claude' };

/** Upper limits of the options: the largest text that a client takes, in bytes, and the largest score. */
const MOST_BYTES = 32_000;
const MOST_SCORE = 1_000_000;

/** What the hook would add to a prompt, and what recall finds for it. */
function Preview() {
  const { commands } = useContext(Page);
  const [draft, setDraft] = useState('');
  const [asked, setAsked] = useState('');
  const [options, setOptions] = useState(HOOK_OPTIONS);
  /** Text of the fields. It may be an invalid number. */
  const [typed, setTyped] = useState(HOOK_OPTIONS);
  /** Returns the reply together with the options that it was computed with. */
  const preview = async () => (asked ? { ...(await commands.preview(asked, options)), options } : null);
  const added = useAnswer(preview, [asked, ...Object.values(options)]);
  const found = useAnswer(() => (asked ? commands.recall(asked, { explain: true, limit: 10 }) : null), [asked]);
  const number = (name, label, range) => html`<label>
    ${label}
    <input
      type="number"
      required
      ...${range}
      value=${typed[name]}
      onInput=${({ target }) => {
        setTyped({ ...typed, [name]: target.value });
        if (target.validity.valid) setOptions({ ...options, [name]: target.valueAsNumber });
      }}
    />
  </label>`;
  return html`<section aria-labelledby="try-title">
    <h1 id="try-title">${STRINGS.prompt.try}</h1>
    <form
      onSubmit=${event => {
        event.preventDefault();
        setAsked(draft.trim());
      }}
    >
      <label>
        ${STRINGS.prompt.field}
        <textarea
          rows="3"
          value=${draft}
          onInput=${event => setDraft(event.target.value)}
          onKeyDown=${event => {
            if (event.key === 'Enter' && !event.shiftKey) {
              event.preventDefault();
              event.currentTarget.form.requestSubmit();
            }
          }}
        ></textarea>
      </label>
      <fieldset class="options">
        <legend>${STRINGS.prompt.options}</legend>
        ${number('bytes', STRINGS.prompt.maxBytes, { min: 1, max: MOST_BYTES, step: 1 })}
        ${number('score', STRINGS.prompt.minScore, { min: 0, max: MOST_SCORE, step: 'any' })}
        <label>
          ${STRINGS.prompt.client}
          <select value=${options.form} onChange=${event => setOptions({ ...options, form: event.target.value })}>
            ${Object.entries(STRINGS.prompt.clients).map(([form, label]) => html`<option value=${form}>${label}</option>`)}
          </select>
        </label>
      </fieldset>
      <button type="submit" class="main">${STRINGS.prompt.ask}</button>
    </form>
    ${asked &&
    html`<${Answer} answer=${added}>
        ${reply =>
          reply &&
          html`<h2>${STRINGS.prompt.added}</h2>
            ${reply.text
              ? html`<pre class="added" tabindex="0"><${Shown} text=${reply.text} /></pre>
                  <p class="faint">${STRINGS.prompt.addedSize(bytesOf(reply.text))}</p>`
              : html`<p>${STRINGS.prompt.addedNothing}</p>`}
            <p class="faint computed">
              ${STRINGS.prompt.computed(reply.options.bytes, reply.options.score, STRINGS.prompt.clients[reply.options.form])}
            </p>
            ${reply.not_shown.length > 0 &&
            html`<h2>${STRINGS.prompt.notShown}</h2>
              <ul>
                ${reply.not_shown.map(
                  hit => html`<li><${Item} name=${hit.source} />: ${STRINGS.prompt.reasons[hit.reason] ?? hit.reason}</li>`,
                )}
              </ul>`}`}
      <//>
      <${Answer} answer=${found}>
        ${reply =>
          reply &&
          html`<h2>${STRINGS.prompt.found}</h2>
            <ol class="rows">
              ${reply.hits.map(
                hit => html`<li>
                  <${Item} name=${nameOfHit(hit)}>${hit.title}<//>
                  <${Waits} of=${hit.unapproved} />
                  <details>
                    <summary>${STRINGS.prompt.score} ${hit.score.toFixed(2)}</summary>
                    <table>
                      <tbody>
                        ${hit.parts.map(
                          part => html`<tr>
                            <td>${part.field}</td>
                            <td><${Shown} text=${part.reason} /></td>
                            <td class="number">${part.amount.toFixed(2)}</td>
                          </tr>`,
                        )}
                      </tbody>
                    </table>
                  </details>
                  <p class="passage"><${Shown} text=${hit.passage} /></p>
                </li>`,
              )}
            </ol>`}
      <//>`}
  </section>`;
}
