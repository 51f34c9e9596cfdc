/** A page that runs the component itself, and shows its memory in the views of the program. */

import { Component, Memory } from '/host/memory.js';
import { OpfsStore } from '/host/opfs.js';
import { MemoryInPage } from '/host/views.js';

async function open() {
  const component = await Component.load(new URL('/json/saddlebag.js', location));
  const store = await OpfsStore.open('memory');
  const provenance = new URL(location).searchParams.get('provenance') ?? 'user';
  const config = { machine: 'browser', project: 'shop-0db23a34', entries: { agent: 'main' }, trust: { provenance } };
  return new MemoryInPage(await Memory.open(component, store, config), store, { name: 'shop' });
}

globalThis.saddlebagMemory = open();
