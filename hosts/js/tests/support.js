import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';

/** The component in JavaScript, which `cargo xtask test --nightly` makes. */
export const COMPONENT = new URL('../../../target/clients/js/component/saddlebag.js', import.meta.url);

/** The same for the world `saddlebag-json`. */
export const JSON_COMPONENT = new URL('../../../target/clients/js/json/saddlebag.js', import.meta.url);

/** An empty folder that is removed after the test. */
export function folderFor(test) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'saddlebag-js-'));
  test.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const any = { tag: 'any' }, absent = { tag: 'absent' };
export const matches = val => ({ tag: 'matches', val });
export const bytes = text => new TextEncoder().encode(text);

/** Short spellings of operations on a store; each returns the outcome and fails for an error. */
export function of(store) {
  const ok = async (tag, val) => {
    const result = await store.perform({ tag, val });
    assert.equal(result.tag, 'ok', `${tag} of ${val?.path}: ${inspect(result.val)}`);
    return result.val.val;
  };
  return {
    ok,
    err: async (tag, val) => {
      const result = await store.perform({ tag, val });
      assert.equal(result.tag, 'err', `${tag} of ${val?.path}`);
      return result.val;
    },
    write: (path, text, precondition = any, more = {}) => ok('write', { path, content: bytes(text), precondition, ...more }),
    append: (path, text, precondition = any) => ok('append', { path, content: bytes(text), newlineFirst: true, precondition }),
    read: async path => {
      const found = await ok('read', { path, offset: 0n, maxBytes: 1 << 20 });
      return found.tag === 'absent' ? undefined : new TextDecoder().decode(found.val.bytes);
    },
    list: folder => ok('list-directory', { folder, limit: 1000 }),
  };
}
