import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startModelServer, type ModelServer } from '@perdure/testing';
import { bundle } from '../fixtures/bundle.js';
import { CliPlace } from './cli-process.js';

const url = 'http://127.0.0.1:59997/mcp';
const configured = (): object =>
  JSON.parse(readFileSync(place.path('workspace/perdure.config.json'), 'utf8')) as object;

let model: ModelServer;
let place: CliPlace;
let command: readonly string[];
beforeAll(async () => {
  const server = await bundle(new URL('../fixtures/mcp-server.fixture.ts', import.meta.url));
  place = (await CliPlace.builder())();
  mkdirSync(place.path('served'));
  command = [process.execPath, server, 'stdio', place.path('served')];
  const call = { calls: [{ name: 'mcp__notes__count', input: {} }] };
  model = await startModelServer({
    script: { rules: [{ when: { toolResults: 0 }, answer: call }, { answer: { text: 'Done.' } }] },
  });
  place.write(
    'workspace/perdure.config.json',
    JSON.stringify({ baseUrl: model.url, modelId: 'm', mcp: { servers: { gone: { url } } } }),
  );
}, 60_000);
afterAll(async () => {
  await model.close();
  place.remove();
});

test('servers are added, looked at, used and removed', { timeout: 120_000 }, async () => {
  const added = await place.run(['mcp', 'add', 'notes', '--variable', 'TOPIC=weather', '--', ...command]);
  expect(added).toMatchObject({ code: 0, out: expect.stringContaining('added notes') });
  expect(configured()).toMatchObject({
    modelId: 'm',
    mcp: { servers: { gone: { url }, notes: { variables: { TOPIC: 'weather' } } } },
  });
  const listed = await place.run(['mcp', 'list']);
  expect(listed.out).toMatch(/^gone +http +none +http:\/\/127\.0\.0\.1:59997\/mcp\nnotes +stdio +none +.*stdio.*$/m);
  expect(listed.out).not.toContain('weather');
  const checked = await place.run(['mcp', 'doctor']);
  expect(checked.code).toBe(1);
  expect(checked.out).toMatch(/^ok +notes +protocol 2025-11-25, fixture 1, 15 tools$/m);
  expect(checked.out).toMatch(/^fail +gone +.*cannot be reached/m);
  expect(await place.run(['mcp', 'remove', 'gone'])).toMatchObject({ code: 0 });
  expect(configured()).toMatchObject({ mcp: { servers: { notes: {} } } });

  const ran = await place.run(['run', 'go', '--allow', 'mcp__notes__count']);
  expect(ran).toMatchObject({ code: 0, out: expect.stringContaining('Done.') });
  expect(readFileSync(place.path('served/calls.log'), 'utf8')).toMatch(/^count$/m);
  const session = /^session (\S+)/m.exec(ran.error)?.[1] ?? '';
  const replayed = await place.run(['sessions', 'replay', session, '--verify', '--allow', 'mcp__notes__count']);
  expect(replayed).toMatchObject({ code: 0, out: expect.stringContaining('no difference') });
});

test('what is no server is refused, and nothing is written', { timeout: 60_000 }, async () => {
  const before = readFileSync(place.path('workspace/perdure.config.json'), 'utf8');
  for (const [args, field] of [
    [['add', 'a__b', '--', 'x'], 'mcp.servers.a__b'],
    [['add', 'a', '--url', 'ftp://x'], 'mcp.servers.a.url'],
    [['remove', 'nobody'], 'mcp.servers.nobody'],
  ] as const) {
    const refused = await place.run(['mcp', ...args]);
    expect(refused.code).toBe(2);
    expect(refused.error).toContain(`"${field}"`);
  }
  expect(readFileSync(place.path('workspace/perdure.config.json'), 'utf8')).toBe(before);
  const code = place.write('code/perdure.config.mjs', 'export default {};');
  const refused = await place.run(['mcp', 'add', 'a', '--config', code, '--', 'x']);
  expect(refused).toMatchObject({ code: 2, error: expect.stringContaining('is code') });
});
