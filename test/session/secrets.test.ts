import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { definePlugin, GATES, isPerdureError, type LanguageModel } from '@perdure/plugin-api';
import { storeSqlite } from '@perdure/store-sqlite';
import { ScriptedModel, type ScriptRequest } from '@perdure/testing';
import { z } from 'zod';
import { allowing } from '../fixtures/agents.js';

const folder = mkdtempSync(join(tmpdir(), 'perdure-secrets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TOKEN = 'tok_9f8e7d6c5b4a"quoted"';
const secrets = { API_TOKEN: TOKEN };

/** A model that repeats whatever it was shown, in small pieces. */
function parrot() {
  return new ScriptedModel((request: ScriptRequest) => {
    if (request.toolResultsSince.length > 0) {
      const text = `I was told ${JSON.stringify(request.messages.at(-1))} and ${TOKEN} too.`;
      return { text, deltas: Array.from(text) };
    }
    return {
      reasoning: `they say ${TOKEN}`,
      calls: [{ name: 'fetch', input: { auth: 'secret://API_TOKEN', note: TOKEN } }],
    };
  });
}

function everything(): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

describe('a registered secret [P16]', () => {
  test('works in a tool and is seen nowhere else: not in the store, not in a stream, not in an error', async () => {
    const logged: string[] = [];
    const got: unknown[] = [];
    const runtime = await createTestRuntime({
      plugins: [{ plugin: storeSqlite, config: { path: join(folder, 'perdure.db') } }, allowing],
      secrets,
      logger: { log: (level, message, data) => logged.push(JSON.stringify([level, message, data])) },
    });
    const fetch = {
      inputSchema: z.object({ auth: z.string(), note: z.string() }),
      execute: (input: { auth: string }) => {
        got.push(input.auth);
        return { echoed: `Bearer ${input.auth}`, [`key ${TOKEN}`]: [TOKEN] };
      },
    };
    const failing = {
      inputSchema: z.object({}),
      execute: () => {
        throw new Error(`bad token ${TOKEN}`);
      },
    };
    const model = parrot();
    const agent = runtime.agent({
      id: 'clerk',
      model,
      tools: { fetch, failing } as never,
      instruction: 'Say nothing.',
    });
    const session = await agent.sessions.create({ sessionId: 's', correlationId: 'c' });
    const seen: string[] = [];
    const stop = session.subscribe((mutation) => seen.push(JSON.stringify(mutation)));
    const turn = await session.prompt(`Use ${TOKEN} wisely.`);
    for await (const event of session.events()) {
      seen.push(JSON.stringify(event));
      if (event.type === 'agent_end') break;
    }
    const result = await turn.finished;
    stop();
    expect(got).toEqual([TOKEN]);
    expect(result.text).toContain('secret://API_TOKEN');
    const outcome = await session.tool('failing', {});
    expect(outcome.failure?.message).toContain('bad token secret://API_TOKEN');
    await session.save();
    seen.push(JSON.stringify(await session.messages()), JSON.stringify(result), JSON.stringify(outcome));
    await runtime.dispose();
    const spellings = [
      TOKEN,
      JSON.stringify(TOKEN).slice(1, -1),
      JSON.stringify(JSON.stringify(TOKEN).slice(1, -1)).slice(1, -1),
    ];
    const pieces = [TOKEN.slice(0, 14)];
    for (const secret of [...spellings, ...pieces]) {
      expect(everything()).not.toContain(secret);
      expect(seen.join('\n')).not.toContain(secret);
      expect(logged.join('\n')).not.toContain(secret);
      expect(JSON.stringify(model.calls.map(({ prompt }) => prompt))).not.toContain(secret);
    }
  });

  test('is taken out of every outlet: names, split texts, URLs, instructions, reasons, ids, reports', async () => {
    const logged: string[] = [];
    const path = join(folder, 'outlets.db');
    const gate = definePlugin({
      name: 'gate',
      api: 1,
      version: '1.0.0',
      config: z.object({}),
      provides: [GATES],
      setup: ({ provide }) => {
        const deny = { decision: 'deny', reason: `no ${TOKEN}` } as const;
        provide(GATES, {
          id: 'g',
          kind: 'rule',
          digest: '',
          decide: ({ tool }) => (tool === 'shut' ? deny : { decision: 'allow' }),
        });
        return {};
      },
    });
    const runtime = await createTestRuntime({
      plugins: [{ plugin: storeSqlite, config: { path } }, allowing, gate],
      secrets,
      logger: { log: (level, message, data) => logged.push(JSON.stringify([level, message, data])) },
    });
    const half = TOKEN.length >> 1;
    const url = encodeURIComponent(TOKEN);
    const parts = [
      { type: 'tool-call', toolCallId: `id ${TOKEN}`, toolName: `name ${TOKEN}`, input: JSON.stringify({ url }) },
      { type: 'file', mediaType: `text/${TOKEN}`, data: 'aGk=' },
      { type: 'text-delta', id: '1', delta: TOKEN.slice(0, half) },
      { type: 'text-end', id: '1' },
      { type: 'text-delta', id: '2', delta: TOKEN.slice(half) },
      { type: 'finish', usage: {}, finishReason: { unified: 'stop' } },
    ];
    const prompts: unknown[] = [];
    const model = {
      specificationVersion: 'v3',
      provider: 'odd',
      modelId: 'odd-1',
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error('streams only')),
      doStream: ({ prompt }: { prompt: unknown }) => {
        prompts.push(prompt);
        return Promise.resolve({ stream: ReadableStream.from(parts) });
      },
    } as unknown as LanguageModel;
    const shut = { inputSchema: z.object({}), execute: () => 1 };
    const agent = runtime.agent({
      id: 'a',
      model,
      instruction: `Use ${TOKEN}.`,
      tools: { shut },
      limits: { maxSteps: 1 },
    });
    const session = await agent.sessions.create({ sessionId: 'outlets' });
    const seen: unknown[] = [];
    session.subscribe(() => {
      throw new Error(`listener ${TOKEN}`);
    });
    const turn = await session.prompt({ query: 'go', promptId: `p ${TOKEN}` });
    expect((await session.prompt({ query: 'go', promptId: `p ${TOKEN}` })).id).toBe(turn.id);
    seen.push(await turn.finished, await session.tool('shut', {}), await session.system(), await session.messages());
    for await (const event of session.events()) {
      if (event.type !== 'text_delta') seen.push(event);
      if (event.type === 'agent_end' || event.type === 'error') break;
    }
    await session.save();
    await runtime.dispose();
    const shown = JSON.stringify([seen, prompts, logged]);
    for (const secret of [TOKEN, url, JSON.stringify(TOKEN).slice(1, -1)]) {
      expect(shown).not.toContain(secret);
      expect(shown).not.toContain(JSON.stringify(secret).slice(1, -1));
      expect(everything()).not.toContain(secret);
    }
    expect(logged.join()).toContain('secret://API_TOKEN');
  });

  test('that is not registered is refused where it would be used, and the tool does not run', async () => {
    const runs: unknown[] = [];
    const runtime = await createTestRuntime({
      plugins: [{ plugin: storeSqlite, config: { path: join(folder, 'other.db') } }, allowing],
      secrets,
    });
    const fetch = { inputSchema: z.object({ auth: z.string() }), execute: (input: unknown) => runs.push(input) };
    const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel([]), tools: { fetch } as never });
    const session = await agent.sessions.create();
    const outcome = await session.tool('fetch', { auth: 'secret://NO_SUCH' });
    expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'PERDURE_SECRET_UNKNOWN' } });
    expect(runs).toEqual([]);
    await runtime.dispose();
  });

  test('with a name or value that cannot be one stops the runtime, and the error does not tell it', async () => {
    const refused = createTestRuntime({ plugins: [storeSqlite], secrets: { 'a b': 'sufficient' } });
    await expect(refused).rejects.toSatisfy(
      (error) => isPerdureError(error, 'PERDURE_CONFIGURATION') && error.data['field'] === 'secrets.a b',
    );
  });
});
