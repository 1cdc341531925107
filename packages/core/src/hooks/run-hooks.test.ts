import type { Hook, HookOccurrence, HookResult } from '@perdure/plugin-api';
import { describe, expect, test } from 'vitest';
import { matches } from './hook-matcher.js';
import { askHooks, inOrder, tellHooks } from './run-hooks.js';

const signal = new AbortController().signal;
const occurrence = { event_type: 'pre_tool_use', payload: {} } as HookOccurrence<'pre_tool_use'>;
const answering = (id: string, result: HookResult | null, priority?: number): Hook => ({
  id,
  event: 'pre_tool_use',
  ...(priority === undefined ? {} : { config: { priority } }),
  handler: () => result,
});

describe('hooks of a gating point', () => {
  test('run by priority and then by registration', () => {
    const hooks = [answering('c', null), answering('a', null, 1), answering('d', null), answering('b', null, 50)];
    expect(inOrder(hooks).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
  });

  test.each<[string, readonly (HookResult | null)[], unknown]>([
    ['nothing is continue', [null, {}], { action: 'continue', modified: undefined }],
    ['the last modification counts', [{ modified: 1 }, { modified: 2 }, {}], { action: 'continue', modified: 2 }],
    ['block ends the list', [{ action: 'block', reason: 'no' }, { modified: 2 }], { action: 'block', reason: 'no' }],
    ['retry carries a delay', [{ action: 'retry', delayMs: 5 }], { action: 'retry', delayMs: 5 }],
    ['a retry has defaults', [{ action: 'retry' }], { action: 'retry', delayMs: 1_000 }],
    [
      'skip drops what was modified',
      [{ modified: 1 }, { action: 'skip' }, { action: 'block' }],
      { modified: undefined },
    ],
    ['nonsense blocks', [{ action: 'perhaps' } as never], { action: 'block', hasFailed: true }],
    ['a wrong reason blocks', [{ reason: 5 } as never], { action: 'block', hasFailed: true }],
    ['a text blocks', ['continue' as never], { action: 'block', hasFailed: true }],
  ])('%s', async (_, results, expected) => {
    const hooks = results.map((result, index) => answering(String(index), result));
    expect(await askHooks(hooks, occurrence, signal)).toMatchObject(expected as object);
  });

  test('one that throws, rejects or hangs blocks, and is tried again as often as it may be', async () => {
    let tries = 0;
    const handlers: Hook['handler'][] = [
      () => {
        throw new Error('broken');
      },
      () => Promise.reject(new Error('broken')),
      () => new Promise(() => undefined),
    ];
    for (const handler of handlers) {
      const counted: Hook = {
        id: 'h',
        event: 'pre_tool_use',
        config: { timeoutMs: 20, maxRetries: 2 },
        handler: (given, inner) => {
          tries += 1;
          return handler?.(given, inner);
        },
      };
      expect(await askHooks([counted], occurrence, signal)).toMatchObject({ action: 'block', hasFailed: true });
    }
    expect(tries).toBe(9);
    const second: Hook = {
      id: 's',
      event: 'pre_tool_use',
      config: { maxRetries: 1 },
      handler: () => {
        tries += 1;
        if (tries === 10) throw new Error('once');
        return { modified: 'fine' };
      },
    };
    expect(await askHooks([second], occurrence, signal)).toEqual({ action: 'continue', modified: 'fine' });
  });

  test('one without a handler changes nothing', async () => {
    const silent: Hook = { id: 's', event: 'pre_tool_use' };
    expect(await askHooks([silent], occurrence, signal)).toEqual({ action: 'continue', modified: undefined });
  });
});

test('observing hooks that fail are reported; one that nobody waits for holds up nobody', async () => {
  const told: string[] = [];
  const failed: string[] = [];
  let finish: () => void = () => undefined;
  const hooks: Hook[] = [
    {
      id: 'broken',
      event: 'post_response',
      handler: () => {
        throw new Error('broken');
      },
    },
    {
      id: 'slow',
      event: 'post_response',
      config: { asyncExecution: true },
      handler: () => new Promise<void>((resolve) => (finish = resolve)).then(() => void told.push('slow')),
    },
    { id: 'last', event: 'post_response', handler: () => void told.push('last') },
  ];
  const response = { event_type: 'post_response', payload: {} } as HookOccurrence<'post_response'>;
  await tellHooks(hooks, response, signal, ({ id }) => failed.push(id));
  expect(told).toEqual(['last']);
  finish();
  await new Promise(setImmediate);
  expect(told).toEqual(['last', 'slow']);
  expect(failed).toEqual(['broken']);
});

test.each<[Hook['matcher'], { tool?: string; args?: never }, boolean]>([
  [undefined, {}, true],
  [{ tool: 'read' }, { tool: 'read' }, true],
  [{ tool: 'read' }, { tool: 'Read' }, false],
  [{ sessionId: 'other' }, {}, false],
  [{ pathPattern: 'src/*.ts' }, { args: { path: 'src/a.ts' } as never }, true],
  [{ pathPattern: 'src/*.ts' }, { args: { path: 'src/b/a.ts' } as never }, false],
  [{ pathPattern: 'src/**/*.ts' }, { args: { file_path: 'src/b/c/a.ts' } as never }, true],
  [{ pathPattern: 'src/**/*.ts' }, { args: { file_path: 'src/a.ts' } as never }, true],
  [{ pathPattern: 'a?c' }, { args: { path: 'a.c' } as never }, true],
  [{ pathPattern: 'a.c' }, { args: { path: 'abc' } as never }, false],
  [{ pathPattern: '**' }, { args: {} as never }, false],
  [{ commandPattern: '^rm ' }, { args: { command: 'rm -r x' } as never }, true],
  [{ commandPattern: '^rm ', tool: 'shell' }, { tool: 'other', args: { command: 'rm x' } as never }, false],
])('a matcher %j is for %j: %s', (matcher, target, expected) => {
  const hook: Hook = { id: 'h', event: 'pre_tool_use', ...(matcher === undefined ? {} : { matcher }) };
  expect(matches(hook, { sessionId: 's', ...target })).toBe(expected);
});
