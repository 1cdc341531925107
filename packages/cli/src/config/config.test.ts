import { chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { isPerdureError } from '@perdure/plugin-api';
import { ScriptedModel } from '@perdure/testing';
import { agentOptions } from './agent-options.js';
import { checkConfig } from './check-config.js';
import { findConfig } from './find-config.js';
import { endpointOf, keyOf } from './model-endpoint.js';
import { resolveSettings, type Settings } from './settings.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-config-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;

function project(files: Readonly<Record<string, string>>): string {
  const place = join(folder, String(count++));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(place, path, '..'), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  return place;
}

const refusing =
  (field: string, reason = '') =>
  (error: unknown) =>
    isPerdureError(error, 'PERDURE_CONFIGURATION') &&
    error.data['field'] === field &&
    String(error.data['reason']).includes(reason);

function thrown(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('the configuration file', () => {
  test('is the nearest one upwards', () => {
    const place = project({ 'perdure.config.json': '{}', 'a/perdure.config.mjs': '', 'a/b/c/x': '' });
    expect(findConfig(join(place, 'a/b/c'))).toBe(join(place, 'a/perdure.config.mjs'));
    expect(findConfig(place)).toBe(join(place, 'perdure.config.json'));
    const two = project({ 'perdure.config.json': '{}', 'perdure.config.ts': '' });
    expect(thrown(() => findConfig(two))).toSatisfy(refusing('config', 'there are two'));
  });

  test('of another user is not run unless it is named', async () => {
    const place = project({ 'perdure.config.json': '{"modelId":"m","baseUrl":"http://localhost/v1"}' });
    const file = join(place, 'perdure.config.json');
    const user = process.getuid?.() ?? 1;
    // What belongs to root is trusted by all, so that root gives the file away and others play another user.
    if (user === 0) chownSync(file, 4242, 4242);
    expect(thrown(() => findConfig(place, user === 0 ? 0 : user + 1))).toSatisfy(
      refusing('config', 'belongs to another user'),
    );
    expect((await resolveSettings({ workspace: place, config: file })).config.modelId).toBe('m');
  });

  test('may hold instances when it is code, and data alone when it is JSON', () => {
    const model = new ScriptedModel([]);
    const tool = { inputSchema: {}, execute: () => 1 };
    const plugin = { name: 'p', api: 1, setup: () => ({}) };
    const config = {
      agent: { model, tools: { tool }, models: { fast: model } },
      plugins: [plugin, 'a', { plugin: 'b' }],
    };
    expect(checkConfig(config, '/x/perdure.config.ts')).toEqual(config);
    const json = {
      agent: { model: 'fast', instruction: ['a', 'b'] },
      plugins: ['a', { plugin: 'b', config: { c: 1 }, only: ['tools'] }],
    };
    expect(checkConfig(json, '/x/perdure.config.json')).toEqual(json);
    const inJson = (value: unknown) => thrown(() => checkConfig(value, '/x/perdure.config.json'));
    expect(inJson({ agent: { tools: {} } })).toSatisfy(refusing('agent.tools', 'only perdure.config.ts'));
    expect(inJson({ secrets: {} })).toSatisfy(refusing('secrets', '/x/perdure.config.json'));
    expect(inJson({ plugins: [1] })).toSatisfy(refusing('plugins.0'));
    expect(inJson({ plugins: [{ plugin: 'b', only: 'tools' }] })).toSatisfy(refusing('plugins.0'));
    expect(inJson({ agent: { model: 'a' }, baseUrl: 'b' })).toSatisfy(refusing('baseUrl', 'a model of its own'));
  });
});

describe('settings', () => {
  test('take rules of the command line beside those of the file, or of the default policy', async () => {
    const bare = project({ x: '' });
    expect((await resolveSettings({ workspace: bare })).permissions).toBeUndefined();
    const added = await resolveSettings({ workspace: bare, allow: ['write(a)'], deny: ['read(b)'] });
    const allow = ['read', 'list', 'find', 'grep', 'read_artifact', 'write(a)'];
    expect(added.permissions).toEqual({ allow, deny: ['read(b)'] });
    const file = project({ 'perdure.config.json': '{"permissions":{"allow":["read"],"default":"deny"}}' });
    const both = await resolveSettings({ workspace: file, allow: ['write(a)'] });
    expect(both.permissions).toEqual({ allow: ['read', 'write(a)'], deny: [], default: 'deny' });
    await expect(resolveSettings({ workspace: bare, allow: ['write('] })).rejects.toSatisfy(refusing('--allow write('));
  });

  test('take the store from the command line, else from the file and its folder', async () => {
    const place = project({ 'perdure.config.json': '{"store":{"path":"s.db"}}', 'a/x': '' });
    expect((await resolveSettings({ workspace: join(place, 'a') })).storePath).toBe(join(place, 's.db'));
    expect((await resolveSettings({ workspace: place, store: '/t.db' })).storePath).toBe('/t.db');
    await expect(resolveSettings({ workspace: join(place, 'none') })).rejects.toSatisfy(refusing('workspace'));
  });
});

describe('the model', () => {
  const given = { baseUrl: 'http://localhost/v1', modelId: 'm' };

  test('of the command line completes and replaces that of the file', () => {
    expect(endpointOf({}, {})).toBeUndefined();
    expect(endpointOf({ modelId: 'other' }, given)).toEqual({ ...given, modelId: 'other' });
    expect(thrown(() => endpointOf({ modelId: 'm' }, {}))).toSatisfy(refusing('baseUrl', '--base-url'));
    expect(thrown(() => endpointOf({}, { baseUrl: 'x' }))).toSatisfy(refusing('modelId', '--model-id'));
    const settings = { workspace: '/w', config: { agent: { id: 'a', model: 'named', streaming: undefined } } };
    const options = agentOptions(settings as unknown as Settings, given, {}, true);
    expect(options).toMatchObject({ id: 'a', workspace: '/w', model: { modelId: 'm' } });
    expect('streaming' in options).toBe(false);
  });

  test('gets a key when its variable is set, and must when it was named', () => {
    expect(keyOf(given, {})).toBeUndefined();
    expect(keyOf(given, { PERDURE_API_KEY: 'k' })).toBe('k');
    expect(keyOf({ ...given, keyVariable: 'K' }, { K: 'k', PERDURE_API_KEY: 'other' })).toBe('k');
    expect(thrown(() => keyOf({ ...given, keyVariable: 'K' }, { K: '' }))).toSatisfy(
      refusing('apiKeyEnv', 'K is not set'),
    );
  });
});
