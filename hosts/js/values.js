/** The canonical JSON of operations and outcomes, which docs/writing-a-host.md describes, from and to values of jco. */

const plain = { read: json => json, write: value => value };
const u64 = { read: BigInt, write: String };
const bytes = {
  read: json => Uint8Array.from(atob(json), letter => letter.charCodeAt(0)),
  write: value => btoa(Array.from(value, byte => String.fromCharCode(byte)).join('')),
};
const option = of => ({
  read: json => (json === null || json === undefined ? undefined : of.read(json)),
  write: value => (value === undefined ? null : of.write(value)),
});
const list = of => ({ read: json => json.map(of.read), write: value => value.map(of.write) });
const camel = name => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
const record = fields => ({
  read: json => Object.fromEntries(Object.entries(fields).map(([name, of]) => [camel(name), of.read(json[name])])),
  write: value => Object.fromEntries(Object.entries(fields).map(([name, of]) => [name, of.write(value[camel(name)])])),
});
/** Cases without a payload have `null`. */
const variant = cases => {
  const payload = tag => {
    if (!Object.hasOwn(cases, tag)) throw new TypeError(`there is no case ${tag}`);
    return cases[tag];
  };
  return {
    read(json) {
      const [tag, val] = typeof json === 'string' ? [json] : Object.entries(json)[0];
      const of = payload(tag);
      return of === null ? { tag } : { tag, val: of.read(val) };
    },
    write({ tag, val }) {
      const of = payload(tag);
      return of === null ? tag : { [tag]: of.write(val) };
    },
  };
};

const precondition = variant({ any: null, absent: null, matches: plain });
const path = { path: plain };
const op = variant({
  read: record({ ...path, offset: u64, 'max-bytes': plain }),
  write: record({ ...path, content: bytes, precondition, 'keep-as': option(plain), like: option(plain) }),
  append: record({ ...path, content: bytes, 'newline-first': plain, precondition, 'may-tear': plain, 'may-vanish': plain }),
  'list-directory': record({ folder: option(plain), after: option(plain), limit: plain, unless: option(plain) }),
  remove: record({ ...path, precondition, 'keep-as': option(plain), 'may-return': plain }),
  rename: record({ ...path, to: plain, precondition }),
  'make-directory': record(path),
  'remove-directory': record(path),
  generation: null,
});
const file = record({ bytes, version: plain, size: u64 });
const entry = record({ ...path, kind: plain, size: u64, version: plain, modified: u64 });
const page = record({
  entries: list(entry), next: option(plain), version: option(plain),
  'left-out': record({ names: list(record({ ...path, kind: plain })), count: plain }),
});
const outcome = variant({
  read: variant({ content: file, absent: null }),
  write: variant({ written: plain, stale: option(plain), unknown: null }),
  append: variant({ written: plain, stale: option(plain), unknown: u64 }),
  'list-directory': variant({ page, unchanged: null }),
  remove: variant({ done: null, stale: plain }),
  rename: variant({ done: null, stale: plain, absent: null, exists: null }),
  'make-directory': null,
  'remove-directory': plain,
  generation: plain,
});
const named = ['denied', 'timed-out', 'cancelled', 'symbolic-link', 'is-directory', 'not-directory', 'not-regular',
  'no-space', 'read-only', 'unsupported'];
const explained = ['invalid-path', 'not-durable', 'locked', 'other'];
const cases = (tags, of) => Object.fromEntries(tags.map(tag => [tag, of]));
const error = variant({ ...cases(named, null), ...cases(explained, plain), 'too-large': u64 });

export const Op = op;
export const Result = variant({ ok: outcome, err: error });
export const Request = record({ key: plain, command: u64, op });
export const Timestamp = record({ seconds: u64, nanoseconds: plain, 'utc-offset-seconds': plain });
