import { readdir, readFile } from 'node:fs/promises';

/** Rounds of looking: a process that forks while it is looked for is found in the next. */
const MOST_ROUNDS = 20;

/**
 * Ends all processes that were started with this in their environment, whatever group, session or parent they have by
 * now. Only Linux tells the environment of others; elsewhere it does nothing.
 */
export async function killMarked(variable: string): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const found = await markedProcesses(variable);
    if (found.length === 0) return;
    for (const pid of found) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended in between.
      }
    }
  }
}

async function markedProcesses(variable: string): Promise<readonly number[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.map(Number).filter((pid) => Number.isSafeInteger(pid) && pid !== process.pid);
  const found = await Promise.all(pids.map(async (pid) => ((await hasVariable(pid, variable)) ? [pid] : [])));
  return found.flat();
}

/** What belongs to others cannot be read, and what is dead has no environment. */
async function hasVariable(pid: number, variable: string): Promise<boolean> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`);
    return `\0${environment.toString('latin1')}`.includes(`\0${variable}\0`);
  } catch {
    return false;
  }
}
