import { once } from 'node:events';
import { noCalls, type Tool, type ToolContext } from '@perdure/plugin-api';
import { describe, expect, test } from 'vitest';
import { recordKillPoints } from './kill-plan.js';
import { killingTools } from './killing-tools.js';

const context: ToolContext = {
  toolCallId: 'c1',
  abortSignal: new AbortController().signal,
  idempotencyKey: 'k1',
  sessionId: 's1',
  calls: noCalls,
};

class Counter implements Tool {
  readonly inputSchema = { type: 'object' };
  readonly effect = 'idempotent';
  readonly #name = 'counter';
  execute(input: { readonly by: number }): string {
    return `${this.#name} ${input.by}`;
  }
  permissionSubjects(): readonly string[] {
    return [this.#name];
  }
}

function wrap(tool: Tool) {
  const recorder = recordKillPoints();
  const wrapped = killingTools({ count: tool }, recorder)['count'];
  if (wrapped === undefined) throw new Error('The tool is lost.');
  return { wrapped, points: () => recorder.passed.map(({ point, match }) => `${point} ${match}`) };
}

async function* inPieces() {
  yield 'a';
  yield 'b';
}

const bothPoints = ['tool:before count', 'tool:after count'];

describe('killing tools', () => {
  test('pass on what a tool is, also one that is an instance of a class', () => {
    const { wrapped, points } = wrap(new Counter());
    expect(wrapped.execute?.({ by: 2 } as never, context)).toBe('counter 2');
    expect(wrapped.permissionSubjects?.({} as never)).toEqual(['counter']);
    expect([wrapped.inputSchema, wrapped.effect, 'reconcile' in wrapped]).toEqual([
      { type: 'object' },
      'idempotent',
      false,
    ]);
    expect(points()).toEqual(bothPoints);
  });

  test('come behind the effect of a promise, and not behind a failure', async () => {
    const finish = new AbortController();
    const slow = wrap({ inputSchema: {}, execute: () => once(finish.signal, 'abort').then(() => 3) });
    const output = slow.wrapped.execute?.({} as never, context);
    expect(slow.points()).toEqual(['tool:before count']);
    finish.abort();
    expect(await output).toBe(3);
    expect(slow.points()).toEqual(bothPoints);
    const failing = wrap({ inputSchema: {}, execute: () => Promise.reject(new Error('no')) });
    await expect(failing.wrapped.execute?.({} as never, context)).rejects.toThrow('no');
    expect(failing.points()).toEqual(['tool:before count']);
  });

  test('come behind the last piece of an output that comes in pieces', async () => {
    const { wrapped, points } = wrap({ inputSchema: {}, execute: inPieces });
    const pieces: unknown[] = [];
    const output = wrapped.execute?.({} as never, context) as AsyncIterable<unknown>;
    for await (const piece of output) {
      expect(points()).toEqual(['tool:before count']);
      pieces.push(piece);
    }
    expect([pieces, points()]).toEqual([['a', 'b'], bothPoints]);
  });
});
