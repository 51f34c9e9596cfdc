import assert from 'node:assert/strict';
import test from 'node:test';

import { MapStore } from '../map.js';
import { Component, Failed, Gone, Memory } from '../memory.js';
import { COMPONENT, JSON_COMPONENT } from './support.js';

const component = await Component.load(COMPONENT);
const NOTE = { target: 'long_term', content: 'Staging runs on port 8080' };

/** A store that treats each operation with a function. */
const storeWith = perform => {
  const inner = new MapStore();
  return { versionScheme: inner.versionScheme, perform: op => perform(op, () => inner.perform(op)) };
};

test('tools and commands are run', async () => {
  const memory = await Memory.open(component, new MapStore(), { entries: { agent: 'ada' } });
  assert.deepEqual((await memory.callTool('memory_write', NOTE)).structured, { path: 'MEMORY.md', bytes: 25 });
  const read = await memory.run('items', 'show', { name: 'long_term', offset: 0n });
  assert.equal(read.text, 'Staging runs on port 8080\n');
  const both = ['a', 'b'].map(key => memory.callTool('memory_store', { key, content: `The value of ${key}.` }));
  for (const { isError, text } of await Promise.all(both)) assert.ok(!isError, text);
  const missing = memory.run('items', 'show', { name: 'c', kind: 'entry', offset: 0n });
  await assert.rejects(missing, error => error instanceof Failed && error.code === 'entry-not-found' && !error.changed);
});

test('a component without types is run by the same loop', async () => {
  const memory = await Memory.open(await Component.load(JSON_COMPONENT), new MapStore(), { entries: { agent: 'ada' } });
  assert.deepEqual((await memory.callTool('memory_write', NOTE)).structured, { path: 'MEMORY.md', bytes: 25 });
  const read = { name: 'long_term', offset: '0' };
  assert.equal((await memory.run('items', 'show', { ...read, 'max-bytes': 9 })).text, 'Staging r');
  const printed = await memory.run('items', 'show', read, { take: 'takePrinted' });
  assert.equal(printed.text, 'Staging runs on port 8080\n');
  assert.equal(printed.next_offset, null);
  await assert.rejects(memory.run('items', 'show', { ...read, name: 'c', kind: 'entry' }), error => error instanceof Failed && error.code === 'entry-not-found');
  await assert.rejects(memory.run('items', 'write', { item: 'nonsense' }), /malformed/);
  assert.equal((await memory.run('items', 'list-files', {})).files.length, 1);
});

test('a store that fails, or answers with what is no result, fails the command with the reason', async () => {
  const wrong = {
    'throws': [() => { throw new Error('no disk'); }, /the store failed: no disk/],
    'rejects': [async () => { throw new Error('no disk'); }, /the store failed: no disk/],
    'the outcome of another operation': [() => ({ tag: 'ok', val: { tag: 'make-directory' } }), /does not fit.*append was requested/],
    'no such outcome': [() => ({ tag: 'ok', val: { tag: 'nonsense' } }), /does not fit.*nonsense/],
    'a field of another type': [() => ({ tag: 'ok', val: { tag: 'append', val: { tag: 'written', val: 5 } } }), /does not fit.*string/],
    'nothing': [() => undefined, /does not fit/],
    'stale without a precondition': [() => ({ tag: 'ok', val: { tag: 'append', val: { tag: 'stale' } } }), /does not fit.*stale/],
  };
  for (const [name, [perform, message]] of Object.entries(wrong)) {
    const isAppend = op => op.tag === 'append' || op.tag === 'write';
    const memory = await Memory.open(component, storeWith((op, inner) => (isAppend(op) ? perform() : inner())));
    const file = { target: { tag: 'daily' }, mode: 'append', content: 'x', truncate: false };
    const command = memory.run('items', 'write', { item: { tag: 'file', val: file } });
    await assert.rejects(command, error => message.test(error.message) && error.code === 'storage', name);
    // The memory goes on.
    assert.equal((await memory.run('items', 'list-files', {})).files.length, 0, name);
  }
});

test('a store may answer late, in any order, and only its first answer counts', async () => {
  const waiting = [];
  const store = storeWith((op, inner) => new Promise(resolve => waiting.push(async () => {
    resolve(await inner());
    resolve({ tag: 'err', val: { tag: 'denied' } });
  })));
  const memory = await Memory.open(component, store);
  const calls = [memory.callTool('memory_write', NOTE), memory.callTool('memory_write', { ...NOTE, target: 'daily' })];
  let isDone = false;
  const done = Promise.all(calls).then(answers => { isDone = true; return answers; });
  while (!isDone) {
    waiting.pop()?.();
    await new Promise(setImmediate);
  }
  for (const { isError, text } of await done) assert.ok(!isError, text);
});

test('commands of a closed memory end, and a later result is ignored', async () => {
  let answer;
  const memory = await Memory.open(component, storeWith((op, inner) => new Promise(resolve => { answer = async () => resolve(await inner()); })));
  const call = memory.callTool('memory_write', NOTE);
  await new Promise(setImmediate);
  memory.close();
  await assert.rejects(call, error => error instanceof Gone && /closed/.test(error.message));
  await answer();
  await new Promise(setImmediate);
  await assert.rejects(memory.callTool('memory_write', NOTE), Gone);
});

test('a trap ends the memory and its commands, and another one can be opened', async () => {
  const { instantiate } = await import(COMPONENT);
  let memoryOfInstance;
  const watched = new Component((get, imports) => instantiate(get, imports, async (module, imports) => {
    const instance = await WebAssembly.instantiate(module, imports);
    memoryOfInstance = instance.exports.memory ?? memoryOfInstance;
    return instance;
  }), COMPONENT);
  const inner = new MapStore();
  const store = storeWith(async op => {
    const result = await inner.perform(op);
    if (['append', 'write'].includes(op.tag)) new Uint8Array(memoryOfInstance.buffer).fill(255);
    return result;
  });
  const memory = await Memory.open(watched, store);
  await assert.rejects(memory.callTool('memory_write', NOTE), error => error instanceof Gone && /has trapped.*open the memory again/.test(error.message));
  await assert.rejects(memory.callTool('memory_write', NOTE), Gone);
  memory.close();
  const next = await Memory.open(component, inner);
  assert.match((await next.callTool('memory_read', { source: 'long_term' })).text, /port 8080/);
});

test('a component of another version is refused with both versions', async () => {
  const other = new Component(async () => ({ 'saddlebag:memory/engine@0.2.0': {} }), COMPONENT);
  await assert.rejects(Memory.open(other, new MapStore()), /version 0\.2\.0 of saddlebag:memory, and this host needs 0\.3\.0-dev/);
  await assert.rejects(Memory.open(new Component(async () => ({}), COMPONENT), new MapStore()), /version none/);
});

test('a component that imports anything is refused', async () => {
  const other = new Component(async (_, imports) => imports['wasi:clocks/wall-clock'].now, COMPONENT);
  await assert.rejects(Memory.open(other, new MapStore()), /the component imports wasi:clocks\/wall-clock/);
});

test('a configuration that is refused says why', async () => {
  await assert.rejects(Memory.open(component, new MapStore(), { project: 'a b' }), /invalid-project.*a b/);
});

test('a clock that runs backwards loses nothing', async () => {
  const memory = await Memory.open(component, new MapStore());
  const at = seconds => ({ now: { seconds, nanoseconds: 0, utcOffsetSeconds: 0 } });
  for (const [seconds, content] of [[1780125300n, 'first'], [1780125000n, 'second'], [1n, 'third']])
    assert.ok(!(await memory.callTool('memory_write', { target: 'long_term', content }, at(seconds))).isError);
  const { text } = await memory.callTool('memory_read', { source: 'long_term' });
  for (const content of ['first', 'second', 'third']) assert.match(text, new RegExp(content));
  await assert.rejects(memory.callTool('memory_write', NOTE, at(-(2n ** 62n))), /invalid-time/);
  assert.ok(!(await memory.callTool('memory_write', NOTE)).isError, 'the id of a refused command may be used');
});
