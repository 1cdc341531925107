import type { ChildProcess } from 'node:child_process';

const GRACE_MS = 400;
const IS_POSIX = process.platform !== 'win32';

/** Leaders of groups that live: they end with this process, when that ends in order. */
const living = new Set<number>();
let isListening = false;

/** A program that was started as the leader of a group of its own. */
export function watchGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  living.add(pid);
  if (isListening) return;
  isListening = true;
  process.once('exit', () => {
    for (const leader of living) signalGroup(leader, 'SIGKILL');
  });
}

/** Ends a program and all that it started: asked first, by the end of its input and a signal, then without asking. */
export async function endGroup(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  child.stdin?.end();
  if (!(await hasEnded(child))) {
    signalGroup(pid, 'SIGTERM');
    await hasEnded(child);
  }
  killGroup(child);
}

/** What the leader left behind ends too. */
export function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined || !living.delete(pid)) return;
  signalGroup(pid, 'SIGKILL');
}

function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(IS_POSIX ? -leader : leader, signal);
  } catch {
    // Nobody of the group is left.
  }
}

function hasEnded(child: ChildProcess): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(true);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.off('exit', ended);
      resolve(false);
    }, GRACE_MS);
    const ended = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    child.once('exit', ended);
  });
}
