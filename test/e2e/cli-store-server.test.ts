import { afterAll, beforeAll, expect, test } from 'vitest';
import { startModelServer, startPostgresServer, type ModelServer, type PostgresServer } from '@perdure/testing';
import { CliPlace } from './cli-process.js';

const SECRET = 's3cret-of-the-database';
/** The package of the store is found in its sources, which Node reads with help. */
const HELP = { NODE_OPTIONS: `--import=${import.meta.resolve('tsx')}` };

let model: ModelServer;
let database: PostgresServer;
let place: CliPlace;
beforeAll(async () => {
  place = (await CliPlace.builder())();
  [model, database] = await Promise.all([
    startModelServer({ script: { rules: [{ answer: { text: 'Here I am.' } }] } }),
    startPostgresServer(),
  ]);
  const config = { baseUrl: model.url, modelId: 'small-1', shell: { mode: 'off' } };
  place.write('workspace/perdure.config.json', JSON.stringify(config));
}, 60_000);
afterAll(async () => {
  await Promise.all([model.close(), database.stop()]);
  place.remove();
});

test('a server keeps the sessions, and nothing shows its password', { timeout: 120_000 }, async () => {
  const store = ['--store', `${database.socketUrl}&password=${SECRET}`];
  const run = await place.run(['run', 'Where are you?', '--session', 's', ...store], HELP);
  expect(run).toMatchObject({ code: 0, out: 'Here I am.\n' });
  const node = place.start(['node', 'run', '--name', 'one', ...store], HELP);
  await node.until('the node one looks after sessions');
  const nodes = await place.run(['node', 'list', ...store], HELP);
  expect(nodes.out).toMatch(/^NODE +STATE +SESSIONS\none +alive +0\n$/);
  const sessions = await place.run(['sessions', 'list', ...store], HELP);
  expect(sessions.out).toMatch(/^s .* Where are you\?$/m);
  node.child.kill('SIGTERM');
  const ended = await node.ended;
  expect(ended.code).toBe(0);
  expect((await place.run(['sessions', 'list'])).out).toBe('');
  const printed = [run, nodes, sessions, ended].flatMap(({ out, error }) => [out, error]).join('\n');
  expect(printed).not.toContain(SECRET);
});

test('a server that is not there is told without the address', { timeout: 120_000 }, async () => {
  const address = `postgres://ada:${SECRET}@127.0.0.1:1/agents`;
  const failed = await place.run(['sessions', 'list', '--store', address], { ...HELP, PERDURE_DEBUG: '1' });
  const error = expect.stringContaining('PERDURE_STORE_UNAVAILABLE') as unknown;
  expect(failed).toMatchObject({ code: 5, out: '', error });
  expect(failed.error).not.toContain(SECRET);
});
