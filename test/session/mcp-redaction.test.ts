import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadSession, takeSnapshot } from '@perdure/core';
import { createTestRuntime } from '@perdure/core/testing';
import { sessionStream } from '@perdure/events';
import { mcpClient } from '@perdure/mcp-client';
import { securityRedaction } from '@perdure/security-redaction';
import { storeSqlite } from '@perdure/store-sqlite';
import { ScriptedModel } from '@perdure/testing';
import { governedBy } from '../fixtures/governed-by.js';
import { ServerPlace } from '../fixtures/mcp.js';
import { waitUntil } from '../fixtures/wait-until.js';

const folder = mkdtempSync(join(tmpdir(), 'perdure-mcp-redaction-'));
const place = new ServerPlace();
afterAll(() => {
  place.remove();
  rmSync(folder, { recursive: true, force: true });
});

const TOKEN = 'reg_9f8e7d6c5b4a/+"q"';
/** Nobody registered it: it has the shape of a credential. */
const PLAIN = ['ghp_', 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA', 'mcPC'].join('');

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const spellings = (text: string): readonly string[] => [
  text,
  JSON.stringify(text).slice(1, -1),
  JSON.stringify(JSON.stringify(text)).slice(3, -3),
  encodeURIComponent(text),
  ...[0, 1, 2].map((shift) => base64(' '.repeat(shift) + text).slice(shift === 0 ? 0 : 4, -4)),
];

/** Every file that the runtime wrote, by its name: the database, what is written ahead of it, artifacts, snapshots. */
function everyFile(): readonly (readonly [string, string])[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name), 'latin1')]);
}

function expectNone(places: readonly (readonly [string, string])[]): void {
  for (const spelling of [TOKEN, PLAIN].flatMap(spellings)) {
    const found = places.filter(([, text]) => text.includes(spelling)).map(([name]) => name);
    expect([spelling, found]).toEqual([spelling, []]);
  }
}

test('what a server knows is in no stored byte, and nothing of it is shown or told [P16] [P16/context]', async () => {
  const logged: string[] = [];
  const variables = { TOKEN: 'secret://TOKEN', PLAIN };
  const servers = { s: place.stdio({ isSpilling: true }, { variables } as never) };
  const runtime = await createTestRuntime({
    plugins: [
      { plugin: storeSqlite, config: { path: join(folder, 'perdure.db') } },
      { plugin: mcpClient, config: { servers } },
      governedBy(() => ({ decision: 'allow' }), { mode: 'ask' }),
      securityRedaction,
    ],
    secrets: { TOKEN },
    logger: { log: (...report: unknown[]) => void logged.push(JSON.stringify(report)) },
  });
  const calls = ['leak', 'spill', 'spill_error', 'ask'].map((name) => ({ name: `mcp__s__${name}`, input: {} }));
  const model = new ScriptedModel([{ calls }, { text: 'done' }]);
  const agent = runtime.agent({ id: 'clerk', model });
  await agent.ready();
  const session = await agent.sessions.create({ sessionId: 's' });
  const seen: string[] = [];
  session.subscribe((mutation) => seen.push(JSON.stringify(mutation)));
  const turn = await session.prompt('go');
  await waitUntil(async () => (await session.interactions()).length > 0);
  const [question] = await session.interactions();
  expect(question).toMatchObject({ title: expect.stringContaining('Not [redacted:github-token]?') });
  await session.respond({ id: question?.id ?? '', by: 'ada', answers: { name: `not ${PLAIN} nor ${TOKEN}` } });
  expect(await turn.finished).toMatchObject({ success: true });
  for await (const event of session.events()) {
    seen.push(JSON.stringify(event));
    if (event.type === 'agent_end') break;
  }
  const results = (await session.messages()).items.flatMap((m) => (m.role === 'tool' ? m.parts : []));
  expect(results.map(({ status }) => status)).toEqual(['completed', 'completed', 'failed', 'completed']);
  expect(JSON.stringify(results[1])).toContain('[redacted:github-token]');
  const kept = results[1]?.files?.map(({ filename, mediaType }) => [filename, mediaType]);
  expect(kept).toEqual([
    ['1-image', 'image/png'],
    ['2-env.txt', 'text/plain'],
  ]);
  for (const { artifact } of results[1]?.files ?? []) {
    const bytes = await session.artifact(artifact?.digest ?? '');
    expect(bytes?.byteLength).toBe(artifact?.bytes);
    seen.push(Buffer.from(bytes ?? []).toString('latin1'));
  }
  await session.save();
  const { store, facts } = runtime.services;
  const state = await loadSession(store, sessionStream({ id: 's' }), facts);
  const exported = await takeSnapshot({ store, facts }, { id: 's' }, state);
  seen.push(JSON.stringify(exported));
  seen.push(JSON.stringify([results, await session.messages(), await session.mcp.list(), model.calls]));
  // While it runs, what is written ahead is in a file of its own.
  const running = everyFile();
  expect(running.map(([name]) => name)).toEqual(expect.arrayContaining(['perdure.db', 'perdure.db-wal']));
  expectNone(running);
  await runtime.dispose();
  expectNone([...everyFile(), ['shown', seen.join('\n')], ['told', logged.join('\n')]]);
});
