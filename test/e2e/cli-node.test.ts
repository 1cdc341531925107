import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scriptByRound, startModelServer, type ModelServer } from '@perdure/testing';
import { waitUntil } from '../fixtures/wait-until.js';
import { CliPlace } from './cli-process.js';

const rounds = scriptByRound([
  { calls: [{ name: 'write', input: { file_path: 'a.txt', content: 'a' } }] },
  { text: 'As you say.' },
]);

let server: ModelServer;
let place: CliPlace;
beforeAll(async () => {
  place = (await CliPlace.builder())();
  server = await startModelServer({ script: rounds });
  const config = { baseUrl: server.url, modelId: 'small-1', shell: { mode: 'off' } };
  place.write('workspace/perdure.config.json', JSON.stringify(config));
}, 60_000);
afterAll(async () => {
  await server.close();
  place.remove();
});

test(
  'a node goes on with what others left, is listed, and drains when it is asked to',
  { timeout: 60_000 },
  async () => {
    const run = place.start(['run', 'write it', '--session', 's', '--approvals', 'wait']);
    await run.until('(or perdure deny)');
    run.child.kill('SIGKILL');
    await run.ended;
    const node = place.start(['node', 'run', '--name', 'one']);
    await node.until('the node one looks after sessions');
    expect((await place.run(['node', 'list'])).out).toMatch(/^NODE +STATE +SESSIONS\none +alive +0\n\S+ +dead +1\n$/);
    expect((await place.run(['approve', 's', '--by', 'ada'])).code).toBe(0);
    await waitUntil(() => existsSync(join(place.workspace, 'a.txt')));
    const long = place.start(['node', 'run', '--name', 'n'.repeat(200)]);
    await long.until('looks after sessions');
    expect((await place.run(['node', 'list'])).out).toMatch(/^n{63}… +alive +0$/m);
    long.child.kill('SIGTERM');
    await long.ended;
    const other = place.start(['node', 'run', '--name', 'two', '--json']);
    await other.until('"node":"two"');
    expect(await place.run(['node', 'drain', 'one', '--reason', 'it is old'])).toMatchObject({
      code: 0,
      error: expect.stringContaining('one has no session any more') as unknown,
    });
    expect(await node.ended).toMatchObject({ code: 0, error: expect.stringContaining('drained: ') as unknown });
    const listed = await place.run(['node', 'list', '--json']);
    expect(JSON.parse(listed.out)).toMatchObject([{ node: 'two', isAlive: true, sessions: 0 }]);
    other.child.kill('SIGTERM');
    const ended = await other.ended;
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.out.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      node: 'two',
      drained: { cut: 0 },
    });
    expect(await place.run(['sessions', 'show', 's'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('As you say.') as unknown,
    });
    expect((await place.run(['node', 'list'])).error).toContain('No node lives or has sessions');
  },
);

test('a wrong option and an unknown node are named', { timeout: 30_000 }, async () => {
  const capacity = await place.run(['node', 'run', '--capacity', '0']);
  expect(capacity).toMatchObject({ code: 2, error: expect.stringContaining('--capacity') as unknown });
  const asks = await place.run(['node', 'run', '--approvals', 'ask']);
  expect(asks).toMatchObject({ code: 2, error: expect.stringContaining('nobody sits at a node') as unknown });
  const unknown = await place.run(['node', 'drain', 'nobody']);
  expect(unknown.error).toContain('There is no live node "nobody"');
  expect(unknown.code).not.toBe(0);
});
