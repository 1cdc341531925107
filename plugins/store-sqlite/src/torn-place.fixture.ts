import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isPerdureError, type EventStore, type NewFact } from '@perdure/plugin-api';
import { seededRandom } from '@perdure/testing';
import type { SqliteDriver } from './driver.js';
import { followAll, newFacts, readAll, store } from './facts.fixture.js';
import { openSqliteStores } from './open-sqlite-stores.js';

const FILES = ['', '-wal', '-tail'] as const;
export type StoreFileName = (typeof FILES)[number];

/** A copy of a store's files, and the facts that it must give. */
export interface SavedPlace {
  readonly folder: string;
  readonly streams: ReadonlyMap<string, readonly NewFact[]>;
}

/**
 * Fills a store and saves its files three times: `log`, where everything is in the write-ahead log; `both`, where a
 * part has moved into the database and the log still has it too; `closed`, where there is no log.
 */
export async function savePlaces(
  folder: string,
  driver: SqliteDriver,
): Promise<{ readonly log: SavedPlace; readonly both: SavedPlace; readonly closed: SavedPlace }> {
  const path = join(folder, 'source', 'perdure.db');
  const random = seededRandom(11);
  const streams = new Map<string, NewFact[]>();
  const stores = await openSqliteStores({ path, driver });
  const fill = async (appends: number): Promise<void> => {
    const names = ['session-_.a', 'session-acme.b', 'budget-_.a', 'draft-_.a'];
    for (let index = 0; index < appends; index++) {
      const name = names[Math.floor(random() * names.length)] ?? 'session-_.a';
      const known = streams.get(name) ?? [];
      const facts = newFacts(1 + Math.floor(random() * 4)).map((fact) => ({
        ...fact,
        payload: JSON.stringify('é😀 text '.repeat(Math.floor(random() * 60))),
        detail: random() < 0.3,
      }));
      await store(stores.events, name, facts, known.length === 0 ? 'none' : known.length - 1);
      streams.set(name, [...known, ...facts]);
    }
    // The witness follows within a moment.
    await setTimeout(20);
  };
  const save = (name: string): SavedPlace => {
    copyPlace(path, join(folder, name));
    return { folder: join(folder, name), streams: new Map(streams) };
  };

  await fill(50);
  const log = save('log');
  const other = new driver.DatabaseSync(path);
  other.exec('pragma wal_checkpoint(passive)');
  other.close();
  await fill(20);
  const both = save('both');
  await stores.close();
  return { log, both, closed: save('closed') };
}

/** Changes one file of a copy and opens it. Returns what is wrong, which must be nothing, and the codes of refusals. */
export async function tryChanged(
  place: SavedPlace,
  driver: SqliteDriver,
  file: StoreFileName,
  change: (bytes: Buffer) => Buffer,
): Promise<{ readonly wrong: readonly string[]; readonly refused: readonly string[] }> {
  const folder = `${place.folder}-changed`;
  rmSync(folder, { recursive: true, force: true });
  copyPlace(join(place.folder, 'perdure.db'), folder);
  const path = join(folder, 'perdure.db');
  writeFileSync(path + file, change(readFileSync(path + file)));

  const wrong: string[] = [];
  const refused: string[] = [];
  const attempt = async (name: string, work: () => Promise<string | undefined>): Promise<void> => {
    try {
      const difference = await work();
      if (difference !== undefined) wrong.push(`${name}: ${difference}`);
    } catch (error) {
      if (isPerdureError(error)) refused.push(error.code);
      else wrong.push(`${name}: ${String(error)}`);
    }
  };
  await attempt('open', async () => {
    const { events, close } = await openSqliteStores({ path, driver });
    for (const [name, facts] of place.streams) await attempt(name, () => differenceOf(events, name, facts));
    await attempt('store', () => differenceOfStore(events, place));
    await attempt('close', async () => {
      await close();
      return undefined;
    });
    return undefined;
  });
  return { wrong, refused };
}

export function sizeOf(place: SavedPlace, file: StoreFileName): number {
  return readFileSync(join(place.folder, `perdure.db${file}`)).byteLength;
}

async function differenceOf(events: EventStore, name: string, facts: readonly NewFact[]): Promise<string | undefined> {
  // What a draft lost at its end was lost with the log, which is allowed; what it has must be right.
  const isWeak = name.startsWith('draft-');
  for (const omitDetail of [false, true]) {
    const found = await readAll(events, name, { omitDetail });
    const expected = facts.flatMap((fact, revision) =>
      omitDetail && fact.detail === true ? [] : [{ ...fact, revision }],
    );
    if (isWeak ? found.length > expected.length : found.length !== expected.length) {
      return `${found.length} facts instead of ${expected.length}`;
    }
    for (const [index, { id, type, payload, metadata, revision }] of found.entries()) {
      const { detail: _, ...right } = expected[index] ?? {};
      if (JSON.stringify({ id, type, payload, metadata, revision }) !== JSON.stringify(ordered(right))) {
        return `fact ${index} is another one`;
      }
    }
  }
  return undefined;
}

async function differenceOfStore(events: EventStore, { streams }: SavedPlace): Promise<string | undefined> {
  const found = await followAll(events, { categories: ['session', 'budget'] });
  for (const [name, facts] of streams) {
    if (name.startsWith('draft-')) continue;
    const ids = found.filter(({ stream }) => stream === name).map(({ id }) => id);
    if (JSON.stringify(ids) !== JSON.stringify(facts.map(({ id }) => id))) return `${name} has ${ids.length} facts`;
  }
  return undefined;
}

function ordered(fact: Partial<NewFact & { revision: number }>): object {
  const { id, type, payload, metadata, revision } = fact;
  return { id, type, payload, metadata, revision };
}

function copyPlace(path: string, folder: string): void {
  mkdirSync(folder);
  for (const file of FILES) {
    if (existsSync(path + file)) copyFileSync(path + file, join(folder, `perdure.db${file}`));
  }
}
