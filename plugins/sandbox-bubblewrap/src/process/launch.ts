import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { PerdureError, reasonOf, type SandboxCommand, type SandboxedProcess } from '@perdure/plugin-api';
import type { HeldPaths } from '../command/held-paths.js';
import { seccompFilter } from '../seccomp/seccomp-filter.js';
import { architectureOf } from '../seccomp/system-calls.js';
import type { Identity } from '../view/identity.js';
import { privateFiles } from '../view/private-files.js';
import type { SystemView } from '../view/system-view.js';
import { launcherWords } from './launcher.js';
import { namespaceInit } from './namespace-init.js';
import { runningProcess, type BubblewrapExit, type Outputs } from './running-process.js';
import { sandboxArguments } from './sandbox-arguments.js';

export interface Launch {
  /** Absolute path of bwrap. */
  readonly program: string;
  readonly command: SandboxCommand;
  readonly held: HeldPaths;
  readonly identity: Identity;
  readonly view: SystemView;
}

/** Descriptors of bwrap; its files and folders come after them. */
const [OPTIONS, STATUS, MAPPED, FILTER, READY, FIRST_FREE] = [3, 4, 5, 6, 7, 8];
/** What bwrap says when it gives up is told to people. */
const LONGEST_COMPLAINT = 1_000;

/** Starts a command; resolves when the launcher inside says that it is closed in. */
export async function launch(request: Launch): Promise<SandboxedProcess> {
  const { child, outputs, ended } = spawnBubblewrap(request);
  try {
    const pid = await firstMatch(streamOf(child, STATUS), /"child-pid": (\d+)/);
    // Taken before bwrap goes on: the process cannot have ended, and its number not have gone to another.
    const init = pid === undefined ? undefined : namespaceInit(Number(pid));
    if (init === undefined) throw unavailable(await complaintOf(outputs.stderr));
    mapIds(child, request.identity, init.pid);
    // The pipe ends without a word when bwrap or the launcher gives up.
    const ready = await firstMatch(streamOf(child, READY), /(\n)/);
    if (ready === undefined) throw unavailable(await complaintOf(outputs.stderr));
    return runningProcess(child, outputs, init, ended);
  } catch (error) {
    child.kill('SIGKILL');
    await ended;
    throw error;
  }
}

function spawnBubblewrap({ program, command, held, identity, view }: Launch): {
  readonly child: ChildProcess;
  readonly outputs: Outputs;
  readonly ended: Promise<BubblewrapExit>;
} {
  const files = [...privateFiles(identity)];
  const folders = [held.workspace, ...held.pinned];
  const options = sandboxArguments(
    { command, held, identity, view },
    {
      status: STATUS,
      mapped: MAPPED,
      filter: FILTER,
      files: new Map(files.map(([path], index) => [path, FIRST_FREE + index])),
      folders: new Map(folders.map(({ path }, index) => [path, FIRST_FREE + files.length + index])),
    },
  );
  const words = launcherWords(command.argv, command.limits, identity, READY);
  const filter = systemCallFilter();
  const child = startProgram(
    program,
    ['--args', String(OPTIONS), '--', ...words],
    [
      ...(['ignore', 'pipe', 'pipe'] as const),
      ...Array.from({ length: FIRST_FREE - OPTIONS + files.length }, () => 'pipe' as const),
      ...folders.map(({ descriptor }) => descriptor),
    ],
  );
  // At once: Node throws away what nobody reads when the process ends.
  const outputs = { stdout: kept(child.stdout), stderr: kept(child.stderr) };
  hand(child, OPTIONS, options.map((option) => `${option}\0`).join(''));
  hand(child, FILTER, filter);
  for (const [index, [, text]] of files.entries()) hand(child, FIRST_FREE + index, text);
  const ended = once(child, 'exit').then(
    ([code, signal]): BubblewrapExit => ({ code, signal }) as BubblewrapExit,
    (): BubblewrapExit => ({ code: null, signal: null }),
  );
  return { child, outputs, ended };
}

function kept(stream: Readable | null): Readable {
  const kept = new PassThrough();
  stream?.pipe(kept);
  stream?.once('close', () => kept.end());
  return kept;
}

/** In a session of its own: what a person types at the terminal of the runtime is for the runtime. */
function startProgram(program: string, args: readonly string[], stdio: StdioOptions): ChildProcess {
  try {
    return spawn(program, args, { stdio, env: {}, cwd: '/', detached: true });
  } catch (error) {
    throw unavailable(`bwrap could not be started (${reasonOf(error)})`, error);
  }
}

function systemCallFilter(): Buffer {
  const architecture = architectureOf(process.arch);
  if (architecture === undefined) throw unavailable(`no filter of system calls is known for ${process.arch}`);
  return seccompFilter(architecture);
}

/** Only the parent of a user namespace may give it more than one id. bwrap waits for it. */
function mapIds(child: ChildProcess, identity: Identity, pid: number): void {
  if (identity.kind === 'own') return;
  try {
    writeFileSync(`/proc/${pid}/uid_map`, identity.uidMap);
    writeFileSync(`/proc/${pid}/gid_map`, identity.gidMap);
  } catch (error) {
    throw unavailable(`the ids of the sandbox could not be set (${reasonOf(error)})`, error);
  }
  hand(child, MAPPED, '.');
}

function hand(child: ChildProcess, descriptor: number, content: string | Buffer): void {
  const stream = child.stdio[descriptor] as Writable;
  // A bwrap that gave up reads nothing; that it gave up is seen by its end.
  stream.on('error', () => {});
  stream.end(content);
}

function streamOf(child: ChildProcess, descriptor: number): Readable {
  return child.stdio[descriptor] as Readable;
}

/** The first group of a pattern as soon as a stream has it; `undefined` when the stream ends without. */
function firstMatch(stream: Readable, pattern: RegExp): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = '';
    // It is read to its end, whatever comes: a full pipe would stop who writes.
    stream.on('data', (chunk: Buffer) => {
      if (text.length > LONGEST_COMPLAINT) return;
      text += chunk.toString();
      const found = pattern.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    stream.once('error', () => resolve(undefined));
    stream.once('close', () => resolve(undefined));
  });
}

async function complaintOf(stderr: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stderr) if (text.length < LONGEST_COMPLAINT) text += String(chunk);
  return text.trim().slice(0, LONGEST_COMPLAINT) || 'bwrap could not be started';
}

function unavailable(reason: string, cause?: unknown): PerdureError {
  return new PerdureError('PERDURE_SANDBOX_UNAVAILABLE', { reason }, { cause });
}
