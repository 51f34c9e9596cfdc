/**
 * A component of the world `saddlebag-json`, with the functions of one with types: a host has one loop for both. Commands,
 * origins and replies are canonical JSON, which docs/writing-a-host.md describes.
 */

import { Request, Result, Timestamp } from './values.js';

/** @param {object} json the interface `json` */
export function typed(json) {
  const ask = (name, given) => {
    const { ok, err } = JSON.parse(json[name](JSON.stringify(given)));
    if (err === undefined) return ok;
    const [tag, val] = typeof err === 'string' ? [err] : Object.entries(err)[0];
    // As jco throws the error of a `result`.
    throw Object.assign(new Error(tag), { payload: err.code ? err : { tag, val } });
  };
  const step = (name, given) => {
    const { requests, finished } = ask(name, given);
    return { requests: requests.map(Request.read), finished: finished.map(endOf) };
  };
  const start = (name, id, now, origin, given) => step(name, { id: `${id}`, now: Timestamp.write(now), origin, ...given });
  class Memory {
    static open(config) {
      ask('open', inKebabCase(config));
      return new Memory();
    }

    submit(id, now, origin, given) {
      return start('submit', id, now, origin, given);
    }

    handleMemoryResult({ key, outcome }) {
      return step('handleMemoryResult', { reply: { key, outcome: Result.write(outcome) } });
    }

    [Symbol.dispose ?? Symbol.for('dispose')]() {}
  }
  const family = name => ({
    prepare: ({ tag, val }) => ({ interface: name, command: val === undefined ? tag : { [tag]: val } }),
    take: (_, id) => ({ val: Object.values(ask('take', { id: `${id}` }))[0] }),
    /** The reply as the program prints it with `--json`. */
    takePrinted: (_, id) => ({ val: ask('takePrinted', { id: `${id}` }) }),
  });
  const known = {
    engine: { Memory, defaultConfig: epoch => ({ epoch }) },
    tools: {
      tools: sets => ask('tools', { sets }),
      call: (_, id, now, origin, tool, input, options) => start('call', id, now, origin, { tool, input, options }),
    },
  };
  return new Proxy(known, { get: (known, name) => known[name] ?? family(name) });
}

function endOf({ id, changed, error, answer }) {
  const { text, structured, 'is-error': isError } = answer ?? {};
  return { id: BigInt(id), changed, error, answer: answer && { text, structured, isError } };
}

/** The canonical JSON of a configuration. */
function inKebabCase(value) {
  if (typeof value === 'bigint') return `${value}`;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(inKebabCase);
  const kebab = name => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [kebab(name), inKebabCase(field)]));
}
