import { defineEvent } from '@perdure/events';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { definePlugin, PLUGIN_API, type PluginContext, type PluginLike } from './plugin.js';
import type { ToolSource } from './ports/tool.js';
import { EVENT_STORE, FACTS, LOGGER, TOOLS } from './tokens.js';

const noted = defineEvent({
  type: 'example/Noted',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({ text: z.string() }),
  wire: { type: 'example_noted', payload: ({ text }) => ({ text }) },
  isDetail: ({ text }) => text === '',
});
const source: ToolSource = { name: 'example', tools: () => ({}) };

const example = definePlugin({
  name: 'example',
  api: PLUGIN_API,
  version: '1.2.3',
  config: z.strictObject({ greeting: z.string().default('Hello') }),
  provides: [TOOLS, FACTS],
  wants: [LOGGER],
  setup({ config, get, find, provide }) {
    expectTypeOf(config).toEqualTypeOf<{ greeting: string }>();
    expectTypeOf(find(LOGGER)?.log).toBeNullable();
    expectTypeOf(get(TOOLS)).toEqualTypeOf<readonly ToolSource[]>();
    provide(TOOLS, source);
    provide(FACTS, { events: [noted] });
    // @ts-expect-error a value of another port does not fit the token
    if (config.greeting === '') provide(EVENT_STORE, source);
    return {};
  },
});

describe('definePlugin', () => {
  test('completes what may be left out', () => {
    const { needs, ...rest } = example;
    expect(needs).toEqual([]);
    expect(rest).toMatchObject({
      name: 'example',
      api: 1,
      version: '1.2.3',
      provides: [TOOLS, FACTS],
      wants: [LOGGER],
    });
  });

  test('keeps the schema, which completes a configuration', () => {
    expect(example.config.parse({})).toEqual({ greeting: 'Hello' });
    expect(example.config.safeParse({ greting: 'Hi' }).success).toBe(false);
  });

  test('gives a plugin that can be listed beside names and configured ones', () => {
    const list: readonly PluginLike[] = [example, '@perdure/store-memory', { plugin: example, config: {} }];
    expect(list).toHaveLength(3);
  });

  test('hands its context to setup', async () => {
    const provided: unknown[] = [];
    const context: PluginContext<{ greeting: string }> = {
      config: { greeting: 'Hi' },
      get: () => [] as never,
      find: () => undefined,
      provide: (token, value) => provided.push([token.name, value]),
    };
    await example.setup(context);
    expect(provided).toEqual([
      ['tools', source],
      ['facts', { events: [noted] }],
    ]);
  });
});
