import { z } from 'zod';
import { createRuntime } from '@perdure/core';
import {
  ARTIFACT_STORE,
  definePlugin,
  EVENT_STORE,
  NODE_PRESENCE,
  PERMISSION,
  PROJECTION_STORE,
  type TurnResult,
} from '@perdure/plugin-api';
import { policyBudget } from '@perdure/policy-budget';
import { ScriptedModel } from '@perdure/testing';
import { KILLED_TTL_MS, whenDead } from '../fixtures/killed-owner.js';
import { openTestStores } from '../fixtures/test-stores.js';

/** How a node of these tests is set up: as JSON in the first argument of its process. */
export interface BudgetNodeOrder {
  readonly folder: string;
  readonly nodeId: string;
  /** Milliseconds that a model call takes. */
  readonly callMs: number;
}

/** What every answer is billed for. */
export const BILLED = { inputTokens: 5_300, outputTokens: 700, totalTokens: 6_000 };
/** Its request is estimated at about 5,000 tokens. */
export const LONG_PROMPT = 'much '.repeat(4_000);
export const MAX_OUTPUT = 1_000;

/** Never ends by itself, one tool call a step, however quick its process is beside the others. */
const hungryModel = (callMs: number) =>
  new ScriptedModel(({ toolResultsSince: { length } }) => ({
    usage: BILLED,
    delayMs: callMs,
    calls: [{ name: 'note', input: { step: length } }],
  }));

export async function startBudgetNode({ folder, nodeId, callMs }: BudgetNodeOrder) {
  const stores = definePlugin({
    name: 'stores',
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [EVENT_STORE, ARTIFACT_STORE, PROJECTION_STORE, NODE_PRESENCE, PERMISSION],
    setup: async ({ provide }) => {
      const opened = await openTestStores(folder);
      provide(EVENT_STORE, opened.events);
      provide(ARTIFACT_STORE, opened.artifacts);
      provide(PROJECTION_STORE, opened.projections);
      if (opened.presence !== undefined) provide(NODE_PRESENCE, opened.presence);
      provide(PERMISSION, { id: 'all', digest: 'all', decide: () => ({ decision: 'allow' }) });
      return { stop: () => opened.close() };
    },
  });
  const runtime = await createRuntime({
    plugins: [stores, { plugin: policyBudget, config: { maxOutputTokens: MAX_OUTPUT, minOutputTokens: MAX_OUTPUT } }],
    env: { nodeId },
    leaseTtlMs: KILLED_TTL_MS,
    closeGraceMs: 100,
    // A killed node's sessions are left to the one that is told to resume them.
    keepsSessions: false,
    logger: { log: () => undefined },
  });
  const note = { inputSchema: z.object({ step: z.number() }), effect: 'read' as const, execute: () => 'noted' };
  const agent = runtime.agent({ id: 'clerk', model: hungryModel(callMs), tools: { note } });
  await agent.ready();
  return { runtime, agent };
}

export interface BudgetedSession {
  readonly sessionId: string;
  readonly parent: string;
  /** The killed node that it is to be resumed from. */
  readonly deadNode?: string;
}

/** What a parent asks of a node in a process of its own: to run these sessions until their turns end. */
export interface BudgetNodeRequest {
  readonly id: number;
  readonly do: 'send' | 'resume';
  readonly sessions: readonly BudgetedSession[];
}

if (process.send !== undefined && process.argv[2] !== undefined) {
  const { agent } = await startBudgetNode(JSON.parse(process.argv[2]) as BudgetNodeOrder);
  process.on('message', (request: BudgetNodeRequest) => {
    Promise.all(request.sessions.map((place) => perform(request.do, place))).then(
      (result) => process.send?.({ id: request.id, result }),
      (error: Error) => process.send?.({ id: request.id, error: error.message }),
    );
  });
  process.send({ ready: true });

  async function perform(what: BudgetNodeRequest['do'], place: BudgetedSession): Promise<TurnResult | undefined> {
    if (what === 'send')
      return agent.session('', { sessionId: place.sessionId, parent: place.parent }).send(LONG_PROMPT);
    const session = await agent.sessions.get(place.sessionId);
    const turn = await whenDead(place.deadNode ?? '', () => session.resume());
    return turn?.finished;
  }
}
