/** Number of days in the plot of tokens. */
const PLOT_DAYS = 14;

/** Maximum number of lines under a heading. */
const MOST_LINES = 30;

/** Sizes, and what needs attention. */
function HealthView() {
  const { commands, memory } = useContext(Page);
  const status = useAnswer(() => memory.status(), []);
  const links = useAnswer(() => commands.deadLinks(), []);
  const orphans = useAnswer(() => commands.notes({ orphan: true, limit: 50 }), []);
  const hooks = useAnswer(() => memory.hookLog(), []);
  return html`<div class="columns two">
    <section aria-labelledby="numbers-title">
      <h1 id="numbers-title">${STRINGS.health.numbers}</h1>
      <${Answer} answer=${status}>
        ${reply => html`<table>
            <tbody>
              ${Object.entries(STRINGS.health.rows).map(
                ([field, label]) =>
                  reply[field] !== null &&
                  reply[field] !== undefined &&
                  html`<tr>
                    <th scope="row">${label}</th>
                    <td class="number">${reply[field]}</td>
                  </tr>`,
              )}
            </tbody>
          </table>
          <${Trouble}
            title=${STRINGS.health.skipped}
            list=${reply.skipped.map(file => html`<${Shown} text=${`${file.path}: ${file.reason}`} />`)}
          />
          ${reply.other_memory.length > 0 &&
          html`<${Trouble}
            title=${STRINGS.health.other}
            list=${reply.other_memory.map(other => html`<${Shown} text=${`${other.name} ${other.path ?? ''}`} />`)}
          />`}`}
      <//>
      ${memory.isLive && html`<${Bytes} /><${TokenPlot} />`}
    </section>
    <section>
      <${Answer} answer=${links}>
        ${reply => html`<${Trouble}
          title=${STRINGS.health.deadLinks}
          list=${reply.links.map(
            link => html`<${Item} name=${link.path} />:${link.line} → <${Shown} text=${link.target} />
              ${link.candidates.map(path => html` <${Item} name=${path} />`)}`,
          )}
        />`}
      <//>
      <${Answer} answer=${orphans}>
        ${reply => html`<${Trouble}
          title=${`${STRINGS.health.orphans} (${reply.total})`}
          list=${reply.notes.map(note => html`<${Item} name=${note.path}>${note.title}<//>`)}
        />`}
      <//>
      <${Answer} answer=${hooks}>
        ${lines => html`<${Trouble}
          title=${STRINGS.health.hooks}
          list=${lines
            .slice(-20)
            .reverse()
            .map(line => html`<${Time} value=${line.time} /> ${line.client} ${line.event} <${Shown} text=${line.message} />`)}
        />`}
      <//>
    </section>
  </div>`;
}

/** Returns the sizes of notes, entries, other files, the history and the index in bytes. */
async function bytesOfMemory(page) {
  const { commands, memory } = page;
  const [items, files, history, index] = await Promise.all([
    itemsOf(page),
    every('files', after => commands.files(PAGE_FILES, after)),
    commands.historyPolicy(),
    memory.indexSize(),
  ]);
  const bytes = { notes: 0, entries: 0, others: 0, history: history.bytes, index };
  for (const { path, size } of files) {
    bytes[isOfEntries(path) ? 'entries' : isNote(items.get(path) ?? {}) ? 'notes' : 'others'] += size;
  }
  return bytes;
}

/** Sizes in bytes. */
function Bytes() {
  const page = useContext(Page);
  const answer = useAnswer(() => bytesOfMemory(page), [], { isLater: true });
  return html`<h2>${STRINGS.health.bytes}</h2>
    <${Answer} answer=${answer}>
      ${bytes => html`<table class="bytes">
        <tbody>
          ${Object.entries(STRINGS.health.bytesOf).map(
            ([name, label]) =>
              bytes[name] !== null &&
              html`<tr>
                <th scope="row">${label}</th>
                <td class="number">${bytes[name].toLocaleString()}</td>
              </tr>`,
          )}
        </tbody>
      </table>`}
    <//>`;
}

function Trouble({ title, list }) {
  return html`<h2>${title}</h2>
    ${list.length === 0
      ? html`<p class="faint">${STRINGS.health.fine}</p>`
      : html`<ul class="rows">
          ${list.slice(0, MOST_LINES).map(line => html`<li>${line}</li>`)}
          ${list.length > MOST_LINES && html`<li class="faint">${STRINGS.health.more(list.length - MOST_LINES)}</li>`}
        </ul>`}`;
}

/** The number of tokens of the block at this time of each day. */
function TokenPlot() {
  const { commands } = useContext(Page);
  const answer = useAnswer(async () => {
    const today = Date.now();
    const days = Array.from({ length: PLOT_DAYS }, (_, index) => new Date(today - (PLOT_DAYS - 1 - index) * 86_400_000));
    const tokens = days.map(() => 0);
    // From today back, to the day before the first change that is known.
    for (let index = PLOT_DAYS - 1; index >= 0; index -= 1) {
      const at = index === PLOT_DAYS - 1 ? null : { second: String(Math.floor(days[index].valueOf() / 1000)) };
      const reply = await commands.context(at).catch(() => null);
      if (!reply) break;
      tokens[index] = reply.tokens;
    }
    return days.map((day, index) => ({ day, tokens: tokens[index] }));
  }, [], { isLater: true });
  return html`<h2 id="tokens-title">${STRINGS.health.tokens}</h2>
    <${Answer} answer=${answer}>
      ${points => {
        const most = Math.max(...points.map(point => point.tokens), 1);
        return html`<table class="plot" aria-labelledby="tokens-title">
          <tbody>
            ${points.map(
              ({ day, tokens }) => html`<tr>
                <th scope="row">${day.toLocaleDateString(undefined, { month: 'short', day: 'numeric' })}</th>
                <td><span class="plot-bar" style=${{ width: `${(100 * tokens) / most}%` }}></span></td>
                <td class="number">${tokens}</td>
              </tr>`,
            )}
          </tbody>
        </table>`;
      }}
    <//>`;
}
