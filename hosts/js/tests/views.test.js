import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'node:test';

import { HOSTS, executable, openBrowser } from '../drivers/browser.js';
import { MapStore } from '../map.js';
import { Component, Failed, Memory } from '../memory.js';
import { JSON_COMPONENT, folderFor } from './support.js';

const PROGRAM = process.env.SADDLEBAG_PROGRAM;
const skip = !PROGRAM ? 'SADDLEBAG_PROGRAM does not name the program, which writes the views'
  : fs.existsSync(executable()) ? false : `there is no Chromium at ${executable()}`;

test('a component without types is run by the same loop', async () => {
  const component = await Component.load(JSON_COMPONENT);
  const memory = await Memory.open(component, new MapStore(), { entries: { agent: 'ada' } });
  const written = await memory.callTool('memory_write', { target: 'long_term', content: 'Staging runs on port 8080' });
  assert.deepEqual(written.structured, { path: 'MEMORY.md', bytes: 25 });
  const read = { target: 'long-term', offset: '0' };
  assert.equal((await memory.run('journal', 'read', { ...read, 'max-bytes': 9 })).text, 'Staging r');
  const printed = await memory.run('journal', 'read', read, { take: 'takePrinted' });
  assert.equal(printed.text, 'Staging runs on port 8080\n');
  assert.equal(printed.next_offset, null);
  await assert.rejects(memory.run('entries', 'get-entry', { key: 'c' }), error => error instanceof Failed && error.code === 'entry-not-found');
  await assert.rejects(memory.run('journal', 'read', { target: 'nonsense' }), /malformed/);
  assert.equal((await memory.run('journal', 'list-journal')).files.length, 1);
});

test('the views show and change the memory of a page that runs the component itself', { skip }, async test => {
  const folder = folderFor(test);
  execFileSync(PROGRAM, ['ui', '--views', folder]);
  fs.copyFileSync(new URL('./views/host.js', import.meta.url), path.join(folder, 'host.js'));
  const json = path.dirname(fileURLToPath(JSON_COMPONENT));
  const browser = await openBrowser({ views: folder, host: HOSTS, json });
  test.after(() => browser.close());
  const failures = [];
  const visit = async address => {
    const page = await browser.context.newPage();
    page.setDefaultTimeout(20_000);
    page.on('pageerror', error => failures.push(error.message));
    await page.goto(`${browser.address}views/index.html${address}`);
    await page.locator('main').waitFor();
    return page;
  };
  const page = await visit('');
  await page.getByText('Nothing is remembered yet').or(page.getByRole('link', { name: 'New note' })).first().waitFor();
  const row = title => page.locator('.items .list .row').filter({ has: page.locator('.title', { hasText: title }) });
  const notice = page.locator('.notice');
  const write = async (title, text) => {
    await page.getByRole('link', { name: 'New note' }).click();
    await page.getByLabel('Title').fill(title);
    await page.getByLabel('Text').fill(text);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('article').getByRole('heading', { name: title }).waitFor();
  };
  await write('Load balancer', 'Caddy terminates TLS on port 8443.');
  await write('Postgres port', 'Postgres listens on 5433. See [[Load balancer]].');

  await page.getByLabel('Search memory').fill('which port does postgres');
  await page.waitForFunction(() => document.querySelector('.items .row .title')?.textContent === 'Postgres port');
  await page.getByLabel('Search memory').fill('');
  await row('Load balancer').click();
  const article = page.locator('article');
  await article.locator('li a', { hasText: 'Postgres port' }).waitFor();
  await page.keyboard.press('e');
  const field = page.getByRole('textbox', { name: 'Load balancer' });
  await field.fill((await field.inputValue()).replace('8443', '9443'));
  await page.keyboard.press('Control+s');
  await notice.filter({ hasText: 'Saved.' }).waitFor();
  await article.getByText('port 9443').waitFor();
  await notice.getByRole('button', { name: 'Undo' }).click();
  await notice.filter({ hasText: 'Undone.' }).waitFor();
  await article.getByText('port 8443').waitFor();

  // Another page of the store writes what a person must approve. The first one follows it.
  await page.goto(`${browser.address}views/index.html#/inbox`);
  const tool = await visit('?provenance=tool#/new');
  await tool.getByLabel('Title').fill('Rate limits');
  await tool.getByLabel('Text').fill('The payment API takes 100 requests a minute.');
  await tool.getByRole('button', { name: 'Save' }).click();
  await page.locator('.inbox .list li', { hasText: 'Rate limits' }).waitFor();
  await page.locator('section pre.text', { hasText: '100 requests' }).waitFor();
  await page.keyboard.press('a');
  await notice.filter({ hasText: 'Accepted: ' }).waitFor();
  await page.getByText('Nothing waits for approval.').waitFor();

  await page.goto(`${browser.address}views/index.html#/memory`);
  await write('Hidden', 'An \u202E<img src=x onerror="document.title = 1"> in a note.');
  await article.locator('mark', { hasText: 'U+202E' }).first().waitFor();

  for (const [view, text] of Object.entries({ prompt: 'MEMORY', history: 'remember', graph: 'Load balancer', health: 'Notes' })) {
    await page.goto(`${browser.address}views/index.html#/${view}`);
    await page.locator('main', { hasText: text }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0, `${view}: ${await page.locator('main').textContent()}`);
  }
  await page.locator('tr', { hasText: 'Notes' }).getByText('4', { exact: true }).first().waitFor();
  assert.deepEqual(failures, []);

  const without = await browser.context.newPage();
  await without.route('**/host.js', route => route.abort());
  await without.goto(`${browser.address}views/index.html`);
  await without.getByRole('alert').filter({ hasText: 'host.js is missing' }).waitFor();
});
