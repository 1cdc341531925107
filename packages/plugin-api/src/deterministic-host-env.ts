import { PerdureError } from './errors/perdure-error.js';
import type { Clock, HostEnv, IdGenerator } from './ports/host-env.js';

/**
 * Ids `<prefix>-<scope>-<n>`, counted from 1 in each scope. Another generator with the same prefix makes the same ids:
 * two processes that work on one store need two prefixes, unless their scopes differ.
 */
export class SequentialIdGenerator implements IdGenerator {
  private readonly prefix: string;
  private readonly counts = new Map<string, number>();

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  next(scope: string): string {
    const count = (this.counts.get(scope) ?? 0) + 1;
    this.counts.set(scope, count);
    return `${this.prefix}-${scope}-${count}`;
  }
}

/** A clock in epoch milliseconds that stands still, or goes on by `stepMs` each time that it is read. */
export class FixedClock implements Clock {
  private time: number;
  private readonly stepMs: number;

  constructor(startMs: number, stepMs = 0) {
    this.time = wholeNumber('startMs', startMs);
    this.stepMs = wholeNumber('stepMs', stepMs);
  }

  now(): number {
    const time = this.time;
    this.time += this.stepMs;
    return time;
  }

  set(ms: number): void {
    this.time = wholeNumber('ms', ms);
  }

  advance(ms: number): void {
    this.time += wholeNumber('ms', ms);
  }
}

/**
 * Numbers from 0 up to before 1, the same for the same seed (a whole number; its lowest 32 bits count). Good enough for
 * jitter and samples, not for secrets.
 */
export function seededRandom(seed: number): () => number {
  let state = wholeNumber('seed', seed) >>> 0;
  // A Weyl sequence, whose terms are scrambled by the finaliser of MurmurHash3.
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
}

export interface DeterministicHostEnv extends HostEnv {
  readonly idGenerator: SequentialIdGenerator;
  readonly clock: FixedClock;
  readonly timezone: string;
}

/**
 * A host environment that repeats: equal options, equal ids, times and numbers.
 *
 * When absent: `prefix` is `id`, `startMs` the beginning of 2026, `stepMs` 0, `seed` 1, `nodeId` `node-1`, `timezone`
 * `UTC`.
 */
export function deterministicHostEnv(
  options: {
    readonly prefix?: string;
    readonly startMs?: number;
    readonly stepMs?: number;
    readonly seed?: number;
    readonly nodeId?: string;
    readonly timezone?: string;
  } = {},
): DeterministicHostEnv {
  return {
    idGenerator: new SequentialIdGenerator(options.prefix ?? 'id'),
    clock: new FixedClock(options.startMs ?? Date.UTC(2026, 0, 1), options.stepMs ?? 0),
    random: seededRandom(options.seed ?? 1),
    nodeId: options.nodeId ?? 'node-1',
    timezone: options.timezone ?? 'UTC',
  };
}

function wholeNumber(field: string, value: number): number {
  if (Number.isSafeInteger(value)) return value;
  throw new PerdureError('PERDURE_CONFIGURATION', { field, reason: 'must be a whole number' });
}
