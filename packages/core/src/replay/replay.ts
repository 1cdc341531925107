import {
  isCoreType,
  sessionKeyOf,
  type CoreType,
  type FactRegistry,
  type PayloadOf,
  type RecordedFact,
} from '@perdure/events';
import { isPerdureError, type HostEnv } from '@perdure/plugin-api';
import { Composer } from '../compose/composer.js';
import type { AgentView } from '../host/agent-view.js';
import type { Redaction } from '../secrets/redaction.js';
import { ChainCheck } from '../session/chain-reader.js';
import { evolveRead } from '../session/evolve.js';
import { timeOf } from '../session/fact-encoder.js';
import { emptySession } from '../session/session-loader.js';
import type { SessionState } from '../session/session-state.js';
import { DECIDER_VERSION } from '../turn/decider.js';
import { deriveFacts, type DerivedFact } from './derive.js';
import { firstDifference } from './difference.js';
import { isInput } from './inputs.js';
import { RecordedViews } from './recorded-views.js';

export interface ReplayReport {
  readonly session: string;
  readonly facts: number;
  readonly inputs: number;
  /** Facts that were derived again and are the same. */
  readonly derived: number;
  /** Runs of another decider version: their facts were folded and not compared. */
  readonly drift: readonly { readonly runId: string; readonly deciderVersion: number }[];
  readonly difference?: ReplayDifference;
  readonly state: SessionState;
}

/** The first derived fact that is not what the recorded inputs lead to. */
export interface ReplayDifference {
  readonly revision: number;
  readonly type: string;
  /** The member of the payload that differs; empty when another fact was due, or none. */
  readonly path: string;
  readonly recorded: string;
  readonly derived: string;
}

/**
 * Runs a session's recorded decisions again. Inputs are taken from the record; every other fact is derived by the same
 * decider, composer and gates that run sessions, with the agent as it is given here, and compared. Of several views of
 * the agent the one is taken whose policy the record names; the first, where it names none of them. Of a fork
 * `beginning` is what it goes on from.
 */
export async function replaySession(
  facts: readonly RecordedFact[],
  registry: FactRegistry,
  agents: readonly [AgentView, ...AgentView[]],
  env: HostEnv,
  redaction: Redaction,
  beginning = emptySession,
): Promise<ReplayReport> {
  const session = sessionKeyOf(facts[0]?.stream ?? '')?.id ?? '';
  const check = new ChainCheck(facts[0]?.stream ?? '', { from: 0 });
  const composer = new Composer(session, redaction);
  const views = new RecordedViews(agents);
  const drift: { runId: string; deciderVersion: number }[] = [];
  let { state } = beginning;
  let inputs = 0;
  let derived = 0;
  let due: DerivedFact[] = [];
  const report = (difference?: ReplayDifference): ReplayReport => ({
    session,
    facts: facts.length,
    inputs,
    derived,
    drift,
    ...(difference === undefined ? {} : { difference }),
    state,
  });
  for (const recorded of facts) {
    check.next(recorded);
    const read = registry.read(recorded);
    if (read.kind === 'known' && isCoreType(read.type)) {
      const fact = { type: read.type, payload: read.payload as PayloadOf<CoreType> };
      const agent = views.at(fact, state);
      if (fact.type === 'RunStarted') {
        const { runId, deciderVersion } = fact.payload as PayloadOf<'RunStarted'>;
        if (deciderVersion !== DECIDER_VERSION) drift.push({ runId, deciderVersion });
      }
      if (isDrifting(state, drift, fact)) inputs++;
      else if (due.length === 0 && isInput(state, fact, agent)) inputs++;
      else {
        if (due.length === 0) due = await derive(state, fact, { session, agent, composer, env, redaction });
        const difference = firstDifference(recorded, fact, due.shift());
        if (difference !== undefined) return report(difference);
        derived++;
      }
    }
    state = evolveRead(state, read, { revision: recorded.revision, time: timeOf(recorded) });
  }
  return report();
}

async function derive(
  state: SessionState,
  recorded: Parameters<typeof deriveFacts>[1],
  context: Parameters<typeof deriveFacts>[2],
): Promise<DerivedFact[]> {
  try {
    return [...(await deriveFacts(state, recorded, context))];
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    return [{ type: 'PerdureError', payload: { code: error.code } }];
  }
}

/** Facts of a run that another decider version made. */
function isDrifting(
  state: SessionState,
  drift: readonly { readonly runId: string }[],
  fact: { readonly type: CoreType; readonly payload: unknown },
): boolean {
  if (drift.length === 0) return false;
  const runId =
    fact.type === 'RunStarted' ? (fact.payload as PayloadOf<'RunStarted'>).runId : state.open[0]?.runs.at(-1)?.runId;
  return drift.some((run) => run.runId === runId);
}
