import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOGGER, TOOLS, WORKSPACES, type Token, type ToolSource, type Workspaces } from '@perdure/plugin-api';
import { expect, test } from 'vitest';
import { z } from 'zod';
import plugin, { fileTools, toolsFiles } from './index.js';
import { call, failure, temporaryWorkspace } from './testing/temporary-workspace.js';

/** Sets the plugin up as the runtime does, and keeps what it provides and logs. */
async function setUp(given: unknown) {
  const provided = new Map<symbol, unknown>();
  const logged: string[] = [];
  const logger = { log: (level: string, message: string) => void logged.push(`${level}: ${message}`) };
  await toolsFiles.setup({
    config: toolsFiles.config.parse(given),
    get: () => {
      throw new Error('nothing is needed');
    },
    find: ((token: Token<unknown>) => (token.key === LOGGER.key ? logger : undefined)) as never,
    provide: (token, value) => void provided.set(token.key, value),
  });
  const tools = provided.get(TOOLS.key) as ToolSource;
  return { tools, workspaces: provided.get(WORKSPACES.key) as Workspaces, logged };
}

test('the plugin provides tools for the workspace of a session, and workspaces', async () => {
  expect(plugin).toBe(toolsFiles);
  const { folder, recordFolder, write } = temporaryWorkspace();
  write('a.txt', 'a');
  const { tools, workspaces } = await setUp({ recordFolder });
  expect(tools.tools({ workspace: undefined })).toEqual({});
  const ofSession = tools.tools({ workspace: workspaces.resolve(folder) });
  expect(Object.keys(ofSession)).toEqual(['read', 'write', 'edit', 'list', 'find', 'grep']);
  expect(await call(ofSession['read'], { file_path: 'a.txt' })).toMatchObject({ content: 'a' });
  expect(await workspaces.digest(folder)).toMatch(/^sha256:[0-9a-f]{64}$/);
});

test('its configuration is checked', () => {
  expect(toolsFiles.config.parse(undefined)).toEqual({});
  expect(toolsFiles.config.safeParse({ recordFolder: 'relative' }).success).toBe(false);
  expect(toolsFiles.config.safeParse({ recordsFolder: '/x' }).success).toBe(false);
});

test('a record that cannot be written is told to the operator, and the call goes on', async () => {
  const { folder, outside } = temporaryWorkspace();
  writeFileSync(join(outside, 'file'), '');
  const { tools, logged } = await setUp({ recordFolder: join(outside, 'file') });
  await call(tools.tools({ workspace: folder })['write'], { file_path: 'a.txt', content: 'a' });
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('a');
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain('warn: The record of a file call was not written');
});

test('what only reads is told apart from what can be reconciled', () => {
  const tools = fileTools('/');
  const effects = Object.entries(tools).map(([name, tool]) => [name, tool.effect, tool.reconcile !== undefined]);
  expect(effects).toEqual([
    ['read', 'read', false],
    ['write', 'reconcile', true],
    ['edit', 'reconcile', true],
    ['list', 'read', false],
    ['find', 'read', false],
    ['grep', 'read', false],
  ]);
});

test('every input has a JSON Schema with a description of each member', () => {
  for (const [name, tool] of Object.entries(fileTools('/'))) {
    const schema = z.toJSONSchema(tool.inputSchema as z.ZodType, { io: 'input' });
    expect(schema, name).toMatchObject({ type: 'object', additionalProperties: false });
    for (const [member, property] of Object.entries(schema.properties ?? {})) {
      expect(property, `${name}.${member}`).toHaveProperty('description');
    }
  }
});

test('tools can be used without the runtime, for a folder that is given through a link and made later', async () => {
  const { outside, recordFolder } = temporaryWorkspace();
  const tools = fileTools(join(outside, 'later'), { recordFolder });
  expect(await failure(tools['list'], {})).toBe('path_not_found');
  mkdirSync(join(outside, 'later'));
  expect(await call(tools['list'], {})).toMatchObject({ entries: [] });
  symlinkSync('later', join(outside, 'way'));
  const linked = fileTools(join(outside, 'way'), { recordFolder });
  // The AI SDK hands in a call id alone.
  const context = { toolCallId: 'call' } as never;
  await linked['write']?.execute?.({ file_path: join(outside, 'way/a.txt'), content: 'a' } as never, context);
  expect(readFileSync(join(outside, 'later/a.txt'), 'utf8')).toBe('a');
});
