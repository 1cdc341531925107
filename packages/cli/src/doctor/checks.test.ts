import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { definePlugin, SANDBOX } from '@perdure/plugin-api';
import { createBubblewrapSandbox } from '@perdure/runtime';
import { z } from 'zod';
import type { Settings } from '../config/settings.js';
import { isInside } from '../runtime/store-place.js';
import { checkRules } from './check-config.js';
import { checkNode, checkRipgrep, checkSqlite } from './check-machine.js';
import { checkSandbox } from './check-sandbox.js';
import { checkModel } from './check-model.js';
import { checkStateFolder, checkStore } from './check-store.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-doctor-')));
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true, force: true });
});

const settings = (more: Partial<Settings>): Settings => ({
  workspace: join(folder, 'workspace'),
  configFile: undefined,
  config: {},
  pluginRoot: folder,
  plugins: [],
  permissions: undefined,
  hasStoreServer: false,
  storePath: undefined,
  shell: {},
  approvals: {},
  shellFlag: undefined,
  approvalsFlag: undefined,
  ...more,
});

async function serve(status: number, body: string, seen: string[] = []): Promise<string> {
  const server = createServer((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization}`);
    response.writeHead(status, { 'content-type': 'application/json', location: 'http://elsewhere.invalid/' }).end(body);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

describe('the machine', () => {
  test('has a Node that is new enough', () => {
    expect(['20.19.0', '20.20.1', '22.0.0', '24.1.0'].map((version) => checkNode(version).level)).toEqual(
      Array.from({ length: 4 }, () => 'ok'),
    );
    expect(['18.20.0', '20.18.9'].map((version) => checkNode(version).level)).toEqual(['fail', 'fail']);
  });

  test('has SQLite and ripgrep, which are asked to work', async () => {
    expect(await checkSqlite()).toMatchObject({ level: 'ok', message: expect.stringMatching(/^3\.\d+/) as unknown });
    expect(await checkRipgrep()).toMatchObject({ level: 'ok' });
  });

  test('has a sandbox, unless commands are switched off or a plugin brings one', async () => {
    const { usable } = await createBubblewrapSandbox().preflight();
    const found = await checkSandbox(settings({}));
    expect(found).toMatchObject(usable ? { level: 'ok' } : { level: 'warn', fix: expect.any(String) as unknown });
    expect(await checkSandbox(settings({ shell: 'off' }))).toMatchObject({ level: 'ok', message: 'commands are off' });
    const own = definePlugin({
      name: 'own-sandbox',
      api: 1,
      version: '1.0.0',
      config: z.object({}),
      provides: [SANDBOX],
      setup: () => ({}),
    });
    expect((await checkSandbox(settings({ plugins: [own] }))).message).toContain('own-sandbox');
  });
});

describe('the state', () => {
  test('is in a folder that can be written, outside of the workspace', async () => {
    const { workspace } = settings({});
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(folder, 'file'), '');
    expect(checkStateFolder(join(folder, 'new/deep/x.db'), workspace)).toMatchObject({ level: 'ok' });
    expect(checkStateFolder(join(workspace, 'x.db'), workspace)).toMatchObject({ level: 'warn' });
    expect(checkStateFolder(join(folder, 'file/x.db'), workspace)).toMatchObject({ level: 'fail', exitCode: 5 });
    expect(await checkStore(join(folder, 'none.db'))).toMatchObject({ level: 'ok' });
    writeFileSync(join(folder, 'bad.db'), 'this is no database, and long enough to be seen as none '.repeat(40));
    expect(await checkStore(join(folder, 'bad.db'))).toMatchObject({ level: 'fail', exitCode: 5 });
  });

  test('is told to be inside by whole names', () => {
    expect(isInside('/a/b/c', '/a/b')).toBe(true);
    expect(isInside('/a/b', '/a/b')).toBe(true);
    expect(isInside('/a/..b', '/a')).toBe(true);
    expect(isInside('/a/bc', '/a/b')).toBe(false);
    expect(isInside('/a', '/a/b')).toBe(false);
  });
});

describe('the rules', () => {
  test('must not let tools change them', async () => {
    expect(await checkRules(settings({}))).toMatchObject({ level: 'ok' });
    expect(await checkRules(settings({ permissions: { allow: ['write(src/**)'] } }))).toMatchObject({ level: 'ok' });
    expect(await checkRules(settings({ permissions: { allow: ['edit(**)'] } }))).toMatchObject({ level: 'warn' });
    const deny = ['write(**/perdure.config.*)', 'edit(**/perdure.config.*)'];
    const guarded = settings({
      permissions: { allow: ['*'], deny },
      configFile: join(folder, 'workspace/perdure.config.ts'),
    });
    expect(await checkRules(guarded)).toMatchObject({ level: 'ok' });
  });
});

describe('the model', () => {
  const check = (baseUrl: string) =>
    checkModel(settings({ config: { baseUrl, modelId: 'm' } }), {}, { PERDURE_API_KEY: 'sk-1' });

  test('is asked for by its endpoint, with the key', async () => {
    const seen: string[] = [];
    expect(await check(await serve(200, '{"data":[{"id":"m"}]}', seen))).toMatchObject({ level: 'ok' });
    expect(seen).toEqual(['/v1/models Bearer sk-1']);
    expect(await check(await serve(200, '{"data":[{"id":"other"}]}'))).toMatchObject({ level: 'warn' });
    expect(await check(await serve(404, '{}'))).toMatchObject({ level: 'warn' });
  });

  test('fails when it does not answer or refuses, without a word of the key', async () => {
    const refused = await check(await serve(401, '{"error":"no sk-1"}'));
    const url = await serve(200, '');
    await new Promise((resolve) => servers.pop()?.close(resolve));
    const gone = await check(url);
    expect(gone.message).toContain('ECONNREFUSED');
    const moved = await check(await serve(302, ''));
    for (const failed of [refused, gone, moved]) {
      expect(failed).toMatchObject({ level: 'fail', exitCode: 1 });
      expect(JSON.stringify(failed)).not.toContain('sk-1');
    }
    expect(await checkModel(settings({}), {}, {})).toMatchObject({ level: 'warn' });
  });
});
