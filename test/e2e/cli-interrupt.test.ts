import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { scriptByRound, startModelServer, type ModelServer } from '@perdure/testing';
import { CliPlace, envelopesOf, jsonLines, sessionOf, type CliProcess } from './cli-process.js';

const rounds = scriptByRound([
  { calls: [{ name: 'write', input: { file_path: 'first.txt', content: 'once' } }] },
  { text: 'Now the slow one.', calls: [{ name: 'linger', input: {} }] },
  { text: 'Done.' },
]);

/** A tool that waits for a file, tells that it does, and can be stopped. */
const config = (url: string): string => `
  import { appendFileSync, existsSync } from 'node:fs';
  const linger = {
    description: 'Waits.', inputSchema: { type: 'object' }, effect: 'idempotent', permissionSubjects: () => ['it'],
    execute: async (_, { workspace, abortSignal }) => {
      appendFileSync(workspace + '/ran', 'ran\\n');
      while (!existsSync(workspace + '/go')) {
        abortSignal.throwIfAborted();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return 'went';
    },
  };
  export default {
    baseUrl: ${JSON.stringify(url)}, modelId: 'small-1',
    permissions: { allow: ['write', 'linger'] },
    agent: { tools: { linger } },
  };`;

let server: ModelServer;
let makePlace: () => CliPlace;
let place: CliPlace;
const places: CliPlace[] = [];
beforeAll(async () => {
  makePlace = await CliPlace.builder();
  server = await startModelServer({ script: rounds });
}, 60_000);
afterAll(async () => {
  await server.close();
  for (const each of places) each.remove();
});
beforeEach(() => {
  place = makePlace();
  places.push(place);
  place.write('workspace/perdure.config.mjs', config(server.url));
});
const runs = (): number => {
  const file = join(place.workspace, 'ran');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0;
};
const go = (): void => writeFileSync(join(place.workspace, 'go'), '');

/** A run that is in the middle of its slow tool. */
async function lingering(args: readonly string[] = []): Promise<CliProcess> {
  const before = runs();
  const started = place.start(['run', 'do it', ...args]);
  let isOver = false;
  void started.ended.then(() => (isOver = true));
  while (runs() === before && !isOver) await new Promise((resolve) => setTimeout(resolve, 10));
  return started;
}

describe('a run that is killed in a tool', () => {
  test('is resumed by the next process, and what was done is not done again', async () => {
    const killed = await lingering();
    killed.child.kill('SIGKILL');
    const { signal, error } = await killed.ended;
    expect(signal).toBe('SIGKILL');
    go();
    const resumed = await place.run(['resume']);
    expect(resumed).toMatchObject({ code: 0, out: 'Done.\n' });
    expect(sessionOf(resumed)).toBe(sessionOf({ error }));
    expect(resumed.error).not.toContain('write first.txt');
    expect(resumed.error).toContain('[completed] linger');
    expect(runs()).toBe(2);
    const facts = jsonLines((await place.run(['sessions', 'events', sessionOf(resumed), '--facts', '--json'])).out);
    const types = facts.map((fact) => (fact as { readonly type: string }).type);
    expect(types.filter((type) => type === 'ToolCallSettled')).toHaveLength(2);
    expect(types.filter((type) => type === 'RunStarted')).toHaveLength(2);
    const replayed = await place.run(['sessions', 'replay', sessionOf(resumed), '--verify']);
    expect(replayed).toMatchObject({ code: 0, out: expect.stringContaining('no difference') as unknown });
    expect(await place.run(['resume'])).toMatchObject({ code: 0, out: '' });
  });

  test('gives the rest of its events as JSON, and only the rest', async () => {
    const killed = await lingering(['--session', 's']);
    killed.child.kill('SIGKILL');
    await killed.ended;
    go();
    const { out, code } = await place.run(['resume', 's', '--json']);
    expect(code).toBe(0);
    const types = envelopesOf(jsonLines(out)).map(({ type }) => type);
    expect(types[0]).toBe('ownership_taken');
    expect(types.filter((type) => type === 'tool_end')).toHaveLength(1);
    expect(types.at(-1)).toBe('agent_end');
    expect(jsonLines(out).at(-1)).toMatchObject({ result: { status: 'completed', text: 'Done.' } });
  });

  test('is left alone while its process lives, unless it is taken over', async () => {
    const owner = await lingering(['--session', 's']);
    const busy = await place.run(['run', 'more', '--session', 's']);
    expect(busy.code).toBe(3);
    expect(busy.error).toContain('perdure resume s');
    const waiting = place.start(['resume', 's']);
    await waiting.until('waiting up to 10 s');
    const leaving = place.start(['resume', 's']);
    await leaving.until('waiting up to 10 s');
    leaving.child.kill('SIGINT');
    expect((await leaving.ended).signal).toBe('SIGINT');
    const taker = place.start(['resume', 's', '--take-over']);
    while (runs() < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    go();
    const taken = await taker.ended;
    expect([taken.code, taken.out.endsWith('Done.\n')]).toEqual([0, true]);
    // The one who waited finds that nothing is left to do; the old owner sees its turn end elsewhere.
    expect((await waiting.ended).code).toBe(0);
    expect((await owner.ended).code).toBe(0);
  });

  test('names the node that has it when the wait is over', async () => {
    const owner = await lingering(['--session', 's']);
    const { code, error } = await place.run(['resume', 's', '--json']);
    expect(code).toBe(3);
    const { error: told } = JSON.parse(error) as { error: { code: string; message: string } };
    expect(told.code).toBe('PERDURE_SESSION_OWNED');
    expect(told.message).toMatch(/owned by the live node "[^"]+-[0-9a-f]{8}"/);
    owner.child.kill('SIGKILL');
    await owner.ended;
  });
});

test('a resume without a tool of the last step needs to be told so', async () => {
  const killed = await lingering(['--session', 's']);
  killed.child.kill('SIGKILL');
  await killed.ended;
  place.write('workspace/perdure.config.mjs', config(server.url).replace('tools: { linger }', ''));
  const refused = await place.run(['resume', 's']);
  expect(refused.code).toBe(2);
  expect(refused.error).toContain('the tool "linger"');
  expect(refused.error).toContain('--without-missing');
  const resumed = await place.run(['resume', 's', '--without-missing']);
  expect(resumed.code).toBe(0);
  expect(resumed.error).toContain('[failed] linger');
  expect(runs()).toBe(1);
});

describe('signals', () => {
  test('the first Ctrl-C stops the turn and says how to go on', async () => {
    const { child, ended } = await lingering(['--session', 's']);
    child.kill('SIGINT');
    const { code, error } = await ended;
    expect(code).toBe(130);
    expect(error).toContain('what is left then: perdure resume s');
    expect(error).toContain('stopped; to go on with another prompt: perdure run "…" --session s');
    const shown = JSON.parse((await place.run(['sessions', 'show', 's', '--json'])).out) as {
      session: { turn: unknown };
    };
    expect(shown.session.turn).toBeNull();
  });

  test('the second Ctrl-C leaves at once, and a resume brings the stopped turn to its end', async () => {
    const stubborn = config(server.url).replace('abortSignal.throwIfAborted();', '');
    place.write('workspace/perdure.config.mjs', stubborn);
    const { child, ended, until } = await lingering(['--session', 's']);
    child.kill('SIGINT');
    await until('Ctrl-C again leaves at once');
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
    const resumed = await place.run(['resume', 's']);
    expect(resumed.code).toBe(1);
    expect(resumed.error).toContain('stopped; to go on with another prompt');
  });

  test('SIGTERM leaves the turn where it can be resumed', async () => {
    const { child, ended } = await lingering(['--session', 's', '--deny', 'edit']);
    child.kill('SIGTERM');
    const { code, error } = await ended;
    expect(code).toBe(143);
    expect(error).toContain('to go on: perdure resume s --deny edit');
    go();
    expect(await place.run(['resume', 's', '--deny', 'edit'])).toMatchObject({ code: 0, out: 'Done.\n' });
  });
});
