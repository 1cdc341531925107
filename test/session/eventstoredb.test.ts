import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listArtifacts } from '@perdure/core';
import { createTestRuntime } from '@perdure/core/testing';
import { startEmulator } from '@perdure/eventstoredb-emulator';
import { isPerdureError, type TurnResult } from '@perdure/plugin-api';
import { storeMemory } from '@perdure/store-memory';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { allowing } from '../fixtures/agents.js';
import { LOG, nodeOf } from '../fixtures/eventstoredb.js';
import { forkNode } from '../fixtures/forked-node.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eventstoredb-session-'));
  for (const name of ['server', 'first', 'second']) mkdirSync(join(folder, name));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a session in EventStoreDB goes on at another node, whose own file has the list and the search', async () => {
  const server = await startEmulator({ folder: join(folder, 'server'), waitsForDisk: false });
  const { connectionString } = server;
  const first = await forkNode(new URL('eventstoredb-node.fixture.ts', import.meta.url), {
    connectionString,
    folder: join(folder, 'first'),
  });
  await first.kill();

  const order = { connectionString, folder: join(folder, 'second'), nodeId: 'second' };
  const { runtime, agent, model } = await nodeOf(order, () => Promise.resolve('waited'));
  expect((await agent.sessions.list()).items).toMatchObject([{ id: 's' }]);
  const session = await agent.sessions.get('s');
  const { facts } = await runtime.services.store.read('session-_.s');
  const started = facts.find(({ type }) => type === 'RunStarted');
  const { runId } = JSON.parse(started?.payload ?? '{}') as { runId: string };
  const result = await resumed(() => session.resumeRun(runId));
  expect(result).toMatchObject({ status: 'completed', text: 'The pelican has landed.' });
  // Two answers were stored by the first node, and are not asked for again.
  expect(model.calls).toHaveLength(1);

  expect((await agent.sessions.list()).items).toMatchObject([{ id: 's', status: 'idle' }]);
  expect((await agent.sessions.search('pelican')).items).toMatchObject([{ id: 's' }]);
  const artifacts = await listArtifacts(runtime.services.store, 'session-_.s');
  expect(artifacts).toHaveLength(1);
  const bytes = await runtime.services.artifacts?.get(undefined, artifacts[0]?.digest ?? '');
  expect(new TextDecoder().decode(bytes)).toContain(LOG);
  await runtime.dispose();
  await server.close();
});

/** Asks again until the node that had it counts as dead. */
async function resumed(resume: () => Promise<TurnResult>): Promise<TurnResult> {
  for (;;) {
    try {
      return await resume();
    } catch (error) {
      if (!isPerdureError(error, 'PERDURE_SESSION_OWNED')) throw error;
    }
  }
}

test.each([
  [['event-stor'], 'the plugin does not provide "event-stor"'],
  [[], 'it is a list of names of tokens'],
])('what is taken of a plugin must be something that it provides: %j', async (only, reason) => {
  const start = createTestRuntime({ plugins: [{ plugin: storeMemory, only }, allowing] });
  await expect(start).rejects.toMatchObject({
    code: 'PERDURE_PLUGIN_INVALID',
    data: { plugin: 'store-memory', field: 'only', reason },
  });
});
