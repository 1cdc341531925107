import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fixtureCommand, startChild } from './child-process.fixture.js';
import { newFacts, store } from './facts.fixture.js';
import { observedDriver } from './observed-driver.fixture.js';
import { openSqliteStores } from './open-sqlite-stores.js';
import { presentDrivers, temporaryFolder } from './temporary-stores.fixture.js';

const hasTracer = spawnSync('strace', ['-V']).status === 0;
const FULL = 2;
const NORMAL = 1;

for (const driver of await presentDrivers()) {
  test.skipIf(!hasTracer)(
    `facts wait for the disk before they are acknowledged, drafts do not (${driver.name}; needs strace)`,
    { timeout: 120_000 },
    async () => {
      const { folder, path, remove } = temporaryFolder();
      const trace = `${folder}/trace`;
      const command = fixtureCommand('fsync', [path, driver.name]);
      const child = startChild(['strace', '-f', '-e', 'trace=fsync,fdatasync,write', '-o', trace, ...command]);
      child.go();
      const { code, errors } = await child.end;
      expect({ code, errors }).toEqual({ code: 0, errors: '' });

      const waits = waitsOf(readFileSync(trace, 'utf8'));
      for (const name of ['alone', 'turns', 'mixed']) {
        for (let round = 0; round < 12; round++)
          expect(waits.get(`${name} ${round}`), `${name} ${round}`).toBeGreaterThan(0);
      }
      for (const name of ['draft', 'lease', 'projection']) {
        for (let round = 0; round < 12; round++) expect(waits.get(`${name} ${round}`), `${name} ${round}`).toBe(0);
      }
      remove();
    },
  );

  test(`every commit runs with the synchronisation that it needs (${driver.name})`, async () => {
    const { path, remove } = temporaryFolder();
    const levels: number[] = [];
    const observed = observedDriver(driver, ({ verb, sql, connection }) => {
      if (verb !== 'run' || !/^(commit|insert into batch)/.test(sql)) return;
      levels.push(Object.values(connection.prepare('pragma synchronous').get() as object)[0] as number);
    });
    const { events, artifacts, projections, snapshots, close } = await openSqliteStores({ path, driver: observed });
    const levelsOf = async (work: () => Promise<unknown>): Promise<ReadonlySet<number>> => {
      levels.length = 0;
      await work();
      expect(levels).not.toEqual([]);
      return new Set(levels);
    };
    const append = (stream: string, expected: number | 'none') => () => store(events, stream, newFacts(1), expected);
    const change = { expected: undefined, checkpoint: '1', put: [], remove: [] };
    for (let round = 0; round < 6; round++) {
      const expected = round === 0 ? 'none' : round - 1;
      expect(await levelsOf(append('draft-_.a', expected))).toEqual(new Set([NORMAL]));
      expect(await levelsOf(append('session-_.a', expected))).toEqual(new Set([FULL]));
    }
    const beside = async (): Promise<unknown> =>
      Promise.all([append('draft-_.b', 'none')(), append('session-_.b', 'none')(), append('lease-n', 'none')()]);
    expect(await levelsOf(beside)).toEqual(new Set([FULL]));
    expect(await levelsOf(() => projections.commit('list', change))).toEqual(new Set([NORMAL]));
    expect(await levelsOf(() => events.truncate('session-_.a', 2))).toEqual(new Set([FULL]));
    expect(await levelsOf(() => events.truncate('draft-_.a', 2))).toEqual(new Set([NORMAL]));
    expect(await levelsOf(() => artifacts.put(undefined, Buffer.from('x')))).toEqual(new Set([FULL]));
    expect(await levelsOf(() => snapshots.delete('k'))).toEqual(new Set([FULL]));
    await close();
    remove();
  });
}

/** How many completed waits for the disk are between the begin and the end of each append. */
function waitsOf(trace: string): ReadonlyMap<string, number> {
  const waits = new Map<string, number>();
  let open: string | undefined;
  for (const line of trace.split('\n')) {
    const mark = /write\(1, "(begin|end) (\w+ \d+)\\n"/.exec(line);
    if (mark?.[1] === 'begin' && mark[2] !== undefined) {
      open = mark[2];
      waits.set(open, 0);
    } else if (mark?.[1] === 'end') {
      open = undefined;
    } else if (open !== undefined && /(fdatasync|fsync)(\(| resumed>).*= 0$/.test(line)) {
      waits.set(open, (waits.get(open) ?? 0) + 1);
    }
  }
  return waits;
}
