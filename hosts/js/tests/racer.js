/** One of several processes that change the files of one folder: `node racer.js FOLDER NAME ROUNDS`. Prints what was acknowledged. */

import { FolderStore } from '../folder.js';
import { any, matches, of } from './support.js';

const [folder, name, rounds] = process.argv.slice(2);
const store = of(new FolderStore(folder));
for (let round = 0; round < Number(rounds); round++) {
  await store.append('race/lines.md', `${name} ${round}\n`);
  for (let isWritten = false; !isWritten; ) {
    const { val } = await store.ok('read', { path: 'race/list', offset: 0n, maxBytes: 1 << 24 });
    const text = new TextDecoder().decode(val.bytes);
    const edited = await store.write('race/list', `${text}${name} ${round}\n`, matches(val.version), round % 3 ? {} : { keepAs: 'race/list.bak' });
    isWritten = edited.tag === 'written';
  }
  await store.write(`race/${name}/${round}`, 'x');
  await store.ok('rename', { path: `race/${name}/${round}`, to: `race/moved-${name}-${round}`, precondition: any });
  await store.ok('remove-directory', { path: `race/${name}` });
  console.log(`${name} ${round}`);
}
process.exit();
