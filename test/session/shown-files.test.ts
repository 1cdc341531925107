import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { openAiCompatibleModel } from '@perdure/model-openai-compatible';
import {
  withFiles,
  type AgentOptions,
  type FileOptions,
  type LanguageModel,
  type PluginLike,
} from '@perdure/plugin-api';
import { MemoryEventStore, storeMemory } from '@perdure/store-memory';
import { ScriptedModel, startModelServer, type Script, type ScriptedAnswer } from '@perdure/testing';
import { z } from 'zod';
import { allowing, storesWith } from '../fixtures/agents.js';
import { PNG } from '../fixtures/image.js';

const bytes = new Uint8Array(PNG);
const base64 = PNG.toString('base64');
const camera = {
  inputSchema: z.object({}),
  effect: 'read' as const,
  execute: () => withFiles({ taken: true }, [{ bytes: PNG, filename: 'shot.png' }]),
};
const look: readonly ScriptedAnswer[] = [
  { calls: [{ name: 'camera', input: {} }] },
  { text: 'seen' },
  { text: 'seen' },
];

async function start(
  model: LanguageModel,
  options: Partial<AgentOptions> = {},
  stores: PluginLike = storeMemory,
  sessionId = 's',
) {
  const runtime = await createTestRuntime({ plugins: [stores, allowing] });
  const agent = runtime.agent({ id: 'clerk', model, tools: { camera } as never, ...options });
  return { runtime, agent, session: await agent.sessions.create({ sessionId }) };
}

/** What the model was shown last: the user's message, the tool's, and what stands behind it. */
async function promptOf(specification: 'v2' | 'v3' | 'v4', files: FileOptions): Promise<readonly unknown[]> {
  const model = new ScriptedModel(look, { specification });
  const { runtime, session } = await start(model as LanguageModel, { files });
  await session.send({ query: 'look', attachments: [{ data: PNG, filename: 'mine.png' }] });
  await runtime.dispose();
  const [, user, , tool, ...behind] = model.calls.at(-1)?.prompt ?? [];
  return [user?.content, tool?.content, ...behind.map(({ role, content }) => [role, content])];
}

describe('files as models are shown them', () => {
  test.each([
    ['v2', bytes],
    ['v3', bytes],
    ['v4', { type: 'data', data: bytes }],
  ] as const)('are parts of messages in the shapes of specification %s', async (specification, data) => {
    const [user, tool, behind] = await promptOf(specification, {});
    expect(user).toEqual([
      { type: 'text', text: 'look' },
      { type: 'file', mediaType: 'image/png', filename: 'mine.png', data },
    ]);
    expect(tool).toMatchObject([{ type: 'tool-result', output: { type: 'json', value: { taken: true } } }]);
    expect(JSON.stringify(tool)).not.toContain('files');
    expect(behind).toMatchObject([
      'user',
      [
        { type: 'text', text: expect.stringMatching(/^Files of the result of camera \(call /) },
        { type: 'file', mediaType: 'image/png', filename: 'shot.png', data },
      ],
    ]);
  });

  test.each([
    ['v2', { type: 'media', mediaType: 'image/png', data: base64 }],
    ['v3', { type: 'image-data', mediaType: 'image/png', data: base64 }],
    ['v4', { type: 'file', mediaType: 'image/png', filename: 'shot.png', data: { type: 'data', data: bytes } }],
  ] as const)('stand in the result itself where the host wants it, as %s has it', async (specification, file) => {
    const [, tool, ...behind] = await promptOf(specification, { ofTools: 'result' });
    const value = [{ type: 'text', text: '{"taken":true}' }, file];
    expect(tool).toMatchObject([{ type: 'tool-result', output: { type: 'content', value } }]);
    expect(behind).toEqual([]);
  });

  test('of types that the host does not name are told by name, type and size', async () => {
    const [user] = await promptOf('v3', { shown: ['application/pdf'] });
    const text = expect.stringMatching(/^\[The file "mine\.png" \(image\/png, 70 bytes, artifact sha256:\w+\)\. Its/);
    expect(user).toEqual([
      { type: 'text', text: 'look' },
      { type: 'text', text },
    ]);
  });

  test('reach an endpoint of the chat protocol as images, also those that a tool gave', async () => {
    const script: Script = {
      rules: [
        { when: { userTextContains: 'Files of the result of camera' }, answer: { text: 'I see it' } },
        { answer: { calls: [{ name: 'camera', input: {} }] } },
      ],
    };
    const server = await startModelServer({ script });
    const { runtime, session } = await start(openAiCompatibleModel({ baseUrl: server.url, modelId: 'm' }));
    const result = await session.send({ query: 'look', attachments: [{ data: PNG }, { data: Buffer.from('plain') }] });
    expect(result.text).toBe('I see it');
    const { messages: shown } = server.requests.at(-1) as { messages: { role: string; content: unknown }[] };
    const messages = shown.filter(({ role }) => role !== 'system');
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } };
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(messages[0]?.content).toMatchObject([
      { type: 'text' },
      image,
      { type: 'text', text: expect.stringContaining('\nplain\n') },
    ]);
    expect(messages[2]?.content).toBe('{"taken":true}');
    expect(messages[3]?.content).toMatchObject([{ type: 'text' }, image]);
    await runtime.dispose();
    await server.close();
  });

  test('change nothing of what is recorded: replay needs the facts alone, bytes may be gone [P12]', async () => {
    const events = new MemoryEventStore();
    const first = await start(new ScriptedModel(look), {}, storesWith(events));
    await first.session.send({ query: 'look', attachments: [{ data: PNG }] });
    const { items } = await first.session.messages();
    const [result] = items.flatMap((message) => (message.role === 'tool' ? message.parts : []));
    expect(result).toMatchObject({
      output: { taken: true },
      files: [{ filename: 'shot.png', mediaType: 'image/png' }],
    });
    await first.runtime.dispose();
    const stored = (await events.read('session-_.s', { from: 0 })).facts.map(({ payload }) => payload).join('\n');
    expect(stored).not.toContain(base64.slice(0, 40));
    // The same facts, and an artifact store with nothing in it.
    const model = new ScriptedModel([{ text: 'seen' }]);
    const { runtime, agent } = await start(model, {}, storesWith(events), 'another');
    expect((await agent.replay('s')).difference).toBeUndefined();
    expect(await (await agent.sessions.get('s')).send('again')).toMatchObject({ status: 'completed' });
    expect((await agent.replay('s')).difference).toBeUndefined();
    expect(JSON.stringify(model.calls[0]?.prompt).split('It is no longer kept.')).toHaveLength(3);
    await runtime.dispose();
  });

  test('that a model made are artifacts, and a part of what it is shown next', async () => {
    const inner = new ScriptedModel([{ text: 'well' }]);
    const painting = Object.assign(Object.create(inner) as ScriptedModel, {
      doStream: async (options: Parameters<ScriptedModel['doStream']>[0]) => {
        if (inner.calls.push(options) > 1) return inner.doStream(options);
        const parts = [
          { type: 'file', mediaType: 'image/png', data: base64 },
          { type: 'finish', usage: {}, finishReason: 'stop' },
        ];
        return {
          stream: new ReadableStream({ start: (out) => (parts.forEach((part) => out.enqueue(part)), out.close()) }),
        };
      },
    });
    const { runtime, session } = await start(painting as never);
    await session.send('paint');
    const [answer] = (await session.messages()).items.filter(({ role }) => role === 'assistant');
    expect(answer?.parts).toMatchObject([{ type: 'file', mediaType: 'image/png', artifact: { bytes: PNG.length } }]);
    expect(JSON.stringify(answer)).not.toContain(base64);
    await session.send('and?');
    expect(inner.calls[1]?.prompt[2]?.content).toEqual([{ type: 'file', mediaType: 'image/png', data: bytes }]);
    await runtime.dispose();
  });
});
