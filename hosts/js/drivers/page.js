/** Within a page: `answer` takes a line of the kit and returns the answer to it. The store is in the address. */

import { MapStore } from '../map.js';
import { Component } from '../memory.js';
import { OpfsStore } from '../opfs.js';
import { Driver } from './driver.js';
import { measure } from './measure.js';

const kind = new URL(location).searchParams.get('store');
const component = await Component.load(new URL('/component/saddlebag.js', location));
const maps = new Map();
const stores = {
  map: {
    open: async name => {
      if (!maps.has(name)) maps.set(name, new MapStore());
      return maps.get(name);
    },
    // Nobody else reaches it.
    hello: { name: 'js_chromium_map', 'version-scheme': 'map-count/1', lock: 'none' },
  },
  opfs: {
    open: name => OpfsStore.open(name),
    hello: { name: 'js_chromium_opfs', 'version-scheme': 'sha256-hex', lock: 'none' },
  },
};
const driver = new Driver(component, stores[kind].open, stores[kind].hello);
globalThis.answer = line => driver.answer(line);
globalThis.measure = async () => measure(component, await stores[kind].open('bench'));
