import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { createRuntime } from '@perdure/core';
import {
  definePlugin,
  EVENT_STORE,
  NODE_PRESENCE,
  PERMISSION,
  PROJECTION_STORE,
  type EventStore,
  type ToolContext,
} from '@perdure/plugin-api';
import { ScriptedModel, type Script } from '@perdure/testing';
import { toolsDelegate } from '@perdure/tools-delegate';
import { openTestStores } from '../fixtures/test-stores.js';

/** Three levels: the root hands on to `width` sessions, each of which hands on to one that works. */
export interface TreeOrder {
  readonly folder: string;
  readonly node: string;
  readonly width: number;
  /** How many pieces of work end at once, the others when there is a file `open`; half of the width when absent. */
  readonly quick?: number;
  /** The process gives itself a signal right before it makes its nth child session, which its parent has as started. */
  readonly halt?: { readonly signal: 'SIGKILL' | 'SIGSTOP'; readonly nth: number };
  /** It goes on with the root although another process that may live has it. */
  readonly takeOver?: true;
}

/** A runtime on the database of a folder. */
export async function treeNode({ folder, node, width, quick = width / 2, halt }: TreeOrder) {
  const plugin = definePlugin({
    name: 'stores',
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [EVENT_STORE, PROJECTION_STORE, NODE_PRESENCE, PERMISSION],
    setup: async ({ provide }) => {
      const opened = await openTestStores(folder);
      provide(EVENT_STORE, halt === undefined ? opened.events : halting(opened.events, halt, folder));
      provide(PROJECTION_STORE, opened.projections);
      if (opened.presence !== undefined) provide(NODE_PRESENCE, opened.presence);
      provide(PERMISSION, { id: 'all', digest: 'all', decide: () => ({ decision: 'allow' }) });
      return { stop: () => opened.close() };
    },
  });
  const script: Script = ({ lastUserText, toolResultsSince: { length } }) => {
    if (length > 0) return { text: `${lastUserText} is done`, deltas: 1 };
    const handOn = (prompts: readonly string[]) => {
      const tasks = prompts.map((prompt) => ({ agent: 'general', description: prompt, prompt }));
      return { calls: [{ name: 'task', input: { tasks } }] };
    };
    if (lastUserText === 'root') return handOn(Array.from({ length: width }, (_, index) => `mid-${index}`));
    if (lastUserText.startsWith('mid-')) return handOn([lastUserText.replace('mid', 'leaf')]);
    return { calls: [{ name: 'work', input: { key: lastUserText } }] };
  };
  const work = {
    inputSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
    effect: 'read' as const,
    execute: async ({ key }: { key: string }, { abortSignal }: ToolContext) => {
      appendFileSync(join(folder, 'log'), `begun ${key}\n`);
      const isQuick = Number(key.split('-')[1]) < quick;
      while (!isQuick && !existsSync(join(folder, 'open'))) {
        abortSignal.throwIfAborted();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      appendFileSync(join(folder, 'log'), `ended ${key}\n`);
      return `${key} worked`;
    },
  };
  const runtime = await createRuntime({
    plugins: [plugin, { plugin: toolsDelegate, config: { maxTotal: 10_000 } }],
    env: { nodeId: node },
    leaseTtlMs: 2_000,
    closeGraceMs: 100,
    logger: { log: () => undefined },
    keepsSessions: false,
  });
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel(script), tools: { work } });
  await agent.ready();
  return { runtime, agent };
}

/** The store of a process that comes to a halt between the two appends that make a child. */
function halting(store: EventStore, { signal, nth }: NonNullable<TreeOrder['halt']>, folder: string): EventStore {
  let made = 0;
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (name !== 'append') return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      return (...given: Parameters<EventStore['append']>) => {
        const [stream, [first]] = given;
        const isBirth = stream.startsWith('session-_.child_') && first?.type === 'SessionCreated';
        if (isBirth && ++made === nth) {
          writeFileSync(join(folder, 'halted'), '');
          process.kill(process.pid, signal);
        }
        return target.append(...given);
      };
    },
  });
}

if (process.argv[2] !== undefined && process.argv[1]?.includes('delegation-node.fixture') === true) {
  const order = JSON.parse(process.argv[2]) as TreeOrder;
  const { runtime, agent } = await treeNode(order);
  const session = agent.session('', { sessionId: 's' });
  const turn = await session.prompt({ query: 'root', promptId: 'p' });
  await session.resume(order.takeOver === true ? { takeOver: true } : {});
  const { status } = await turn.finished;
  process.stdout.write(`\n${status}\n`);
  await runtime.dispose();
}
