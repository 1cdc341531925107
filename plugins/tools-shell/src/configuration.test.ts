import { expect, test } from 'vitest';
import { commandEnvironment } from './command/command-environment.js';
import { shellConfiguration } from './configuration.js';

const accepts = (given: unknown): boolean => shellConfiguration.safeParse(given).success;

test('what nobody asked for is closed in, and sees no variable of the runtime', () => {
  const usual = shellConfiguration.parse({});
  expect(usual).toMatchObject({ mode: 'safe', environment: [], variables: {}, hidden: [] });
  expect(commandEnvironment(usual, { HOME: '/root', OPENAI_API_KEY: 'x' })).toEqual({});
});

test('named variables are handed in, and fixed ones win', () => {
  const names = { environment: ['PATH', 'CI', 'MISSING'], variables: { CI: 'yes' } };
  expect(commandEnvironment(names, { PATH: '/bin', CI: 'true', SECRET: 'x' })).toEqual({ PATH: '/bin', CI: 'yes' });
});

test('the session has variables of its own, which win, but none of the loader', () => {
  const names = { environment: ['PATH'], variables: { CI: 'yes' } };
  const own = { CI: 'no', TOKEN: 'x', LD_PRELOAD: '/tmp/a.so' };
  expect(commandEnvironment(names, { PATH: '/bin' }, own)).toEqual({ PATH: '/bin', CI: 'no', TOKEN: 'x' });
});

test.each(['OPENAI_API_KEY', 'GITHUB_TOKEN', 'AWS_SECRET_ACCESS_KEY', 'DB_PASSWORD', 'SSH_AUTH_SOCK', 'NPM_AUTH'])(
  'the name %s is refused, because secrets have such names',
  (name) => {
    expect(accepts({ environment: [name] })).toBe(false);
    expect(accepts({ variables: { [name]: 'x' } })).toBe(false);
  },
);

test.each([
  { environment: ['LD_PRELOAD'] },
  { environment: ['A=B'] },
  { variables: { A: 'b\0' } },
  { hidden: ['/absolute/'] },
  { hidden: ['/a/../b'] },
  { hidden: ['../outside'] },
  { hidden: ['.'] },
  { hidden: ['a/../b'] },
  { shell: 'sh' },
  { mode: 'always' },
  { timeoutMs: 700_000 },
  { outputBytes: 10 },
  { limits: { processes: 0 } },
  { network: true },
])('%j is refused', (given) => {
  expect(accepts(given)).toBe(false);
});

test('paths that are hidden are of the workspace, or absolute', () => {
  expect(accepts({ hidden: ['/var/lib/perdure.db'] })).toBe(true);
  expect(accepts({ hidden: ['.state', 'packages/app/.env'] })).toBe(true);
});
