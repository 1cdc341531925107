import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import {
  PerdureError,
  type ErrorCode,
  type Logger,
  type ProjectionChange,
  type ProjectionStore,
  type RowOptions,
} from '@perdure/plugin-api';
import { MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, storesWith } from '../fixtures/agents.js';

/** Rows that can be read, and written as long as nothing is wrong. */
class FaultyProjectionStore implements ProjectionStore {
  readonly name = 'faulty';
  code: ErrorCode | undefined;
  /** Whether a commit that fails here is made all the same, as by another process. */
  isMadeElsewhere = false;
  private readonly rowsOf = new MemoryProjectionStore();

  checkpoint(projection: string) {
    return this.rowsOf.checkpoint(projection);
  }

  rows(projection: string, options?: RowOptions) {
    return this.rowsOf.rows(projection, options);
  }

  async commit(projection: string, change: ProjectionChange) {
    if (this.code === undefined) return this.rowsOf.commit(projection, change);
    if (this.isMadeElsewhere) await this.rowsOf.commit(projection, change);
    throw new PerdureError(this.code, { reason: 'a planned fault' });
  }

  clear(projection: string) {
    return this.rowsOf.clear(projection);
  }

  close() {
    return this.rowsOf.close();
  }
}

async function sessionsWith() {
  const rows = new FaultyProjectionStore();
  const warnings: string[] = [];
  const logger: Logger = { log: (level, message) => void (level === 'warn' && warnings.push(message)) };
  const runtime = await createTestRuntime({ plugins: [storesWith(new MemoryEventStore(), rows), allowing], logger });
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel([{ text: 'a' }, { text: 'b' }, { text: 'c' }]) });
  const session = await agent.sessions.create({ sessionId: 's' });
  const list = async () => (await agent.sessions.list()).items.map(({ id, messages }) => `${id} ${messages}`).sort();
  return { rows, warnings, runtime, agent, session, list };
}

describe('the list of sessions', () => {
  test.each(['PERDURE_STORE_FULL', 'PERDURE_STORE_READ_ONLY'] as const)(
    'is shown though its rows cannot be stored: %s',
    async (code) => {
      const { rows, warnings, runtime, agent, session, list } = await sessionsWith();
      await session.send('one');
      expect([await list(), warnings]).toEqual([['s 2'], []]);
      rows.code = code;
      expect([await list(), warnings]).toEqual([['s 2'], []]);
      await session.send('two');
      await agent.sessions.create({ sessionId: 't' });
      expect(await list()).toEqual(['s 4', 't 0']);
      expect(await list()).toEqual(['s 4', 't 0']);
      const message = 'A view of all sessions could not be stored; it is made anew each time.';
      expect(warnings).toEqual([message, message]);
      rows.code = undefined;
      await session.send('three');
      expect(await list()).toEqual(['s 6', 't 0']);
      expect(warnings).toHaveLength(2);
      await runtime.dispose();
    },
  );

  test('counts nothing twice when another process stored the rows meanwhile', async () => {
    const { rows, runtime, session, list } = await sessionsWith();
    await session.send('one');
    await list();
    await session.send('two');
    rows.code = 'PERDURE_STORE_FULL';
    rows.isMadeElsewhere = true;
    expect(await list()).toEqual(['s 4']);
    await runtime.dispose();
  });

  test('tells what else is wrong with the store', async () => {
    const { rows, runtime, list } = await sessionsWith();
    rows.code = 'PERDURE_STORE_DAMAGED';
    await expect(list()).rejects.toMatchObject({ code: 'PERDURE_STORE_DAMAGED' });
    await runtime.dispose();
  });
});
