import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scriptByRound, startModelServer, type ModelServer } from '@perdure/testing';
import { CliPlace } from './cli-process.js';

let server: ModelServer;
let place: CliPlace;
let model: readonly string[];
beforeAll(async () => {
  place = (await CliPlace.builder())();
  server = await startModelServer({ script: scriptByRound([{ text: 'There is nothing.' }]), models: ['small-1'] });
  model = ['--base-url', server.url, '--model-id', 'small-1'];
  const { code } = await place.run(['run', 'what is there?', '--session', 's', ...model, '--allow', 'write(x)']);
  expect(code).toBe(0);
}, 60_000);
afterAll(async () => {
  await server.close();
  place.remove();
});

const sessions = (...args: readonly string[]) => place.run(['sessions', ...args]);

test('an exported stream is restored byte for byte into another store, once', { timeout: 60_000 }, async () => {
  const file = place.path('facts.jsonl');
  const other = ['--store', place.path('restored.db')];
  expect((await sessions('export', 's', '--format', 'facts', '--out', file)).code).toBe(0);
  const first = await sessions('import', file, ...other, '--json');
  expect([first.code, first.error]).toEqual([0, '']);
  expect(JSON.parse(first.out)).toMatchObject({ session: 's', kind: 'facts' });
  expect((await sessions('export', 's', '--format', 'facts', ...other)).out).toBe(readFileSync(file, 'utf8'));
  expect((await sessions('import', file, ...other)).out).toContain('0 of them added');
  const changed = place.path('changed.jsonl');
  writeFileSync(changed, readFileSync(file, 'utf8').replace('what is', 'WHAT IS'));
  const broken = await sessions('import', changed, '--store', place.path('broken.db'));
  expect([broken.code, broken.error]).toEqual([4, expect.stringContaining('PERDURE_CHAIN_BROKEN')]);
});

test('a snapshot becomes a session that goes on; the same again is the same', { timeout: 60_000 }, async () => {
  const file = place.path('snapshot.json');
  expect((await sessions('export', 's', '--out', file)).code).toBe(0);
  const made = JSON.parse((await sessions('import', file, '--id', 'again', '--json')).out) as { session: string };
  expect(made).toEqual({ session: 'again', kind: 'snapshot', messages: 2 });
  expect((await sessions('import', file, '--id', 'again')).out).toContain('imported again: 2 messages');
  const more = await place.run(['run', 'and now?', '--session', 'again', ...model, '--allow', 'write(x)']);
  expect(more.code).toBe(0);
  expect(JSON.stringify(server.requests.at(-1))).toContain('what is there?');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"schema_version": 1', '"schema_version": 9'));
  const refused = await sessions('import', file);
  expect([refused.code, refused.error]).toEqual([2, expect.stringContaining('schema_version')]);
  expect((await sessions('import', place.path('none.json'))).error).toContain('PERDURE_INPUT_INVALID');
});

test('the facts of a fork are refused without the session that it goes on from', { timeout: 60_000 }, async () => {
  expect((await sessions('fork', 's', '--session', 'f')).code).toBe(0);
  const [file, origin] = [place.path('f.jsonl'), place.path('s.jsonl')];
  for (const [id, out] of [['f', file] as const, ['s', origin] as const]) {
    expect((await sessions('export', id, '--format', 'facts', '--out', out)).code).toBe(0);
  }
  const other = ['--store', place.path('fork.db')];
  const refused = await sessions('import', file, ...other);
  expect(refused.code).toBe(4);
  expect(refused.error).toMatch(
    /"f" is a fork of "s" at revision \d+.*import that first.*PERDURE_FORK_ORIGIN_MISSING/s,
  );
  expect((await sessions('show', 'f', ...other)).error).toContain('PERDURE_SESSION_NOT_FOUND');
  expect((await sessions('import', origin, ...other)).code).toBe(0);
  expect((await sessions('import', file, ...other)).code).toBe(0);
  expect((await sessions('verify', 'f', ...other)).code).toBe(0);
  expect((await sessions('show', 'f', ...other)).out).toContain('what is there?');
});
