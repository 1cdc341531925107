import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ASKER, definePlugin, isPerdureError, PERMISSION, type ErrorCode, type Plugin } from '@perdure/plugin-api';
import { storeMemory } from '@perdure/store-memory';
import { scriptByRound, ScriptedModel } from '@perdure/testing';
import { createRuntime } from './create-runtime.js';

const folder = mkdtempSync(join(tmpdir(), 'perdure-runtime-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const newPath = (): string => join(folder, `${count++}`, 'perdure.db');
const silent = { log: () => undefined };

function plugin(name: string, provides: Plugin['provides'], setup: Plugin['setup']): Plugin {
  return definePlugin({ name, api: 1, version: '1.0.0', config: z.unknown(), provides, setup });
}

const denying = plugin('denying', [PERMISSION], ({ provide }) => {
  provide(PERMISSION, { id: 'denying', digest: 'denying', decide: () => ({ decision: 'deny' }) });
  return {};
});

const names = (runtime: { plugins(): readonly { readonly name: string }[] }): string[] =>
  runtime.plugins().map(({ name }) => name);

function refusal(code: ErrorCode, field: string) {
  return (error: unknown) => isPerdureError(error, code) && error.data['field'] === field;
}

describe('the default plugins', () => {
  test('make a runtime that keeps a session for the next process', async () => {
    const storePath = newPath();
    const model = new ScriptedModel(
      scriptByRound([
        { calls: [{ name: 'write', input: { file_path: 'a.txt', content: 'hi' } }] },
        { text: 'written' },
      ]),
    );
    const workspace = mkdtempSync(join(folder, 'workspace-'));
    const runtime = await createRuntime({ storePath, permissions: { allow: ['write(a.txt)'] }, logger: silent });
    const agent = runtime.agent({ id: 'clerk', model, workspace });
    const session = await agent.sessions.create({ sessionId: 's' });
    expect(await session.send('write it')).toMatchObject({ status: 'completed', text: 'written' });
    await runtime.dispose();
    const next = await createRuntime({ storePath, logger: silent });
    const found = await next.agent({ id: 'clerk', workspace }).sessions.get('s');
    const settled = (await found.messages()).items.flatMap((message) => (message.role === 'tool' ? message.parts : []));
    expect(settled).toMatchObject([{ name: 'write', status: 'completed' }]);
    await next.dispose();
  });

  test('each leaves its place to a plugin of the host', async () => {
    const all = await createRuntime({ storePath: newPath(), logger: silent });
    expect(names(all)).toEqual(['store-sqlite', 'tools-files', 'policy-permission']);
    await all.dispose();
    const own = await createRuntime({ plugins: [denying, storeMemory], logger: silent });
    expect(names(own)).toEqual(['tools-files', 'denying', 'store-memory']);
    await own.dispose();
    const more = await createRuntime({
      storePath: newPath(),
      logger: silent,
      plugins: [plugin('asking', [ASKER], () => ({}))],
    });
    expect(names(more)).toEqual(['store-sqlite', 'tools-files', 'policy-permission', 'asking']);
    await more.dispose();
  });

  test('take no option for one whose place is taken', async () => {
    await expect(createRuntime({ plugins: [denying], permissions: {} })).rejects.toSatisfy(
      refusal('PERDURE_CONFIGURATION', 'permissions'),
    );
    await expect(createRuntime({ plugins: [storeMemory], storePath: newPath() })).rejects.toSatisfy(
      refusal('PERDURE_CONFIGURATION', 'storePath'),
    );
  });
});

describe('a runtime does not start', () => {
  test('with a bad rule, and names its place', async () => {
    const options = { storePath: newPath(), permissions: { allow: ['read', 'write('] }, logger: silent };
    await expect(createRuntime(options)).rejects.toSatisfy(refusal('PERDURE_CONFIGURATION', 'permissions.allow[1]'));
  });

  test('with a store that cannot be opened, and says why', async () => {
    const path = newPath();
    writeFileSync(join(folder, 'no-folder'), '');
    const blocked = createRuntime({ storePath: join(folder, 'no-folder', 'perdure.db'), logger: silent });
    await expect(blocked).rejects.toSatisfy((error) => isPerdureError(error, 'PERDURE_STORE_UNAVAILABLE'));
    writeFileSync(join(folder, 'no-database'), 'this is no database, and long enough to be seen as none '.repeat(40));
    const damaged = createRuntime({ storePath: join(folder, 'no-database'), logger: silent });
    await expect(damaged).rejects.toSatisfy((error) => isPerdureError(error, 'PERDURE_STORE_DAMAGED'));
    const fine = await createRuntime({ storePath: path, logger: silent });
    await fine.dispose();
  });

  test('with an option that there is not', async () => {
    const options = { storePath: newPath(), colour: 'blue', logger: silent };
    await expect(createRuntime(options)).rejects.toSatisfy(refusal('PERDURE_CONFIGURATION', 'colour'));
  });
});
