/** Maximum number of notes in the graph. */
const GRAPH_NOTES = 5000;
/** Distance in which notes push each other away, and the length of a link. */
const REACH = 50;
/** Number of steps until the notes rest. */
const STEPS = 200;
/** Time for steps in a frame, in milliseconds. */
const STEP_TIME = 8;
/** Number of colours, which `--graph-1` and so on name in the style. */
const COLOURS = 6;

/** Number of notes without links that are listed. */
const MAX_ORPHANS = 50;

/** Number of groups that the legend names. */
const MAX_GROUPS = 12;
/** Number of links that are drawn while the picture moves, and of points that are drawn round. */
const MOVING_LINKS = 2000;
const MOVING_POINTS = 1000;

/** Notes as points that push each other away, and links as springs. Each step takes time in proportion to the notes. */
class Layout {
  constructor(number, links) {
    this.x = new Float32Array(number);
    this.y = new Float32Array(number);
    this.dx = new Float32Array(number);
    this.dy = new Float32Array(number);
    this.links = links;
    this.degree = new Uint16Array(number);
    for (const [a, b] of links) {
      this.degree[a] += 1;
      this.degree[b] += 1;
    }
    // A spiral, so that the same notes always begin at the same places.
    for (let index = 0; index < number; index += 1) {
      const radius = REACH * 0.5 * Math.sqrt(index + 0.5);
      this.x[index] = radius * Math.cos(index * 2.399963);
      this.y[index] = radius * Math.sin(index * 2.399963);
    }
    this.heat = 1;
  }

  isAtRest() {
    return this.heat < 0.02;
  }

  step() {
    const { x, y, dx, dy, degree, links, heat } = this;
    const cells = new Map();
    for (let index = 0; index < x.length; index += 1) {
      dx[index] = -x[index] * 0.004 * heat;
      dy[index] = -y[index] * 0.004 * heat;
      const cell = Math.floor(x[index] / REACH) * 65536 + Math.floor(y[index] / REACH);
      const other = cells.get(cell);
      if (other) other.push(index);
      else cells.set(cell, [index]);
    }
    for (const [cell, own] of cells) {
      for (const beside of [0, 1, 65535, 65536, 65537]) {
        const others = beside === 0 ? own : cells.get(cell + beside);
        if (others) this.push(own, others, beside === 0);
      }
    }
    for (const [a, b] of links) {
      const across = x[b] - x[a];
      const down = y[b] - y[a];
      const length = Math.hypot(across, down) || 1;
      const pull = ((length - REACH) / length) * 0.3 * heat;
      const share = degree[b] / (degree[a] + degree[b]);
      dx[a] += across * pull * share;
      dy[a] += down * pull * share;
      dx[b] -= across * pull * (1 - share);
      dy[b] -= down * pull * (1 - share);
    }
    for (let index = 0; index < x.length; index += 1) {
      x[index] += Math.max(-REACH, Math.min(REACH, dx[index]));
      y[index] += Math.max(-REACH, Math.min(REACH, dy[index]));
    }
    this.heat *= 1 - 4 / STEPS;
  }

  push(own, others, isSame) {
    const { x, y, dx, dy, heat } = this;
    for (let i = 0; i < own.length; i += 1) {
      const a = own[i];
      for (let j = isSame ? i + 1 : 0; j < others.length; j += 1) {
        const b = others[j];
        let across = x[b] - x[a];
        let down = y[b] - y[a];
        let square = across * across + down * down;
        if (square >= REACH * REACH) continue;
        if (square < 0.01) {
          across = ((a % 7) - 3) * 0.1 + 0.05;
          down = ((b % 7) - 3) * 0.1 + 0.05;
          square = across * across + down * down;
        }
        const force = (heat * 60) / (square + 20);
        dx[a] -= across * force;
        dy[a] -= down * force;
        dx[b] += across * force;
        dy[b] += down * force;
      }
    }
  }
}

/** The links between notes as a picture, and the same as lists. */
function GraphView({ go }) {
  const { commands } = useContext(Page);
  const [colour, setColour] = useState('folder');
  const answer = useAnswer(() => commands.notes({ limit: GRAPH_NOTES, 'with-links': true }), []);
  // The same notes and links stay where they are, whatever else has changed.
  const shape = answer.reply && answer.reply.notes.map(note => note.path).join('\n') + answer.reply.links.length;
  const graph = useMemo(() => answer.reply && graphOf(answer.reply), [shape]);
  const colours = useMemo(() => graph && coloursOf(graph, colour), [graph, colour]);
  return html`<section aria-labelledby="graph-title">
    <div class="bar">
      <h1 id="graph-title">${STRINGS.graph.title}</h1>
      <label>
        ${STRINGS.graph.colour}
        <select value=${colour} onChange=${event => setColour(event.target.value)}>
          ${Object.entries(STRINGS.graph.colours).map(([value, label]) => html`<option value=${value}>${label}</option>`)}
        </select>
      </label>
    </div>
    <${Answer} answer=${answer}>
      ${() => html`<p class="faint">
          ${STRINGS.graph.numbers(graph.notes.length, graph.links.length)}. ${STRINGS.graph.help}
        </p>
        <${Picture} graph=${graph} colours=${colours.ofNotes} go=${go} />
        <ul class="legend" aria-label=${STRINGS.graph.legend}>
          ${colours.groups.map(
            ({ name, colour, count }) => html`<li>
              <span class=${`swatch part-${colour}`}></span> <${Shown} text=${name || STRINGS.graph.without} />
              <span class="faint"> ${count}</span>
            </li>`,
          )}
        </ul>
        <div class="columns two">
          <section>
            <h2>${STRINGS.graph.most}</h2>
            <ol>
              ${graph.most.map(
                index => html`<li>
                  <${Item} name=${graph.notes[index].path}>${graph.notes[index].title}<//>
                  <span class="faint"> ${graph.degree[index]}</span>
                </li>`,
              )}
            </ol>
          </section>
          <section>
            <h2>${STRINGS.graph.orphans}</h2>
            <ul>
              ${graph.orphans.slice(0, MAX_ORPHANS).map(note => html`<li><${Item} name=${note.path}>${note.title}<//></li>`)}
            </ul>
            ${graph.orphans.length > MAX_ORPHANS &&
            html`<p class="faint">${STRINGS.graph.more(graph.orphans.length - MAX_ORPHANS)}</p>`}
            <p><a href="#/health">${STRINGS.graph.deadLinks}</a></p>
            ${graph.orphans.length === 0 && html`<p class="faint">${STRINGS.none}</p>`}
          </section>
        </div>`}
    <//>
  </section>`;
}

/** Returns the notes and links of a reply by number. */
function graphOf({ notes, links }) {
  const numbers = new Map(notes.map((note, index) => [note.path, index]));
  const pairs = links
    .map(({ source, target }) => [numbers.get(source), numbers.get(target)])
    .filter(([a, b]) => a !== undefined && b !== undefined && a !== b);
  const degree = new Uint16Array(notes.length);
  for (const [a, b] of pairs) {
    degree[a] += 1;
    degree[b] += 1;
  }
  const linked = [...notes.keys()].filter(index => degree[index] > 0);
  const most = linked.sort((a, b) => degree[b] - degree[a]).slice(0, 20);
  return { notes, links: pairs, degree, most, orphans: notes.filter((note, index) => degree[index] === 0) };
}

/** Returns the number of the colour of each note, and the groups with their colours, the largest first. */
function coloursOf(graph, colour) {
  const groups = new Map();
  const newest = Math.max(...graph.notes.map(note => new Date(note.modified).valueOf()), 0);
  const groupOf = note => {
    if (colour === 'tag') return note.tags[0] ?? '';
    if (colour === 'folder') return note.path.split('/').slice(0, -1).join('/');
    const days = (newest - new Date(note.modified).valueOf()) / 86_400_000;
    return STRINGS.graph.ages.find(([most]) => days <= most)[1];
  };
  if (colour === 'age') {
    STRINGS.graph.ages.forEach(([, name], index) => groups.set(name, { name, colour: index % COLOURS, count: 0 }));
  }
  const ofNotes = graph.notes.map(note => {
    const name = groupOf(note);
    if (!groups.has(name)) groups.set(name, { name, colour: groups.size % COLOURS, count: 0 });
    const group = groups.get(name);
    group.count += 1;
    return group.colour;
  });
  const known = [...groups.values()].filter(group => group.count > 0);
  if (colour !== 'age') known.sort((a, b) => b.count - a.count);
  return { ofNotes, groups: known.slice(0, MAX_GROUPS) };
}

function Picture({ graph, colours, go }) {
  const canvas = useRef(null);
  const view = useRef(null);
  useEffect(() => {
    const element = canvas.current;
    const began = performance.now();
    const layout = new Layout(graph.notes.length, graph.links);
    view.current = { layout, scale: 1, left: 0, top: 0, isFitted: true };
    let frame = requestAnimationFrame(function next() {
      if (!layout.isAtRest()) {
        frame = requestAnimationFrame(next);
        // A few steps a frame, as long as the frame is short.
        const end = performance.now() + STEP_TIME;
        do layout.step();
        while (!layout.isAtRest() && performance.now() < end);
        draw(element, view.current, graph, element.colours, !layout.isAtRest());
        if (!element.dataset.drawn) element.dataset.drawn = String(Math.round(performance.now() - began));
      }
    });
    return () => cancelAnimationFrame(frame);
  }, [graph]);
  useEffect(() => {
    const named = Array.from({ length: COLOURS }, (_, index) => colourOf(canvas.current, `--graph-${index + 1}`));
    canvas.current.colours = {
      named,
      ofNotes: colours,
      line: colourOf(canvas.current, '--faint'),
      text: colourOf(canvas.current, '--ink'),
    };
    if (view.current) draw(canvas.current, view.current, graph, canvas.current.colours);
  }, [graph, colours]);
  const redraw = () => draw(canvas.current, view.current, graph, canvas.current.colours);
  const at = event => {
    const box = canvas.current.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const drag = useRef(null);
  return html`<div class="graph">
    <canvas
      ref=${canvas}
      role="img"
      aria-label=${STRINGS.graph.picture}
      onWheel=${event => {
        event.preventDefault();
        const [x, y] = at(event);
        const factor = Math.exp(-event.deltaY * 0.0015);
        const { current } = view;
        current.isFitted = false;
        current.left = x - (x - current.left) * factor;
        current.top = y - (y - current.top) * factor;
        current.scale *= factor;
        redraw();
      }}
      onPointerDown=${event => {
        drag.current = { from: at(event), last: at(event) };
        event.target.setPointerCapture(event.pointerId);
      }}
      onPointerMove=${event => {
        if (!drag.current) return;
        const [x, y] = at(event);
        const { current } = view;
        current.isFitted = false;
        current.left += x - drag.current.last[0];
        current.top += y - drag.current.last[1];
        drag.current.last = [x, y];
        redraw();
      }}
      onPointerCancel=${() => {
        drag.current = null;
      }}
      onPointerUp=${event => {
        const [x, y] = at(event);
        if (!drag.current) return;
        const { from } = drag.current;
        drag.current = null;
        if (Math.hypot(x - from[0], y - from[1]) > 4) return;
        const nearest = noteAt(view.current, x, y);
        if (nearest !== -1) go(`memory/${encodeURIComponent(graph.notes[nearest].path)}`);
      }}
    ></canvas>
    <button
      type="button"
      onClick=${() => {
        view.current.isFitted = true;
        redraw();
      }}
    >
      ${STRINGS.graph.fit}
    </button>
  </div>`;
}

/** Returns a colour of the style as the canvas takes it. */
function colourOf(element, name) {
  element.style.color = `var(${name})`;
  return getComputedStyle(element).color;
}

/** Returns the note at a place of the picture, or -1. */
function noteAt({ layout, scale, left, top }, x, y) {
  let nearest = -1;
  let least = 12;
  for (let index = 0; index < layout.x.length; index += 1) {
    const distance = Math.hypot(layout.x[index] * scale + left - x, layout.y[index] * scale + top - y);
    if (distance < least) [nearest, least] = [index, distance];
  }
  return nearest;
}

/** Draws the picture. While it moves, a large one has fewer links and simpler points. */
function draw(element, view, graph, { named, ofNotes, line, text }, isMoving = false) {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = element;
  if (element.width !== width * ratio || element.height !== height * ratio) {
    element.width = width * ratio;
    element.height = height * ratio;
  }
  const { layout } = view;
  if (view.isFitted) fit(view, width, height);
  const { scale, left, top } = view;
  const context = element.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.strokeStyle = line;
  context.lineWidth = 0.5;
  context.beginPath();
  const every = isMoving ? Math.ceil(graph.links.length / MOVING_LINKS) : 1;
  for (let index = 0; index < graph.links.length; index += every) {
    const [a, b] = graph.links[index];
    context.moveTo(layout.x[a] * scale + left, layout.y[a] * scale + top);
    context.lineTo(layout.x[b] * scale + left, layout.y[b] * scale + top);
  }
  context.stroke();
  for (let colour = 0; colour < named.length; colour += 1) {
    context.fillStyle = named[colour];
    context.beginPath();
    for (let index = 0; index < layout.x.length; index += 1) {
      if (ofNotes[index] !== colour) continue;
      const radius = Math.min(9, 2.5 + Math.sqrt(graph.degree[index]));
      const x = layout.x[index] * scale + left;
      const y = layout.y[index] * scale + top;
      if (isMoving && layout.x.length > MOVING_POINTS) {
        context.rect(x - radius / 2, y - radius / 2, radius, radius);
      } else {
        context.moveTo(x + radius, y);
        context.arc(x, y, radius, 0, 2 * Math.PI);
      }
    }
    context.fill();
  }
  context.fillStyle = text;
  drawNames(context, view, graph, width, height);
}

/** Maximum number of notes of which all have a name in the picture, if there is room. */
const ALL_NAMED = 60;
/** Height of a name, in pixels. */
const NAME_HEIGHT = 14;

/** Draws the names of the most linked notes, or of all, each beside its point where no other name is and none is cut. */
function drawNames(context, { layout, scale, left, top }, graph, width, height) {
  context.font = '12px system-ui, sans-serif';
  const named = graph.notes.length <= ALL_NAMED ? [...new Set([...graph.most, ...graph.notes.keys()])] : graph.most.slice(0, 12);
  const taken = [];
  for (const index of named) {
    const { title: name, superseded_by: newer } = graph.notes[index];
    const shown = name.split(HIDDEN).filter((_, part) => part % 2 === 0).join('').slice(0, 30);
    const title = newer ? `${shown} (${STRINGS.graph.superseded})` : shown;
    const length = context.measureText(title).width;
    const [x, y] = [layout.x[index] * scale + left, layout.y[index] * scale + top];
    const places = [
      [x + 8, y - NAME_HEIGHT / 2],
      [x - 8 - length, y - NAME_HEIGHT / 2],
      [x - length / 2, y + 8],
      [x - length / 2, y - 8 - NAME_HEIGHT],
    ];
    const isFree = ([west, north]) =>
      west >= 2 &&
      west + length <= width - 2 &&
      north >= 0 &&
      north + NAME_HEIGHT <= height &&
      taken.every(other => west > other.east || west + length < other.west || Math.abs(north - other.north) >= NAME_HEIGHT);
    const place = places.find(isFree);
    if (!place) continue;
    const [west, north] = place;
    taken.push({ west, east: west + length, north });
    context.fillText(title, west, north + NAME_HEIGHT - 3);
  }
}

/** Chooses scale and place so that every note is seen. */
function fit(view, width, height) {
  const { x, y } = view.layout;
  let [west, east, north, south] = [0, 0, 0, 0];
  for (let index = 0; index < x.length; index += 1) {
    west = Math.min(west, x[index]);
    east = Math.max(east, x[index]);
    north = Math.min(north, y[index]);
    south = Math.max(south, y[index]);
  }
  view.scale = Math.min(1.5, (width - 40) / (east - west + 1), (height - 40) / (south - north + 1));
  view.left = width / 2 - ((west + east) / 2) * view.scale;
  view.top = height / 2 - ((north + south) / 2) * view.scale;
}
