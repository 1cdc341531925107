import { statSync } from 'node:fs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestRuntime, encodeFacts, type TestFact } from '@perdure/core/testing';
import { openSqliteStores } from '@perdure/store-sqlite';
import { ScriptedModel } from '@perdure/testing';
import { noUsage } from '@perdure/events';
import { allowing, storesWith } from '../fixtures/agents.js';

const MESSAGES = 10_000;
const FORKS = 100;
const stream = 'session-_.s';

/** The facts of a turn of one message. */
function turn(number: number): readonly TestFact[] {
  const [turnId, runId] = [`t-${number}`, `r-${number}`];
  const parts = [{ type: 'text', text: `message ${number} ${'x'.repeat(300)}` }];
  return [
    {
      type: 'PromptAccepted',
      payload: { promptId: `p-${number}`, turnId, messageId: `m-${number}`, mode: 'turn', parts },
    },
    { type: 'RunStarted', payload: { runId, turnId, deciderVersion: 1 } },
    { type: 'RunEnded', payload: { runId, turnId, status: 'completed', steps: 0, usage: noUsage } },
  ];
}

test('a fork costs one fact, whatever the length of what it goes on from', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-forks-'));
  const path = join(folder, 'perdure.db');
  const { events, projections, close } = await openSqliteStores({ path });
  const facts = encodeFacts('s', [
    { type: 'SessionCreated', payload: { agentId: 'clerk', labels: {} } },
    ...Array.from({ length: MESSAGES }, (_, number) => turn(number)).flat(),
  ]);
  for (let at = 0; at < facts.length; at += 240) {
    await events.append(stream, facts.slice(at, at + 240), { expected: at === 0 ? 'none' : at - 1 });
  }
  const model = new ScriptedModel({ rules: [{ answer: { text: 'well' } }] });
  const runtime = await createTestRuntime({ plugins: [storesWith(events, projections), allowing] });
  const agent = runtime.agent({ id: 'clerk', model, context: { window: 10_000_000 } });
  await agent.ready();
  const bytes = (): number => ['', '-wal'].reduce((sum, end) => sum + statSync(`${path}${end}`).size, 0);

  await agent.sessions.fork('s', { sessionId: 'f-0' });
  const before = bytes();
  const began = performance.now();
  for (let number = 1; number <= FORKS; number++) await agent.sessions.fork('s', { sessionId: `f-${number}` });
  const each = (performance.now() - began) / FORKS;
  expect((bytes() - before) / FORKS).toBeLessThan(100_000);

  // One that goes on has all of it, and leaves no copy of it behind.
  const fork = await agent.sessions.get(`f-${FORKS}`);
  expect((await fork.messages()).total).toBe(MESSAGES);
  expect((await fork.send('and now?')).text).toBe('well');
  expect(model.calls.at(-1)?.prompt.filter(({ role }) => role !== 'system')).toHaveLength(MESSAGES + 1);
  await fork.close();
  expect(await projections.rows(`state:_.f-${FORKS}`)).toEqual([]);
  if (process.env.PERDURE_SHOW_TIMES !== undefined) process.stdout.write(`a fork: ${each.toFixed(2)} ms\n`);
  await runtime.dispose();
  await close();
  rmSync(folder, { recursive: true });
});
