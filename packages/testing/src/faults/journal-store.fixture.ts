import { appendFileSync } from 'node:fs';
import type { RecordedFact } from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';

/**
 * A small event store whose appends can be seen after the process was killed: each is written to a journal file before
 * the call returns. It keeps the facts of one process, and nothing subscribes to it.
 */
export function journalStore(write: (line: string) => void): EventStore {
  const streams = new Map<string, RecordedFact[]>();
  let position = 0;
  return {
    name: 'journal',
    capabilities: { shared: false, durable: false },
    limits: { maxEventBytes: 262_144, maxBatch: 100 },
    async append(stream, facts, { expected }) {
      const stored = streams.get(stream) ?? [];
      const actual = stored.length === 0 ? 'none' : stored.length - 1;
      if (actual !== expected) return { status: 'conflict', actual };
      for (const { id, type, payload, metadata } of facts) {
        const place = { revision: stored.length, position: String(++position).padStart(16, '0') };
        stored.push({ stream, ...place, id, type, payload, metadata });
      }
      streams.set(stream, stored);
      write(`stored ${stream} ${facts.map((fact) => fact.type).join('+')}`);
      return { status: 'stored', revision: stored.length - 1, position: String(position).padStart(16, '0') };
    },
    async read(stream) {
      const facts = streams.get(stream) ?? [];
      return { facts, head: facts.length === 0 ? 'none' : facts.length - 1 };
    },
    subscribe() {
      throw new Error('The journal store has no subscriptions.');
    },
    async truncate(stream, before) {
      write(`truncated ${stream} ${before}`);
    },
    async close() {},
  };
}

/** Writes lines that are on their way to the disk when the call returns. */
export function journalFile(path: string): (line: string) => void {
  return (line) => appendFileSync(path, `${line}\n`);
}
