import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { createRuntime } from '@perdure/core';
import {
  APPROVAL,
  ARTIFACT_STORE,
  definePlugin,
  EVENT_STORE,
  NODE_PRESENCE,
  PERMISSION,
  PROJECTION_STORE,
  SNAPSHOT_STORE,
  type EventStore,
  type Logger,
  type Tools,
} from '@perdure/plugin-api';
import { ScriptedModel, type Script } from '@perdure/testing';
import { openTestStores } from '../fixtures/test-stores.js';

/** How a node is set up whose agent asks before each call of its tool. */
export interface WaitingNode {
  readonly folder: string;
  readonly nodeId?: string;
  readonly waitingGraceMs: number;
  readonly leaseTtlMs?: number;
  readonly keepsSessions?: boolean;
  readonly expiresInMs?: number;
  /** Without one it only answers, as a command does: it cannot run a session. */
  readonly agent?: boolean;
  readonly logger?: Logger;
  /** Put around the event store. */
  readonly around?: (events: EventStore) => EventStore;
}

/** One call that a person is asked about, then an answer. */
export const askingOnce: Script = {
  rules: [
    { when: { toolResults: 0 }, answer: { text: 'I ask', calls: [{ name: 'pay', input: { key: 'a' } }] } },
    { answer: { text: 'done' } },
  ],
};

/** A tool whose runs are lines of the file `runs`. */
export function payingTools(folder: string): Tools {
  return {
    pay: {
      inputSchema: z.object({ key: z.string() }),
      effect: 'once',
      execute: (_: unknown, { toolCallId }: { toolCallId: string }) => {
        appendFileSync(join(folder, 'runs'), `${toolCallId}\n`);
        return 'paid';
      },
    },
  };
}

export async function startWaitingNode(order: WaitingNode) {
  const stores = definePlugin({
    name: 'stores',
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [EVENT_STORE, ARTIFACT_STORE, PROJECTION_STORE, SNAPSHOT_STORE, NODE_PRESENCE, PERMISSION, APPROVAL],
    setup: async ({ provide }) => {
      const opened = await openTestStores(order.folder);
      provide(EVENT_STORE, order.around?.(opened.events) ?? opened.events);
      provide(ARTIFACT_STORE, opened.artifacts);
      provide(PROJECTION_STORE, opened.projections);
      provide(SNAPSHOT_STORE, opened.snapshots);
      if (opened.presence !== undefined) provide(NODE_PRESENCE, opened.presence);
      provide(PERMISSION, { id: 'asking', digest: 'asking', decide: () => ({ decision: 'ask' }) });
      const expiry = order.expiresInMs === undefined ? {} : { expiresInMs: order.expiresInMs };
      provide(APPROVAL, { id: 'people', digest: 'people', mode: 'ask', ...expiry });
      return { stop: () => opened.close() };
    },
  });
  const { waitingGraceMs, nodeId, leaseTtlMs = 2_000, keepsSessions = true } = order;
  const runtime = await createRuntime({
    plugins: [stores],
    ...(nodeId === undefined ? {} : { env: { nodeId } }),
    leaseTtlMs,
    closeGraceMs: 100,
    waitingGraceMs,
    keepsSessions,
    logger: order.logger ?? { log: () => undefined },
  });
  // A process that lives long keeps no record of what its model was asked.
  const parts = { model: new ScriptedModel(askingOnce, { record: false }), tools: payingTools(order.folder) };
  const agent = runtime.agent({ id: 'clerk', ...(order.agent === false ? {} : parts) });
  await agent.ready();
  return { runtime, agent };
}
