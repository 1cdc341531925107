import { describe, expect, test } from 'vitest';
import { deterministicHostEnv, FixedClock, seededRandom, SequentialIdGenerator } from './deterministic-host-env.js';

function draw(seed: number, count: number): readonly number[] {
  return Array.from({ length: count }, seededRandom(seed));
}

function use(): readonly unknown[] {
  const env = deterministicHostEnv({ prefix: 'p', startMs: 5, stepMs: 1, seed: 9, nodeId: 'node-7' });
  return [env.idGenerator.next('x'), env.clock.now(), env.clock.now(), env.random(), env.nodeId];
}

describe('a deterministic host environment [A6]', () => {
  test('counts ids in each scope by itself', () => {
    const ids = new SequentialIdGenerator('n1');
    const made = [ids.next('s1-1-fact'), ids.next('s1-1-call'), ids.next('s1-1-fact')];
    expect(made).toEqual(['n1-s1-1-fact-1', 'n1-s1-1-call-1', 'n1-s1-1-fact-2']);
  });

  test('has a clock that goes only when it is told to', () => {
    const still = new FixedClock(1000);
    expect([still.now(), still.now()]).toEqual([1000, 1000]);
    still.advance(5);
    expect(still.now()).toBe(1005);
    still.set(7);
    expect(still.now()).toBe(7);
    const stepping = new FixedClock(1000, 10);
    expect([stepping.now(), stepping.now(), stepping.now()]).toEqual([1000, 1010, 1020]);
  });

  test('repeats its random numbers, other ones for another seed, spread over the whole range', () => {
    expect(draw(42, 100)).toEqual(draw(42, 100));
    expect(draw(42, 100)).not.toEqual(draw(43, 100));
    const many = draw(1, 10_000);
    expect(many.every((number) => number >= 0 && number < 1)).toBe(true);
    const tenths = Array<number>(10).fill(0);
    for (const number of many) tenths[Math.floor(number * 10)] = (tenths[Math.floor(number * 10)] ?? 0) + 1;
    expect(Math.min(...tenths)).toBeGreaterThan(850);
    expect(Math.max(...tenths)).toBeLessThan(1150);
  });

  test('is the same for the same options', () => {
    expect(use()).toEqual(use());
    expect(use().slice(0, 3)).toEqual(['p-x-1', 5, 6]);
    expect(deterministicHostEnv().clock.now()).toBe(Date.parse('2026-01-01T00:00:00Z'));
  });

  test('refuses times and seeds that are no whole numbers, by name', () => {
    expect(() => deterministicHostEnv({ startMs: Number.NaN })).toThrow('startMs');
    expect(() => seededRandom(0.5)).toThrow('seed');
    expect(() => new FixedClock(0).advance(Number.POSITIVE_INFINITY)).toThrow('ms');
  });
});
