import { usageOnWire, type JsonValue, type PayloadOf, type WireLookup } from '@perdure/events';
import type { ChildProgress } from '../live/child-progress.js';
import type { LiveFeed } from '../live/live-feed.js';
import type { ChildState } from '../session/child-state.js';
import type { CommittedFact } from '../session/journal.js';
import type { FactListener } from '../session/turn-waiters.js';

/** Milliseconds between two commits of one child that are told. */
const PAUSE_MS = 100;

/**
 * Tells those who watch a session how one that it handed work to gets on, not more often than the pause allows: of a
 * commit the last call that ended, and the step. What is left out is in the child's own events.
 */
export function tellProgress(
  { childId: taskId, delegation: { callId }, profile: { agent } }: ChildState,
  feed: LiveFeed,
): FactListener {
  let toldAt = Number.NEGATIVE_INFINITY;
  return (facts, lookup) => {
    const last = new Map<string, CommittedFact>();
    for (const fact of facts) last.set(fact.type, fact);
    const found = [settled(last.get('ToolCallSettled'), lookup), checkpointed(last.get('StepCheckpointed'))];
    const told = found.filter((each) => each !== undefined);
    const now = performance.now();
    if (told.length === 0 || now - toldAt < PAUSE_MS) return;
    toldAt = now;
    for (const each of told) feed.addProgress({ taskId, callId, agent, ...each });
  };
}

type Told = Pick<ChildProgress, 'status' | 'metadata'>;

function settled(fact: CommittedFact | undefined, lookup: WireLookup): Told | undefined {
  if (fact === undefined) return undefined;
  const { callId, status, output, failure } = fact.payload as PayloadOf<'ToolCallSettled'>;
  const text = typeof output === 'string' ? output : output === undefined ? '' : JSON.stringify(output);
  return {
    status: 'tool_completed',
    metadata: {
      tool: lookup.call(callId)?.name ?? '',
      exit_code: status === 'completed' ? 0 : 1,
      output_bytes: Buffer.byteLength(text),
      ...(failure === undefined ? {} : { error_kind: failure.code }),
    },
  };
}

function checkpointed(fact: CommittedFact | undefined): Told | undefined {
  if (fact === undefined) return undefined;
  const { index, usage } = fact.payload as PayloadOf<'StepCheckpointed'>;
  const metadata: Record<string, JsonValue> = { turn: index + 1, usage: usageOnWire(usage) };
  return { status: 'turn_completed', metadata };
}
