import { keyText, type SessionKey } from '@perdure/events';
import { isPerdureError, PerdureError } from '@perdure/plugin-api';
import { requestErasure } from '../session/accept-input.js';
import type { Journal } from '../session/journal.js';
import { assertOwner, takeOwnership } from '../session/ownership.js';
import { isOrphan } from '../session/refuse-erased.js';
import { forksInTheWay, withdrawErasure } from './forks-in-the-way.js';
import type { HostServices } from './host-services.js';
import { openJournal } from './load-session.js';
import { removeRemains } from './remove-remains.js';
import { readTree, type Branch } from './session-tree.js';

/** Milliseconds that a turn has to come to its end; one that has not is taken from its owner. */
const GRACE_MS = 10_000;
const LOOK_MS = 50;
/** How often an eraser that met another one tries again. */
const TRIES = 20;

export interface EraseRequest {
  readonly cascade: boolean;
  readonly reason: string | undefined;
}

/** The journals of sessions that take nothing more, by the texts of their keys. */
type Ending = Map<string, Journal>;

/**
 * Destroys what a session holds, and before it what the sessions below it hold. The request is durable first, so that
 * anybody can go on with it. Each step is durable before the next, and each may be repeated, also by two at once:
 * whoever asks again goes on where a dead process was. Returns the keys, those below first.
 *
 * Nothing is destroyed before it is sure that no fork stands against it. Whoever forks a session looks at it behind the
 * first fact of the fork, and gives the fork up when the erasure is requested there; so a fork that is not seen behind
 * the request is none that anybody has. Where one is seen that stays, the request is withdrawn: the session goes on.
 * Throws PERDURE_HAS_FORKS then.
 */
export async function eraseSession(
  key: SessionKey,
  request: EraseRequest,
  services: HostServices,
  letGo: (key: SessionKey) => Promise<void>,
): Promise<readonly SessionKey[]> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const erased = await eraseTree(key, request, services, letGo);
    if (erased !== undefined) return erased;
  }
  throw new PerdureError('PERDURE_STORE_CONTENDED', { session: key.id, tries: TRIES });
}

/** The same once; `undefined` when others did something to the sessions meanwhile that is to be looked at first. */
async function eraseTree(
  key: SessionKey,
  request: EraseRequest,
  services: HostServices,
  letGo: (key: SessionKey) => Promise<void>,
): Promise<readonly SessionKey[] | undefined> {
  const { tree, ending } = await endTree(key, request, services);
  const branches = bottomUp(tree);
  for (const { key: each, isErased } of branches) {
    const journal = ending.get(keyText(each));
    if (!isErased && journal !== undefined) {
      const asked = journal.state.erase?.revision;
      await letGo(each);
      if (!(await eraseFacts(journal, asked, request, services))) return undefined;
    }
    await removeRemains(each, services);
  }
  // What was made of it meanwhile, and given up: its maker may have died.
  const isWhole = bottomUp(await readTree(key, services)).every(({ isErased }) => isErased);
  return isWhole ? branches.map((branch) => branch.key) : undefined;
}

/** Has a session and all below it take nothing more, and their turns end. They may start others until then. */
async function endTree(
  key: SessionKey,
  request: EraseRequest,
  services: HostServices,
): Promise<{ readonly tree: Branch; readonly ending: Ending }> {
  const ending: Ending = new Map();
  for (;;) {
    const tree = await readTree(key, services);
    if (!request.cascade) {
      const forks = await forksInTheWay(tree, services, ending.size > 0);
      if (forks > 0) {
        await withdrawErasure(tree, services);
        throw new PerdureError('PERDURE_HAS_FORKS', { session: key.id, forks });
      }
    }
    const others = bottomUp(tree).filter((branch) => !branch.isErased && !ending.has(keyText(branch.key)));
    if (others.length === 0) return { tree, ending };
    // The one that is asked for first: whoever goes on with this begins there.
    for (const branch of others.toReversed()) {
      const { journal } = await openJournal(services, branch.key);
      await requestEnd(journal, request);
      ending.set(keyText(branch.key), journal);
    }
    for (const branch of others) await endTurns(ending.get(keyText(branch.key)), services);
  }
}

/** Those that came out of a session come before it, and each once. */
function bottomUp(branch: Branch, seen = new Set<string>()): readonly Branch[] {
  const below = branch.below.flatMap((each) => bottomUp(each, seen));
  const name = keyText(branch.key);
  if (seen.has(name)) return below;
  seen.add(name);
  return [...below, branch];
}

/** Stops what a session does and has it take nothing more. */
async function requestEnd(journal: Journal, { cascade, reason }: EraseRequest): Promise<void> {
  const fact = { cascade, ...(reason === undefined ? {} : { reason }) };
  while (!(await journal.commit((batch) => batch.state.isErased || requestErasure(batch, fact), 'input')));
}

/** Waits for the end of a session's turns, whoever runs them. */
async function endTurns(journal: Journal | undefined, services: HostServices): Promise<void> {
  const end = performance.now() + GRACE_MS;
  while (journal !== undefined && journal.state.open.length > 0 && performance.now() < end) {
    const { owner } = journal.state.ownership;
    if (owner === undefined || !(await services.lease.isAlive(owner.node, owner.incarnation))) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    await journal.refresh();
  }
}

/**
 * Appends the last fact. From then on nothing of the session is folded, and what came before it may be truncated.
 * `false` when the request was withdrawn: forks that stay may have come.
 */
async function eraseFacts(
  journal: Journal,
  asked: number | undefined,
  request: EraseRequest,
  services: HostServices,
): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    await journal.refresh();
    try {
      return await takeAndErase(journal, asked, request, services);
    } catch (error) {
      const isMet = ['PERDURE_SESSION_OWNED', 'PERDURE_SESSION_FENCED', 'PERDURE_SESSION_ERASED'].some(
        (code) => isPerdureError(error) && error.code === code,
      );
      if (!isMet || tries === TRIES) throw error;
    }
    // Another one erases it, too.
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function takeAndErase(
  journal: Journal,
  asked: number | undefined,
  { reason }: EraseRequest,
  { lease, env }: HostServices,
): Promise<boolean> {
  const { state } = journal;
  // One whose beginning is lost has no state that an owner could take.
  const isLost = isOrphan(state);
  if (!isLost && (state.isErased || state.erase?.revision !== asked)) return state.isErased;
  const options = { takeOver: true, held: undefined, create: () => undefined };
  const held = isLost ? undefined : await takeOwnership(journal, lease, env, options);
  return journal.commit((batch) => {
    if (batch.state.isErased && !isOrphan(batch.state)) return true;
    if (batch.state.erase?.revision !== asked) return false;
    if (held !== undefined) assertOwner(batch, held, journal.key.id);
    const { agentId = '' } = batch.state.identity ?? {};
    const fact = { agentId, ...(reason === undefined ? {} : { reason }) };
    batch.add('SessionErased', fact, {}, { kind: 'node', id: env.nodeId });
    return true;
  }, 'owner');
}
