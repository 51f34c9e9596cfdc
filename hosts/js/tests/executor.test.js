import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';

import { Executor, byBytes, checkPath } from '../executor.js';
import { lockOf } from '../folder.js';
import { MapStore } from '../map.js';
import { any, bytes, of } from './support.js';

test('the names of hosts are refused in every spelling of a file system', () => {
  for (const path of ['.saddlebag/locks', '.saddlebag/locks/07', '.saddlebag/locks-3/leases/01/2', '.Saddlebag/LOCKS-12',
    'a/.saddlebag-1-2-3.tmp', 'a/.saddlebag-1.tmp/b', '.\u017faddlebag/loc\u212as/07', '.saddlebag./locks /07',
    'SADDLE~1/locks', 'a/saddle~12', 'a/SADDLE~1.TMP', 'a/.SADDLEBAG-1.TMP::$DATA', '.sad\u200ddlebag/\u200dlocks-\u200d2', '.../.saddlebag/locks',
    '.sa\u0301ddlebag/locks\u0301', '\ufeff.saddlebag/\uff4cocks-\uff12', 'a/.saddlebag-1.tmp. .'])
    assert.throws(() => checkPath(path), /kept for the host/, path);
  for (const path of ['.saddlebag/index', '.saddlebag/locksmith', 'x/.saddlebag/locks', '.saddlebag-x.md', 'notes/é.tmp',
    '.saddlebag-日本', 'a:b', 'saddle~x', '.saddlebag', '.saddlebag/locks-', '.saddlebag/locks-x', 'Администрация проекта/a.md',
    '日本語で書かれたとても長いフォルダの名前'])
    checkPath(path);
});

test('paths that are not valid are refused', () => {
  for (const path of ['', '/a', 'a/', 'a//b', '.', '../a', 'a/..', 'a\\b', 'a\0', 'a\u0085b', 'x'.repeat(256), 'é'.repeat(128), '\ud800',
    `${'x'.repeat(255)}/`.repeat(16) + 'x'])
    assert.throws(() => checkPath(path), /invalid-path/, JSON.stringify(path));
  for (const path of ['a', 'x'.repeat(255), 'é'.repeat(127), ' ', `${'x'.repeat(255)}/`.repeat(15) + 'x']) checkPath(path);
});

test('paths are sorted by their bytes', () => {
  const paths = ['a-b', 'a/x', 'a', 'B', 'é', '\uffff', '\u{1f600}', '\ue000', '\u{10000}x', '\u{10000}', ''];
  const sorted = [...paths].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  assert.deepEqual([...paths].sort(byBytes), sorted);
});

test('the locks of the specification have their numbers', () => {
  const numbers = ['MEMORY.md', 'daily/2026-05-30.md', 'notes/Ɤ.md', '.saddlebag/a', 'memory.MD'].map(lockOf);
  assert.deepEqual(numbers, [9, 48, 42, 80, 9]);
});

test('the version of a page is that of the scheme sha256-hex', async () => {
  const store = new (class extends Executor {
    inFolder(_, work) {
      const entries = {
        'a.md': { kind: 'file', size: 3n, version: 'v', modified: 5n }, sub: { kind: 'directory', size: 0n, version: '', modified: 0n },
      };
      const names = [...Object.keys(entries), 'b\\'].map(name => ({ name, kind: entries[name]?.kind ?? 'other' }));
      return work(names, name => entries[name]);
    }
  })();
  const { val } = await of(store).ok('list-directory', { folder: 'd', limit: 1 });
  const text = 'd/a.md\0file\x003\0v\x005\0d/b\ufffd\0other\x001\0d/a.md\0';
  assert.equal(val.version, createHash('sha256').update(text).digest('hex'));
  assert.deepEqual(val.leftOut, { names: [{ path: 'd/b\ufffd', kind: 'other' }], count: 1 });
  assert.equal(val.next, 'd/a.md');
  assert.deepEqual(await of(store).ok('list-directory', { folder: 'd', limit: 1, unless: val.version }), { tag: 'unchanged' });
});

test('entries that disappear during a listing do not end it', async () => {
  const store = new (class extends Executor {
    inFolder(_, work) {
      const names = ['a', 'b', 'c', 'd'].map(name => ({ name, kind: 'file' }));
      return work(names, name => (name < 'c' ? undefined : { kind: 'file', size: 0n, version: 'v', modified: 0n }));
    }
  })();
  const { val } = await of(store).ok('list-directory', { limit: 1 });
  assert.deepEqual([val.entries.map(entry => entry.path), val.next], [['c'], 'c']);
});

test('operations that no store has are unsupported', async () => {
  const store = of(new MapStore());
  for (const tag of ['nonsense', 'toString']) assert.equal((await store.err(tag, {})).tag, 'unsupported');
});

test('a change with too many bytes is refused', async () => {
  const content = new Uint8Array(16 * 1024 * 1024 + 1);
  const refused = await of(new MapStore()).err('write', { path: 'a', content, precondition: any });
  assert.deepEqual(refused, { tag: 'too-large', val: 16777216n });
});

test('the token of a store in memory tells every change outside of folders of the component', async () => {
  const store = of(new MapStore()), seen = new Set();
  const changes = [() => store.write('a', '1'), () => store.append('a', '2'), () => store.ok('rename', { path: 'a', to: 'b', precondition: any }),
    () => store.ok('remove', { path: 'b', precondition: any })];
  for (const change of changes) {
    await change();
    seen.add(await store.ok('generation'));
  }
  await store.write('.saddlebag/index', 'x');
  seen.add(await store.ok('generation'));
  assert.equal(seen.size, changes.length);
});

test('a store in memory keeps its own bytes', async () => {
  const store = of(new MapStore()), content = bytes('one');
  await store.ok('write', { path: 'a', content, precondition: any });
  content.fill(0);
  assert.equal(await store.read('a'), 'one');
});
