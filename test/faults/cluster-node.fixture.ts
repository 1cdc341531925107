import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { createRuntime } from '@perdure/core';
import type { EffectContract } from '@perdure/events';
import {
  ARTIFACT_STORE,
  definePlugin,
  EVENT_STORE,
  PERMISSION,
  PROJECTION_STORE,
  type EventStore,
  type Placement,
  type Tools,
} from '@perdure/plugin-api';
import { ScriptedModel } from '@perdure/testing';
import { openTestStores, type TestStoreName } from '../fixtures/test-stores.js';

/** How a node of these tests is set up: as JSON in the first argument of its process. */
export interface ClusterNodeOrder {
  readonly folder: string;
  readonly store: { readonly name: TestStoreName; readonly url: string };
  readonly nodeId: string;
  readonly leaseTtlMs: number;
  /** Sessions whose first call is held behind its stored start, before its effect. */
  readonly between?: readonly string[];
  /** Sessions whose first call is held behind its effect, before its result. */
  readonly inside?: readonly string[];
  /** Stop the process (SIGSTOP) when all of these calls are held; they go on when it is continued. */
  readonly stopsItself?: boolean;
}

export const CONTRACTS: readonly EffectContract[] = ['once', 'idempotent', 'reconcile', 'read'];

/** What a tool did, and where: one line of the file of effects. */
export interface Effect {
  readonly contract: EffectContract;
  readonly session: string;
  readonly prompt: string;
  readonly node: string;
}

export function effectsIn(folder: string): readonly Effect[] {
  const file = join(folder, 'effects');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Effect);
}

/** `<contract> <session> <prompt>`: one call by that contract, then an answer. */
const model = () =>
  new ScriptedModel(({ lastUserText, toolResultsSince }) => {
    const [contract = '', session = '', prompt = ''] = lastUserText.split(' ');
    if (toolResultsSince.length > 0) return { text: `answered ${lastUserText}` };
    return { calls: [{ name: contract, input: { session, prompt } }] };
  });

/** Calls that wait, each at its place, until all of them are there and somebody lets them go. */
class Hold {
  private readonly places = new Map<string, () => void>();
  private readonly thawed: Promise<void>;
  private thaw: () => void = () => undefined;
  readonly complete: Promise<void>;

  constructor({ between = [], inside = [] }: ClusterNodeOrder) {
    this.thawed = new Promise((resolve) => (this.thaw = resolve));
    const arrivals = [...between.map((id) => `between ${id}`), ...inside.map((id) => `inside ${id}`)].map(
      (place) => new Promise<void>((resolve) => this.places.set(place, resolve)),
    );
    this.complete = Promise.all(arrivals).then(() => undefined);
  }

  /** Waits at a place where something is held, once; elsewhere not at all. */
  async pass(place: string): Promise<void> {
    const arrive = this.places.get(place);
    if (arrive === undefined) return;
    this.places.delete(place);
    arrive();
    await this.thawed;
  }

  release(): void {
    this.thaw();
  }
}

function clusterTools({ folder, nodeId }: ClusterNodeOrder, hold: Hold): Tools {
  const inputSchema = z.object({ session: z.string(), prompt: z.string() });
  type Input = z.infer<typeof inputSchema>;
  const tool = (effect: EffectContract) => ({
    inputSchema,
    effect,
    execute: async ({ session, prompt }: Input) => {
      const done: Effect = { contract: effect, session, prompt, node: nodeId };
      appendFileSync(join(folder, 'effects'), `${JSON.stringify(done)}\n`);
      if (prompt === '1') await hold.pass(`inside ${session}`);
      return `done on ${nodeId}`;
    },
  });
  const reconcile = ({ session, prompt }: Input) => {
    const done = effectsIn(folder).find((effect) => effect.session === session && effect.prompt === prompt);
    return Promise.resolve(
      done === undefined
        ? ({ status: 'voided' } as const)
        : ({ status: 'happened', output: `done on ${done.node}` } as const),
    );
  };
  return Object.fromEntries(
    CONTRACTS.map((effect) => [effect, { ...tool(effect), ...(effect === 'reconcile' ? { reconcile } : {}) }]),
  );
}

/** Holds what comes behind the start of a call. */
function holding(events: EventStore, hold: Hold): EventStore {
  return {
    name: events.name,
    capabilities: events.capabilities,
    limits: events.limits,
    append: async (stream, facts, options) => {
      const result = await events.append(stream, facts, options);
      if (facts.some(({ type }) => type === 'ToolCallStarted')) {
        await hold.pass(`between ${stream.slice(stream.lastIndexOf('.') + 1)}`);
      }
      return result;
    },
    read: (stream, options) => events.read(stream, options),
    subscribe: (source, options) => events.subscribe(source, options),
    truncate: (stream, before) => events.truncate(stream, before),
    close: () => events.close(),
  };
}

export async function startClusterNode(order: ClusterNodeOrder, placement: Placement = {}) {
  const hold = new Hold(order);
  let offset = 0;
  const stores = definePlugin({
    name: 'stores',
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [EVENT_STORE, ARTIFACT_STORE, PROJECTION_STORE, PERMISSION],
    setup: async ({ provide }) => {
      const opened = await openTestStores(order.folder, order.store.name, order.store.url);
      provide(EVENT_STORE, holding(opened.events, hold));
      provide(ARTIFACT_STORE, opened.artifacts);
      provide(PROJECTION_STORE, opened.projections);
      provide(PERMISSION, { id: 'all', digest: 'all', decide: () => ({ decision: 'allow' }) });
      return { stop: () => opened.close() };
    },
  });
  const runtime = await createRuntime({
    plugins: [stores],
    env: { nodeId: order.nodeId, clock: { now: () => Date.now() + offset } },
    leaseTtlMs: order.leaseTtlMs,
    closeGraceMs: 200,
    keepsSessions: true,
    placement,
    logger: { log: () => undefined },
  });
  await runtime.join();
  const agent = runtime.agent({ id: 'clerk', model: model(), tools: clusterTools(order, hold) });
  await agent.ready();
  /** Sets the wall clock of the node, by so many milliseconds. */
  const jump = (ms: number): void => void (offset += ms);
  return { runtime, agent, hold, jump };
}

/** What a parent asks of a node in a process of its own. */
export type ClusterNodeRequest =
  | { readonly id: number; readonly do: 'start' }
  /** Takes these prompts; answers when the calls that are to be held are where they are held. */
  | {
      readonly id: number;
      readonly do: 'work';
      readonly prompts: readonly { readonly session: string; readonly query: string }[];
    }
  | { readonly id: number; readonly do: 'release' }
  | { readonly id: number; readonly do: 'jump'; readonly ms: number }
  | { readonly id: number; readonly do: 'dispose' };

if (process.send !== undefined && process.argv[2] !== undefined) {
  const order = JSON.parse(process.argv[2]) as ClusterNodeOrder;
  // What these tests prepare for nodes that start later, those that run do not take.
  const onRunnable = ({ sessionId }: { readonly sessionId: string }) =>
    sessionId.startsWith('prepared') && order.between !== undefined ? 'leave' : 'take';
  let node: Awaited<ReturnType<typeof startClusterNode>> | undefined;
  process.on('message', (request: ClusterNodeRequest) => {
    perform(request).then(
      () => {
        process.send?.({ id: request.id });
        if (request.do === 'dispose') process.disconnect();
      },
      (error: Error) => process.send?.({ id: request.id, error: error.stack }),
    );
  });
  process.send({ ready: true });

  async function perform(request: ClusterNodeRequest): Promise<void> {
    if (request.do === 'start') {
      node = await startClusterNode(order, { onRunnable });
      return;
    }
    if (node === undefined) throw new Error('The node was not started.');
    const { runtime, agent, hold, jump } = node;
    if (request.do === 'release') return hold.release();
    if (request.do === 'jump') return jump(request.ms);
    if (request.do === 'dispose') return runtime.dispose();
    for (const { session, query } of request.prompts) {
      await (await agent.sessions.create({ sessionId: session })).prompt(query);
    }
    await hold.complete;
    if (order.stopsItself !== true) return;
    process.kill(process.pid, 'SIGSTOP');
    // The signal may reach another thread of the process first.
    setTimeout(() => hold.release(), 100);
  }
}
