import { afterAll, beforeAll, expect, test } from 'vitest';
import { startModelServer, type ModelServer } from '@perdure/testing';
import { CliPlace, jsonLines } from './cli-process.js';

let server: ModelServer;
let place: CliPlace;
let model: readonly string[];
beforeAll(async () => {
  place = (await CliPlace.builder())();
  server = await startModelServer({ script: { rules: [{ answer: { text: 'In the CELLAR.' } }] }, models: ['small-1'] });
  model = ['--base-url', server.url, '--model-id', 'small-1'];
  const { code } = await place.run(['run', 'where is the wine?', '--session', 's', ...model]);
  expect(code).toBe(0);
}, 60_000);
afterAll(async () => {
  await server.close();
  place.remove();
});

test('a session is put away, found, shown and brought back', async () => {
  const archived = await place.run(['sessions', 'archive', 's', '--reason', 'done']);
  expect([archived.code, archived.out]).toEqual([0, 'archived s\n']);
  expect((await place.run(['sessions', 'list', '--json'])).out).toBe('[]\n');
  const [, row = ''] = (await place.run(['sessions', 'list', '--archived', '--query', 'WINE'])).out.split('\n');
  expect(row).toMatch(/^s .* archived +30? .*where is the wine\?$|^s .* archived .*where is the wine\?$/);
  const found = await place.run(['sessions', 'search', 'the cellar', '--archived', '--json']);
  expect(JSON.parse(found.out)).toMatchObject([{ id: 's', found: { in: 'preview', excerpt: 'In the CELLAR.' } }]);
  const shown = await place.run(['sessions', 'show', 's']);
  expect(shown.out).toMatch(
    /^where is the wine\?\nsession s of the agent perdure.*\nsince .*, last answered by small-1\narchived since /,
  );
  const refused = await place.run(['run', 'and the bread?', '--session', 's', ...model, '--json']);
  expect(refused.code).toBe(1);
  expect(jsonLines(refused.error)).toMatchObject([{ error: { code: 'PERDURE_SESSION_ARCHIVED' } }]);
  const again = await place.run(['sessions', 'archive', 's']);
  expect([again.code, again.error]).toEqual([1, expect.stringContaining('perdure sessions restore')]);
  expect((await place.run(['sessions', 'restore', 's'])).out).toBe('restored s\n');
  expect((await place.run(['run', 'and the bread?', '--session', 's', ...model])).code).toBe(0);
}, 60_000);
