/** The driver of the folder, in Node.js: `node node.js COMPONENT`, where COMPONENT is the JavaScript that jco has made. */

import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

import { FolderStore } from '../folder.js';
import { Component } from '../memory.js';
import { Driver } from './driver.js';

const component = await Component.load(pathToFileURL(process.argv[2]));
const hello = { name: 'js_node', 'version-scheme': 'sha256-hex', folder: true, links: true, lock: 'lease' };
const driver = new Driver(component, async folder => new FolderStore(folder), hello);
for await (const line of createInterface({ input: process.stdin })) console.log(await driver.answer(line));
process.exit();
