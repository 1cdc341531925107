import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { createRuntime } from '@perdure/core';
import {
  ARTIFACT_STORE,
  definePlugin,
  EVENT_STORE,
  NODE_PRESENCE,
  PROJECTION_STORE,
  type EventStore,
} from '@perdure/plugin-api';
import { ScriptedModel } from '@perdure/testing';
import { openTestStores } from '../fixtures/test-stores.js';

export interface EraseOrder {
  readonly folder: string;
  /** The process is killed right before this append or truncation of the erasure, from 1. */
  readonly dieAt?: number;
}

/** A runtime on the database of a folder. `arm` begins to count what the store is told to change. */
export async function erasingNode({ folder, dieAt = Number.POSITIVE_INFINITY }: EraseOrder) {
  let left = Number.POSITIVE_INFINITY;
  const dying = (store: EventStore): EventStore =>
    new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...given: [stream: string, ...rest: unknown[]]): unknown => {
          const isChange = (name === 'append' || name === 'truncate') && !given[0].startsWith('lease-');
          if (isChange && --left === 0) {
            writeFileSync(join(folder, 'died'), '');
            process.kill(process.pid, 'SIGKILL');
          }
          return Reflect.apply(member, target, given);
        };
      },
    });
  const stores = definePlugin({
    name: 'stores',
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [EVENT_STORE, PROJECTION_STORE, ARTIFACT_STORE, NODE_PRESENCE],
    setup: async ({ provide }) => {
      const opened = await openTestStores(folder);
      provide(EVENT_STORE, dying(opened.events));
      provide(PROJECTION_STORE, opened.projections);
      provide(ARTIFACT_STORE, opened.artifacts);
      if (opened.presence !== undefined) provide(NODE_PRESENCE, opened.presence);
      return { stop: () => opened.close() };
    },
  });
  const runtime = await createRuntime({ plugins: [stores], logger: { log: () => undefined } });
  const model = new ScriptedModel({ rules: [{ answer: { text: 'the answer', deltas: 2 } }] });
  const agent = runtime.agent({ id: 'clerk', model });
  await agent.ready();
  const arm = (): void => {
    left = dieAt;
  };
  return { runtime, agent, arm };
}

if (process.argv[2] !== undefined && process.argv[1]?.includes('erasure.fixture') === true) {
  const { agent, arm } = await erasingNode(JSON.parse(process.argv[2]) as EraseOrder);
  const session = await agent.sessions.create({ sessionId: 's' });
  const attachments = [{ data: Buffer.from('a private file'), filename: 'own.txt' }];
  await session.send({ query: 'a private matter', attachments });
  const fork = await agent.sessions.fork('s', { sessionId: 'f' });
  await fork.send('more of it');
  arm();
  await agent.sessions.erase('s', { cascade: true });
  process.exit();
}
