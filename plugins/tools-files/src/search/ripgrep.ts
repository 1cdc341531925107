import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileFailure, throwIfAborted } from '../failure.js';

export interface RipgrepRun {
  readonly arguments: readonly string[];
  /** Descriptors that the process gets as 3, 4 and so on. */
  readonly descriptors: readonly number[];
  readonly signal: AbortSignal;
  /** Takes one line of the output, without its LF. `stop` ends the run as if there were no more. */
  onLine(line: Buffer): 'go on' | 'stop';
}

export interface RipgrepEnd {
  /** 0: something was found, 1: nothing was found, 2: an error, null: killed. */
  readonly status: number | null;
  /** What ripgrep says about an error, cut. */
  readonly message: string;
}

const LONGEST_LINE = 64 * 1024;
const LONGEST_MESSAGE = 2000;
const LF = 10;

/** Loaded when it is needed, because the package throws on platforms that it has no program for. */
export async function ripgrepProgram(): Promise<string> {
  try {
    return (await import('@vscode/ripgrep')).rgPath;
  } catch (cause) {
    throw fileFailure('rg_unavailable', 'ripgrep is not installed for this platform.', { cause });
  }
}

/**
 * Runs ripgrep with an empty environment and without configuration files, and kills it when the call is stopped.
 *
 * @throws FileFailure `aborted`, `rg_unavailable`, `search_failed`
 */
export async function runRipgrep(program: string, run: RipgrepRun): Promise<RipgrepEnd> {
  throwIfAborted(run.signal);
  const child = spawn(program, ['--no-config', ...run.arguments], {
    stdio: ['ignore', 'pipe', 'pipe', ...run.descriptors],
    env: process.platform === 'win32' ? { SystemRoot: process.env['SystemRoot'] } : {},
    cwd: dirname(program),
    windowsHide: true,
  });
  const stop = (): void => void child.kill('SIGKILL');
  run.signal.addEventListener('abort', stop, { once: true });
  try {
    let rest: Buffer = Buffer.alloc(0);
    let isStopped = false;
    let message = '';
    child.stdout?.on('data', (piece: Buffer) => {
      if (isStopped) return;
      const taken = takeLines(rest.length === 0 ? piece : Buffer.concat([rest, piece]), run);
      rest = taken.rest;
      isStopped = taken.isStopped;
      if (isStopped || rest.length > LONGEST_LINE) stop();
    });
    child.stderr?.on('data', (piece: Buffer) => {
      if (message.length < LONGEST_MESSAGE) message += piece.toString('utf8');
    });
    const status = await new Promise<number | null>((resolve, reject) => {
      child.once('error', (cause) => reject(fileFailure('rg_unavailable', 'ripgrep could not be started.', { cause })));
      child.once('close', resolve);
    });
    throwIfAborted(run.signal);
    if (rest.length > LONGEST_LINE) throw fileFailure('search_failed', 'ripgrep gave a line without an end.');
    if (isStopped) return { status: 0, message: '' };
    return { status, message: message.slice(0, LONGEST_MESSAGE) };
  } finally {
    run.signal.removeEventListener('abort', stop);
  }
}

function takeLines(data: Buffer, run: RipgrepRun): { readonly rest: Buffer; readonly isStopped: boolean } {
  let from = 0;
  for (let feed = data.indexOf(LF); feed !== -1; feed = data.indexOf(LF, from)) {
    if (run.onLine(data.subarray(from, feed)) === 'stop') return { rest: Buffer.alloc(0), isStopped: true };
    from = feed + 1;
  }
  return { rest: data.subarray(from), isStopped: false };
}
