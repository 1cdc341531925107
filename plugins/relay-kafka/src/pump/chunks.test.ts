import type { RecordedFact } from '@perdure/events';
import type { FactBatch } from '@perdure/plugin-api';
import { describe, expect, test } from 'vitest';
import { chunks, type Chunk } from './chunks.js';

const limits = { maxFacts: 4, maxBytes: 1_000_000, lingerMs: 20 };
const never = new AbortController().signal;

function facts(from: number, count: number, bytes = 10): RecordedFact[] {
  return Array.from({ length: count }, (_, index) => ({
    stream: 'session-_.a',
    revision: from + index,
    position: String(from + index).padStart(4, '0'),
    id: '',
    type: 'SessionTitled',
    payload: 'x'.repeat(bytes),
    metadata: '{}',
  }));
}

/** Gives what it is told to, and then nothing until the signal. */
class Source {
  pulled = 0;
  isClosed = false;
  private readonly batches: FactBatch[];

  constructor(...batches: FactBatch[]) {
    this.batches = batches;
  }

  subscribe = (signal: AbortSignal): AsyncIterable<FactBatch> => this.give(signal);

  private async *give(signal: AbortSignal): AsyncGenerator<FactBatch> {
    try {
      for (const batch of this.batches) {
        this.pulled += 1;
        yield batch;
      }
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve());
      });
    } finally {
      this.isClosed = true;
    }
  }
}

async function take(source: Source, count: number, more: Partial<typeof limits> = {}): Promise<Chunk[]> {
  const taken: Chunk[] = [];
  for await (const chunk of chunks(source.subscribe, { ...limits, ...more }, never)) {
    taken.push(chunk);
    if (taken.length === count) break;
  }
  return taken;
}

const revisions = (taken: readonly Chunk[]): number[][] =>
  taken.map((chunk) => chunk.facts.map(({ revision }) => revision));

describe('chunks', () => {
  test('are cut by count; what is left of one page goes on with the next', async () => {
    const source = new Source({ facts: facts(0, 5), caughtUp: false }, { facts: facts(5, 4), caughtUp: true });
    const taken = await take(source, 3);
    expect(revisions(taken)).toEqual([[0, 1, 2, 3], [4, 5, 6, 7], [8]]);
    expect(taken.map(({ caughtUp }) => caughtUp)).toEqual([false, false, true]);
  });

  test('are cut by bytes, and one that is larger than that comes alone', async () => {
    const source = new Source({ facts: [...facts(0, 2), ...facts(2, 1, 9_000), ...facts(3, 1)], caughtUp: true });
    expect(revisions(await take(source, 3, { maxBytes: 4_000 }))).toEqual([[0, 1], [2], [3]]);
  });

  test('wait for others for some time only', async () => {
    const alone = new Source({ facts: facts(0, 1), caughtUp: true });
    expect(revisions(await take(alone, 1))).toEqual([[0]]);
    const together = new Source({ facts: facts(0, 1), caughtUp: true }, { facts: facts(1, 1), caughtUp: true });
    expect(revisions(await take(together, 1))).toEqual([[0, 1]]);
  });

  test('ask for no more than a page while nobody takes them', async () => {
    const pages = Array.from({ length: 10 }, (_, index) => ({ facts: facts(index * 4, 4), caughtUp: false }));
    const source = new Source(...pages);
    const reading = chunks(source.subscribe, limits, never);
    await reading.next();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(source.pulled).toBe(1);
    await reading.return(undefined);
    expect(source.isClosed).toBe(true);
  });

  test('tell that the end is reached also when it was of other streams', async () => {
    const source = new Source({ facts: facts(0, 4), caughtUp: false }, { facts: [], caughtUp: true });
    expect(await take(source, 2)).toMatchObject([{ caughtUp: false }, { facts: [], caughtUp: true }]);
  });

  test('of an empty store are one empty chunk, and leaving ends a read that waits', async () => {
    const source = new Source({ facts: [], caughtUp: true });
    expect(await take(source, 1)).toEqual([{ facts: [], caughtUp: true }]);
    expect(source.isClosed).toBe(true);
  });
});
