import { LOGGER, SANDBOX, TOOLS, type Logger, type Sandbox, type Token, type ToolSource } from '@perdure/plugin-api';
import { expect, test } from 'vitest';
import plugin, { toolsShell } from './index.js';
import { unusableSandbox, usableSandbox } from './testing/recording-sandbox.js';
import { failure, temporaryWorkspace } from './testing/temporary-workspace.js';

/** Sets the plugin up and starts it as the runtime does. */
async function setUp(given: unknown, sandbox?: Sandbox, logged: string[] = []): Promise<ToolSource> {
  let provided: unknown;
  const logger: Logger = { log: (_, message) => void logged.push(message) };
  const parts = new Map<symbol, unknown>([
    [SANDBOX.key, sandbox],
    [LOGGER.key, logger],
  ]);
  const running = await toolsShell.setup({
    config: toolsShell.config.parse(given),
    get: () => {
      throw new Error('nothing is needed');
    },
    find: ((token: Token<unknown>) => parts.get(token.key)) as never,
    provide: (token, value) => {
      if (token.key === TOOLS.key) provided = value;
    },
  });
  await running.start?.();
  return provided as ToolSource;
}

test('the plugin provides a tool for the workspace of a session, which uses the sandbox there is [R33]', async () => {
  expect(plugin).toBe(toolsShell);
  const { workspace } = temporaryWorkspace();
  const sandbox = unusableSandbox();
  const { tools } = await setUp(undefined, sandbox);
  expect(Object.keys(tools({ workspace }))).toEqual(['shell_exec']);
  const tool = tools({ workspace })['shell_exec'];
  expect(tool !== undefined && (await failure(tool, { command: 'true' }))).toBe('PERDURE_SANDBOX_UNAVAILABLE');
  expect(sandbox.asked).toHaveLength(1);
});

test('without a workspace, and when it is switched off, there is no tool', async () => {
  expect((await setUp({})).tools({ workspace: undefined })).toEqual({});
  expect((await setUp({ mode: 'off' })).tools({ workspace: '/w' })).toEqual({});
});

test('where it is to be left out without a sandbox, there is none and the operator is told', async () => {
  const names = ({ tools }: ToolSource): readonly string[] => Object.keys(tools({ workspace: '/w' }));
  const config = { withoutSandbox: 'leave-out' };
  const logged: string[] = [];
  expect(names(await setUp(config, unusableSandbox(), logged))).toEqual([]);
  expect(names(await setUp(config, undefined, logged))).toEqual([]);
  expect(logged).toEqual(Array.from({ length: 2 }, () => expect.stringContaining('no sandbox can be used') as unknown));
  expect(names(await setUp(config, usableSandbox()))).toEqual(['shell_exec']);
  // To run outside of a sandbox none is needed.
  expect(names(await setUp({ ...config, mode: 'unrestricted' }))).toEqual(['shell_exec']);
  expect(logged).toHaveLength(2);
});
