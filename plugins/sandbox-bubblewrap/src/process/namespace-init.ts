import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The first process of a sandbox's process namespace, as the machine sees it. The kernel ends the whole namespace with
 * it, and it is gone only when all others are.
 */
export interface NamespaceInit {
  readonly pid: number;
  /** Tells the process apart from a later one with the same number. */
  readonly startTime: string;
}

/** `undefined` when there is no such process any more. */
export function namespaceInit(pid: number): NamespaceInit | undefined {
  const startTime = statOf(pid)?.startTime;
  return startTime === undefined ? undefined : { pid, startTime };
}

export function killInit(init: NamespaceInit): void {
  if (!isLeft(init)) return;
  try {
    process.kill(init.pid, 'SIGKILL');
  } catch {
    // It ended by itself in between.
  }
}

/** Resolves when nothing of the namespace is left. */
export async function untilGone(init: NamespaceInit): Promise<void> {
  for (let waited = 1; isLeft(init); waited = Math.min(waited * 2, 50)) await sleep(waited);
}

/** What is dead and only waits for its parent to notice is not left. */
function isLeft({ pid, startTime }: NamespaceInit): boolean {
  const stat = statOf(pid);
  return stat !== undefined && stat.startTime === startTime && stat.state !== 'Z' && stat.state !== 'X';
}

function statOf(pid: number): { readonly state: string; readonly startTime: string } | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name of the program is in parentheses and can hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', startTime: fields[19] ?? '' };
}
