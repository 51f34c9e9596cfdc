/** Measures a store: `node bench.js COMPONENT folder|map|opfs`; COMPONENT is the JavaScript that jco has made. */

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { FolderStore } from '../folder.js';
import { Component } from '../memory.js';
import { openPage } from './browser.js';
import { measure } from './measure.js';

const [component, kind] = process.argv.slice(2);
if (kind === 'folder') {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'saddlebag-bench-'));
  try {
    console.log(await measure(await Component.load(pathToFileURL(component)), new FolderStore(folder)));
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
} else {
  const { page, close } = await openPage(component, kind);
  console.log(await page.evaluate(() => measure()));
  await close();
}
process.exit();
