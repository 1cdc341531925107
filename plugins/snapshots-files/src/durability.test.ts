import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { FileSessionStore } from './file-session-store.js';
import { isWhole } from './snapshot.fixture.js';

const KILLS = Number(process.env['KILLS'] ?? 3);
const hasTracer = spawnSync('strace', ['-V']).status === 0;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-snapshots-'));
  folders.push(folder);
  return folder;
}

function writer(folder: string, count: number): readonly string[] {
  const file = fileURLToPath(new URL('writer.fixture.ts', import.meta.url));
  return [process.execPath, '--import', 'tsx', '--conditions=@perdure/source', file, folder, String(count)];
}

function start([file = '', ...args]: readonly string[]): ChildProcess & { stdout: NodeJS.ReadableStream } {
  return spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] }) as ChildProcess & {
    stdout: NodeJS.ReadableStream;
  };
}

test(
  `two writers killed ${KILLS} times leave the old snapshot or the new one, whole [R19]`,
  { timeout: 120_000 },
  async () => {
    const folder = temporaryFolder();
    const store = new FileSessionStore(folder);
    for (let round = 1; round <= KILLS; round++) {
      const writers = [start(writer(folder, 1_000_000)), start(writer(folder, 1_000_000))];
      await Promise.all(writers.map(firstSave));
      // While both write, a reader of a third process sees whole ones only.
      for (let look = 0; look < 50; look++) {
        const seen = await store.load('k');
        if (seen !== undefined) expect(isWhole(seen)).toBe(true);
      }
      await setTimeout(13 * round);
      const ends = writers.map((child) => once(child, 'close'));
      for (const child of writers) child.kill('SIGKILL');
      await Promise.all(ends);
      const left = await store.load('k');
      expect(left !== undefined && isWhole(left)).toBe(true);
      expect(await store.list()).toEqual(['k']);
    }
  },
);

test.skipIf(!hasTracer)(
  'a save is on the disk before it is acknowledged (needs strace) [A19] [R19]',
  { timeout: 60_000 },
  async () => {
    const folder = temporaryFolder();
    const trace = join(folder, 'trace');
    const calls = 'trace=openat,fsync,rename,write';
    const child = start(['strace', '-f', '-s', '300', '-e', calls, '-o', trace, ...writer(folder, 5)]);
    child.stdout.resume();
    expect(await once(child, 'close')).toEqual([0, null]);
    const saves = savesOf(readFileSync(trace, 'utf8'), folder);
    expect(saves).toEqual(Array.from({ length: 5 }, () => ['new file', 'fsync', 'rename', 'fsync']));
  },
);

async function firstSave({ stdout }: { readonly stdout: NodeJS.ReadableStream }): Promise<void> {
  await new Promise<void>((resolve) => {
    stdout.on('data', (data: Buffer) => {
      if (data.includes('end ')) resolve();
    });
  });
}

/** What each save did, between its begin and its end. */
function savesOf(trace: string, folder: string): readonly (readonly string[])[] {
  const saves: string[][] = [];
  let open: string[] | undefined;
  for (const line of trace.split('\n')) {
    if (/write\(1, "begin \d+\\n"/.test(line)) saves.push((open = []));
    else if (/write\(1, "end \d+\\n"/.test(line)) open = undefined;
    else if (line.includes(`${folder}/.tmp-`) && /O_CREAT\|O_EXCL/.test(line)) open?.push('new file');
    else if (/rename\(/.test(line)) open?.push('rename');
    else if (/fsync(\(| resumed>).*= 0$/.test(line)) open?.push('fsync');
  }
  return saves;
}
