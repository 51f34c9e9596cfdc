/** Headless Chromium with a page that has the driver of a store, served on loopback. */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HOSTS = fileURLToPath(new URL('..', import.meta.url));
const TYPES = { '.js': 'text/javascript', '.wasm': 'application/wasm' };
const PAGE = '<!doctype html><script type="module" src="/host/drivers/page.js"></script>';

/**
 * @param {string} component the JavaScript of the component
 * @param {string} store `map` or `opfs`
 */
export async function openPage(component, store) {
  const { context, address, close } = await openBrowser({ host: HOSTS, component: path.dirname(path.resolve(component)) });
  const open = async () => {
    const page = await context.newPage();
    page.on('pageerror', error => console.error(error));
    await page.goto(`${address}?store=${store}`);
    await page.waitForFunction(() => globalThis.answer !== undefined);
    return page;
  };
  return { page: await open(), open, close };
}

/** A browser, and a server of these folders by the first part of a path; any other path has the page of the drivers. */
async function openBrowser(folders) {
  const { chromium } = createRequire(import.meta.url)('playwright-core');
  const server = createServer(async (request, response) => {
    const [, first, ...rest] = new URL(request.url, 'http://localhost').pathname.split('/');
    const file = Object.hasOwn(folders, first) && path.join(folders[first], ...rest);
    try {
      const content = file ? await readFile(file) : PAGE;
      response.writeHead(200, { 'content-type': file ? TYPES[path.extname(file)] : 'text/html', 'access-control-allow-origin': '*' }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise(ready => server.listen(0, '127.0.0.1', ready));
  const profile = await mkdtemp(path.join(tmpdir(), 'saddlebag-chromium-'));
  // A container has no sandbox for a browser that root runs; the page is our own.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const context = await chromium.launchPersistentContext(profile, { executablePath: executable(), args }).catch(error => {
    server.close();
    throw error;
  });
  const close = async () => {
    await context.close();
    server.close();
    await rm(profile, { recursive: true, force: true });
  };
  return { context, address: `http://127.0.0.1:${server.address().port}/`, close };
}

export const executable = () => process.env.SADDLEBAG_CHROMIUM ?? '/usr/bin/chromium';
