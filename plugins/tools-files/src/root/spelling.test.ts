import { linkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryWorkspace } from '../testing/temporary-workspace.js';
import type { Directory } from './directory.js';
import { createRoot, withDirectory } from './root.js';
import { requireSpelling } from './spelling.js';

/** The folder as a file system shows it that takes every letter case for one name. */
function withoutCase(directory: Directory): Directory {
  return {
    ...directory,
    look: async (name) => {
      const names = (await directory.entries()).map((entry) => entry.name.toString('utf8'));
      return directory.look(names.find((found) => found.toLowerCase() === String(name).toLowerCase()) ?? name);
    },
  };
}

test('only the spelling on disk is taken where others would be found too', async () => {
  const { folder, write } = temporaryWorkspace();
  for (const name of ['ReadMe.md', '.env', '数', 'É']) write(`sub/${name}`, name);
  await withDirectory(createRoot(folder), ['sub'], async (directory) => {
    const forgiving = withoutCase(directory);
    for (const name of ['ReadMe.md', '.env', '数', 'É']) await requireSpelling(forgiving, name);
    for (const [name, actual] of [
      ['README.md', 'sub/ReadMe.md'],
      ['.ENV', 'sub/.env'],
      ['é', 'sub/É'],
    ] as const) {
      await expect(requireSpelling(forgiving, name)).rejects.toMatchObject({ code: 'ESPELLING', component: actual });
    }
    await requireSpelling(directory, 'README.md');
  });
});

test('a hard link in another letter case is a name of its own', async () => {
  const { folder, write } = temporaryWorkspace();
  write('a.txt', 'x');
  linkSync(join(folder, 'a.txt'), join(folder, 'A.TXT'));
  await withDirectory(createRoot(folder), [], async (directory) => {
    await requireSpelling(directory, 'a.txt');
    await requireSpelling(directory, 'A.TXT');
  });
});
