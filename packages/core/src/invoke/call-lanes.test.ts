import { describe, expect, test } from 'vitest';
import { newCall } from '../session/evolve-call.js';
import type { BoundTool } from '../compose/tool-set.js';
import { CallLanes } from './call-lanes.js';

const never = new AbortController().signal;
const tool = (effect: BoundTool['effect'], lane?: string): BoundTool =>
  ({ name: 't', tool: lane === undefined ? {} : { lane }, effect }) as unknown as BoundTool;
const call = newCall('c', 't');

async function enter(lanes: CallLanes, bound: BoundTool, signal = never): Promise<() => void> {
  const leave = await lanes.enter(call, bound, signal);
  if (typeof leave !== 'function') throw new Error('kept');
  return leave;
}

describe('a lane', () => {
  test('admits so many at a time, in the order in which they came', async () => {
    const lanes = new CallLanes({ execute: { concurrency: 2 } });
    const order: number[] = [];
    let running = 0;
    let most = 0;
    await Promise.all(
      [0, 1, 2, 3, 4].map(async (n) => {
        const leave = await enter(lanes, tool('once'));
        order.push(n);
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 2));
        running -= 1;
        leave();
      }),
    );
    expect(order).toEqual([0, 1, 2, 3, 4]);
    expect(most).toBe(2);
    // All places are free again.
    await enter(lanes, tool('once'));
    await enter(lanes, tool('once'));
  });

  test('is that of the tool, or of its effect; one that is not set up has no end', async () => {
    const lanes = new CallLanes({ query: { concurrency: 1, timeoutMs: 5 }, slow: { concurrency: 1, timeoutMs: 5 } });
    await enter(lanes, tool('read'));
    expect(await lanes.enter(call, tool('read'), never)).toEqual({ lane: 'query', waitedMs: 5 });
    await enter(lanes, tool('read', 'slow'));
    expect(await lanes.enter(call, tool('once', 'slow'), never)).toEqual({ lane: 'slow', waitedMs: 5 });
    for (let n = 0; n < 5; n++) await enter(lanes, tool('once'));
  });

  test('is left by whoever waits when they are told to end, and is not waited for by a part', async () => {
    const lanes = new CallLanes({ execute: { concurrency: 1 } });
    const leave = await enter(lanes, tool('once'));
    const controller = new AbortController();
    const waiting = lanes.enter(call, tool('once'), controller.signal);
    controller.abort();
    expect(await waiting).toBe('aborted');
    expect(await lanes.enter(call, tool('once'), controller.signal)).toBe('aborted');
    expect(typeof (await lanes.enter({ ...call, origin: 'nested' }, tool('once'), never))).toBe('function');
    leave();
    await enter(lanes, tool('once'));
  });
});
