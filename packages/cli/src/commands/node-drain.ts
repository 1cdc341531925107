import { setTimeout as delay } from 'node:timers/promises';
import type { CliContext } from '../cli-context.js';
import type { PlaceFlags } from '../config/settings.js';
import { exitCodes } from '../exit-code.js';
import { jsonText } from '../terminal/json-text.js';
import { visible } from '../terminal/visible.js';
import { graceOf } from './node-run.js';
import { withStore } from './with-store.js';

export interface NodeDrainFlags extends PlaceFlags {
  readonly grace?: string;
  readonly reason?: string;
}

/** Milliseconds between two looks at what is left. */
const LOOK_MS = 250;
/** Milliseconds that a node has behind the grace to end what was cut. */
const MARGIN_MS = 10_000;

/** `perdure node drain NAME`: asks, and waits until the node has no session any more. */
export function nodeDrain(context: CliContext, name: string, flags: NodeDrainFlags): Promise<number> {
  const graceMs = graceOf(flags.grace);
  return withStore(context, flags, async (runtime) => {
    const { reason } = flags;
    await runtime.requestDrain(name, { graceMs, ...(reason === undefined ? {} : { reason }) });
    const { screen, json } = context;
    if (!json) await screen.wait(`waiting for the sessions of ${visible(name)} to leave`);
    const until = performance.now() + graceMs + MARGIN_MS;
    let left = await runtime.sessionsOf(name);
    while (left > 0 && performance.now() < until) {
      await delay(LOOK_MS);
      left = await runtime.sessionsOf(name);
    }
    const isDrained = left === 0;
    if (json) await screen.out.line(jsonText({ node: name, isDrained, sessions: left }));
    else
      await screen.note(isDrained ? `${visible(name)} has no session any more.` : `${left} sessions are still there.`);
    return isDrained ? exitCodes.completed : exitCodes.failed;
  });
}
