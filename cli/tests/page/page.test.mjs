import assert from 'node:assert/strict';
import http from 'node:http';
import { mkdirSync, readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { axeSource, chromium, closeBrowser, fill, withStore } from './support.mjs';

after(closeBrowser);

const item = (page, title) => page.locator('.items .list .row', { hasText: title });
const notice = page => page.locator('.notice');

/** Sends a request as another program of the machine may. */
function ask(address, { method = 'GET', headers = {}, body = '' } = {}) {
  const { hostname, port, pathname, search } = new URL(address);
  return new Promise((resolve, reject) => {
    const request = http.request({ hostname, port, path: pathname + search, method, headers }, response => {
      let text = '';
      response.on('data', part => (text += part));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

test('an address without its key, and a key that was used, get nothing', () =>
  withStore(async store => {
    fill(store);
    const address = await store.serve();
    const { origin } = new URL(address);
    const folder = address.slice(0, address.indexOf('?'));
    assert.match(folder, /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{43}\/$/);
    for (const path of ['/', '/?key=', '/app.js', '/guessed/', '/guessed/api/changes']) {
      assert.equal((await ask(origin + path)).status, 401, path);
    }
    for (const path of ['', 'app.js', 'api/changes', '?key=wrong', '?key=', '?x']) {
      const answer = await ask(folder + path);
      assert.equal(answer.status, 401, path);
      assert.ok(!answer.text.includes('csrf') && !answer.text.includes('Postgres'), path);
    }
    const first = await ask(address);
    assert.equal(first.status, 303);
    const cookie = first.headers['set-cookie'][0];
    assert.match(cookie, /HttpOnly; SameSite=Strict/);
    // No server of another port gets the cookie.
    assert.ok(cookie.includes(`Path=${new URL(folder).pathname};`), cookie);
    assert.equal((await ask(address)).status, 401, 'the second use');
    const session = { cookie: cookie.split(';')[0] };
    const page = await ask(folder, { headers: session });
    assert.equal(page.status, 200);
    assert.match(page.headers['content-security-policy'], /default-src 'none'; script-src 'self'/);
    const csrf = /csrf" content="([^"]+)/.exec(page.text)[1];
    const call = headers => ask(`${folder}api/status`, { method: 'POST', headers: { ...session, ...headers }, body: '{}' });
    assert.equal((await call({ 'x-saddlebag-csrf': csrf })).status, 200);
    // Without the secret of the page, with another one, and without the cookie.
    assert.equal((await call({})).status, 403);
    assert.equal((await call({ 'x-saddlebag-csrf': 'x'.repeat(43) })).status, 403);
    assert.equal((await call({ 'x-saddlebag-csrf': csrf, cookie: '' })).status, 401);
    // From another page of this machine, from elsewhere, and under another name of the host.
    for (const headers of [
      { origin: 'http://127.0.0.1:1' },
      { origin: 'http://localhost:3000' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { host: 'evil.example' },
      { host: `evil.example:${new URL(origin).port}` },
      { host: '127.0.0.1:1' },
    ]) {
      const answer = await call({ 'x-saddlebag-csrf': csrf, ...headers });
      assert.equal(answer.status, 403, JSON.stringify(headers));
    }
    assert.equal((await call({ 'x-saddlebag-csrf': csrf, origin })).status, 200);
  }));

test('a page of another origin reads nothing and changes nothing', () =>
  withStore(async store => {
    fill(store);
    const address = await store.serve();
    const page = await store.visit(address);
    const folder = address.slice(0, address.indexOf('?'));
    const other = http.createServer((_, response) => response.end('<!doctype html><title>evil</title>')).listen(0, '127.0.0.1');
    await new Promise(ready => other.once('listening', ready));
    const evil = await page.context().newPage();
    await evil.goto(`http://127.0.0.1:${other.address().port}/`);
    const read = await evil.evaluate(async target => {
      const tried = [];
      for (const [path, options] of [
        ['', {}],
        ['', { mode: 'no-cors' }],
        ['api/status', { method: 'POST', body: '{}', credentials: 'include' }],
      ]) {
        try {
          tried.push((await fetch(target + path, options)).type);
        } catch {
          tried.push('refused');
        }
      }
      const frame = document.createElement('iframe');
      frame.src = target;
      document.body.append(frame);
      await new Promise(ready => (frame.onload = ready));
      tried.push(frame.contentDocument ? 'framed' : 'refused');
      return tried;
    }, folder);
    assert.deepEqual(read, ['refused', 'refused', 'refused', 'refused']);
    other.close();
  }));

test('the prompt is shown byte for byte with sources, and a prompt shows what the hook would add', () =>
  withStore(async store => {
    fill(store);
    const page = await store.open('#/prompt');
    await page.locator('table.block').waitFor();
    const lines = await page.locator('table.block td.code').allTextContents();
    assert.equal(lines.join('\n'), store.json('context', '--entries').block);
    const source = page.locator('table.block tr', { hasText: 'Staging runs on' });
    await page.locator('table.block td.source a', { hasText: 'staging_host' }).first().waitFor();
    assert.equal(await source.count(), 1);
    await page.locator('.rows li', { hasText: 'api_version' }).filter({ hasText: 'unapproved' }).waitFor();
    assert.match(await page.locator('.budget').textContent(), /of 8000 bytes/);
    await page.getByLabel('Prompt', { exact: true }).fill('Which port does Postgres listen on?');
    await page.keyboard.press('Enter');
    const added = await page.locator('pre.added').textContent();
    assert.match(added, /5433/);
    await page.locator('summary', { hasText: 'Score' }).first().click();
    assert.match(await page.locator('details[open]').textContent(), /coverage/);
    await page.getByLabel('Prompt', { exact: true }).fill('Tell me a joke about giraffes');
    await page.getByRole('button', { name: 'Show what would be added' }).click();
    await page.getByText('Nothing would be added.').waitFor();
    // A preview is not recorded.
    assert.equal(store.json('sessions', 'list').sessions?.length ?? 0, 0);
    assert.deepEqual(page.failures, []);
  }));

test('what the hook would add is shown with the options it was computed with, which can be changed', () =>
  withStore(async store => {
    fill(store);
    for (let at = 0; at < 6; at += 1) store.run('remember', `Postgres fact ${at}`, `Postgres listens on port 5433 in region ${at}. ${'More of it. '.repeat(20)}`);
    const page = await store.open('#/prompt');
    const computed = text => page.locator('.computed', { hasText: text }).waitFor();
    const added = () => page.locator('pre.added').textContent();
    const bytes = text => Buffer.byteLength(text);
    await page.getByLabel('Prompt', { exact: true }).fill('Which port does Postgres listen on?');
    await page.keyboard.press('Enter');
    await computed('at most 1500 bytes (--max-bytes), a minimum score of 1 (--min-score), for the client: Claude Code');
    const usual = await added();
    assert.ok(bytes(usual) > 700 && bytes(usual) <= 1500, `${bytes(usual)} bytes`);
    assert.match(usual, /<memory/);
    // Fewer bytes: less text, and what has no room is named.
    await page.getByLabel('Maximum bytes').fill('700');
    await page.keyboard.press('Enter');
    await computed('at most 700 bytes');
    assert.ok(bytes(await added()) <= 700);
    await page.getByText('no room in the budget').first().waitFor();
    // A higher score than any fact has: nothing.
    await page.getByLabel('Minimum score').fill('1000');
    await computed('a minimum score of 1000');
    await page.getByText('Nothing would be added.').waitFor();
    // An invalid number asks for nothing.
    await page.getByLabel('Maximum bytes').fill('0');
    await page.getByRole('button', { name: 'Show what would be added' }).click();
    assert.equal(await page.getByLabel('Maximum bytes').evaluate(field => field.validity.valid), false);
    await computed('at most 700 bytes');
    await page.getByLabel('Maximum bytes').fill('1500');
    await page.getByLabel('Minimum score').fill('0.5');
    await page.getByLabel('Client').selectOption('Codex');
    await computed('at most 1500 bytes (--max-bytes), a minimum score of 0.5 (--min-score), for the client: Codex');
    assert.doesNotMatch(await added(), /<memory/);
    assert.deepEqual(page.failures, []);
  }));

test('the inbox has one key for each answer, and each can be undone', () =>
  withStore(async store => {
    for (const name of ['one', 'two', 'three', 'four', 'five']) {
      store.run('--provenance', 'tool', 'remember', '--key', name, `The tool says ${name}.`);
    }
    const page = await store.open('#/inbox');
    const rows = page.locator('.list li');
    const waiting = () => store.json('list', '--pending').total;
    await rows.nth(4).waitFor();
    const current = () => page.locator('.list li.current .title').textContent();
    const press = async (key, told) => {
      const name = await current();
      await page.locator('section pre.text').waitFor();
      await page.waitForFunction(name => document.querySelector('pre.text')?.textContent.includes(`says ${name}`), name);
      await page.keyboard.press(key);
      if (told) await notice(page).filter({ hasText: told }).waitFor();
      return name;
    };
    const accepted = await press('a', 'Accepted: ');
    assert.equal(waiting(), 4);
    await page.keyboard.press('u');
    await notice(page).filter({ hasText: 'Undone.' }).waitFor();
    assert.equal(waiting(), 5);
    await page.locator('.list li', { hasText: accepted }).getByRole('button').click();
    await press('a', 'Accepted: ');
    const rejected = await press('r', 'Rejected: ');
    assert.equal(waiting(), 3);
    assert.ok(!store.json('list', '--kind', 'entry').items.some(item => item.name === rejected));
    const name = await press('R');
    await page.getByRole('dialog').getByRole('button', { name: 'Do it' }).click();
    await notice(page).filter({ hasText: 'Rejected for good' }).waitFor();
    assert.throws(() => store.agent('remember', '--key', 'again', `THE TOOL  says ${name}.`), /rejected/);
    const edited = await press('e');
    const field = page.getByRole('textbox', { name: edited });
    await field.fill('A person has corrected this.');
    await page.keyboard.press('Control+s');
    await notice(page).filter({ hasText: 'Accepted: ' }).waitFor();
    const entries = store.json('list', '--kind', 'entry').items.map(item => item.entry);
    const entry = entries.find(entry => entry.key === edited);
    assert.equal(entry.content, 'A person has corrected this.');
    assert.equal(entry.unapproved, null);
    assert.equal(waiting(), 1);
    await page.getByRole('button', { name: 'Accept all shown' }).click();
    await page.getByRole('button', { name: 'Do it' }).click();
    await page.getByText('Nothing waits for approval.').waitFor();
    assert.equal(waiting(), 0);
    assert.deepEqual(page.failures, []);
  }));

/** Writes so many entries of a tool, which wait for approval. */
function fillInbox(store, number) {
  store.run('--provenance', 'tool', 'remember', '--key', 'fact 000', 'The tool says number 000.');
  const [{ path: first }] = store.json('list', '--pending').items;
  const text = readFileSync(path.join(store.root, first), 'utf8');
  for (let at = 1; at < number; at += 1) {
    const three = String(at).padStart(3, '0');
    const file = path.join(store.root, path.dirname(first), `fact-${three}.md`);
    writeFileSync(file, text.replaceAll('fact 000', `fact ${three}`).replaceAll('number 000', `number ${three}`));
  }
  assert.equal(store.json('list', '--pending').total, number);
}

test('items of the inbox that are selected are accepted or rejected as one operation', () =>
  withStore(async store => {
    fillInbox(store, 7);
    const page = await store.open('#/inbox');
    const box = name => page.getByRole('checkbox', { name: `Select ${name}` });
    const waiting = () => store.json('list', '--pending').items.map(item => item.name);
    await page.locator('.list li').nth(6).waitFor();
    const all = await page.locator('.list li .title').allTextContents();
    for (const name of all.slice(1, 4)) await box(name).check();
    await page.getByText('3 selected').waitFor();
    await page.getByRole('button', { name: 'Accept the selected items' }).click();
    await notice(page).filter({ hasText: 'Accepted: 3 items' }).waitFor();
    assert.deepEqual(waiting(), [all[0], ...all.slice(4)]);
    // One undo takes all of it back.
    await notice(page).getByRole('button', { name: 'Undo' }).click();
    await notice(page).filter({ hasText: 'Undone.' }).waitFor();
    assert.deepEqual(waiting(), all);
    // By key: the first two are selected and rejected. A key answers for the item that is shown alone.
    await page.locator('.list li').nth(6).waitFor();
    await page.locator('.list li .row').first().click();
    for (const key of ['x', 'j', 'x', 'j']) await page.keyboard.press(key);
    await page.locator('pre.text', { hasText: all[2].replace('fact', 'number') }).waitFor();
    await page.keyboard.press('a');
    await notice(page).filter({ hasText: `Accepted: ${all[2]}` }).waitFor();
    assert.deepEqual(waiting(), [...all.slice(0, 2), ...all.slice(3)]);
    await page.getByText('2 selected').waitFor();
    await page.getByRole('button', { name: 'Reject the selected items' }).focus();
    await page.keyboard.press('Enter');
    await notice(page).filter({ hasText: 'Rejected: 2 items' }).waitFor();
    assert.deepEqual(waiting(), all.slice(3));
    assert.equal(store.json('list', '--kind', 'entry').total, 5);
    // The button is gone, and the focus is on the item that follows.
    await focusIs(page, '.inbox .list [aria-current]');
    // An item that changes after it was selected is not accepted.
    await page.waitForFunction(() => document.querySelectorAll('.list li').length === 4);
    await box(all[3]).check();
    await box(all[4]).check();
    store.run('--provenance', 'tool', 'remember', '--key', all[3], 'Something else entirely.');
    await page.locator('.list li', { hasText: 'Something else entirely.' }).waitFor();
    await page.getByRole('button', { name: 'Accept the selected items' }).click();
    await page.locator('.notice.problem').waitFor();
    assert.deepEqual(waiting(), [all[3], ...all.slice(5)]);
    // It stays selected, and is accepted as soon as its new text is selected.
    await page.getByText('1 selected').waitFor();
    assert.ok(await box(all[3]).isChecked());
    await box(all[3]).uncheck();
    await box(all[3]).check();
    await page.getByRole('button', { name: 'Accept the selected items' }).click();
    await notice(page).filter({ hasText: 'Accepted: 1 item' }).waitFor();
    assert.deepEqual(waiting(), all.slice(5));
    assert.equal(await page.locator('.bulk').count(), 0);
    assert.deepEqual(page.failures, []);
  }));

test('200 items that wait are decided with one key each, and the focus stays on the item that is shown', () =>
  withStore(async store => {
    fillInbox(store, 200);
    const page = await store.open('#/inbox');
    const decided = { a: [], r: [] };
    let last = null;
    for (let press = 0; press < 200; press += 1) {
      const shown = await page.waitForFunction(
        last => {
          const title = document.querySelector('.inbox .list [aria-current] .title')?.textContent;
          const text = document.querySelector('pre.text')?.textContent;
          const isFocused = last === null || document.activeElement.querySelector?.('.title')?.textContent === title;
          return title && title !== last && text?.includes(title.replace('fact', 'number')) && isFocused ? title : null;
        },
        last,
        { polling: 10 },
      );
      last = await shown.jsonValue();
      const key = press % 3 === 2 ? 'r' : 'a';
      decided[key].push(last);
      await page.keyboard.press(key);
    }
    await page.getByText('Nothing waits for approval.').waitFor();
    assert.equal(new Set([...decided.a, ...decided.r]).size, 200);
    assert.equal(store.json('list', '--pending').total, 0);
    const { total } = store.json('list', '--kind', 'entry');
    assert.equal(total, decided.a.length);
    // With no item left, the focus is in the view, and not lost.
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
    assert.deepEqual(page.failures, []);
  }));

test('an answer in the inbox is only for the text that was shown', () =>
  withStore(async store => {
    store.run('--provenance', 'tool', 'remember', '--key', 'one', 'The tool says one.');
    const page = await store.open('#/inbox');
    await page.locator('section pre.text', { hasText: 'says one' }).waitFor();
    // The page is told of changes, so the answer must be faster than the news of one.
    await page.route('**/api/call', async route => {
      if (!route.request().postData().includes('"approve"')) return route.continue();
      store.run('--provenance', 'tool', 'remember', '--key', 'one', 'Something else entirely.');
      return route.continue();
    });
    await page.keyboard.press('a');
    await page.locator('.notice.problem').waitFor();
    assert.equal(store.json('list', '--pending').total, 1);
  }));

test('memory is searched as you type, filtered, read, edited, renamed, linked, tagged and forgotten', () =>
  withStore(async store => {
    fill(store);
    const page = await store.open();
    await item(page, 'Postgres port').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('which port does postgres');
    await page.waitForFunction(() => document.querySelector('.items .row .title')?.textContent === 'Postgres port');
    await page.getByLabel('Exact words only').check();
    await page.getByLabel('Search memory').fill('5433');
    await item(page, 'Postgres port').waitFor();
    assert.match(await item(page, 'Postgres port').textContent(), /Postgres listens on 5433/);
    await page.getByLabel('Exact words only').uncheck();
    await page.getByLabel('Search memory').fill('');
    await page.getByRole('button', { name: 'database 1' }).click();
    await page.waitForFunction(() => document.querySelectorAll('.items .row').length === 1);
    await page.getByRole('button', { name: 'database 1' }).click();
    await page.getByRole('button', { name: /^Entries/ }).click();
    await item(page, 'Postgres port').waitFor({ state: 'detached' });
    await item(page, 'staging_host').waitFor();
    await page.getByRole('button', { name: /^Entries/ }).click();

    await item(page, 'Postgres port').click();
    const article = page.locator('article');
    await article.locator('.rendered a', { hasText: 'Load balancer' }).click();
    await article.getByRole('heading', { name: 'Load balancer' }).waitFor();
    await article.locator('li a', { hasText: 'Postgres port' }).waitFor();
    // The log mentions the note without a link.
    await article.getByRole('button', { name: /^Make a link/ }).click();
    await page.waitForFunction(() => !document.body.textContent.includes('Mentions without a link'));
    assert.equal(store.json('related', 'Load balancer').notes.length, 2);

    await page.keyboard.press('e');
    const field = page.getByRole('textbox', { name: 'Load balancer' });
    // What is typed at once goes into the field, and is not taken for keys.
    await page.keyboard.type('#xu');
    await field.waitFor();
    assert.equal(await notice(page).filter({ hasText: 'Forgotten' }).count(), 0);
    await field.fill((await field.inputValue()).replace(/#?x?u?$/, '').replace('8443', '9443'));
    await page.keyboard.press('Control+s');
    await notice(page).filter({ hasText: 'Saved.' }).waitFor();
    assert.match(store.run('show', 'Load balancer'), /9443/);
    await notice(page).getByRole('button', { name: 'Undo' }).click();
    await notice(page).filter({ hasText: 'Undone.' }).waitFor();
    assert.match(store.run('show', 'Load balancer'), /8443/);

    await article.getByRole('button', { name: 'Rename' }).click();
    await article.getByText('2 notes link to it.').waitFor();
    await article.getByLabel('New title').fill('Edge proxy');
    await page.keyboard.press('Enter');
    await article.getByRole('heading', { name: 'Edge proxy' }).waitFor();
    assert.match(store.run('show', 'Postgres port'), /\[\[Edge proxy\]\]|edge-proxy/);
    // The note is shown under the name that it has after each undo.
    await notice(page).getByRole('button', { name: 'Undo' }).click();
    await article.getByRole('heading', { name: 'Load balancer' }).waitFor();
    await notice(page).getByRole('button', { name: 'Undo' }).click();
    await article.getByRole('heading', { name: 'Edge proxy' }).waitFor();

    await article.getByRole('button', { name: 'Tags', exact: true }).click();
    await article.getByLabel('Tags, separated by commas').fill('infra, proxy');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'proxy 1' }).waitFor();

    await article.getByRole('button', { name: 'Forget' }).click();
    await notice(page).filter({ hasText: 'Forgotten: Edge proxy' }).waitFor();
    await item(page, 'Edge proxy').waitFor({ state: 'detached' });
    await page.keyboard.press('u');
    await item(page, 'Edge proxy').waitFor();

    await page.getByRole('link', { name: 'New note' }).click();
    await page.getByLabel('Title').fill('Written by hand');
    await page.getByLabel('Text').fill('A fact of mine.');
    await page.getByRole('button', { name: 'Save' }).click();
    await article.getByRole('heading', { name: 'Written by hand' }).waitFor();
    assert.deepEqual(page.failures, []);
  }));

/** Returns the number that a facet has. */
const numberOf = (page, label) =>
  page.locator('.facets button').evaluateAll((all, label) => {
    const facet = all.find(one => one.textContent.trim().replace(/ \d+\+?$/, '') === label);
    return facet && Number(/ (\d+)\+?$/.exec(facet.textContent.trim())?.[1] ?? NaN);
  }, label);

/** Waits until the facets have these numbers. */
async function numbersAre(page, wanted) {
  for (let tries = 0; ; tries += 1) {
    const numbers = {};
    for (const label of Object.keys(wanted)) numbers[label] = await numberOf(page, label);
    if (JSON.stringify(numbers) === JSON.stringify(wanted)) return;
    if (tries === 60) assert.deepEqual(numbers, wanted);
    await page.waitForTimeout(50);
  }
}

/** Waits until the list has exactly these titles, in any order. */
async function titlesAre(page, wanted) {
  const titles = async () => (await page.locator('.items .row .title').allTextContents()).sort();
  for (let tries = 0; tries < 60; tries += 1) {
    if (JSON.stringify(await titles()) === JSON.stringify([...wanted].sort())) return;
    await page.waitForTimeout(50);
  }
  assert.deepEqual(await titles(), [...wanted].sort());
}

const facet = (page, label) => page.locator('.facets').getByRole('button', { name: new RegExp(`^${label}( \\d+\\+?)?$`) });

/** Makes a file look as if it was written so many days ago. */
function age(store, file, days) {
  const time = Date.now() / 1000 - days * 86_400;
  utimesSync(path.join(store.root, file), time, time);
}

test('facets choose by kind, scope, source and age, and their numbers follow the words and the other facets', () =>
  withStore(async store => {
    fill(store);
    store.agent('remember', 'Checkout timeout', 'The checkout times out after 90 seconds.');
    store.run('--provenance', 'import', 'remember', 'Old wiki', 'The checkout was called till.');
    store.run('write', 'long_term', 'The checkout is the heart of the shop.');
    hook(store, 'SessionStart', { source: 'startup' });
    hook(store, 'UserPromptSubmit', { prompt: 'Move the checkout to port 9000.' });
    hook(store, 'UserPromptSubmit', { prompt: 'And test the checkout.' });
    hook(store, 'SessionEnd', { reason: 'exit' });
    const notes = store.json('list', '--kind', 'note').items;
    const named = title => notes.find(note => note.name === title).path;
    age(store, named('Load balancer'), 3);
    age(store, named('Postgres port'), 20);
    age(store, named('Rate limits'), 400);
    const [log, session] = ['daily/', 'sessions/'].map(folder => notes.find(note => note.path.includes(folder)).name);
    const page = await store.open('#');
    await numbersAre(page, {
      'Notes': 5, 'Logs': 1, 'Sessions': 1, 'Entries': 2, 'Other files': 1,
      'Waits for approval': 3, 'Approved': 6,
      'This project': 7, 'All projects': 2,
      'A person': 3, 'An agent': 2, 'A tool': 2, 'An import': 1,
      'Today': 6, 'Within 7 days': 7, 'Within 30 days': 8, 'Earlier': 1,
      'infra': 2, 'database': 1,
    });
    for (const [label, titles] of [
      ['Notes', ['Load balancer', 'Postgres port', 'Rate limits', 'Checkout timeout', 'Old wiki']],
      ['Logs', [log]],
      ['Sessions', [session]],
      ['Entries', ['staging_host', 'api_version']],
      ['Other files', ['MEMORY.md']],
      ['All projects', ['staging_host', 'api_version']],
      ['An agent', ['Checkout timeout', session]],
      ['A tool', ['Rate limits', 'api_version']],
      ['An import', ['Old wiki']],
      ['A person', ['Load balancer', 'Postgres port', 'staging_host']],
      ['Earlier', ['Rate limits']],
      ['Waits for approval', ['Rate limits', 'api_version', 'Old wiki']],
    ]) {
      await facet(page, label).click();
      await titlesAre(page, titles);
      await facet(page, label).click();
      await page.waitForFunction(() => document.querySelectorAll('.items .row').length === 9);
    }
    // Two facets together, and the numbers of each with the other.
    await facet(page, 'A tool').click();
    await facet(page, 'Entries').click();
    await titlesAre(page, ['api_version']);
    await numbersAre(page, { 'Notes': 1, 'Entries': 1, 'A person': 1, 'A tool': 1, 'An agent': 0 });
    await facet(page, 'A tool').click();
    await facet(page, 'Entries').click();
    // With words, they count what answers the words.
    await page.getByLabel('Search memory').fill('checkout');
    await titlesAre(page, ['Checkout timeout', 'Old wiki', 'MEMORY', log, session]);
    await numbersAre(page, {
      'Notes': 2, 'Logs': 1, 'Sessions': 1, 'Entries': 0, 'Other files': 1, 'All projects': 1, 'An agent': 2, 'An import': 1, 'Earlier': 0,
    });
    await facet(page, 'Logs').click();
    await titlesAre(page, [log]);
    await facet(page, 'Logs').click();
    await facet(page, 'An agent').click();
    await titlesAre(page, ['Checkout timeout', session]);
    await numbersAre(page, { 'Notes': 1, 'Logs': 0, 'Sessions': 1, 'An import': 1 });
    assert.deepEqual(page.failures, []);
  }));

test('exact words are searched among the items of a tag, however many others have the words', () =>
  withStore(async store => {
    store.run('remember', 'Wanted', 'The zebra is tagged.', '--tag', 'stripes');
    const { path: wanted } = store.json('list', '--kind', 'note').items[0];
    for (let index = 0; index < 60; index += 1) {
      writeFileSync(path.join(store.root, path.dirname(wanted), `zebra-zebra-${index}.md`), `# Zebra ${index}\n\nzebra zebra zebra\n`);
    }
    const page = await store.open();
    await page.getByLabel('Exact words only').check();
    await page.getByLabel('Search memory').fill('zebra');
    await page.locator('.items .list[data-query="zebra"]').waitFor();
    assert.equal(await page.locator('.items .row').count(), 50);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.waitForFunction(() => document.querySelectorAll('.items .row').length === 61);
    for (const isEverywhere of [false, true]) {
      await page.getByLabel('Search all projects').setChecked(isEverywhere);
      await facet(page, 'stripes').click();
      await titlesAre(page, ['Wanted']);
      await facet(page, 'stripes').click();
      await page.waitForFunction(() => document.querySelectorAll('.items .row').length === 61);
    }
    assert.deepEqual(page.failures, []);
  }));

test('a facet shows the entries that expire, and when, those that expire first before the others', () =>
  withStore(async store => {
    fill(store);
    store.run('remember', '--key', 'later', 'The checkout is frozen.', '--category', 'daily');
    store.run('remember', '--key', 'sooner', 'Deploys wait for the audit.', '--category', 'daily');
    // It was written two days ago.
    const { path: file, modified: updated } = store.json('list', '--kind', 'entry').items.find(item => item.name === 'sooner');
    const text = readFileSync(path.join(store.root, file), 'utf8');
    const old = new Date(new Date(updated).valueOf() - 48 * 3_600_000).toISOString();
    writeFileSync(path.join(store.root, file), text.replace(/^(created|updated): .*$/gm, `$1: ${old}`));
    const page = await store.open('#');
    await numbersAre(page, { 'Expires': 2 });
    await facet(page, 'Expires').click();
    await titlesAre(page, ['sooner', 'later']);
    assert.deepEqual(await page.locator('.items .row .title').allTextContents(), ['sooner', 'later']);
    const times = await page.locator('.items .row .tag time').evaluateAll(all => all.map(time => time.getAttribute('datetime')));
    const wanted = [new Date(new Date(old).valueOf() + 72 * 3_600_000), new Date(new Date(updated).valueOf() + 72 * 3_600_000)];
    assert.equal(times.length, 2);
    times.forEach((time, at) => assert.ok(Math.abs(new Date(time) - wanted[at]) < 120_000, `${time} is not ${wanted[at].toISOString()}`));
    assert.match(await item(page, 'sooner').textContent(), /expires/);
    await page.getByLabel('Search memory').fill('audit');
    await titlesAre(page, ['sooner']);
    await numbersAre(page, { 'Expires': 1 });
    assert.deepEqual(page.failures, []);
  }));

test('a rename names the notes whose links it changes before it is done', () =>
  withStore(async store => {
    store.run('remember', 'Cache', 'Redis, on port 6379.');
    store.run('remember', 'Checkout', 'It needs the [[Cache]].');
    store.run('remember', 'Search', 'It fills the [[Cache]] each night.');
    store.run('remember', 'Emails', 'They do not.');
    const page = await store.open('#/memory/Cache');
    const article = page.locator('article');
    const form = article.locator('form');
    // The answer is slow, and the form waits for it.
    let answer;
    const isAnswered = new Promise(done => (answer = done));
    await page.route('**/api/call', async route => {
      const isLong = (route.request().postData() ?? '').includes('link-to') && !route.request().postData().includes('"limit"');
      if (isLong) await isAnswered;
      return route.continue();
    });
    await article.getByRole('button', { name: 'Rename' }).click();
    await form.getByLabel('New title').fill('Redis');
    assert.ok(await form.getByRole('button', { name: 'Rename' }).isDisabled());
    answer();
    await form.getByText('2 notes link to it.').waitFor();
    assert.deepEqual((await form.locator('li').allTextContents()).sort(), ['Checkout', 'Search']);
    assert.match(store.run('show', 'Checkout'), /\[\[Cache\]\]/);
    await form.getByRole('button', { name: 'Rename' }).click();
    await article.getByRole('heading', { name: 'Redis' }).waitFor();
    for (const name of ['Checkout', 'Search']) assert.doesNotMatch(store.run('show', name), /\[\[Cache\]\]/);
    await article.getByRole('button', { name: 'Rename' }).click();
    await form.getByText('2 notes link to it.').waitFor();
    await page.goto(page.url().split('#')[0] + '#/memory/Emails');
    await article.getByRole('heading', { name: 'Emails' }).waitFor();
    await article.getByRole('button', { name: 'Rename' }).click();
    await form.getByText('No note links to it.').waitFor();
    assert.deepEqual(page.failures, []);
  }));

test('many items are selected by key, tagged and forgotten as one operation', () =>
  withStore(async store => {
    for (const name of ['A', 'B', 'C', 'D']) store.run('remember', `Note ${name}`, 'text');
    const page = await store.open();
    await item(page, 'Note A').waitFor();
    for (const keys of ['j', 'x', 'j', 'x']) await page.keyboard.press(keys);
    await page.getByText('2 selected').waitFor();
    await page.locator('.bulk input').fill('old');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'old 2' }).waitFor();
    await item(page, 'Note A').focus();
    for (const keys of ['k', 'k', 'k', 'x', 'j', 'x']) await page.keyboard.press(keys);
    await page.getByText('2 selected').waitFor();
    await page.keyboard.press('#');
    await notice(page).filter({ hasText: 'Forgotten: 2 items' }).waitFor();
    assert.equal(store.json('list', '--kind', 'note').total, 2);
    await notice(page).getByRole('button', { name: 'Undo' }).click();
    await notice(page).filter({ hasText: 'Undone.' }).waitFor();
    assert.equal(store.json('list', '--kind', 'note').total, 4);
  }));

test('an edit that meets the change of an agent loses neither text', () =>
  withStore(async store => {
    fill(store);
    const page = await store.open();
    await item(page, 'Postgres port').click();
    const article = page.locator('article');
    await article.getByRole('button', { name: 'Edit' }).click();
    const field = page.getByRole('textbox', { name: 'Postgres port' });
    const before = await field.inputValue();
    await field.fill(before.replace('5433', '6000'));
    store.agent('edit', 'Postgres port', '--old', 'another database', '--new', 'MySQL');
    // The draft stays while the page follows the change.
    await page.waitForTimeout(400);
    assert.match(await field.inputValue(), /6000/);
    // So it does while the reader looks at another item.
    await item(page, 'Load balancer').click();
    await article.getByRole('heading', { name: 'Load balancer' }).waitFor();
    await item(page, 'Postgres port').click();
    await field.waitFor();
    assert.match(await field.inputValue(), /6000/);
    await field.focus();
    await page.keyboard.press('Control+s');
    await page.getByText('Somebody changed this item').waitFor();
    assert.match(await page.locator('pre.diff').first().textContent(), /MySQL[\s\S]*6000/);
    assert.match(store.run('show', 'Postgres port'), /5433, because MySQL/);
    await page.getByRole('button', { name: 'Edit the text as it is now' }).click();
    await page.getByRole('button', { name: 'Do it' }).click();
    assert.match(await field.inputValue(), /MySQL/);
    await field.fill((await field.inputValue()).replace('5433', '6000'));
    await page.keyboard.press('Control+s');
    await notice(page).filter({ hasText: 'Saved.' }).waitFor();
    assert.match(store.run('show', 'Postgres port'), /6000, because MySQL/);
  }));

test('history shows who changed what by session, and undoes an operation or a session', () =>
  withStore(async store => {
    fill(store);
    store.run('edit', 'Postgres port', '--old', '5433', '--new', '5434');
    const payload = { hook_event_name: 'SessionStart', session_id: 'abc', cwd: store.project, source: 'startup' };
    store.run('hook', '--client', 'claude-code', { input: JSON.stringify(payload) });
    const page = await store.open('#/history');
    const edit = page.locator('.day .rows > li', { hasText: 'edit' }).first();
    await edit.locator('button.row').click();
    assert.match(await edit.locator('pre.diff').textContent(), /-Postgres listens on 5433[\s\S]*\+Postgres listens on 5434/);
    assert.match(await edit.locator('.who').textContent(), /You/);
    await edit.getByRole('button', { name: /^Undo this/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
    await notice(page).filter({ hasText: 'Undone.' }).waitFor();
    assert.match(store.run('show', 'Postgres port'), /5433/);
    await page.locator('.day .rows > li.undone').first().waitFor();
    assert.deepEqual(page.failures, []);
  }));

/** Gives an event of a client to the hook. */
function hook(store, name, more) {
  const payload = { hook_event_name: name, session_id: 'monday', cwd: store.project, ...more };
  store.run('hook', '--client', 'claude-code', { input: JSON.stringify(payload) });
}

test('a session is undone as a whole, and its hand-off is chosen', () =>
  withStore(async store => {
    hook(store, 'SessionStart', { source: 'startup' });
    hook(store, 'UserPromptSubmit', { prompt: 'Move the checkout to port 9000.' });
    hook(store, 'UserPromptSubmit', { prompt: 'And test it.' });
    hook(store, 'SessionEnd', { reason: 'exit' });
    const page = await store.open('#/history');
    const sessions = page.locator('section', { has: page.getByRole('heading', { name: 'Sessions' }) }).last();
    await sessions.waitFor();
    await page.getByRole('button', { name: 'Undo the session' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('li', { hasText: 'end-session' }).waitFor();
    await dialog.getByRole('button', { name: 'Undo' }).click();
    await sessions.waitFor({ state: 'detached' });
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('u');
    await sessions.getByRole('button', { name: 'Never hand this on' }).click();
    await notice(page).filter({ hasText: /session/ }).waitFor();
    await sessions.getByRole('button', { name: 'Begin the next session with this' }).click();
    await notice(page).filter({ hasText: /next/ }).waitFor();
    assert.deepEqual(page.failures, []);
  }));

test('each session has the state of its hand-off, as the command line shows it', () =>
  withStore(async store => {
    const file = path.join(store.project, 'checkout.js');
    writeFileSync(file, 'export {};');
    /** Runs a session that edits a file; one that goes on has no end. */
    const session = (name, isOver = true) => {
      hook(store, 'SessionStart', { session_id: name, source: 'startup' });
      hook(store, 'UserPromptSubmit', { session_id: name, prompt: `Work on the checkout, part ${name}.` });
      hook(store, 'UserPromptSubmit', { session_id: name, prompt: 'And test it.' });
      const edit = { tool_name: 'Edit', tool_input: { file_path: file, old_string: 'a', new_string: 'b' }, tool_response: {} };
      hook(store, 'PostToolUse', { session_id: name, ...edit });
      hook(store, isOver ? 'SessionEnd' : 'PreCompact', { session_id: name, reason: 'exit', trigger: 'auto' });
    };
    session('monday');
    session('tuesday');
    session('wednesday');
    session('thursday', false);
    const page = await store.open('#/history');
    const sessions = page.locator('section', { has: page.getByRole('heading', { name: 'Sessions' }) }).last();
    await sessions.locator('li').nth(3).waitFor();
    const onPage = () =>
      sessions.locator('li').evaluateAll(all => all.map(row => `${row.querySelector('.state').textContent.trim()}: ${row.querySelector('a').textContent}`));
    const onLine = () => store.run('sessions').trim().split('\n').map(line => line.split('  ')).map(([, state, , title]) => `${state}: ${title}`);
    const states = () => onLine().map(line => line.split(':')[0]).sort();
    assert.deepEqual(await onPage(), onLine());
    assert.deepEqual(states(), ['handed to thursday', 'handed to tuesday', 'handed to wednesday', 'open']);
    session('friday');
    await sessions.locator('li').nth(4).waitFor();
    await sessions.locator('.state', { hasText: 'finished' }).waitFor();
    assert.deepEqual(await onPage(), onLine());
    const row = sessions.locator('li', { hasText: 'part friday' });
    await row.getByRole('button', { name: /^Never hand this on/ }).click();
    await row.locator('.state', { hasText: 'refused' }).waitFor();
    assert.deepEqual(await onPage(), onLine());
    await row.getByRole('button', { name: /^Begin the next session with this/ }).click();
    await row.locator('.state', { hasText: 'next' }).waitFor();
    assert.deepEqual(await onPage(), onLine());
    assert.deepEqual(page.failures, []);
  }));

test('a version of a note is brought back', () =>
  withStore(async store => {
    fill(store);
    store.run('edit', 'Postgres port', '--old', '5433', '--new', '5434');
    const page = await store.open('#/memory/Postgres%20port');
    const versions = page.locator('.versions > li');
    await versions.nth(1).waitFor();
    await versions.nth(1).getByRole('button').first().click();
    await versions.nth(1).getByRole('button', { name: 'Bring back this version' }).click();
    await notice(page).waitFor();
    assert.match(store.run('show', 'Postgres port'), /5433/);
    // The address has the title, and the item is the same under its path.
    await page.locator('article .rendered', { hasText: '5433' }).waitFor();
    assert.deepEqual(page.failures, []);
  }));

test('the block is shown as it was', () =>
  withStore(async store => {
    fill(store);
    const page = await store.open('#/prompt');
    await page.locator('table.block').waitFor();
    await page.getByLabel('As it was at').fill('2020-01-01T00:00');
    await page.locator('table.block').waitFor({ state: 'detached' });
    await page.getByLabel('As it was at').fill('');
    await page.locator('table.block').waitFor();
  }));

test('the graph is drawn, and its lists lead to notes', () =>
  withStore(async store => {
    fill(store);
    const page = await store.open('#/graph');
    await page.locator('canvas[data-drawn]').waitFor();
    await page.getByText('1 link.').waitFor();
    for (const [colour, meaning] of [['tag', /./], ['age', /within a day/], ['folder', /facts/]]) {
      await page.getByLabel('Colour by').selectOption(colour);
      await page.locator('.legend li', { hasText: meaning }).first().waitFor();
    }
    const points = await page.locator('canvas').evaluate(canvas => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return data.reduce((sum, value, index) => sum + (index % 4 === 3 && value > 0), 0);
    });
    assert.ok(points > 100, `${points} points`);
    await page.locator('ol a', { hasText: 'Load balancer' }).click();
    await page.locator('article h1', { hasText: 'Load balancer' }).waitFor();
    assert.deepEqual(page.failures, []);
  }));

test('health names dead links, files that cannot be read, and failures of hooks', () =>
  withStore(async store => {
    fill(store);
    store.run('write', 'daily', 'See [[Nowhere]].');
    const { path: file } = store.json('show', '--path', 'Load balancer');
    writeFileSync(path.join(path.dirname(path.resolve(store.root, file)), 'broken.md'), Buffer.from([0xff, 0xfe, 0x00]));
    const page = await store.open('#/health');
    await page.locator('li', { hasText: 'Nowhere' }).waitFor();
    await page.locator('li', { hasText: 'broken.md' }).waitFor();
    await page.getByRole('row', { name: /Notes \d/ }).waitFor();
    await page.locator('.plot').waitFor();
    assert.deepEqual(page.failures, []);
  }));

test('health shows the sizes of notes, entries, other files, the history and the index in bytes, also on a page that only reads', () =>
  withStore(async store => {
    fill(store);
    store.run('write', 'long_term', 'The shop sells saddles.');
    const { path: note } = store.json('list', '--kind', 'note').items[0];
    for (let index = 0; index < 300; index += 1) {
      const file = path.join(path.dirname(note), `note-${index}.md`);
      writeFileSync(path.join(store.root, file), `# Note ${index}\n\nA saddle has a number: ${index}.\n`);
      // The index trusts no file that was written a moment ago.
      age(store, file, 1);
    }
    store.run('recall', 'saddle');
    /** Returns the sizes on the disk. */
    const sizesNow = () => {
      const sizes = { notes: 0, entries: 0, others: 0, history: 0, index: 0 };
      for (const name of readdirSync(store.root, { recursive: true })) {
        const { size } = statSync(path.join(store.root, name));
        if (/(^|\/)\.saddlebag\/history\/.*\.log$/.test(name)) sizes.history += size;
        else if (/(^|\/)\.saddlebag\/index\/./.test(name)) sizes.index += size;
        else if (name.endsWith('.md')) sizes[name.includes('/entries/') ? 'entries' : name.startsWith('projects/') ? 'notes' : 'others'] += size;
      }
      return sizes;
    };
    for (const options of [[], ['--read-only']]) {
      const page = await store.open('#/health', { options });
      await page.locator('table.bytes').waitFor();
      const shown = await page.locator('table.bytes td').allTextContents();
      // The first look of the page may have added to the index.
      const sizes = sizesNow();
      assert.ok(Object.values(sizes).every(size => size > 0), JSON.stringify(sizes));
      assert.deepEqual(shown, Object.values(sizes).map(size => size.toLocaleString('en-GB')));
      assert.deepEqual(page.failures, []);
    }
    // A page that only reads cannot change what the history keeps.
    const page = await store.open('#/health', { options: ['--read-only'] });
    const code = await page.evaluate(() => {
      const memory = new MemoryOverHttp(document.querySelector('meta[name="saddlebag-csrf"]').content, false);
      return memory.call('history', 'set-history-policy', { 'max-age-days': 1 }).then(() => 'done', error => error.code);
    });
    assert.equal(code, 'not-permitted');
  }));

test('a page that has lost its program says so, and keeps the text', () =>
  withStore(async store => {
    fill(store);
    const page = await store.open();
    await item(page, 'Postgres port').click();
    await page.locator('article').getByRole('button', { name: 'Edit' }).click();
    const field = page.getByRole('textbox', { name: 'Postgres port' });
    await field.fill('mine');
    for (const server of store.servers) server.kill();
    await page.getByText('The page has lost the program').waitFor();
    await page.keyboard.press('Control+s');
    await page.locator('.notice.problem', { hasText: 'does not answer' }).waitFor();
    assert.equal(await field.inputValue(), 'mine');
  }));

test('an edit replaces lines that occur once, and makes exactly the text that was written', () =>
  withStore(async store => {
    const page = await store.open();
    const wrong = await page.evaluate(() => {
      let seed = 7;
      const below = most => (seed = (seed * 48271) % 2147483647) % most;
      const text = length => Array.from({ length }, () => 'ab\n'[below(3)]).join('');
      for (let round = 0; round < 50_000; round += 1) {
        const before = text(1 + below(14));
        const at = below(before.length + 1);
        const after = before.slice(0, at) + text(below(4)) + before.slice(at + below(4));
        const edit = smallestEdit(before, after);
        const isOne = edit.before !== '' && before.indexOf(edit.before) === before.lastIndexOf(edit.before);
        if (!isOne || before.replace(edit.before, () => edit.after) !== after) return { before, after, edit };
      }
      return null;
    });
    assert.equal(wrong, null);
  }));

test('a letter of a large note is changed, and a search is there when the reader comes back', () =>
  withStore(async store => {
    store.run('remember', 'Large', 'first');
    const { path: file } = store.json('show', '--path', 'Large');
    const line = number => `The line ${number} is like every other line of this note.\n`;
    const lines = Array.from({ length: 9000 }, (_, number) => line(number)).join('');
    writeFileSync(path.resolve(store.root, file), `---\ntitle: Large\n---\n\n${lines}`);
    store.run('remember', 'Other', 'text');
    const page = await store.open();
    await item(page, 'Large').click();
    await page.locator('article').getByRole('button', { name: 'Edit' }).click();
    const field = page.getByRole('textbox', { name: 'Large' });
    await field.evaluate(field => {
      field.value = field.value.replace('line 4321 is', 'line 4321 was');
      field.dispatchEvent(new Event('input', { bubbles: true }));
    });
    await page.keyboard.press('Control+s');
    await notice(page).filter({ hasText: 'Saved.' }).waitFor();
    const { versions } = store.json('history', 'Large', '-p');
    assert.match(versions[0].patch, /-The line 4321 is like/);
    await page.getByLabel('Search memory').fill('other');
    await item(page, 'Other').waitFor();
    await page.getByRole('link', { name: 'Prompt' }).click();
    await page.getByRole('link', { name: 'Memory' }).click();
    assert.equal(await page.getByLabel('Search memory').inputValue(), 'other');
    assert.deepEqual(page.failures, []);
  }));

test('links lead to headings, and a dead link offers to write the note', () =>
  withStore(async store => {
    const filler = Array.from({ length: 80 }, (_, line) => `Line ${line}\n\n`).join('');
    store.run('remember', 'Database', `See [below](#back-ups) and [[Nowhere]].\n\n${filler}## Back-ups\n\nEach night.`);
    store.run('remember', 'Runbook', 'Read [[Database#Back-ups]].', '--tag', 'with space');
    const page = await store.open();
    await item(page, 'Runbook').click();
    const article = page.locator('article');
    await article.locator('.rendered a').click();
    const heading = article.getByRole('heading', { name: 'Back-ups' });
    const isSeen = () => heading.evaluate(element => element.getBoundingClientRect().top < innerHeight);
    await heading.waitFor();
    await page.waitForTimeout(300);
    assert.ok(await isSeen());
    await article.locator('.rendered a', { hasText: 'Nowhere' }).click();
    await page.getByText('No item has the name “Nowhere”.').waitFor();
    await page.getByRole('link', { name: 'Write a note with this title' }).click();
    assert.equal(await page.getByLabel('Title').inputValue(), 'Nowhere');
    // A tag with a space is one tag, and saving it unchanged changes nothing.
    await page.goto(page.url().split('#')[0] + '#/memory/Runbook');
    await article.getByRole('heading', { name: 'Runbook' }).waitFor();
    await article.getByRole('button', { name: 'Tags', exact: true }).click();
    await page.keyboard.press('Enter');
    assert.deepEqual(store.json('list', '--tags').tags.map(tag => tag.name), ['with space']);
    assert.deepEqual(page.failures, []);
  }));

test('two pages and an agent follow each other', () =>
  withStore(async store => {
    fill(store);
    const one = await store.open();
    const two = await store.open('#/inbox');
    await item(one, 'Postgres port').waitFor();
    store.agent('remember', 'From the agent', 'An agent wrote this.');
    await item(one, 'From the agent').waitFor();
    store.run('--provenance', 'tool', 'remember', 'From a tool', 'A tool wrote this.');
    await two.locator('.list .row', { hasText: 'From a tool' }).click();
    await two.locator('pre.text', { hasText: 'A tool wrote this.' }).waitFor();
    await item(one, 'From a tool').locator('.waits').waitFor();
    await two.keyboard.press('a');
    await notice(two).filter({ hasText: 'Accepted' }).waitFor();
    await one.waitForFunction(() => !document.querySelector('.items .list')?.textContent.includes('From a toolnotewaits'));
    await two.goto(two.url().split('#')[0] + '#/memory');
    await item(two, 'From the agent').click();
    await two.locator('article').getByRole('button', { name: 'Forget' }).click();
    await notice(two).waitFor();
    await item(one, 'From the agent').waitFor({ state: 'detached' });
    assert.deepEqual([...one.failures, ...two.failures], []);
  }));

test('hidden characters are named beside the field in which a text is edited', () =>
  withStore(async store => {
    store.run('remember', 'Payments', 'Pay \u202eevil\u202c.\n\nzero\u200bwidth and zero\u200bwidth.\n\nplain, with \u{1F600} and \u00e9\n\n\u200b');
    store.run('--provenance', 'tool', 'remember', '--key', 'waits', 'A \u2066tool\u2069 wrote it.');
    const page = await store.open('#/memory/Payments');
    const names = () => page.locator('.hidden-characters li').allTextContents().then(all => all.map(text => text.replace(/\s+/g, ' ').trim()));
    await page.locator('article').getByRole('button', { name: 'Edit' }).click();
    const field = page.getByRole('textbox', { name: 'Payments' });
    await field.waitFor();
    const lines = (await field.inputValue()).split('\n');
    const lineOf = part => lines.findIndex(line => line.includes(part)) + 1;
    assert.deepEqual(await names(), [
      `U+202E right-to-left override: 1, in line ${lineOf('evil')}`,
      `U+202C end of an embedding or override: 1, in line ${lineOf('evil')}`,
      `U+200B zero-width space: 3, in lines ${lineOf('zero')}, ${lineOf('plain') + 2}`,
    ]);
    assert.match(await field.getAttribute('aria-describedby').then(id => page.locator(`#${id}`).textContent()), /zero-width space/);
    // The list follows what is written.
    await field.fill('No hidden character.');
    assert.deepEqual(await names(), []);
    await field.fill('One \u200d here.\n\ufeff');
    assert.deepEqual(await names(), ['U+200D zero-width joiner: 1, in line 1', 'U+FEFF byte order mark: 1, in line 2']);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.goto(`${page.url().split('#')[0]}#/inbox`);
    await page.locator('pre.text').waitFor();
    await page.keyboard.press('e');
    await page.locator('.editor textarea').waitFor();
    assert.deepEqual(await names(), ['U+2066 left-to-right isolate: 1, in line 1', 'U+2069 end of an isolate: 1, in line 1']);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.goto(`${page.url().split('#')[0]}#/new`);
    await page.getByLabel('Text').fill('a\u200bb');
    assert.deepEqual(await names(), ['U+200B zero-width space: 1, in line 1']);
    await page.getByLabel('Text').fill('');
    assert.deepEqual(page.failures, []);
  }));

test('a list that was made before a change is not shown as it was', () =>
  withStore(async store => {
    fill(store);
    const address = await store.serve();
    // The first answers are made when the program starts.
    await new Promise(resolve => setTimeout(resolve, 1500));
    store.run('remember', 'Written since', 'A fact of a minute ago.');
    store.run('forget', 'Load balancer');
    const page = await store.visit(address);
    // At once, and not only when the page follows the next change.
    const titles = await page.locator('.items .row .title').first().waitFor().then(() => page.locator('.items .row .title').allTextContents());
    assert.ok(titles.includes('Written since'), titles.join());
    assert.ok(!titles.includes('Load balancer'), titles.join());
    assert.deepEqual(page.failures, []);
  }));

test('a page that only reads changes nothing', () =>
  withStore(async store => {
    fill(store);
    const page = await store.open('', { options: ['--read-only'] });
    await page.getByText('This page only reads.').waitFor();
    await item(page, 'Postgres port').click();
    await page.locator('article .rendered').waitFor();
    assert.equal(await page.locator('article').getByRole('button', { name: 'Forget' }).count(), 0);
    const refused = await page.evaluate(async () => {
      const memory = new MemoryOverHttp(document.querySelector('meta[name="saddlebag-csrf"]').content, false);
      const commands = commandsOf(memory);
      const tried = [() => commands.forget('staging_host'), () => commands.remember('X', 'y'), () => commands.undo({})];
      const codes = [];
      for (const attempt of tried) codes.push(await attempt().then(() => 'done', error => error.code));
      codes.push(await commands.preview('Postgres port', HOOK_OPTIONS).then(() => 'done', error => error.code));
      return codes;
    });
    assert.deepEqual(refused, ['not-permitted', 'not-permitted', 'not-permitted', 'done']);
    assert.match(store.run('show', 'staging_host'), /staging/);
  }));

test('an empty memory explains the first steps', () =>
  withStore(async store => {
    const page = await store.open();
    await page.getByText('Memory is empty.').waitFor();
    await page.getByText('saddlebag setup').waitFor();
    for (const view of ['prompt', 'inbox', 'history', 'graph', 'health']) {
      await page.goto(page.url().split('#')[0] + `#/${view}`);
      await page.locator('main h1').first().waitFor();
    }
    assert.deepEqual(page.failures, []);
  }));

test('every view is accessible, wide and narrow, light and dark', () =>
  withStore(async store => {
    fill(store);
    for (const [size, scheme] of [
      [{ width: 1280, height: 800 }, 'light'],
      [{ width: 360, height: 740 }, 'dark'],
    ]) {
      const page = await store.open('', { size, scheme });
      const views = ['memory', 'memory/Postgres%20port', 'prompt', 'inbox', 'history', 'graph', 'health', 'new'];
      for (const view of views) {
        await page.goto(page.url().split('#')[0] + `#/${view}`);
        await page.locator('main :is(h1, h2):visible').first().waitFor();
        await page.waitForTimeout(400);
        await page.evaluate(axeSource);
        const { violations } = await page.evaluate(() =>
          axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }),
        );
        const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html.slice(0, 120)).join(' | ')}`);
        assert.deepEqual(found, [], `${view} ${size.width} ${scheme}`);
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(wider <= 0, `${view} is ${wider} pixels wider than a window of ${size.width}`);
      }
    }
  }));

/** Returns what is wrong with the place of the focus, or null if the reader can see it. */
function hiddenFocus() {
  const focused = document.activeElement;
  if (!focused || focused === document.body || focused === document.documentElement) return 'nothing has the focus';
  const name = `${focused.outerHTML.slice(0, 120)}`;
  let { left, top, right, bottom } = focused.getBoundingClientRect();
  const cut = box => {
    [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
    [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
  };
  const whole = { width: right - left, height: bottom - top };
  cut({ left: 0, top: 0, right: innerWidth, bottom: innerHeight });
  for (let above = focused.parentElement; above; above = above.parentElement) {
    if (getComputedStyle(above).overflow !== 'visible' && above !== document.body) cut(above.getBoundingClientRect());
  }
  const [width, height] = [right - left, bottom - top];
  // Tall text is scrolled; anything else can be seen as a whole.
  if (width < Math.min(whole.width, innerWidth) - 2 || height < Math.min(whole.height, 60) - 2) {
    return `${name} can be seen for ${Math.round(width)} of ${Math.round(whole.width)} pixels across, ${Math.round(height)} of ${Math.round(whole.height)} down`;
  }
  const above = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  if (!focused.contains(above) && !above?.contains(focused)) return `${name} is behind ${above?.outerHTML.slice(0, 80)}`;
  return null;
}

test('the focus is always visible in a window of 360 pixels, in every view', () =>
  withStore(async store => {
    fill(store);
    for (let at = 0; at < 12; at += 1) store.run('remember', `Note ${at}`, `The text of note ${at}. See [[Postgres port]].`, '--tag', `tag ${at}`);
    hook(store, 'SessionStart', { source: 'startup' });
    hook(store, 'UserPromptSubmit', { prompt: 'Move the checkout to port 9000.' });
    hook(store, 'SessionEnd', { reason: 'exit' });
    const page = await store.open('', { size: { width: 360, height: 640 } });
    const walk = async what => {
      await page.waitForTimeout(400);
      const seen = [];
      let isPast = false;
      for (let tabs = 0; tabs < 250; tabs += 1) {
        await page.keyboard.press('Tab');
        const problem = await page.evaluate(hiddenFocus);
        // After the last element the browser itself has the focus, once.
        if (problem === 'nothing has the focus' && !isPast) {
          isPast = true;
          continue;
        }
        assert.equal(problem, null, `${what}, Tab ${tabs + 1}`);
        const id = await page.evaluate(() => {
          document.activeElement.dataset.seen = Number(document.activeElement.dataset.seen ?? 0) + 1;
          return `${document.activeElement.tagName} ${document.activeElement.textContent.trim().slice(0, 30)} ${document.activeElement.dataset.seen}`;
        });
        if (id.endsWith(' 2')) return seen;
        seen.push(id);
      }
      return assert.fail(`${what} has no end`);
    };
    const views = ['memory', 'memory/Postgres%20port', 'prompt', 'inbox', 'history', 'graph', 'health', 'new', 'open/Nowhere'];
    for (const view of views) {
      await page.goto(`${page.url().split('#')[0]}#/${view}`);
      await page.reload();
      await page.locator('main :is(h1, h2):visible').first().waitFor();
      // A notice lies over the end of the window. In a new note the key is text.
      if (view !== 'new') {
        await page.keyboard.press('u');
        await notice(page).waitFor();
      }
      const seen = await walk(view);
      assert.ok(seen.length > 8, `${view}: ${seen.join(', ')}`);
    }
    assert.deepEqual(page.failures, []);
  }));

/** Waits until an element that fits has the focus, and the reader can see it. */
async function focusIs(page, wanted) {
  let problem = null;
  for (let tries = 0; tries < 60; tries += 1) {
    const [fits, focused] = await page.evaluate(
      wanted => [document.activeElement.matches(wanted), document.activeElement.outerHTML.slice(0, 200)],
      wanted,
    );
    problem = fits ? await page.evaluate(hiddenFocus) : `${focused} has the focus, and not ${wanted}`;
    if (problem === null) return;
    await page.waitForTimeout(50);
  }
  assert.equal(problem, null);
}

test('the focus goes to what follows when the element that had it is gone', () =>
  withStore(async store => {
    fill(store);
    const page = await store.open('', { size: { width: 360, height: 640 } });
    // To an item, and back to its row.
    await item(page, 'Postgres port').focus();
    await page.keyboard.press('Enter');
    await page.locator('article').waitFor();
    await focusIs(page, 'section.item');
    await page.keyboard.press('Escape');
    await focusIs(page, '.items .row[href*="postgres-port"]');
    await page.keyboard.press('Enter');
    await page.locator('article').waitFor();
    // A form gives it back to the button that opened it.
    for (const name of ['Edit', 'Rename', 'Tags']) {
      const button = page.locator('article .buttons').first().getByRole('button', { name, exact: true });
      await button.focus();
      await page.keyboard.press('Enter');
      await page.locator('article form :is(input, textarea)').first().waitFor();
      await focusIs(page, 'article form :is(input, textarea)');
      await page.locator('article form').getByRole('button', { name: 'Cancel' }).focus();
      await page.keyboard.press('Enter');
      await page.locator('article form').waitFor({ state: 'detached' });
      await page.waitForTimeout(50);
      assert.equal(await button.evaluate(element => element === document.activeElement), true, name);
      assert.equal(await page.evaluate(hiddenFocus), null, name);
    }
    // An item that is gone leaves the list.
    await page.locator('article').getByRole('button', { name: 'Forget' }).focus();
    await page.keyboard.press('Enter');
    await notice(page).filter({ hasText: 'Forgotten' }).waitFor();
    await focusIs(page, '.items, .items *');
    // The notice that is closed, by hand or by its Undo.
    await notice(page).getByRole('button', { name: 'Undo' }).focus();
    await page.keyboard.press('Enter');
    await notice(page).filter({ hasText: 'Undone.' }).waitFor();
    await notice(page).getByRole('button', { name: 'Close' }).focus();
    await page.keyboard.press('Enter');
    await notice(page).waitFor({ state: 'detached' });
    await focusIs(page, 'main, main *');
    // An item of the inbox that is answered, in a window that shows the list or the item.
    await page.goto(`${page.url().split('#')[0]}#/inbox`);
    await page.locator('.inbox .list .row').first().focus();
    await page.keyboard.press('Enter');
    await page.locator('pre.text').waitFor();
    await focusIs(page, '.inbox > section');
    await page.locator('.inbox').getByRole('button', { name: 'Accept (a)' }).focus();
    await page.keyboard.press('Enter');
    await notice(page).filter({ hasText: 'Accepted' }).waitFor();
    await focusIs(page, '.inbox *');
    assert.deepEqual(page.failures, []);
  }));

test('the files of the page are small', () =>
  withStore(async store => {
    const page = await store.open();
    const sizes = await page.evaluate(async () => {
      const texts = await Promise.all(['./', 'app.js', 'app.css'].map(async path => (await fetch(path)).text()));
      return texts;
    });
    const compressed = sizes.map(text => gzipSync(text, { level: 9 }).length);
    const total = compressed.reduce((sum, size) => sum + size, 0);
    assert.ok(total < 60 * 1024, `${total} bytes compressed`);
  }));

test('everything is reached by keyboard', () =>
  withStore(async store => {
    fill(store);
    const page = await store.open();
    await item(page, 'Postgres port').waitFor();
    for (const [key, title] of [['p', 'Prompt'], ['i', 'Inbox'], ['h', 'History'], ['g', 'Graph'], ['s', 'Health'], ['m', 'Memory']]) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.waitForFunction(title => document.title.startsWith(title), title);
    }
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Next item, previous item').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('textbox').fill('postgres');
    await page.getByRole('dialog').locator('.row', { hasText: 'Postgres port' }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('article h1', { hasText: 'Postgres port' }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => location.hash === '#/memory');
    await page.keyboard.press('j');
    const row = await page.evaluate(() => document.activeElement.className);
    assert.equal(row, 'row');
    await page.keyboard.press('Enter');
    await page.locator('article').waitFor();
    assert.deepEqual(page.failures, []);
  }));

test('one file shows memory without a server', () =>
  withStore(async store => {
    fill(store);
    const file = path.join(store.folder, 'memory.html');
    store.run('ui', '--out', file);
    const context = await (await chromium()).newContext();
    const page = await context.newPage();
    const failures = [];
    page.on('pageerror', error => failures.push(error.message));
    page.on('console', message => message.type() === 'error' && failures.push(message.text()));
    const requests = [];
    page.on('request', request => requests.push(request.url()));
    await page.goto(`file://${file}`);
    await numbersAre(page, { 'Notes': 3, 'Logs': 1, 'Entries': 2, 'A person': 3, 'A tool': 2, 'infra': 2 });
    await facet(page, 'A tool').click();
    await titlesAre(page, ['Rate limits', 'api_version']);
    await facet(page, 'A tool').click();
    await item(page, 'Postgres port').click();
    await page.locator('article .rendered', { hasText: '5433' }).waitFor();
    await page.getByLabel('Search memory').fill('caddy');
    await item(page, 'Load balancer').waitFor();
    for (const view of ['prompt', 'inbox', 'history', 'graph', 'health']) {
      await page.goto(`file://${file}#/${view}`);
      await page.locator('main h1').first().waitFor();
      await page.waitForTimeout(200);
      assert.equal(await page.locator('main .problem').count(), 0, view);
    }
    assert.deepEqual(failures, []);
    assert.ok(requests.every(url => url.startsWith('file://') || url.startsWith('data:')));
  }));

test('parts of words, tags of entries and the reason of each line are found', () =>
  withStore(async store => {
    store.agent('remember', 'Staging gateway', 'It listens on 8443.', '--tag', 'infra');
    store.run('remember', '--key', 'staging_host', 'stage.example.org', '--tag', 'infra');
    store.run('remember', 'Other', 'Nothing of that.');
    const page = await store.open();
    const titles = () => page.$$eval('.items .row .title', all => all.map(one => one.textContent));
    const shows = wanted =>
      page.waitForFunction(
        wanted => {
          const titles = [...document.querySelectorAll('.items .row .title')].map(one => one.textContent);
          return JSON.stringify(titles.sort()) === JSON.stringify(wanted);
        },
        wanted.sort(),
      ).catch(async error => { throw new Error(`${wanted} is not ${await titles()}: ${error}`); });
    const search = page.getByLabel('Search memory');
    // Each key of a word that is being typed.
    for (const typed of ['gat', 'gate', 'gatew']) {
      await search.fill(typed);
      await shows(['Staging gateway']);
    }
    await search.fill('gateway');
    await shows(['Staging gateway']);
    await search.fill('');
    await page.locator('.facets').getByRole('button', { name: /infra/ }).or(page.locator('.facets label', { hasText: 'infra' })).first().click();
    await shows(['Staging gateway', 'staging_host']);
    await search.fill('example');
    await shows(['staging_host']);
    await page.getByRole('link', { name: 'Prompt' }).click();
    assert.match(await page.locator('.block .why').first().textContent(), /\w/);
    assert.deepEqual(page.failures, []);
  }));

/** Opens the page at `#`, on a memory in which an agent has written a fact about the checkout. */
async function firstVisit(store) {
  fill(store);
  store.agent('remember', 'Checkout timeout', 'The checkout times out after 90 seconds.', '--tag', 'checkout');
  const page = await store.open('#');
  await page.locator('.items .list .row').first().waitFor();
  return page;
}

test('a person at an empty page finds out what the agent knows about a topic', () =>
  withStore(async store => {
    const page = await firstVisit(store);
    await page.getByRole('searchbox', { name: 'Search memory' }).fill('when does the checkout time out');
    const found = page.locator('.items .list[data-query="when does the checkout time out"] .row').first();
    assert.match(await found.textContent(), /Checkout timeout[^]*90 seconds/);
    await item(page, 'Checkout timeout').click();
    await page.locator('article .rendered', { hasText: 'The checkout times out after 90 seconds.' }).waitFor();
    assert.deepEqual(page.failures, []);
  }));

test('a person at an empty page finds out why a line is in the prompt', () =>
  withStore(async store => {
    const page = await firstVisit(store);
    await page.getByRole('link', { name: 'Prompt' }).click();
    // A line of what every session begins with.
    const line = page.locator('table.block tr', { hasText: 'Staging runs on' });
    await line.waitFor();
    const source = await line.evaluate(row => {
      // The cell may begin in a line above.
      for (let above = row; above; above = above.previousElementSibling) {
        const cell = above.querySelector('.source');
        if (cell) return row.rowIndex < above.rowIndex + cell.rowSpan ? cell.textContent : '';
      }
      return '';
    });
    assert.match(source, /staging_host.*An approved entry of the agent/s);
    // A line that one prompt would get.
    await page.getByLabel('Prompt', { exact: true }).fill('When does the checkout time out?');
    await page.getByRole('button', { name: 'Show what would be added' }).click();
    await page.locator('pre.added', { hasText: '90 seconds' }).waitFor();
    const hit = page.locator('ol.rows > li', { hasText: 'Checkout timeout' }).first();
    await hit.locator('summary', { hasText: 'Score' }).click();
    assert.match(await hit.locator('details').textContent(), /title\s*checkout/i);
    assert.deepEqual(page.failures, []);
  }));

test('a person at an empty page finds out who wrote an item', () =>
  withStore(async store => {
    const page = await firstVisit(store);
    await item(page, 'Checkout timeout').click();
    const article = page.locator('article');
    await article.locator('.versions .who', { hasText: 'an agent · main' }).waitFor();
    assert.match(await article.locator('.facts div', { hasText: 'Comes from' }).textContent(), /an agent/);
    await item(page, 'Load balancer').click();
    await article.getByRole('heading', { name: 'Load balancer' }).waitFor();
    await article.locator('.versions .who', { hasText: 'You' }).waitFor();
    assert.deepEqual(page.failures, []);
  }));

test('a person at an empty page takes back what an agent wrote', () =>
  withStore(async store => {
    const page = await firstVisit(store);
    const isKept = () => store.json('list', '--kind', 'note').items.some(note => note.name === 'Checkout timeout');
    await page.getByRole('link', { name: 'History' }).click();
    const written = page.locator('.day .rows > li', { hasText: 'checkout-timeout.md' });
    await written.getByRole('button', { name: /^Undo this/ }).click();
    await page.getByRole('dialog').getByText('This would be undone').waitFor();
    assert.ok(isKept(), 'nothing is undone before the person has seen what');
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
    await notice(page).filter({ hasText: 'Undone.' }).waitFor();
    assert.ok(!isKept());
    await page.getByRole('link', { name: 'Memory' }).click();
    await item(page, 'Load balancer').waitFor();
    assert.equal(await item(page, 'Checkout timeout').count(), 0);
    assert.deepEqual(page.failures, []);
  }));

/** A shop with the memory of a few weeks, for pictures. */
function shop(store) {
  fill(store);
  const notes = [
    ['Checkout', 'The checkout talks to [[Payments]] and [[Postgres port]]. It times out after 90 seconds.', 'checkout'],
    ['Payments', 'Stripe, through a queue. A payment is retried three times. See [[Rate limits]].', 'payments'],
    ['Search', 'Typesense, rebuilt each night from [[Catalogue]].', 'search'],
    ['Catalogue', 'Products come from the ERP each hour. Prices are in cents.', 'catalogue'],
    ['Deploys', 'Blue-green, behind [[Load balancer]]. Roll back with `make rollback`.', 'infra'],
    ['Sessions', 'Sessions live in Redis for 14 days. See [[Load balancer]].', 'infra'],
    ['Emails', 'Postmark sends order mails, from [[Checkout]].', 'checkout'],
  ];
  for (const [title, text, tag] of notes) store.run('remember', title, text, '--tag', tag);
  store.agent('remember', 'Flaky test', 'test_checkout_retry needs the queue to be empty. See [[Checkout]].', '--tag', 'checkout');
  store.run('edit', 'Postgres port', '--old', '5433', '--new', '5434');
  store.run('remember', '--key', 'test_command', 'Run tests with `make test`, not with pytest.');
}

const PICTURES = process.env.SADDLEBAG_PICTURES;

test('pictures of the views', { skip: PICTURES ? false : 'made with SADDLEBAG_PICTURES=FOLDER' }, () =>
  withStore(async store => {
    shop(store);
    const folder = path.resolve(PICTURES);
    mkdirSync(folder, { recursive: true });
    const size = { width: 1100, height: 640 };
    const page = await store.open('', { size });
    const take = async name => {
      await page.waitForTimeout(500);
      const picture = `data:image/png;base64,${(await page.screenshot()).toString('base64')}`;
      const small = await page.evaluate(async picture => {
        const image = new Image();
        image.src = picture;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        canvas.getContext('2d').drawImage(image, 0, 0);
        const blob = await canvas.convertToBlob({ type: 'image/webp', quality: 0.9 });
        return [...new Uint8Array(await blob.arrayBuffer())];
      }, picture);
      assert.ok(small.length <= 100_000, `${name}: ${small.length} bytes`);
      writeFileSync(path.join(folder, `ui-${name}.webp`), Buffer.from(small));
    };
    await item(page, 'Postgres port').click();
    await page.locator('article h1', { hasText: 'Postgres port' }).waitFor();
    await take('memory');
    await page.goto(page.url().split('#')[0] + '#/prompt');
    await page.getByLabel('Prompt', { exact: true }).fill('Why does the checkout time out?');
    await page.keyboard.press('Enter');
    await page.locator('pre.added').waitFor();
    await take('prompt');
    await page.goto(page.url().split('#')[0] + '#/inbox');
    await page.locator('section pre.text').waitFor();
    await take('inbox');
    await page.goto(page.url().split('#')[0] + '#/graph');
    await page.waitForTimeout(2000);
    await take('graph');
    await page.setViewportSize({ width: 360, height: 640 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.goto(page.url().split('#')[0] + '#/memory');
    await item(page, 'Postgres port').waitFor();
    await take('narrow');
  }));
