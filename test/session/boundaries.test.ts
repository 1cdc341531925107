import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { PluginLike } from '@perdure/plugin-api';
import { storeMemory } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import toolsFiles from '@perdure/tools-files';
import { allowing, lookupTool } from '../fixtures/agents.js';
import { governedBy } from '../fixtures/governed-by.js';

const SECRET = 'what is outside';

test('a file that is attached from outside is read for its prompt, and opens nothing to file tools [R31]', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-outside-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const workspace = join(folder, 'workspace');
  const outside = join(folder, 'outside.txt');
  mkdirSync(workspace);
  writeFileSync(outside, SECRET);
  const runtime = await createTestRuntime({ plugins: [storeMemory, allowing, toolsFiles] });
  onTestFinished(() => runtime.dispose());
  const reads = [
    { name: 'read', input: { file_path: outside } },
    { name: 'read', input: { file_path: '../outside.txt' } },
    { name: 'grep', input: { query: 'outside', path: folder } },
    { name: 'list', input: { path: '..' } },
    { name: 'find', input: { path: folder, pattern: '**' } },
  ];
  const model = new ScriptedModel(({ toolResultsSince }) =>
    toolResultsSince.length === 0 ? { calls: reads } : { text: 'seen' },
  );
  const session = await runtime.agent({ id: 'clerk', model, workspace }).sessions.create();
  expect(await session.send({ query: 'look', attachments: [outside] })).toMatchObject({ success: true });
  // The model has the file that it was given, and nothing that it looked for itself.
  expect(JSON.stringify(model.calls[0]?.prompt)).toContain(SECRET);
  const { items } = await session.messages();
  const results = items.flatMap((message) => (message.role === 'tool' ? message.parts : []));
  expect(results).toHaveLength(reads.length);
  expect(JSON.stringify(results)).not.toContain(SECRET);
  expect(JSON.stringify(results)).not.toContain('outside.txt"');
  for (const { status, failure } of results) {
    expect([status, failure?.message]).toEqual(['failed', expect.stringMatching(/outside the workspace/) as string]);
  }
});

test('the core judges a tool by what its host says of it, never by its name or its arguments [R30]', async () => {
  const names = ['rm', 'read', 'shell_exec', 'pay_invoice', 'mcp__bank__transfer'];
  const inputs = ['/etc/passwd', '/', 'rm -rf /', '1000000', 'https://example.com'];
  const outcomes = async (...plugins: readonly PluginLike[]): Promise<readonly unknown[]> => {
    const runtime = await createTestRuntime({ plugins: [storeMemory, ...plugins] });
    onTestFinished(() => runtime.dispose());
    const tools = Object.fromEntries(names.map((name) => [name, lookupTool([], 'once')]));
    const session = await runtime.agent({ id: 'clerk', model: new ScriptedModel([]), tools }).sessions.create();
    const made = names.flatMap((name) => inputs.map((key) => session.governedTool(name, { key })));
    return (await Promise.all(made)).map(({ status, failure }) => `${status} ${failure?.code ?? ''}`);
  };
  const all = (outcome: string): readonly string[] => names.flatMap(() => inputs.map(() => outcome));
  // Nobody says anything of them; the host allows them; the host leaves them open, and there is nobody to ask.
  expect(await outcomes()).toEqual(all('denied PERDURE_TOOL_NOBODY_TO_ASK'));
  expect(await outcomes(allowing)).toEqual(all('completed '));
  expect(await outcomes(governedBy(() => ({ decision: 'ask' })))).toEqual(all('denied PERDURE_TOOL_NOBODY_TO_ASK'));
});
