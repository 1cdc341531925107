import { describe, expect, test } from 'vitest';
import { grantModelCall, grantToolCall } from './grant.js';
import { costOf, priceOf } from './prices.js';

const rules = { blockCalls: 4, minOutputTokens: 100 };
const need = { estimatedTokens: 1_000, maxOutputTokens: 1_000, price: undefined };

describe('a model call is granted', () => {
  test('a block while plenty is left, one call when little is, and nothing when it has no room', () => {
    expect(grantModelCall({ tokens: 1_000_000 }, need, rules)).toMatchObject({ amount: { tokens: 8_000, calls: 4 } });
    expect(grantModelCall({ tokens: 17_000 }, need, rules)).toMatchObject({ amount: { tokens: 4_000, calls: 2 } });
    expect(grantModelCall({ tokens: 2_000 }, need, rules)).toMatchObject({
      amount: { tokens: 2_000, calls: 1 },
      maxOutputTokens: 1_000,
    });
    expect(grantModelCall({ tokens: 1_100 }, need, rules)).toMatchObject({ maxOutputTokens: 100 });
    expect(grantModelCall({ tokens: 1_099 }, need, rules)).toMatchObject({ status: 'denied', resource: 'tokens' });
    expect(grantModelCall({ tokens: -5 }, need, rules)).toMatchObject({ status: 'denied', resource: 'tokens' });
  });

  test('by money as by tokens, and by both the smaller', () => {
    const priced = { ...need, price: { input: 1_000_000, output: 2_000_000 } };
    expect(grantModelCall({ micros: 3_000 }, priced, rules)).toMatchObject({ unit: { micros: 3_000 } });
    expect(grantModelCall({ micros: 1_400 }, priced, rules)).toMatchObject({ maxOutputTokens: 200 });
    expect(grantModelCall({ micros: 1_199 }, priced, rules)).toMatchObject({ status: 'denied', resource: 'money' });
    expect(grantModelCall({ micros: 3_000, tokens: 1_500 }, priced, rules)).toMatchObject({ maxOutputTokens: 500 });
    expect(grantModelCall({ micros: 9_000 }, need, rules)).toMatchObject({ status: 'denied', resource: 'money' });
    const free = { ...need, price: { input: 0, output: 0 } };
    expect(grantModelCall({ micros: 0 }, free, rules)).toMatchObject({ status: 'granted', maxOutputTokens: 1_000 });
  });

  test('by the number of calls, that of tools with it', () => {
    expect(grantModelCall({ calls: 100 }, need, rules)).toMatchObject({ amount: { calls: 8 } });
    expect(grantModelCall({ calls: 1 }, need, rules)).toMatchObject({ amount: { calls: 1 } });
    expect(grantModelCall({ calls: 0 }, need, rules)).toMatchObject({ status: 'denied', resource: 'calls' });
    expect(grantToolCall({ calls: 100 }, rules)).toMatchObject({ amount: { tokens: 0, calls: 4 } });
    expect(grantToolCall({ calls: 0 }, rules)).toMatchObject({ status: 'denied', resource: 'calls' });
  });
});

describe('the price of a model', () => {
  const [a, b, c, d] = [1, 2, 3, 4].map((input) => ({ input, output: 0 }));
  const model = { model: 'fast', provider: 'acme.chat', modelId: 'small-2' };

  test('is found by its name, then by its provider and id, then by the first pattern that fits', () => {
    const all = { 'acme.*': d, '*/small-*': c, 'acme.chat/small-2': b, fast: a } as never;
    const without = (...names: string[]) =>
      Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name))) as never;
    expect(priceOf(all, model)).toBe(a);
    expect(priceOf(without('fast'), model)).toBe(b);
    expect(priceOf(without('fast', 'acme.chat/small-2'), model)).toBe(d);
    expect(priceOf(without('fast', 'acme.chat/small-2', 'acme.*'), model)).toBe(c);
    expect(priceOf({ 'small-2': d } as never, model)).toBe(d);
    expect(priceOf({ 'acme/*': a, 'a*c*chat/large*': b, toString: c } as never, model)).toBeUndefined();
    expect(priceOf({}, { ...model, model: 'constructor' })).toBeUndefined();
    expect(priceOf({ 'a*chat*2': a, 'aa*': b } as never, model)).toBe(a);
  });

  test('is counted up to whole micros, cached input at its own price', () => {
    const price = { input: 3_000_000, output: 15_000_000, cached: 300_000 };
    expect(costOf(price, { input: 1_000, cached: 400, output: 100 })).toBe(1_800 + 120 + 1_500);
    expect(costOf({ input: 1, output: 1 }, { input: 1, cached: 1, output: 0 })).toBe(1);
    expect(costOf(undefined, { input: 1, cached: 0, output: 1 })).toBe(0);
  });
});
