import { noUsage, type SessionSnapshotV1 } from '@perdure/events';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { SqliteDriver } from './driver.js';
import { followAll, newFacts, readAll, store } from './facts.fixture.js';
import { openSqliteStores, type SqliteStores } from './open-sqlite-stores.js';
import { presentDrivers, temporaryFolder } from './temporary-stores.fixture.js';

const SNAPSHOT: SessionSnapshotV1 = {
  schema_version: 1,
  session: {
    id: 'text in the snapshot',
    config: { name: 'agent', workspace: null, storage_type: 'file' },
    state: 'Active',
    messages: [],
    total_usage: noUsage,
    model_name: null,
    tool_names: [],
    created_at: 1,
    updated_at: 1,
  },
  run_records: [],
  artifacts: [],
  retained_artifact_uris: [],
  trace_events: [],
  verification_reports: [],
  subagent_tasks: [],
};

const DAMAGED = { code: 'PERDURE_STORE_DAMAGED' };

const ARTIFACT = Buffer.concat([Buffer.alloc(100_000), Buffer.from('text in the artifact'), Buffer.alloc(100_000)]);

/** Fills a store, changes its closed files, and opens it again. */
async function afterChange(
  driver: SqliteDriver,
  change: (path: string, sql: (statement: string) => void) => void,
  check: (open: () => Promise<SqliteStores>, path: string) => Promise<void>,
): Promise<void> {
  const { path, remove } = temporaryFolder();
  const { events, artifacts, projections, snapshots, close } = await openSqliteStores({ path, driver });
  for (let index = 0; index < 5; index++) {
    await store(events, 'session-_.alpha', newFacts(2), index === 0 ? 'none' : index * 2 - 1);
    await store(events, 'session-_.beta', newFacts(1), index === 0 ? 'none' : index - 1);
  }
  await artifacts.put(undefined, ARTIFACT);
  const put = [{ key: 'row', value: 'text in the row' }];
  await projections.commit('list', { expected: undefined, checkpoint: '1', put, remove: [] });
  await snapshots.save('key', SNAPSHOT);
  await close();
  const connection = new driver.DatabaseSync(path);
  change(path, (statement) => connection.exec(statement));
  connection.close();
  const opened: SqliteStores[] = [];
  const open = async (): Promise<SqliteStores> => {
    const stores = await openSqliteStores({ path, driver });
    opened.push(stores);
    return stores;
  };
  await check(open, path);
  for (const stores of opened) await stores.close();
  remove();
}

/** Flips a bit of each place in the file where a text stands, one at a time. Returns how many times that was found. */
async function timesFound(path: string, text: string, right: unknown, use: () => Promise<unknown>): Promise<number> {
  const bytes = readFileSync(path);
  let found = 0;
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
    const changed = Buffer.from(bytes);
    changed[at + text.length - 1] = (changed[at + text.length - 1] ?? 0) ^ 1;
    writeFileSync(path, changed);
    const outcome = await use().catch((error: unknown) => error);
    if (outcome instanceof Error) {
      expect(outcome).toMatchObject(DAMAGED);
      found += 1;
    } else {
      // Text that stands twice is read from the place that is right.
      expect(outcome).toEqual(right);
    }
  }
  writeFileSync(path, bytes);
  return found;
}

for (const driver of await presentDrivers()) {
  describe(`damage is found (${driver.name})`, () => {
    test('a row that is missing inside a stream, and in the store', async () => {
      const change = (_: string, sql: (statement: string) => void): void => sql('delete from batch where position = 5');
      await afterChange(driver, change, async (open) => {
        const { events } = await open();
        await expect(readAll(events, 'session-_.alpha')).rejects.toMatchObject(DAMAGED);
        await expect(readAll(events, 'session-_.alpha', { direction: 'backwards' })).rejects.toMatchObject(DAMAGED);
        expect(await readAll(events, 'session-_.alpha', { from: 4 })).toHaveLength(6);
        expect(await readAll(events, 'session-_.beta')).toHaveLength(5);
        await expect(followAll(events)).rejects.toMatchObject(DAMAGED);
      });
    });

    test('a last row that is missing, without a witness', async () => {
      const change = (path: string, sql: (statement: string) => void): void => {
        sql('delete from batch where position = (select max(position) from batch)');
        rmSync(`${path}-tail`);
      };
      const refusal = { code: 'PERDURE_STORE_TRUNCATED', data: { stream: 'session-_.beta', lastRevision: 3 } };
      await afterChange(driver, change, async (open) => {
        await expect(open()).rejects.toMatchObject(refusal);
      });
    });

    test('a stream that is missing', async () => {
      const change = (_: string, sql: (statement: string) => void): void =>
        sql("delete from stream where name = 'session-_.alpha'");
      await afterChange(driver, change, async (open) => {
        await expect(open()).rejects.toMatchObject(DAMAGED);
      });
    });

    test('a head or a cut that is another one', async () => {
      for (const statement of [
        'update stream set head = head - 1',
        'update stream set cut = 2',
        'update stream set head = head + 1',
      ]) {
        await afterChange(
          driver,
          (_, sql) => sql(`${statement} where name = 'session-_.alpha'`),
          async (open) => {
            const read = async (): Promise<unknown> => readAll((await open()).events, 'session-_.alpha');
            await expect(read()).rejects.toMatchObject({
              code: expect.stringMatching(/^PERDURE_STORE_(DAMAGED|TRUNCATED)$/),
            });
          },
        );
      }
    });

    test('a name that is another one, in the table or in its index', async () => {
      await afterChange(
        driver,
        () => undefined,
        async (open, path) => {
          const use = async (): Promise<unknown> => {
            const { events, close } = await open();
            try {
              return (await readAll(events, 'session-_.alpha')).length + (await followAll(events)).length;
            } finally {
              await close();
            }
          };
          // The one in the index finds the stream; the one in the table is asked only when that was not.
          expect(await timesFound(path, 'session-_.alpha', 10 + 15, use)).toBe(1);
        },
      );
    });

    test('bytes of artifacts, rows of projections and snapshots that are others', async () => {
      const digest = `sha256:${createHash('sha256').update(ARTIFACT).digest('hex')}`;
      const uses: readonly (readonly [text: string, use: (stores: SqliteStores) => Promise<unknown>])[] = [
        ['in the artifact', ({ artifacts }) => artifacts.get(undefined, digest)],
        ['in the row', ({ projections }) => projections.rows('list')],
        ['in the snapshot', ({ snapshots }) => snapshots.load('key')],
      ];
      await afterChange(
        driver,
        () => undefined,
        async (open, path) => {
          for (const [text, use] of uses) {
            const withStores = async (): Promise<unknown> => {
              const stores = await open();
              try {
                return await use(stores);
              } finally {
                await stores.close();
              }
            };
            expect(await timesFound(path, text, await withStores(), withStores), text).toBe(1);
          }
        },
      );
    });
  });
}
