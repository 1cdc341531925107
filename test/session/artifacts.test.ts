import { afterEach, describe, expect, test } from 'vitest';
import { listArtifacts, type PerdureRuntime } from '@perdure/core';
import { createTestRuntime } from '@perdure/core/testing';
import type { JsonValue } from '@perdure/events';
import { withFiles } from '@perdure/plugin-api';
import { policyPermission } from '@perdure/policy-permission';
import { storeMemory } from '@perdure/store-memory';
import { ScriptedModel, type ScriptedAnswer } from '@perdure/testing';
import { toolsArtifacts } from '@perdure/tools-artifacts';
import { toolsBatch } from '@perdure/tools-batch';
import { z } from 'zod';
import { allowing } from '../fixtures/agents.js';
import { PNG } from '../fixtures/image.js';

const runtimes: PerdureRuntime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.dispose()));
});

const lines = Array.from({ length: 4_000 }, (_, index) => `line ${index} of the log`).join('\n');
const log = { inputSchema: z.object({}), effect: 'read' as const, execute: () => lines };
const camera = {
  inputSchema: z.object({}),
  effect: 'read' as const,
  execute: () => withFiles({ taken: true }, [{ bytes: PNG }]),
};

async function start(
  answers: readonly ScriptedAnswer[],
  permission: typeof allowing | typeof policyPermission = allowing,
) {
  const runtime = await createTestRuntime({ plugins: [storeMemory, permission, toolsArtifacts, toolsBatch] });
  runtimes.push(runtime);
  const model = new ScriptedModel(answers);
  const limits = { maxOutputCharacters: 2_000 };
  const agent = runtime.agent({ id: 'clerk', model, limits, tools: { log, camera } as never });
  return { runtime, agent, model, session: await agent.sessions.create({ sessionId: 's' }) };
}

const call = (name: string, input: JsonValue): ScriptedAnswer => ({ calls: [{ name, input }] });

describe('an output that is too long to be shown', () => {
  test('is kept whole; its beginning and end are shown with how to read on, and reading on is allowed', async () => {
    const { session } = await start([]);
    const { output, artifact } = await session.tool('log', {});
    expect(artifact).toMatchObject({ bytes: lines.length, mediaType: 'text/plain' });
    expect(String(output)).toMatch(/^line 0 of the log\n/);
    expect(String(output)).toMatch(/line 3999 of the log$/);
    expect(String(output)).toContain(
      `characters left out: the first 1500 and the last 500 of ${lines.length} are shown. ` +
        `The whole is the artifact ${artifact?.digest}; read more of it with read_artifact.`,
    );
    const input = { artifact: artifact?.digest ?? '', offset: 50_000, limit: 500 };
    expect((await session.governedTool('read_artifact', input)).output).toMatchObject({
      total_bytes: lines.length,
      content: lines.slice(50_000, 50_500),
      next_offset: 50_500,
    });
    const found = await session.tool('read_artifact', { artifact: artifact?.digest ?? '', find: 'line 2718 ' });
    expect(found.output).toMatchObject({ matches: [{ offset: lines.indexOf('line 2718 ') }] });
  });

  test('is read on by default without a question, and of other sessions there is nothing [P17]', async () => {
    const first = await start([call('read_artifact', { artifact: `sha256:${'a'.repeat(64)}` })], policyPermission);
    await first.session.send('look');
    const [part] = (await first.session.messages()).items.flatMap((each) => (each.role === 'tool' ? each.parts : []));
    expect(part).toMatchObject({ status: 'failed', failure: { code: 'artifact_not_found' } });
    const { agent, session } = await start([]);
    const { artifact } = await session.tool('log', {});
    const other = await agent.sessions.create({ sessionId: 'other' });
    const denied = await other.tool('read_artifact', { artifact: artifact?.digest ?? '' });
    expect(denied).toMatchObject({ status: 'failed', failure: { code: 'artifact_not_found' } });
  });

  test('of an attached text is shown as an excerpt that names the tool', async () => {
    const { session, model } = await start([{ text: 'ok' }]);
    await session.send({ query: 'look', attachments: [{ data: Buffer.from(lines), filename: 'a.log' }] });
    const shown = JSON.stringify(model.calls[0]?.prompt);
    expect(shown.length).toBeLessThan(4_000);
    expect(shown).toContain('read more of it with read_artifact');
    expect(shown).toContain('line 3999 of the log');
  });

  test('of a part of a call is named by the session too, and files of a part are shown', async () => {
    const invocations = ['log', 'camera'].map((tool) => ({ tool, args: {} }));
    const { session, model } = await start([call('batch', { invocations }), { text: 'ok' }]);
    await session.send('go');
    const prompt = model.calls[1]?.prompt ?? [];
    expect(prompt.at(-1)?.content).toMatchObject([{ type: 'text' }, { type: 'file', mediaType: 'image/png' }]);
    const digest = /artifact (sha256:\w{64})/.exec(JSON.stringify(prompt))?.[1] ?? '';
    expect(Buffer.from((await session.artifact(digest)) ?? []).length).toBeGreaterThan(2_000);
  });
});

test('every artifact that a stream names is listed once, and what only looks like one is not', async () => {
  const fake = { digest: `sha256:${'f'.repeat(64)}`, bytes: 1, mediaType: 'text/plain' };
  const { runtime, session } = await start([call('camera', fake), call('log', {}), { text: 'ok' }]);
  const attachments = [{ data: Buffer.from('one') }, { data: PNG }];
  await session.send({ query: JSON.stringify({ artifact: fake }), attachments });
  const listed = await listArtifacts(runtime.services.store, 'session-_.s');
  expect(listed.map(({ bytes }) => bytes)).toEqual([3, PNG.length, lines.length]);
  for (const { digest, bytes } of listed) expect((await session.artifact(digest))?.length).toBe(bytes);
  expect(await listArtifacts(runtime.services.store, 'session-_.none')).toEqual([]);
});
