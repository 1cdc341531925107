import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startModelServer, type ModelServer, type ScriptRules } from '@perdure/testing';
import { hasSandbox } from '../fixtures/sandbox.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { CliPlace, jsonLines } from './cli-process.js';
import { alive, descendantsOf } from './process-tree.js';

const command = 'setsid sleep 600.25 & touch begun; echo said; sleep 600.5';
const script: ScriptRules = {
  rules: [
    {
      when: { userTextContains: 'slow' },
      answer: { text: 'one two three', deltas: ['one ', 'two ', 'three'], stallAfter: 2 },
    },
    {
      when: { userTextContains: 'sleep', toolResults: 0 },
      answer: { calls: [{ name: 'shell_exec', input: { command } }] },
    },
    { answer: { text: 'Hello.' } },
  ],
};

let server: ModelServer;
let place: CliPlace;
beforeAll(async () => {
  place = (await CliPlace.builder())();
  server = await startModelServer({ script });
  place.write('workspace/perdure.config.json', JSON.stringify({ baseUrl: server.url, modelId: 'small-1' }));
}, 60_000);
afterAll(async () => {
  await server.close();
  place.remove();
});

interface ToldFact {
  readonly type: string;
  readonly time: number;
  readonly payload: Readonly<Record<string, unknown>>;
}

async function factsOf(session: string): Promise<readonly ToldFact[]> {
  const { out } = await place.run(['sessions', 'export', session, '--facts']);
  return jsonLines(out)
    .slice(1)
    .map((line) => {
      const { type, metadata, payload } = line as { type: string; metadata: string; payload: string };
      const { time } = JSON.parse(metadata) as { time: number };
      return { type, time, payload: JSON.parse(payload) as ToldFact['payload'] };
    });
}

/** Milliseconds from the stop to the end of the run, by the times of the facts. */
function timeToEnd(facts: readonly ToldFact[]): number {
  const timeOf = (type: string): number => facts.findLast((fact) => fact.type === type)?.time ?? Number.NaN;
  return timeOf('RunEnded') - timeOf('StopRequested');
}

describe('perdure stop, from another process', () => {
  test('breaks a model call off within a second; what it said is kept and marked', { timeout: 60_000 }, async () => {
    const run = place.start(['run', 'the slow one', '--session', 'm']);
    await run.until('two');
    expect(await place.run(['stop', 'm', '--reason', 'enough'])).toMatchObject({ code: 0 });
    const ended = await run.ended;
    expect(ended.code).toBe(1);
    expect(ended.error).toContain('the answer broke off');
    const facts = await factsOf('m');
    expect(timeToEnd(facts)).toBeLessThan(1_000);
    expect(facts.find(({ type }) => type === 'StopRequested')?.payload).toMatchObject({ reason: 'enough' });
    expect(facts.find(({ type }) => type === 'AnswerInterrupted')?.payload).toMatchObject({
      reason: 'stopped',
      parts: [{ type: 'text', text: 'one two ' }],
    });
    expect(facts.findLast(({ type }) => type === 'RunEnded')?.payload).toMatchObject({ status: 'cancelled' });
    const shown = await place.run(['sessions', 'show', 'm']);
    expect(shown.out).toContain('one two');
  });

  test.skipIf(!hasSandbox)(
    'ends a command and all that it started within a second, and keeps what it said',
    { timeout: 60_000 },
    async () => {
      const run = place.start(['run', 'sleep', '--session', 'c', '--allow', 'shell_exec']);
      while (!existsSync(join(place.workspace, 'begun'))) await new Promise((resolve) => setTimeout(resolve, 20));
      const sleepers = () =>
        descendantsOf(run.child.pid ?? 0).filter(({ command }) => command.startsWith('sleep 600.'));
      await waitUntil(() => sleepers().length === 2);
      const started = descendantsOf(run.child.pid ?? 0);
      const sleeping = sleepers();
      expect(sleeping.map((each) => each.command).sort()).toEqual(['sleep 600.25', 'sleep 600.5']);
      expect(await place.run(['stop', 'c'])).toMatchObject({ code: 0 });
      expect((await run.ended).code).toBe(1);
      expect(alive(started)).toEqual([]);
      const facts = await factsOf('c');
      expect(timeToEnd(facts)).toBeLessThan(1_000);
      const settled = facts.find(({ type }) => type === 'ToolCallSettled');
      expect(settled?.payload).toMatchObject({ output: { exit: { reason: 'stopped' }, stdout: 'said\n' } });
    },
  );

  test('that comes when the turn has ended touches nothing, nor the next turn', { timeout: 60_000 }, async () => {
    expect(await place.run(['run', 'hi', '--session', 'e'])).toMatchObject({ code: 0, out: 'Hello.\n' });
    const before = await factsOf('e');
    const late = await place.run(['stop', 'e']);
    expect(late.code).toBe(0);
    expect(late.error).toContain('no turn runs');
    expect(await factsOf('e')).toEqual(before);
    expect(await place.run(['run', 'hi again', '--session', 'e'])).toMatchObject({ code: 0, out: 'Hello.\n' });
  });
});
