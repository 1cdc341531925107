import { LOGGER, SANDBOX, type PluginLife, type Sandbox, type Token } from '@perdure/plugin-api';
import { expect, test } from 'vitest';
import plugin, { sandboxBubblewrap } from './index.js';

/** Sets the plugin up as the runtime does, and keeps what it provides and logs. */
async function setUp(given: unknown): Promise<{ sandbox: Sandbox; life: PluginLife; logged: readonly string[] }> {
  let provided: unknown;
  const logged: string[] = [];
  const logger = { log: (level: string, message: string) => void logged.push(`${level}: ${message}`) };
  const life = await sandboxBubblewrap.setup({
    config: sandboxBubblewrap.config.parse(given),
    get: () => {
      throw new Error('nothing is needed');
    },
    find: ((token: Token<unknown>) => (token.key === LOGGER.key ? logger : undefined)) as never,
    provide: (token, value) => {
      if (token.key === SANDBOX.key) provided = value;
    },
  });
  return { sandbox: provided as Sandbox, life, logged };
}

test('the plugin provides a sandbox and says nothing when it is usable', async () => {
  expect(plugin).toBe(sandboxBubblewrap);
  const { sandbox, life, logged } = await setUp(undefined);
  expect(sandbox.id).toBe('sandbox-bubblewrap');
  await life.start?.();
  expect(logged).toEqual([]);
});

test('an operator is told at the start what keeps commands from being closed in', async () => {
  const { life, logged } = await setUp({ program: '/no/such/bwrap' });
  await life.start?.();
  expect(logged).toHaveLength(1);
  expect(logged[0]).toMatch(
    /^warn: Commands cannot be closed in: The program \/no\/such\/bwrap is not there\. .*apt-get/,
  );
});

test('its configuration is checked', () => {
  const accepts = (given: unknown): boolean => sandboxBubblewrap.config.safeParse(given).success;
  expect(accepts({ program: '/usr/bin/bwrap', readOnlyPaths: ['/opt/toolchain'] })).toBe(true);
  expect(accepts({ program: 'bwrap' })).toBe(false);
  expect(accepts({ readOnlyPaths: ['../x'] })).toBe(false);
  expect(accepts({ readOnlyPaths: ['/a/../b'] })).toBe(false);
  expect(accepts({ network: true })).toBe(false);
});
