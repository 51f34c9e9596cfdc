/**
 * The page inside a chat: the host's side of MCP Apps by its authors (`AppBridge`), in a real browser, with the page in a
 * sandboxed frame, and the server behind the client of the protocol's authors.
 */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, test } from 'node:test';

import { PROGRAM, chromium, closeBrowser, fill, withStore } from './support.mjs';

const require = createRequire(import.meta.url);
after(closeBrowser);

const MIME_TYPE = 'text/html;profile=mcp-app';
const EXTENSION = { 'io.modelcontextprotocol/ui': { mimeTypes: [MIME_TYPE] } };

/** Script of the host: a sandboxed frame with the page, and the bridge. */
const HOST = `
  import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';
  globalThis.show = async (html, input, result) => {
    const frame = document.createElement('iframe');
    frame.sandbox = 'allow-scripts';
    frame.style = 'width: 800px; height: 600px';
    document.body.append(frame);
    const info = { name: 'host', version: '1' };
    const bridge = new AppBridge(null, info, { serverTools: {}, openLinks: {} }, { hostContext: { theme: 'dark' } });
    bridge.oncalltool = params => globalThis.callTool(params);
    bridge.onopenlink = async ({ url }) => (globalThis.opened = url, {});
    const ready = new Promise(done => (bridge.oninitialized = done));
    await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
    frame.srcdoc = html;
    await ready;
    await bridge.sendToolInput({ arguments: input });
    await bridge.sendToolResult(result);
  };
`;

async function bundled() {
  const { outputFiles } = await require('esbuild').build({
    stdin: { contents: HOST, resolveDir: path.dirname(require.resolve('axe-core')) },
    bundle: true,
    format: 'iife',
    platform: 'browser',
    write: false,
  });
  return outputFiles[0].text;
}

/** Connects a client to `saddlebag mcp`. */
async function connect(store, extensions) {
  const { Client } = require('@modelcontextprotocol/client');
  const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');
  const client = new Client({ name: 'chat', version: '1' }, { capabilities: { extensions } });
  await client.connect(new StdioClientTransport({ command: PROGRAM, args: store.arguments(['mcp']), stderr: 'ignore' }));
  store.servers.push({ kill: () => client.close() });
  return client;
}

/** Opens the host in the browser, with the page beside the answer of a tool. */
async function host(store, client, name, input, changed = result => result) {
  const { tools } = await client.listTools();
  const tool = tools.find(tool => tool.name === name);
  const { contents } = await client.readResource({ uri: tool._meta.ui.resourceUri });
  assert.equal(contents[0].mimeType, MIME_TYPE);
  assert.ok(!contents[0].text.includes('because another database'), 'data are in answers, not in the page');
  const result = changed(await client.callTool({ name, arguments: input }));
  const script = await bundled();
  const server = createServer((request, response) => {
    const isScript = request.url === '/host.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : '<!doctype html><title>chat</title><body><script src="/host.js"></script>');
  });
  await new Promise(ready => server.listen(0, '127.0.0.1', ready));
  const page = await (await (await chromium()).newContext()).newPage();
  page.failures = [];
  page.on('pageerror', error => page.failures.push(error.message));
  await page.exposeFunction('callTool', params => client.callTool(params));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.waitForFunction(() => globalThis.show !== undefined);
  await page.evaluate(([html, input, result]) => globalThis.show(html, input, result), [contents[0].text, input, result]);
  store.servers.push({ kill: () => server.close() });
  return { page, frame: page.frameLocator('iframe') };
}

test('a recall in a chat is shown as a page', () =>
  withStore(async store => {
    fill(store);
    const client = await connect(store, EXTENSION);
    const { page, frame } = await host(store, client, 'mem_recall', { query: 'postgres port' });
    await frame.locator('.items .row', { hasText: 'Postgres port' }).click();
    await frame.locator('article .rendered', { hasText: '5433' }).waitFor();
    await frame.locator('article .rendered a', { hasText: 'Load balancer' }).click();
    await frame.locator('article h1', { hasText: 'Load balancer' }).waitFor();
    assert.equal(await frame.locator('html').evaluate(root => root.style.colorScheme), 'dark');
    assert.deepEqual(page.failures, []);
  }));

test('what waits is approved on the page in a chat, by the person', () =>
  withStore(async store => {
    fill(store);
    const client = await connect(store, EXTENSION);
    const { page, frame } = await host(store, client, 'mem_list', {});
    await frame.locator('.list .row', { hasText: 'api_version' }).click();
    await frame.locator('pre.text', { hasText: 'version 3' }).waitFor();
    await frame.getByRole('button', { name: 'Accept (a)' }).click();
    await frame.locator('.notice', { hasText: 'Accepted: api_version' }).waitFor();
    assert.equal(store.json('list', '--pending').total, 1);
    assert.deepEqual(page.failures, []);
  }));

test('a model cannot do what the page can', () =>
  withStore(async store => {
    fill(store);
    const approve = {
      call: 'call',
      body: { interface: 'trust', command: { approve: { items: [{ name: 'api_version', version: 'x' }], 'dry-run': false } } },
    };
    // A client that shows no pages has neither the tool nor the key.
    const plain = await connect(store, {});
    const { tools } = await plain.listTools();
    assert.ok(tools.every(tool => tool.name !== 'memory_page' && tool._meta === undefined));
    await assert.rejects(plain.callTool({ name: 'memory_page', arguments: approve }));
    assert.equal((await plain.callTool({ name: 'mem_list', arguments: {} }))._meta, undefined);
    await plain.close();
    // One that does is told to keep the tool from its model, and a model without the key changes nothing.
    const client = await connect(store, EXTENSION);
    const own = (await client.listTools()).tools.find(tool => tool.name === 'memory_page');
    assert.deepEqual(own._meta.ui.visibility, ['app']);
    for (const key of [undefined, '', 'x'.repeat(43)]) {
      const answer = await client.callTool({ name: 'memory_page', arguments: { ...approve, key } });
      assert.equal(answer.isError, true);
      assert.equal(answer.structuredContent.error.code, 'not-permitted');
    }
    assert.equal(store.json('list', '--pending').total, 2);
    // Without the key, the page shows nothing.
    const { frame } = await host(store, client, 'mem_list', {}, ({ _meta, ...result }) => result);
    await frame.getByText('only the page may use memory this way').first().waitFor();
    assert.equal(await frame.locator('.list .row').count(), 0);
  }));
