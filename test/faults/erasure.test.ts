import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundle } from '../fixtures/bundle.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { erasingNode } from './erasure.fixture.js';

const root = mkdtempSync(join(tmpdir(), 'perdure-erasure-'));
const digest = `sha256:${createHash('sha256').update('a private file').digest('hex')}`;
let program = '';
beforeAll(async () => {
  program = await bundle(new URL('erasure.fixture.ts', import.meta.url));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function erase(folder: string, dieAt: number): Promise<void> {
  const env = { ...process.env, NODE_OPTIONS: '' };
  const order = JSON.stringify({ folder, dieAt });
  await once(spawn(process.execPath, [program, order], { stdio: ['ignore', 'ignore', 'inherit'], env }), 'exit');
}

describe('an erasure whose process is killed', () => {
  // The request; the fork's request, owner, end, streams; the session's owner, end, streams.
  test.each([2, 4, 5, 9])(
    'before change %i is brought to its end by whoever has the agent next, unasked',
    { timeout: 60_000 },
    async (dieAt) => {
      const folder = mkdtempSync(join(root, 'at-'));
      await erase(folder, dieAt);
      expect(existsSync(join(folder, 'died'))).toBe(true);
      const { runtime, agent } = await erasingNode({ folder });
      const { store } = runtime.services;
      const typesOf = async (id: string): Promise<readonly string[]> =>
        (await store.read(`session-_.${id}`)).facts.map(({ type }) => type);
      await waitUntil(async () => {
        const types = [...(await typesOf('s')), ...(await typesOf('f'))];
        return types.join() === 'SessionErased,SessionErased';
      });
      expect((await agent.sessions.list()).items).toEqual([]);
      expect((await agent.sessions.search('private')).items).toEqual([]);
      // The end of the runtime waits for what is under way.
      await runtime.dispose();
      const { runtime: again } = await erasingNode({ folder });
      const { artifacts } = again.services;
      for (const id of ['s', 'f']) expect((await again.services.store.read(`draft-_.${id}`)).facts).toEqual([]);
      expect(await artifacts?.get(undefined, digest)).toBeUndefined();
      await again.dispose();
    },
  );
});
