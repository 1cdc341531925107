import { afterEach, describe, expect, test } from 'vitest';
import type { PerdureRuntime } from '@perdure/core';
import { createTestRuntime } from '@perdure/core/testing';
import { isPerdureError } from '@perdure/plugin-api';
import { securityRedaction } from '@perdure/security-redaction';
import { MemoryArtifactStore, MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { foundIn, keyFor } from '../fixtures/planted.js';
import { secretPaths, type SecretPath } from '../fixtures/secret-paths.js';

const SECRET = 'reg_9f8e7d6c5b4a/+"q"';
const runtimes: PerdureRuntime[] = [];
afterEach(async () => {
  for (const runtime of runtimes.splice(0)) await runtime.dispose();
});

async function walk(
  { plugins, options, script, go: take }: SecretPath,
  secret: string,
  guarded: boolean,
): Promise<string> {
  const [logged, told]: [unknown[], unknown[]] = [[], []];
  // Everything that is stored, drafts too, which are given up again.
  const written: unknown[] = [];
  const store = new MemoryEventStore();
  const append = store.append.bind(store);
  store.append = (stream, facts, expected) => {
    written.push(facts);
    return append(stream, facts, expected);
  };
  const stores = [new MemoryProjectionStore(), new MemoryArtifactStore()] as const;
  const given = plugins?.(secret) ?? [allowing];
  const hasRules = given.some((each) => typeof each === 'object' && 'plugin' in each) || given.includes(allowing);
  const runtime = await createTestRuntime({
    plugins: [
      storesWith(store, ...stores),
      ...(hasRules ? [] : [allowing]),
      ...given,
      ...(guarded ? [securityRedaction] : []),
    ],
    ...(guarded ? { secrets: { TOKEN: SECRET } } : {}),
    logger: { log: (...report) => void logged.push(report) },
  });
  runtimes.push(runtime);
  const model = new ScriptedModel(script?.(secret) ?? (() => ({ text: 'done' })));
  const agent = runtime.agent({ id: 'clerk', model, tools: { lookup: lookupTool() }, ...options?.(secret) });
  await agent.ready();
  const session = await agent.sessions.create({ sessionId: 's' });
  session.subscribe((mutation) => void told.push(mutation));
  let result: unknown;
  try {
    result = await take({ agent, session, secret });
  } catch (error) {
    result = isPerdureError(error) ? [error.code, error.message, error.data] : [String(error)];
  }
  const views = [await session.messages().catch(String), await session.info().catch(String)];
  return JSON.stringify([written, logged, told, result ?? null, views]);
}

describe('a secret on each of the paths by which a text gets into a session [P16]', () => {
  describe.each(Object.entries(secretPaths))('%s', (name, path) => {
    test.each([
      ['registered', SECRET],
      ['detected', keyFor(name)],
    ])('%s', async (_, secret) => {
      const bare = await walk(path, secret, false);
      const shows = path.shows ?? { test: (text: string) => foundIn(text, { secret }).length > 0 };
      expect([bare.length, shows.test(bare)]).toEqual([bare.length, true]);
      const guarded = await walk(path, secret, true);
      expect(foundIn(guarded, { secret })).toEqual([]);
      // Nor a beginning of it, where a text was cut.
      const at = guarded.indexOf(secret.slice(0, 10));
      expect(at < 0 ? '' : guarded.slice(Math.max(0, at - 300), at + 60)).toBe('');
    });
  });
});
