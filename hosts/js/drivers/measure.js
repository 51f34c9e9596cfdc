/** Times of a store with 1,000 notes, in milliseconds: medians of `RUNS`, the first recall once. */

import { Memory } from '../memory.js';

const NOTES = 1_000, RUNS = 9;
const WORDS = ['staging', 'port', 'deploy', 'server', 'cache', 'query', 'index', 'token', 'budget', 'release', 'branch', 'review',
  'tests', 'memory', 'agent', 'folder', 'lock', 'page', 'clock', 'version'];

/** @param {import('../memory.js').Component} component @param {import('../executor.js').Executor} store an empty one */
export async function measure(component, store) {
  const times = {};
  for (let number = 0; number < NOTES; number++) {
    const words = Array.from({ length: 90 }, (_, at) => WORDS[(number * 31 + at * at * 7 + number * at) % WORDS.length]);
    const content = new TextEncoder().encode(`# Note ${number}\n\nNumber${number} ${words.join(' ')}.\n`);
    await store.perform({ tag: 'write', val: { path: `notes/${number}.md`, content, precondition: { tag: 'any' } } });
  }
  const open = () => Memory.open(component, store);
  const recall = async memory => {
    const { isError, text } = await memory.callTool('notebook_recall', { query: 'which port has the staging server number77' });
    if (isError || !text.includes('notes/77.md')) throw new Error(`the note was not found: ${text}`);
  };
  const first = await open();
  times['first recall, which makes the index'] = await timed(() => recall(first));
  first.close();
  const memories = [];
  times['open'] = await median(async () => memories.push(await open()));
  times['first recall of a memory, with the copy of the index'] = await median(() => recall(memories.pop()));
  const memory = await open();
  await recall(memory);
  times['recall'] = await median(() => recall(memory));
  const write = (name, input) => async run => {
    const { isError, text } = await memory.callTool(name, input(run));
    if (isError) throw new Error(text);
  };
  const line = run => ({ target: 'long_term', content: `Fact ${run}.` });
  times['write: a line of long-term memory'] = await median(write('memory_write', line));
  const note = run => ({ title: `Fact ${run}`, content: `The fact ${run} is new.` });
  times['write: a new note'] = await median(write('notebook_remember', note));
  return times;
}

async function median(work) {
  const times = [];
  for (let run = 0; run < RUNS; run++) times.push(await timed(() => work(run)));
  return times.sort((a, b) => a - b)[(RUNS - 1) / 2];
}

async function timed(work) {
  const start = performance.now();
  await work();
  return Math.round((performance.now() - start) * 100) / 100;
}
