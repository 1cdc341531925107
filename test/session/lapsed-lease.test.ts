import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { EffectContract } from '@perdure/events';
import { isPerdureError, type EventStore } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { scriptByRound, ScriptedModel } from '@perdure/testing';
import { allowing, storesWith } from '../fixtures/agents.js';

/** No timer of a lease comes to its end in a test: time passes when the test says so. */
const TTL = 600_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const pass = (ms: number): void => void vi.advanceTimersByTime(ms);

/** Appends that wait at a place until they are let go: behind what is stored, or before it. */
class Gates {
  private readonly places = new Map<string, { arrive: () => void; open: Promise<void> }>();

  /** Whatever comes to the place from here on waits. */
  close(place: string): { readonly arrived: Promise<void>; readonly open: () => void } {
    let arrive: () => void = () => undefined;
    let open: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    const opened = new Promise<void>((resolve) => (open = resolve));
    this.places.set(place, { arrive, open: opened });
    return { arrived, open: () => (this.places.delete(place), open()) };
  }

  async pass(place: string): Promise<void> {
    const gate = this.places.get(place);
    gate?.arrive();
    await gate?.open;
  }
}

function gated(store: EventStore, gates: Gates): EventStore {
  return {
    name: store.name,
    capabilities: store.capabilities,
    limits: store.limits,
    append: async (stream, facts, options) => {
      for (const { type } of facts) await gates.pass(`before ${type}`);
      const result = await store.append(stream, facts, options);
      for (const { type } of facts) await gates.pass(`behind ${type}`);
      return result;
    },
    read: (stream, options) => store.read(stream, options),
    subscribe: (source, options) => store.subscribe(source, options),
    truncate: (stream, before) => store.truncate(stream, before),
    close: () => store.close(),
  };
}

interface Place {
  readonly store: EventStore;
  /** The nodes on which the tool had its effect, in order. */
  readonly effects: string[];
  readonly contract: EffectContract;
}

async function node({ store, effects, contract }: Place, nodeId: string, calls = 1) {
  const gates = new Gates();
  const runtime = await createTestRuntime({
    plugins: [storesWith(gated(store, gates)), allowing],
    env: { nodeId },
    leaseTtlMs: TTL,
  });
  const pay = {
    description: 'Pay.',
    inputSchema: { type: 'object' },
    effect: contract,
    execute: () => {
      effects.push(nodeId);
      return 'paid';
    },
  };
  const payments = { calls: Array.from({ length: calls }, () => ({ name: 'pay', input: {} })) };
  const model = new ScriptedModel(scriptByRound([payments, { text: 'done' }]));
  const agent = runtime.agent({ id: 'clerk', model, tools: { pay } });
  await agent.ready();
  return { runtime, agent, gates };
}

async function factsOf(store: EventStore) {
  const { facts } = await store.read('session-_.s');
  return facts.map(({ type, payload }) => ({ type, payload: JSON.parse(payload) as Record<string, unknown> }));
}

const owned = (error: unknown): boolean => isPerdureError(error, 'PERDURE_SESSION_OWNED');

/** Node `a` was stopped behind the stored start of its call, and its lease ran out while `b` watched it. */
async function givenALapsedOwner(contract: EffectContract) {
  const place: Place = { store: new MemoryEventStore(), effects: [], contract };
  const a = await node(place, 'a');
  const b = await node(place, 'b');
  const held = a.gates.close('behind ToolCallStarted');
  const turn = await (await a.agent.sessions.create({ sessionId: 's' })).prompt('pay');
  await held.arrived;
  const other = await b.agent.sessions.get('s');
  await expect(other.resume()).rejects.toSatisfy(owned);
  pass(TTL);
  const owners = async () =>
    (await factsOf(place.store))
      .filter(({ type }) => type === 'OwnershipTaken')
      .map(({ payload: { node: name, epoch, reason } }) => `${String(name)} ${String(epoch)} ${String(reason)}`);
  const settled = async () =>
    (await factsOf(place.store))
      .filter(({ type }) => type === 'ToolCallSettled')
      .map(({ payload }) => payload['status']);
  const dispose = async (): Promise<void> => {
    await b.runtime.dispose();
    await a.runtime.dispose();
  };
  return { ...place, a, b, other, turn, held, owners, settled, dispose };
}

describe('an owner whose lease ran out between the start of a call and its effect [P4] [P4/nodes]', () => {
  test('goes on when nobody has taken the session, and says so in it before the effect', async () => {
    const { turn, held, owners, settled, effects, dispose } = await givenALapsedOwner('once');
    held.open();
    expect((await turn.finished).status).toBe('completed');
    expect(await owners()).toEqual(['a 1 first', 'a 1 lease-renewed']);
    expect(effects).toEqual(['a']);
    expect(await settled()).toEqual(['completed']);
    await dispose();
  });

  test.each(['once', 'read', 'idempotent'] as const)('has no effect when another has it: %s', async (contract) => {
    const { turn, other, held, owners, settled, effects, dispose } = await givenALapsedOwner(contract);
    const taken = await other.resume();
    expect((await taken?.finished)?.status).toBe('completed');
    held.open();
    expect((await turn.finished).status).toBe('completed');
    expect(await owners()).toEqual(['a 1 first', 'b 2 owner-dead']);
    expect(effects).toEqual(contract === 'once' ? [] : ['b']);
    expect(await settled()).toEqual([contract === 'once' ? 'unknown' : 'completed']);
    await dispose();
  });

  test('keeps the session from one who counted it as dead before it renewed its lease', async () => {
    const { b, turn, other, held, owners, effects, dispose } = await givenALapsedOwner('once');
    const taking = b.gates.close('before OwnershipTaken');
    const resumed = other.resume();
    await taking.arrived;
    held.open();
    expect((await turn.finished).status).toBe('completed');
    taking.open();
    // The work is done; whoever comes too late has nothing to take.
    await resumed.catch((error: unknown) => expect(error).toSatisfy(owned));
    expect(await owners()).toEqual(['a 1 first', 'a 1 lease-renewed']);
    expect(effects).toEqual(['a']);
    await dispose();
  });

  test('loses the session to one who takes it between the renewal and the effect', async () => {
    const { a, b, turn, other, held, owners, settled, effects, dispose } = await givenALapsedOwner('once');
    const taking = b.gates.close('before OwnershipTaken');
    const resumed = other.resume();
    await taking.arrived;
    const confirming = a.gates.close('before OwnershipTaken');
    held.open();
    await confirming.arrived;
    taking.open();
    expect((await (await resumed)?.finished)?.status).toBe('completed');
    confirming.open();
    expect((await turn.finished).status).toBe('completed');
    expect(await owners()).toEqual(['a 1 first', 'b 2 owner-dead']);
    expect(effects).toEqual([]);
    expect(await settled()).toEqual(['unknown']);
    await dispose();
  });

  test('says so once for all calls of an answer, and keeps what was asked of it', async () => {
    const place: Place = { store: new MemoryEventStore(), effects: [], contract: 'read' };
    const a = await node(place, 'a', 3);
    const held = a.gates.close('behind ToolCallStarted');
    const turn = await (await a.agent.sessions.create({ sessionId: 's' })).prompt('pay');
    await held.arrived;
    pass(TTL);
    const drained = a.runtime.drain({ graceMs: 60_000, reason: 'it is old' });
    held.open();
    await drained;
    expect((await turn.finished).status).toBe('suspended');
    expect(place.effects).toEqual(['a', 'a', 'a']);
    const types = (await factsOf(place.store)).map(({ type }) => type);
    expect(types.filter((type) => type === 'OwnershipTaken')).toHaveLength(2);
    expect(types.lastIndexOf('OwnershipTaken')).toBeGreaterThan(types.indexOf('PassivationRequested'));
    expect(types.at(-1)).toBe('RunEnded');
    await a.runtime.dispose();
  });
});
