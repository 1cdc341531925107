import { beforeEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import type { EventStore } from './ports/event-store.js';
import type { ToolSource } from './ports/tool.js';
import { manyToken, oneToken, type Token, type TokenValue } from './token.js';
import * as tokens from './tokens.js';

const all = Object.entries(tokens) as [string, Token<unknown>][];

describe('tokens', () => {
  beforeEach(() => vi.resetModules());

  test.each(all)('%s is named as its constant is', (constant, token) => {
    expect(token.name.toUpperCase().replaceAll('-', '_')).toBe(constant);
    expect(token.key).toBe(Symbol.for(`perdure.token.${token.name}`));
  });

  test('have different names', () => {
    const keys = new Set(all.map(([, token]) => token.key));
    expect(keys.size).toBe(all.length);
  });

  test('of a second copy of this package have the same keys', async () => {
    const second = await import('./tokens.js');
    expect(second.EVENT_STORE).not.toBe(tokens.EVENT_STORE);
    expect(second.EVENT_STORE.key).toBe(tokens.EVENT_STORE.key);
  });

  test('say how many values they have room for and how long a value lives', () => {
    expect(oneToken('example', 'runtime')).toMatchObject({ name: 'example', cardinality: 'one', scope: 'runtime' });
    expect(manyToken('examples', 'agent')).toMatchObject({ name: 'examples', cardinality: 'many', scope: 'agent' });
  });

  test('lead to the type of their values', () => {
    expectTypeOf<TokenValue<typeof tokens.EVENT_STORE>>().toEqualTypeOf<EventStore>();
    expectTypeOf<TokenValue<typeof tokens.TOOLS>>().toEqualTypeOf<readonly ToolSource[]>();
  });
});
