import type { JsonValue } from '@perdure/events';
import { noCalls, type ScopedInvoker, type ToolOutcome } from '@perdure/plugin-api';
import { describe, expect, test } from 'vitest';
import { batchInput, batchTool } from './index.js';

/** An invoker that answers from the arguments and notes what overlaps. */
function invoker(effects: Record<string, 'read' | 'once'> = { read: 'read', write: 'once' }) {
  const log: string[] = [];
  let running = 0;
  let most = 0;
  const calls: ScopedInvoker = {
    effectOf: (tool) => effects[tool],
    call: async (tool, input): Promise<ToolOutcome> => {
      running += 1;
      most = Math.max(most, running);
      log.push(`${tool} ${JSON.stringify(input)}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      const about = { callId: `c${log.length}`, name: tool };
      if (tool === 'broken') return { ...about, status: 'failed', failure: { code: 'E', message: 'no' } };
      return { ...about, status: 'completed', output: { got: input, list: [1, 'two'] } };
    },
  };
  return { calls, log, most: () => most };
}

async function run(input: object, calls: ScopedInvoker, signal = new AbortController().signal): Promise<object> {
  const context = { toolCallId: 'b', abortSignal: signal, idempotencyKey: 'k', sessionId: 's', calls };
  return (await batchTool.execute?.(batchInput.parse(input) as never, context)) as object;
}
const read = (more: object = {}) => ({ tool: 'read', args: {}, ...more });

describe('the invocations of a step', () => {
  test('run at the same time when all only read, no more of them than are allowed', async () => {
    const { calls, most } = invoker();
    const invocations = Array.from({ length: 12 }, () => read());
    expect(await run({ invocations, max_concurrency: 3 }, calls)).toMatchObject({
      status: 'complete',
      failed_indices: [],
    });
    expect(most()).toBe(3);
  });

  test('run one after the other, in their order, when one of them does more, or is not known', async () => {
    for (const tool of ['write', 'strange']) {
      const { calls, most, log } = invoker();
      await run({ invocations: [read({ args: { n: 1 } }), { tool, args: {} }, read({ args: { n: 2 } })] }, calls);
      expect(most()).toBe(1);
      expect(log).toEqual(['read {"n":1}', `${tool} {}`, 'read {"n":2}']);
    }
  });

  test('wait for the step before, whatever the order in which they are written', async () => {
    const { calls, log } = invoker();
    await run({ invocations: [read({ step: 2, args: { n: 2 } }), read({ step: 1, args: { n: 1 } })] }, calls);
    expect(log).toEqual(['read {"n":1}', 'read {"n":2}']);
  });
});

describe('a reference', () => {
  const earlier = read({ id: 'a', args: { deep: [{ x: 'found' }] } });
  const refer = (path: string, more: object = {}) => read({ step: 2, args: { value: { $ref: path } }, ...more });

  test.each<[string, JsonValue]>([
    ['a.output.got.deep.0.x', 'found'],
    ['a.output.list', [1, 'two']],
    ['a.output', { got: { deep: [{ x: 'found' }] }, list: [1, 'two'] }],
  ])('%s stands for what is there', async (path, value) => {
    const { calls, log } = invoker();
    await run({ invocations: [earlier, refer(path)] }, calls);
    expect(log[1]).toBe(`read ${JSON.stringify({ value })}`);
  });

  test.each([
    ['nothing', 'a.output.absent'],
    ['an inherited member', 'a.output.constructor'],
    ['the length of a list', 'a.output.list.length'],
  ])('to %s skips the invocation and no other', async (_, path) => {
    const { calls, log } = invoker();
    const report = await run({ invocations: [earlier, refer(path), read({ step: 3 })] }, calls);
    expect(report).toMatchObject({ status: 'partial_failure', failed_indices: [1] });
    expect(report).toMatchObject({ results: [{}, { status: 'skipped', failure: { code: 'reference_missing' } }, {}] });
    expect(log).toHaveLength(2);
  });

  test('to a result that is too large, or to a call that failed, skips the invocation', async () => {
    const { calls } = invoker();
    const large = read({ id: 'a', args: { text: 'x'.repeat(17_000) } });
    expect(await run({ invocations: [large, refer('a.output.got')] }, calls)).toMatchObject({ failed_indices: [1] });
    const failing = { id: 'a', tool: 'broken', args: {} };
    expect(await run({ invocations: [failing, refer('a.output'), read()] }, calls)).toMatchObject({
      failed_indices: [0, 1],
      results: [{ status: 'failed', failure: { code: 'E' } }, { status: 'skipped' }, { status: 'completed' }],
    });
  });
});

describe('what a model asks for', () => {
  test.each<[string, object[], string]>([
    ['nothing', [], 'invocations'],
    ['too much', Array.from({ length: 33 }, () => read()), 'invocations'],
    ['two results of one name', [read({ id: 'a' }), read({ id: 'a' })], 'two invocations are called'],
    ['a name that is a position', [read(), read({ id: '0' })], 'two invocations are called'],
    ['a step that there is not', [read({ step: 33 })], 'step'],
    ['a result of the same step', [read({ id: 'a' }), read({ args: { v: { $ref: 'a.output' } } })], 'an earlier step'],
    ['a result of nobody', [read({ args: { v: [{ $ref: 'b.output' }] } })], 'there is no invocation'],
    ['a member that there is not', [read({ colour: 'red' })], 'colour'],
  ])('is refused when it is %s', (_, invocations, expected) => {
    expect(JSON.stringify(batchInput.safeParse({ invocations }).error?.issues)).toContain(expected);
  });

  test('names the tools for rules to match', () => {
    const input = batchInput.parse({ invocations: [read(), { tool: 'write', args: {} }] });
    expect(batchTool.permissionSubjects?.(input as never)).toEqual(['read', 'write']);
  });
});

test('a batch of which nothing was completed fails, and tells what came of each', async () => {
  const { calls } = invoker();
  const invocations = [{ tool: 'broken', args: {} }];
  await expect(run({ invocations }, calls)).rejects.toMatchObject({
    code: 'batch_failed',
    data: { failed_indices: [0], results: [{ id: '0', tool: 'broken', status: 'failed' }] },
  });
});

test('a batch that is told to end begins no further call, and an invoker that refuses ends it', async () => {
  const { calls, log } = invoker();
  const controller = new AbortController();
  const ended = run({ invocations: [{ tool: 'write', args: {} }, read()] }, calls, controller.signal);
  controller.abort(new Error('told to end'));
  await expect(ended).rejects.toThrow('told to end');
  expect(log).toHaveLength(1);
  await expect(run({ invocations: [read()] }, noCalls)).rejects.toMatchObject({ code: 'PERDURE_TOOL_CALL_OVER' });
});
