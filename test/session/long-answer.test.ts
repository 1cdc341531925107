import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { EventEnvelopeV1 } from '@perdure/events';
import type { Session } from '@perdure/plugin-api';
import { storeSqlite } from '@perdure/store-sqlite';
import { ScriptedModel } from '@perdure/testing';
import { allowing } from '../fixtures/agents.js';

const folder = mkdtempSync(join(tmpdir(), 'perdure-long-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const COUNT = 100_000;
const deltas = Array.from({ length: COUNT }, (_, i) => String(i % 10_000).padStart(4, '0'));
const text = deltas.join('');

async function read(session: Session): Promise<string[]> {
  const pieces: string[] = [];
  for await (const event of session.events()) {
    if (event.type === 'text_delta') pieces.push(String(event.payload['text']));
    if (event.type === 'agent_end') return pieces;
  }
  return pieces;
}

const bytesWritten = (): number => Number(/wchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

test(
  'an answer of a hundred thousand deltas reaches its readers whole and costs bytes in proportion [P7] [P13]',
  { timeout: 120_000 },
  async () => {
    const path = join(folder, 'perdure.db');
    const runtime = await createTestRuntime({ plugins: [{ plugin: storeSqlite, config: { path } }, allowing] });
    const model = new ScriptedModel(
      [
        { text, deltas },
        { text, deltas },
      ],
      { record: false },
    );
    const agent = runtime.agent({ id: 'clerk', model });
    const session = await agent.sessions.create({ sessionId: 's' });
    const before = bytesWritten();
    const turn = await session.prompt('tell me everything');
    const early = read(session);
    const leaving = leaveAfter(session, 1_000);
    const late = leaveAfter(session, 50_000).then(() => read(session));
    expect((await turn.finished).text).toBe(text);
    const written = bytesWritten() - before;
    expect(await leaving).toBe(1_000);
    // A reader that keeps up is given every delta as it came.
    expect(await early).toEqual(deltas);
    expect((await late).join('')).toBe(text);
    expect((await read(session)).join('')).toBe(text);
    expect(written).toBeLessThan(4 * text.length);
    await runtime.dispose();
  },
);

/** Reads some deltas and goes away without a word. */
async function leaveAfter(session: Session, count: number): Promise<number> {
  const seen: EventEnvelopeV1[] = [];
  for await (const event of session.events()) {
    if (event.type === 'text_delta') seen.push(event);
    if (seen.length === count) break;
  }
  return seen.length;
}
