import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseAnchor, takeAnchor, verifySession } from '@perdure/core';
import { createTestRuntime } from '@perdure/core/testing';
import { sealMetadata, type RecordedFact } from '@perdure/events';
import { isPerdureError } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { scriptByRound, ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

const key = { id: 's' };
const stream = 'session-_.s';
const sha256 = (text: string): string => hash('sha256', text, 'hex');

async function recorded(): Promise<readonly RecordedFact[]> {
  const store = new MemoryEventStore();
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
  const script = scriptByRound([{ calls: [{ name: 'lookup', input: { key: 'a' } }] }, { text: 'done' }]);
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel(script), tools: { lookup: lookupTool() } });
  await (await agent.sessions.create({ sessionId: 's' })).send('go');
  await runtime.dispose();
  return (await store.read(stream)).facts;
}

async function storeOf(facts: readonly RecordedFact[]): Promise<MemoryEventStore> {
  const store = new MemoryEventStore();
  for (const [index, { id, type, payload, metadata }] of facts.entries()) {
    await store.append(stream, [{ id, type, payload, metadata }], { expected: index === 0 ? 'none' : index - 1 });
  }
  return store;
}

/** The same facts with every hash made anew. */
function rebuilt(facts: readonly RecordedFact[], change: (fact: RecordedFact) => RecordedFact): RecordedFact[] {
  let prevHash = '0'.repeat(64);
  return facts.map((fact) => {
    const changed = change(fact);
    const head = changed.metadata.slice(0, changed.metadata.indexOf(',"prevHash"'));
    const sealed = sealMetadata({ ...changed, head }, prevHash, sha256);
    prevHash = sealed.hash;
    return { ...changed, metadata: sealed.metadata };
  });
}

const broken = (revision: number) => (error: unknown) =>
  isPerdureError(error, 'PERDURE_CHAIN_BROKEN') && error.data['revision'] === revision;

describe('the chain of a session [P14]', () => {
  test('is found whole, and every change of one fact is found at its revision', async () => {
    const facts = await recorded();
    expect(await verifySession(await storeOf(facts), key)).toMatchObject({
      facts: facts.length,
      revision: facts.length - 1,
    });
    for (const [index, fact] of facts.entries()) {
      const edits: RecordedFact[] = [
        { ...fact, payload: `${fact.payload} ` },
        { ...fact, type: 'Other' },
        { ...fact, id: '00000000-0000-4000-8000-000000000000' },
        { ...fact, metadata: fact.metadata.replace('"epoch":', '"epoch": ') },
        { ...fact, metadata: fact.metadata.replace(/"hash":"./, '"hash":"z') },
      ];
      for (const edit of edits) {
        const store = await storeOf(facts.with(index, edit));
        await expect(verifySession(store, key)).rejects.toSatisfy(broken(index));
      }
    }
  });

  test('tells a fact that was dropped, doubled or moved', async () => {
    const facts = await recorded();
    const at = 4;
    await expect(verifySession(await storeOf(facts.toSpliced(at, 1)), key)).rejects.toSatisfy(broken(at));
    await expect(
      verifySession(await storeOf(facts.toSpliced(at, 0, facts[at] as RecordedFact)), key),
    ).rejects.toSatisfy(broken(at + 1));
    const swapped = facts.with(at, facts[at + 1] as RecordedFact).with(at + 1, facts[at] as RecordedFact);
    await expect(verifySession(await storeOf(swapped), key)).rejects.toSatisfy(broken(at));
  });

  test('leads to an anchor that was taken, and not when its tail was cut or all of it made anew', async () => {
    const facts = await recorded();
    const anchor = await takeAnchor(await storeOf(facts), key);
    expect(parseAnchor(JSON.stringify(anchor))).toEqual(anchor);
    expect(await verifySession(await storeOf(facts), key, anchor)).toMatchObject({ revision: anchor.revision });
    const mismatch = (error: unknown) => isPerdureError(error, 'PERDURE_ANCHOR_MISMATCH');
    for (const cut of [1, 3, facts.length]) {
      const store = await storeOf(facts.slice(0, -cut));
      expect((await verifySession(store, key)).facts).toBe(facts.length - cut);
      await expect(verifySession(store, key, anchor)).rejects.toSatisfy(mismatch);
    }
    const other = rebuilt(facts, (fact) => ({ ...fact, payload: fact.payload.replace('value of a', 'value of b') }));
    expect((await verifySession(await storeOf(other), key)).facts).toBe(facts.length);
    await expect(verifySession(await storeOf(other), key, anchor)).rejects.toSatisfy(mismatch);
  });

  test('is checked whenever a session is read: a changed fact stops the session, and nothing is appended', async () => {
    const facts = await recorded();
    const at = facts.findIndex(({ type }) => type === 'ModelAnswered');
    const fact = facts[at] as RecordedFact;
    const store = await storeOf(facts.with(at, { ...fact, payload: fact.payload.replace('lookup', 'lockup') }));
    const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
    const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel([]), tools: { lookup: lookupTool() } });
    await expect(agent.sessions.get('s')).rejects.toSatisfy(broken(at));
    await runtime.dispose();
    expect((await store.read(stream)).head).toBe(facts.length - 1);
  });

  test.each(['', 'no json', '{}', '{"version":1,"stream":"s","revision":-1,"hash":"x"}'])(
    'refuses %j as an anchor',
    (text) => {
      expect(() => parseAnchor(text)).toThrow(expect.objectContaining({ code: 'PERDURE_INPUT_INVALID' }));
    },
  );
});
