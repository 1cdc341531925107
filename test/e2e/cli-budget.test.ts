import { afterAll, beforeAll, expect, test } from 'vitest';
import { startModelServer, type ModelServer } from '@perdure/testing';
import { bundledPlugin, CliPlace } from './cli-process.js';

let server: ModelServer;
let place: CliPlace;
beforeAll(async () => {
  place = (await CliPlace.builder())();
  const usage = { inputTokens: 4_900, outputTokens: 100, totalTokens: 5_000 };
  server = await startModelServer({ script: { rules: [{ answer: { text: 'Here you are.', usage } }] } });
  const from = { baseUrl: server.url, modelId: 'small-1' };
  place.write('workspace/perdure.config.json', JSON.stringify(from));
  place.write(
    'workspace/priced.mjs',
    `import policyBudget from '${await bundledPlugin('policy-budget')}';
     const prices = { '*small-*': { input: 1_000_000, output: 2_000_000 } };
     export default { ...${JSON.stringify(from)}, plugins: [{ plugin: policyBudget, config: { prices } }] };`,
  );
}, 60_000);
afterAll(async () => {
  await server.close();
  place.remove();
});

interface Report {
  readonly root: string;
  readonly limits: object;
  readonly spent: object;
}
const reportOf = async (session: string): Promise<Report> =>
  JSON.parse((await place.run(['budget', session, '--json'])).out) as Report;

test('a run keeps to its budget, and so do later ones, until it is raised', { timeout: 60_000 }, async () => {
  expect(await place.run(['run', 'go', '--session', 's', '--budget', 'tokens=6000,calls=9'])).toMatchObject({
    code: 0,
  });
  expect(server.requests.at(-1)).toHaveProperty('max_tokens');
  expect(await reportOf('s')).toMatchObject({
    root: 's',
    limits: { tokens: 6_000, calls: 9 },
    spent: { tokens: 5_000, micros: 0, calls: 1 },
  });
  const before = server.requests.length;
  const refused = await place.run(['run', 'go', '--session', 's']);
  expect(refused.code).toBe(1);
  expect(refused.error).toContain('The budget of "tokens" is exhausted');
  expect(refused.error).toContain('perdure budget');
  expect(server.requests).toHaveLength(before);
  const shown = await place.run(['budget', 's', '--set', 'tokens=100000,calls=none']);
  expect(shown.out).toMatch(/tokens +100000 +5000 +0/);
  expect(shown.out).toMatch(/calls +- +1 +0/);
  expect(await place.run(['run', 'go', '--session', 's'])).toMatchObject({ code: 0 });
});

test('money needs prices, which the configuration has', { timeout: 60_000 }, async () => {
  const unpriced = await place.run(['run', 'go', '--session', 'u', '--budget', 'usd=2.50']);
  expect(unpriced.code).toBe(1);
  expect(unpriced.error).toContain('has no price');
  const config = ['--config', place.path('workspace/priced.mjs')];
  const priced = await place.run(['run', 'go', '--session', 'm', '--budget', 'usd=2.50', ...config]);
  expect(priced).toMatchObject({ code: 0, error: expect.stringContaining('session m') as string });
  expect(await reportOf('m')).toMatchObject({ limits: { micros: 2_500_000 }, spent: { micros: 5_100 } });
  expect((await place.run(['budget', 'm'])).out).toMatch(/usd +2.50 +0.0051 +0.00/);
});

test.each([
  ['budget', 'tokens'],
  ['budget', 'euro=3'],
  ['budget.tokens', 'tokens=1.5'],
  ['budget.usd', 'tokens=5,usd=-1'],
  ['budget.calls', 'calls=1,calls=2'],
  ['budget.seconds', 'seconds='],
])('a budget that is none is refused at "%s": %s', async (field, text) => {
  const refused = await place.run(['run', 'go', '--session', 'x', '--budget', text]);
  expect(refused.code).toBe(2);
  expect(refused.error).toContain(`"${field}"`);
});

test('the budget of a tenant is not shown to another, nor that of a session that is not there', async () => {
  for (const args of [
    ['budget', 's', '--tenant', 'a'],
    ['budget', 'nobody'],
  ]) {
    const refused = await place.run(args);
    expect(refused.code).toBe(2);
    expect(refused.error).toContain('There is no session');
  }
});
