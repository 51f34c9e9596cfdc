import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { folderFor } from './support.js';

const ROUNDS = 25;

function start(command, given) {
  const child = spawn(command, given, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', data => { said += data; });
  const ended = new Promise(resolve => child.on('close', (code, signal) => resolve({ code, signal, said: () => said })));
  return { child, ended, said: () => said };
}

const racer = (folder, name, rounds = ROUNDS) => start(process.execPath, [new URL('racer.js', import.meta.url).pathname, folder, name, rounds]);

function check(folder, acknowledged) {
  for (const name of ['lines.md', 'list']) {
    const lines = fs.readFileSync(path.join(folder, 'race', name), 'utf8').split('\n');
    const missing = acknowledged.filter(line => !lines.includes(line));
    assert.deepEqual(missing, [], name);
    assert.equal(new Set(lines).size, lines.length, `${name}: nothing twice`);
  }
  const left = fs.readdirSync(folder, { recursive: true }).filter(name => /\.tmp$/.test(name));
  assert.deepEqual(left, []);
}

function fresh(test) {
  const folder = folderFor(test);
  fs.mkdirSync(path.join(folder, 'race'));
  fs.writeFileSync(path.join(folder, 'race/list'), '');
  return folder;
}

test('four processes on one folder lose nothing', async test => {
  const folder = fresh(test);
  const racers = ['a', 'b', 'c', 'd'].map(name => racer(folder, name));
  const ended = await Promise.all(racers.map(({ ended }) => ended));
  assert.deepEqual(ended.map(({ code }) => code), [0, 0, 0, 0]);
  const acknowledged = ended.flatMap(({ said }) => said().trim().split('\n'));
  assert.equal(acknowledged.length, 4 * ROUNDS);
  check(folder, acknowledged);
  const moved = fs.readdirSync(path.join(folder, 'race')).filter(name => name.startsWith('moved-'));
  assert.equal(moved.length, 4 * ROUNDS);
});

test('a process that is killed loses nothing that it acknowledged, and the others go on', async test => {
  const folder = fresh(test);
  const [victim, other] = [racer(folder, 'a', 100_000), racer(folder, 'b')];
  while (victim.said().split('\n').length < 8) await new Promise(wake => setTimeout(wake, 5));
  victim.child.kill('SIGKILL');
  const [killed, ended] = await Promise.all([victim.ended, other.ended]);
  assert.equal(killed.signal, 'SIGKILL');
  assert.equal(ended.code, 0);
  const after = await racer(folder, 'c', 2).ended;
  assert.equal(after.code, 0);
  const whole = text => text.slice(0, text.lastIndexOf('\n')).split('\n');
  check(folder, [...whole(killed.said()), ...whole(ended.said()), ...whole(after.said())]);
});
