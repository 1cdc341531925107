import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { SandboxedProcess } from '@perdure/plugin-api';
import { killInit, untilGone, type NamespaceInit } from './namespace-init.js';

export interface BubblewrapExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Outputs {
  readonly stdout: Readable;
  readonly stderr: Readable;
}

/** How bwrap tells that the command died of SIGKILL. */
const KILLED = 128 + 9;
/** How long bwrap may take to notice that its sandbox is gone. */
const PATIENCE_MS = 300;

/** A command that is closed in and runs. bwrap is its parent and ends with it. */
export function runningProcess(
  child: ChildProcess,
  { stdout, stderr }: Outputs,
  init: NamespaceInit,
  ended: Promise<BubblewrapExit>,
): SandboxedProcess {
  let isKilled = false;
  const exit = ended.then(async ({ code, signal }) => {
    // What the command left behind ends with bwrap, a moment later.
    await untilGone(init);
    return isKilled && code === KILLED ? { code: null, signal: 'SIGKILL' } : { code, signal };
  });
  const kill = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      isKilled = true;
      // The init first: bwrap then ends by itself when all others have ended, and leaves no zombie behind.
      killInit(init);
      const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
      await exit;
      clearTimeout(timer);
    }
    await exit;
  };
  return { stdout, stderr, exit, kill };
}
