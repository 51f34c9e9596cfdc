/**
 * The driver of the stores of a browser: `node chromium.js COMPONENT map|opfs`. It forwards each line into a page of
 * headless Chromium. COMPONENT is the JavaScript that jco has made.
 */

import { createInterface } from 'node:readline';

import { openPage } from './browser.js';

const { page, close } = await openPage(process.argv[2], process.argv[3]);
for await (const line of createInterface({ input: process.stdin })) console.log(await page.evaluate(line => answer(line), line));
await close();
