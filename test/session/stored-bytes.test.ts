import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { storeSqlite } from '@perdure/store-sqlite';
import { ScriptedModel } from '@perdure/testing';
import { allowing } from '../fixtures/agents.js';

const folder = mkdtempSync(join(tmpdir(), 'perdure-bytes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CALLS = 100;
const TOKENS = 200_000;
const LINES = 1_300;

/** Texts of which no line is like another. */
const texts = Array.from({ length: 16 }, (_, file) =>
  Array.from({ length: LINES }, (__, line) => `<${file}.${line}> ${file * line * 7919} is what this line says`).join(
    '\n',
  ),
);

function storedBytes(): Buffer {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Buffer.concat(files.map(({ parentPath, name }) => readFileSync(join(parentPath, name))));
}

test('100 model calls over 200,000 tokens store at most 1.3 times the distinct bytes of it [P11]', async () => {
  const model = new ScriptedModel(Array.from({ length: CALLS }, (_, index) => ({ text: `answer <a.${index}>` })));
  const runtime = await createTestRuntime({
    plugins: [{ plugin: storeSqlite, config: { path: join(folder, 'perdure.db') } }, allowing],
  });
  const session = await runtime.agent({ id: 'clerk', model }).sessions.create({ sessionId: 's' });
  await session.send({ query: 'read all of it', attachments: texts.map((text) => ({ data: Buffer.from(text) })) });
  for (let call = 1; call < CALLS; call++) await session.send(`question <q.${call}>`);
  expect(model.calls).toHaveLength(CALLS);
  for (const { prompt } of [model.calls[0], model.calls.at(-1)].filter((call) => call !== undefined)) {
    expect(JSON.stringify(prompt).length / 4).toBeGreaterThan(TOKENS);
  }
  // A state snapshot is written when the session is let go.
  await session.close();
  const { facts } = await runtime.services.store.read('session-_.s', { from: 0 });
  await runtime.dispose();
  const stored = storedBytes();
  const sumOf = (all: readonly string[]): number => all.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const distinct = sumOf(texts) + sumOf(facts.flatMap(({ payload, metadata }) => [payload, metadata]));
  expect(stored.length).toBeLessThanOrEqual(1.3 * distinct);
  // The facts of one more call do not grow with what it is over, which is 800 KB.
  expect((stored.length - sumOf(texts)) / CALLS).toBeLessThan(8_000);
  // Whatever models saw 100 times is there once; what is in a fact, in the state snapshot too. Pages cut some signs.
  const everything = stored.toString('latin1');
  const timesOf = (sign: string): number => everything.split(sign).length - 1;
  const ofFiles = texts.map((_, file) => timesOf(`<${file}.${40 + file * 7}>`));
  expect(Math.max(...ofFiles)).toBe(1);
  expect(ofFiles.filter((times) => times === 1).length).toBeGreaterThan(12);
  const ofAnswers = Array.from({ length: CALLS }, (_, call) => timesOf(`<a.${call}>`));
  expect(Math.max(...ofAnswers)).toBe(2);
});
