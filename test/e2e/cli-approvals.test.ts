import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scriptByRound, startModelServer, type ModelServer } from '@perdure/testing';
import { CliPlace } from './cli-process.js';

const rounds = scriptByRound([
  { calls: [{ name: 'write', input: { file_path: 'a.txt', content: 'a' } }] },
  { text: 'As you say.' },
]);

let server: ModelServer;
let place: CliPlace;
const config = (more: object): void => {
  const own = { baseUrl: server.url, modelId: 'small-1', shell: { mode: 'off' }, ...more };
  place.write('workspace/perdure.config.json', JSON.stringify(own));
};
beforeAll(async () => {
  place = (await CliPlace.builder())();
  server = await startModelServer({ script: rounds });
  config({});
}, 60_000);
afterAll(async () => {
  await server.close();
  place.remove();
});
const written = (): boolean => existsSync(join(place.workspace, 'a.txt'));

describe('in a pipe', () => {
  test('nothing waits for an approval unless it is told to', { timeout: 30_000 }, async () => {
    const denied = await place.run(['run', 'write it', '--session', 'd']);
    expect(denied).toMatchObject({ code: 0, out: 'As you say.\n' });
    expect(denied.error).toContain('[denied] write a.txt');
    expect(written()).toBe(false);
    const refused = await place.run(['run', 'write it', '--approvals', 'ask']);
    expect(refused.code).toBe(2);
    expect(refused.error).toContain('there is no terminal to ask at');
    expect((await place.run(['run', 'write it', '--approvals', 'maybe'])).code).toBe(2);
  });

  test('--approvals wait says what to type, and goes on with the answer', { timeout: 60_000 }, async () => {
    const run = place.start(['run', 'write it', '--session', 'w', '--approvals', 'wait']);
    await run.until('(or perdure deny)');
    expect(await place.run(['approve', 'w', '--by', 'ada'])).toMatchObject({ code: 0 });
    const ended = await run.ended;
    expect(ended).toMatchObject({ code: 0, out: 'As you say.\n' });
    const [, named = ''] = /perdure approve w (\S+) /.exec(ended.error) ?? [];
    expect(named).not.toBe('');
    expect(written()).toBe(true);
    rmSync(join(place.workspace, 'a.txt'));
    // A run that waited, and one that asked nobody, are decided again alike.
    expect(await place.run(['run', 'again', '--session', 'w'])).toMatchObject({ code: 0 });
    const replayed = await place.run(['sessions', 'replay', 'w', '--verify']);
    expect(replayed).toMatchObject({ code: 0, out: expect.stringContaining('no difference') as unknown });
  });

  test(
    'what was answered goes on with a plain resume, and what was stopped ends with it',
    { timeout: 60_000 },
    async () => {
      for (const session of ['r', 'x']) {
        const run = place.start(['run', 'write it', '--session', session, '--approvals', 'wait']);
        await run.until('(or perdure deny)');
        run.child.kill('SIGKILL');
        await run.ended;
      }
      expect((await place.run(['approve', 'r', '--by', 'ada'])).code).toBe(0);
      expect(await place.run(['resume', 'r'])).toMatchObject({ code: 0, out: 'As you say.\n' });
      expect(written()).toBe(true);
      rmSync(join(place.workspace, 'a.txt'));
      expect((await place.run(['stop', 'x'])).code).toBe(0);
      expect((await place.run(['approve', 'x'])).code).toBe(2);
      expect((await place.run(['resume', 'x'])).error).toContain('stopped');
      expect(written()).toBe(false);
    },
  );

  test('a turn that was left waiting is named and left, and waited for when told to', { timeout: 60_000 }, async () => {
    const run = place.start(['run', 'write it', '--session', 'l', '--approvals', 'wait']);
    await run.until('(or perdure deny)');
    run.child.kill('SIGKILL');
    await run.ended;
    const left = await place.run(['resume', 'l']);
    expect(left.code).toBe(1);
    expect(left.error).toContain('The turn waits for an answer.');
    expect(left.error).toMatch(/perdure approve l \S+/);
    const told = JSON.parse((await place.run(['resume', 'l', '--json'])).out) as object;
    expect(told).toMatchObject({ result: { status: 'waiting', interactions: [expect.any(String)], exitCode: 1 } });
    const waiting = place.start(['resume', 'l', '--approvals', 'wait']);
    await waiting.until('(or perdure deny)');
    expect(await place.run(['deny', 'l', '--reason', 'not today'])).toMatchObject({ code: 0 });
    const ended = await waiting.ended;
    expect(ended).toMatchObject({ code: 0, out: 'As you say.\n' });
    expect(ended.error).toContain('not today');
    expect(written()).toBe(false);
  });
});

test('the configuration may have turns wait, and the command line has the last word', { timeout: 60_000 }, async () => {
  config({ approvals: { mode: 'wait', expiresInMs: 50, onExpiry: 'allow' } });
  expect(await place.run(['run', 'write it', '--approvals', 'deny'])).toMatchObject({ code: 0 });
  expect(written()).toBe(false);
  expect(await place.run(['run', 'write it'])).toMatchObject({ code: 0 });
  expect(written()).toBe(true);
  config({ approvals: { mode: 'wait', expiresInMs: 0 } });
  const bad = await place.run(['run', 'write it']);
  expect(bad.code).toBe(2);
  expect(bad.error).toContain('approvals.expiresInMs');
});
