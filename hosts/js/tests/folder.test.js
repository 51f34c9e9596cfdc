import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { absent, any, bytes, folderFor, matches, of } from './support.js';

/** Called at each sync and after each write: what somebody else does meanwhile, or the error of a disk. */
let onSync = () => {}, onWrite = () => {};
const { fsync, writeSync } = fs;
fs.writeSync = (fd, ...given) => {
  const written = writeSync(fd, ...given);
  onWrite(fs.readlinkSync(`/proc/self/fd/${fd}`));
  return written;
};
fs.fsync = (fd, done) => {
  try {
    onSync(fs.readlinkSync(`/proc/self/fd/${fd}`));
  } catch (error) {
    return done(error);
  }
  return fsync(fd, done);
};
const { FolderStore, lockOf } = await import('../folder.js');

/** A store whose clock only waiting moves. */
function storeFor(test, options = {}) {
  const root = folderFor(test), time = { now: 0 };
  const store = new FolderStore(root, { clock: () => time.now, sleep: async () => { time.now += 100; }, ...options });
  test.after(() => { onSync = onWrite = () => {}; store.close(); });
  const file = name => path.join(root, name);
  const text = name => (fs.existsSync(file(name)) ? fs.readFileSync(file(name), 'utf8') : undefined);
  const put = (name, text) => {
    fs.mkdirSync(path.dirname(file(name)), { recursive: true });
    fs.writeFileSync(file(name), text);
  };
  const left = () => fs.readdirSync(root, { recursive: true }).filter(name => /\.tmp$/.test(name));
  return { root, store, time, file, text, put, left, ...of(store) };
}

const leaseOf = (name, count) => `.saddlebag/locks-3/leases/${String(lockOf(name)).padStart(2, '0')}/${count}`;
const kernelOf = name => `.saddlebag/locks-3/${String(lockOf(name)).padStart(2, '0')}`;
const TEMPORARY = '.saddlebag-9-1-x.tmp', SECOND = '.saddlebag-9-1-x-old.tmp';

test('what a dead holder left is cleaned up as its record says', async test => {
  const statusOf = name => {
    const { dev, ino, size, mtimeNs } = fs.statSync(name, { bigint: true });
    return `s${[dev, ino, size, mtimeNs].map(part => part.toString(16)).join('.')}`;
  };
  const cases = {
    'staged': { record: `staged\td/${TEMPORARY}\td/a\n`, files: { [TEMPORARY]: 'new' }, then: {} },
    'keeping, not in place': {
      record: `keeping\td/${TEMPORARY}\td/a\td/k\n`, files: { [TEMPORARY]: 'new', [SECOND]: 'old' }, then: {},
    },
    'keeping, in place': { record: `keeping\td/${TEMPORARY}\td/a\tk/k\n`, files: { [SECOND]: 'old' }, then: { 'k/k': 'old' } },
    'keeping, finished by somebody else': { record: `keeping\td/${TEMPORARY}\td/a\td/k\n`, files: {}, then: {} },
    'placing': {
      record: `placing\td/${TEMPORARY}\td/a\tsx\th1\n`, files: { [TEMPORARY]: 'saved' }, then: { '.saddlebag/recovered/d-a.1': 'saved' },
    },
    'placing, exchanged': { record: `placing\td/${TEMPORARY}\td/a\tsx\th1\td/k\n`, files: { [TEMPORARY]: 'old' }, then: { 'd/k': 'old' } },
    'placing, not exchanged': {
      record: store => `placing\td/${TEMPORARY}\td/a\t${statusOf(store.file(`d/${TEMPORARY}`))}\th1\td/k\n`, files: { [TEMPORARY]: 'new' }, then: {},
    },
    'not whole': { record: `staged\td/${TEMPORARY}`, files: { [TEMPORARY]: 'new' }, then: { [`d/${TEMPORARY}`]: 'new' } },
    'not a temporary file': { record: 'staged\td/text\td/a\n', files: { text: 'mine' }, then: { 'd/text': 'mine' } },
    'kept outside': {
      record: `keeping\td/${TEMPORARY}\td/a\t../k\n`, files: { [SECOND]: 'old' }, then: { [`d/${SECOND}`]: 'old' },
    },
    'outside': { record: `staged\t../d/${TEMPORARY}\td/a\n`, files: { [TEMPORARY]: 'new' }, then: { [`d/${TEMPORARY}`]: 'new' } },
  };
  for (const lock of [leaseOf, kernelOf]) {
    for (const [name, { record, files, then }] of Object.entries(cases)) {
      await test.test(`${name}, ${lock === leaseOf ? 'lease' : 'kernel lock'}`, async test => {
        const store = storeFor(test);
        for (const [name, text] of Object.entries(files)) store.put(`d/${name}`, text);
        const line = typeof record === 'string' ? record : record(store);
        store.put(lock('d/a', 4), `held\t9\tother\ta-1\n${line}`);
        await store.write('d/a', 'mine');
        assert.ok(store.time.now > 8_000);
        const found = Object.keys({ ...then, ...Object.fromEntries(Object.keys(files).map(name => [`d/${name}`, 0])), 'd/k': 0 });
        assert.deepEqual(Object.fromEntries(found.filter(name => store.text(name) !== undefined).map(name => [name, store.text(name)])), then);
        assert.equal(store.text('d/a'), 'mine');
        assert.match(store.text(lock('d/a', lock === leaseOf ? 5 : 0)), /^free/);
      });
    }
  }
});

test('an editor that saves while a file is written loses nothing', async test => {
  const store = storeFor(test);
  const edit = text => {
    let isDone = false;
    onSync = () => {
      if (!isDone) fs.writeFileSync(store.file('editor'), text), fs.renameSync(store.file('editor'), store.file('a'));
      isDone = true;
    };
  };
  const version = (await store.write('a', 'one')).val;
  edit('edited');
  assert.equal((await store.write('a', 'two', matches(version))).tag, 'stale');
  assert.equal(store.text('a'), 'edited');
  edit('edited again');
  await store.write('a', 'three', any, { keepAs: 'a.bak' });
  assert.deepEqual([store.text('a'), store.text('a.bak')], ['three', 'edited again']);
  edit('edited at last');
  await store.ok('remove', { path: 'a', precondition: any, keepAs: 'a.bak' });
  assert.deepEqual([store.text('a'), store.text('a.bak')], [undefined, 'edited at last']);
  edit('made by hand');
  assert.equal((await store.write('a', 'new', absent)).tag, 'stale');
  assert.equal(store.text('a'), 'made by hand');
  assert.deepEqual(store.left(), []);
});

test('an editor that saves while a file is appended to gets the addition once', async test => {
  for (const [saved, then] of [['edited', 'edited\nadded\n'], ['edited\nadded\n', 'edited\nadded\n'], [undefined, 'added\n']]) {
    const store = storeFor(test);
    await store.write('a', 'one\n');
    onWrite = name => {
      if (name !== store.file('a')) return;
      onWrite = () => {};
      if (saved !== undefined) fs.writeFileSync(store.file('editor'), saved), fs.renameSync(store.file('editor'), store.file('a'));
      else fs.unlinkSync(store.file('a'));
    };
    await store.append('a', 'added\n');
    assert.equal(store.text('a'), then);
  }
});

test('a host that was stopped and lost its lock begins again', async test => {
  for (const keepAs of [undefined, 'a.bak']) {
    const store = storeFor(test);
    await store.write('a', 'old');
    let stopped = 0;
    onSync = () => {
      if (stopped++) return;
      store.time.now += 9_000;
      // Somebody else took over, cleaned up, and changed the file.
      store.left().forEach(name => fs.unlinkSync(store.file(name)));
      fs.rmSync(store.file(leaseOf('a', 2)));
      store.put(leaseOf('a', 3), 'free\t9\tother\ta-1\n');
      store.put('a', 'theirs');
    };
    await store.write('a', 'mine', any, { keepAs });
    onSync = () => {};
    assert.deepEqual([store.text('a'), store.text('a.bak')], ['mine', keepAs && 'theirs']);
    assert.match(store.text(leaseOf('a', 4)), /^free/);
    assert.deepEqual(store.left(), []);
  }
});

test('a change that cannot be synced is undone, or answered as not durable and marked', async test => {
  const store = storeFor(test);
  const marker = () => fs.readdirSync(store.file('.saddlebag/locks-3/unsynced'));
  const fail = which => { onSync = name => { if (which.test(name)) throw new Error('the disk fails'); }; };
  await store.write('d/a', 'one\n');
  fail(/\.tmp$/);
  assert.equal((await store.err('write', { path: 'd/a', content: bytes('two'), precondition: any })).tag, 'other');
  assert.deepEqual([store.text('d/a'), store.left()], ['one\n', []]);
  fail(/\/d$/);
  assert.equal((await store.err('write', { path: 'd/a', content: bytes('two\n'), precondition: any })).tag, 'not-durable');
  assert.deepEqual([store.text('d/a'), marker().length], ['two\n', 1]);
  onSync = () => {};
  await store.ok('rename', { path: 'd/a', to: 'd/b', precondition: any });
  assert.deepEqual(marker().map(name => store.text(`.saddlebag/locks-3/unsynced/${name}`)), ['d/b']);
  const before = fs.statSync(store.file('d/b')).ino;
  assert.equal(await store.read('d/b'), 'two\n');
  assert.notEqual(fs.statSync(store.file('d/b')).ino, before, 'written to new blocks');
  assert.deepEqual(marker(), []);
  fail(/\/b$/);
  assert.equal((await store.err('append', { path: 'd/b', content: bytes('three\n'), newlineFirst: true, precondition: any })).tag, 'not-durable');
  onSync = () => {};
  await store.append('d/b', 'four\n');
  assert.deepEqual([store.text('d/b'), marker()], ['two\nthree\nfour\n', []]);
});

test('a store of a later lock protocol is not changed', async test => {
  const store = storeFor(test);
  store.put('.saddlebag/locks-3', 'lock protocol 4\n');
  const refused = await store.err('write', { path: 'a', content: bytes('x'), precondition: any });
  assert.match(refused.val, /lock protocol 4.*lock protocol 3/);
});

test('locks are not taken through a link', async test => {
  for (const name of ['.saddlebag', '.saddlebag/locks-3', '.saddlebag/locks-3/leases', '.saddlebag/locks-3/leases/10']) {
    const store = storeFor(test), outside = folderFor(test);
    fs.mkdirSync(path.dirname(store.file(name)), { recursive: true });
    fs.symlinkSync(outside, store.file(name));
    const free = Array.from('abcdefghij', letter => `${letter}${letter}`).concat(Array.from({ length: 200 }, (_, at) => `n${at}`));
    const victim = free.find(name => lockOf(name) === 10);
    assert.equal((await store.err('append', { path: victim, content: bytes('x'), newlineFirst: true, precondition: any })).tag, 'symbolic-link', name);
    assert.deepEqual(fs.readdirSync(outside), []);
  }
});

test('a foreign thing in the place of a lease is waited for, and followed by the next', async test => {
  const store = storeFor(test);
  fs.mkdirSync(store.file(leaseOf('a', 7)), { recursive: true });
  store.put(leaseOf('a', 'x'), '');
  fs.symlinkSync('/etc/passwd', store.file(leaseOf('a', 9)));
  await store.write('a', 'x');
  assert.match(store.text(leaseOf('a', 10)), /^free/);
});

test('permissions: a new file is private, a replaced one keeps its own, and like names another', async test => {
  const store = storeFor(test), mode = name => (fs.statSync(store.file(name)).mode & 0o777).toString(8);
  await store.write('d/a', 'x');
  assert.deepEqual([mode('d'), mode('d/a')], ['700', '600']);
  fs.chmodSync(store.file('d/a'), 0o640);
  await store.write('d/a', 'y');
  await store.write('d/b', 'y', any, { like: 'd/a' });
  await store.write('d/c', 'y', any, { like: 'd/none' });
  await store.write('d/e', 'y', any, { like: 'd' });
  assert.deepEqual(['d/a', 'd/b', 'd/c', 'd/e'].map(mode), ['640', '640', '600', '600']);
});

test('the token needs a store that only hosts write, and tells each change', async test => {
  assert.equal((await storeFor(test).err('generation')).tag, 'unsupported');
  const store = storeFor(test, { onlyHostsWrite: true });
  const seen = new Set([await store.ok('generation')]);
  for (const change of [() => store.write('a', '1'), () => store.append('a', '2'), () => store.ok('remove', { path: 'a', precondition: any })]) {
    await change();
    seen.add(await store.ok('generation'));
    seen.add(await store.ok('generation'));
  }
  assert.equal(seen.size, 4);
  store.put(leaseOf('b', 1), 'held\t9\tother\ta-1\n');
  assert.equal((await store.err('generation')).tag, 'locked');
  fs.rmSync(store.file(leaseOf('b', 1)));
  store.put(kernelOf('b'), 'held\t9\tother\ta-1\n');
  assert.equal((await store.err('generation')).tag, 'locked');
});

test('a folder that was replaced is noticed', async test => {
  const store = storeFor(test);
  await store.write('a', 'x');
  fs.renameSync(store.root, `${store.root}-moved`);
  test.after(() => fs.rmSync(`${store.root}-moved`, { recursive: true, force: true }));
  fs.mkdirSync(store.root);
  assert.match((await store.err('write', { path: 'a', content: bytes('y'), precondition: any })).val, /replaced by another one/);
  assert.deepEqual(fs.readdirSync(store.root), []);
});

test('a folder without permission is refused with a clear error, and nothing hides', async test => {
  const root = folderFor(test);
  const script = `
    import fs from 'node:fs';
    import { FolderStore } from ${JSON.stringify(new URL('../folder.js', import.meta.url))};
    const root = ${JSON.stringify(root)}, say = value => console.log(JSON.stringify(value, (_, value) => typeof value === 'bigint' ? Number(value) : value));
    const change = store => store.perform({ tag: 'write', val: { path: 'b', content: new Uint8Array(), precondition: { tag: 'any' } } });
    fs.writeFileSync(root + '/a', 'x', { mode: 0 });
    const store = new FolderStore(root);
    say(await store.perform({ tag: 'read', val: { path: 'a', offset: 0n, maxBytes: 9 } }));
    say((await store.perform({ tag: 'list-directory', val: { limit: 9 } })).val.val.val.entries);
    fs.chmodSync(root, 0o500);
    say(await change(store));
    fs.chmodSync(root, 0);
    try { new FolderStore(root); } catch (error) { say(error.message); }
    fs.chmodSync(root, 0o700);`;
  // Root may do everything.
  const isRoot = process.getuid() === 0, user = isRoot ? { uid: 65534, gid: 65534 } : {};
  if (isRoot) fs.chownSync(root, 65534, 65534);
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', script], { ...user, encoding: 'utf8' });
  if (ran.stderr.includes('EACCES') && isRoot && !ran.stdout) return test.skip('the checkout cannot be read by another user');
  const [read, entries, changed, opened] = ran.stdout.trim().split('\n').map(line => JSON.parse(line));
  assert.deepEqual(read, { tag: 'err', val: { tag: 'denied' } }, ran.stderr);
  assert.equal(entries.length, 1);
  assert.match(entries[0].version, /^unreadable[0-9a-f]{16}$/);
  assert.deepEqual(changed, { tag: 'err', val: { tag: 'denied' } });
  assert.match(opened, /cannot open the folder of the store: EACCES/);
});

test('many changes of one file within a process lose nothing', async test => {
  const store = storeFor(test, { clock: undefined, sleep: undefined });
  await Promise.all(Array.from({ length: 40 }, (_, at) => store.append('a', `${at}\n`)));
  assert.deepEqual(store.text('a').trim().split('\n').map(Number).sort((a, b) => a - b), Array.from({ length: 40 }, (_, at) => at));
});
