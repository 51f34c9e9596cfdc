import assert from 'node:assert/strict';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'node:test';

import { executable, openPage } from '../drivers/browser.js';
import { OpfsStore } from '../opfs.js';
import { COMPONENT } from './support.js';

const skip = fs.existsSync(executable()) ? false : `there is no Chromium at ${executable()}`;

/** Headless Chromium with a page whose store is open. */
async function chromiumFor(test, store = 'store') {
  const browser = await openPage(fileURLToPath(COMPONENT), 'opfs');
  test.after(() => browser.close());
  const ask = async (page, request) => JSON.parse(await page.evaluate(line => answer(line), JSON.stringify(request)));
  const pageOf = async page => {
    const opened = await ask(page, { open: { store, epoch: `${Math.floor(Math.random() * 1e9)}`, project: null, agent: null } });
    assert.deepEqual(opened, { ok: null });
    const perform = op => ask(page, { perform: op });
    return {
      page, perform,
      write: (path, text, more = {}) => perform({ write: { path, content: btoa(text), precondition: 'any', ...more } }),
      append: (path, text) => perform({ append: { path, content: btoa(text), 'newline-first': true, precondition: 'any', 'may-tear': false, 'may-vanish': false } }),
      read: async path => {
        const { ok } = await perform({ read: { path, offset: '0', 'max-bytes': 1 << 24 } });
        return ok.read === 'absent' ? undefined : { ...ok.read.content, text: atob(ok.read.content.bytes) };
      },
    };
  };
  return { first: await pageOf(browser.page), open: async () => pageOf(await browser.open()) };
}

test('two pages of one origin lose nothing', { skip }, async test => {
  const { first, open } = await chromiumFor(test);
  const second = await open(), rounds = 20;
  await first.write('list', '');
  const race = async (page, name) => {
    for (let round = 0; round < rounds; round++) {
      const { ok: added, err: refused } = await page.append('lines', `${name} ${round}\n`);
      assert.ok(added?.append && Object.hasOwn(added.append, 'written'), JSON.stringify(refused));
      for (let isWritten = false; !isWritten; ) {
        const { text, version } = await page.read('list');
        const { ok, err } = await page.write('list', `${text}${name} ${round}\n`, { precondition: { matches: version }, 'keep-as': 'list.bak' });
        assert.ok(ok, JSON.stringify(err));
        isWritten = Object.hasOwn(ok.write, 'written');
      }
    }
  };
  await Promise.all([race(first, 'a'), race(second, 'b')]);
  for (const name of ['lines', 'list']) {
    const lines = (await first.read(name)).text.trim().split('\n');
    assert.equal(new Set(lines).size, 2 * rounds, name);
    assert.equal(lines.length, 2 * rounds, name);
  }
  assert.equal((await second.read('list.bak')).text.trim().split('\n').length, 2 * rounds - 1);
});

test('a page that ended while it kept a file: the next change finishes', { skip }, async test => {
  const { first } = await chromiumFor(test);
  // The own files of the store, as a page leaves them that ended after the given step.
  const leave = (files, path, text) => first.page.evaluate(async ([files, path, text]) => {
    const store = await (await navigator.storage.getDirectory()).getDirectoryHandle('store');
    const write = async (folder, name, text) => {
      const writable = await (await folder.getFileHandle(name, { create: true })).createWritable();
      await writable.write(text);
      await writable.close();
    };
    const own = await (await store.getDirectoryHandle('.saddlebag')).getDirectoryHandle('locks-3');
    for (const [name, text] of Object.entries(files)) await write(own, name, text);
    await write(store, path, text);
  }, [files, path, text]);
  await first.write('a', 'old');
  const { version } = await first.read('a');
  const keeping = JSON.stringify({ path: 'a', keepAs: 'd/a.bak', version });
  await leave({ old: 'old', keeping }, 'a', 'old');
  await first.write('b', 'x');
  assert.deepEqual([(await first.read('a')).text, await first.read('d/a.bak')], ['old', undefined], 'not in place yet');
  await leave({ old: 'old', keeping }, 'a', 'new');
  await first.write('b', 'y');
  assert.deepEqual([(await first.read('a')).text, (await first.read('d/a.bak')).text], ['new', 'old'], 'in place');
  await leave({ keeping }, 'a', 'newer');
  await first.write('b', 'z');
  assert.deepEqual([(await first.read('a')).text, (await first.read('d/a.bak')).text], ['newer', 'old'], 'kept already');
});

test('the token tells every change, of any page, outside of folders of the component', { skip }, async test => {
  const { first, open } = await chromiumFor(test);
  const second = await open(), seen = new Set();
  const token = async () => (await first.perform('generation')).ok.generation;
  for (const page of [first, second, second]) {
    await page.append('a', 'x');
    seen.add(await token());
    seen.add(await token());
  }
  assert.equal(seen.size, 3);
  await second.write('.saddlebag/index', 'x');
  assert.ok(seen.has(await token()));
});

test('a store that the browser has removed is named, and is not taken for an empty one', { skip }, async test => {
  const { first } = await chromiumFor(test);
  await first.write('a', 'x');
  await first.page.evaluate(async () => (await navigator.storage.getDirectory()).removeEntry('store', { recursive: true }));
  const operations = [{ read: { path: 'a', offset: '0', 'max-bytes': 9 } }, { 'list-directory': { limit: 9 } },
    { write: { path: 'a', content: '', precondition: 'any' } }, { read: { path: 'd/a', offset: '0', 'max-bytes': 9 } }];
  for (const op of operations) assert.match((await first.perform(op)).err.other, /the browser has removed the storage/);
});

test('a page that may not use the storage, and a program that has none, get a clear error', { skip }, async test => {
  await assert.rejects(OpfsStore.open('store'), /no Origin Private File System: it needs a secure context/);
  const { first } = await chromiumFor(test);
  const message = await first.page.evaluate(() => new Promise(resolve => {
    addEventListener('message', ({ data }) => resolve(data));
    const frame = document.createElement('iframe');
    // Without `allow-same-origin` a frame has no origin, and so no storage.
    frame.sandbox = 'allow-scripts';
    frame.srcdoc = `<script type="module">
      const { OpfsStore } = await import('${location.origin}/host/opfs.js');
      OpfsStore.open('store').then(() => 'opened', error => error.message).then(said => parent.postMessage(said, '*'));
    </script>`;
    document.body.append(frame);
  }));
  assert.match(message, /does not give this page its storage|no Origin Private File System/);
});
