import { SANDBOX, TOOLS, type Sandbox, type Token, type ToolSource } from '@perdure/plugin-api';
import { expect, test } from 'vitest';
import plugin, { toolsShell } from './index.js';
import { unusableSandbox } from './testing/recording-sandbox.js';
import { failure, temporaryWorkspace } from './testing/temporary-workspace.js';

/** Sets the plugin up as the runtime does. */
async function setUp(given: unknown, sandbox?: Sandbox): Promise<ToolSource> {
  let provided: unknown;
  await toolsShell.setup({
    config: toolsShell.config.parse(given),
    get: () => {
      throw new Error('nothing is needed');
    },
    find: ((token: Token<unknown>) => (token.key === SANDBOX.key ? sandbox : undefined)) as never,
    provide: (token, value) => {
      if (token.key === TOOLS.key) provided = value;
    },
  });
  return provided as ToolSource;
}

test('the plugin provides a tool for the workspace of a session, which uses the sandbox that there is', async () => {
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
