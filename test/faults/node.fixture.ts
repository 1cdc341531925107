import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { createRuntime } from '@perdure/core';
import {
  EVENT_STORE,
  definePlugin,
  PERMISSION,
  ARTIFACT_STORE,
  NODE_PRESENCE,
  PROJECTION_STORE,
} from '@perdure/plugin-api';
import type { EventStore, Session, Tools } from '@perdure/plugin-api';
import { ScriptedModel } from '@perdure/testing';
import { whenDead } from '../fixtures/killed-owner.js';
import { openTestStores } from '../fixtures/test-stores.js';

/** How a node of these tests is set up: as JSON in the first argument of its process. */
export interface NodeOrder {
  readonly folder: string;
  readonly nodeId: string;
  readonly leaseTtlMs: number;
  /** Stop the process (SIGSTOP) right after the start of a call was stored, before its effect. */
  readonly freezeAfterStart?: boolean;
}

/** Two rounds with one call each, then an answer that tells how many prompts the model was shown. */
export const nodeModel = () =>
  new ScriptedModel((request) => {
    const users = request.messages.filter(({ role }) => role === 'user').length;
    if (request.toolResultsSince.length === 0 && request.lastUserText.includes('wait')) {
      return { calls: [{ name: 'wait', input: {} }] };
    }
    return { text: `answered ${users}` };
  });

/** A tool that waits for the file `go`; its starts are lines of `starts`. */
export function nodeTools(folder: string, nodeId: string): Tools {
  return {
    wait: {
      inputSchema: z.object({}),
      execute: async () => {
        appendFileSync(join(folder, 'starts'), `${nodeId}\n`);
        while (!existsSync(join(folder, 'go'))) await new Promise((resolve) => setTimeout(resolve, 5));
        return 'went';
      },
    },
  };
}

export async function startNode(order: NodeOrder) {
  const stores = definePlugin({
    name: 'stores',
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [EVENT_STORE, ARTIFACT_STORE, PROJECTION_STORE, NODE_PRESENCE, PERMISSION],
    setup: async ({ provide }) => {
      const opened = await openTestStores(order.folder);
      provide(EVENT_STORE, order.freezeAfterStart === true ? freezing(opened.events) : opened.events);
      provide(ARTIFACT_STORE, opened.artifacts);
      provide(PROJECTION_STORE, opened.projections);
      if (opened.presence !== undefined) provide(NODE_PRESENCE, opened.presence);
      provide(PERMISSION, { id: 'all', digest: 'all', decide: () => ({ decision: 'allow' }) });
      return { stop: () => opened.close() };
    },
  });
  const { leaseTtlMs, nodeId } = order;
  const logger = { log: () => undefined };
  const runtime = await createRuntime({ plugins: [stores], env: { nodeId }, leaseTtlMs, closeGraceMs: 100, logger });
  const agent = runtime.agent({ id: 'clerk', model: nodeModel(), tools: nodeTools(order.folder, nodeId) });
  await agent.ready();
  return { runtime, agent };
}

function freezing(events: EventStore): EventStore {
  let frozen = false;
  return {
    name: events.name,
    capabilities: events.capabilities,
    limits: events.limits,
    append: async (stream, facts, options) => {
      const result = await events.append(stream, facts, options);
      if (!frozen && facts.some(({ type }) => type === 'ToolCallStarted')) {
        frozen = true;
        process.kill(process.pid, 'SIGSTOP');
      }
      return result;
    },
    read: (stream, options) => events.read(stream, options),
    subscribe: (source, options) => events.subscribe(source, options),
    truncate: (stream, before) => events.truncate(stream, before),
    close: () => events.close(),
  };
}

/** What a parent asks of a node in a process of its own. */
export type NodeRequest =
  | {
      readonly id: number;
      readonly do: 'prompt';
      readonly queries: readonly string[];
      readonly whenBusy: 'steer' | 'queue';
      readonly wait: boolean;
    }
  | {
      readonly id: number;
      readonly do: 'resume';
      readonly runId: string;
      readonly times: number;
      readonly dead: string;
    }
  | { readonly id: number; readonly do: 'stop' }
  | { readonly id: number; readonly do: 'dispose' };

if (process.send !== undefined && process.argv[2] !== undefined) {
  const { runtime, agent } = await startNode(JSON.parse(process.argv[2]) as NodeOrder);
  const session = agent.session('', { sessionId: 's' });
  process.on('message', (request: NodeRequest) => {
    perform(request, session).then(
      (result) => process.send?.({ id: request.id, result }),
      (error: { code?: string; message: string }) =>
        process.send?.({ id: request.id, error: error.code ?? error.message }),
    );
  });
  process.send({ ready: true });

  async function perform(request: NodeRequest, used: Session): Promise<unknown> {
    switch (request.do) {
      case 'prompt': {
        const turns = [];
        for (const query of request.queries) turns.push(await used.prompt({ query, whenBusy: request.whenBusy }));
        if (!request.wait) return turns.map(({ id }) => id);
        return Promise.all(turns.map(({ finished }) => finished));
      }
      case 'resume':
        return Promise.all(
          Array.from({ length: request.times }, () => whenDead(request.dead, () => used.resumeRun(request.runId))),
        );
      case 'stop':
        return used.stop();
      case 'dispose':
        return runtime.dispose();
    }
  }
}
