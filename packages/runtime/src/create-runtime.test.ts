import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  ASKER,
  definePlugin,
  isPerdureError,
  NODE_PRESENCE,
  PERMISSION,
  SANDBOX,
  TOOLS,
  type ErrorCode,
  type Plugin,
  type Sandbox,
} from '@perdure/plugin-api';
import { storeMemory } from '@perdure/store-memory';
import { storeSqlite } from '@perdure/store-sqlite';
import { scriptByRound, ScriptedModel } from '@perdure/testing';
import { toolsShell } from '@perdure/tools-shell';
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
    const stores = ['store-sqlite', 'tools-files', 'tools-artifacts'];
    const shell = ['sandbox-bubblewrap', 'tools-shell'];
    expect(names(all)).toEqual([...stores, 'policy-permission', 'policy-approval', ...shell, 'security-redaction']);
    await all.dispose();
    const own = await createRuntime({ plugins: [denying, storeMemory], logger: silent });
    const others = ['security-redaction', 'denying', 'store-memory'];
    expect(names(own)).toEqual([...stores.slice(1), 'policy-approval', ...shell, ...others]);
    await own.dispose();
    const more = await createRuntime({
      storePath: newPath(),
      logger: silent,
      plugins: [plugin('asking', [ASKER], () => ({}))],
    });
    expect(names(more)).toEqual([...stores, 'policy-permission', ...shell, 'security-redaction', 'asking']);
    await more.dispose();
    const brought = await createRuntime({
      storePath: newPath(),
      logger: silent,
      plugins: [{ plugin: toolsShell, config: { mode: 'unrestricted' } }],
    });
    const before = shell.filter((name) => name !== 'tools-shell');
    const rest = [...before, 'security-redaction', ...shell.slice(before.length)];
    expect(names(brought)).toEqual([...stores, 'policy-permission', 'policy-approval', ...rest]);
    await brought.dispose();
  });

  test('leave their place to what is taken of a plugin of the host alone', async () => {
    const both = plugin('both', [PERMISSION, ASKER], ({ provide }) => {
      provide(PERMISSION, { id: 'both', digest: 'both', decide: () => ({ decision: 'deny' }) });
      provide(ASKER, { ask: () => expect.fail('nobody is asked') });
      return {};
    });
    const taken = { plugin: both, only: ['permission'] };
    const stores = [
      { plugin: storeMemory, only: ['event-store', 'artifact-store'] },
      { plugin: storeSqlite, config: { path: newPath() }, only: ['projection-store', 'snapshot-store'] },
    ];
    const runtime = await createRuntime({ logger: silent, plugins: [taken, ...stores] });
    expect(names(runtime)).toContain('policy-approval');
    expect(names(runtime)).not.toContain('policy-permission');
    const { store, projections, container } = runtime.services;
    expect([store.name, projections?.name]).toEqual(['memory', 'sqlite']);
    expect([container.find(ASKER), container.find(NODE_PRESENCE)]).toEqual([undefined, undefined]);
    await runtime.dispose();
  });

  test('are left out when their option is off', async () => {
    const off = { approvals: 'off', shell: 'off', redaction: 'off' } as const;
    const runtime = await createRuntime({ storePath: newPath(), logger: silent, ...off });
    expect(names(runtime)).toEqual(['store-sqlite', 'tools-files', 'tools-artifacts', 'policy-permission']);
    await runtime.dispose();
  });

  test('offer commands where a sandbox works, and else no tool', async () => {
    const workspace = mkdtempSync(join(folder, 'workspace-'));
    const offered = async (usable: boolean): Promise<readonly string[]> => {
      const sandbox: Sandbox = {
        id: 'own',
        preflight: () => Promise.resolve({ usable, issues: [] }),
        start: () => Promise.reject(new Error('nothing is run')),
      };
      const own = plugin('own', [SANDBOX], ({ provide }) => {
        provide(SANDBOX, sandbox);
        return {};
      });
      const runtime = await createRuntime({ storePath: newPath(), logger: silent, plugins: [own] });
      const sources = runtime.services.container.get(TOOLS);
      const tools = sources.flatMap((source) => Object.keys(source.tools({ workspace })));
      await runtime.dispose();
      return tools;
    };
    expect(await offered(true)).toContain('shell_exec');
    expect(await offered(false)).not.toContain('shell_exec');
  });

  test('have a call that the rules leave open wait for an answer', async () => {
    const call = { name: 'write', input: { file_path: 'a.txt', content: 'hi' } };
    const model = new ScriptedModel(scriptByRound([{ calls: [call] }, { text: 'written' }]));
    const workspace = mkdtempSync(join(folder, 'workspace-'));
    const runtime = await createRuntime({ storePath: newPath(), logger: silent });
    const session = await runtime.agent({ id: 'clerk', model, workspace }).sessions.create();
    const turn = await session.prompt('write it');
    for (;;) {
      const [asked] = await session.interactions();
      if (asked !== undefined) {
        await session.respond({ id: asked.id, decision: 'allow', by: 'ada' });
        break;
      }
    }
    expect(await turn.finished).toMatchObject({ status: 'completed', text: 'written' });
    await runtime.dispose();
  });

  test('take no option for one whose place is taken', async () => {
    await expect(createRuntime({ plugins: [denying], permissions: {} })).rejects.toSatisfy(
      refusal('PERDURE_CONFIGURATION', 'permissions'),
    );
    await expect(createRuntime({ plugins: [storeMemory], storePath: newPath() })).rejects.toSatisfy(
      refusal('PERDURE_CONFIGURATION', 'storePath'),
    );
    const asking = plugin('asking', [ASKER], () => ({}));
    await expect(createRuntime({ plugins: [asking], approvals: {} })).rejects.toSatisfy(
      refusal('PERDURE_CONFIGURATION', 'approvals'),
    );
    await expect(createRuntime({ plugins: [toolsShell], shell: {} })).rejects.toSatisfy(
      refusal('PERDURE_CONFIGURATION', 'shell'),
    );
  });
});

describe('a runtime does not start', () => {
  test('with a bad rule, and names its place', async () => {
    const options = { storePath: newPath(), permissions: { allow: ['read', 'write('] }, logger: silent };
    await expect(createRuntime(options)).rejects.toSatisfy(refusal('PERDURE_CONFIGURATION', 'permissions.allow[1]'));
  });

  test.each<[string, object]>([
    ['approvals.expiresInMs', { approvals: { expiresInMs: 0 } }],
    ['shell.timeoutMs', { shell: { timeoutMs: 0 } }],
    ['shell', { shell: 'on' }],
  ])('with an option that is not valid, and names %s', async (field, more) => {
    const start = createRuntime({ storePath: newPath(), logger: silent, ...more });
    await expect(start).rejects.toSatisfy(
      (error) => isPerdureError(error, 'PERDURE_CONFIGURATION') && String(error.data['field']).startsWith(field),
    );
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
