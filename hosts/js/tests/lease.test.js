import assert from 'node:assert/strict';
import test from 'node:test';

import { Leases, Locked, Lost } from '../lease.js';

/** The files of all locks, and a clock that only waiting moves. */
class World {
  now = 0;
  leases = new Map();
  kernels = new Map();
  cleaned = [];
  /** What happens at a time: `[time, action]`. */
  events = [];
  lines = 0;

  host(options = {}) {
    return new Leases({
      open: number => this.files(number),
      cleanUp: record => this.cleaned.push(record),
      line: () => `held\t1\ttest\tt-${(this.lines += 1)}\n`,
      clock: () => this.now,
      sleep: async () => this.pass(10),
      ...options,
    });
  }

  pass(ms) {
    this.now += ms;
    const due = this.events.filter(([time]) => time <= this.now);
    this.events = this.events.filter(([time]) => time > this.now);
    due.forEach(([, action]) => action());
  }

  put(number, leases) {
    this.leases.set(number, new Map(Object.entries(leases)));
  }

  of(number) {
    return Object.fromEntries(this.leases.get(number) ?? []);
  }

  files(number) {
    if (!this.leases.has(number)) this.put(number, {});
    const leases = () => this.leases.get(number);
    return {
      counts: () => [...leases().keys()].map(Number),
      create: (count, content) => !leases().has(`${count}`) && Boolean(leases().set(`${count}`, content)),
      read: count => leases().get(`${count}`),
      write: (count, content) => leases().has(`${count}`) && leases().set(`${count}`, content),
      remove: count => leases().delete(`${count}`),
      kernel: () => this.kernels.get(number),
      freeKernel: () => this.kernels.set(number, `free${this.kernels.get(number).slice(4)}`),
      close: () => {},
    };
  }
}

const HELD = 'held\t9\tother\ta-1\n';

test('the first lease has COUNT 1, and is free afterwards', async () => {
  const world = new World();
  await world.host().hold([3], async ({ note }) => {
    assert.deepEqual(world.of(3), { 1: 'held\t1\ttest\tt-1\n' });
    note('staged\ta\tb\n');
    assert.deepEqual(world.of(3), { 1: 'held\t1\ttest\tt-1\nstaged\ta\tb\n' });
  });
  assert.deepEqual(world.of(3), { 1: 'free\t1\ttest\tt-1\n' });
});

test('a free lease is followed by the next COUNT, and removed', async () => {
  const world = new World();
  world.put(3, { 9: 'free', 10: 'free\t1' });
  await world.host().hold([3], async () => assert.deepEqual(Object.keys(world.of(3)), ['11']));
  assert.deepEqual(world.of(3), { 11: 'free\t1\ttest\tt-1\n' });
});

test('a held lease is waited for', async () => {
  const world = new World();
  world.put(3, { 4: HELD });
  world.events.push([3_000, () => world.put(3, { 4: 'free' })]);
  await world.host().hold([3], async () => assert.deepEqual(Object.keys(world.of(3)), ['5']));
  assert.ok(world.now >= 3_000 && world.now < 3_100, `${world.now}`);
  assert.deepEqual(world.cleaned, []);
});

test('a holder whose lease does not change for 8 seconds has died: its record is carried out', async () => {
  for (const content of [`${HELD}staged\ta\tb\n`, '']) {
    const world = new World();
    world.put(3, { 4: content });
    await world.host().hold([3], async () => assert.deepEqual(Object.keys(world.of(3)), ['5']));
    assert.ok(world.now > 8_000 && world.now < 8_100, `${world.now}`);
    assert.deepEqual(world.cleaned, content ? ['staged\ta\tb'] : []);
  }
});

test('the record of a holder that died while it renewed its lease is carried out', async () => {
  const world = new World();
  world.put(3, { 4: `${HELD}staged\ta\tb\n`, 5: '' });
  await world.host().hold([3], async () => {});
  assert.deepEqual(world.cleaned, ['staged\ta\tb']);
  assert.deepEqual(Object.keys(world.of(3)), ['6']);
});

test('a record that was not written whole is not carried out', async () => {
  const world = new World();
  world.put(3, { 4: `${HELD}staged\ta` });
  await world.host().hold([3], async () => {});
  assert.deepEqual(world.cleaned, []);
});

test('a holder that renews its lease does not look dead, however long it works', async () => {
  const world = new World();
  const renew = count => {
    world.put(3, count < 12 ? { [count]: `held\t9\tother\ta-${count}\n` } : { [count]: 'free' });
    if (count < 12) world.events.push([world.now + 5_000, () => renew(count + 1)]);
  };
  renew(4);
  await world.host().hold([3], async () => assert.deepEqual(Object.keys(world.of(3)), ['13']));
  assert.ok(world.now >= 40_000);
  assert.deepEqual(world.cleaned, []);
});

test('after two minutes the answer names the holder', async () => {
  const world = new World();
  const renew = count => {
    world.put(3, { [count]: `held\t9\tother\ta-${count}\n` });
    world.events.push([world.now + 5_000, () => renew(count + 1)]);
  };
  renew(1);
  await assert.rejects(world.host().hold([3], async () => {}), error => error instanceof Locked && /held 9 other/.test(error.message));
  assert.ok(world.now > 120_000 && world.now < 125_000, `${world.now}`);
});

test('only one of two creates the next lease', async () => {
  const world = new World(), order = [];
  const work = name => async ({ check }) => {
    order.push(`${name} begins`);
    await null;
    check();
    order.push(`${name} ends`);
  };
  await Promise.all([world.host().hold([3], work('a')), world.host().hold([3], work('b'))]);
  assert.deepEqual(order, ['a begins', 'a ends', 'b begins', 'b ends']);
});

test('a lease that is smaller than another is removed again', async () => {
  const world = new World();
  const open = number => {
    const files = world.files(number), { create } = files;
    // Two others come between the look and the creation.
    files.create = (count, content) => {
      files.create = create;
      world.put(number, { [`${count + 1}`]: 'free' });
      return create(count, content);
    };
    return files;
  };
  await world.host({ open }).hold([3], async () => assert.deepEqual(Object.keys(world.of(3)), ['3']));
});

test('within 4 seconds a holder is sure, afterwards it renews its lease with its record', async () => {
  const world = new World();
  await world.host().hold([3], async ({ check, note }) => {
    note('staged\ta\tb\n');
    world.now += 4_000;
    check();
    assert.deepEqual(Object.keys(world.of(3)), ['1']);
    world.now += 1;
    check();
    assert.deepEqual(world.of(3), { 2: 'held\t1\ttest\tt-2\nstaged\ta\tb\n' });
    assert.deepEqual(world.cleaned, [], 'its own record');
    world.now += 4_000;
    check();
    assert.deepEqual(Object.keys(world.of(3)), ['2']);
  });
  assert.deepEqual(world.of(3), { 2: 'free\t1\ttest\tt-2\n' });
});

test('a holder that was stopped notices that it lost the lock, and leaves the lease of its taker alone', async () => {
  for (const others of [{ 2: HELD }, { 1: 'held\t1\ttest\tt-1\n', 2: '' }, { 7: 'free' }, { 1: 'held', 7: 'free' }]) {
    const world = new World();
    const held = world.host().hold([3], async ({ check, note }) => {
      world.now += 9_000;
      world.put(3, others);
      assert.throws(check, Lost);
      assert.throws(check, Lost, 'it stays lost');
      note('staged\ta\tb\n');
      check();
    });
    await assert.rejects(held, Lost);
    assert.deepEqual(world.of(3), others);
  }
});

test('a clock that runs backwards makes a holder make sure, and nobody look dead', async () => {
  const world = new World();
  world.now = 50_000;
  await world.host().hold([3], async ({ check }) => {
    world.now = 10_000;
    check();
    assert.deepEqual(Object.keys(world.of(3)), ['2'], 'renewed');
  });
  world.put(4, { 1: HELD });
  let backwards = false;
  world.events.push([17_000, () => { world.now = 5_000; backwards = true; }]);
  await world.host().hold([4], async () => {});
  assert.ok(backwards && world.now > 13_000, `${world.now}`);
});

test('two locks are taken in ascending order, and one number once', async () => {
  const world = new World();
  await world.host().hold([7, 3, 7], async ({ note }) => {
    note('keeping\ta\tb\tc\n');
    assert.match(world.of(3)[1], /t-1\nkeeping/);
    assert.match(world.of(7)[1], /t-2\nkeeping/);
  });
  assert.match(world.of(3)[1], /^free/);
  assert.match(world.of(7)[1], /^free/);
});

test('while it waits for the second lock, a host keeps the first', async () => {
  const world = new World();
  world.put(7, { 1: HELD });
  world.events.push([7_000, () => assert.deepEqual(Object.keys(world.of(3)), ['2'])]);
  await world.host().hold([3, 7], async () => {});
  assert.deepEqual(Object.keys(world.of(3)), ['2']);
});

test('a host with a kernel lock is waited for while the lease is kept', async () => {
  const world = new World();
  world.kernels.set(3, HELD);
  world.events.push([6_000, () => world.kernels.set(3, 'free\t9')]);
  await world.host().hold([3], async () => assert.deepEqual(Object.keys(world.of(3)), ['2']));
  assert.ok(world.now >= 6_000 && world.now < 6_100);
  assert.equal(world.kernels.get(3), 'free\t9');
});

test('a dead holder of a kernel lock is cleaned up after, and its lock marked free', async () => {
  const world = new World();
  world.kernels.set(3, `${HELD}placing\ta\tb\tc\td\n`);
  await world.host().hold([3], async () => {});
  assert.deepEqual(world.cleaned, ['placing\ta\tb\tc\td']);
  assert.match(world.kernels.get(3), /^free\t9/);
});

test('an empty lock file and one that begins with free are free', async () => {
  for (const content of ['', 'free', 'free\t9\tother\ta-1\n']) {
    const world = new World();
    world.kernels.set(3, content);
    await world.host().hold([3], async () => {});
    assert.equal(world.now, 0);
  }
});

test('a lock is released when the work fails', async () => {
  const world = new World();
  await assert.rejects(world.host().hold([3], async () => { throw new Error('no'); }), /no/);
  assert.match(world.of(3)[1], /^free/);
});
