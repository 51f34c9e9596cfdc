/**
 * Times of the page: `node measure.mjs [NOTES]`, by default 10,000. Prints medians of five in milliseconds, and the bar of
 * each. SADDLEBAG_PROGRAM is the program, which should be a released one.
 */

import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { Store, chromium, closeBrowser } from './support.mjs';

const NOTES = Number(process.argv[2] ?? 10_000);
const GRAPH = 5_000;
const ROUNDS = 5;
const WORDS = 'checkout payment queue redis postgres deploy retry timeout invoice catalogue search index cache token mail'.split(' ');

const median = values => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const report = (what, values, bar) => console.log(`${what}: ${median(values).toFixed(1)} ms (bar ${bar})`);

/** Writes notes with four links each. The same number gives the same notes. */
function fill(store, number) {
  store.run('remember', 'First', 'text');
  const folder = path.join(store.root, 'projects', readdirSync(path.join(store.root, 'projects'))[0], 'facts');
  let seed = 1;
  const next = below => (seed = (seed * 48271) % 2147483647) % below;
  for (let index = 0; index < number; index += 1) {
    const words = Array.from({ length: 60 }, () => WORDS[next(WORDS.length)] + (next(3) ? '' : next(500))).join(' ');
    const links = Array.from({ length: 4 }, () => `[[Note ${next(next(number) + 1)}]]`).join(' ');
    writeFileSync(
      path.join(folder, `note-${index}.md`),
      `---\ntitle: Note ${index}\ntags: [${WORDS[index % WORDS.length]}]\n---\n\n${words}\n\n${links}\n`,
    );
  }
}

async function measure(number, work) {
  const store = new Store();
  try {
    fill(store, number);
    // The index trusts no file that was written a moment ago.
    await new Promise(done => setTimeout(done, 3000));
    store.run('recall', 'checkout');
    await work(store);
  } finally {
    for (const context of (await chromium()).contexts()) await context.close();
    store.close();
  }
}

await measure(NOTES, async store => {
  const [first, keys] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const address = await store.serve();
    const context = await (await chromium()).newContext();
    const page = await context.newPage();
    const began = performance.now();
    await page.goto(address);
    await page.locator('.items .row').first().waitFor();
    first.push(performance.now() - began);
    await page.waitForTimeout(500);
    // From the press of a key to the list that answers the words so far.
    const field = page.getByLabel('Search memory');
    await field.focus();
    for (const letter of 'retry timeout redis') {
      const typed = (await field.inputValue()) + letter;
      keys.push(
        await page.evaluate(
          typed =>
            new Promise(done => {
              const field = document.activeElement;
              const began = performance.now();
              field.value = typed;
              field.dispatchEvent(new Event('input', { bubbles: true }));
              requestAnimationFrame(function next() {
                const shown = document.querySelector('.items .list')?.dataset.query;
                if (shown === typed.trim()) done(performance.now() - began);
                else requestAnimationFrame(next);
              });
            }),
          typed,
        ),
      );
    }
    await context.close();
  }
  report(`first view, ${NOTES} notes`, first, '300');
  report(`a key press in search, ${NOTES} notes`, keys, '50');
});

await measure(GRAPH, async store => {
  const [drawn, frames] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const page = await store.open('#/graph');
    const began = performance.now();
    await page.reload();
    await page.locator('canvas[data-drawn]').waitFor({ timeout: 60_000 });
    drawn.push(performance.now() - began);
    frames.push(
      await page.evaluate(
        () =>
          new Promise(done => {
            const began = performance.now();
            let count = 0;
            requestAnimationFrame(function next() {
              count += 1;
              const passed = performance.now() - began;
              if (passed > 2000) done((1000 * count) / passed);
              else requestAnimationFrame(next);
            });
          }),
      ),
    );
  }
  report(`graph drawn, ${GRAPH} notes`, drawn, '2000');
  console.log(`frames a second while it moves: ${median(frames).toFixed(0)} (bar 20)`);
});
await closeBrowser();
