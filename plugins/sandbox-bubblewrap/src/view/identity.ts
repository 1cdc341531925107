import { readFileSync } from 'node:fs';

/** Who a command is. */
export type Identity = OwnIdentity | DroppedIdentity;

/** The user of the runtime, without any privilege. */
export interface OwnIdentity {
  readonly kind: 'own';
  readonly uid: number;
  readonly gid: number;
}

/**
 * For a runtime that is root. The kernel counts no processes of root, and root owns much of /proc, so a command is
 * nobody. It could write nothing in a workspace of root then; so it keeps the right to pass over the modes of files,
 * which reaches what is mounted for it and no more.
 */
export interface DroppedIdentity {
  readonly kind: 'dropped';
  readonly uid: number;
  readonly gid: number;
  /** What to write to the maps of the user namespace: every id is itself, so that all files of a workspace have one. */
  readonly uidMap: string;
  readonly gidMap: string;
}

const NOBODY = 65534;
/** Inside, a command is never called root, also where the runtime is the root of a container of an ordinary user. */
const ORDINARY = 1000;

export function processIdentity(): Identity {
  const [uid, gid] = [process.geteuid?.() ?? ORDINARY, process.getegid?.() ?? ORDINARY];
  const [uidMap, gidMap] = [readFileSync('/proc/self/uid_map', 'utf8'), readFileSync('/proc/self/gid_map', 'utf8')];
  return identityOf(uid, gid, uidMap, gidMap);
}

export function identityOf(uid: number, gid: number, uidMap: string, gidMap: string): Identity {
  if (uid !== 0) return { kind: 'own', uid, gid };
  if (!knows(uidMap, NOBODY) || !knows(gidMap, NOBODY)) return { kind: 'own', uid: ORDINARY, gid: ORDINARY };
  return { kind: 'dropped', uid: NOBODY, gid: NOBODY, uidMap: sameIds(uidMap), gidMap: sameIds(gidMap) };
}

type Extent = readonly [first: number, count: number];

/** Lines of a map as the kernel tells it: first id here, first id outside, count. */
function extentsOf(map: string): readonly Extent[] {
  return map
    .trim()
    .split('\n')
    .map((line) => {
      const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
      return [first, count] as const;
    });
}

function knows(map: string, id: number): boolean {
  return extentsOf(map).some(([first, count]) => id >= first && id < first + count);
}

function sameIds(map: string): string {
  return extentsOf(map)
    .map(([first, count]) => `${first} ${first} ${count}\n`)
    .join('');
}
