/** A store, the program on it, and its page in headless Chromium. */

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

const require = createRequire(import.meta.url);
export const axeSource = require('axe-core').source;
export const PROGRAM = path.resolve(process.env.SADDLEBAG_PROGRAM ?? 'target/debug/saddlebag');
const CHROMIUM = process.env.SADDLEBAG_CHROMIUM ?? '/usr/bin/chromium';

let browser = null;

/** Returns the browser, which all tests share. */
export async function chromium() {
  const root = process.getuid?.() === 0;
  const quiet = ['--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
  browser ??= await require('playwright-core').chromium.launch({
    executablePath: CHROMIUM,
    // A container has no sandbox for a browser that root runs; the page is our own.
    args: root ? ['--no-sandbox', ...quiet] : quiet,
  });
  return browser;
}

export async function closeBrowser() {
  await browser?.close();
  browser = null;
}

/** A store in a folder of its own, with a project. */
export class Store {
  constructor() {
    this.folder = mkdtempSync(path.join(tmpdir(), 'saddlebag-page-'));
    this.root = path.join(this.folder, 'store');
    this.project = path.join(this.folder, 'shop');
    for (const folder of [this.root, this.project]) mkdirSync(folder);
    this.servers = [];
  }

  arguments(rest) {
    return ['--root', this.root, '--project', this.project, '--durability', 'fast', ...rest];
  }

  /** Runs the program, and returns what it prints. */
  run(...rest) {
    const environment = { ...process.env, HOME: this.folder, XDG_STATE_HOME: path.join(this.folder, 'state') };
    const given = rest.at(-1)?.input !== undefined ? rest.pop() : {};
    return execFileSync(PROGRAM, this.arguments(rest), { ...given, encoding: 'utf8', env: environment, maxBuffer: 1 << 28, stdio: ['pipe', 'pipe', 'pipe'] });
  }

  json(...rest) {
    return JSON.parse(this.run('--json', ...rest));
  }

  /** Runs the program for an agent. */
  agent(...rest) {
    return this.run('--provenance', 'agent', ...rest);
  }

  /** Starts the page, and returns its address with the key. */
  async serve(...options) {
    const environment = { ...process.env, HOME: this.folder, XDG_STATE_HOME: path.join(this.folder, 'state') };
    const server = spawn(PROGRAM, this.arguments(['ui', '--no-open', ...options]), { env: environment });
    this.servers.push(server);
    for await (const line of createInterface({ input: server.stdout })) return line;
    throw new Error('the program printed no address');
  }

  /** Opens the page in a browser of its own. */
  async open(hash = '', { options = [], size = { width: 1280, height: 800 }, scheme = 'light' } = {}) {
    const address = await this.serve(...options);
    return this.visit(address, hash, { size, scheme });
  }

  async visit(address, hash = '', { size = { width: 1280, height: 800 }, scheme = 'light' } = {}) {
    const context = await (await chromium()).newContext({ viewport: size, colorScheme: scheme, locale: 'en-GB', timezoneId: 'UTC' });
    const page = await context.newPage();
    page.setDefaultTimeout(10_000);
    page.failures = [];
    page.requests = [];
    page.on('pageerror', error => page.failures.push(error.message));
    page.on('dialog', dialog => {
      page.failures.push(`a dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on('request', request => page.requests.push(request.url()));
    await page.goto(address);
    if (hash) await page.goto(page.url().split('#')[0] + hash);
    await page.locator('main').waitFor();
    return page;
  }

  close() {
    for (const server of this.servers) server.kill();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Runs a test with a store of its own. */
export async function withStore(work) {
  const store = new Store();
  try {
    await work(store);
  } finally {
    for (const context of browser?.contexts() ?? []) await context.close();
    store.close();
  }
}

/** A store with a bit of everything. */
export function fill(store) {
  store.run('remember', 'Load balancer', 'Caddy terminates TLS on port 8443. Decided after the HAProxy outage.', '--tag', 'infra');
  store.run('remember', 'Postgres port', 'Postgres listens on 5433, because another database has 5432. See [[Load balancer]].', '--tag', 'infra', '--tag', 'database');
  store.run('remember', '--key', 'staging_host', 'Staging runs on staging.shop.example.');
  store.run('write', 'daily', 'Moved the checkout behind the Load balancer.');
  store.run('--provenance', 'tool', 'remember', 'Rate limits', 'The payment API takes 100 requests a minute.');
  store.run('--provenance', 'tool', 'remember', '--key', 'api_version', 'The payment API is at version 3.');
}
