import { readdirSync, readFileSync } from 'node:fs';

/** A process that is known again although its number is used anew. */
export interface SeenProcess {
  readonly pid: number;
  readonly startedAt: string;
  readonly command: string;
}

/** All that a process started and what they started, as the system tells it. */
export function descendantsOf(pid: number): readonly SeenProcess[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? seen(Number(name)) : []));
  const found: SeenProcess[] = [];
  const parents = new Set([pid]);
  for (let count = -1; count !== parents.size;) {
    count = parents.size;
    for (const { process, parent } of all) {
      if (!parents.has(parent) || parents.has(process.pid)) continue;
      parents.add(process.pid);
      found.push(process);
    }
  }
  return found;
}

/** Those of the processes that are still there. */
export function alive(processes: readonly SeenProcess[]): readonly SeenProcess[] {
  return processes.filter(({ pid, startedAt }) => seen(pid)[0]?.process.startedAt === startedAt);
}

function seen(pid: number): readonly { readonly process: SeenProcess; readonly parent: number }[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', parent = ''] = fields;
    // One that nobody has asked after yet is over all the same.
    if (state === 'Z') return [];
    return [{ process: { pid, startedAt: fields[19] ?? '', command }, parent: Number(parent) }];
  } catch {
    // It ended while it was looked at.
    return [];
  }
}
