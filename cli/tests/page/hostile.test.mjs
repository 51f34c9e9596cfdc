/** Every text of the table of hostile texts, in every view: it is shown as text, and nothing runs, loads or hides. */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';

import { chromium, closeBrowser, withStore } from './support.mjs';

after(closeBrowser);

const TEXTS = JSON.parse(readFileSync(new URL('../hostile.json', import.meta.url), 'utf8'));

/** Characters of the texts that a reader would not see. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** Returns a text as the page shows it. */
const shown = text => text.replace(HIDDEN, found => `U+${found.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`);

/** Returns a text without what a title and a name may not have. */
const inLine = text => text.replace(/\s+/g, ' ').replace(/[\u0000-\u001f\u007f-\u009f]/g, '');

/** Returns a text that was made harmless for a model as it was, except for hidden characters. */
const unharmed = text => text.replaceAll('&lt;', '<').replace(/\[(U\+[0-9A-F]+)\]/g, '$1');

/** Stores each text as the title, text, tag, name, key, line and reason of something. */
function fillHostile(store) {
  store.run('remember', 'Zebra', 'A harmless note.');
  const folder = path.dirname(path.join(store.root, store.json('list', '--kind', 'note').items[0].path));
  TEXTS.forEach(({ text }, index) => {
    const line = inLine(text);
    const tag = JSON.stringify(line);
    // Written as an editor would, so that nothing is refused or made harmless before.
    const note = `---\ntitle: ${JSON.stringify(`${index} ${line}`)}\ntags: [${tag}]\n---\n\nzebra ${text}\n\n[[zebra|${line}]] [[${line}]]\n`;
    writeFileSync(path.join(folder, `${index} ${line.replace(/[/\\]/g, ' ').slice(0, 60)}.md`), note);
    writeFileSync(path.join(folder, `waits-${index}.md`), `---\ntitle: ${JSON.stringify(`Waits ${index} ${line}`)}\nprovenance: tool\nsource: ${tag}\n---\n\nzebra ${text}\n`);
  });
  const all = TEXTS.map(({ text }) => text).join('\n\n');
  for (const [index, { text }] of TEXTS.entries()) {
    if (index % 4 === 0) store.run('--secrets', 'allow', 'remember', '--key', `zebra ${index} ${inLine(text)}`, `zebra ${text}`);
  }
  store.run('--reason', `because ${inLine(all)}`, 'write', 'daily', `zebra ${all}`);
  store.run('write', 'long_term', `zebra ${all}`);
}

/** Checks what the page shows now. */
async function checkHarmless(page, where) {
  const found = await page.evaluate(() => {
    const all = [...document.querySelectorAll('#app *')];
    return {
      elements: all.filter(one => one.matches('script, iframe, svg, img, object, embed, form[action], base, meta, style')).length,
      handlers: all.flatMap(one => one.getAttributeNames()).filter(name => name.startsWith('on')),
      links: all.map(one => one.getAttribute('href')).filter(href => href !== null && !/^(#|https?:|mailto:)/.test(href)),
      text: document.getElementById('app').textContent,
      title: document.title,
    };
  });
  assert.deepEqual({ ...found, text: '', title: '' }, { elements: 0, handlers: [], links: [], text: '', title: '' }, where);
  assert.deepEqual((found.text + found.title).match(HIDDEN), null, where);
  return found.text;
}

/** Waits until the page has shown something, and shows nothing new. */
async function settle(page) {
  await page.waitForFunction(() => {
    const text = document.querySelector('main').textContent;
    const isSame = text === globalThis.lastText;
    globalThis.lastText = text;
    return isSame && text.length > 0 && !text.includes('Loading');
  }, null, { polling: 100 });
}

/** Goes through the views of a page. */
async function checkViews(page, base) {
  for (const view of ['memory', 'prompt', 'inbox', 'history', 'graph', 'health']) {
    await page.goto(`${base}#/${view}`);
    await settle(page);
    const text = await checkHarmless(page, view);
    if (view === 'inbox') {
      const titles = (await page.locator('.inbox .list .row').allTextContents()).map(unharmed);
      for (const { name, text } of TEXTS) {
        const [first] = shown(text).split('\n');
        assert.ok(titles.some(title => title.includes(first)), `${name} is not text in the inbox`);
      }
    }
    if (view === 'graph') assert.ok(text.length > 0);
  }
}

test('hostile text is text in every view', () =>
  withStore(async store => {
    fillHostile(store);
    const page = await store.open();
    const base = page.url().split('#')[0];
    await checkViews(page, base);
    // What opens or is typed in a view.
    await page.goto(`${base}#/history`);
    await page.locator('.day button.row').first().waitFor();
    for (const row of await page.locator('.day button.row').all()) await row.click();
    await settle(page);
    await checkHarmless(page, 'the differences of the history');
    await page.goto(`${base}#/prompt`);
    await page.getByLabel('Prompt', { exact: true }).fill(`zebra ${TEXTS.map(({ text }) => text).join(' ')}`);
    await page.getByRole('button', { name: 'Show what would be added' }).click();
    await page.locator('pre.added').waitFor();
    await checkHarmless(page, 'what a prompt adds');
    for (const isLiteral of [false, true]) {
      await page.goto(`${base}#/memory`);
      await page.getByLabel('Exact words only').setChecked(isLiteral);
      for (const { name, text } of [{ name: 'all', text: '' }, ...TEXTS]) {
        await page.getByLabel('Search memory').fill(`zebra ${text}`);
        await page.locator('.items [role=status], .items .problem').first().waitFor();
        await settle(page);
        await checkHarmless(page, `a search for ${name}`);
      }
      await page.getByLabel('Search memory').fill('');
    }
    // Each item, as a page, as text, in its form, and in the inbox.
    const { notes } = store.json('list', '--kind', 'note');
    for (const [index, { name, text }] of TEXTS.entries()) {
      const note = notes.find(({ title }) => title.startsWith(`${index} `));
      assert.ok(note, `${name} is not the title of a note`);
      await page.goto(`${base}#/memory/${encodeURIComponent(note.path)}`);
      await page.locator('article .rendered').waitFor();
      const article = page.locator('article');
      await article.locator('h1', { hasText: String(index) }).waitFor();
      assert.equal((await article.locator('h1').first().textContent()).trim(), shown(note.title), name);
      await checkHarmless(page, `${name}, as a page`);
      await article.getByRole('button', { name: 'As text' }).click();
      const source = await article.locator('pre.text').first().textContent();
      assert.ok(source.includes(shown(text)), `${name}: ${source}`);
      await checkHarmless(page, `${name}, as text`);
      await article.getByRole('button', { name: 'Edit', exact: true }).click();
      const written = await article.locator('textarea').inputValue();
      assert.ok(written.includes(text), `${name}: ${written}`);
      await article.getByRole('button', { name: 'Cancel' }).click();
    }
    const origin = new URL(page.url()).origin;
    assert.deepEqual(page.requests.filter(url => !url.startsWith(origin)), []);
    assert.deepEqual(page.failures, []);
  }));

test('hostile text is text in the page that is one file', () =>
  withStore(async store => {
    fillHostile(store);
    const file = path.join(store.folder, 'memory.html');
    store.run('ui', '--out', file);
    const page = await (await (await chromium()).newContext()).newPage();
    const failures = [];
    const requests = [];
    page.on('pageerror', error => failures.push(error.message));
    page.on('dialog', dialog => failures.push(dialog.message()) && dialog.dismiss());
    page.on('request', request => requests.push(request.url()));
    await page.goto(`file://${file}`);
    await checkViews(page, `file://${file}`);
    const { notes } = store.json('list', '--kind', 'note');
    assert.ok(notes.length >= 2 * TEXTS.length);
    for (const { path } of notes) {
      await page.goto(`file://${file}#/memory/${encodeURIComponent(path)}`);
      await page.locator('article .rendered').waitFor();
      await checkHarmless(page, path);
    }
    assert.deepEqual(failures, []);
    assert.ok(requests.every(url => url.startsWith('file://') || url.startsWith('data:')), requests.join('\n'));
  }));
