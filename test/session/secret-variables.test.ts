import { expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { definePlugin, WORKSPACE_ENV } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { z } from 'zod';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

const NOPE = { TOKEN: 'Bearer secret://NOPE' };
const refusal = {
  code: 'PERDURE_SECRET_UNKNOWN',
  data: { user: 'The variable "TOKEN"', secret: 'NOPE' },
  message: 'The variable "TOKEN" refers to the secret "NOPE", which is not registered.',
};

test('variables that refer to a secret that is not registered are refused before anything is stored', async () => {
  const store = new MemoryEventStore();
  const runtime = await createTestRuntime({
    plugins: [storesWith(store), allowing],
    secrets: { KNOWN: 'a value of some length' },
  });
  const options = { model: new ScriptedModel([]), tools: { lookup: lookupTool() } };
  expect(() => runtime.agent({ ...options, id: 'other', env: NOPE })).toThrow(expect.objectContaining(refusal));
  const agent = runtime.agent({ ...options, id: 'clerk' });
  await agent.ready();
  await expect(agent.sessions.create({ sessionId: 'none', env: NOPE })).rejects.toMatchObject(refusal);
  expect((await store.read('session-_.none')).facts).toEqual([]);
  const session = await agent.sessions.create({ sessionId: 's', env: { OWN: 'secret://KNOWN' } });
  await session.tool('lookup', { key: 'a' });
  const { facts } = await store.read('session-_.s');
  await expect(session.set({ env: NOPE })).rejects.toMatchObject(refusal);
  await expect(agent.setEnv(NOPE)).rejects.toMatchObject(refusal);
  await expect(agent.patchEnv(NOPE)).rejects.toMatchObject(refusal);
  expect((await store.read('session-_.s')).facts).toEqual(facts);
  expect(await session.tool('lookup', { key: 'a' })).toMatchObject({ status: 'completed' });
  await runtime.dispose();
});

test('one that turns up later fails the calls that are handed it, and the error names the variable', async () => {
  const ofWorkspace = definePlugin({
    name: 'workspace-env',
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [WORKSPACE_ENV],
    setup: ({ provide }) => {
      provide(WORKSPACE_ENV, { variables: () => NOPE });
      return {};
    },
  });
  const runtime = await createTestRuntime({
    plugins: [storesWith(new MemoryEventStore()), allowing, ofWorkspace],
    secrets: { KNOWN: 'a value of some length' },
  });
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel([]), tools: { lookup: lookupTool() } });
  const session = await agent.sessions.create({ sessionId: 's' });
  expect(await session.tool('lookup', { key: 'a' })).toMatchObject({
    status: 'failed',
    failure: {
      code: 'PERDURE_SECRET_UNKNOWN',
      message: 'The variable "TOKEN", which "lookup" is handed, refers to the secret "NOPE", which is not registered.',
    },
  });
  await runtime.dispose();
});
