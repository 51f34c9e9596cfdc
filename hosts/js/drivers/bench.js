/** Measures a store: `node bench.js COMPONENT folder|folder-of-hosts|map|opfs`; COMPONENT is the JavaScript that jco has made. */

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { FolderStore } from '../folder.js';
import { Component } from '../memory.js';
import { openPage } from './browser.js';
import { measure } from './measure.js';

const [component, kind] = process.argv.slice(2);
if (kind.startsWith('folder')) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'saddlebag-bench-'));
  try {
    const store = new FolderStore(folder, { onlyHostsWrite: kind !== 'folder' });
    console.log(await measure(await Component.load(pathToFileURL(component)), store));
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
} else {
  const { page, close } = await openPage(component, kind);
  console.log(await page.evaluate(() => measure()));
  await close();
}
process.exit();
