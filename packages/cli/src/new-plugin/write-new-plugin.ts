import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PerdureError } from '@perdure/plugin-api';

/**
 * Writes the files of a new plugin into a folder, which is made. Nothing is overwritten: throws PERDURE_INPUT_INVALID
 * with the field `folder` when something is in it already.
 */
export async function writeNewPlugin(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((cause: unknown) => {
    throw refused('it cannot be made', cause);
  });
  if ((await readdir(folder)).length > 0) throw refused('it is not empty');
  for (const [path, text] of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    // `wx` fails on a file that has come in the meantime.
    await writeFile(file, text, { flag: 'wx' });
  }
}

function refused(reason: string, cause?: unknown): PerdureError {
  return new PerdureError('PERDURE_INPUT_INVALID', { field: 'folder', reason }, { cause });
}
