// Perdure as a contender of the harness that measures its peers. That harness hands in its own model and tool, so that
// all contenders do the same work; they are found in the folder `lib` of the current folder, or in PERDURE_PEERS_LIB.
// The contender's file there is one line: `export * from '<path of this file>'`.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createRuntime } from '@perdure/core';
import { policyPermission } from '@perdure/policy-permission';
import { storeSqlite } from '@perdure/store-sqlite';
import { z } from 'zod';

const library = process.env.PERDURE_PEERS_LIB ?? join(process.cwd(), 'lib');
const { makeAiModel } = await import(pathToFileURL(join(library, 'aimodel.mjs')).href);
const { runTool, TOOL_DESCRIPTION } = await import(pathToFileURL(join(library, 'fake.mjs')).href);

export const meta = {
  package: 'perdure',
  persists: 'disk',
  durability: 'SQLite WAL, synchronous=FULL, two commits per step',
  reconnect: 'yes, any process',
};

const seeded = [];

/** The model, which first gives the answers that a seeded history has. */
function seedable(model) {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  return {
    specificationVersion: 'v3',
    provider: model.provider,
    modelId: model.modelId,
    doGenerate: (options) => model.doGenerate(options),
    async doStream(options) {
      const text = seeded.shift();
      if (text === undefined) return model.doStream(options);
      const parts = [
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: text },
        { type: 'text-end', id: 't' },
        { type: 'finish', usage, finishReason: { unified: 'stop' } },
      ];
      return { stream: ReadableStream.from(parts) };
    },
  };
}

export async function open(ctx) {
  const runtime = await createRuntime({
    plugins: [
      { plugin: storeSqlite, config: { path: join(ctx.dir, 'perdure.db') } },
      { plugin: policyPermission, config: { allow: ['lookup'] } },
    ],
  });
  const agent = runtime.agent({
    id: 'bench',
    model: seedable(makeAiModel('v3')),
    tools: {
      lookup: {
        description: TOOL_DESCRIPTION,
        inputSchema: z.object({ round: z.number() }),
        effect: 'read',
        execute: ({ round }) => runTool(round),
      },
    },
    limits: { maxSteps: 1_000_000 },
  });
  await agent.ready();
  const sessionOf = (id) => agent.session('', { sessionId: id });
  const textOf = (result) => {
    if (result.success) return result.text;
    throw new Error(`${result.status}: ${result.error?.message}`);
  };
  return {
    createSession: () => undefined,
    // A history comes in as it would have come about: as turns, whose answers are those that it holds.
    async seed(id, messages) {
      for (let at = 0; at < messages.length; at += 2) {
        seeded.push(messages[at + 1].text);
        await sessionOf(id).send(messages[at].text);
      }
    },
    runTurn: async (id, text) => textOf(await sessionOf(id).send(text)),
    async resume(id) {
      const turn = await (await agent.sessions.get(id)).resume();
      return textOf(await turn.finished);
    },
    async history(id) {
      const session = await agent.sessions.get(id);
      const { items } = await session.messages({ limit: 1_000_000 });
      return items.map(({ role, parts }) =>
        parts.some(({ type }) => type === 'tool-call') ? { role, tool: true } : { role },
      );
    },
    async stream(id, text) {
      const session = sessionOf(id);
      const turn = await session.prompt(text);
      return { token: id, consume: () => textOfTurn(session, turn.id) };
    },
    reconnect: (id) => textOfTurn(sessionOf(id), undefined),
    close: () => runtime.dispose(),
  };
}

/** The text deltas of a turn, from its first on; of the newest turn when no id is given. */
async function* textOfTurn(session, turnId) {
  for await (const { type, payload, metadata } of session.events()) {
    const isMine = turnId === undefined || metadata.turn_id === turnId;
    if (type === 'text_delta' && isMine) yield payload.text;
    if (type === 'agent_end' && isMine) return;
  }
}
