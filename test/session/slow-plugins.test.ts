import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import {
  definePlugin,
  isPerdureError,
  PERMISSION,
  PLUGIN_API,
  type Logger,
  type Plugin,
  type PluginLife,
} from '@perdure/plugin-api';
import { storeMemory } from '@perdure/store-memory';
import { z } from 'zod';

const never = (): Promise<never> => new Promise(() => undefined);
const plugin = (name: string, setup: Plugin['setup'], provides: Plugin['provides'] = []): Plugin =>
  definePlugin({ name, api: PLUGIN_API, version: '1.0.0', config: z.object({}), provides, setup });
const living = (name: string, life: PluginLife): Plugin => plugin(name, () => life);

const logged: string[] = [];
const unhandled: unknown[] = [];
const logger: Logger = {
  log: (_, message, { plugin: name = '', reason = '' } = {}) => logged.push(`${message} ${name}: ${reason}`),
};
const quick = { logger, pluginTimeoutMs: 30, pluginStopMs: 30 };
const keep = (reason: unknown): void => void unhandled.push(reason);
beforeEach(() => {
  logged.length = 0;
  unhandled.length = 0;
  process.on('unhandledRejection', keep);
});
afterEach(() => {
  process.off('unhandledRejection', keep);
  expect(unhandled).toEqual([]);
});

const left = (name: string): string => `A plugin failed and is left out. ${name}: nothing came for 30 ms`;

describe('a plugin that hangs', () => {
  test.each<[string, Plugin]>([
    ['set-up', plugin('stuck', never)],
    ['start', living('stuck', { start: never })],
  ])('in its %s is left out, and its reason says how long was waited', async (_, stuck) => {
    const runtime = await createTestRuntime({ ...quick, plugins: [storeMemory, stuck] });
    expect(runtime.plugins()).toMatchObject([
      { name: 'store-memory', status: 'ready' },
      { name: 'stuck', status: 'failed', reason: 'nothing came for 30 ms' },
    ]);
    expect(logged).toEqual([left('stuck')]);
    await runtime.dispose();
  });

  test('ends the start when it stands guard', async () => {
    const guard = plugin('guard', never, [PERMISSION]);
    await expect(createTestRuntime({ ...quick, plugins: [storeMemory, guard] })).rejects.toSatisfy(
      (error) =>
        isPerdureError(error, 'PERDURE_PLUGIN_FAILED') &&
        error.data['stage'] === 'setup' &&
        error.data['reason'] === 'nothing came for 30 ms',
    );
  });

  test('does not hinder the agent that it is added to', async () => {
    const runtime = await createTestRuntime({ ...quick, plugins: [storeMemory] });
    const agent = runtime.agent({ id: 'clerk' });
    await agent.addPlugin(plugin('stuck', never));
    expect(logged).toEqual([left('stuck')]);
    await runtime.dispose();
  });

  test('in its stop is waited for so long and no longer; the others are stopped', async () => {
    const stops: string[] = [];
    const stopping = (name: string) => living(name, { stop: async () => void stops.push(name) });
    const stuck = living('stuck', { stop: never });
    const late = living('late', { stop: () => sleep(60).then(() => Promise.reject(new Error('late'))) });
    const runtime = await createTestRuntime({
      ...quick,
      plugins: [storeMemory, stopping('a'), stuck, late, stopping('b')],
    });
    await runtime.dispose();
    expect(stops).toEqual(['b', 'a']);
    expect(logged).toEqual([
      'A plugin failed to stop. late: nothing came for 30 ms',
      'A plugin failed to stop. stuck: nothing came for 30 ms',
    ]);
    await sleep(60);
  });
});

describe('a plugin that is late', () => {
  test('with its set-up is stopped then, and what it provides is not used', async () => {
    const stops: string[] = [];
    const slow = plugin('slow', async () => {
      await sleep(80);
      return { start: async () => void stops.push('started'), stop: async () => void stops.push('stopped') };
    });
    const failing = plugin('failing', () => sleep(60).then(() => Promise.reject(new Error('late'))));
    const runtime = await createTestRuntime({ ...quick, plugins: [storeMemory, slow, failing] });
    await runtime.dispose();
    await expect.poll(() => stops).toEqual(['stopped']);
    expect(runtime.plugins().map(({ status }) => status)).toEqual(['ready', 'failed', 'failed']);
    await sleep(60);
  });

  test('with its start is stopped with the others', async () => {
    const stops: string[] = [];
    const slow = living('slow', {
      start: () => sleep(60).then(() => Promise.reject(new Error('late'))),
      stop: async () => void stops.push('slow'),
    });
    const runtime = await createTestRuntime({ ...quick, plugins: [storeMemory, slow] });
    await sleep(60);
    await runtime.dispose();
    expect(stops).toEqual(['slow']);
  });
});

test.each<[string, () => unknown]>([
  ['nothing', () => undefined],
  ['a value without a prototype', () => Object.create(null)],
  ['an error whose message throws', () => Object.defineProperty(new Error('x'), 'message', { get: throwing })],
])('a stop that throws %s keeps no other plugin from being stopped', async (_, thrown) => {
  const stops: string[] = [];
  const odd = living('odd', { stop: () => Promise.reject(thrown()) });
  const other = living('other', { stop: async () => void stops.push('other') });
  const runtime = await createTestRuntime({ ...quick, plugins: [storeMemory, other, odd] });
  await runtime.dispose();
  expect(stops).toEqual(['other']);
  expect(logged).toEqual([expect.stringMatching(/^A plugin failed to stop\. odd: \w/)]);
});

function throwing(): never {
  throw new Error('no');
}

test.each(['pluginTimeoutMs', 'pluginStopMs'])(
  'an option %s that is out of range is refused by its name',
  async (name) => {
    for (const value of [0, 1.5, '5', Number.POSITIVE_INFINITY]) {
      await expect(createTestRuntime({ plugins: [storeMemory], [name]: value })).rejects.toMatchObject({
        code: 'PERDURE_CONFIGURATION',
        data: { field: name },
      });
    }
  },
);
