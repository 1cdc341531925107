import { fork, type ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SandboxCommand, SandboxReport } from '@perdure/plugin-api';
import { afterAll } from 'vitest';
import type { Ended } from './run-to-end.js';

/** Who the runtime is. Root tries the ordinary user too; an ordinary user cannot try root. */
export type RuntimeUser = 'root' | 'ordinary';
export const runtimeUsers: readonly RuntimeUser[] = process.geteuid?.() === 0 ? ['root', 'ordinary'] : ['ordinary'];

const MEBIBYTE = 1024 * 1024;

export const testLimits = {
  processes: 64,
  memoryBytes: 256 * MEBIBYTE,
  fileBytes: 8 * MEBIBYTE,
  cpuSeconds: 20,
  temporaryBytes: 16 * MEBIBYTE,
};

export interface Places {
  readonly workspace: string;
  /** A folder beside the workspace, with `secret.txt` in it. */
  readonly outside: string;
}

export const SECRET = 'the-secret-of-the-host';

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A workspace that belongs to whoever the runtime is, and is removed after the tests of the file. */
export function temporaryPlaces(user: RuntimeUser): Places {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-sandbox-test-')));
  made.push(base);
  chmodSync(base, 0o755);
  const [workspace, outside] = [join(base, 'workspace'), join(base, 'outside')];
  mkdirSync(workspace);
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.txt'), SECRET);
  if (user === 'ordinary') giveToOrdinaryUser(workspace, outside, join(outside, 'secret.txt'));
  return { workspace, outside };
}

/** What tests put into a workspace must belong to the one who is to use it. */
export function giveToOrdinaryUser(...paths: readonly string[]): void {
  if (process.geteuid?.() !== 0) return;
  for (const path of paths) chownSync(path, 65534, 65534);
}

export interface Enclosure {
  run(workspace: string, script: string, more?: Partial<SandboxCommand>): Promise<Ended>;
  close(): Promise<void>;
}

interface Answer {
  readonly id?: number;
  readonly report?: SandboxReport;
  readonly ended?: Ended;
  readonly error?: Error;
}

/**
 * A process that closes commands in, as this user. It is an error and no reason to skip when the machine cannot: what
 * nobody tried out is not safe.
 */
export async function openEnclosure(user: RuntimeUser): Promise<Enclosure> {
  const server = fork(join(dirname(fileURLToPath(import.meta.url)), 'command-server.ts'), [user], {
    execArgv: ['--import', 'tsx', '--conditions=@perdure/source'],
    env: { ...process.env, HOST_SECRET: SECRET },
  });
  const waiting = new Map<number, (answer: Answer) => void>();
  const { usable, issues } = await new Promise<SandboxReport>((resolve, reject) => {
    server.once('error', reject);
    server.on('message', (answer: Answer) => {
      if (answer.report !== undefined) resolve(answer.report);
      else if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
    });
    server.once('exit', (code) => reject(new Error(`The process that closes commands in ended with ${code}.`)));
  });
  if (!usable) {
    server.kill();
    const reasons = issues.map(({ message, fixes }) => [message, ...fixes].join(' ')).join('\n');
    throw new Error(`These tests need a machine on which bubblewrap works:\n${reasons}`);
  }
  let last = 0;
  return {
    run: (workspace, script, more) => {
      const argv = ['/usr/bin/bash', '-c', script];
      const usual = { argv, workspace, workingDirectory: workspace, environment: {}, limits: testLimits };
      const id = (last += 1);
      return new Promise((resolve, reject) => {
        waiting.set(id, ({ ended, error }) => {
          waiting.delete(id);
          if (ended !== undefined) resolve(ended);
          else reject(Object.assign(new Error(error?.message), error));
        });
        server.send({ id, command: { ...usual, ...more } });
      });
    },
    close: () => closed(server),
  };
}

async function closed(server: ChildProcess): Promise<void> {
  await new Promise((resolve) => {
    server.once('exit', resolve);
    server.disconnect();
  });
}
