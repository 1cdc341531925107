import { noCalls } from '@perdure/plugin-api';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultDriver, fileTools } from '@perdure/runtime';
import { exitCodes } from '../exit-code.js';
import { fail, failed, ok, type Check } from './check.js';

const OLDEST_NODE = [20, 19] as const;

export function checkNode(version: string = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  if (isNew) return ok('node', `v${version}`);
  const fix = `Install Node ${OLDEST_NODE.join('.')} or newer.`;
  return fail('node', `v${version} is too old`, fix, exitCodes.usage);
}

/** The SQLite that the default store uses, found out by asking it. */
export async function checkSqlite(): Promise<Check> {
  try {
    const { name, DatabaseSync } = await defaultDriver();
    const database = new DatabaseSync(':memory:');
    try {
      const [version] = Object.values(database.prepare('select sqlite_version()').get() as object) as unknown[];
      return ok('sqlite', `${String(version)} of ${name}`);
    } finally {
      database.close();
    }
  } catch (error) {
    return failed('sqlite', error, 'Install the package again on this machine: npm ci.');
  }
}

/** A search by the `grep` tool itself: finding a program is not yet being able to run it. */
export async function checkRipgrep(): Promise<Check> {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-doctor-'));
  try {
    await writeFile(join(folder, 'needle.txt'), 'needle\n');
    const { grep } = fileTools(folder);
    const input = { query: 'needle' } as never;
    const context = {
      toolCallId: 'doctor',
      abortSignal: AbortSignal.timeout(5_000),
      idempotencyKey: 'doctor',
      sessionId: '',
      calls: noCalls,
    };
    const found = JSON.stringify(await grep?.execute?.(input, context));
    if (found.includes('needle.txt')) return ok('ripgrep', 'searches files');
    return fail('ripgrep', 'a search found nothing', 'Install the package again: npm ci.', exitCodes.failed);
  } catch (error) {
    return failed('ripgrep', error, 'Install @vscode/ripgrep for this machine: npm ci.');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
