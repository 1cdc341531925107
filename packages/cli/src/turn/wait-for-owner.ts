import { isPerdureError } from '@perdure/plugin-api';

const LOOK_EVERY_MS = 250;
/** The lease of a dead node runs out a little after its time: the observer's first look is part of it. */
const MARGIN_MS = 1_000;

/**
 * Tries until the session is free, for one time to live of its owner's lease: a node that is not renewed by then counts
 * as dead. Throws PERDURE_SESSION_OWNED, which names the node, when it still lives.
 *
 * @param onWait told once, with the name of the node
 */
export async function waitForOwner<Result>(
  attempt: () => Promise<Result>,
  leaseMs: number,
  onWait: (node: string) => Promise<void>,
): Promise<Result> {
  const until = performance.now() + leaseMs + MARGIN_MS;
  for (let hasTold = false; ; hasTold = true) {
    try {
      return await attempt();
    } catch (error) {
      if (!isPerdureError(error, 'PERDURE_SESSION_OWNED') || performance.now() > until) throw error;
      if (!hasTold) await onWait(String(error.data['node']));
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
